//! One fact with all that is known about it.

use askama::Template;
use serde::Serialize;

use super::NAME;
use crate::desk::fact_view::Detail;
use crate::desk::facts;
use crate::pages::show::{self, Head};
use crate::pages::visit::Frame;
use crate::pages::{Answer, Visit};
use crate::server::pool::Seat;

#[derive(Template, Serialize)]
#[template(path = "fact.html")]
struct One {
    #[serde(skip)]
    frame: Frame,
    #[serde(flatten)]
    detail: Detail,
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (app, home, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let detail = facts::show(app, home, (&memory.store, scope), visit.param("id"))?;
    let id = detail.fact.id.clone();
    let command = format!("hermes memory fact show {id}");
    let head = Head { title: id, section: NAME, command };
    show::view(visit, head, &One { frame, detail })
}
