//! hermes memory forget

use crate::terminal::Terminal;
use std::fs;
use std::io;

use clap::{Args, ValueEnum};
use hermes_home::{Home, session_files};
use hermes_memory::remember::Erased;
use hermes_store::memory::{
    Admin, Choice, Depth, Forgetting as _, Forgotten, ItemKind, SqliteMemory, UserNumber,
    Users as _,
};
use hermes_store::sessions::{SessionId, Window};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::in_step;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{counted, one_line};

/// What to forget: one of these, or several together.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Everything of this user; with another choice: of this user alone
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// One conversation, and what was learned from it alone
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Everything recorded from this program, file or channel, and what was learned from it alone
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
    /// Erase the conversations from the transcript too, with what was kept of deleted ones
    #[arg(long, requires = "erase", conflicts_with = "kind")]
    transcript: bool,
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
    /// Sessions that went from the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<u64>,
    erased: bool,
    done: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let choice = choice(arguments, &memory.store)?;
    must_be_known(&choice, &memory.store)?;
    let planned = memory.store.forget_plan(Admin, &choice)?;
    let is_nothing = planned == Forgotten::default();
    let plan = Report { amount: planned, sessions: None, erased: arguments.erase, done: false };
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
    // The files first: what is cut short here is done whole by the same command again.
    let mut erased = Erased::default();
    let mut sessions = None;
    if arguments.erase {
        let told = in_step::erase_told(app, &home, &mut memory, &choice)?;
        erased = told.0;
        if arguments.transcript {
            sessions = Some(erase_transcript(app, &home, &choice, told.1.sessions)?);
        }
    }
    let amount = memory.store.forget(Admin, &choice, depth, app.change())?;
    app.out.show(&Report { amount, sessions, erased: arguments.erase, done: true })?;
    in_step::tell(app, erased);
    if !arguments.erase {
        in_step::follow_all(app, &home, &mut memory)?;
        app.out
            .hint("what is forgotten stays out of every answer; `--erase` removes the words too");
    }
    app.out.note(
        "what you wrote to MEMORY.md and USER.md yourself is kept: see it with `hermes memory show`",
    );
    if arguments.erase {
        app.out.note("backups that were made before still hold it until they are deleted");
    }
    if !arguments.transcript {
        app.out.note(match choice {
            Choice::User(_) => {
                "the transcript in state.db is kept: `hermes user forget NAME` erases everything of a user"
            }
            _ if arguments.erase => {
                "the transcript in state.db is kept: `--erase --transcript` erases it as well"
            }
            _ => "the transcript in state.db is kept: see `hermes sessions delete`",
        });
    }
    Ok(Outcome::Done)
}

/// Erases sessions from state.db, with every copy of them that the home keeps; returns how many.
fn erase_transcript(
    app: &App,
    home: &Home,
    choice: &Choice,
    mut sessions: Vec<String>,
) -> anyhow::Result<u64> {
    let mut typed = Vec::new();
    let mut count = 0;
    if home.state_db().is_file() {
        let mut store = app.sessions(home, Access::Write)?;
        let there: Vec<SessionId> = match choice {
            Choice::All => store.every_id()?,
            _ => {
                let ids = sessions.iter().cloned().map(SessionId::from);
                ids.filter(|id| store.session(id).is_ok()).collect()
            }
        };
        for id in &there {
            let messages = store.messages(id, Window::All)?.into_iter();
            let by_user = messages.filter(|message| message.role == "user");
            typed.extend(by_user.map(|message| message.text.trim().to_owned()));
        }
        store.erase(&there)?;
        count = there.len() as u64;
        sessions.extend(there.iter().map(ToString::to_string));
    }
    session_files::erase(home, &sessions)?;
    if *choice == Choice::All {
        session_files::erase_deleted(home, |_| true)?;
        session_files::erase_checkpoints(home, |_| true)?;
    }
    for entry in fs::read_dir(home.own()).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("chat-history") {
            session_files::erase_typed(&entry.path(), &typed)?;
        }
    }
    Ok(count)
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
        (None, None, None) if arguments.user.is_some() && arguments.transcript => {
            Err(Problem::usage("`--transcript` is for conversations, not for a whole user")
                .hint("`hermes user forget NAME` erases everything of a user")
                .into())
        }
        (None, None, None) if arguments.user.is_some() => Ok(Choice::User(user)),
        (None, None, None) => Err(Problem::usage("what is to be forgotten?")
            .hint("say `--user`, `--session`, `--source`, `--type` or `--all`; one fact goes with `hermes memory fact delete`")
            .into()),
    }
}

/// A session or a source that nobody knows is a slip of the pen, and no empty answer.
fn must_be_known(choice: &Choice, store: &SqliteMemory) -> anyhow::Result<()> {
    if store.knows(Admin, choice)? {
        return Ok(());
    }
    let problem = match choice {
        Choice::Source(user, name) => {
            let known = store.known_sources(Admin, *user)?;
            let hint = match known.is_empty() {
                true => "nothing was recorded yet".to_owned(),
                false => format!("known sources: {}", one_line(&known.join(", "), 200)),
            };
            Problem::new(Kind::NotFound, format!("nothing was recorded from {name}")).hint(hint)
        }
        Choice::Session(_, id) => {
            Problem::new(Kind::NotFound, format!("could not find session {id} in the memory"))
                .hint("see the sessions with `hermes sessions list`")
        }
        Choice::User(_) | Choice::Kind(..) | Choice::All => return Ok(()),
    };
    Err(problem.into())
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
        let sessions = match self.sessions {
            None => String::new(),
            Some(count) => format!(" and {} of the transcript", counted(count, "session")),
        };
        page.line(format_args!("{done} {}{sessions}", amount(&self.amount)))
    }
}
