//! hermes forget: facts by their ids, or by words with a preview; `hermes memory fact restore` restores them

use std::io;

use clap::Args;
use hermes_store::memory::Fact;
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::memory::whose::Whose;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use crate::terminal::Terminal;
use hermes_app::fact_view::name_of;
use hermes_app::facts::Facts;
use hermes_app::problem::{Kind, Problem};
use hermes_app::recall::Recall;
use hermes_app::search::{self, Filter, Question};
use hermes_app::text::{counted, one_line};

/// How many facts are proposed for some words.
const MOST: usize = 5;
/// A fact that matches less than this was hardly meant.
const LIKELY: f64 = 0.5;

/// Shown below `hermes forget --help`.
pub(crate) const EXAMPLES: &str = "Examples:
  hermes forget fact:042                     forget one fact
  hermes forget my old phone number          list the facts that match, then ask
  hermes memory forget --session ID          forget a conversation
  hermes memory fact restore fact:042        restore a forgotten fact";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Ids of facts (fact:042), or words that describe them
    #[arg(required = true, value_name = "ID or WORDS")]
    what: Vec<String>,
    /// List the facts that match, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    whose: Whose,
}

/// The facts that were or would be forgotten.
#[derive(Debug, Serialize)]
struct Forgotten {
    results: Vec<Item>,
    #[serde(skip)]
    is_preview: bool,
}

#[derive(Debug, Serialize)]
struct Item {
    id: String,
    text: String,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let is_id = |word: &String| word.strip_prefix("fact:").is_some();
    let by_id = arguments.what.iter().all(is_id);
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let facts: Vec<Fact> = match by_id {
        true => arguments
            .what
            .iter()
            .map(|id| Ok(memory.store.find_fact(scope, id)?))
            .collect::<anyhow::Result<_>>()?,
        false => {
            let asker = arguments.whose.asker(&memory.store, app)?;
            let text = arguments.what.join(" ");
            let recall = Recall { app, home: &home, store: &memory.store, asker: &asker };
            let kind = search::Kind::Facts;
            let question = Question { text: &text, kind, limit: MOST, filter: Filter::default() };
            let found = recall.find(&question)?.results;
            let likely = found.iter().filter(|hit| hit.relevance.is_none_or(|it| it >= LIKELY));
            likely
                .map(|hit| Ok(memory.store.find_fact(scope, &hit.id)?))
                .collect::<anyhow::Result<_>>()?
        }
    };
    drop(memory);
    if facts.is_empty() {
        return Err(Problem::new(Kind::NotFound, "no fact matches these words")
            .hint("remove an entry with `hermes memory remove`, forget a conversation with `hermes memory forget --session ID`")
            .into());
    }
    let items =
        facts.iter().map(|fact| Item { id: name_of(fact.id), text: fact.statement.clone() });
    let mut shown = Forgotten { results: items.collect(), is_preview: true };
    if arguments.dry_run {
        app.out.show(&shown)?;
        return Ok(Outcome::Done);
    }
    if !by_id {
        for item in &shown.results {
            app.out.note(format_args!("{}  {}", item.id, one_line(&item.text, 100)));
        }
        let count = counted(facts.len() as u64, "fact");
        confirm::consent(app.asking, &format!("forget {count}?"))?;
    }
    let mut memory = app.memory(&home, Access::Write)?;
    let mut all = Facts { app, home: &home, memory: &mut memory, scope };
    for item in &shown.results {
        all.retire(&item.id)?;
    }
    shown.is_preview = false;
    let first = shown.results.first().map(|item| item.id.clone()).unwrap_or_default();
    app.out.show(&shown)?;
    app.out.hint(format_args!("restore with `hermes memory fact restore {first}`"));
    Ok(Outcome::Done)
}

impl Show for Forgotten {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let what = if self.is_preview { "would be forgotten" } else { "forgotten" };
        for item in &self.results {
            page.line(format_args!("{} \"{}\" {what}", item.id, item.text))?;
        }
        Ok(())
    }
}
