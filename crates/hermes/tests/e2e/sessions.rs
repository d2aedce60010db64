//! Sessions from the command line: record, find, export, import, prune.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, until};

/// A session with the given messages, user and assistant in turn; returns its id.
fn conversation(sandbox: &Sandbox, title: &str, messages: &[&str]) -> String {
    let id = sandbox.ok(&["sessions", "create", "--title", title]).trim().to_owned();
    for (place, text) in messages.iter().enumerate() {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        sandbox.ok(&["sessions", "append", &id, "--role", role, text]);
    }
    id
}

fn found(sandbox: &Sandbox, query: &str) -> Vec<String> {
    let answer = sandbox.json(&["sessions", "search", query]);
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|result| result["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_said_is_listed_shown_and_found() {
    let sandbox = Sandbox::ready();
    let id = conversation(
        &sandbox,
        "Deploying",
        &["How do we deploy?", "We decided to deploy with docker compose.", "Thanks!"],
    );
    let listed = sandbox.json(&["sessions", "list"]);
    assert_eq!(listed["results"][0]["id"], *id);
    assert_eq!(listed["results"][0]["message_count"], 3);
    let shown = sandbox.json(&["sessions", "show", &id[..17]]);
    assert_eq!(shown["results"][1]["text"], "We decided to deploy with docker compose.");
    assert_eq!(sandbox.json(&["sessions", "show", "Deploying"])["session"]["id"], *id);
    let answer = sandbox.json(&["sessions", "search", "docker"]);
    let hit = &answer["results"][0];
    assert_eq!(hit["text"], "We decided to deploy with docker compose.");
    assert_eq!(hit["before"][0]["text"], "How do we deploy?");
    assert_eq!(hit["after"][0]["text"], "Thanks!");
}

#[test]
fn a_plain_question_finds_its_answer_and_all_words_come_first() {
    let sandbox = Sandbox::ready();
    conversation(&sandbox, "one", &["The kitchen needs paint.", "We decided to use blue paint."]);
    conversation(&sandbox, "two", &["Docker is running.", "The deployment of docker failed."]);
    let hits = found(&sandbox, "what did we decide about the paint?");
    assert_eq!(hits[0], "We decided to use blue paint.");
    let hits = found(&sandbox, "docker deployment");
    assert_eq!(hits[0], "The deployment of docker failed.");
    assert!(hits.contains(&"Docker is running.".to_owned()), "{hits:?}");
}

#[test]
fn quotes_operators_and_prefixes_mean_what_fts5_means() {
    let sandbox = Sandbox::ready();
    conversation(
        &sandbox,
        "t",
        &["blue whale song", "whale blue", "python code", "python and java code", "deploying now"],
    );
    assert_eq!(found(&sandbox, "\"blue whale\""), ["blue whale song"]);
    assert_eq!(found(&sandbox, "python NOT java"), ["python code"]);
    assert_eq!(found(&sandbox, "deploy*"), ["deploying now"]);
    let either = found(&sandbox, "song OR java");
    assert_eq!(either.len(), 2, "{either:?}");
}

#[test]
fn nothing_a_person_types_is_an_error() {
    let sandbox = Sandbox::ready();
    conversation(&sandbox, "t", &["What about C++ and node.js?", "It's at 50% (v2.0)."]);
    for query in [
        "\"",
        "\"\"",
        "'",
        "C++",
        "node.js?",
        "NOT",
        "AND OR NOT",
        "OR",
        "*",
        "**",
        "a*b*",
        "NEAR(a b)",
        "content:x",
        "^a",
        "{a}",
        "(",
        ")",
        "((a OR",
        "a AND",
        "-x",
        "+x",
        "50%",
        ";drop table messages",
        "\u{0}x",
        "🦀",
        "   ",
        "\\",
        "a\"b",
        "\"a",
        "NOT a",
        "é",
        "\u{200b}",
    ] {
        if query.contains('\0') {
            continue; // an argument cannot hold it
        }
        let ran = sandbox.run(&["sessions", "search", "--", query]);
        assert_eq!(ran.code, 0, "{query:?}: {}", ran.stderr);
    }
    assert_eq!(found(&sandbox, "node.js?")[0], "What about C++ and node.js?");
    let long = "word ".repeat(20_000);
    assert_eq!(sandbox.run(&["sessions", "search", &long]).code, 0);
}

#[test]
fn chinese_and_japanese_are_found_inside_a_run() {
    let sandbox = Sandbox::ready();
    conversation(
        &sandbox,
        "t",
        &["大别山项目的白板上写着季度计划。", "会議は東京で行います。", "plain"],
    );
    assert_eq!(found(&sandbox, "季度计划"), ["大别山项目的白板上写着季度计划。"]);
    assert_eq!(found(&sandbox, "白板"), ["大别山项目的白板上写着季度计划。"]);
    assert_eq!(found(&sandbox, "東京"), ["会議は東京で行います。"]);
}

#[test]
fn filters_are_a_wall_and_not_a_hint() {
    let sandbox = Sandbox::ready();
    for user in ["alice", "bob"] {
        let id = sandbox.ok(&["sessions", "create", "--user", user, "--source", "telegram"]);
        let text = format!("the secret of {user}");
        sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", &text]);
    }
    let answer = sandbox.json(&["sessions", "search", "secret", "--user", "alice"]);
    let all = answer.to_string();
    assert!(all.contains("secret of alice") && !all.contains("bob"), "{all}");
    let none = sandbox.json(&["sessions", "search", "secret", "--source", "cli"]);
    assert_eq!(none["results"].as_array().unwrap().len(), 0);
    let none = sandbox.json(&["sessions", "search", "secret", "--until", "1d"]);
    assert_eq!(none["results"].as_array().unwrap().len(), 0);
    let none = sandbox.json(&["sessions", "search", "secret", "--role", "tool"]);
    assert_eq!(none["results"].as_array().unwrap().len(), 0);
}

#[test]
fn titles_count() {
    let sandbox = Sandbox::ready();
    let id = conversation(&sandbox, "Quarterly budget", &["hello there"]);
    let answer = sandbox.json(&["sessions", "search", "quarterly budget"]);
    assert_eq!(answer["results"][0]["session_id"], *id);
    assert_eq!(answer["results"][0]["kind"], "title");
}

#[test]
fn an_export_imported_elsewhere_and_exported_again_is_the_same() {
    let from = Sandbox::ready();
    conversation(&from, "A", &["one", "two"]);
    let parent = conversation(&from, "B", &["tricky \u{1} control, “quotes” and 🦀", "x\ty\\n"]);
    from.ok(&["sessions", "create", "--parent", &parent, "--title", "C"]);
    let lines = from.ok(&["sessions", "export"]);
    assert_eq!(lines.lines().count(), 3);
    let to = Sandbox::ready();
    let ran = to.feed(&["sessions", "import", "-", "--json"], lines.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["sessions_added"], &report["messages_added"]), (&json!(3), &json!(4)));
    assert_eq!(without_ids(&to.ok(&["sessions", "export"])), without_ids(&lines));
    let again = to.feed(&["sessions", "import", "-", "--json"], lines.as_bytes());
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&report["sessions_unchanged"], &report["messages_added"]), (&json!(3), &json!(0)));
}

/// The exported sessions by id, without the row numbers that a database gives.
fn without_ids(lines: &str) -> Vec<Value> {
    let mut sessions: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for session in &mut sessions {
        for message in session["messages"].as_array_mut().unwrap() {
            message.as_object_mut().unwrap().remove("id");
        }
    }
    sessions.sort_by_key(|session| session["id"].to_string());
    sessions
}

#[test]
fn an_import_takes_what_is_good_and_names_what_is_not() {
    let sandbox = Sandbox::ready();
    conversation(&sandbox, "Taken", &["here"]);
    let lines = concat!(
        "{\"id\":\"s1\",\"source\":\"cli\",\"started_at\":1,\"title\":\"Taken\",\"messages\":",
        "[{\"role\":\"user\",\"content\":\"lone \\ud800 half and nul \\u0000 inside\",\"timestamp\":2}]}\n",
        "this is not JSON\n",
        "{\"id\":\"s2\",\"source\":\"cli\",\"started_at\":1,\"unheard_of\":7,\"parent_session_id\":\"nowhere\",\"messages\":[]}\n",
        "[1,2,3]\n",
    );
    let ran = sandbox.feed(&["sessions", "import", "-", "--json"], lines.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["sessions_added"], 2);
    assert_eq!(report["titles_changed"][0]["to"], "Taken (2)");
    assert_eq!(report["ignored_fields"], json!(["sessions.unheard_of"]));
    assert_eq!(report["parents_dropped"][0]["parent"], "nowhere");
    let bad: Vec<&Value> =
        report["problems"].as_array().unwrap().iter().map(|problem| &problem["line"]).collect();
    assert_eq!(bad, [&json!(2), &json!(4)]);
    let text = sandbox.json(&["sessions", "show", "s1"])["results"][0]["text"].clone();
    assert_eq!(text, "lone \u{fffd} half and nul \u{0} inside");
}

#[test]
fn markdown_and_html_can_be_read_and_hold_no_script() {
    let sandbox = Sandbox::ready();
    conversation(
        &sandbox,
        "A <b>title</b>",
        &["<script>alert(1)</script>", "# heading\n```\ncode\n```"],
    );
    let markdown = sandbox.ok(&["sessions", "export", "--format", "md"]);
    assert!(markdown.starts_with("# A <b>title</b>\n"), "{markdown}");
    assert!(markdown.contains("\\# heading"), "{markdown}");
    let html = sandbox.ok(&["sessions", "export", "--format", "html"]);
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
    sandbox.ok(&["sessions", "export", "--format", "html", "--output", "page.html"]);
    assert_eq!(fs::read_to_string(sandbox.folder().join("page.html")).unwrap(), html);
}

#[test]
fn an_export_never_writes_over_a_file_it_should_not() {
    let sandbox = Sandbox::ready();
    let first = conversation(&sandbox, "first", &["a"]);
    let second = conversation(&sandbox, "second", &["b"]);
    sandbox.ok(&["sessions", "delete", &first, "--yes", "--export", "kept.jsonl"]);
    sandbox.fails(
        &["sessions", "delete", &second, "--yes", "--export", "kept.jsonl"],
        5,
        &["kept.jsonl"],
    );
    assert_eq!(found(&sandbox, "b"), ["b"], "nothing is deleted when the copy cannot be made");
    let state = sandbox.path("state.db");
    let before = fs::read(&state).unwrap();
    for flags in [&["sessions", "export", "-o"][..], &["sessions", "export", "--force", "-o"]] {
        let all: Vec<&str> = flags.iter().copied().chain([state.to_str().unwrap()]).collect();
        sandbox.fails(&all, 5, &["state.db"]);
    }
    sandbox.fails(
        &["sessions", "delete", &second, "--yes", "--export", state.to_str().unwrap()],
        5,
        &["exists"],
    );
    assert_eq!(fs::read(&state).unwrap(), before);
    sandbox.fails(&["sessions", "export", "-o", "kept.jsonl"], 5, &["--force"]);
    sandbox.ok(&["sessions", "export", "-o", "kept.jsonl", "--force"]);
    std::os::unix::fs::symlink("real.jsonl", sandbox.folder().join("link.jsonl")).unwrap();
    sandbox.write("../real.jsonl", "old");
    sandbox.ok(&["sessions", "export", "-o", "link.jsonl", "--force"]);
    assert!(sandbox.folder().join("link.jsonl").symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(sandbox.folder().join("real.jsonl")).unwrap().starts_with('{'));
    let script = format!(
        "mkfifo pipe; cat pipe > got & {} sessions export --quiet -o pipe; wait",
        env!("CARGO_BIN_EXE_hermes")
    );
    let output = sandbox.command_of("/bin/sh".as_ref(), &["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read_to_string(sandbox.folder().join("got")).unwrap().contains("second"));
}

#[test]
fn prune_shows_first_and_never_takes_what_is_pinned() {
    let sandbox = Sandbox::ready();
    let old = "{\"id\":\"old1\",\"source\":\"cli\",\"started_at\":1000,\"ended_at\":2000,\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"timestamp\":1500}]}\n";
    let lines = format!("{old}{}", old.replace("old1", "old2"));
    sandbox.feed(&["sessions", "import", "-"], lines.as_bytes());
    conversation(&sandbox, "new", &["fresh"]);
    sandbox.ok(&["sessions", "pin", "old1"]);
    let plan = sandbox.json(&["sessions", "prune", "--older-than", "1w"]);
    assert_eq!((&plan["dry_run"], &plan["kept_pinned"]), (&json!(true), &json!(1)));
    assert_eq!(plan["results"][0]["id"], "old2");
    assert_eq!(sandbox.json(&["sessions", "stats"])["sessions"], 3);
    sandbox.ok(&["sessions", "prune", "--older-than", "1w", "--yes", "--export", "kept.jsonl"]);
    sandbox.fails(&["sessions", "show", "old2"], 4, &["old2"]);
    sandbox.ok(&["sessions", "show", "old1"]);
    assert_eq!(sandbox.json(&["sessions", "stats"])["sessions"], 2);
    sandbox.ok(&["sessions", "import", "kept.jsonl"]);
    sandbox.ok(&["sessions", "show", "old2"]);
    sandbox.ok(&["sessions", "prune", "--older-than", "1w", "--yes"]);
    sandbox.ok(&["sessions", "restore", "old2"]);
    sandbox.ok(&["sessions", "show", "old2"]);
    sandbox.fails(&["sessions", "prune", "--older-than", "tomorrow"], 2, &["tomorrow"]);
}

#[test]
fn prune_keeps_what_a_living_session_continues() {
    let sandbox = Sandbox::ready();
    let old = |id: &str, parent: &str| {
        format!(
            "{{\"id\":\"{id}\",\"source\":\"cli\",\"started_at\":1000,\"ended_at\":2000,\"parent_session_id\":{parent},\"messages\":[]}}\n"
        )
    };
    let lines = [old("first", "null"), old("second", "\"first\""), old("alone", "null")].concat();
    assert_eq!(sandbox.feed(&["sessions", "import", "-"], lines.as_bytes()).code, 0);
    let id = sandbox.ok(&["sessions", "create", "--parent", "second"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "still here"]);
    let done = sandbox.json(&["sessions", "prune", "--yes"]);
    assert_eq!((&done["kept_continued"], &done["results"][0]["id"]), (&json!(2), &json!("alone")));
    sandbox.ok(&["sessions", "show", "first"]);
}

#[test]
fn the_configured_retention_is_used_when_no_age_is_given() {
    let sandbox = Sandbox::ready();
    let line = "{\"id\":\"old\",\"source\":\"cli\",\"started_at\":1000,\"ended_at\":2000,\"messages\":[]}\n";
    sandbox.feed(&["sessions", "import", "-"], line.as_bytes());
    assert_eq!(sandbox.json(&["sessions", "prune"])["results"][0]["id"], "old");
    let long = sandbox.json(&["--set", "sessions.retention_days=36500", "sessions", "prune"]);
    assert_eq!(long["results"].as_array().unwrap().len(), 0);
}

#[test]
fn auto_prune_deletes_what_is_old_and_not_pinned_and_it_can_be_brought_back() {
    let sandbox = Sandbox::ready();
    let old = "{\"id\":\"old1\",\"source\":\"cli\",\"started_at\":1000,\"ended_at\":2000,\"messages\":[{\"role\":\"user\",\"content\":\"The ferry leaves at noon.\",\"timestamp\":1500}]}\n";
    let lines = format!("{old}{}", old.replace("old1", "old2"));
    sandbox.feed(&["sessions", "import", "-"], lines.as_bytes());
    conversation(&sandbox, "new", &["fresh"]);
    sandbox.ok(&["sessions", "pin", "old1"]);
    let prune = || sandbox.json(&["jobs", "run", "prune"])["result"].as_str().unwrap().to_owned();
    let check = || {
        let report = sandbox.run(&["doctor", "--json"]).stdout;
        let report: Value = serde_json::from_str(&report).unwrap();
        let checks = report["results"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "pruning")
    };
    assert!(prune().contains("sessions.auto_prune is off"));
    assert_eq!(check(), None);
    assert_eq!(sandbox.json(&["sessions", "stats"])["sessions"], 3);
    sandbox.ok(&["config", "set", "sessions.auto_prune", "true"]);
    let before = check().unwrap();
    assert_eq!(before["status"], "warn", "{before}");
    assert_eq!(
        prune(),
        "1 session with 1 message deleted after 90 days without activity, 1 kept: pinned"
    );
    sandbox.fails(&["sessions", "show", "old2"], 4, &["old2"]);
    sandbox.ok(&["sessions", "show", "old1"]);
    let known = sandbox.json(&["memory", "search", "When does the ferry leave?"]).to_string();
    assert!(known.contains("noon"), "it was taken into the memory first: {known}");
    let restored = sandbox.run(&["sessions", "restore", "old2"]);
    assert!(restored.code == 0 && restored.stderr.contains("now pinned"), "{}", restored.stderr);
    assert!(prune().starts_with("0 sessions"), "what was brought back stays");
    sandbox.ok(&["sessions", "show", "old2"]);
    sandbox.ok(&["start"]);
    let is_planned = || {
        let all = sandbox.json(&["status"])["profiles"][0]["schedules"].clone();
        let found = all.as_array().unwrap().iter().find(|one| one["name"] == "prune").cloned();
        found.is_some_and(|one| one["next_run"].is_string())
    };
    until("the daemon has it in its plan", is_planned);
    let after = check().unwrap();
    let evidence = after["evidence"].as_str().unwrap();
    assert_eq!(after["status"], "ok", "{after}");
    assert!(evidence.contains("90 days") && evidence.contains("last run on"), "{evidence}");
    sandbox.write("config.yaml", "_config_version: 1\nsessions:\n  auto_prune: true\n");
    assert!(prune().contains("Hermes Agent prunes its own"));
}

#[test]
fn delete_asks_and_rename_keeps_titles_unique() {
    let sandbox = Sandbox::ready();
    let first = conversation(&sandbox, "first", &["a"]);
    let second = conversation(&sandbox, "second", &["b"]);
    sandbox.fails(&["sessions", "rename", &second, "first"], 5, &["first"]);
    sandbox.ok(&["sessions", "rename", &second, "other"]);
    sandbox.fails(&["sessions", "delete", &first], 5, &["--yes"]);
    sandbox.ok(&["sessions", "delete", &first, "--yes", "--export", "copy.jsonl"]);
    assert_eq!(found(&sandbox, "a").len(), 0);
    sandbox.ok(&["sessions", "import", "copy.jsonl"]);
    assert_eq!(found(&sandbox, "a"), ["a"]);
    sandbox.fails(&["sessions", "delete", &first, "no such", "--yes"], 4, &["no such"]);
    assert_eq!(found(&sandbox, "a"), ["a"], "a wrong name among several deletes nothing");
    sandbox.fails(&["sessions", "show", "no such"], 4, &["no such"]);
    sandbox.fails(&["sessions", "show", "20"], 5, &["20"]);
}
