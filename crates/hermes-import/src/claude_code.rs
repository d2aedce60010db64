//! Claude Code: `projects/<folder>/<session>.jsonl`, one event a line, and `history.jsonl` with the prompts.

use std::collections::{HashMap, HashSet};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::files::{self, Listed};
use crate::item::{Message, Role, Session};
use crate::lines::{self, Line};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::value::{self, at, is_true, owned, text};
use crate::{Error, Result};

const AGENT: &str = "claude-code";
const HISTORY: &str = "history.jsonl";
/// What the program writes into user messages, and no person did.
const REMARKS: &[&str] = &[
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<user-memory-input>",
    "Caveat: The messages below were generated",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
];
/// How much of a file is looked at for its first line with an id.
const LOOKED_AT: u64 = 1024 * 1024;

/// Reads a transcript, a project folder or all of `~/.claude`.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        let file = Listed { path: path.to_owned(), size: found.len(), changed: None };
        return match files::name(path) == HISTORY {
            true => history(path, reading),
            false => transcripts(&[file], reading),
        };
    }
    let projects = path.join("projects");
    let folder = if projects.is_dir() { &projects } else { path };
    let is_transcript = |path: &Path| files::ends_with(path, ".jsonl");
    let listing = files::below(folder, &is_transcript);
    reading.tally.leave(LeftOut::Links, listing.links);
    for (folder, why) in &listing.unreadable {
        reading.tally.problem(folder, None, why.as_str());
    }
    let prompts = path.join(HISTORY);
    if listing.files.is_empty() && !prompts.is_file() {
        return Err(Error::not_this(path, "it contains no transcripts of Claude Code"));
    }
    let mut kept: Vec<Listed> = Vec::new();
    for file in listing.files {
        match file.path.components().any(|part| part.as_os_str() == "subagents") {
            true => reading.leave(LeftOut::Subagents),
            false if files::name(&file.path) != HISTORY => kept.push(file),
            false => {}
        }
    }
    // Who resumes a session copies its lines: the older file is the original.
    kept.sort_by(|a, b| (a.changed, &a.path).cmp(&(b.changed, &b.path)));
    transcripts(&kept, reading)?;
    if prompts.is_file() { history(&prompts, reading) } else { Ok(()) }
}

fn transcripts(files: &[Listed], reading: &mut Reading<'_>) -> Result<()> {
    let families = families(files);
    for file in files {
        let mut input = match files::open(&file.path) {
            Ok(input) => input,
            Err(why) if files.len() > 1 => {
                reading.tally.problem(&file.path, None, why.reason());
                continue;
            }
            Err(why) => return Err(why),
        };
        let id = files::stem(&file.path);
        let family = families.get(&file.path).and_then(|family| family.as_ref());
        let kin = family.map(|all| all.iter().filter(|other| **other != id).cloned().collect());
        let mut transcript = Transcript {
            session: Rc::new(Session { id, kin: kin.unwrap_or_default(), ..Session::default() }),
            last_at: files::changed(&file.path).unwrap_or(Timestamp::UNIX_EPOCH),
            answer: None,
        };
        lines::each(&file.path, &mut input, reading, &mut |reading, line| {
            transcript.line(reading, &line)
        })?;
        transcript.flush(reading)?;
    }
    Ok(())
}

/// For each file, the sessions that begin with the same line as it does: resumes and forks of one another.
fn families(files: &[Listed]) -> HashMap<PathBuf, Option<Rc<Vec<String>>>> {
    let mut by_first: HashMap<String, Vec<&Listed>> = HashMap::new();
    if files.len() > 1 {
        for file in files {
            if let Some(first) = first_id(&file.path) {
                by_first.entry(first).or_default().push(file);
            }
        }
    }
    let mut families = HashMap::new();
    for family in by_first.into_values().filter(|family| family.len() > 1) {
        let ids = Rc::new(family.iter().map(|file| files::stem(&file.path)).collect::<Vec<_>>());
        families.extend(family.iter().map(|file| (file.path.clone(), Some(ids.clone()))));
    }
    families
}

fn first_id(path: &Path) -> Option<String> {
    let input = std::io::Read::take(files::open(path).ok()?, LOOKED_AT);
    input.lines().map_while(std::result::Result::ok).find_map(|line| {
        let object: Map<String, Value> = serde_json::from_str(&line).ok()?;
        let is_said = matches!(text(&object, "type"), Some("user" | "assistant"));
        owned(&object, "uuid").filter(|_| is_said)
    })
}

/// One transcript, line by line.
struct Transcript {
    session: Rc<Session>,
    last_at: Timestamp,
    /// The message of the assistant whose lines are being read.
    answer: Option<Answer>,
}

/// A message of the assistant, which may stand on several lines.
struct Answer {
    native: Option<String>,
    id: String,
    at: Timestamp,
    texts: Vec<String>,
    calls: Vec<Value>,
    /// The answers of its tools, which may come in between.
    results: Vec<Message>,
}

impl Transcript {
    fn line(&mut self, reading: &mut Reading<'_>, (_, object): &Line) -> Result<()> {
        let kind = text(object, "type").unwrap_or_default();
        if !matches!(kind, "user" | "assistant") {
            let left = match kind {
                "summary" => LeftOut::Summaries,
                _ => LeftOut::Remarks,
            };
            reading.leave(left);
            return Ok(());
        }
        if let Some(left) = left_out(object) {
            reading.leave(left);
            return Ok(());
        }
        if let Some(id) = text(object, "uuid")
            && !reading.is_first(id)
        {
            return Ok(());
        }
        self.note(object, reading);
        match kind {
            "assistant" => self.assistant(object, reading),
            _ => self.user(object, reading),
        }
    }

    /// What a line says about its session.
    fn note(&mut self, object: &Map<String, Value>, reading: &Reading<'_>) {
        if let Some(at) = value::time(object.get("timestamp"), &reading.options.zone) {
            self.last_at = at;
        }
        if self.session.started_at.is_none() || self.session.project.is_none() {
            let session = Rc::make_mut(&mut self.session);
            session.started_at.get_or_insert(self.last_at);
            session.project = owned(object, "cwd").or(session.project.take());
            session.agent = Some(AGENT.to_owned());
            session.channel = Some(AGENT.to_owned());
        }
    }

    fn assistant(&mut self, object: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        let native = at(object, &["message", "id"]).and_then(Value::as_str);
        let goes_on = native.is_some()
            && self.answer.as_ref().is_some_and(|answer| answer.native.as_deref() == native);
        if !goes_on {
            self.flush(reading)?;
        }
        let id = line_id(object, self.last_at);
        let answer = self.answer.get_or_insert_with(|| Answer {
            native: native.map(str::to_owned),
            id,
            at: self.last_at,
            texts: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
        });
        match at(object, &["message", "content"]) {
            Some(Value::String(text)) => answer.say(text),
            Some(Value::Array(blocks)) => {
                blocks.iter().for_each(|block| answer.add(block, reading))
            }
            _ => {}
        }
        Ok(())
    }

    fn user(&mut self, object: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        let id = line_id(object, self.last_at);
        let mut said = String::new();
        match at(object, &["message", "content"]) {
            Some(Value::String(text)) => said.clone_from(text),
            Some(Value::Array(blocks)) => {
                for (number, block) in blocks.iter().enumerate() {
                    match block.get("type").and_then(Value::as_str) {
                        Some("tool_result") => {
                            self.result(block, format!("{id}/{number}"), reading)?;
                        }
                        Some("text") => {
                            let text = block.get("text").and_then(Value::as_str);
                            push(&mut said, text.unwrap_or_default(), reading);
                        }
                        _ => reading.leave(LeftOut::Attachments),
                    }
                }
            }
            _ => {}
        }
        if is_remark(&said) {
            reading.leave(LeftOut::Remarks);
            return Ok(());
        }
        if said.trim().is_empty() {
            return Ok(());
        }
        self.flush(reading)?;
        let message = self.message(id, Role::User, said);
        reading.message(message)
    }

    /// The answer of a tool; it follows the message that called.
    fn result(&mut self, block: &Value, id: String, reading: &mut Reading<'_>) -> Result<()> {
        let answer = value::words(block.get("content").unwrap_or(&Value::Null));
        let mut message = self.message(id, Role::Tool, value::condensed(&answer));
        message.tool_call_id = block.get("tool_use_id").and_then(Value::as_str).map(str::to_owned);
        message.failed = block.get("is_error").and_then(Value::as_bool);
        match &mut self.answer {
            Some(answer) => answer.results.push(message),
            None => reading.message(message)?,
        }
        Ok(())
    }

    fn flush(&mut self, reading: &mut Reading<'_>) -> Result<()> {
        let Some(answer) = self.answer.take() else { return Ok(()) };
        let mut message = self.message(answer.id, Role::Assistant, answer.texts.join("\n\n"));
        message.at = answer.at;
        message.tool_calls = (!answer.calls.is_empty()).then_some(Value::Array(answer.calls));
        reading.message(message)?;
        answer.results.into_iter().try_for_each(|result| reading.message(result))
    }

    fn message(&self, id: String, role: Role, text: String) -> Message {
        Message {
            session: self.session.clone(),
            id,
            role,
            text,
            at: self.last_at,
            tool_calls: None,
            tool_call_id: None,
            failed: None,
        }
    }
}

impl Answer {
    fn add(&mut self, block: &Value, reading: &mut Reading<'_>) {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => self.say(block.get("text").and_then(Value::as_str).unwrap_or_default()),
            Some("tool_use") => {
                let [id, name, input] =
                    ["id", "name", "input"].map(|key| block.get(key).cloned().unwrap_or_default());
                self.calls.push(json!({ "id": id, "name": name, "input": input }));
            }
            Some("thinking" | "redacted_thinking") => reading.leave(LeftOut::Reasoning),
            _ => reading.leave(LeftOut::Attachments),
        }
    }

    /// Lines of one message hold its pieces; some repeat, or hold all that was said so far.
    fn say(&mut self, text: &str) {
        if text.trim().is_empty() || self.texts.iter().any(|known| known == text) {
            return;
        }
        match self.texts.last_mut() {
            Some(last) if text.starts_with(last.as_str()) => text.clone_into(last),
            _ => self.texts.push(text.to_owned()),
        }
    }
}

/// What makes a line no words of the person or the agent.
fn left_out(object: &Map<String, Value>) -> Option<LeftOut> {
    if is_true(object, "isSidechain") {
        return Some(LeftOut::Subagents);
    }
    if is_true(object, "isCompactSummary") || is_true(object, "isVisibleInTranscriptOnly") {
        return Some(LeftOut::Summaries);
    }
    if is_true(object, "isMeta") {
        return Some(LeftOut::InjectedContext);
    }
    let by_program = at(object, &["origin", "kind"])
        .and_then(Value::as_str)
        .is_some_and(|kind| matches!(kind, "task-notification" | "coordinator"))
        || text(object, "promptSource") == Some("system")
        || is_true(object, "isApiErrorMessage");
    by_program.then_some(LeftOut::Remarks)
}

fn is_remark(said: &str) -> bool {
    let said = said.trim_start();
    REMARKS.iter().any(|beginning| said.starts_with(beginning))
}

fn push(said: &mut String, text: &str, reading: &mut Reading<'_>) {
    if is_remark(text) {
        reading.leave(LeftOut::Remarks);
        return;
    }
    if !said.is_empty() {
        said.push('\n');
    }
    said.push_str(text);
}

/// The id of a line; very old ones have none.
fn line_id(object: &Map<String, Value>, at: Timestamp) -> String {
    owned(object, "uuid").unwrap_or_else(|| {
        let said = object.get("message").map(Value::to_string).unwrap_or_default();
        format!("{}-{:016x}", at.as_millisecond(), crate::value::print(&said))
    })
}

/// The prompts that were typed; only those that name their session, for the others may be in memory already.
fn history(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let mut input = files::open(path)?;
    let mut without_transcript = HashSet::new();
    lines::each(path, &mut input, reading, &mut |reading, (_, object)| {
        let at = value::time(object.get("timestamp"), &reading.options.zone);
        let (Some(id), Some(said), Some(at)) =
            (owned(&object, "sessionId"), owned(&object, "display"), at)
        else {
            reading.leave(LeftOut::OtherFiles);
            return Ok(());
        };
        if said.starts_with('/') {
            reading.leave(LeftOut::Remarks);
            return Ok(());
        }
        // Their transcripts are here, and say more.
        if reading.has_said(&id) && !without_transcript.contains(&id) {
            reading.leave(LeftOut::Repeated);
            return Ok(());
        }
        without_transcript.insert(id.clone());
        let session = Session {
            id,
            started_at: Some(at),
            project: owned(&object, "project"),
            agent: Some(AGENT.to_owned()),
            channel: Some(AGENT.to_owned()),
            ..Session::default()
        };
        reading.message(Message {
            session: Rc::new(session),
            id: format!("history/{}", at.as_millisecond()),
            role: Role::User,
            text: said,
            at,
            tool_calls: None,
            tool_call_id: None,
            failed: None,
        })
    })
}
