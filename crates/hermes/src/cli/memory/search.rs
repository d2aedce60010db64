//! hermes memory search

use crate::cli::views;
use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::whose::Whose;
use crate::cli::one_of::{Word, one_of};
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::hit::Hit;
use hermes_app::problem::Problem;
use hermes_app::recall::Recall;
use hermes_app::search::{Answer, Filter, Kind, Question, Source};

/// Shown below `hermes memory search --help`.
pub(crate) const EXAMPLES: &str = "Examples:
  hermes memory search \"where do we deploy the shop?\"
  hermes memory search \"what did Rosa say about the budget?\" --since 2w
  hermes memory search coffee --type facts --explain
  hermes memory search \"who leads the team\" --type facts --as-of 2025-01-01";

const KINDS: &[Word<Kind>] = &[
    ("facts", "Facts", Kind::Facts),
    ("episodes", "Recorded conversations", Kind::Episodes),
    ("procedures", "Lessons: how to do things well", Kind::Procedures),
    ("events", "Events: what happened when", Kind::Events),
    ("sessions", "Whole conversations in state.db", Kind::Sessions),
    ("files", "MEMORY.md and USER.md", Kind::Files),
    ("all", "Everything except sessions", Kind::All),
];

const SOURCES: &[Word<Source>] = &[
    ("user", "Said or typed by the user", Source::User),
    ("agent", "Stored by an agent", Source::Agent),
    ("conversation", "Said in a conversation, or extracted from one", Source::Conversation),
    ("import", "Imported", Source::Import),
    ("provider", "From an external memory provider", Source::Provider),
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Query, in plain words
    #[arg(required = true)]
    query: Vec<String>,
    /// What to search
    #[arg(long = "type", value_parser = one_of(KINDS), default_value = "all", value_name = "TYPE")]
    kind: Kind,
    /// Maximum number of results
    #[arg(long, default_value_t = 10, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Search only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Search only conversations of this channel: cli, telegram, …
    #[arg(long)]
    channel: Option<String>,
    /// Search only conversations about this project: its folder, or the last part of the path
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// Search only items from this origin
    #[arg(long, value_parser = one_of(SOURCES), value_name = "SOURCE")]
    source: Option<Source>,
    /// Search only items that mention this name
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,
    /// Search only items since then (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Search only items before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Search what was true and known at this time
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Show how each score was calculated
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    whose: Whose,
    /// Whether conversations that the memory does not contain are searched too.
    #[arg(skip)]
    with_sessions: bool,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    answer: Answer,
    #[serde(skip)]
    explain: bool,
    #[serde(skip)]
    zone: TimeZone,
}

/// Shown below `hermes search --help`.
pub(crate) const EVERYWHERE: &str = "Examples:
  hermes search \"where do we deploy the shop?\"
  hermes search \"what did Rosa say about the budget?\" --since 2w
  hermes search coffee --type facts --explain
  hermes search 'docker OR kubernetes' --type sessions

Without `--type`, it searches the memory and then the conversations in state.db that the memory
does not contain.";

/// Searches what is asked for; where nothing is named, the memory and the conversations.
pub(crate) fn everywhere(arguments: Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    run(&Arguments { with_sessions: arguments.kind == Kind::All, ..arguments }, app)
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let text = arguments.query.join(" ");
    if text.trim().is_empty() {
        return Err(Problem::usage("the query is empty").into());
    }
    let zone = app.zone(&home)?;
    let moment = |text: &Option<String>| app.moment(&home, text.as_deref());
    let (since, until) = (moment(&arguments.since)?, moment(&arguments.until)?);
    let as_of = moment(&arguments.as_of)?;
    let memory = app.memory(&home, Access::Read)?;
    let asker = arguments.whose.asker(&memory.store, app)?;
    let question = Question {
        text: &text,
        kind: arguments.kind,
        limit: usize::from(arguments.limit),
        filter: Filter {
            session: arguments.session.as_deref(),
            except_session: None,
            channel: arguments.channel.as_deref(),
            project: arguments.project.as_deref(),
            source: arguments.source.map(Source::word),
            entity: arguments.entity.as_deref(),
            since,
            until,
            as_of,
        },
    };
    let recall = Recall { app, home: &home, store: &memory.store, asker: &asker };
    let mut answer = recall.find(&question)?;
    if arguments.with_sessions {
        let left = question.limit.saturating_sub(answer.results.len());
        let more = recall.find(&Question { kind: Kind::Sessions, ..question })?.results;
        let is_new = |hit: &Hit| {
            let is_same =
                |known: &Hit| known.session_id.is_some() && known.session_id == hit.session_id;
            !answer.results.iter().any(is_same)
        };
        let more: Vec<Hit> = more.into_iter().filter(is_new).take(left).collect();
        answer.results.extend(more);
    }
    for note in &answer.notes {
        app.out.note(note);
    }
    let is_empty = answer.results.is_empty();
    app.out.show(&Shown { answer, explain: arguments.explain, zone })?;
    if is_empty && arguments.kind != Kind::Sessions && !arguments.with_sessions {
        app.out.hint("to search whole conversations, run `hermes memory search --type sessions`");
    }
    Ok(Outcome::Done)
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.answer.results.is_empty() {
            return page.line("nothing found");
        }
        for (place, hit) in self.answer.results.iter().enumerate() {
            if place > 0 {
                page.line("")?;
            }
            views::hit(hit, page, &self.zone, self.explain)?;
        }
        Ok(())
    }
}
