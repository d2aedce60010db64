//! People whose memory is on a PostgreSQL server: merged, given all that is theirs, forgotten, handed over.

use std::fs;

use serde_json::{Value, json};

use crate::folk::{CANARY, said_and_repeated};
use crate::folk::{facts, holding, names, three_people};
use crate::pg_server::{self, Flavour, Server};
use crate::postgres::{as_app_role, database, home_on, join};
use crate::sandbox::Sandbox;
use crate::talks::found;

/// Three people in a memory on a server, used as the role of daemons.
fn people_on(server: &Server) -> (Sandbox, String) {
    let url = server.fresh_database();
    let sandbox = home_on(&url);
    let app = as_app_role(server, &url, &sandbox);
    join(&sandbox, &app);
    three_people(&sandbox);
    (sandbox, database(&url).to_owned())
}

/// Every row of the server as text, with a word in it, by table.
fn rows_with(server: &Server, database: &str, word: &str) -> String {
    let dump = server
        .program("pg_dump")
        .args(["--data-only", "--inserts", "--schema=hermes", database])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&dump.stdout).into_owned();
    assert!(text.contains("INSERT INTO hermes.fact"), "{}", String::from_utf8_lossy(&dump.stderr));
    text.lines().filter(|line| line.contains(word)).collect::<Vec<_>>().join("\n")
}

#[test]
fn one_becomes_another_on_a_server_and_the_name_leads_on() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, _) = people_on(server);
    let plan = sandbox.json(&["user", "merge", "ana", "ben", "--dry-run"]);
    assert_eq!((&plan["facts"], &plan["joined"]), (&json!(2), &json!(1)), "{plan}");
    let done = sandbox.json(&["user", "merge", "ana", "ben", "--yes"]);
    assert_eq!((&done["done"], &done["entries"]), (&json!(true), &json!(1)), "{done}");
    let expected = [
        "Tea is served at four",
        "The office is in Lisbon",
        "marmalade is good",
        "porridge is good",
    ];
    assert_eq!(facts(&sandbox, "ben"), expected);
    assert_eq!(facts(&sandbox, "ana"), expected, "the old name leads to the new one");
    for (user, word, is_theirs) in
        [("ben", "marmalade", true), ("ben", "porridge", true), ("owner", "marmalade", false)]
    {
        let hits = found(&sandbox, &[word, "--user", user]);
        assert_eq!(hits.iter().any(|text| text.contains(word)), is_theirs, "{user}: {hits:?}");
    }
    let turn = ["memory", "turn", "--channel", "telegram", "--identity", "7"];
    sandbox.ok(&[&turn[..], &["--user-text", "And rusks today"]].concat());
    assert!(found(&sandbox, &["rusks", "--user", "ben"]).iter().any(|text| text.contains("rusks")));
    sandbox.fails(&["user", "add", "ana"], 5, &["merged into ben"]);
    let kept = done["kept_in"].as_str().unwrap();
    assert!(fs::read_to_string(format!("{kept}/memory.json")).unwrap().contains("marmalade"));
    sandbox.ok(&["doctor"]);
}

#[test]
fn an_export_from_a_server_holds_one_person_and_nothing_of_another() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, _) = people_on(server);
    let folder = sandbox.folder().join("ana");
    let done = sandbox.json(&["user", "export", "ana", "--to", folder.to_str().unwrap()]);
    assert_eq!((&done["user"], &done["sessions"]), (&json!("ana"), &json!(1)), "{done}");
    for (name, word) in [
        ("memory.json", "marmalade is good"),
        ("sessions.jsonl", "I had marmalade"),
        ("USER.md", "Likes marmalade"),
        ("person.json", "telegram"),
    ] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(word), "{name}: {text}");
        assert!(!text.contains("porridge") && !text.contains("espresso"), "{name}: {text}");
    }
}

#[test]
fn who_is_forgotten_leaves_no_word_on_the_server() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, database) = people_on(server);
    assert!(!rows_with(server, &database, "marmalade").is_empty());
    let plan = sandbox.json(&["user", "forget", "ana", "--dry-run"]);
    assert_eq!(plan["erased"]["facts"], 2, "{plan}");
    let done = sandbox.json(&["user", "forget", "ana", "--yes"]);
    assert_eq!((&done["done"], &done["erased"]["sessions"]), (&json!(true), &json!(1)), "{done}");
    assert_eq!(names(&sandbox), ["owner", "ben"]);
    assert_eq!(rows_with(server, &database, "marmalade"), "");
    assert_eq!(holding(&sandbox.home(), "marmalade"), Vec::<String>::new());
    assert_eq!(facts(&sandbox, "owner").len(), 3, "what is shared stays");
    let receipt: Value =
        serde_json::from_str(&fs::read_to_string(done["receipt"].as_str().unwrap()).unwrap())
            .unwrap();
    assert_eq!(receipt["erased"]["facts"], 2, "{receipt}");
    // Somebody of that name who comes later is another person.
    sandbox.ok(&["memory", "fact", "add", "Plays the cello", "--user", "ana"]);
    assert_eq!(facts(&sandbox, "ana"), ["Plays the cello", "The office is in Lisbon"]);
    assert!(sandbox.ok(&["user", "forget", "--again"]).contains("no forgotten user came back"));
    assert!(facts(&sandbox, "ana").contains(&"Plays the cello".to_owned()));
}

#[test]
fn a_handover_between_profiles_on_one_server_is_noted_on_both_sides() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let sandbox = home_on(&url);
    let app = as_app_role(server, &url, &sandbox);
    join(&sandbox, &app);
    for profile in ["coder", "writer"] {
        sandbox.ok(&["profile", "create", profile]);
        for file in ["config.yaml", ".env"] {
            sandbox.write(&format!("profiles/{profile}/{file}"), sandbox.read(file));
        }
    }
    let coder = |arguments: &[&str]| sandbox.ok(&[&["--profile", "coder"], arguments].concat());
    let writer = |arguments: &[&str]| sandbox.ok(&[&["--profile", "writer"], arguments].concat());
    coder(&["memory", "fact", "add", "The parser is written in Rust"]);
    let turn = ["memory", "turn", "--session", "s1", "--user-text", "Please port the lexer"];
    coder(&[&turn[..], &["--assistant-text", "Done."]].concat());
    let chosen = ["handover", "coder", "writer", "--query", "parser Rust", "--session", "s1"];
    let plan = sandbox.json(&[&chosen[..], &["--dry-run"]].concat());
    assert_eq!(plan["key_facts"][0]["text"], "The parser is written in Rust", "{plan}");
    assert!(!writer(&["memory", "fact", "list"]).contains("parser"), "a dry run passes nothing");
    let done = sandbox.json(&[&chosen[..], &["--yes"]].concat());
    let fact = done["kept"]["facts"][0].as_str().unwrap_or_else(|| panic!("{done}")).to_owned();
    assert!(writer(&["memory", "fact", "show", &fact]).contains("profile coder"));
    assert!(
        writer(&["memory", "search", "lexer", "--type", "episodes"]).contains("port the lexer")
    );
    assert!(writer(&["handover", "list"]).contains("received from profile coder"));
    assert!(coder(&["handover", "list"]).contains("handed over to profile writer"));
    for action in ["handover.give", "handover.take"] {
        let counted = server.sql(
            database(&url),
            &format!("select count(*) from hermes.audit where action = '{action}'"),
        );
        assert_eq!(counted.trim(), "1", "{action}");
    }
    let again = sandbox.json(&["handover", "coder", "writer", "--query", "parser Rust", "--yes"]);
    assert_eq!(again["kept"]["facts"], json!([]), "{again}");
}

#[test]
fn an_answer_that_repeats_what_is_erased_goes_from_the_server_too() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, database) = people_on(server);
    said_and_repeated(&sandbox);
    let renamed = "update hermes.step set tool = 'mcp__hermes__memory_search'";
    let ran = server.program("psql").args(["-d", &database, "-c", renamed]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(rows_with(server, &database, CANARY).lines().count() >= 2);
    sandbox.ok(&["memory", "forget", "--session", "first", "--erase", "--yes"]);
    assert_eq!(rows_with(server, &database, CANARY), "");
}
