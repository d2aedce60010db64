//! Those who wrote and are linked to nobody: somebody says of each whether it is the owner.

use hermes_home::Home;
use hermes_memory::identity;
use hermes_store::memory::{Admin, Chat, Identity, Memory, User, UserNumber};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::merge;
use crate::app::App;
use crate::catch_up;
use crate::problem::{Kind, Problem};
use crate::text::printable;

/// What became of one identity.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// The channel.
    pub channel: String,
    /// The id there.
    pub native_id: String,
    /// Whose it is now; none while nobody said.
    pub user: Option<String>,
    /// The command that says it is the owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_owner: Option<String>,
}

/// An identity: the channel, and the id there.
pub type Pair<'a> = (&'a str, &'a str);

/// Says of those who are linked to nobody that these are the owner; where none is named, `ask` is asked about each.
pub fn confirm(
    app: &App,
    home: &Home,
    mine: &[Pair<'_>],
    ask: &dyn Fn(&str) -> anyhow::Result<Option<bool>>,
) -> anyhow::Result<Vec<Judged>> {
    let mut store = app.memory(home, Access::Write)?.store;
    // Whoever wrote before is known before anybody is asked.
    catch_up::take_in(app, home, &mut store)?;
    let unlinked = store.unlinked_identities(Admin)?;
    let is_unlinked = |pair: &Pair<'_>| unlinked.iter().any(|one| pair_of(one) == *pair);
    if let Some((channel, id)) = mine.iter().find(|one| !is_unlinked(one)) {
        let what = format!("{id} of {channel} has not written, or is already linked");
        return Err(Problem::new(Kind::NotFound, what)
            .hint("`hermes user list` shows all accounts")
            .into());
    }
    let mut results = Vec::new();
    for one in unlinked {
        let is_mine = match mine.is_empty() {
            false => mine.contains(&pair_of(&one)).then_some(true),
            true => ask(&question(&one))?,
        };
        let user = match is_mine {
            Some(is_mine) => Some(judge(app, home, &mut store, &one, is_mine)?),
            None => None,
        };
        let owner = owner(&store)?.name;
        let if_owner =
            user.is_none().then(|| identity::link_command(&one.channel, &one.native_id, &owner));
        let Identity { channel, native_id, .. } = one;
        results.push(Judged { channel, native_id, user, if_owner });
    }
    Ok(results)
}

fn pair_of(one: &Identity) -> Pair<'_> {
    (&one.channel, &one.native_id)
}

fn question(one: &Identity) -> String {
    let (channel, id) = (printable(&one.channel), printable(&one.native_id));
    let place = match one.chat {
        Chat::Direct => "alone with the agent",
        Chat::Group => "in a group",
    };
    let last = one.at.strftime("%Y-%m-%d");
    format!("{id} of {channel} wrote {place}, last on {last}. Is this you?")
}

/// Links an identity to the owner, with all that was said meanwhile, or to a user of their own.
fn judge(
    app: &App,
    home: &Home,
    store: &mut Memory,
    one: &Identity,
    is_mine: bool,
) -> anyhow::Result<String> {
    let change = app.change();
    let owner = owner(store)?;
    // An earlier version took whoever was unknown for the owner; since then they have a name of their own.
    let users = store.users(Admin)?;
    let meanwhile = users.into_iter().find(|user| user.number == one.user && *user != owner);
    if !is_mine {
        let own_name = identity::name_of(&one.channel, &one.native_id);
        let (user, name) = match meanwhile {
            Some(user) => (user.number, user.name),
            None => (store.user_or_new(&own_name, change)?, own_name),
        };
        store.link_identity(&one.channel, &one.native_id, user, change)?;
        return Ok(name);
    }
    store.link_identity(&one.channel, &one.native_id, owner.number, change)?;
    if let Some(meanwhile) = meanwhile {
        merge::carry_out(app, home, &meanwhile, &owner)?;
    }
    Ok(owner.name)
}

fn owner(store: &Memory) -> anyhow::Result<User> {
    let owner = store.users(Admin)?.into_iter().find(|user| user.number == UserNumber::OWNER);
    owner.ok_or_else(|| anyhow::anyhow!("the memory has no owner"))
}
