//! How it stands with the backups: green, amber or red. A pure function.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::folder::{Backup, Event};

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// All is well.
    Green,
    /// Something wants doing soon.
    Amber,
    /// A loss would hurt now.
    Red,
}

/// What is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// How far apart scheduled backups are; none: no schedule is set up.
    pub interval: Option<SignedDuration>,
    /// How old the newest drill may be.
    pub drill_within: SignedDuration,
    /// The places that every backup should reach.
    pub places: Vec<String>,
}

/// How it stands, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The worst of the reasons.
    pub colour: Colour,
    /// Each reason with its colour and the command that mends it; empty when green.
    pub reasons: Vec<Reason>,
    /// The newest good backup.
    pub newest: Option<Timestamp>,
    /// The newest drill that went well.
    pub drilled: Option<Timestamp>,
    /// How many attempts failed since the newest good one.
    pub failures: u32,
}

/// Why it is not green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// How bad it is.
    pub colour: Colour,
    /// What is the matter.
    pub what: String,
    /// The command that mends it.
    pub hint: String,
}

/// Judges the backups by what is expected; a failed check outranks a good backup.
pub fn judge(
    backups: &[Backup],
    history: &[Event],
    expected: &Expected,
    now: Timestamp,
) -> Standing {
    let _ = (backups, history, expected, now);
    unimplemented!()
}
