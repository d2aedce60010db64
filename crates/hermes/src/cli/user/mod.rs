//! hermes user list, add, confirm, link, unlink, timezone, merge, export, forget

mod confirm;
mod export;
mod forget;
mod merge;

use std::io;

use clap::Subcommand;
use hermes_home::{Home, UserId};
use hermes_memory::identity;
use hermes_store::memory::{
    Admin, Identity, MergedUser, People as _, SqliteMemory, User, UserNumber, Users as _,
};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::app::App;
use crate::daemon::life;
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{DIM, Page, Show, printable};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the users, the identities they come in with, and who is linked to nobody
    List,
    /// Add a user; each has a memory of their own
    Add {
        /// Their name: letters, digits and _ - . @ +
        name: UserId,
        /// The time zone they live in, such as Europe/Lisbon
        #[arg(long, value_name = "ZONE")]
        timezone: Option<String>,
    },
    /// Say which of those who wrote and are linked to nobody are you; each is asked about once
    Confirm(confirm::Arguments),
    /// Say which user somebody is in a channel; from then on their words go to that user's memory
    Link {
        /// The channel, such as telegram
        channel: String,
        /// Their id there
        native_id: String,
        /// The user; `owner` is you
        user: UserId,
    },
    /// Forget which user somebody is in a channel; what was said stays where it is
    Unlink {
        /// The channel, such as telegram
        channel: String,
        /// Their id there
        native_id: String,
    },
    /// Say which time zone a user lives in
    Timezone {
        /// The user
        user: UserId,
        /// The zone, such as Europe/Lisbon; `none` for the one of the settings
        zone: String,
    },
    /// Make one user another: everything of the first becomes the second's, and the name leads there
    Merge(merge::Arguments),
    /// Write everything of one person to a folder
    Export(export::Arguments),
    /// Erase everything of one person, with a receipt that says which backups still hold it
    Forget(forget::Arguments),
}

#[derive(Debug, Serialize)]
struct Users {
    results: Vec<Listed>,
    unlinked: Vec<Unlinked>,
    /// Those who are somebody else now.
    merged: Vec<MergedUser>,
}

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    timezone: Option<String>,
    identities: Vec<Known>,
}

#[derive(Debug, Serialize)]
struct Known {
    channel: String,
    native_id: String,
}

/// Somebody who came in and is linked to nobody.
#[derive(Debug, Serialize)]
struct Unlinked {
    channel: String,
    native_id: String,
    chat: hermes_store::memory::Chat,
    user: String,
    link_with: String,
    /// The command if it is the owner, where their words did not go to the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    if_owner: Option<String>,
}

#[derive(Debug, Serialize)]
struct Done {
    user: String,
    message: String,
}

pub(crate) fn run(command: &Command, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    match command {
        Command::List => list(app, &home),
        Command::Add { name, timezone } => add(app, &home, name, timezone.as_deref()),
        Command::Confirm(arguments) => confirm::run(arguments, app, &home),
        Command::Link { channel, native_id, user } => link(app, &home, [channel, native_id], user),
        Command::Unlink { channel, native_id } => unlink(app, &home, [channel, native_id]),
        Command::Timezone { user, zone } => set_timezone(app, &home, user, zone),
        Command::Merge(arguments) => merge::run(arguments, app),
        Command::Export(arguments) => export::run(arguments, app),
        Command::Forget(arguments) => forget::run(arguments, app),
    }
}

fn list(app: &mut App, home: &Home) -> anyhow::Result<Outcome> {
    let store = app.memory(home, Access::Read)?.store;
    let users = store.users(Admin)?;
    let linked = store.identities(Admin)?;
    let known_of = |user: UserNumber| {
        let theirs = linked.iter().filter(|one| one.user == user);
        theirs
            .map(|one| Known { channel: one.channel.clone(), native_id: one.native_id.clone() })
            .collect()
    };
    let name_of = |user: UserNumber| {
        let found = users.iter().find(|one| one.number == user);
        found.map_or_else(String::new, |user| user.name.clone())
    };
    let unlinked = identity::to_link(&store)?
        .into_iter()
        .map(|(Identity { channel, native_id, chat, user, .. }, link_with)| {
            let is_other = user != UserNumber::OWNER;
            let owner = name_of(UserNumber::OWNER);
            let if_owner = is_other.then(|| identity::link_command(&channel, &native_id, &owner));
            Unlinked { channel, native_id, chat, user: name_of(user), link_with, if_owner }
        })
        .collect();
    let results = users
        .iter()
        .map(|user| Listed {
            name: user.name.clone(),
            timezone: user.timezone.clone(),
            identities: known_of(user.number),
        })
        .collect();
    let merged = store.merged_users(Admin)?;
    app.out.show(&Users { results, unlinked, merged })?;
    Ok(Outcome::Done)
}

fn add(app: &mut App, home: &Home, name: &UserId, zone: Option<&str>) -> anyhow::Result<Outcome> {
    if let Some(zone) = zone {
        check_zone(zone)?;
    }
    let mut store = app.memory(home, Access::Write)?.store;
    let found = store.user(name.as_str())?;
    if let Some(other) = found.as_ref().filter(|found| found.name != name.as_str()) {
        let message = format!("{name} was merged into {}", other.name);
        return Err(Problem::new(Kind::Refused, message)
            .hint(format!("say {} instead, or choose another name", other.name))
            .into());
    }
    let is_known = found.is_some();
    let number = store.user_or_new(name.as_str(), app.change())?;
    if let Some(zone) = zone {
        store.set_timezone(number, Some(zone), app.change())?;
    }
    let known = if is_known { " is known already" } else { " is a user now" };
    app.out.show(&Done { user: name.to_string(), message: format!("{name}{known}") })?;
    app.out
        .hint(format_args!("say who they are in a channel: `hermes user link CHANNEL ID {name}`"));
    Ok(Outcome::Done)
}

fn link(
    app: &mut App,
    home: &Home,
    [channel, native_id]: [&str; 2],
    user: &UserId,
) -> anyhow::Result<Outcome> {
    if channel.trim().is_empty() || native_id.trim().is_empty() {
        return Err(Problem::usage("the channel and the id must not be empty").into());
    }
    let mut store = app.memory(home, Access::Write)?.store;
    let number = known(&store, user)?;
    // What was said before belongs to whom it went to then.
    life::take_in(app, home, &mut store)?;
    store.link_identity(channel, native_id, number, app.change())?;
    let message =
        format!("{native_id} of {channel} is {user}: what they say from now on is theirs");
    app.out.show(&Done { user: user.to_string(), message })?;
    Ok(Outcome::Done)
}

fn unlink(app: &mut App, home: &Home, [channel, native_id]: [&str; 2]) -> anyhow::Result<Outcome> {
    let unknown = || {
        Problem::new(Kind::NotFound, format!("{native_id} of {channel} is linked to nobody"))
            .hint("see who is with `hermes user list`")
    };
    if store_of(app, home, Access::Read)?.user_of_identity(channel, native_id)?.is_none() {
        return Err(unknown().into());
    }
    let mut store = store_of(app, home, Access::Write)?;
    // What was said before belongs to whom it went to then.
    life::take_in(app, home, &mut store)?;
    let was = store.unlink_identity(channel, native_id, app.change())?.ok_or_else(unknown)?;
    let user = store.users(Admin)?.into_iter().find(|one| one.number == was);
    let user = user.map_or_else(String::new, |user| user.name);
    let message =
        format!("{native_id} of {channel} is no longer {user}: what they said stays {user}'s");
    app.out.show(&Done { user, message })?;
    Ok(Outcome::Done)
}

fn store_of(app: &App, home: &Home, access: Access) -> anyhow::Result<SqliteMemory> {
    Ok(app.memory(home, access)?.store)
}

fn set_timezone(app: &mut App, home: &Home, user: &UserId, zone: &str) -> anyhow::Result<Outcome> {
    let zone = Some(zone).filter(|zone| *zone != "none");
    if let Some(zone) = zone {
        check_zone(zone)?;
    }
    let mut store = app.memory(home, Access::Write)?.store;
    let number = known(&store, user)?;
    store.set_timezone(number, zone, app.change())?;
    let zone = zone.unwrap_or("the zone of the settings");
    app.out.show(&Done { user: user.to_string(), message: format!("{user} lives in {zone}") })?;
    Ok(Outcome::Done)
}

fn known(store: &SqliteMemory, user: &UserId) -> anyhow::Result<UserNumber> {
    known_user(store, user).map(|user| user.number)
}

fn known_user(store: &SqliteMemory, user: &UserId) -> anyhow::Result<User> {
    match store.user(user.as_str())? {
        Some(user) => Ok(user),
        None => Err(Problem::new(Kind::NotFound, format!("could not find user {user}"))
            .hint(format!("add them with `hermes user add {user}`"))
            .into()),
    }
}

fn check_zone(zone: &str) -> Result<(), Problem> {
    match TimeZone::get(zone) {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::usage(format!("{zone:?} is not a known time zone"))
            .hint("write it like Europe/Lisbon")),
    }
}

impl Show for Users {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for user in &self.results {
            let zone = user.timezone.as_deref().unwrap_or("");
            page.line(format_args!("{:<20} {DIM}{zone}{DIM:#}", user.name))?;
            for one in &user.identities {
                let id = printable(&one.native_id);
                page.line(format_args!("  {} {id}", printable(&one.channel)))?;
            }
        }
        for one in &self.merged {
            let at = one.at.strftime("%Y-%m-%d");
            page.line(format_args!("{:<20} {DIM}is {} since {at}{DIM:#}", one.name, one.into))?;
        }
        if !self.unlinked.is_empty() {
            page.line("\nlinked to nobody:")?;
        }
        for one in &self.unlinked {
            let (channel, id) = (printable(&one.channel), printable(&one.native_id));
            page.line(format_args!("  {channel} {id}: words went to {}", one.user))?;
            page.line(format_args!("    {DIM}link:{DIM:#} {}", printable(&one.link_with)))?;
            if let Some(command) = &one.if_owner {
                page.line(format_args!("    {DIM}if it is you:{DIM:#} {}", printable(command)))?;
            }
        }
        Ok(())
    }
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(printable(&self.message))
    }
}
