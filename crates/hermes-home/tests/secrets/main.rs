//! The search for secrets measured: made-up secrets of every kind in all kinds of text, and lines without any.
#![expect(clippy::print_stdout, reason = "the figures of a run are read by people")]

mod lines;
mod made;
mod random;

use std::collections::BTreeMap;

use hermes_home::redaction;
use made::{NAMED, PREFIXED};
use random::Random;

/// What a secret is said in; `@` is where it stands.
const TEMPLATES: &[&str] = &[
    "@",
    "Here is the key: @",
    "use @ for the deploy, please",
    "export SERVICE_TOKEN=@",
    "API_KEY=\"@\"",
    "{\"token\": \"@\", \"user\": \"joe\"}",
    "client = Client(api_key='@')",
    "https://api.example.com/v1/items?key=@&page=2",
    "curl -H 'X-Api-Key: @' https://api.example.com",
    "(@)",
    "I got @. What now?",
    "`@`",
    "first line\\nTOKEN=@\\nlast line",
    "auth:\n  token: @\n  user: joe\n",
    "old one was @, the new one comes tomorrow",
    "- @ (production)",
];

/// Others, for the part that is looked at only when everything is done.
const HELD_OUT: &[&str] = &[
    "Bitte nimm @ dafür!",
    "set -x SECRET @; run",
    "<token>@</token>",
    "let key = \"@\".to_owned();",
    "it printed @\nand then stopped",
    "| production | @ |",
    "[@](https://example.com)",
    "--header=\"Authorization: token @\"",
    "password: '@'",
    "key%3D@%26x",
    "The value «@» does not work for me; why?",
    "@,@",
    "headers: { Authorization: `Bearer @` },",
    "> @",
];

const ROUNDS: usize = 30;

#[derive(Default)]
struct Tally {
    tried: usize,
    left: usize,
}

/// Puts made-up secrets into sentences and counts what is left in clear, for each label.
fn count(seed: u64, templates: &[&str]) -> (BTreeMap<&'static str, Tally>, Vec<String>) {
    let mut random = Random::new(seed);
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut missed = Vec::new();
    for maker in PREFIXED {
        for _ in 0..ROUNDS {
            let secret = (maker.make)(&mut random);
            let text = random.pick(templates).replace('@', &secret);
            let clean = redaction::redact(&text);
            let tally = tallies.entry(maker.label).or_default();
            tally.tried += 1;
            if clean.contains(&secret) || leaves_a_piece(&clean, &secret) {
                tally.left += 1;
                missed.push(format!("{}: {text}\n   => {clean}", maker.label));
            }
        }
    }
    (tallies, missed)
}

/// Whether so much of a secret is left that it helps.
fn leaves_a_piece(clean: &str, secret: &str) -> bool {
    let letters: Vec<char> = secret.chars().filter(|c| !c.is_control()).collect();
    letters
        .windows(16)
        .skip(letters.len() / 2)
        .any(|piece| clean.contains(&piece.iter().collect::<String>()))
}

fn report(what: &str, tallies: &BTreeMap<&'static str, Tally>, missed: &[String]) -> f64 {
    let tried: usize = tallies.values().map(|tally| tally.tried).sum();
    let left: usize = tallies.values().map(|tally| tally.left).sum();
    let recall = 100.0 * (tried - left) as f64 / tried as f64;
    println!("{what}: {} kinds, {tried} secrets, {left} left, recall {recall:.2} %", tallies.len());
    for one in missed.iter().take(40) {
        println!("  missed {one}");
    }
    recall
}

#[test]
fn secrets_with_a_form_are_found_in_every_kind_of_text() {
    let (tallies, missed) = count(20_261_118, TEMPLATES);
    assert!(tallies.len() >= 60);
    assert!(tallies.values().map(|tally| tally.tried).sum::<usize>() >= 3_000);
    assert!(report("by form", &tallies, &missed) >= 99.0);
}

#[test]
fn secrets_with_a_form_are_found_in_sentences_that_nobody_tuned_for() {
    let (tallies, missed) = count(77_003, HELD_OUT);
    assert!(report("by form, held out", &tallies, &missed) >= 99.0);
}

fn count_named(seed: u64, ends: &[&str]) -> (BTreeMap<&'static str, Tally>, Vec<String>) {
    let mut random = Random::new(seed);
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut missed = Vec::new();
    for maker in NAMED {
        for _ in 0..ROUNDS {
            let (before, secret) = (maker.make)(&mut random);
            let host = if secret.ends_with('@') { "db.example.com/app" } else { "" };
            let text = random.pick(ends).replace('@', &format!("{before}{secret}{host}"));
            let clean = redaction::redact(&text);
            let tally = tallies.entry(maker.label).or_default();
            tally.tried += 1;
            if clean.contains(secret.trim_end_matches('@')) {
                tally.left += 1;
                missed.push(format!("{}: {text}\n   => {clean}", maker.label));
            }
        }
    }
    (tallies, missed)
}

#[test]
fn secrets_that_only_their_names_tell_are_found() {
    let (tallies, missed) =
        count_named(41, &["@", "note: @", "@\nthanks", "Hi, @ and that is all"]);
    assert!(report("by name", &tallies, &missed) >= 97.0);
    let (tallies, missed) =
        count_named(977, &["- @", "So: @ . Good?", "> @\n> x", "remember that @"]);
    assert!(report("by name, held out", &tallies, &missed) >= 95.0);
}

fn false_alarms(seed: u64, count: usize) -> usize {
    let mut random = Random::new(seed);
    let mut alarms = 0;
    for _ in 0..count {
        let line = lines::line(&mut random);
        let found = redaction::find(&line);
        if !found.is_empty() {
            alarms += 1;
            println!("  false alarm {:?}: {line}", found[0].kind);
        }
    }
    println!(
        "{count} lines without secrets, {alarms} false alarms, {:.3} %",
        100.0 * alarms as f64 / count as f64
    );
    alarms
}

#[test]
fn lines_without_secrets_stay_as_they_are() {
    assert!(false_alarms(1, 24_000) <= 24);
    assert!(false_alarms(990_017, 24_000) <= 24, "held out");
}
