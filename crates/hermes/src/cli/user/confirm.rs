//! hermes user confirm

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::{Home, UserId};
use hermes_memory::identity;
use hermes_store::memory::{Admin, Chat, Identity, SqliteMemory, User, UserNumber, Users as _};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::merge;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::app::App;
use hermes_app::catch_up;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::printable;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// This one is you: the channel and the id there; may be given several times, and nothing is asked
    #[arg(long, num_args = 2, value_names = ["CHANNEL", "ID"])]
    mine: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Confirmed {
    results: Vec<Judged>,
}

/// What became of one identity.
#[derive(Debug, Serialize)]
struct Judged {
    channel: String,
    native_id: String,
    /// Whose it is now; none while nobody said.
    user: Option<String>,
    /// The command that says it is the owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    if_owner: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    app: &mut Terminal,
    home: &Home,
) -> anyhow::Result<Outcome> {
    let mut store = app.memory(home, Access::Write)?.store;
    // Whoever wrote before is known before anybody is asked.
    catch_up::take_in(app, home, &mut store)?;
    let unlinked = store.unlinked_identities(Admin)?;
    let mine: Vec<(&str, &str)> =
        arguments.mine.chunks(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let is_unlinked = |(channel, id): &(&str, &str)| {
        unlinked.iter().any(|one| (one.channel.as_str(), one.native_id.as_str()) == (*channel, *id))
    };
    if let Some((channel, id)) = mine.iter().find(|one| !is_unlinked(one)) {
        let what = format!("{id} of {channel} did not write, or is linked already");
        return Err(Problem::new(Kind::NotFound, what)
            .hint("see them with `hermes user list`")
            .into());
    }
    let mut results = Vec::new();
    for one in unlinked {
        let pair = (one.channel.as_str(), one.native_id.as_str());
        let is_mine = match mine.is_empty() {
            false => mine.contains(&pair).then_some(true),
            true => confirm::ask(app.asking, &question(&one))?,
        };
        let user =
            is_mine.map(|is_mine| judge(app, home, &mut store, (&one, is_mine))).transpose()?;
        let owner = owner(&store)?.name;
        let if_owner =
            user.is_none().then(|| identity::link_command(&one.channel, &one.native_id, &owner));
        let Identity { channel, native_id, .. } = one;
        results.push(Judged { channel, native_id, user, if_owner });
    }
    app.out.show(&Confirmed { results })?;
    Ok(Outcome::Done)
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
    store: &mut SqliteMemory,
    (one, is_mine): (&Identity, bool),
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
        let name: UserId = meanwhile.name.parse()?;
        merge::carry_out(app, home, (&name, &meanwhile), &owner)?;
    }
    Ok(owner.name)
}

fn owner(store: &SqliteMemory) -> anyhow::Result<User> {
    let owner = store.users(Admin)?.into_iter().find(|user| user.number == UserNumber::OWNER);
    owner.ok_or_else(|| anyhow::anyhow!("the memory has no owner"))
}

impl Show for Confirmed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("everybody who wrote is linked to a user");
        }
        for one in &self.results {
            let (channel, id) = (printable(&one.channel), printable(&one.native_id));
            match (&one.user, &one.if_owner) {
                (Some(user), _) => {
                    page.line(format_args!("{channel} {id} is {}", printable(user)))?;
                }
                (None, command) => {
                    page.line(format_args!("{channel} {id} is linked to nobody"))?;
                    let command = command.as_deref().unwrap_or_default();
                    page.line(format_args!("  {DIM}if it is you:{DIM:#} {}", printable(command)))?;
                }
            }
        }
        Ok(())
    }
}
