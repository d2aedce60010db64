//! The life of what was recorded: taken in, drawn from, looked back on, told by a summary.

mod adopt;
mod drop;
mod sessions;
mod summaries;
mod tasks;

pub(super) use self::tasks::items_of;

use jiff::Timestamp;
use rusqlite::params;

use super::episodes::{self, episode_of, episode_where};
use super::{Memory, graves, people};
use crate::Result;
use crate::memory::backend::{self, OptionalExtension};
use crate::memory::{
    Admin, After, Change, Dropped, Episode, Event, EventKind, MessageKey, NewSummary, NewTask,
    Offered, Receipt, Scope, Session, SessionKey, Step, TakenIn, Task,
};

impl Memory {
    /// How far the sessions of one state.db were taken in.
    pub fn taken_in(&self, _admin: Admin, database: &str) -> Result<Vec<TakenIn>> {
        sessions::taken_in(self.asking(Admin), database).map_err(|source| self.failed(source))
    }

    /// Notes how far a session was taken in.
    pub fn note_taken_in(&mut self, _admin: Admin, taken: &TakenIn, now: Timestamp) -> Result<()> {
        self.write(Admin, |transaction| sessions::note_taken_in(transaction, taken, now))
    }

    /// What was noted under a key, for what needs no table of its own.
    pub fn read_note(&self, _admin: Admin, key: &str) -> Result<Option<String>> {
        sessions::read_note(self.asking(Admin), key).map_err(|source| self.failed(source))
    }

    /// Notes something under a key, in the place of what was noted there.
    pub fn keep_note(&mut self, _admin: Admin, key: &str, value: &str) -> Result<()> {
        self.write(Admin, |transaction| sessions::keep_note(transaction, key, value))
    }

    /// Whether the last messages of a session are these, role and text, and were all said since a time.
    pub fn session_ends_with(
        &self,
        scope: Scope,
        session_id: &str,
        said: &[(&str, &str)],
        since: Timestamp,
    ) -> Result<bool> {
        sessions::ends_with(self.asking(scope), (scope, session_id), said, since)
            .map_err(|source| self.failed(source))
    }

    /// Says that a session is over; false if there is none.
    pub fn end_session(&mut self, scope: Scope, session_id: &str, at: Timestamp) -> Result<bool> {
        self.write(scope, |transaction| sessions::end(transaction, scope, session_id, at))
    }

    /// Takes the episodes of a session's messages out of every answer, for messages that were taken back:
    /// (source, external ids).
    #[expect(clippy::too_many_arguments, reason = "who, where it came from, which, by whom")]
    pub fn retire_messages(
        &mut self,
        scope: Scope,
        session_id: &str,
        source: &str,
        external_ids: &[String],
        change: Change<'_>,
    ) -> Result<u64> {
        self.write(scope, |transaction| {
            let mut retired = 0;
            let numbers = people::numbers_of(transaction, scope.user())?;
            for external_id in external_ids {
                for user in &numbers {
                    let key = graves::message_key(*user, source, session_id, external_id);
                    let episode = transaction
                        .prepare_cached(BY_ORIGIN)?
                        .query_row([&key[..]], episode_of)
                        .optional()?;
                    if let Some(episode) = episode
                        && episodes::retire(transaction, &episode, change)?
                    {
                        retired += 1;
                    }
                }
            }
            Ok(retired)
        })
    }

    /// Raw episodes nothing was drawn from yet, of sessions that are over or were idle since `idle_since`.
    pub fn waiting_episodes(
        &self,
        _admin: Admin,
        idle_since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Episode>> {
        self.asking(Admin)
            .prepare_cached(WAITING)
            .and_then(|mut waiting| {
                let asked = params![idle_since.as_millisecond(), limit];
                waiting.query_map(asked, episode_of)?.collect()
            })
            .map_err(|source| self.failed(source))
    }

    /// Notes that everything was drawn from these episodes.
    pub fn mark_extracted(
        &mut self,
        _admin: Admin,
        episodes: &[i64],
        now: Timestamp,
    ) -> Result<()> {
        self.write(Admin, |transaction| {
            for id in episodes {
                transaction.prepare_cached(MARK)?.execute(params![id, now.as_millisecond()])?;
            }
            Ok(())
        })
    }

    /// Forgets that something was drawn from the episodes of a scope, so that it is drawn again.
    pub fn extract_again(&mut self, scope: Scope, session_id: Option<&str>) -> Result<u64> {
        self.write(scope, |transaction| {
            let asked = params![scope.user().get(), session_id];
            let unmarked = transaction.prepare_cached(UNMARK)?.execute(asked)?;
            Ok(u64::try_from(unmarked).unwrap_or(0))
        })
    }

    /// Sessions not looked back on yet that are over or were idle since `idle_since`, oldest first.
    pub fn sessions_to_reflect(
        &self,
        _admin: Admin,
        idle_since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Session>> {
        sessions::to_reflect(self.asking(Admin), idle_since, limit)
            .map_err(|source| self.failed(source))
    }

    /// Notes that a session was looked back on.
    pub fn mark_reflected(
        &mut self,
        _admin: Admin,
        session: SessionKey,
        now: Timestamp,
    ) -> Result<()> {
        self.write(Admin, |transaction| sessions::mark_reflected(transaction, session, now))
    }

    /// The sessions of a scope with this id, one for each part.
    pub fn sessions_named(&self, scope: Scope, session_id: &str) -> Result<Vec<Session>> {
        sessions::named(self.asking(scope), scope, session_id).map_err(|source| self.failed(source))
    }

    /// The episodes of a session in their order.
    pub fn episodes_of(&self, scope: Scope, session: SessionKey) -> Result<Vec<Episode>> {
        self.asking(scope)
            .prepare_cached(OF_SESSION)
            .and_then(|mut found| {
                found.query_map([session.get(), scope.user().get()], episode_of)?.collect()
            })
            .map_err(|source| self.failed(source))
    }

    /// The tool calls in messages of an episode, in their order.
    pub fn steps_of(&self, scope: Scope, episode: &Episode) -> Result<Vec<Step>> {
        tasks::steps(self.asking(scope), scope, episode).map_err(|source| self.failed(source))
    }

    /// Raw episodes that ended before `before` and were drawn from, in the order of users, sessions and
    /// numbers, beginning after `after`.
    pub fn old_episodes(
        &self,
        _admin: Admin,
        before: Timestamp,
        after: After,
        limit: usize,
    ) -> Result<Vec<Episode>> {
        self.asking(Admin)
            .prepare_cached(OLD)
            .and_then(|mut old| {
                let asked = params![before.as_millisecond(), after.session, after.episode, limit];
                old.query_map(asked, episode_of)?.collect()
            })
            .map_err(|source| self.failed(source))
    }

    /// Keeps a summary beside the raw episodes it tells of, in one transaction; returns its number.
    pub fn keep_summary(
        &mut self,
        scope: Scope,
        summary: &NewSummary<'_>,
        change: Change<'_>,
    ) -> Result<i64> {
        self.write(scope, |transaction| summaries::keep(transaction, scope, summary, change))
    }

    /// Summaries whose raw episodes still have their messages: work that was cut short.
    pub fn unfinished_summaries(&self, _admin: Admin) -> Result<Vec<Episode>> {
        self.asking(Admin)
            .prepare_cached(UNFINISHED)
            .and_then(|mut found| found.query_map([], episode_of)?.collect())
            .map_err(|source| self.failed(source))
    }

    /// Drops the messages that a summary tells of, in one transaction, if the summary reads `body`.
    pub fn drop_raw(
        &mut self,
        scope: Scope,
        summary: i64,
        body: &str,
        change: Change<'_>,
    ) -> Result<Dropped> {
        self.removing(|memory| {
            memory
                .write(scope, |transaction| drop::raw(transaction, scope, (summary, body), change))
        })
    }

    /// The summaries that tell of these episodes, where their messages are gone.
    pub fn covering(&self, scope: Scope, episodes: &[i64]) -> Result<Vec<(i64, i64)>> {
        summaries::covering(self.asking(scope), scope, episodes)
            .map_err(|source| self.failed(source))
    }

    /// The ids of the sessions that a summary tells of.
    pub fn sessions_of_summary(&self, scope: Scope, summary: i64) -> Result<Vec<String>> {
        summaries::sessions(self.asking(scope), scope, summary)
            .map_err(|source| self.failed(source))
    }

    /// Keeps a task, or how it went if it is known; returns its number.
    pub fn keep_task(
        &mut self,
        scope: Scope,
        task: &NewTask<'_>,
        change: Change<'_>,
    ) -> Result<i64> {
        self.write(scope, |transaction| tasks::keep(transaction, scope, task, change))
    }

    /// The tasks of a type that a scope may read, newest first.
    pub fn tasks(&self, scope: Scope, task_type: Option<&str>, limit: usize) -> Result<Vec<Task>> {
        tasks::list(self.asking(scope), scope, task_type, limit)
            .map_err(|source| self.failed(source))
    }

    /// Notes that a skill was drafted from tasks.
    pub fn note_skill_of_tasks(
        &mut self,
        scope: Scope,
        tasks: &[i64],
        procedure: i64,
    ) -> Result<()> {
        self.write(scope, |transaction| tasks::note_skill(transaction, scope, tasks, procedure))
    }

    /// What was handed out last, newest first; only the latest few thousand are looked at.
    pub fn latest_receipts(&self, scope: Scope, limit: usize) -> Result<Vec<Receipt>> {
        tasks::latest_receipts(self.asking(scope), scope, limit)
            .map_err(|source| self.failed(source))
    }

    /// What was handed out in a session, oldest first.
    pub fn receipts_of(&self, scope: Scope, session_id: &str) -> Result<Vec<Receipt>> {
        tasks::receipts(self.asking(scope), scope, session_id).map_err(|source| self.failed(source))
    }

    /// Counts a win or a loss for procedures.
    pub fn count_outcome(&mut self, scope: Scope, procedures: &[i64], won: bool) -> Result<()> {
        self.write(scope, |transaction| tasks::count_outcome(transaction, scope, procedures, won))
    }

    /// Events of one kind that name a session, oldest first.
    pub fn events_of_session(
        &self,
        scope: Scope,
        session: SessionKey,
        kind: Option<EventKind>,
    ) -> Result<Vec<Event>> {
        let ids: Vec<i64> = self
            .asking(scope)
            .prepare_cached(EVENTS)
            .and_then(|mut found| {
                let asked = [session.get(), scope.user().get()];
                found.query_map(asked, |row| row.get(0))?.collect()
            })
            .map_err(|source| self.failed(source))?;
        let mut events = self.events(scope, &ids)?;
        events.retain(|event| kind.is_none_or(|kind| event.kind == kind));
        Ok(events)
    }

    /// Which messages of a session are recorded: by where they came from, or else by what they say and when. The
    /// latter are known by where they came from afterwards.
    pub fn adopt(
        &mut self,
        scope: Scope,
        source: &str,
        session_id: &str,
        offered: &[Offered<'_>],
    ) -> Result<Vec<bool>> {
        self.write(scope, |transaction| {
            adopt::adopt(transaction, scope.user(), (source, session_id), offered)
        })
    }

    /// The key of a recorded message, by where it came from: its id there, and its text if
    /// only one that says it is meant.
    pub fn message_by_origin(
        &self,
        scope: Scope,
        source: &str,
        session_id: &str,
        (external_id, text): (&str, Option<&str>),
    ) -> Result<Option<MessageKey>> {
        let asking = self.asking(scope);
        let text = text.map(|text| asking.text_hash(text));
        let read = || -> backend::Result<_> {
            for user in people::numbers_of(asking, scope.user())? {
                let key = graves::message_key(user, source, session_id, external_id);
                let found = adopt::recorded(asking, &key, text)?;
                if let Some(message) = found {
                    return Ok(Some(MessageKey::from_row(message)));
                }
            }
            Ok(None)
        };
        read().map_err(|source| self.failed(source))
    }
}

const BY_ORIGIN: &str = episode_where!(
    "e.id = (select m.episode from origin o join message m on m.id = o.item
             where o.key = ?1 and o.kind = 0)"
);
// A session that went on after its end was said is not over.
const WAITING: &str = episode_where!(
    "e.extracted_at is null and e.state = 'raw' and e.retired_at is null
      and e.quarantined_at is null
      and (s.ended_at >= s.last_at or s.last_at <= ?1)
    order by e.ended_at, e.id limit ?2"
);
const MARK: &str = "update episode set extracted_at = ?2 where id = ?1";
const UNMARK: &str = "
    update episode set extracted_at = null
    where user_id = ?1 and state = 'raw' and extracted_at is not null and retired_at is null
      and compressed_into is null
      and (cast(?2 as text) is null
        or session in (select id from session where session_id = ?2 and user_id = ?1))";
// Summaries come first: they tell of the oldest.
// The `+` keeps the episodes of the session in front: by the index of users every episode would be looked at.
const OF_SESSION: &str = episode_where!(
    "e.id in (
        select id from episode where session = ?1 and state = 'raw'
        union select summary from covered where session = ?1)
      and e.retired_at is null and e.quarantined_at is null and +e.user_id in (?2, 0)
    order by e.state, e.first_place, e.started_at, e.id"
);
// The numbers of sessions begin with their user's, so their order is that of users and sessions.
const OLD: &str = episode_where!(
    "e.session >= ?2 and (e.session > ?2 or e.id > ?3) and e.state = 'raw'
      and e.extracted_at is not null and e.retired_at is null and e.quarantined_at is null
      and e.compressed_into is null and e.ended_at < ?1 and s.last_at <= ?1
    order by e.session, e.id limit ?4"
);
const UNFINISHED: &str = episode_where!(
    "e.id in (select compressed_into from episode where compressed_into is not null)
      and e.retired_at is null order by e.id"
);
const EVENTS: &str = "
    select id from event
    where session = ?1 and user_id in (?2, 0) and retired_at is null and quarantined_at is null
    order by at, id";
