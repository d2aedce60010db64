//! Sending backups away, bringing them back, and what is where.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::folder::{Backup, Folder};
use crate::remote::Remote;
use crate::retention::{Decision, Policy};
use crate::{Result, Tell};

/// What a push did.
#[derive(Debug, Default)]
pub struct Pushed {
    /// Ids that were sent.
    pub sent: Vec<String>,
    /// Ids that were there already.
    pub there: Vec<String>,
    /// Ids that were deleted there, by the rules of the place.
    pub pruned: Vec<String>,
    /// What the user should know of the place.
    pub warnings: Vec<String>,
}

/// Sends the archives that are not there yet, each followed by its sidecar; damaged ones are sent too.
pub fn push(
    folder: &Folder,
    backups: &[Backup],
    remote: &dyn Remote,
    now: Timestamp,
    tell: Tell<'_>,
) -> Result<Pushed> {
    let _ = (folder, backups, remote, now, tell);
    unimplemented!()
}

/// What the rules of a place would do there; nothing is deleted.
pub fn plan_prune(
    remote: &dyn Remote,
    policy: &Policy,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Vec<Decision>> {
    let _ = (remote, policy, now, zone);
    unimplemented!()
}

/// Deletes what a plan lets go, at the place.
pub fn prune(
    folder: &Folder,
    remote: &dyn Remote,
    plan: &[Decision],
    now: Timestamp,
) -> Result<Vec<String>> {
    let _ = (folder, remote, plan, now);
    unimplemented!()
}

/// Fetches a backup (an id, a unique beginning, `latest`) into the folder; its hash must fit its sidecar.
pub fn pull(folder: &Folder, id: &str, remote: &dyn Remote, tell: Tell<'_>) -> Result<Backup> {
    let _ = (folder, id, remote, tell);
    unimplemented!()
}
