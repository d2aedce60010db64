//! Who talks to the agent: whose memory their words go to, and the commands that say so.

use serde_json::json;

use crate::sandbox::Sandbox;
use crate::talks::found;

fn says(sandbox: &Sandbox, identity: &[&str], text: &str) {
    let all =
        [&["memory", "turn", "--channel", "telegram", "--user-text", text][..], identity].concat();
    sandbox.ok(&all);
}

fn remembers(sandbox: &Sandbox, user: &str, word: &str) -> bool {
    found(sandbox, &[word, "--user", user]).iter().any(|text| text.contains(word))
}

#[test]
fn whoever_writes_is_nobody_until_the_owner_says_who_it_is() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "turn", "--user-text", "The harp is mine."]);
    says(&sandbox, &["--identity", "42"], "The gate code is in the piano.");
    says(&sandbox, &["--identity", "77"], "The owner said I may have the violin.");
    for word in ["piano", "violin"] {
        assert!(!remembers(&sandbox, "owner", word), "{word}");
    }
    assert!(remembers(&sandbox, "owner", "harp"), "who is not named is the owner");
    for command in ["doctor", "start"] {
        let told = sandbox.ok(&[command]);
        assert!(told.contains("42 of telegram") && told.contains("hermes user confirm"), "{told}");
    }
    // Nobody can be asked: nothing is decided.
    let listed = sandbox.ok(&["user", "confirm", "--yes"]);
    assert!(listed.contains("hermes user link telegram 42 owner"), "{listed}");
    sandbox.fails(&["user", "confirm", "--mine", "telegram", "1"], 4, &["1 of telegram"]);
    let done = sandbox.json(&["user", "confirm", "--mine", "telegram", "42"]);
    assert_eq!(done["results"][0]["user"], "owner", "{done}");
    assert!(remembers(&sandbox, "owner", "piano"), "what was said meanwhile is theirs");
    assert!(!remembers(&sandbox, "owner", "violin"));
    says(&sandbox, &["--identity", "42"], "And a clavichord.");
    assert!(remembers(&sandbox, "owner", "clavichord"));
    sandbox.ok(&["user", "link", "telegram", "77", "telegram-77"]);
    assert!(!sandbox.ok(&["doctor"]).contains("not linked to a user"));
    let listed = sandbox.json(&["user", "list"]);
    assert_eq!(
        listed["results"][0]["identities"],
        json!([{"channel": "telegram", "native_id": "42"}])
    );
    assert_eq!(listed["unlinked"], json!([]));
}

#[test]
fn in_a_group_nobody_is_the_owner_by_accident() {
    let sandbox = Sandbox::ready();
    says(&sandbox, &["--identity", "c-1", "--group"], "The raffle is on Saturday.");
    assert!(!remembers(&sandbox, "owner", "raffle"));
    assert!(remembers(&sandbox, "telegram-c-1", "raffle"));
    let unlinked = sandbox.json(&["user", "list"])["unlinked"].clone();
    assert_eq!(unlinked[0]["link_with"], "hermes user link telegram c-1 telegram-c-1");
    assert_eq!(unlinked[0]["chat"], "group");
}

#[test]
fn with_several_people_everybody_unknown_is_a_user_of_their_own() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "users.mode", "several"]);
    says(&sandbox, &["--identity", "7"], "My cello needs new strings.");
    assert!(!remembers(&sandbox, "owner", "cello"));
    assert!(remembers(&sandbox, "telegram-7", "cello"));
    sandbox.ok(&["user", "add", "ben", "--timezone", "Asia/Tokyo"]);
    sandbox.ok(&["user", "link", "telegram", "7", "ben"]);
    says(&sandbox, &["--identity", "7"], "And a bow of pernambuco.");
    assert!(remembers(&sandbox, "ben", "pernambuco") && !remembers(&sandbox, "ben", "cello"));
    sandbox.ok(&["memory", "turn", "--user", "ben", "--user-text", "A case of carbon."]);
    assert!(remembers(&sandbox, "ben", "carbon") && !remembers(&sandbox, "owner", "carbon"));
    let report = sandbox.json(&["memory", "catch-up"]);
    assert_eq!(report["added"], 0, "{report}");
}

#[test]
fn sessions_of_another_program_go_to_whom_they_belong() {
    let sandbox = Sandbox::ready();
    let sql = "insert into sessions (id, source, user_id, chat_id, chat_type, started_at) values
            ('a', 'telegram', '42', '42', 'dm', unixepoch()), ('b', 'discord', null, 'c-9', 'group', unixepoch()),
            ('c', 'cron', null, null, null, unixepoch());
        insert into messages (session_id, role, content, timestamp) values
            ('a', 'user', 'The heron is back.', unixepoch()), ('b', 'user', 'The beaver is back.', unixepoch()),
            ('c', 'user', 'The report is due.', unixepoch());";
    sandbox.sql("state.db", sql);
    assert_eq!(sandbox.json(&["memory", "catch-up"])["added"], 2);
    assert!(!remembers(&sandbox, "owner", "heron") && !remembers(&sandbox, "owner", "beaver"));
    assert!(remembers(&sandbox, "telegram-42", "heron"));
    assert!(remembers(&sandbox, "discord-c-9", "beaver"));
    assert!(!remembers(&sandbox, "owner", "report"));
}

#[test]
fn users_are_added_and_live_in_a_zone() {
    let sandbox = Sandbox::ready();
    assert!(sandbox.ok(&["user", "add", "ana"]).starts_with("ana is a user now"));
    assert!(sandbox.ok(&["user", "add", "ana"]).starts_with("ana is already a user"));
    sandbox.ok(&["user", "timezone", "ana", "Europe/Lisbon"]);
    assert_eq!(sandbox.json(&["users", "list"])["results"][1]["timezone"], "Europe/Lisbon");
    sandbox.ok(&["user", "timezone", "ana", "none"]);
    assert_eq!(sandbox.json(&["users", "list"])["results"][1]["timezone"], json!(null));
    sandbox.fails(&["user", "timezone", "ana", "Mars/Base"], 2, &["Mars/Base"]);
    sandbox.fails(&["user", "link", "telegram", "1", "nobody"], 4, &["hermes user add nobody"]);
    assert_eq!(sandbox.run(&["user", "add", "a/b"]).code, 2);
}

#[test]
fn catching_up_gives_nobody_the_words_of_another_in_the_same_session() {
    let sandbox = Sandbox::ready();
    for (user, text) in [("ana", "the llama is mine"), ("bob", "the vicuna is mine")] {
        sandbox.ok(&[
            "memory",
            "turn",
            "--session",
            "both",
            "--user",
            user,
            "--user-text",
            text,
            "--assistant-text",
            "Good.",
        ]);
    }
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
        assert!(!remembers(&sandbox, "ana", "vicuna") && !remembers(&sandbox, "bob", "llama"));
        assert!(remembers(&sandbox, "ana", "llama") && remembers(&sandbox, "bob", "vicuna"));
    }
}
