//! hermes memory pending, approve, reject

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_memory::remember::{self, Pending, is_hidden};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::whose::Whose;
use crate::failure::Outcome;
use crate::output::{DIM, Listing, Page, Show};
use hermes_app::problem::Problem;
use hermes_app::proposals::{self, ApprovedProposal};
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// Ids of the proposals: 4 or proposal:4
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,
    /// Approve all pending proposals
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Reject {
    /// Ids of the proposals: 4 or proposal:4
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Serialize)]
struct Rejected {
    id: String,
    rejected: bool,
}

pub(crate) fn list(arguments: &List, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let results = remember::pending(&memory.store, scope)?;
    let is_empty = results.is_empty();
    app.out.show(&Listing { results })?;
    if !is_empty {
        app.out.hint("approve one with `hermes memory approve ID`, or reject it with `hermes memory reject ID`");
    }
    Ok(Outcome::Done)
}

pub(crate) fn approve(arguments: &Approve, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut memory = proposals::memory(app, &home)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let ids = match arguments.all {
        true => remember::pending(&memory.store, scope)?.iter().map(|one| one.id).collect(),
        false => numbers(&arguments.ids)?,
    };
    let results = proposals::approve(app, &home, &mut memory, scope, &ids)?;
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

pub(crate) fn reject(arguments: &Reject, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut memory = proposals::memory(app, &home)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let ids = numbers(&arguments.ids)?;
    proposals::reject(app, &mut memory, scope, &ids)?;
    let one = |id: &i64| Rejected { id: format!("proposal:{id}"), rejected: true };
    app.out.show(&Listing { results: ids.iter().map(one).collect() })?;
    Ok(Outcome::Done)
}

fn numbers(ids: &[String]) -> Result<Vec<i64>, Problem> {
    ids.iter().map(|id| proposals::number(id)).collect()
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
            return page.line("nothing is waiting for your approval");
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

impl Show for Listing<ApprovedProposal> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("nothing is waiting for your approval");
        }
        self.results.iter().flat_map(ApprovedProposal::lines).try_for_each(|line| page.line(line))
    }
}

impl Show for Listing<Rejected> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            page.line(format_args!("{} was rejected and will not be proposed again", one.id))?;
        }
        Ok(())
    }
}
