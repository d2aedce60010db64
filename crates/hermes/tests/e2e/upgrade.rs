//! Homes of earlier versions opened by this one: everything is there, found, kept in backups, and gone on with.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::old_homes::{
    COUNTED, NEVER_LEFT, OldHome, WITH_FILES, answers, connect, is_whole, new_memory, newest,
    nothing_is_lost, number_of, schema_of, with,
};
use crate::sandbox::Sandbox;

/// The home, and a copy of its memory as it was.
fn opened(home: &OldHome) -> (Sandbox, PathBuf) {
    let sandbox = home.unpacked();
    let before = sandbox.folder().join("before.db");
    fs::copy(sandbox.path("memory.db"), &before).unwrap();
    assert_eq!(number_of(&connect(&before)), home.schema, "{}", home.name);
    (sandbox, before)
}

fn rows(sandbox: &Sandbox, table: &str) -> usize {
    sandbox.sql("memory.db", &format!("select count(*) from {table}")).parse().unwrap()
}

#[test]
fn every_schema_of_a_memory_but_the_newest_has_a_home() {
    let known: BTreeSet<i64> = WITH_FILES.iter().map(|home| home.schema).collect();
    for number in 1..newest("memory") {
        assert!(
            known.contains(&number) || NEVER_LEFT.contains(&number),
            "no home of schema {number} in tests/fixtures/homes"
        );
    }
}

#[test]
fn an_old_home_becomes_a_new_one_with_every_row_it_had() {
    let wanted = schema_of(&connect(&new_memory().path("memory.db")));
    for home in WITH_FILES {
        let (sandbox, before) = opened(home);
        sandbox.ok(&["memory", "fact", "list"]);
        let memory = connect(&sandbox.path("memory.db"));
        assert_eq!(number_of(&memory), newest("memory"), "{}", home.name);
        assert_eq!(schema_of(&memory), wanted, "{}", home.name);
        drop(memory);
        nothing_is_lost(&before, &sandbox.path("memory.db"));
        assert_eq!(COUNTED.map(|table| rows(&sandbox, table)), home.rows, "{}", home.name);
        is_whole(&sandbox);
    }
}

#[test]
fn opening_an_old_home_a_second_time_changes_nothing() {
    for home in WITH_FILES {
        let (sandbox, _) = opened(home);
        sandbox.ok(&["memory", "fact", "list"]);
        let databases =
            || ["memory.db", "state.db"].map(|file| fs::read(sandbox.path(file)).unwrap());
        let first = databases();
        for arguments in [
            &["memory", "fact", "list"][..],
            &["memory", "status"],
            &["sessions", "list"],
            &["memory", "search", "harbour"],
        ] {
            sandbox.ok(arguments);
            assert!(databases() == first, "{}: {arguments:?} wrote", home.name);
        }
    }
}

#[test]
fn what_an_old_home_knows_is_found_by_search_and_in_contexts() {
    for home in WITH_FILES {
        answers(home, &home.unpacked(), &["search", "context"]);
    }
}

/// Whose words there are in the memory: every message, fact and lesson that was not taken out.
const TEXTS: &str = "
    select u.name, m.text from message m join episode e on e.id = m.episode join user u on u.id = e.user_id
    where e.retired_at is null and m.role in ('user', 'assistant')
    union select u.name, f.statement from fact f join user u on u.id = f.user_id where f.retired_at is null
    union select u.name, p.body from procedure p join user u on u.id = p.user_id where p.retired_at is null";

#[test]
fn every_single_text_of_an_old_memory_is_found_by_its_own_words() {
    for home in WITH_FILES {
        let (sandbox, before) = opened(home);
        let database = connect(&before);
        let mut texts = database.prepare(TEXTS).unwrap();
        let texts = texts.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let texts: Vec<(String, String)> = texts.map(Result::unwrap).collect();
        assert!(texts.len() > 10, "{}: {texts:?}", home.name);
        for (user, text) in texts {
            // What is shared belongs to a user without a name, and everybody finds it.
            let user = if user.is_empty() { "bruno" } else { &user };
            let found = sandbox.json(&["memory", "search", &text, "--user", user]);
            let words = serde_json::to_string(&text).unwrap();
            let words = words.trim_matches('"');
            assert!(found["results"].to_string().contains(words), "{}: {text}: {found}", home.name);
        }
    }
}

#[test]
fn transcripts_of_an_old_home_are_shown_and_found() {
    for home in WITH_FILES {
        let (sandbox, _) = opened(home);
        let count = sandbox.sql("state.db", "select count(*) from messages");
        let stats = sandbox.json(&["sessions", "stats"]);
        assert_eq!(stats["messages"].to_string(), count, "{}", home.name);
        assert_eq!(stats["full_text_rows"], stats["messages"], "{}", home.name);
        let shown = sandbox.ok(&["sessions", "show", "Moving the bakery"]);
        assert!(shown.contains("On Sunday at six, with two vans."), "{shown}");
        for (words, wanted) in [("ovens", "to Porto"), ("名古屋", "住んでいます"), ("calendar", "")]
        {
            let found = sandbox.json(&["sessions", "search", words]).to_string();
            assert!(found.contains(wanted), "{}: {words}: {found}", home.name);
        }
    }
}

/// What came later than the upgrade: recorded, drawn from, looked back on, compressed, forgotten.
fn goes_on(sandbox: &Sandbox) {
    let turn = json!({"session_id": "after", "ended": true, "messages": [
        {"role": "user", "text": "Remember that the crane came by ship from Odense."},
        {"role": "assistant", "text": "By ship from Odense."}]});
    let told = sandbox.feed(&["memory", "turn", "-", "--json"], turn.to_string().as_bytes());
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let told = &told["results"][0];
    assert_eq!((&told["kept_in"], &told["added"]), (&json!("memory"), &json!(2)), "{told}");
    sandbox.ok(&["memory", "catch-up"]);
    for command in ["extract", "reflect"] {
        sandbox.ok(&["memory", command]);
    }
    sandbox.ok(&["--yes", "memory", "compact", "--older-than", "365d"]);
    let found = sandbox.json(&["memory", "search", "Where did the crane come from?"]).to_string();
    assert!(found.contains("Odense"), "{found}");
    let old = sandbox.json(&["memory", "search", "rare03bird"]);
    let is_told = |one: &Value| {
        one["kind"] == "summary" && one["sessions"].as_array().unwrap().contains(&json!("old-03"))
    };
    assert!(old["results"].as_array().unwrap().iter().any(is_told), "{old}");
    sandbox.ok(&["--yes", "memory", "forget", "--session", "after", "--erase"]);
    is_whole(sandbox);
}

#[test]
fn an_old_home_is_gone_on_with_like_a_new_one() {
    for home in WITH_FILES {
        goes_on(&home.unpacked());
    }
}

#[test]
fn a_backup_of_an_old_home_is_restored_before_and_after_its_upgrade() {
    for home in WITH_FILES {
        let (sandbox, before) = opened(home);
        let old = sandbox.json(&["backup", "create", "--plaintext"]);
        sandbox.ok(&["memory", "fact", "list"]);
        let upgraded = sandbox.json(&["backup", "create", "--plaintext"]);
        for made in [old, upgraded] {
            let elsewhere = Sandbox::empty();
            elsewhere.ok(&["--yes", "backup", "restore", made["path"].as_str().unwrap()]);
            elsewhere.ok(&["memory", "fact", "list"]);
            nothing_is_lost(&before, &elsewhere.path("memory.db"));
            is_whole(&elsewhere);
        }
    }
}

#[test]
fn the_log_that_a_killed_old_version_left_is_part_of_the_upgrade() {
    for home in WITH_FILES {
        let (sandbox, _) = opened(home);
        let (path, left) = (sandbox.path("memory.db"), sandbox.folder().join("left.db"));
        // A writer that is not asked to end: its log stays beside the file.
        let writer = connect(&path);
        let add = "insert into meta (key, value) values ('said at the end', 'not lost')";
        writer.execute_batch(&format!("pragma wal_autocheckpoint = 0; {add}")).unwrap();
        for suffix in ["", "-wal"] {
            fs::copy(with(&path, suffix), with(&left, suffix)).unwrap();
        }
        drop(writer);
        for suffix in ["", "-wal"] {
            fs::rename(with(&left, suffix), with(&path, suffix)).unwrap();
        }
        sandbox.ok(&["memory", "fact", "list"]);
        let kept = "select value from meta where key = 'said at the end'";
        assert_eq!(sandbox.sql("memory.db", kept), "not lost", "{}", home.name);
        assert_eq!(number_of(&connect(&path)), newest("memory"), "{}", home.name);
        is_whole(&sandbox);
    }
}
