//! People as a whole: merged, given all that is theirs, forgotten for good, also after a restore.

use std::fs;

use serde_json::{Value, json};

use crate::folk::{facts, holding, names, three_people};
use crate::sandbox::Sandbox;
use crate::talks::found;

#[test]
fn a_merge_shows_first_what_moves_then_moves_it_and_the_name_leads_on() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    let plan = sandbox.json(&["user", "merge", "ana", "ben", "--dry-run"]);
    assert_eq!(
        (&plan["facts"], &plan["joined"], &plan["done"]),
        (&json!(2), &json!(1), &json!(false))
    );
    assert!(facts(&sandbox, "ben").iter().all(|text| !text.contains("marmalade")));
    sandbox.fails(&["user", "merge", "ana", "ben"], 5, &["--yes"]);
    sandbox.fails(&["user", "merge", "owner", "ben", "--yes"], 5, &["owner"]);
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
    let file = sandbox.read("memories/users/ben/USER.md");
    assert!(file.contains("marmalade") && file.contains("porridge"), "{file}");
    assert!(!sandbox.path("memories/users/ana").exists());
    let listed = sandbox.json(&["user", "list"]);
    assert_eq!(listed["merged"][0]["name"], "ana");
    assert_eq!(listed["merged"][0]["into"], "ben");
    assert_eq!(listed["results"][1]["identities"][0]["native_id"], "7", "{listed}");
    let turn = ["memory", "turn", "--channel", "telegram", "--identity", "7"];
    sandbox.ok(&[&turn[..], &["--user-text", "And rusks today"]].concat());
    assert!(found(&sandbox, &["rusks", "--user", "ben"]).iter().any(|text| text.contains("rusks")));
    sandbox.fails(&["user", "add", "ana"], 5, &["merged into ben"]);
    // As they were they can be looked at in a profile of their own.
    let kept = done["kept_in"].as_str().unwrap();
    assert!(fs::read_to_string(format!("{kept}/USER.md")).unwrap().contains("marmalade"));
    sandbox.ok(&["profile", "create", "before"]);
    sandbox.ok(&["--profile", "before", "memory", "import", &format!("{kept}/memory.json")]);
    let there = sandbox.json(&["--profile", "before", "memory", "fact", "list", "--user", "ana"]);
    assert!(there.to_string().contains("marmalade is good"), "{there}");
    sandbox.ok(&["doctor"]);
    assert_eq!(sandbox.json(&["memory", "catch-up"])["added"], 0);
}

#[test]
fn a_merge_is_undone_with_files_identities_and_tokens_and_what_came_since_stays() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["token", "create", "phone", "--user", "ana"]);
    sandbox.ok(&["memory", "add", "--file", "user", "--user", "ana", "Speaks Portuguese"]);
    let files = ["ana", "ben"].map(|user| sandbox.read(&format!("memories/users/{user}/USER.md")));
    let before = ["ana", "ben", "owner"].map(|user| facts(&sandbox, user));
    sandbox.ok(&["user", "merge", "ana", "ben", "--yes"]);
    let turn = ["memory", "turn", "--channel", "telegram", "--identity", "7"];
    sandbox.ok(&[&turn[..], &["--user-text", "And rusks today"]].concat());
    sandbox.ok(&["memory", "fact", "add", "rusks are good", "--user", "ana"]);
    let plan = sandbox.json(&["user", "unmerge", "ana", "--dry-run"]);
    assert_eq!((&plan["done"], &plan["facts"]), (&json!(false), &json!(2)), "{plan}");
    sandbox.fails(&["user", "unmerge", "ana"], 5, &["--yes"]);
    let done = sandbox.json(&["user", "unmerge", "ana", "--yes"]);
    assert_eq!((&done["done"], &done["entries"]), (&json!(true), &json!(2)), "{done}");
    assert_eq!(facts(&sandbox, "ana"), before[0]);
    assert_eq!(facts(&sandbox, "owner"), before[2]);
    let mut bens = before[1].clone();
    bens.push("rusks are good".to_owned());
    assert_eq!(facts(&sandbox, "ben"), bens);
    for (user, file) in ["ana", "ben"].into_iter().zip(files) {
        assert_eq!(sandbox.read(&format!("memories/users/{user}/USER.md")), file, "{user}");
    }
    for (user, word, is_theirs) in [
        ("ana", "marmalade", true),
        ("ana", "rusks", false),
        ("ben", "rusks", true),
        ("ben", "porridge", true),
        ("ben", "marmalade", false),
    ] {
        let hits = found(&sandbox, &[word, "--user", user]);
        assert_eq!(hits.iter().any(|text| text.contains(word)), is_theirs, "{user}: {hits:?}");
    }
    assert_eq!(names(&sandbox), ["owner", "ana", "ben"]);
    let tokens = sandbox.json(&["token", "list"]);
    let phone = tokens["results"].as_array().unwrap().iter().find(|one| one["name"] == "phone");
    assert_eq!(phone.unwrap()["user"], "ana", "{tokens}");
    assert_eq!(sandbox.json(&["memory", "catch-up"])["added"], 0);
    sandbox.ok(&[&turn[..], &["--user-text", "Jam at last"]].concat());
    assert!(found(&sandbox, &["jam", "--user", "ana"]).iter().any(|text| text.contains("Jam")));
    sandbox.ok(&["doctor"]);
    sandbox.fails(&["user", "unmerge", "ana", "--yes"], 5, &["not merged into anybody"]);
    assert!(!sandbox.path("hermesd/merged-users/ben").join("ana").exists());
    // And once more, with everything.
    sandbox.ok(&["user", "merge", "ana", "ben", "--yes"]);
    sandbox.ok(&["user", "unmerge", "ana", "--yes"]);
    assert!(facts(&sandbox, "ana").contains(&"marmalade is good".to_owned()));
}

#[test]
fn what_was_deleted_after_a_merge_stays_deleted_and_the_owner_gives_back_too() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["memory", "add", "--file", "user", "--user", "ana", "Speaks Portuguese"]);
    let owners = sandbox.read("memories/USER.md");
    sandbox.ok(&["user", "merge", "ana", "owner", "--yes"]);
    sandbox.ok(&["memory", "remove", "--file", "user", "Speaks Portuguese"]);
    sandbox.ok(&["memory", "fact", "delete", "fact:001", "--yes"]);
    let done = sandbox.json(&["user", "unmerge", "ana", "--yes"]);
    assert_eq!(done["entries"], 1, "{done}");
    let file = sandbox.read("memories/users/ana/USER.md");
    assert!(file.contains("marmalade") && !file.contains("Portuguese"), "{file}");
    assert_eq!(sandbox.read("memories/USER.md"), owners);
    assert_eq!(facts(&sandbox, "ana"), ["Tea is served at four", "The office is in Lisbon"]);
    sandbox.ok(&["doctor"]);
}

#[test]
fn a_merge_of_an_earlier_version_cannot_be_undone_and_the_command_says_why() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["user", "merge", "ana", "ben", "--yes"]);
    sandbox.sql("memory.db", "delete from meta where key like 'merge:%'");
    sandbox.fails(&["user", "unmerge", "ana", "--yes"], 5, &["no record", "earlier version"]);
    sandbox.fails(&["user", "unmerge", "ben", "--yes"], 5, &["not merged into anybody"]);
    assert!(facts(&sandbox, "ben").contains(&"marmalade is good".to_owned()));
}

#[test]
fn an_undo_that_was_cut_off_before_the_files_is_brought_to_its_end_by_the_same_command() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    let file = sandbox.read("memories/users/ana/USER.md");
    let done = sandbox.json(&["user", "merge", "ana", "ben", "--yes"]);
    let kept = std::path::PathBuf::from(done["kept_in"].as_str().unwrap());
    let aside = sandbox.folder().join("aside");
    fs::rename(&kept, &aside).unwrap();
    let done = sandbox.ok(&["user", "unmerge", "ana", "--yes"]);
    assert!(done.contains("none of ana are kept in this home"), "{done}");
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    fs::rename(&aside, &kept).unwrap();
    let done = sandbox.json(&["user", "unmerge", "ana"]);
    assert_eq!(done["entries"], 1, "{done}");
    assert_eq!(sandbox.read("memories/users/ana/USER.md"), file);
    assert!(!sandbox.read("memories/users/ben/USER.md").contains("marmalade"));
    assert!(!kept.exists());
}

#[test]
fn an_export_holds_everything_of_one_person_and_nothing_of_another() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["memory", "add", "--file", "user", "--user", "ana", "Speaks Portuguese"]);
    let folder = sandbox.folder().join("ana");
    let to = folder.to_str().unwrap();
    let done = sandbox.json(&["user", "export", "ana", "--to", to]);
    assert_eq!((&done["user"], &done["sessions"]), (&json!("ana"), &json!(1)), "{done}");
    for (name, word) in [
        ("memory.json", "marmalade is good"),
        ("sessions.jsonl", "I had marmalade"),
        ("USER.md", "Speaks Portuguese"),
        ("person.json", "telegram"),
    ] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(word), "{name}: {text}");
        assert!(!text.contains("porridge") && !text.contains("espresso"), "{name}: {text}");
    }
    assert!(!holding(&folder.join("versions"), "marmalade").is_empty());
    sandbox.fails(&["user", "export", "ana", "--to", to], 5, &["already exists"]);
    sandbox.fails(&["user", "export", "nobody", "--to", "x"], 4, &["nobody"]);
    let inside = sandbox.path("x");
    sandbox.fails(&["user", "export", "ana", "--to", inside.to_str().unwrap()], 5, &["inside"]);
}

#[test]
fn who_was_forgotten_stays_so_when_an_older_backup_is_restored() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["token", "create", "phone", "--user", "ana"]);
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let plan = sandbox.json(&["user", "forget", "ana", "--dry-run"]);
    assert_eq!(plan["erased"]["facts"], 2, "{plan}");
    assert_eq!(plan["backups"].as_array().unwrap().len(), 1, "{plan}");
    sandbox.fails(&["user", "forget", "ana"], 5, &["--yes"]);
    assert!(names(&sandbox).contains(&"ana".to_owned()));
    let done = sandbox.json(&["user", "forget", "ana", "--yes"]);
    assert_eq!((&done["done"], &done["erased"]["sessions"]), (&json!(true), &json!(1)), "{done}");
    let ends = done["backups"][0]["ends"].as_str().unwrap();
    assert!(ends.contains("never automatically"), "{ends}");
    assert_eq!(names(&sandbox), ["owner", "ben"]);
    for word in ["marmalade", "ana/"] {
        assert_eq!(holding(&sandbox.home(), word), Vec::<String>::new(), "{word}");
    }
    assert!(!sandbox.ok(&["token", "list"]).contains("phone"));
    assert_eq!(facts(&sandbox, "owner").len(), 3, "what is shared stays");
    let receipt = |sandbox: &Sandbox| -> Value {
        let path = done["receipt"].as_str().unwrap();
        let receipts = sandbox.folder().join(".hermes-backups/receipts");
        assert_eq!(holding(&receipts, "marmalade"), Vec::<String>::new());
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    assert_eq!(receipt(&sandbox)["applied_again"], json!([]));
    // The archive has her; the restored home has not.
    let restored = sandbox.json(&["backup", "restore", "latest", "--yes"]);
    let remarks = restored["remarks"].to_string();
    assert!(remarks.contains("erased again"), "{remarks}");
    assert_eq!(names(&sandbox), ["owner", "ben"]);
    for word in ["marmalade", "ana/"] {
        assert_eq!(holding(&sandbox.home(), word), Vec::<String>::new(), "{word}");
    }
    assert_eq!(
        facts(&sandbox, "ben"),
        ["Tea is served at four", "The office is in Lisbon", "porridge is good"]
    );
    let again = receipt(&sandbox)["applied_again"].clone();
    assert_eq!(again.as_array().unwrap().len(), 1, "{again}");
    assert_eq!(again[0]["erased"]["facts"], 2, "{again}");
    // Somebody of that name who comes later is another person, and stays.
    sandbox.ok(&["memory", "fact", "add", "Plays the cello", "--user", "ana"]);
    assert!(sandbox.ok(&["user", "forget", "--again"]).contains("no forgotten user came back"));
    assert_eq!(facts(&sandbox, "ana"), ["Plays the cello", "The office is in Lisbon"]);
}

#[test]
fn a_home_that_is_put_back_by_a_rollback_brings_nobody_back() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["backup", "create", "--plaintext"]);
    sandbox.ok(&["backup", "restore", "latest", "--yes"]);
    let done = sandbox.json(&["user", "forget", "ana", "--yes"]);
    assert!(done["stays"].to_string().contains(".before-restore-"), "{done}");
    let back = sandbox.json(&["backup", "restore", "--rollback", "--yes"]);
    assert!(back["remarks"].to_string().contains("erased again"), "{back}");
    assert_eq!(holding(&sandbox.home(), "marmalade"), Vec::<String>::new());
}

#[test]
fn the_owner_can_be_forgotten_and_goes_on() {
    let sandbox = Sandbox::ready();
    three_people(&sandbox);
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let done = sandbox.json(&["user", "forget", "owner", "--yes"]);
    assert!(done["stays"].to_string().contains("MEMORY.md"), "{done}");
    assert_eq!(holding(&sandbox.home(), "espresso"), Vec::<String>::new());
    assert_eq!(names(&sandbox), ["owner", "ana", "ben"]);
    sandbox.ok(&["memory", "fact", "add", "Drinks tea now"]);
    sandbox.ok(&["backup", "create", "--plaintext"]);
    sandbox.ok(&["backup", "restore", "latest", "--yes"]);
    assert!(facts(&sandbox, "owner").contains(&"Drinks tea now".to_owned()));
    assert!(facts(&sandbox, "ana").contains(&"marmalade is good".to_owned()));
}

#[test]
fn a_handover_is_shown_passed_on_purpose_and_noted_on_both_sides() {
    let sandbox = Sandbox::ready();
    for profile in ["coder", "writer"] {
        sandbox.ok(&["profile", "create", profile]);
    }
    let coder = |arguments: &[&str]| sandbox.ok(&[&["--profile", "coder"], arguments].concat());
    coder(&["memory", "fact", "add", "The parser is written in Rust"]);
    coder(&["memory", "fact", "add", "Lunch is at noon"]);
    let turn = ["memory", "turn", "--session", "s1", "--user-text", "Please port the lexer"];
    coder(&[&turn[..], &["--assistant-text", "Done."]].concat());
    let chosen = ["handover", "coder", "writer", "--query", "parser Rust", "--session", "s1"];
    let plan =
        sandbox.json(&[&chosen[..], &["--note", "Go on with the docs", "--dry-run"]].concat());
    assert_eq!(plan["key_facts"][0]["text"], "The parser is written in Rust", "{plan}");
    assert_eq!(plan["goals"], json!(["Please port the lexer"]));
    let writer = |arguments: &[&str]| sandbox.ok(&[&["--profile", "writer"], arguments].concat());
    assert!(!writer(&["memory", "fact", "list"]).contains("parser"), "a dry run passes nothing");
    sandbox.fails(&chosen, 5, &["--yes"]);
    let done = sandbox.json(&[&chosen[..], &["--note", "Go on with the docs", "--yes"]].concat());
    assert_eq!(done["done"], true, "{done}");
    let fact = done["kept"]["facts"][0].as_str().unwrap().to_owned();
    let shown = writer(&["memory", "fact", "show", &fact]);
    assert!(shown.contains("profile coder"), "{shown}");
    assert!(
        writer(&["memory", "search", "lexer", "--type", "episodes"]).contains("port the lexer")
    );
    assert!(writer(&["memory", "search", "docs", "--type", "episodes"]).contains("Go on"));
    assert!(writer(&["handover", "list"]).contains("received from profile coder"));
    assert!(coder(&["handover", "list"]).contains("handed over to profile writer"));
    assert!(coder(&["memory", "timeline"]).contains("Handed over"));
    for (profile, action) in [("coder", "handover.give"), ("writer", "handover.take")] {
        let sql = format!("select count(*) from audit where action = '{action}'");
        let noted = sandbox.sql(&format!("profiles/{profile}/memory.db"), &sql);
        assert_eq!(noted, "1", "{profile}");
    }
    let again = sandbox.json(&["handover", "coder", "writer", "--query", "parser Rust", "--yes"]);
    assert_eq!(again["kept"]["facts"], json!([]), "{again}");
    sandbox.fails(&["handover", "coder", "coder"], 2, &["itself"]);
    sandbox.fails(&["handover", "coder", "nobody"], 4, &["nobody"]);
    sandbox.fails(&["handover", "coder", "writer", "--session", "nope"], 4, &["nope"]);
}
