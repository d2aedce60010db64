//! A turn between its two halves: whoever is killed there, each half is done once, and for the right user.

use std::path::Path;
use std::time::Duration;

use hermes_memory::catch_up::{self, Report};
use hermes_memory::chunk::Vectors;
use hermes_memory::record::spool;
use hermes_memory::record::turn::{
    self, Caller, Identity, Places, Settings, Turn, TurnMessage, needs_note,
};
use hermes_store::memory::{Chat, Memory, RecentFilter, Scope};
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;

use crate::support::{memory, now};

fn settings(zone: &TimeZone) -> Settings<'_> {
    Settings {
        zone,
        now: now(),
        vectors: Vectors::Now,
        secrets: hermes_home::redaction::Policy::Redact,
        random: [1, 2, 3],
        transcript_note: Path::new("not there"),
    }
}

fn sessions(folder: &Path) -> SessionStore {
    let path = folder.join("state.db");
    SessionStore::create(&path).unwrap();
    SessionStore::open(&path, Access::Write, Duration::from_secs(5)).unwrap()
}

fn by(native_id: &str, text: &str) -> Turn {
    let name = native_id.to_owned();
    Turn {
        session_id: Some("shared".to_owned()),
        channel: "telegram".to_owned(),
        identity: Some(Identity { native_id: name, chat: Chat::Direct, name: None }),
        user: None,
        agent: None,
        project: None,
        messages: vec![TurnMessage::text("user", text)],
        from: Caller::OurOwn,
        ended: false,
    }
}

fn said(memory: &Memory, user: &str) -> Vec<String> {
    let Some(user) = memory.user(user).unwrap() else { return Vec::new() };
    let scope = Scope::of(user.number);
    let filter = RecentFilter { limit: 100, ..RecentFilter::default() };
    let mut texts = Vec::new();
    for episode in memory.recent_episodes(scope, &filter).unwrap() {
        texts.extend(
            memory.messages_of(scope, &episode).unwrap().into_iter().map(|message| message.text),
        );
    }
    texts
}

fn caught_up(sessions: &mut SessionStore, memory: &mut Memory, spool: &Path) -> Report {
    catch_up::catch_up(Some(sessions), memory, spool, &settings(&TimeZone::UTC)).unwrap()
}

#[test]
fn the_second_user_of_a_session_keeps_their_words_when_the_program_dies_between_the_halves() {
    let (folder, mut memory) = memory();
    let mut sessions = sessions(folder.path());
    let spool = folder.path().join("spool");
    let zone = TimeZone::UTC;
    let settings = settings(&zone);
    let first = by("1", "I am the first.");
    assert!(!needs_note(&sessions, &first).unwrap(), "a new session tells whose it is");
    let places = Places { sessions: Some(&mut sessions), store: &mut memory };
    turn::turn(places, &first, &settings).unwrap();
    assert!(!needs_note(&sessions, &by("1", "again")).unwrap());
    let second = by("2", "I am the second.");
    assert!(needs_note(&sessions, &second).unwrap());
    let note = spool::put(&spool, &second, &settings).unwrap();
    turn::keep(Some(&mut sessions), &note.turn, &settings).unwrap();
    // Here it dies; catching up finds the note.
    let report = caught_up(&mut sessions, &mut memory, &spool);
    assert_eq!((report.spool.turns, report.problems.len()), (1, 0), "{report:?}");
    assert_eq!(said(&memory, "telegram-1"), ["I am the first."]);
    assert_eq!(said(&memory, "telegram-2"), ["I am the second."]);
    assert_eq!(sessions.stats().unwrap().messages, 2);
    note.done().unwrap();
    assert!(caught_up(&mut sessions, &mut memory, &spool).spool.turns == 0);
    assert_eq!(said(&memory, "telegram-2").len(), 1);
}

#[test]
fn what_the_first_user_said_before_the_second_came_is_theirs_although_the_program_died() {
    let (folder, mut memory) = memory();
    let mut sessions = sessions(folder.path());
    let spool = folder.path().join("spool");
    let zone = TimeZone::UTC;
    let settings = settings(&zone);
    let turn = by("1", "I am the first.");
    let places = Places { sessions: Some(&mut sessions), store: &mut memory };
    turn::turn(places, &turn, &settings).unwrap();
    // It dies between the halves, and the second user comes before anybody catches up.
    turn::keep(Some(&mut sessions), &by("1", "I go on."), &settings).unwrap();
    let note = spool::put(&spool, &by("2", "I am the second."), &settings).unwrap();
    let kept = turn::keep(Some(&mut sessions), &note.turn, &settings).unwrap();
    turn::remember(&mut memory, &note.turn, &kept, &settings).unwrap();
    note.done().unwrap();
    assert!(needs_note(&sessions, &by("1", "I go on.")).unwrap(), "from now on all are noted");
    let report = caught_up(&mut sessions, &mut memory, &spool);
    assert!(report.problems.is_empty(), "{report:?}");
    let mut first = said(&memory, "telegram-1");
    first.sort();
    assert_eq!(first, ["I am the first.", "I go on."]);
    assert_eq!(said(&memory, "telegram-2"), ["I am the second."]);
}

#[test]
fn words_whose_note_still_waits_are_not_taken_in_from_the_transcript() {
    let (folder, mut memory) = memory();
    let mut sessions = sessions(folder.path());
    let spool = folder.path().join("spool");
    let zone = TimeZone::UTC;
    let settings = settings(&zone);
    let places = Places { sessions: Some(&mut sessions), store: &mut memory };
    turn::turn(places, &by("1", "I am the first."), &settings).unwrap();
    let note = spool::put(&spool, &by("2", "I am the second."), &settings).unwrap();
    turn::keep(Some(&mut sessions), &note.turn, &settings).unwrap();
    // Somebody else drains in this moment, so that the file stays.
    let held = hermes_home::lock::hold(&spool.join("drain")).unwrap();
    let report = caught_up(&mut sessions, &mut memory, &spool);
    assert!(report.spool.busy && report.added == 0, "{report:?}");
    assert_eq!(said(&memory, "telegram-1"), ["I am the first."]);
    drop(held);
    caught_up(&mut sessions, &mut memory, &spool);
    assert_eq!(said(&memory, "telegram-1"), ["I am the first."]);
    assert_eq!(said(&memory, "telegram-2"), ["I am the second."]);
}

#[test]
fn a_turn_that_waited_is_in_the_transcript_and_in_the_memory_once_wherever_draining_ends() {
    for done in 0..3 {
        let (folder, mut memory) = memory();
        let mut sessions = sessions(folder.path());
        let spool = folder.path().join("spool");
        let zone = TimeZone::UTC;
        let settings = settings(&zone);
        let mut turn = by("1", "Where is the ferry?");
        turn.messages.push(TurnMessage::text("assistant", "Where is the ferry?"));
        turn.messages.push(TurnMessage::text("assistant", "Where is the ferry?"));
        let note = spool::put(&spool, &turn, &settings).unwrap();
        if done > 0 {
            let kept = turn::keep(Some(&mut sessions), &note.turn, &settings).unwrap();
            assert_eq!(kept.messages, [1, 2, 3]);
            if done > 1 {
                turn::remember(&mut memory, &note.turn, &kept, &settings).unwrap();
            }
        }
        let report = caught_up(&mut sessions, &mut memory, &spool);
        assert_eq!(report.spool.files, 1);
        assert_eq!(sessions.stats().unwrap().messages, 3, "done {done}");
        assert_eq!(said(&memory, "telegram-1").len(), 3, "done {done}");
        assert_eq!(caught_up(&mut sessions, &mut memory, &spool).added, 0);
    }
}

#[test]
fn who_is_named_is_told_by_the_transcript_wherever_they_speak() {
    let (folder, _memory) = memory();
    let sessions = sessions(folder.path());
    let named = |channel: &str| Turn {
        user: Some("ana".to_owned()),
        identity: None,
        channel: channel.to_owned(),
        ..by("1", "hello")
    };
    assert!(!needs_note(&sessions, &named("cli")).unwrap());
    assert!(!needs_note(&sessions, &named("telegram")).unwrap());
    let other = Turn { from: Caller::Other("agent".to_owned()), ..named("telegram") };
    assert!(!needs_note(&sessions, &other).unwrap());
}
