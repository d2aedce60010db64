//! Who talks to the agent: users, who they are in channels, where they live.

pub mod confirm;
pub mod export;
pub mod forget;
pub mod merge;
pub mod unmerge;

use hermes_home::{Home, UserId};
use hermes_memory::identity;
use hermes_store::memory::{Admin, Chat, Identity, Memory, MergedUser, User, UserNumber};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::app::App;
use crate::catch_up;
use crate::known_users;
use crate::problem::{Kind, Problem};

/// Everybody whom the memory knows.
#[derive(Debug, Serialize)]
pub struct KnownUsers {
    /// The users.
    pub results: Vec<UserSummary>,
    /// Those who came in and are linked to nobody.
    pub unlinked: Vec<Unlinked>,
    /// Those who are somebody else now.
    pub merged: Vec<MergedUser>,
}

/// A user as they are listed.
#[derive(Debug, Serialize)]
pub struct UserSummary {
    /// Their name.
    pub name: String,
    /// The zone they live in, where it is not the one of the settings.
    pub timezone: Option<String>,
    /// Who they are in channels.
    pub identities: Vec<ChannelIdentity>,
}

/// Somebody in a channel.
#[derive(Debug, Serialize)]
pub struct ChannelIdentity {
    /// The channel.
    pub channel: String,
    /// Their id there.
    pub native_id: String,
}

/// Somebody who came in and is linked to nobody.
#[derive(Debug, Serialize)]
pub struct Unlinked {
    /// The channel.
    pub channel: String,
    /// Their id there.
    pub native_id: String,
    /// Whether they spoke alone with the agent.
    pub chat: Chat,
    /// To whom their words went.
    pub user: String,
    /// The command that links them.
    pub link_with: String,
    /// The command if it is the owner, where their words did not go to the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_owner: Option<String>,
}

/// What became of a user.
#[derive(Debug, Serialize)]
pub struct UserChange {
    /// Their name.
    pub user: String,
    /// What is true now, in a sentence.
    pub message: String,
}

/// Everybody whom the memory knows.
pub fn list(store: &Memory) -> anyhow::Result<KnownUsers> {
    let users = store.users(Admin)?;
    let linked = store.identities(Admin)?;
    let known_of = |user: UserNumber| {
        let theirs = linked.iter().filter(|one| one.user == user);
        let of = |one: &Identity| ChannelIdentity {
            channel: one.channel.clone(),
            native_id: one.native_id.clone(),
        };
        theirs.map(of).collect()
    };
    let name_of = |user: UserNumber| {
        let found = users.iter().find(|one| one.number == user);
        found.map_or_else(String::new, |user| user.name.clone())
    };
    let unlinked = identity::to_link(store)?
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
        .map(|user| UserSummary {
            name: user.name.clone(),
            timezone: user.timezone.clone(),
            identities: known_of(user.number),
        })
        .collect();
    Ok(KnownUsers { results, unlinked, merged: store.merged_users(Admin)? })
}

/// Adds a user; each has a memory of their own.
pub fn add(
    app: &App,
    home: &Home,
    name: &UserId,
    zone: Option<&str>,
) -> anyhow::Result<UserChange> {
    if let Some(zone) = zone {
        check_zone(zone)?;
    }
    let mut store = app.memory(home, Access::Write)?.store;
    let found = store.user(name.as_str())?;
    if let Some(other) = found.as_ref().filter(|found| found.name != name.as_str()) {
        let message = format!("{name} was merged into {}", other.name);
        return Err(Problem::new(Kind::Refused, message)
            .hint(format!("use {} instead, or choose another name", other.name))
            .into());
    }
    let is_known = found.is_some();
    let number = store.user_or_new(name.as_str(), app.change())?;
    known_users::note(home, &store)?;
    if let Some(zone) = zone {
        store.set_timezone(number, Some(zone), app.change())?;
    }
    let known = if is_known { " is already a user" } else { " is a user now" };
    Ok(UserChange { user: name.to_string(), message: format!("{name}{known}") })
}

/// Says which user somebody is in a channel; from then on their words go to that user's memory.
pub fn link(
    app: &App,
    home: &Home,
    [channel, native_id]: [&str; 2],
    user: &UserId,
) -> anyhow::Result<UserChange> {
    if channel.trim().is_empty() || native_id.trim().is_empty() {
        return Err(Problem::usage("the channel and the id must not be empty").into());
    }
    let mut store = app.memory(home, Access::Write)?.store;
    let number = known(&store, user)?;
    // What was said before belongs to whom it went to then.
    catch_up::take_in(app, home, &mut store)?;
    store.link_identity(channel, native_id, number, app.change())?;
    let message =
        format!("{native_id} of {channel} is linked to {user}: new messages are stored for {user}");
    Ok(UserChange { user: user.to_string(), message })
}

/// Forgets which user somebody is in a channel; what was said stays where it is.
pub fn unlink(
    app: &App,
    home: &Home,
    [channel, native_id]: [&str; 2],
) -> anyhow::Result<UserChange> {
    let unknown = || {
        Problem::new(Kind::NotFound, format!("{native_id} of {channel} is not linked to a user"))
            .hint("`hermes user list` shows all links")
    };
    let read = app.memory(home, Access::Read)?.store;
    if read.user_of_identity(channel, native_id)?.is_none() {
        return Err(unknown().into());
    }
    drop(read);
    let mut store = app.memory(home, Access::Write)?.store;
    // What was said before belongs to whom it went to then.
    catch_up::take_in(app, home, &mut store)?;
    let was = store.unlink_identity(channel, native_id, app.change())?.ok_or_else(unknown)?;
    let user = store.users(Admin)?.into_iter().find(|one| one.number == was);
    let user = user.map_or_else(String::new, |user| user.name);
    let message = format!(
        "{native_id} of {channel} is no longer linked to {user}: earlier messages stay with \
             {user}"
    );
    Ok(UserChange { user, message })
}

/// Says which time zone a user lives in; `none` is the one of the settings.
pub fn set_timezone(
    app: &App,
    home: &Home,
    user: &UserId,
    zone: &str,
) -> anyhow::Result<UserChange> {
    let zone = Some(zone).filter(|zone| *zone != "none");
    if let Some(zone) = zone {
        check_zone(zone)?;
    }
    let mut store = app.memory(home, Access::Write)?.store;
    let number = known(&store, user)?;
    store.set_timezone(number, zone, app.change())?;
    let zone = zone.unwrap_or("the time zone of the settings");
    Ok(UserChange { user: user.to_string(), message: format!("the time zone of {user} is {zone}") })
}

/// The number of a user who must be known.
pub fn known(store: &Memory, user: &UserId) -> anyhow::Result<UserNumber> {
    known_user(store, user).map(|user| user.number)
}

/// A user who must be known.
pub fn known_user(store: &Memory, user: &UserId) -> anyhow::Result<User> {
    match store.user(user.as_str())? {
        Some(user) => Ok(user),
        None => Err(Problem::new(Kind::NotFound, format!("could not find user {user}"))
            .hint(format!("add the user with `hermes user add {user}`"))
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
