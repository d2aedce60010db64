//! Every measurement runs to its end and gives each figure it promises; how fast is not a test.
#![expect(clippy::unwrap_used, reason = "a test that cannot run the program should stop")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder of its own, in which no home may appear.
struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    #[expect(clippy::disallowed_methods, reason = "a file of a test, not of a home")]
    fn write(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the program; no home is made where the user's own would be.
    fn run(&self, arguments: &[&str]) -> Output {
        let output = Command::new(env!("CARGO_BIN_EXE_hermes-bench"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.path("nobody"))
            .env_remove("HERMES_HOME")
            .output()
            .unwrap();
        assert!(!self.path("nobody").exists(), "a home was made by {arguments:?}");
        output
    }

    /// What it prints, which must be all it says.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The table it prints for programs, which must hold these figures, each measured.
    fn table(&self, arguments: &[&str], wanted: &[&str]) -> Value {
        let table: Value =
            serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap();
        let figures = table["results"].as_array().unwrap();
        for what in wanted {
            let found =
                figures.iter().find(|figure| figure["what"].as_str().unwrap().contains(what));
            let measured = found.unwrap_or_else(|| panic!("no figure for {what}"))["measured"]
                .as_str()
                .unwrap();
            assert!(measured.contains(|c: char| c.is_ascii_digit()), "{what}: {measured}");
        }
        table
    }

    fn fails(&self, arguments: &[&str], wanted: &[&str]) {
        let output = self.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(wanted.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    }
}

#[test]
fn sessions_are_measured() {
    let sandbox = Sandbox::new();
    let arguments = ["sessions", "--messages", "2000", "--appends", "100", "--questions", "20"];
    let wanted = ["import", "database", "search", "find their message", "whole program", "append"];
    sandbox.table(&arguments, &wanted);
    assert!(sandbox.ok(&arguments).contains("| what | measured |"));
    sandbox.fails(&["sessions", "--messages", "10"], &["1000"]);
}

#[test]
fn a_program_that_is_not_there_is_said_with_the_command_that_builds_it() {
    let sandbox = Sandbox::new();
    let wanted = ["nowhere/hermes", "cargo build --release -p hermes", "--program"];
    sandbox.fails(&["--program", "nowhere/hermes", "scale"], &wanted);
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
fn small_set(sandbox: &Sandbox) -> Vec<&'static str> {
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
    sandbox.write("set/corpus.jsonl", &corpus);
    sandbox.write("set/questions.jsonl", &questions);
    vec!["recall", "--corpus", "set", "--out", "run.jsonl"]
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

#[test]
fn recall_names_what_it_finds_by_the_ids_of_the_set() {
    let sandbox = Sandbox::new();
    let arguments = small_set(&sandbox);
    sandbox.table(
        &arguments,
        &["conversations", "questions", "messages", "ingest", "memory", "search"],
    );
    for (number, line) in answers(&sandbox, "run.jsonl").iter().enumerate() {
        let place = ASKED[number % 3].1;
        let wanted = format!("D{}:{}", 1 + place / 3, 1 + place % 3);
        assert_eq!(found(line).first(), Some(&wanted.as_str()), "{line}");
    }
    sandbox.ok(&[&arguments[..], &["--words-only", "--limit", "2"]].concat());
    assert!(answers(&sandbox, "run.jsonl").iter().all(|line| found(line).len() <= 2));
    sandbox.fails(&["recall", "--corpus", "none", "--out", "x"], &["corpus.jsonl"]);
}

#[test]
fn recall_among_noise_writes_four_runs_and_finds_the_same_again() {
    let sandbox = Sandbox::new();
    let arguments = small_set(&sandbox);
    let pooled = [&arguments[..], &["--pooled", "--noise", "60"]].concat();
    let wanted = ["search with noise", "search without noise", "plain full-text search with noise"];
    sandbox.table(&pooled, &wanted);
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
    let sandbox = Sandbox::new();
    let arguments = small_set(&sandbox);
    let wanted = ["tokens of a context", "messages in", "200 prompts that need none"];
    sandbox.table(&[&arguments[..], &["--context", "500"]].concat(), &wanted);
    let lines = answers(&sandbox, "run.jsonl");
    assert!(lines.iter().all(|line| line["tokens"].as_u64().is_some_and(|tokens| tokens <= 500)));
    assert!(lines.iter().any(|line| !found(line).is_empty()));
}

#[test]
fn a_memory_is_measured_at_scale() {
    let sandbox = Sandbox::new();
    let arguments = ["scale", "--turns", "2000", "--questions", "12", "--appends", "20"];
    let wanted = [
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
    ];
    sandbox.table(&arguments, &wanted);
    sandbox.fails(&["scale", "--turns", "10"], &["1000"]);
}

#[test]
fn a_conversation_is_measured_from_outside() {
    let arguments = ["chat", "--messages", "1000", "--turns", "3"];
    let wanted = ["start of a conversation", "a turn", "session_search", "to find them"];
    let table = Sandbox::new().table(&arguments, &wanted);
    // The prompt and the tools are the same in every turn.
    let hash = &table["results"][2];
    assert!(hash["what"].as_str().unwrap().starts_with("hash of prompt and tools"), "{hash}");
    assert!(hash["measured"].as_str().unwrap().starts_with("3 times"), "{hash}");
}

#[test]
fn every_page_is_measured() {
    let arguments = ["pages", "--messages", "1000", "--facts", "1000", "--looks", "1"];
    let wanted = ["first look", "overview", "search, rare words", "one episode", "one session"];
    Sandbox::new().table(&arguments, &wanted);
}

#[test]
fn answers_to_other_programs_are_measured() {
    let arguments = ["serve", "--turns", "1000", "--questions", "4", "--clients", "2"];
    let wanted = ["one client", "2 clients", "anonymous memory", "hook of a prompt", "MCP"];
    Sandbox::new().table(&arguments, &wanted);
}

#[test]
fn recording_compressing_and_moving_are_measured() {
    let sandbox = Sandbox::new();
    sandbox.table(&["turns", "--turns", "20"], &["record a turn", "with marks", "nothing new"]);
    sandbox.table(&["compact", "--turns", "200"], &["memory compact", "summaries", "vacuumed"]);
    sandbox.table(&["transfer", "--messages", "1000"], &["export", "empty memory", "once more"]);
}

#[test]
fn what_is_drawn_is_compared_with_the_labels() {
    Sandbox::new().table(&["extract", "--dev"], &["dev: facts", "dev: names", "per second"]);
}
