//! The export of Claude.ai: conversations whose messages have their words in `content` or in `text`.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::item::{Message, Role, Session};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::value::{self, owned, text};
use crate::{Error, Result, files, packed};

const AGENT: &str = "claude-ai";

/// Reads a zip, a folder of them, or one `conversations.json`.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    packed::conversations(path, reading, &mut |reading, file, (line, object)| {
        if object.contains_key("mapping") {
            return Err(Error::not_this(
                path,
                "it is an export of ChatGPT: use `hermes import chatgpt`",
            ));
        }
        let messages = object.get("chat_messages").and_then(Value::as_array);
        let (Some(id), Some(messages)) = (value::id(&object, "uuid"), messages) else {
            reading.tally.problem(file, Some(line), "it has no `uuid` or no `chat_messages`");
            return Ok(());
        };
        let began = value::time(object.get("created_at"), &reading.options.zone);
        let session = Session {
            id,
            title: owned(&object, "name"),
            started_at: began,
            agent: Some(AGENT.to_owned()),
            model: owned(&object, "model"),
            channel: Some(AGENT.to_owned()),
            ..Session::default()
        };
        let began = began.or_else(|| files::changed(file)).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut talk = Talk { session: Rc::new(session), last_at: began };
        let objects: Vec<&Map<String, Value>> =
            messages.iter().filter_map(Value::as_object).collect();
        let kept = branch(&objects);
        reading.tally.leave(LeftOut::OtherBranches, (objects.len() - kept.len()) as u64);
        kept.into_iter().try_for_each(|number| talk.message(number, objects[number], reading))
    })
}

struct Talk {
    session: Rc<Session>,
    last_at: Timestamp,
}

impl Talk {
    fn message(
        &mut self,
        number: usize,
        object: &Map<String, Value>,
        reading: &mut Reading<'_>,
    ) -> Result<()> {
        if let Some(at) = value::time(object.get("created_at"), &reading.options.zone) {
            self.last_at = at;
        }
        let role = match text(object, "sender").or_else(|| text(object, "role")) {
            Some("human" | "user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => {
                reading.leave(LeftOut::SystemPrompts);
                return Ok(());
            }
        };
        let id = value::id(object, "uuid").unwrap_or_else(|| number.to_string());
        let empty = Vec::new();
        let blocks = object.get("content").and_then(Value::as_array).unwrap_or(&empty);
        let mut spoken = Spoken::default();
        for block in blocks {
            spoken.add(block, reading);
        }
        let mut said = spoken.texts.join("\n\n");
        if said.trim().is_empty() {
            said = text(object, "text").unwrap_or_default().to_owned();
        }
        for key in ["attachments", "files"] {
            let count = object.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            reading.tally.leave(LeftOut::Attachments, count as u64);
        }
        let mut message = self.made(id.clone(), role, said);
        message.tool_calls = (!spoken.calls.is_empty()).then_some(Value::Array(spoken.calls));
        reading.message(message)?;
        for (place, (call, answer, failed)) in spoken.results.into_iter().enumerate() {
            let mut message = self.made(format!("{id}/{place}"), Role::Tool, answer);
            (message.tool_call_id, message.failed) = (call, failed);
            reading.message(message)?;
        }
        Ok(())
    }

    fn made(&self, id: String, role: Role, text: String) -> Message {
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

/// The pieces of a message.
#[derive(Default)]
struct Spoken {
    texts: Vec<String>,
    calls: Vec<Value>,
    results: Vec<(Option<String>, String, Option<bool>)>,
}

impl Spoken {
    fn add(&mut self, block: &Value, reading: &mut Reading<'_>) {
        let word = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
        match block.get("type").and_then(Value::as_str) {
            Some("text") => self.texts.extend(word("text").filter(|text| !text.trim().is_empty())),
            Some("tool_use") => {
                let input = block.get("input").cloned().unwrap_or_default();
                self.calls.push(json!({ "id": word("id"), "name": word("name"), "input": input }));
            }
            Some("tool_result") => {
                let answer = value::words(block.get("content").unwrap_or(&Value::Null));
                let failed = block.get("is_error").and_then(Value::as_bool);
                self.results.push((word("tool_use_id"), value::condensed(&answer), failed));
            }
            Some("thinking" | "redacted_thinking") => reading.leave(LeftOut::Reasoning),
            Some("token_budget" | "flag") => reading.leave(LeftOut::Remarks),
            _ => reading.leave(LeftOut::Attachments),
        }
    }
}

/// The numbers of the messages on the branch that ends with the last one; all, where nothing tells of branches.
fn branch(messages: &[&Map<String, Value>]) -> Vec<usize> {
    let parent = |number: usize| text(messages[number], "parent_message_uuid");
    let by_id: HashMap<&str, usize> = (0..messages.len())
        .filter_map(|number| Some((text(messages[number], "uuid")?, number)))
        .collect();
    let is_tree = (0..messages.len()).any(|number| parent(number).is_some());
    if !is_tree || messages.is_empty() {
        return (0..messages.len()).collect();
    }
    let mut seen = HashSet::new();
    let mut next = Some(messages.len() - 1);
    while let Some(number) = next.filter(|number| seen.insert(*number)) {
        next = parent(number).and_then(|id| by_id.get(id).copied());
    }
    (0..messages.len()).filter(|number| seen.contains(number)).collect()
}
