//! The flags that narrow a list, an export or a search to some sessions.

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use hermes_app::app::App;
use hermes_app::clock;
use hermes_app::problem::Problem;

#[derive(Debug, Args)]
pub(crate) struct Narrow {
    /// Include only this source
    #[arg(long)]
    pub(super) source: Option<String>,
    /// Include only this user
    #[arg(long, value_name = "ID")]
    pub(super) user: Option<String>,
    /// Include only activity since then (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Include only activity before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

/// A span of time, open where nothing was said.
pub(super) struct Span {
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl Narrow {
    /// Whether nothing was said at all.
    pub(super) fn is_all(&self) -> bool {
        let Narrow { source, user, since, until } = self;
        [source, user, since, until].iter().all(|flag| flag.is_none())
    }

    /// The times that were typed.
    pub(super) fn span(&self, app: &App, zone: &TimeZone) -> Result<Span, Problem> {
        let moment = |text: &Option<String>| {
            text.as_deref().map(|text| clock::parse_moment(text, app.now, zone)).transpose()
        };
        Ok(Span { since: moment(&self.since)?, until: moment(&self.until)? })
    }
}
