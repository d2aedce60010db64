//! What is remembered, from the command line: facts, recordings, search, the context of a task.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// What Ana and her agent said in three conversations: user and assistant in turn.
const TALKS: &[(&str, &str, &[&str])] = &[
    (
        "garden",
        "2026-03-02T09:00:00Z",
        &[
            "I want to plant tomatoes on the balcony this spring.",
            "Choose a sunny corner and a pot of at least twenty litres.",
            "The balcony looks north, is that a problem?",
            "Tomatoes need six hours of sun; lettuce would do better there.",
            "Then lettuce it is. When do I sow it?",
            "From the middle of March, half a centimetre deep.",
            "My neighbour Teodora gave me seeds of red oak leaf lettuce.",
            "A good variety; it stands the cold.",
            "Remind me to water every second day.",
            "Noted: water the lettuce every second day.",
        ],
    ),
    (
        "shop",
        "2026-03-09T14:00:00Z",
        &[
            "We have to move the Northwind shop to a new server.",
            "Which database does it use?",
            "PostgreSQL 16, about forty gigabytes.",
            "Then plan two hours for dump and restore.",
            "We decided to deploy with docker compose on the new machine.",
            "Fine, I will write the compose file.",
            "The maintenance window is Sunday at six in the morning.",
            "I will have everything ready by Saturday evening.",
            "The old server is called kestrel, the new one is merlin.",
            "Understood: from kestrel to merlin.",
        ],
    ),
    (
        "trip",
        "2026-03-16T20:00:00Z",
        &[
            "In May I fly to Porto to see my sister Rosa.",
            "How long will you stay?",
            "Nine days, from the second to the eleventh.",
            "Shall I look for a flat near the river?",
            "No, I sleep at her place in Matosinhos.",
            "Then you need no flat; the metro goes there from the airport.",
            "Rosa is allergic to peanuts, so no satay for dinner.",
            "I will remember that she cannot eat peanuts.",
            "会議は東京で行います。その前に季度计划 must be ready.",
            "The quarterly plan will be ready before the meeting in Tokyo.",
        ],
    ),
];

/// The talks as lines of JSON.
fn recording() -> String {
    let mut lines = String::new();
    for (session, start, texts) in TALKS {
        for (place, text) in texts.iter().enumerate() {
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            let at = start.replace(":00:00Z", &format!(":{place:02}:00Z"));
            let line = json!({
                "session_id": session, "role": role, "timestamp": at, "text": text,
                "channel": "cli",
            });
            lines.push_str(&format!("{line}\n"));
        }
    }
    lines
}

/// A home in which the talks are recorded and three facts are kept.
pub(crate) fn remembering() -> Sandbox {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "Ana prefers tea over coffee", "--kind", "preference"]);
    sandbox.ok(&["memory", "fact", "add", "Rosa is the sister of Ana", "--entity", "Rosa"]);
    sandbox.ok(&["memory", "fact", "add", "The office is closed on Fridays", "--shared"]);
    sandbox.write("talks.jsonl", recording());
    record(&sandbox, "talks.jsonl");
    sandbox
}

fn record(sandbox: &Sandbox, file: &str) -> Value {
    sandbox.json(&["memory", "record", sandbox.path(file).to_str().unwrap()])
}

pub(crate) fn search(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["memory", "search"].iter().chain(arguments).copied().collect();
    sandbox.json(&all)["results"].as_array().unwrap().clone()
}

pub(crate) fn first(sandbox: &Sandbox, question: &str) -> String {
    let results = search(sandbox, &[question]);
    results.first().map_or(String::new(), |hit| hit["text"].as_str().unwrap().to_owned())
}

#[test]
fn a_fact_is_kept_once_shown_edited_superseded_deleted_and_brought_back() {
    let sandbox = Sandbox::ready();
    let added = sandbox.ok(&["memory", "fact", "add", "Ana leads the team in Lisbon"]);
    assert_eq!(added, "fact:001 \"Ana leads the team in Lisbon\"\n");
    let again = sandbox.ok(&["memory", "fact", "add", "Ana leads the team in Lisbon"]);
    assert!(again.contains("fact:001") && again.contains("known"), "{again}");
    let listed = sandbox.json(&["memory", "facts", "list"]);
    assert_eq!(listed["results"].as_array().unwrap().len(), 1);
    assert_eq!(listed["results"][0]["id"], "fact:001");
    assert_eq!(listed["results"][0]["text"], "Ana leads the team in Lisbon");
    let names = listed["results"][0]["entities"].as_array().unwrap();
    assert!(names.contains(&json!("Lisbon")), "{names:?}");
    sandbox.ok(&["memory", "fact", "edit", "1", "Ana leads the team of Lisbon"]);
    let shown = sandbox.json(&["memory", "fact", "show", "fact:1"]);
    assert_eq!(shown["revisions"][0]["text"], "Ana leads the team in Lisbon");
    let next =
        sandbox.json(&["memory", "fact", "supersede", "001", "Rosa leads the team of Lisbon"]);
    assert_eq!((&next["id"], &next["replaced"]), (&json!("fact:002"), &json!("fact:001")));
    assert_eq!(sandbox.json(&["memory", "fact", "show", "1"])["superseded_by"], "fact:002");
    let ran = sandbox.run(&["memory", "fact", "delete", "2"]);
    assert!(ran.stderr.contains("hermes memory fact restore fact:002"), "{}", ran.stderr);
    assert!(search(&sandbox, &["who leads the team", "--type", "facts"]).is_empty());
    sandbox.ok(&["memory", "fact", "restore", "fact:002"]);
    assert_eq!(first(&sandbox, "who leads the team"), "Rosa leads the team of Lisbon");
    let uid = shown["uid"].as_str().unwrap();
    assert_eq!(sandbox.json(&["memory", "fact", "show", uid])["id"], "fact:001");
}

#[test]
fn erasing_asks_and_leaves_no_word() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The password hint is xylophone"]);
    sandbox.fails(&["memory", "fact", "delete", "1", "--erase"], 5, &["--yes"]);
    sandbox.ok(&["memory", "fact", "delete", "1", "--erase", "--yes"]);
    sandbox.fails(&["memory", "fact", "show", "1"], 4, &["fact:1"]);
    sandbox.ok(&["memory", "vacuum"]);
    let bytes = fs::read(sandbox.path("memory.db")).unwrap();
    assert!(!bytes.windows(9).any(|window| window == b"xylophone"));
}

#[test]
fn what_cannot_be_a_fact_is_refused_with_a_reason() {
    let sandbox = Sandbox::ready();
    sandbox.fails(&["memory", "fact", "add", "  "], 2, &["empty"]);
    sandbox.fails(&["memory", "fact", "add", &"long ".repeat(1_000)], 2, &["memory record"]);
    sandbox.feed(&["memory", "fact", "add", "-"], b"a\0b").failed(2, &["NUL"]);
    sandbox.feed(&["memory", "fact", "add", "-"], b"\xff\xfe").failed(2, &["UTF-8"]);
    let times = ["--valid-from", "2026-02-01", "--valid-to", "2026-01-01"];
    let all = [&["memory", "fact", "add", "x"][..], &times].concat();
    sandbox.fails(&all, 2, &["before it begins"]);
    for id in ["7", "fact:007", "nonsense", "", "-1", "fact:99999999999999999999"] {
        sandbox.fails(&["memory", "fact", "show", "--", id], 4, &["could not find"]);
        sandbox.fails(&["memory", "fact", "delete", "--", id], 4, &["could not find"]);
        sandbox.fails(&["memory", "fact", "edit", "--", id, "x"], 4, &["could not find"]);
    }
    assert!(!sandbox.path("memory.db").exists(), "nothing was kept, so nothing was made");
}

#[test]
fn a_memory_that_is_not_there_is_an_empty_one() {
    let sandbox = Sandbox::ready();
    let status = sandbox.ok(&["memory", "status"]);
    assert!(
        status.starts_with("Episodes: 0\nFacts: 0\nReflections: 0\nDB size: 0 B\n"),
        "{status}"
    );
    assert!(status.contains("memory.db"), "{status}");
    assert!(search(&sandbox, &["anything"]).is_empty());
    sandbox.ok(&["memory", "context", "plan the move of the shop"]);
    sandbox.ok(&["memory", "vacuum"]);
    sandbox.ok(&["doctor"]);
    assert!(!sandbox.path("memory.db").exists());
}

#[test]
fn what_was_said_is_found_and_the_right_thing_comes_first() {
    let sandbox = remembering();
    for (question, answer) in [
        ("what did we decide to deploy with?", "We decided to deploy with docker compose"),
        ("who is allergic to peanuts?", "Rosa is allergic to peanuts"),
        ("what are the servers called?", "The old server is called kestrel"),
        ("which seeds did Teodora give me?", "My neighbour Teodora gave me seeds"),
        ("does Ana drink coffee?", "Ana prefers tea over coffee"),
        ("季度计划", "会議は東京で行います"),
    ] {
        let found = first(&sandbox, question);
        assert!(found.starts_with(answer), "{question}: {found}");
    }
    let hit = &search(&sandbox, &["docker compose", "--type", "episodes"])[0];
    assert_eq!((&hit["kind"], &hit["session_id"]), (&json!("message"), &json!("shop")));
    assert!(hit["id"].as_str().unwrap().starts_with("episode:"), "{hit}");
    let explained = sandbox.ok(&["memory", "search", "docker compose", "--explain"]);
    assert!(explained.contains("score ") && explained.contains("words "), "{explained}");
}

#[test]
fn filters_are_walls() {
    let sandbox = remembering();
    for hit in search(&sandbox, &["server", "--session", "shop"]) {
        assert_eq!(hit["session_id"], "shop");
    }
    assert!(search(&sandbox, &["server", "--channel", "telegram"]).is_empty());
    for hit in search(&sandbox, &["peanuts plan server lettuce", "--since", "2026-03-15"]) {
        assert!(hit["at"].as_str().unwrap() >= "2026-03-15", "{hit}");
    }
    for hit in search(
        &sandbox,
        &["peanuts plan server lettuce", "--until", "2026-03-05", "--type", "episodes"],
    ) {
        assert_eq!(hit["session_id"], "garden");
    }
    let rosa = search(&sandbox, &["sister", "--entity", "Rosa", "--type", "facts"]);
    assert_eq!(rosa[0]["text"], "Rosa is the sister of Ana");
    sandbox.fails(&["memory", "search", "x", "--since", "soonish"], 2, &["not a time"]);
}

#[test]
fn files_and_sessions_are_searched_too() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "add", "The cat is called Biscuit"]);
    let hits = search(&sandbox, &["what is the name of the cat?", "--type", "files"]);
    assert_eq!(hits[0]["text"], "The cat is called Biscuit");
    assert_eq!(hits[0]["id"], "memories/MEMORY.md#1");
    assert_eq!(first(&sandbox, "what is the cat called?"), "The cat is called Biscuit");
    let id = sandbox.ok(&["sessions", "create"]).trim().to_owned();
    sandbox.ok(&["sessions", "append", &id, "--role", "user", "The violin needs new strings"]);
    let hits = search(&sandbox, &["violin strings", "--type", "sessions"]);
    assert_eq!((&hits[0]["kind"], &hits[0]["session_id"]), (&json!("session"), &json!(id)));
}

#[test]
fn nothing_a_person_types_into_a_search_is_an_error() {
    let sandbox = remembering();
    for text in [
        "\"",
        "AND OR NOT",
        "NEAR(a b)",
        "text:x*",
        "^a -b +c",
        "((",
        "🦀🎻",
        "؟ هل تذكر",
        "שלום",
        "'; drop table fact; --",
        "%_\\",
        "*",
        ".",
        "\u{200b}",
        "a\u{301}",
        "SELECT * FROM fact",
        "東京 meeting",
    ] {
        let ran = sandbox.run(&["memory", "search", "--", text]);
        assert_eq!(ran.code, 0, "{text:?}: {}", ran.stderr);
        let ran = sandbox.run(&["memory", "context", "--", text]);
        assert_eq!(ran.code, 0, "{text:?}: {}", ran.stderr);
    }
    assert!(first(&sandbox, "東京 meeting").contains("東京"));
    for text in ["", "   "] {
        sandbox.fails(&["memory", "search", text], 2, &["empty"]);
        sandbox.fails(&["memory", "context", text], 2, &["empty"]);
    }
    assert_eq!(sandbox.run(&["memory", "search", &"word ".repeat(20_000)]).code, 0);
    let megabyte = "deploy the shop 🦀 ".repeat(50_000);
    assert_eq!(sandbox.feed(&["memory", "context", "-"], megabyte.as_bytes()).code, 0);
    assert_eq!(sandbox.feed(&["memory", "context", "-"], b"a\0b").code, 0);
    assert_eq!(sandbox.json(&["memory", "status"])["facts"], 3);
}

#[test]
fn recording_again_adds_nothing_and_bad_lines_are_named() {
    let sandbox = remembering();
    let again = record(&sandbox, "talks.jsonl");
    assert_eq!((&again["added"], &again["known"]), (&json!(0), &json!(30)));
    let lines = concat!(
        "{\"session_id\":\"s\",\"role\":\"user\",\"text\":\"The kite is in the shed\"}\n",
        "not json\n\n",
        "{\"session_id\":\"s\",\"role\":\"user\"}\n",
        "{\"session_id\":\"s\",\"role\":\"user\",\"text\":\"\\u0000 and \\ud83e\\udd80\"}\n",
    );
    let ran = sandbox.feed(&["memory", "record", "-"], lines.as_bytes());
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("line 2") && ran.stdout.contains("line 4"), "{}", ran.stdout);
    assert_eq!(first(&sandbox, "where is the kite?"), "The kite is in the shed");
    sandbox.fails(&["memory", "record", "no-such-file"], 1, &["no-such-file"]);
}

#[test]
fn users_do_not_see_one_another_but_what_is_shared() {
    let sandbox = remembering();
    sandbox.ok(&["memory", "fact", "add", "Boris keeps bees", "--user", "boris"]);
    sandbox.ok(&["memory", "add", "Boris likes honey", "--user", "boris"]);
    let texts = |user: &str| {
        let listed = sandbox.json(&["memory", "fact", "list", "--user", user]);
        let facts = listed["results"].as_array().unwrap().clone();
        facts.iter().map(|fact| fact["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts("boris"), ["Boris keeps bees", "The office is closed on Fridays"]);
    assert!(!texts("owner").contains(&"Boris keeps bees".to_owned()));
    assert_eq!(texts("nobody-yet"), ["The office is closed on Fridays"]);
    for question in ["who keeps bees?", "tea or coffee?", "docker compose"] {
        for (user, foreign) in [("owner", "Boris"), ("boris", "tea"), ("boris", "docker")] {
            for hit in search(&sandbox, &[question, "--user", user]) {
                assert!(!hit["text"].as_str().unwrap().contains(foreign), "{user}: {hit}");
            }
        }
    }
    let context =
        sandbox.ok(&["memory", "context", "bees and coffee for Boris", "--user", "boris"]);
    assert!(context.contains("honey") && !context.contains("tea over"), "{context}");
    sandbox.fails(&["memory", "fact", "delete", "1", "--user", "boris"], 4, &["fact:1"]);
    sandbox.fails(&["memory", "fact", "delete", "1", "--user", "nobody-yet"], 4, &["nobody-yet"]);
    sandbox.fails(&["memory", "fact", "add", "x", "--user", "../evil"], 2, &[]);
}

#[test]
fn a_context_fits_its_budget_and_every_line_has_a_reason() {
    let sandbox = remembering();
    sandbox.ok(&["memory", "add", "Answers in metric units"]);
    let task = "Write the plan for moving the Northwind shop from kestrel to merlin";
    for budget in ["0", "40", "150", "400", "20000"] {
        let context = sandbox.json(&["memory", "context", task, "--budget", budget]);
        let allowed: u64 = budget.parse().unwrap();
        assert!(context["tokens"].as_u64().unwrap() <= allowed, "{budget}: {}", context["tokens"]);
    }
    let lenient = ["--set", "memory.retrieval.min_relevance_score=0"];
    let asking = |more: &[&str]| {
        let all = [&["memory", "context", task][..], &lenient, more].concat();
        sandbox.ok(&all)
    };
    let context: Value = serde_json::from_str(&asking(&["--json"])).unwrap();
    let text = context["text"].as_str().unwrap();
    assert!(text.contains("Answers in metric units") && text.contains("Northwind shop"), "{text}");
    let why = asking(&["--why"]);
    for section in context["sections"].as_array().unwrap() {
        for item in section["items"].as_array().unwrap() {
            assert!(why.contains(item["name"].as_str().unwrap()), "{why}");
            assert!(!item["reason"].as_str().unwrap().is_empty());
        }
    }
    for line in text.lines().filter(|line| line.starts_with('[')) {
        let name = line.trim_start_matches('[').split(']').next().unwrap();
        assert!(why.contains(name), "no reason for {name}: {why}");
    }
    let strict =
        sandbox.ok(&["memory", "context", task, "--set", "memory.retrieval.minRelevanceScore=1"]);
    assert!(!strict.contains("Northwind shop"), "{strict}");
    let bare = asking(&["--no-files"]);
    assert!(!bare.contains("metric"), "{bare}");
    let running = asking(&["--session", "shop"]);
    assert!(!running.contains("Northwind shop"), "the running session is no part of it: {running}");
}

#[test]
fn what_was_handed_out_is_counted_and_a_locked_memory_keeps_nobody_waiting() {
    let sandbox = remembering();
    let uses = || sandbox.json(&["memory", "fact", "show", "2"])["uses"].as_u64().unwrap();
    assert_eq!(uses(), 0);
    sandbox.ok(&["memory", "context", "When does Rosa, the sister of Ana, arrive?"]);
    assert_eq!(uses(), 1);
    let connection = open(&sandbox);
    connection.execute_batch("begin immediate").unwrap();
    let context = sandbox.ok(&["memory", "context", "When does Rosa, the sister of Ana, arrive?"]);
    assert!(context.contains("sister"), "{context}");
    drop(connection);
    assert_eq!(uses(), 1);
}

#[test]
fn status_counts_in_the_documented_form() {
    let sandbox = remembering();
    sandbox.ok(&["memory", "vacuum"]);
    let status = sandbox.ok(&["memory", "status", "--verbose"]);
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!(lines[0], "Episodes: 15 (raw: 15, compressed: 0)");
    assert_eq!(lines[1], "Facts: 3");
    assert_eq!(lines[2], "Reflections: 0");
    assert_eq!(lines[3], "Embeddings: 30 episode + 3 fact vectors");
    assert!(lines[4].starts_with("DB size: "), "{status}");
    assert!(lines[5].starts_with("Last vacuum: 20"), "{status}");
    assert_eq!(lines[6], "Last compression: never");
    assert!(
        status.contains("Model: hermes-static-1 (embedded), 256 dimensions (active)"),
        "{status}"
    );
    assert!(status.contains("Users: owner") && status.contains("Path: "), "{status}");
    let mode = fs::metadata(sandbox.path("memory.db")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
}

#[test]
fn a_home_of_hermes_agent_gets_a_memory_and_nothing_else_is_touched() {
    let sandbox = Sandbox::empty();
    sandbox.write("config.yaml", "_config_version: 12\nmodel: x\n");
    sandbox.write("memories/MEMORY.md", "The cat is called Biscuit\n§\nAna likes tea");
    let before = sandbox.snapshot();
    sandbox.ok(&["memory", "fact", "add", "Ana lives in Lisbon"]);
    assert_eq!(first(&sandbox, "where does Ana live?"), "Ana lives in Lisbon");
    sandbox.ok(&["memory", "context", "What is the cat called?"]);
    let mut after = sandbox.snapshot();
    let is_ours = |path: &std::path::Path| {
        let path = path.to_string_lossy();
        path.contains("memory.db") || path.contains("/hermesd/")
    };
    after.retain(|path, _| !is_ours(path));
    assert_eq!(before, after);
}

#[test]
fn doctor_finds_a_damaged_index_of_vectors_and_makes_it_anew() {
    let sandbox = remembering();
    assert_eq!(sandbox.run(&["doctor"]).code, 0);
    let connection = open(&sandbox);
    connection.execute("update vector_codes set codes = x'00'", []).unwrap();
    drop(connection);
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.code, 6, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("segment") && ran.stdout.contains("doctor --fix"),
        "{}",
        ran.stdout
    );
    let fixed = sandbox.run(&["doctor", "--fix"]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    assert!(fixed.stdout.contains("recomputed"), "{}", fixed.stdout);
    assert!(first(&sandbox, "docker compose").contains("docker compose"));
}

#[test]
fn a_lost_link_of_the_audit_chain_is_seen() {
    let sandbox = remembering();
    let connection = open(&sandbox);
    connection.execute("update audit set actor = 'somebody' where id = 2", []).unwrap();
    drop(connection);
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.code, 6, "{}", ran.stdout);
    assert!(ran.stdout.contains("audit") && ran.stdout.contains("altered"), "{}", ran.stdout);
}

#[test]
fn a_memory_that_is_no_database_is_not_replaced() {
    let sandbox = Sandbox::ready();
    sandbox.write("memory.db", "this is no database at all, but it is somebody's file");
    sandbox.fails(&["memory", "fact", "add", "x"], 1, &["memory.db"]);
    sandbox.fails(&["memory", "search", "x"], 1, &["memory.db"]);
    assert_eq!(sandbox.run(&["doctor"]).code, 6);
    assert!(sandbox.read("memory.db").starts_with("this is no database"));
}

#[expect(clippy::disallowed_methods, reason = "the test does what another program might do")]
fn open(sandbox: &Sandbox) -> rusqlite::Connection {
    rusqlite::Connection::open(sandbox.path("memory.db")).unwrap()
}

#[test]
fn a_killed_recording_is_completed_by_the_next() {
    let sandbox = Sandbox::ready();
    let mut lines = String::new();
    for number in 0..3_000 {
        let line = json!({ "session_id": format!("s{}", number / 50), "role": "user",
            "text": format!("Note {number} about the harbour and its lights") });
        lines.push_str(&format!("{line}\n"));
    }
    sandbox.write("many.jsonl", lines);
    let path = sandbox.path("many.jsonl");
    let mut child = sandbox.command(&["memory", "record", path.to_str().unwrap()]).spawn().unwrap();
    while !sandbox.path("memory.db-wal").exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let report = record(&sandbox, "many.jsonl");
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("added") + count("known"), 3_000, "{report}");
    assert_eq!(sandbox.json(&["memory", "status"])["messages"], 3_000);
    let doctor: Ran = sandbox.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
}
