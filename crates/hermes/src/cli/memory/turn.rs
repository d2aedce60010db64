//! hermes memory turn

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use anyhow::Context;
use clap::Args;
use hermes_home::{Home, UserId};
use hermes_memory::Error;
use hermes_memory::catch_up::catch_up;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::spool::{self, Spooled};
use hermes_memory::record::turn::{
    self, Caller, Identity, Kept, RecordedTurn, Settings, Turn, TurnMessage,
};
use hermes_store::memory::{Chat, Vectors as _};
use hermes_store::sessions::{SessionStore, random_bytes};
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, ErrorKind};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Deserializer, Value};

use super::later;
use crate::app::{App, Memory};
use crate::daemon::life;
use crate::embedding;
use crate::failure::{Outcome, Problem};
use crate::output::{Page, Show, counted, printable};

/// Shown below `hermes memory turn --help`.
pub(crate) const FORM: &str = "A turn is a JSON object; several may follow one another:
  messages     a list, in order; each has role (user, assistant, tool) and text, and may have
               timestamp, external_id, tool_name, tool_calls, tool_call_id, failed
  session_id   which conversation [default: a new one]
  channel      where: cli, telegram, … [default: cli]
  identity     who, as the channel knows them: an id, or {\"id\": …, \"chat\": \"direct\" or \"group\", \"name\": …}
  from         the program that reports it and keeps its own transcript
  user, agent, project, ended
Flags fill in what the object does not say.

Examples:
  hermes memory turn --user-text \"Where is the shop?\" --assistant-text \"In Porto.\"
  echo '{\"messages\": [{\"role\": \"user\", \"text\": \"hi\"}]}' | hermes memory turn -";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The file with the turn as JSON; `-` is standard input
    #[arg(required_unless_present_any = ["user_text", "assistant_text"])]
    file: Option<PathBuf>,
    /// What the user said
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    user_text: Option<String>,
    /// What the assistant answered
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    assistant_text: Option<String>,
    /// The session [default: a new one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Where it took place [default: cli]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Who asked, as the channel knows them
    #[arg(long, value_name = "ID", conflicts_with = "user")]
    identity: Option<String>,
    /// They asked in a group
    #[arg(long, requires = "identity")]
    group: bool,
    /// Whose memory it goes to [default: who the identity belongs to, else the owner]
    #[arg(long, value_name = "NAME")]
    user: Option<UserId>,
    /// The agent that answered
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The folder or repository it was about
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// The program that reports it and keeps its own transcript [default: none, the transcript is kept here]
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// The session is over with it
    #[arg(long)]
    ended: bool,
}

/// Whoever reports a turn must not be kept waiting by somebody else's long write.
const PATIENCE: Duration = Duration::from_millis(300);

/// Where a turn is now.
#[derive(Debug, Serialize)]
#[serde(tag = "kept_in", rename_all = "snake_case")]
enum Told {
    /// In the memory, and in state.db if the numbers say so.
    Memory(RecordedTurn),
    /// In state.db; the memory could not be written, for this reason.
    StateDb { session_id: String, state_messages: Vec<i64>, because: Why },
    /// In a file, for this reason.
    Spool { session_id: String, file: PathBuf, because: Why },
}

impl Told {
    fn is_for_damage(&self) -> bool {
        match self {
            Told::Memory(_) => false,
            Told::StateDb { because, .. } | Told::Spool { because, .. } => because.is_damage,
        }
    }
}

/// Why a database could not be written.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Why {
    text: String,
    #[serde(skip)]
    is_damage: bool,
}

impl From<&StoreError> for Why {
    fn from(error: &StoreError) -> Why {
        Why { text: error.to_string(), is_damage: error.kind() == ErrorKind::Damaged }
    }
}

impl From<&Error> for Why {
    fn from(error: &Error) -> Why {
        match error {
            Error::Store(error) => error.into(),
            other => Why { text: other.to_string(), is_damage: false },
        }
    }
}

/// What became of the turns.
#[derive(Debug, Serialize)]
struct Done {
    results: Vec<Told>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Bad>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let zone = app.zone(&home)?;
    let Read { turns, problems } = arguments.turns(&zone)?;
    let mut sessions = open_sessions(&home);
    let mut results = Vec::new();
    for turn in turns {
        results.push(record(app, &home, &turn, &mut sessions)?);
    }
    let is_damaged = results.iter().any(Told::is_for_damage);
    let is_partial = !problems.is_empty();
    app.out.show(&Done { results, problems })?;
    if is_damaged {
        app.out
            .hint("`hermes doctor` says what is wrong; what waits is taken in when it is repaired");
    }
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

/// Both halves; what cannot be written in time waits.
fn record(
    app: &App,
    home: &Home,
    turn: &Turn,
    sessions: &mut Result<Option<SessionStore>, StoreError>,
) -> anyhow::Result<Told> {
    let zone = app.zone(home)?;
    let mode = app.config(home)?.config.users.mode;
    let random = random_bytes();
    let mut settings =
        Settings { mode, zone: &zone, now: app.now, vectors: Vectors::Later, random };
    let mut recording = Recording { home, turn: turn.clone(), note: None };
    let mut sessions = match sessions {
        Ok(sessions) => sessions.as_mut(),
        Err(error) => return recording.wait_in_file(&settings, Why::from(&*error)),
    };
    let kept = match recording.keep(sessions.as_deref_mut(), &settings) {
        Err(error) if turn::must_wait(&error) => {
            return recording.wait_in_file(&settings, Why::from(&error));
        }
        other => other?,
    };
    let mut memory = match open_memory(app, home)? {
        Ok(memory) => memory,
        Err(why) => return recording.wait(kept, &settings, why),
    };
    settings.vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    let recorded = turn::remember(&mut memory.store, &recording.turn, &kept, &settings);
    let mut recorded = match recorded {
        Err(error) if turn::must_wait(&error) => {
            return recording.wait(kept, &settings, Why::from(&error));
        }
        other => other?,
    };
    if let Some(note) = &recording.note {
        note.done()?;
    }
    if recorded.left_to_catch_up {
        let report = catch_up(sessions, &mut memory.store, &home.spool(), &settings)?;
        recorded.recorded.added = usize::try_from(report.added).unwrap_or(usize::MAX);
    }
    later::fill_in(home, app, &mut memory.store)?;
    Ok(Told::Memory(recorded))
}

/// A turn on its way.
struct Recording<'a> {
    home: &'a Home,
    turn: Turn,
    /// The file from which it is recorded if this process does not come to the end.
    note: Option<Spooled>,
}

impl Recording<'_> {
    /// The first half; whose words they are is noted before, where the transcript would not tell.
    fn keep(
        &mut self,
        sessions: Option<&mut SessionStore>,
        settings: &Settings<'_>,
    ) -> hermes_memory::Result<Kept> {
        if let Some(sessions) = &sessions
            && turn::needs_note(sessions, &self.turn)?
        {
            let note = spool::put(&self.home.spool(), &self.turn, settings)?;
            self.turn = note.turn.clone();
            self.note = Some(note);
        }
        turn::keep(sessions, &self.turn, settings)
    }

    /// What is in state.db is taken in from there; everything else waits in a file.
    fn wait(self, kept: Kept, settings: &Settings<'_>, because: Why) -> anyhow::Result<Told> {
        if kept.messages.is_empty() && !kept.is_theirs {
            let turn = Turn { session_id: Some(kept.session_id), ..self.turn };
            return Recording { turn, ..self }.wait_in_file(settings, because);
        }
        let (session_id, state_messages) = (kept.session_id, kept.messages);
        Ok(Told::StateDb { session_id, state_messages, because })
    }

    fn wait_in_file(self, settings: &Settings<'_>, because: Why) -> anyhow::Result<Told> {
        let waits = match self.note {
            Some(note) => note,
            None => spool::put(&self.home.spool(), &self.turn, settings)?,
        };
        let session_id = waits.session_id().to_owned();
        Ok(Told::Spool { session_id, file: waits.path, because })
    }
}

/// The transcripts, opened to be written if they may be; none if there are none.
fn open_sessions(home: &Home) -> Result<Option<SessionStore>, StoreError> {
    life::sessions_to_write(home, PATIENCE)
}

/// The memory, or why it cannot be used now.
fn open_memory(app: &App, home: &Home) -> anyhow::Result<Result<Memory, Why>> {
    match app.memory_within(home, Access::Write, PATIENCE) {
        Ok(memory) => Ok(Ok(memory)),
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(why) if matches!(why.kind(), ErrorKind::Locked | ErrorKind::Damaged) => {
                Ok(Err(Why::from(why)))
            }
            _ => Err(error),
        },
    }
}

impl Arguments {
    /// The turns that can be recorded, and those that cannot; an error if there is none that can.
    fn turns(&self, zone: &TimeZone) -> anyhow::Result<Read> {
        let found = match &self.file {
            Some(file) => parse(&bytes_of(file)?, zone),
            None => vec![Place { line: 1, turn: Ok(self.typed()) }],
        };
        let mut read = Read { turns: Vec::new(), problems: Vec::new() };
        for (number, Place { line, turn }) in found.into_iter().enumerate() {
            let checked = turn.and_then(|mut turn| {
                self.fill_in(&mut turn);
                turn.fault().map_or(Ok(turn), Err)
            });
            match checked {
                Ok(turn) => read.turns.push(turn),
                Err(reason) => read.problems.push(Bad { turn: number + 1, line, reason }),
            }
        }
        match (read.turns.is_empty(), read.problems.first()) {
            (true, Some(bad)) => Err(Problem::usage(bad.to_string())
                .hint("see the form with `hermes memory turn --help`")
                .into()),
            (true, None) => Err(Problem::usage("there is no turn in it")
                .hint("see the form with `hermes memory turn --help`")
                .into()),
            _ => Ok(read),
        }
    }

    /// The turn whose words are flags.
    fn typed(&self) -> Turn {
        let message =
            |role, text: &Option<String>| text.as_deref().map(|text| TurnMessage::text(role, text));
        let messages =
            [message("user", &self.user_text), message("assistant", &self.assistant_text)];
        Turn {
            session_id: None,
            channel: self.channel.clone().unwrap_or_else(|| "cli".to_owned()),
            identity: None,
            user: None,
            agent: None,
            project: None,
            messages: messages.into_iter().flatten().collect(),
            from: Caller::OurOwn,
            ended: false,
        }
    }

    fn fill_in(&self, turn: &mut Turn) {
        let fill = |into: &mut Option<String>, said: &Option<String>| {
            if into.is_none() {
                into.clone_from(said);
            }
        };
        fill(&mut turn.session_id, &self.session);
        fill(&mut turn.agent, &self.agent);
        fill(&mut turn.project, &self.project);
        if let Some(channel) = &self.channel {
            turn.channel.clone_from(channel);
        }
        if let (None, Some(id)) = (&turn.identity, &self.identity) {
            let chat = if self.group { Chat::Group } else { Chat::Direct };
            turn.identity = Some(Identity { native_id: id.clone(), chat, name: None });
        }
        if turn.user.is_none() {
            turn.user = self.user.as_ref().map(|user| user.as_str().to_owned());
        }
        if let (Caller::OurOwn, Some(name)) = (&turn.from, &self.from) {
            turn.from = Caller::Other(name.clone());
        }
        turn.ended |= self.ended;
    }
}

/// What was read: the turns, and what is none.
struct Read {
    turns: Vec<Turn>,
    problems: Vec<Bad>,
}

/// A turn that cannot be recorded.
#[derive(Debug, Serialize)]
struct Bad {
    /// Which one it is, from 1.
    turn: usize,
    /// The line on which it begins.
    line: usize,
    reason: String,
}

impl fmt::Display for Bad {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "turn {} (line {}): {}", self.turn, self.line, self.reason)
    }
}

/// A turn where it was found.
struct Place {
    line: usize,
    turn: Result<Turn, String>,
}

fn bytes_of(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).context("could not read standard input")?;
    } else {
        bytes = fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
    }
    Ok(bytes)
}

/// One JSON object after another; after one that cannot be read it goes on with the next line that begins one.
fn parse(bytes: &[u8], zone: &TimeZone) -> Vec<Place> {
    let mut found = Vec::new();
    let mut from = 0;
    loop {
        let blank = bytes[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        from += blank;
        let line = bytes[..from].iter().filter(|byte| **byte == b'\n').count() + 1;
        let mut values = Deserializer::from_slice(&bytes[from..]).into_iter::<Value>();
        let turn = match values.next() {
            None => return found,
            Some(Ok(value)) => {
                from += values.byte_offset();
                Turn::from_json(&value, zone)
            }
            Some(Err(why)) => {
                let rest = &bytes[from..];
                let next = rest.windows(2).position(|pair| pair == b"\n{");
                from = next.map_or(bytes.len(), |next| from + next + 1);
                let why = why.to_string();
                Err(format!("not JSON: {}", why.split(" at line ").next().unwrap_or(&why)))
            }
        };
        found.push(Place { line, turn });
    }
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for told in &self.results {
            match told {
                Told::Memory(turn) => {
                    let added = counted(turn.recorded.added as u64, "message");
                    page.line(format_args!("{added} recorded in session {}", turn.session_id))?;
                }
                Told::StateDb { session_id, because, .. } => page.line(format_args!(
                    "kept in session {session_id}; the memory takes it in later: {}",
                    printable(&because.text)
                ))?,
                Told::Spool { session_id, file, because } => page.line(format_args!(
                    "session {session_id}: {}; the turn waits in {}",
                    printable(&because.text),
                    file.display()
                ))?,
            }
        }
        for bad in &self.problems {
            page.line(format_args!("left out: {}", printable(&bad.to_string())))?;
        }
        Ok(())
    }
}
