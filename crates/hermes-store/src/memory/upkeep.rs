//! Counting, vacuuming, checking, and noting what was handed out.

use crate::memory::backend;
use crate::memory::backend::Put;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::memory::backend::{Connection, OptionalExtension, Transaction};
use ::postgres::types::{ToSql, Type};
use jiff::Timestamp;
use rusqlite::params;

use super::{Memory, Outcome, segments};
use crate::error::words_of;
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
        let before = size(self.asking(Admin)).map_err(|source| self.failed(source))?;
        if self.is_on_server() {
            self.write(Admin, |transaction| clean_up(transaction, now))?;
            let after = size(self.asking(Admin)).map_err(|source| self.failed(source))?;
            return Ok(Vacuumed { before, after });
        }
        self.must_be_in_place()?;
        shrink(self.asking(Admin), now).map_err(|source| self.failed(source))
    }

    /// Looks the memory over and names what is wrong with it.
    pub fn check_memory(&self, _admin: Admin) -> Result<Vec<MemoryFinding>> {
        let look = || -> backend::Result<_> {
            let mut problems = pages(self.asking(Admin))?;
            problems.extend(references(self.asking(Admin))?);
            problems.extend(keyword_index(self.asking(Admin), self.access)?);
            problems.extend(summaries(self.asking(Admin))?);
            let repairable = segment_problems(self.asking(Admin))?;
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
        self.write(Admin, segments::rebuild)
    }

    /// Notes what was handed to models: a receipt for each, and one more use of each item.
    pub fn hand_out_all(&mut self, receipts: &[(Scope, NewReceipt<'_>, Timestamp)]) -> Result<()> {
        self.write(Admin, |transaction| {
            for (scope, receipt, at) in receipts {
                transaction.asks(*scope);
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
    let vectors = live_slots(connection)?;
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
        size: size(connection)?,
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

/// How many vectors of the active model there are of each kind. Read from the slots, 16 bytes for
/// each: at a million vectors that is 16 MB, where the vectors themselves are 260 MB.
fn live_slots(connection: &Connection) -> backend::Result<HashMap<ItemKind, u64>> {
    let mut live = HashMap::new();
    let Some(model) = segments::active(connection)? else { return Ok(live) };
    if connection.postgres().is_some() {
        let mut statement = connection.prepare_cached(VECTORS_BY_KIND)?;
        let mut found = statement.query([model.id])?;
        while let Some(row) = found.next()? {
            let Some(kind) = ItemKind::from_number(row.get(0)?) else { continue };
            live.insert(kind, row.get::<_, i64>(1)?.unsigned_abs());
        }
        return Ok(live);
    }
    let mut statement = connection.prepare_cached(SLOTS)?;
    let mut found = statement.query([model.id])?;
    while let Some(row) = found.next()? {
        let Some(kind) = ItemKind::from_number(row.get(0)?) else { continue };
        let used = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        let slots = row.get_ref(2)?.as_blob()?.chunks_exact(segments::SLOT).take(used);
        let count = slots.filter(|slot| segments::slot_key(slot) != segments::EMPTY).count();
        *live.entry(kind).or_insert(0) += count as u64;
    }
    Ok(live)
}

/// Drops what nobody asks for any more; the space itself is the server's to reuse.
fn clean_up(transaction: &Transaction<'_>, now: Timestamp) -> Outcome<()> {
    transaction.put(&NOTE_TIME, params!["last_vacuum", now.as_millisecond().to_string()])?;
    if let Some(server) = transaction.postgres() {
        let asked: [(&(dyn ToSql + Sync), Type); 1] = [(&server.profile(), Type::INT8)];
        server.change_rows(FORGET_DONE, &asked)?;
    }
    Ok(())
}

fn shrink(connection: &Connection, now: Timestamp) -> backend::Result<Vacuumed> {
    let Some(file) = connection.sqlite() else { return Ok(Vacuumed { before: 0, after: 0 }) };
    let before = size(connection)?;
    connection.execute_batch("insert into chunk_words (chunk_words) values ('optimize')")?;
    connection.put(&NOTE_TIME, params!["last_vacuum", now.as_millisecond().to_string()])?;
    // The copy that is made for it would be as large in memory as the file: it goes to a file, which
    // has no name and is gone with the connection.
    file.pragma_update(None, "temp_store", "file")?;
    let done = file.execute_batch("vacuum");
    file.pragma_update(None, "temp_store", "memory")?;
    done?;
    // Without this the log keeps a copy of every page, and the file its old length.
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    Ok(Vacuumed { before, after: size(connection)? })
}

fn size(connection: &Connection) -> backend::Result<u64> {
    let Some(file) = connection.sqlite() else {
        // The tables are shared: what other profiles have in them is counted too.
        let size = connection.query_row(TABLE_SIZE, [], |row| row.get::<_, i64>(0))?;
        return Ok(size.unsigned_abs());
    };
    let read = |pragma| file.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    Ok((read("page_count")? * read("page_size")?).unsigned_abs())
}

fn noted_time(connection: &Connection, key: &str) -> backend::Result<Option<Timestamp>> {
    let noted: Option<String> = connection
        .query_row("select value from meta where key = ?1", [key], |row| row.get(0))
        .optional()?;
    Ok(noted.and_then(|at| at.parse().ok()).and_then(|at| Timestamp::from_millisecond(at).ok()))
}

fn pages(connection: &Connection) -> backend::Result<Vec<String>> {
    if connection.sqlite().is_none() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("pragma quick_check(20)")?;
    let said: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<backend::Result<_>>()?;
    Ok(said.into_iter().filter(|line| line != "ok").collect())
}

fn references(connection: &Connection) -> backend::Result<Vec<String>> {
    if connection.sqlite().is_none() {
        return references_on_server(connection);
    }
    let mut statement = connection.prepare(DANGLING)?;
    statement
        .query_map([], |row| {
            let (table, parent): (String, String) = (row.get(0)?, row.get(1)?);
            let count: i64 = row.get(2)?;
            Ok(format!("{count} rows of {table} refer to a {parent} that is not there"))
        })?
        .collect()
}

/// A server is not told to watch over references, since every write would pay for it; they are looked at here.
fn references_on_server(connection: &Connection) -> backend::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (table, column, parent) in REFERENCES {
        let sql = format!(
            "select count(*) from {table} child where child.{column} is not null
             and not exists (select 1 from \"{parent}\" parent where parent.id = child.{column})"
        );
        let count: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{count} rows of {table} refer to a {parent} that is not there"));
        }
    }
    Ok(problems)
}

/// Which column refers to which table.
const REFERENCES: [(&str, &str, &str); 18] = [
    ("identity", "user_id", "user"),
    ("seen_identity", "user_id", "user"),
    ("session", "user_id", "user"),
    ("session", "channel", "label"),
    ("session", "source", "label"),
    ("episode", "user_id", "user"),
    ("episode", "session", "session"),
    ("episode", "compressed_into", "episode"),
    ("message", "episode", "episode"),
    ("fact", "user_id", "user"),
    ("fact", "superseded_by", "fact"),
    ("entity_alias", "entity", "entity"),
    ("mention", "entity", "entity"),
    ("procedure", "superseded_by", "procedure"),
    ("vector", "model", "embed_model"),
    ("covered", "summary", "episode"),
    ("summary_session", "summary", "episode"),
    ("conflict", "fact", "fact"),
];

/// What must hold for texts that are told by a summary, and for those that are not.
fn summaries(connection: &Connection) -> backend::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (sql, what) in [
        (TOLD_BY_NO_SUMMARY, "episodes are told by something that is no summary"),
        (COVERED_BUT_THERE, "episodes are said to be gone but are there"),
        (CHUNKS_WITHOUT_TEXT, "chunks belong to a message or summary that is not there"),
        (RAW_WITHOUT_MESSAGES, "raw episodes have no messages"),
    ] {
        let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{count} {what}"));
        }
    }
    Ok(problems)
}

/// FTS5 takes its check as an insert, which a reader may not do: it compares the rows only.
fn keyword_index(connection: &Connection, access: Access) -> backend::Result<Vec<String>> {
    let mut problems = Vec::new();
    let Some(file) = connection.sqlite() else { return words_on_server(connection) };
    if access == Access::Write
        && let Err(refusal) = file.execute_batch(CHECK_WORDS)
    {
        if refusal.sqlite_error_code() != Some(rusqlite::ErrorCode::DatabaseCorrupt) {
            return Err(refusal.into());
        }
        problems.push(format!("the keyword index is damaged ({})", words_of(&refusal)));
    }
    for (sql, what) in [
        (CHUNKS_WITHOUT_WORDS, "chunks are missing in the keyword index"),
        (WORDS_WITHOUT_CHUNK, "rows of the keyword index belong to no chunk"),
    ] {
        let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{count} {what}"));
        }
    }
    Ok(problems)
}

/// A chunk without a word has no row among the words; words without a chunk are wrong.
fn words_on_server(connection: &Connection) -> backend::Result<Vec<String>> {
    let count: i64 = connection.query_row(WORDS_OF_NO_CHUNK, [], |row| row.get(0))?;
    let what = "chunks are in the keyword index and nowhere else";
    Ok((count > 0).then(|| format!("{count} {what}")).into_iter().collect())
}

fn segment_problems(connection: &Connection) -> backend::Result<Vec<String>> {
    let mut problems = Vec::new();
    if connection.sqlite().is_none() {
        return Ok(problems);
    }
    let mut statement = connection.prepare(SHAPES)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let code = segments::model(connection, row.get(1)?)?.map_or(0, |model| model.code_bytes());
        let (capacity, used): (i64, i64) = (row.get(2)?, row.get(3)?);
        let wanted = |bytes: usize| i64::try_from(bytes).ok().map(|bytes| capacity * bytes);
        let fits = (0..=capacity).contains(&used)
            && row.get::<_, Option<i64>>(4)? == wanted(code)
            && row.get::<_, Option<i64>>(5)? == wanted(segments::SLOT);
        if !fits {
            let id: i64 = row.get(0)?;
            problems.push(format!("segment {id} of the vectors has not the length it says"));
        }
    }
    let Some(model) = segments::active(connection)? else { return Ok(problems) };
    let kept: i64 = connection.query_row(
        "select count(*) from vector where model = ?1",
        [model.id],
        |row| row.get(0),
    )?;
    let live: u64 = live_slots(connection)?.values().sum();
    if kept.unsigned_abs() != live {
        problems.push(format!("there are {kept} vectors, but {live} of them in the segments"));
    }
    Ok(problems)
}

fn note_receipt(
    transaction: &Transaction<'_>,
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
    transaction: &Transaction<'_>,
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
const SLOTS: &str = "
    select s.kind, s.used, t.slots from vector_segment s join vector_slots t on t.segment = s.id
    where s.model = ?1";
const VECTORS_BY_KIND: &str = "
    select (chunk >> 40) & 7, count(*) from vector where model = ?1 group by 1";
const WORDS_OF_NO_CHUNK: &str = "
    select count(distinct w.chunk) from chunk_words w
    where not exists (select 1 from chunk c where c.id = w.chunk)";
const TABLE_SIZE: &str = "
    select cast(coalesce(sum(pg_total_relation_size(c.oid)), 0) as bigint)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'hermes' and c.relkind = 'r'";
// An answer that was lost is asked for within minutes.
const FORGET_DONE: &str = "
    delete from hermes.done where profile = $1 and at < now() - interval '1 day'";
pub(super) const NOTE_TIME: Put = Put {
    change: "update meta set value = ?2 where key = ?1",
    add: "insert into meta (key, value) values (?1, ?2)",
};
const DANGLING: &str = r#"
    select "table", parent, count(*) from pragma_foreign_key_check group by "table", parent"#;
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
const CHECK_WORDS: &str = "insert into chunk_words (chunk_words) values ('integrity-check')";
const CHUNKS_WITHOUT_WORDS: &str = "
    select count(*) from chunk where not exists (
      select 1 from chunk_words_docsize where chunk_words_docsize.id = chunk.id)";
const WORDS_WITHOUT_CHUNK: &str = "
    select count(*) from chunk_words_docsize where not exists (
      select 1 from chunk where chunk.id = chunk_words_docsize.id)";
const SHAPES: &str = "
    select s.id, s.model, s.capacity, s.used, length(c.codes), length(t.slots)
    from vector_segment s
    left join vector_codes c on c.segment = s.id left join vector_slots t on t.segment = s.id";
const ADD_RECEIPT: &str = "
    insert into receipt (user_id, at, session_id, turn, tokens, items)
    values (?1, ?2, ?3, ?4, ?5, ?6)";
const USE_FACT: &str = "
    update fact set uses = uses + 1, last_used_at = ?3 where id = ?1 and user_id in (?2, 0)";
const USE_PROCEDURE: &str = "
    update procedure set uses = uses + 1, last_used_at = ?3 where id = ?1 and user_id in (?2, 0)";
const USE_EPISODE: &str = "
    update episode set uses = uses + 1, last_used_at = ?3 where id = ?1 and user_id in (?2, 0)";
