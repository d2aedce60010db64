//! The benchmark runs to its end and measures every figure it promises; how fast is not a test.

use crate::sandbox::Sandbox;

#[test]
fn the_benchmark_measures_every_figure() {
    let sandbox = Sandbox::empty();
    let arguments =
        ["bench", "sessions", "--messages", "2000", "--appends", "100", "--questions", "20"];
    let table = sandbox.json(&arguments);
    let figures = table["results"].as_array().unwrap();
    for what in ["import", "database", "search", "find their message", "whole program", "append"] {
        let found = figures.iter().find(|figure| figure["what"].as_str().unwrap().contains(what));
        let measured = found.unwrap_or_else(|| panic!("no figure for {what}"))["measured"].as_str();
        assert!(measured.unwrap().contains(|c: char| c.is_ascii_digit()), "{what}: {measured:?}");
    }
    assert!(sandbox.ok(&arguments).contains("| what | measured |"));
    assert!(!sandbox.home().exists());
    sandbox.fails(&["bench", "sessions", "--messages", "10"], 1, &["1000"]);
}
