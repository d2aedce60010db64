//! Reads a memory as it is at one moment, row by row, and hands out each item as JSON.

use std::collections::BTreeMap;

use rusqlite::types::{Value as Column, ValueRef};

use super::further::Further;
use super::{reading, values};
use crate::memory::backend::{self, Connection, Row, Rows, Statement, params_from_iter};
use crate::memory::numbers;
use crate::memory::{
    Admin, EXPORT_VERSION, ExportChoice, ExportHead, Exported, ItemKind, MessageKey, Section,
    SessionKey,
};
use crate::memory::{Memory, Refusal};
use crate::{Error, Result};

type Sink<'a> = &'a mut dyn FnMut(Exported<'_>) -> std::io::Result<()>;

/// An episode with more bytes of messages goes on in a next line: nobody has to hold all of it.
const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// Hands out everything that is chosen.
pub(super) fn export(memory: &Memory, choice: &ExportChoice<'_>, sink: Sink<'_>) -> Result<()> {
    let failed = |source| memory.failed(source);
    // Everything is read inside one transaction: what others write meanwhile is not seen.
    let snapshot = memory.asking(Admin).transaction(backend::Begin::Reading).map_err(failed)?;
    let done = Exporter { connection: &*snapshot, choice, line: Vec::new(), sink }.run();
    done.map_err(|refusal| match refusal {
        Refusal::Database(source) => failed(source),
        Refusal::Rule(error) => error,
    })
}

struct Exporter<'a> {
    connection: &'a Connection,
    choice: &'a ExportChoice<'a>,
    line: Vec<u8>,
    sink: Sink<'a>,
}

type Outcome<T> = std::result::Result<T, Refusal>;

impl Exporter<'_> {
    fn run(mut self) -> Outcome<()> {
        let head = self.head()?;
        self.hand(Exported::Head(head))?;
        for section in Section::ALL.into_iter().filter(|section| wants(self.choice, *section)) {
            match section {
                Section::Episodes => self.episodes()?,
                _ => self.rows_of(section)?,
            }
        }
        Ok(())
    }

    fn head(&self) -> Outcome<ExportHead> {
        let meta = |key: &str| -> backend::Result<String> {
            let sql = "select value from meta where key = ?1";
            self.connection.query_row(sql, [key], |row| row.get(0))
        };
        let numbers: BTreeMap<String, i64> = numbers::all(self.connection)?.into_iter().collect();
        Ok(ExportHead {
            hermes_memory: EXPORT_VERSION,
            profile: meta("profile")?,
            home_id: meta("home_id")?,
            is_part: !self.choice.is_whole(),
            numbers,
            ..ExportHead::default()
        })
    }

    fn hand(&mut self, exported: Exported<'_>) -> Outcome<()> {
        (self.sink)(exported).map_err(unwritten)
    }

    fn hand_line(&mut self, section: Section) -> Outcome<()> {
        self.line.push(b'}');
        (self.sink)(Exported::Item(section, &self.line)).map_err(unwritten)
    }

    fn rows_of(&mut self, section: Section) -> Outcome<()> {
        let connection = self.connection;
        let mut statement = connection.prepare_cached(reading::of(section))?;
        let mut names = None;
        let mut rows = ask(&mut statement, self.choice)?;
        while let Some(row) = rows.next()? {
            let names = names.get_or_insert_with(|| row.names());
            self.begin_line(names, &row)?;
            match section {
                Section::Entities => self.list("aliases", reading::ALIASES, &[row.get(0)?])?,
                Section::Facts => {
                    self.belongings(ItemKind::Fact, row.get(0)?)?;
                    self.list("files", reading::FILES, &[row.get(0)?])?;
                }
                Section::Procedures => self.belongings(ItemKind::Procedure, row.get(0)?)?,
                Section::Events => self.belongings(ItemKind::Event, row.get(0)?)?,
                _ => {}
            }
            self.hand_line(section)?;
        }
        Ok(())
    }

    fn begin_line(&mut self, names: &[String], row: &Row<'_>) -> backend::Result<()> {
        self.line.clear();
        self.fields(names, row)
    }

    /// Appends an object without its end; what is empty is left out.
    fn fields(&mut self, names: &[String], row: &Row<'_>) -> backend::Result<()> {
        self.line.push(b'{');
        let mut is_first = true;
        for (place, name) in names.iter().enumerate() {
            let value = row.get_ref(place)?;
            if value == ValueRef::Null {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.line.push(b',');
            }
            self.key(name);
            values::write(&mut self.line, name, value, self.choice.redact);
        }
        Ok(())
    }

    fn key(&mut self, name: &str) {
        self.line.push(b'"');
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
    }

    /// Where an item came from, its earlier texts, its names and what makes it unique.
    fn belongings(&mut self, kind: ItemKind, item: i64) -> Outcome<()> {
        let of = [item, kind.number()];
        self.list("sources", reading::SOURCES, &of)?;
        self.list("revisions", reading::REVISIONS, &of)?;
        self.list("mentions", reading::MENTIONS, &of)?;
        self.list("origins", reading::ITEM_ORIGINS, &of)
    }

    /// Appends a list of objects, or of bare values where the rows have one column; nothing if empty.
    fn list(&mut self, name: &str, sql: &str, of: &[i64]) -> Outcome<()> {
        let connection = self.connection;
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(of)?)?;
        // Most lists are empty: the names of the columns are asked for when there is a row.
        let mut names = Vec::new();
        while let Some(row) = rows.next()? {
            if names.is_empty() {
                names = row.names();
                self.line.push(b',');
                self.key(name);
                self.line.push(b'[');
            } else {
                self.line.push(b',');
            }
            match names.as_slice() {
                [alone] => {
                    values::write(&mut self.line, alone, row.get_ref(0)?, self.choice.redact);
                }
                _ => {
                    self.fields(&names, &row)?;
                    self.line.push(b'}');
                }
            }
        }
        if !names.is_empty() {
            self.line.push(b']');
        }
        Ok(())
    }

    fn episodes(&mut self) -> Outcome<()> {
        let connection = self.connection;
        let mut origins = connection.prepare_cached(reading::MESSAGE_ORIGINS)?;
        let mut origins = Origins { rows: origins.query([])?, next: None, is_over: false };
        let mut statement = connection.prepare_cached(reading::of(Section::Episodes))?;
        let mut names = None;
        let mut rows = ask(&mut statement, self.choice)?;
        let mut further = None;
        while let Some(row) = rows.next()? {
            let names = names.get_or_insert_with(|| row.names());
            self.begin_line(names, &row)?;
            let id: i64 = row.get(0)?;
            self.belongings(ItemKind::Summary, id)?;
            self.list("covers", reading::COVERS, &[id])?;
            self.list("sessions", reading::TOLD_SESSIONS, &[id])?;
            self.further((&row, id), &mut further)?;
            let head = self.line.clone();
            self.messages((&row, id), &head, &mut origins)?;
            self.hand_line(Section::Episodes)?;
        }
        Ok(())
    }

    /// The words by which a summary is found beside its own. They could be parts of a secret.
    fn further(&mut self, (row, id): (&Row<'_>, i64), read: &mut Option<Further>) -> Outcome<()> {
        let body: Option<String> = row.get("body")?;
        let Some(body) = body.filter(|_| self.choice.redact.is_none()) else { return Ok(()) };
        let further = match read.take() {
            Some(further) => further,
            None => Further::read(self.connection)?,
        };
        let words = further.of(id, &body)?;
        *read = Some(further);
        if !words.is_empty() {
            self.line.extend_from_slice(b",\"further\":");
            self.line.extend_from_slice(serde_json::Value::from(words).to_string().as_bytes());
        }
        Ok(())
    }

    fn messages(
        &mut self,
        (row, id): (&Row<'_>, i64),
        head: &[u8],
        origins: &mut Origins<'_>,
    ) -> Outcome<()> {
        let session = SessionKey::from_row(row.get(3)?);
        let bounds = [row.get(4)?, row.get(5)?].map(|place| MessageKey::new(session, place));
        let [Some(first), Some(last)] = bounds else { return Ok(()) };
        let connection = self.connection;
        let mut statement = connection.prepare_cached(reading::MESSAGES)?;
        let mut names = None;
        let mut rows = statement.query([first.get(), last.get(), id])?;
        let mut is_first = true;
        while let Some(row) = rows.next()? {
            if self.line.len() > LONGEST_LINE && !is_first {
                self.line.extend_from_slice(b"],\"more\":true");
                self.hand_line(Section::Episodes)?;
                self.line.clear();
                self.line.extend_from_slice(head);
                is_first = true;
            }
            let begin: &[u8] =
                if std::mem::take(&mut is_first) { b",\"messages\":[\n" } else { b",\n" };
            self.line.extend_from_slice(begin);
            let names = names.get_or_insert_with(|| row.names());
            self.message(names, &row, origins)?;
        }
        if !is_first {
            self.line.push(b']');
        }
        Ok(())
    }

    fn message(
        &mut self,
        names: &[String],
        row: &Row<'_>,
        origins: &mut Origins<'_>,
    ) -> Outcome<()> {
        self.fields(names, row)?;
        let id: i64 = row.get(0)?;
        self.list("steps", reading::STEPS, &[id])?;
        self.list("mentions", reading::MENTIONS, &[id, ItemKind::Message.number()])?;
        let found = origins.of(id)?;
        for (place, key) in found.iter().enumerate() {
            let begin: &[u8] = if place == 0 { b",\"origins\":[\"" } else { b",\"" };
            self.line.extend_from_slice(begin);
            self.line.extend_from_slice(values::hex(key).as_bytes());
            self.line.push(b'"');
        }
        if !found.is_empty() {
            self.line.push(b']');
        }
        self.line.push(b'}');
        Ok(())
    }
}

/// Where messages came from, read in the order of the messages.
struct Origins<'a> {
    rows: Rows<'a>,
    next: Option<(i64, Vec<u8>)>,
    is_over: bool,
}

impl Origins<'_> {
    fn of(&mut self, message: i64) -> backend::Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        loop {
            if self.next.is_none() && !self.is_over {
                self.next = match self.rows.next()? {
                    Some(row) => Some((row.get(0)?, row.get(1)?)),
                    None => None,
                };
                self.is_over = self.next.is_none();
            }
            match self.next.take() {
                None => return Ok(found),
                Some((item, key)) if item == message => found.push(key),
                Some((item, _)) if item < message => {}
                Some(later) => {
                    self.next = Some(later);
                    return Ok(found);
                }
            }
        }
    }
}

fn ask<'s>(
    statement: &'s mut Statement<'_>,
    choice: &ExportChoice<'_>,
) -> backend::Result<Rows<'s>> {
    let wanted = [
        choice.user.map_or(Column::Null, |user| Column::Integer(user.get())),
        choice.since.map_or(Column::Null, |since| Column::Integer(since.as_millisecond())),
    ];
    let count = statement.parameter_count();
    statement.query(params_from_iter(wanted.into_iter().take(count))?)
}

/// Whether a part is written: what cannot be narrowed belongs to whole exports only.
fn wants(choice: &ExportChoice<'_>, section: Section) -> bool {
    let has = |wanted| choice.sections.is_none_or(|asked| asked.contains(&wanted));
    let is_needed = match section {
        Section::Users | Section::Entities => true,
        Section::Sessions => has(Section::Episodes),
        _ => false,
    };
    let is_of_the_whole =
        matches!(section, Section::Audit | Section::Taken | Section::Origins | Section::Tombstones);
    if is_of_the_whole { choice.is_whole() } else { is_needed || has(section) }
}

fn unwritten(source: std::io::Error) -> Refusal {
    Refusal::Rule(Error::MemoryUnwritten { source })
}
