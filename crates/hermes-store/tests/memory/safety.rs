//! What a memory refuses, survives and notices.

use std::sync::atomic::{AtomicBool, Ordering};

use hermes_store::Error;
use hermes_store::memory::{
    Admin, ChainState, Change, FactFilter, Memory, NewChunk, NewFact, NewJob, NewMessage,
    RecallFilter, RecentFilter, Scope, UserNumber, Wanted,
};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};
use rusqlite::Connection;

use crate::support::{Place, alice, at, by, chunk, fact, message, small_model};

fn raw(place: &Place) -> Connection {
    sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap()
}

#[test]
fn the_memory_of_another_profile_is_refused() {
    let place = Place::new();
    let other = Wanted { path: &place.path(), profile: "work" };
    let refused = Memory::open(other, Access::Read, DEFAULT_WAIT).unwrap_err();
    assert!(refused.to_string().ends_with("it belongs to profile default, not work"), "{refused}");
}

#[test]
fn a_newer_schema_is_refused() {
    let place = Place::new();
    raw(&place).pragma_update(None, "user_version", 99).unwrap();
    let refused = place.open(Access::Write).unwrap_err();
    assert!(matches!(refused, Error::NewerSchema { found: 99, .. }), "{refused}");
}

#[test]
fn a_memory_that_a_later_version_upgrades_while_it_is_open_is_written_no_more() {
    let place = Place::new();
    let mut memory = place.write();
    memory.add_fact(alice(), &fact("tea is hot"), by("user", 1)).unwrap();
    raw(&place).pragma_update(None, "user_version", 99).unwrap();
    let before = place.bytes();
    let job = NewJob { kind: "k", payload: "{}", dedupe_key: None, user: None, run_at: at(1) };
    let refusals = [
        memory.add_fact(alice(), &fact("tea is cold"), by("user", 2)).map(drop),
        memory.record(alice(), &[message("s", "1", "tea")], by("user", 2)).map(drop),
        memory.queue_job(Admin, &job, at(2)).map(drop),
    ];
    for refused in refusals {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::NewerSchema { found: 99, .. }), "{refused}");
        assert!(refused.to_string().contains("memory.db: its schema is 99"), "{refused}");
    }
    assert!(place.bytes() == before, "something was written");
}

#[test]
fn a_database_that_is_no_memory_is_refused() {
    let place = Place::new();
    let path = place.path().with_file_name("other.db");
    sqlite::create(&path, |made| {
        made.execute_batch("create table t (a)").unwrap();
        Ok(())
    })
    .unwrap();
    let refused = Memory::open(place.wanted(&path), Access::Write, DEFAULT_WAIT).unwrap_err();
    assert!(matches!(refused, Error::NotMemory { .. }), "{refused}");
}

#[test]
fn a_memory_opened_for_reading_refuses_every_change() {
    let place = Place::new();
    let mut memory = place.read();
    let change = by("user", 1);
    let job = NewJob { kind: "k", payload: "{}", dedupe_key: None, user: None, run_at: at(1) };
    let refusals = [
        memory.add_fact(alice(), &fact("tea is hot"), change).map(drop),
        memory.retire_fact(alice(), 1, change),
        memory.record(alice(), &[message("s", "1", "tea")], change).map(drop),
        memory.add_alias(alice(), "a", "b", change).map(drop),
        memory.user_or_new("bob", change).map(drop),
        memory.queue_job(Admin, &job, at(1)).map(drop),
        memory.add_model(Admin, &small_model("m"), at(1)).map(drop),
        memory.vacuum(Admin, at(1)).map(drop),
        memory.rebuild_segments(Admin).map(drop),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(Error::OpenedForReading { .. })), "{refusal:?}");
    }
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}

#[test]
fn a_reader_never_sees_half_of_what_is_being_written() {
    let place = Place::new();
    let mut writer = place.write();
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let (memory, mut seen) = (place.read(), 0);
            while !is_done.load(Ordering::Acquire) || seen == 0 {
                let filter = RecentFilter { limit: 5, ..RecentFilter::default() };
                for episode in memory.recent_episodes(alice(), &filter).unwrap() {
                    assert_eq!(memory.messages_of(alice(), &episode).unwrap().len(), 2);
                    seen += 1;
                }
                assert_eq!(memory.counts(Admin).unwrap().messages % 2, 0);
            }
            seen
        });
        for number in 0..40 {
            let ids = [format!("{number}-asked"), format!("{number}-answered")];
            let asked = message("s", &ids[0], "where is the harbor");
            let answered =
                NewMessage { role: "assistant", ..message("s", &ids[1], "in the north") };
            writer.record(alice(), &[asked, answered], by("user", number)).unwrap();
        }
        is_done.store(true, Ordering::Release);
        reader.join().unwrap()
    });
    assert!(seen > 0);
    assert_eq!(writer.counts(Admin).unwrap().messages, 80);
}

#[test]
fn a_writer_that_dies_leaves_nothing_half() {
    let place = Place::new();
    place.write().add_fact(alice(), &fact("tea is hot"), by("user", 1)).unwrap();
    let dying = raw(&place);
    dying
        .execute_batch(
            "begin immediate; update fact set statement = 'tea is cold'; delete from chunk;
             insert into chunk_words (rowid, words) values (99, 'cold')",
        )
        .unwrap();
    drop(dying);
    let memory = place.write();
    assert_eq!(memory.find_fact(alice(), "1").unwrap().statement, "tea is hot");
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
    assert_eq!(memory.check_audit(Admin).unwrap(), ChainState::Whole { entries: 1 });
}

#[test]
fn a_change_that_fails_at_its_end_leaves_nothing() {
    let place = Place::new();
    let mut memory = place.write();
    memory.add_model(Admin, &small_model("m"), at(1)).unwrap();
    let misfit: Vec<NewChunk> = vec![chunk("tea is hot", Some(vec![1.0; 9]))];
    let new = NewFact { chunks: misfit, ..fact("tea is hot") };
    let refused = memory.add_fact(alice(), &new, by("user", 2)).unwrap_err();
    assert!(matches!(refused, Error::WrongDimensions { found: 9, wanted: 4, .. }), "{refused}");
    assert_eq!(memory.counts(Admin).unwrap().facts, 0);
    assert_eq!(memory.check_audit(Admin).unwrap(), ChainState::Whole { entries: 0 });
    let filter = RecallFilter::default();
    assert_eq!(memory.postings(alice(), &filter, "tea", 9).unwrap().chunks, []);
}

#[test]
fn an_altered_or_shortened_chain_of_changes_shows() {
    let change = |minute| by("user", minute);
    for (damage, broken) in [
        ("update audit set actor = 'nobody' where id = 2", 2),
        ("delete from audit where id = 2", 3),
        ("delete from audit where id = 3", 3),
        ("update audit set after = null where id = 1", 1),
    ] {
        let place = Place::new();
        let mut memory = place.write();
        memory.add_fact(alice(), &fact("tea is hot"), change(1)).unwrap();
        memory.retire_fact(alice(), 1, change(2)).unwrap();
        memory.restore_fact(alice(), 1, change(3)).unwrap();
        assert_eq!(memory.check_audit(Admin).unwrap(), ChainState::Whole { entries: 3 });
        raw(&place).execute_batch(damage).unwrap();
        assert_eq!(
            memory.check_audit(Admin).unwrap(),
            ChainState::Broken { id: broken },
            "{damage}"
        );
    }
}

#[test]
fn an_erased_fact_is_in_no_byte_of_the_file_after_vacuuming() {
    let place = Place::new();
    let mut memory = place.write();
    let change = by("user", 1);
    memory.add_fact(alice(), &fact("the word is xylophone"), change).unwrap();
    memory.add_fact(alice(), &fact("tea is hot"), change).unwrap();
    memory.edit_fact(alice(), 1, "the word was xylophone", &[], change).unwrap();
    let holds = |bytes: &[u8]| bytes.windows(9).any(|window| window == b"xylophone");
    assert!(holds(&place.bytes()));
    memory.erase_fact(alice(), 1, change).unwrap();
    memory.vacuum(Admin, at(2)).unwrap();
    assert!(!holds(&place.bytes()));
    assert_eq!(memory.list_facts(alice(), &FactFilter::default(), at(2)).unwrap().len(), 1);
    let tombstones: i64 = raw(&place)
        .query_row("select count(*) from tombstone where kind = 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tombstones, 1);
}

#[test]
fn damaged_segments_are_found_and_made_anew() {
    for damage in [
        "update vector_segment set used = capacity + 1",
        "update vector_codes set codes = zeroblob(3)",
        "delete from vector_slots",
        "update vector_segment set used = 0",
    ] {
        let place = Place::new();
        let mut memory = place.write();
        memory.add_model(Admin, &small_model("m"), at(1)).unwrap();
        let vector = Some(vec![1.0, 0.0, 0.0, 0.0]);
        let new = NewFact { chunks: vec![chunk("tea is hot", vector)], ..fact("tea is hot") };
        memory.add_fact(alice(), &new, by("user", 2)).unwrap();
        assert_eq!(memory.check_memory(Admin).unwrap(), []);
        raw(&place).execute_batch(damage).unwrap();
        let found = memory.check_memory(Admin).unwrap();
        assert!(
            !found.is_empty() && found.iter().all(|one| one.repaired_by_rebuilding),
            "{damage}"
        );
        assert_eq!(memory.rebuild_segments(Admin).unwrap(), 1);
        assert_eq!(memory.check_memory(Admin).unwrap(), [], "{damage}");
        assert_eq!(memory.counts(Admin).unwrap().fact_vectors, 1);
    }
}

#[test]
fn a_keyword_index_that_lacks_a_chunk_is_found() {
    let place = Place::new();
    let mut memory = place.write();
    memory.add_fact(alice(), &fact("tea is hot"), by("user", 1)).unwrap();
    raw(&place).execute_batch("delete from chunk").unwrap();
    let found = memory.check_memory(Admin).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!found[0].repaired_by_rebuilding);
}

#[test]
fn a_fact_is_found_by_number_or_the_beginning_of_its_uid_by_its_readers_only() {
    let place = Place::new();
    let mut memory = place.write();
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    let early = Change { actor: "user", at: at(-2_000_000) };
    memory.add_fact(alice(), &fact("tea is hot"), early).unwrap();
    memory.add_fact(alice(), &fact("ice is cold"), by("user", 1)).unwrap();
    memory.add_fact(alice(), &fact("salt is white"), by("user", 1)).unwrap();
    let uid = memory.find_fact(alice(), "1").unwrap().uid.to_string();
    let digits = uid.replace('-', "");
    for typed in [
        "1",
        "001",
        " fact:1",
        "FACT:001",
        &uid,
        &digits,
        &uid[..16],
        &format!("fact:{}", &uid[..12]),
        &digits[..8].to_uppercase(),
    ] {
        assert_eq!(memory.find_fact(alice(), typed).unwrap().id, 1, "{typed}");
        assert!(matches!(memory.find_fact(bob, typed), Err(Error::NoSuchItem { .. })), "{typed}");
    }
    let both = memory.find_fact(alice(), "2").unwrap().uid.to_string();
    let several = memory.find_fact(alice(), &both[..8]).unwrap_err();
    assert!(several.to_string().ends_with("means: fact:002, fact:003"), "{several}");
    for wrong in ["", "0", "-1", "99", "abc", "fact:", "fact:zz", "ffff", &format!("{digits}0")] {
        let missing = memory.find_fact(alice(), wrong).unwrap_err();
        assert!(matches!(missing, Error::NoSuchItem { .. }), "{wrong}: {missing}");
        assert!(missing.hint().is_some());
    }
}

#[test]
fn names_are_found_as_whole_words_in_any_script() {
    let place = Place::new();
    let mut memory = place.write();
    for (name, alias) in
        [("New York City", "NYC"), ("東京", "Tokyo"), ("C++", "cpp"), ("Ann", "Annie")]
    {
        memory.add_alias(alice(), name, alias, by("user", 1)).unwrap();
    }
    let found = |text: &str| {
        let found = memory.entities_in(alice(), text).unwrap();
        found.into_iter().map(|entity| entity.name).collect::<Vec<_>>()
    };
    assert_eq!(found("In new  york\ncity, annie's cannon"), ["New York City", "Ann"]);
    assert_eq!(found("我在東京工作, not in Yorkshire"), ["東京"]);
    assert_eq!(found("he writes C++, mostly (cpp)"), ["C++"]);
    assert_eq!(found(""), [""; 0]);
    assert_eq!(memory.entity(alice(), " nyc ").unwrap().unwrap().aliases, ["nyc"]);
    assert!(memory.add_alias(alice(), "Ann", "  ", by("user", 1)).is_err());
}

#[test]
fn nobody_is_called_nothing_and_everybody_cannot_be_asked_for() {
    let place = Place::new();
    let mut memory = place.write();
    assert_eq!(memory.user("").unwrap(), None);
    assert!(memory.user_or_new("", by("user", 1)).is_err());
    assert!(memory.link_identity("cli", "x", UserNumber::SHARED, by("user", 1)).is_err());
    assert_eq!(memory.users(Admin).unwrap().len(), 1);
}

#[test]
fn nothing_is_written_to_a_file_that_was_replaced_or_removed() {
    let stranger = Place::new();
    stranger.write().add_fact(alice(), &fact("a stranger's"), by("user", 1)).unwrap();
    let bytes = std::fs::read(stranger.path()).unwrap();
    for way in ["removed", "replaced", "linked"] {
        let place = Place::new();
        let mut memory = place.write();
        memory.add_fact(alice(), &fact("tea is hot"), by("user", 1)).unwrap();
        std::fs::rename(place.path(), place.path().with_extension("old")).unwrap();
        match way {
            "replaced" => drop(std::fs::copy(stranger.path(), place.path()).unwrap()),
            "linked" => std::os::unix::fs::symlink(stranger.path(), place.path()).unwrap(),
            _ => {}
        }
        for refused in [
            memory.add_fact(alice(), &fact("lost"), by("user", 2)).map(drop),
            memory.record(alice(), &[message("s", "1", "lost")], by("user", 2)).map(drop),
            memory.vacuum(Admin, at(2)).map(drop),
        ] {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, Error::Replaced { .. }), "{way}: {refused}");
            assert!(refused.must_wait(), "what was to be written waits elsewhere");
        }
        drop(memory);
        match way {
            "removed" => assert!(!place.path().exists(), "nothing was made"),
            _ => assert_eq!(std::fs::read(place.path()).unwrap(), bytes, "{way}"),
        }
        // Back in its place it is the same as before.
        let _ = std::fs::remove_file(place.path());
        std::fs::rename(place.path().with_extension("old"), place.path()).unwrap();
        let facts = place.write().list_facts(alice(), &FactFilter::default(), at(3)).unwrap();
        assert_eq!(facts.len(), 1, "{way}");
    }
}
