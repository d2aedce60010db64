//! A server as the store asks for it.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use ::postgres::types::{ToSql, Type};
use jiff::Timestamp;
use rusqlite::types::Value;

use super::told::is_cancelled;
use super::{
    SESSIONS, Server, TAKE_TURN, ahead, cells, lock_number, numbers, open, recorded, upkeep,
};
use crate::Stop;
use crate::memory::backend::statement::numbered;
use crate::memory::backend::{
    Backend, Begin, Both, Error, Index, List, Many, Recording, Result, Row, Statement, Who, sqlite,
};
use crate::memory::{ChunkKey, Episode, Message, UserNumber};
use crate::postgres::{Delays, Request};
use crate::sqlite::Access;

impl Backend for Server {
    fn statement(&self, sql: &str, _: bool) -> Result<Statement<'_>> {
        Ok(Statement::on_server(self, sql))
    }

    fn execute_batch(&self, sql: &str) -> Result<()> {
        self.run(true, Request::Script(sql)).map(drop)
    }

    fn choose(&self, both: &Both) -> &'static str {
        both.server
    }

    fn many(
        &self,
        many: &Many,
        first: &[i64],
        list: List<'_>,
        read: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let rows = self.rows_of(many.all, first, list)?;
        rows.iter().try_for_each(|row| read(&Row::Server(row)))
    }

    fn asks(&self, who: Who) {
        self.who.set(who);
    }

    fn as_keeper(&self, deed: &mut dyn FnMut()) {
        self.as_keeper_of(deed);
    }

    fn begin(&self, what: Begin) -> Result<bool> {
        match what {
            Begin::Reading => return Ok(self.begin_reading()),
            what => self.begin_writing(what),
        }
        Ok(true)
    }

    fn commit(&self) -> Result<()> {
        self.keep()
    }

    fn roll_back(&self) {
        self.give_up();
    }

    fn delays(&self) -> Option<Delays> {
        Some(self.tries())
    }

    fn heed(&mut self, stop: &Stop) -> Result<()> {
        self.stop = stop.clone();
        Ok(())
    }

    /// For a connection too.
    fn wait_at_most(&mut self, wait: Duration) -> Result<()> {
        self.wait = wait;
        self.pool = self.pool.impatient(wait);
        Ok(())
    }

    fn explained(&self, error: Error, path: &Path) -> crate::Error {
        match error {
            // The server ended it because its time was over.
            Error::Postgres(source) if self.stop.is_asked() && is_cancelled(&source) => {
                crate::Error::Stopped
            }
            Error::Postgres(source) => self.pool.address().refused(&source),
            Error::Unreached(error) => *error,
            Error::Sqlite(source) => crate::Error::from_sqlite(path, source),
        }
    }

    fn await_turn(&self) -> Result<()> {
        if self.state.borrow().has_turn {
            return Ok(());
        }
        self.change_later(TAKE_TURN, vec![(Box::new(self.profile), Type::INT8)])?;
        self.state.borrow_mut().has_turn = true;
        Ok(())
    }

    fn hold_sessions(&self, user: UserNumber) -> Result<bool> {
        let whose = lock_number(self.profile.wrapping_mul(1_000_003).wrapping_add(user.get()));
        self.settle(format!("select pg_advisory_xact_lock({SESSIONS}, {whose})"));
        Ok(true)
    }

    fn put_off(&self, sql: &str, values: &dyn Fn() -> Result<Vec<Value>>) -> Result<bool> {
        let given = values()?.into_iter().map(|value| {
            let kind = cells::type_of(&value);
            (Box::new(cells::Sent(value)) as Box<dyn ToSql + Sync + Send>, kind)
        });
        self.change_later(&numbered(sql), given.collect())?;
        Ok(true)
    }

    fn number_for(&self, table: &'static str) -> Result<Option<i64>> {
        match self.state.borrow().begun {
            Some(Begin::Recording) => {}
            _ => return Ok(None),
        }
        numbers::next(self, table).map(Some)
    }

    fn storable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        cells::storable(text)
    }

    fn recording(&self) -> Box<dyn Recording + '_> {
        Box::new(recorded::ServerRecording::new(self))
    }

    fn index(&self) -> &dyn Index {
        self
    }

    fn episodes(&self, ids: &[i64]) -> Result<Vec<Episode>> {
        ahead::episodes(self, ids)
    }

    fn messages(&self, keys: &[i64]) -> Result<Vec<Message>> {
        ahead::messages(self, keys)
    }

    fn expect(&self, chunks: &[ChunkKey]) -> Result<()> {
        ahead::fetch(self, chunks)
    }

    fn messages_at_hand(&self, episode: i64) -> Option<Vec<Message>> {
        self.ahead().of_episode.get(&episode).cloned()
    }

    fn has_no_facts(&self, episode: i64) -> bool {
        self.ahead().has_facts.get(&episode) == Some(&false)
    }

    /// They are there, and empty between imports.
    fn make_import_tables(&self) -> Result<()> {
        Ok(())
    }

    fn rename(&self, name: &str) -> Result<()> {
        open::rename(self, name)
    }

    fn size(&self) -> Result<u64> {
        upkeep::size(self)
    }

    fn vacuum(&self, now: Timestamp) -> Result<()> {
        upkeep::clean_up(self, now)
    }

    fn problems(&self, _: Access) -> Result<(Vec<String>, Vec<String>)> {
        Ok((upkeep::problems(self)?, Vec::new()))
    }

    fn file(&self) -> Option<&sqlite::File> {
        None
    }

    fn server(&self) -> Option<&Server> {
        Some(self)
    }
}
