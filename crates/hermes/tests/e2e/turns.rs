//! Turns: recorded in both databases, taken in from other programs, healed after a kill, never twice.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::listening::Listening;
use crate::sandbox::{Holder, Sandbox};
use crate::talks::{found, said, turn};

fn finds(sandbox: &Sandbox, word: &str) -> bool {
    found(sandbox, &[word]).iter().any(|text| text.contains(word))
}

fn messages(sandbox: &Sandbox) -> Vec<String> {
    let texts = sandbox.sql("memory.db", "select text from message order by id");
    texts.lines().map(str::to_owned).collect()
}

#[test]
fn a_turn_is_in_the_transcript_and_in_the_memory() {
    let sandbox = Sandbox::ready();
    let told = turn(&sandbox, &said("s1", "Where does the tram depart?", "From Marienplatz."));
    assert_eq!((&told["kept_in"], &told["added"]), (&json!("memory"), &json!(2)));
    assert_eq!(told["state_messages"], json!([1, 2]));
    assert!(finds(&sandbox, "Marienplatz"));
    assert!(sandbox.ok(&["sessions", "search", "tram"]).contains("tram"));
    let report = sandbox.json(&["memory", "catch-up"]);
    assert_eq!((&report["added"], &report["sessions"]), (&json!(0), &json!(1)));
    assert_eq!(sandbox.ok(&["memory", "catch-up"]), "nothing is missing\n");
    let words = [
        "memory",
        "turn",
        "--session",
        "s1",
        "--user-text",
        "And the bus?",
        "--assistant-text",
        "From Sendling.",
    ];
    assert_eq!(sandbox.ok(&words), "2 messages recorded in session s1\n");
    assert_eq!(messages(&sandbox).len(), 4);
}

#[test]
fn a_turn_that_is_sent_again_is_recognised() {
    let sandbox = Sandbox::ready();
    let (first, second) = (said("s1", "Is it open?", "Yes."), said("s1", "Until when?", "Ten."));
    for from in [None, Some("knitter")] {
        let send = |one: &Value| {
            let mut one = one.clone();
            if let Some(from) = from {
                one["from"] = json!(from);
                one["session_id"] = json!("theirs");
            }
            let told = turn(&sandbox, &one);
            (told["added"].as_u64().unwrap(), told["known"].as_u64().unwrap())
        };
        assert_eq!((send(&first), send(&first)), ((2, 0), (0, 2)), "{from:?}");
        assert_eq!((send(&second), send(&first)), ((2, 0), (2, 0)), "{from:?}");
    }
    assert_eq!(messages(&sandbox).len(), 12);
    assert_eq!(sandbox.sql("state.db", "select count(*) from messages"), "6");
}

#[test]
fn other_words_under_a_known_id_are_kept() {
    let sandbox = Sandbox::ready();
    let mut reported = said("x1", "Which yarn?", "Merino.");
    reported["from"] = json!("knitter");
    reported["messages"][0]["external_id"] = json!("m0");
    reported["messages"][1]["external_id"] = json!("m1");
    assert_eq!(turn(&sandbox, &reported)["added"], 2);
    reported["messages"][1]["text"] = json!("Mohair.");
    for expected in [(1, 1), (0, 2)] {
        let told = turn(&sandbox, &reported);
        let counts = (told["added"].as_u64().unwrap(), told["known"].as_u64().unwrap());
        assert_eq!(counts, expected, "{told}");
    }
    assert!(finds(&sandbox, "Merino") && finds(&sandbox, "Mohair"));
}

#[test]
fn a_turn_in_the_transcript_is_answered_as_stored_whatever_is_wrong_with_the_memory() {
    let sandbox = Sandbox::ready();
    turn(&sandbox, &said("s1", "Hello?", "Hello."));
    let version = sandbox.sql("memory.db", "pragma user_version");
    sandbox.sql("memory.db", "pragma user_version = 9999");
    let told = turn(&sandbox, &said("s1", "Where is the shop?", "In Porto."));
    assert_eq!((&told["kept_in"], &told["state_messages"]), (&json!("state_db"), &json!([3, 4])));
    assert!(told["because"].as_str().unwrap().contains("9999"), "{told}");
    sandbox.sql("memory.db", &format!("pragma user_version = {version}"));
    sandbox.ok(&["memory", "catch-up"]);
    assert!(finds(&sandbox, "Porto"));
    assert_eq!(messages(&sandbox).len(), 4);
}

#[test]
fn another_program_keeps_its_own_transcript_and_says_nothing_twice() {
    let sandbox = Sandbox::ready();
    let mut reported = said("x1", "Which yarn?", "Merino.");
    reported["from"] = json!("knitter");
    for (number, message) in reported["messages"].as_array_mut().unwrap().iter_mut().enumerate() {
        message["external_id"] = json!(format!("m{number}"));
    }
    assert_eq!(turn(&sandbox, &reported)["added"], 2);
    let again = turn(&sandbox, &reported);
    assert_eq!((&again["added"], &again["known"]), (&json!(0), &json!(2)));
    assert_eq!(again["state_messages"], json!([]));
    assert_eq!(sandbox.json(&["sessions", "stats"])["messages"], 0);
}

#[test]
fn what_another_program_wrote_is_taken_in_once_and_taken_out_when_taken_back() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create"]);
    let id = id.trim();
    sandbox.ok(&["sessions", "append", id, "--role", "user", "The kettle is descaled."]);
    let add = |text: &str| {
        let sql = format!(
            "insert into messages (session_id, role, content, timestamp)
            values ('{id}', 'user', '{text}', unixepoch());"
        );
        sandbox.sql("state.db", &sql);
    };
    add("The lantern is in the cellar.");
    assert_eq!(sandbox.json(&["memory", "catch-up"])["added"], 2);
    assert_eq!(sandbox.json(&["memory", "catch-up"])["added"], 0);
    assert!(finds(&sandbox, "lantern") && finds(&sandbox, "kettle"));
    add("The ladder is in the shed.");
    sandbox.sql("state.db", "update messages set active = 0 where content like '%lantern%'");
    let report = sandbox.json(&["memory", "catch-up"]);
    assert_eq!((&report["added"], &report["retired"]), (&json!(1), &json!(1)));
    assert!(!finds(&sandbox, "lantern") && finds(&sandbox, "kettle") && finds(&sandbox, "ladder"));
    assert_eq!(sandbox.ok(&["memory", "catch-up"]), "nothing is missing\n");
    sandbox.ok(&["sessions", "end", id]);
    assert_eq!(sandbox.json(&["memory", "catch-up"])["ended"], 1);
    assert_eq!(sandbox.ok(&["memory", "catch-up"]), "nothing is missing\n");
}

#[test]
fn recalled_text_does_not_come_back_as_something_said() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "Ana keeps quails"]);
    let context = sandbox.ok(&["memory", "context", "what does Ana keep?", "--no-files"]);
    assert!(context.starts_with("<hermes-memory>\n") && context.contains("quails"), "{context}");
    let asked =
        format!("{context}\n<memory-context>\nold quails\n</memory-context>\nFeed them, please.");
    turn(&sandbox, &said("s1", &asked, "<system-reminder>quails</system-reminder>"));
    assert_eq!(messages(&sandbox), ["Feed them, please."]);
    let line = json!({"session_id": "r", "role": "user", "text": asked}).to_string();
    assert_eq!(sandbox.feed(&["memory", "record", "-"], line.as_bytes()).code, 0);
    assert!(!messages(&sandbox).iter().any(|text| text.contains("quails")));
}

#[test]
fn tools_and_their_failures_are_noted() {
    let sandbox = Sandbox::ready();
    turn(
        &sandbox,
        &json!({"session_id": "s", "messages": [
        {"role": "user", "text": "Build it."},
        {"role": "assistant", "text": "", "tool_calls": [
            {"id": "a", "function": {"name": "shell", "arguments": "{\"command\": \"make\"}"}},
            {"id": "b", "name": "look", "input": {}}]},
        {"role": "tool", "tool_call_id": "a", "text": "Error: no makefile"},
        {"role": "tool", "tool_call_id": "b", "text": "two files"},
        {"role": "assistant", "text": "There is no makefile."}]}),
    );
    let steps = sandbox.sql("memory.db", "select tool, failed from step order by number");
    assert_eq!(steps, "shell|1\nlook|0");
    assert_eq!(messages(&sandbox).len(), 4);
}

#[test]
fn a_busy_memory_keeps_nobody_waiting_and_loses_nothing() {
    let sandbox = Sandbox::ready();
    turn(&sandbox, &said("s", "one", "first"));
    let held = Holder::of(&sandbox, "memory.db");
    let begun = Instant::now();
    let told = turn(&sandbox, &said("s", "two", "second"));
    assert_eq!(told["kept_in"], "state_db");
    let mut reported = said("t", "three", "third");
    reported["from"] = json!("knitter");
    assert_eq!(turn(&sandbox, &reported)["kept_in"], "spool");
    assert!(begun.elapsed() < Duration::from_secs(60));
    drop(held);
    assert!(sandbox.ok(&["doctor"]).contains("hermes memory catch-up"));
    let report = sandbox.json(&["memory", "catch-up"]);
    assert_eq!((&report["added"], &report["spool"]["turns"]), (&json!(2), &json!(1)));
    let mut all = messages(&sandbox);
    all.sort();
    assert_eq!(all, ["first", "one", "second", "third", "three", "two"]);
    assert_eq!(
        fs::read_dir(sandbox.path("hermesd/spool"))
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "jsonl")
            })
            .count(),
        0
    );
}

/// Numbers that look drawn by chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn every_turn_that_was_acknowledged_is_there_once_whenever_the_program_is_killed() {
    let sandbox = Sandbox::ready();
    turn(&sandbox, &said("s", "warm up", "warm"));
    let begun = Instant::now();
    turn(&sandbox, &said("s", "time it", "timed"));
    let usual = u64::try_from(begun.elapsed().as_micros()).unwrap().max(1000);
    let mut chance = Chance(7);
    let mut acknowledged = vec!["warm up".to_owned(), "time it".to_owned()];
    for number in 0..30 {
        let asked = format!("question {number}");
        let answered = format!("answer {number}");
        let arguments = [
            "memory",
            "turn",
            "--session",
            "s",
            "--user-text",
            &asked,
            "--assistant-text",
            &answered,
        ];
        let mut child = sandbox.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + Duration::from_micros(chance.below(usual * 5 / 4));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if !output.stdout.is_empty() {
            acknowledged.push(asked);
        }
    }
    sandbox.ok(&["memory", "catch-up"]);
    assert_eq!(sandbox.ok(&["memory", "catch-up"]), "nothing is missing\n");
    let kept =
        sandbox.sql("state.db", "select content from messages where role = 'user' order by id");
    let mut kept: Vec<&str> = kept.lines().collect();
    let mut remembered = messages(&sandbox);
    remembered.retain(|text| !text.starts_with("answer") && text != "warm" && text != "timed");
    remembered.sort();
    kept.sort_unstable();
    assert_eq!(remembered, kept, "each message of the transcript is remembered once");
    for asked in acknowledged {
        assert_eq!(remembered.iter().filter(|text| **text == asked).count(), 1, "{asked}");
    }
    assert!(sandbox.ok(&["doctor"]).contains("database intact"));
}

#[test]
fn turns_that_wait_are_recorded_once_although_the_program_is_killed() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "turn", "--user-text", "warm up"]);
    let lines = |file: u64| {
        let line =
            |number: u64| said("w", &format!("waiting {file}-{number}"), "").to_string() + "\n";
        (0..20).map(line).collect::<String>()
    };
    for file in 0..10 {
        sandbox.write(&format!("hermesd/spool/{file}.jsonl"), lines(file));
    }
    let mut chance = Chance(11);
    for _ in 0..15 {
        let mut child =
            sandbox.command(&["memory", "catch-up"]).stdout(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_micros(chance.below(60_000));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    sandbox.write("hermesd/spool/bad.jsonl", "no turn\n");
    let two: Vec<_> = (0..2)
        .map(|_| sandbox.command(&["memory", "catch-up"]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    two.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    sandbox.ok(&["memory", "catch-up"]);
    let mut all = messages(&sandbox);
    all.retain(|text| text.starts_with("waiting"));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!((count, all.len()), (200, 200));
    assert!(sandbox.read("hermesd/spool/refused/bad-1.json").contains("not JSON"));
}

#[test]
fn what_is_no_turn_is_refused_with_a_reason() {
    let sandbox = Sandbox::ready();
    for (text, words) in
        [("nonsense", "not JSON"), ("{}", "messages"), (r#"{"messages": [{"text": "x"}]}"#, "role")]
    {
        sandbox.feed(&["memory", "turn", "-"], text.as_bytes()).failed(2, &["turn 1", words]);
    }
    assert_eq!(sandbox.run(&["memory", "turn"]).code, 2);
    assert!(!sandbox.path("memory.db").exists());
}

#[test]
fn a_batch_of_turns_is_written_through_one_open_memory() {
    const TURNS: u64 = 150;
    let daemon = Listening::new();
    let turn = |number: u64| {
        let text = format!("Turn number {number} of the batch.");
        let message = json!({"role": "user", "text": text, "external_id": number.to_string()});
        json!({"from": "test", "session_id": "batch", "messages": [message]})
    };
    let count = |name: &str| -> u64 {
        let page = daemon.get("/metrics").text;
        let line = page.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}"))[name.len()..].trim().parse().unwrap()
    };
    assert_eq!(daemon.post("/api/v1/turns", &turn(0)).status, 200);
    let batch = json!({ "turns": (1..=TURNS).map(turn).collect::<Vec<_>>() });
    let before = count("hermes_memory_openings");
    let answer = daemon.post("/api/v1/turns", &batch).json();
    // The daemon looks at what is new meanwhile, and opens it for that.
    let opened = count("hermes_memory_openings") - before;
    assert!(opened < TURNS / 2, "opened {opened} times for {TURNS} turns");
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len() as u64, TURNS, "{answer}");
    assert!(results.iter().all(|one| one["kept_in"] == "memory"), "{answer}");
    // The same request again adds nothing.
    let messages = count("hermes_messages");
    assert_eq!(daemon.post("/api/v1/turns", &batch).status, 200);
    assert_eq!((messages, count("hermes_messages")), (TURNS + 1, TURNS + 1));
}
