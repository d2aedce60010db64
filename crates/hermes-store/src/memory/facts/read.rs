//! Reading facts, as far as the scope may.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::params;

use super::super::{entities, rows};
use super::ORIGINS;
use crate::memory::backend::{self, Both, Connection, List, Many, OptionalExtension, Row};
use crate::memory::{
    Fact, FactFilter, FactOnly, FactOrder, ItemKind, Revision, Scope, Source, Trust, UserNumber,
};

/// The fact with this number.
pub(super) fn by_id(
    connection: &Connection,
    scope: Scope,
    id: i64,
) -> backend::Result<Option<Fact>> {
    let found = connection
        .prepare_cached(BY_ID)?
        .query_row([scope.user().get(), id], fact_of)
        .optional()?;
    found.map(|fact| with_entities(connection, scope, fact)).transpose()
}

/// The facts with these numbers, in their order.
pub(super) fn by_ids(
    connection: &Connection,
    scope: Scope,
    ids: &[i64],
) -> backend::Result<Vec<Fact>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let user = [scope.user().get()];
    let facts = connection.many_of(&BY_IDS, &user, List::Numbers(ids), fact_of)?;
    let found: Vec<i64> = facts.iter().map(|fact| fact.id).collect();
    let mut names = entities::names_of_all(connection, scope, ItemKind::Fact, &found)?;
    let mut facts: HashMap<i64, Fact> = facts.into_iter().map(|fact| (fact.id, fact)).collect();
    for (id, fact) in &mut facts {
        fact.entities = names.remove(id).unwrap_or_default();
    }
    Ok(ids.iter().filter_map(|id| facts.get(id).cloned()).collect())
}

/// The facts that fit, in the order asked for.
pub(super) fn list(
    connection: &Connection,
    scope: Scope,
    filter: &FactFilter<'_>,
    now: Timestamp,
) -> backend::Result<Vec<Fact>> {
    let orders = match (filter.with_retired, filter.as_of) {
        (true, _) => ALL,
        (false, Some(_)) => HELD_THEN,
        (false, None) => HELD_NOW,
    };
    let sql = match filter.order {
        FactOrder::Newest => orders[0],
        FactOrder::Oldest => orders[1],
        FactOrder::MostUsed => orders[2],
    };
    let known_by = filter.as_of.map_or(i64::MAX, Timestamp::as_millisecond);
    let limit = filter.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(i64::MAX);
    let offset = i64::try_from(filter.offset).unwrap_or(i64::MAX);
    let reach = limit.saturating_add(offset);
    let only = match filter.only {
        FactOnly::Any => 0,
        FactOnly::Pinned => 1,
        FactOnly::Retired => 2,
    };
    let found: Vec<Fact> = connection
        .prepare_cached(sql)?
        .query_map(
            params![
                scope.user().get(),
                filter.kind,
                filter.entity.map(entities::fold),
                filter.since.map(Timestamp::as_millisecond),
                filter.as_of.unwrap_or(now).as_millisecond(),
                known_by,
                limit,
                reach,
                offset,
                only
            ],
            fact_of,
        )?
        .collect::<backend::Result<_>>()?;
    found.into_iter().map(|fact| with_entities(connection, scope, fact)).collect()
}

/// How many facts are held of each user.
pub(super) fn held(connection: &Connection) -> backend::Result<Vec<(UserNumber, u64)>> {
    let count =
        |row: &Row<'_>| Ok((UserNumber::new(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs()));
    connection.prepare_cached(HELD)?.query_map([], count)?.collect()
}

/// The facts held about a subject.
pub(super) fn about(
    connection: &Connection,
    scope: Scope,
    subject: &str,
    predicate: Option<&str>,
) -> backend::Result<Vec<Fact>> {
    let [subject, predicate] =
        [Some(subject), predicate].map(|word| word.map(str::to_ascii_lowercase));
    let found: Vec<Fact> = connection
        .prepare_both(&ABOUT)?
        .query_map(params![scope.user().get(), subject, predicate], fact_of)?
        .collect::<backend::Result<_>>()?;
    found.into_iter().map(|fact| with_entities(connection, scope, fact)).collect()
}

/// The numbers of the facts whose uid lies between two.
pub(super) fn between(
    connection: &Connection,
    scope: Scope,
    first: &[u8; 16],
    last: &[u8; 16],
) -> backend::Result<Vec<i64>> {
    connection
        .prepare_cached(BETWEEN)?
        .query_map(params![scope.user().get(), first, last], |row| row.get(0))?
        .collect()
}

pub(super) fn sources(
    connection: &Connection,
    scope: Scope,
    id: i64,
) -> backend::Result<Vec<Source>> {
    connection.prepare_cached(SOURCES)?.query_map([scope.user().get(), id], rows::source)?.collect()
}

/// The facts that were drawn from an episode, oldest first.
pub(super) fn drawn_from(
    connection: &Connection,
    scope: Scope,
    episode: i64,
) -> backend::Result<Vec<(i64, Source)>> {
    connection
        .prepare_cached(DRAWN_FROM)?
        .query_map([scope.user().get(), episode], |row| Ok((row.get(4)?, rows::source(row)?)))?
        .collect()
}

pub(super) fn revisions(
    connection: &Connection,
    scope: Scope,
    id: i64,
) -> backend::Result<Vec<Revision>> {
    connection
        .prepare_cached(REVISIONS)?
        .query_map([scope.user().get(), id], |row| {
            Ok(Revision {
                number: row.get(0)?,
                at: rows::time(row, 1)?,
                actor: row.get(2)?,
                text: row.get(3)?,
            })
        })?
        .collect()
}

fn with_entities(connection: &Connection, scope: Scope, mut fact: Fact) -> backend::Result<Fact> {
    fact.entities = entities::names_of(connection, scope, ItemKind::Fact, fact.id)?;
    Ok(fact)
}

fn fact_of(row: &Row<'_>) -> backend::Result<Fact> {
    Ok(Fact {
        id: row.get(0)?,
        uid: rows::uid(row, 1)?,
        user: UserNumber::new(row.get(2)?),
        statement: row.get(3)?,
        kind: row.get(4)?,
        subject: row.get(5)?,
        predicate: row.get(6)?,
        object: row.get(7)?,
        confidence: row.get(8)?,
        origin: rows::choice(row, 9, &ORIGINS)?,
        trust: Trust::from_number(row.get(10)?),
        valid_from: rows::optional_time(row, 11)?,
        valid_to: rows::optional_time(row, 12)?,
        recorded_at: rows::time(row, 13)?,
        retired_at: rows::optional_time(row, 14)?,
        superseded_by: row.get(15)?,
        pinned: row.get(16)?,
        quarantined: row.get(17)?,
        revision: row.get(18)?,
        uses: row.get(19)?,
        entities: Vec::new(),
    })
}

/// The columns of a fact, and which facts are meant.
macro_rules! fact_where {
    ($which:literal) => {
        concat!(
            "
    select id, uid, user_id, statement, kind, subject, predicate, object, confidence, origin, trust,
      valid_from, valid_to, recorded_at, retired_at, superseded_by, pinned,
      quarantined_at is not null, revision, uses
    from fact where ",
            $which
        )
    };
}

/// The columns of a fact and whose facts may be read; the rest of the statement follows.
macro_rules! select_fact {
    ($rest:literal) => {
        concat!(fact_where!("user_id in (?1, 0)"), $rest)
    };
}

/// What every list of facts looks for; `$held` says when a fact counts.
macro_rules! fitting {
    ($columns:literal, $whose:literal, $held:literal, $order:literal) => {
        concat!(
            "select ",
            $columns,
            " from fact where ",
            $whose,
            "
      and quarantined_at is null
      and (cast(?2 as text) is null or kind = ?2)
      and (cast(?3 as text) is null or id in (
        select m.item from mention m join entity_alias a on a.entity = m.entity
        where m.kind = 1 and a.alias = ?3 and a.user_id in (?1, 0)))
      and (cast(?4 as bigint) is null or recorded_at >= ?4)
      and recorded_at <= ?6
      and (?10 = 0 or (?10 = 1 and pinned <> 0) or (?10 = 2 and retired_at is not null))",
            $held,
            " order by ",
            $order,
            " limit ?8"
        )
    };
}

/// A list of facts. One's own and everybody's are two ranges of the index, each read in its order until
/// there are enough; together they would be sorted, all of them: 170 ms of 100,000 facts.
macro_rules! list_facts {
    ($columns:literal, $held:literal, $order:literal) => {
        concat!(
            fact_where!("id in (select id from (select own.* from ("),
            fitting!($columns, "user_id = ?1", $held, $order),
            ") own union all select shared.* from (",
            fitting!($columns, "user_id = 0 and ?1 <> 0", $held, $order),
            ") shared) either_one order by ",
            $order,
            " limit ?7 offset ?9) order by ",
            $order
        )
    };
}

/// The same in each order.
macro_rules! ordered_facts {
    ($held:literal) => {
        [
            list_facts!("id, recorded_at", $held, "recorded_at desc, id desc"),
            list_facts!("id, recorded_at", $held, "recorded_at, id"),
            list_facts!("id, recorded_at, uses", $held, "uses desc, recorded_at desc, id desc"),
        ]
    };
}

/// The facts about a subject, newest first.
macro_rules! about {
    ($subject:literal, $predicate:literal) => {
        concat!(
            fact_where!("user_id in (?1, 0)"),
            "
      and subject is not null and ",
            $subject,
            "
      and (cast(?3 as text) is null or ",
            $predicate,
            ")
      and retired_at is null and quarantined_at is null
    order by recorded_at desc, id desc"
        )
    };
}

const BY_ID: &str = select_fact!(" and id = ?2");
const BY_IDS: Many = Many { each: BY_ID, all: select_fact!(" and id = any (?2)") };
const ALL: [&str; 3] = ordered_facts!(" and cast(?5 as bigint) is not null");
const HELD_NOW: [&str; 3] = ordered_facts!(
    "
      and retired_at is null and (valid_to is null or valid_to > ?5)"
);
const HELD_THEN: [&str; 3] = ordered_facts!(
    "
      and (retired_at is null or retired_at > ?5)
      and (valid_from is null or valid_from <= ?5) and (valid_to is null or valid_to > ?5)"
);
const HELD: &str = "
    select user_id, count(*) from fact where retired_at is null and quarantined_at is null
    group by user_id";
// Each database compares without regard to case in the way that its index serves.
const ABOUT: Both = Both {
    file: about!("subject = ?2 collate nocase", "predicate = ?3 collate nocase"),
    server: about!("lower(subject) = ?2", "lower(predicate) = ?3"),
};
const BETWEEN: &str = "
    select id from fact where uid between ?2 and ?3 and user_id in (?1, 0) order by id limit 6";
const SOURCES: &str = "
    select s.episode, s.message, s.quote, s.extractor
    from fact f join source s on s.kind = 1 and s.item = f.id
    where f.user_id in (?1, 0) and f.id = ?2 order by s.id";
const DRAWN_FROM: &str = "
    select s.episode, s.message, s.quote, s.extractor, f.id
    from source s join fact f on f.id = s.item
    where s.episode = ?2 and s.kind = 1 and f.user_id in (?1, 0)
    order by f.id, s.id";
const REVISIONS: &str = "
    select r.number, r.at, r.actor, r.body
    from fact f join revision r on r.kind = 1 and r.item = f.id
    where f.user_id in (?1, 0) and f.id = ?2 order by r.number";
