//! Whether a message is recorded already: by where it came from and by its words, unless it was to be forgotten.

use super::super::graves::{self, GraveKind};
use super::super::{Outcome, Refusal};
use super::Recorder;
use crate::Error;
use crate::memory::backend::Connection;
use crate::memory::{NewMessage, UserNumber};

/// What is known of a message before it is recorded.
pub(super) enum Lookup {
    Buried,
    Known,
    New(graves::Key),
}

/// All keys that a message of a user with these numbers may be known by.
pub(super) fn possible_keys(
    transaction: &Connection,
    numbers: &[UserNumber],
    message: &NewMessage<'_>,
) -> Vec<graves::Key> {
    let texts = texts(transaction, message);
    let with_texts = |key: graves::Key| {
        let keys = texts.iter().map(move |text| graves::key_with_text(&key, text));
        std::iter::once(key).chain(keys).collect::<Vec<_>>()
    };
    keys(numbers, message, message.external_id).into_iter().flat_map(with_texts).collect()
}

/// The hashes of what a message says: as it is kept, and to the letter. Either may be what is known of it.
fn texts(transaction: &Connection, message: &NewMessage<'_>) -> Vec<graves::Key> {
    let texts = std::iter::once(message.text).chain(message.said);
    texts.map(|text| transaction.text_hash(text)).collect()
}

/// What a message is known by under a name: of this user, and of those merged into them.
fn keys(numbers: &[UserNumber], message: &NewMessage<'_>, name: &str) -> Vec<graves::Key> {
    let NewMessage { source, session_id, .. } = *message;
    let key_of = |user: &UserNumber| graves::message_key(*user, source, session_id, name);
    numbers.iter().map(key_of).collect()
}

impl Recorder<'_> {
    /// Whether a message is known, to be forgotten, or new; then what it will be known by. A message with the key of
    /// another one that says something else is new.
    pub(super) fn look_up(
        &mut self,
        message: &NewMessage<'_>,
        text: graves::Key,
    ) -> Outcome<Lookup> {
        if self.is_formerly_buried(message)? {
            return Ok(Lookup::Buried);
        }
        let mut own = None;
        let texts = texts(self.transaction, message);
        for key in keys(&self.numbers, message, message.external_id) {
            let mut is_taken = false;
            let with_texts = texts.iter().map(|text| graves::key_with_text(&key, text));
            for key in std::iter::once(key).chain(with_texts) {
                if self.is_buried(message, key)? {
                    return Ok(Lookup::Buried);
                }
                match self.origin(&key)? {
                    Some(known) if known.is_none_or(|known| texts.contains(&known)) => {
                        return Ok(Lookup::Known);
                    }
                    Some(_) => is_taken = true,
                    None => {}
                }
            }
            let free = if is_taken { graves::key_with_text(&key, &text) } else { key };
            own.get_or_insert(free);
        }
        own.map(Lookup::New).ok_or(Refusal::Rule(Error::Full { what: "the list of users" }))
    }

    /// The hash of the text that is known by a key, if one is; none of a text that is gone.
    fn origin(&self, key: &graves::Key) -> Outcome<Option<Option<graves::Key>>> {
        Ok(self.recording.known(key)?)
    }

    /// Whether the message was forgotten under what it was called before. Others had that name too: what was said
    /// after the forgetting was not meant.
    fn is_formerly_buried(&self, message: &NewMessage<'_>) -> Outcome<bool> {
        let Some(former) = message.former_id.filter(|_| self.has_buried_messages) else {
            return Ok(false);
        };
        for key in keys(&self.numbers, message, former) {
            let grave = (GraveKind::Message, key);
            let buried = graves::buried_at(self.transaction, self.user, grave)?;
            if buried.is_some_and(|at| !graves::is_newer(message.at, at)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the message was to be forgotten, alone or with all that was said in its session until then.
    fn is_buried(&mut self, message: &NewMessage<'_>, origin: graves::Key) -> Outcome<bool> {
        let buried_until = match self.buried_sessions.get(message.session_id) {
            Some(known) => *known,
            None => {
                let found =
                    graves::session_buried_at(self.transaction, &self.numbers, message.session_id)?;
                self.buried_sessions.insert(message.session_id.to_owned(), found);
                found
            }
        };
        if buried_until.is_some_and(|until| !graves::is_newer(message.at, until)) {
            return Ok(true);
        }
        if !self.has_buried_messages {
            return Ok(false);
        }
        let found = graves::buried_at(self.transaction, self.user, (GraveKind::Message, origin))?;
        Ok(found.is_some())
    }
}
