//! Bytes that change by themselves and messages that go missing: both are noticed, and messages come back from a copy.

use std::path::Path;

use hermes_store::rot::{Compared, HighWater, Sums};
use hermes_store::sessions::{
    AppendedTurn, NewMessage, NewSession, SessionId, SessionStore, compare_sessions,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::Timestamp;

use crate::sql::run_on;
use crate::support::Place;

const FRAME_HEAD: usize = 24;
const LOG_HEAD: usize = 32;
const PAGE: usize = 4096;

fn marks(place: &Place) -> HighWater {
    HighWater::at(place.path().with_file_name("marks"))
}

fn now() -> Timestamp {
    Timestamp::from_second(1_780_000_000).unwrap()
}

fn keeping(place: &Place) -> SessionStore {
    let mut store = place.write();
    store.keep_mark(&marks(place)).unwrap();
    store
}

fn say(store: &mut SessionStore, texts: &[String]) {
    let session = NewSession::plain(SessionId::from("main".to_owned()), now(), "test");
    for text in texts {
        let message = NewMessage::text("user", text, now());
        store.append_turn(&session, &[message], AppendedTurn::default()).unwrap();
    }
}

fn texts(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("Note {number}: the Harbour has {} Lamps!", number * 7))
        .collect()
}

fn compared(place: &Place) -> Compared {
    let marks = marks(place);
    let sums = Sums::read(&marks);
    compare_sessions(&place.path(), &marks, &sums, DEFAULT_WAIT).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test spoils a file as a disk would")]
fn spoil(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

fn chance(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((state >> 33) as usize)
    })
}

#[test]
fn each_flipped_bit_in_a_message_is_named() {
    let place = Place::ours();
    let texts = texts(40);
    say(&mut keeping(&place), &texts);
    run_on(&place.path(), "vacuum");
    let whole = place.bytes();
    assert_eq!(compared(&place).differing, []);
    let mut chance = chance(5);
    let mut next = |below: usize| chance.next().unwrap() % below;
    for _ in 0..60 {
        let number = next(texts.len());
        let part = texts[number].as_bytes();
        let (byte, bit) = (next(part.len()), next(8));
        let places = whole.windows(part.len()).enumerate().filter(|(_, window)| *window == part);
        let mut bytes = whole.clone();
        let mut found = 0;
        for (place, _) in places {
            bytes[place + byte] ^= 1 << bit;
            found += 1;
        }
        assert!(found > 0);
        spoil(&place.path(), &bytes);
        let differing = compared(&place).differing;
        let named: Vec<&str> = differing.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(named, [format!("message {}", number + 1)], "byte {byte}, bit {bit}");
        assert_eq!(differing[0].session.as_deref(), Some("main"));
    }
}

#[test]
fn a_log_that_is_shortened_anywhere_is_noticed() {
    let place = Place::ours();
    let marks = marks(&place);
    let mut store = keeping(&place);
    say(&mut store, &texts(12));
    let (main, log) = (place.bytes(), place.log_bytes());
    let mut cuts = 0;
    for end in (LOG_HEAD..log.len()).step_by(FRAME_HEAD + PAGE) {
        let cut = Place::empty();
        spoil(&cut.path(), &main);
        spoil(&cut.beside("-wal"), &log[..end]);
        let behind = cut.read().behind(&marks).unwrap();
        assert!(behind.is_some_and(|behind| behind.found < 12), "cut at {end}: {behind:?}");
        cuts += 1;
    }
    assert!(cuts > 20, "{cuts} frames");
    assert_eq!(store.behind(&marks).unwrap(), None);
}

#[test]
fn messages_come_back_from_a_copy_and_are_found_again() {
    let place = Place::ours();
    let marks = marks(&place);
    let mut store = keeping(&place);
    say(&mut store, &texts(9));
    drop(store);
    let copy = Place::empty();
    spoil(&copy.path(), &place.bytes());
    run_on(
        &place.path(),
        "drop trigger messages_fts_update;
         update messages set content = 'nOte 3: rotten' where id = 4;
         delete from messages where id > 6;
         update sqlite_sequence set seq = 6 where name = 'messages';",
    );
    let found = compared(&place);
    let named: Vec<&str> = found.differing.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(named, ["message 4"]);
    let mut store = keeping(&place);
    say(&mut store, &["said after the loss".to_owned()]);
    let brought = store.bring_back_rows(&found.differing, &copy.path(), &marks).unwrap();
    assert_eq!((brought.back.len(), brought.lost.len()), (1, 0));
    // The seventh number was given out again: what had it stays in the copy.
    let added: Vec<&str> = brought.added.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(added, ["message 8", "message 9"]);
    let all = run_on(&place.path(), "select count(*), max(id) from messages");
    assert_eq!(all.trim(), "9|9");
    assert_eq!(compared(&place).differing, []);
    let report = hermes_store::sessions::check(
        &place.path(),
        hermes_store::sessions::Depth::Full,
        DEFAULT_WAIT,
    );
    assert!(report.unwrap().findings.iter().all(|finding| !finding.text.contains("malformed")));
}

#[test]
fn numbers_that_are_given_out_again_are_compared_with_what_they_are_now() {
    let place = Place::ours();
    let marks = marks(&place);
    let before = place.bytes();
    say(&mut keeping(&place), &texts(5));
    spoil(&place.path(), &before);
    let mut store = keeping(&place);
    let behind = store.behind(&marks).unwrap().unwrap();
    assert_eq!((behind.acknowledged, behind.found), (5, 0));
    drop(store);
    // Another program writes, which keeps no sums.
    run_on(
        &place.path(),
        "insert into sessions (id, source, started_at) values ('other', 'cli', 1);
         insert into messages (session_id, role, content, timestamp) values ('other', 'user', 'new', 2);",
    );
    assert_eq!(compared(&place).differing, []);
    store = SessionStore::open(&place.path(), Access::Read, DEFAULT_WAIT).unwrap();
    assert!(store.behind(&marks).unwrap().is_some(), "it is said until somebody accepts it");
    store.accept_as_is(&marks).unwrap();
    assert_eq!(store.behind(&marks).unwrap(), None);
}

#[test]
fn a_change_that_is_taken_back_leaves_no_sum() {
    let place = Place::ours();
    let mut store = keeping(&place);
    say(&mut store, &texts(2));
    let missing = SessionId::from("nobody".to_owned());
    let message = NewMessage::text("user", "to nobody", now());
    assert!(store.append(&missing, &[message]).is_err());
    let rewound = store.behind(&marks(&place)).unwrap();
    assert_eq!(rewound, None);
    let found = compared(&place);
    assert_eq!((found.rows, found.without_sum, found.differing.len()), (2, 0, 0));
}
