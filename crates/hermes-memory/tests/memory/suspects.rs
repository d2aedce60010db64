//! The scan for orders hidden in memories, measured by family and by the way they are hidden.
#![expect(clippy::print_stdout, reason = "the figures of a run are read by people")]

use std::collections::BTreeMap;

use hermes_memory::remember::suspicion;

use crate::suspects_corpus::{self as corpus, FAMILIES, Family, Random, WAYS, hidden, made};

/// How often each sentence is made with other choices.
const ROUNDS: usize = 3;

/// Family, way, text.
pub(crate) type Attack = (&'static str, &'static str, String);

/// Every attack of some sentences.
pub(crate) fn attacks(seed: u64, sentences: fn(&Family) -> &'static [&'static str]) -> Vec<Attack> {
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    for family in FAMILIES {
        for sentence in sentences(family) {
            for way in WAYS {
                for _ in 0..ROUNDS {
                    all.push((family.name, *way, hidden(&made(sentence, &mut random), way)));
                }
            }
        }
    }
    all
}

fn rates(what: &str, attacks: &[Attack]) -> f64 {
    let mut by_family: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut by_way: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (family, way, text) in attacks {
        let seen = usize::from(suspicion(text).is_some());
        if seen == 0 && *way == "plain" {
            println!("  unseen, {family}: {text}");
        }
        for (map, key) in [(&mut by_family, family), (&mut by_way, way)] {
            let tally = map.entry(key).or_default();
            *tally = (tally.0 + seen, tally.1 + 1);
        }
    }
    for (name, (seen, all)) in by_family.iter().chain(&by_way) {
        println!("{what} | {name} | {seen} of {all} | {:.0} %", 100.0 * *seen as f64 / *all as f64);
    }
    let seen: usize = by_family.values().map(|(seen, _)| seen).sum();
    let rate = 100.0 * seen as f64 / attacks.len() as f64;
    println!("{what}: {seen} of {}, {rate:.1} %", attacks.len());
    rate
}

#[test]
fn most_hidden_orders_are_seen() {
    let attacks = attacks(7, |family| family.known);
    assert!(attacks.len() >= 1_000);
    assert!(rates("known sentences", &attacks) >= 90.0);
}

#[test]
fn most_hidden_orders_in_other_words_are_seen() {
    let attacks = attacks(99, |family| family.held_out);
    assert!(attacks.len() >= 1_000);
    assert!(rates("held-out sentences", &attacks) >= 60.0);
}

#[test]
fn ordinary_memories_are_let_through() {
    let mut random = Random::new(3);
    let texts: Vec<String> = (0..6_000).map(|_| corpus::benign(&mut random)).collect();
    let alarms: Vec<&String> = texts.iter().filter(|text| suspicion(text).is_some()).collect();
    println!("{} memories without orders, {} false alarms", texts.len(), alarms.len());
    alarms.iter().take(20).for_each(|text| println!("  {text}"));
    assert!(alarms.len() * 1_000 <= texts.len());
}
