//! Old sessions are deleted after a look at which; those that were shown and no others.

use serde::{Deserialize, Serialize};

use crate::failure::{Kind, Problem};
use crate::output::{bytes, counted};
use crate::pages::notice::Notice;
use crate::pages::{Answer, Visit, command};
use crate::server::pool::Seat;

/// What `hermes sessions prune` would delete.
#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    #[serde(default)]
    pub(super) older: String,
    results: Vec<Old>,
    messages: u64,
    text_bytes: u64,
    kept_pinned: u64,
}

#[derive(Serialize, Deserialize)]
struct Old {
    id: String,
    #[serde(default)]
    title: Option<String>,
}

impl Plan {
    /// What would go, in a sentence.
    pub(super) fn told(&self) -> String {
        let sessions = counted(self.results.len() as u64, "session");
        let messages = counted(self.messages, "message");
        let pinned = match self.kept_pinned {
            0 => String::new(),
            count => format!("; {} stay because they are pinned", counted(count, "session")),
        };
        format!("{sessions} with {messages} ({}) would be deleted{pinned}.", bytes(self.text_bytes))
    }

    pub(super) fn count(&self) -> usize {
        self.results.len()
    }

    /// The names of the first ones.
    pub(super) fn names(&self) -> Vec<&str> {
        self.results
            .iter()
            .take(SHOWN)
            .map(|old| old.title.as_deref().unwrap_or(old.id.as_str()))
            .collect()
    }

    pub(super) fn more(&self) -> usize {
        self.results.len().saturating_sub(SHOWN)
    }
}

/// How many are named.
const SHOWN: usize = 20;

/// What would go of what is older than that.
pub(super) fn plan(seat: &Seat, older: &str) -> anyhow::Result<Plan> {
    let words = ["sessions", "prune", "--dry-run", "--older-than", older];
    let plan = command::ask::<Plan>(seat, &words)?;
    Ok(Plan { older: older.to_owned(), ..plan })
}

/// Deletes what was shown; where it became something else, nothing.
pub(super) fn prune(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let older = visit.must_say("older")?;
    let shown = visit.must_say("count")?;
    let plan = plan(seat, older)?;
    if plan.count().to_string() != shown {
        return Err(Problem::new(
            Kind::Refused,
            "other sessions are old by now; nothing was deleted",
        )
        .hint("look again at which would go")
        .into());
    }
    let said = command::tell(seat, &["sessions", "prune", "--older-than", older])?;
    let first = said.lines().next().unwrap_or_default().to_owned();
    let back = visit.frame(seat)?.link("sessions");
    Ok(Answer::Done { back, notice: Notice::new(first) })
}
