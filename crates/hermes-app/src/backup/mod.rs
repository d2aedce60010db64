//! Backups: made, sent away, checked, tried, brought back; when they are due, and who is told when they fail.

pub mod alert;
pub mod create;
pub mod drill;
pub mod due;
pub mod having;
pub mod holding;
pub mod list;
pub mod on_server;
pub mod opening;
pub mod prune;
pub mod push;
pub mod record;
pub mod restore;
pub mod status;
pub mod verify;
pub mod wanted;

use hermes_backup::folder::Backup;
use hermes_home::Home;
use jiff::Timestamp;

use crate::app::App;
use crate::problem::{Kind, Problem};

/// The id of the newest good backup of a home: of those made since a time, if there is one, else of all.
pub fn newest_good(app: &App, home: &Home, since: Option<Timestamp>) -> Option<String> {
    let root = app.for_profile(&home.sibling(None));
    let folder = wanted::read(&root, None).ok()?.folder;
    let is_good = |one: &Backup| !one.name.damaged && one.failed.is_none();
    let newest = folder.latest(|one| is_good(one) && since.is_none_or(|at| one.made() >= at));
    let newest = newest.ok().flatten().or_else(|| folder.latest(is_good).ok().flatten());
    newest.map(|one| one.name.id())
}

/// Refuses what makes no sense without a backup.
pub fn none_yet() -> Problem {
    Problem::new(Kind::NotFound, "there is no backup yet")
        .hint("create one with `hermes backup create`")
}
