//! hermes token show, create, list, revoke

use crate::terminal::Terminal;
use std::io;

use clap::{Args, Subcommand};
use hermes_home::UserId;
use hermes_home::layout::parse_profile;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::clock;
use hermes_app::problem::Problem;
use hermes_app::tokens::{self, OWNER, Wanted};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the owner's token, which has full access
    Show,
    /// Create a restricted token; it is printed once and stored only as a hash
    Create(Create),
    /// List the tokens
    List,
    /// Revoke a token; the owner's token is replaced with a new one
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Name of the token
    name: String,
    /// Restrict the token to this profile
    #[arg(long, value_name = "NAME")]
    only_profile: Option<String>,
    /// Restrict the token to this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Allow only reading
    #[arg(long)]
    read_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// Name of the token
    name: String,
}

#[derive(Debug, Serialize)]
struct Printed {
    name: String,
    token: String,
}

#[derive(Debug, Serialize)]
struct Listed {
    results: Vec<Row>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    profile: Option<String>,
    user: Option<String>,
    read_only: bool,
    created_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct Revoked {
    name: String,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    match command {
        Command::Show => {
            let token = tokens::owner_token(&home)?;
            app.out.show(&Printed { name: OWNER.to_owned(), token })?;
        }
        Command::Create(arguments) => {
            let name = arguments.name.trim();
            if name.is_empty() || name.chars().any(char::is_control) {
                return Err(Problem::usage("a token needs a name").into());
            }
            if let Some(profile) = &arguments.only_profile {
                home.sibling(parse_profile(profile)?).must_exist()?;
            }
            let user = arguments.user.as_deref().map(str::parse::<UserId>).transpose()?;
            let wanted = Wanted {
                name,
                profile: arguments.only_profile.clone(),
                user: user.map(|user| user.to_string()),
                read_only: arguments.read_only,
                now: app.now,
            };
            let token = tokens::create(&home, &wanted)?;
            app.out.show(&Printed { name: name.to_owned(), token })?;
            app.out.note("store this token now: it is not shown again");
        }
        Command::List => {
            let owner = Row {
                name: OWNER.to_owned(),
                profile: None,
                user: None,
                read_only: false,
                created_at: None,
            };
            let others = tokens::kept(&home)?.into_iter().map(|one| Row {
                name: one.name,
                profile: one.profile,
                user: one.user,
                read_only: one.read_only,
                created_at: Some(one.created_at),
            });
            let results = std::iter::once(owner).chain(others).collect();
            app.out.show(&Listed { results, zone: app.zone(&home)? })?;
        }
        Command::Revoke(arguments) => {
            if arguments.name == OWNER {
                let question =
                    "replace the owner's token? Programs that use the old one need the new one";
                confirm::consent(app.asking, question)?;
            }
            tokens::revoke(&home, &arguments.name)?;
            app.out.show(&Revoked { name: arguments.name.clone() })?;
        }
    }
    Ok(Outcome::Done)
}

impl Show for Printed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.token)
    }
}

impl Show for Listed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let row = |row: &Row| {
            vec![
                row.name.clone(),
                row.profile.clone().unwrap_or_else(|| "all".to_owned()),
                row.user.clone().unwrap_or_else(|| "all".to_owned()),
                if row.read_only { "read" } else { "read and write" }.to_owned(),
                row.created_at.map(|at| clock::minute(at, &self.zone)).unwrap_or_default(),
            ]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["token", "profile", "user", "access", "created"], &rows)
    }
}

impl Show for Revoked {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("token {} was revoked", self.name))
    }
}
