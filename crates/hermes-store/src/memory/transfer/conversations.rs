//! Sessions, episodes and messages: a message keeps its place, and a session that is taken goes on in a next part.

use rusqlite::params;
use rusqlite::types::Value as Column;
use serde_json::Value;

use super::importer::{
    Fate, Fields, Importer, Later, Taking, Thing, Whose, integer, is_set, list, needed_text,
    objects, text, time,
};
use super::tables::Table;
use super::writing;
use crate::memory::backend::{self, OptionalExtension};
use crate::memory::covered;
use crate::memory::graves::{self, GraveKind, Key};
use crate::memory::numbers;
use crate::memory::{
    ChunkKey, ItemKind, MESSAGES, MessageKey, PortableText, SessionKey, UserNumber, marks,
};

/// A message that is not here yet.
struct Fresh<'f> {
    fields: &'f Fields,
    there: MessageKey,
    keys: Vec<Key>,
}

/// The messages of an episode, told apart.
#[derive(Default)]
struct Sifted<'f> {
    fresh: Vec<Fresh<'f>>,
    /// An episode here that has one of them.
    known_in: Option<i64>,
}

/// Where the messages of an episode go.
struct Target {
    episode: i64,
    session: SessionKey,
    user: UserNumber,
    is_indexed: bool,
}

impl Importer<'_> {
    pub(super) fn take_session(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        let whose = self.whose(fields)?;
        let session_id = needed_text(fields, "session_id")?;
        if let Some(until) = self.session_buried(whose, session_id)?
            && !graves::is_newer(time(fields, "last_at")?, until)
        {
            return self.forget(Thing::Session, there);
        }
        let known: Option<i64> = self
            .transaction
            .prepare_cached(writing::SESSION_KNOWN)?
            .query_row(params![session_id, whose.here.get(), integer(fields, "part")?], |row| {
                row.get(0)
            })
            .optional()?;
        if let Some(id) = known {
            self.note(Thing::Session, there, id)?;
            // One that an earlier run of this import made, and no other.
            if self.import.resumes && id > self.last_session_before(whose.here) {
                self.note_session_end(id, fields)?;
            }
            return Ok(Fate::Known);
        }
        self.keep_labels(fields)?;
        let id = self.session_number(whose.here, Some(there))?;
        self.write(writing::SESSION, fields, &[("id", Column::Integer(id))])?;
        self.note_session_end(id, fields)?;
        self.note(Thing::Session, there, id)?;
        Ok(Fate::Added)
    }

    pub(super) fn take_episode(&mut self, fields: &Fields) -> Taking<Fate> {
        let there = integer(fields, "id")?;
        if self.is_erased(fields)? {
            return self.forget(Thing::Episode, there);
        }
        let whose = self.whose(fields)?;
        if let Some(id) = self.by_uid(writing::EPISODE_KNOWN, fields)? {
            self.note(Thing::Episode, there, id)?;
            self.go_on(id, fields, whose)?;
            return Ok(Fate::Known);
        }
        let session_there = integer(fields, "session")?;
        if self.is_forgotten(Thing::Session, session_there)? {
            return self.forget(Thing::Episode, there);
        }
        let sifted = self.sift(fields, whose)?;
        let has_messages = !list(fields, "messages").is_empty();
        if has_messages && sifted.fresh.is_empty() {
            let Some(known) = sifted.known_in else { return self.forget(Thing::Episode, there) };
            self.note(Thing::Episode, there, known)?;
            return Ok(Fate::Known);
        }
        self.keep_labels(fields)?;
        let session = self.session_for(fields, has_messages)?;
        let target = self.make_episode(fields, (session, whose), &sifted)?;
        self.keep_messages(&target, &sifted.fresh, fields)?;
        Ok(Fate::Added)
    }

    /// Makes the row of an episode with what belongs to it.
    fn make_episode(
        &mut self,
        fields: &Fields,
        (session, whose): (SessionKey, Whose),
        sifted: &Sifted<'_>,
    ) -> Taking<Target> {
        let there = integer(fields, "id")?;
        let id = self.number(Table::Episode, Some(there))?;
        // The rest of a long one follows: until then it ends where this line ends.
        let last_place = match sifted.fresh.last() {
            Some(last) if is_set(fields, "more") => last.there.place(),
            _ => integer(fields, "last_place")?,
        };
        let fixed = [
            ("id", Column::Integer(id)),
            ("session", Column::Integer(session.get())),
            ("last_place", Column::Integer(last_place)),
        ];
        self.write(writing::EPISODE, fields, &fixed)?;
        self.note(Thing::Episode, there, id)?;
        self.note_later(Later::Episode, id, fields)?;
        self.keep_belongings((ItemKind::Summary, id), fields, whose)?;
        let user = whose.here;
        let is_held = !is_set(fields, "retired_at");
        if let Some(body) = text(fields, "body").filter(|_| is_held) {
            let key = |part| ChunkKey::of_item(user, ItemKind::Summary, id, part);
            let further = Some(text(fields, "further").unwrap_or_default());
            let words =
                PortableText { text: body, caption: None, speaker: None, at: None, further };
            self.index(&words, key, time(fields, "started_at")?);
        }
        self.keep_covered(id, fields)?;
        Ok(Target { episode: id, session, user, is_indexed: is_held })
    }

    /// An episode that is here: what it was told to have since is added, if it is still its session's last.
    fn go_on(&mut self, id: i64, fields: &Fields, whose: Whose) -> Taking<()> {
        if self.import.resumes {
            self.note_later(Later::Episode, id, fields)?;
        }
        self.map_covered(id, fields)?;
        let (session, first, last, is_open): (i64, i64, i64, bool) = self
            .transaction
            .prepare_cached(writing::EPISODE_HERE)?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        if list(fields, "messages").is_empty() {
            return Ok(());
        }
        self.note(Thing::Session, integer(fields, "session")?, session)?;
        let sifted = self.sift(fields, whose)?;
        let next = self.next_place(session)?;
        if !is_open || first != integer(fields, "first_place")? || next > last + 1 {
            return Ok(());
        }
        let fresh: Vec<Fresh<'_>> =
            sifted.fresh.into_iter().filter(|one| one.there.place() > last).collect();
        let Some(end) = fresh.last().map(|last| last.there.place()) else { return Ok(()) };
        let ended_at = time(fields, "ended_at")?.as_millisecond();
        let tokens = integer(fields, "tokens")?;
        self.transaction
            .prepare_cached(writing::GROW_EPISODE)?
            .execute(params![id, end, ended_at, tokens])?;
        let session = SessionKey::from_row(session);
        let target = Target { episode: id, session, user: whose.here, is_indexed: true };
        self.keep_messages(&target, &fresh, fields)
    }

    /// Tells the messages that are here, or were to be forgotten, from those that are new.
    fn sift<'f>(&mut self, fields: &'f Fields, whose: Whose) -> Taking<Sifted<'f>> {
        let session = integer(fields, "session")?;
        let mut sifted = Sifted::default();
        let buried_until = match self.here(Thing::Session, session)? {
            Some(here) => self.session_here_buried(here, whose)?,
            None => None,
        };
        for message in objects(fields, "messages") {
            let there = MessageKey::from_row(integer(message, "id")?);
            if there.session().get() != session || there.get() < 0 {
                return Err("one of its messages belongs to another session".to_owned().into());
            }
            let keys = self.origin_keys(message, whose);
            if let Some(here) = self.message_known(&keys, message)? {
                self.note(Thing::Message, there.get(), here)?;
                let episode = self
                    .transaction
                    .prepare_cached(writing::EPISODE_OF_MESSAGE)?
                    .query_row([here], |row| row.get(0))
                    .optional()?;
                sifted.known_in = sifted.known_in.or(episode);
                self.imported.tally(MESSAGES).known += 1;
                continue;
            }
            let at = time(message, "at")?;
            let is_buried = buried_until.is_some_and(|until| !graves::is_newer(at, until));
            if is_buried || self.message_buried(whose, &keys)? {
                self.imported.tally(MESSAGES).forgotten += 1;
                continue;
            }
            sifted.fresh.push(Fresh { fields: message, there, keys });
        }
        Ok(sifted)
    }

    /// The message here that has one of the keys and says the same, or was said at the same moment: an export may
    /// have hidden a part of it.
    fn message_known(&self, keys: &[Key], message: &Fields) -> Taking<Option<i64>> {
        let hash = self.transaction.text_hash(text(message, "text").unwrap_or_default());
        let at = time(message, "at")?.as_millisecond();
        let mut known = self.transaction.prepare_cached(writing::MESSAGE_KNOWN)?;
        for key in keys.iter().flat_map(|key| [*key, graves::key_with_text(key, &hash)]) {
            let found = known.query_row(params![key, hash, at], |row| row.get(0)).optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn message_buried(&self, whose: Whose, keys: &[Key]) -> Taking<bool> {
        for key in keys {
            let grave = (GraveKind::Message, *key);
            if graves::buried_at(self.transaction, whose.here, grave)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn session_here_buried(&self, session: i64, whose: Whose) -> Taking<Option<i64>> {
        let session_id: Option<String> = self
            .transaction
            .prepare_cached("select session_id from session where id = ?1")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        match session_id {
            Some(session_id) => self.session_buried(whose, &session_id),
            None => Ok(None),
        }
    }

    /// Until when what was said in a session is to be forgotten.
    fn session_buried(&self, whose: Whose, session_id: &str) -> Taking<Option<i64>> {
        let key = graves::session_key(whose.here, session_id);
        let here = graves::buried_at(self.transaction, whose.here, (GraveKind::Session, key))?;
        let there = graves::session_key(UserNumber::new(whose.there), session_id);
        let moved = (GraveKind::Session, self.key_here(there, whose));
        let there = graves::buried_at(self.transaction, whose.here, moved)?;
        Ok(here.max(there))
    }

    /// The session an episode goes to: its own, unless others have spoken at its place there.
    fn session_for(&mut self, fields: &Fields, has_messages: bool) -> Taking<SessionKey> {
        let there = integer(fields, "session")?;
        let here = self.here(Thing::Session, there)?;
        let here = here.ok_or_else(|| "its session is not in the document".to_owned())?;
        if !has_messages || integer(fields, "first_place")? >= self.next_place(here)? {
            return Ok(SessionKey::from_row(here));
        }
        let user = self.whose(fields)?.here;
        let next = self.session_number(user, None)?;
        self.transaction.prepare_cached(writing::NEXT_PART)?.execute([here, next])?;
        self.note(Thing::Session, there, next)?;
        Ok(SessionKey::from_row(next))
    }

    /// Notes where a session ends in the document.
    fn note_session_end(&self, id: i64, fields: &Fields) -> Taking<()> {
        let fixed = [("id", Column::Integer(id))];
        self.write(writing::NO_SESSION_END, fields, &fixed)?;
        self.write(writing::SESSION_END, fields, &fixed)?;
        Ok(())
    }

    fn next_place(&self, session: i64) -> Taking<i64> {
        let mut statement = self.transaction.prepare_cached(writing::NEXT_PLACE)?;
        Ok(statement.query_row([session], |row| row.get(0))?)
    }

    fn session_number(&self, user: UserNumber, there: Option<i64>) -> Taking<i64> {
        let all = SessionKey::all_of(user);
        let before = self.last_session_before(user);
        if let Some(there) = there.filter(|there| all.contains(there) && *there > before)
            && !self.transaction.prepare_cached(writing::SESSION_TAKEN)?.exists([there])?
        {
            return Ok(there);
        }
        let last: Option<i64> = self
            .transaction
            .prepare_cached(writing::LAST_SESSION)?
            .query_row([all.start(), all.end()], |row| row.get(0))?;
        let number = last.map_or(0, |last| last - all.start() + 1);
        let key = SessionKey::new(user, number);
        Ok(key.ok_or_else(|| "its user cannot have more sessions".to_owned())?.get())
    }

    /// The last session that a user had before the import.
    fn last_session_before(&self, user: UserNumber) -> i64 {
        let name = format!("session:{}", user.get());
        self.import.numbers_here.get(&name).copied().unwrap_or(-1)
    }

    fn keep_messages(
        &mut self,
        target: &Target,
        fresh: &[Fresh<'_>],
        fields: &Fields,
    ) -> Taking<()> {
        for message in fresh {
            self.keep_message(target, message)?;
        }
        let Some(last) = fresh.last() else { return Ok(()) };
        let next = match is_set(fields, "more") {
            true => last.there.place() + 1,
            false => integer(fields, "last_place")?.max(last.there.place()) + 1,
        };
        let (ended, started) = (time(fields, "ended_at")?, time(fields, "started_at")?);
        self.transaction.prepare_cached(writing::FILL_SESSION)?.execute(params![
            target.session.get(),
            next,
            ended.as_millisecond(),
            started.as_millisecond()
        ])?;
        Ok(())
    }

    fn keep_message(&mut self, target: &Target, message: &Fresh<'_>) -> Taking<()> {
        let fields = message.fields;
        let key = MessageKey::new(target.session, message.there.place())
            .ok_or_else(|| "one of its messages has no position".to_owned())?;
        let words = needed_text(fields, "text")?;
        let fixed = [
            ("id", Column::Integer(key.get())),
            ("episode", Column::Integer(target.episode)),
            ("marks", Column::Integer(marks::marks(words))),
        ];
        self.write(writing::MESSAGE, fields, &fixed)?;
        if self.message_here(message.there.get())? != Some(key.get()) {
            self.note(Thing::Message, message.there.get(), key.get())?;
        }
        let hash = self.transaction.text_hash(words);
        for origin in &message.keys {
            let mut add = self.transaction.prepare_cached(writing::MESSAGE_ORIGIN)?;
            if add.execute(params![origin, key.get(), &hash[..]])? == 0 {
                // Another message with other words has the key.
                let origin = graves::key_with_text(origin, &hash);
                add.execute(params![origin, key.get(), &hash[..]])?;
            }
        }
        let owner = [("message", Column::Integer(key.get()))];
        for step in objects(fields, "steps") {
            self.write(writing::STEP, step, &owner)?;
        }
        self.keep_mentions((ItemKind::Message, key.get()), fields)?;
        self.note_speaker(target.user, fields)?;
        self.imported.tally(MESSAGES).added += 1;
        if target.is_indexed {
            let at = time(fields, "at")?;
            let words = PortableText {
                text: words,
                caption: text(fields, "caption"),
                speaker: text(fields, "speaker"),
                at: Some(at),
                further: None,
            };
            self.index(&words, |part| ChunkKey::of_message(key, part), at);
        }
        Ok(())
    }

    /// Keeps the words of a speaker's name, unless it only repeats the role.
    fn note_speaker(&self, user: UserNumber, fields: &Fields) -> Taking<()> {
        let Some(name) = text(fields, "speaker").filter(|name| Some(*name) != text(fields, "role"))
        else {
            return Ok(());
        };
        for word in name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let speaker = params![user.get(), word.to_lowercase(), name];
            self.transaction.prepare_cached(writing::SPEAKER)?.execute(speaker)?;
        }
        Ok(())
    }

    /// Which episodes, gone since, a summary tells of, and of which sessions.
    fn keep_covered(&self, summary: i64, fields: &Fields) -> Taking<()> {
        for cover in objects(fields, "covers") {
            let there = integer(cover, "episode")?;
            let Some(session) = self.here(Thing::Session, integer(cover, "session")?)? else {
                continue;
            };
            let here = self.number(Table::Episode, Some(there))?;
            numbers::raise(self.transaction, "episode", here)?;
            covered::add(self.transaction, here, (summary, session))?;
            self.note(Thing::Episode, there, here)?;
        }
        for there in list(fields, "sessions").iter().filter_map(Value::as_i64) {
            if let Some(session) = self.here(Thing::Session, there)? {
                let told = [summary, session];
                self.transaction.prepare_cached(writing::TOLD_SESSION)?.execute(told)?;
            }
        }
        Ok(())
    }

    /// The numbers that episodes, gone since, have here: those of a summary are kept in one order.
    fn map_covered(&self, summary: i64, fields: &Fields) -> Taking<()> {
        let there: Vec<i64> = objects(fields, "covers")
            .filter_map(|cover| cover.get("episode").and_then(Value::as_i64))
            .collect();
        if there.is_empty() {
            return Ok(());
        }
        let here: Vec<i64> = self
            .transaction
            .prepare_cached(writing::COVERED_HERE)?
            .query_map([summary], |row| row.get(0))?
            .collect::<backend::Result<_>>()?;
        if here.len() == there.len() {
            for (there, here) in there.into_iter().zip(here) {
                self.note(Thing::Episode, there, here)?;
            }
        }
        Ok(())
    }
}
