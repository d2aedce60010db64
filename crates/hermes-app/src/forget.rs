//! Forgetting a part of the memory, or all of it.

use std::fs;

use hermes_home::{Home, session_files};
use hermes_memory::remember::Erased;
use hermes_store::memory::{Admin, Choice, Depth, Forgotten, Memory, UserNumber};
use hermes_store::sessions::{SessionId, Window};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::in_step;
use crate::problem::{Kind, Problem};
use crate::text::{counted, one_line};

/// What is to be forgotten, and how.
#[derive(Debug)]
pub struct Forget {
    /// What.
    pub choice: Choice,
    /// Remove every word of it from the file, for good.
    pub erase: bool,
    /// Erase the conversations from the transcript too.
    pub transcript: bool,
}

/// What was forgotten, or would be.
#[derive(Debug, Serialize)]
pub struct ForgetReport {
    /// How much of each.
    #[serde(flatten)]
    pub amount: Forgotten,
    /// Sessions that went from the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// Whether every word went.
    pub erased: bool,
    /// Whether it was done.
    pub done: bool,
}

impl Forget {
    /// How much it would be; refuses what nobody knows.
    pub fn plan(&self, app: &App, home: &Home) -> anyhow::Result<ForgetReport> {
        let memory = app.memory(home, Access::Read)?;
        must_be_known(&self.choice, &memory.store)?;
        let amount = memory.store.forget_plan(Admin, &self.choice)?;
        Ok(ForgetReport { amount, sessions: None, erased: self.erase, done: false })
    }

    /// Forgets it.
    pub fn carry_out(&self, app: &App, home: &Home) -> anyhow::Result<ForgetReport> {
        let mut memory = app.memory(home, Access::Write)?;
        let depth = if self.erase { Depth::Erase } else { Depth::Retire };
        // The files first: what is cut short here is done whole by the same request again.
        let mut erased = Erased::default();
        let mut sessions = None;
        if self.erase {
            let told = in_step::erase_told(app, home, &mut memory, &self.choice)?;
            erased = told.0;
            if self.transcript {
                sessions = Some(erase_transcript(app, home, &self.choice, told.1.sessions)?);
            }
        }
        let amount = memory.store.forget(Admin, &self.choice, depth, app.change())?;
        in_step::tell(app, erased);
        if !self.erase {
            in_step::follow_all(app, home, &mut memory)?;
        }
        Ok(ForgetReport { amount, sessions, erased: self.erase, done: true })
    }

    /// What is kept all the same.
    pub fn keeps(&self) -> Vec<&'static str> {
        let mut kept = vec![
            "what you wrote to MEMORY.md and USER.md yourself stays: see it with `hermes memory \
             show`",
        ];
        if self.erase {
            kept.push("backups that were made before still contain it until they are deleted");
        }
        if !self.transcript {
            kept.push(match self.choice {
                Choice::User(_) => {
                    "the transcript in state.db stays: `hermes user forget NAME` erases everything \
                     of a user"
                }
                _ if self.erase => {
                    "the transcript in state.db stays: `--erase --transcript` erases it too"
                }
                _ => "the transcript in state.db stays: see `hermes sessions delete`",
            });
        }
        kept
    }
}

/// The number of somebody whom the memory must know.
pub fn user(store: &Memory, name: &str) -> anyhow::Result<UserNumber> {
    let found = store.user(name)?.map(|user| user.number);
    found.ok_or_else(|| {
        Problem::new(Kind::NotFound, format!("could not find user {name} in the memory"))
            .hint("`hermes user list` shows all users")
            .into()
    })
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

/// A session or a source that nobody knows is a slip of the pen, and no empty answer.
fn must_be_known(choice: &Choice, store: &Memory) -> anyhow::Result<()> {
    if store.knows(Admin, choice)? {
        return Ok(());
    }
    let problem = match choice {
        Choice::Source(user, name) => {
            let known = store.known_sources(Admin, *user)?;
            let hint = match known.is_empty() {
                true => "nothing has been recorded yet".to_owned(),
                false => format!("known sources: {}", one_line(&known.join(", "), 200)),
            };
            Problem::new(Kind::NotFound, format!("nothing was recorded from {name}")).hint(hint)
        }
        Choice::Session(_, id) => {
            Problem::new(Kind::NotFound, format!("could not find session {id} in the memory"))
                .hint("`hermes sessions list` shows the sessions")
        }
        Choice::User(_) | Choice::Kind(..) | Choice::All => return Ok(()),
    };
    Err(problem.into())
}

impl ForgetReport {
    /// Whether there is nothing of that.
    pub fn is_nothing(&self) -> bool {
        self.amount == Forgotten::default()
    }

    /// What was done, in one line.
    pub fn said(&self) -> String {
        if self.is_nothing() {
            return "nothing to forget".to_owned();
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
        format!("{done} {}{sessions}", self.in_words())
    }

    /// `3 episodes (12 messages), 2 facts`
    pub fn in_words(&self) -> String {
        let forgotten = &self.amount;
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
}
