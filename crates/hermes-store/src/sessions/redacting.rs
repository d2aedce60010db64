//! Words of a transcript of ours that were secrets get other words in their place.

use rusqlite::params;

use super::layout::{Owner, Table};
use super::{Content, SessionStore};
use crate::{Error, Result};

/// The text that is to stand in the place of another; none if it stays.
type Rewrite<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A message that changes.
struct Changed {
    id: i64,
    column: &'static str,
    value: String,
}

/// The columns of a message with words in them.
const WORDS: [&str; 7] = [
    "content",
    "tool_calls",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
];

impl SessionStore {
    /// How many messages would change.
    pub fn count_rewrites(&self, rewrite: Rewrite<'_>) -> Result<u64> {
        let mut ids: Vec<i64> =
            self.changed_messages(rewrite)?.iter().map(|changed| changed.id).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(ids.len() as u64)
    }

    /// Puts other words in the place of what messages say, in a database of ours alone; returns how many changed. Of
    /// the old words nothing is left in the file.
    pub fn rewrite_messages(&mut self, rewrite: Rewrite<'_>) -> Result<u64> {
        if self.layout().owner() != Owner::Ours {
            let why = "another program created it, and Hermes never alters a database of another \
                 program";
            return Err(Error::ReadOnlyLayout { path: self.path.clone(), why: why.to_owned() });
        }
        self.require_writable()?;
        let count = self.count_rewrites(rewrite)?;
        if count == 0 {
            return Ok(0);
        }
        let changed = self.changed_messages(rewrite)?;
        self.pragma("on")?;
        let step = self.begin()?;
        for Changed { id, column, value } in &changed {
            let update = format!("update messages set {column} = ?2 where id = ?1");
            let done = step.transaction.execute(&update, params![id, value]);
            done.map_err(|source| step.fault(source))?;
        }
        step.commit()?;
        self.forget_old_words()?;
        Ok(count)
    }

    fn pragma(&self, secure_delete: &str) -> Result<()> {
        let done = self.connection.pragma_update(None, "secure_delete", secure_delete);
        done.map_err(|source| self.fault(source))
    }

    /// Old words stand in the index until its parts are made one, and in free pages until the file is written anew.
    fn forget_old_words(&self) -> Result<()> {
        let anew = match self.layout().has_full_text() {
            true => "insert into messages_fts (messages_fts) values ('optimize'); vacuum;",
            false => "vacuum",
        };
        self.connection.execute_batch(anew).map_err(|source| self.fault(source))?;
        self.pragma("fast")?;
        let folded = self.connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
        folded.map_err(|source| self.fault(source))
    }

    fn changed_messages(&self, rewrite: Rewrite<'_>) -> Result<Vec<Changed>> {
        let mut changed = Vec::new();
        let columns = self.layout().columns(Table::Messages);
        for column in WORDS.iter().filter(|name| columns.iter().any(|one| one.name == **name)) {
            let look = || -> rusqlite::Result<Vec<Changed>> {
                let read = format!("select id, {column} from messages where {column} is not null");
                let mut statement = self.connection.prepare(&read)?;
                let mut rows = statement.query([])?;
                let mut found = Vec::new();
                while let Some(row) = rows.next()? {
                    // What is no text is nothing that was said.
                    let Ok(stored) = row.get::<_, String>(1) else { continue };
                    if let Some(value) = rewritten(column, stored, rewrite) {
                        found.push(Changed { id: row.get(0)?, column, value });
                    }
                }
                Ok(found)
            };
            changed.extend(look().map_err(|source| self.fault(source))?);
        }
        Ok(changed)
    }
}

/// The value of a column with other words in it, in the form that the column has.
fn rewritten(column: &str, stored: String, rewrite: Rewrite<'_>) -> Option<String> {
    if column != "content" {
        return rewrite(&stored);
    }
    match Content::decode(stored) {
        Content::Text(text) => rewrite(&text).map(|text| Content::Text(text).encode()),
        Content::Parts(parts) => {
            let clean = serde_json::from_str(&rewrite(&parts.to_string())?).ok()?;
            Some(Content::Parts(clean).encode())
        }
    }
}
