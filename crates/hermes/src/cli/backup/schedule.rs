//! hermes backup schedule install, status, remove

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand};
use hermes_home::{Home, atomic};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::unit::{self, Times};
use crate::cli::service::manager::{self, Reach};
use crate::cli::service::text::{self, Service};
use crate::cli::service::{self, cannot_write, file_name};
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{CARE, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::due;
use hermes_app::backup::record::{self, By, Record, Run};
use hermes_app::clock;
use hermes_app::problem::{Kind, Problem};
use hermes_app::process;
use hermes_app::running;
use hermes_app::text::one_line;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Schedule a backup every night at backup.time; replaces an earlier schedule
    Install(Install),
    /// Show what runs the backups, when the next one is due, and how the last one went
    Status,
    /// Remove exactly what `install` added
    Remove,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("way").required(true).args(["systemd", "cron", "daemon"])))]
pub(crate) struct Install {
    /// Use a systemd timer
    #[arg(long)]
    systemd: bool,
    /// Use a line in your crontab
    #[arg(long)]
    cron: bool,
    /// Use the daemon, while it runs
    #[arg(long)]
    daemon: bool,
    /// With --systemd, install system units instead of user units; needs root
    #[arg(long, conflicts_with_all = ["cron", "daemon"])]
    system: bool,
    /// Print what would be written, and change nothing
    #[arg(long)]
    print: bool,
}

/// Where something is that starts backups.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Two units: the one that makes a backup, and its timer.
    Units { reach: Reach, service: PathBuf, timer: PathBuf },
    /// A line of the crontab.
    Line(String),
}

#[derive(Debug, Serialize)]
struct Report {
    by: Option<By>,
    /// When the next one is due; a time that is past means at once.
    next: Option<Timestamp>,
    /// What there is to say of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    about_next: Option<String>,
    /// The last one that the schedule brought.
    last: Option<Run>,
    /// What keeps it from working, with the command that mends it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trouble: Vec<String>,
    /// What was done now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    done: Vec<String>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(super) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    match command {
        Command::Install(arguments) if arguments.print => print(arguments, app, &home),
        Command::Install(arguments) => {
            let reach = if arguments.system { Reach::System } else { Reach::User };
            let done = install(app, &home, arguments.by(), reach)?;
            show(app, &home, done).map(|_| Outcome::Done)
        }
        Command::Status => {
            let has_trouble = show(app, &home, Vec::new())?;
            Ok(if has_trouble { Outcome::Findings } else { Outcome::Done })
        }
        Command::Remove => {
            let done = remove(app, &home)?;
            show(app, &home, done).map(|_| Outcome::Done)
        }
    }
}

impl Install {
    fn by(&self) -> By {
        match (self.systemd, self.cron) {
            (true, _) => By::Systemd,
            (_, true) => By::Cron,
            _ => By::Daemon,
        }
    }
}

/// Lets backups be made by one way and by no other; says what was done.
///
/// The new way is there before it is noted, and the old one goes last: at every moment the one that is noted is there.
pub(super) fn install(
    app: &Terminal,
    home: &Home,
    by: By,
    reach: Reach,
) -> anyhow::Result<Vec<String>> {
    // Whoever says no to the change of ways has nothing changed.
    for place in places(app, home)?.iter().filter(|place| !place.is_by(by, reach)) {
        place.consent(app)?;
    }
    // A note that cannot be read is written anew.
    let before = record::read(home).ok().flatten();
    let mut record = Record::new(app, home, by)?;
    if let Some(before) = &before {
        record.last = before.last.clone();
        record.since = if before.by == by { before.since } else { record.since };
    }
    let (mut done, kept) = match by {
        By::Systemd => install_units(app, home, reach)?,
        By::Cron => install_line(app, home, &record)?,
        By::Daemon => (Vec::new(), None),
    };
    if before.as_ref() != Some(&record) {
        record::write(home, &record)?;
    }
    if before.is_none_or(|before| before.by != by) {
        done.push(format!("backups are now scheduled by {}", by.word()));
    }
    for place in places(app, home)?.into_iter().filter(|place| Some(place) != kept.as_ref()) {
        done.push(take_away(app, home, &place)?);
    }
    if let (By::Daemon, Some(pid)) = (by, running::find(home)?.pid) {
        // It looks once a minute anyway.
        let _ = process::nudge(pid);
    }
    Ok(done)
}

/// Removes everything that starts backups of a home; says what was done.
pub(super) fn remove(app: &Terminal, home: &Home) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    for place in places(app, home)? {
        place.consent(app)?;
        done.push(take_away(app, home, &place)?);
    }
    if record::clear(home)? && done.is_empty() {
        done.push("the schedule was removed".to_owned());
    }
    Ok(done)
}

fn print(arguments: &Install, app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let reach = if arguments.system { Reach::System } else { Reach::User };
    let record = Record::new(app, home, arguments.by())?;
    let service = service::service(app, home, reach)?;
    let text = match arguments.by() {
        By::Systemd => {
            let name = service::unit_name(app, home)?;
            let (unit, timer) = (unit::service(&service), unit::timer(&times(app, home)?));
            format!("# {name}-backup.service\n{unit}\n# {name}-backup.timer\n{timer}")
        }
        By::Cron => cron_line(app, home, &service, &record)? + "\n",
        By::Daemon => serde_json::to_string_pretty(&record)? + "\n",
    };
    io::Write::write_all(app.out.raw(), text.as_bytes())?;
    io::Write::flush(app.out.raw())?;
    Ok(Outcome::Done)
}

fn install_units(
    app: &Terminal,
    home: &Home,
    reach: Reach,
) -> anyhow::Result<(Vec<String>, Option<Place>)> {
    let place = units(app, home, reach)?.filter(|_| manager::has_systemd(reach));
    let Some(Place::Units { service: unit, timer, .. }) = &place else {
        return Err(no_systemd().into());
    };
    let service = service::service(app, home, reach)?;
    let texts = [(unit, unit::service(&service)), (timer, unit::timer(&times(app, home)?))];
    let is_same = |(path, text): &(&PathBuf, String)| {
        std::fs::read_to_string(path).is_ok_and(|before| before == *text)
    };
    if texts.iter().all(is_same) && manager::is_active(reach, &file_name(timer)) {
        return Ok((Vec::new(), place));
    }
    if let Some((path, _)) = texts.iter().find(|(path, _)| path.exists() && !is_ours(path)) {
        let what = format!("{} already exists and was not created by Hermes", path.display());
        return Err(Problem::new(Kind::Refused, what).hint("move it away first").into());
    }
    let question = format!("write {} and {} and start the timer?", unit.display(), timer.display());
    confirm::consent(app.asking, &question)?;
    // A unit may write only to folders that are there when it starts.
    atomic::make_folder(&service.backups)?;
    let mut done = Vec::new();
    for (path, text) in &texts {
        service::write_unit(path, text, reach)?;
        done.push(format!("wrote {}", path.display()));
    }
    manager::ask_systemd(reach, &["daemon-reload"])?;
    manager::ask_systemd(reach, &["enable", "--now", &file_name(timer)])?;
    // A timer that ran with other times goes on with them until it is started anew.
    manager::ask_systemd(reach, &["restart", &file_name(timer)])?;
    done.push(format!("enabled and started {}", file_name(timer)));
    Ok((done, place))
}

fn install_line(
    app: &Terminal,
    home: &Home,
    record: &Record,
) -> anyhow::Result<(Vec<String>, Option<Place>)> {
    let Some(before) = manager::crontab() else {
        return Err(Problem::new(Kind::NotFound, "the program crontab is not installed")
            .hint("use the daemon instead: `hermes backup schedule install --daemon`")
            .into());
    };
    let service = service::service(app, home, Reach::User)?;
    let line = cron_line(app, home, &service, record)?;
    let after = text::with_marked(&before, &unit::cron_mark(&service), &line);
    let place = Some(Place::Line(line.clone()));
    if before.lines().any(|found| found == line) {
        return Ok((Vec::new(), place));
    }
    confirm::consent(app.asking, &format!("add this line to your crontab?\n  {line}\n"))?;
    atomic::make_folder(&service.backups)?;
    manager::set_crontab(&after)?;
    Ok((vec!["a line was added to your crontab".to_owned()], place))
}

fn cron_line(app: &App, home: &Home, service: &Service, record: &Record) -> anyhow::Result<String> {
    let plan = record.plan(app, home)?;
    Ok(unit::cron_line(service, plan.time, record.cron_delay(&plan)))
}

/// Everything of ours that starts backups of a home.
fn places(app: &App, home: &Home) -> anyhow::Result<Vec<Place>> {
    let mut found = Vec::new();
    for reach in [Reach::User, Reach::System] {
        let Some(place) = units(app, home, reach)? else { continue };
        let Place::Units { service, timer, .. } = &place else { continue };
        if is_ours(service) || is_ours(timer) {
            found.push(place);
        }
    }
    let mark = unit::cron_mark(&service::service(app, home, Reach::User)?);
    let crontab = manager::crontab().unwrap_or_default();
    let lines = crontab.lines().filter(|line| line.trim_end().ends_with(&mark));
    found.extend(lines.map(|line| Place::Line(line.to_owned())));
    Ok(found)
}

impl Place {
    fn is_by(&self, by: By, wanted: Reach) -> bool {
        match self {
            Place::Units { reach, .. } => by == By::Systemd && *reach == wanted,
            Place::Line(_) => by == By::Cron,
        }
    }

    fn consent(&self, app: &Terminal) -> anyhow::Result<()> {
        let question = match self {
            Place::Units { timer, .. } => format!("stop the timer and remove {}?", timer.display()),
            Place::Line(line) => format!("remove this line from your crontab?\n  {line}\n"),
        };
        confirm::consent(app.asking, &question)
    }
}

fn take_away(app: &App, home: &Home, place: &Place) -> anyhow::Result<String> {
    match place {
        Place::Units { reach, service, timer } => {
            if manager::has_systemd(*reach) {
                manager::ask_systemd(*reach, &["disable", "--now", &file_name(timer)])?;
            }
            for path in [timer, service].into_iter().filter(|path| is_ours(path)) {
                std::fs::remove_file(path).map_err(|error| cannot_write(path, &error))?;
            }
            if manager::has_systemd(*reach) {
                manager::ask_systemd(*reach, &["daemon-reload"])?;
            }
            Ok(format!("removed {} and its service", timer.display()))
        }
        Place::Line(_) => {
            let crontab = manager::crontab().unwrap_or_default();
            let mark = unit::cron_mark(&service::service(app, home, Reach::User)?);
            manager::set_crontab(&text::without_marked(&crontab, &mark))?;
            Ok("the line was removed from your crontab".to_owned())
        }
    }
}

fn units(app: &App, home: &Home, reach: Reach) -> anyhow::Result<Option<Place>> {
    let name = service::unit_name(app, home)? + "-backup";
    Ok(service::units(app, reach)?.map(|folder| Place::Units {
        reach,
        service: folder.join(format!("{name}.service")),
        timer: folder.join(format!("{name}.timer")),
    }))
}

fn times(app: &App, home: &Home) -> anyhow::Result<Times> {
    let config = &app.config(home)?.config;
    let time = due::time_of_day(&config.backup.time)
        .ok_or_else(|| Problem::usage("backup.time is not a time of day"))?;
    let delay_minutes = config.backup.random_delay_minutes;
    Ok(Times { time, zone: config.timezone.clone(), delay_minutes })
}

fn is_ours(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.starts_with(unit::MARK))
}

fn no_systemd() -> Problem {
    Problem::new(Kind::Refused, "systemd is not running here, or not for this user").hint(
        "`hermes backup schedule install --cron` adds a line to your crontab, `--daemon` uses the daemon",
    )
}

/// Shows the schedule; says whether something keeps it from working.
fn show(app: &mut Terminal, home: &Home, done: Vec<String>) -> anyhow::Result<bool> {
    let record = record::read(home)?;
    let trouble = match &record {
        Some(record) => trouble(app, home, record)?,
        None => leftovers(app, home)?,
    };
    let next = record.as_ref().map(|record| record.next(app, home)).transpose()?.flatten();
    let is_missing = record.is_none();
    let about_next = record.as_ref().map(|record| about_next(app, home, record)).transpose()?;
    let (by, last) = record.map(|record| (record.by, record.last)).unzip();
    let has_trouble = !trouble.is_empty();
    let zone = app.zone(home)?;
    let last = last.flatten();
    app.out.show(&Report { by, next, about_next, last, trouble, done, zone })?;
    if is_missing && !has_trouble {
        app.out
            .hint("`hermes backup schedule install --systemd`, `--cron` or `--daemon` sets one up");
    }
    Ok(has_trouble)
}

/// How the time of the next one comes about.
fn about_next(app: &App, home: &Home, record: &Record) -> anyhow::Result<String> {
    let plan = record.plan(app, home)?;
    let (time, most) = (plan.time.strftime("%H:%M"), plan.delay.as_mins());
    let later = record.cron_delay(&plan).as_mins();
    Ok(match record.by {
        By::Systemd if most > 0 => {
            format!("delayed by a random 0 to {most} min; a missed night is caught up")
        }
        By::Cron if later > 0 => {
            format!(
                "{time} plus {later} min, the same every night; a missed night is not caught up"
            )
        }
        By::Cron => "a missed night is not caught up".to_owned(),
        By::Daemon if most > 0 => {
            format!("{time} plus a random 0 to {most} min; a missed night is caught up")
        }
        By::Systemd | By::Daemon => "a missed night is caught up".to_owned(),
    })
}

fn trouble(app: &App, home: &Home, record: &Record) -> anyhow::Result<Vec<String>> {
    let mut trouble = Vec::new();
    let again = format!("`hermes backup schedule install --{}`", record.by.word());
    let places = places(app, home)?;
    let is_there = match record.by {
        By::Systemd => places.iter().any(|place| matches!(place, Place::Units { .. })),
        By::Cron => places.iter().any(|place| matches!(place, Place::Line(_))),
        By::Daemon => running::find(home)?.pid.is_some(),
    };
    match record.by {
        _ if is_there => {}
        By::Systemd => trouble.push(format!("the timer is missing: {again} creates it again")),
        By::Cron => trouble.push(format!("the crontab line is missing: {again} adds it")),
        By::Daemon => {
            trouble.push("the daemon is not running: start it with `hermes start`".to_owned())
        }
    }
    let wanted = Record::new(app, home, record.by)?;
    let is_old =
        (&wanted.time, wanted.random_delay_minutes) != (&record.time, record.random_delay_minutes);
    if record.by != By::Daemon && is_old {
        let by = record.by.word();
        trouble.push(format!(
            "{by} still uses the earlier settings ({}): {again} updates it",
            record.time
        ));
    }
    Ok(trouble)
}

/// What is there although no schedule is noted.
fn leftovers(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    let describe = |place: &Place| {
        match place {
        Place::Units { timer, .. } => {
            format!("{} exists, but no schedule is recorded: remove it with `hermes backup schedule remove`", timer.display())
        }
        Place::Line(_) => {
            "a crontab line exists, but no schedule is recorded: remove it with `hermes backup schedule remove`"
                .to_owned()
        }
    }
    };
    Ok(places(app, home)?.iter().map(describe).collect())
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for line in &self.done {
            page.line(line)?;
        }
        let Some(by) = self.by else {
            page.line("no backups are scheduled")?;
            return self
                .trouble
                .iter()
                .try_for_each(|line| page.line(format_args!("{CARE}{line}{CARE:#}")));
        };
        page.line(format_args!("backups are scheduled by {}", by.word()))?;
        if let Some(next) = self.next {
            let about = self.about_next.as_ref().map(|about| format!(" ({about})"));
            let about = about.unwrap_or_default();
            page.line(format_args!("next: {}{about}", clock::minute(next, &self.zone)))?;
        }
        if let Some(run) = &self.last {
            let how = match &run.ended {
                None => "still running, or interrupted".to_owned(),
                Some(ended) if ended.well => "done".to_owned(),
                Some(ended) => format!("failed: {}", one_line(&ended.detail, 200)),
            };
            page.line(format_args!("last: {}, {how}", clock::minute(run.began, &self.zone)))?;
        }
        self.trouble.iter().try_for_each(|line| page.line(format_args!("{CARE}{line}{CARE:#}")))
    }
}
