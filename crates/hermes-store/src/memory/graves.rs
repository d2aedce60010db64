//! What a person took back, as hashes: so that it is neither taken in nor drawn again.

use jiff::Timestamp;
use rusqlite::params;
use sha2::{Digest, Sha256};

use super::{Outcome, audit, entities};
use crate::memory::backend::{self, Connection, OptionalExtension, Put};
use crate::memory::{Change, ItemKind, UserNumber};

/// What a buried thing is known by.
pub(super) type Key = [u8; 16];

/// What is buried; the numbers are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraveKind {
    Statement,
    Triple,
    Quote,
    Message,
    Session,
}

impl GraveKind {
    pub(super) fn number(self) -> i64 {
        match self {
            GraveKind::Statement => 0,
            GraveKind::Triple => 1,
            GraveKind::Quote => 2,
            GraveKind::Message => 3,
            GraveKind::Session => 4,
        }
    }
}

/// One thing to be buried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grave<'a> {
    pub(super) kind: GraveKind,
    pub(super) user: UserNumber,
    pub(super) key: Key,
    /// Whose return lifts it.
    pub(super) item: Option<&'a str>,
}

/// What a fact says, as far as it can be recognised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) statement: &'a str,
    pub(super) kind: &'a str,
    pub(super) subject: Option<&'a str>,
    pub(super) predicate: Option<&'a str>,
    pub(super) object: Option<&'a str>,
}

/// Buries one thing; one that is buried already stays so, from now on.
pub(super) fn bury(transaction: &Connection, grave: &Grave<'_>, change: Change<'_>) -> Outcome<()> {
    transaction.put(
        &BURY,
        params![
            grave.kind.number(),
            grave.user.get(),
            grave.key,
            change.at.as_millisecond(),
            change.actor,
            grave.item
        ],
    )?;
    Ok(())
}

/// Buries what a fact says now, whoever asks: the sentence, what it is about, the words it came from.
pub(super) fn bury_fact(transaction: &Connection, id: i64, change: Change<'_>) -> Outcome<()> {
    let read: Option<(i64, String, String, [Option<String>; 3])> = transaction
        .prepare_cached(FACT)?
        .query_row([id], |row| {
            let about = [row.get(3)?, row.get(4)?, row.get(5)?];
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, about))
        })
        .optional()?;
    let Some((user, statement, kind, [subject, predicate, object])) = read else { return Ok(()) };
    let quotes: Vec<String> = transaction
        .prepare_cached(QUOTES)?
        .query_map([ItemKind::Fact.number(), id], |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    let said = Said {
        statement: &statement,
        kind: &kind,
        subject: subject.as_deref(),
        predicate: predicate.as_deref(),
        object: object.as_deref(),
    };
    let item = audit::item_name(ItemKind::Fact, id);
    let (user, item) = (UserNumber::new(user), Some(item.as_str()));
    for (kind, key) in keys_of(&said, quotes.iter().map(String::as_str)) {
        bury(transaction, &Grave { kind, user, key, item }, change)?;
    }
    Ok(())
}

/// Lifts everything that was buried with an item.
pub(super) fn lift(transaction: &Connection, item: &str) -> Outcome<()> {
    transaction.prepare_cached(LIFT_ITEM)?.execute([item])?;
    Ok(())
}

/// Lifts what an earlier text of an item buried.
pub(super) fn lift_text(transaction: &Connection, item: &str, text: Key) -> Outcome<()> {
    transaction.prepare_cached(LIFT_TEXT)?.execute(params![item, text])?;
    Ok(())
}

/// Lifts one grave of a user.
pub(super) fn lift_one(
    transaction: &Connection,
    user: UserNumber,
    (kind, key): (GraveKind, Key),
) -> Outcome<()> {
    transaction.prepare_cached(LIFT_ONE)?.execute(params![kind.number(), user.get(), key])?;
    Ok(())
}

/// Lifts the grave of a session.
pub(super) fn lift_session(
    transaction: &Connection,
    user: UserNumber,
    session_id: &str,
) -> Outcome<()> {
    lift_one(transaction, user, (GraveKind::Session, session_key(user, session_id)))
}

/// When something was buried last, by its user or for everybody.
pub(super) fn buried_at(
    transaction: &Connection,
    user: UserNumber,
    (kind, key): (GraveKind, Key),
) -> Outcome<Option<i64>> {
    let last = transaction
        .prepare_cached(BURIED_AT)?
        .query_row(params![kind.number(), user.get(), key], |row| row.get(0))?;
    Ok(last)
}

/// When a session was buried last, of a user by any number that was theirs; the first is the present one.
pub(super) fn session_buried_at(
    transaction: &Connection,
    numbers: &[UserNumber],
    session_id: &str,
) -> Outcome<Option<i64>> {
    let Some(user) = numbers.first() else { return Ok(None) };
    let mut last = None;
    for number in numbers {
        let grave = (GraveKind::Session, session_key(*number, session_id));
        last = last.max(buried_at(transaction, *user, grave)?);
    }
    Ok(last)
}

/// Whether anything of a kind is buried for a user: most have nothing to look up.
pub(super) fn has_any(
    transaction: &Connection,
    user: UserNumber,
    kind: GraveKind,
) -> Outcome<bool> {
    Ok(transaction.prepare_cached(HAS_ANY)?.exists([kind.number(), user.get()])?)
}

/// Everything that can bury a fact.
pub(super) fn keys_of<'a>(
    said: &Said<'_>,
    quotes: impl Iterator<Item = &'a str>,
) -> Vec<(GraveKind, Key)> {
    let mut keys = vec![(GraveKind::Statement, statement_key(said.statement))];
    if let (Some(subject), Some(predicate), Some(object)) =
        (said.subject, said.predicate, said.object)
    {
        let folded = [subject, predicate, object].map(entities::fold);
        keys.push((GraveKind::Triple, key_of(folded.each_ref().map(String::as_bytes))));
    }
    for quote in quotes.map(entities::fold).filter(|quote| !quote.is_empty()) {
        let key = key_of([said.kind.as_bytes(), quote.as_bytes()]);
        keys.push((GraveKind::Quote, key));
    }
    keys
}

/// The hash that makes two ways to write one sentence the same.
pub(super) fn statement_key(statement: &str) -> Key {
    let folded = entities::fold(statement);
    let bare = folded.trim_end_matches(|mark: char| {
        mark.is_whitespace()
            || matches!(mark, '.' | '!' | '?' | ',' | ';' | ':' | '…' | '。' | '！' | '？')
    });
    let hashed = if bare.is_empty() { &folded } else { bare };
    first_bytes(Sha256::digest(hashed.as_bytes()).into())
}

/// What a session of a user is known by.
pub(super) fn session_key(user: UserNumber, session_id: &str) -> Key {
    let digest = Sha256::new().chain_update(user.get().to_le_bytes()).chain_update(session_id);
    first_bytes(digest.finalize().into())
}

/// What a recorded message is known by, here and in `origin`: whose it is, where it comes from, its
/// session and its id there. Programs number messages by session, and users do not mix.
pub(super) fn message_key(
    user: UserNumber,
    source: &str,
    session_id: &str,
    external_id: &str,
) -> Key {
    let mut digest = Sha256::new().chain_update(user.get().to_le_bytes());
    for part in [source, session_id, external_id] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    first_bytes(digest.finalize().into())
}

/// What a message is known by in `origin` whose key another message with other words has.
pub(super) fn key_with_text(key: &Key, text: &Key) -> Key {
    key_of([key, text])
}

/// What a thing that was kept once is known by in `origin`.
pub(super) fn item_key(kind: ItemKind, user: UserNumber, source: &str, external_id: &str) -> Key {
    key_of([
        &kind.number().to_le_bytes(),
        &user.get().to_le_bytes(),
        source.as_bytes(),
        external_id.as_bytes(),
    ])
}

/// Whether words said at a time are newer than a grave.
pub(super) fn is_newer(said_at: Timestamp, buried_at: i64) -> bool {
    said_at.as_millisecond() > buried_at
}

/// Each part goes in with its length in front, so that no two lists read alike.
fn key_of<const N: usize>(parts: [&[u8]; N]) -> Key {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    first_bytes(digest.finalize().into())
}

fn first_bytes(hash: [u8; 32]) -> Key {
    let mut first = [0; 16];
    first.copy_from_slice(&hash[..16]);
    first
}

const BURY: Put = Put {
    change: "
    update grave set at = case when at > ?4 then at else ?4 end, actor = ?5, item = ?6
    where kind = ?1 and user_id = ?2 and key = ?3",
    add: "
    insert into grave (kind, user_id, key, at, actor, item) values (?1, ?2, ?3, ?4, ?5, ?6)",
};
const FACT: &str = "
    select user_id, statement, kind, subject, predicate, object from fact where id = ?1";
const QUOTES: &str = "select quote from source where kind = ?1 and item = ?2 and quote is not null";
const LIFT_ITEM: &str = "delete from grave where item = ?1";
const LIFT_TEXT: &str = "delete from grave where item = ?1 and (kind <> 0 or key = ?2)";
const LIFT_ONE: &str = "delete from grave where kind = ?1 and user_id = ?2 and key = ?3";
pub(super) const BURIED_AT: &str =
    "select max(at) from grave where kind = ?1 and user_id in (?2, 0) and key = ?3";
pub(super) const HAS_ANY: &str = "select 1 from grave where kind = ?1 and user_id = ?2 limit 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_write_a_sentence_have_one_hash() {
        assert_eq!(statement_key("  The Cat\tsat. "), statement_key("the cat sat"));
        assert_ne!(statement_key("the cat sat"), statement_key("the cats at"));
        assert_ne!(statement_key("?"), statement_key("!"));
    }

    #[test]
    fn parts_do_not_run_into_one_another() {
        assert_ne!(key_of([b"ab", b"c"]), key_of([b"a", b"bc"]));
    }
}
