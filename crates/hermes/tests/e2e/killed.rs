//! Kills in the midst of every kind of work: whenever the program dies, nothing is lost, twice or half done.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::compacting::{all_are_there, old_talk, open, owner};
use crate::moments::{Fell, Work};
use crate::reflect::{lessons, marks};
use crate::sandbox::Sandbox;
use crate::transfer::{filled, without_time};

/// A command that reads a file of the sandbox's folder from its standard input.
fn reading(sandbox: &Sandbox, arguments: &[&str], file: &str) -> Command {
    let mut command = sandbox.command(arguments);
    command.stdin(File::open(sandbox.folder().join(file)).unwrap());
    command
}

fn rows(sandbox: &Sandbox, file: &str, sql: &str) -> Vec<String> {
    sandbox.sql(file, sql).lines().map(str::to_owned).collect()
}

fn count(sandbox: &Sandbox, sql: &str) -> usize {
    if !sandbox.path("memory.db").exists() {
        return 0;
    }
    sandbox.sql("memory.db", sql).parse().unwrap()
}

fn none_twice(lines: &[String]) {
    let different: BTreeSet<&String> = lines.iter().collect();
    assert_eq!(different.len(), lines.len(), "something is there twice: {lines:#?}");
}

/// Every check of the program itself.
fn is_sound(sandbox: &Sandbox) {
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// What is to be recorded: as many messages as can be told apart.
const MESSAGES: usize = 1_200;

#[test]
fn recording_a_file_is_killed_at_any_moment_and_every_message_is_kept_once() {
    let sandbox = Sandbox::ready();
    let line = |number: usize| {
        json!({"session_id": format!("s{}", number / 40), "role": "user",
            "text": format!("Note {number} about the harbour and its lights")})
    };
    let lines: String = (0..MESSAGES).map(|number| format!("{}\n", line(number))).collect();
    sandbox.write("../notes.jsonl", &lines);
    let texts = || match sandbox.path("memory.db").exists() {
        true => rows(&sandbox, "memory.db", "select text from message"),
        false => Vec::new(),
    };
    let work = Work {
        sandbox: &sandbox,
        command: &|| sandbox.command(&["memory", "record", "notes.jsonl"]),
        killed: &|| {
            let kept = texts();
            none_twice(&kept);
            Fell::between(kept.len(), MESSAGES)
        },
        done: &|| {
            none_twice(&texts());
            assert_eq!(texts().len(), MESSAGES);
            let lost = "select count(*) from message where episode not in (select id from episode)";
            assert_eq!(count(&sandbox, lost), 0);
            is_sound(&sandbox);
        },
    };
    work.is_killed_often(12);
}

const TURNS: usize = 12;

#[test]
fn recording_turns_is_killed_at_any_moment_and_the_memory_agrees_with_the_transcript() {
    let sandbox = Sandbox::ready();
    let turn = |number: usize| {
        json!({"session_id": format!("s{}", number / 4), "messages": [
            {"role": "user", "text": format!("asked {number}")},
            {"role": "assistant", "text": format!("answered {number}")}]})
    };
    let lines: String = (0..TURNS).map(|number| format!("{}\n", turn(number))).collect();
    sandbox.write("../turns.jsonl", &lines);
    let spoken: Vec<String> = (0..TURNS)
        .flat_map(|number| [format!("asked {number}"), format!("answered {number}")])
        .collect();
    let transcript = || rows(&sandbox, "state.db", "select content from messages order by id");
    let agrees = || {
        sandbox.ok(&["memory", "catch-up"]);
        let (mut told, mut kept) =
            (transcript(), rows(&sandbox, "memory.db", "select text from message"));
        told.sort();
        kept.sort();
        assert_eq!(told, kept);
    };
    // Turns that are told again are new ones: each kill gets a beginning of its own.
    let work = Work {
        sandbox: &sandbox,
        command: &|| reading(&sandbox, &["memory", "turn", "-"], "turns.jsonl"),
        killed: &|| {
            agrees();
            let told = transcript();
            assert_eq!(told, spoken[..told.len()], "whole turns, in their order");
            assert_eq!(told.len() % 2, 0, "half a turn: {told:?}");
            match told.len() {
                0 => Fell::Beside,
                some if some < spoken.len() => Fell::InTheMidstAndEnds,
                _ => Fell::Ends,
            }
        },
        done: &|| {
            agrees();
            assert_eq!(transcript(), spoken);
            is_sound(&sandbox);
        },
    };
    work.is_killed_often(12);
}

/// How many episodes wait to be drawn from.
const EPISODES: usize = 12;

/// A home in which much waits to be drawn: facts, entries of memory files, decisions, changes.
fn much_was_said() -> Sandbox {
    const THINGS: [(&str, &str, &str); 3] =
        [("Lyon", "Redis", "Atlas"), ("Porto", "Kafka", "Borealis"), ("Turin", "Caddy", "Cascade")];
    let sandbox = Sandbox::ready();
    let mut lines = String::new();
    for (number, (town, tool, project)) in THINGS.into_iter().enumerate() {
        let said = [
            format!("Remember that I live in {town}."),
            format!("We decided to use {tool} for {project}."),
            format!("Please remember that the code of gate {number} is on shelf 2{number}."),
            format!("From now on always answer in {number} sentences. I prefer tabs over spaces."),
        ];
        for (place, text) in said.iter().enumerate() {
            let line = json!({"session_id": format!("s{number}-{place}"), "ended": true,
                "messages": [{"role": "user", "text": text}, {"role": "assistant", "text": "I see."}]});
            lines += &format!("{line}\n");
        }
    }
    assert_eq!(sandbox.feed(&["memory", "turn", "-"], lines.as_bytes()).code, 0);
    sandbox
}

/// Entries of the memory files, without the day they were written on.
fn entries(sandbox: &Sandbox) -> Vec<String> {
    let mut all = Vec::new();
    for file in ["memories/MEMORY.md", "memories/USER.md"] {
        let text = sandbox.read(file);
        assert!(text.ends_with('\n'), "{file} is half written: {text}");
        let (_, own) = text.rsplit_once("\n-->\n").unwrap_or(("", &text));
        for line in own.lines().filter(|line| !line.is_empty()) {
            assert!(
                line.starts_with("- ") && line.ends_with(" -->"),
                "{file} has half a line: {line}"
            );
            all.push(line.split(" <!--").next().unwrap_or_default().to_owned());
        }
    }
    none_twice(&all);
    all
}

/// Everything that was drawn, so that two memories can be compared.
fn drawn(sandbox: &Sandbox) -> Vec<String> {
    let facts = "select 'fact ' || f.statement || '|' || f.kind || '|' || coalesce(n.statement, '')
        || '|' || (f.retired_at is null) || '|' || (select group_concat(quote || ' of ' || episode)
        from (select quote, episode from source where kind = 1 and item = f.id order by episode))
        from fact f left join fact n on n.id = f.superseded_by order by 1";
    let events = "select 'event ' || text || '|' || session from event order by 1";
    let links = "select 'entry of ' || f.statement || ' in ' || e.file from file_entry e
        join fact f on f.id = e.fact order by 1";
    [facts, events, links].iter().flat_map(|sql| rows(sandbox, "memory.db", sql)).collect()
}

/// Which fact comes from which episode.
fn origins(sandbox: &Sandbox) -> Vec<String> {
    let sql = "select s.episode || ' says ' || f.statement from source s
        join fact f on f.id = s.item where s.kind = 1 order by 1";
    rows(sandbox, "memory.db", sql)
}

#[test]
fn extraction_is_killed_at_any_moment_and_draws_every_fact_once() {
    let sandbox = much_was_said();
    let whole = much_was_said();
    whole.ok(&["memory", "extract"]);
    let (wanted, written, from) = (drawn(&whole), entries(&whole), origins(&whole));
    assert!(wanted.len() > 15 && written.len() > 5, "{wanted:#?} {written:#?}");
    let work = Work {
        sandbox: &sandbox,
        command: &|| sandbox.command(&["memory", "extract"]),
        killed: &|| {
            entries(&sandbox);
            let now = origins(&sandbox);
            none_twice(&now);
            none_twice(&rows(&sandbox, "memory.db", "select statement from fact"));
            none_twice(&rows(&sandbox, "memory.db", "select text from event"));
            let finished = "select id from episode where extracted_at is not null";
            let finished = rows(&sandbox, "memory.db", finished);
            for line in &from {
                let is_due = finished.iter().any(|id| line.starts_with(&format!("{id} says ")));
                assert!(!is_due || now.contains(line), "drawn from and yet not there: {line}");
            }
            Fell::between(finished.len(), EPISODES)
        },
        done: &|| {
            assert_eq!(drawn(&sandbox), wanted);
            assert_eq!(entries(&sandbox), written);
            assert_eq!(sandbox.json(&["memory", "extract"])["episodes"], 0);
            is_sound(&sandbox);
        },
    };
    work.is_killed_often(8);
}

#[test]
fn compression_is_killed_at_any_moment_and_no_words_go_without_their_summary() {
    let (sandbox, ids) = old_talk();
    let covered = || open(&sandbox).covering(owner(), &ids).unwrap().len();
    let work = Work {
        sandbox: &sandbox,
        command: &|| sandbox.command(&["memory", "compact"]),
        killed: &|| {
            all_are_there(&sandbox, &ids);
            Fell::between(covered(), ids.len())
        },
        done: &|| {
            all_are_there(&sandbox, &ids);
            assert_eq!(covered(), ids.len());
            is_sound(&sandbox);
        },
    };
    work.is_killed_often(14);
}

/// Sessions that taught the same thing, and tasks of one kind that went well.
fn much_was_learned() -> Sandbox {
    let sandbox = Sandbox::ready();
    let mut lines = String::new();
    let mut add = |id: String, is_over: bool, messages: Value| {
        let line = json!({"session_id": id, "ended": is_over, "messages": messages});
        lines += &format!("{line}\n");
    };
    for number in 0..LESSONS {
        add(
            format!("s{number}"),
            false,
            json!([
            {"role": "user", "text": format!("Fix the failing test in parser{number}.rs")},
            {"role": "assistant", "text": "I changed the indentation to spaces."}]),
        );
        add(
            format!("s{number}"),
            true,
            json!([
            {"role": "user", "text": "No, use tabs instead of spaces."},
            {"role": "assistant", "text": "Done with tabs."}]),
        );
    }
    for what in ["shop", "wiki", "site"] {
        add(
            what.to_owned(),
            true,
            json!([
            {"role": "user", "text": format!("Deploy the {what} to staging")},
            {"role": "assistant", "text": "On it.", "tool_calls": [
                {"id": "1", "name": "bash", "input": {"command": "git pull"}},
                {"id": "2", "name": "bash", "input": {"command": format!("cargo build -p {what}")}}]},
            {"role": "tool", "text": "ok", "tool_call_id": "1"},
            {"role": "tool", "text": "ok", "tool_call_id": "2"},
            {"role": "assistant", "text": "It runs on staging."}]),
        );
    }
    assert_eq!(sandbox.feed(&["memory", "turn", "-"], lines.as_bytes()).code, 0);
    sandbox
}

const LESSONS: usize = 8;

#[test]
fn reflection_is_killed_at_any_moment_and_log_and_memory_agree_in_the_end() {
    let sandbox = much_was_learned();
    let log = || fs::read_to_string(sandbox.path("workspace/REFLECTIONS.md")).unwrap_or_default();
    let work = Work {
        sandbox: &sandbox,
        command: &|| sandbox.command(&["memory", "reflect"]),
        killed: &|| {
            let log = log();
            let is_whole = log.starts_with("# Reflections\n") && log.ends_with('\n');
            assert!(log.is_empty() || is_whole, "half a log: {log}");
            none_twice(&marks(&sandbox));
            entries(&sandbox);
            let seen = "select count(*) from session where reflected_at is not null";
            Fell::between(count(&sandbox, seen), LESSONS + 3)
        },
        done: &|| {
            let (mut known, mut written) = (lessons(&sandbox), marks(&sandbox));
            assert_eq!(known.len(), LESSONS, "one lesson for each session, none twice");
            known.sort();
            written.sort();
            assert_eq!(known, written);
            let habits = entries(&sandbox);
            assert_eq!(habits, ["- Use tabs instead of spaces."]);
            let drafted = sandbox.json(&["skills", "list", "--pending"]);
            assert_eq!(drafted["results"].as_array().unwrap().len(), 1, "{drafted}");
            assert_eq!(sandbox.json(&["memory", "reflect"])["sessions"]["written"], 0);
            is_sound(&sandbox);
        },
    };
    work.is_killed_often(10);
}

#[test]
fn the_writing_of_a_file_is_killed_at_any_moment_and_the_file_is_the_old_or_the_new_one() {
    let sandbox = Sandbox::ready();
    let entries: String = (0..2_000).map(|number| format!("- thing {number}\n")).collect();
    sandbox.write("memories/MEMORY.md", format!("# Memory\n\n{entries}"));
    for (arguments, file) in [
        (&["memory", "add", "one more"][..], "memories/MEMORY.md"),
        (&["memory", "replace", "thing 1000", "another thing"], "memories/MEMORY.md"),
        (&["config", "set", "timezone", "Europe/Lisbon"], "config.yaml"),
    ] {
        let before = sandbox.read(file);
        sandbox.ok(arguments);
        let after = sandbox.read(file);
        assert_ne!(before, after);
        sandbox.write(file, &before);
        let work = Work {
            sandbox: &sandbox,
            command: &|| sandbox.command(arguments),
            killed: &|| {
                versions_are_whole(&sandbox);
                let now = sandbox.read(file);
                assert!(now == before || now == after, "{file} is half written: {now}");
                // Entries may be added again, and numbers are another's then.
                match now == after {
                    true => Fell::InTheMidstAndEnds,
                    false if leftovers(&sandbox) => Fell::InTheMidst,
                    false => Fell::Beside,
                }
            },
            done: &|| {
                versions_are_whole(&sandbox);
                assert_eq!(sandbox.read(file), after);
                is_sound(&sandbox);
            },
        };
        work.is_killed_often(15);
    }
}

/// The earlier contents of files, each with the name that its bytes give.
fn versions_are_whole(sandbox: &Sandbox) {
    for (path, bytes) in sandbox.snapshot() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.iter().any(|part| part == "blobs") && !name.contains('.') {
            let hash: String =
                Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(name, hash, "half a version: {}", path.display());
        }
    }
}

/// Whether a temporary file shows that the kill fell into the write.
fn leftovers(sandbox: &Sandbox) -> bool {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    sandbox.snapshot().keys().any(|path| name(path).ends_with(".tmp"))
}

#[test]
fn an_import_is_killed_at_any_moment_and_ends_like_one_that_is_not() {
    let (_from, document) = filled();
    let sandbox = Sandbox::ready();
    sandbox.write("../memory.json", &document);
    let messages = || match sandbox.path("memory.db").exists() {
        true => rows(&sandbox, "memory.db", "select text from message"),
        false => Vec::new(),
    };
    let total = document.matches("\"harbor ").count();
    let work = Work {
        sandbox: &sandbox,
        command: &|| sandbox.command(&["memory", "import", "memory.json"]),
        killed: &|| {
            let kept = messages();
            none_twice(&kept);
            Fell::between(kept.len(), total)
        },
        done: &|| {
            let again = sandbox.ok(&["memory", "export"]);
            assert_eq!(without_time(&again), without_time(&document));
            is_sound(&sandbox);
        },
    };
    work.is_killed_often(12);
}
