//! Whose memory is meant: the flag `--user` of the commands about memory.db.

use clap::Args;
use hermes_home::name::UserId;
use hermes_store::memory::{Change, Memory, Scope, UserNumber};

use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::problem::{Kind, Problem};

#[derive(Debug, Clone, Args)]
pub(crate) struct Whose {
    /// User whose memory is used [default: the owner]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl Whose {
    /// The name as it may be the name of a folder; none for the owner.
    pub(crate) fn id(&self) -> anyhow::Result<Option<UserId>> {
        Ok(self.user.as_deref().map(str::parse).transpose()?)
    }

    /// Who reads; somebody who is not known yet reads what is shared.
    pub(crate) fn reader(&self, store: &Memory, app: &App) -> anyhow::Result<Scope> {
        if let Some(scope) = self.known(store)? {
            return Ok(scope);
        }
        let name = self.user.as_deref().unwrap_or_default();
        app.note(format_args!("the memory has nothing of {name} yet: only shared items are shown"));
        Ok(Scope::of(UserNumber::SHARED))
    }

    /// Who asks, with whose USER.md is loaded.
    pub(crate) fn asker(&self, store: &Memory, app: &App) -> anyhow::Result<Asker> {
        let known = match self.id()? {
            None => return Ok(Asker::owner()),
            Some(id) => store.user(id.as_str())?,
        };
        match known {
            Some(user) => Ok(Asker::of(&user)),
            None => Ok(Asker { scope: self.reader(store, app)?, user: self.id()? }),
        }
    }

    /// Whose things are changed; they must be known.
    pub(crate) fn existing(&self, store: &Memory) -> anyhow::Result<Scope> {
        self.known(store)?.ok_or_else(|| {
            let name = self.user.as_deref().unwrap_or_default();
            Problem::new(Kind::NotFound, format!("could not find user {name} in the memory"))
                .hint("list the users with `hermes memory status --verbose`")
                .into()
        })
    }

    /// Whose things are added; a new name becomes a user.
    pub(crate) fn writer(&self, store: &mut Memory, change: Change<'_>) -> anyhow::Result<Scope> {
        match self.id()? {
            None => Ok(Scope::of(UserNumber::OWNER)),
            Some(id) => Ok(Scope::of(store.user_or_new(id.as_str(), change)?)),
        }
    }

    fn known(&self, store: &Memory) -> anyhow::Result<Option<Scope>> {
        match self.id()? {
            None => Ok(Some(Scope::of(UserNumber::OWNER))),
            Some(id) => Ok(store.user(id.as_str())?.map(|user| Scope::of(user.number))),
        }
    }
}
