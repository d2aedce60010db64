//! hermes memory pending, approve, reject

use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_memory::remember::{self, Approved, Pending, is_hidden};
use hermes_store::memory::Scope;
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::whose::Whose;
use crate::app::{App, Memory};
use crate::desk::{later, rules};
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{DIM, Listing, Page, Show, one_line};

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The proposals: 4 or proposal:4
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,
    /// All that wait
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Reject {
    /// The proposals: 4 or proposal:4
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    whose: Whose,
}

/// What became of one proposal.
#[derive(Debug, Serialize)]
struct Done {
    id: String,
    #[serde(flatten)]
    approved: Approved,
}

#[derive(Debug, Serialize)]
struct Rejected {
    id: String,
    rejected: bool,
}

pub(crate) fn list(arguments: &List, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let results = remember::pending(&memory.store, scope)?;
    let is_empty = results.is_empty();
    app.out.show(&Listing { results })?;
    if !is_empty {
        app.out.hint("agree with `hermes memory approve ID`, or not: `hermes memory reject ID`");
    }
    Ok(Outcome::Done)
}

pub(crate) fn approve(arguments: &Approve, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let (mut memory, scope) = opened(&home, app, &arguments.whose)?;
    let ids = match arguments.all {
        true => remember::pending(&memory.store, scope)?.iter().map(|one| one.id).collect(),
        false => numbers(&arguments.ids)?,
    };
    let rules = rules::of_learning(app, &home, &memory.store)?;
    let mut results = Vec::new();
    for id in ids {
        let approved = remember::approve(&mut memory.store, scope, id, &rules, app.change())?;
        results.push(Done { id: format!("proposal:{id}"), approved });
    }
    app.out.show(&Listing { results })?;
    later::fill_in(&home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

pub(crate) fn reject(arguments: &Reject, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let (mut memory, scope) = opened(&home, app, &arguments.whose)?;
    let mut results = Vec::new();
    for id in numbers(&arguments.ids)? {
        remember::reject(&mut memory.store, scope, id, app.change())?;
        results.push(Rejected { id: format!("proposal:{id}"), rejected: true });
    }
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

fn opened(home: &Home, app: &App, whose: &Whose) -> anyhow::Result<(Memory, Scope)> {
    if !app.memory(home, Access::Read)?.exists {
        return Err(Problem::new(Kind::NotFound, "nothing waits for your word").into());
    }
    let memory = app.memory(home, Access::Write)?;
    let scope = whose.existing(&memory.store)?;
    Ok((memory, scope))
}

fn numbers(ids: &[String]) -> Result<Vec<i64>, Problem> {
    ids.iter()
        .map(|id| {
            let digits = id.strip_prefix("proposal:").unwrap_or(id);
            digits.parse().map_err(|_| {
                Problem::usage(format!("{id:?} is not the number of a proposal"))
                    .hint("see what waits with `hermes memory pending`")
            })
        })
        .collect()
}

/// A text in which nothing is hidden from who decides.
fn visible(text: &str, width: usize) -> String {
    let plain: String = text
        .chars()
        .map(|c| match is_hidden(c) {
            true => format!("\\u{{{:x}}}", c as u32),
            false => c.to_string(),
        })
        .collect();
    one_line(&plain, width)
}

impl Show for Listing<Pending> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("nothing waits for your word");
        }
        for one in &self.results {
            let file = match one.file {
                remember::Target::Memory => "MEMORY.md",
                remember::Target::User => "USER.md",
            };
            let way = match one.does {
                "add" => "to",
                "replace" => "in",
                _ => "from",
            };
            let with = one.with.as_deref().map(|with| format!(" → {}", visible(with, 300)));
            let text = visible(&one.text, 300) + &with.unwrap_or_default();
            page.line(format_args!("{:>4}  {} {way} {file}: {text}", one.id, one.does))?;
            page.line(format_args!("      {DIM}{} (from {}){DIM:#}", one.why, one.origin))?;
        }
        Ok(())
    }
}

impl Show for Listing<Done> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("nothing waits for your word");
        }
        for one in &self.results {
            match &one.approved {
                Approved::Written(written) => {
                    let entry = one_line(&written.entry, 72);
                    page.line(format_args!("written to {}: {entry}", written.path.display()))?;
                    for moved in &written.moved {
                        page.line(format_args!(
                            "  to make room, this is a fact now: {}",
                            one_line(moved, 72)
                        ))?;
                    }
                }
                Approved::Removed { path, entry } => {
                    let entry = one_line(entry, 72);
                    page.line(format_args!("taken out of {}: {entry}", path.display()))?;
                }
                Approved::Replaced { path, with, .. } => {
                    page.line(format_args!("{} says now: {}", path.display(), one_line(with, 72)))?;
                }
                Approved::Outdated { entry } => page.line(format_args!(
                    "{}: the entry is gone or was renewed since; nothing was changed: {}",
                    one.id,
                    one_line(entry, 72)
                ))?,
            }
        }
        Ok(())
    }
}

impl Show for Listing<Rejected> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            page.line(format_args!("{} is rejected, and not proposed again", one.id))?;
        }
        Ok(())
    }
}
