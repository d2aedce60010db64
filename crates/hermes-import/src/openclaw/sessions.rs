//! Sessions of OpenClaw: a header, then entries that name the one before them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::AGENT;
use crate::hermes_agent::is_group;
use crate::item::{Message, Role, Session};
use crate::lines;
use crate::reading::{Reading, hash};
use crate::tally::{LeftOut, Tally};
use crate::value::{self, at, owned, text};
use crate::{Error, Options, Result, files};

/// The largest index that is read.
const LARGEST_INDEX: u64 = 64 * 1024 * 1024;

/// What `sessions.json` says of each session.
#[derive(Default)]
pub(super) struct Index(HashMap<String, Known>);

#[derive(Default)]
struct Known {
    channel: Option<String>,
    left_out: Option<LeftOut>,
}

/// All sessions of one agent.
pub(super) fn folder(folder: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let index = index(&folder.join("sessions.json"), reading);
    let listing = files::below(folder, &|path| files::ends_with(path, ".jsonl"));
    reading.tally.leave(LeftOut::Links, listing.links);
    for file in listing.files {
        match one(&file.path, &index, reading) {
            Err(why @ (Error::Unreadable { .. } | Error::Missing { .. })) => {
                reading.tally.problem(&file.path, None, why.reason());
            }
            other => other?,
        }
    }
    Ok(())
}

fn index(path: &Path, reading: &mut Reading<'_>) -> Index {
    let mut index = Index::default();
    let Ok(Ok(whole)) = files::text(path, LARGEST_INDEX) else { return index };
    let object: Map<String, Value> = match serde_json::from_str(&whole) {
        Ok(object) => object,
        Err(why) => {
            reading.tally.problem(path, None, format!("not JSON: {why}"));
            return index;
        }
    };
    for (key, value) in &object {
        let Some(fields) = value.as_object() else { continue };
        let Some(id) = owned(fields, "sessionId") else { continue };
        let channels = ["channel", "lastChannel", "surface"];
        let channel = channels.iter().find_map(|name| owned(fields, name));
        let is_several =
            text(fields, "chatType").is_some_and(is_group) || key.split(':').any(is_group);
        let left_out = match () {
            () if key.contains(":cron:") || key.starts_with("cron:") => Some(LeftOut::Scheduled),
            () if key.contains("subagent:") => Some(LeftOut::Subagents),
            () if is_several => Some(LeftOut::Groups),
            () => None,
        };
        index.0.insert(id, Known { channel, left_out });
    }
    index
}

/// One session: first which entries lead to its end, then what they say.
pub(super) fn one(path: &Path, index: &Index, reading: &mut Reading<'_>) -> Result<()> {
    let mut id = files::stem(path);
    let branch = branch(path, reading.options)?;
    let known = index.0.get(&id);
    let mut talk = Talk {
        branch,
        left_out: known.and_then(|known| known.left_out),
        last_at: files::changed(path).unwrap_or(Timestamp::UNIX_EPOCH),
        session: Rc::new(Session {
            id: std::mem::take(&mut id),
            agent: Some(AGENT.to_owned()),
            channel: known.and_then(|known| known.channel.clone()).or(Some(AGENT.to_owned())),
            ..Session::default()
        }),
    };
    let mut input = files::open(path)?;
    lines::each(path, &mut input, reading, &mut |reading, (_, object)| talk.line(&object, reading))
}

/// Hashes of the entries from the first to the last one; empty: nothing tells of branches.
fn branch(path: &Path, options: &Options) -> Result<HashSet<u64>> {
    let mut parents: HashMap<u64, Option<u64>> = HashMap::new();
    let mut last = None;
    let mut ignore = |_: crate::Item, _: &Tally| std::ops::ControlFlow::Continue(());
    let mut reading = Reading::new(options, &mut ignore);
    let mut input = files::open(path)?;
    lines::each(path, &mut input, &mut reading, &mut |_, (_, object)| {
        if let Some(id) = text(&object, "id").filter(|_| text(&object, "type") != Some("session")) {
            let parent = match object.get("parentId") {
                Some(Value::String(parent)) => Some(hash(parent.as_str())),
                Some(_) => None,
                None => last,
            };
            parents.insert(hash(id), parent);
            last = Some(hash(id));
        }
        Ok(())
    })?;
    let mut branch = HashSet::new();
    let mut next = last;
    // A tree that goes round ends there.
    while let Some(id) = next.filter(|id| branch.insert(*id)) {
        next = parents.get(&id).copied().flatten();
    }
    Ok(branch)
}

struct Talk {
    branch: HashSet<u64>,
    left_out: Option<LeftOut>,
    last_at: Timestamp,
    session: Rc<Session>,
}

impl Talk {
    fn line(&mut self, object: &Map<String, Value>, reading: &mut Reading<'_>) -> Result<()> {
        if let Some(at) = value::time(object.get("timestamp"), &reading.options.zone) {
            self.last_at = at;
        }
        match text(object, "type").unwrap_or_default() {
            "session" => {
                let session = Rc::make_mut(&mut self.session);
                session.started_at = Some(self.last_at);
                session.project = owned(object, "cwd");
                return Ok(());
            }
            "message" => {}
            "compaction" | "branch_summary" => {
                reading.leave(LeftOut::Summaries);
                return Ok(());
            }
            _ => {
                reading.leave(LeftOut::Remarks);
                return Ok(());
            }
        }
        if let Some(left) = self.left_out {
            reading.leave(left);
            return Ok(());
        }
        let id = text(object, "id");
        if id.is_some_and(|id| !self.branch.contains(&hash(id))) {
            reading.leave(LeftOut::OtherBranches);
            return Ok(());
        }
        let id = id.map_or_else(|| self.derived(object), str::to_owned);
        match object.get("message").and_then(Value::as_object) {
            Some(message) => self.message(id, message, reading),
            None => Ok(()),
        }
    }

    fn message(
        &self,
        id: String,
        message: &Map<String, Value>,
        reading: &mut Reading<'_>,
    ) -> Result<()> {
        let role = match text(message, "role").unwrap_or_default() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "toolResult" | "tool" => Role::Tool,
            "compactionSummary" | "branchSummary" => {
                reading.leave(LeftOut::Summaries);
                return Ok(());
            }
            _ => {
                reading.leave(LeftOut::Remarks);
                return Ok(());
            }
        };
        let mut calls = Vec::new();
        let mut said = Vec::new();
        match message.get("content") {
            Some(Value::String(text)) => said.push(text.as_str()),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    add(block, &mut said, &mut calls, reading);
                }
            }
            _ => {}
        }
        let said = said.join("\n");
        reading.message(Message {
            session: self.session.clone(),
            id,
            role,
            text: if role == Role::Tool { value::condensed(&said) } else { said },
            at: self.last_at,
            tool_calls: (!calls.is_empty()).then_some(Value::Array(calls)),
            tool_call_id: owned(message, "toolCallId"),
            failed: message.get("isError").and_then(Value::as_bool),
        })
    }

    fn derived(&self, object: &Map<String, Value>) -> String {
        let said = at(object, &["message"]).map(Value::to_string).unwrap_or_default();
        format!("{}-{:016x}", self.last_at.as_millisecond(), value::print(&said))
    }
}

fn add<'a>(
    block: &'a Value,
    said: &mut Vec<&'a str>,
    calls: &mut Vec<Value>,
    reading: &mut Reading<'_>,
) {
    match block.get("type").and_then(Value::as_str) {
        Some("text") => said.extend(block.get("text").and_then(Value::as_str)),
        Some("toolCall") => {
            let [id, name, input] =
                ["id", "name", "arguments"].map(|key| block.get(key).cloned().unwrap_or_default());
            calls.push(json!({ "id": id, "name": name, "input": input }));
        }
        Some("thinking") => reading.leave(LeftOut::Reasoning),
        _ => reading.leave(LeftOut::Attachments),
    }
}
