//! Facts drawn from conversations: drawing the same words again changes nothing.

use jiff::Timestamp;
use rusqlite::params;

use super::super::{Outcome, audit, graves, origins, rows};
use super::change::{self, Kept};
use super::keep_sources;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{
    Change, Drawn, DrawnFact, ItemKind, NewFact, OriginId, Scope, Standing, UserNumber,
};

/// Keeps a drawn fact, unless it is known, was drawn from the same episode before, or is buried.
pub(super) fn draw(
    transaction: &Connection,
    scope: Scope,
    drawn: &DrawnFact<'_>,
    change: Change<'_>,
) -> Outcome<Drawn> {
    let fact = &drawn.fact;
    let owner = if fact.shared { UserNumber::SHARED } else { scope.user() };
    let before = drawn_before(transaction, owner, fact)?;
    let hash = graves::statement_key(fact.statement);
    if let Some(known) = change::said_by(transaction, owner, &hash)? {
        if before.is_some() || !has_ended(transaction, known, drawn, change)? {
            confirm(transaction, before.unwrap_or(known), fact, change)?;
            return Ok(Drawn::Known(known));
        }
    } else if is_buried(transaction, owner, drawn)? {
        return Ok(Drawn::Buried);
    } else if let Some(before) = before {
        return Ok(Drawn::Known(before));
    }
    keep(transaction, scope, drawn, change)
}

/// Keeps a fact of another memory once, whatever became of it since.
pub(super) fn take_in(
    transaction: &Connection,
    scope: Scope,
    (origin, drawn): (OriginId<'_>, &DrawnFact<'_>),
    change: Change<'_>,
) -> Outcome<Drawn> {
    let owner = if drawn.fact.shared { UserNumber::SHARED } else { scope.user() };
    let item = (ItemKind::Fact, owner);
    if let Some(known) = origins::known(transaction, item, Some(origin))? {
        return Ok(Drawn::Known(known));
    }
    let taken = draw(transaction, scope, drawn, change)?;
    if let Drawn::New(id) | Drawn::Known(id) = taken {
        origins::note(transaction, item, id, Some(origin))?;
    }
    Ok(taken)
}

/// A fact, held or not, that says or said the same and came from one of the same episodes.
fn drawn_before(
    transaction: &Connection,
    owner: UserNumber,
    fact: &NewFact<'_>,
) -> Outcome<Option<i64>> {
    let hash = graves::statement_key(fact.statement);
    for episode in fact.sources.iter().filter_map(|source| source.episode) {
        let known = transaction
            .prepare_cached(DRAWN_BEFORE)?
            .query_row(params![owner.get(), episode, hash], |row| row.get(0))
            .optional()?;
        if known.is_some() {
            return Ok(known);
        }
        // A fact that was edited since said the same once.
        let earlier: Vec<(i64, String)> = transaction
            .prepare_cached(EARLIER_TEXTS)?
            .query_map([owner.get(), episode], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<backend::Result<_>>()?;
        let said_once = earlier.iter().find(|(_, text)| graves::statement_key(text) == hash);
        if let Some((id, _)) = said_once {
            return Ok(Some(*id));
        }
    }
    Ok(None)
}

/// What held once and is said again after its end is a new fact; the old one keeps its time.
fn has_ended(
    transaction: &Connection,
    known: i64,
    drawn: &DrawnFact<'_>,
    change: Change<'_>,
) -> Outcome<bool> {
    let (at, said_at) = (change.at.as_millisecond(), drawn.said_at.as_millisecond());
    if transaction.prepare_cached(EXPIRE)?.execute([known, at, said_at])? == 0 {
        return Ok(false);
    }
    let name = audit::item_name(ItemKind::Fact, known);
    audit::append(transaction, change, "fact.expire", &name, None, None)?;
    Ok(true)
}

/// Adds the sources that a known fact lacks.
fn confirm(
    transaction: &Connection,
    known: i64,
    fact: &NewFact<'_>,
    change: Change<'_>,
) -> Outcome<()> {
    let mut is_new = false;
    for source in fact.sources {
        let place = params![known, source.episode, source.message];
        if !transaction.prepare_cached(HAS_SOURCE)?.exists(place)? {
            keep_sources(transaction, (ItemKind::Fact, known), &[*source])?;
            is_new = true;
        }
    }
    if is_new {
        let name = audit::item_name(ItemKind::Fact, known);
        audit::append(transaction, change, "fact.confirm", &name, None, None)?;
    }
    Ok(())
}

/// Whether a person took it back; newer explicit words lift what they buried themselves.
fn is_buried(transaction: &Connection, owner: UserNumber, drawn: &DrawnFact<'_>) -> Outcome<bool> {
    let keys = change::grave_keys(&drawn.fact);
    let mut graves = Vec::new();
    for key in keys {
        if let Some(at) = graves::buried_at(transaction, owner, key)? {
            graves.push((key, at));
        }
    }
    let lifts = |at: i64| drawn.is_explicit && graves::is_newer(drawn.said_at, at);
    if graves.iter().any(|(_, at)| !lifts(*at)) {
        return Ok(true);
    }
    for (key, _) in graves {
        graves::lift_one(transaction, owner, key)?;
    }
    Ok(false)
}

fn keep(
    transaction: &Connection,
    scope: Scope,
    drawn: &DrawnFact<'_>,
    change: Change<'_>,
) -> Outcome<Drawn> {
    let fact = &drawn.fact;
    let owner = if fact.shared { UserNumber::SHARED } else { scope.user() };
    match drawn.standing {
        Standing::New => {}
        Standing::Supersedes(id) => match change::look_up(transaction, scope, id)? {
            // What is pinned stays, and one user's words do not take away what is everybody's.
            Some(old) if old.is_held() && (old.is_pinned || old.user != owner) => {
                return contradict(transaction, owner, drawn, (id, change));
            }
            Some(old) if old.is_held() => {
                let new = change::succeed(transaction, owner, fact, change)?;
                change::end(transaction, &old, new, drawn.said_at.min(change.at), change)?;
                return Ok(Drawn::New(new));
            }
            _ => {}
        },
        Standing::SupersededBy(id) => match change::look_up(transaction, scope, id)? {
            Some(newer) if newer.is_held() || newer.superseded_by.is_some() => {
                return keep_as_past(transaction, owner, drawn, (&newer, change));
            }
            _ => {}
        },
        Standing::MayContradict(id) => match change::look_up(transaction, scope, id)? {
            Some(other) if other.is_held() => {
                return contradict(transaction, owner, drawn, (id, change));
            }
            _ => {}
        },
    }
    change::add_new(transaction, owner, fact, change).map(Drawn::New)
}

fn contradict(
    transaction: &Connection,
    owner: UserNumber,
    drawn: &DrawnFact<'_>,
    (other, change): (i64, Change<'_>),
) -> Outcome<Drawn> {
    let new = change::add_new(transaction, owner, &drawn.fact, change)?;
    let at = change.at.as_millisecond();
    transaction.prepare_cached(ADD_CONFLICT)?.execute([new, other, at])?;
    Ok(Drawn::New(new))
}

/// Keeps what was true before a fact we have; what is kept so already gets the new sources.
fn keep_as_past(
    transaction: &Connection,
    owner: UserNumber,
    drawn: &DrawnFact<'_>,
    (newer, change): (&Kept, Change<'_>),
) -> Outcome<Drawn> {
    let hash = graves::statement_key(drawn.fact.statement);
    let same = transaction
        .prepare_cached(SAME_PAST)?
        .query_row(params![owner.get(), hash, newer.id], |row| row.get(0))
        .optional()?;
    if let Some(same) = same {
        confirm(transaction, same, &drawn.fact, change)?;
        return Ok(Drawn::Known(same));
    }
    let began: Timestamp = transaction
        .prepare_cached(BEGAN)?
        .query_row([newer.id, ItemKind::Fact.number()], |row| rows::time(row, 0))?;
    let ended = drawn.fact.valid_from.map_or(began, |from| from.max(began));
    let new = change::add_new(transaction, owner, &drawn.fact, change)?;
    let past = change::kept(transaction, Scope::of(owner), new)?;
    change::end(transaction, &past, newer.id, ended, change)?;
    Ok(Drawn::New(new))
}

const DRAWN_BEFORE: &str = "
    select f.id from source s join fact f on f.id = s.item
    where s.episode = ?2 and s.kind = 1 and f.user_id = ?1 and f.norm_hash = ?3
    order by f.retired_at is not null, f.id desc limit 1";
const EARLIER_TEXTS: &str = "
    select f.id, r.body from source s join fact f on f.id = s.item
      join revision r on r.kind = 1 and r.item = f.id
    where s.episode = ?2 and s.kind = 1 and f.user_id = ?1 order by f.id desc, r.number desc";
const EXPIRE: &str = "
    update fact set retired_at = ?2 where id = ?1 and valid_to is not null and valid_to <= ?3";
const HAS_SOURCE: &str = "
    select 1 from source where kind = 1 and item = ?1 and episode is not distinct from ?2
      and message is not distinct from ?3";
const ADD_CONFLICT: &str =
    "insert into conflict (fact, other, at) values (?1, ?2, ?3) on conflict do nothing";
const SAME_PAST: &str = "
    select id from fact where user_id = ?1 and norm_hash = ?2 and superseded_by = ?3 limit 1";
// When a fact began to be true: as it says, else when it was said, else when we learned it.
const BEGAN: &str = "
    select coalesce(valid_from,
      (select min(m.at) from source s join message m on m.id = s.message
       where s.kind = ?2 and s.item = fact.id),
      (select min(e.started_at) from source s join episode e on e.id = s.episode
       where s.kind = ?2 and s.item = fact.id),
      recorded_at)
    from fact where id = ?1";
