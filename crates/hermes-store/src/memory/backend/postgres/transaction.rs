//! One transaction at a time. What nobody waits for goes out with the next statement that somebody does wait for: a
//! transaction begins with its first statement, and ends with its last.

use ::postgres::SimpleQueryMessage;
use ::postgres::types::{ToSql, Type};
use rusqlite::types::Value;

use super::given::Given;
use super::numbers::{self, Reserved};
use super::open::{LOCK_TO_WRITE, refuse_other_schema};
use super::replaced::NAME_NOW;
use super::told::{tell, time_setting, user_setting};
use super::{Server, WRITERS, lock_number, new_key};
use crate::memory::backend::statement::numbered;
use crate::memory::backend::{Begin, Error, Foreseen, Result, Who};
use crate::postgres::{Client, Pooled, Request, Response};

/// A value that is kept until it is sent.
pub(super) type Owned = (Box<dyn ToSql + Sync + Send>, Type);

/// What is going on at one moment.
#[derive(Default)]
pub(super) struct State {
    client: Option<Pooled>,
    pub(super) mode: Mode,
    /// Whether the transaction has begun on the server too.
    is_begun: bool,
    /// What goes out before the next statement.
    queue: Vec<Queued>,
    /// Rows that were fetched for statements that will be run.
    foreseen: Vec<(String, Vec<Value>, Vec<::postgres::Row>)>,
    /// Who the server was told is asking, in this transaction.
    told: Option<Who>,
    /// What this transaction is known by, should the answer to its commit be lost.
    key: Option<i64>,
    /// What the transaction is for.
    pub(super) begun: Option<Begin>,
    /// Whether others who record were held off.
    pub(super) has_turn: bool,
    /// Numbers that were reserved, free for others once this is kept.
    pub(super) reserved: Reserved,
}

impl std::fmt::Debug for State {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{:?} as {:?}", self.mode, self.told)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Idle,
    Reading,
    Writing,
}

enum Queued {
    Script(String),
    Execute(String, Vec<Owned>),
}

impl Queued {
    fn values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let values = match self {
            Queued::Script(_) => &[],
            Queued::Execute(_, values) => values.as_slice(),
        };
        values.iter().map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}

impl Server {
    /// Runs one statement: inside the transaction that is open, or one of its own. What only reads is tried
    /// again on another connection when this one is cut; what writes is tried again as a whole by its caller.
    pub(super) fn run(&self, writes: bool, request: Request<'_>) -> Result<Response> {
        let mode = self.state.borrow().mode;
        if mode == Mode::Writing {
            return self.send(&[request]).map(last);
        }
        if writes {
            self.begin_writing(Begin::Writing);
            return match self.send(&[request]).map(last) {
                Ok(done) => self.keep().map(|()| done),
                Err(error) => {
                    self.give_up();
                    Err(error)
                }
            };
        }
        self.retried(|| match mode {
            Mode::Idle => {
                self.begin_reading();
                let done = self.send(&[request, Request::Script("commit")])?;
                self.state.take();
                Ok(done.into_iter().next().unwrap_or(Response::Changed(0)))
            }
            _ => {
                self.begin_reading();
                self.send(&[request]).map(last)
            }
        })
    }

    /// Reads with a connection, inside the transaction that is open or one of its own.
    pub(super) fn read<T>(
        &self,
        deed: &mut dyn FnMut(&mut Client) -> std::result::Result<T, ::postgres::Error>,
    ) -> Result<T> {
        let mode = self.state.borrow().mode;
        self.retried(|| {
            if mode != Mode::Writing {
                self.begin_reading();
            }
            self.send(&[])?;
            let mut state = self.state.borrow_mut();
            let Some(client) = state.client.as_mut() else { return Err(nothing_open()) };
            let done = deed(client)?;
            drop(state);
            if mode == Mode::Idle {
                self.end();
            }
            Ok(done)
        })
    }

    /// Tries again what only reads when the connection is cut; a held state is then begun anew.
    fn retried<T>(&self, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        let is_writing = self.state.borrow().mode == Mode::Writing;
        let mut delays = self.tries();
        loop {
            let done = attempt();
            let Err(error) = &done else { return done };
            let can_pass = error.can_pass();
            if is_writing {
                return done;
            }
            self.give_up();
            match delays.next().filter(|_| can_pass) {
                Some(delay) => std::thread::sleep(delay),
                None => return done,
            }
        }
    }

    /// Has something sent before the next statement of the open transaction.
    pub(super) fn settle(&self, text: String) {
        self.put_off(Queued::Script(text));
    }

    /// Changes rows by a statement that is written for PostgreSQL; in an open transaction it goes out with the
    /// next statement that is waited for, or with the end.
    pub(super) fn change_later(&self, text: &str, values: Vec<Owned>) -> Result<()> {
        let queued = Queued::Execute(text.to_owned(), values);
        if self.state.borrow().mode == Mode::Writing {
            self.put_off(queued);
            return Ok(());
        }
        self.run(true, Request::Execute(text, &queued.values())).map(drop)
    }

    fn put_off(&self, queued: Queued) {
        self.tell_who();
        self.state.borrow_mut().queue.push(queued);
    }

    /// Queues who asks from here on, if the server thinks that it is another.
    fn tell_who(&self) {
        let mut state = self.state.borrow_mut();
        let who = self.who.get();
        if state.told != Some(who) {
            state.queue.push(Queued::Script(tell(who)));
            state.told = Some(who);
        }
    }

    /// The rows of a question; with it, what some statements will be asked for next is fetched.
    pub(super) fn ask_with(
        &self,
        question: Request<'_>,
        next: &[Foreseen],
    ) -> Result<Vec<::postgres::Row>> {
        let given: Vec<_> = next.iter().map(|(_, values)| Given::new(values)).collect();
        let values: Vec<_> = given.iter().map(Given::params).collect();
        let texts: Vec<String> = next.iter().map(|(sql, _)| numbered(sql)).collect();
        let mut requests = vec![question];
        requests.extend(texts.iter().zip(&values).map(|(text, it)| Request::Query(text, it)));
        let mut answers = self.send(&requests)?.into_iter().map(Response::rows);
        let found = answers.next().unwrap_or_default();
        let values = next.iter().map(|(_, values)| values.clone());
        let next = texts.iter().cloned().zip(values).zip(answers);
        let next = next.map(|((text, values), rows)| (text, values, rows));
        self.state.borrow_mut().foreseen.extend(next);
        Ok(found)
    }

    /// The rows that were fetched for a statement; they are handed out once.
    pub(super) fn foreseen(&self, text: &str, values: &[Value]) -> Option<Vec<::postgres::Row>> {
        let foreseen = &mut self.state.borrow_mut().foreseen;
        let place = foreseen.iter().position(|(it, with, _)| it == text && with == values)?;
        Some(foreseen.remove(place).2)
    }

    /// Sends what is queued and some requests, in one go; the responses to the requests.
    pub(super) fn send(&self, requests: &[Request<'_>]) -> Result<Vec<Response>> {
        self.tell_who();
        let mut state = self.state.borrow_mut();
        if state.mode == Mode::Idle {
            return Err(nothing_open());
        }
        let queue = std::mem::take(&mut state.queue);
        let values: Vec<_> = queue.iter().map(Queued::values).collect();
        let queued = queue.iter().zip(&values).map(|(queued, values)| match queued {
            Queued::Script(text) => Request::Script(text),
            Queued::Execute(text, _) => Request::Execute(text, values),
        });
        let all: Vec<Request<'_>> = queued.chain(requests.iter().copied()).collect();
        let client = match &mut state.client {
            Some(client) => client,
            none => none.insert(self.pool.get()?),
        };
        let answers = client.send(&all);
        let is_first = !std::mem::replace(&mut state.is_begun, true);
        let mut answers = answers?;
        if is_first
            && let Some(begun) = answers.first()
            && let Some(schema) = schema_of(begun)
        {
            refuse_other_schema(&self.pool, schema)?;
            self.refuse_replaced(begun)?;
        }
        Ok(answers.split_off(queue.len()))
    }

    /// Holds on to the present state for reading; false if a state is held already.
    pub(super) fn begin_reading(&self) -> bool {
        if self.state.borrow().mode != Mode::Idle {
            return false;
        }
        let begin = format!(
            "begin transaction isolation level repeatable read read only; {} {}",
            self.settings(),
            time_setting(&self.stop)
        );
        self.begin_with(begin, Mode::Reading);
        true
    }

    /// Begins to write: as the only one in this profile, or beside others who record or claim rows.
    pub(super) fn begin_writing(&self, what: Begin) {
        let key = new_key();
        let profile = self.profile;
        let lock = lock_number(profile);
        let hold = match what {
            Begin::Writing => format!(
                "select pg_advisory_xact_lock({WRITERS}, {lock}); \
                 update hermes.profile set changed = changed + 1 where profile = {profile};"
            ),
            Begin::Recording => format!("select pg_advisory_xact_lock_shared({WRITERS}, {lock});"),
            Begin::Claiming | Begin::Reading => String::new(),
        };
        let begin = format!(
            "begin transaction isolation level read committed; {} {LOCK_TO_WRITE}; {hold} \
             insert into hermes.done (profile, key) values ({profile}, {key}) \
             {TELL_SCHEMA}, {NAME_NOW}{profile}) as name",
            self.settings(),
        );
        self.begin_with(begin, Mode::Writing);
        let mut state = self.state.borrow_mut();
        state.key = Some(key);
        state.begun = Some(what);
        state.has_turn = what == Begin::Writing;
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

    fn begin_with(&self, begin: String, mode: Mode) {
        self.ahead.take();
        *self.state.borrow_mut() = State {
            mode,
            queue: vec![Queued::Script(begin)],
            told: Some(self.who.get()),
            ..State::default()
        };
    }

    /// Ends a transaction that only read. Nobody waits for the answer.
    pub(super) fn end(&self) {
        let state = self.state.take();
        if let Some(mut client) = state.client.filter(|_| state.is_begun) {
            client.send_off("commit");
        }
    }

    /// Keeps what was written. If the answer is lost, the server is asked whether it was done.
    pub(super) fn keep(&self) -> Result<()> {
        if !self.state.borrow().is_begun {
            let has_more =
                self.state.borrow().queue.iter().any(|it| matches!(it, Queued::Execute(..)));
            if !has_more {
                self.state.take();
                return Ok(());
            }
            // The tables may be those of another version: that is known before anything is kept.
            self.send(&[])?;
        }
        let done = self.send(&[Request::Script("commit")]);
        let mut state = self.state.take();
        if let Err(error) = done {
            let is_cut =
                !matches!(&error, Error::Postgres(source) if source.as_db_error().is_some());
            if let Some(client) = state.client.as_mut().filter(|_| is_cut) {
                client.give_up();
            }
            drop(state.client);
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
        let params: [(&(dyn ToSql + Sync), Type); 2] =
            [(&self.profile, Type::INT8), (&key, Type::INT8)];
        let mut delays = self.tries();
        loop {
            self.begin_writing(Begin::Writing);
            let found = self.send(&[Request::Query(WAS_DONE, &params)]).map(last);
            self.give_up();
            match (found, delays.next()) {
                (Err(error), Some(delay)) if error.can_pass() => std::thread::sleep(delay),
                (found, _) => return Ok(!found?.rows().is_empty()),
            }
        }
    }

    pub(super) fn give_up(&self) {
        let state = self.state.take();
        let Some(mut client) = state.client else { return };
        if client.is_closed() || client.batch_execute("rollback").is_err() {
            client.give_up();
        }
    }
}

fn last(answers: Vec<Response>) -> Response {
    answers.into_iter().last().unwrap_or(Response::Changed(0))
}

fn nothing_open() -> Error {
    rusqlite::Error::InvalidQuery.into()
}

/// The schema of the tables, as the beginning of a transaction that writes tells it.
fn schema_of(answer: &Response) -> Option<i64> {
    let Response::Script(messages) = answer else { return None };
    messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.try_get("schema").ok()??.parse().ok(),
        _ => None,
    })
}

/// Part of a statement behind the one that waits for migrations, so that it sees what they did.
const TELL_SCHEMA: &str = "returning (select max(number) from hermes.migration) as schema";
const WAS_DONE: &str = "select 1 from hermes.done where profile = $1 and key = $2";
