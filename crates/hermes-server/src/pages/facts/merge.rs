//! Which of several facts is to stand for the others.

use askama::Template;
use serde::Serialize;

use super::{NAME, deeds};
use crate::pages::show::{self, Head};
use crate::pages::visit::Frame;
use crate::pages::{Answer, Visit};
use hermes_app::fact_view::Shown;
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;

#[derive(Template, Serialize)]
#[template(path = "fact_merge.html")]
struct Merge {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Shown>,
    #[serde(skip)]
    back: String,
}

/// Asks which one stays; nothing is changed yet.
pub(super) fn choose(seat: &mut Seat, visit: &Visit, ids: &[&str]) -> anyhow::Result<Answer> {
    if ids.len() < 2 {
        return Err(Problem::usage("a merge needs at least two facts")
            .hint("select two or more facts that say the same")
            .into());
    }
    let (_, found) = deeds::changer(seat, visit, ids)?;
    let mut results: Vec<Shown> = found.iter().map(Shown::of).collect();
    // The one that was of use most often is the likely one.
    results.sort_by_key(|fact| std::cmp::Reverse((fact.pinned, fact.uses)));
    let page = Merge { frame: visit.frame(seat)?, results, back: visit.back() };
    let command = format!("hermes memory fact merge {}", ids.join(" "));
    let head = Head { title: "Merge facts".to_owned(), section: NAME, command };
    show::view(visit, head, &page)
}
