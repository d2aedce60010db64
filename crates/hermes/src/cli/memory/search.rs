//! hermes memory search

use std::io;

use clap::{Args, ValueEnum};
use hermes_home::Home;
use hermes_memory::search::{self, Filter, Item, Question};
use hermes_store::memory::{ItemKind, Lifecycle as _};
use hermes_store::sessions::{SearchFilter, SearchRequest};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::hit::Hit;
use super::whose::Whose;
use super::{files, hit};
use crate::app::App;
use crate::clock;
use crate::failure::{Outcome, Problem};
use crate::output::{Page, Show};

/// Shown below `hermes memory search --help`.
pub(crate) const EXAMPLES: &str = "Examples:
  hermes memory search \"where do we deploy the shop?\"
  hermes memory search \"what did Rosa say about the budget?\" --since 2w
  hermes memory search coffee --type facts --explain
  hermes memory search \"who leads the team\" --type facts --as-of 2025-01-01";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to look for, in plain words
    #[arg(required = true)]
    query: Vec<String>,
    /// Where to look: sessions is state.db, files are MEMORY.md and USER.md, all is all but sessions
    #[arg(long = "type", value_enum, default_value = "all", value_name = "TYPE")]
    kind: Kind,
    /// At most this many results
    #[arg(long, default_value_t = 10, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Only in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only in conversations of this channel: cli, telegram, …
    #[arg(long)]
    channel: Option<String>,
    /// Only what mentions this name
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,
    /// Only since this time (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// What held and was known at this time
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Show what every score is made of
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Facts,
    Episodes,
    Procedures,
    Events,
    Sessions,
    Files,
    All,
}

/// The times that were typed.
struct Times {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    as_of: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct Answer {
    results: Vec<Hit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    explain: bool,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let text = arguments.query.join(" ");
    if text.trim().is_empty() {
        return Err(Problem::usage("there is nothing to look for: the text is empty").into());
    }
    let zone = app.zone(&home)?;
    let times = arguments.times(app, &zone)?;
    let mut notes = Vec::new();
    let mut results = match arguments.kind {
        Kind::Sessions => sessions(arguments, app, &home, (&text, &times, &mut notes))?,
        Kind::Files => files::find(app, &home, &arguments.whose, &text)?,
        kind => {
            let found = memory(arguments, app, &home, (&text, &times, &mut notes))?;
            match kind == Kind::All && arguments.takes_files() {
                true => hit::join(found, files::find(app, &home, &arguments.whose, &text)?),
                false => found,
            }
        }
    };
    results.truncate(usize::from(arguments.limit));
    for note in &notes {
        app.out.note(note);
    }
    let is_empty = results.is_empty();
    app.out.show(&Answer { results, notes, explain: arguments.explain, zone })?;
    if is_empty && arguments.kind != Kind::Sessions {
        app.out
            .hint("whole conversations are searched with `hermes memory search --type sessions`");
    }
    Ok(Outcome::Done)
}

/// Searches memory.db.
fn memory(
    arguments: &Arguments,
    app: &App,
    home: &Home,
    (text, times, notes): (&str, &Times, &mut Vec<String>),
) -> anyhow::Result<Vec<Hit>> {
    let memory = app.memory(home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let answering = app.answering(home, &memory.store)?;
    notes.extend(answering.notes);
    let zone = app.zone_of(home, &memory.store, scope.user())?;
    let question = Question {
        text,
        kinds: arguments.kind.items(),
        filter: Filter {
            session: arguments.session.as_deref(),
            except_session: None,
            channel: arguments.channel.as_deref(),
            entity: arguments.entity.as_deref(),
            since: times.since,
            until: times.until,
            as_of: times.as_of,
        },
        limit: usize::from(arguments.limit),
        now: app.now,
        zone: &zone,
    };
    let answer = search::search(&memory.store, answering.embedder.as_deref(), scope, &question)?;
    if answer.is_unsure() {
        notes.push("nothing here is sure to answer; these come nearest".to_owned());
    }
    notes.extend(answer.notes);
    let mut hits = Vec::new();
    for found in &answer.results {
        let mut hit = Hit::of_memory(found, text);
        if let Item::Summary(summary) = &found.item {
            hit.sessions = memory.store.sessions_of_summary(scope, summary.id)?;
        }
        hits.push(hit);
    }
    Ok(hits)
}

/// Searches state.db.
fn sessions(
    arguments: &Arguments,
    app: &App,
    home: &Home,
    (text, times, notes): (&str, &Times, &mut Vec<String>),
) -> anyhow::Result<Vec<Hit>> {
    let store = app.sessions(home, Access::Read)?;
    let session = arguments.session.as_deref().map(|session| store.find(session)).transpose()?;
    let filter = SearchFilter {
        user: arguments.whose.id()?.map(|id| id.as_str().to_owned()),
        session,
        source: arguments.channel.clone(),
        since: times.since,
        until: times.until,
        ..SearchFilter::default()
    };
    let limit = usize::from(arguments.limit);
    let request = SearchRequest { query: text.to_owned(), filter, limit, neighbours: 0 };
    let answer = store.search(&request)?;
    notes.extend(answer.note);
    Ok(answer.results.into_iter().map(Hit::of_session).collect())
}

impl Arguments {
    fn times(&self, app: &App, zone: &TimeZone) -> Result<Times, Problem> {
        let moment = |text: &Option<String>| {
            text.as_deref().map(|text| clock::parse_moment(text, app.now, zone)).transpose()
        };
        Ok(Times {
            since: moment(&self.since)?,
            until: moment(&self.until)?,
            as_of: moment(&self.as_of)?,
        })
    }

    /// Entries of files have no session, channel or hour, so what asks for these leaves them out.
    fn takes_files(&self) -> bool {
        let Arguments { session, channel, entity, since, until, as_of, .. } = self;
        [session, channel, entity, since, until, as_of].iter().all(|flag| flag.is_none())
    }
}

impl Kind {
    fn items(self) -> Vec<ItemKind> {
        match self {
            Kind::Facts => vec![ItemKind::Fact],
            Kind::Episodes => vec![ItemKind::Message, ItemKind::Summary],
            Kind::Procedures => vec![ItemKind::Procedure],
            Kind::Events => vec![ItemKind::Event],
            Kind::Sessions | Kind::Files | Kind::All => Vec::new(),
        }
    }
}

impl Show for Answer {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("nothing found");
        }
        for (place, hit) in self.results.iter().enumerate() {
            if place > 0 {
                page.line("")?;
            }
            hit.show(page, &self.zone, self.explain)?;
        }
        Ok(())
    }
}
