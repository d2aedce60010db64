//! hermes memory forget

use crate::terminal::Terminal;
use std::io;

use clap::{Args, ValueEnum};
use hermes_store::memory::{Choice, ItemKind, Memory, UserNumber};
use hermes_store::sqlite::Access;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::forget::{self, Forget, ForgetReport};
use hermes_app::problem::Problem;

/// What to forget: one of these, or several together.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Forget everything of this user; with another option, only what belongs to this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Forget one conversation, and what was learned only from it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Forget everything recorded from this program, file or channel, and what was learned only from it
    #[arg(long, value_name = "NAME", conflicts_with = "session")]
    source: Option<String>,
    /// Forget everything of this type
    #[arg(long = "type", value_enum, value_name = "TYPE", conflicts_with_all = ["session", "source"])]
    kind: Option<Type>,
    /// Forget everything of all users
    #[arg(long, conflicts_with_all = ["session", "source", "kind", "user"])]
    all: bool,
    /// Erase the text permanently
    #[arg(long)]
    erase: bool,
    /// Also erase the conversations from the transcript (state.db), and the copies of deleted ones
    #[arg(long, requires = "erase", conflicts_with = "kind")]
    transcript: bool,
    /// Show how much would be forgotten, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    /// Facts
    Facts,
    /// Conversations
    Episodes,
    /// Lessons: how to do things well
    Procedures,
    /// Events: what happened when
    Events,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let choice = choice(arguments, &app.memory(&home, Access::Read)?.store)?;
    let forget = Forget { choice, erase: arguments.erase, transcript: arguments.transcript };
    let plan = forget.plan(app, &home)?;
    if arguments.dry_run || plan.is_nothing() {
        app.out.show(&plan)?;
        return Ok(Outcome::Done);
    }
    let what = plan.in_words();
    let question = match arguments.erase {
        true => format!("permanently erase {what}?"),
        false => format!("forget {what}?"),
    };
    confirm::consent(app.asking, &question)?;
    let done = forget.carry_out(app, &home)?;
    app.out.show(&done)?;
    if !arguments.erase {
        app.out.hint("no answer uses what is forgotten; `--erase` also removes the text");
    }
    forget.keeps().iter().for_each(|line| app.out.note(line));
    Ok(Outcome::Done)
}

fn choice(arguments: &Arguments, store: &Memory) -> anyhow::Result<Choice> {
    if arguments.all {
        return Ok(Choice::All);
    }
    let user = match &arguments.user {
        None => UserNumber::OWNER,
        Some(name) => forget::user(store, name)?,
    };
    let kind = arguments.kind.map(|kind| match kind {
        Type::Facts => ItemKind::Fact,
        Type::Episodes => ItemKind::Message,
        Type::Procedures => ItemKind::Procedure,
        Type::Events => ItemKind::Event,
    });
    match (&arguments.session, &arguments.source, kind) {
        (Some(session), _, _) => Ok(Choice::Session(user, session.clone())),
        (None, Some(source), _) => Ok(Choice::Source(user, source.clone())),
        (None, None, Some(kind)) => Ok(Choice::Kind(user, kind)),
        (None, None, None) if arguments.user.is_some() && arguments.transcript => {
            Err(Problem::usage("`--transcript` is for conversations, not for a whole user")
                .hint("`hermes user forget NAME` erases everything of a user")
                .into())
        }
        (None, None, None) if arguments.user.is_some() => Ok(Choice::User(user)),
        (None, None, None) => Err(Problem::usage("nothing was selected to be forgotten")
            .hint("pass `--user`, `--session`, `--source`, `--type` or `--all`; to delete one fact, run `hermes memory fact delete`")
            .into()),
    }
}

impl Show for ForgetReport {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(self.said())
    }
}
