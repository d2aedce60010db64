//! What a person had forgotten since the backup stays forgotten.

use hermes_store::memory::{
    Added, Change, Facts, NewChunk, NewFact, Origin, Scope, SqliteMemory, Trust, UserNumber, Wanted,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::sandbox::{Sandbox, now};

fn by_the_user() -> Change<'static> {
    Change { actor: "user", at: now() }
}

fn open(sandbox: &Sandbox) -> SqliteMemory {
    let path = sandbox.root().join("memory.db");
    let wanted = Wanted { path: &path, profile: "default" };
    if !path.exists() {
        SqliteMemory::create(wanted, "mira", by_the_user()).unwrap();
    }
    SqliteMemory::open(wanted, Access::Write, DEFAULT_WAIT).unwrap()
}

fn add(memory: &mut SqliteMemory, statement: &str) -> i64 {
    let new = NewFact {
        statement,
        kind: "fact",
        subject: None,
        predicate: None,
        object: None,
        confidence: 0.9,
        origin: Origin::User,
        trust: Trust::User,
        valid_from: None,
        valid_to: None,
        shared: false,
        entities: &[],
        sources: &[],
        chunks: Vec::<NewChunk>::new(),
    };
    match memory.add_fact(owner(), &new, by_the_user()).unwrap() {
        Added::New(id) => id,
        other => panic!("{other:?}"),
    }
}

fn owner() -> Scope {
    Scope::of(UserNumber::OWNER)
}

#[test]
fn what_was_forgotten_or_erased_since_the_backup_does_not_come_back() {
    let sandbox = Sandbox::filled();
    let mut memory = open(&sandbox);
    let [kept, retired, erased, again] = ["tea is hot", "ice is warm", "my pin is 1234", "snow"]
        .map(|statement| add(&mut memory, statement));
    drop(memory);
    let created = sandbox.backup();
    let mut memory = open(&sandbox);
    memory.retire_fact(owner(), retired, by_the_user()).unwrap();
    memory.erase_fact(owner(), erased, by_the_user()).unwrap();
    memory.retire_fact(owner(), again, by_the_user()).unwrap();
    memory.restore_fact(owner(), again, by_the_user()).unwrap();
    drop(memory);
    let restored = sandbox.restore(&created.backup.path).unwrap();
    let memory = open(&sandbox);
    let retired_at = |id: i64| memory.facts(owner(), &[id]).unwrap().pop().map(|f| f.retired_at);
    assert_eq!(retired_at(kept), Some(None));
    assert!(retired_at(retired).unwrap().is_some(), "it is out of every answer");
    assert_eq!(retired_at(erased), None, "it is gone");
    assert_eq!(retired_at(again), Some(None), "it was brought back");
    assert!(restored.remarks.iter().any(|remark| remark.starts_with("2 facts")), "{restored:?}");
    drop(memory);
    let bytes = std::fs::read(sandbox.root().join("memory.db")).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(!text.contains("my pin is"), "the text itself is gone from the file");
}

#[test]
fn the_memory_of_another_home_leaves_no_marks() {
    let (here, there) = (Sandbox::filled(), Sandbox::filled());
    let theirs = add(&mut open(&there), "tea is hot");
    let created = there.backup();
    let mut memory = open(&here);
    let ours = add(&mut memory, "tea is hot");
    assert_eq!(ours, theirs);
    memory.retire_fact(owner(), ours, by_the_user()).unwrap();
    drop(memory);
    here.restore(&created.backup.path).unwrap();
    let found = open(&here).facts(owner(), &[theirs]).unwrap().pop().unwrap();
    assert_eq!(found.retired_at, None);
}

#[test]
fn a_present_memory_that_cannot_be_read_does_not_stop_a_restore() {
    let sandbox = Sandbox::filled();
    add(&mut open(&sandbox), "tea is hot");
    let created = sandbox.backup();
    sandbox.write("memory.db", "this was a database once");
    let restored = sandbox.restore(&created.backup.path).unwrap();
    assert!(restored.remarks.iter().any(|remark| remark.contains("may be back")), "{restored:?}");
    assert_eq!(open(&sandbox).facts(owner(), &[1]).unwrap().len(), 1);
}
