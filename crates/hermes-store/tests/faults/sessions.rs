//! What is done to a state.db.

use std::path::Path;

use hermes_store::Result;
use hermes_store::sessions::{self, Cure, NewMessage, NewSession, SessionId, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::content::Content;
use crate::disk::{lay_out, read_folder};
use crate::support::at;
use crate::trial::{Operation, Store, stride};
use crate::vfs::{Fault, Watched};

const DATABASE: &str = "state.db";

fn open(folder: &Path) -> Result<Store> {
    SessionStore::open(&folder.join(DATABASE), Access::Write, DEFAULT_WAIT)
        .map(|store| Store::Sessions(Box::new(store)))
}

fn opened(store: &mut Store) -> &mut SessionStore {
    match store {
        Store::Sessions(opened) => opened,
        _ => panic!("a state.db is open"),
    }
}

fn id(number: u8) -> SessionId {
    SessionId::new(at(0), [0, 0, number])
}

fn said(from: i64, count: i64) -> Vec<NewMessage> {
    let text =
        |n: i64| format!("{n} was said about the lantern in the harbour. {}", "Words. ".repeat(40));
    (from..from + count).map(|n| NewMessage::text("user", &text(n), at(n))).collect()
}

/// Three sessions with forty messages each.
fn talked(folder: &Path) {
    SessionStore::create(&folder.join(DATABASE)).unwrap();
    let mut store =
        SessionStore::open(&folder.join(DATABASE), Access::Write, DEFAULT_WAIT).unwrap();
    for number in 1..=3 {
        store.create_session(&NewSession::plain(id(number), at(0), "cli")).unwrap();
        store.append(&id(number), &said(i64::from(number) * 100, 40)).unwrap();
    }
}

fn operation(act: fn(&mut Store, &Path) -> Result<()>, steps: usize) -> Operation {
    Operation { database: DATABASE, prepare: talked, open, act, steps }
}

pub(crate) fn append() -> Operation {
    operation(|store, _| opened(store).append(&id(2), &said(500, 3)).map(drop), 1)
}

pub(crate) fn delete() -> Operation {
    operation(|store, _| opened(store).delete(&id(1)).map(drop), 1)
}

pub(crate) fn compact() -> Operation {
    operation(
        |store, _| {
            let summary = NewMessage::summary("They spoke about a lantern.", at(900));
            opened(store).compact((&id(3), 100), &summary, &mut |_| Ok(())).map(drop)
        },
        1,
    )
}

const LINES: &str = "exported.jsonl";

#[expect(clippy::disallowed_methods, reason = "a file that another program wrote")]
fn talked_elsewhere(folder: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    talked(elsewhere.path());
    let path = elsewhere.path().join(DATABASE);
    let mut store = SessionStore::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
    store.create_session(&NewSession::plain(id(9), at(700), "cli")).unwrap();
    store.append(&id(9), &said(900, 30)).unwrap();
    let mut lines = Vec::new();
    store.export_session(&id(9), &mut lines).unwrap();
    lines.push(b'\n');
    std::fs::write(folder.join(LINES), lines).unwrap();
    talked(folder);
}

pub(crate) fn import() -> Operation {
    let act = |store: &mut Store, folder: &Path| {
        let lines = std::fs::read(folder.join(LINES)).unwrap();
        opened(store).import(&mut lines.as_slice(), at(999)).map(drop)
    };
    Operation { prepare: talked_elsewhere, ..operation(act, 1) }
}

/// A state.db whose index of words lost its words.
fn without_words(folder: &Path) {
    talked(folder);
    let writer =
        hermes_store::sqlite::open(&folder.join(DATABASE), Access::Write, DEFAULT_WAIT).unwrap();
    writer.execute_batch("insert into messages_fts (messages_fts) values ('delete-all')").unwrap();
}

/// A state.db with a page of messages overwritten.
#[expect(clippy::disallowed_methods, reason = "damage is done as a disk does it")]
fn with_a_hole(folder: &Path) {
    talked(folder);
    let path = folder.join(DATABASE);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() * 2 / 3 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xaa);
    std::fs::write(path, bytes).unwrap();
}

/// Every message that can be read.
fn messages(folder: &Path) -> Vec<String> {
    let reader =
        hermes_store::sqlite::open(&folder.join(DATABASE), Access::Read, DEFAULT_WAIT).unwrap();
    let mut statement =
        reader.prepare("select id || ' ' || content from messages order by id").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map_while(std::result::Result::ok).collect()
}

fn repair(folder: &Path) -> Result<Cure> {
    sessions::repair(&folder.join(DATABASE), at(999), DEFAULT_WAIT).map(|report| report.cure)
}

/// Errors at every call of a repair: what could be read is there, and the next repair makes it whole.
#[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
fn repair_survives_errors(prepare: fn(&Path), wanted: Cure) {
    let disk = Watched::alone();
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let damaged = read_folder(folder.path());
    disk.watch(folder.path(), None);
    assert_eq!(repair(folder.path()).unwrap(), wanted);
    let (calls, _) = disk.pass();
    let readable = messages(folder.path());
    assert!(readable.len() > 100, "{}", readable.len());
    let mut refused = 0;
    for fault in Fault::ALL {
        for call in (1..=calls).step_by(usize::try_from(stride(calls)).unwrap()) {
            lay_out(&damaged, folder.path());
            disk.watch(folder.path(), Some((call, fault)));
            let answer = repair(folder.path());
            disk.pass();
            refused += u32::from(answer.is_err());
            let what = format!("{fault:?} at call {call} of {calls}: {answer:?}");
            if answer.is_ok() {
                Content::of(&folder.path().join(DATABASE), &what);
            }
            repair(folder.path()).unwrap_or_else(|why| panic!("{what}, then {why}"));
            Content::of(&folder.path().join(DATABASE), &what);
            assert_eq!(messages(folder.path()), readable, "{what}");
        }
    }
    eprintln!(
        "{} faults in {calls} calls, {refused} answered as an error",
        calls / stride(calls) * 4
    );
    assert!(refused > 0);
}

#[test]
fn a_repair_of_the_index_that_fails_anywhere_loses_no_message() {
    repair_survives_errors(without_words, Cure::RebuildFullText);
}

#[test]
fn a_repair_by_salvage_that_fails_anywhere_loses_nothing_that_can_be_read() {
    repair_survives_errors(with_a_hole, Cure::Salvage);
}
