//! A name the memory knows, its aliases and where it is mentioned.

use super::{Change, ItemKind, Scope, UserNumber};
use crate::Result;

/// A name the memory knows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Entity {
    /// Its number.
    pub id: i64,
    /// Whose it is; 0 for everybody.
    pub user: UserNumber,
    /// The name as it was first written.
    pub name: String,
    /// `person`, `project`, `tool`, …, when known.
    pub kind: Option<String>,
    /// Other ways to write it, folded.
    pub aliases: Vec<String>,
}

/// Keep and read names.
pub trait Entities {
    /// Adds another way to write a name; the name is made if it is new. Returns its number.
    fn add_alias(
        &mut self,
        scope: Scope,
        name: &str,
        alias: &str,
        change: Change<'_>,
    ) -> Result<i64>;

    /// The names (own and shared) that occur in a text, by name or alias, whole words only.
    fn entities_in(&self, scope: Scope, text: &str) -> Result<Vec<Entity>>;

    /// The name, by name or alias.
    fn entity(&self, scope: Scope, name: &str) -> Result<Option<Entity>>;

    /// The numbers of the things of one kind that mention a name, newest first.
    fn mentions(
        &self,
        scope: Scope,
        entity: &Entity,
        kind: ItemKind,
        limit: usize,
    ) -> Result<Vec<i64>>;

    /// Notes that a thing mentions names; they are made if they are new.
    #[expect(clippy::too_many_arguments, reason = "who, which thing, its names, by whom")]
    fn mention(
        &mut self,
        scope: Scope,
        kind: ItemKind,
        item: i64,
        names: &[String],
        change: Change<'_>,
    ) -> Result<()>;
}
