//! hermes memory forget

use std::io;

use clap::{Args, ValueEnum};
use hermes_store::memory::{
    Admin, Choice, Depth, Forgetting as _, Forgotten, ItemKind, SqliteMemory, UserNumber,
    Users as _,
};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::confirm;
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{Page, Show, counted};

/// What to forget: one of these, or several together.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Everything of this user; with another choice: of this user alone
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// One conversation, and what was learned from it alone
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Everything recorded from this program or file, and what was learned from it alone
    #[arg(long, value_name = "NAME", conflicts_with = "session")]
    source: Option<String>,
    /// Everything of this type
    #[arg(long = "type", value_enum, value_name = "TYPE", conflicts_with_all = ["session", "source"])]
    kind: Option<Type>,
    /// Everything of everybody
    #[arg(long, conflicts_with_all = ["session", "source", "kind", "user"])]
    all: bool,
    /// Remove every word of it from the file, for good
    #[arg(long)]
    erase: bool,
    /// Only say how much it would be
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    /// What is known
    Facts,
    /// What was said
    Episodes,
    /// How things are done well
    Procedures,
    /// What happened when
    Events,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    amount: Forgotten,
    erased: bool,
    done: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let choice = choice(arguments, &memory.store)?;
    let planned = memory.store.forget_plan(Admin, &choice)?;
    let is_nothing = planned == Forgotten::default();
    let plan = Report { amount: planned, erased: arguments.erase, done: false };
    if arguments.dry_run || is_nothing {
        app.out.show(&plan)?;
        return Ok(Outcome::Done);
    }
    let what = amount(&planned);
    let question = match arguments.erase {
        true => format!("erase {what} for good?"),
        false => format!("forget {what}?"),
    };
    confirm::consent(app.asking, &question)?;
    drop(memory);
    let mut memory = app.memory(&home, Access::Write)?;
    let depth = if arguments.erase { Depth::Erase } else { Depth::Retire };
    let amount = memory.store.forget(Admin, &choice, depth, app.change())?;
    app.out.show(&Report { amount, erased: arguments.erase, done: true })?;
    if !arguments.erase {
        app.out
            .hint("what is forgotten stays out of every answer; `--erase` removes the words too");
    }
    app.out.note("entries of MEMORY.md and USER.md are kept: see them with `hermes memory show`");
    if choice == Choice::All || matches!(choice, Choice::Session(..)) {
        app.out.note("the transcript in state.db is kept: see `hermes sessions delete`");
    }
    Ok(Outcome::Done)
}

fn choice(arguments: &Arguments, store: &SqliteMemory) -> anyhow::Result<Choice> {
    if arguments.all {
        return Ok(Choice::All);
    }
    let user = match &arguments.user {
        None => UserNumber::OWNER,
        Some(name) => user(name, store)?,
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
        (None, None, None) if arguments.user.is_some() => Ok(Choice::User(user)),
        (None, None, None) => Err(Problem::usage("what is to be forgotten?")
            .hint("say `--user`, `--session`, `--source`, `--type` or `--all`; one fact goes with `hermes memory fact delete`")
            .into()),
    }
}

fn user(name: &str, store: &SqliteMemory) -> anyhow::Result<UserNumber> {
    let found = store.user(name)?.map(|user| user.number);
    found.ok_or_else(|| {
        Problem::new(Kind::NotFound, format!("could not find user {name} in the memory"))
            .hint("see who is known with `hermes user list`")
            .into()
    })
}

/// `3 episodes (12 messages), 2 facts`
fn amount(forgotten: &Forgotten) -> String {
    let mut parts = Vec::new();
    if forgotten.episodes > 0 {
        let messages = counted(forgotten.messages, "message");
        parts.push(format!("{} ({messages})", counted(forgotten.episodes, "episode")));
    }
    let rest = [
        (forgotten.facts, "fact"),
        (forgotten.procedures, "procedure"),
        (forgotten.events, "event"),
        (forgotten.proposals, "proposal"),
    ];
    parts.extend(
        rest.iter().filter(|(count, _)| *count > 0).map(|(count, name)| counted(*count, name)),
    );
    parts.join(", ")
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.amount == Forgotten::default() {
            return page.line("there is nothing of that to forget");
        }
        let done = match (self.done, self.erased) {
            (false, false) => "would forget",
            (false, true) => "would erase",
            (true, false) => "forgot",
            (true, true) => "erased",
        };
        page.line(format_args!("{done} {}", amount(&self.amount)))
    }
}
