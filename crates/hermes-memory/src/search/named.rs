//! Which things mention the name that a search is narrowed to; what the memory knows of it is read once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

use hermes_store::memory::{ChunkKey, Entities, Entity, ItemKind, Scope};

use crate::Result;

/// The name that a search is narrowed to.
pub(super) struct Named<'a> {
    store: &'a dyn Entities,
    scope: Scope,
    name: &'a str,
    /// The name as the memory knows it; empty until somebody asks.
    entity: OnceCell<Option<Entity>>,
    /// What mentions it, kind by kind as they are asked for.
    mentions: RefCell<Vec<(ItemKind, HashSet<i64>)>>,
}

impl<'a> Named<'a> {
    pub(super) fn new(store: &'a dyn Entities, scope: Scope, name: &'a str) -> Named<'a> {
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
    use std::cell::Cell;

    use hermes_store::memory::{Change, UserNumber};

    use super::*;

    /// Names, and how often they were read.
    #[derive(Default)]
    struct Counting {
        entities: Cell<usize>,
        mentions: Cell<usize>,
    }

    impl Entities for Counting {
        fn entity(&self, _: Scope, name: &str) -> hermes_store::Result<Option<Entity>> {
            self.entities.set(self.entities.get() + 1);
            let entity = Entity {
                id: 1,
                user: UserNumber::OWNER,
                name: name.to_owned(),
                kind: None,
                aliases: vec!["the bird".to_owned()],
            };
            Ok((name == "Heron").then_some(entity))
        }

        fn mentions(
            &self,
            _: Scope,
            _: &Entity,
            kind: ItemKind,
            limit: usize,
        ) -> hermes_store::Result<Vec<i64>> {
            self.mentions.set(self.mentions.get() + 1);
            assert_eq!(limit, usize::MAX);
            Ok(if kind == ItemKind::Event { vec![2, 4] } else { Vec::new() })
        }

        fn entities_in(&self, _: Scope, _: &str) -> hermes_store::Result<Vec<Entity>> {
            Ok(Vec::new())
        }

        fn add_alias(
            &mut self,
            _: Scope,
            _: &str,
            _: &str,
            _: Change<'_>,
        ) -> hermes_store::Result<i64> {
            Ok(0)
        }

        fn mention(
            &mut self,
            _: Scope,
            _: ItemKind,
            _: i64,
            _: &[String],
            _: Change<'_>,
        ) -> hermes_store::Result<()> {
            Ok(())
        }
    }

    const OWNER: UserNumber = UserNumber::OWNER;

    fn event(number: i64) -> ChunkKey {
        ChunkKey::of_item(OWNER, ItemKind::Event, number, 0)
    }

    #[test]
    fn a_name_is_read_once_for_a_search_however_many_things_are_asked_about() {
        let store = Counting::default();
        let named = Named::new(&store, Scope::of(OWNER), "Heron");
        assert!(named.is_in("The HERON stands.", event(1)).unwrap());
        assert_eq!((store.entities.get(), store.mentions.get()), (0, 0), "its words say it");
        let found: Vec<i64> =
            (0..1_000).filter(|number| named.is_in("It flew.", event(*number)).unwrap()).collect();
        assert_eq!(found, [2, 4]);
        assert!(named.is_in("The bird flew.", event(7)).unwrap());
        assert_eq!((store.entities.get(), store.mentions.get()), (1, 1));
        let fact = ChunkKey::of_item(OWNER, ItemKind::Fact, 2, 0);
        assert!(!named.is_in("It flew.", fact).unwrap(), "another kind has numbers of its own");
        assert_eq!((store.entities.get(), store.mentions.get()), (1, 2));
    }

    #[test]
    fn a_name_that_the_memory_does_not_know_is_looked_up_once() {
        let store = Counting::default();
        let named = Named::new(&store, Scope::of(OWNER), "Nobody");
        assert!((0..100).all(|number| !named.is_in("It flew.", event(number)).unwrap()));
        assert_eq!((store.entities.get(), store.mentions.get()), (1, 0));
    }
}
