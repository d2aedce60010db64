//! A transcript compared with what is recorded: by where messages came from, or else by what they say and when.

use std::collections::HashMap;

use rusqlite::params;

use super::super::backend::{self, Connection, OptionalExtension};
use super::super::graves::{self, Key};
use super::super::{Outcome, people};
use crate::memory::{MOST_PLACES, MessageKey, Offered, SessionKey, UserNumber};
use crate::migrate::text_hash;

/// Says of each message whether it is recorded; one that is known only by its words gets its key.
pub(super) fn adopt(
    transaction: &Connection,
    user: UserNumber,
    (source, session_id): (&str, &str),
    offered: &[Offered<'_>],
) -> Outcome<Vec<bool>> {
    let numbers = people::numbers_of(transaction, user)?;
    let session = Session { transaction, numbers, source, session_id };
    let mut said = session.said()?;
    let told_until = session.told_until()?;
    let mut known = vec![false; offered.len()];
    for (place, one) in offered.iter().enumerate() {
        if let Some(item) = session.by_key(one)? {
            said.take_one(&prints_of(transaction, one), Some(item));
            known[place] = true;
        }
    }
    for (place, one) in offered.iter().enumerate() {
        if known[place] {
            continue;
        }
        let former = session.by_former_key(one, told_until)?;
        let prints = prints_of(transaction, one);
        let item = match &former {
            Some((_, item)) => said.take_one(&prints, Some(*item)).or(Some(*item)),
            None => said.take_one(&prints, None),
        };
        if let Some(item) = item {
            session.give_key(one, former.map(|(key, _)| key), item)?;
            known[place] = true;
        }
    }
    Ok(known)
}

/// The message that has a key; with the hash of a text, only one that says it. Of one that a summary tells of, the
/// text is not known any more.
pub(super) fn recorded(
    connection: &Connection,
    key: &Key,
    text: Option<Key>,
) -> backend::Result<Option<i64>> {
    let Some(text) = text else {
        return connection.prepare_cached(BY_KEY)?.query_row([key], |row| row.get(0)).optional();
    };
    let mut statement = connection.prepare_cached(BY_KEY_AND_TEXT)?;
    for key in [*key, graves::key_with_text(key, &text)] {
        let found = statement.query_row([key, text], |row| row.get(0)).optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// What a message says, and when: a hash and milliseconds.
type Print = (Key, i64);

/// What may be known of a message: as it is kept first, then to the letter.
fn prints_of(transaction: &Connection, one: &Offered<'_>) -> Vec<Print> {
    let texts = std::iter::once(one.text).chain(one.said);
    texts.map(|text| (transaction.text_hash(text), one.at.as_millisecond())).collect()
}

/// What was recorded in a session, each message to stand for one that is offered.
#[derive(Default)]
struct SaidBefore(HashMap<Print, Vec<i64>>);

impl SaidBefore {
    /// Takes out a message that has one of the prints.
    fn take_one(&mut self, prints: &[Print], wanted: Option<i64>) -> Option<i64> {
        prints.iter().find_map(|print| self.take(print, wanted))
    }

    /// Takes a message that says the same out: this one, or the first there is.
    fn take(&mut self, print: &Print, wanted: Option<i64>) -> Option<i64> {
        let left = self.0.get_mut(print)?;
        let place = match wanted {
            Some(item) => left.iter().position(|one| *one == item)?,
            None if left.is_empty() => return None,
            None => 0,
        };
        Some(left.remove(place))
    }
}

/// A session of one user, and where its messages come from.
struct Session<'a> {
    transaction: &'a Connection,
    /// The user, and those merged into them.
    numbers: Vec<UserNumber>,
    source: &'a str,
    session_id: &'a str,
}

impl Session<'_> {
    fn parts(&self) -> backend::Result<Vec<SessionKey>> {
        let Some(user) = self.numbers.first() else { return Ok(Vec::new()) };
        let asked = params![self.session_id, user.get()];
        let key = |row: &backend::Row<'_>| row.get(0).map(SessionKey::from_row);
        self.transaction.prepare_cached(PARTS)?.query_map(asked, key)?.collect()
    }

    fn said(&self) -> Outcome<SaidBefore> {
        let mut said = SaidBefore::default();
        for part in self.parts()? {
            let Some(first) = MessageKey::new(part, 0) else { continue };
            let range = [first.get(), first.get() + MOST_PLACES - 1];
            let mut statement = self.transaction.prepare_cached(MESSAGES)?;
            let mut rows = statement.query(range)?;
            while let Some(row) = rows.next()? {
                let text: String = row.get(2)?;
                said.0.entry((text_hash(&text), row.get(1)?)).or_default().push(row.get(0)?);
            }
        }
        Ok(said)
    }

    /// Until when summaries tell what was said here.
    fn told_until(&self) -> Outcome<Option<i64>> {
        let mut until = None;
        for part in self.parts()? {
            let told: Option<i64> = self
                .transaction
                .prepare_cached(TOLD_UNTIL)?
                .query_row([part.get()], |row| row.get(0))?;
            until = until.max(told);
        }
        Ok(until)
    }

    fn by_key(&self, one: &Offered<'_>) -> Outcome<Option<i64>> {
        for user in &self.numbers {
            let key = graves::message_key(*user, self.source, self.session_id, one.external_id);
            for (hash, _) in prints_of(self.transaction, one) {
                if let Some(item) = recorded(self.transaction, &key, Some(hash))? {
                    return Ok(Some(item));
                }
            }
        }
        Ok(None)
    }

    /// A message that is known by what it was called before, if it was said then: the same name was given to others.
    fn by_former_key(
        &self,
        one: &Offered<'_>,
        told_until: Option<i64>,
    ) -> Outcome<Option<(Key, i64)>> {
        let Some(former) = one.former_id else { return Ok(None) };
        let at = one.at.as_millisecond();
        for user in &self.numbers {
            let key = graves::message_key(*user, self.source, self.session_id, former);
            let Some(item) = recorded(self.transaction, &key, None)? else { continue };
            let said_at: Option<i64> = self
                .transaction
                .prepare_cached(SAID_AT)?
                .query_row([item], |row| row.get(0))
                .optional()?;
            let is_it = match said_at {
                Some(said_at) => said_at == at,
                None => told_until.is_some_and(|until| at <= until),
            };
            if is_it {
                return Ok(Some((key, item)));
            }
        }
        Ok(None)
    }

    fn give_key(&self, one: &Offered<'_>, former: Option<Key>, item: i64) -> Outcome<()> {
        let Some(user) = self.numbers.first() else { return Ok(()) };
        let hash = self.transaction.text_hash(one.text);
        let mut key = graves::message_key(*user, self.source, self.session_id, one.external_id);
        if recorded(self.transaction, &key, None)?.is_some() {
            key = graves::key_with_text(&key, &hash);
        }
        let mut left = self.transaction.prepare_cached(DROP_KEY)?;
        if let Some(former) = former {
            left.execute([&former[..]])?;
        }
        let row = params![&key[..], item, &hash[..]];
        self.transaction.prepare_cached(ADD_KEY)?.execute(row)?;
        Ok(())
    }
}

const PARTS: &str = "select id from session where session_id = ?1 and user_id = ?2 order by part";
const MESSAGES: &str = "select id, at, text from message where id between ?1 and ?2 order by id";
const TOLD_UNTIL: &str = "
    select max(e.ended_at) from covered c join episode e on e.id = c.summary where c.session = ?1";
const BY_KEY: &str = "select item from origin where key = ?1 and kind = 0";
const BY_KEY_AND_TEXT: &str = "
    select item from origin where key = ?1 and kind = 0 and (hash is null or hash = ?2)";
const SAID_AT: &str = "select at from message where id = ?1";
const DROP_KEY: &str = "delete from origin where key = ?1";
const ADD_KEY: &str = "insert into origin (key, kind, item, hash) values (?1, 0, ?2, ?3)";
