//! hermes-bench compact: half a year of made-up conversations, compressed without a model

use anyhow::ensure;
use clap::Args;
use hermes_app::numbers::Numbers;
use hermes_app::text::{bytes, thousands};
use hermes_store::memory::{Admin, Scope, UserNumber};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use crate::cpu;
use crate::daemon::mark_drawn;
use crate::figures::{Figure, Table};
use crate::made_up::role;
use crate::program::Program;
use crate::scale::data::real_words;
use crate::scratch::{Filling, Line, Scratch, Whose};
use crate::text::Vocabulary;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many episodes the memory holds: a user's message and the answer to it
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    turns: usize,
    /// The same number gives the same messages
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
}

/// How many episodes a session has.
const PER_SESSION: usize = 10;
const DAYS: i64 = 182;
/// The youngest message is so many days old.
const AGE: i64 = 31;
/// So many hundredths smaller the file has to be at least.
const LEAST_SMALLER: f64 = 89.5;
const SOURCE: &str = "bench";

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    ensure!(arguments.turns >= 100, "at least 100 episodes are needed to measure anything");
    let scratch = Scratch::new(now)?;
    let characters = fill(&scratch, arguments, now)?;
    let mut store = scratch.open(Access::Write)?;
    let before = store.vacuum(Admin, now)?.after;
    drop(store);
    let ran = program.run(scratch.home(), &["memory", "compact"])?;
    let store = scratch.open(Access::Read)?;
    let after = scratch.size()?;
    let counts = store.counts(Admin)?;
    let all = arguments.turns as u64 * 2;
    let per_hundred = ran.cpu.as_secs_f64() * 100_000.0 / arguments.turns as f64;
    let smaller = 100.0 * (1.0 - after as f64 / before as f64);
    let summaries = thousands(counts.compressed_episodes);
    let results = vec![
        Figure::plain("messages", thousands(all)),
        Figure::new(
            "`hermes memory compact`, whole program",
            format!("{:.1} s, {per_hundred:.1} s for 100,000 episodes", ran.cpu.as_secs_f64()),
            "≤ 60 s for 100,000 episodes",
            per_hundred <= 60.0,
        ),
        Figure::plain("its anonymous memory, the most seen", told(ran.anonymous)),
        Figure::plain("its whole memory with the mapped file", told(ran.resident)),
        Figure::plain("summaries", summaries),
        Figure::plain("raw episodes left", thousands(counts.raw_episodes)),
        Figure::new(
            "memory.db, vacuumed before and after",
            format!("{} to {}, {smaller:.1} % smaller", bytes(before), bytes(after)),
            "about −90 %",
            smaller >= LEAST_SMALLER,
        ),
    ];
    let title = format!(
        "{} episodes of two messages, {} characters a message on average, CPU time",
        thousands(arguments.turns as u64),
        characters / all.max(1),
    );
    Ok(Table { title, results })
}

/// Records the log and notes that everything was drawn from it; returns how many characters it has.
fn fill(scratch: &Scratch, arguments: &Arguments, now: Timestamp) -> anyhow::Result<u64> {
    let vocabulary = Vocabulary::real(real_words());
    let mut numbers = Numbers::new(arguments.seed);
    let mut filling = Filling::new(scratch, now)?;
    let owner = Whose { scope: Scope::of(UserNumber::OWNER), source: SOURCE };
    let begin = now - SignedDuration::from_hours(24 * (AGE + DAYS));
    let sessions = arguments.turns.div_ceil(PER_SESSION).max(1) as i64;
    let step = SignedDuration::from_hours(24 * DAYS) / i32::try_from(sessions).unwrap_or(i32::MAX);
    let mut characters = 0;
    for number in 0..arguments.turns * 2 {
        let session = number / (PER_SESSION * 2);
        let place = (number % (PER_SESSION * 2)) as i64;
        let text = vocabulary.message(&mut numbers, 46 + number % 11 * 50);
        characters += text.chars().count() as u64;
        let at = begin + step * i32::try_from(session)? + SignedDuration::from_secs(20 * place);
        filling.add(
            &owner,
            &Line {
                session_id: &format!("bench_{session:07}"),
                role: role(number),
                speaker: None,
                timestamp: Some(at),
                text: &text,
                caption: None,
                external_id: &number.to_string(),
            },
        )?;
    }
    filling.finish(&owner)?;
    mark_drawn(&mut filling.store, now)?;
    Ok(characters)
}

/// A size, where the system tells it.
fn told(size: Option<u64>) -> String {
    size.map_or_else(|| "not told by this system".to_owned(), bytes)
}
