//! What a person had forgotten since the backup stays forgotten.

use hermes_store::memory::{
    Added, Admin, Change, Choice, Depth, EventKind, ItemKind, Memory, NewChunk, NewEvent, NewFact,
    NewMessage, NewProcedure, Origin, ProcedureKind, Scope, Trust, UserNumber, Wanted,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::sandbox::{Sandbox, now};

fn by_the_user() -> Change<'static> {
    Change { actor: "user", at: now() }
}

fn open(sandbox: &Sandbox) -> Memory {
    let path = sandbox.root().join("memory.db");
    let wanted = Wanted { path: &path, profile: "default" };
    if !path.exists() {
        Memory::create(wanted, "mira", by_the_user()).unwrap();
    }
    Memory::open(wanted, Access::Write, DEFAULT_WAIT).unwrap()
}

fn add(memory: &mut Memory, statement: &str) -> i64 {
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
    new_number(memory.add_fact(owner(), &new, by_the_user()).unwrap())
}

fn new_number(added: Added) -> i64 {
    match added {
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

/// Says something in a session of its own; returns the number of the episode.
fn say(memory: &mut Memory, session: &str, text: &str) -> i64 {
    let message = NewMessage {
        session_id: session,
        role: "user",
        speaker: None,
        text,
        said: None,
        caption: None,
        at: now(),
        channel: None,
        agent: None,
        project: None,
        source: "cli",
        external_id: session,
        former_id: None,
        trust: Trust::User,
        tokens: 4,
        chunks: Vec::new(),
        steps: Vec::new(),
        imported: false,
    };
    memory.record(owner(), &[message], by_the_user()).unwrap();
    let filter = hermes_store::memory::RecentFilter { limit: 1, ..Default::default() };
    memory.recent_episodes(owner(), &filter).unwrap()[0].id
}

fn learn(memory: &mut Memory, title: &str) -> i64 {
    let new = NewProcedure {
        kind: ProcedureKind::Reflection,
        task_type: None,
        title,
        body: "so it goes",
        outcome: None,
        trust: Trust::User,
        shared: false,
        entities: &[],
        sources: &[],
        chunks: Vec::new(),
        origin: None,
        skill_path: None,
    };
    new_number(memory.add_procedure(owner(), &new, by_the_user()).unwrap())
}

fn note(memory: &mut Memory, text: &str) -> i64 {
    let new = NewEvent {
        at: now(),
        kind: EventKind::Decision,
        text,
        why: None,
        trust: Trust::User,
        shared: false,
        entities: &[],
        chunks: Vec::new(),
        session: None,
        sources: &[],
        origin: None,
    };
    new_number(memory.add_event(owner(), &new, by_the_user()).unwrap())
}

#[test]
fn forgotten_episodes_procedures_and_events_do_not_come_back() {
    let sandbox = Sandbox::filled();
    let mut memory = open(&sandbox);
    let said = ["kept", "retired", "erased"].map(|name| say(&mut memory, name, "the attic key"));
    let [known, unlearned] = ["dry run first", "push at night"].map(|one| learn(&mut memory, one));
    let [happened, untold] = ["we chose tea", "we chose ice"].map(|one| note(&mut memory, one));
    drop(memory);
    let created = sandbox.backup();
    let mut memory = open(&sandbox);
    memory.retire_episode(owner(), said[1], by_the_user()).unwrap();
    let session = Choice::Session(UserNumber::OWNER, "erased".to_owned());
    memory.forget(Admin, &session, Depth::Erase, by_the_user()).unwrap();
    memory.retire_procedure(owner(), unlearned, by_the_user()).unwrap();
    memory.retire_event(owner(), untold, by_the_user()).unwrap();
    drop(memory);
    let restored = sandbox.restore(&created.backup.path).unwrap();
    let memory = open(&sandbox);
    let episodes: Vec<i64> =
        memory.episodes(owner(), &said).unwrap().iter().map(|episode| episode.id).collect();
    assert_eq!(episodes, [said[0]]);
    let taken = memory.taken_back(Admin).unwrap();
    assert_eq!(taken.retired.iter().filter(|(kind, _)| *kind == ItemKind::Summary).count(), 1);
    assert_eq!(taken.erased.len(), 1, "it is erased, not only hidden");
    let is_held = |id: i64| memory.procedures(owner(), &[id]).unwrap()[0].retired_at.is_none();
    assert_eq!((is_held(known), is_held(unlearned)), (true, false));
    let is_held = |id: i64| memory.events(owner(), &[id]).unwrap()[0].retired_at.is_none();
    assert_eq!((is_held(happened), is_held(untold)), (true, false));
    let remark = "2 episodes, 1 procedures, 1 events";
    assert!(restored.remarks.iter().any(|said| said.starts_with(remark)), "{restored:?}");
}

#[test]
fn what_a_job_retired_comes_back_with_the_backup() {
    let sandbox = Sandbox::filled();
    let mut memory = open(&sandbox);
    let lesson = learn(&mut memory, "dry run first");
    drop(memory);
    let created = sandbox.backup();
    let by_a_job = Change { actor: "reflect", at: now() };
    open(&sandbox).retire_procedure(owner(), lesson, by_a_job).unwrap();
    sandbox.restore(&created.backup.path).unwrap();
    let held = open(&sandbox).procedures(owner(), &[lesson]).unwrap();
    assert_eq!(held[0].retired_at, None, "no person took it back");
}
