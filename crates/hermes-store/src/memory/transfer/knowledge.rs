//! Facts, procedures, tasks, events and proposals.

use rusqlite::params;
use rusqlite::types::Value as Column;

use super::importer::{
    Fate, Fields, Importer, Later, Taking, Thing, Whose, integer, is_set, needed_text, objects,
    text, time, uid,
};
use super::people::added_if;
use super::tables::Table;
use super::writing;
use crate::memory::backend::OptionalExtension;
use crate::memory::graves::{self, Said};
use crate::memory::{ChunkKey, ItemKind, PortableText};

impl Importer<'_> {
    pub(super) fn take_fact(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        if self.is_erased(fields)? {
            return self.forget(Thing::Fact, there);
        }
        let whose = self.whose(fields)?;
        if let Some(id) = self.by_uid(writing::FACT_KNOWN, fields)? {
            self.note(Thing::Fact, there, id)?;
            if self.import.resumes {
                self.note_later(Later::Fact, id, fields)?;
            }
            return Ok(Fate::Known);
        }
        if self.is_buried(fields, whose)? {
            return self.forget(Thing::Fact, there);
        }
        let statement = needed_text(fields, "statement")?;
        let hash = graves::statement_key(statement);
        if !is_set(fields, "retired_at") {
            let said: Option<i64> = self
                .transaction
                .prepare_cached(writing::FACT_SAID)?
                .query_row(params![whose.here.get(), hash], |row| row.get(0))
                .optional()?;
            if let Some(id) = said {
                self.note(Thing::Fact, there, id)?;
                return Ok(Fate::Known);
            }
        }
        let id = self.number(Table::Fact, Some(there))?;
        let fixed = [("id", Column::Integer(id)), ("norm_hash", Column::Blob(hash.to_vec()))];
        self.write(writing::FACT, fields, &fixed)?;
        self.note(Thing::Fact, there, id)?;
        self.note_later(Later::Fact, id, fields)?;
        self.keep_belongings((ItemKind::Fact, id), fields, whose)?;
        // The files of another home are not ours.
        if self.import.keeps_numbers() {
            for file in objects(fields, "files") {
                self.write(writing::FILE_ENTRY, file, &[("fact", Column::Integer(id))])?;
            }
        }
        self.index_item((ItemKind::Fact, id), whose, statement, time(fields, "recorded_at")?);
        Ok(Fate::Added)
    }

    /// Whether a person took it back here after it was recorded there.
    fn is_buried(&self, fields: &Fields, whose: Whose) -> Taking<bool> {
        let said = Said {
            statement: needed_text(fields, "statement")?,
            kind: needed_text(fields, "kind")?,
            subject: text(fields, "subject"),
            predicate: text(fields, "predicate"),
            object: text(fields, "object"),
        };
        let recorded = time(fields, "recorded_at")?;
        let quotes = objects(fields, "sources").filter_map(|source| text(source, "quote"));
        for grave in graves::keys_of(&said, quotes) {
            let at = graves::buried_at(self.transaction, whose.here, grave)?;
            if at.is_some_and(|at| !graves::is_newer(recorded, at)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn index_item(
        &mut self,
        (kind, item): (ItemKind, i64),
        whose: Whose,
        text: &str,
        at: jiff::Timestamp,
    ) {
        let words = PortableText { text, caption: None, speaker: None, at: None, further: None };
        self.index(&words, |part| ChunkKey::of_item(whose.here, kind, item, part), at);
    }

    pub(super) fn take_conflict(&mut self, fields: &Fields) -> Taking<Fate> {
        for name in ["fact", "other"] {
            let there = integer(fields, name)?;
            if self.is_forgotten(Thing::Fact, there)? {
                return Ok(Fate::Forgotten);
            }
            if self.here(Thing::Fact, there)?.is_none() {
                return Err(format!("fact {there} is not in the document").into());
            }
        }
        Ok(added_if(self.write(writing::CONFLICT, fields, &[])?))
    }

    pub(super) fn take_procedure(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        if self.is_erased(fields)? {
            return self.forget(Thing::Procedure, there);
        }
        let whose = self.whose(fields)?;
        let mut known = self.by_uid(writing::PROCEDURE_KNOWN, fields)?;
        if known.is_some() && self.import.resumes {
            self.note_later(Later::Procedure, known.unwrap_or_default(), fields)?;
        }
        if known.is_none() {
            known = self.by_origin(ItemKind::Procedure, fields, whose)?;
        }
        if let Some(id) = known {
            self.note(Thing::Procedure, there, id)?;
            return Ok(Fate::Known);
        }
        let id = self.number(Table::Procedure, Some(there))?;
        self.write(writing::PROCEDURE, fields, &[("id", Column::Integer(id))])?;
        self.note(Thing::Procedure, there, id)?;
        self.note_later(Later::Procedure, id, fields)?;
        self.keep_belongings((ItemKind::Procedure, id), fields, whose)?;
        let (title, body) = (needed_text(fields, "title")?, needed_text(fields, "body")?);
        let whole = format!("{title}\n{body}");
        let recorded = time(fields, "recorded_at")?;
        self.index_item((ItemKind::Procedure, id), whose, &whole, recorded);
        Ok(Fate::Added)
    }

    pub(super) fn take_task(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let whose = self.whose(fields)?;
        let known: Option<i64> = self
            .transaction
            .prepare_cached(writing::TASK_KNOWN)?
            .query_row(
                params![uid(fields)?, whose.here.get(), text(fields, "external_id")],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(id) = known {
            self.note(Thing::Task, there, id)?;
            return Ok(Fate::Known);
        }
        if let Some(session) = fields.get("session").and_then(serde_json::Value::as_i64)
            && self.is_forgotten(Thing::Session, session)?
        {
            return self.forget(Thing::Task, there);
        }
        let id = self.number(Table::Task, Some(there))?;
        self.write(writing::TASK, fields, &[("id", Column::Integer(id))])?;
        self.note(Thing::Task, there, id)?;
        Ok(Fate::Added)
    }

    pub(super) fn take_event(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        if self.is_erased(fields)? {
            return self.forget(Thing::Event, there);
        }
        let whose = self.whose(fields)?;
        let known = match self.by_uid(writing::EVENT_KNOWN, fields)? {
            Some(known) => Some(known),
            None => self.by_origin(ItemKind::Event, fields, whose)?,
        };
        if let Some(id) = known {
            self.note(Thing::Event, there, id)?;
            return Ok(Fate::Known);
        }
        let id = self.number(Table::Event, Some(there))?;
        self.write(writing::EVENT, fields, &[("id", Column::Integer(id))])?;
        self.note(Thing::Event, there, id)?;
        self.keep_belongings((ItemKind::Event, id), fields, whose)?;
        let words = needed_text(fields, "text")?;
        self.index_item((ItemKind::Event, id), whose, words, time(fields, "at")?);
        Ok(Fate::Added)
    }

    pub(super) fn take_proposal(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let user = self.whose(fields)?.here.get();
        let (kind, body) = (needed_text(fields, "kind")?, needed_text(fields, "body")?);
        let asked = params![uid(fields)?, user, kind, body];
        let mut statement = self.transaction.prepare_cached(writing::PROPOSAL_KNOWN)?;
        if statement.exists(asked)? {
            return Ok(Fate::Known);
        }
        drop(statement);
        let id = self.number(Table::Proposal, Some(there))?;
        self.write(writing::PROPOSAL, fields, &[("id", Column::Integer(id))])?;
        Ok(Fate::Added)
    }
}
