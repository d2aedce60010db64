//! What was looked up for one task, for whoever asks the same again with other limits.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::run::{self, Looked};
use super::{Kind, Reading};
use crate::Result;

/// What was looked up for one text by one asker, kind by kind. Only questions that differ in nothing but
/// their kind and their limit may share it.
#[derive(Default)]
pub struct Looks {
    known: RefCell<Vec<(Kind, Rc<Looked>)>>,
    vector: OnceCell<Vector>,
}

/// The text as a vector of a model, if there is one.
pub(crate) struct Vector {
    /// The number of the model, and what it made of the text.
    pub(super) made: Option<(i64, Vec<f32>)>,
    /// What the asker should know: a model that is down.
    pub(super) notes: Vec<String>,
}

impl Looks {
    /// The text as a vector. To be asked for before a state of the store is held: the model may be far away.
    pub(crate) fn vector(&self, reading: &Reading<'_>, text: &str) -> Result<&Vector> {
        if let Some(known) = self.vector.get() {
            return Ok(known);
        }
        let mut notes = Vec::new();
        let made = run::question_vector(reading, text, &mut notes)?;
        Ok(self.vector.get_or_init(|| Vector { made, notes }))
    }

    pub(super) fn of(
        &self,
        kind: Kind,
        look: impl FnOnce() -> Result<Looked>,
    ) -> Result<Rc<Looked>> {
        let known = self.known.borrow().iter().find(|one| one.0 == kind).map(|one| one.1.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let looked = Rc::new(look()?);
        self.known.borrow_mut().push((kind, looked.clone()));
        Ok(looked)
    }
}

impl std::fmt::Debug for Looks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Looks({})", self.known.borrow().len())
    }
}
