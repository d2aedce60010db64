//! The chain of changes: every change adds one entry, in its own transaction.

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::{Memory, Outcome, rows};
use crate::Result;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::numbers;
use crate::memory::{Admin, AuditEntry, ChainState, Change, ItemKind};
use crate::rot::{Behind, Mark};

/// The SHA-256 of a text, or of an entry of the chain.
pub(super) type Hash = [u8; 32];

/// What the first entry follows.
const BEGINNING: Hash = [0; 32];

/// Adds a change to the chain; `before` and `after` are the hashes of the texts it changed.
#[expect(clippy::too_many_arguments, reason = "the columns of one entry, in their order")]
pub(super) fn append(
    transaction: &Connection,
    change: Change<'_>,
    action: &str,
    item: &str,
    before: Option<&Hash>,
    after: Option<&Hash>,
) -> Outcome<()> {
    transaction.await_turn()?;
    let previous: Option<Hash> =
        transaction.prepare_cached(LAST_HASH)?.query_row([], |row| row.get(0)).optional()?;
    let entry = Entry {
        previous: previous.unwrap_or(BEGINNING),
        at: change.at.as_millisecond(),
        actor: change.actor,
        action,
        item,
        before: before.map(Hash::as_slice),
        after: after.map(Hash::as_slice),
    };
    Ok(transaction.later(
        ADD_ENTRY,
        params![
            entry.at,
            entry.actor,
            entry.action,
            entry.item,
            entry.before,
            entry.after,
            entry.previous,
            entry.hash()
        ],
    )?)
}

/// An entry that was made in another memory.
pub(super) struct MadeEntry<'a> {
    pub(super) id: i64,
    pub(super) at: i64,
    pub(super) actor: &'a str,
    pub(super) action: &'a str,
    pub(super) item: &'a str,
    pub(super) before: Option<&'a [u8]>,
    pub(super) after: Option<&'a [u8]>,
    pub(super) hash: Hash,
}

/// Adds an entry as it was made elsewhere, if it follows the last one here; says whether it does.
pub(super) fn append_made(transaction: &Connection, made: &MadeEntry<'_>) -> Outcome<bool> {
    let last: Option<(i64, Hash)> = transaction
        .prepare_cached(LAST_ENTRY)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (last, previous) = last.unwrap_or((0, BEGINNING));
    let MadeEntry { at, actor, action, item, before, after, .. } = *made;
    let entry = Entry { previous, at, actor, action, item, before, after };
    if made.id <= last || entry.hash() != made.hash {
        return Ok(false);
    }
    transaction
        .prepare_cached(ADD_MADE)?
        .execute(params![made.id, at, actor, action, item, before, after, previous, made.hash])?;
    Ok(true)
}

/// How far the chain has come.
pub(super) fn mark(connection: &backend::Connection) -> backend::Result<Option<Mark>> {
    connection
        .prepare_cached(LAST_MARK)?
        .query_row([], |row| {
            Ok(Mark {
                last: row.get(0)?,
                sum: start_of(row.get_ref(1)?.as_blob()?),
                at: row.get(2)?,
            })
        })
        .optional()
}

/// Whether the chain has less than a mark says, or something else in that place.
pub(super) fn behind(
    connection: &backend::Connection,
    mark: Mark,
) -> backend::Result<Option<Behind>> {
    let there: Option<i64> = connection
        .prepare_cached(HASH_OF)?
        .query_row([mark.last], |row| Ok(start_of(row.get_ref(0)?.as_blob()?)))
        .optional()?;
    if there == Some(mark.sum) || mark.last == 0 {
        return Ok(None);
    }
    let found = self::mark(connection)?.map_or(0, |last| last.last);
    let is_other = there.is_some() || found > mark.last;
    Ok(Some(Behind { acknowledged: mark.last, at: mark.at, found, is_other }))
}

fn start_of(hash: &[u8]) -> i64 {
    hash.first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// The hash that stands for a text in the chain.
pub(super) fn hash_of(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

/// What a thing is called in the chain and in errors: `fact:042`.
pub(super) fn item_name(kind: ItemKind, number: i64) -> String {
    match kind {
        ItemKind::Message => format!("message:{number}"),
        ItemKind::Fact => format!("fact:{number:03}"),
        ItemKind::Procedure => format!("procedure:{number}"),
        ItemKind::Event => format!("event:{number}"),
        ItemKind::Summary => format!("episode:{number}"),
    }
}

impl Memory {
    /// The latest changes, newest first.
    pub fn audit_log(&self, _admin: Admin, limit: usize) -> Result<Vec<AuditEntry>> {
        self.entries(LATEST, &[i64::try_from(limit).unwrap_or(i64::MAX)])
            .map_err(|source| self.failed(source))
    }

    /// The changes that came after one, oldest first.
    pub fn changes_after(
        &self,
        _admin: Admin,
        after: i64,
        limit: usize,
    ) -> Result<Vec<AuditEntry>> {
        self.entries(AFTER, &[after, i64::try_from(limit).unwrap_or(i64::MAX)])
            .map_err(|source| self.failed(source))
    }

    /// Goes through the whole chain.
    pub fn check_audit(&self, _admin: Admin) -> Result<ChainState> {
        self.walk_chain().map_err(|source| self.failed(source))
    }
}

impl Memory {
    fn entries(&self, sql: &str, values: &[i64]) -> backend::Result<Vec<AuditEntry>> {
        self.asking(Admin)
            .prepare_cached(sql)?
            .query_map(backend::params_from_iter(values)?, |row| {
                Ok(AuditEntry {
                    id: row.get(0)?,
                    at: rows::time(row, 1)?,
                    actor: row.get(2)?,
                    action: row.get(3)?,
                    item: row.get(4)?,
                })
            })?
            .collect()
    }

    fn walk_chain(&self) -> backend::Result<ChainState> {
        let (mut last, mut entries, mut previous) = (0_i64, 0_u64, BEGINNING);
        let mut statement = self.asking(Admin).prepare_cached(CHAIN)?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let (id, hash): (i64, Vec<u8>) = (row.get(0)?, row.get(8)?);
            let said: Vec<u8> = row.get(7)?;
            let entry = Entry {
                previous,
                at: row.get(1)?,
                actor: row.get_ref(2)?.as_str()?,
                action: row.get_ref(3)?.as_str()?,
                item: row.get_ref(4)?.as_str()?,
                before: row.get_ref(5)?.as_blob_or_null()?,
                after: row.get_ref(6)?.as_blob_or_null()?,
            };
            if said != previous || hash != entry.hash() {
                return Ok(ChainState::Broken { id });
            }
            previous = entry.hash();
            (last, entries) = (id, entries + 1);
        }
        // SQLite remembers the highest number given out: the end of the chain cannot be cut off unseen.
        let highest = numbers::last(self.asking(Admin), "audit")?;
        match highest > last {
            true => Ok(ChainState::Broken { id: highest }),
            false => Ok(ChainState::Whole { entries }),
        }
    }
}

/// One entry as it is hashed.
struct Entry<'a> {
    previous: Hash,
    at: i64,
    actor: &'a str,
    action: &'a str,
    item: &'a str,
    before: Option<&'a [u8]>,
    after: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// Each part goes in with its length in front, so that no two entries read alike.
    fn hash(&self) -> Hash {
        let mut hasher = Sha256::new();
        hasher.update(self.previous);
        hasher.update(self.at.to_le_bytes());
        for part in [self.actor.as_bytes(), self.action.as_bytes(), self.item.as_bytes()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        for part in [self.before, self.after] {
            hasher.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
            hasher.update(part.unwrap_or_default());
        }
        hasher.finalize().into()
    }
}

const LAST_HASH: &str = "select hash from audit order by id desc limit 1";
const LAST_MARK: &str = "select id, hash, at from audit order by id desc limit 1";
const HASH_OF: &str = "select hash from audit where id = ?1";
const LAST_ENTRY: &str = "select id, hash from audit order by id desc limit 1";
const ADD_MADE: &str = "
    insert into audit (id, at, actor, action, item, before, after, previous, hash)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const ADD_ENTRY: &str = "
    insert into audit (at, actor, action, item, before, after, previous, hash)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const LATEST: &str = "select id, at, actor, action, item from audit order by id desc limit ?1";
const AFTER: &str =
    "select id, at, actor, action, item from audit where id > ?1 order by id limit ?2";
const CHAIN: &str = "
    select id, at, actor, action, item, before, after, previous, hash from audit order by id";
