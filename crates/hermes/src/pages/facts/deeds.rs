//! What can be done to facts; each deed says what it did and how it is undone.

use hermes_store::memory::{Facts as _, Scope};

use super::place;
use crate::desk::facts;
use crate::output::one_line;
use crate::pages::notice::Notice;
use crate::pages::{Answer, Visit, unknown_deed};
use crate::server::pool::Seat;

/// What was asked for in the list.
pub(super) fn of_list(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if let Some(id) = visit.said("forget") {
        return forget(seat, visit, id);
    }
    if let Some(id) = visit.said("restore") {
        return restore(seat, visit, id);
    }
    Err(unknown_deed(visit))
}

/// What was asked for about one fact.
pub(super) fn of_one(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    match visit.deed() {
        "forget" => forget(seat, visit, visit.param("id")),
        "restore" => restore(seat, visit, visit.param("id")),
        _ => Err(unknown_deed(visit)),
    }
}

fn forget(seat: &mut Seat, visit: &Visit, id: &str) -> anyhow::Result<Answer> {
    let scope = changer(seat, visit, id)?;
    let (app, home, memory) = seat.writer()?;
    let fact = facts::retire(app, home, (memory, scope), id)?;
    let address = visit.frame(seat)?.link(&place(&fact.id.to_string()));
    let notice = Notice::new(format!("Forgotten: {}", one_line(&fact.statement, 80)));
    Ok(Answer::Done { back: visit.back(), notice: notice.undo(&address, "restore", &[]) })
}

fn restore(seat: &mut Seat, visit: &Visit, id: &str) -> anyhow::Result<Answer> {
    let scope = changer(seat, visit, id)?;
    let (app, home, memory) = seat.writer()?;
    let fact = facts::restore(app, home, (memory, scope), id)?;
    let address = visit.frame(seat)?.link(&place(&fact.id));
    let notice = Notice::new(format!("Back again: {}", one_line(&fact.text, 80)));
    Ok(Answer::Done { back: visit.back(), notice: notice.undo(&address, "forget", &[]) })
}

/// Who changes a fact that must be there: no memory is made only to find nothing.
fn changer(seat: &mut Seat, visit: &Visit, id: &str) -> anyhow::Result<Scope> {
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    memory.store.find_fact(scope, id)?;
    Ok(scope)
}
