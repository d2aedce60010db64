//! hermes-bench turns: recording finished turns, and catching up with what other programs wrote

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use hermes_memory::catch_up::catch_up;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::turn::{self, Caller, Places, Settings, Turn, TurnMessage};
use hermes_store::memory::Memory;
use hermes_store::rot::HighWater;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cpu;
use crate::figures::{Figure, Table, Times, milliseconds};
use crate::made_up::{self, PER_SESSION};
use crate::scratch::Scratch;
use crate::text::Vocabulary;
use hermes_app::numbers::Numbers;
use hermes_app::text::thousands;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many turns to record
    #[arg(long, default_value_t = 5_000, value_name = "COUNT")]
    turns: usize,
}

const LENGTH: usize = 300;
const MOST: f64 = 1.05;

pub(crate) fn run(arguments: &Arguments, now: Timestamp) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    ensure!(arguments.turns > 0, "nothing would be measured");
    let mut marked = Kept::new(now, Marked::Yes)?;
    let mut unmarked = Kept::new(now, Marked::No)?;
    let (vocabulary, zone) = (Vocabulary::new(), TimeZone::UTC);
    let mut numbers = Numbers::new(6);
    for number in 0..arguments.turns {
        let turn = made_up(&vocabulary, &mut numbers, number);
        let settings = settings(&zone, now, number)?;
        // Who is first changes, so that neither finds everything warm.
        let mut both = [&mut marked, &mut unmarked];
        both.rotate_left(number % 2);
        both.into_iter().try_for_each(|one| one.record(&turn, &settings))?;
    }
    let Kept { scratch, mut store, mut sessions, times } = marked;
    let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
    let ratio = sum(&times) / sum(&unmarked.times);
    let settings = settings(&zone, now, arguments.turns)?;
    let spool = scratch.home().join("hermesd/spool");
    let mut looks = Vec::new();
    for _ in 0..2 {
        let (report, spent) =
            cpu::timed(|| catch_up(Some(&mut sessions), &mut store, &spool, &settings))?;
        looks.push(spent);
        ensure!(report.added == 0, "a turn was recorded twice");
    }
    let times = Times::new(times);
    let spread = format!("{}, longest {}", times.spread(99), milliseconds(times.longest()));
    let turns = thousands(arguments.turns as u64);
    let results = vec![
        Figure::new("record a turn of two messages", spread, "p50 ≤ 2 ms", times.are_within(2)),
        Figure::new(
            "the same with marks and sums of messages against without",
            format!("{ratio:.3}"),
            "≤ 1.05",
            ratio <= MOST,
        ),
        Figure::plain("catch up, nothing looked at before", milliseconds(looks[0])),
        Figure::plain("catch up, nothing new", milliseconds(looks[1])),
    ];
    let title = format!("{turns} turns, messages of {LENGTH} characters, Zipf text, CPU time");
    Ok(Table { title, results })
}

/// Whether the high-water marks and the sums of messages are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    Yes,
    No,
}

/// Where turns are recorded, and what each took.
struct Kept {
    scratch: Scratch,
    store: Memory,
    sessions: SessionStore,
    times: Vec<Duration>,
}

impl Kept {
    fn new(now: Timestamp, marked: Marked) -> anyhow::Result<Kept> {
        let scratch = Scratch::new(now)?;
        let path = scratch.home().join("state.db");
        let mut store = scratch.open(Access::Write)?;
        let mut sessions = made_up::session_store(&path)?;
        if marked == Marked::Yes {
            let marks = HighWater::at(scratch.located().high_water());
            store.keep_mark(&marks)?;
            sessions.keep_mark(&marks)?;
        }
        Ok(Kept { scratch, store, sessions, times: Vec::new() })
    }

    fn record(&mut self, turn: &Turn, settings: &Settings<'_>) -> anyhow::Result<()> {
        let places = Places { sessions: Some(&mut self.sessions), store: &mut self.store };
        let (recorded, spent) = cpu::timed(|| turn::turn(places, turn, settings))?;
        self.times.push(spent);
        ensure!(recorded.recorded.added == 2, "a turn did not come in");
        Ok(())
    }
}

fn made_up(vocabulary: &Vocabulary, numbers: &mut Numbers, number: usize) -> Turn {
    let mut message = |role| TurnMessage::text(role, &vocabulary.message(numbers, LENGTH));
    Turn {
        session_id: Some(format!("bench_{:06}", number / PER_SESSION)),
        channel: "bench".to_owned(),
        identity: None,
        user: None,
        agent: None,
        project: None,
        messages: vec![message("user"), message("assistant")],
        from: Caller::OurOwn,
        ended: false,
    }
}

fn settings(zone: &TimeZone, now: Timestamp, number: usize) -> anyhow::Result<Settings<'_>> {
    let later = SignedDuration::from_secs(i64::try_from(number)?);
    Ok(Settings {
        zone,
        now: now.checked_add(later)?,
        vectors: Vectors::Now,
        random: [0; 3],
        secrets: hermes_home::redaction::Policy::Redact,
        transcript_note: Path::new("transcript.json"),
    })
}
