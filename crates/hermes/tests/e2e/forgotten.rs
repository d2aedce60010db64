//! What a person deleted or corrected stays so, whatever runs afterwards, until they say it anew.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A conversation of two weeks ago, over, with three things worth knowing.
fn told(sandbox: &Sandbox) {
    let at = |minute: u32| format!("{}T09:{minute:02}:00Z", days_ago(14));
    let turn = json!({"session_id": "s1", "ended": true, "messages": [
        {"role": "user", "text": "My GitHub username is nat-dev. I live in Porto.", "timestamp": at(0)},
        {"role": "assistant", "text": "Noted.", "timestamp": at(1)},
        {"role": "user", "text": "No, that is wrong, use pytest instead of unittest.", "timestamp": at(2)},
        {"role": "assistant", "text": "Switched to pytest.", "timestamp": at(3)},
    ]});
    let ran = sandbox.feed(&["memory", "turn", "-"], turn.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

fn days_ago(days: i64) -> String {
    let now = jiff::Timestamp::try_from(std::time::SystemTime::now()).unwrap();
    let then = now - jiff::SignedDuration::from_hours(24 * days);
    then.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

fn facts(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.json(&["memory", "fact", "list"])["results"].as_array().unwrap().clone();
    let mut texts: Vec<String> =
        listed.iter().map(|fact| fact["text"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

fn id_of(sandbox: &Sandbox, word: &str) -> String {
    let listed: Value = sandbox.json(&["memory", "fact", "list"]);
    let all = listed["results"].as_array().unwrap().clone();
    let fact = all.iter().find(|fact| fact["text"].as_str().unwrap().contains(word)).unwrap();
    fact["id"].as_str().unwrap().to_owned()
}

/// Everything that could bring something back, twice.
fn everything_twice(sandbox: &Sandbox, export: &str) {
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
        sandbox.ok(&["memory", "extract", "--again"]);
        sandbox.ok(&["memory", "reflect"]);
        sandbox.ok(&["memory", "import", export, "--yes"]);
        sandbox.ok(&["memory", "compact", "--older-than", "1d", "--yes"]);
    }
}

#[test]
fn what_was_deleted_or_corrected_stays_so_whatever_runs() {
    let sandbox = Sandbox::ready();
    told(&sandbox);
    sandbox.ok(&["memory", "extract"]);
    assert_eq!(facts(&sandbox).len(), 2, "{:?}", facts(&sandbox));
    let export = sandbox.path("before.json").to_str().unwrap().to_owned();
    sandbox.ok(&["memory", "export", "--output", &export]);
    let (handle, town) = (id_of(&sandbox, "nat-dev"), id_of(&sandbox, "Porto"));
    sandbox.ok(&["memory", "fact", "delete", &handle]);
    sandbox.ok(&["memory", "fact", "edit", &town, "User lives in Braga"]);
    everything_twice(&sandbox, &export);
    assert_eq!(facts(&sandbox), ["User lives in Braga"]);
}

#[test]
fn newer_words_of_the_user_bring_it_back() {
    let sandbox = Sandbox::ready();
    told(&sandbox);
    sandbox.ok(&["memory", "extract"]);
    sandbox.ok(&["memory", "fact", "delete", &id_of(&sandbox, "nat-dev")]);
    let again = json!({"session_id": "s2", "ended": true, "messages": [
        {"role": "user", "text": "Remember that my GitHub username is nat-dev."}]});
    let ran = sandbox.feed(&["memory", "turn", "-"], again.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    sandbox.ok(&["memory", "extract"]);
    assert!(facts(&sandbox).iter().any(|text| text.contains("nat-dev")), "{:?}", facts(&sandbox));
}

#[test]
fn a_forgotten_session_stays_forgotten_and_an_erased_one_leaves_no_word() {
    for erase in [false, true] {
        let sandbox = Sandbox::ready();
        told(&sandbox);
        sandbox.ok(&["memory", "extract"]);
        sandbox.ok(&["memory", "reflect"]);
        let export = sandbox.path("before.json").to_str().unwrap().to_owned();
        sandbox.ok(&["memory", "export", "--output", &export]);
        let plan = sandbox.json(&["memory", "forget", "--session", "s1", "--dry-run"]);
        assert_eq!((&plan["facts"], &plan["messages"]), (&json!(2), &json!(4)), "{plan}");
        sandbox.fails(&["memory", "forget", "--session", "s1"], 5, &["--yes"]);
        let mut forget = vec!["memory", "forget", "--session", "s1", "--yes"];
        forget.extend(erase.then_some("--erase"));
        sandbox.ok(&forget);
        everything_twice(&sandbox, &export);
        assert_eq!(facts(&sandbox), Vec::<String>::new());
        for word in ["nat-dev", "pytest"] {
            let found = sandbox.json(&["memory", "search", word, "--type", "all"]);
            let hits = found["results"].as_array().unwrap();
            let in_memory = hits.iter().filter(|hit| hit["type"] != "sessions");
            assert_eq!(in_memory.count(), 0, "{word}: {found}");
        }
        if erase {
            let bytes = std::fs::read(sandbox.path("memory.db")).unwrap();
            assert!(!bytes.windows(7).any(|window| window == b"nat-dev"));
        }
    }
}
