//! Facts: the list, one of them with all that is known about it, and what can be done to them.

mod conflicts;
mod deeds;
mod list;
mod merge;
mod one;

use super::{Menu, Page};

const NAME: &str = "Facts";

/// The list, one fact, and those that may not both be true.
pub(super) fn pages() -> Vec<Page> {
    let menu = Some(Menu { name: NAME, key: "f" });
    let conflicts = (conflicts::show, Some(conflicts::settle as super::Run));
    vec![
        Page { path: "/p/{profile}/facts", menu, show: list::show, deed: Some(deeds::of_list) },
        Page {
            path: "/p/{profile}/facts/conflicts",
            menu: None,
            show: conflicts.0,
            deed: conflicts.1,
        },
        Page {
            path: "/p/{profile}/facts/{id}",
            menu: None,
            show: one::show,
            deed: Some(deeds::of_one),
        },
    ]
}

/// `facts/42`, from `fact:042`.
pub(super) fn place(id: &str) -> String {
    let number = id.trim_start_matches("fact:").trim_start_matches('0');
    format!("facts/{number}")
}
