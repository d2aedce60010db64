//! hermes memory compact

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_memory::compress::Report;
use hermes_store::memory::{Admin, Vacuumed};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::background::Background;
use hermes_app::clock;
use hermes_app::daemon::compaction::{self, Wanted};
use hermes_app::later;
use hermes_app::memory::OpenMemory;
use hermes_app::progress::Progress;
use hermes_app::text::{bytes, counted, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Summarise conversations that ended longer ago than this: 12h, 30d, 8w [default: memory.compression.after_days]
    #[arg(long, value_name = "LENGTH")]
    older_than: Option<String>,
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not vacuum afterwards: the file keeps its size, and its free space is used again
    #[arg(long)]
    no_vacuum: bool,
}

/// What was done, or would be.
#[derive(Debug, Default, Serialize)]
struct Done {
    dry_run: bool,
    before: Option<Timestamp>,
    #[serde(flatten)]
    report: Report,
    /// Old episodes from which nothing was drawn yet; they stay.
    not_drawn_from: u64,
    /// The size of the file before and after, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<Vacuumed>,
}

/// How many episodes that wait are counted.
const MOST_COUNTED: usize = 100_000;

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let before = app.now - age(arguments, &home, app)?;
    if !app.has_memory(&home) {
        app.out.show(&Done { dry_run: arguments.dry_run, ..Done::default() })?;
        app.out.note("there is no memory.db yet");
        return Ok(Outcome::Done);
    }
    let access = if arguments.dry_run { Access::Read } else { Access::Write };
    let mut memory = app.memory(&home, access)?;
    let size = memory.store.counts(Admin)?.size;
    let report = compress(arguments, &home, app, &mut memory, before)?;
    let waiting = memory.store.waiting_episodes(Admin, before, MOST_COUNTED)?;
    let mut done = Done {
        dry_run: arguments.dry_run,
        before: Some(before),
        report,
        not_drawn_from: waiting.iter().filter(|episode| episode.ended_at < before).count() as u64,
        size: None,
    };
    if !arguments.dry_run && !arguments.no_vacuum {
        let after = memory.store.vacuum(Admin, app.now)?.after;
        done.size = Some(Vacuumed { before: size, after });
    }
    let waits = done.not_drawn_from > 0;
    let stopped = done.report.stopped.clone();
    app.out.show(&done)?;
    if let Some(why) = &stopped {
        app.out.note(format_args!("stopped early: {why}"));
    }
    if waits {
        app.out.hint("facts must be extracted first: `hermes memory extract`");
    }
    if !arguments.dry_run {
        later::fill_in(&home, app, &mut memory.store)?;
    }
    Ok(if stopped.is_some() { Outcome::Partial } else { Outcome::Done })
}

/// How old an episode must be; what is younger than the settings say needs the user's consent.
fn age(arguments: &Arguments, home: &Home, app: &Terminal) -> anyhow::Result<SignedDuration> {
    let usual = compaction::usual_age(app, home)?;
    let Some(text) = &arguments.older_than else { return Ok(usual) };
    let age = clock::parse_length(text)?;
    if age < usual && !arguments.dry_run {
        let question = format!(
            "replace everything older than {text} with summaries? The original words are deleted from the memory"
        );
        confirm::consent(app.asking, &question)?;
    }
    Ok(age)
}

fn compress(
    arguments: &Arguments,
    home: &Home,
    app: &Terminal,
    memory: &mut OpenMemory,
    before: Timestamp,
) -> anyhow::Result<Report> {
    let model = match arguments.dry_run {
        true => None,
        false => Background::open(app, home)?,
    };
    let wanted = Wanted { before, dry_run: arguments.dry_run, limit: None, model: model.as_ref() };
    let progress = Progress::of(app);
    let store = &mut memory.store;
    let report = compaction::compress(app, home, store, &wanted, &mut |report| {
        let (episodes, clusters) = (thousands(report.episodes), thousands(report.clusters));
        progress.say(format_args!("{episodes} episodes in {clusters} summaries"));
    })?;
    drop(progress);
    Ok(report)
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let report = &self.report;
        if report.episodes == 0 {
            page.line("nothing is old enough to be compressed")?;
        } else {
            let would = if self.dry_run { "would become" } else { "became" };
            page.line(format_args!(
                "{} ({}) {would} {}",
                counted(report.episodes, "episode"),
                counted(report.messages, "message"),
                summaries(report.clusters + report.finished),
            ))?;
            let (before, after) = (bytes(report.text_before), bytes(report.text_after));
            page.line(format_args!("{before} of text, {after} as summaries"))?;
        }
        if report.pinned > 0 {
            page.line(format_args!("{} skipped: pinned", counted(report.pinned, "episode")))?;
        }
        if self.not_drawn_from > 0 {
            let count = counted(self.not_drawn_from, "episode");
            page.line(format_args!("{count} skipped: no facts were extracted from them yet"))?;
        }
        if let Some(Vacuumed { before, after }) = self.size {
            let gained = 100.0 * (1.0 - after as f64 / before.max(1) as f64);
            let (before, after) = (bytes(before), bytes(after));
            page.line(format_args!("{before} before, {after} now ({gained:.0} % smaller)"))?;
        }
        Ok(())
    }
}

fn summaries(count: u64) -> String {
    if count == 1 { "1 summary".to_owned() } else { format!("{} summaries", thousands(count)) }
}
