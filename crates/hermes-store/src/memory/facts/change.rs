//! How facts change; each function is one step of a transaction and adds one entry to the chain.

use jiff::Timestamp;
use rusqlite::params;

use super::super::forgetting::copies;
use super::super::graves::{self, GraveKind, Said};
use super::super::{Outcome, audit, entities, index, new_uid, rows};
use super::{Belongings, ORIGINS, index_text, keep_belongings};
use crate::Error;
use crate::memory::backend::{self, Connection, OptionalExtension, Put};
use crate::memory::{Added, Change, ChunkKey, ItemKind, NewChunk, NewFact, Scope, Uid, UserNumber};

/// What a change needs to know of a fact that is kept.
pub(super) struct Kept {
    pub(super) id: i64,
    uid: Uid,
    pub(super) user: UserNumber,
    pub(super) statement: String,
    pub(super) recorded_at: Timestamp,
    pub(super) is_retired: bool,
    pub(super) superseded_by: Option<i64>,
    pub(super) norm_hash: [u8; 16],
    pub(super) revision: u32,
    pub(super) is_pinned: bool,
}

impl Kept {
    pub(super) fn name(&self) -> String {
        audit::item_name(ItemKind::Fact, self.id)
    }

    pub(super) fn is_held(&self) -> bool {
        !self.is_retired && self.superseded_by.is_none()
    }

    pub(super) fn refused(&self, doing: &'static str, why: String) -> Error {
        Error::ItemRefused { doing, item: self.name(), why }
    }
}

/// The fact with this number, if the scope may change it: their own, or everybody's.
pub(super) fn kept(transaction: &Connection, scope: Scope, id: i64) -> Outcome<Kept> {
    let missing = || Error::NoSuchItem { item: audit::item_name(ItemKind::Fact, id) };
    look_up(transaction, scope, id)?.ok_or_else(|| missing().into())
}

/// The same, for a number that may mean nothing.
pub(super) fn look_up(transaction: &Connection, scope: Scope, id: i64) -> Outcome<Option<Kept>> {
    let found = transaction
        .prepare_cached(KEPT)?
        .query_row([id, scope.user().get()], |row| {
            Ok(Kept {
                id: row.get(0)?,
                uid: rows::uid(row, 1)?,
                user: UserNumber::new(row.get(2)?),
                statement: row.get(3)?,
                recorded_at: rows::time(row, 4)?,
                is_retired: row.get(5)?,
                superseded_by: row.get(6)?,
                norm_hash: row.get(7)?,
                revision: row.get(8)?,
                is_pinned: row.get(9)?,
            })
        })
        .optional()?;
    Ok(found)
}

/// The same, for a change that only a fact we hold can have.
pub(super) fn held(
    transaction: &Connection,
    scope: Scope,
    id: i64,
    doing: &'static str,
) -> Outcome<Kept> {
    let kept = kept(transaction, scope, id)?;
    if let Some(by) = kept.superseded_by {
        return Err(kept.refused(doing, took_its_place(by)).into());
    }
    if kept.is_retired {
        return Err(kept.refused(doing, "it was retired".to_owned()).into());
    }
    Ok(kept)
}

pub(super) fn add(
    transaction: &Connection,
    scope: Scope,
    fact: &NewFact<'_>,
    change: Change<'_>,
) -> Outcome<Added> {
    let owner = if fact.shared { UserNumber::SHARED } else { scope.user() };
    if change.is_by_a_person() {
        lift_said(transaction, owner, fact)?;
    }
    if let Some(known) = said_by(transaction, owner, &graves::statement_key(fact.statement))? {
        // What held once and holds again is a new fact; the old one keeps its time.
        let at = change.at.as_millisecond();
        if transaction.prepare_cached(RETIRE_EXPIRED)?.execute(params![known, at])? == 0 {
            return Ok(Added::Known(known));
        }
        let name = audit::item_name(ItemKind::Fact, known);
        audit::append(transaction, change, "fact.expire", &name, None, None)?;
    }
    add_new(transaction, owner, fact, change).map(Added::New)
}

/// Keeps a fact that is not known.
pub(super) fn add_new(
    transaction: &Connection,
    owner: UserNumber,
    fact: &NewFact<'_>,
    change: Change<'_>,
) -> Outcome<i64> {
    let id = insert(transaction, owner, fact, change)?;
    let name = audit::item_name(ItemKind::Fact, id);
    let after = audit::hash_of(fact.statement);
    audit::append(transaction, change, "fact.add", &name, None, Some(&after))?;
    Ok(id)
}

pub(super) fn edit(
    transaction: &Connection,
    held: &Kept,
    statement: &str,
    chunks: &[NewChunk],
    change: Change<'_>,
) -> Outcome<()> {
    refuse_empty(statement)?;
    let hash = graves::statement_key(statement);
    let same = said_by(transaction, held.user, &hash)?.filter(|id| *id != held.id);
    if let Some(same) = same {
        return Err(held.refused("edit", says_the_same(same)).into());
    }
    if change.is_by_a_person() {
        graves::bury_fact(transaction, held.id, change)?;
        graves::lift_one(transaction, held.user, (GraveKind::Statement, hash))?;
    }
    let at = change.at.as_millisecond();
    let kind = ItemKind::Fact.number();
    transaction.prepare_cached(ADD_REVISION)?.execute(params![
        kind,
        held.id,
        held.revision,
        at,
        change.actor,
        held.statement
    ])?;
    transaction.prepare_cached(EDIT)?.execute(params![held.id, statement, hash])?;
    index::remove_text(transaction, text_of(held))?;
    let belongings = Belongings {
        owner: held.user,
        item: (ItemKind::Fact, held.id),
        entities: &[],
        sources: &[],
        chunks,
        at: held.recorded_at,
    };
    index_text(transaction, &belongings)?;
    let (before, after) = (audit::hash_of(&held.statement), audit::hash_of(statement));
    audit::append(transaction, change, "fact.edit", &held.name(), Some(&before), Some(&after))
}

/// The new fact belongs to whom the old one belonged, unless it is for everybody.
pub(super) fn supersede(
    transaction: &Connection,
    held: &Kept,
    by: &NewFact<'_>,
    change: Change<'_>,
) -> Outcome<i64> {
    let owner = if by.shared { UserNumber::SHARED } else { held.user };
    let hash = graves::statement_key(by.statement);
    if hash == held.norm_hash && owner == held.user {
        return Err(held.refused("supersede", "the new one says the same".to_owned()).into());
    }
    if change.is_by_a_person() {
        lift_said(transaction, owner, by)?;
        graves::bury_fact(transaction, held.id, change)?;
    }
    let new = match said_by(transaction, owner, &hash)? {
        Some(known) => known,
        None => succeed(transaction, owner, by, change)?,
    };
    end(transaction, held, new, change.at, change)?;
    Ok(new)
}

/// Keeps a fact that takes the place of another.
pub(super) fn succeed(
    transaction: &Connection,
    owner: UserNumber,
    fact: &NewFact<'_>,
    change: Change<'_>,
) -> Outcome<i64> {
    let id = insert(transaction, owner, fact, change)?;
    let name = audit::item_name(ItemKind::Fact, id);
    let after = audit::hash_of(fact.statement);
    audit::append(transaction, change, "fact.succeed", &name, None, Some(&after))?;
    Ok(id)
}

/// Ends a fact: since `ended` another one is true.
pub(super) fn end(
    transaction: &Connection,
    held: &Kept,
    new: i64,
    ended: Timestamp,
    change: Change<'_>,
) -> Outcome<()> {
    let (at, ended) = (change.at.as_millisecond(), ended.as_millisecond());
    transaction.prepare_cached(SUPERSEDE)?.execute(params![held.id, at, new, ended])?;
    let statement: String =
        transaction.prepare_cached(STATEMENT)?.query_row([new], |row| row.get(0))?;
    let (before, after) = (audit::hash_of(&held.statement), audit::hash_of(&statement));
    audit::append(transaction, change, "fact.supersede", &held.name(), Some(&before), Some(&after))
}

pub(super) fn retire(transaction: &Connection, held: &Kept, change: Change<'_>) -> Outcome<()> {
    if change.is_by_a_person() {
        graves::bury_fact(transaction, held.id, change)?;
    }
    transaction.prepare_cached(RETIRE)?.execute([held.id, change.at.as_millisecond()])?;
    let before = audit::hash_of(&held.statement);
    audit::append(transaction, change, "fact.retire", &held.name(), Some(&before), None)
}

pub(super) fn restore(transaction: &Connection, kept: &Kept, change: Change<'_>) -> Outcome<()> {
    let in_the_way = match (kept.is_retired, kept.superseded_by) {
        (false, _) => Some("it was not retired".to_owned()),
        (true, Some(by)) => Some(took_its_place(by)),
        (true, None) => said_by(transaction, kept.user, &kept.norm_hash)?.map(says_the_same),
    };
    if let Some(why) = in_the_way {
        return Err(kept.refused("restore", why).into());
    }
    transaction.prepare_cached(RESTORE)?.execute([kept.id])?;
    graves::lift(transaction, &kept.name())?;
    let after = audit::hash_of(&kept.statement);
    audit::append(transaction, change, "fact.restore", &kept.name(), None, Some(&after))
}

pub(super) fn erase(transaction: &Connection, kept: &Kept, change: Change<'_>) -> Outcome<()> {
    let kind = ItemKind::Fact.number();
    if change.is_by_a_person() {
        graves::bury_fact(transaction, kept.id, change)?;
    }
    copies::erase_answers(transaction)?;
    copies::erase_proposals(transaction, &kept.statement)?;
    // Answers to requests say what was kept.
    transaction.execute_batch("delete from idempotency")?;
    index::remove_text(transaction, text_of(kept))?;
    entities::forget_names(transaction, ItemKind::Fact, kept.id)?;
    for step in [ERASE_SOURCES, ERASE_REVISIONS, ERASE_ORIGIN] {
        transaction.prepare_cached(step)?.execute([kind, kept.id])?;
    }
    for step in [LET_GO, ERASE_CONFLICTS, ERASE_FILE_ENTRIES] {
        transaction.prepare_cached(step)?.execute([kept.id])?;
    }
    transaction.prepare_cached(ERASE)?.execute([kept.id])?;
    let at = change.at.as_millisecond();
    transaction.put(&ADD_TOMBSTONE, params![kind, kept.uid.as_bytes(), at, change.actor])?;
    let before = audit::hash_of(&kept.statement);
    audit::append(transaction, change, "fact.erase", &kept.name(), Some(&before), None)
}

fn insert(
    transaction: &Connection,
    owner: UserNumber,
    fact: &NewFact<'_>,
    change: Change<'_>,
) -> Outcome<i64> {
    refuse_empty(fact.statement)?;
    let id = transaction.insert(
        INSERT,
        params![
            new_uid(change.at).as_bytes(),
            owner.get(),
            fact.statement,
            fact.kind,
            fact.subject,
            fact.predicate,
            fact.object,
            fact.confidence,
            rows::word(&fact.origin, &ORIGINS),
            fact.trust.number(),
            fact.valid_from.map(Timestamp::as_millisecond),
            fact.valid_to.map(Timestamp::as_millisecond),
            change.at.as_millisecond(),
            graves::statement_key(fact.statement)
        ],
    )?;
    let belongings = Belongings {
        owner,
        item: (ItemKind::Fact, id),
        entities: fact.entities,
        sources: fact.sources,
        chunks: &fact.chunks,
        at: change.at,
    };
    keep_belongings(transaction, &belongings, change)?;
    Ok(id)
}

/// What a person says is no longer taken back.
fn lift_said(transaction: &Connection, owner: UserNumber, fact: &NewFact<'_>) -> Outcome<()> {
    for grave in grave_keys(fact) {
        graves::lift_one(transaction, owner, grave)?;
    }
    Ok(())
}

/// Everything that can bury a fact that is not kept yet.
pub(super) fn grave_keys(fact: &NewFact<'_>) -> Vec<(GraveKind, graves::Key)> {
    let said = Said {
        statement: fact.statement,
        kind: fact.kind,
        subject: fact.subject,
        predicate: fact.predicate,
        object: fact.object,
    };
    graves::keys_of(&said, fact.sources.iter().filter_map(|source| source.quote))
}

/// The fact we hold that says the same.
pub(super) fn said_by(
    transaction: &Connection,
    owner: UserNumber,
    norm_hash: &[u8; 16],
) -> backend::Result<Option<i64>> {
    transaction
        .prepare_cached(SAID_BY)?
        .query_row(params![owner.get(), norm_hash], |row| row.get(0))
        .optional()
}

fn refuse_empty(statement: &str) -> Outcome<()> {
    if statement.trim().is_empty() {
        let why = "it is empty".to_owned();
        return Err(Error::ItemRefused { doing: "keep", item: "the fact".into(), why }.into());
    }
    Ok(())
}

fn text_of(kept: &Kept) -> i64 {
    ChunkKey::of_item(kept.user, ItemKind::Fact, kept.id, 0).text()
}

fn took_its_place(by: i64) -> String {
    format!("{} replaced it", audit::item_name(ItemKind::Fact, by))
}

pub(super) fn says_the_same(other: i64) -> String {
    format!("{} says the same", audit::item_name(ItemKind::Fact, other))
}

const RETIRE_EXPIRED: &str = "
    update fact set retired_at = ?2 where id = ?1 and valid_to is not null and valid_to <= ?2";
const KEPT: &str = "
    select id, uid, user_id, statement, recorded_at, retired_at is not null, superseded_by,
      norm_hash, revision, pinned
    from fact where id = ?1 and user_id in (?2, 0)";
const STATEMENT: &str = "select statement from fact where id = ?1";
const SAID_BY: &str =
    "select id from fact where user_id = ?1 and norm_hash = ?2 and retired_at is null";
const INSERT: &str = "
    insert into fact (uid, user_id, statement, kind, subject, predicate, object, confidence,
      origin, trust, valid_from, valid_to, recorded_at, norm_hash)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) returning id";
const ADD_REVISION: &str = "
    insert into revision (kind, item, number, at, actor, body) values (?1, ?2, ?3, ?4, ?5, ?6)";
const EDIT: &str =
    "update fact set statement = ?2, norm_hash = ?3, revision = revision + 1 where id = ?1";
// What ended before stays ended then.
const SUPERSEDE: &str = "
    update fact set retired_at = ?2, valid_to_before = valid_to,
      valid_to = case when valid_to < ?4 then valid_to else ?4 end, superseded_by = ?3
    where id = ?1";
const RETIRE: &str = "update fact set retired_at = ?2 where id = ?1";
// A fact that was superseded ended with that; if what took its place is gone, so is that end.
const RESTORE: &str = "
    update fact set retired_at = null,
      valid_to = case when valid_to = retired_at then null else valid_to end
    where id = ?1";
const ERASE_SOURCES: &str = "delete from source where kind = ?1 and item = ?2";
// With the reasons, which stand a hundred above.
const ERASE_REVISIONS: &str = "delete from revision where kind in (cast(?1 as bigint), cast(?1 as bigint) + 100) and item = ?2";
const ERASE_ORIGIN: &str = "delete from origin where kind = ?1 and item = ?2 and kind <> 0";
const LET_GO: &str = "
    update fact set superseded_by = null, valid_to = valid_to_before, valid_to_before = null
    where superseded_by = ?1";
const ERASE_CONFLICTS: &str = "delete from conflict where fact = ?1 or other = ?1";
const ERASE_FILE_ENTRIES: &str = "delete from file_entry where fact = ?1";
const ERASE: &str = "delete from fact where id = ?1";
pub(in crate::memory) const ADD_TOMBSTONE: Put = Put {
    change: "update tombstone set at = ?3, actor = ?4 where kind = ?1 and uid = ?2",
    add: "insert into tombstone (kind, uid, at, actor) values (?1, ?2, ?3, ?4)",
};
