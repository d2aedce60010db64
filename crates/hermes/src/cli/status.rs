//! hermes status

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::background::Trouble;
use hermes_app::clock;
use hermes_app::problem::{Kind, Problem};
use hermes_app::running;
use hermes_app::status::{self, DaemonStatus, ProfileStatus, StatusReport};
use hermes_app::text::one_line;
use hermes_backup::status::{Colour, Standing};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{BAD, BOLD, CARE, DIM, GOOD, Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print only the address the daemon listens on
    #[arg(long)]
    url: bool,
}

/// The address alone.
#[derive(Debug, Serialize)]
struct Address {
    url: String,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    if arguments.url {
        let home = app.root_home()?;
        home.must_exist()?;
        let url = DaemonStatus::of(&running::find(&home)?).url.ok_or_else(|| {
            Problem::new(Kind::NotFound, "no daemon is listening")
                .hint("start one with `hermes start`")
        })?;
        app.out.show(&Address { url })?;
        return Ok(Outcome::Done);
    }
    let status = status::look(app)?;
    app.out.show(&status)?;
    if !status.daemon.running {
        app.out.hint("start it with `hermes start`");
    }
    Ok(if status.is_red() { Outcome::Findings } else { Outcome::Done })
}

impl Show for Address {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.url)
    }
}

impl Show for StatusReport {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let since = self.daemon.since.map(|at| clock::minute(at, &self.zone));
        match (self.daemon.pid, since, self.daemon.ended_well) {
            (Some(pid), since, _) => page.line(format_args!(
                "{GOOD}running{GOOD:#}  pid {pid}, version {}, since {}",
                self.daemon.version.as_deref().unwrap_or("unknown"),
                since.as_deref().unwrap_or("just now")
            ))?,
            (None, Some(since), Some(true)) => {
                page.line(format_args!("{CARE}no daemon{CARE:#} since {since}"))?;
            }
            (None, Some(since), _) => page.line(format_args!(
                "{CARE}no daemon{CARE:#} since about {since}: the last one ended unexpectedly"
            ))?,
            (None, None, _) => {
                page.line(format_args!("{CARE}no daemon{CARE:#} was ever started"))?
            }
        }
        match (&self.daemon.url, &self.daemon.server_trouble) {
            (Some(url), _) => page.line(format_args!("listens on {url}"))?,
            (None, Some(trouble)) => {
                page.line(format_args!("{CARE}not listening{CARE:#}: {trouble}"))?;
            }
            (None, None) => {}
        }
        page.line(&self.models)?;
        match &self.backups {
            None => page.line(format_args!(
                "{CARE}no backups{CARE:#}: set them up with `hermes backup setup`"
            ))?,
            Some(standing) => show_backups(standing, page)?,
        }
        self.profiles.iter().try_for_each(|profile| show_profile(profile, page, &self.zone))
    }
}

fn show_backups(standing: &Standing, page: &mut Page) -> io::Result<()> {
    let (style, word) = match standing.colour {
        Colour::Green => (GOOD, "green"),
        Colour::Amber => (CARE, "amber"),
        Colour::Red => (BAD, "red"),
    };
    let why = standing.reasons.first().map(|reason| format!(": {}", reason.what));
    page.line(format_args!("backups  {style}{word}{style:#}{}", why.unwrap_or_default()))
}

fn show_profile(seen: &ProfileStatus, page: &mut Page, zone: &TimeZone) -> io::Result<()> {
    page.line("")?;
    page.line(format_args!(
        "{BOLD}{}{BOLD:#}  {} waiting, {} running, {} failed",
        seen.profile,
        seen.waiting,
        seen.leased,
        seen.failed.len()
    ))?;
    for lost in &seen.missing {
        page.line(format_args!("  {BAD}missing{BAD:#}   {}", lost.said()))?;
        page.line(format_args!("            {DIM}repair:{DIM:#} {}", lost.repair()))?;
    }
    if let Some(trouble) = &seen.trouble {
        page.line(format_args!("  {BAD}trouble{BAD:#}   {}", one_line(trouble, 200)))?;
    }
    if let Some(Trouble { model, error, at }) = &seen.model {
        let at = clock::minute(*at, zone);
        page.line(format_args!(
            "  {CARE}model{CARE:#}     {model} did not answer at {at}, so rules did the work: {}",
            one_line(error, 200)
        ))?;
        page.line(format_args!("            {DIM}try:{DIM:#} hermes model test {model}"))?;
    }
    for job in &seen.failed {
        let why = one_line(job.error.as_deref().unwrap_or("unknown reason"), 120);
        page.line(format_args!("  {BAD}failed{BAD:#}    {} ({}): {why}", job.kind, job.id))?;
        page.line(format_args!("            {DIM}retry:{DIM:#} {}", job.retry))?;
    }
    if let Some(why) = &seen.stands_still {
        page.line(format_args!("  {CARE}stalled{CARE:#}   {}", one_line(why, 200)))?;
        page.line(format_args!("            {DIM}see:{DIM:#} hermes logs"))?;
    }
    for schedule in &seen.schedules {
        let at = |time: Option<Timestamp>| {
            time.map_or_else(|| "never".to_owned(), |time| clock::minute(time, zone))
        };
        let result = schedule.last_result.as_ref();
        let result = result.map(|text| format!(" ({})", one_line(text, 80))).unwrap_or_default();
        page.line(format_args!(
            "  {:<9} next {}, last {}{result}",
            schedule.name,
            at(schedule.next_run),
            at(schedule.last_run)
        ))?;
    }
    Ok(())
}
