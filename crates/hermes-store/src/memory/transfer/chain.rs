//! The chain of changes of another memory: it comes over as it is into an empty one.

use rusqlite::types::Value as Column;

use super::importer::{Fate, Fields, Importer, Taking, integer, needed_text, time};
use super::values;
use crate::memory::audit::{self, MadeEntry};
use crate::memory::backend::OptionalExtension;

impl Importer<'_> {
    /// An entry that follows the last one here is added; of others only the last hash is noted.
    pub(super) fn take_audit(&mut self, fields: &Fields) -> Taking<Fate> {
        let bytes = |name: &str| match values::column(name, fields.get(name)) {
            Ok(Column::Blob(bytes)) => Some(bytes),
            _ => None,
        };
        let hash = bytes("hash").and_then(|hash| audit::Hash::try_from(hash).ok());
        let hash = hash.ok_or_else(|| "its hash is not valid".to_owned())?;
        let id = integer(fields, "id")?;
        self.import.last_hash = Some(hash);
        let known: Option<audit::Hash> =
            self.transaction.prepare_cached(HASH)?.query_row([id], |row| row.get(0)).optional()?;
        if known == Some(hash) {
            return Ok(Fate::Known);
        }
        if !self.import.follows_chain {
            return Ok(Fate::Noted);
        }
        let (before, after) = (bytes("before"), bytes("after"));
        let made = MadeEntry {
            id,
            at: time(fields, "at")?.as_millisecond(),
            actor: needed_text(fields, "actor")?,
            action: needed_text(fields, "action")?,
            item: needed_text(fields, "item")?,
            before: before.as_deref(),
            after: after.as_deref(),
            hash,
        };
        if audit::append_made(self.transaction, &made)? {
            return Ok(Fate::Added);
        }
        // Somebody wrote here meanwhile, or the chain was broken: from here on it is only named.
        self.import.follows_chain = false;
        Ok(Fate::Noted)
    }
}

const HASH: &str = "select hash from audit where id = ?1";
