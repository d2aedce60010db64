//! What waits for the user's word: agreed to, or not.

use hermes_home::Home;
use hermes_memory::remember::{self, Approved};
use hermes_store::memory::Scope;
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::memory::OpenMemory;
use crate::problem::{Kind, Problem};
use crate::text::one_line;
use crate::{later, rules};

/// What became of a proposal that was agreed to.
#[derive(Debug, Serialize)]
pub struct ApprovedProposal {
    /// Its number, as it is typed.
    pub id: String,
    /// What was done.
    #[serde(flatten)]
    pub approved: Approved,
}

/// The memory in which proposals wait, open to be written; an error where nothing can wait.
pub fn memory(app: &App, home: &Home) -> anyhow::Result<OpenMemory> {
    if !app.memory(home, Access::Read)?.exists {
        return Err(Problem::new(Kind::NotFound, "nothing is waiting for your approval").into());
    }
    app.memory(home, Access::Write)
}

/// Agrees to proposals.
pub fn approve(
    app: &App,
    home: &Home,
    memory: &mut OpenMemory,
    scope: Scope,
    ids: &[i64],
) -> anyhow::Result<Vec<ApprovedProposal>> {
    let rules = rules::of_learning(app, home, &memory.store)?;
    let mut results = Vec::new();
    for id in ids {
        let approved = remember::approve(&mut memory.store, scope, *id, &rules, app.change())?;
        results.push(ApprovedProposal { id: format!("proposal:{id}"), approved });
    }
    later::fill_in(home, app, &mut memory.store)?;
    Ok(results)
}

/// Takes proposals away; they are not made again.
pub fn reject(app: &App, memory: &mut OpenMemory, scope: Scope, ids: &[i64]) -> anyhow::Result<()> {
    for id in ids {
        remember::reject(&mut memory.store, scope, *id, app.change())?;
    }
    Ok(())
}

/// The number of a proposal as it is typed: `4` or `proposal:4`.
pub fn number(id: &str) -> Result<i64, Problem> {
    let digits = id.strip_prefix("proposal:").unwrap_or(id);
    digits.parse().map_err(|_| {
        Problem::usage(format!("{id:?} is not the number of a proposal"))
            .hint("`hermes memory pending` lists the proposals")
    })
}

impl ApprovedProposal {
    /// What was done, in lines.
    pub fn lines(&self) -> Vec<String> {
        match &self.approved {
            Approved::Written(written) => {
                let entry = one_line(&written.entry, 72);
                let first = format!("written to {}: {entry}", written.path.display());
                let moved = written.moved.iter().map(|moved| {
                    format!(
                        "  to make room, this entry was moved to a fact: {}",
                        one_line(moved, 72)
                    )
                });
                std::iter::once(first).chain(moved).collect()
            }
            Approved::Removed { path, entry } => {
                vec![format!("removed from {}: {}", path.display(), one_line(entry, 72))]
            }
            Approved::Replaced { path, with, .. } => {
                vec![format!("updated in {}: {}", path.display(), one_line(with, 72))]
            }
            Approved::Outdated { entry } => vec![format!(
                "{}: the entry was removed or changed since; nothing was changed: {}",
                self.id,
                one_line(entry, 72)
            )],
        }
    }
}
