//! Codex: rollouts, one event a line, plain or packed with zstd.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::files;
use crate::item::{Message, Role, Session};
use crate::lines::{self, Line};
use crate::packed::{self, Bounded};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::value::{self, owned, text};
use crate::{Error, Result};

const AGENT: &str = "codex";
/// What the program puts into user messages.
const INJECTED: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions",
    "<collaboration_mode",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill",
    "# AGENTS.md instructions",
];
/// What stands before the words of a person who writes in an editor.
const REQUEST: &str = "## My request for Codex:";
/// So many messages are held back until it is known which of two forms the file has.
const MOST_WAITING: usize = 10_000;

/// Reads a rollout, a folder of them, or all of `~/.codex`.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        return rollout(path, reading);
    }
    let is_rollout = |path: &Path| {
        let is_named = files::name(path).starts_with("rollout-");
        is_named && (files::ends_with(path, ".jsonl") || files::ends_with(path, ".jsonl.zst"))
    };
    let listing = files::below(path, &is_rollout);
    reading.tally.leave(LeftOut::Links, listing.links);
    for (folder, why) in &listing.unreadable {
        reading.tally.problem(folder, None, why.as_str());
    }
    if listing.files.is_empty() {
        return Err(Error::not_this(path, "it contains no rollouts of Codex"));
    }
    // The names begin with the time: what a fork copied was read before.
    let mut files = listing.files;
    files.sort_by_key(|file| files::name(&file.path));
    for file in files {
        match rollout(&file.path, reading) {
            Err(why @ (Error::Unreadable { .. } | Error::NotThis { .. })) => {
                reading.tally.problem(&file.path, None, why.reason());
            }
            other => other?,
        }
    }
    Ok(())
}

fn rollout(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let file = files::open(path)?;
    if !files::ends_with(path, ".zst") {
        let mut file = file;
        return lines_of(path, &mut file, reading);
    }
    let size = path.metadata().map(|found| found.len()).unwrap_or(0);
    let unpacked = zstd::stream::read::Decoder::with_buffer(file);
    let unpacked = unpacked.map_err(|why| Error::file(path, why))?;
    let mut bounded = Bounded::new(unpacked, packed::most(size));
    let read = lines_of(path, &mut BufReader::new(&mut bounded), reading);
    if bounded.is_over {
        let why = "it unpacks to far more data than a rollout can have".to_owned();
        return Err(Error::Hostile { path: path.to_owned(), why });
    }
    read
}

fn lines_of(path: &Path, input: &mut dyn BufRead, reading: &mut Reading<'_>) -> Result<()> {
    let id = id_in_name(path);
    let mut rollout = Rollout {
        session: Rc::new(Session {
            id,
            agent: Some(AGENT.to_owned()),
            channel: Some(AGENT.to_owned()),
            ..Session::default()
        }),
        has_head: false,
        is_subagent: false,
        last_at: files::changed(path).unwrap_or(Timestamp::UNIX_EPOCH),
        waiting: Some(Vec::new()),
    };
    lines::each(path, input, reading, &mut |reading, line| rollout.line(reading, &line))?;
    rollout.settle(reading, Prose::Items)
}

/// `rollout-2026-01-02T03-04-05-<uuid>.jsonl` names the session.
fn id_in_name(path: &Path) -> String {
    let name = files::name(path);
    let stem = name.split(".jsonl").next().unwrap_or_default();
    let place = stem.len().checked_sub(36).filter(|place| stem.is_char_boundary(*place));
    place.map_or(stem, |place| &stem[place..]).to_owned()
}

/// The same words stand in a file twice: as events and as items of the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prose {
    Events,
    Items,
}

struct Rollout {
    session: Rc<Session>,
    has_head: bool,
    is_subagent: bool,
    last_at: Timestamp,
    /// What waits until it is known whether the file has events; none: it has.
    waiting: Option<Vec<(bool, Message)>>,
}

impl Rollout {
    fn line(&mut self, reading: &mut Reading<'_>, (_, object): &Line) -> Result<()> {
        if let Some(at) = value::time(object.get("timestamp"), &reading.options.zone) {
            self.last_at = at;
        }
        let Some(payload) = object.get("payload").and_then(Value::as_object) else {
            reading.leave(LeftOut::Remarks);
            return Ok(());
        };
        match text(object, "type").unwrap_or_default() {
            "session_meta" => self.head(payload, reading),
            _ if self.is_subagent => reading.leave(LeftOut::Subagents),
            "turn_context" => self.context(payload),
            "event_msg" => self.event(payload, reading)?,
            "response_item" => self.item(payload, reading)?,
            "compacted" => reading.leave(LeftOut::Summaries),
            _ => reading.leave(LeftOut::Remarks),
        }
        Ok(())
    }

    /// The first one tells of this file, others were copied by a fork.
    fn head(&mut self, payload: &Map<String, Value>, reading: &Reading<'_>) {
        if std::mem::replace(&mut self.has_head, true) {
            return;
        }
        let session = Rc::make_mut(&mut self.session);
        if let Some(id) = owned(payload, "id").or_else(|| owned(payload, "session_id")) {
            session.id = id;
        }
        let at = value::time(payload.get("timestamp"), &reading.options.zone);
        session.started_at = Some(at.unwrap_or(self.last_at));
        session.project = owned(payload, "cwd");
        let parents = ["forked_from_id", "parent_thread_id"];
        session.kin = parents.iter().filter_map(|key| owned(payload, key)).collect();
        self.is_subagent =
            payload.get("source").is_some_and(|source| source.get("subagent").is_some());
    }

    fn context(&mut self, payload: &Map<String, Value>) {
        if self.session.model.is_none() {
            let session = Rc::make_mut(&mut self.session);
            session.model = owned(payload, "model");
            session.project = session.project.take().or_else(|| owned(payload, "cwd"));
        }
    }

    fn event(&mut self, payload: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        let role = match text(payload, "type").unwrap_or_default() {
            "user_message" => Role::User,
            "agent_message" => Role::Assistant,
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                reading.leave(LeftOut::Reasoning);
                return Ok(());
            }
            _ => {
                reading.leave(LeftOut::Remarks);
                return Ok(());
            }
        };
        self.settle(reading, Prose::Events)?;
        let said = text(payload, "message").unwrap_or_default();
        match wanted(said, role) {
            Some(said) => {
                let message = self.said(role, said);
                self.give(reading, message)
            }
            None => {
                reading.leave(LeftOut::InjectedContext);
                Ok(())
            }
        }
    }

    fn item(&mut self, payload: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        match text(payload, "type").unwrap_or_default() {
            "message" => self.prose(payload, reading),
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call" => {
                self.call(payload, reading)
            }
            "function_call_output" | "custom_tool_call_output" => self.output(payload, reading),
            "reasoning" => {
                reading.leave(LeftOut::Reasoning);
                Ok(())
            }
            "compaction" | "compaction_summary" => {
                reading.leave(LeftOut::Summaries);
                Ok(())
            }
            _ => {
                reading.leave(LeftOut::Remarks);
                Ok(())
            }
        }
    }

    /// Words as an item: used only where the file has no events.
    fn prose(&mut self, payload: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        let role = match text(payload, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => {
                reading.leave(LeftOut::SystemPrompts);
                return Ok(());
            }
        };
        let said = value::words(payload.get("content").unwrap_or(&Value::Null));
        let Some(said) = wanted(&said, role) else {
            reading.leave(LeftOut::InjectedContext);
            return Ok(());
        };
        let message = self.said(role, said);
        let Some(waiting) = &mut self.waiting else { return Ok(()) };
        waiting.push((true, message));
        if waiting.len() >= MOST_WAITING { self.settle(reading, Prose::Items) } else { Ok(()) }
    }

    fn call(&mut self, payload: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        let kind = text(payload, "type").unwrap_or_default();
        let name = text(payload, "name").unwrap_or(kind.trim_end_matches("_call"));
        let said = ["arguments", "input", "action"].iter().find_map(|key| payload.get(*key));
        let id = text(payload, "call_id").or_else(|| text(payload, "id")).unwrap_or_default();
        let mut message = self.said(Role::Assistant, "");
        message.id = format!("call/{id}/{}", self.last_at.as_millisecond());
        message.tool_calls = Some(json!([{ "id": id, "name": name, "input": said }]));
        self.give(reading, message)
    }

    fn output(&mut self, payload: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        let output = payload.get("output").unwrap_or(&Value::Null);
        let answer = match output.get("content") {
            Some(content) => value::words(content),
            None => value::words(output),
        };
        let id = text(payload, "call_id").unwrap_or_default();
        let mut message = self.said(Role::Tool, &value::condensed(&answer));
        message.id = format!("output/{id}/{}", self.last_at.as_millisecond());
        message.tool_call_id = Some(id.to_owned());
        message.failed = output.get("success").and_then(Value::as_bool).map(|success| !success);
        self.give(reading, message)
    }

    fn said(&self, role: Role, said: &str) -> Message {
        let print = value::print(&format!("{}\n{said}", role.as_str()));
        Message {
            session: self.session.clone(),
            id: format!("{}-{print:016x}", self.last_at.as_millisecond()),
            role,
            text: said.to_owned(),
            at: self.last_at,
            tool_calls: None,
            tool_call_id: None,
            failed: None,
        }
    }

    /// Hands out what has waited: without the items that say what the events say, or with them.
    fn settle(&mut self, reading: &mut Reading<'_>, prose: Prose) -> Result<()> {
        for (is_prose, message) in self.waiting.take().unwrap_or_default() {
            if !is_prose || prose == Prose::Items {
                hand_out(reading, message)?;
            }
        }
        if prose == Prose::Items {
            // Still none has come: what follows is used as well.
            self.waiting = Some(Vec::new());
        }
        Ok(())
    }

    fn give(&mut self, reading: &mut Reading<'_>, message: Message) -> Result<()> {
        match &mut self.waiting {
            Some(waiting) => {
                waiting.push((false, message));
                Ok(())
            }
            None => hand_out(reading, message),
        }
    }
}

/// What a fork copied, and a file that is there plain and packed, comes once.
fn hand_out(reading: &mut Reading<'_>, message: Message) -> Result<()> {
    if reading.is_first(&message.id) { reading.message(message) } else { Ok(()) }
}

/// The words of the person or the agent, without what the program put there.
fn wanted(said: &str, role: Role) -> Option<&str> {
    if role != Role::User {
        return Some(said);
    }
    let said = said.split_once(REQUEST).map_or(said, |(_, request)| request).trim();
    (!INJECTED.iter().any(|beginning| said.starts_with(beginning))).then_some(said)
}
