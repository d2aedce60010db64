//! hermes mcp

use crate::terminal::Terminal;
use clap::Args;

use crate::failure::Outcome;
use crate::server::Whom;
use crate::server::mcp::{Scoped, Surface, stdio};
use hermes_app::context;
use hermes_app::pool::Seat;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Whose memory [default: the owner's]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Offer no tool that changes anything
    #[arg(long)]
    read_only: bool,
    /// The folder or repository the work is about [default: the git repository of the current folder]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// The tools of another memory, for agents that know those
    #[arg(long, value_enum, default_value = "hermes", value_name = "NAME")]
    compat: Surface,
}

/// Who makes the changes that come this way.
const ACTOR: &str = "mcp";

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let project = arguments.project.clone();
    let scoped = Scoped {
        whom: Whom::bound(
            arguments
                .user
                .as_deref()
                .filter(|name| *name != "owner")
                .map(str::parse)
                .transpose()?,
        ),
        grant: None,
        read_only: arguments.read_only,
        project: project.or_else(|| context::project_of(&std::env::current_dir().ok()?)),
        surface: arguments.compat,
    };
    let mut own = app.for_profile(&home);
    own.actor = ACTOR.into();
    stdio::serve(Seat::alone(own)?, scoped)?;
    Ok(Outcome::Done)
}
