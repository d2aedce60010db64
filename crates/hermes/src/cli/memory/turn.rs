//! hermes memory turn

use crate::terminal::Terminal;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use anyhow::Context;
use clap::Args;
use hermes_home::UserId;
use hermes_memory::record::turn::{Caller, Identity, Turn, TurnMessage};
use hermes_store::memory::Chat;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Deserializer, Value};

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::problem::Problem;
use hermes_app::text::{counted, printable};
use hermes_app::turn::{Recorder, Told};

/// Shown below `hermes memory turn --help`.
pub(crate) const FORM: &str = "A turn is a JSON object; a file can contain several, one after another:
  messages     a list, in order; each has role (user, assistant, tool) and text, and can have
               timestamp, external_id, tool_name, tool_calls, tool_call_id, failed
  session_id   id of the conversation [default: a new one]
  channel      channel: cli, telegram, … [default: cli]
  identity     the channel account of the user: an id, or {\"id\": …, \"chat\": \"direct\" or \"group\", \"name\": …}
  from         the program that reports the turn, if it keeps its own transcript
  user, agent, project, ended
Options fill in what the object does not contain.

Examples:
  hermes memory turn --user-text \"Where is the shop?\" --assistant-text \"In Porto.\"
  echo '{\"messages\": [{\"role\": \"user\", \"text\": \"hi\"}]}' | hermes memory turn -";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File with the turn as JSON; `-` is standard input
    #[arg(required_unless_present_any = ["user_text", "assistant_text"])]
    file: Option<PathBuf>,
    /// Message of the user
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    user_text: Option<String>,
    /// Answer of the assistant
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    assistant_text: Option<String>,
    /// Session [default: a new one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Channel it took place in [default: cli]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Channel account of the user: its id in the channel
    #[arg(long, value_name = "ID", conflicts_with = "user")]
    identity: Option<String>,
    /// The message was sent in a group
    #[arg(long, requires = "identity")]
    group: bool,
    /// User whose memory it is recorded in [default: the user the identity is linked to, else the owner]
    #[arg(long, value_name = "NAME")]
    user: Option<UserId>,
    /// Agent that answered
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Folder or repository it was about
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// Program that reports the turn and keeps its own transcript [default: none, Hermes keeps the transcript]
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// The session ends with this turn
    #[arg(long)]
    ended: bool,
}

/// What became of the turns.
#[derive(Debug, Serialize)]
struct Done {
    results: Vec<Told>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Bad>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let zone = app.zone(&home)?;
    let Read { turns, mut problems } = arguments.turns(&zone)?;
    let mut recorder = Recorder::open(&home);
    let mut results = Vec::new();
    for (bad, turn) in turns {
        match recorder.record(app, &home, &turn) {
            Ok(told) => results.push(told),
            // What was stored before it is told, so that nobody sends all of it again.
            Err(error) if !results.is_empty() => {
                problems.push(Bad { reason: format!("{error:#}"), ..bad });
            }
            Err(error) => return Err(error),
        }
    }
    let is_damaged = results.iter().any(Told::is_for_damage);
    let is_partial = !problems.is_empty();
    app.out.show(&Done { results, problems })?;
    if is_damaged {
        app.out.hint(
            "`hermes doctor` shows what is wrong; waiting turns are recorded once it is repaired",
        );
    }
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
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
                Ok(turn) => {
                    let place = Bad { turn: number + 1, line, reason: String::new() };
                    read.turns.push((place, turn));
                }
                Err(reason) => read.problems.push(Bad { turn: number + 1, line, reason }),
            }
        }
        match (read.turns.is_empty(), read.problems.first()) {
            (true, Some(bad)) => Err(Problem::usage(bad.to_string())
                .hint("see the format with `hermes memory turn --help`")
                .into()),
            (true, None) => Err(Problem::usage("the input contains no turn")
                .hint("see the format with `hermes memory turn --help`")
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
    /// Each with its place.
    turns: Vec<(Bad, Turn)>,
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
                    "saved in session {session_id}; it will be recorded in the memory later: {}",
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
            page.line(format_args!("skipped: {}", printable(&bad.to_string())))?;
        }
        Ok(())
    }
}
