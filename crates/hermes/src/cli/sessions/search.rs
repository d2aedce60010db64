//! hermes sessions search

use crate::terminal::Terminal;
use std::fmt::Write as _;
use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_store::sessions::{
    Neighbour, ResultKind, SearchAnswer, SearchFilter, SearchRequest, SearchResult, Whose,
};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::narrow::Narrow;
use super::reading;
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, FOUND, Page, Show};
use hermes_app::clock;
use hermes_app::text::{one_line, printable};

/// Shown below `hermes sessions search --help`.
pub(crate) const EXAMPLES: &str = "Examples:
  hermes sessions search \"what did we decide about the deploy?\"
  hermes sessions search docker deployment          messages with both words first
  hermes sessions search '\"exact phrase\"'
  hermes sessions search 'docker OR kubernetes'
  hermes sessions search 'python NOT java'
  hermes sessions search 'deploy*' --since 2w --source telegram";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Query
    #[arg(required = true)]
    query: Vec<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 10, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Number of messages to show before and after each result
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    neighbours: usize,
    /// Search only this session
    #[arg(long)]
    session: Option<String>,
    #[command(flatten)]
    narrow: Narrow,
    /// Search only messages of this role: user, assistant, tool, system; can be given several times
    #[arg(long)]
    role: Vec<String>,
    /// Also search messages that were taken back
    #[arg(long)]
    rewound: bool,
}

#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    answer: SearchAnswer,
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
    let store = reading(app, home)?;
    let filter = SearchFilter {
        user: arguments.narrow.user.as_deref().map(Whose::called),
        session: arguments.session.as_deref().map(|session| store.find(session)).transpose()?,
        source: arguments.narrow.source.clone(),
        roles: arguments.role.clone(),
        since: span.since,
        until: span.until,
        include_rewound: arguments.rewound,
    };
    let answer = store.search(&SearchRequest {
        query: arguments.query.join(" "),
        filter,
        limit: usize::from(arguments.limit),
        neighbours: arguments.neighbours,
    })?;
    if let Some(note) = &answer.note {
        app.out.note(note);
    }
    let found = Found { answer, zone };
    app.out.show(&found)?;
    if let Some(first) =
        found.answer.results.iter().find_map(|result| result.message_id.map(|id| (result, id)))
    {
        let (result, id) = first;
        app.out.hint(format_args!(
            "read more with `hermes sessions show {} --around {id}`",
            printable(result.session_id.as_str())
        ));
    }
    Ok(Outcome::Done)
}

impl Show for Found {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.answer.results.is_empty() {
            return page.line("nothing found");
        }
        for (place, result) in self.answer.results.iter().enumerate() {
            if place > 0 {
                page.line("")?;
            }
            self.result(result, page)?;
        }
        Ok(())
    }
}

impl Found {
    fn result(&self, result: &SearchResult, page: &mut Page) -> io::Result<()> {
        let when = clock::minute(result.timestamp, &self.zone);
        let title = result.title.as_deref().map(|title| one_line(title, 60));
        let mut head = title.map(|title| format!("{BOLD}{title}{BOLD:#} ")).unwrap_or_default();
        let id = printable(result.session_id.as_str());
        let _ = write!(head, "{DIM}{id} · {} · {when}", printable(&result.source));
        if let Some(id) = result.message_id {
            let _ = write!(head, " · #{id}");
        }
        page.line(format_args!("{head}{DIM:#}"))?;
        if result.kind == ResultKind::Title {
            return page.line(format_args!("  {DIM}the title matches{DIM:#}"));
        }
        for neighbour in &result.before {
            show_neighbour(neighbour, page)?;
        }
        let role = printable(result.role.as_deref().unwrap_or("unknown"));
        page.line(format_args!("> {role}: {}", marked(result)))?;
        for neighbour in &result.after {
            show_neighbour(neighbour, page)?;
        }
        Ok(())
    }
}

fn marked(result: &SearchResult) -> String {
    let mut text = String::new();
    for (piece, is_found) in result.snippet.pieces() {
        let piece = printable(piece).replace('\n', " ");
        let _ = match is_found {
            true => write!(text, "{FOUND}{piece}{FOUND:#}"),
            false => write!(text, "{piece}"),
        };
    }
    text
}

fn show_neighbour(neighbour: &Neighbour, page: &mut Page) -> io::Result<()> {
    let text = one_line(&neighbour.text, 100);
    page.line(format_args!("  {DIM}{}: {text}{DIM:#}", printable(&neighbour.role)))
}
