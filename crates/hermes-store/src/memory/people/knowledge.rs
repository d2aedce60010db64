//! What one user knows becomes another's: facts, procedures, events, names.

use jiff::Timestamp;
use rusqlite::params;

use super::super::{Outcome, audit, entities};
use super::noted::{JoinedFact, Noted, numbers};
use super::texts::{Moving, Texts};
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{Change, ChunkKey, ItemKind, PortableText, UserNumber};

/// Moves everything; facts that both hold become one.
pub(super) fn move_all(
    transaction: &Connection,
    pair: [UserNumber; 2],
    texts: &mut Texts<'_>,
    (noted, change): (&mut Noted, Change<'_>),
) -> Outcome<()> {
    move_texts(transaction, pair[0], pair, texts)?;
    join_facts(transaction, pair, (noted, change))?;
    for sql in MOVE_ITEMS {
        transaction.prepare_cached(sql)?.execute(pair.map(UserNumber::get))?;
    }
    move_names(transaction, pair, noted)
}

/// Gives the facts, procedures and events of a user the numbers of another in the index.
pub(super) fn move_texts(
    transaction: &Connection,
    user: UserNumber,
    [from, into]: [UserNumber; 2],
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    for (kind, sql) in TEXTS {
        let mut statement = transaction.prepare(sql)?;
        let mut found = statement.query([user.get()])?;
        while let Some(row) = found.next()? {
            let (id, text): (i64, String) = (row.get(0)?, row.get(1)?);
            let at = Timestamp::from_millisecond(row.get(2)?).unwrap_or(Timestamp::UNIX_EPOCH);
            let number = |user| ChunkKey::of_item(user, kind, id, 0).text();
            let text =
                PortableText { text: &text, caption: None, speaker: None, at: None, further: None };
            texts.take(&Moving { from: number(from), to: number(into), text, at })?;
        }
    }
    Ok(())
}

/// Of two facts that say the same the one stands for both, with the uses and sources of both.
fn join_facts(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    (noted, change): (&mut Noted, Change<'_>),
) -> Outcome<()> {
    let both: Vec<[i64; 2]> = transaction
        .prepare(BOTH_HOLD)?
        .query_map([from.get(), into.get()], |row| Ok([row.get(0)?, row.get(1)?]))?
        .collect::<backend::Result<_>>()?;
    for [theirs, kept] in both {
        let mut joined = before_joining(transaction, [theirs, kept])?;
        for sql in JOIN_FACTS {
            transaction.prepare_cached(sql)?.execute([theirs, kept])?;
        }
        let had = std::mem::take(&mut joined.sources);
        joined.sources = numbers(transaction, SOURCES, kept)?;
        joined.sources.retain(|source| !had.contains(source));
        noted.facts.push(joined);
        let at = change.at.as_millisecond();
        transaction.prepare_cached(END_FACT)?.execute([theirs, kept, at])?;
        let name = audit::item_name(ItemKind::Fact, theirs);
        audit::append(transaction, change, "fact.supersede", &name, None, None)?;
    }
    Ok(())
}

/// The fact that will stand for both, with the sources it has, and the names it will get.
fn before_joining(transaction: &Connection, [theirs, kept]: [i64; 2]) -> Outcome<JoinedFact> {
    let (last_used_at, confidence, pinned) = transaction
        .prepare_cached(STANDING)?
        .query_row([kept], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let names = transaction
        .prepare_cached(NEW_NAMES)?
        .query_map([theirs, kept], |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    let sources = numbers(transaction, SOURCES, kept)?;
    Ok(JoinedFact { theirs, kept, last_used_at, confidence, pinned, sources, names })
}

/// A name that both know becomes one; the others only change hands. What the one knew a name by stays with their
/// number, which nobody reads by, for the case that the merge is taken back.
fn move_names(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    noted: &mut Noted,
) -> Outcome<()> {
    for name in noted.items.get("entity").cloned().unwrap_or_default() {
        let same: Option<i64> = transaction
            .prepare_cached(SAME_NAME)?
            .query_row([name, into.get()], |row| row.get(0))
            .optional()?;
        match same {
            Some(same) => {
                noted.names.push([name, same]);
                transaction.execute(entities::MOVE_MENTIONS, [name, same])?;
            }
            None => {
                transaction.prepare_cached(MOVE_NAME)?.execute(params![name, into.get()])?;
            }
        }
        let asked = [name, same.unwrap_or(name), from.get(), into.get()];
        transaction.prepare_cached(COPY_ALIASES)?.execute(asked)?;
    }
    transaction.execute(SHARED_ALIASES, [from.get(), into.get()])?;
    Ok(())
}

const TEXTS: [(ItemKind, &str); 3] = [
    (ItemKind::Fact, "select id, statement, recorded_at from fact where user_id = ?1 order by id"),
    (
        ItemKind::Procedure,
        "select id, title || '\n' || body, recorded_at from procedure
         where user_id = ?1 order by id",
    ),
    (
        ItemKind::Event,
        "select id, text || coalesce('\n' || why, ''), at from event where user_id = ?1 order by id",
    ),
];
const BOTH_HOLD: &str = "
    select a.id, b.id from fact a join fact b on b.norm_hash = a.norm_hash
    where a.user_id = ?1 and b.user_id = ?2 and a.retired_at is null and b.retired_at is null
    order by a.id";
// ?1 is the fact that goes, ?2 the one that stands for both.
const JOIN_FACTS: [&str; 4] = [
    "update fact set
       uses = uses + (select o.uses from fact o where o.id = ?1),
       last_used_at = (select max(o.last_used_at) from fact o where o.id in (?1, ?2)),
       confidence = (select max(o.confidence) from fact o where o.id in (?1, ?2)),
       pinned = (select max(o.pinned) from fact o where o.id in (?1, ?2))
     where id = ?2",
    "insert into source (kind, item, episode, message, quote, extractor, model, prompt_version)
     select kind, ?2, episode, message, quote, extractor, model, prompt_version
     from source where kind = 1 and item = ?1",
    "insert into mention (entity, kind, item)
     select entity, kind, ?2 from mention where kind = 1 and item = ?1
     on conflict do nothing",
    "insert into file_entry (fact, file, entry, at)
     select ?2, file, entry, at from file_entry where fact = ?1
     on conflict do nothing",
];
const END_FACT: &str = "
    update fact set retired_at = ?3, valid_to_before = valid_to,
      valid_to = case when valid_to < ?3 then valid_to else ?3 end, superseded_by = ?2
    where id = ?1";
const MOVE_ITEMS: [&str; 3] = [
    "update fact set user_id = ?2 where user_id = ?1",
    "update procedure set user_id = ?2 where user_id = ?1",
    "update event set user_id = ?2 where user_id = ?1",
];
const SAME_NAME: &str = "
    select e.id from entity_alias mine
      join entity_alias theirs on theirs.alias = mine.alias and theirs.user_id = ?2
      join entity e on e.id = theirs.entity and e.user_id = ?2
    where mine.entity = ?1 order by e.id limit 1";
const MOVE_NAME: &str = "update entity set user_id = ?2 where id = ?1";
const COPY_ALIASES: &str = "
    insert into entity_alias (user_id, alias, entity)
    select ?4, alias, ?2 from entity_alias where entity = ?1 and user_id = ?3
    on conflict do nothing";
const SHARED_ALIASES: &str = "
    insert into entity_alias (user_id, alias, entity)
    select ?2, alias, entity from entity_alias
    where user_id = ?1 and entity in (select id from entity where user_id = 0)
    on conflict do nothing";
const STANDING: &str = "select last_used_at, confidence, pinned from fact where id = ?1";
const SOURCES: &str = "select id from source where kind = 1 and item = ?1 order by id";
const NEW_NAMES: &str = "
    select entity from mention where kind = 1 and item = ?1
      and entity not in (select o.entity from mention o where o.kind = 1 and o.item = ?2)";
