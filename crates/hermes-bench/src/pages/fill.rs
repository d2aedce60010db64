//! A home of made-up sessions and facts, filled as the program itself would.

use std::path::Path;

use anyhow::ensure;
use hermes_memory::catch_up::catch_up;
use hermes_memory::chunk::{self, Vectors, Words as Text};
use hermes_memory::record::turn::Settings;
use hermes_store::memory::{
    Admin, Change, DrawnFact, Memory, NewFact, NewSource, Origin, OriginId, Scope, Standing, Trust,
    UserNumber,
};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::daemon::let_rest;
use crate::made_up::{self, PER_SESSION, Session};
use crate::scale::data::real_words;
use crate::scratch::Scratch;
use crate::text::Vocabulary;
use hermes_app::numbers::Numbers;

/// What pages can be asked about.
pub(super) struct Words {
    pub(super) rare: String,
    pub(super) common: String,
    pub(super) questions: Vec<String>,
    pub(super) facts: usize,
}

/// Facts that come in at once.
const FACTS: usize = 500;
const NAMES: [&str; 8] =
    ["Pelican", "Marta", "Osprey", "Lisbon", "Jonas", "Heron", "Falcon Ltd", "Noor"];

/// Fills the home, unless it was filled before.
pub(super) fn fill(
    scratch: &Scratch,
    messages: usize,
    facts: usize,
    now: Timestamp,
) -> anyhow::Result<Words> {
    let vocabulary = Vocabulary::real(real_words());
    let counts = scratch.open(Access::Read)?.counts(Admin)?;
    if counts.facts == 0 {
        conversations(scratch, &vocabulary, messages, now)?;
        let mut store = scratch.open(Access::Write)?;
        know(&mut store, &vocabulary, facts, now)?;
        drop(store);
        let_rest(scratch, now)?;
    }
    let mut numbers = Numbers::new(9);
    let mut some = |low: usize, high: usize, count: usize| {
        let words = (0..count).map(|_| vocabulary.rank(low + numbers.below(high - low)));
        words.collect::<Vec<_>>().join(" ")
    };
    Ok(Words {
        rare: some(3000, 8000, 4),
        common: some(0, 200, 4),
        questions: (0..20).map(|_| some(300, 3000, 5)).collect(),
        facts,
    })
}

/// Sessions come in as an import and are taken into the memory from there.
fn conversations(
    scratch: &Scratch,
    vocabulary: &Vocabulary,
    messages: usize,
    now: Timestamp,
) -> anyhow::Result<()> {
    let mut sessions = made_up::session_store(&scratch.home().join("state.db"))?;
    let mut numbers = Numbers::new(2);
    let start = (now - SignedDuration::from_mins(messages as i64)).as_second() as f64;
    made_up::fill(&mut sessions, messages, now, |number, count| {
        let text = |place| vocabulary.message(&mut numbers, 46 + place % 11 * 50);
        let texts = (0..count).map(text).collect();
        let title = Some(vocabulary.message(&mut numbers, 40));
        let begins = start + (number * PER_SESSION) as f64 * 60.0;
        Session { number, title, begins, texts }
    })?;
    let mut store = scratch.open(Access::Write)?;
    let settings = Settings {
        zone: &TimeZone::UTC,
        now,
        vectors: Vectors::Now,
        random: [0; 3],
        secrets: hermes_home::redaction::Policy::Redact,
        transcript_note: Path::new("transcript.json"),
    };
    let spool = scratch.home().join("hermesd/spool");
    let report = catch_up(Some(&mut sessions), &mut store, &spool, &settings)?;
    ensure!(report.added == messages as u64, "not all messages were taken in");
    Ok(())
}

/// Facts as an import brings them, spread over the time of the conversations; some contradict others.
fn know(
    store: &mut Memory,
    vocabulary: &Vocabulary,
    facts: usize,
    now: Timestamp,
) -> anyhow::Result<()> {
    let mut numbers = Numbers::new(3);
    for first in (0..facts).step_by(FACTS) {
        let texts: Vec<(usize, String)> = (first..facts.min(first + FACTS))
            .map(|number| {
                let name = NAMES[number % NAMES.len()];
                (number, format!("{name} {number} {}", vocabulary.message(&mut numbers, 80)))
            })
            .collect();
        let age = SignedDuration::from_mins((facts - first) as i64);
        keep(store, &texts, now - age)?;
    }
    Ok(())
}

fn keep(store: &mut Memory, texts: &[(usize, String)], at: Timestamp) -> anyhow::Result<()> {
    let names: Vec<[String; 1]> =
        texts.iter().map(|(number, _)| [NAMES[number % NAMES.len()].to_owned()]).collect();
    let ids: Vec<String> = texts.iter().map(|(number, _)| number.to_string()).collect();
    let sources: Vec<[NewSource<'_>; 1]> = texts
        .iter()
        .map(|(number, text)| {
            let episode = i64::try_from(number / 10 + 1).ok();
            [NewSource { episode, message: None, quote: Some(text), extractor: Some("rules") }]
        })
        .collect();
    let mut all = Vec::with_capacity(texts.len());
    for (place, (number, text)) in texts.iter().enumerate() {
        let words = Text { text, ..Text::default() };
        let fact = NewFact {
            statement: text,
            kind: ["fact", "preference", "decision", "deadline"][number % 4],
            subject: None,
            predicate: None,
            object: None,
            confidence: 0.8,
            origin: Origin::Extract,
            trust: Trust::User,
            valid_from: None,
            valid_to: None,
            shared: false,
            entities: &names[place],
            sources: &sources[place],
            chunks: chunk::prepare(&words, Vectors::Now),
        };
        // Every tenth takes the place of the one five before, a few contradict it.
        let before = i64::try_from(number.saturating_sub(4)).unwrap_or_default();
        let standing = match number {
            number if *number > 10 && number % 10 == 0 => Standing::Supersedes(before),
            number if *number > 10 && number % 5000 == 7 => Standing::MayContradict(before),
            _ => Standing::New,
        };
        let origin = OriginId { source: "bench", external_id: &ids[place] };
        let drawn = DrawnFact { fact, standing, said_at: at, is_explicit: false };
        all.push((origin, drawn));
    }
    let owner = Scope::of(UserNumber::OWNER);
    let kept = store.take_in_facts(owner, &all, Change { actor: "bench", at })?;
    ensure!(kept.len() == texts.len(), "not all facts came in");
    Ok(())
}
