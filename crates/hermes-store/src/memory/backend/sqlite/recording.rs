//! Recording to a file: row by row, as they come.

use rusqlite::params;

use super::super::{Foreseen, OptionalExtension, Recording, Result};
use super::File;
use crate::memory::graves::Key;
use crate::memory::recorder::Row;

/// Writes what is recorded to a file.
pub(super) struct FileRecording<'f>(pub(super) &'f File);

impl Recording for FileRecording<'_> {
    fn look_up(&mut self, _: &[Key], _: &dyn Fn() -> Vec<Foreseen>) -> Result<()> {
        Ok(())
    }

    fn known(&self, key: &Key) -> Result<Option<Option<Key>>> {
        let mut known = self.0.as_backend().prepare_cached(KNOWN_ORIGIN)?;
        let found: Option<Option<Vec<u8>>> =
            known.query_row([&key[..]], |row| row.get(0)).optional()?;
        Ok(found.map(|hash| hash.and_then(|hash| Key::try_from(hash).ok())))
    }

    fn add(&mut self, row: &Row<'_>, origin: Key, hash: Key) -> Result<()> {
        let Row { id, episode, at, role, speaker, marks, text, caption } = *row;
        let message = params![id, episode, at, role, speaker, marks, text, caption];
        let file = self.0.as_backend();
        file.prepare_cached(ADD_MESSAGE)?.execute(message)?;
        file.prepare_cached(ADD_ORIGIN)?.execute(params![&origin[..], id, &hash[..]])?;
        Ok(())
    }

    fn close_episode(&mut self, row: [i64; 5]) -> Result<()> {
        self.0.as_backend().prepare_cached(CLOSE_EPISODE)?.execute(row)?;
        Ok(())
    }

    fn close_session(&mut self, row: [i64; 4]) -> Result<()> {
        self.0.as_backend().prepare_cached(CLOSE_SESSION)?.execute(row)?;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

const ADD_ORIGIN: &str = "insert into origin (key, kind, item, hash) values (?1, 0, ?2, ?3)";
const ADD_MESSAGE: &str = "
    insert into message (id, episode, at, role, speaker, marks, text, caption)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
// What is new in a session was not looked back on, and a session that goes on is not over.
const CLOSE_SESSION: &str = "
    update session set messages = ?2, last_at = ?3, started_at = ?4, reflected_at = null,
      ended_at = case when ended_at < ?3 then null else ended_at end
    where id = ?1";
// Nothing was drawn yet from what is new in an episode.
const CLOSE_EPISODE: &str = "
    update episode
    set last_place = ?2, ended_at = ?3, tokens = ?4, imported = ?5, extracted_at = null
    where id = ?1";
const KNOWN_ORIGIN: &str = "select hash from origin where key = ?1";
