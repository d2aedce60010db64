//! What can be asked of a home, answered as values: the same for the command line, the API, MCP and hooks.

pub(crate) mod context;
pub(crate) mod entries;
pub(crate) mod fact_view;
pub(crate) mod facts;
pub(crate) mod hit;
pub(crate) mod in_step;
pub(crate) mod later;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod turn;

use hermes_home::UserId;
use hermes_store::memory::{Scope, UserNumber};

/// Who asks: the scope of what may be read, and whose USER.md is loaded.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    /// Whose things.
    pub(crate) scope: Scope,
    /// The name of the person; none for the owner.
    pub(crate) user: Option<UserId>,
}

impl Asker {
    /// The owner of the home.
    pub(crate) fn owner() -> Asker {
        Asker { scope: Scope::of(UserNumber::OWNER), user: None }
    }
}
