//! Old sessions are deleted after a look at which; those that were shown and no others.

use hermes_app::clock;
use hermes_app::sessions::prune::{self, OldSessions, Pruning};
use serde::Serialize;

use crate::pages::notice::Notice;
use crate::pages::{Answer, Visit};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{bytes, counted};

/// What would be deleted.
#[derive(Serialize)]
pub(super) struct Plan {
    pub(super) older: String,
    #[serde(flatten)]
    pruning: Pruning,
}

impl Plan {
    /// What would go, in a sentence.
    pub(super) fn told(&self) -> String {
        let sessions = counted(self.pruning.results.len() as u64, "session");
        let messages = counted(self.pruning.messages, "message");
        let pinned = match self.pruning.kept_pinned {
            0 => String::new(),
            count => format!("; {} would be kept", counted(count, "pinned session")),
        };
        format!(
            "{sessions} with {messages} ({}) would be deleted{pinned}.",
            bytes(self.pruning.text_bytes)
        )
    }

    pub(super) fn count(&self) -> usize {
        self.pruning.results.len()
    }

    /// The names of the first ones.
    pub(super) fn names(&self) -> Vec<&str> {
        self.pruning
            .results
            .iter()
            .take(SHOWN)
            .map(|old| old.title.as_deref().unwrap_or_else(|| old.id.as_str()))
            .collect()
    }

    pub(super) fn more(&self) -> usize {
        self.pruning.results.len().saturating_sub(SHOWN)
    }
}

/// How many are named.
const SHOWN: usize = 20;

/// What would go of what is older than that.
pub(super) fn plan(seat: &Seat, older: &str) -> anyhow::Result<Plan> {
    let pruning = prune::plan(&seat.app, &seat.home, &old(older)?)?;
    Ok(Plan { older: older.to_owned(), pruning })
}

fn old(older: &str) -> anyhow::Result<OldSessions> {
    let older_than = Some(clock::parse_length(older)?.unsigned_abs());
    Ok(OldSessions { older_than, source: None })
}

/// Deletes what was shown; where it became something else, nothing.
pub(super) fn prune_shown(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let older = visit.must_say("older")?;
    let shown = visit.must_say("count")?;
    let plan = plan(seat, older)?;
    if plan.count().to_string() != shown {
        return Err(Problem::new(
            Kind::Refused,
            "the list of old sessions has changed; nothing was deleted",
        )
        .hint("preview the list again")
        .into());
    }
    let pruned = prune::prune(&seat.app, &seat.home, &old(older)?, None)?;
    let sessions = counted(pruned.results.len() as u64, "session");
    let said = format!("Deleted {sessions} with {}", counted(pruned.messages, "message"));
    let back = visit.frame(seat)?.link("sessions");
    Ok(Answer::Done { back, notice: Notice::new(said) })
}
