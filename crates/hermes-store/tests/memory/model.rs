//! A memory as plain lists, too simple to be wrong: what every other memory is compared with.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hermes_store::memory::AuditEntry;
use hermes_store::memory::{
    Change, ChunkKey, EmbedModel, Entity, Episode, Event, Fact, FileEntry, Identity, ItemKind, Job,
    Message, NewChunk, NewSource, Procedure, Revision, Schedule, Scope, SessionKey, Source, Uid,
    User, UserNumber,
};
use jiff::Timestamp;

pub(crate) const NO_UID: [u8; 16] = [0; 16];

/// The lists.
#[derive(Default)]
pub(crate) struct ModelMemory {
    pub(crate) users: Vec<User>,
    pub(crate) identities: BTreeMap<(String, String), Identity>,
    pub(crate) seen: BTreeMap<(String, String), Identity>,
    pub(crate) facts: BTreeMap<i64, Fact>,
    pub(crate) facts_made: i64,
    pub(crate) sources: BTreeMap<i64, Vec<Source>>,
    pub(crate) revisions: BTreeMap<i64, Vec<Revision>>,
    /// When superseded facts would have ended otherwise.
    pub(crate) ends_before: BTreeMap<i64, Option<Timestamp>>,
    pub(crate) file_entries: BTreeMap<(i64, String), FileEntry>,
    pub(crate) origins: HashMap<(ItemKind, UserNumber, String, String), i64>,
    pub(crate) other_sources: BTreeMap<(ItemKind, i64), Vec<Source>>,
    pub(crate) procedures: Vec<Procedure>,
    pub(crate) events: Vec<Event>,
    pub(crate) entities: BTreeMap<i64, Entity>,
    pub(crate) aliases: BTreeMap<(UserNumber, String), i64>,
    pub(crate) mentions: BTreeSet<(i64, ItemKind, i64)>,
    pub(crate) jobs: Vec<ModelJob>,
    pub(crate) jobs_made: i64,
    pub(crate) schedules: BTreeMap<String, Schedule>,
    pub(crate) log: Vec<AuditEntry>,
    pub(crate) sessions: BTreeMap<SessionKey, ModelSession>,
    pub(crate) episodes: Vec<ModelEpisode>,
    pub(crate) messages: BTreeMap<i64, Message>,
    pub(crate) recorded: HashSet<(UserNumber, [String; 4])>,
    pub(crate) chunks: BTreeMap<ChunkKey, NewChunk>,
    pub(crate) models: Vec<EmbedModel>,
    pub(crate) vectors: BTreeMap<(i64, ChunkKey), Vec<f32>>,
    pub(crate) last_vacuum: Option<Timestamp>,
}

pub(crate) struct ModelJob {
    pub(crate) job: Job,
    pub(crate) key: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) until: Option<Timestamp>,
}

pub(crate) struct ModelSession {
    pub(crate) user: UserNumber,
    pub(crate) session_id: String,
    pub(crate) channel: Option<String>,
    pub(crate) started_at: Timestamp,
    pub(crate) last_at: Timestamp,
    pub(crate) messages: i64,
}

pub(crate) struct ModelEpisode {
    pub(crate) episode: Episode,
    pub(crate) is_retired: bool,
}

impl ModelMemory {
    /// A new memory with its owner.
    pub(crate) fn new(owner: &str) -> ModelMemory {
        let mut memory = ModelMemory::default();
        memory.users.push(user(UserNumber::OWNER, owner));
        memory
    }

    pub(crate) fn note(&mut self, action: &str, item: String, change: Change<'_>) {
        self.log.push(AuditEntry {
            id: self.log.len() as i64 + 1,
            at: change.at,
            actor: change.actor.to_owned(),
            action: action.to_owned(),
            item,
        });
    }

    /// Keeps the names and chunks of a thing.
    pub(crate) fn keep(
        &mut self,
        owner: UserNumber,
        (kind, item): (ItemKind, i64),
        names: &[String],
        chunks: &[NewChunk],
    ) {
        for name in names {
            let entity = self.entity_for(owner, name);
            self.mentions.insert((entity, kind, item));
        }
        for (part, chunk) in chunks.iter().enumerate() {
            self.index(ChunkKey::of_item(owner, kind, item, part), chunk);
        }
    }

    pub(crate) fn index(&mut self, key: ChunkKey, chunk: &NewChunk) {
        use hermes_store::memory::ModelState;
        let active = self.models.iter().find(|model| model.state == ModelState::Active);
        if let (Some(model), Some(vector)) = (active, &chunk.vector) {
            self.vectors.insert((model.id, key), vector.clone());
        }
        self.chunks.insert(key, chunk.clone());
    }

    pub(crate) fn remove_text(&mut self, text: i64) {
        self.chunks.retain(|key, _| key.text() != text);
        self.vectors.retain(|(_, key), _| key.text() != text);
    }

    /// The owner's name, else everybody's, else a new one of the owner.
    pub(crate) fn entity_for(&mut self, owner: UserNumber, name: &str) -> i64 {
        if let Some(id) = self.ids_of(owner, name).first() {
            return *id;
        }
        let id = self.entities.keys().max().unwrap_or(&0) + 1;
        let (name, aliases) = (name.trim().to_owned(), Vec::new());
        self.aliases.insert((owner, fold(&name)), id);
        self.entities.insert(id, Entity { id, user: owner, name, kind: None, aliases });
        id
    }

    pub(crate) fn ids_of(&self, user: UserNumber, name: &str) -> Vec<i64> {
        let of = |user| self.aliases.get(&(user, fold(name))).copied();
        of(user).into_iter().chain(of(UserNumber::SHARED)).collect()
    }

    pub(crate) fn names_of(&self, scope: Scope, kind: ItemKind, item: i64) -> Vec<String> {
        let mentions = |id: i64| self.mentions.contains(&(id, kind, item));
        let readable = self.entities.values().filter(|entity| scope.may_read(entity.user));
        readable.filter(|entity| mentions(entity.id)).map(|entity| entity.name.clone()).collect()
    }

    /// Whose a thing is, and whether it is held.
    pub(crate) fn standing(&self, kind: ItemKind, item: i64) -> Option<(UserNumber, bool)> {
        let of_episode = |id: i64| {
            let found = self.episodes.iter().find(|found| found.episode.id == id);
            found.map(|found| (found.episode.user, !found.is_retired))
        };
        match kind {
            ItemKind::Message => of_episode(self.messages.get(&item)?.episode),
            ItemKind::Summary => of_episode(item),
            ItemKind::Fact => {
                self.facts.get(&item).map(|fact| (fact.user, fact.retired_at.is_none()))
            }
            ItemKind::Procedure => {
                let found = self.procedures.iter().find(|found| found.id == item);
                found.map(|found| (found.user, found.retired_at.is_none()))
            }
            ItemKind::Event => {
                let found = self.events.iter().find(|found| found.id == item);
                found.map(|found| (found.user, found.retired_at.is_none()))
            }
        }
    }
}

pub(crate) fn user(number: UserNumber, name: &str) -> User {
    User { number, uid: Uid::from_bytes(NO_UID), name: name.to_owned(), timezone: None }
}

pub(crate) fn fold(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn owner_of(scope: Scope, shared: bool) -> UserNumber {
    if shared { UserNumber::SHARED } else { scope.user() }
}

pub(crate) fn kept_sources(sources: &[NewSource<'_>]) -> Vec<Source> {
    let words = |text: Option<&str>| text.map(str::to_owned);
    let kept = sources.iter().map(|source| Source {
        episode: source.episode,
        message: source.message,
        quote: words(source.quote),
        extractor: words(source.extractor),
    });
    kept.collect()
}
