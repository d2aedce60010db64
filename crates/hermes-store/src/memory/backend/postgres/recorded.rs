//! What recording writes to a server: gathered, and sent in one go instead of row by row.

use std::collections::HashMap;

use ::postgres::types::{ToSql, Type};

use super::Server;
use super::cells::storable;
use super::transaction::Owned;
use crate::memory::backend::{Foreseen, Recording, Result};
use crate::memory::graves::Key;
use crate::memory::recorder::Row;
use crate::postgres::Request;

/// Messages, where they came from, and what became of their episodes and sessions.
#[derive(Debug, Default)]
struct Gathered {
    messages: Messages,
    /// The keys of what is known already, and of what is recorded now, with the hashes of the texts.
    known: HashMap<Key, Option<Key>>,
    origins: (Vec<Vec<u8>>, Vec<i64>, Vec<Vec<u8>>),
    episodes: Numbers<5>,
    sessions: Numbers<4>,
}

#[derive(Debug, Default)]
struct Messages {
    ids: Vec<i64>,
    episodes: Vec<i64>,
    times: Vec<i64>,
    roles: Vec<String>,
    speakers: Vec<Option<String>>,
    marks: Vec<i64>,
    texts: Vec<String>,
    captions: Vec<Option<String>>,
}

/// Columns of numbers.
#[derive(Debug)]
struct Numbers<const COUNT: usize>([Vec<i64>; COUNT]);

impl<const COUNT: usize> Default for Numbers<COUNT> {
    fn default() -> Numbers<COUNT> {
        Numbers([const { Vec::new() }; COUNT])
    }
}

impl<const COUNT: usize> Numbers<COUNT> {
    fn add(&mut self, row: [i64; COUNT]) {
        for (column, value) in self.0.iter_mut().zip(row) {
            column.push(value);
        }
    }

    fn write(&mut self, server: &Server, text: &str) -> Result<()> {
        if self.0[0].is_empty() {
            return Ok(());
        }
        let mut given: Vec<Owned> = vec![(Box::new(server.profile()), Type::INT8)];
        for column in std::mem::take(self).0 {
            given.push((Box::new(column), Type::INT8_ARRAY));
        }
        server.change_later(text, given)
    }
}

/// Records to a server.
pub(super) struct ServerRecording<'s> {
    server: &'s Server,
    gathered: Gathered,
}

impl<'s> ServerRecording<'s> {
    pub(super) fn new(server: &'s Server) -> ServerRecording<'s> {
        ServerRecording { server, gathered: Gathered::default() }
    }
}

impl Recording for ServerRecording<'_> {
    fn look_up(&mut self, keys: &[Key], next: &dyn Fn() -> Vec<Foreseen>) -> Result<()> {
        self.gathered.look_up(self.server, keys, &next())
    }

    fn known(&self, key: &Key) -> Result<Option<Option<Key>>> {
        Ok(self.gathered.known.get(key).copied())
    }

    fn add(&mut self, row: &Row<'_>, origin: Key, text: Key) -> Result<()> {
        self.gathered.add_message(row);
        self.gathered.add_origin(origin, row.id, text);
        Ok(())
    }

    fn close_episode(&mut self, row: [i64; 5]) -> Result<()> {
        self.gathered.episodes.add(row);
        Ok(())
    }

    fn close_session(&mut self, row: [i64; 4]) -> Result<()> {
        self.gathered.sessions.add(row);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.gathered.write(self.server)
    }
}

impl Gathered {
    /// Finds out which of these keys are known.
    fn look_up(&mut self, server: &Server, keys: &[Key], next: &[Foreseen]) -> Result<()> {
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let asked: [(&(dyn ToSql + Sync), Type); 2] =
            [(&server.profile(), Type::INT8), (&keys, Type::BYTEA_ARRAY)];
        for row in server.ask_with(Request::Query(KNOWN, &asked), next)? {
            let (key, text): (&[u8], Option<&[u8]>) = (row.try_get(0)?, row.try_get(1)?);
            let text = text.and_then(|text| Key::try_from(text).ok());
            self.known.extend(Key::try_from(key).map(|key| (key, text)));
        }
        Ok(())
    }

    fn add_message(&mut self, row: &Row<'_>) {
        let owned = |text: &str| storable(text).into_owned();
        let messages = &mut self.messages;
        messages.ids.push(row.id);
        messages.episodes.push(row.episode);
        messages.times.push(row.at);
        messages.roles.push(owned(row.role));
        messages.speakers.push(row.speaker.map(owned));
        messages.marks.push(row.marks);
        messages.texts.push(owned(row.text));
        messages.captions.push(row.caption.map(owned));
    }

    fn add_origin(&mut self, key: Key, message: i64, text: Key) {
        self.known.insert(key, Some(text));
        self.origins.0.push(key.to_vec());
        self.origins.1.push(message);
        self.origins.2.push(text.to_vec());
    }

    fn write(&mut self, server: &Server) -> Result<()> {
        let Messages { ids, episodes, times, roles, speakers, marks, texts, captions } =
            std::mem::take(&mut self.messages);
        let (keys, items, hashes) = std::mem::take(&mut self.origins);
        let profile = server.profile();
        if !ids.is_empty() {
            let given: [Owned; 9] = [
                (Box::new(profile), Type::INT8),
                (Box::new(ids), Type::INT8_ARRAY),
                (Box::new(episodes), Type::INT8_ARRAY),
                (Box::new(times), Type::INT8_ARRAY),
                (Box::new(roles), Type::TEXT_ARRAY),
                (Box::new(speakers), Type::TEXT_ARRAY),
                (Box::new(marks), Type::INT8_ARRAY),
                (Box::new(texts), Type::TEXT_ARRAY),
                (Box::new(captions), Type::TEXT_ARRAY),
            ];
            server.change_later(ADD_MESSAGES, given.into())?;
            let given: [Owned; 4] = [
                (Box::new(profile), Type::INT8),
                (Box::new(keys), Type::BYTEA_ARRAY),
                (Box::new(items), Type::INT8_ARRAY),
                (Box::new(hashes), Type::BYTEA_ARRAY),
            ];
            server.change_later(ADD_ORIGINS, given.into())?;
        }
        self.episodes.write(server, CLOSE_EPISODES)?;
        self.sessions.write(server, CLOSE_SESSIONS)
    }
}

// Each key by itself: of a profile that is new to it, the server would rather read every key there is.
const KNOWN: &str = "
    select o.key, o.hash from unnest($2) as asked (key), lateral (
      select key, hash from hermes.origin where profile = $1 and key = asked.key offset 0) o";
const ADD_MESSAGES: &str = "
    insert into hermes.message (profile, id, episode, at, role, speaker, marks, text, caption)
    select $1, given.* from unnest($2, $3, $4, $5, $6, $7, $8, $9) as given";
const ADD_ORIGINS: &str = "
    insert into hermes.origin (profile, key, kind, item, hash)
    select $1, key, 0, item, hash from unnest($2, $3, $4) as given (key, item, hash)";
// The same as of a file. An episode or session that was closed twice stands as it was closed last.
const CLOSE_EPISODES: &str = "
    update hermes.episode e
    set last_place = given.last_place, ended_at = given.ended_at, tokens = given.tokens,
      imported = given.imported, extracted_at = null
    from (select distinct on (id) * from unnest($2, $3, $4, $5, $6) with ordinality
        as given (id, last_place, ended_at, tokens, imported, place) order by id, place desc) given
    where e.profile = $1 and e.id = given.id";
const CLOSE_SESSIONS: &str = "
    update hermes.session s
    set messages = given.messages, last_at = given.last_at, started_at = given.started_at,
      reflected_at = null,
      ended_at = case when s.ended_at < given.last_at then null else s.ended_at end
    from (select distinct on (id) * from unnest($2, $3, $4, $5) with ordinality
        as given (id, messages, last_at, started_at, place) order by id, place desc) given
    where s.profile = $1 and s.id = given.id";
