//! Receipts, and the marks that things leave when they are gone.

use rusqlite::params;
use rusqlite::types::Value as Column;
use serde_json::Value;

use super::importer::{
    Fate, Fields, Importer, Taking, Thing, integer, needed_text, text, time, uid,
};
use super::people::added_if;
use super::tables::Table;
use super::{values, writing};
use crate::memory::ItemKind;
use crate::memory::backend::OptionalExtension;
use crate::memory::graves::Key;
use crate::memory::lifecycle::items_of;

impl Importer<'_> {
    pub(super) fn take_receipt(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let user = self.whose(fields)?.here.get();
        let items = self.items_here(needed_text(fields, "items")?)?;
        let at = time(fields, "at")?.as_millisecond();
        let (session, turn) = (text(fields, "session_id"), text(fields, "turn"));
        let tokens = integer(fields, "tokens")?;
        let same: Option<i64> = self
            .transaction
            .prepare_cached(writing::RECEIPT_SAME)?
            .query_row(params![at, user, session, turn, tokens, there], |row| row.get(0))
            .optional()?;
        if let Some(same) = same {
            // Two that say the same are two: each is matched once.
            self.transaction.prepare_cached(writing::RECEIPT_MATCHED)?.execute([same])?;
            return Ok(Fate::Known);
        }
        let id = self.number(Table::Receipt, Some(there))?;
        let fixed = [("id", Column::Integer(id)), ("items", Column::Text(items))];
        self.write(writing::RECEIPT, fields, &fixed)?;
        Ok(Fate::Added)
    }

    /// What was handed out, by the numbers it has here; what is not here is left out.
    fn items_here(&self, items: &str) -> Taking<String> {
        if self.import.keeps_numbers() {
            return Ok(items.to_owned());
        }
        let mut here: Vec<Value> = Vec::new();
        for (kind, item) in items_of(items) {
            if let Some(item) = self.item_here(kind, item)? {
                here.push(serde_json::json!({ "kind": kind, "item": item }));
            }
        }
        Ok(Value::from(here).to_string())
    }

    fn item_here(&self, kind: ItemKind, there: i64) -> Taking<Option<i64>> {
        match kind {
            ItemKind::Message => self.message_here(there),
            ItemKind::Fact => self.here(Thing::Fact, there),
            ItemKind::Procedure => self.here(Thing::Procedure, there),
            ItemKind::Event => self.here(Thing::Event, there),
            ItemKind::Summary => self.here(Thing::Episode, there),
        }
    }

    /// How far state.db was taken in says something only beside that state.db.
    pub(super) fn take_taken(&mut self, fields: &Fields) -> Taking<Fate> {
        // Older exports do not say which database it was.
        if !self.import.keeps_numbers() || text(fields, "database").is_none() {
            return Ok(Fate::Known);
        }
        Ok(added_if(self.write(writing::TAKEN, fields, &[])?))
    }

    /// Where something came from that is gone: it is not to be recorded again.
    pub(super) fn take_origin(&mut self, fields: &Fields) -> Taking<Fate> {
        let number = integer(fields, "kind")?;
        let kind = ItemKind::from_number(number).ok_or_else(|| "its kind is unknown".to_owned())?;
        let there = integer(fields, "item")?;
        if !self.import.keeps_numbers() {
            // Which user it belongs to is inside its hash: it means nothing in another memory.
            return Ok(Fate::Known);
        }
        let here = self.item_here(kind, there)?.unwrap_or(there);
        let hash = values::column("hash", fields.get("hash"))?;
        let origin = params![key(fields)?, number, here, hash];
        Ok(added_if(self.transaction.prepare_cached(writing::ORIGIN)?.execute(origin)?))
    }

    pub(super) fn take_grave(&mut self, fields: &Fields) -> Taking<Fate> {
        let kind = integer(fields, "kind")?;
        let whose = self.whose(fields)?;
        // Messages and sessions are known by a hash with the number of their user inside.
        let key = match kind {
            3 | 4 => self.key_here(key(fields)?, whose),
            _ => key(fields)?,
        };
        let at = time(fields, "at")?.as_millisecond();
        let grave = params![kind, whose.here.get(), key, at];
        if self.transaction.prepare_cached(writing::GRAVE_KNOWN)?.exists(grave)? {
            return Ok(Fate::Known);
        }
        let item = match text(fields, "item") {
            Some(item) if self.import.keeps_numbers() => Some(item.to_owned()),
            Some(item) => self.name_here(item)?,
            None => None,
        };
        let fixed = [
            ("key", Column::Blob(key.to_vec())),
            ("item", item.map_or(Column::Null, Column::Text)),
        ];
        self.write(writing::NO_GRAVE, fields, &fixed)?;
        self.write(writing::GRAVE, fields, &fixed)?;
        Ok(Fate::Added)
    }

    /// The name of a thing by the number it has here.
    fn name_here(&self, name: &str) -> Taking<Option<String>> {
        let Some((kind, number)) = name.split_once(':') else { return Ok(None) };
        let Ok(there) = number.parse() else { return Ok(None) };
        let kind = match kind {
            "fact" => ItemKind::Fact,
            "procedure" => ItemKind::Procedure,
            "event" => ItemKind::Event,
            "episode" => ItemKind::Summary,
            _ => return Ok(None),
        };
        let here = self.item_here(kind, there)?;
        Ok(here.map(|here| crate::memory::audit::item_name(kind, here)))
    }

    pub(super) fn take_tombstone(&mut self, fields: &Fields) -> Taking<Fate> {
        // What is held here was not erased here.
        if self.transaction.prepare_cached(writing::IS_KEPT)?.exists([uid(fields)?])? {
            return Ok(Fate::Known);
        }
        Ok(added_if(self.write(writing::TOMBSTONE, fields, &[])?))
    }
}

fn key(fields: &Fields) -> Result<Key, String> {
    match values::column("key", fields.get("key"))? {
        Column::Blob(bytes) => Key::try_from(bytes).map_err(|_| "its key is too long".to_owned()),
        _ => Err("it has no key".to_owned()),
    }
}
