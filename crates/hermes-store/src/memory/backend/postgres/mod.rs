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
mod upkeep;
mod vectors;
mod words;
mod writing;

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::time::Duration;

use ::postgres::SimpleQueryMessage;
use ::postgres::types::{ToSql, Type};
use rusqlite::types::Value;

use self::ahead::Ahead;
use self::given::Given;
use self::near::Near;
use self::numbers::Reserved;
use self::open::{LOCK_TO_WRITE, refuse_other_schema};
use self::told::{tell, time_setting, user_setting};
use super::statement::numbered;
use super::{Begin, Connection, Error, List, Result, Who};
use crate::Stop;
use crate::postgres::{Delays, Pool, Pooled};

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

/// What is going on at one moment.
#[derive(Default)]
struct State {
    client: Option<Pooled>,
    mode: Mode,
    /// Who the server was told is asking, in this transaction.
    told: Option<Who>,
    /// What this transaction is known by, should the answer to its commit be lost.
    key: Option<i64>,
    /// What the transaction is for.
    begun: Option<Begin>,
    /// Whether others who record were held off.
    has_turn: bool,
    /// Numbers that were reserved, free for others once this is kept.
    reserved: Reserved,
}

impl std::fmt::Debug for State {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{:?} as {:?}", self.mode, self.told)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Idle,
    Reading,
    Writing,
}

impl Server {
    /// Seen as what a statement is run on.
    fn as_backend(&self) -> &Connection {
        self
    }

    fn new(
        pool: Pool,
        (profile, mark): (i64, String),
        works_as: Option<String>,
        wait: Duration,
    ) -> Server {
        Server {
            pool,
            works_as,
            profile,
            mark,
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
                let found = self.run(false, &mut Near::of)?;
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
        self.rows(text, &Given::new(values).params(), !only_reads(text))
    }

    pub(super) fn execute(&self, text: &str, values: &[Value]) -> Result<usize> {
        let given = Given::new(values);
        let params = given.params();
        let changed = self.run(true, &mut |client| client.execute_typed(text, &params))?;
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
        self.run(true, &mut |client| client.execute_typed(text, params))
    }

    /// Runs a statement that settles how the following ones of the held state are answered.
    pub(super) fn settle(&self, text: &str) -> Result<()> {
        self.run(false, &mut |client| client.batch_execute(text))
    }

    fn rows(
        &self,
        text: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
        writes: bool,
    ) -> Result<Vec<::postgres::Row>> {
        self.run(writes, &mut |client| client.query_typed(text, params))
    }

    /// Runs one statement: inside the transaction that is open, or one of its own. What only reads is tried
    /// again on another connection when this one is cut; what writes is tried again as a whole by its caller.
    fn run<T>(
        &self,
        writes: bool,
        deed: &mut dyn FnMut(&mut ::postgres::Client) -> std::result::Result<T, ::postgres::Error>,
    ) -> Result<T> {
        let mode = self.state.borrow().mode;
        if mode == Mode::Writing {
            return self.inside(deed);
        }
        if writes {
            self.begin_writing(Begin::Writing)?;
            let done = self.inside(deed);
            return match done {
                Ok(done) => self.keep().map(|()| done),
                Err(error) => {
                    self.give_up();
                    Err(error)
                }
            };
        }
        let mut delays = self.tries();
        loop {
            let read = || -> Result<T> {
                if self.state.borrow().mode == Mode::Idle {
                    self.begin_reading()?;
                }
                self.inside(deed)
            };
            let mut read = read;
            let done = read();
            if mode == Mode::Idle || done.is_err() {
                if done.is_ok() { self.end()? } else { self.give_up() }
            }
            match (done, delays.next()) {
                (Err(error), Some(delay)) if error.can_pass() => std::thread::sleep(delay),
                (done, _) => return done,
            }
        }
    }

    fn inside<T>(
        &self,
        deed: &mut dyn FnMut(&mut ::postgres::Client) -> std::result::Result<T, ::postgres::Error>,
    ) -> Result<T> {
        let mut state = self.state.borrow_mut();
        let who = self.who.get();
        let told = state.told;
        let Some(client) = state.client.as_mut() else {
            return Err(rusqlite::Error::InvalidQuery.into());
        };
        if told != Some(who) {
            client.batch_execute(&tell(who))?;
            state.told = Some(who);
        }
        let Some(client) = state.client.as_mut() else {
            return Err(rusqlite::Error::InvalidQuery.into());
        };
        Ok(deed(client)?)
    }

    /// Holds on to the present state for reading; false if a state is held already.
    fn begin_reading(&self) -> Result<bool> {
        if self.state.borrow().mode != Mode::Idle {
            return Ok(false);
        }
        let begin = format!(
            "begin transaction isolation level repeatable read read only; {} {}",
            self.settings(),
            time_setting(&self.stop)
        );
        self.begin_with(&begin, Mode::Reading)?;
        Ok(true)
    }

    /// Begins to write: as the only one in this profile, or beside others who record or claim rows.
    fn begin_writing(&self, what: Begin) -> Result<()> {
        let key = new_key();
        let profile = self.profile;
        let hold = match what {
            Begin::Writing => format!(
                "select pg_advisory_xact_lock({WRITERS}, {lock}); \
                 update hermes.profile set changed = changed + 1 where profile = {profile};",
                lock = lock_number(profile)
            ),
            Begin::Recording => {
                format!("select pg_advisory_xact_lock_shared({WRITERS}, {});", lock_number(profile))
            }
            Begin::Claiming | Begin::Reading => String::new(),
        };
        let begin = format!(
            "begin transaction isolation level read committed; {} {LOCK_TO_WRITE}; {hold} \
             insert into hermes.done (profile, key) values ({profile}, {key}) {TELL_SCHEMA}",
            self.settings(),
        );
        self.begin_with(&begin, Mode::Writing)?;
        let mut state = self.state.borrow_mut();
        state.key = Some(key);
        state.begun = Some(what);
        state.has_turn = what == Begin::Writing;
        Ok(())
    }

    /// What the server is told at the beginning of each transaction, and forgets at its end.
    fn settings(&self) -> String {
        let works_as = match &self.works_as {
            Some(role) => format!("set local role {role}; "),
            None => String::new(),
        };
        format!(
            "{works_as}select set_config('hermes.profile', '{}', true), \
             set_config('search_path', 'hermes, pg_temp', true), \
             set_config('lock_timeout', '{}', true), set_config('jit', 'off', true), {};",
            self.profile,
            self.wait.as_millis().max(1),
            user_setting(self.who.get()),
        )
    }

    fn begin_with(&self, begin: &str, mode: Mode) -> Result<()> {
        let mut client = self.pool.get()?;
        let begun = client.simple_query(begin);
        let answers = match begun {
            Ok(answers) => answers,
            Err(error) => {
                client.give_up();
                return Err(error.into());
            }
        };
        let found = |column: &str| -> Option<i64> {
            answers.iter().find_map(|answer| match answer {
                SimpleQueryMessage::Row(row) => row.try_get(column).ok()??.parse().ok(),
                _ => None,
            })
        };
        if let Some(schema) = found("schema")
            && let Err(error) = refuse_other_schema(&self.pool, schema)
        {
            client.give_up();
            return Err(error.into());
        }
        self.ahead.take();
        let mut state = self.state.borrow_mut();
        *state =
            State { client: Some(client), mode, told: Some(self.who.get()), ..State::default() };
        Ok(())
    }

    /// Ends a transaction that only read.
    fn end(&self) -> Result<()> {
        let state = std::mem::take(&mut *self.state.borrow_mut());
        let Some(mut client) = state.client else { return Ok(()) };
        if client.batch_execute("commit").is_err() {
            client.give_up();
        }
        Ok(())
    }

    /// Keeps what was written. If the answer is lost, the server is asked whether it was done.
    fn keep(&self) -> Result<()> {
        let state = std::mem::take(&mut *self.state.borrow_mut());
        let Some(mut client) = state.client else { return Ok(()) };
        if let Err(error) = client.batch_execute("commit") {
            client.give_up();
            drop(client);
            let error = Error::Postgres(error);
            let Some(key) = state.key.filter(|_| error.can_pass()) else { return Err(error) };
            if !self.was_done(key)? {
                return Err(error);
            }
        }
        numbers::give_back(&self.mark, state.reserved);
        Ok(())
    }

    /// Whether a transaction came to its end, once nobody works on it any more.
    fn was_done(&self, key: i64) -> Result<bool> {
        let mut delays = self.tries();
        loop {
            let look = || -> Result<bool> {
                self.begin_writing(Begin::Writing)?;
                let params: [(&(dyn ToSql + Sync), Type); 2] =
                    [(&self.profile, Type::INT8), (&key, Type::INT8)];
                let found = self.inside(&mut |client| client.query_typed(WAS_DONE, &params));
                self.give_up();
                Ok(!found?.is_empty())
            };
            match (look(), delays.next()) {
                (Err(error), Some(delay)) if error.can_pass() => std::thread::sleep(delay),
                (done, _) => return done,
            }
        }
    }

    fn give_up(&self) {
        let state = std::mem::take(&mut *self.state.borrow_mut());
        let Some(mut client) = state.client else { return };
        if client.is_closed() || client.batch_execute("rollback").is_err() {
            client.give_up();
        }
    }

    /// How long to wait before each further try.
    fn tries(&self) -> Delays {
        Delays::usual(new_key().unsigned_abs())
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
/// Part of a statement behind the one that waits for migrations, so that it sees what they did.
const TELL_SCHEMA: &str = "returning (select max(number) from hermes.migration) as schema";
const WAS_DONE: &str = "select 1 from hermes.done where profile = $1 and key = $2";
