//! People, the channels they come in by, and the names the memory knows.

use rusqlite::types::Value as Column;
use rusqlite::{OptionalExtension, params};

use super::importer::{
    Fate, Fields, Importer, Table, Taking, Thing, integer, needed_text, objects, time, uid,
};
use super::writing;
use crate::memory::sqlite::entities;
use crate::memory::{MOST_USERS, UserNumber};

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
        let known: Option<i64> = self
            .transaction
            .prepare_cached(writing::USER_KNOWN)?
            .query_row(params![uid(fields)?, name], |row| row.get(0))
            .optional()?;
        if let Some(known) = known {
            self.note(Thing::User, there, known)?;
            return Ok(Fate::Known);
        }
        let id = self.number(Table::User, Some(there).filter(|there| *there < MOST_USERS))?;
        if id >= MOST_USERS {
            return Err("there is no room for more users".to_owned().into());
        }
        self.write(writing::USER, fields, &[("id", Column::Integer(id))])?;
        self.note(Thing::User, there, id)?;
        Ok(Fate::Added)
    }

    pub(super) fn take_identity(&mut self, fields: &Fields) -> Taking<Fate> {
        Ok(added_if(self.write(writing::IDENTITY, fields, &[])?))
    }

    pub(super) fn take_seen(&mut self, fields: &Fields) -> Taking<Fate> {
        Ok(added_if(self.write(writing::SEEN_IDENTITY, fields, &[])?))
    }

    pub(super) fn take_entity(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let user = self.whose(fields)?.here.get();
        let name = needed_text(fields, "name")?;
        let made = time(fields, "created_at")?.as_millisecond();
        let mut known: Option<i64> = self
            .transaction
            .prepare_cached(writing::ENTITY_SAME)?
            .query_row(params![there, user, name, made], |row| row.get(0))
            .optional()?;
        if known.is_none() && !self.import.into_empty {
            known = self
                .transaction
                .prepare_cached(writing::ENTITY_NAMED)?
                .query_row(params![user, entities::fold(name)], |row| row.get(0))
                .optional()?;
        }
        let (id, fate) = match known {
            Some(id) => (id, Fate::Known),
            None => {
                let id = self.number(Table::Entity, Some(there))?;
                self.write(writing::ENTITY, fields, &[("id", Column::Integer(id))])?;
                (id, Fate::Added)
            }
        };
        self.note(Thing::Entity, there, id)?;
        for alias in objects(fields, "aliases") {
            self.write(writing::ALIAS, alias, &[("entity", Column::Integer(id))])?;
        }
        Ok(fate)
    }
}

/// A row that was there already adds nothing.
pub(super) fn added_if(rows: usize) -> Fate {
    if rows > 0 { Fate::Added } else { Fate::Known }
}
