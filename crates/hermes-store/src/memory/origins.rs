//! What makes procedures, events and facts of other memories unique: keeping one again adds nothing, not even when it was retired.

use rusqlite::params;

use super::{Outcome, graves, people};
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{ItemKind, OriginId, UserNumber};

/// The thing that was kept with this origin.
pub(super) fn known(
    transaction: &Connection,
    (kind, owner): (ItemKind, UserNumber),
    origin: Option<OriginId<'_>>,
) -> Outcome<Option<i64>> {
    let Some(origin) = origin else { return Ok(None) };
    Ok(look_up(transaction, (kind, owner), origin)?)
}

/// The same, for a reader.
pub(super) fn look_up(
    connection: &Connection,
    (kind, owner): (ItemKind, UserNumber),
    origin: OriginId<'_>,
) -> backend::Result<Option<i64>> {
    for owner in people::numbers_of(connection, owner)? {
        let key = graves::item_key(kind, owner, origin.source, origin.external_id);
        let known = connection
            .prepare_cached(KNOWN)?
            .query_row(params![key, kind.number()], |row| row.get(0))
            .optional()?;
        if known.is_some() {
            return Ok(known);
        }
    }
    Ok(None)
}

/// Notes the origin of a thing that was just kept.
pub(super) fn note(
    transaction: &Connection,
    (kind, owner): (ItemKind, UserNumber),
    item: i64,
    origin: Option<OriginId<'_>>,
) -> Outcome<()> {
    let Some(origin) = origin else { return Ok(()) };
    let key = graves::item_key(kind, owner, origin.source, origin.external_id);
    transaction.prepare_cached(NOTE)?.execute(params![key, kind.number(), item])?;
    Ok(())
}

const KNOWN: &str = "select item from origin where key = ?1 and kind = ?2";
const NOTE: &str = "insert into origin (key, kind, item) values (?1, ?2, ?3)";
