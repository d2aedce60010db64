//! What was looked up for one task, for whoever asks the same again with other limits.

use std::cell::RefCell;
use std::rc::Rc;

use hermes_store::memory::ItemKind;

use super::run::Looked;
use crate::Result;

/// What was looked up for one text by one asker, kind by kind. Only questions that differ in nothing but
/// their kinds and their limit may share it.
#[derive(Default)]
pub struct Looks {
    known: RefCell<Vec<(Vec<ItemKind>, Rc<Looked>)>>,
}

impl Looks {
    pub(super) fn of(
        &self,
        kinds: &[ItemKind],
        look: impl FnOnce() -> Result<Looked>,
    ) -> Result<Rc<Looked>> {
        let known = self.known.borrow().iter().find(|one| one.0 == kinds).map(|one| one.1.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let looked = Rc::new(look()?);
        self.known.borrow_mut().push((kinds.to_vec(), looked.clone()));
        Ok(looked)
    }
}

impl std::fmt::Debug for Looks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Looks({})", self.known.borrow().len())
    }
}
