//! The simple memory: episodes, vectors and what a search asks, by looking at everything.

use std::ops::RangeInclusive;

use hermes_store::memory::{
    Admin, Change, ChunkKey, ChunkRow, Coverage, EmbedModel, Episode, EpisodeState, Extent,
    ItemKind, Message, MessageHead, MessageKey, ModelState, Near, NewChunk, NewMessage, NewModel,
    Postings, QuestionVector, RecallFilter, RecentFilter, Recorded, Scope, SessionChoice,
    SessionKey, Uid, Unembedded,
};
use hermes_store::{Error, Result};
use jiff::Timestamp;

use crate::model::{ModelEpisode, ModelMemory, ModelSession, NO_UID};

impl ModelMemory {
    fn session_for(&mut self, scope: Scope, new: &NewMessage<'_>) -> SessionKey {
        let of_user = |session: &ModelSession| session.user == scope.user();
        let is_it =
            |session: &ModelSession| of_user(session) && session.session_id == new.session_id;
        if let Some((key, _)) = self.sessions.iter().find(|(_, session)| is_it(session)) {
            return *key;
        }
        let number = self.sessions.values().filter(|session| of_user(session)).count();
        let key = SessionKey::new(scope.user(), number as i64).unwrap();
        let session = ModelSession {
            user: scope.user(),
            session_id: new.session_id.to_owned(),
            channel: new.channel.map(str::to_owned),
            started_at: new.at,
            last_at: new.at,
            messages: 0,
        };
        self.sessions.insert(key, session);
        key
    }

    /// The episode a message belongs to; a user's message begins one.
    fn episode_for(&mut self, key: MessageKey, new: &NewMessage<'_>, done: &mut Recorded) -> usize {
        let in_session =
            |one: &ModelEpisode| one.episode.session == key.session() && !one.is_retired;
        // Only the one that ends where the session ends goes on.
        let in_session =
            |one: &ModelEpisode| in_session(one) && one.episode.last_place + 1 == key.place();
        let open = self.episodes.iter().rposition(in_session).filter(|_| new.role != "user");
        if let Some(open) = open {
            return open;
        }
        done.episodes += 1;
        let words = |text: Option<&str>| text.map(str::to_owned);
        let episode = Episode {
            id: self.episodes.len() as i64 + 1,
            uid: Uid::from_bytes(NO_UID),
            user: self.sessions[&key.session()].user,
            session: key.session(),
            session_id: new.session_id.to_owned(),
            first_place: key.place(),
            last_place: key.place(),
            channel: words(new.channel),
            agent: words(new.agent),
            project: words(new.project),
            task_type: None,
            state: EpisodeState::Raw,
            started_at: new.at,
            ended_at: new.at,
            tokens: 0,
            body: None,
            uses: 0,
            imported: new.imported,
        };
        self.episodes.push(ModelEpisode { episode, is_retired: false });
        self.episodes.len() - 1
    }

    fn record_one(&mut self, scope: Scope, new: &NewMessage<'_>, done: &mut Recorded) {
        let known_by = [new.source, new.session_id, new.external_id, new.text].map(str::to_owned);
        if !self.recorded.insert((scope.user(), known_by)) {
            done.known += 1;
            return;
        }
        let session = self.session_for(scope, new);
        let place = self.sessions[&session].messages;
        let key = MessageKey::new(session, place).unwrap();
        let place_of_episode = self.episode_for(key, new, done);
        let episode = &mut self.episodes[place_of_episode].episode;
        episode.last_place = place;
        episode.ended_at = episode.ended_at.max(new.at);
        episode.tokens += new.tokens;
        episode.imported &= new.imported;
        let message = Message {
            key,
            episode: episode.id,
            at: new.at,
            role: new.role.to_owned(),
            speaker: new.speaker.map(str::to_owned),
            text: new.text.to_owned(),
            caption: new.caption.map(str::to_owned),
        };
        self.messages.insert(key.get(), message);
        let session = self.sessions.get_mut(&session).unwrap();
        session.messages += 1;
        session.last_at = session.last_at.max(new.at);
        for (part, chunk) in new.chunks.iter().enumerate() {
            self.index(ChunkKey::of_message(key, part), chunk);
        }
        done.added += 1;
    }

    fn own_episode(&mut self, scope: Scope, id: i64) -> Result<&mut ModelEpisode> {
        let found = self.episodes.iter_mut().find(|one| one.episode.id == id);
        let missing = || Error::NoSuchItem { item: format!("episode:{id}") };
        found.filter(|one| scope.may_read(one.episode.user)).ok_or_else(missing)
    }
}

impl ModelMemory {
    pub(crate) fn record(
        &mut self,
        scope: Scope,
        messages: &[NewMessage<'_>],
        change: Change<'_>,
    ) -> Result<Recorded> {
        let mut done = Recorded::default();
        for message in messages {
            self.record_one(scope, message, &mut done);
        }
        if done.added > 0 {
            self.note("episode.record", format!("{} messages", done.added), change);
        }
        Ok(done)
    }

    pub(crate) fn recent_episodes(
        &self,
        scope: Scope,
        filter: &RecentFilter<'_>,
    ) -> Result<Vec<Episode>> {
        let fits = |one: &&Episode| {
            one.user == scope.user()
                && filter.project.is_none_or(|wanted| one.project.as_deref() == Some(wanted))
                && filter.channel.is_none_or(|wanted| one.channel.as_deref() == Some(wanted))
                && filter.except_session.is_none_or(|other| one.session_id != other)
                && filter.before.is_none_or(|before| one.started_at < before)
        };
        let held = self.episodes.iter().filter(|one| !one.is_retired).map(|one| &one.episode);
        let mut found: Vec<Episode> = held.filter(fits).cloned().collect();
        found.sort_by_key(|one| std::cmp::Reverse((one.started_at, one.id)));
        found.truncate(filter.limit);
        Ok(found)
    }

    pub(crate) fn episodes(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Episode>> {
        let by_id = |id: &i64| self.episodes.iter().find(|one| one.episode.id == *id);
        let found = ids.iter().filter_map(by_id).filter(|one| !one.is_retired);
        Ok(found.map(|one| one.episode.clone()).filter(|one| scope.may_read(one.user)).collect())
    }

    pub(crate) fn any_episode(&self, scope: Scope, id: i64) -> Result<Option<Episode>> {
        let found = self.episodes.iter().map(|one| &one.episode).find(|one| one.id == id);
        Ok(found.filter(|one| scope.may_read(one.user)).cloned())
    }

    pub(crate) fn messages_of(&self, scope: Scope, episode: &Episode) -> Result<Vec<Message>> {
        let said = self.messages.values().filter(|message| message.episode == episode.id);
        Ok(said.filter(|_| scope.may_read(episode.user)).cloned().collect())
    }

    pub(crate) fn messages(&self, scope: Scope, keys: &[MessageKey]) -> Result<Vec<Message>> {
        let may = |key: &&MessageKey| scope.may_read(ChunkKey::of_message(**key, 0).user());
        Ok(keys
            .iter()
            .filter(may)
            .filter_map(|key| self.messages.get(&key.get()))
            .cloned()
            .collect())
    }

    pub(crate) fn retire_episode(
        &mut self,
        scope: Scope,
        id: i64,
        change: Change<'_>,
    ) -> Result<()> {
        let one = self.own_episode(scope, id)?;
        if std::mem::replace(&mut one.is_retired, true) {
            return Ok(());
        }
        let said = self.messages.iter().filter(|(_, message)| message.episode == id);
        for text in said.map(|(text, _)| *text).collect::<Vec<_>>() {
            self.remove_text(text);
        }
        self.note("episode.retire", format!("episode:{id}"), change);
        Ok(())
    }

    pub(crate) fn restore_episode(
        &mut self,
        scope: Scope,
        id: i64,
        chunks: &[(ChunkKey, NewChunk)],
        change: Change<'_>,
    ) -> Result<()> {
        let one = self.own_episode(scope, id)?;
        if !std::mem::replace(&mut one.is_retired, false) {
            return Ok(());
        }
        for (key, chunk) in chunks {
            self.index(*key, chunk);
        }
        self.note("episode.restore", format!("episode:{id}"), change);
        Ok(())
    }
}

impl ModelMemory {
    pub(crate) fn active_model(&self) -> Result<Option<EmbedModel>> {
        Ok(self.models.iter().find(|model| model.state == ModelState::Active).cloned())
    }

    pub(crate) fn models(&self, _: Admin) -> Result<Vec<EmbedModel>> {
        Ok(self.models.iter().rev().cloned().collect())
    }

    pub(crate) fn add_model(
        &mut self,
        _: Admin,
        new: &NewModel<'_>,
        _now: Timestamp,
    ) -> Result<EmbedModel> {
        if let Some(known) = self.models.iter_mut().find(|model| model.name == new.name) {
            if known.state == ModelState::Retired {
                known.state = ModelState::Building;
            }
            return Ok(known.clone());
        }
        let is_first = self.chunks.is_empty() && self.active_model()?.is_none();
        let model = EmbedModel {
            id: self.models.len() as i64 + 1,
            provider: new.provider.to_owned(),
            name: new.name.to_owned(),
            dims: new.dims,
            details: new.details.to_owned(),
            state: if is_first { ModelState::Active } else { ModelState::Building },
        };
        self.models.push(model.clone());
        Ok(model)
    }

    pub(crate) fn unembedded(
        &self,
        _: Admin,
        model: i64,
        after: Option<ChunkKey>,
        limit: usize,
    ) -> Result<Vec<Unembedded>> {
        let lacks = |key: &ChunkKey| {
            !self.vectors.contains_key(&(model, *key)) && after.is_none_or(|after| *key > after)
        };
        let found = self.chunks.iter().filter(|(key, _)| lacks(key)).take(limit);
        Ok(found
            .map(|(key, chunk)| {
                let is_message = key.kind() == Some(ItemKind::Message);
                let said = self.messages.get(&key.text()).filter(|_| is_message);
                Unembedded {
                    chunk: *key,
                    text: chunk.words.clone(),
                    speaker: said.and_then(|said| said.speaker.clone()),
                    at: said.map(|said| said.at),
                }
            })
            .collect())
    }

    pub(crate) fn put_vectors(
        &mut self,
        _: Admin,
        model: i64,
        vectors: &[(ChunkKey, Vec<f32>)],
    ) -> Result<usize> {
        let mut kept = 0;
        for (key, vector) in vectors.iter().filter(|(key, _)| self.chunks.contains_key(key)) {
            if let std::collections::btree_map::Entry::Vacant(free) =
                self.vectors.entry((model, *key))
            {
                free.insert(vector.clone());
                kept += 1;
            }
        }
        Ok(kept)
    }

    pub(crate) fn activate_model(&mut self, admin: Admin, model: i64) -> Result<()> {
        if !self.unembedded(admin, model, None, 1)?.is_empty() {
            return Err(Error::ItemRefused {
                doing: "use",
                item: format!("embedding model {model}"),
                why: "some texts have no vector of it yet".to_owned(),
            });
        }
        for one in &mut self.models {
            match one.state {
                _ if one.id == model => one.state = ModelState::Active,
                ModelState::Active => one.state = ModelState::Retired,
                ModelState::Building | ModelState::Retired => {}
            }
        }
        Ok(())
    }

    pub(crate) fn drop_retired_vectors(&mut self, _: Admin) -> Result<u64> {
        let before = self.vectors.len();
        let retired = self.models.iter().filter(|model| model.state == ModelState::Retired);
        let retired: Vec<i64> = retired.map(|model| model.id).collect();
        self.vectors.retain(|(model, _), _| !retired.contains(model));
        Ok((before - self.vectors.len()) as u64)
    }

    pub(crate) fn coverage(&self, _: Admin, model: i64) -> Result<Coverage> {
        let done = self.vectors.keys().filter(|(of, _)| *of == model).count() as u64;
        Ok(Coverage { done, all: self.chunks.len() as u64 })
    }
}

impl ModelMemory {
    /// Every chunk that scope and filter leave, the highest number first.
    fn visible(
        &self,
        scope: Scope,
        filter: &RecallFilter,
    ) -> impl Iterator<Item = (&ChunkKey, &NewChunk)> {
        let filter = filter.clone();
        self.chunks.iter().rev().filter(move |(key, _)| {
            let kind = key.kind().unwrap();
            scope.may_read(key.user())
                && (filter.kinds.is_empty() || filter.kinds.contains(&kind))
                && filter.passes(**key)
        })
    }

    fn similarity(&self, key: ChunkKey, question: &QuestionVector<'_>) -> Option<f32> {
        let vector = self.vectors.get(&(question.model, key))?;
        Some(vector.iter().zip(question.vector).map(|(a, b)| a * b).sum())
    }
}

impl ModelMemory {
    pub(crate) fn postings(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        word: &str,
        cap: usize,
    ) -> Result<Postings> {
        let holds = |chunk: &NewChunk| chunk.words.split_whitespace().any(|held| held == word);
        let mut chunks: Vec<ChunkKey> =
            self.visible(scope, filter).filter(|(_, c)| holds(c)).map(|(key, _)| *key).collect();
        let (estimated, complete) = (chunks.len(), chunks.len() <= cap);
        chunks.truncate(cap);
        Ok(Postings { chunks, complete, estimated })
    }

    pub(crate) fn nearest(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        question: &QuestionVector<'_>,
        count: usize,
    ) -> Result<Vec<Near>> {
        let near = |key: ChunkKey| {
            self.similarity(key, question).map(|similarity| Near { key, similarity })
        };
        let mut found: Vec<Near> =
            self.visible(scope, filter).filter_map(|(key, _)| near(*key)).collect();
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(b.key.cmp(&a.key)));
        found.truncate(count);
        Ok(found)
    }

    pub(crate) fn chunks(
        &self,
        scope: Scope,
        ranges: &[RangeInclusive<i64>],
        question: Option<&QuestionVector<'_>>,
    ) -> Result<Vec<ChunkRow>> {
        let mut found = Vec::new();
        for range in ranges {
            let inside = self.chunks.iter().filter(|(key, _)| range.contains(&key.get()));
            for (key, chunk) in inside.filter(|(key, _)| scope.may_read(key.user())) {
                found.push(ChunkRow {
                    key: *key,
                    start: chunk.start,
                    length: chunk.length,
                    tokens: chunk.tokens.clone(),
                    similarity: question.and_then(|question| self.similarity(*key, question)),
                });
            }
        }
        Ok(found)
    }

    pub(crate) fn extent(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        limit: usize,
    ) -> Result<Extent> {
        let all = self.visible(scope, filter).count();
        Ok(Extent { chunks: all.min(limit), more: all > limit })
    }

    pub(crate) fn sessions(
        &self,
        scope: Scope,
        choice: &SessionChoice<'_>,
    ) -> Result<Vec<SessionKey>> {
        let fits = |one: &ModelSession| {
            scope.may_read(one.user)
                && choice.session_id.is_none_or(|wanted| one.session_id == wanted)
                && choice.channel.is_none_or(|wanted| one.channel.as_deref() == Some(wanted))
                && choice.since.is_none_or(|since| one.last_at >= since)
                && choice.until.is_none_or(|until| one.started_at < until)
        };
        Ok(self.sessions.iter().filter(|(_, one)| fits(one)).map(|(key, _)| *key).collect())
    }

    pub(crate) fn speakers(&self, scope: Scope, words: &[String]) -> Result<Vec<String>> {
        let may = |one: &&Message| scope.may_read(ChunkKey::of_message(one.key, 0).user());
        let named = self.messages.values().filter(may).filter_map(|one| one.speaker.clone());
        let has_word = |name: &String| {
            name.to_lowercase().split_whitespace().any(|word| words.iter().any(|w| w == word))
        };
        let mut names: Vec<String> = named.filter(has_word).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    pub(crate) fn message_heads(
        &self,
        scope: Scope,
        ranges: &[RangeInclusive<i64>],
    ) -> Result<Vec<MessageHead>> {
        let mut found = Vec::new();
        for range in ranges {
            let may = |one: &&Message| scope.may_read(ChunkKey::of_message(one.key, 0).user());
            let inside = self.messages.values().filter(|one| range.contains(&one.key.get()));
            found.extend(inside.filter(may).map(|one| MessageHead {
                key: one.key,
                episode: one.episode,
                at: one.at,
                role: one.role.clone(),
                speaker: one.speaker.clone(),
                is_question: one.text.trim_end().ends_with('?'),
                // None of the words here speaks of a time.
                has_time: false,
            }));
        }
        Ok(found)
    }
}
