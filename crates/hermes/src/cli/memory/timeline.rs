//! hermes memory timeline

use crate::terminal::Terminal;
use std::io;

use clap::{Args, ValueEnum};
use hermes_store::memory::{Event, EventKind};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::whose::Whose;
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, Page, Show};
use hermes_app::clock;
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show events since then (2d, 1w, 2026-05-31, "last tuesday")
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// Show only events before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Show only events of this kind
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Maximum number of events
    #[arg(long, default_value_t = 200, value_name = "COUNT")]
    limit: usize,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Work that was started or done
    Task,
    /// Decisions
    Decision,
    /// Results
    Result,
    /// Failures
    Failure,
}

/// Whoever looked so far back need not be told to look further; some days less, since `1y` is counted back.
const A_YEAR: SignedDuration = SignedDuration::from_hours(24 * 364);

/// One thing that happened.
#[derive(Debug, Serialize)]
struct Happening {
    id: String,
    at: Timestamp,
    kind: EventKind,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Debug, Serialize)]
struct Timeline {
    results: Vec<Happening>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let zone = app.zone(&home)?;
    let since = clock::parse_moment(&arguments.since, app.now, &zone)?;
    let until = arguments
        .until
        .as_ref()
        .map(|until| clock::parse_moment(until, app.now, &zone))
        .transpose()?;
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let mut events = memory.store.list_events(scope, Some(since), until, usize::MAX)?;
    events.retain(|event| arguments.kind.is_none_or(|kind| event.kind == kind.wanted()));
    events.truncate(arguments.limit);
    events.reverse();
    let results: Vec<_> = events.into_iter().map(happening).collect();
    let is_empty = results.is_empty();
    app.out.show(&Timeline { results, zone })?;
    if is_empty {
        app.out.hint(match (app.now.duration_since(since) < A_YEAR, arguments.kind) {
            (true, _) => "show more with `hermes memory timeline --since 1y`",
            (false, Some(_)) => "leave out `--kind` to show every kind",
            (false, None) => {
                "events are created by reflection; to run it now, use `hermes memory reflect`"
            }
        });
    }
    Ok(Outcome::Done)
}

impl Kind {
    fn wanted(self) -> EventKind {
        match self {
            Kind::Task => EventKind::Task,
            Kind::Decision => EventKind::Decision,
            Kind::Result => EventKind::Result,
            Kind::Failure => EventKind::Failure,
        }
    }
}

fn happening(event: Event) -> Happening {
    let Event { id, at, kind, text, why, .. } = event;
    Happening { id: format!("event:{id}"), at, kind, text, why }
}

impl Show for Timeline {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no events in that time");
        }
        let mut day = String::new();
        for one in &self.results {
            let at = one.at.to_zoned(self.zone.clone());
            let today = at.strftime("%A, %-d %B %Y").to_string();
            if today != day {
                page.line(format_args!("{BOLD}{today}{BOLD:#}"))?;
                day = today;
            }
            let kind = format!("{:?}", one.kind).to_lowercase();
            let (hour, text) = (at.strftime("%H:%M"), one_line(&one.text, 140));
            page.line(format_args!("  {DIM}{hour}{DIM:#}  {kind:<8}  {text}"))?;
            if let Some(why) = &one.why {
                page.line(format_args!("         {DIM}why:{DIM:#}      {}", one_line(why, 140)))?;
            }
        }
        Ok(())
    }
}
