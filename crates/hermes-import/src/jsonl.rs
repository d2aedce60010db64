//! Plain lines of JSON: a message each, or a conversation each, with the usual names for who, what and when.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::item::{Message, Role, Session};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::value::{self, owned, text};
use crate::{Error, Result, files, lines};

const TEXTS: &[&str] = &["content", "text", "message"];
const TIMES: &[&str] = &["ts", "timestamp", "created_at", "time", "at", "date"];
const SESSIONS: &[&str] = &["session_id", "session", "conversation_id", "thread_id", "chat_id"];

/// Reads a file, or all `.jsonl` files of a folder.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        return file(path, reading);
    }
    let listing = files::below(path, &|path| files::ends_with(path, ".jsonl"));
    reading.tally.leave(LeftOut::Links, listing.links);
    if listing.files.is_empty() {
        return Err(Error::not_this(path, "it contains no .jsonl files"));
    }
    listing.files.iter().try_for_each(|found| file(&found.path, reading))
}

fn file(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let mut input = files::open(path)?;
    let mut lines_of = Lines {
        usual: files::stem(path),
        last_at: files::changed(path).unwrap_or(Timestamp::UNIX_EPOCH),
        sessions: HashMap::new(),
        seen: HashMap::new(),
    };
    lines::each(path, &mut input, reading, &mut |reading, (line, object)| {
        let said = match object.get("messages").and_then(Value::as_array) {
            None => lines_of.message(&object, None, reading)?,
            Some(messages) => {
                let id = value::id(&object, "id").or_else(|| session_of(&object));
                let id = id.unwrap_or_else(|| format!("{}#{line}", lines_of.usual));
                let mut said = Ok(());
                for message in messages.iter().filter_map(Value::as_object) {
                    said = said.and(lines_of.message(message, Some(&id), reading)?);
                }
                said
            }
        };
        if let Err(why) = said {
            reading.tally.problem(path, Some(line), why);
        }
        Ok(())
    })
}

struct Lines {
    /// The session of lines that name none.
    usual: String,
    last_at: Timestamp,
    sessions: HashMap<String, Rc<Session>>,
    /// How often each message without an id occurred.
    seen: HashMap<u64, u32>,
}

impl Lines {
    /// A message, or what is wrong with it.
    fn message(
        &mut self,
        object: &Map<String, Value>,
        session: Option<&str>,
        reading: &mut Reading<'_>,
    ) -> Result<std::result::Result<(), String>> {
        let Some(role) = text(object, "role").or_else(|| text(object, "sender")) else {
            return Ok(Err("`role` is missing or empty".to_owned()));
        };
        let role = match role.to_lowercase().as_str() {
            "user" | "human" => Role::User,
            "assistant" | "ai" | "agent" | "bot" | "model" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            "system" | "developer" => {
                reading.leave(LeftOut::SystemPrompts);
                return Ok(Ok(()));
            }
            other => return Ok(Err(format!("the role {other:?} is unknown"))),
        };
        let Some(content) = TEXTS.iter().find_map(|key| object.get(*key)) else {
            return Ok(Err("`content` is missing".to_owned()));
        };
        let written = TIMES.iter().find_map(|key| object.get(*key)).filter(|at| !at.is_null());
        match (written, value::time(written, &reading.options.zone)) {
            (Some(at), None) => {
                let shown: String = at.to_string().chars().take(60).collect();
                return Ok(Err(format!("its time is not a date: {shown}")));
            }
            (_, Some(at)) => self.last_at = at,
            (None, None) => {}
        }
        let words = value::words(content);
        let session = session.map(str::to_owned).or_else(|| session_of(object));
        let session = self.session(session.unwrap_or_else(|| self.usual.clone()), object);
        let told = written.map(Value::to_string).unwrap_or_default();
        let id = value::id(object, "id").or_else(|| value::id(object, "external_id"));
        let id = id.unwrap_or_else(|| self.derived(&[&session.id, role.as_str(), &told, &words]));
        let text = if role == Role::Tool { value::condensed(&words) } else { words };
        reading.message(Message {
            session,
            id,
            role,
            text,
            at: self.last_at,
            tool_calls: object.get("tool_calls").filter(|calls| calls.is_array()).cloned(),
            tool_call_id: owned(object, "tool_call_id"),
            failed: None,
        })?;
        Ok(Ok(()))
    }

    fn session(&mut self, id: String, object: &Map<String, Value>) -> Rc<Session> {
        let at = self.last_at;
        let made = self.sessions.entry(id).or_insert_with_key(|id| {
            Rc::new(Session {
                id: id.clone(),
                started_at: Some(at),
                project: owned(object, "project").or_else(|| owned(object, "cwd")),
                agent: owned(object, "agent"),
                model: owned(object, "model"),
                channel: owned(object, "channel"),
                ..Session::default()
            })
        });
        made.clone()
    }

    /// An id of all that tells this message from others; equal ones are told apart by their order.
    fn derived(&mut self, parts: &[&str]) -> String {
        let print = value::print(&parts.join("\0"));
        let again = self.seen.entry(print).or_default();
        let id = format!("{print:016x}/{again}");
        *again += 1;
        id
    }
}

fn session_of(object: &Map<String, Value>) -> Option<String> {
    let id = SESSIONS.iter().find_map(|key| value::id(object, key))?;
    Some(id.chars().filter(|c| !c.is_control()).collect())
}
