//! Files that are missing, damaged or in use: nothing is made, replaced or changed by accident.

use std::io::Write as _;
use std::time::Duration;

use hermes_store::sessions::{
    self, Depth, NewMessage, NewSession, SessionFilter, SessionId, SessionStore, Window,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use hermes_store::{Error, ErrorKind, sqlite};

use crate::layouts::{v22, v30};
use crate::sql::run_on;
use crate::support::{Place, assert_whole, converse, minute};

fn open_fails(place: &Place) -> Error {
    let read = SessionStore::open(&place.path(), Access::Read, DEFAULT_WAIT).unwrap_err();
    let write = SessionStore::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap_err();
    assert_eq!(read.kind(), write.kind());
    read
}

#[test]
fn a_missing_file_is_not_made() {
    let place = Place::empty();
    assert_eq!(open_fails(&place).kind(), ErrorKind::Missing);
    assert!(place.file_names().is_empty());
}

#[test]
fn a_file_in_the_way_is_not_replaced() {
    let place = Place::empty();
    std::fs::File::create(place.path()).unwrap();
    let refused = SessionStore::create(&place.path()).unwrap_err();
    assert!(matches!(refused, Error::Exists { .. }));
    assert_eq!(place.bytes(), b"");
    assert_eq!(place.file_names(), ["state.db"]);
}

#[test]
fn a_new_database_is_not_made_beside_the_log_of_another() {
    let place = Place::ours();
    let mut writer = place.write();
    converse(&mut writer, 1, 0, &["only in the log"]);
    for suffix in ["-wal", "-journal"] {
        let left = Place::empty();
        std::fs::copy(place.beside("-wal"), left.beside(suffix)).unwrap();
        let refused = SessionStore::create(&left.path()).unwrap_err();
        assert!(matches!(&refused, Error::LeftOverLog { log, .. } if *log == left.beside(suffix)));
        assert_eq!(refused.kind(), ErrorKind::Refused);
        assert!(refused.hint().unwrap().contains("move it away"));
        assert_eq!(left.file_names(), [format!("state.db{suffix}")]);
        std::fs::File::create(left.beside(suffix)).unwrap();
        SessionStore::create(&left.path()).unwrap();
        converse(&mut left.write(), 1, 0, &["fresh"]);
        assert_whole(&left.path());
    }
}

/// Copies the log of one database beside another, as if that one had been put in its place afterwards.
fn replaced(by: &Place, log_of: &Place) -> Place {
    let place = Place::empty();
    std::fs::copy(log_of.beside("-wal"), place.beside("-wal")).unwrap();
    std::fs::copy(by.path(), place.path()).unwrap();
    place
}

#[test]
fn a_log_that_was_written_for_another_database_is_refused_and_nothing_is_changed() {
    // Long enough that the file grows with each, which its first page says.
    let long = "a word ".repeat(2000);
    let long = long.as_str();
    let ours = Place::ours();
    for number in 1..=20 {
        converse(&mut ours.write(), number, 0, &[long, "and answered"]);
    }
    let early = Place::empty();
    std::fs::copy(ours.path(), early.path()).unwrap();
    for number in 21..=40 {
        converse(&mut ours.write(), number, 0, &[long, "and answered"]);
    }
    // A stranger's, one of other pages, and one of the same file long after.
    let other = Place::ours();
    let mut others_writer = other.write();
    converse(&mut others_writer, 1, 0, &[long]);
    let large =
        Place::foreign("pragma page_size = 16384; pragma journal_mode = wal; create table t (a);");
    let large_writer = sqlite::open(&large.path(), Access::Write, DEFAULT_WAIT).unwrap();
    large_writer.execute_batch("insert into t values (1)").unwrap();
    let mut writer = ours.write();
    converse(&mut writer, 41, 0, &[long]);
    for place in [replaced(&ours, &other), replaced(&ours, &large), replaced(&early, &ours)] {
        let before = (place.bytes(), place.log_bytes());
        let refused = open_fails(&place);
        assert!(matches!(&refused, Error::ForeignLog { log, .. } if *log == place.beside("-wal")));
        assert_eq!(refused.kind(), ErrorKind::Refused);
        assert_eq!((place.bytes(), place.log_bytes()), before);
        std::fs::remove_file(place.beside("-wal")).unwrap();
        assert!(place.read().stats().unwrap().messages >= 40);
    }
}

#[test]
fn a_log_of_its_own_is_taken_in_whenever_its_file_was_copied() {
    let ours = Place::ours();
    let mut writer = ours.write();
    for number in 1..=20 {
        converse(&mut writer, number, 0, &["said here", "and answered"]);
    }
    let late = replaced(&ours, &ours);
    assert_eq!(late.read().stats().unwrap().messages, 40);
    assert_eq!(late.write().stats().unwrap().messages, 40);
    assert_whole(&late.path());
    // A log of which a part was taken in already.
    let state = sqlite::open(&ours.path(), Access::Write, DEFAULT_WAIT).unwrap();
    state.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())).unwrap();
    converse(&mut writer, 21, 0, &["said after"]);
    let late = replaced(&ours, &ours);
    assert_eq!(late.read().stats().unwrap().messages, 41);
    assert_whole(&late.path());
}

#[test]
fn damaged_files_are_named_and_left_alone() {
    let whole = Place::ours();
    converse(&mut whole.write(), 1, 0, &["hello", "there"]);
    let bytes = whole.bytes();
    let zeroed = vec![0; bytes.len()];
    let cases: [(&[u8], &str); 5] = [
        (b"", "empty"),
        (&zeroed, "not a SQLite database"),
        (b"not a database at all, but long enough to have a header of its own, which a database needs", "not a SQLite database"),
        (&bytes[..bytes.len() / 2], "damaged"),
        (&bytes[..bytes.len() - 100], "truncated"),
    ];
    for (content, why) in cases {
        let place = Place::empty();
        std::io::Write::write_all(&mut std::fs::File::create(place.path()).unwrap(), content)
            .unwrap();
        let refused = open_fails(&place);
        assert_eq!(refused.kind(), ErrorKind::Damaged, "{refused}");
        assert!(refused.to_string().contains(why), "{refused} lacks {why}");
        assert_eq!(place.bytes(), content);
        assert_eq!(place.file_names(), ["state.db"]);
    }
}

#[test]
fn reading_changes_no_byte_and_leaves_no_file() {
    let ours = Place::ours();
    converse(&mut ours.write(), 1, 0, &["hello", "there"]);
    for place in [ours, v22(), v30()] {
        let before = place.bytes();
        let store = place.read();
        for session in store.list(&SessionFilter::default()).unwrap() {
            store.messages(&session.id, Window::All).unwrap();
            store.export_session(&session.id, &mut Vec::new()).unwrap();
        }
        store.stats().unwrap();
        drop(store);
        assert_eq!(place.bytes(), before);
        assert_eq!(place.file_names(), ["state.db"]);
    }
}

#[test]
fn a_log_left_by_a_crash_is_read_and_not_folded_in() {
    let place = Place::ours();
    let mut writer = place.write();
    let id = converse(&mut writer, 1, 0, &["written but not folded in"]);
    let crashed = place.crashed();
    drop(writer);
    let before = crashed.bytes();
    assert_eq!(crashed.read().messages(&id, Window::All).unwrap().len(), 1);
    assert_eq!(crashed.bytes(), before);
    drop(crashed.write());
    assert_eq!(crashed.file_names(), ["state.db"]);
    assert_eq!(crashed.read().messages(&id, Window::All).unwrap().len(), 1);
}

#[test]
fn a_reader_cannot_write() {
    let place = Place::ours();
    let refused = place.read().rename(&converse(&mut place.write(), 1, 0, &["x"]), Some("t"));
    assert!(matches!(refused.unwrap_err(), Error::OpenedForReading { .. }));
}

#[test]
fn a_lock_held_too_long_is_said_to_be_one() {
    let place = Place::ours();
    let holder = sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap();
    holder.execute_batch("begin immediate").unwrap();
    let mut store =
        SessionStore::open(&place.path(), Access::Write, Duration::from_millis(1)).unwrap();
    let refused = store.create_session(&crate::support::new_session(1, minute(0))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked, "{refused}");
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let place = Place::ours();
    let first = converse(&mut place.write(), 1, 0, &[]);
    let second = converse(&mut place.write(), 2, 0, &[]);
    std::thread::scope(|scope| {
        for id in [&first, &second] {
            let mut store = place.write();
            scope.spawn(move || {
                for n in 0..200 {
                    let text = format!("message {n}");
                    let message =
                        hermes_store::sessions::NewMessage::text("user", &text, minute(n));
                    store.append(id, &[message]).unwrap();
                }
            });
        }
    });
    let store = place.read();
    for id in [&first, &second] {
        assert_eq!(store.messages(id, Window::All).unwrap().len(), 200);
        assert_eq!(store.session(id).unwrap().message_count, 200);
    }
    drop(store);
    assert_whole(&place.path());
}

#[test]
fn a_new_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::ours();
    assert_eq!(place.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place.file_names(), ["state.db"]);
    assert_eq!(run_on(&place.path(), "pragma journal_mode;"), "wal");
}

#[test]
fn transcripts_that_a_later_version_upgrades_while_they_are_open_are_written_no_more() {
    let place = Place::ours();
    let mut store = place.write();
    let id = converse(&mut store, 1, 0, &["hello"]);
    run_on(&place.path(), "pragma user_version = 99");
    let bytes = || [place.bytes(), std::fs::read(place.beside("-wal")).unwrap()];
    let before = bytes();
    let message = NewMessage::text("user", "nobody keeps this", minute(1));
    let refused = store.append(&id, &[message]).unwrap_err();
    assert!(matches!(refused, Error::NewerSchema { found: 99, .. }), "{refused}");
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(bytes() == before, "something was written");
}

#[test]
fn damaged_transcripts_of_a_later_version_are_not_made_anew_by_this_one() {
    let place = Place::ours();
    let texts: Vec<String> =
        (0..200).map(|number| format!("{number} {}", "x".repeat(200))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    converse(&mut place.write(), 1, 0, &texts);
    run_on(&place.path(), "pragma user_version = 99");
    let mut bytes = place.bytes();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xaa);
    std::fs::File::create(place.path()).unwrap().write_all(&bytes).unwrap();
    for refused in [
        sessions::check(&place.path(), Depth::Full, DEFAULT_WAIT).map(drop),
        sessions::repair(&place.path(), minute(9), DEFAULT_WAIT).map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::NewerSchema { found: 99, .. }), "{refused}");
    }
    assert!(place.bytes() == bytes, "something was written");
    assert_eq!(place.file_names(), ["state.db"]);
}

#[test]
fn nothing_is_written_to_a_file_that_was_replaced_or_removed() {
    let stranger = Place::ours();
    let bytes = stranger.bytes();
    for is_replaced in [false, true] {
        let place = Place::ours();
        let mut store = place.write();
        converse(&mut store, 1, 0, &["before"]);
        std::fs::rename(place.path(), place.beside(".old")).unwrap();
        if is_replaced {
            std::fs::copy(stranger.path(), place.path()).unwrap();
        }
        let session = NewSession::plain(SessionId::from("s2".to_owned()), minute(5), "test");
        let refused = store.create_session(&session).unwrap_err();
        assert!(matches!(refused, Error::Replaced { .. }), "{refused}");
        let import = store.import(&mut "{}\n".as_bytes(), minute(5)).unwrap_err();
        assert!(matches!(import, Error::Replaced { .. }), "{import}");
        drop(store);
        assert_eq!(place.path().exists(), is_replaced);
        if is_replaced {
            assert_eq!(place.bytes(), bytes);
        }
    }
}
