//! Whether a memory on a server is still the one of its profile: a restore may have put another one in its place.

use ::postgres::SimpleQueryMessage;

use super::Server;
use crate::memory::Memory;
use crate::{Error, Result};

impl Memory {
    /// Whether this is still the memory that its profile has. One in a file is looked at by its file.
    pub fn is_in_place(&self) -> Result<bool> {
        let Some(server) = self.connection.server() else { return Ok(true) };
        let name = name_now(server)?;
        Ok(name.is_some()
            && name.as_deref() == self.path.file_name().and_then(|name| name.to_str()))
    }

    /// What tells this memory from every other on its server, and a number that is another one after every change;
    /// nothing and 0 for a file.
    pub fn pulse_by_mark(&self) -> Result<(String, i64)> {
        let mark = self.connection.server().map(Server::mark).unwrap_or_default();
        Ok((mark.to_owned(), self.pulse()?))
    }
}

/// What the profile of a memory is called now; one that a restore moved aside has another name.
fn name_now(server: &Server) -> Result<Option<String>> {
    let number = server.profile();
    let mut client = server.pool().get()?;
    // One message to the server, so that it can be asked before every use.
    let ask = format!(
        "select set_config('hermes.profile', '{number}', true); \
         select name from hermes.profile where profile = {number}"
    );
    let answers = client.simple_query(&ask).map_err(|error| -> Error { client.refused(&error) })?;
    Ok(answers.iter().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.try_get("name").ok().flatten().map(str::to_owned),
        _ => None,
    }))
}
