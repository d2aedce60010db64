//! Texts that were recorded with secrets get other words in their place: rows, index, and what messages are known by.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::params;

use super::backend::{self, Connection};
use super::index::{self, Indexer};
use super::{Memory, Outcome, audit, graves, transfer};
use crate::Result;
use crate::memory::{
    Admin, Change, ChunkKey, Chunker, ItemKind, NewChunk, PortableText, UserNumber,
};

/// The text that is to stand in the place of another; none if it stays.
type Rewrite<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A column with words in it.
struct Column {
    /// What a row is called.
    kind: &'static str,
    table: &'static str,
    /// One or two numbers that make the row unique, and a third for earlier texts.
    key: &'static [&'static str],
    column: &'static str,
}

const fn column(kind: &'static str, table: &'static str, column: &'static str) -> Column {
    Column { kind, table, key: &["id"], column }
}

const COLUMNS: [Column; 15] = [
    column("message", "message", "text"),
    column("message", "message", "caption"),
    column("summary", "episode", "body"),
    column("summary", "episode", "task"),
    column("fact", "fact", "statement"),
    column("fact", "fact", "object"),
    column("procedure", "procedure", "title"),
    column("procedure", "procedure", "body"),
    column("event", "event", "text"),
    column("event", "event", "why"),
    column("quote", "source", "quote"),
    column("proposal", "proposal", "body"),
    column("task", "task", "title"),
    Column {
        kind: "earlier text",
        table: "revision",
        key: &["kind", "item", "number"],
        column: "body",
    },
    Column { kind: "step", table: "step", key: &["message", "number"], column: "arguments" },
];

/// A row whose words change.
struct Changed {
    key: Vec<i64>,
    text: String,
}

impl Column {
    /// The rows that would change.
    fn changed(
        &self,
        connection: &Connection,
        rewrite: Rewrite<'_>,
    ) -> backend::Result<Vec<Changed>> {
        let Column { table, key, column, .. } = self;
        let read =
            format!("select {column}, {} from {table} where {column} is not null", key.join(", "));
        let mut statement = connection.prepare(&read)?;
        let mut rows = statement.query([])?;
        let mut changed = Vec::new();
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            if let Some(text) = rewrite(&text) {
                let key = (1..=key.len())
                    .map(|place| row.get(place))
                    .collect::<backend::Result<Vec<i64>>>()?;
                changed.push(Changed { key, text });
            }
        }
        Ok(changed)
    }

    fn write(&self, transaction: &Connection, changed: &Changed) -> Outcome<()> {
        let Column { table, key, column, .. } = self;
        let by_key = |(place, name): (usize, &&str)| format!("{name} = ?{}", place + 2);
        let by_key = key.iter().enumerate().map(by_key).collect::<Vec<_>>().join(" and ");
        // Two proposals that say the same by now stay two.
        let apart = match *table {
            "proposal" => {
                " and not exists (select 1 from proposal o where o.user_id = proposal.user_id
                   and o.kind = proposal.kind and o.body = ?1)"
            }
            _ => "",
        };
        let update = format!("update {table} set {column} = ?1 where {by_key}{apart}");
        let mut statement = transaction.prepare_cached(&update)?;
        let Changed { key, text } = changed;
        match key.as_slice() {
            [one] => statement.execute(params![text, one])?,
            [one, two] => statement.execute(params![text, one, two])?,
            [one, two, three] => statement.execute(params![text, one, two, three])?,
            _ => 0,
        };
        Ok(())
    }
}

impl Memory {
    /// How many texts of each kind would change.
    pub fn count_rewrites(
        &self,
        _admin: Admin,
        rewrite: Rewrite<'_>,
    ) -> Result<BTreeMap<&'static str, u64>> {
        let mut counts = BTreeMap::new();
        for column in &COLUMNS {
            let changed = column.changed(self.asking(Admin), rewrite);
            let count = changed.map_err(|source| self.failed(source))?.len() as u64;
            if count > 0 {
                *counts.entry(column.kind).or_default() += count;
            }
        }
        let names = names(self.asking(Admin), rewrite).map_err(|source| self.failed(source))?;
        if !names.is_empty() {
            counts.insert("name", names.len() as u64);
        }
        Ok(counts)
    }

    /// Puts other words in the place of texts, in one transaction; of the old words nothing is left in the file. The
    /// index is made anew for each, and a message is known by its new words as well as by where it came from.
    pub fn rewrite_texts(
        &mut self,
        _admin: Admin,
        rewrite: Rewrite<'_>,
        chunker: Chunker<'_>,
        change: Change<'_>,
    ) -> Result<BTreeMap<&'static str, u64>> {
        self.without_a_trace(Admin, |transaction| {
            let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
            let mut touched: BTreeMap<&'static str, Vec<i64>> = BTreeMap::new();
            for column in &COLUMNS {
                for changed in column.changed(transaction, rewrite)? {
                    column.write(transaction, &changed)?;
                    *counts.entry(column.kind).or_default() += 1;
                    touched.entry(column.table).or_default().extend(changed.key.first());
                }
            }
            // What was taken for a name of somebody is none.
            for id in names(transaction, rewrite)? {
                for sql in DROP_NAME {
                    transaction.prepare_cached(sql)?.execute([id])?;
                }
                *counts.entry("name").or_default() += 1;
            }
            know_again(transaction, &touched)?;
            Anew { transaction, chunker, rewrite }.all(&touched)?;
            let total: u64 = counts.values().sum();
            if total > 0 {
                let item = format!("{total} texts");
                audit::append(transaction, change, "memory.redact", &item, None, None)?;
            }
            Ok(counts)
        })
    }
}

/// The names that are secrets themselves; another writing of a name is in small letters and goes with it.
fn names(connection: &Connection, rewrite: Rewrite<'_>) -> backend::Result<Vec<i64>> {
    let mut statement = connection.prepare("select id, name from entity order by id")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if rewrite(&row.get::<_, String>(1)?).is_some() {
            found.push(row.get(0)?);
        }
    }
    Ok(found)
}

/// Messages are known by their words, facts by what they say.
fn know_again(transaction: &Connection, touched: &BTreeMap<&'static str, Vec<i64>>) -> Outcome<()> {
    for id in touched.get("message").into_iter().flatten() {
        let text: String =
            transaction.prepare_cached(MESSAGE_TEXT)?.query_row([id], |row| row.get(0))?;
        let hash = transaction.text_hash(&text);
        transaction.prepare_cached(KNOW_MESSAGE)?.execute(params![id, &hash[..]])?;
    }
    for id in touched.get("fact").into_iter().flatten() {
        let text: String =
            transaction.prepare_cached(FACT_TEXT)?.query_row([id], |row| row.get(0))?;
        let hash = graves::statement_key(&text);
        transaction.prepare_cached(KNOW_FACT)?.execute(params![id, &hash[..]])?;
    }
    Ok(())
}

/// Makes the index anew for texts that changed.
struct Anew<'t> {
    transaction: &'t Connection,
    chunker: Chunker<'t>,
    rewrite: Rewrite<'t>,
}

/// One text and the keys of its parts.
type Parts = (Vec<NewChunk>, Timestamp);

impl Anew<'_> {
    fn all(&self, touched: &BTreeMap<&'static str, Vec<i64>>) -> Outcome<()> {
        let mut indexer = Indexer::new(self.transaction)?;
        let of = |table: &str| {
            let mut ids = touched.get(table).cloned().unwrap_or_default();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        for id in of("message") {
            let (chunks, at) = self.message(id)?;
            self.put(&mut indexer, id, (chunks, at))?;
        }
        for (table, kind, sql) in ITEMS {
            for id in of(table) {
                let (user, text, at) =
                    self.transaction.prepare_cached(sql)?.query_row([id], |row| {
                        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?))
                    })?;
                let number = ChunkKey::of_item(UserNumber::new(user), kind, id, 0).text();
                self.put(&mut indexer, number, ((self.chunker)(&plain(&text)), time(at)))?;
            }
        }
        self.summaries(&mut indexer, &of("episode"))?;
        indexer.finish()
    }

    fn message(&self, id: i64) -> Outcome<Parts> {
        let read =
            |row: &backend::Row<'_>| -> backend::Result<(i64, String, Option<String>, Option<String>)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            };
        let (at, text, caption, speaker) =
            self.transaction.prepare_cached(MESSAGE)?.query_row([id], read)?;
        let text = PortableText {
            caption: caption.as_deref(),
            speaker: speaker.as_deref(),
            at: Some(time(at)),
            ..plain(&text)
        };
        Ok(((self.chunker)(&text), time(at)))
    }

    /// Summaries are found by further words too, which were said and may be secrets themselves.
    fn summaries(&self, indexer: &mut Indexer<'_>, touched: &[i64]) -> Outcome<()> {
        let mut statement = self.transaction.prepare_cached(SUMMARIES)?;
        let all: Vec<(i64, i64, String, i64)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect::<backend::Result<_>>()?;
        if all.is_empty() {
            return Ok(());
        }
        let further = transfer::further_words(self.transaction)?;
        for (id, user, body, at) in all {
            let words = further.of(id, &body)?;
            let cleaned = (self.rewrite)(&words);
            if cleaned.is_none() && !touched.contains(&id) {
                continue;
            }
            // A body that changed leaves its old words among the further ones: they go.
            let words = if touched.contains(&id) { "" } else { cleaned.as_deref().unwrap_or("") };
            let text = PortableText { further: Some(words), ..plain(&body) };
            let user = UserNumber::new(user);
            let number = ChunkKey::of_item(user, ItemKind::Summary, id, 0).text();
            self.put(indexer, number, ((self.chunker)(&text), time(at)))?;
        }
        Ok(())
    }

    /// A text that is not in the index stays out of it.
    fn put(&self, indexer: &mut Indexer<'_>, number: i64, (chunks, at): Parts) -> Outcome<()> {
        let range = ChunkKey::all_of_text(number);
        let count: i64 = self
            .transaction
            .prepare_cached(INDEXED)?
            .query_row([range.start(), range.end()], |row| row.get(0))?;
        if count == 0 {
            return Ok(());
        }
        index::remove_text(self.transaction, number)?;
        for (part, chunk) in chunks.iter().enumerate() {
            let part = i64::try_from(part).unwrap_or(0);
            indexer.add(ChunkKey::from_row(range.start() + part), chunk, at)?;
        }
        Ok(())
    }
}

fn plain(text: &str) -> PortableText<'_> {
    PortableText { text, caption: None, speaker: None, at: None, further: None }
}

fn time(at: i64) -> Timestamp {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH)
}

const ITEMS: [(&str, ItemKind, &str); 3] = [
    ("fact", ItemKind::Fact, "select user_id, statement, recorded_at from fact where id = ?1"),
    (
        "procedure",
        ItemKind::Procedure,
        "select user_id, title || '\n' || body, recorded_at from procedure where id = ?1",
    ),
    (
        "event",
        ItemKind::Event,
        "select user_id, text || coalesce('\n' || why, ''), at from event where id = ?1",
    ),
];
const DROP_NAME: [&str; 3] = [
    "delete from mention where entity = ?1",
    "delete from entity_alias where entity = ?1",
    "delete from entity where id = ?1",
];
const MESSAGE: &str = "select at, text, caption, speaker from message where id = ?1";
const MESSAGE_TEXT: &str = "select text from message where id = ?1";
const FACT_TEXT: &str = "select statement from fact where id = ?1";
const KNOW_MESSAGE: &str =
    "update origin set hash = ?2 where kind = 0 and item = ?1 and hash is not null";
const KNOW_FACT: &str = "
    update fact set norm_hash = ?2 where id = ?1 and not exists (
      select 1 from fact o
      where o.user_id = fact.user_id and o.norm_hash = ?2 and o.retired_at is null)";
const SUMMARIES: &str = "
    select id, user_id, body, started_at from episode where body is not null order by id";
const INDEXED: &str = "select count(*) from chunk where id between ?1 and ?2";
