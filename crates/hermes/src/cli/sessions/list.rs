//! hermes sessions list

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::{Home, pins};
use hermes_store::sessions::{SessionFilter, SessionKind, SessionSummary, Whose};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::narrow::Narrow;
use super::reading;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::clock;
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Maximum number of sessions; 0 lists all
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    limit: usize,
    #[command(flatten)]
    narrow: Narrow,
    /// List only pinned sessions
    #[arg(long)]
    pinned: bool,
    /// Also list archived and hidden sessions
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
struct Sessions {
    results: Vec<SessionSummary>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let zone = app.zone(home)?;
    let span = arguments.narrow.span(app, &zone)?;
    let limit = Some(arguments.limit).filter(|limit| *limit > 0);
    let filter = SessionFilter {
        source: arguments.narrow.source.clone(),
        user: arguments.narrow.user.as_deref().map(Whose::called),
        since: span.since,
        until: span.until,
        include_archived: arguments.all,
        include_hidden: arguments.all,
        limit: limit.filter(|_| !arguments.pinned),
        ..SessionFilter::default()
    };
    let mut results = reading(app, home)?.list(&filter)?;
    let pinned = pins::read(home)?;
    for session in &mut results {
        session.pinned |= pinned.contains(session.id.as_str());
    }
    if arguments.pinned {
        results.retain(|session| session.pinned);
        results.truncate(limit.unwrap_or(usize::MAX));
    }
    let is_cut = Some(results.len()) == limit;
    app.out.show(&Sessions { results, zone })?;
    if is_cut {
        app.out.hint("there may be more: `--limit 0` lists all");
    }
    Ok(Outcome::Done)
}

impl Show for Sessions {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no sessions");
        }
        let row = |session: &SessionSummary| {
            vec![
                session.id.to_string(),
                clock::minute(session.last_active, &self.zone),
                session.source.clone(),
                session.message_count.to_string(),
                format!("{}{}", marks(session), name(session)),
            ]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["session", "last active", "source", "messages", "title"], &rows)
    }
}

fn name(session: &SessionSummary) -> String {
    const WIDTH: usize = 60;
    match (&session.title, &session.preview) {
        (Some(title), _) => one_line(title, WIDTH),
        (None, Some(preview)) => format!("“{}”", one_line(preview, WIDTH - 2)),
        (None, None) => String::new(),
    }
}

fn marks(session: &SessionSummary) -> String {
    let kind = match session.kind {
        SessionKind::Conversation => "",
        SessionKind::Branch => "[branch] ",
        SessionKind::Continuation => "[continued] ",
        SessionKind::Subagent => "[subagent] ",
        SessionKind::Cron => "[cron] ",
    };
    let pinned = if session.pinned { "[pinned] " } else { "" };
    let archived = if session.archived { "[archived] " } else { "" };
    format!("{pinned}{archived}{kind}")
}
