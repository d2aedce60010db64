//! A merge of two users that is taken back: each has again what was theirs, and what came since stays with the one.

use hermes_store::memory::{
    Admin, ChainState, Chat, FactFilter, Identity, Memory, NewChunk, NewFact, NewMessage,
    NewSource, NewSummary, PortableText, Scope, SessionChoice, UserNumber,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::operations::{Changer, NAMES, Operation, operation};
use crate::reads::all_reads;
use crate::support::{Place, at, by, chunk, fact, message};

const USERS: i64 = 5;

/// One chunk for each text, as the operations of the tests make them; those of events are without the reason.
fn one_chunk(text: &PortableText<'_>) -> Vec<NewChunk> {
    let mut one = chunk(text.text.strip_suffix("\ncheaper").unwrap_or(text.text), None);
    one.words.extend([" ", text.further.unwrap_or_default()]);
    vec![one]
}

fn must_be_whole(memory: &Memory) {
    assert!(matches!(memory.check_audit(Admin).unwrap(), ChainState::Whole { .. }));
    let findings = memory.check_memory(Admin).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

/// Everything that everybody can read, and who they are.
fn everything(memory: &Memory) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for user in 0..=USERS {
        let read = all_reads(memory, Scope::of(UserNumber::new(user)), 410);
        lines.extend(read.into_iter().map(|line| format!("user {user}: {line}")));
    }
    lines.push(format!("{:?}", memory.users(Admin).unwrap()));
    lines.push(format!("{:?}", memory.identities(Admin).unwrap()));
    lines.push(format!("{:?}", memory.unlinked_identities(Admin).unwrap()));
    lines.push(format!("{:?}", memory.merged_users(Admin).unwrap()));
    for user in 1..=USERS {
        let proposals = memory.proposals(Scope::of(UserNumber::new(user)), None).unwrap();
        lines.push(format!("{proposals:?}"));
        let plan = memory.merge_plan(Admin, UserNumber::new(user.max(2)), UserNumber::OWNER);
        lines.push(format!("{:?}", plan.unwrap()));
    }
    lines
}

fn must_be_equal(before: &[String], after: &[String]) -> Result<(), TestCaseError> {
    for (before, after) in before.iter().zip(after) {
        prop_assert_eq!(before, after);
    }
    prop_assert_eq!(before.len(), after.len());
    Ok(())
}

fn populated(operations: &[Operation]) -> (Place, Memory, Changer) {
    let place = Place::new();
    let mut memory = place.write();
    for number in 2..=USERS {
        memory.user_or_new(&format!("user{number}"), by("user", 0)).unwrap();
    }
    let mut changer = Changer::with_canaries();
    for (minute, operation) in (10..).zip(operations) {
        changer.apply(&mut memory, operation, minute);
    }
    (place, memory, changer)
}

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases: crate::place::cases(12),
        max_shrink_iters: 50,
        ..ProptestConfig::default()
    })
}

#[test]
fn everybody_reads_again_what_they_read_before_the_merge() {
    let operations = prop::collection::vec(operation(USERS), 150..151);
    runner()
        .run(&operations, |operations| {
            let (_place, mut memory, _) = populated(&operations);
            let before = everything(&memory);
            let pair = [2, 3].map(UserNumber::new);
            let moved = memory.merge_users(Admin, pair, &one_chunk, by("user", 500)).unwrap();
            let (number, who, plan) = memory.unmerge_plan(Admin, "user2").unwrap();
            prop_assert_eq!((number, who.into.as_str(), plan), (pair[0], "user3", moved));
            let back = memory.unmerge_user(Admin, "user2", &one_chunk, by("user", 501)).unwrap();
            prop_assert_eq!(back.moved, moved);
            prop_assert_eq!((back.later_answers, back.told_together), (0, 0));
            must_be_equal(&before, &everything(&memory))?;
            must_be_whole(&memory);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_chain_of_merges_is_taken_back_from_its_end() {
    let operations = prop::collection::vec(operation(USERS), 120..121);
    runner()
        .run(&operations, |operations| {
            let (_place, mut memory, _) = populated(&operations);
            let before = everything(&memory);
            let merge = |memory: &mut Memory, from: i64, into: i64| {
                let pair = [from, into].map(UserNumber::new);
                memory.merge_users(Admin, pair, &one_chunk, by("user", 500)).unwrap();
            };
            merge(&mut memory, 2, 3);
            let between = everything(&memory);
            merge(&mut memory, 4, 1);
            merge(&mut memory, 3, 1);
            for (name, why) in [
                ("user2", "they became user3, and user3 was merged into alice later"),
                ("user4", "user3 was merged into alice later"),
            ] {
                let early = memory.unmerge_user(Admin, name, &one_chunk, by("user", 501));
                let said = early.unwrap_err().to_string();
                prop_assert_eq!(
                    said,
                    format!("could not unmerge {name}: {why}: undo that merge first")
                );
            }
            memory.unmerge_user(Admin, "user3", &one_chunk, by("user", 502)).unwrap();
            memory.unmerge_user(Admin, "user4", &one_chunk, by("user", 503)).unwrap();
            must_be_equal(&between, &everything(&memory))?;
            memory.unmerge_user(Admin, "user2", &one_chunk, by("user", 503)).unwrap();
            must_be_equal(&before, &everything(&memory))?;
            must_be_whole(&memory);
            Ok(())
        })
        .unwrap();
}

#[test]
fn whatever_happens_in_between_nobody_reads_what_was_never_theirs() {
    let operations = prop::collection::vec(operation(USERS), 200..201);
    runner()
        .run(&operations, |operations| {
            let (first, later) = operations.split_at(120);
            let (_place, mut memory, mut changer) = populated(first);
            let pair = [2, 3].map(UserNumber::new);
            memory.merge_users(Admin, pair, &one_chunk, by("user", 200)).unwrap();
            for (minute, operation) in (210..).zip(later.iter().filter(|one| one.user != 2)) {
                changer.apply(&mut memory, operation, minute);
            }
            memory.unmerge_user(Admin, "user2", &one_chunk, by("user", 400)).unwrap();
            for user in [0, 1, 3, 4, 5] {
                let lines = all_reads(&memory, Scope::of(UserNumber::new(user)), 410);
                let mut of_other = lines.iter().map(|line| without_names(line));
                let of_other = of_other.find(|line| line.contains("canary2"));
                prop_assert!(of_other.is_none(), "user {} reads {:?}", user, of_other);
            }
            must_be_whole(&memory);
            // Both can be merged again.
            memory.merge_users(Admin, pair, &one_chunk, by("user", 600)).unwrap();
            must_be_whole(&memory);
            Ok(())
        })
        .unwrap();
}

/// A fact of the one that was learned while both were one may tell of somebody by the name that the other had.
fn without_names(line: &str) -> String {
    let named = |line: String, name: &&str| line.replace(&format!("{name} canary2"), name);
    NAMES.iter().fold(line.to_owned(), named)
}

/// Bob, and bobby who is the same person: each said something, both know one thing.
fn two_names(place: &Place) -> (Memory, [UserNumber; 2]) {
    let mut memory = place.write();
    let pair = ["bobby", "bob"].map(|name| memory.user_or_new(name, by("user", 0)).unwrap());
    for (user, words) in [(pair[0], "marmalade"), (pair[1], "porridge")] {
        let text = format!("I like {words}");
        memory.record(Scope::of(user), &[message("s", "1", &text)], by("user", 1)).unwrap();
        let sources = [NewSource { quote: Some(&text), ..NewSource::default() }];
        let both = NewFact { sources: &sources, ..fact("tea is hot") };
        memory.add_fact(Scope::of(user), &both, by("user", 2)).unwrap();
        memory.add_fact(Scope::of(user), &fact(&format!("likes {words}")), by("user", 2)).unwrap();
    }
    memory.link_identity("telegram", "7", pair[0], by("user", 3)).unwrap();
    let (channel, native_id) = ("signal".to_owned(), "8".to_owned());
    let seen = Identity { channel, native_id, chat: Chat::Group, user: pair[0], at: at(3) };
    memory.note_identity(&seen, at(3)).unwrap();
    memory.set_timezone(pair[0], Some("Europe/Lisbon"), by("user", 3)).unwrap();
    (memory, pair)
}

fn held(memory: &Memory, user: UserNumber) -> Vec<String> {
    let facts = memory.list_facts(Scope::of(user), &FactFilter::default(), at(900)).unwrap();
    let mut texts: Vec<String> = facts.into_iter().map(|fact| fact.statement).collect();
    texts.sort_unstable();
    texts
}

fn said(memory: &Memory, user: UserNumber) -> Vec<String> {
    let heads = memory.message_heads(Scope::of(user), &[0..=i64::MAX]).unwrap();
    let keys: Vec<_> = heads.iter().map(|head| head.key).collect();
    let messages = memory.messages(Scope::of(user), &keys).unwrap();
    let mut texts: Vec<String> = messages.into_iter().map(|one| one.text).collect();
    texts.sort_unstable();
    texts
}

#[test]
fn what_was_merged_shows_where_it_came_from() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    let kept = memory.list_facts(Scope::of(bob), &FactFilter::default(), at(6)).unwrap();
    let tea = kept.iter().find(|fact| fact.statement == "tea is hot").unwrap();
    assert_eq!(memory.sources_of_fact(Scope::of(bob), tea.id).unwrap().len(), 2);
    memory.unmerge_user(Admin, "bobby", &one_chunk, by("user", 7)).unwrap();
    assert_eq!(memory.sources_of_fact(Scope::of(bob), tea.id).unwrap().len(), 1);
}

#[test]
fn what_came_after_the_merge_stays_with_the_one_and_answers_go_with_their_question() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    let answer = NewMessage { role: "assistant", ..message("s", "2", "So do I") };
    let later = message("s", "3", "And rusks today");
    memory.record(Scope::of(bob), &[answer, later], by("user", 6)).unwrap();
    memory.add_fact(Scope::of(bob), &fact("likes rusks"), by("user", 7)).unwrap();
    let back = memory.unmerge_user(Admin, "bobby", &one_chunk, by("user", 8)).unwrap();
    assert_eq!((back.later_answers, back.moved.facts, back.moved.sessions), (1, 2, 1));
    assert_eq!(said(&memory, bobby), ["I like marmalade", "So do I"]);
    assert_eq!(said(&memory, bob), ["And rusks today", "I like porridge"]);
    assert_eq!(held(&memory, bobby), ["likes marmalade", "tea is hot"]);
    assert_eq!(held(&memory, bob), ["likes porridge", "likes rusks", "tea is hot"]);
    assert_eq!(memory.user_of_identity("telegram", "7").unwrap(), Some(bobby));
    assert_eq!(memory.unlinked_identities(Admin).unwrap()[0].user, bobby);
    assert_eq!(memory.user("bob").unwrap().unwrap().timezone, None);
    assert_eq!(memory.user("bobby").unwrap().unwrap().number, bobby);
    // Each goes on in their own session, and nothing is recorded twice.
    for (user, id, text) in [(bobby, "1", "I like marmalade"), (bob, "3", "And rusks today")] {
        let recorded = memory.record(Scope::of(user), &[message("s", id, text)], by("user", 9));
        assert_eq!(recorded.unwrap().known, 1, "{text}");
    }
    let more = message("s", "4", "Toast, too");
    memory.record(Scope::of(bob), &[more], by("user", 10)).unwrap();
    let more = message("s", "4", "Jam, too");
    memory.record(Scope::of(bobby), &[more], by("user", 10)).unwrap();
    assert_eq!(said(&memory, bobby).len(), 3);
    assert_eq!(said(&memory, bob).len(), 3);
    must_be_whole(&memory);
}

#[test]
fn a_fact_whose_place_was_taken_since_is_current_again() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    let all = memory.list_facts(Scope::of(bob), &FactFilter::default(), at(6)).unwrap();
    let old = all.iter().find(|fact| fact.statement == "likes marmalade").unwrap().id;
    memory.supersede_fact(Scope::of(bob), old, &fact("likes honey"), by("user", 6)).unwrap();
    memory.unmerge_user(Admin, "bobby", &one_chunk, by("user", 8)).unwrap();
    assert_eq!(held(&memory, bobby), ["likes marmalade", "tea is hot"]);
    assert_eq!(held(&memory, bob), ["likes honey", "likes porridge", "tea is hot"]);
    must_be_whole(&memory);
}

#[test]
fn a_summary_of_both_stays_with_the_one_and_is_counted() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    memory.record(Scope::of(bobby), &[message("t", "1", "Jam it is")], by("user", 4)).unwrap();
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    let body = "Somebody likes things.";
    let tell = |memory: &mut Memory, episodes: &[i64]| {
        let chunks = vec![chunk(body, None)];
        let summary = NewSummary { episodes, body, task_type: None, tokens: 4, chunks };
        let id = memory.keep_summary(Scope::of(bob), &summary, by("compress", 6)).unwrap();
        memory.drop_raw(Scope::of(bob), id, body, by("compress", 7)).unwrap();
    };
    tell(&mut memory, &[1, 2]);
    tell(&mut memory, &[3]);
    let back = memory.unmerge_user(Admin, "bobby", &one_chunk, by("user", 8)).unwrap();
    assert_eq!((back.told_together, back.moved.sessions, back.moved.episodes), (1, 2, 1));
    for (user, many) in [(bobby, 1), (bob, 1)] {
        let all = (1..=9).filter_map(|id| memory.any_episode(Scope::of(user), id).unwrap());
        assert_eq!(all.filter(|one| one.body.as_deref() == Some(body)).count(), many);
    }
    let sessions = memory.sessions(Scope::of(bob), &SessionChoice::default()).unwrap();
    assert_eq!(sessions.len(), 1);
    must_be_whole(&memory);
}

#[test]
fn what_cannot_be_taken_back_is_refused_in_a_sentence() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    let refused = |memory: &mut Memory, name: &str| {
        let asked = memory.unmerge_plan(Admin, name).unwrap_err().to_string();
        let done = memory.unmerge_user(Admin, name, &one_chunk, by("user", 9));
        assert_eq!(done.unwrap_err().to_string(), asked);
        asked
    };
    let not = "could not unmerge bobby: they were not merged into anybody";
    assert_eq!(refused(&mut memory, "bobby"), not);
    assert!(refused(&mut memory, "nobody").contains("not merged"));
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    assert!(refused(&mut memory, "bob").contains("not merged"));
    memory.unmerge_user(Admin, "bobby", &one_chunk, by("user", 6)).unwrap();
    assert_eq!(refused(&mut memory, "bobby"), not);
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 7)).unwrap();
    memory.forget_person(Admin, bob, &[], by("user", 8)).unwrap();
    assert_eq!(refused(&mut memory, "bobby"), not);
    must_be_whole(&memory);
}

#[test]
fn a_merge_that_can_be_taken_back_keeps_no_word_of_what_is_forgotten() {
    let place = Place::new();
    let (mut memory, [bobby, bob]) = two_names(&place);
    let names = ["Marzipan".to_owned()];
    for user in [bobby, bob] {
        let speaks = NewMessage { speaker: Some("Zebulon"), ..message("u", "1", "Zebulon here") };
        memory.record(Scope::of(user), &[speaks], by("user", 4)).unwrap();
        let named = NewFact { entities: &names, ..fact("Marzipan is sweet") };
        memory.add_fact(Scope::of(user), &named, by("user", 4)).unwrap();
    }
    memory.merge_users(Admin, [bobby, bob], &one_chunk, by("user", 5)).unwrap();
    memory.forget_person(Admin, bob, &[], by("user", 8)).unwrap();
    let bytes = place.bytes();
    for word in ["Zebulon", "zebulon", "Marzipan", "marzipan", "marmalade", "bobby", "Lisbon"] {
        let is_there = bytes.windows(word.len()).any(|window| window == word.as_bytes());
        assert!(!is_there, "{word} is still there");
    }
}
