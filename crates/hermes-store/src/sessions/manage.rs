//! Rename and delete sessions.

use rusqlite::{Connection, params};

use super::layout::{Layout, Owner, Table};
use super::record::{exists, merge_after_delete, refuse_taken};
use super::{SessionId, SessionStore};
use crate::{Error, Result};

/// The longest title, in characters; Hermes Agent's own limit.
pub const LONGEST_TITLE: usize = 100;

const MESSAGE_IDS: &str = "select id from messages where session_id = ?1";

const FREE_CHILDREN: &str =
    "update sessions set parent_session_id = null where parent_session_id = ?1";

const DELETE_MESSAGES: &str = "delete from messages where session_id = ?1";

const HAS_NUL: &str = "
    select exists (select 1 from message_view where session_id = ?1
        and (instr(content, char(0)) or instr(tool_name, char(0)) or instr(tool_calls, char(0))))";

const ANEW: &str = "insert into messages_fts (messages_fts) values ('optimize'); vacuum;";

const DELETE_SESSION: &str = "delete from sessions where id = ?1";

impl SessionStore {
    /// Gives a session a title, or takes its title away; fails if another session has the title.
    pub fn rename(&mut self, id: &SessionId, title: Option<&str>) -> Result<()> {
        let title = title.map(checked_title).transpose()?;
        if self.layout.column(Table::Sessions, "title").is_none() {
            let why = "its format has no titles".to_owned();
            return Err(Error::ReadOnlyLayout { path: self.path.clone(), why });
        }
        let step = self.begin()?;
        if let Some(title) = title {
            refuse_taken(&step, title, id.as_str())?;
        }
        let statement = step.layout.update(Table::Sessions, "title");
        let changed = step.transaction.execute(&statement, params![id.as_str(), title]);
        if changed.map_err(|source| step.fault(source))? == 0 {
            return Err(Error::NotFound { selector: id.to_string() });
        }
        step.commit()
    }

    /// Deletes a session with its messages and returns how many those were; its children stay.
    pub fn delete(&mut self, id: &SessionId) -> Result<u64> {
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        if !exists(&step.transaction, id.as_str()).map_err(failed)? {
            return Err(Error::NotFound { selector: id.to_string() });
        }
        if is_for_its_owner_to_delete(&step.transaction, step.layout, id.as_str())
            .map_err(failed)?
        {
            return Err(Error::DeleteRefused { id: id.to_string() });
        }
        let messages = delete_rows(&step.transaction, step.layout, id.as_str()).map_err(failed)?;
        step.commit()?;
        Ok(messages)
    }
}

impl SessionStore {
    /// Deletes sessions with their messages so that no word of them is left in a file of ours; returns how many messages
    /// went. One that is gone already counts as none.
    pub fn erase(&mut self, ids: &[SessionId]) -> Result<u64> {
        if ids.is_empty() {
            return Ok(0);
        }
        self.require_writable()?;
        let secure = |store: &SessionStore, how: &str| {
            let done = store.connection().pragma_update(None, "secure_delete", how);
            done.map_err(|source| store.fault(source))
        };
        secure(self, "on")?;
        let mut messages = 0;
        for id in ids {
            match self.delete(id) {
                Ok(deleted) => messages += deleted,
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // Words that were deleted stand in the index until its parts are made one, and in pages that were let go of
        // earlier until the file is written anew.
        if self.layout().owner() == Owner::Ours {
            let anew = if self.layout().has_full_text() { ANEW } else { "vacuum" };
            let done = self.connection().execute_batch(anew);
            done.map_err(|source| self.fault(source))?;
        }
        secure(self, "fast")?;
        // Another reader may hold on to the log; then it is folded in later.
        let folded = self.connection().query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
        folded.map_err(|source| self.fault(source))?;
        Ok(messages)
    }
}

/// Whether taking the session out would damage a trigram index that Hermes Agent keeps.
pub(super) fn is_for_its_owner_to_delete(
    connection: &Connection,
    layout: &Layout,
    id: &str,
) -> rusqlite::Result<bool> {
    if !layout.must_avoid_nul() {
        return Ok(false);
    }
    connection.query_row(HAS_NUL, [id], |row| row.get(0))
}

/// Deletes what belongs to a session, inside the caller's transaction.
pub(super) fn delete_rows(
    connection: &Connection,
    layout: &Layout,
    id: &str,
) -> rusqlite::Result<u64> {
    if let Some(statement) = layout.full_text_delete() {
        let mut delete = connection.prepare(statement)?;
        let mut messages = connection.prepare(MESSAGE_IDS)?;
        let mut rows = messages.query([id])?;
        while let Some(row) = rows.next()? {
            delete.execute([row.get::<_, i64>(0)?])?;
        }
    }
    if layout.column(Table::Sessions, "parent_session_id").is_some() {
        connection.execute(FREE_CHILDREN, [id])?;
    }
    let messages = connection.execute(DELETE_MESSAGES, [id])?;
    connection.execute(DELETE_SESSION, [id])?;
    merge_after_delete(connection, layout)?;
    Ok(u64::try_from(messages).unwrap_or(u64::MAX))
}

/// The title without blanks around it, if it can be one.
pub(super) fn checked_title(title: &str) -> Result<&str> {
    let trimmed = title.trim();
    let why = if trimmed.is_empty() {
        "it is empty"
    } else if trimmed.chars().count() > LONGEST_TITLE {
        "it is longer than 100 characters"
    } else if trimmed.chars().any(char::is_control) {
        "it contains control characters"
    } else {
        return Ok(trimmed);
    };
    Err(Error::BadTitle { title: title.to_owned(), why })
}
