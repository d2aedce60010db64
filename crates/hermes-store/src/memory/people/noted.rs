//! What a merge changed, so that it can be taken back: numbers and hashes in `meta`, no words.

use std::collections::BTreeMap;

use rusqlite::params;

use super::super::store::ADD_META;
use super::super::{Outcome, audit};
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{Moved, UserNumber};

/// What one merge changed.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Noted {
    /// Who they became.
    pub(super) into: i64,
    /// The last entry of the chain before it: later merges have a higher one.
    pub(super) after: i64,
    /// How much it was.
    pub(super) moved: Moved,
    /// Sessions: number before, number since, part before, messages then.
    pub(super) sessions: Vec<[i64; 4]>,
    /// The numbers of what only changed hands, by table.
    pub(super) items: BTreeMap<String, Vec<i64>>,
    pub(super) facts: Vec<JoinedFact>,
    /// Names that became one: the number of each, and of the one that stands for both.
    pub(super) names: Vec<[i64; 2]>,
    /// Hashes of ways to write names, and of speakers, that the other had too.
    pub(super) aliases: Vec<String>,
    pub(super) speakers: Vec<String>,
    /// What both had taken back: kind, key, and when the other did.
    pub(super) graves: Vec<(i64, String, i64)>,
    /// Hashes of identities that were linked; of those only seen also since when and until when.
    pub(super) linked: Vec<String>,
    pub(super) seen: Vec<(String, i64, i64)>,
    /// Users who had become the first before.
    pub(super) followers: Vec<i64>,
    /// Whether the other got the time zone.
    pub(super) gave_zone: bool,
}

/// A fact that both held: the one that stands for both, as it was.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct JoinedFact {
    pub(super) theirs: i64,
    pub(super) kept: i64,
    pub(super) last_used_at: Option<i64>,
    pub(super) confidence: f64,
    pub(super) pinned: i64,
    /// The sources and names that it got.
    pub(super) sources: Vec<i64>,
    pub(super) names: Vec<i64>,
}

/// Looks at what is about to change hands.
pub(super) fn look(transaction: &Connection, pair: [UserNumber; 2]) -> Outcome<Noted> {
    let [from, into] = pair.map(UserNumber::get);
    let after = transaction.query_row(LAST_ENTRY, [], |row| row.get(0))?;
    let mut noted = Noted { into, after, ..Noted::default() };
    for (table, sql, _) in CHANGES_HANDS {
        noted.items.insert(table.to_owned(), numbers(transaction, sql, from)?);
    }
    noted.followers = numbers(transaction, FOLLOWERS, from)?;
    noted.aliases = hashes(transaction, ALIASES_OF_BOTH, params![from, into])?;
    noted.speakers = hashes(transaction, SPEAKERS_OF_BOTH, params![from, into])?;
    noted.linked = hashes(transaction, LINKED, params![from])?;
    noted.seen = transaction
        .prepare(SEEN)?
        .query_map([from], |row| {
            Ok((
                key([&row.get::<_, String>(0)?, &row.get::<_, String>(1)?]),
                row.get(2)?,
                row.get(3)?,
            ))
        })?
        .collect::<backend::Result<_>>()?;
    noted.graves = transaction
        .prepare(GRAVES_OF_BOTH)?
        .query_map([from, into], |row| {
            Ok((row.get(0)?, hex(&row.get::<_, Vec<u8>>(1)?), row.get(2)?))
        })?
        .collect::<backend::Result<_>>()?;
    noted.gave_zone = transaction.prepare(GIVES_ZONE)?.exists([from, into])?;
    Ok(noted)
}

/// Keeps what a merge changed.
pub(super) fn keep(transaction: &Connection, user: UserNumber, noted: &Noted) -> Outcome<()> {
    let text = serde_json::to_string(noted).unwrap_or_default();
    forget(transaction, user)?;
    transaction.execute(ADD_META, params![name_of(user), text])?;
    Ok(())
}

/// What the merge of a user changed, if that is known.
pub(super) fn read(connection: &Connection, user: UserNumber) -> backend::Result<Option<Noted>> {
    let text: Option<String> =
        connection.prepare_cached(READ)?.query_row([name_of(user)], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Forgets what the merge of a user changed.
pub(super) fn forget(transaction: &Connection, user: UserNumber) -> Outcome<()> {
    transaction.prepare_cached("delete from meta where key = ?1")?.execute([name_of(user)])?;
    Ok(())
}

/// A hash by which words are known again.
pub(super) fn key(words: [&str; 2]) -> String {
    hex(&audit::hash_of(&words.join("\n"))[..16])
}

/// The hashes of what a statement finds: each two words.
pub(super) fn hashes(
    connection: &Connection,
    sql: &str,
    asked: &[&dyn rusqlite::ToSql],
) -> backend::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let found = statement
        .query_map(asked, |row| Ok(key([&row.get::<_, String>(0)?, &row.get::<_, String>(1)?])))?;
    found.collect()
}

pub(super) fn numbers(connection: &Connection, sql: &str, user: i64) -> backend::Result<Vec<i64>> {
    connection.prepare_cached(sql)?.query_map([user], |row| row.get(0))?.collect()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn name_of(user: UserNumber) -> String {
    format!("merge:{}", user.get())
}

macro_rules! changes_hands {
    ($table:literal) => {
        (
            $table,
            concat!("select id from ", $table, " where user_id = ?1 order by id"),
            concat!("update ", $table, " set user_id = ?2 where id = ?1 and user_id = ?3"),
        )
    };
}
/// Each table, its numbers of a user, and how one row goes back.
pub(super) const CHANGES_HANDS: [(&str, &str, &str); 9] = [
    changes_hands!("episode"),
    changes_hands!("fact"),
    changes_hands!("procedure"),
    changes_hands!("event"),
    changes_hands!("task"),
    changes_hands!("proposal"),
    changes_hands!("receipt"),
    changes_hands!("job"),
    changes_hands!("entity"),
];
const LAST_ENTRY: &str = "select coalesce(max(id), 0) from audit";
const READ: &str = "select value from meta where key = ?1";
const FOLLOWERS: &str = "select id from \"user\" where merged_into = ?1 order by id";
const ALIASES_OF_BOTH: &str = "
    select a.alias, '' from entity_alias a join entity_alias b on b.alias = a.alias and b.user_id = ?2
    where a.user_id = ?1";
const SPEAKERS_OF_BOTH: &str = "
    select a.word, a.name from speaker a
      join speaker b on b.word = a.word and b.name = a.name and b.user_id = ?2
    where a.user_id = ?1";
const LINKED: &str = "select channel, native_id from identity where user_id = ?1";
const SEEN: &str =
    "select channel, native_id, first_at, last_at from seen_identity where user_id = ?1";
const GRAVES_OF_BOTH: &str = "
    select a.kind, a.key, b.at from grave a
      join grave b on b.kind = a.kind and b.key = a.key and b.user_id = ?2
    where a.user_id = ?1";
const GIVES_ZONE: &str = "
    select 1 from \"user\" a join \"user\" b on b.id = ?2
    where a.id = ?1 and a.timezone is not null and b.timezone is null";
