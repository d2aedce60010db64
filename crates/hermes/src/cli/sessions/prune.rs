//! hermes sessions prune

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hermes_home::{Home, pins};
use hermes_store::sessions::{PrunePlan, PruneRequest, PrunedSession, SessionId};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{export, reading, writing};
use crate::app::App;
use crate::clock;
use crate::failure::Outcome;
use crate::output::{Page, Show, bytes, counted, one_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Without activity for this long: 5h, 2d, 1w [default: sessions.retention_days]
    #[arg(long, value_name = "LENGTH")]
    older_than: Option<String>,
    /// Only from this source
    #[arg(long)]
    source: Option<String>,
    /// Show what would go, even with --yes
    #[arg(long)]
    dry_run: bool,
    /// Write them to this file first, for `sessions import`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Pruning {
    dry_run: bool,
    before: Timestamp,
    results: Vec<PrunedSession>,
    messages: u64,
    text_bytes: u64,
    kept_pinned: u64,
    kept_unfinished: u64,
    kept_continued: u64,
    kept_for_owner: u64,
    /// Sessions that were used between plan and deed and therefore stay.
    changed_meanwhile: Vec<SessionId>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(arguments: &Arguments, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let request = PruneRequest {
        now: app.now,
        older_than: age(arguments, home, app)?,
        source: arguments.source.clone(),
        keep: pins::read(home)?.into_iter().map(SessionId::from).collect(),
    };
    let dry_run = arguments.dry_run || !app.asking.yes;
    let zone = app.zone(home)?;
    if dry_run {
        let plan = reading(app, home)?.prune_plan(&request)?;
        let found = !plan.sessions.is_empty();
        app.out.show(&Pruning::of(plan, true, zone))?;
        if found {
            app.out.hint("nothing was deleted yet; add `--yes` to delete them, `--export FILE` to keep a copy");
        }
        return Ok(Outcome::Done);
    }
    let mut store = writing(app, home)?;
    let plan = store.prune_plan(&request)?;
    if let Some(path) = &arguments.export {
        let ids: Vec<SessionId> = plan.sessions.iter().map(|session| session.id.clone()).collect();
        export::save_lines(&store, &ids, path)?;
    }
    let report = store.prune(&plan)?;
    let mut shown = Pruning::of(plan, false, zone);
    shown.results.retain(|session| !report.changed.contains(&session.id));
    shown.messages = report.messages;
    shown.changed_meanwhile = report.changed;
    app.out.show(&shown)?;
    Ok(Outcome::Done)
}

/// What was typed, else the retention that the settings name.
fn age(arguments: &Arguments, home: &Home, app: &App) -> anyhow::Result<Duration> {
    let length = match &arguments.older_than {
        Some(text) => clock::parse_length(text)?,
        None => {
            let days = app.config(home)?.config.sessions.retention_days;
            jiff::SignedDuration::from_hours(i64::from(days) * 24)
        }
    };
    Ok(length.unsigned_abs())
}

impl Pruning {
    fn of(plan: PrunePlan, dry_run: bool, zone: TimeZone) -> Pruning {
        Pruning {
            dry_run,
            before: plan.before,
            results: plan.sessions,
            messages: plan.messages,
            text_bytes: plan.text_bytes,
            kept_pinned: plan.kept_pinned,
            kept_unfinished: plan.kept_unfinished,
            kept_continued: plan.kept_continued,
            kept_for_owner: plan.kept_for_owner,
            changed_meanwhile: Vec::new(),
            zone,
        }
    }
}

impl Show for Pruning {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let minute = |moment: Timestamp| clock::minute(moment, &self.zone);
        let row = |session: &PrunedSession| {
            vec![
                session.id.to_string(),
                minute(session.last_active),
                session.source.clone(),
                session.messages.to_string(),
                one_line(session.title.as_deref().unwrap_or_default(), 50),
            ]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        if !rows.is_empty() {
            page.table(&["session", "last active", "source", "messages", "title"], &rows)?;
        }
        let verb = if self.dry_run { "would be deleted" } else { "deleted" };
        page.line(format_args!(
            "{} with {} ({}) {verb}: no activity since {}",
            counted(self.results.len() as u64, "session"),
            counted(self.messages, "message"),
            bytes(self.text_bytes),
            minute(self.before),
        ))?;
        let kept = [
            (self.kept_pinned, "pinned"),
            (self.kept_unfinished, "still open"),
            (self.kept_continued, "continued by a session that stays"),
            (self.kept_for_owner, "only Hermes Agent can delete them from its index"),
        ];
        for (count, why) in kept.into_iter().filter(|(count, _)| *count > 0) {
            page.line(format_args!("{} kept: {why}", counted(count, "old session")))?;
        }
        for id in &self.changed_meanwhile {
            page.line(format_args!("{id} kept: it was used meanwhile"))?;
        }
        Ok(())
    }
}
