//! Whether a memory on a server is still the one of its profile: a restore may have put another one in its place.

use std::time::{Duration, Instant};

use ::postgres::SimpleQueryMessage;

use super::Server;
use crate::memory::Memory;
use crate::postgres::{Response, ServerError};
use crate::sqlite::Access;
use crate::{Error, Result};

/// For how long those who read take it for granted. A write checks again in its own transaction.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

impl Memory {
    /// Whether this is still the memory that its profile has; for one that is only read, as of a second ago at most.
    /// A memory in a file is checked by its file.
    pub fn is_in_place(&self) -> Result<bool> {
        let Some(server) = self.connection.server() else { return Ok(true) };
        let is_recent = |seen: Instant| seen.elapsed() < TRUSTED_FOR;
        if self.access == Access::Read && server.in_place_at.get().is_some_and(is_recent) {
            return Ok(true);
        }
        let number = server.profile();
        let ask = format!(
            "select set_config('hermes.profile', '{number}', true); select {NAME_NOW}{number}) as name"
        );
        let mut client = server.pool().get()?;
        let answers =
            client.simple_query(&ask).map_err(|error| -> Error { client.refused(&error) })?;
        Ok(server.sees(&answers))
    }

    /// What tells this memory from every other on its server, and a number that is another one after every change;
    /// nothing and 0 for a file.
    pub fn pulse_by_mark(&self) -> Result<(String, i64)> {
        let mark = self.connection.server().map(Server::mark).unwrap_or_default();
        Ok((mark.to_owned(), self.pulse()?))
    }
}

impl Server {
    /// Fails if the beginning of a transaction tells that another memory is in the place of this one.
    pub(super) fn refuse_replaced(&self, begun: &Response) -> Result<()> {
        match begun {
            Response::Script(answers) if !self.sees(answers) => {
                let server = self.pool().address().place();
                let profile = self.name.borrow().clone();
                Err(ServerError::Replaced { server, profile }.into())
            }
            _ => Ok(()),
        }
    }

    /// Whether the profile has the name that it was opened by, as the server tells it.
    fn sees(&self, answers: &[SimpleQueryMessage]) -> bool {
        let is_name = |answer: &SimpleQueryMessage| match answer {
            SimpleQueryMessage::Row(row) => {
                row.try_get("name").ok().flatten() == Some(self.name.borrow().as_str())
            }
            _ => false,
        };
        let is_in_place = answers.iter().any(is_name);
        self.in_place_at.set(is_in_place.then(Instant::now));
        is_in_place
    }
}

/// What a profile is called now, to be followed by its number.
pub(super) const NAME_NOW: &str = "(select name from hermes.profile where profile = ";
