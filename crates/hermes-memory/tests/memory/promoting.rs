//! Text that is not the user's own never gets into a file that is always loaded, whatever the scan says of it.
#![expect(clippy::print_stdout, reason = "the figures of a run are read by people")]

use std::fs;

use hermes_home::Home;
use hermes_home::env::Env;
use hermes_home::init::Owner;
use hermes_home::layout::Wanted;
use hermes_home::redaction::Policy;
use hermes_memory::chunk::Vectors;
use hermes_memory::remember::{self, Remembered, Rules, Target, Wish, suspicion};
use hermes_store::memory::Trust;

use crate::support::{change, memory, now, owner};
use crate::suspects::attacks;

/// The parts of an order that are harmless one by one.
fn split(text: &str) -> [String; 2] {
    let words: Vec<&str> = text.split(' ').collect();
    let (first, second) = words.split_at(words.len() / 2);
    [first.join(" "), second.join(" ")]
}

#[test]
fn nothing_untrusted_is_written_into_a_file_or_becomes_a_fact() {
    let (folder, mut store) = memory();
    let wanted = Wanted { home: Some(folder.path().to_owned()), profile: None };
    let home = Home::locate(&wanted, &Env::default()).unwrap();
    let rules = Rules {
        home: &home,
        owner: Owner::Ours,
        auto_write: true,
        memory_limit: None,
        user_limit: None,
        today: jiff::civil::date(2026, 10, 15),
        vectors: Vectors::Later,
        secrets: Policy::Redact,
    };
    let mut texts: Vec<String> = attacks(7, |family| family.known)
        .into_iter()
        .chain(attacks(99, |family| family.held_out))
        .filter(|(_, way, _)| *way != "past 64 KiB")
        .map(|(_, _, text)| text)
        .collect();
    texts.extend(texts.clone().iter().step_by(7).flat_map(|text| split(text)));
    texts.dedup();
    let (mut tried, mut written, mut unseen) = (0, 0, 0);
    for (number, text) in texts.iter().enumerate() {
        let wish = Wish {
            text,
            target: if number % 2 == 0 { Target::Memory } else { Target::User },
            fact: None,
            kind: "fact",
            predicate: None,
            sources: &[],
            said_at: now(),
            trust: if number % 3 == 0 { Trust::Agent } else { Trust::Untrusted },
            is_explicit: number % 5 == 0,
            origin: "test",
        };
        let done = remember::remember(&mut store, owner(), &wish, &rules, change()).unwrap();
        tried += 1;
        written += usize::from(matches!(done, Remembered::Written(_)));
        unseen += usize::from(suspicion(text).is_none());
    }
    println!("{tried} untrusted texts, {unseen} unseen by the scan, {written} written");
    assert!(tried >= 1_000 && unseen > 0, "{tried} {unseen}");
    assert_eq!(written, 0);
    for file in ["MEMORY.md", "USER.md", "SOUL.md"] {
        let text = fs::read_to_string(home.memories().join(file)).unwrap_or_default();
        assert_eq!(text, "", "{file}");
    }
    assert!(store.list_facts(owner(), &Default::default(), now()).unwrap().is_empty());
}
