//! The export of ChatGPT: conversations as trees, of which the branch that was seen last counts.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::item::{Message, Role, Session};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::value::{self, at, owned, text};
use crate::{Error, Result, files, packed};

const AGENT: &str = "chatgpt";

/// Reads the zip, an unpacked folder, or one `conversations.json`.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    packed::conversations(path, reading, &mut |reading, file, (line, object)| {
        if object.contains_key("chat_messages") {
            return Err(Error::not_this(
                path,
                "it is an export of Claude.ai: use `hermes import claude-ai`",
            ));
        }
        match Conversation::of(&object, file, reading) {
            Ok(conversation) => conversation.walk(reading),
            Err(why) => {
                reading.tally.problem(file, Some(line), why);
                Ok(())
            }
        }
    })
}

struct Conversation<'a> {
    session: Rc<Session>,
    nodes: &'a Map<String, Value>,
    /// From the first message to the last.
    branch: Vec<&'a str>,
    began: Timestamp,
}

impl<'a> Conversation<'a> {
    fn of(
        object: &'a Map<String, Value>,
        file: &Path,
        reading: &Reading<'_>,
    ) -> std::result::Result<Conversation<'a>, &'static str> {
        let nodes =
            object.get("mapping").and_then(Value::as_object).ok_or("it has no `mapping`")?;
        let id = value::id(object, "conversation_id").or_else(|| value::id(object, "id"));
        let id = id.ok_or("it has no `conversation_id`")?;
        let zone = &reading.options.zone;
        let began = value::time(object.get("create_time"), zone);
        let session = Session {
            id,
            title: owned(object, "title"),
            started_at: began,
            agent: Some(AGENT.to_owned()),
            model: owned(object, "default_model_slug"),
            channel: Some(AGENT.to_owned()),
            ..Session::default()
        };
        let began = began.or_else(|| files::changed(file)).unwrap_or(Timestamp::UNIX_EPOCH);
        let current = text(object, "current_node").filter(|node| nodes.contains_key(*node));
        let last = current.or_else(|| newest(nodes));
        let branch = last.map(|last| branch(nodes, last)).unwrap_or_default();
        Ok(Conversation { session: Rc::new(session), nodes, branch, began })
    }

    fn walk(&self, reading: &mut Reading<'_>) -> Result<()> {
        let on_branch: HashSet<&str> = self.branch.iter().copied().collect();
        let is_beside = |(id, node): &(&String, &Value)| {
            let role = node.pointer("/message/author/role").and_then(Value::as_str);
            !on_branch.contains(id.as_str()) && matches!(role, Some("user" | "assistant"))
        };
        let beside = self.nodes.iter().filter(is_beside).count();
        reading.tally.leave(LeftOut::OtherBranches, beside as u64);
        let mut last_at = self.began;
        for id in &self.branch {
            let Some(message) = self.nodes.get(*id).and_then(|node| node.get("message")) else {
                continue;
            };
            let Some(message) = message.as_object() else { continue };
            if let Some(at) = value::time(message.get("create_time"), &reading.options.zone) {
                last_at = at;
            }
            self.message(id, message, last_at, reading)?;
        }
        Ok(())
    }

    fn message(
        &self,
        node: &str,
        message: &Map<String, Value>,
        at_time: Timestamp,
        reading: &mut Reading<'_>,
    ) -> Result<()> {
        let Some(role) = role_of(message, reading) else { return Ok(()) };
        let content = message.get("content").unwrap_or(&Value::Null);
        let kind = content.get("content_type").and_then(Value::as_str).unwrap_or("text");
        let left = match kind {
            "thoughts" | "reasoning_recap" => Some(LeftOut::Reasoning),
            "user_editable_context" | "model_editable_context" => Some(LeftOut::InjectedContext),
            "system_error" => Some(LeftOut::Remarks),
            _ => None,
        };
        if let Some(left) = left {
            reading.leave(left);
            return Ok(());
        }
        let words = words(content, reading);
        let called = text(message, "recipient").filter(|recipient| *recipient != "all");
        let mut made = Message {
            session: self.session.clone(),
            id: owned(message, "id").unwrap_or_else(|| node.to_owned()),
            role,
            text: if role == Role::Tool { value::condensed(&words) } else { words },
            at: at_time,
            tool_calls: None,
            tool_call_id: None,
            failed: None,
        };
        if let Some(tool) = called.filter(|_| role == Role::Assistant) {
            made.tool_calls = Some(json!([{ "name": tool, "input": made.text }]));
            made.text.clear();
        }
        reading.message(made)
    }
}

/// Who speaks, if it is somebody.
fn role_of(message: &Map<String, Value>, reading: &mut Reading<'_>) -> Option<Role> {
    let is_hidden = at(message, &["metadata", "is_visually_hidden_from_conversation"])
        .and_then(Value::as_bool)
        == Some(true)
        || message.get("weight").and_then(Value::as_f64) == Some(0.0);
    let role = match at(message, &["author", "role"]).and_then(Value::as_str) {
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        Some("tool") => Some(Role::Tool),
        _ => None,
    };
    match role {
        None => reading.leave(LeftOut::SystemPrompts),
        Some(_) if is_hidden => reading.leave(LeftOut::Hidden),
        Some(role) => return Some(role),
    }
    None
}

/// The words of the parts; pictures and files among them are counted.
fn words(content: &Value, reading: &mut Reading<'_>) -> String {
    let Some(parts) = content.get("parts").and_then(Value::as_array) else {
        let said = ["text", "result"].iter().find_map(|key| content.get(key));
        return said.and_then(Value::as_str).unwrap_or_default().to_owned();
    };
    let mut said: Vec<&str> = Vec::new();
    for part in parts {
        let text = part.as_str().or_else(|| part.get("text").and_then(Value::as_str));
        match text {
            Some(text) if !text.trim().is_empty() => said.push(text),
            Some(_) => {}
            None => reading.leave(LeftOut::Attachments),
        }
    }
    said.join("\n")
}

/// The branch that ends with a node, first message first; a tree that goes round ends there.
fn branch<'a>(nodes: &'a Map<String, Value>, last: &'a str) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let mut branch = Vec::new();
    let mut next = Some(last);
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let Some(node) = nodes.get(id) else { break };
        branch.push(id);
        next = node.get("parent").and_then(Value::as_str);
    }
    branch.reverse();
    branch
}

/// The node whose message is the newest, where the export does not say which was seen last.
fn newest(nodes: &Map<String, Value>) -> Option<&str> {
    let time = |node: &Value| {
        node.pointer("/message/create_time").and_then(Value::as_f64).unwrap_or(f64::MIN)
    };
    let newest = nodes.iter().max_by(|(_, a), (_, b)| time(a).total_cmp(&time(b)));
    newest.map(|(id, _)| id.as_str())
}
