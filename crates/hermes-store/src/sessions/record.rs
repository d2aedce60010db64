//! Add sessions and messages.

use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use serde_json::Value;

use super::content::{Content, python_json, seconds_of};
use super::layout::{Layout, Owner, Table};
use super::manage::checked_title;
use super::{SessionId, SessionStore, Writing, time};
use crate::{Error, Result};

/// A session about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its id; see [`SessionId::new`].
    pub id: SessionId,
    /// When it begins.
    pub started_at: Timestamp,
    /// Where it comes from, such as `cli`.
    pub source: String,
    /// Whose it is, where users are told apart.
    pub user_id: Option<String>,
    /// Its title, which no other session may have.
    pub title: Option<String>,
    /// The model that answers.
    pub model: Option<String>,
    /// The prompt it begins with.
    pub system_prompt: Option<String>,
    /// The session it continues.
    pub parent: Option<SessionId>,
    /// The folder it runs in.
    pub cwd: Option<String>,
    /// What kind of chat it is, such as `dm` or `group`.
    pub chat_type: Option<String>,
    /// What the one who talks is called there.
    pub display_name: Option<String>,
}

impl NewSession {
    /// A session with nothing but what every session has.
    pub fn plain(id: SessionId, started_at: Timestamp, source: &str) -> NewSession {
        NewSession {
            id,
            started_at,
            source: source.to_owned(),
            user_id: None,
            title: None,
            model: None,
            system_prompt: None,
            parent: None,
            cwd: None,
            chat_type: None,
            display_name: None,
        }
    }
}

/// A message about to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// Who speaks: `user`, `assistant`, `system` or `tool`.
    pub role: String,
    /// What is said, if anything; where [`Layout::takes_parts`] says no, the words alone are kept,
    /// without other parts and NUL characters.
    pub content: Option<Content>,
    /// When it was said.
    pub timestamp: Timestamp,
    /// The tool whose answer this is.
    pub tool_name: Option<String>,
    /// The call this answers.
    pub tool_call_id: Option<String>,
    /// The tools called, as a JSON array.
    pub tool_calls: Option<Value>,
    /// What it costs in tokens.
    pub token_count: Option<i64>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// What the model thought.
    pub reasoning: Option<String>,
    /// What makes it unique for the one who reports it: [`SessionStore::append_turn`] adds it once.
    pub external_id: Option<String>,
}

/// What else there is to know of a turn that is added to a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppendedTurn {
    /// When the session ended, if it did with this turn.
    pub ended_at: Option<Timestamp>,
    /// Whoever sends it may have sent it before, since this time, and not heard that it was added: if the session
    /// ends with these words, they are it.
    pub sent_again_since: Option<Timestamp>,
}

impl NewMessage {
    /// A message of plain text.
    pub fn text(role: &str, text: &str, timestamp: Timestamp) -> NewMessage {
        NewMessage {
            role: role.to_owned(),
            content: Some(Content::Text(text.to_owned())),
            timestamp,
            tool_name: None,
            tool_call_id: None,
            tool_calls: None,
            token_count: None,
            finish_reason: None,
            reasoning: None,
            external_id: None,
        }
    }
}

const SESSION_EXISTS: &str = "select exists (select 1 from sessions where id = ?1)";

const TITLE_OWNER: &str = "select id from session_view where title = ?1 and id <> ?2 limit 1";

/// The column for what a message is called where it comes from.
const EXTERNAL_ID: &str = "platform_message_id";
const EXTERNAL_IDS: &str = "
    select id, platform_message_id from messages
    where session_id = ?1 and id > ?2 and platform_message_id is not null order by id";
const KNOWN_BY_ID: &str = "
    select id from messages
    where session_id = ?1 and platform_message_id = ?2 and role = ?3 and content is ?4 limit 1";
const KNOWN_BY_TIME: &str = "
    select id from messages
    where session_id = ?1 and timestamp = ?2 and role = ?3 and content is ?4 limit 1";
const AT_END: &str = "
    select id, role, content, tool_calls, tool_call_id, timestamp from message_view
    where session_id = ?1 order by id desc limit ?2";
/// Why a session ended that was over with a turn.
const TURN_ENDED: &str = "turn_ended";
const MERGE: &str = "insert into messages_fts (messages_fts, rank) values ('merge', ?1)";

/// Two pages of merging per message keep up with what comes in. Measured at 100,000 messages over
/// 20,000 appends: one in a thousand costs more than 8 to 9 times the median; with FTS5's own
/// merging 23 times.
const MESSAGES_PER_MERGE: i64 = 4;

const PAGES_PER_MERGE: i64 = 8;

const PAGES_AFTER_DELETE: i64 = 64;

impl SessionStore {
    /// Begins a session; fails if its id or title is taken, its title none or its parent unknown.
    pub fn create_session(&mut self, new: &NewSession) -> Result<SessionId> {
        let title = new.title.as_deref().map(checked_title).transpose()?;
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        if exists(&step.transaction, new.id.as_str()).map_err(failed)? {
            return Err(Error::SessionExists { id: new.id.to_string() });
        }
        if let Some(title) = title {
            refuse_taken(&step, title, new.id.as_str())?;
        }
        if let Some(parent) = &new.parent
            && !exists(&step.transaction, parent.as_str()).map_err(failed)?
        {
            return Err(Error::NotFound { selector: parent.to_string() });
        }
        let mut row = session_row(new, step.layout);
        row.push(("title", title.map(str::to_owned).into()));
        insert(&step.transaction, step.layout, Table::Sessions, row).map_err(failed)?;
        step.commit()?;
        Ok(new.id.clone())
    }

    /// Adds messages to a session, all or none, and returns their numbers; durable on return.
    pub fn append(&mut self, session: &SessionId, messages: &[NewMessage]) -> Result<Vec<i64>> {
        let step = self.begin()?;
        let ids = step.add_messages(session, messages)?;
        step.commit()?;
        Ok(ids)
    }

    /// Adds messages to a session and begins it if it is unknown, all in one transaction, and returns
    /// their numbers; durable on return. A message with an external id that is there already, with the
    /// same words, is not added again.
    pub fn append_turn(
        &mut self,
        session: &NewSession,
        messages: &[NewMessage],
        turn: AppendedTurn,
    ) -> Result<Vec<i64>> {
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        if let Some(since) = turn.sent_again_since
            && let Some(known) =
                step.numbers_at_end(&session.id, messages, since).map_err(failed)?
        {
            if let Some(ended_at) = turn.ended_at {
                step.end(&session.id, ended_at, TURN_ENDED).map_err(failed)?;
                step.commit()?;
            }
            return Ok(known);
        }
        if !exists(&step.transaction, session.id.as_str()).map_err(failed)? {
            let row = session_row(session, step.layout);
            insert(&step.transaction, step.layout, Table::Sessions, row).map_err(failed)?;
        }
        let known: Vec<Option<i64>> = messages
            .iter()
            .map(|message| step.number_of(&session.id, message))
            .collect::<rusqlite::Result<_>>()
            .map_err(failed)?;
        let is_new = |(message, known): (&NewMessage, &Option<i64>)| {
            known.is_none().then(|| message.clone())
        };
        let new: Vec<NewMessage> = messages.iter().zip(&known).filter_map(is_new).collect();
        let mut added = step.add_messages(&session.id, &new)?.into_iter();
        if let Some(ended_at) = turn.ended_at {
            step.end(&session.id, ended_at, TURN_ENDED).map_err(failed)?;
        }
        step.commit()?;
        Ok(known.into_iter().filter_map(|known| known.or_else(|| added.next())).collect())
    }

    /// Whether messages keep what they are called where they come from.
    pub fn keeps_external_ids(&self) -> bool {
        self.layout().column(Table::Messages, EXTERNAL_ID).is_some()
    }

    /// The external ids of the messages of a session after one, by their numbers; none where the layout
    /// has no room for them.
    pub fn external_ids(&self, session: &SessionId, after: i64) -> Result<Vec<(i64, String)>> {
        if !self.keeps_external_ids() {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<(i64, String)>> {
            self.connection()
                .prepare(EXTERNAL_IDS)?
                .query_map(params![session.as_str(), after], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(|source| self.fault(source))
    }

    /// Marks a session as ended; one that has ended keeps its first time and reason.
    pub fn end_session(&mut self, session: &SessionId, now: Timestamp, reason: &str) -> Result<()> {
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        if !exists(&step.transaction, session.as_str()).map_err(failed)? {
            return Err(Error::NotFound { selector: session.to_string() });
        }
        step.end(session, now, reason).map_err(failed)?;
        step.commit()
    }
}

impl Writing<'_> {
    /// Marks a session as ended, where the layout has room for it.
    fn end(&self, session: &SessionId, at: Timestamp, reason: &str) -> rusqlite::Result<()> {
        let Some(statement) = self.layout.end_session() else { return Ok(()) };
        let ended_at = time_value(self.layout, Table::Sessions, "ended_at", at);
        self.transaction.execute(statement, params![session.as_str(), ended_at, reason])?;
        Ok(())
    }

    /// The numbers of the last messages of a session, if they say the same as these and were said since a time.
    fn numbers_at_end(
        &self,
        session: &SessionId,
        messages: &[NewMessage],
        since: Timestamp,
    ) -> rusqlite::Result<Option<Vec<i64>>> {
        let count = i64::try_from(messages.len()).unwrap_or(i64::MAX);
        let mut last: Vec<(i64, [Sql; 4], f64)> = self
            .transaction
            .prepare_cached(AT_END)?
            .query_map(params![session.as_str(), count], |row| {
                let at = seconds_of(row.get_ref(5)?).unwrap_or(f64::MIN);
                Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?], at))
            })?
            .collect::<rusqlite::Result<_>>()?;
        last.reverse();
        let is_same = |(message, (_, found, at)): (&NewMessage, &(i64, [Sql; 4], f64))| {
            let row = message_row(session, message, self.layout);
            let names = ["role", "content", "tool_calls", "tool_call_id"];
            let wanted = names.map(|name| {
                let value = row.iter().find(|(column, _)| *column == name);
                value.map_or(Sql::Null, |(_, value)| value.clone())
            });
            *found == wanted && *at >= time::to_seconds(since)
        };
        let is_again = !messages.is_empty()
            && last.len() == messages.len()
            && messages.iter().zip(&last).all(is_same);
        Ok(is_again.then(|| last.into_iter().map(|(number, ..)| number).collect()))
    }

    /// The number of a message that is there already: by its external id and its words, or where there is
    /// no column for the id, by its time and its words.
    fn number_of(
        &self,
        session: &SessionId,
        message: &NewMessage,
    ) -> rusqlite::Result<Option<i64>> {
        let Some(external_id) = &message.external_id else { return Ok(None) };
        let row = message_row(session, message, self.layout);
        let value = |wanted: &str| {
            row.iter()
                .find(|(name, _)| *name == wanted)
                .map_or(Sql::Null, |(_, value)| value.clone())
        };
        let has_ids = self.layout.column(Table::Messages, EXTERNAL_ID).is_some();
        let (sql, mark) = match has_ids {
            true => (KNOWN_BY_ID, Sql::from(external_id.clone())),
            false => (KNOWN_BY_TIME, value("timestamp")),
        };
        self.transaction
            .prepare_cached(sql)?
            .query_row(params![session.as_str(), mark, message.role, value("content")], |row| {
                row.get(0)
            })
            .optional()
    }

    /// Adds messages to a session that exists.
    pub(super) fn add_messages(
        &self,
        session: &SessionId,
        messages: &[NewMessage],
    ) -> Result<Vec<i64>> {
        let failed = |source| self.fault(source);
        let mut added = Counts::default();
        messages.iter().for_each(|message| added.add(message.tool_calls.as_ref()));
        if !count(&self.transaction, self.layout, session.as_str(), added).map_err(failed)? {
            return Err(Error::NotFound { selector: session.to_string() });
        }
        let mut ids = Vec::with_capacity(messages.len());
        for message in messages {
            let row = message_row(session, message, self.layout);
            ids.push(insert(&self.transaction, self.layout, Table::Messages, row).map_err(failed)?);
        }
        tend_full_text(&self.transaction, self.layout, &ids).map_err(failed)?;
        Ok(ids)
    }
}

/// How much a session's counters grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) messages: i64,
    pub(super) tool_calls: i64,
}

impl Counts {
    /// Counts one live message and the entries of its tool calls.
    pub(super) fn add(&mut self, tool_calls: Option<&Value>) {
        self.messages += 1;
        self.tool_calls += entries(tool_calls);
    }
}

fn entries(tool_calls: Option<&Value>) -> i64 {
    match tool_calls {
        None | Some(Value::Null) => 0,
        Some(Value::Array(calls)) => i64::try_from(calls.len()).unwrap_or(i64::MAX),
        Some(_) => 1,
    }
}

/// Adds to the counters of a session; false if there is no such session.
pub(super) fn count(
    connection: &Connection,
    layout: &Layout,
    session: &str,
    added: Counts,
) -> rusqlite::Result<bool> {
    match layout.add_counts() {
        Some(statement) => {
            let parameters = params![session, added.messages, added.tool_calls];
            Ok(connection.execute(&statement, parameters)? == 1)
        }
        None => exists(connection, session),
    }
}

pub(super) fn exists(connection: &Connection, session: &str) -> rusqlite::Result<bool> {
    connection.query_row(SESSION_EXISTS, [session], |row| row.get(0))
}

/// The session other than `except` that has the title.
pub(super) fn title_owner(
    connection: &Connection,
    title: &str,
    except: &str,
) -> rusqlite::Result<Option<String>> {
    connection.query_row(TITLE_OWNER, [title, except], |row| row.get(0)).optional()
}

/// Fails if a session other than `except` has the title.
pub(super) fn refuse_taken(step: &Writing<'_>, title: &str, except: &str) -> Result<()> {
    match title_owner(&step.transaction, title, except).map_err(|source| step.fault(source))? {
        Some(owner) => Err(Error::TitleTaken { title: title.to_owned(), owner }),
        None => Ok(()),
    }
}

/// Adds a row made of the columns that are there, and returns its row id.
fn insert(
    connection: &Connection,
    layout: &Layout,
    table: Table,
    row: Vec<(&str, Sql)>,
) -> rusqlite::Result<i64> {
    let (names, values): (Vec<&str>, Vec<Sql>) = row
        .into_iter()
        .filter(|(_, value)| *value != Sql::Null)
        .filter_map(|(name, value)| Some((layout.column(table, name)?.name.as_str(), value)))
        .unzip();
    connection.execute(&layout.insert(table, &names), params_from_iter(values))?;
    Ok(connection.last_insert_rowid())
}

fn session_row(new: &NewSession, layout: &Layout) -> Vec<(&'static str, Sql)> {
    vec![
        ("id", new.id.as_str().to_owned().into()),
        ("source", new.source.clone().into()),
        ("started_at", time_value(layout, Table::Sessions, "started_at", new.started_at)),
        ("user_id", new.user_id.clone().into()),
        ("model", new.model.clone().into()),
        ("system_prompt", new.system_prompt.clone().into()),
        ("parent_session_id", new.parent.as_ref().map(|p| p.as_str().to_owned()).into()),
        ("cwd", new.cwd.clone().into()),
        ("chat_type", new.chat_type.clone().into()),
        ("display_name", new.display_name.clone().into()),
    ]
}

fn message_row(session: &SessionId, new: &NewMessage, layout: &Layout) -> Vec<(&'static str, Sql)> {
    let encode = match layout.must_avoid_nul() {
        true => Content::encode_without_nul,
        false => Content::encode,
    };
    vec![
        ("session_id", session.as_str().to_owned().into()),
        ("role", new.role.clone().into()),
        ("content", new.content.as_ref().map(encode).into()),
        ("tool_call_id", new.tool_call_id.clone().into()),
        ("tool_calls", new.tool_calls.as_ref().map(python_json).into()),
        ("tool_name", new.tool_name.clone().into()),
        ("timestamp", time_value(layout, Table::Messages, "timestamp", new.timestamp)),
        ("token_count", new.token_count.into()),
        ("finish_reason", new.finish_reason.clone().into()),
        ("reasoning", new.reasoning.clone().into()),
        (EXTERNAL_ID, new.external_id.clone().into()),
    ]
}

fn time_value(layout: &Layout, table: Table, name: &str, at: Timestamp) -> Sql {
    match layout.column(table, name) {
        Some(column) if !column.is_number() => time::to_text(at).into(),
        _ => time::to_seconds(at).into(),
    }
}

/// Keeps the full-text index: its rows where no trigger does, small merges where we made it, since
/// there FTS5's own merging is off.
pub(super) fn tend_full_text(
    connection: &Connection,
    layout: &Layout,
    added: &[i64],
) -> rusqlite::Result<()> {
    if let Some(statement) = layout.full_text_insert() {
        let mut insert = connection.prepare(statement)?;
        for id in added {
            insert.execute([id])?;
        }
    }
    let due = added.iter().filter(|id| *id % MESSAGES_PER_MERGE == 0).map(|_| PAGES_PER_MERGE);
    match due.sum() {
        0 => Ok(()),
        pages => merge(connection, layout, pages),
    }
}

/// Works off a bounded part of what a delete leaves behind in the index.
pub(super) fn merge_after_delete(connection: &Connection, layout: &Layout) -> rusqlite::Result<()> {
    merge(connection, layout, PAGES_AFTER_DELETE)
}

/// Merges where we made the index and it is still there.
fn merge(connection: &Connection, layout: &Layout, pages: i64) -> rusqlite::Result<()> {
    if layout.owner() == Owner::Foreign || !layout.has_full_text() {
        return Ok(());
    }
    connection.execute(MERGE, [pages]).map(drop)
}
