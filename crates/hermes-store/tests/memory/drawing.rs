//! Drawing the same words again, in whatever order, changes nothing.

use std::collections::BTreeMap;

use hermes_store::memory::{
    Admin, ChainState, Drawn, DrawnFact, Fact, FactFilter, Memory, NewFact, NewSource, Origin,
    Standing,
};
use proptest::prelude::*;

use crate::place::cases;
use crate::support::{Place, alice, at, by, fact};

const PEOPLE: [&str; 3] = ["Kim", "Ada", "Bo"];
const CITIES: [&str; 3] = ["Berlin", "Lisbon", "Oslo"];
const LIVES_IN: &str = "lives in";

/// What was said in the `number`th episode, at the `number`th minute.
#[derive(Debug, Clone, Copy)]
struct Said {
    number: i64,
    person: &'static str,
    city: &'static str,
}

fn conversation() -> impl Strategy<Value = Vec<Said>> {
    prop::collection::vec((0..3_usize, 0..3_usize), 1..10).prop_map(|said| {
        let said = (1..).zip(said);
        said.map(|(number, (person, city))| Said {
            number,
            person: PEOPLE[person],
            city: CITIES[city],
        })
        .collect()
    })
}

/// The same conversation in two orders.
fn in_two_orders() -> impl Strategy<Value = (Vec<Said>, Vec<Said>)> {
    conversation()
        .prop_flat_map(|said| (Just(said.clone()).prop_shuffle(), Just(said).prop_shuffle()))
}

/// Draws what was said, as somebody would who knows that a person lives in one city at a time.
fn draw(memory: &mut Memory, said: &Said) -> Drawn {
    let statement = format!("{} {LIVES_IN} {}", said.person, said.city);
    let sources = [NewSource {
        episode: Some(said.number),
        message: Some(said.number),
        quote: Some(&statement),
        extractor: Some("test"),
    }];
    let held = memory.facts_about(alice(), said.person, Some(LIVES_IN)).unwrap();
    let other = held.iter().find(|fact| fact.statement != statement);
    let standing = match other {
        None => Standing::New,
        Some(other) if last_said(memory, other) < said.number => Standing::Supersedes(other.id),
        Some(other) => Standing::SupersededBy(other.id),
    };
    let fact = NewFact {
        subject: Some(said.person),
        predicate: Some(LIVES_IN),
        object: Some(said.city),
        origin: Origin::Extract,
        valid_from: Some(at(said.number)),
        sources: &sources,
        ..fact(&statement)
    };
    let drawn = DrawnFact { fact, standing, said_at: at(said.number), is_explicit: false };
    memory.draw_fact(alice(), &drawn, by("extract", 100)).unwrap()
}

fn last_said(memory: &Memory, fact: &Fact) -> i64 {
    let sources = memory.sources_of_fact(alice(), fact.id).unwrap();
    sources.iter().filter_map(|source| source.message).max().unwrap()
}

fn held(memory: &Memory) -> Vec<String> {
    let found = memory.list_facts(alice(), &FactFilter::default(), at(200)).unwrap();
    let mut found: Vec<String> = found.into_iter().map(|fact| fact.statement).collect();
    found.sort();
    found
}

fn all(memory: &Memory) -> Vec<Fact> {
    let filter = FactFilter { with_retired: true, ..FactFilter::default() };
    memory.list_facts(alice(), &filter, at(200)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn in_any_order_the_latest_words_hold_and_drawing_again_changes_nothing(
        (first, again) in in_two_orders(),
    ) {
        let place = Place::new();
        let mut memory = place.write();
        for said in &first {
            prop_assert_ne!(draw(&mut memory, said), Drawn::Buried);
        }
        let mut latest: BTreeMap<&str, Said> = BTreeMap::new();
        for said in &first {
            let known = latest.entry(said.person).or_insert(*said);
            if known.number < said.number {
                *known = *said;
            }
        }
        let mut expected: Vec<String> =
            latest.values().map(|said| format!("{} {LIVES_IN} {}", said.person, said.city)).collect();
        expected.sort();
        prop_assert_eq!(held(&memory), expected);

        let before = all(&memory);
        for said in &again {
            prop_assert!(matches!(draw(&mut memory, said), Drawn::Known(_)), "{:?}", said);
        }
        prop_assert_eq!(all(&memory), before);
    }

    #[test]
    fn what_a_person_took_back_stays_gone_in_any_order(
        (first, again) in in_two_orders(), which in 0..3_usize,
    ) {
        let place = Place::new();
        let mut memory = place.write();
        for said in &first {
            draw(&mut memory, said);
        }
        let now_held = memory.list_facts(alice(), &FactFilter::default(), at(200)).unwrap();
        let gone = &now_held[which % now_held.len()];
        memory.retire_fact(alice(), gone.id, by("user", 101)).unwrap();
        let expected: Vec<String> =
            held(&memory).into_iter().filter(|one| *one != gone.statement).collect();
        for said in again.iter().chain(&first) {
            draw(&mut memory, said);
        }
        prop_assert_eq!(held(&memory), expected);
        let is_whole = matches!(memory.check_audit(Admin).unwrap(), ChainState::Whole { .. });
        prop_assert!(is_whole);
    }
}
