//! What recording lines of JSON adds, leaves out and refuses.

use hermes_store::memory::{Admin, RecentFilter, Scope};

use crate::support::{line, memory, owner, record};

#[test]
fn recording_twice_adds_nothing_and_equal_messages_stay_two() {
    let (_folder, mut memory) = memory();
    let lines = [
        line("s1", "user", "2026-10-01", "Hello, my dog is called Rex."),
        line("s1", "assistant", "2026-10-01", "ok"),
        line("s1", "user", "2026-10-01", "ok"),
        line("s1", "user", "2026-10-01", "ok"),
    ]
    .concat();
    let first = record(&mut memory, &lines);
    assert_eq!((first.lines, first.added, first.known, first.episodes), (4, 4, 0, 3));
    let second = record(&mut memory, &lines);
    assert_eq!((second.added, second.known), (0, 4));
    assert_eq!(memory.counts(Admin).unwrap().messages, 4);
}

#[test]
fn bad_lines_are_named_and_the_rest_goes_on() {
    let (_folder, mut memory) = memory();
    let good = line("s1", "user", "2026-10-01", "Good.");
    let lines =
        format!("\u{feff}{good}not json\r\n\r\n{{\"role\":\"user\"}}\n{}", "[]\n".repeat(30));
    let report = record(&mut memory, &lines);
    assert!(report.is_partial());
    assert_eq!((report.added, report.lines), (1, 33));
    assert_eq!((report.problems.len(), report.more_problems), (20, 12));
    assert_eq!((report.problems[0].line, report.problems[1].line), (2, 4));
}

#[test]
fn every_user_has_their_own_messages() {
    let (_folder, mut memory) = memory();
    let lines = r#"{"session_id":"s","role":"user","user":"ada","text":"I like tea","timestamp":1}
{"session_id":"s","role":"user","user":"bob","text":"I like tea","timestamp":1}
{"session_id":"s","role":"user","text":"I like tea","timestamp":1}
"#;
    assert_eq!(record(&mut memory, lines).added, 3);
    for name in ["ada", "bob", "owner"] {
        let user = memory.user(name).unwrap().unwrap();
        let filter = RecentFilter { limit: 10, ..RecentFilter::default() };
        let episodes = memory.recent_episodes(Scope::of(user.number), &filter).unwrap();
        assert_eq!(episodes.len(), 1, "{name}");
    }
}

#[test]
fn more_messages_than_one_transaction_holds_keep_their_order() {
    let (_folder, mut memory) = memory();
    let lines: String = (0..1203)
        .map(|n| line("long", "user", "2026-10-01", &format!("Message number {n}.")))
        .collect();
    assert_eq!(record(&mut memory, &lines).added, 1203);
    let filter = RecentFilter { limit: 2000, ..RecentFilter::default() };
    let mut episodes = memory.recent_episodes(owner(), &filter).unwrap();
    episodes.sort_by_key(|episode| episode.first_place);
    let texts: Vec<String> = episodes
        .iter()
        .flat_map(|episode| memory.messages_of(owner(), episode).unwrap())
        .map(|message| message.text)
        .collect();
    let wanted: Vec<String> = (0..1203).map(|n| format!("Message number {n}.")).collect();
    assert_eq!(texts, wanted);
}
