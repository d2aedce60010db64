//! hermes sessions stats

use crate::terminal::Terminal;
use std::io;

use hermes_home::Home;
use hermes_store::sessions::{SessionStats, SourceStats};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::reading;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::text::{bytes, thousands};

#[derive(Debug, Serialize)]
struct Stats {
    #[serde(flatten)]
    stats: SessionStats,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let stats = reading(app, home)?.stats()?;
    app.out.show(&Stats { stats, zone: app.zone(home)? })?;
    Ok(Outcome::Done)
}

impl Show for Stats {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let stats = &self.stats;
        let count = |value: i64| thousands(u64::try_from(value).unwrap_or(0));
        let day = |moment: Option<Timestamp>| match moment {
            Some(moment) => moment.to_zoned(self.zone.clone()).strftime("%Y-%m-%d").to_string(),
            None => "–".to_owned(),
        };
        page.line(format_args!("sessions  {}", count(stats.sessions)))?;
        page.line(format_args!("messages  {}", count(stats.messages)))?;
        page.line(format_args!("from      {}", day(stats.first_message_at)))?;
        page.line(format_args!("to        {}", day(stats.last_message_at)))?;
        page.line(format_args!(
            "text      {}",
            bytes(u64::try_from(stats.text_bytes).unwrap_or(0))
        ))?;
        page.line(format_args!("on disk   {}", bytes(stats.bytes_on_disk)))?;
        if stats.by_source.is_empty() {
            return Ok(());
        }
        page.line("")?;
        let row = |source: &SourceStats| {
            vec![source.source.clone(), count(source.sessions), count(source.messages)]
        };
        let rows: Vec<_> = stats.by_source.iter().map(row).collect();
        page.table(&["source", "sessions", "messages"], &rows)
    }
}
