//! People as a whole: one becomes another and nothing is lost or mixed; one is forgotten and nothing is left.

use hermes_store::memory::{
    Admin, ChainState, FactFilter, Memory, NewChunk, NewFact, NewSource, PortableText, Scope,
    UserNumber,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::operations::{Changer, Operation, operation};
use crate::reads::all_reads;
use crate::support::{Place, at, by, chunk, fact, message};

const USERS: i64 = 5;

fn one_chunk(text: &PortableText<'_>) -> Vec<NewChunk> {
    let mut one = chunk(text.text, None);
    one.words.extend([" ", text.further.unwrap_or_default()]);
    vec![one]
}

fn canaries(memory: &Memory, user: i64, of: i64) -> usize {
    let word = format!("canary{of}");
    let lines = all_reads(memory, Scope::of(UserNumber::new(user)), 410);
    let has = |line: &&String| {
        line.split(|letter: char| !letter.is_alphanumeric()).any(|found| found == word)
    };
    lines.iter().filter(has).count()
}

fn must_be_whole(memory: &Memory) {
    assert!(matches!(memory.check_audit(Admin).unwrap(), ChainState::Whole { .. }));
    let findings = memory.check_memory(Admin).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn everything_of_one_becomes_the_others_and_nobody_else_reads_it() {
    let config = ProptestConfig {
        cases: crate::place::cases(12),
        max_shrink_iters: 50,
        ..ProptestConfig::default()
    };
    let operations = prop::collection::vec(operation(USERS), 150..151);
    TestRunner::new(config).run(&operations, |operations| check(&operations)).unwrap();
}

fn check(operations: &[Operation]) -> Result<(), TestCaseError> {
    let place = Place::new();
    let mut memory = place.write();
    for number in 2..=USERS {
        memory.user_or_new(&format!("user{number}"), by("user", 0)).unwrap();
    }
    let mut changer = Changer::with_canaries();
    for (minute, operation) in (10..).zip(operations) {
        changer.apply(&mut memory, operation, minute);
    }
    let before = [canaries(&memory, 2, 2), canaries(&memory, 3, 3)];
    let pair = [2, 3].map(UserNumber::new);
    let plan = memory.merge_plan(Admin, pair[0], pair[1]).unwrap();
    let moved = memory.merge_users(Admin, pair, &one_chunk, by("user", 500)).unwrap();
    prop_assert_eq!(plan, moved);
    prop_assert_eq!(memory.merge_plan(Admin, pair[0], pair[1]).unwrap(), Default::default());
    // The number of the one is nobody's now; names stay under it, for the case that the merge is taken back.
    for user in [0, 1, 3, 4, 5] {
        let read = canaries(&memory, user, 2);
        prop_assert_eq!(read > 0, user == 3 && before[0] > 0, "user {} reads {}", user, read);
    }
    prop_assert!(canaries(&memory, 3, 3) > 0 || before[1] == 0);
    must_be_whole(&memory);
    Ok(())
}

/// Bob, and bobby who is the same person: each said something, both know one thing.
fn two_names(place: &Place) -> (Memory, [UserNumber; 2]) {
    let mut memory = place.write();
    let pair = ["bobby", "bob"].map(|name| memory.user_or_new(name, by("user", 0)).unwrap());
    for (user, words) in [(pair[0], "marmalade"), (pair[1], "porridge")] {
        let text = format!("I like {words}");
        memory.record(Scope::of(user), &[message("s", "1", &text)], by("user", 1)).unwrap();
        memory.add_fact(Scope::of(user), &fact("tea is hot"), by("user", 2)).unwrap();
        memory.add_fact(Scope::of(user), &fact(&format!("likes {words}")), by("user", 2)).unwrap();
    }
    memory.link_identity("telegram", "7", pair[0], by("user", 3)).unwrap();
    (memory, pair)
}

#[test]
fn what_both_hold_becomes_one_and_the_old_name_leads_to_the_new_one() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    let moved = memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    assert_eq!((moved.facts, moved.joined, moved.messages, moved.identities), (2, 1, 1, 1));
    let held = memory.list_facts(Scope::of(bob), &FactFilter::default(), at(6)).unwrap();
    let mut texts: Vec<&str> = held.iter().map(|fact| fact.statement.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["likes marmalade", "likes porridge", "tea is hot"]);
    assert_eq!(memory.user("bobby").unwrap().unwrap().name, "bob");
    assert_eq!(memory.user_or_new("bobby", by("user", 6)).unwrap(), bob);
    assert_eq!(memory.user_of_identity("telegram", "7").unwrap(), Some(bob));
    assert_eq!(memory.merged_users(Admin).unwrap()[0].into, "bob");
    assert_eq!(memory.users(Admin).unwrap().len(), 2);
    // What bobby said is known as bob's: taking it in again adds nothing.
    let again = message("s", "1", "I like marmalade");
    let recorded = memory.record(Scope::of(bob), &[again], by("user", 7)).unwrap();
    assert_eq!((recorded.added, recorded.known), (0, 1));
    must_be_whole(&memory);
}

#[test]
fn the_owner_everybody_and_oneself_are_not_merged() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    for pair in [
        [UserNumber::OWNER, bob],
        [bob, bob],
        [UserNumber::SHARED, bob],
        [bobby, UserNumber::SHARED],
        [UserNumber::new(99), bob],
    ] {
        assert!(memory.merge_users(Admin, pair, &one_chunk, by("user", 5)).is_err(), "{pair:?}");
    }
    assert!(memory.merge_users(Admin, [bob, UserNumber::OWNER], &one_chunk, by("user", 5)).is_ok());
}

#[test]
fn of_somebody_who_was_forgotten_no_word_is_left_and_what_is_shared_stays() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    let quote = [NewSource {
        episode: Some(1),
        quote: Some("marmalade said bobby"),
        ..NewSource::default()
    }];
    let shared = NewFact { shared: true, sources: &quote, ..fact("the kitchen is blue") };
    memory.add_fact(Scope::of(bobby), &shared, by("extract", 4)).unwrap();
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    let known = memory.known_by(Admin, bob).unwrap();
    assert_eq!(known.names, ["bob", "bobby"]);
    let forgotten = memory.forget_person(Admin, bob, &[], by("user", 8)).unwrap();
    assert_eq!((forgotten.facts, forgotten.messages), (4, 2));
    let bytes = place.bytes();
    for word in ["marmalade", "porridge", "bobby", "likes"] {
        let is_there = bytes.windows(word.len()).any(|window| window == word.as_bytes());
        assert!(!is_there, "{word} is still in the file");
    }
    let owner = Scope::of(UserNumber::OWNER);
    let held = memory.list_facts(owner, &FactFilter::default(), at(9)).unwrap();
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(memory.sources_of_fact(owner, held[0].id).unwrap().is_empty());
    assert!(memory.user("bob").unwrap().is_none() && memory.user("bobby").unwrap().is_none());
    // Somebody of the same name is another person; the deed is known by its time.
    assert_ne!(memory.user_or_new("bob", by("user", 10)).unwrap(), bob);
    assert!(memory.to_forget_again(Admin, &known.uids, at(8)).unwrap().is_empty());
    must_be_whole(&memory);
}
