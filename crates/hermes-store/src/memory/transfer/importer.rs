//! Takes in items inside one transaction: each by itself, so that a bad one costs nothing but itself.

use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::params;
use rusqlite::types::Value as Column;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::tables::Table;
use super::values;
use super::writing::Filled;
use crate::memory::backend::{self, Connection, OptionalExtension, Put, params_from_iter};
use crate::memory::index::Indexer;
use crate::memory::{
    Change, ChunkKey, Chunker, Import, Imported, MOST_REASONS, MessageKey, NewChunk, PortableItem,
    PortableText, Section, SessionKey, UserNumber,
};
use crate::memory::{Outcome, Refusal, audit};

/// The fields of an item.
pub(super) type Fields = Map<String, Value>;

/// What became of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Added,
    Known,
    Forgotten,
    /// Neither taken in nor known: a change of another memory, which its last hash stands for.
    Noted,
}

/// Why an item was not taken in.
pub(super) enum Trouble {
    /// The memory refuses: nothing goes on.
    Memory(Refusal),
    /// The item cannot be used.
    Item(String),
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        Trouble::Memory(refusal)
    }
}

impl From<backend::Error> for Trouble {
    fn from(source: backend::Error) -> Trouble {
        if source.is_constraint() {
            return Trouble::Item(source.words());
        }
        Trouble::Memory(Refusal::Database(source))
    }
}

impl From<String> for Trouble {
    fn from(why: String) -> Trouble {
        Trouble::Item(why)
    }
}

/// The result of a step that looks at an item.
pub(super) type Taking<T> = std::result::Result<T, Trouble>;

/// What a number in the document belongs to; the numbers are in the temporary tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    User,
    Entity,
    Session,
    Episode,
    Message,
    Fact,
    Procedure,
    Task,
    Event,
}

/// Stands where a number would: the thing was to be forgotten here.
const FORGOTTEN: i64 = -1;

/// Whose an item is, in the document and here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose {
    pub(super) there: i64,
    pub(super) here: UserNumber,
}

pub(super) struct Importer<'t> {
    pub(super) transaction: &'t Connection,
    pub(super) import: &'t mut Import,
    pub(super) change: Change<'t>,
    pub(super) imported: Imported,
    pub(super) waiting: Vec<(ChunkKey, NewChunk, Timestamp)>,
    chunker: Chunker<'t>,
    labels: HashSet<String>,
    digest: Sha256,
}

/// Takes in items.
pub(super) fn take_in<'t>(
    transaction: &'t Connection,
    import: &'t mut Import,
    items: &'t [PortableItem],
    chunker: Chunker<'t>,
    change: Change<'t>,
) -> Outcome<Imported> {
    let mut indexer = Indexer::new(transaction)?;
    let mut importer = Importer {
        transaction,
        import,
        change,
        imported: Imported::default(),
        waiting: Vec::new(),
        chunker,
        labels: HashSet::new(),
        digest: Sha256::new(),
    };
    for item in items {
        importer.one(item)?;
        for (key, chunk, at) in std::mem::take(&mut importer.waiting) {
            indexer.add(key, &chunk, at)?;
        }
    }
    indexer.finish()?;
    importer.finish()
}

impl Importer<'_> {
    /// Takes in one item; a bad one leaves nothing behind.
    fn one(&mut self, item: &PortableItem) -> Outcome<()> {
        self.transaction.prepare_cached("savepoint item")?.execute([])?;
        let before = self.imported.clone();
        let fate = self.take(item);
        let name = item.section.name();
        match fate {
            Ok(Fate::Noted) => {}
            Ok(fate) => {
                let tally = self.imported.tally(name);
                match fate {
                    Fate::Added => tally.added += 1,
                    Fate::Known => tally.known += 1,
                    Fate::Forgotten => tally.forgotten += 1,
                    Fate::Noted => {}
                }
                if fate == Fate::Added {
                    let uid = item.fields.get("uid").and_then(Value::as_str);
                    self.digest.update(uid.unwrap_or(name));
                }
            }
            Err(Trouble::Memory(refusal)) => return Err(refusal),
            Err(Trouble::Item(why)) => {
                self.transaction.prepare_cached("rollback to item")?.execute([])?;
                self.waiting.clear();
                self.labels.clear();
                self.imported = before;
                self.imported.tally(name).refused += 1;
                if self.imported.reasons.len() < MOST_REASONS {
                    let which = described(item);
                    self.imported.reasons.push(format!("{which}: {why}"));
                }
            }
        }
        self.transaction.prepare_cached("release item")?.execute([])?;
        Ok(())
    }

    fn take(&mut self, item: &PortableItem) -> Taking<Fate> {
        let fields = &item.fields;
        match item.section {
            Section::Users => self.take_user(fields),
            Section::Identities => self.take_identity(fields),
            Section::SeenIdentities => self.take_seen(fields),
            Section::Audit => self.take_audit(fields),
            Section::Entities => self.take_entity(fields),
            Section::Sessions => self.take_session(fields),
            Section::Episodes => self.take_episode(fields),
            Section::Facts => self.take_fact(fields),
            Section::Conflicts => self.take_conflict(fields),
            Section::Procedures => self.take_procedure(fields),
            Section::Tasks => self.take_task(fields),
            Section::Events => self.take_event(fields),
            Section::Proposals => self.take_proposal(fields),
            Section::Receipts => self.take_receipt(fields),
            Section::Taken => self.take_taken(fields),
            Section::Origins => self.take_origin(fields),
            Section::Graves => self.take_grave(fields),
            Section::Tombstones => self.take_tombstone(fields),
        }
    }

    /// Adds an entry to the chain, unless the chain itself came with the items.
    fn finish(self) -> Outcome<Imported> {
        let added = self.imported.total().added;
        self.import.added += added;
        if added > 0 && !self.import.follows_chain {
            let item = format!("{added} items of {}", self.import.home_id);
            let after: audit::Hash = self.digest.finalize().into();
            audit::append(self.transaction, self.change, "import", &item, None, Some(&after))?;
        }
        Ok(self.imported)
    }

    /// Runs a writing statement with the fields of an item; `fixed` goes before what they say.
    pub(super) fn write(
        &self,
        filled: Filled,
        fields: &Fields,
        fixed: &[(&str, Column)],
    ) -> Taking<usize> {
        let mut values = Vec::new();
        for name in filled.fields.split_whitespace() {
            values.push(match fixed.iter().find(|(fixed, _)| *fixed == name) {
                Some((_, value)) => value.clone(),
                None => self.value(name, fields)?,
            });
        }
        let mut statement = self.transaction.prepare_cached(filled.sql)?;
        Ok(statement.execute(params_from_iter(values)?)?)
    }

    fn value(&self, name: &str, fields: &Fields) -> Taking<Column> {
        let thing = match name {
            "user" => return Ok(Column::Integer(self.whose(fields)?.here.get())),
            "session" => Thing::Session,
            "episode" => Thing::Episode,
            "message" => Thing::Message,
            "fact" | "other" => Thing::Fact,
            "task" => Thing::Task,
            "skill" => Thing::Procedure,
            "entity" => Thing::Entity,
            _ => return Ok(values::column(name, fields.get(name))?),
        };
        // An episode's task is a text.
        let Some(there) = fields.get(name).and_then(Value::as_i64) else {
            return Ok(values::column(name, fields.get(name))?);
        };
        let here = match thing {
            Thing::Message => self.message_here(there)?,
            _ => self.here(thing, there)?,
        };
        // What is gone from a memory is gone from its twin: the number still says which one it was.
        let is_gone_there = matches!(thing, Thing::Episode | Thing::Message | Thing::Session);
        let kept = here.or((self.import.keeps_numbers() && is_gone_there).then_some(there));
        Ok(kept.map_or(Column::Null, Column::Integer))
    }

    /// Whose an item is.
    pub(super) fn whose(&self, fields: &Fields) -> Taking<Whose> {
        let there = integer(fields, "user")?;
        let here = self.here(Thing::User, there)?;
        if self.is_forgotten(Thing::User, there)? {
            return Err(format!("its user {there} was forgotten here").into());
        }
        let missing = || format!("its user {there} is not in the document");
        Ok(Whose { there, here: here.map(UserNumber::new).ok_or_else(missing)? })
    }

    /// The number of a thing here; none if it is not here.
    pub(super) fn here(&self, thing: Thing, there: i64) -> Taking<Option<i64>> {
        Ok(self.moved(thing, there)?.filter(|here| *here != FORGOTTEN))
    }

    /// Whether a thing was left out because it was to be forgotten here.
    pub(super) fn is_forgotten(&self, thing: Thing, there: i64) -> Taking<bool> {
        Ok(self.moved(thing, there)? == Some(FORGOTTEN))
    }

    fn moved(&self, thing: Thing, there: i64) -> Taking<Option<i64>> {
        let found = self
            .transaction
            .prepare_cached(MOVED)?
            .query_row(params![thing as i64, there], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// The number of a message here: its session moves, its place stays, unless it was noted apart.
    pub(super) fn message_here(&self, there: i64) -> Taking<Option<i64>> {
        if let Some(here) = self.here(Thing::Message, there)? {
            return Ok(Some(here));
        }
        let key = MessageKey::from_row(there);
        let session = self.here(Thing::Session, key.session().get())?.map(SessionKey::from_row);
        let here = session.and_then(|session| MessageKey::new(session, key.place()));
        Ok(here.map(MessageKey::get))
    }

    /// Notes which number a thing has here.
    pub(super) fn note(&self, thing: Thing, there: i64, here: i64) -> Taking<()> {
        self.transaction.put(&NOTE, [thing as i64, there, here])?;
        Ok(())
    }

    /// Notes that a thing stays forgotten.
    pub(super) fn forget(&self, thing: Thing, there: i64) -> Taking<Fate> {
        self.note(thing, there, FORGOTTEN)?;
        Ok(Fate::Forgotten)
    }

    /// Notes that a thing refers to one that may come later.
    pub(super) fn note_later(&self, what: Later, item: i64, fields: &Fields) -> Taking<()> {
        let (what, field) = match what {
            Later::Fact => (0, "superseded_by"),
            Later::Procedure => (1, "superseded_by"),
            Later::Episode => (2, "compressed_into"),
        };
        if let Some(there) = fields.get(field).and_then(Value::as_i64) {
            self.transaction.prepare_cached(NOTE_LATER)?.execute([what, item, there])?;
        }
        Ok(())
    }

    /// A number for a new thing: the one it had, if nothing here ever had it; else one nobody had.
    pub(super) fn number(&self, table: Table, there: Option<i64>) -> Taking<i64> {
        let here = self.import.numbers_here.get(table.name()).copied().unwrap_or(0);
        if let Some(there) = there.filter(|there| *there > here && *there <= HIGHEST) {
            let is_taken = self.transaction.prepare_cached(table.is_taken())?.exists([there])?;
            if !is_taken {
                return Ok(there);
            }
        }
        let highest = table.highest(self.transaction)?;
        let there = self.import.numbers_there.get(table.name()).copied().unwrap_or(0).min(HIGHEST);
        Ok(highest.max(here).max(there) + 1)
    }

    /// The row with an id that is the same everywhere.
    pub(super) fn by_uid(&self, sql: &str, fields: &Fields) -> Taking<Option<i64>> {
        let uid = uid(fields)?;
        Ok(self.transaction.prepare_cached(sql)?.query_row([uid], |row| row.get(0)).optional()?)
    }

    /// Whether the thing was erased here.
    pub(super) fn is_erased(&self, fields: &Fields) -> Taking<bool> {
        Ok(self.transaction.prepare_cached(IS_ERASED)?.exists([uid(fields)?])?)
    }

    /// Makes sure that texts which many rows share are there.
    pub(super) fn keep_labels(&mut self, fields: &Fields) -> Taking<()> {
        for name in ["channel", "agent", "project", "source"] {
            let Some(text) = text(fields, name) else { continue };
            if !self.labels.contains(text) {
                self.transaction.prepare_cached(ADD_LABEL)?.execute([text])?;
                self.labels.insert(text.to_owned());
            }
        }
        Ok(())
    }

    /// Cuts a text for the index; it is added when the whole item was.
    pub(super) fn index(
        &mut self,
        text: &PortableText<'_>,
        key: impl Fn(usize) -> ChunkKey,
        at: Timestamp,
    ) {
        let chunks = (self.chunker)(text);
        self.waiting.extend(chunks.into_iter().enumerate().map(|(part, c)| (key(part), c, at)));
    }
}

/// What refers to things that may come later in the document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Later {
    Fact,
    Procedure,
    Episode,
}

/// A field that must be a whole number.
pub(super) fn integer(fields: &Fields, name: &str) -> Result<i64, String> {
    let number = fields.get(name).and_then(Value::as_i64);
    number.ok_or_else(|| format!("its {name} is not a number"))
}

/// A field that is a text.
pub(super) fn text<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    fields.get(name).and_then(Value::as_str)
}

/// A field that must be a text.
pub(super) fn needed_text<'f>(fields: &'f Fields, name: &str) -> Result<&'f str, String> {
    text(fields, name).ok_or_else(|| format!("its {name} is not a text"))
}

/// A field that must be a time.
pub(super) fn time(fields: &Fields, name: &str) -> Result<Timestamp, String> {
    match values::column(name, fields.get(name))? {
        Column::Integer(at) => {
            Timestamp::from_millisecond(at).map_err(|_| format!("its {name} is not a time"))
        }
        _ => Err(format!("its {name} is not a time")),
    }
}

/// The objects of a list; a list that is not there is empty.
pub(super) fn objects<'f>(fields: &'f Fields, name: &str) -> impl Iterator<Item = &'f Fields> {
    list(fields, name).iter().filter_map(Value::as_object)
}

/// The values of a list; a list that is not there is empty.
pub(super) fn list<'f>(fields: &'f Fields, name: &str) -> &'f [Value] {
    fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The bytes of the id of an item.
pub(super) fn uid(fields: &Fields) -> Result<Vec<u8>, String> {
    match values::column("uid", fields.get("uid"))? {
        Column::Blob(bytes) => Ok(bytes),
        _ => Err("it has no uid".to_owned()),
    }
}

/// Whether a field says something.
pub(super) fn is_set(fields: &Fields, name: &str) -> bool {
    fields.get(name).is_some_and(|value| !value.is_null())
}

fn described(item: &PortableItem) -> String {
    let name = item.section.name();
    match (item.fields.get("id"), item.fields.get("uid")) {
        (Some(id), _) => format!("{name} {id}"),
        (None, Some(uid)) => format!("{name} {uid}"),
        (None, None) => name.to_owned(),
    }
}

/// A higher number would not fit into the number of a chunk.
const HIGHEST: i64 = 1 << 31;

const MOVED: &str = "select new from import_moved where kind = ?1 and old = ?2";
const NOTE: Put = Put {
    change: "update import_moved set new = ?3 where kind = ?1 and old = ?2",
    add: "insert into import_moved (kind, old, new) values (?1, ?2, ?3)",
};
const NOTE_LATER: &str = "insert into import_later (what, item, old) values (?1, ?2, ?3)";
const IS_ERASED: &str = "select 1 from tombstone where kind in (0, 1, 2, 3, 4) and uid = ?1";
const ADD_LABEL: &str = "insert into label (text) values (?1) on conflict do nothing";
