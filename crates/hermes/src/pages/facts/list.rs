//! The list of facts: searched, narrowed, paged.

use askama::Template;
use hermes_store::memory::{FactFilter, Facts as _};
use serde::Serialize;

use super::NAME;
use crate::desk::fact_view::Shown;
use crate::pages::show::{self, Head};
use crate::pages::visit::{Frame, ROWS};
use crate::pages::{Answer, Visit};
use crate::server::pool::Seat;

#[derive(Template, Serialize)]
#[template(path = "facts.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip)]
    q: String,
    #[serde(skip)]
    entity: String,
    #[serde(skip)]
    kind: String,
    #[serde(skip)]
    all: bool,
}

impl List {
    fn page_of(&self, id: &str) -> String {
        super::place(id)
    }
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (app, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let filter = FactFilter {
        kind: visit.asked("kind"),
        entity: visit.asked("entity"),
        with_retired: visit.asked("all").is_some(),
        offset: visit.offset(),
        limit: Some(ROWS + 1),
        ..FactFilter::default()
    };
    let found = memory.store.list_facts(scope, &filter, app.now)?;
    let next = (found.len() > ROWS)
        .then(|| visit.here_with(&[("offset", &(visit.offset() + ROWS).to_string())]));
    let results = found.iter().take(ROWS).map(Shown::of).collect();
    let text = |name| visit.asked(name).unwrap_or_default().to_owned();
    let list = List {
        frame,
        results,
        next,
        q: text("q"),
        entity: text("entity"),
        kind: text("kind"),
        all: visit.asked("all").is_some(),
    };
    let head = Head {
        title: NAME.to_owned(),
        section: NAME,
        command: "hermes memory fact list".to_owned(),
    };
    show::view(visit, head, &list)
}
