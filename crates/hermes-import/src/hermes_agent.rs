//! Another home of Hermes Agent: what was really said in its state.db, and the entries of its memory files.

use std::path::Path;
use std::rc::Rc;

use hermes_home::init::Owner;
use hermes_home::memory_file::Document;
use hermes_store::sessions::{LiveMessage, LiveSession, SessionKind, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::item::{Fact, Message, Role, Session};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::{Error, Result, files, value};

const AGENT: &str = "hermes-agent";
const DATABASE: &str = "state.db";
/// A memory file is small; a bigger one is something else.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// Reads a home or profile, or a state.db alone.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        files::refuse_special(path)?;
        return database(path, reading);
    }
    let database_path = path.join(DATABASE);
    let memories = path.join("memories");
    if !database_path.is_file() && !memories.is_dir() {
        return Err(Error::not_this(path, "it has neither a state.db nor memories"));
    }
    if database_path.is_file() {
        database(&database_path, reading)?;
    }
    for name in ["MEMORY.md", "USER.md"] {
        let file = memories.join(name);
        if file.is_file() {
            entries(&file, Owner::HermesAgent, reading)?;
        }
    }
    for name in ["SOUL.md", "skills", "ARCHIVE.jsonl"] {
        let is_there = path.join(name).exists() || memories.join(name).exists();
        reading.tally.leave(LeftOut::OtherFiles, u64::from(is_there));
    }
    Ok(())
}

fn database(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let store = SessionStore::open(path, Access::Read, DEFAULT_WAIT)?;
    reading.tally.files += 1;
    let mut sessions = Vec::new();
    for mark in store.marks()? {
        match store.live_session(&mark.session_id) {
            Ok(session) => sessions.push(session),
            // Messages of a session that is gone: nobody knows whose they are.
            Err(hermes_store::Error::NotFound { .. }) => reading.leave(LeftOut::Hidden),
            Err(error) => return Err(error.into()),
        }
    }
    sessions.sort_by(|a, b| (a.started_at, a.id.as_str()).cmp(&(b.started_at, b.id.as_str())));
    for live in sessions {
        if let Some(left) = left_out(&live) {
            reading.leave(left);
            continue;
        }
        let session = Rc::new(Session {
            id: live.id.as_str().to_owned(),
            started_at: Some(live.started_at),
            project: live.project.clone(),
            agent: Some(AGENT.to_owned()),
            channel: Some(live.source.clone()),
            ..Session::default()
        });
        for message in store.live_messages(&live, 0, &[])? {
            said(&session, message, reading)?;
        }
    }
    Ok(())
}

fn left_out(session: &LiveSession) -> Option<LeftOut> {
    match session.kind {
        SessionKind::Cron => Some(LeftOut::Scheduled),
        SessionKind::Subagent => Some(LeftOut::Subagents),
        _ if session.chat_type.as_deref().is_some_and(is_group) => Some(LeftOut::Groups),
        _ => None,
    }
}

/// Whether several people talk in such a chat.
pub(crate) fn is_group(chat_type: &str) -> bool {
    matches!(chat_type, "group" | "supergroup" | "channel" | "guild" | "forum" | "thread" | "room")
}

fn said(session: &Rc<Session>, message: LiveMessage, reading: &mut Reading<'_>) -> Result<()> {
    let role = match message.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => {
            reading.leave(LeftOut::SystemPrompts);
            return Ok(());
        }
    };
    let text = if role == Role::Tool { value::condensed(&message.text) } else { message.text };
    reading.message(Message {
        session: session.clone(),
        // Two databases have messages of one number, but not of one moment.
        id: format!("{}@{}", message.id, message.at.as_microsecond()),
        role,
        text,
        at: message.at,
        tool_calls: message.tool_calls,
        tool_call_id: message.tool_call_id,
        failed: None,
    })
}

/// The entries of a memory file as facts; what they are about is not known.
pub(crate) fn entries(path: &Path, owner: Owner, reading: &mut Reading<'_>) -> Result<()> {
    reading.tally.files += 1;
    let text = match files::text(path, LARGEST_FILE)? {
        Ok(text) => text,
        Err(why) => {
            reading.tally.problem(path, None, why);
            return Ok(());
        }
    };
    for entry in Document::parse(&text, owner).entries() {
        let said = entry.text.trim();
        if !said.chars().any(char::is_alphanumeric) {
            continue;
        }
        let day = entry.written.and_then(|day| day.to_zoned(reading.options.zone.clone()).ok());
        reading.fact(Fact {
            id: format!("{:016x}", value::print(said)),
            text: said.to_owned(),
            at: day.map(|day| day.timestamp()),
            ..Fact::default()
        })?;
    }
    Ok(())
}
