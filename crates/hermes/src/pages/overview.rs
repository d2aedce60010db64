//! The overview: how much there is, and what was written last.

use askama::Template;
use hermes_store::memory::{Admin, Audit as _, Upkeep as _};
use jiff::Timestamp;
use serde::Serialize;

use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit};
use crate::output::{bytes, thousands};
use crate::server::pool::Seat;

const NAME: &str = "Overview";
/// How many of the last writes are shown.
const WRITES: usize = 10;

pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "o" });
    Page { path: "/p/{profile}/", menu, show, deed: None }
}

#[derive(Template, Serialize)]
#[template(path = "overview.html")]
struct Overview {
    #[serde(skip)]
    frame: Frame,
    is_empty: bool,
    cards: Vec<Card>,
    /// The last writes.
    results: Vec<Write>,
}

#[derive(Serialize)]
struct Card {
    name: &'static str,
    figure: String,
    more: String,
    #[serde(skip)]
    address: String,
}

#[derive(Serialize)]
struct Write {
    at: Timestamp,
    actor: String,
    action: String,
    item: String,
    #[serde(skip)]
    address: Option<String>,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (_, _, memory) = seat.reader()?;
    let counts = memory.store.counts(Admin)?;
    let card = |name, count: u64, more: String, rest: &str| Card {
        name,
        figure: thousands(count),
        more,
        address: frame.link(rest),
    };
    let episodes = counts.raw_episodes + counts.compressed_episodes;
    let compressed = format!("{} as summaries", thousands(counts.compressed_episodes));
    let cards = vec![
        card("facts", counts.facts, String::new(), "facts"),
        card("episodes", episodes, compressed, "timeline"),
        card("messages", counts.messages, bytes(counts.size), "sessions"),
        card("procedures", counts.procedures, String::new(), "procedures"),
    ];
    let results = memory.store.audit_log(Admin, WRITES)?;
    let results = results
        .into_iter()
        .map(|entry| Write {
            address: entry.item.strip_prefix("fact:").map(|id| frame.link(&format!("facts/{id}"))),
            at: entry.at,
            actor: entry.actor,
            action: entry.action,
            item: entry.item,
        })
        .collect();
    let is_empty = counts.facts + episodes == 0;
    let head = Head {
        title: NAME.to_owned(),
        section: NAME,
        command: "hermes memory status --verbose".to_owned(),
    };
    show::view(visit, head, &Overview { frame, is_empty, cards, results })
}
