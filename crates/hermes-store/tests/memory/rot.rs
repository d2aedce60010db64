//! Bytes that change by themselves and changes that go missing: both are noticed, and rows come back from a copy.

use std::path::Path;

use hermes_store::memory::{Admin, Memory, compare_memory};
use hermes_store::rot::{Compared, HighWater, Which};
use hermes_store::snapshot;
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};

use crate::support::{Place, alice, at, by, chunk, event, fact, message, procedure, small_model};

/// The size of a frame's head, and of the head of a log.
const FRAME_HEAD: usize = 24;
const LOG_HEAD: usize = 32;
const PAGE: usize = 8192;

/// What was said, and the bytes of each vector.
struct Said {
    texts: Vec<String>,
    vectors: Vec<Vec<u8>>,
}

/// A memory with messages that have vectors, facts, procedures and events, folded into one file without gaps.
fn filled(place: &Place) -> Said {
    let mut memory = place.write();
    let model = memory.add_model(Admin, &small_model("m"), at(1)).unwrap();
    memory.activate_model(Admin, model.id).unwrap();
    let said = |number: usize| format!("Note {number}: the Harbour has {} Lamps!", number * 7 + 13);
    let texts: Vec<String> = (0..40).map(said).collect();
    for (number, text) in texts.iter().enumerate() {
        let turned = number as f32 / 10.0;
        let vector = vec![turned.cos(), turned.sin(), 0.3, -0.2];
        let id = number.to_string();
        let one = hermes_store::memory::NewMessage {
            chunks: vec![chunk(text, Some(vector))],
            ..message("s", &id, text)
        };
        memory.record(alice(), &[one], by("user", 2)).unwrap();
    }
    let mut texts = texts;
    for number in 0..6 {
        let words = [
            format!("Alice keeps {} Bees on the roof.", number + 2),
            format!("Measure cloth number {number} twice"),
            format!("We chose Paint number {number}, it dries"),
        ];
        memory.add_fact(alice(), &fact(&words[0]), by("user", 3)).unwrap();
        memory.add_procedure(alice(), &procedure(&words[1], &[]), by("user", 3)).unwrap();
        memory.add_event(alice(), &event(&words[2], 3), by("user", 3)).unwrap();
        texts.extend(words);
    }
    memory.vacuum(Admin, at(4)).unwrap();
    drop(memory);
    let raw = sqlite::open(&place.path(), Access::Read, DEFAULT_WAIT).unwrap();
    let mut all = raw.prepare("select v from vector").unwrap();
    let vectors = all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    Said { texts, vectors }
}

fn compared(path: &Path) -> Compared {
    compare_memory(path, DEFAULT_WAIT).unwrap()
}

/// Numbers that look like chance and are the same each time.
fn chance(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((state >> 33) as usize)
    })
}

fn places_of(bytes: &[u8], part: &[u8]) -> Vec<usize> {
    bytes.windows(part.len()).enumerate().filter(|(_, w)| *w == part).map(|(at, _)| at).collect()
}

#[expect(clippy::disallowed_methods, reason = "a test spoils a file as a disk would")]
fn spoil(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn each_flipped_bit_in_a_text_or_a_vector_is_named() {
    let place = Place::new();
    let said = filled(&place);
    let whole = std::fs::read(place.path()).unwrap();
    assert_eq!(compared(&place.path()).differing, []);
    let mut chance = chance(11);
    let mut next = |below: usize| chance.next().unwrap() % below;
    let parts: Vec<&[u8]> = said.texts.iter().map(String::as_bytes).collect();
    let vectors: Vec<&[u8]> = said.vectors.iter().map(Vec::as_slice).collect();
    for (parts, wanted) in [(parts, 60), (vectors, 60)] {
        for _ in 0..wanted {
            let part = parts[next(parts.len())];
            let (byte, bit) = (next(part.len()), next(8));
            let mut bytes = whole.clone();
            let places = places_of(&whole, part);
            assert!(!places.is_empty(), "{part:?} is not in the file");
            for place in places {
                bytes[place + byte] ^= 1 << bit;
            }
            spoil(&place.path(), &bytes);
            let found = compared(&place.path());
            let said = String::from_utf8_lossy(part);
            assert!(!found.differing.is_empty(), "byte {byte}, bit {bit} of {said:?} is not seen");
        }
    }
    spoil(&place.path(), &whole);
    assert_eq!(compared(&place.path()).differing, []);
}

#[test]
fn a_row_that_differs_is_named_with_its_session_and_time() {
    let place = Place::new();
    filled(&place);
    let raw = sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap();
    raw.execute_batch(
        "update message set text = replace(text, 'Note 3:', 'Note 4:') where text like 'Note 3:%';
         update fact set statement = 'x' where id = 2;",
    )
    .unwrap();
    drop(raw);
    let named: Vec<String> =
        compared(&place.path()).differing.iter().map(|row| row.said()).collect();
    assert_eq!(named.len(), 2);
    assert!(named[0].starts_with("message:") && named[0].contains("of session s (2025-06-15"));
    assert!(named[1].starts_with("fact:002 ("), "{}", named[1]);
}

#[test]
fn what_is_used_and_counted_hides_no_damage() {
    let place = Place::new();
    filled(&place);
    let raw = sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap();
    raw.execute_batch("update fact set statement = 'x' where id = 2").unwrap();
    drop(raw);
    let mut memory = place.write();
    memory.pin_fact(alice(), 2, true, by("user", 5)).unwrap();
    memory.retire_fact(alice(), 2, by("user", 5)).unwrap();
    drop(memory);
    assert_eq!(compared(&place.path()).differing.len(), 1);
}

#[test]
fn rows_come_back_from_a_copy_that_has_what_was_written() {
    let place = Place::new();
    filled(&place);
    let copy = place.path().with_file_name("copy.db");
    let limits = snapshot::Limits { wait: DEFAULT_WAIT, deadline: DEFAULT_WAIT };
    snapshot::take(&place.path(), &copy, limits, &mut |_, _| {}).unwrap();
    let mut memory = place.write();
    memory.edit_fact(alice(), 3, "Alice sold the bees.", &[], by("user", 6)).unwrap();
    drop(memory);
    let raw = sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap();
    raw.execute_batch(
        "update message set text = cast(x'ff00' as text) where text like 'Note 3:%';
         update fact set statement = 'x' where id in (2, 3);
         update event set sum = sum + 1 where id = 1;",
    )
    .unwrap();
    drop(raw);
    let found = compared(&place.path());
    assert_eq!(found.differing.len(), 4);
    let mut memory = place.write();
    let brought = memory.bring_back_rows(&found.differing, &copy, by("user", 7)).unwrap();
    let names = |rows: &[hermes_store::rot::DifferingRow]| -> Vec<String> {
        rows.iter().map(|row| row.name.clone()).collect()
    };
    // The third fact was worded anew since: no copy has that.
    assert_eq!(names(&brought.lost), ["fact:003"]);
    assert_eq!(brought.back.len(), 3, "{:?}", names(&brought.back));
    let left = compared(&place.path()).differing;
    assert_eq!(names(&left), ["fact:003"]);
    memory.accept_rows(&left, by("user", 8)).unwrap();
    assert_eq!(compared(&place.path()).differing, []);
    let text: String = sqlite::open(&place.path(), Access::Read, DEFAULT_WAIT)
        .unwrap()
        .query_row("select statement from fact where id = 2", [], |row| row.get(0))
        .unwrap();
    assert_eq!(text, "Alice keeps 3 Bees on the roof.");
}

#[test]
fn spoiled_codes_are_seen_and_made_anew() {
    let place = Place::new();
    filled(&place);
    assert_eq!(place.read().differing_codes().unwrap(), 0);
    let raw = sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap();
    raw.execute_batch("update vector_codes set codes = zeroblob(length(codes))").unwrap();
    drop(raw);
    let mut memory = place.write();
    assert!(memory.differing_codes().unwrap() > 0);
    memory.rebuild_segments(Admin).unwrap();
    assert_eq!(memory.differing_codes().unwrap(), 0);
}

/// The ends of all frames in a log.
fn frame_ends(log: &[u8]) -> Vec<usize> {
    (0..)
        .map(|frame| LOG_HEAD + frame * (FRAME_HEAD + PAGE))
        .take_while(|at| *at < log.len())
        .collect()
}

#[test]
fn a_log_that_is_shortened_anywhere_is_noticed() {
    let place = Place::new();
    let marks = HighWater::at(place.path().with_file_name("marks"));
    let mut memory = place.write();
    memory.keep_mark(&marks).unwrap();
    for number in 0..8 {
        let (id, text) = (number.to_string(), format!("Said for the {number}th time"));
        memory.record(alice(), &[message("s", &id, &text)], by("user", 2)).unwrap();
        memory.add_fact(alice(), &fact(&format!("Fact {number}")), by("user", 2)).unwrap();
    }
    memory.retire_fact(alice(), 3, by("user", 3)).unwrap();
    let log_path = place.path().with_file_name("memory.db-wal");
    let (main, log) = (std::fs::read(place.path()).unwrap(), std::fs::read(&log_path).unwrap());
    let ends = frame_ends(&log);
    assert!(ends.len() > 30, "{} frames", ends.len());
    for end in ends {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        spoil(&path, &main);
        spoil(&folder.path().join("memory.db-wal"), &log[..end]);
        let opened = Memory::open(place.wanted(&path), Access::Read, DEFAULT_WAIT).unwrap();
        let behind = opened.behind(&marks).unwrap();
        assert!(behind.is_some_and(|behind| behind.found < 17), "cut at {end}: {behind:?}");
    }
    assert_eq!(memory.behind(&marks).unwrap(), None);
}

#[test]
fn what_is_missing_is_said_until_it_is_accepted_whatever_is_written_meanwhile() {
    let place = Place::new();
    let marks = HighWater::at(place.path().with_file_name("marks"));
    let before = std::fs::read(place.path()).unwrap();
    let mut memory = place.write();
    memory.keep_mark(&marks).unwrap();
    memory.add_fact(alice(), &fact("Tea is hot"), by("user", 1)).unwrap();
    memory.add_fact(alice(), &fact("Ice is cold"), by("user", 1)).unwrap();
    drop(memory);
    spoil(&place.path(), &before);
    let mut memory = place.write();
    memory.keep_mark(&marks).unwrap();
    for number in 0..5 {
        memory.add_fact(alice(), &fact(&format!("Later {number}")), by("user", 2)).unwrap();
    }
    let behind = memory.behind(&marks).unwrap().unwrap();
    assert_eq!((behind.acknowledged, behind.found, behind.is_other), (2, 0, false));
    assert_eq!(behind.written_at(), Some(at(1)));
    memory.accept_as_is(&marks).unwrap();
    assert_eq!(memory.behind(&marks).unwrap(), None);
    // Another memory in its place, with as many changes.
    drop(memory);
    spoil(&place.path(), &before);
    let mut other = place.write();
    for number in 0..6 {
        other.add_fact(alice(), &fact(&format!("Other {number}")), by("user", 2)).unwrap();
    }
    assert!(other.behind(&marks).unwrap().unwrap().is_other);
    assert!(marks.noted(Which::Memory).is_none());
}
