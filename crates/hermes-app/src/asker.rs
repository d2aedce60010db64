//! Who asks something of a home, and what they may see.

use hermes_home::UserId;
use hermes_store::memory::{Admin, Chat, MOST_USERS, Memory, Scope, User, UserNumber};
use hermes_store::sessions::Whose;

/// How many bytes a name has at most: of somebody or something, a kind, a session, a project.
pub const LONGEST_NAME: usize = 1_000;

/// The number of somebody whose number is not known: the last one, which nobody gets before a million others.
const UNASKED: i64 = MOST_USERS - 1;

/// Who asks: the scope of what may be read, and whose USER.md is loaded.
#[derive(Debug, Clone)]
pub struct Asker {
    /// Whose things.
    pub scope: Scope,
    /// The name of the person; none for the owner.
    pub user: Option<UserId>,
}

impl Asker {
    /// The owner of the home.
    pub fn owner() -> Asker {
        Asker { scope: Scope::of(UserNumber::OWNER), user: None }
    }

    /// A user whom the memory knows.
    pub fn of(user: &User) -> Asker {
        let is_owner = user.number == UserNumber::OWNER;
        // A name that leads to another is not the name of a file.
        let name = if is_owner { None } else { user.name.parse().ok() };
        Asker { scope: Scope::of(user.number), user: name }
    }

    /// Somebody whom the memory would know if it could be asked: their words are kept by their name, and nothing is read
    /// or changed as theirs before their number is known.
    pub fn unasked(user: &UserId) -> Asker {
        Asker { scope: Scope::of(UserNumber::new(UNASKED)), user: Some(user.clone()) }
    }

    /// Whether their number is not known yet.
    pub fn is_unasked(&self) -> bool {
        self.scope.user().get() == UNASKED
    }

    /// Whose sessions of state.db they may see; none for the owner, who may see all.
    pub fn sessions(&self, store: &Memory) -> anyhow::Result<Option<Whose>> {
        match self.user.is_some() && self.scope.user() != UserNumber::OWNER {
            true => self.own_sessions(store).map(Some),
            false => Ok(None),
        }
    }

    /// Whose sessions of state.db are theirs: by name, and by what the channels call them when they speak alone with
    /// the agent, as far as somebody linked it. Those that name nobody are the owner's.
    pub fn own_sessions(&self, store: &Memory) -> anyhow::Result<Whose> {
        let number = self.scope.user();
        let is_owner = number == UserNumber::OWNER;
        let name = match &self.user {
            Some(user) if !is_owner => user.as_str().to_owned(),
            _ => {
                let users = store.users(Admin)?;
                let owner = users.into_iter().find(|one| one.number == UserNumber::OWNER);
                owner.map_or_else(|| "owner".to_owned(), |owner| owner.name)
            }
        };
        let merged = store.merged_users(Admin)?;
        let before = merged.iter().filter(|one| one.into == name);
        let named = before.fold(Whose::named(&name), |whose, one| whose.and(&one.name));
        let named = if is_owner { named.and_unnamed() } else { named };
        let mut known = store.identities(Admin)?;
        if !is_owner {
            known.extend(store.unlinked_identities(Admin)?);
        }
        let own = known.iter().filter(|one| {
            one.user == number && number != UserNumber::SHARED && one.chat == Chat::Direct
        });
        Ok(own.fold(named, |whose, one| whose.and_at(&one.channel, &one.native_id)))
    }
}
