//! hermes mcp

use crate::terminal::Terminal;
use clap::Args;

use crate::cli::one_of::{Word, one_of};
use crate::failure::Outcome;
use hermes_app::context;
use hermes_app::pool::Seat;
use hermes_server::{Scoped, Surface, Whom, serve_stdio};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// User whose memory is used [default: the owner]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,
    /// Folder or repository the work is about [default: the git repository of the current folder]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Tools to offer: those of this program, or those of another memory that an agent was written for
    #[arg(long, value_parser = one_of(SURFACES), default_value = "hermes", value_name = "NAME")]
    compat: Surface,
}

const SURFACES: &[Word<Surface>] = &[
    ("hermes", "The ten tools of Hermes", Surface::Hermes),
    ("mem0", "The tools of Mem0", Surface::Mem0),
    ("reference", "The nine tools of the reference memory server", Surface::Reference),
    ("anthropic", "The memory tool of Anthropic, over the memory files", Surface::Anthropic),
];

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
    serve_stdio(Seat::alone(own)?, scoped)?;
    Ok(Outcome::Done)
}
