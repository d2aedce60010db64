//! People, the channels they come in by, and the names the memory knows.

use rusqlite::params;
use rusqlite::types::Value as Column;

use super::importer::{
    Fate, Fields, Importer, Taking, Thing, integer, needed_text, objects, time, uid,
};
use super::tables::Table;
use super::writing;
use crate::memory::backend::OptionalExtension;
use crate::memory::entities;
use crate::memory::{MOST_USERS, Section, UserNumber};

impl Importer<'_> {
    /// Known by id, else by name; everybody is everybody, and in an empty memory the owner the owner.
    pub(super) fn take_user(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let is_first = there == UserNumber::OWNER.get() && self.import.into_empty;
        if there == UserNumber::SHARED.get() || is_first {
            self.note(Thing::User, there, there)?;
            if self.import.into_empty {
                self.write(writing::USER_AS_IS, fields, &[])?;
            }
            return Ok(Fate::Known);
        }
        let name = needed_text(fields, "name")?;
        let known: Option<(i64, bool)> = self
            .transaction
            .prepare_cached(writing::USER_KNOWN)?
            .query_row(params![uid(fields)?, name], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match known {
            // Nothing of somebody who was forgotten here comes back.
            Some((_, true)) => return self.forget(Thing::User, there),
            Some((known, false)) => {
                self.note(Thing::User, there, known)?;
                return Ok(Fate::Known);
            }
            None => {}
        }
        let id = self.number(Table::User, Some(there).filter(|there| *there < MOST_USERS))?;
        if id >= MOST_USERS {
            return Err("the memory cannot have more users".to_owned().into());
        }
        let fixed = [("id", Column::Integer(id)), ("merged_into", self.merged_into(fields)?)];
        self.write(writing::USER, fields, &fixed)?;
        self.note(Thing::User, there, id)?;
        Ok(Fate::Added)
    }

    /// Who somebody is now who was merged there: the number means the same in a twin alone.
    fn merged_into(&self, fields: &Fields) -> Taking<Column> {
        let Some(there) = fields.get("merged_into").and_then(serde_json::Value::as_i64) else {
            return Ok(Column::Null);
        };
        let here = self.here(Thing::User, there)?;
        let kept = here.or(self.import.keeps_numbers().then_some(there));
        Ok(kept.map_or(Column::Null, Column::Integer))
    }

    pub(super) fn take_identity(&mut self, fields: &Fields) -> Taking<Fate> {
        Ok(added_if(self.write(writing::IDENTITY, fields, &[])?))
    }

    pub(super) fn take_seen(&mut self, fields: &Fields) -> Taking<Fate> {
        Ok(added_if(self.write(writing::SEEN_IDENTITY, fields, &[])?))
    }

    /// A name that is not known here waits until something that comes in mentions it: the names of what
    /// stays forgotten stay away.
    pub(super) fn take_entity(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let Some(id) = self.known_entity(there, fields)? else {
            if self.import.into_empty {
                return self.add_entity(there, fields).map(|_| Fate::Added);
            }
            let waiting = serde_json::to_string(fields).unwrap_or_default();
            self.transaction.put(&writing::WAITING_NAME, params![there, waiting])?;
            return Ok(Fate::Noted);
        };
        self.keep_entity((there, id), fields)?;
        Ok(Fate::Known)
    }

    /// The number here of a name that is mentioned; one that waits is added now.
    pub(super) fn mentioned(&mut self, there: i64) -> Taking<Option<i64>> {
        if let Some(id) = self.here(Thing::Entity, there)? {
            return Ok(Some(id));
        }
        let waiting: Option<String> = self
            .transaction
            .prepare_cached(writing::NAME_THAT_WAITS)?
            .query_row([there], |row| row.get(0))
            .optional()?;
        let fields: Option<Fields> = waiting.and_then(|text| serde_json::from_str(&text).ok());
        let Some(fields) = fields else { return Ok(None) };
        let id = self.add_entity(there, &fields)?;
        self.imported.tally(Section::Entities.name()).added += 1;
        Ok(Some(id))
    }

    fn known_entity(&self, there: i64, fields: &Fields) -> Taking<Option<i64>> {
        let user = self.whose(fields)?.here.get();
        let name = needed_text(fields, "name")?;
        let made = time(fields, "created_at")?.as_millisecond();
        let same: Option<i64> = self
            .transaction
            .prepare_cached(writing::ENTITY_SAME)?
            .query_row(params![there, user, name, made], |row| row.get(0))
            .optional()?;
        if same.is_some() || self.import.into_empty {
            return Ok(same);
        }
        let named = self
            .transaction
            .prepare_cached(writing::ENTITY_NAMED)?
            .query_row(params![user, entities::fold(name)], |row| row.get(0))
            .optional()?;
        Ok(named)
    }

    fn add_entity(&mut self, there: i64, fields: &Fields) -> Taking<i64> {
        let id = self.number(Table::Entity, Some(there))?;
        self.write(writing::ENTITY, fields, &[("id", Column::Integer(id))])?;
        self.keep_entity((there, id), fields)?;
        Ok(id)
    }

    fn keep_entity(&self, (there, id): (i64, i64), fields: &Fields) -> Taking<()> {
        self.note(Thing::Entity, there, id)?;
        for alias in objects(fields, "aliases") {
            self.write(writing::ALIAS, alias, &[("entity", Column::Integer(id))])?;
        }
        Ok(())
    }
}

/// A row that was there already adds nothing.
pub(super) fn added_if(rows: usize) -> Fate {
    if rows > 0 { Fate::Added } else { Fate::Known }
}
