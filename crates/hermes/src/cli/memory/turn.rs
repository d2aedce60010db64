//! hermes memory turn

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use hermes_home::{Home, UserId};
use hermes_memory::catch_up::catch_up;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::spool;
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
use crate::embedding;
use crate::failure::{Outcome, Problem};
use crate::output::{Listing, Page, Show, counted};

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
    /// In state.db; the memory was busy.
    StateDb { session_id: String, state_messages: Vec<i64> },
    /// In a file; everything was busy.
    Spool { session_id: String, file: PathBuf },
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let zone = app.zone(&home)?;
    let turns = arguments.turns(&zone)?;
    let mut sessions = open_sessions(&home)?;
    let mut results = Vec::new();
    for turn in turns {
        results.push(record(app, &home, &turn, sessions.as_mut())?);
    }
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

/// Both halves; what cannot be written in time waits.
fn record(
    app: &App,
    home: &Home,
    turn: &Turn,
    mut sessions: Option<&mut SessionStore>,
) -> anyhow::Result<Told> {
    let zone = app.zone(home)?;
    let mode = app.config(home)?.config.users.mode;
    let random = random_bytes();
    let mut settings =
        Settings { mode, zone: &zone, now: app.now, vectors: Vectors::Later, random };
    let kept = match turn::keep(sessions.as_deref_mut(), turn, &settings) {
        Err(error) if turn::is_locked(&error) => return wait_in_file(home, turn, &settings),
        other => other?,
    };
    let Some(mut memory) = open_memory(app, home)? else {
        return wait(home, turn, kept, &settings);
    };
    settings.vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    let mut recorded = match turn::remember(&mut memory.store, turn, &kept, &settings) {
        Err(error) if turn::is_locked(&error) => return wait(home, turn, kept, &settings),
        other => other?,
    };
    if recorded.left_to_catch_up {
        let report = catch_up(sessions.as_deref(), &mut memory.store, &home.spool(), &settings)?;
        recorded.recorded.added = usize::try_from(report.added).unwrap_or(usize::MAX);
    }
    later::fill_in(home, app, &mut memory.store)?;
    Ok(Told::Memory(recorded))
}

/// What is in state.db is taken in from there; everything else waits in a file.
fn wait(home: &Home, turn: &Turn, kept: Kept, settings: &Settings<'_>) -> anyhow::Result<Told> {
    if kept.messages.is_empty() && !kept.is_theirs {
        let named = Turn { session_id: Some(kept.session_id), ..turn.clone() };
        return wait_in_file(home, &named, settings);
    }
    Ok(Told::StateDb { session_id: kept.session_id, state_messages: kept.messages })
}

fn wait_in_file(home: &Home, turn: &Turn, settings: &Settings<'_>) -> anyhow::Result<Told> {
    let mut turn = turn.clone();
    let new = || hermes_store::sessions::SessionId::new(settings.now, settings.random).to_string();
    let session_id = turn.session_id.get_or_insert_with(new).clone();
    for message in &mut turn.messages {
        message.at.get_or_insert(settings.now);
    }
    let file = spool::put(&home.spool(), &turn, settings.now, random_bytes())?;
    Ok(Told::Spool { session_id, file })
}

/// The transcripts, opened to be written if they may be; none if there are none.
fn open_sessions(home: &Home) -> anyhow::Result<Option<SessionStore>> {
    let path = home.state_db();
    let open = |access| SessionStore::open(&path, access, PATIENCE);
    match open(Access::Write).or_else(|error| match error.kind() {
        ErrorKind::Refused => open(Access::Read),
        _ => Err(error),
    }) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The memory, unless somebody holds it.
fn open_memory(app: &App, home: &Home) -> anyhow::Result<Option<Memory>> {
    match app.memory_within(home, Access::Write, PATIENCE) {
        Ok(memory) => Ok(Some(memory)),
        Err(error) => match error.downcast_ref::<StoreError>().map(StoreError::kind) {
            Some(ErrorKind::Locked) => Ok(None),
            _ => Err(error),
        },
    }
}

impl Arguments {
    fn turns(&self, zone: &TimeZone) -> anyhow::Result<Vec<Turn>> {
        let mut turns = match &self.file {
            Some(file) => read(file, zone)?,
            None => vec![self.typed()],
        };
        turns.iter_mut().for_each(|turn| self.fill_in(turn));
        Ok(turns)
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

/// The turns of a file or of standard input, one JSON object after another.
fn read(file: &Path, zone: &TimeZone) -> anyhow::Result<Vec<Turn>> {
    let mut text = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().read_to_end(&mut text).context("could not read standard input")?;
    } else {
        text = fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
    }
    let mut turns = Vec::new();
    for (number, value) in Deserializer::from_slice(&text).into_iter::<Value>().enumerate() {
        let turn = value.map_err(|why| format!("not JSON: {why}"));
        let turn = turn.and_then(|value| Turn::from_json(&value, zone));
        turns.push(turn.map_err(|why| {
            Problem::usage(format!("turn {}: {why}", number + 1))
                .hint("see the form with `hermes memory turn --help`")
        })?);
    }
    Ok(turns)
}

impl Show for Listing<Told> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for told in &self.results {
            match told {
                Told::Memory(turn) => {
                    let added = counted(turn.recorded.added as u64, "message");
                    page.line(format_args!("{added} recorded in session {}", turn.session_id))?;
                }
                Told::StateDb { session_id, .. } => page.line(format_args!(
                    "kept in session {session_id}; the memory is busy and takes it in later"
                ))?,
                Told::Spool { session_id, file } => page.line(format_args!(
                    "session {session_id}: the memory is busy; the turn waits in {}",
                    file.display()
                ))?,
            }
        }
        Ok(())
    }
}
