//! The commands of the README and the guide do what the pages say.

use crate::guide::{fits, matches, pages, walk};

#[test]
fn the_commands_of_the_readme_and_the_guide_do_what_the_pages_say() {
    let count: usize = pages(false).iter().map(|page| walk(page)).sum();
    assert!(count > 20, "only {count} commands were found in the pages");
}

#[test]
fn a_page_that_lies_would_be_noticed() {
    assert!(matches(&["a", "...", "c[..]e"], &["a", "x", "y", "cde"]));
    assert!(!matches(&["a", "c"], &["a", "b", "c"]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!fits("x[..]z", "xy"));
}
