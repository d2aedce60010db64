//! hermes backup prune

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_backup::retention::{Decision, Policy};
use serde::Serialize;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{CARE, GOOD, Page, Show};
use hermes_app::backup::prune::{self, Decided};
use hermes_app::backup::wanted;
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Keep the newest N backups [default: backup.keep_last]
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Keep the newest backup of each of the last N hours that have one
    #[arg(long, value_name = "N")]
    keep_hourly: Option<u32>,
    /// Keep the newest backup of each of the last N days that have one
    #[arg(long, value_name = "N")]
    keep_daily: Option<u32>,
    /// Keep the newest backup of each of the last N weeks that have one
    #[arg(long, value_name = "N")]
    keep_weekly: Option<u32>,
    /// Keep the newest backup of each of the last N months that have one
    #[arg(long, value_name = "N")]
    keep_monthly: Option<u32>,
    /// Keep the newest backup of each of the last N years that have one
    #[arg(long, value_name = "N")]
    keep_yearly: Option<u32>,
    /// Keep every backup that is at most this much older than the newest one, such as 30d or 1y6m
    #[arg(long, value_name = "LENGTH")]
    keep_within: Option<String>,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Backup to delete: its id, or a unique beginning of it
    id: String,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Deleted {
    id: String,
}

#[derive(Debug, Serialize)]
struct Plan {
    deleted: bool,
    results: Vec<Row>,
    /// What was not considered because it is not surely of this home.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_alone: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    kept_by: Vec<&'static str>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read(app, arguments.from.as_deref())?;
    let policy = arguments.policy(wanted.policy()?)?;
    let plan = prune::decide(app, &wanted, &policy)?;
    let going = plan.going();
    if arguments.dry_run || going == 0 {
        let is_nothing = plan.decisions.is_empty();
        app.out.show(&Plan::of(plan, false))?;
        if is_nothing {
            app.out
                .note(format_args!("no backup of this home in {}", wanted.folder.path().display()));
        } else if going == 0 {
            app.out.note("nothing to delete: the retention rules keep all of them");
        }
        return Ok(Outcome::Done);
    }
    if !app.json {
        app.out.show(&Plan::of(plan.clone(), false))?;
    }
    confirm::consent(app.asking, &format!("delete {}?", counted(going as u64, "backup")))?;
    prune::delete(app, &wanted, &policy, &plan)?;
    if app.json {
        app.out.show(&Plan::of(plan, true))?;
    } else {
        app.out.note(format_args!("{} deleted", counted(going as u64, "backup")));
    }
    Ok(Outcome::Done)
}

/// Deletes the one that is named; copies elsewhere stay.
pub(crate) fn delete_one(arguments: &Delete, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read(app, arguments.from.as_deref())?;
    let backup = wanted.folder.find(&arguments.id)?;
    let id = backup.name.id();
    confirm::consent(app.asking, &format!("permanently delete backup {id}?"))?;
    prune::delete_one(app, &wanted, &backup)?;
    app.out.show(&Deleted { id })?;
    Ok(Outcome::Done)
}

impl Arguments {
    /// The rules of the settings, or those that were typed: one that is typed makes the others zero.
    fn policy(&self, settings: Policy) -> anyhow::Result<Policy> {
        let typed = [
            self.keep_last,
            self.keep_hourly,
            self.keep_daily,
            self.keep_weekly,
            self.keep_monthly,
            self.keep_yearly,
        ];
        if typed.iter().all(Option::is_none) && self.keep_within.is_none() {
            return Ok(settings);
        }
        let [last, hourly, daily, weekly, monthly, yearly] = typed.map(Option::unwrap_or_default);
        let within = self.keep_within.as_deref().map(str::parse).transpose()?;
        Ok(Policy { last, hourly, daily, weekly, monthly, yearly, within })
    }
}

impl Plan {
    fn of(plan: Decided, deleted: bool) -> Plan {
        let row = |one: Decision| Row { id: one.id, kept_by: one.kept_by };
        let results = plan.decisions.into_iter().map(row).collect();
        Plan { deleted, results, left_alone: plan.left.said() }
    }
}

impl Show for Deleted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("backup {} was deleted", self.id))
    }
}

impl Show for Plan {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for row in &self.results {
            match row.kept_by.is_empty() {
                true => page.line(format_args!("{CARE}delete{CARE:#}  {}", row.id))?,
                false => page.line(format_args!(
                    "{GOOD}keep{GOOD:#}    {}  {}",
                    row.id,
                    row.kept_by.join(", ")
                ))?,
            }
        }
        self.left_alone.iter().try_for_each(|line| page.line(line))
    }
}
