//! Take in sessions from lines of JSON, ours or Hermes Agent's.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, BufRead};

use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Statement, Transaction, TransactionBehavior, params_from_iter};
use serde::Serialize;

use super::content::seconds_of;
use super::import_row::{Incoming, Key, RowShape, parse};
use super::layout::Table;
use super::record::{Counts, count, exists, tend_full_text, title_owner};
use super::{SessionStore, time};
use crate::error::words_of;
use crate::{Error, Result};

/// What an import did, and what it could not do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Sessions that were not there before.
    pub sessions_added: u64,
    /// Sessions that were there and lacked messages.
    pub sessions_extended: u64,
    /// Sessions that were there whole.
    pub sessions_unchanged: u64,
    /// Messages that were not there before.
    pub messages_added: u64,
    /// Messages of which only the words could be kept, since this database has a trigram index.
    pub messages_reduced_to_text: u64,
    /// Titles that another session had, and what they became.
    pub titles_changed: Vec<TitleChange>,
    /// Sessions whose parent is neither here nor in the import.
    pub parents_dropped: Vec<DroppedParent>,
    /// Fields this database has no column for.
    pub ignored_fields: Vec<String>,
    /// Lines that could not be taken in.
    pub problems: Vec<ImportProblem>,
}

impl ImportReport {
    /// Whether some lines could not be taken in.
    pub fn is_partial(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// A title that had to change, since titles are unique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TitleChange {
    /// The session.
    pub session: String,
    /// Its title in the import.
    pub from: String,
    /// Its title here.
    pub to: String,
}

/// A link to a parent that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DroppedParent {
    /// The session.
    pub session: String,
    /// The parent it named.
    pub parent: String,
}

/// A line that could not be taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// The number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// A longer line is refused: it has to fit in memory several times over.
pub const LONGEST_LINE: usize = 256 * 1024 * 1024;

/// Sessions wait until they and their messages are so many, and are then written in one
/// transaction.
const ROWS_PER_TRANSACTION: usize = 2000;

/// The same for the length of their lines, so that few of them wait where messages are long.
const BYTES_PER_TRANSACTION: usize = 16 * 1024 * 1024;

const MESSAGES_HERE: &str = "
    select role, content, tool_call_id, timestamp from message_view where session_id = ?1";

const LINK: &str = "
    update sessions set parent_session_id = ?2
    where id = ?1 and (parent_session_id is null or parent_session_id = ?2)";

const WOULD_BE_A_CIRCLE: &str = "
    with recursive above (id) as (
        select ?2
        union
        select s.parent_session_id from session_view s join above on above.id = s.id)
    select exists (select 1 from above where id = ?1)";

impl SessionStore {
    /// Takes in every session of the text, one JSON object a line, each whole or not at all. What is
    /// already here is left as it is; a bad line is reported and the rest goes on.
    pub fn import(&mut self, lines: &mut dyn BufRead, now: Timestamp) -> Result<ImportReport> {
        self.require_writable()?;
        if self.unfinished.get() {
            self.open_anew()?;
        }
        let failed = |source| self.fault(source);
        let mut import = Import::begin(self, now).map_err(failed)?;
        let mut line = Vec::new();
        for number in 1.. {
            let unreadable = |source| Error::ImportUnreadable { line: number, source };
            match read_line(lines, &mut line, LONGEST_LINE).map_err(unreadable)? {
                Line::End => break,
                Line::TooLong => {
                    let reason = format!("the line is longer than {LONGEST_LINE} bytes");
                    import.report.problems.push(ImportProblem { line: number, reason });
                }
                Line::Whole if line.trim_ascii().is_empty() => {}
                Line::Whole => match parse(&line) {
                    Ok(session) => {
                        let size = line.len();
                        import.add(Waiting { line: number, size, session }).map_err(failed)?;
                    }
                    Err(reason) => {
                        import.report.problems.push(ImportProblem { line: number, reason });
                    }
                },
            }
        }
        import.finish().map_err(failed)
    }
}

/// An import under way: prepared statements, what waits to be written, and what was done so far.
struct Import<'a> {
    store: &'a SessionStore,
    now: f64,
    sessions: RowShape,
    messages: RowShape,
    insert_session: Statement<'a>,
    insert_message: Statement<'a>,
    waiting: Vec<Waiting>,
    waiting_rows: usize,
    waiting_bytes: usize,
    next_numbers: HashMap<String, u64>,
    links: Vec<DroppedParent>,
    ignored: BTreeSet<String>,
    report: ImportReport,
}

/// A session that is read and not yet written.
struct Waiting {
    line: u64,
    size: usize,
    session: Incoming,
}

/// What one transaction does.
#[derive(Default)]
struct Step {
    sessions_added: u64,
    sessions_extended: u64,
    sessions_unchanged: u64,
    messages: Vec<i64>,
    titles_changed: Vec<TitleChange>,
}

impl<'a> Import<'a> {
    fn begin(store: &'a SessionStore, now: Timestamp) -> rusqlite::Result<Import<'a>> {
        let (layout, connection) = (store.layout(), store.connection());
        let sessions = RowShape::of(layout, Table::Sessions);
        let messages = RowShape::of(layout, Table::Messages);
        Ok(Import {
            insert_session: connection
                .prepare(&layout.insert(Table::Sessions, &sessions.names()))?,
            insert_message: connection
                .prepare(&layout.insert(Table::Messages, &messages.names()))?,
            store,
            now: time::to_seconds(now),
            sessions,
            messages,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes: 0,
            next_numbers: HashMap::new(),
            links: Vec::new(),
            ignored: BTreeSet::new(),
            report: ImportReport::default(),
        })
    }

    fn connection(&self) -> &'a Connection {
        self.store.connection()
    }

    fn add(&mut self, session: Waiting) -> rusqlite::Result<()> {
        self.waiting_rows += 1 + session.session.length();
        self.waiting_bytes += session.size;
        self.waiting.push(session);
        match self.waiting_rows > ROWS_PER_TRANSACTION || self.waiting_bytes > BYTES_PER_TRANSACTION
        {
            true => self.write_waiting(),
            false => Ok(()),
        }
    }

    /// Writes all that waits at once; if that breaks a rule of the database, one by one, to find
    /// out which session does. A savepoint for each would make FTS5 write its index as often.
    fn write_waiting(&mut self) -> rusqlite::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        match self.write(&waiting) {
            Err(error) if breaks_a_rule(&error) => {}
            other => return other,
        }
        // The numbers given in that transaction are free again.
        self.next_numbers.clear();
        for one in &waiting {
            match self.write(std::slice::from_ref(one)) {
                Err(error) if breaks_a_rule(&error) => {
                    let reason = format!("the database rejects it: {}", words_of(&error));
                    self.report.problems.push(ImportProblem { line: one.line, reason });
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Writes sessions in one transaction; notes what was done when it is durable.
    fn write(&mut self, sessions: &[Waiting]) -> rusqlite::Result<()> {
        let immediate = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(self.connection(), immediate)?;
        self.store.keeping().inspect(|keeping| keeping.begin());
        self.store.unfinished.set(true);
        let mut step = Step::default();
        for waiting in sessions {
            self.take_in(&waiting.session, &mut step)?;
        }
        // Once for the whole transaction: done for each session it cost a quarter of the import.
        tend_full_text(&transaction, self.store.layout(), &step.messages)?;
        transaction.commit()?;
        self.store.unfinished.set(false);
        self.store.keeping().inspect(|keeping| keeping.committed());
        self.note(step);
        sessions.iter().for_each(|waiting| self.note_remarks(&waiting.session));
        Ok(())
    }

    fn note(&mut self, step: Step) {
        self.report.sessions_added += step.sessions_added;
        self.report.sessions_extended += step.sessions_extended;
        self.report.sessions_unchanged += step.sessions_unchanged;
        self.report.messages_added += u64::try_from(step.messages.len()).unwrap_or(u64::MAX);
        self.report.titles_changed.extend(step.titles_changed);
    }

    fn note_remarks(&mut self, incoming: &Incoming) {
        incoming.note_ignored(&self.sessions, &self.messages, &mut self.ignored);
        if !self.store.layout().takes_parts() {
            self.report.messages_reduced_to_text += incoming.messages_with_parts();
        }
        if let Some(parent) = &incoming.parent {
            let link = DroppedParent { session: incoming.id.clone(), parent: parent.clone() };
            self.links.push(link);
        }
    }

    fn take_in(&mut self, incoming: &Incoming, step: &mut Step) -> rusqlite::Result<()> {
        if exists(self.connection(), &incoming.id)? {
            return self.extend(incoming, step);
        }
        self.add_session(incoming, step)?;
        let live = self.add_messages(incoming, &HashSet::new(), step)?;
        count(self.connection(), self.store.layout(), &incoming.id, live)?;
        step.sessions_added += 1;
        Ok(())
    }

    /// Adds to a session that is here the messages it lacks.
    fn extend(&mut self, incoming: &Incoming, step: &mut Step) -> rusqlite::Result<()> {
        let found = self.already_here(incoming)?;
        if found.len() == incoming.length() {
            step.sessions_unchanged += 1;
            return Ok(());
        }
        self.add_messages(incoming, &found, step)?;
        // Counted anew: what the session had may have come in without being counted.
        if let Some(recount) = self.store.layout().recount() {
            self.connection().execute(&format!("{recount} where id = ?1"), [&incoming.id])?;
        }
        step.sessions_extended += 1;
        Ok(())
    }

    fn add_session(&mut self, incoming: &Incoming, step: &mut Step) -> rusqlite::Result<()> {
        let mut row = self.sessions.row(&incoming.session);
        self.sessions.set_missing_time(&mut row, "started_at", incoming.started_at(self.now));
        self.sessions.set_missing(&mut row, "source", || "import".to_owned().into());
        self.sessions.set(&mut row, "parent_session_id", Sql::Null);
        let title = match &incoming.title {
            Some(title) => Some(self.free_title(&incoming.id, title, step)?),
            None => None,
        };
        self.sessions.set(&mut row, "title", title.into());
        // What the import says may be wrong, and is for all of its messages.
        for counter in ["message_count", "tool_call_count"] {
            self.sessions.set(&mut row, counter, 0.into());
        }
        self.insert_session.execute(params_from_iter(row)).map(drop)
    }

    /// The title itself, or with the first free number behind it.
    fn free_title(&mut self, id: &str, title: &str, step: &mut Step) -> rusqlite::Result<String> {
        if title_owner(self.connection(), title, id)?.is_none() {
            return Ok(title.to_owned());
        }
        let mut number = self.next_numbers.get(title).copied().unwrap_or(2);
        let mut free = format!("{title} ({number})");
        while title_owner(self.connection(), &free, id)?.is_some() {
            number += 1;
            free = format!("{title} ({number})");
        }
        self.next_numbers.insert(title.to_owned(), number + 1);
        step.titles_changed.push(TitleChange {
            session: id.to_owned(),
            from: title.to_owned(),
            to: free.clone(),
        });
        Ok(free)
    }

    /// Which messages of the session are here, by their place in the import. Those that say when
    /// they were said come first, since one that does not may be any of the rest.
    fn already_here(&self, incoming: &Incoming) -> rusqlite::Result<HashSet<usize>> {
        let mut here = messages_here(self.store, &incoming.id)?;
        let mut found = HashSet::new();
        let mut undated = Vec::new();
        for (place, message) in incoming.messages().enumerate() {
            let row = self.messages.row(message);
            let key = self.messages.key(&row);
            let Some(at) = self.messages.time(&row, "timestamp").map(milliseconds) else {
                undated.push((place, key));
                continue;
            };
            if let Some(times) = here.get_mut(&key)
                && let Some(same) = times.iter().position(|time| *time == at)
            {
                times.remove(same);
                found.insert(place);
            }
        }
        for (place, key) in undated {
            if here.get_mut(&key).and_then(VecDeque::pop_front).is_some() {
                found.insert(place);
            }
        }
        Ok(found)
    }

    /// Adds the messages that were not found here, and counts those that are live.
    fn add_messages(
        &mut self,
        incoming: &Incoming,
        found: &HashSet<usize>,
        step: &mut Step,
    ) -> rusqlite::Result<Counts> {
        let mut live = Counts::default();
        let mut at = incoming.started_at(self.now);
        for (place, message) in incoming.messages().enumerate() {
            let mut row = self.messages.row(message);
            at = self.messages.set_missing_time(&mut row, "timestamp", at);
            if found.contains(&place) {
                continue;
            }
            self.messages.set(&mut row, "session_id", incoming.id.clone().into());
            self.messages.count(&mut live, &row, message);
            self.insert_message.execute(params_from_iter(row))?;
            step.messages.push(self.connection().last_insert_rowid());
        }
        Ok(live)
    }

    /// Links children to parents, now that all are in.
    fn finish(mut self) -> rusqlite::Result<ImportReport> {
        self.write_waiting()?;
        let immediate = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(self.connection(), immediate)?;
        self.store.unfinished.set(true);
        for link in std::mem::take(&mut self.links) {
            if !self.link(&link)? {
                self.report.parents_dropped.push(link);
            }
        }
        transaction.commit()?;
        self.store.unfinished.set(false);
        self.report.problems.sort_by_key(|problem| problem.line);
        self.report.ignored_fields = self.ignored.into_iter().collect();
        Ok(self.report)
    }

    fn link(&self, link: &DroppedParent) -> rusqlite::Result<bool> {
        if self.store.layout().column(Table::Sessions, "parent_session_id").is_none() {
            return Ok(false);
        }
        let pair = [&link.session, &link.parent];
        let is_circle: bool =
            self.connection().query_row(WOULD_BE_A_CIRCLE, pair, |row| row.get(0))?;
        if is_circle || !exists(self.connection(), &link.parent)? {
            return Ok(false);
        }
        self.connection().execute(LINK, pair)?;
        Ok(true)
    }
}

/// The messages of a session with the times each was said, to the millisecond.
fn messages_here(store: &SessionStore, id: &str) -> rusqlite::Result<HashMap<Key, VecDeque<i64>>> {
    let mut statement = store.connection().prepare(MESSAGES_HERE)?;
    let mut rows = statement.query([id])?;
    let mut here: HashMap<Key, VecDeque<i64>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let at = milliseconds(seconds_of(row.get_ref(3)?).unwrap_or(0.0));
        here.entry(Key::from_row(row, store.layout())?).or_default().push_back(at);
    }
    Ok(here)
}

/// Text columns keep milliseconds only.
fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1e3).round() as i64
}

/// Whether the row is at fault and not the database.
fn breaks_a_rule(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// What came of reading a line.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads a line without ever holding more than `longest` bytes; a longer one is skipped.
fn read_line(from: &mut dyn BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<Line> {
    line.clear();
    let room = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::Read::take(&mut *from, room).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if line.len() <= longest || line.ends_with(b"\n") {
        return Ok(Line::Whole);
    }
    line.clear();
    from.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole() {
        let mut text: &[u8] = b"12345\n1234567890\n\nlast";
        let mut line = Vec::new();
        let mut next = || {
            let kind = read_line(&mut text, &mut line, 6).unwrap();
            (kind, String::from_utf8(line.clone()).unwrap())
        };
        assert_eq!(next(), (Line::Whole, "12345\n".to_owned()));
        assert_eq!(next(), (Line::TooLong, String::new()));
        assert_eq!(next(), (Line::Whole, "\n".to_owned()));
        assert_eq!(next(), (Line::Whole, "last".to_owned()));
        assert_eq!(next(), (Line::End, String::new()));
    }
}
