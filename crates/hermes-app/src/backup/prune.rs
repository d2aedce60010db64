//! Deleting old backups: what the rules let go, or the one that is named.

use hermes_backup::folder::{Backup, Event, Happened};
use hermes_backup::retention::{self, Candidate, Decision, Policy};
use hermes_backup::whose::{LeftAlone, Whose};

use super::wanted::Wanted;
use crate::app::App;
use crate::text::counted;

/// What the rules decide, and what they are not about.
#[derive(Clone)]
pub struct Decided {
    /// Each backup of this home, and what keeps it.
    pub decisions: Vec<Decision>,
    /// What was not considered because it is not surely of this home.
    pub left: LeftAlone,
}

impl Decided {
    /// How many go.
    pub fn going(&self) -> usize {
        self.decisions.iter().filter(|one| one.kept_by.is_empty()).count()
    }

    fn lets_go(&self, id: &str) -> bool {
        self.decisions.iter().any(|one| one.id == id && one.kept_by.is_empty())
    }
}

/// Deletes the one that is named; copies elsewhere stay.
pub fn delete_one(app: &App, wanted: &Wanted, backup: &Backup) -> anyhow::Result<()> {
    let _held = wanted.folder.lock("hermes backup delete")?;
    wanted.folder.delete(backup)?;
    note(app, wanted, backup.name.id(), "by hand")
}

/// Deletes what the rules of the settings let go.
pub fn by_settings(app: &App, wanted: &Wanted) -> anyhow::Result<()> {
    let policy = wanted.policy()?;
    let gone = delete(app, wanted, &policy, &decide(app, wanted, &policy)?)?;
    if gone > 0 {
        app.note(format_args!("{} deleted by the retention rules", counted(gone, "old backup")));
    }
    Ok(())
}

/// What the rules say of each backup.
pub fn decide(app: &App, wanted: &Wanted, policy: &Policy) -> anyhow::Result<Decided> {
    let (all, mut left) = (wanted.folder.list()?, LeftAlone::default());
    all.iter().for_each(|one| left.add(one.whose));
    let candidates: Vec<Candidate> =
        all.iter().filter(|one| one.whose == Whose::Ours).map(Candidate::of).collect();
    let decisions = match candidates.is_empty() {
        true => Vec::new(),
        false => retention::choose(&candidates, policy, app.now, &app.zone(&wanted.home)?)?,
    };
    Ok(Decided { decisions, left })
}

/// Deletes what the rules let go; returns how many went.
pub fn delete(app: &App, wanted: &Wanted, policy: &Policy, plan: &Decided) -> anyhow::Result<u64> {
    if plan.going() == 0 {
        return Ok(0);
    }
    let _held = wanted.folder.lock("hermes backup prune")?;
    // While the question was asked things may have changed: only what still goes is deleted.
    let still = decide(app, wanted, policy)?;
    let mut gone = 0;
    for backup in wanted.folder.list()?.iter().filter(|one| one.whose == Whose::Ours) {
        let id = backup.name.id();
        if still.lets_go(&id) && plan.lets_go(&id) {
            wanted.folder.delete(backup)?;
            note(app, wanted, id, "")?;
            gone += 1;
        }
    }
    Ok(gone)
}

fn note(app: &App, wanted: &Wanted, id: String, detail: &str) -> anyhow::Result<()> {
    let (what, detail) = (Happened::Pruned, detail.to_owned());
    let event = Event { at: app.now, what, id: Some(id), place: None, detail };
    Ok(wanted.folder.note(&event)?)
}
