//! What belongs to an item besides its row: where it came from, its earlier texts, its names.

use rusqlite::params;
use rusqlite::types::Value as Column;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::importer::{Fields, Importer, Taking, Whose, list, objects};
use super::{values, writing};
use crate::memory::ItemKind;
use crate::memory::backend::OptionalExtension;
use crate::memory::graves::Key;

impl Importer<'_> {
    /// Keeps the sources, revisions, names and origins of a row that was just made.
    pub(super) fn keep_belongings(
        &mut self,
        (kind, item): (ItemKind, i64),
        fields: &Fields,
        whose: Whose,
    ) -> Taking<()> {
        let fixed = [("kind", Column::Integer(kind.number())), ("item", Column::Integer(item))];
        for source in objects(fields, "sources") {
            self.write(writing::SOURCE, source, &fixed)?;
        }
        for revision in objects(fields, "revisions") {
            self.write(writing::REVISION, revision, &fixed)?;
        }
        self.keep_mentions((kind, item), fields)?;
        for key in self.origin_keys(fields, whose) {
            let origin = params![key, kind.number(), item, Column::Null];
            self.transaction.prepare_cached(writing::ORIGIN)?.execute(origin)?;
        }
        Ok(())
    }

    /// Keeps which names an item mentions.
    pub(super) fn keep_mentions(
        &mut self,
        (kind, item): (ItemKind, i64),
        fields: &Fields,
    ) -> Taking<()> {
        for there in list(fields, "mentions").iter().filter_map(Value::as_i64) {
            let Some(entity) = self.mentioned(there)? else { continue };
            let mention = params![entity, kind.number(), item];
            self.transaction.prepare_cached(writing::MENTION)?.execute(mention)?;
        }
        Ok(())
    }

    /// What makes an item unique here.
    pub(super) fn origin_keys(&self, fields: &Fields, whose: Whose) -> Vec<Key> {
        let written = list(fields, "origins").iter().filter_map(Value::as_str);
        let keys = written.filter_map(|text| Key::try_from(values::unhex(text)?).ok());
        keys.map(|key| self.key_here(key, whose)).collect()
    }

    /// The number of the user is inside such a key: that of another user must not mean one of ours.
    pub(super) fn key_here(&self, key: Key, whose: Whose) -> Key {
        if whose.there == whose.here.get() {
            return key;
        }
        let digest = Sha256::new()
            .chain_update(&self.import.home_id)
            .chain_update(whose.here.get().to_le_bytes())
            .chain_update(key)
            .finalize();
        let mut here = [0; 16];
        here.copy_from_slice(&digest[..16]);
        here
    }

    /// The item that was kept with the same origin.
    pub(super) fn by_origin(
        &self,
        kind: ItemKind,
        fields: &Fields,
        whose: Whose,
    ) -> Taking<Option<i64>> {
        for key in self.origin_keys(fields, whose) {
            let found = self
                .transaction
                .prepare_cached(writing::ORIGIN_KNOWN)?
                .query_row(params![key, kind.number()], |row| row.get(0))
                .optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
