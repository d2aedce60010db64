//! Counting, vacuuming, checking, and noting what was handed out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use rusqlite::params;

use super::{Memory, Outcome, vector_model};
use crate::memory::backend::{self, Connection, OptionalExtension, Put};
use crate::memory::{Admin, Counts, Growth, ItemKind, MemoryFinding, NewReceipt, Scope, Vacuumed};
use crate::sqlite::Access;
use crate::{Error, Result};

impl Memory {
    /// How much is in the memory, for all users.
    pub fn counts(&self, _admin: Admin) -> Result<Counts> {
        count(self.asking(Admin)).map_err(|source| self.failed(source))
    }

    /// What came on each day since a time, days being 24 hours; days on which nothing came are left out.
    pub fn growth(&self, scope: Scope, since: Timestamp) -> Result<Vec<Growth>> {
        grown(self.asking(scope), scope, since).map_err(|source| self.failed(source))
    }

    /// Makes the file as small as it can be, and notes the time.
    pub fn vacuum(&mut self, _admin: Admin, now: Timestamp) -> Result<Vacuumed> {
        if self.access == Access::Read {
            return Err(Error::OpenedForReading { path: self.path.clone() });
        }
        let vacuum = || -> backend::Result<Vacuumed> {
            let connection = self.asking(Admin);
            let before = connection.size()?;
            connection.vacuum(now)?;
            Ok(Vacuumed { before, after: connection.size()? })
        };
        vacuum().map_err(|source| self.failed(source))
    }

    /// Looks the memory over and names what is wrong with it.
    pub fn check_memory(&self, _admin: Admin) -> Result<Vec<MemoryFinding>> {
        let look = || -> backend::Result<_> {
            let (mut problems, repairable) = self.asking(Admin).problems(self.access)?;
            problems.extend(summaries(self.asking(Admin))?);
            let lasting = problems.into_iter().map(|problem| (problem, false));
            let findings = lasting.chain(repairable.into_iter().map(|problem| (problem, true)));
            Ok(findings
                .map(|(problem, repaired_by_rebuilding)| MemoryFinding {
                    problem,
                    repaired_by_rebuilding,
                })
                .collect())
        };
        look().map_err(|source| self.failed(source))
    }

    /// Makes the segments anew from the vectors; returns how many segments.
    pub fn rebuild_segments(&mut self, _admin: Admin) -> Result<u64> {
        self.write(Admin, |transaction| {
            let models: Vec<i64> = transaction
                .prepare("select id from embed_model")?
                .query_map([], |row| row.get(0))?
                .collect::<backend::Result<_>>()?;
            for model in &models {
                transaction.index().make_codes(*model)?;
            }
            Ok(models.len() as u64)
        })
    }

    /// Notes what was handed to models: a receipt for each, and one more use of each item.
    pub fn hand_out_all(&mut self, receipts: &[(Scope, NewReceipt<'_>, Timestamp)]) -> Result<()> {
        self.write(Admin, |transaction| {
            for (scope, receipt, at) in receipts {
                transaction.asks((*scope).into());
                note_receipt(transaction, *scope, receipt, *at)?;
                count_uses(transaction, *scope, receipt.items, *at)?;
            }
            Ok(())
        })
    }

    /// The same for one.
    pub fn hand_out(
        &mut self,
        scope: Scope,
        receipt: &NewReceipt<'_>,
        now: Timestamp,
    ) -> Result<()> {
        self.hand_out_all(&[(scope, receipt.clone(), now)])
    }
}

fn count(connection: &Connection) -> backend::Result<Counts> {
    let number = |sql: &str| -> backend::Result<u64> {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    };
    let (episodes, compressed, suspect): (i64, i64, i64) =
        connection.query_row(EPISODES, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let vectors = match vector_model::active(connection)? {
        Some(model) => connection.index().vectors_by_kind(&model)?,
        None => HashMap::new(),
    };
    let of = |kinds: &[ItemKind]| kinds.iter().filter_map(|kind| vectors.get(kind)).sum();
    Ok(Counts {
        raw_episodes: (episodes - compressed).unsigned_abs(),
        compressed_episodes: compressed.unsigned_abs(),
        messages: number(
            "select cast(coalesce(sum(messages - dropped), 0) as bigint) from session",
        )?,
        facts: number("select count(*) from fact where retired_at is null")?,
        retired_facts: number("select count(*) from fact where retired_at is not null")?,
        reflections: number(REFLECTIONS)?,
        procedures: number("select count(*) from procedure where retired_at is null")?,
        events: number("select count(*) from event where retired_at is null")?,
        entities: number("select count(*) from entity")?,
        users: number("select count(*) from \"user\" where id <> 0")?,
        episode_vectors: of(&[ItemKind::Message, ItemKind::Summary]),
        fact_vectors: of(&[ItemKind::Fact]),
        other_vectors: of(&[ItemKind::Procedure, ItemKind::Event]),
        quarantined: suspect.unsigned_abs() + number(SUSPECT)?,
        open_jobs: number("select count(*) from job where state in ('waiting', 'leased')")?,
        size: connection.size()?,
        last_vacuum: noted_time(connection, "last_vacuum")?,
        last_compression: noted_time(connection, "last_compression")?,
    })
}

fn grown(connection: &Connection, scope: Scope, since: Timestamp) -> backend::Result<Vec<Growth>> {
    let mut days: BTreeMap<u32, Growth> = BTreeMap::new();
    for (is_fact, sql) in [(true, FACTS_BY_DAY), (false, EPISODES_BY_DAY)] {
        let mut statement = connection.prepare_cached(sql)?;
        let mut found = statement.query([scope.user().get(), since.as_millisecond()])?;
        while let Some(row) = found.next()? {
            let (day, count) = (row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs());
            let grown = days.entry(day).or_insert(Growth { day, ..Growth::default() });
            *(if is_fact { &mut grown.facts } else { &mut grown.episodes }) += count;
        }
    }
    Ok(days.into_values().collect())
}

fn noted_time(connection: &Connection, key: &str) -> backend::Result<Option<Timestamp>> {
    let noted: Option<String> = connection
        .query_row("select value from meta where key = ?1", [key], |row| row.get(0))
        .optional()?;
    Ok(noted.and_then(|at| at.parse().ok()).and_then(|at| Timestamp::from_millisecond(at).ok()))
}

/// What must hold for texts that are told by a summary, and for those that are not.
fn summaries(connection: &Connection) -> backend::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (sql, what) in [
        (TOLD_BY_NO_SUMMARY, "episodes refer to a summary that is not one"),
        (COVERED_BUT_THERE, "episodes are marked as removed but exist"),
        (CHUNKS_WITHOUT_TEXT, "chunks belong to a message or summary that does not exist"),
        (RAW_WITHOUT_MESSAGES, "raw episodes have no messages"),
    ] {
        let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{count} {what}"));
        }
    }
    Ok(problems)
}

fn note_receipt(
    transaction: &Connection,
    scope: Scope,
    receipt: &NewReceipt<'_>,
    now: Timestamp,
) -> Outcome<()> {
    let items: Vec<serde_json::Value> = receipt
        .items
        .iter()
        .map(|(kind, item)| serde_json::json!({ "kind": kind, "item": item }))
        .collect();
    transaction.prepare_cached(ADD_RECEIPT)?.execute(params![
        scope.user().get(),
        now.as_millisecond(),
        receipt.session_id,
        receipt.turn,
        receipt.tokens,
        serde_json::Value::from(items).to_string()
    ])?;
    Ok(())
}

/// One more use of each fact, procedure and episode; messages of one episode count once.
fn count_uses(
    transaction: &Connection,
    scope: Scope,
    items: &[(ItemKind, i64)],
    now: Timestamp,
) -> Outcome<()> {
    let mut used: BTreeSet<(&str, i64)> = BTreeSet::new();
    for (kind, item) in items {
        match kind {
            ItemKind::Fact => drop(used.insert((USE_FACT, *item))),
            ItemKind::Procedure => drop(used.insert((USE_PROCEDURE, *item))),
            ItemKind::Summary => drop(used.insert((USE_EPISODE, *item))),
            ItemKind::Message => {
                let episode = transaction
                    .prepare_cached("select episode from message where id = ?1")?
                    .query_row([item], |row| row.get(0))
                    .optional()?;
                used.extend(episode.map(|episode| (USE_EPISODE, episode)));
            }
            ItemKind::Event => {}
        }
    }
    for (sql, item) in used {
        transaction.prepare_cached(sql)?.execute(params![
            item,
            scope.user().get(),
            now.as_millisecond()
        ])?;
    }
    Ok(())
}

const FACTS_BY_DAY: &str = "
    select (recorded_at - ?2) / 86400000, count(*) from fact
    where user_id in (?1, 0) and recorded_at >= ?2 group by 1";
const EPISODES_BY_DAY: &str = "
    select (started_at - ?2) / 86400000, count(*) from episode
    where user_id in (?1, 0) and started_at >= ?2 group by 1";
const EPISODES: &str = "
    select count(*), count(*) filter (where state = 'compressed'), count(quarantined_at) from episode";
const REFLECTIONS: &str = "
    select count(*) from procedure where kind = 'reflection' and retired_at is null";
const SUSPECT: &str = "
    select (select count(quarantined_at) from fact) + (select count(quarantined_at) from procedure)
      + (select count(quarantined_at) from event)";
pub(super) const NOTE_TIME: Put = Put {
    change: "update meta set value = ?2 where key = ?1",
    add: "insert into meta (key, value) values (?1, ?2)",
};
const TOLD_BY_NO_SUMMARY: &str = "
    select count(*) from (
      select compressed_into as summary from episode where compressed_into is not null
      union all select summary from covered) told
    where not exists (
      select 1 from episode e where e.id = summary and e.state = 'compressed' and e.body is not null)";
const COVERED_BUT_THERE: &str = "
    select count(*) from covered c join episode e on e.id between c.first and c.last";
// The kind of a chunk is in bits 40 to 42 of its number, that of a message is 0, of a summary 4.
const CHUNKS_WITHOUT_TEXT: &str = "
    select count(*) from chunk c
    where case (c.id >> 40) & 7
      when 0 then not exists (select 1 from message m where m.id = c.id >> 8)
      when 4 then not exists (
        select 1 from episode e where e.id = (c.id >> 8) & 4294967295 and e.state = 'compressed')
      else false end";
const RAW_WITHOUT_MESSAGES: &str = "
    select count(*) from episode e
    where e.state = 'raw' and not exists (
      select 1 from message m
      where m.id between (e.session << 12) + e.first_place and (e.session << 12) + e.last_place
        and m.episode = e.id)";
const ADD_RECEIPT: &str = "
    insert into receipt (user_id, at, session_id, turn, tokens, items)
    values (?1, ?2, ?3, ?4, ?5, ?6)";
const USE_FACT: &str = "
    update fact set uses = uses + 1, last_used_at = ?3 where id = ?1 and user_id in (?2, 0)";
const USE_PROCEDURE: &str = "
    update procedure set uses = uses + 1, last_used_at = ?3 where id = ?1 and user_id in (?2, 0)";
const USE_EPISODE: &str = "
    update episode set uses = uses + 1, last_used_at = ?3 where id = ?1 and user_id in (?2, 0)";
