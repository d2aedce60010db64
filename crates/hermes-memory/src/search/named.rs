//! Which things mention the name that a search is narrowed to; what the memory knows of it is read once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

use hermes_store::memory::{ChunkKey, Entity, ItemKind, Memory, Scope};

use crate::Result;

/// The name that a search is narrowed to.
pub(super) struct Named<'a> {
    store: &'a Memory,
    scope: Scope,
    name: &'a str,
    /// The name as the memory knows it; empty until somebody asks.
    entity: OnceCell<Option<Entity>>,
    /// What mentions it, kind by kind as they are asked for.
    mentions: RefCell<Vec<(ItemKind, HashSet<i64>)>>,
}

impl<'a> Named<'a> {
    pub(super) fn new(store: &'a Memory, scope: Scope, name: &'a str) -> Named<'a> {
        Named { store, scope, name, entity: OnceCell::new(), mentions: RefCell::default() }
    }

    /// Whether a thing mentions the name: in its own words, or as noted.
    pub(super) fn is_in(&self, text: &str, key: ChunkKey) -> Result<bool> {
        let text = text.to_lowercase();
        if text.contains(&self.name.to_lowercase()) {
            return Ok(true);
        }
        let (Some(kind), Some(entity)) = (key.kind(), self.entity()?) else { return Ok(false) };
        if entity.aliases.iter().any(|alias| text.contains(alias.as_str())) {
            return Ok(true);
        }
        let id = if kind == ItemKind::Message { key.text() } else { key.item() };
        self.is_noted(entity, kind, id)
    }

    fn entity(&self) -> Result<Option<&Entity>> {
        if let Some(entity) = self.entity.get() {
            return Ok(entity.as_ref());
        }
        let entity = self.store.entity(self.scope, self.name)?;
        Ok(self.entity.get_or_init(|| entity).as_ref())
    }

    fn is_noted(&self, entity: &Entity, kind: ItemKind, id: i64) -> Result<bool> {
        if let Some((_, ids)) = self.mentions.borrow().iter().find(|known| known.0 == kind) {
            return Ok(ids.contains(&id));
        }
        let ids: HashSet<i64> =
            self.store.mentions(self.scope, entity, kind, usize::MAX)?.into_iter().collect();
        let is_noted = ids.contains(&id);
        self.mentions.borrow_mut().push((kind, ids));
        Ok(is_noted)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use hermes_store::memory::{Change, EventKind, NewEvent, Trust, UserNumber, Wanted};
    use hermes_store::sqlite::{Access, DEFAULT_WAIT};
    use jiff::Timestamp;
    use tempfile::TempDir;

    use super::*;

    const SCOPE: Scope = Scope::of(UserNumber::OWNER);
    const CHANGE: Change<'_> = Change { actor: "user", at: Timestamp::UNIX_EPOCH };

    /// A memory that knows the heron, also called the bird, and the events 2 and 4 that mention it.
    struct Aviary(TempDir);

    impl Aviary {
        fn new() -> Aviary {
            let aviary = Aviary(tempfile::tempdir().unwrap());
            let path = aviary.path();
            let wanted = Wanted { path: &path, profile: "default" };
            Memory::create(wanted, "alice", CHANGE).unwrap();
            let mut memory = aviary.open();
            memory.add_alias(SCOPE, "Heron", "the bird", CHANGE).unwrap();
            for number in 1..=6 {
                let text = format!("It flew {number} times.");
                memory.add_event(SCOPE, &event_that(&text), CHANGE).unwrap();
            }
            aviary.mention(2);
            aviary.mention(4);
            aviary
        }

        fn path(&self) -> PathBuf {
            self.0.path().join("memory.db")
        }

        fn open(&self) -> Memory {
            let path = self.path();
            let wanted = Wanted { path: &path, profile: "default" };
            Memory::open(wanted, Access::Write, DEFAULT_WAIT).unwrap()
        }

        fn mention(&self, number: i64) {
            let names = ["Heron".to_owned()];
            self.open().mention(SCOPE, ItemKind::Event, number, &names, CHANGE).unwrap();
        }
    }

    fn event_that(text: &str) -> NewEvent<'_> {
        NewEvent {
            at: CHANGE.at,
            kind: EventKind::Result,
            text,
            why: None,
            trust: Trust::User,
            shared: false,
            entities: &[],
            chunks: Vec::new(),
            session: None,
            sources: &[],
            origin: None,
        }
    }

    fn event(number: i64) -> ChunkKey {
        ChunkKey::of_item(UserNumber::OWNER, ItemKind::Event, number, 0)
    }

    #[test]
    fn a_name_is_found_by_its_words_its_aliases_and_what_was_noted() {
        let aviary = Aviary::new();
        let memory = aviary.open();
        let named = Named::new(&memory, SCOPE, "Heron");
        assert!(named.is_in("The HERON stands.", event(1)).unwrap());
        assert!(named.is_in("The bird flew.", event(7)).unwrap());
        let found: Vec<i64> =
            (0..1_000).filter(|number| named.is_in("It flew.", event(*number)).unwrap()).collect();
        assert_eq!(found, [2, 4]);
        let fact = ChunkKey::of_item(UserNumber::OWNER, ItemKind::Fact, 2, 0);
        assert!(!named.is_in("It flew.", fact).unwrap(), "another kind has numbers of its own");
    }

    #[test]
    fn one_search_reads_what_is_noted_once() {
        let aviary = Aviary::new();
        let memory = aviary.open();
        let named = Named::new(&memory, SCOPE, "Heron");
        assert!(named.is_in("It flew.", event(2)).unwrap());
        aviary.mention(6);
        assert!(!named.is_in("It flew.", event(6)).unwrap());
        assert!(Named::new(&memory, SCOPE, "Heron").is_in("It flew.", event(6)).unwrap());
    }

    #[test]
    fn a_name_that_the_memory_does_not_know_is_in_nothing() {
        let aviary = Aviary::new();
        let memory = aviary.open();
        let named = Named::new(&memory, SCOPE, "Nobody");
        assert!((0..100).all(|number| !named.is_in("It flew.", event(number)).unwrap()));
    }
}
