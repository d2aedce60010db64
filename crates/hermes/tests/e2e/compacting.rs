//! Compression from the command line.

use std::time::Duration;

use hermes_store::memory::{Admin, Memory, Scope, UserNumber, Wanted};
use hermes_store::sqlite::Access;
use serde_json::json;

use crate::sandbox::Sandbox;

const SESSIONS: usize = 30;

pub(crate) fn open(sandbox: &Sandbox) -> Memory {
    let path = sandbox.path("memory.db");
    let wanted = Wanted { path: &path, profile: "default" };
    Memory::open(wanted, Access::Write, Duration::from_secs(10)).unwrap()
}

/// A home with old conversations from which everything was drawn; the numbers of the episodes.
pub(crate) fn old_talk() -> (Sandbox, Vec<i64>) {
    let sandbox = Sandbox::ready();
    let mut lines = String::new();
    for session in 0..SESSIONS {
        for place in 0..6 {
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            let filler = "It was a long story about boats, the sea and the harbour. ".repeat(4);
            let line = json!({
                "session_id": format!("s{session}"),
                "role": role,
                "timestamp": format!("2024-03-{:02}T10:{place:02}:00Z", 1 + session % 28),
                "text": format!("Secret word rare{session}x{place}y. {filler}"),
            });
            lines += &format!("{line}\n");
        }
    }
    sandbox.write("talk.jsonl", &lines);
    sandbox.ok(&["memory", "record", sandbox.path("talk.jsonl").to_str().unwrap()]);
    let mut store = open(&sandbox);
    let waiting = store.waiting_episodes(Admin, jiff::Timestamp::MAX, 10_000).unwrap();
    let ids: Vec<i64> = waiting.iter().map(|episode| episode.id).collect();
    assert_eq!(ids.len(), SESSIONS * 3);
    store.mark_extracted(Admin, &ids, jiff::Timestamp::UNIX_EPOCH).unwrap();
    (sandbox, ids)
}

#[test]
fn old_conversations_become_summaries_that_are_found() {
    let (sandbox, _) = old_talk();
    let planned = sandbox.json(&["memory", "compact", "--dry-run"]);
    assert_eq!((&planned["episodes"], &planned["messages"]), (&json!(90), &json!(180)));
    assert_eq!(sandbox.json(&["memory", "status"])["raw_episodes"], 90);
    let done = sandbox.json(&["memory", "compact"]);
    assert_eq!(done["episodes"], 90);
    assert!(done["size"]["after"].as_u64() < done["size"]["before"].as_u64());
    let found = sandbox.json(&["memory", "search", "rare7x2y"]);
    assert_eq!(found["results"][0]["kind"], "summary");
    assert!(found["results"][0]["sessions"].as_array().unwrap().contains(&json!("s7")));
    assert!(sandbox.ok(&["memory", "search", "rare7x2y"]).contains("summary of 2024-03-"));
    assert!(sandbox.ok(&["memory", "compact"]).contains("nothing is old enough"));
    sandbox.fails(&["--no-input", "memory", "compact", "--older-than", "1h"], 5, &["--yes"]);
}

pub(crate) fn owner() -> Scope {
    Scope::of(UserNumber::OWNER)
}

/// Every episode has its messages, or a summary tells of it.
pub(crate) fn all_are_there(sandbox: &Sandbox, ids: &[i64]) {
    let store = open(sandbox);
    for id in ids {
        let raw = store.episodes(owner(), &[*id]).unwrap();
        let messages = raw.first().map_or(0, |raw| store.messages_of(owner(), raw).unwrap().len());
        let covering = store.covering(owner(), &[*id]).unwrap();
        let summary = covering.first().map(|(_, summary)| *summary);
        let told = summary.map(|id| store.episodes(owner(), &[id]).unwrap().len());
        assert!(messages == 2 || told == Some(1), "episode {id} is lost");
    }
}
