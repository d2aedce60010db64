//! The names of the users of a memory on a server, kept in the home for when the server is away.
//!
//! Names alone: a number may become another user's while nobody can ask.

use std::collections::BTreeSet;
use std::fs;

use hermes_home::{Home, UserId, atomic};
use hermes_store::memory::{Admin, Memory};

/// Notes who is known now, and forgets who is not any more; nothing for a memory in a file.
pub fn note(home: &Home, store: &Memory) -> anyhow::Result<()> {
    if !store.is_on_server() {
        return Ok(());
    }
    let users = store.users(Admin)?.into_iter().map(|user| user.name);
    // A name that leads to another user is somebody's too.
    let merged = store.merged_users(Admin)?.into_iter().map(|user| user.name);
    let names: BTreeSet<String> =
        users.chain(merged).filter(|name| name.parse::<UserId>().is_ok()).collect();
    if names != read(home) {
        let text = serde_json::to_string_pretty(&names)?;
        atomic::write(&home.known_users(), format!("{text}\n").as_bytes())?;
    }
    Ok(())
}

/// Whether somebody was known when the memory was last seen.
pub fn has(home: &Home, user: &UserId) -> bool {
    read(home).contains(user.as_str())
}

/// Nobody where nothing was noted, or what was noted cannot be read.
fn read(home: &Home) -> BTreeSet<String> {
    let text = fs::read(home.known_users()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
