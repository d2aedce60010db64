//! Facts: the list, one of them with all that is known about it, and what can be done to them.

mod deeds;
mod list;
mod one;

use super::{Menu, Page};

const NAME: &str = "Facts";

/// The list.
pub(super) fn list_page() -> Page {
    let menu = Some(Menu { name: NAME, key: "f" });
    Page { path: "/p/{profile}/facts", menu, show: list::show, deed: Some(deeds::of_list) }
}

/// One fact.
pub(super) fn one_page() -> Page {
    Page { path: "/p/{profile}/facts/{id}", menu: None, show: one::show, deed: Some(deeds::of_one) }
}

/// `facts/42`, from `fact:042`.
fn place(id: &str) -> String {
    let number = id.trim_start_matches("fact:").trim_start_matches('0');
    format!("facts/{number}")
}
