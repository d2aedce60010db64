//! The benchmark runs to its end and measures every figure it promises; how fast is not a test.

use std::fs;

use serde_json::{Value, json};

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

const TALK: [(&str, &str); 6] = [
    ("Ada", "I painted the boat shed green last weekend."),
    ("Ben", "Nice! I adopted a terrier called Rufus."),
    ("Ada", "My sister moved to Lisbon in March."),
    ("Ben", "The choir sings on Thursday evenings at the chapel."),
    ("Ada", "I am allergic to hazelnuts, sadly."),
    ("Ben", "We booked the ferry to the islands for the holidays."),
];
const ASKED: [(&str, usize); 3] = [
    ("What colour did Ada paint the boat shed?", 0),
    ("What is the name of Ben's terrier?", 1),
    ("When does the choir sing?", 3),
];

/// Three conversations of two sessions; returns the flags that name the set and the run file.
fn small_set(sandbox: &Sandbox) -> Vec<String> {
    let (mut corpus, mut questions) = (String::new(), String::new());
    for conversation in ["c1", "c2", "c3"] {
        for (number, (speaker, text)) in TALK.iter().enumerate() {
            let session = 1 + number / 3;
            let turn = 1 + number % 3;
            let line = json!({
                "conversation_id": conversation,
                "session_id": format!("D{session}"),
                "session_index": session,
                "turn_id": format!("D{session}:{turn}"),
                "turn_index": turn,
                "timestamp": format!("2023-05-0{session}T10:00:00"),
                "speaker": speaker,
                "role": if number % 2 == 0 { "user" } else { "assistant" },
                "text": text,
                "caption": Value::Null,
            });
            corpus += &format!("{line}\n");
        }
        for (number, (question, _)) in ASKED.iter().enumerate() {
            let line = json!({
                "question_id": format!("{conversation}/q{number}"),
                "conversation_id": conversation,
                "question": question,
                "question_date": if number == 0 { json!("2023-06-01T09:00:00") } else { Value::Null },
                "category": "single-hop",
            });
            questions += &format!("{line}\n");
        }
    }
    sandbox.write("set/corpus.jsonl", corpus);
    sandbox.write("set/questions.jsonl", questions);
    let path = |inside| sandbox.path(inside).display().to_string();
    ["bench", "recall", "--corpus", &path("set"), "--out", &path("run.jsonl")]
        .map(str::to_owned)
        .to_vec()
}

/// The lines of a run file, one for each question of the small set.
fn answers(sandbox: &Sandbox, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 9, "{file}");
    assert!(lines.iter().all(|line| line["cpu_ms"].as_f64().is_some()), "{file}");
    lines
}

fn found(line: &Value) -> Vec<&str> {
    line["retrieved"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
}

fn assert_figures(table: &Value, wanted: &[&str]) {
    let figures = table["results"].as_array().unwrap();
    for what in wanted {
        let found = figures.iter().find(|figure| figure["what"].as_str().unwrap().contains(what));
        let measured = found.unwrap_or_else(|| panic!("no figure for {what}"))["measured"].as_str();
        assert!(measured.unwrap().contains(|c: char| c.is_ascii_digit()), "{what}: {measured:?}");
    }
}

#[test]
fn recall_names_what_it_finds_by_the_ids_of_the_set() {
    let sandbox = Sandbox::empty();
    let arguments = small_set(&sandbox);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let table = sandbox.json(&arguments);
    assert_figures(
        &table,
        &["conversations", "questions", "messages", "ingest", "memory", "search"],
    );
    for (number, line) in answers(&sandbox, "run.jsonl").iter().enumerate() {
        let place = ASKED[number % 3].1;
        let wanted = format!("D{}:{}", 1 + place / 3, 1 + place % 3);
        assert_eq!(found(line).first(), Some(&wanted.as_str()), "{line}");
    }
    sandbox.ok(&[&arguments[..], &["--words-only", "--limit", "2"]].concat());
    assert!(answers(&sandbox, "run.jsonl").iter().all(|line| found(line).len() <= 2));
    sandbox.fails(&["bench", "recall", "--corpus", "none", "--out", "x"], 1, &["corpus.jsonl"]);
}

#[test]
fn recall_among_noise_writes_four_runs_and_finds_the_same_again() {
    let sandbox = Sandbox::empty();
    let arguments = small_set(&sandbox);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let pooled = [&arguments[..], &["--pooled", "--noise", "60"]].concat();
    let table = sandbox.json(&pooled);
    let wanted = ["search with noise", "search without noise", "plain full-text search with noise"];
    assert_figures(&table, &wanted);
    let files = ["run.jsonl", "run.small.jsonl", "run.fts.jsonl", "run.fts-small.jsonl"];
    let runs = || {
        files.map(|file| {
            answers(&sandbox, file).iter().map(|l| l["retrieved"].clone()).collect::<Vec<_>>()
        })
    };
    let first = runs();
    assert!(first[0].iter().any(|ids| ids.to_string().contains("noise-")));
    assert!(!first[1].iter().any(|ids| ids.to_string().contains("noise-")));
    sandbox.ok(&pooled);
    assert_eq!(runs(), first);
}

#[test]
fn recall_of_contexts_counts_their_tokens() {
    let sandbox = Sandbox::empty();
    let arguments = small_set(&sandbox);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let table = sandbox.json(&[&arguments[..], &["--context", "500"]].concat());
    assert_figures(&table, &["tokens of a context", "messages in", "200 prompts that need none"]);
    let lines = answers(&sandbox, "run.jsonl");
    assert!(lines.iter().all(|line| line["tokens"].as_u64().is_some_and(|tokens| tokens <= 500)));
    assert!(lines.iter().any(|line| !found(line).is_empty()));
}

#[test]
fn scale_measures_every_figure() {
    let sandbox = Sandbox::empty();
    let arguments = ["bench", "scale", "--turns", "2000", "--questions", "12", "--appends", "20"];
    let table = sandbox.json(&arguments);
    assert_figures(
        &table,
        &[
            "ingest",
            "memory.db",
            "search, one connection",
            "rare words",
            "middling words",
            "common words",
            "a new connection",
            "user with 50 messages",
            "context",
            "look over all vectors",
            "first ten",
            "whole program",
            "anonymous memory",
            "append",
        ],
    );
    assert!(!sandbox.home().exists());
    sandbox.fails(&["bench", "scale", "--turns", "10"], 1, &["1000"]);
}
