//! Another model takes over when it has every vector, and not before.

use hermes_llm::Embedded;
use hermes_store::memory::Admin;

use crate::support::{Flaky, line, memory, record, reembed_with};

fn lines(count: usize) -> String {
    let one =
        |n| line("s", "user", "2026-10-01", &format!("{} is a number", "x".repeat(n % 7 + 1)));
    (0..count).map(one).collect()
}

#[test]
fn the_first_model_answers_at_once_in_an_empty_memory() {
    let (_folder, mut memory) = memory();
    let report = reembed_with(&mut memory, &Embedded::new(), 32).unwrap();
    assert_eq!((report.embedded, report.model.dims), (0, 256));
    assert_eq!(memory.active_model().unwrap().unwrap().provider, "embedded");
}

#[test]
fn a_failing_endpoint_leaves_the_old_model_answering_and_the_next_call_goes_on() {
    let (_folder, mut memory) = memory();
    reembed_with(&mut memory, &Embedded::new(), 32).unwrap();
    record(&mut memory, &lines(50));
    // Five calls for the middle of the new vectors, three for the vectors themselves.
    assert!(reembed_with(&mut memory, &Flaky::new(8), 10).is_err());
    assert_eq!(memory.active_model().unwrap().unwrap().provider, "embedded");
    let report = reembed_with(&mut memory, &Flaky::new(100), 10).unwrap();
    assert_eq!((report.embedded, report.is_new), (20, true));
    let active = memory.active_model().unwrap().unwrap();
    assert_eq!((active.provider.as_str(), active.dims), ("ollama", 3));
    let coverage = memory.coverage(Admin, active.id).unwrap();
    assert_eq!((coverage.done, coverage.all), (50, 50));
}

#[test]
fn the_model_before_can_come_back_and_makes_only_what_is_new() {
    let (_folder, mut memory) = memory();
    reembed_with(&mut memory, &Embedded::new(), 32).unwrap();
    record(&mut memory, &lines(10));
    reembed_with(&mut memory, &Flaky::new(100), 10).unwrap();
    let report = reembed_with(&mut memory, &Embedded::new(), 32).unwrap();
    assert_eq!((report.embedded, report.is_new), (0, true));
    assert_eq!(memory.active_model().unwrap().unwrap().provider, "embedded");
}
