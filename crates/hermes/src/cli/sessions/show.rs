//! hermes sessions show

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::{Home, pins};
use hermes_store::sessions::{Message, MessageState, SessionSummary, Window, shown_user};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::reading;
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, Page, Show};
use hermes_app::clock;
use hermes_app::text::{one_line, printable};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Session: its id, the beginning of it, its title, or `last`
    session: String,
    /// Show only the first messages
    #[arg(long, value_name = "COUNT", group = "part")]
    first: Option<usize>,
    /// Show only the last messages
    #[arg(long, value_name = "COUNT", group = "part")]
    last: Option<usize>,
    /// Show only the messages around this one
    #[arg(long, value_name = "MESSAGE", group = "part")]
    around: Option<i64>,
    /// With --around, number of messages on each side
    #[arg(long, default_value_t = 5, value_name = "COUNT", requires = "around")]
    window: usize,
}

#[derive(Debug, Serialize)]
struct Shown {
    session: SessionSummary,
    results: Vec<Message>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let store = reading(app, home)?;
    let id = store.find(&arguments.session)?;
    let window = match (arguments.first, arguments.last, arguments.around) {
        (Some(count), _, _) => Window::First(count),
        (_, Some(count), _) => Window::Last(count),
        (_, _, Some(message)) => {
            Window::Around { message, before: arguments.window, after: arguments.window }
        }
        _ => Window::All,
    };
    let mut session = store.session(&id)?;
    session.pinned |= pins::read(home)?.contains(id.as_str());
    let results = store.messages(&id, window)?;
    app.out.show(&Shown { session, results, zone: app.zone(home)? })?;
    Ok(Outcome::Done)
}

impl Shown {
    fn time(&self, moment: Timestamp) -> String {
        clock::minute(moment, &self.zone)
    }
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let session = &self.session;
        let title = session.title.as_deref().unwrap_or("no title");
        page.line(format_args!("{BOLD}{}{BOLD:#}", printable(title)))?;
        let started = self.time(session.started_at);
        let mut details = vec![session.id.to_string(), session.source.clone(), started];
        details.extend(session.user_id.clone().map(|user| format!("user {}", shown_user(&user))));
        details.extend(session.model.clone());
        details.extend(session.parent.as_ref().map(|parent| format!("continues {parent}")));
        details.extend(session.pinned.then(|| "pinned".to_owned()));
        page.line(format_args!("{DIM}{}{DIM:#}", printable(&details.join(" · "))))?;
        for message in &self.results {
            self.message(message, page)?;
        }
        if self.results.is_empty() {
            page.line("no messages")?;
        }
        Ok(())
    }
}

impl Shown {
    fn message(&self, message: &Message, page: &mut Page) -> io::Result<()> {
        let state = match message.state {
            MessageState::Active => "",
            MessageState::Compacted => " · compacted",
            MessageState::Rewound => " · rewound",
        };
        let tool = message.tool_name.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
        page.line("")?;
        page.line(format_args!(
            "{BOLD}{}{BOLD:#} {DIM}#{} · {}{state}{DIM:#}",
            one_line(&format!("{}{tool}", message.role), 80),
            message.id,
            self.time(message.timestamp)
        ))?;
        if !message.text.is_empty() {
            page.line(printable(&message.text))?;
        }
        if let Some(calls) = &message.tool_calls {
            page.line(format_args!("{DIM}calls {}{DIM:#}", printable(&calls.to_string())))?;
        }
        Ok(())
    }
}
