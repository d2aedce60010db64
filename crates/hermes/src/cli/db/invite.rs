//! hermes db invite

use std::io;

use clap::Args;
use hermes_app::server_invite::{self, Invited, Wish};

use super::must_be_on_server;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Name of the role to create, such as the name of the machine or the person
    role: String,
    /// Also give it access to this profile of yours, for another machine of your own or a team; can be given several times
    #[arg(long = "share", value_name = "PROFILE")]
    shared: Vec<String>,
    /// Print the statements instead of running them, for the owner of the database
    #[arg(long)]
    print_sql: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    must_be_on_server(app, &home)?;
    let wish = Wish {
        role: arguments.role.clone(),
        shared: arguments.shared.clone(),
        print_sql: arguments.print_sql,
    };
    let invited = server_invite::run(app, &home, wish)?;
    app.out.show(&invited)?;
    if invited.is_local {
        app.out.hint(
            "replace the host with a name under which the other machine can reach this server",
        );
    }
    Ok(Outcome::Done)
}

impl Show for Invited {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if let Some(sql) = &self.sql {
            page.line(sql.trim_end())?;
            let to = &self.connection_string;
            return page.line(format_args!("-- The other home connects with {to}"));
        }
        let role = &self.role;
        page.line(match self.shared.as_slice() {
            [] => format!("created role {role}; it has access to its own profiles"),
            shared => {
                format!(
                    "created role {role}; it has access to {} and its own profiles",
                    shared.join(", ")
                )
            }
        })?;
        page.line("run this in the other home (the password is shown only once):")?;
        page.line("  hermes config set HERMES_DB_URL -     # then paste:")?;
        page.line(format_args!("  {}", self.connection_string))?;
        page.line("  hermes config set memory.connection_string '${HERMES_DB_URL}'")?;
        page.line("  hermes config set memory.backend postgres")
    }
}
