//! Facts that may not both be true, two at a time, until somebody says which holds.

use askama::Template;
use hermes_store::memory::{Memory, Scope};
use jiff::Timestamp;
use serde::Serialize;

use super::{NAME, deeds, place};
use crate::pages::notice::Notice;
use crate::pages::show::{self, Head};
use crate::pages::visit::{Frame, ROWS};
use crate::pages::{Answer, Visit, unknown_deed};
use hermes_app::fact_view::{Shown, name_of};
use hermes_app::pool::Seat;

#[derive(Template, Serialize)]
#[template(path = "fact_conflicts.html")]
struct Conflicts {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Pair>,
}

#[derive(Serialize)]
struct Pair {
    fact: Shown,
    other: Shown,
    at: Timestamp,
    #[serde(skip)]
    addresses: [String; 2],
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let mut results = Vec::new();
    for conflict in memory.store.conflicts(scope)?.into_iter().take(ROWS) {
        let fact = one(&memory.store, scope, conflict.fact)?;
        let other = one(&memory.store, scope, conflict.other)?;
        let addresses = [&fact, &other].map(|shown| frame.link(place(&shown.id)));
        results.push(Pair { fact, other, at: conflict.at, addresses });
    }
    let command = "hermes memory fact conflicts".to_owned();
    let head = Head { title: "Conflicts".to_owned(), section: NAME, command };
    show::view(visit, head, &Conflicts { frame, results })
}

/// One of two goes, or both may stay.
pub(super) fn settle(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if let Some(id) = visit.said("forget") {
        return deeds::forget(seat, visit, &[id]);
    }
    if visit.deed() != "both" {
        return Err(unknown_deed(visit));
    }
    let pair = [visit.must_say("fact")?, visit.must_say("other")?];
    let (scope, found) = deeds::changer(seat, visit, &pair)?;
    let (app, _, memory) = seat.writer()?;
    if let [fact, other] = found.as_slice() {
        memory.store.settle_conflict(scope, fact.id, other.id, app.change())?;
    }
    let notice = Notice::new(format!("Kept both {} and {}", pair[0], pair[1]));
    Ok(Answer::Done { back: visit.back(), notice })
}

fn one(store: &Memory, scope: Scope, id: i64) -> anyhow::Result<Shown> {
    Ok(Shown::of(&store.find_fact(scope, &name_of(id))?))
}
