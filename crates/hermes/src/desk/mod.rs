//! What can be asked of a home, answered as values: the same for the command line, the API, MCP and hooks.

pub(crate) mod context;
pub(crate) mod entries;
pub(crate) mod fact_view;
pub(crate) mod facts;
pub(crate) mod hit;
pub(crate) mod in_step;
pub(crate) mod items;
pub(crate) mod later;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod turn;

use hermes_home::UserId;
use hermes_store::memory::{Admin, Chat, Scope, SqliteMemory, UserNumber, Users as _};
use hermes_store::sessions::Person;

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

    /// Whose sessions of state.db are theirs: by name, and by what the channels call them when they
    /// speak alone with the agent. None for the owner, who sees all.
    pub(crate) fn person(&self, store: &SqliteMemory) -> anyhow::Result<Option<Person>> {
        let number = self.scope.user();
        let Some(user) = self.user.as_ref().filter(|_| number != UserNumber::OWNER) else {
            return Ok(None);
        };
        let mut person = Person::named(user.as_str());
        if number != UserNumber::SHARED {
            let known =
                store.identities(Admin)?.into_iter().chain(store.unlinked_identities(Admin)?);
            for one in known.filter(|one| one.user == number && one.chat == Chat::Direct) {
                person = person.also(&one.channel, &one.native_id);
            }
        }
        Ok(Some(person))
    }
}
