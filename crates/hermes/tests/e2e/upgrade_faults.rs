//! Upgrades that go wrong: by several at once, and schemas of the future.

use std::fs;

use crate::old_homes::{WITH_FILES, connect, is_whole, new_memory, newest, schema_of};
use crate::sandbox::Sandbox;

/// A command that only reads, and brings the memory up to date for that.
const LOOK: [&str; 3] = ["memory", "fact", "list"];

#[test]
fn several_who_come_at_once_to_an_old_home_upgrade_it_once() {
    let wanted = schema_of(&connect(&new_memory().path("memory.db")));
    for home in WITH_FILES {
        let sandbox = home.unpacked();
        let commands: [&[&str]; 6] = [
            &LOOK,
            &["memory", "status"],
            &["memory", "search", "harbour"],
            &["memory", "context", "the staging database"],
            &["memory", "fact", "add", "The new crane lifts nine tons"],
            &["memory", "fact", "add", "Der neue Kran hebt neun Tonnen"],
        ];
        std::thread::scope(|scope| {
            let sandbox = &sandbox;
            for arguments in commands {
                scope.spawn(move || sandbox.ok(arguments));
            }
        });
        let memory = connect(&sandbox.path("memory.db"));
        assert_eq!(schema_of(&memory), wanted, "{}", home.name);
        let facts: usize =
            memory.query_row("select count(*) from fact", [], |row| row.get(0)).unwrap();
        assert_eq!(facts, home.rows[1] + 2, "{}", home.name);
        drop(memory);
        is_whole(&sandbox);
    }
}

fn bytes(sandbox: &Sandbox, file: &str) -> Vec<u8> {
    fs::read(sandbox.path(file)).unwrap()
}

#[test]
fn a_memory_of_a_later_version_is_refused_and_keeps_every_byte() {
    let sandbox = WITH_FILES.last().unwrap().unpacked();
    sandbox.ok(&LOOK);
    let later = newest("memory") + 1;
    let memory = connect(&sandbox.path("memory.db"));
    memory.pragma_update(None, "user_version", later).unwrap();
    drop(memory);
    let before = bytes(&sandbox, "memory.db");
    let words = format!("its schema is {later}, this version supports up to {}", newest("memory"));
    for arguments in [
        &LOOK[..],
        &["memory", "fact", "add", "Nobody keeps this"],
        &["memory", "search", "harbour"],
        &["memory", "context", "harbour"],
        &["memory", "extract"],
        &["memory", "compact"],
        &["memory", "vacuum"],
        &["--yes", "memory", "forget", "--all"],
    ] {
        let ran = sandbox.fails(arguments, 5, &["memory.db", &words, "upgrade hermes"]);
        let sentences = ran.stderr.lines().filter(|line| line.starts_with("hermes: "));
        assert_eq!(sentences.count(), 1, "{arguments:?}: {}", ran.stderr);
        assert!(bytes(&sandbox, "memory.db") == before, "{arguments:?} wrote");
    }
    for arguments in [&["doctor"][..], &["status"], &["start", "--no-daemon"]] {
        let ran = sandbox.run(arguments);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains(&words), "{arguments:?}: {all}");
        assert!(bytes(&sandbox, "memory.db") == before, "{arguments:?} wrote");
    }
}

#[test]
fn a_turn_waits_while_the_memory_is_of_a_later_version() {
    let sandbox = WITH_FILES.last().unwrap().unpacked();
    sandbox.ok(&LOOK);
    let renumber = |number: i64| {
        connect(&sandbox.path("memory.db")).pragma_update(None, "user_version", number).unwrap();
    };
    renumber(newest("memory") + 1);
    let said =
        ["memory", "turn", "--user-text", "The mast is of larch.", "--assistant-text", "Good."];
    let told = sandbox.json(&said);
    assert_eq!(told["results"][0]["kept_in"], "state_db", "{told}");
    renumber(newest("memory"));
    sandbox.ok(&["memory", "catch-up"]);
    let found = sandbox.json(&["memory", "search", "What is the mast made of?"]).to_string();
    assert!(found.contains("of larch"), "{found}");
}

#[test]
fn transcripts_of_a_later_version_are_refused_and_keep_every_byte() {
    let sandbox = WITH_FILES.last().unwrap().unpacked();
    let later = newest("state") + 1;
    connect(&sandbox.path("state.db")).pragma_update(None, "user_version", later).unwrap();
    let before = bytes(&sandbox, "state.db");
    let words = format!("its schema is {later}, this version supports up to {}", newest("state"));
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "search", "ovens"],
        &["sessions", "create"],
        &["sessions", "append", "last", "--role", "user", "Nobody keeps this"],
        &["--yes", "sessions", "prune"],
        &["sessions", "repair", "--check"],
        &["--yes", "sessions", "repair"],
    ] {
        let ran = sandbox.fails(arguments, 5, &["state.db", &words, "upgrade hermes"]);
        let sentences = ran.stderr.lines().filter(|line| line.starts_with("hermes: "));
        assert_eq!(sentences.count(), 1, "{arguments:?}: {}", ran.stderr);
        assert!(bytes(&sandbox, "state.db") == before, "{arguments:?} wrote");
    }
    let ran = sandbox.run(&["doctor"]);
    assert!(ran.code == 6 && ran.stdout.contains(&words), "{}", ran.stdout);
    let said =
        ["memory", "turn", "--user-text", "The keel is of oak.", "--assistant-text", "Good."];
    assert_eq!(sandbox.json(&said)["results"][0]["kept_in"], "spool");
    assert!(bytes(&sandbox, "state.db") == before, "a turn was written");
}
