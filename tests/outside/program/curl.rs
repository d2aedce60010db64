//! The pages of the guide that ask the program with curl.

use crate::guide::{pages, walk};

#[test]
fn the_commands_of_the_guide_that_run_curl_do_what_the_pages_say() {
    let count: usize = pages(true).iter().map(|page| walk(page)).sum();
    assert!(count > 3, "only {count} commands were found in the pages");
}
