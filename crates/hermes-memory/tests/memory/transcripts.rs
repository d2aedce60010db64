//! Transcripts that are replaced, copied, repaired or shared: every message is in the memory, and once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_memory::catch_up::{self, Report};
use hermes_memory::chunk::Vectors;
use hermes_memory::record::turn::{
    self, Caller, Places, RecordedTurn, Settings, Turn, TurnMessage,
};
use hermes_store::memory::{
    Admin, Change, Choice, Depth, ItemKind, Memory, RecentFilter, UserNumber,
};
use hermes_store::sessions::{SessionStore, repair};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{change, memory, now, owner};

const WAIT: Duration = Duration::from_secs(5);

/// A home with a transcript and a memory, which may be those of several homes.
struct Place {
    folder: TempDir,
    time: Timestamp,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap(), time: now() };
        SessionStore::create(&place.state_db()).unwrap();
        place
    }

    fn state_db(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    fn open(&self) -> SessionStore {
        SessionStore::open(&self.state_db(), Access::Write, WAIT).unwrap()
    }

    fn with_settings<T>(&mut self, deed: impl FnOnce(&Settings<'_>) -> T) -> T {
        self.time += SignedDuration::from_secs(7);
        let note = self.folder.path().join("transcript.json");
        deed(&Settings {
            zone: &TimeZone::UTC,
            now: self.time,
            vectors: Vectors::Now,
            secrets: hermes_home::redaction::Policy::Redact,
            random: [1, 2, 3],
            transcript_note: &note,
        })
    }

    /// Records a turn in the session `main`.
    fn say(&mut self, memory: &mut Memory, text: &str) -> RecordedTurn {
        let mut sessions = self.open();
        let turn = turn_of(text);
        self.with_settings(|settings| {
            let places = Places { sessions: Some(&mut sessions), store: memory };
            turn::turn(places, &turn, settings).unwrap()
        })
    }

    /// Records a turn in the transcript alone, as a program does that dies then.
    fn say_half(&mut self, text: &str) {
        let mut sessions = self.open();
        self.with_settings(|settings| {
            turn::keep(Some(&mut sessions), &turn_of(text), settings).unwrap();
        });
    }

    fn catch_up(&mut self, memory: &mut Memory) -> Report {
        let mut sessions = self.open();
        let spool = self.folder.path().join("spool");
        self.with_settings(|settings| {
            catch_up::catch_up(Some(&mut sessions), memory, &spool, settings).unwrap()
        })
    }

    /// The file as it is now, without anything beside it.
    fn copy_to(&self, path: &Path) {
        let _ = fs::remove_file(path);
        raw(self.state_db()).execute("vacuum into ?1", [path.to_str().unwrap()]).unwrap();
    }

    fn replace_by(&self, path: &Path) {
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", self.state_db().display()));
        }
        fs::copy(path, self.state_db()).unwrap();
    }
}

/// A database as another program opens it.
#[expect(clippy::disallowed_methods, reason = "another program opens it")]
fn raw(path: PathBuf) -> Connection {
    Connection::open(path).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a disk does not write whole files")]
fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

fn turn_of(text: &str) -> Turn {
    Turn {
        session_id: Some("main".to_owned()),
        channel: "cli".to_owned(),
        identity: None,
        user: None,
        agent: None,
        project: None,
        messages: vec![
            TurnMessage::text("user", text),
            TurnMessage::text("assistant", &format!("Noted: {text}")),
        ],
        from: Caller::OurOwn,
        ended: false,
    }
}

/// What the user said, oldest first.
fn said(memory: &Memory) -> Vec<String> {
    let filter = RecentFilter { limit: 1000, ..RecentFilter::default() };
    let mut episodes = memory.recent_episodes(owner(), &filter).unwrap();
    episodes.sort_by_key(|episode| episode.id);
    let messages = episodes.iter().flat_map(|one| memory.messages_of(owner(), one).unwrap());
    messages.filter(|message| message.role == "user").map(|message| message.text).collect()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

#[test]
fn homes_that_share_a_memory_and_a_name_for_their_session_lose_nothing() {
    let (_folder, mut memory) = memory();
    let mut homes = [Place::new(), Place::new(), Place::new()];
    for round in 0..10 {
        for (number, home) in homes.iter_mut().enumerate() {
            let told = home.say(&mut memory, &format!("home {number}, turn {round}"));
            assert_eq!((told.recorded.added, told.recorded.known), (2, 0));
        }
        // Turns whose second half is left to catching up.
        for (number, home) in homes.iter_mut().enumerate() {
            home.say_half(&format!("home {number}, half {round}"));
        }
        for home in &mut homes {
            let report = home.catch_up(&mut memory);
            assert_eq!((report.added, report.problems.len()), (2, 0), "{report:?}");
        }
    }
    assert_eq!(said(&memory).len(), 60);
    for home in &mut homes {
        assert_eq!(home.catch_up(&mut memory).added, 0);
    }
}

#[test]
fn a_new_transcript_in_the_place_of_a_lost_one_is_taken_in() {
    let (_folder, mut memory) = memory();
    let mut home = Place::new();
    for number in 0..4 {
        home.say(&mut memory, &format!("before {number}"));
    }
    home.catch_up(&mut memory);
    fs::remove_file(home.state_db()).unwrap();
    SessionStore::create(&home.state_db()).unwrap();
    for number in 0..2 {
        let told = home.say(&mut memory, &format!("after {number}"));
        assert_eq!(told.recorded.added, 2);
        home.say_half(&format!("half {number}"));
    }
    home.catch_up(&mut memory);
    assert_eq!(said(&memory).len(), 8);
}

#[test]
fn an_older_copy_goes_on_under_numbers_that_were_used() {
    let (folder, mut memory) = memory();
    let mut home = Place::new();
    let copy = folder.path().join("copy.db");
    for number in 0..2 {
        home.say(&mut memory, &format!("before {number}"));
    }
    home.copy_to(&copy);
    for number in 0..2 {
        home.say(&mut memory, &format!("lost from the transcript {number}"));
    }
    home.catch_up(&mut memory);
    home.replace_by(&copy);
    for number in 0..2 {
        let told = home.say(&mut memory, &format!("after {number}"));
        assert_eq!((told.recorded.added, told.recorded.known), (2, 0));
    }
    home.say_half("half");
    assert_eq!(home.catch_up(&mut memory).added, 2);
    assert_eq!(said(&memory).len(), 7, "{:?}", said(&memory));
    // Two homes that were one: each goes on by itself, though both say the same under the same number.
    let mut twin = Place::new();
    home.copy_to(&copy);
    twin.replace_by(&copy);
    twin.time = home.time;
    home.say(&mut memory, "ok");
    assert_eq!(twin.say(&mut memory, "ok").recorded.added, 2);
    assert_eq!((home.catch_up(&mut memory).added, twin.catch_up(&mut memory).added), (0, 0));
    assert_eq!(said(&memory).len(), 9);
}

#[test]
fn a_repair_that_lost_messages_lets_others_take_their_numbers() {
    let (_folder, mut memory) = memory();
    let mut home = Place::new();
    for number in 0..40 {
        home.say(&mut memory, &format!("message {number} {}", "filler ".repeat(80)));
    }
    home.catch_up(&mut memory);
    raw(home.state_db()).query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
    let mut bytes = fs::read(home.state_db()).unwrap();
    let length = bytes.len();
    bytes[length / 2..length / 2 + 4096 * 4].fill(0xaa);
    put(&home.state_db(), &bytes);
    let mended = repair(&home.state_db(), home.time, WAIT).unwrap();
    assert!(mended.salvaged.is_some_and(|saved| saved.messages_lost > 0), "{mended:?}");
    for number in 0..4 {
        let told = home.say(&mut memory, &format!("after {number}"));
        assert_eq!((told.recorded.added, told.recorded.known), (2, 0), "{number}");
    }
    home.catch_up(&mut memory);
    assert_eq!(said(&memory).len(), 44);
}

/// The memory as a program left it that knew messages by their numbers alone.
fn as_before(folder: &Path, ids: &[(i64, i64)]) {
    let raw = raw(folder.join("memory.db"));
    raw.execute("delete from taken", []).unwrap();
    raw.execute("delete from origin where kind = 0", []).unwrap();
    for (number, item) in ids {
        let mut digest = <sha2::Sha256 as sha2::Digest>::new();
        sha2::Digest::update(&mut digest, UserNumber::OWNER.get().to_le_bytes());
        for part in ["state.db", "main", &number.to_string()] {
            sha2::Digest::update(&mut digest, (part.len() as u64).to_le_bytes());
            sha2::Digest::update(&mut digest, part);
        }
        let hash: [u8; 32] = sha2::Digest::finalize(digest).into();
        let add = "insert into origin (key, kind, item, hash) values (?1, 0, ?2, null)";
        raw.execute(add, (&hash[..16], item)).unwrap();
    }
}

/// The messages of the memory in their order, with the numbers they have there.
fn items(folder: &Path) -> Vec<i64> {
    let raw = raw(folder.join("memory.db"));
    let mut all = raw.prepare("select id from message order by id").unwrap();
    all.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn an_existing_memory_gets_what_it_lacks_and_nothing_twice() {
    let (folder, mut memory) = memory();
    let (mut first, mut second) = (Place::new(), Place::new());
    for number in 0..3 {
        first.say(&mut memory, &format!("first {number}"));
    }
    let kept = items(folder.path());
    // The other home said something under the same numbers, and was told that it was known.
    for number in 0..3 {
        second.say_half(&format!("second {number}"));
    }
    let numbered: Vec<(i64, i64)> = (1..).zip(kept).collect();
    as_before(folder.path(), &numbered);
    assert_eq!(first.catch_up(&mut memory).added, 0);
    assert_eq!(second.catch_up(&mut memory).added, 6);
    assert_eq!((first.catch_up(&mut memory).added, second.catch_up(&mut memory).added), (0, 0));
    let mut expected: Vec<String> = (0..3).map(|n| format!("first {n}")).collect();
    expected.extend((0..3).map(|n| format!("second {n}")));
    assert_eq!(sorted(said(&memory)), expected);
}

#[test]
fn what_was_forgotten_under_its_number_alone_stays_forgotten() {
    let (folder, mut memory) = memory();
    let mut home = Place::new();
    home.say(&mut memory, "my secret is mauve");
    let kept = items(folder.path());
    as_before(folder.path(), &[(1, kept[0]), (2, kept[1])]);
    let change = Change { at: home.time + SignedDuration::from_secs(1), ..change() };
    let all = Choice::Kind(UserNumber::OWNER, ItemKind::Message);
    assert_eq!(memory.forget(Admin, &all, Depth::Erase, change).unwrap().messages, 2);
    assert_eq!(home.catch_up(&mut memory).added, 0);
    assert!(said(&memory).is_empty());
}

#[test]
fn a_database_of_another_program_is_known_again_by_its_messages() {
    let (folder, mut memory) = memory();
    let mut home = Place::new();
    let strip = |home: &Place| {
        let raw = raw(home.state_db());
        raw.execute_batch("drop table if exists database_identity; drop view message_text")
            .unwrap();
    };
    for number in 0..3 {
        home.say_half(&format!("theirs {number}"));
    }
    strip(&home);
    assert_eq!(home.catch_up(&mut memory).added, 6);
    let note = fs::read_to_string(home.folder.path().join("transcript.json")).unwrap();
    assert_eq!(home.catch_up(&mut memory).added, 0);
    // The other program prunes its oldest messages: it is the same database still.
    let raw = raw(home.state_db());
    raw.execute_batch("pragma recursive_triggers = off; delete from messages where id <= 2")
        .unwrap();
    drop(raw);
    assert_eq!(home.catch_up(&mut memory).added, 0);
    let id = |text: &str| text.split('"').nth(3).map(str::to_owned);
    let now = fs::read_to_string(home.folder.path().join("transcript.json")).unwrap();
    assert_eq!(id(&now), id(&note));
    // Another database in its place has other messages of the same numbers.
    let mut other = Place::new();
    for number in 0..3 {
        other.say_half(&format!("others {number}"));
    }
    strip(&other);
    let copy = folder.path().join("copy.db");
    other.copy_to(&copy);
    home.replace_by(&copy);
    assert_eq!(home.catch_up(&mut memory).added, 6);
    assert_eq!(said(&memory).len(), 6);
}
