//! /rollback: what the agent did to files is shown, and taken back when the person says so.

use hermes_agent::checkpoint::{Checkpoint, Limits, Plan, Restored, Restoring, Store};
use hermes_home::Home;

use super::Told;
use crate::output::{BOLD, DIM};
use hermes_app::app::App;
use hermes_app::clock;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{counted, one_line};

/// How the checkpoint of a restore says which one it went back to.
const RESTORE: &str = "restore checkpoint ";
/// How the name of a checkpoint begins.
const CHECKPOINT: &str = "checkpoint:";

pub(super) fn rollback(told: &mut Told<'_>) -> anyhow::Result<()> {
    let store = store(told.conversation.app(), told.conversation.home())?;
    let session = told.conversation.session.to_string();
    let all = store.list(Some(&session))?;
    let number = match told.rest {
        "list" => return list(told, &all),
        "undo" => match all.first().filter(|last| restored(last).is_some()) {
            Some(last) => last.number,
            None => return told.notice("the last change was not a rollback"),
        },
        name if name.starts_with(CHECKPOINT) => named(name, &all)?,
        rest => {
            let steps = match rest {
                "" => 1,
                rest => rest.parse::<usize>().ok().filter(|steps| *steps > 0).ok_or_else(|| {
                    Problem::usage(format!("{rest:?} is not a number of changes"))
                        .hint("usage: /rollback 2; /rollback list shows the changes")
                })?,
            };
            match standing(&all).get(steps - 1) {
                Some(found) => found.number,
                None => return told.notice(&too_few(standing(&all).len())),
            }
        }
    };
    let plan = store.plan(number)?;
    go_back(told, &store, &plan)
}

/// Shows the difference, asks, and restores.
fn go_back(told: &mut Told<'_>, store: &Store, plan: &Plan) -> anyhow::Result<()> {
    if plan.is_empty() {
        return told.notice("every file is already as it was then");
    }
    let difference = store.diff(plan)?;
    let foreign = plan.foreign();
    let mut question = format!("revert {}?", counted(plan.changes.len() as u64, "file"));
    if !foreign.is_empty() {
        let names: Vec<String> = foreign.iter().map(|path| path.display().to_string()).collect();
        question = format!("changed by someone else since: {}; {question}", names.join(", "));
    }
    if !told.front.is_interactive() {
        told.print(&difference)?;
        return told.notice("nothing was changed: there is no terminal to ask for confirmation");
    }
    if !told.front.confirm(&question, &difference) {
        return told.notice("nothing was changed");
    }
    let turn = u32::try_from(told.conversation.turns).unwrap_or(u32::MAX);
    let restoring = Restoring { force: !foreign.is_empty(), turn, now: clock::now() };
    let done = store.restore(plan, &restoring)?;
    told.notice(&said(&done))
}

/// The changes that stand: neither rollbacks, nor what they took back.
fn standing(all: &[Checkpoint]) -> Vec<&Checkpoint> {
    let mut limit = u32::MAX;
    let mut found = Vec::new();
    for checkpoint in all.iter().filter(|one| !one.changes.is_empty() || one.pending.is_some()) {
        match restored(checkpoint) {
            _ if checkpoint.number >= limit => {}
            Some(number) => limit = number,
            None => found.push(checkpoint),
        }
    }
    found
}

/// The checkpoint that a restore went back to.
fn restored(checkpoint: &Checkpoint) -> Option<u32> {
    checkpoint.what.strip_prefix(RESTORE)?.trim().parse().ok()
}

fn list(told: &mut Told<'_>, all: &[Checkpoint]) -> anyhow::Result<()> {
    let place = told.place();
    let zone = place.app.zone(place.home)?;
    let lines: String = standing(all)
        .iter()
        .enumerate()
        .map(|(steps, one)| {
            let (at, what) = (clock::minute(one.at, &zone), one_line(&one.what, 70));
            format!("{BOLD}{:>3}{BOLD:#}  {what}  {DIM}{at}, {}{DIM:#}\n", steps + 1, name_of(one))
        })
        .collect();
    match lines.is_empty() {
        true => told.notice(&too_few(0)),
        false => told.print(&lines),
    }
}

fn too_few(count: usize) -> String {
    match count {
        0 => "no files were changed in this conversation".to_owned(),
        count => format!("only {} can be reverted", counted(count as u64, "change")),
    }
}

fn said(done: &Restored) -> String {
    let mut parts = Vec::new();
    if !done.written.is_empty() {
        parts.push(format!("{} reverted", counted(done.written.len() as u64, "file")));
    }
    if !done.removed.is_empty() {
        parts.push(format!("{} removed", counted(done.removed.len() as u64, "file")));
    }
    if !done.left.is_empty() {
        parts.push(format!("{} left unchanged", counted(done.left.len() as u64, "file")));
    }
    format!("{}; undo this with /rollback undo", parts.join(", "))
}

/// What was kept in a home.
pub(super) fn store(app: &App, home: &Home) -> anyhow::Result<Store> {
    let settings = &app.config(home)?.config.checkpoints;
    Ok(Store::new(home, Limits::from(settings)))
}

/// A checkpoint as it is typed.
pub(super) fn name_of(checkpoint: &Checkpoint) -> String {
    format!("{CHECKPOINT}{}", checkpoint.number)
}

/// The checkpoint that a name means, if it is one of this conversation.
fn named(name: &str, all: &[Checkpoint]) -> anyhow::Result<u32> {
    let found = all.iter().find(|one| name_of(one) == name);
    found.map(|one| one.number).ok_or_else(|| {
        let number = name.strip_prefix(CHECKPOINT).unwrap_or(name);
        Problem::new(Kind::NotFound, format!("{name} is not a change of this conversation"))
            .hint(format!("for other conversations, use `hermes checkpoint show {number}`"))
            .into()
    })
}

#[cfg(test)]
mod tests {
    use hermes_agent::checkpoint::{Change, State};

    use super::*;

    fn checkpoint(number: u32, what: &str) -> Checkpoint {
        let change = Change { path: "/w/a".into(), before: State::Missing, after: State::Missing };
        Checkpoint {
            number,
            session: "s".to_owned(),
            turn: 1,
            at: "2026-06-01T00:00:00Z".parse().unwrap(),
            folder: "/w".into(),
            what: what.to_owned(),
            changes: vec![change],
            folders: Vec::new(),
            pending: None,
        }
    }

    fn left(all: &[(u32, &str)]) -> Vec<u32> {
        let mut all: Vec<_> = all.iter().map(|(number, what)| checkpoint(*number, what)).collect();
        all.reverse();
        standing(&all).iter().map(|one| one.number).collect()
    }

    #[test]
    fn a_change_that_was_taken_back_does_not_count_again() {
        let (write, back) = ("write a", "restore checkpoint 2");
        assert_eq!(left(&[(1, write), (2, write), (3, write)]), [3, 2, 1]);
        assert_eq!(left(&[(1, write), (2, write), (3, write), (4, back)]), [1]);
        let undone = [(1, write), (2, write), (4, back), (5, "restore checkpoint 4")];
        assert_eq!(left(&undone), [2, 1]);
        assert_eq!(left(&[(1, write), (2, write), (4, back), (5, write)]), [5, 1]);
    }

    #[test]
    fn a_checkpoint_is_named_only_in_its_own_conversation() {
        let all = [checkpoint(7, "write a")];
        assert_eq!(named("checkpoint:7", &all).unwrap(), 7);
        assert!(named("checkpoint:8", &all).is_err() && named("checkpoint:x", &all).is_err());
    }

    #[test]
    fn what_was_done_is_said_with_the_way_back() {
        let done = Restored {
            undo: Some(4),
            written: vec!["a".into(), "b".into()],
            removed: vec!["c".into()],
            left: Vec::new(),
        };
        assert_eq!(said(&done), "2 files reverted, 1 file removed; undo this with /rollback undo");
    }
}
