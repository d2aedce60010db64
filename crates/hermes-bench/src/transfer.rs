//! hermes-bench transfer: exporting a memory of made-up messages, and taking it in elsewhere

use std::fs::{self, File};
use std::io::BufWriter;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use hermes_memory::chunk::Vectors;
use hermes_memory::transfer::{self, ExportSettings, ImportSettings};
use hermes_store::memory::{Scope, UserNumber};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cpu;
use crate::figures::{Figure, Table};
use crate::scale::data;
use crate::scratch::{Filling, Scratch, Whose};
use crate::text::Vocabulary;
use hermes_app::numbers::Numbers;
use hermes_app::text::thousands;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages the memory holds
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    messages: usize,
}

const LENGTH: usize = 400;

pub(crate) fn run(arguments: &Arguments, now: Timestamp) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    ensure!(arguments.messages >= 1000, "at least 1000 messages are needed to measure anything");
    let (from, into) = (Scratch::new(now)?, Scratch::new(now)?);
    fill(&from, arguments.messages, now)?;
    let file = tempfile::Builder::new().prefix("hermes-bench-").suffix(".json").tempfile()?;
    let exporting = export(&from, file.path(), now)?;
    let size = fs::metadata(file.path())?.len();
    let importing = import(&into, file.path(), now)?;
    let again = import(&into, file.path(), now)?;
    let speed = |spent: Duration| size as f64 / 1e6 / spent.as_secs_f64().max(1e-9);
    let shown = |spent: Duration| format!("{:.1} MB per CPU-second", speed(spent));
    let results = vec![
        Figure::plain("size of the document", format!("{:.1} MB", size as f64 / 1e6)),
        Figure::new("export", shown(exporting), "≥ 50 MB", speed(exporting) >= 50.0),
        Figure::plain("import into an empty memory", shown(importing)),
        Figure::plain("import once more, all known", shown(again)),
    ];
    let count = thousands(arguments.messages as u64);
    let title = format!("{count} messages of {LENGTH} characters on average, Zipf text, CPU time");
    Ok(Table { title, results })
}

fn fill(scratch: &Scratch, messages: usize, now: Timestamp) -> anyhow::Result<()> {
    let mut filling = Filling::new(scratch, now)?;
    let whose = Whose { scope: Scope::of(UserNumber::OWNER), source: "bench" };
    let (vocabulary, mut numbers) = (Vocabulary::new(), Numbers::new(7));
    let begin = now.checked_sub(SignedDuration::from_hours(24 * 365))?;
    for number in 0..messages {
        let text = vocabulary.message(&mut numbers, LENGTH);
        data::add(&mut filling, &whose, &text, number, begin)?;
    }
    filling.finish(&whose)
}

fn export(scratch: &Scratch, path: &std::path::Path, now: Timestamp) -> anyhow::Result<Duration> {
    let store = scratch.open(Access::Read)?;
    let settings = ExportSettings {
        made_by: "hermes-bench",
        now,
        user: None,
        since: None,
        sections: None,
        redact: false,
    };
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
    Ok(cpu::timed(|| transfer::export(&store, &mut out, &settings, &mut |_, _| {}))?.1)
}

fn import(scratch: &Scratch, path: &std::path::Path, now: Timestamp) -> anyhow::Result<Duration> {
    let mut store = scratch.open(Access::Write)?;
    let settings =
        ImportSettings { profile: "default", zone: &TimeZone::UTC, now, vectors: Vectors::Now };
    let mut file = File::open(path)?;
    let (report, spent) =
        cpu::timed(|| transfer::import(&mut store, &mut file, &settings, &mut |_, _| {}))?;
    ensure!(!report.is_partial(), "some items were left out: {:?}", report.imported.reasons);
    Ok(spent)
}
