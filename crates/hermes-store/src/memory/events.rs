//! Events: kept once, read, retired, brought back.

use jiff::Timestamp;
use rusqlite::params;

use super::facts::{Belongings, keep_belongings};
use super::retiring::Noun;
use super::{Memory, audit, new_uid, origins, rows};
use crate::Result;
use crate::memory::backend::{self, Row};
use crate::memory::{
    Added, Change, Event, EventKind, ItemKind, NewEvent, Scope, SessionKey, Source, Trust,
    UserNumber,
};

const KINDS: [(&str, EventKind); 4] = [
    ("task", EventKind::Task),
    ("decision", EventKind::Decision),
    ("result", EventKind::Result),
    ("failure", EventKind::Failure),
];

impl Memory {
    /// Keeps an event, unless one with the same origin was kept, or a person took it back.
    pub fn add_event(
        &mut self,
        scope: Scope,
        event: &NewEvent<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        let owner = if event.shared { UserNumber::SHARED } else { scope.user() };
        let whose = (ItemKind::Event, owner);
        self.write(scope, |transaction| {
            if let Some(known) = origins::known(transaction, whose, event.origin)? {
                return Ok(Added::Known(known));
            }
            let id = transaction.insert(
                ADD,
                params![
                    new_uid(change.at).as_bytes(),
                    owner.get(),
                    event.at.as_millisecond(),
                    rows::word(&event.kind, &KINDS),
                    event.text,
                    event.why,
                    event.trust.number(),
                    change.at.as_millisecond(),
                    event.session.map(SessionKey::get)
                ],
            )?;
            let belongings = Belongings {
                owner,
                item: (ItemKind::Event, id),
                entities: event.entities,
                sources: event.sources,
                chunks: &event.chunks,
                at: event.at,
            };
            keep_belongings(transaction, &belongings, change)?;
            origins::note(transaction, whose, id, event.origin)?;
            let item = audit::item_name(ItemKind::Event, id);
            let after = audit::hash_of(event.text);
            audit::append(transaction, change, "event.add", &item, None, Some(&after))?;
            Ok(Added::New(id))
        })
    }

    /// The events between two times (both may be open), newest first.
    pub fn list_events(
        &self,
        scope: Scope,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let since = since.map_or(i64::MIN, Timestamp::as_millisecond);
        let until = until.map_or(i64::MAX, Timestamp::as_millisecond);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || -> backend::Result<_> {
            self.asking(scope)
                .prepare_cached(LIST)?
                .query_map(params![scope.user().get(), since, until, limit], event_of)?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The events with these numbers that the scope may read, in the order asked for.
    pub fn events(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Event>> {
        self.items(&NOUN, scope, ids, event_of)
    }

    /// Takes an event out of every answer; it can be brought back.
    pub fn retire_event(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.retire_item(&NOUN, scope, id, change)
    }

    /// Brings a retired event back.
    pub fn restore_event(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.restore_item(&NOUN, scope, id, change)
    }

    /// Where an event came from.
    pub fn sources_of_event(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        self.sources_of_item(&NOUN, scope, id)
    }
}

fn event_of(row: &Row<'_>) -> backend::Result<Event> {
    Ok(Event {
        id: row.get(0)?,
        uid: rows::uid(row, 1)?,
        user: UserNumber::new(row.get(2)?),
        at: rows::time(row, 3)?,
        kind: rows::choice(row, 4, &KINDS)?,
        text: row.get(5)?,
        why: row.get(6)?,
        trust: Trust::from_number(row.get(7)?),
        quarantined: row.get(8)?,
        retired_at: rows::optional_time(row, 9)?,
    })
}

const NOUN: Noun = Noun {
    kind: ItemKind::Event,
    by_id: BY_ID,
    retire: RETIRE,
    restore: RESTORE,
    sources: SOURCES,
    retired: "event.retire",
    restored: "event.restore",
};
const ADD: &str = "
    insert into event (uid, user_id, at, kind, text, why, trust, recorded_at, session)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) returning id";
const LIST: &str = "
    select id, uid, user_id, at, kind, text, why, trust, quarantined_at is not null, retired_at
    from event
    where user_id in (?1, 0) and at >= ?2 and at < ?3
      and retired_at is null and quarantined_at is null
    order by at desc, id desc limit ?4";
const BY_ID: &str = "
    select id, uid, user_id, at, kind, text, why, trust, quarantined_at is not null, retired_at
    from event where user_id in (?1, 0) and id = ?2";
const RETIRE: &str = "
    update event set retired_at = ?3
    where user_id in (?1, 0) and id = ?2 and retired_at is null";
const RESTORE: &str = "
    update event set retired_at = null
    where user_id in (?1, 0) and id = ?2 and retired_at is not null";
const SOURCES: &str = "
    select s.episode, s.message, s.quote, s.extractor
    from event i join source s on s.kind = 3 and s.item = i.id
    where i.user_id in (?1, 0) and i.id = ?2 order by s.id";
