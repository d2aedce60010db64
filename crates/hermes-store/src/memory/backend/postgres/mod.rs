//! A memory on a PostgreSQL server: one transaction at a time, who asks told inside it, cuts survived.

mod ahead;
mod as_backend;
mod cells;
mod given;
mod members;
mod near;
mod numbers;
mod open;
mod recorded;
mod replaced;
mod search;
mod told;
mod transaction;
mod upkeep;
mod vectors;
mod words;
mod writing;

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::time::{Duration, Instant};

use ::postgres::types::{ToSql, Type};
use rusqlite::types::Value;

use self::ahead::Ahead;
use self::given::Given;
use self::near::Near;
use self::transaction::{Mode, State};
use super::statement::numbered;
use super::{Connection, Error, List, Result, Who};
use crate::Stop;
use crate::postgres::{Delays, Pool, Request};

pub(in crate::memory::backend) use self::cells::Received;
pub use self::members::{Invitation, invitation_sql, invite};
pub use self::open::{
    ServerMemory, ServerState, SharedView, has_profile, has_profile_number, migrate_server,
    server_sql, server_state,
};
pub(in crate::memory) use self::words::Stems;

/// A memory on a server.
#[derive(Debug)]
pub(in crate::memory) struct Server {
    pool: Pool,
    /// The role to work as, where that is not the one that logged in.
    works_as: Option<String>,
    /// The number of the profile.
    profile: i64,
    /// What no other memory on any server is called.
    mark: String,
    /// What the profile is called; one that a restore moved aside has another name.
    name: RefCell<String>,
    /// When it was last seen that this is the memory of its profile.
    in_place_at: Cell<Option<Instant>>,
    /// How long to wait for another who writes.
    wait: Duration,
    /// Until when what is read is wanted.
    stop: Stop,
    state: RefCell<State>,
    who: Cell<Who>,
    /// What was fetched ahead; it goes with the state that is held.
    ahead: RefCell<Ahead>,
    /// What the server finds the nearest vectors with, once it was looked for.
    near: OnceCell<Option<Near>>,
    /// Whether the server no longer has what was found there.
    lost_near: Cell<bool>,
}

impl Server {
    /// Seen as what a statement is run on.
    fn as_backend(&self) -> &Connection {
        self
    }

    fn new(
        pool: Pool,
        (profile, mark, name): (i64, String, String),
        works_as: Option<String>,
        wait: Duration,
    ) -> Server {
        Server {
            pool,
            works_as,
            profile,
            mark,
            name: RefCell::new(name),
            in_place_at: Cell::new(None),
            wait,
            stop: Stop::default(),
            state: RefCell::default(),
            who: Cell::new(Who::Nobody),
            ahead: RefCell::default(),
            near: OnceCell::new(),
            lost_near: Cell::new(false),
        }
    }

    /// What the server finds the nearest vectors with, if it can.
    fn near(&self) -> Result<Option<&Near>> {
        if self.lost_near.get() {
            return Ok(None);
        }
        let found = match self.near.get() {
            Some(found) => found,
            None => {
                let found = self.read(&mut Near::of)?;
                self.near.get_or_init(|| found)
            }
        };
        Ok(found.as_ref())
    }

    /// Notes that the server cannot find the nearest vectors any more, if that is why it refused.
    pub(super) fn loses_near(&self, error: &Error) -> bool {
        let Error::Postgres(source) = error else { return false };
        let is_lost = source.code().is_some_and(|code| LOST.contains(&code.code()));
        self.lost_near.set(self.lost_near.get() || is_lost);
        is_lost
    }

    /// Whether one state is held for reading.
    pub(super) fn holds_state(&self) -> bool {
        self.state.borrow().mode == Mode::Reading
    }

    /// What was fetched ahead for the one who asks now; empty if nothing was.
    fn ahead(&self) -> RefMut<'_, Ahead> {
        let mut ahead = self.ahead.borrow_mut();
        if ahead.asker != Some(self.who.get()) || !self.holds_state() {
            *ahead = Ahead { asker: Some(self.who.get()), ..Ahead::default() };
        }
        ahead
    }

    /// Where the connections come from.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The number of the profile.
    pub(super) fn profile(&self) -> i64 {
        self.profile
    }

    /// What no other memory on any server is called.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Does something for the whole memory in the middle of what one user does.
    fn as_keeper_of<T>(&self, deed: impl FnOnce() -> T) -> T {
        let who = self.who.replace(Who::All);
        let done = deed();
        self.who.set(who);
        done
    }

    pub(super) fn query(&self, text: &str, values: &[Value]) -> Result<Vec<::postgres::Row>> {
        if let Some(rows) = self.foreseen(text, values) {
            return Ok(rows);
        }
        self.rows(text, &Given::new(values).params(), !only_reads(text))
    }

    pub(super) fn execute(&self, text: &str, values: &[Value]) -> Result<usize> {
        let given = Given::new(values);
        let params = given.params();
        let changed = self.run(true, Request::Execute(text, &params))?.changed();
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// The rows of a statement in the common words whose last value is a list.
    pub(super) fn rows_of(
        &self,
        sql: &str,
        values: &[i64],
        list: List<'_>,
    ) -> Result<Vec<::postgres::Row>> {
        let mut params: Vec<(&(dyn ToSql + Sync), Type)> =
            values.iter().map(|value| (value as &(dyn ToSql + Sync), Type::INT8)).collect();
        match &list {
            List::Numbers(numbers) => params.push((numbers, Type::INT8_ARRAY)),
            List::Words(words) => params.push((words, Type::TEXT_ARRAY)),
        }
        self.rows(&numbered(sql), &params, false)
    }

    /// The rows of a statement that is written for PostgreSQL, by names with their schema.
    pub(super) fn ask(
        &self,
        text: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<::postgres::Row>> {
        self.rows(text, params, false)
    }

    /// The rows that a changing statement gives back.
    fn write_rows(
        &self,
        text: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<::postgres::Row>> {
        self.rows(text, params, true)
    }

    /// Changes rows by a statement that is written for PostgreSQL.
    pub(super) fn change_rows(
        &self,
        text: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64> {
        Ok(self.run(true, Request::Execute(text, params))?.changed())
    }

    fn rows(
        &self,
        text: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
        writes: bool,
    ) -> Result<Vec<::postgres::Row>> {
        Ok(self.run(writes, Request::Query(text, params))?.rows())
    }

    /// How long to wait before each further try, by one who waits for others no longer than this memory does.
    fn tries(&self) -> Delays {
        Delays::usual(new_key().unsigned_abs()).within(self.wait)
    }
}

/// Whether a statement only reads.
fn only_reads(text: &str) -> bool {
    matches!(text.split_whitespace().next(), Some("select" | "with"))
}

pub(super) fn new_key() -> i64 {
    let mut bytes = [0; 8];
    for part in bytes.chunks_mut(3) {
        part.copy_from_slice(&crate::sessions::random_bytes()[..part.len()]);
    }
    i64::from_le_bytes(bytes)
}

/// The number of a lock, as the server takes it.
fn lock_number(number: i64) -> i64 {
    number.rem_euclid(1 << 31)
}

/// Locks of those who write in a profile, and of those who begin sessions of one user in it.
const WRITERS: i32 = 4_839_209;
const SESSIONS: i32 = 4_839_210;
const TAKE_TURN: &str = "update hermes.profile set changed = changed + 1 where profile = $1";
/// A function, type, table or column that is not there, or may not be used.
const LOST: [&str; 5] = ["42883", "42704", "42P01", "42703", "42501"];
