//! hermes bench compact: half a year of made-up conversations, compressed without a model

use crate::terminal::Terminal;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use hermes_store::memory::{Admin, Lifecycle as _, Scope, Upkeep as _, UserNumber};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use super::figures::{Figure, Table};
use super::scale::data::real_words;
use super::scratch::{Filling, Line, Scratch, Whose};
use super::text::{Numbers, Vocabulary};
use crate::failure::Outcome;
use hermes_app::platform;
use hermes_app::text::{bytes, thousands};

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

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    ensure!(platform::thread_cpu() > Duration::ZERO, "CPU time cannot be measured on this system");
    ensure!(arguments.turns >= 100, "at least 100 episodes are needed to measure anything");
    let scratch = Scratch::new(app.now)?;
    let characters = fill(&scratch, arguments, app.now)?;
    let mut store = scratch.open(Access::Write)?;
    let before = store.vacuum(Admin, app.now)?.after;
    drop(store);
    let ran = compact(scratch.home())?;
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
        Figure::plain("its anonymous memory, the most seen", bytes(ran.anonymous)),
        Figure::plain("its whole memory with the mapped file", bytes(ran.resident)),
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
    app.out.show(&Table { title, results })?;
    Ok(Outcome::Done)
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
                role: if number.is_multiple_of(2) { "user" } else { "assistant" },
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

/// Notes that everything was drawn from what is recorded.
fn mark_drawn(
    store: &mut hermes_store::memory::SqliteMemory,
    now: Timestamp,
) -> anyhow::Result<()> {
    const BATCH: usize = 2_000;
    loop {
        let waiting = store.waiting_episodes(Admin, now, BATCH)?;
        if waiting.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = waiting.iter().map(|episode| episode.id).collect();
        store.mark_extracted(Admin, &ids, now)?;
    }
}

/// What a run of the program took.
struct Ran {
    cpu: Duration,
    anonymous: u64,
    resident: u64,
}

fn compact(home: &Path) -> anyhow::Result<Ran> {
    let before = platform::children_cpu();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["memory", "compact", "--quiet"])
        .env("HERMES_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("could not start this program again")?;
    let (mut anonymous, mut resident) = (0, 0);
    let status = loop {
        anonymous = anonymous.max(memory_of(child.id(), "RssAnon:").unwrap_or(0));
        resident = resident.max(memory_of(child.id(), "VmHWM:").unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    ensure!(status.success(), "`hermes memory compact` failed");
    Ok(Ran { cpu: platform::children_cpu() - before, anonymous, resident })
}

/// A line of what the system tells about a process, in bytes.
fn memory_of(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
