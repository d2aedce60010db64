//! hermes sessions prune

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::Home;
use hermes_store::sessions::PrunedSession;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::clock;
use hermes_app::sessions::prune::{self, OldSessions, Pruning};
use hermes_app::text::{bytes, counted, one_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Delete sessions without activity for this long: 5h, 2d, 1w [default: sessions.retention_days]
    #[arg(long, value_name = "LENGTH")]
    older_than: Option<String>,
    /// Delete only sessions of this source
    #[arg(long)]
    source: Option<String>,
    /// Show what would be deleted, and delete nothing even with --yes
    #[arg(long)]
    dry_run: bool,
    /// Export them to this file first, for `sessions import`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    pruning: Pruning,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let length = arguments.older_than.as_deref().map(clock::parse_length).transpose()?;
    let old = OldSessions {
        older_than: length.map(jiff::SignedDuration::unsigned_abs),
        source: arguments.source.clone(),
    };
    let zone = app.zone(home)?;
    let pruning = match arguments.dry_run || !app.asking.yes {
        true => prune::plan(app, home, &old)?,
        false => prune::prune(app, home, &old, arguments.export.as_deref())?,
    };
    let waits = pruning.dry_run && !pruning.results.is_empty();
    app.out.show(&Shown { pruning, zone })?;
    if waits {
        app.out.hint(
            "nothing was deleted yet; add `--yes` to delete them. `hermes sessions restore` can restore them for 30 days",
        );
    }
    Ok(Outcome::Done)
}

impl Show for Shown {
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
        let rows: Vec<_> = self.pruning.results.iter().map(row).collect();
        if !rows.is_empty() {
            page.table(&["session", "last active", "source", "messages", "title"], &rows)?;
        }
        let verb = if self.pruning.dry_run { "would be deleted" } else { "deleted" };
        page.line(format_args!(
            "{} with {} ({}) {verb}: no activity since {}",
            counted(self.pruning.results.len() as u64, "session"),
            counted(self.pruning.messages, "message"),
            bytes(self.pruning.text_bytes),
            minute(self.pruning.before),
        ))?;
        let kept = [
            (self.pruning.kept_pinned, "pinned"),
            (self.pruning.kept_unfinished, "still open"),
            (self.pruning.kept_continued, "continued by a session that is kept"),
            (self.pruning.kept_for_owner, "only Hermes Agent can delete them from its index"),
        ];
        for (count, why) in kept.into_iter().filter(|(count, _)| *count > 0) {
            page.line(format_args!("{} kept: {why}", counted(count, "old session")))?;
        }
        for id in &self.pruning.changed_meanwhile {
            page.line(format_args!("{id} kept: it was used in the meantime"))?;
        }
        Ok(())
    }
}
