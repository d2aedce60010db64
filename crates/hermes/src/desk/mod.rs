//! What can be asked of a home, answered as values: the same for the command line, the API, MCP and hooks.

pub(crate) mod context;
pub(crate) mod entries;
pub(crate) mod fact_view;
pub(crate) mod facts;
pub(crate) mod hit;
pub(crate) mod in_step;
pub(crate) mod items;
pub(crate) mod later;
pub(crate) mod promote;
pub(crate) mod reason;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod turn;

use hermes_home::UserId;
use hermes_store::memory::{
    Admin, Chat, MergedUser, People as _, Scope, SqliteMemory, User, UserNumber, Users as _,
};
use hermes_store::sessions::Whose;

/// How many bytes a name has at most: of somebody or something, a kind, a session, a project.
pub(crate) const LONGEST_NAME: usize = 1_000;

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

    /// A user whom the memory knows.
    pub(crate) fn of(user: &User) -> Asker {
        let is_owner = user.number == UserNumber::OWNER;
        // A name that leads to another is not the name of a file.
        let name = if is_owner { None } else { user.name.parse().ok() };
        Asker { scope: Scope::of(user.number), user: name }
    }

    /// Whose sessions of state.db they may see; none for the owner, who may see all.
    pub(crate) fn sessions(&self, store: &SqliteMemory) -> anyhow::Result<Option<Whose>> {
        match self.user.is_some() && self.scope.user() != UserNumber::OWNER {
            true => self.own_sessions(store).map(Some),
            false => Ok(None),
        }
    }

    /// Whose sessions of state.db are theirs: by name, and by what the channels call them when they
    /// speak alone with the agent. The owner's are those that are nobody else's.
    pub(crate) fn own_sessions(&self, store: &SqliteMemory) -> anyhow::Result<Whose> {
        let number = self.scope.user();
        let known = store.identities(Admin)?.into_iter().chain(store.unlinked_identities(Admin)?);
        let Some(user) = self.user.as_ref().filter(|_| number != UserNumber::OWNER) else {
            let users = store.users(Admin)?;
            let owner = users.iter().find(|one| one.number == number).map(|one| one.name.clone());
            let users = users.into_iter().filter(|one| one.number != number);
            let named = users.fold(Whose::everybody_but(), |whose, one| whose.and(&one.name));
            let merged = store.merged_users(Admin)?;
            let is_other = |one: &&MergedUser| owner.as_deref() != Some(one.into.as_str());
            let named = merged.iter().filter(is_other).fold(named, |all, one| all.and(&one.name));
            let others = known.filter(|one| one.user != number);
            return Ok(others.fold(named, |whose, one| whose.and_at(&one.channel, &one.native_id)));
        };
        let merged = store.merged_users(Admin)?;
        let before = merged.iter().filter(|one| one.into == user.as_str());
        let named = before.fold(Whose::named(user.as_str()), |whose, one| whose.and(&one.name));
        let own = known.filter(|one| {
            one.user == number && number != UserNumber::SHARED && one.chat == Chat::Direct
        });
        Ok(own.fold(named, |whose, one| whose.and_at(&one.channel, &one.native_id)))
    }
}
