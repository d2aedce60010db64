//! hermes memory reflections list, promote

use crate::terminal::Terminal;
use std::io;

use clap::{Args, Subcommand};
use hermes_store::memory::{Procedure, ProcedureKind};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::whose::Whose;
use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::problem::Problem;
use hermes_app::promote;
use hermes_app::text::one_line;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the lessons, newest first
    List(List),
    /// Draft a skill from a lesson; it waits for your approval
    Promote(Promote),
}

#[derive(Debug, Args)]
pub(crate) struct Promote {
    /// Id of the lesson: 7 or procedure:7
    id: String,
    /// Name of the skill [default: made from the title of the lesson]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// List only lessons from this type of task: coding, writing, research, monitoring, planning, data, communication, general
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// Maximum number of lessons
    #[arg(long, default_value_t = 50, value_name = "COUNT")]
    limit: usize,
    #[command(flatten)]
    whose: Whose,
}

/// One lesson.
#[derive(Debug, Serialize)]
struct Reflection {
    id: String,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    title: String,
    text: String,
    wins: u32,
    losses: u32,
}

#[derive(Debug, Serialize)]
struct Reflections {
    results: Vec<Reflection>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    match command {
        Command::List(arguments) => list(arguments, app),
        Command::Promote(arguments) => promote_one(arguments, app),
    }
}

fn promote_one(arguments: &Promote, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let id = arguments.id.strip_prefix("procedure:").unwrap_or(&arguments.id);
    let id: i64 = id.parse().map_err(|_| {
        Problem::usage(format!("{:?} is not the number of a lesson", arguments.id))
            .hint("`hermes memory reflections list` shows them")
    })?;
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let name = arguments.name.as_deref();
    let procedure = promote::find(&memory.store, scope, id)?;
    let promoted = promote::promote(&home, &procedure, name, app.now)?;
    let skill = promoted.skill.clone();
    app.out.show(&promoted)?;
    app.out.hint(format_args!("read it with `hermes skills show {skill} --pending`, use it with `hermes skills approve {skill}`"));
    Ok(Outcome::Done)
}

fn list(arguments: &List, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let zone = app.zone(&home)?;
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let kind = arguments.task_type.as_ref().map(|kind| kind.trim().to_lowercase());
    let mut found = memory.store.list_procedures(scope, kind.as_deref(), usize::MAX)?;
    found.retain(|one| one.kind == ProcedureKind::Reflection);
    found.sort_by_key(|one| std::cmp::Reverse((one.recorded_at, one.id)));
    found.truncate(arguments.limit);
    let results = found.into_iter().map(Reflection::of).collect();
    app.out.show(&Reflections { results, zone })?;
    Ok(Outcome::Done)
}

impl Reflection {
    fn of(procedure: Procedure) -> Reflection {
        Reflection {
            id: format!("procedure:{}", procedure.id),
            at: procedure.recorded_at,
            task_type: procedure.task_type,
            outcome: procedure.outcome,
            title: procedure.title,
            text: procedure.body,
            wins: procedure.wins,
            losses: procedure.losses,
        }
    }
}

impl Show for Reflections {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no reflections");
        }
        for one in &self.results {
            let day = one.at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d");
            let kind = one.task_type.as_deref().unwrap_or("general");
            let outcome = one.outcome.as_deref().unwrap_or("unclear");
            page.line(format_args!("{}  {}", one.id, one_line(&one.title, 100)))?;
            page.line(format_args!("  {DIM}{day}, {kind}, {outcome}{DIM:#}"))?;
            for line in one.text.lines() {
                page.line(format_args!("  {}", one_line(line, 140)))?;
            }
        }
        Ok(())
    }
}
