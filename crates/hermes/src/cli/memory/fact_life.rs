//! hermes memory fact history, undo, pin, unpin, merge, conflicts, settle

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_store::memory::{Fact, FactChange};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::fact::{One, existing};
use super::whose::Whose;
use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::clock;
use hermes_app::fact_view::{Changed, name_of};
use hermes_app::facts::Facts;
use hermes_app::text::one_line;
use hermes_app::{facts, reason};

#[derive(Debug, Args)]
pub(crate) struct Conflicts {
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Settle {
    /// First fact
    fact: String,
    /// Second fact
    other: String,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Fact to keep
    keep: String,
    /// Facts that it supersedes
    #[arg(required = true, value_name = "OTHER")]
    others: Vec<String>,
    #[command(flatten)]
    whose: Whose,
}

/// Facts that another one stands for now.
#[derive(Debug, Serialize)]
struct Merged {
    results: Vec<Changed>,
}

/// What happened to a fact.
#[derive(Debug, Serialize)]
struct History {
    id: String,
    text: String,
    results: Vec<FactChange>,
    #[serde(skip)]
    zone: TimeZone,
}

/// Two facts that may not both be true.
#[derive(Debug, Serialize)]
struct Pair {
    fact: String,
    text: String,
    other: String,
    other_text: String,
    at: Timestamp,
}

#[derive(Debug, Serialize)]
struct Pairs {
    results: Vec<Pair>,
}

/// What became of a fact.
#[derive(Debug, Serialize)]
struct Became {
    id: String,
    text: String,
    change: String,
}

pub(super) fn history(arguments: &One, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let memory = app.memory(home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let (fact, results) = facts::history(&memory.store, scope, &arguments.id)?;
    let zone = app.zone(home)?;
    app.out.show(&History { id: name_of(fact.id), text: fact.statement, results, zone })?;
    Ok(Outcome::Done)
}

pub(super) fn undo(arguments: &One, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let (action, fact) = Facts { app, home, memory: &mut memory, scope }.undo(&arguments.id)?;
    app.out.show(&Became {
        id: name_of(fact.id),
        text: fact.statement,
        change: facts::undone(&action).to_owned(),
    })?;
    Ok(Outcome::Done)
}

pub(super) fn pin(
    arguments: &One,
    pinned: bool,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let fact = Facts { app, home, memory: &mut memory, scope }.pin(&arguments.id, pinned)?;
    let change = match pinned {
        true => "is pinned: facts extracted from conversations never supersede it",
        false => "is no longer pinned",
    };
    app.out.show(&Became {
        id: name_of(fact.id),
        text: fact.statement,
        change: change.to_owned(),
    })?;
    Ok(Outcome::Done)
}

pub(super) fn conflicts(
    arguments: &Conflicts,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let memory = app.memory(home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let mut results = Vec::new();
    for conflict in memory.store.conflicts(scope)? {
        results.push(Pair {
            fact: name_of(conflict.fact),
            text: text_of(&memory.store.facts(scope, &[conflict.fact])?),
            other: name_of(conflict.other),
            other_text: text_of(&memory.store.facts(scope, &[conflict.other])?),
            at: conflict.at,
        });
    }
    let is_empty = results.is_empty();
    app.out.show(&Pairs { results })?;
    if !is_empty {
        app.out.hint("delete the wrong one with `hermes memory fact delete ID`; if both are true, `hermes memory fact settle ID ID`");
    }
    Ok(Outcome::Done)
}

pub(super) fn merge(arguments: &Merge, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.keep)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let others: Vec<&str> = arguments.others.iter().map(String::as_str).collect();
    let merged = Facts { app, home, memory: &mut memory, scope }.merge(&arguments.keep, &others)?;
    for one in &merged {
        app.out.hint(format_args!(
            "undo it with `hermes memory fact undo {}`",
            one.replaced.as_deref().unwrap_or_default()
        ));
    }
    app.out.show(&Merged { results: merged })?;
    Ok(Outcome::Done)
}

pub(super) fn settle(
    arguments: &Settle,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.fact)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let fact = memory.store.find_fact(scope, &arguments.fact)?;
    let other = memory.store.find_fact(scope, &arguments.other)?;
    memory.store.settle_conflict(scope, fact.id, other.id, app.change())?;
    let change = format!("and {} are marked as not contradicting each other", name_of(other.id));
    app.out.show(&Became { id: name_of(fact.id), text: fact.statement, change })?;
    Ok(Outcome::Done)
}

fn text_of(facts: &[Fact]) -> String {
    facts.first().map(|fact| fact.statement.clone()).unwrap_or_default()
}

impl Show for Became {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{} \"{}\" {}", self.id, one_line(&self.text, 120), self.change))
    }
}

impl Show for Merged {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        self.results.iter().try_for_each(|one| one.text(page))
    }
}

impl Show for History {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{} \"{}\"", self.id, one_line(&self.text, 120)))?;
        for change in &self.results {
            let at = clock::minute(change.at, &self.zone);
            let action = change.action.strip_prefix("fact.").unwrap_or(&change.action);
            let text = change.text.as_deref().map(|text| format!("  \"{}\"", one_line(text, 100)));
            let text = text.unwrap_or_default();
            page.line(format_args!(
                "  {DIM}{at}{DIM:#}  {action:<10} by {}{text}",
                one_line(&reason::told(&change.actor, change.reason.as_deref()), 120)
            ))?;
        }
        Ok(())
    }
}

impl Show for Pairs {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no conflicts");
        }
        for pair in &self.results {
            page.line(format_args!("{}  {}", pair.fact, one_line(&pair.text, 110)))?;
            page.line(format_args!(
                "  {DIM}or{DIM:#} {}  {}",
                pair.other,
                one_line(&pair.other_text, 105)
            ))?;
        }
        Ok(())
    }
}
