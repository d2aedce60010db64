//! hermes service install, uninstall, status: the daemon is started with the machine

pub(super) mod manager;
pub(super) mod text;

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hermes_home::{Home, atomic};
use serde::Serialize;

use crate::confirm;
use crate::daemon::launch::{self, Launched};
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::problem::{Kind, Problem};
use hermes_app::process;
use hermes_app::running;
use manager::Reach;
use text::{MARK, Service};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the daemon with the machine, using a systemd unit, or with --cron a crontab line
    Install(Install),
    /// Remove exactly what `install` added
    Uninstall,
    /// Show whether the daemon starts with the machine, and how
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// Install a system unit instead of a user unit; needs root
    #[arg(long, conflicts_with = "cron")]
    system: bool,
    /// Print what would be written, and change nothing
    #[arg(long)]
    print: bool,
    /// Add an @reboot line to your crontab instead
    #[arg(long)]
    cron: bool,
}

/// How the daemon is started with the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub(crate) enum Installed {
    /// A unit of systemd.
    Systemd { reach: Reach, unit: PathBuf },
    /// A line in the crontab.
    Cron { line: String },
}

#[derive(Debug, Serialize)]
struct Report {
    installed: Option<Installed>,
    /// What was done now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    done: Vec<String>,
}

const SYSTEM_UNITS: &str = "/etc/systemd/system";

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    match command {
        Command::Install(arguments) => install(arguments, app, &home),
        Command::Uninstall => uninstall(app, &home),
        Command::Status => {
            let installed = find(app, &home)?;
            let is_missing = installed.is_none();
            app.out.show(&Report { installed, done: Vec::new() })?;
            if is_missing {
                app.out.hint("start it with the machine: `hermes service install`");
            }
            Ok(Outcome::Done)
        }
    }
}

/// How the daemon of a home is started with the machine, if it is.
pub(crate) fn find(app: &App, home: &Home) -> anyhow::Result<Option<Installed>> {
    for reach in [Reach::User, Reach::System] {
        let Some(unit) = unit_path(app, home, reach)? else { continue };
        if is_ours(&unit) {
            return Ok(Some(Installed::Systemd { reach, unit }));
        }
    }
    let service = service(app, home, Reach::User)?;
    let crontab = manager::crontab().unwrap_or_default();
    let line = crontab.lines().find(|line| line.ends_with(&service.cron_mark()));
    Ok(line.map(|line| Installed::Cron { line: line.to_owned() }))
}

/// Restarts through the service manager, if it runs the daemon; says what ended and what runs.
pub(crate) fn restart(app: &App, home: &Home) -> anyhow::Result<Option<(Option<u32>, Launched)>> {
    let Some(Installed::Systemd { reach, unit }) = find(app, home)? else { return Ok(None) };
    let unit = file_name(&unit);
    if !manager::has_systemd(reach) || !manager::is_active(reach, &unit) {
        return Ok(None);
    }
    let before = running::find(home)?.pid;
    manager::ask_systemd(reach, &["restart", &unit])?;
    Ok(Some((before, launch::wait_for(home, before)?)))
}

fn install(arguments: &Install, app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let reach = if arguments.system { Reach::System } else { Reach::User };
    let service = service(app, home, reach)?;
    if arguments.print {
        let text = printed(arguments, &service, home, app)?;
        io::Write::write_all(app.out.raw(), text.as_bytes())?;
        io::Write::flush(app.out.raw())?;
        return Ok(Outcome::Done);
    }
    home.must_exist()?;
    if cfg!(target_os = "macos") {
        return Err(Problem::new(Kind::Refused, "Hermes does not configure launchd")
            .hint("`hermes service install --print` prints the plist for ~/Library/LaunchAgents")
            .into());
    }
    let done = match arguments.cron {
        true => install_cron(app, &service)?,
        false => install_unit(app, home, &service, reach)?,
    };
    let installed = find(app, home)?;
    app.out.show(&Report { installed, done })?;
    if reach == Reach::User && !arguments.cron {
        let user = process::user_name().unwrap_or_else(|| "$USER".to_owned());
        app.out.hint(format_args!(
            "to keep it running while you are logged out, run `loginctl enable-linger {user}`"
        ));
    }
    Ok(Outcome::Done)
}

fn printed(
    arguments: &Install,
    service: &Service,
    home: &Home,
    app: &App,
) -> anyhow::Result<String> {
    Ok(match arguments.cron {
        true => service.cron_line() + "\n",
        false if cfg!(target_os = "macos") => service.plist(&unit_name(app, home)?),
        false => service.unit(),
    })
}

fn install_cron(app: &Terminal, service: &Service) -> anyhow::Result<Vec<String>> {
    let Some(before) = manager::crontab() else {
        return Err(Problem::new(Kind::NotFound, "the program crontab is not installed").into());
    };
    let after = text::with_line(&before, service);
    if after == before {
        return Ok(Vec::new());
    }
    let line = service.cron_line();
    confirm::consent(app.asking, &format!("add this line to your crontab?\n  {line}\n"))?;
    manager::set_crontab(&after)?;
    Ok(vec!["a line was added to your crontab".to_owned()])
}

fn install_unit(
    app: &Terminal,
    home: &Home,
    service: &Service,
    reach: Reach,
) -> anyhow::Result<Vec<String>> {
    if !manager::has_systemd(reach) {
        return Err(no_systemd(service).into());
    }
    let path = unit_path(app, home, reach)?.ok_or_else(|| no_systemd(service))?;
    let (unit, text) = (file_name(&path), service.unit());
    let before = std::fs::read_to_string(&path).ok();
    if before.as_ref() == Some(&text) && manager::is_active(reach, &unit) {
        return Ok(Vec::new());
    }
    if before.is_some() && !is_ours(&path) {
        let what = format!("{} already exists and was not created by Hermes", path.display());
        return Err(Problem::new(Kind::Refused, what).hint("move it away first").into());
    }
    confirm::consent(
        app.asking,
        &format!("write {} and start the daemon with systemctl?", path.display()),
    )?;
    let mut done = Vec::new();
    write_unit(&path, &text, reach)?;
    done.push(format!("wrote {}", path.display()));
    // Two daemons for one home cannot be.
    if let Some(pid) = launch::stop(home)? {
        done.push(format!("stopped the daemon that was running in the background (pid {pid})"));
    }
    manager::ask_systemd(reach, &["daemon-reload"])?;
    manager::ask_systemd(reach, &["enable", "--now", &unit])?;
    done.push(format!("enabled and started {unit}"));
    Ok(done)
}

fn uninstall(app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let mut done = Vec::new();
    while let Some(installed) = find(app, home)? {
        match &installed {
            Installed::Systemd { reach, unit } => {
                let question = format!("stop the daemon and remove {}?", unit.display());
                confirm::consent(app.asking, &question)?;
                if manager::has_systemd(*reach) {
                    manager::ask_systemd(*reach, &["disable", "--now", &file_name(unit)])?;
                }
                std::fs::remove_file(unit).map_err(|error| cannot_write(unit, &error))?;
                if manager::has_systemd(*reach) {
                    manager::ask_systemd(*reach, &["daemon-reload"])?;
                }
                done.push(format!("removed {}", unit.display()));
            }
            Installed::Cron { line } => {
                let question = format!("remove this line from your crontab?\n  {line}\n");
                confirm::consent(app.asking, &question)?;
                let service = service(app, home, Reach::User)?;
                let crontab = manager::crontab().unwrap_or_default();
                manager::set_crontab(&text::without_line(&crontab, &service))?;
                done.push("the line was removed from your crontab".to_owned());
            }
        }
    }
    app.out.show(&Report { installed: None, done })?;
    Ok(Outcome::Done)
}

/// What a unit of this home may start and write to.
pub(super) fn service(app: &App, home: &Home, reach: Reach) -> anyhow::Result<Service> {
    let own = app.for_profile(home);
    let memory = own.memory_path(home).ok();
    let folder = memory.as_deref().and_then(Path::parent);
    let folder = folder.filter(|folder| !folder.starts_with(home.root())).map(Path::to_owned);
    let backup = own.config(home).map(|loaded| loaded.config.backup.clone()).unwrap_or_default();
    // Places that backups are sent to may be folders.
    let targets = backup.targets.iter().filter(|target| target.starts_with('/'));
    let targets = targets.filter_map(|target| target.split('?').next()).map(PathBuf::from);
    let user = match reach {
        Reach::User => None,
        Reach::System => Some(process::user_name().unwrap_or_else(|| "root".to_owned())),
    };
    Ok(Service {
        program: std::env::current_exe()?,
        home: home.root().to_owned(),
        backups: home.backups_at(backup.folder.as_deref(), &app.env)?,
        elsewhere: folder.into_iter().chain(targets).collect(),
        user,
    })
}

/// The name that the units of a home begin with.
pub(super) fn unit_name(app: &App, home: &Home) -> anyhow::Result<String> {
    let usual = app.env.user_folder()?.map(|user| user.join(".hermes"));
    Ok(text::name(home.root(), usual.as_deref() == Some(home.root())))
}

fn unit_path(app: &App, home: &Home, reach: Reach) -> anyhow::Result<Option<PathBuf>> {
    let name = unit_name(app, home)? + ".service";
    Ok(units(app, reach)?.map(|folder| folder.join(name)))
}

/// The folder of the units of this user or of the machine.
pub(super) fn units(app: &App, reach: Reach) -> anyhow::Result<Option<PathBuf>> {
    if reach == Reach::System {
        return Ok(Some(PathBuf::from(SYSTEM_UNITS)));
    }
    let config = match app.env.get("XDG_CONFIG_HOME") {
        Some(folder) => Some(PathBuf::from(folder)),
        None => app.env.user_folder()?.map(|user| user.join(".config")),
    };
    Ok(config.map(|config| config.join("systemd/user")))
}

/// Writes a unit; those of the machine need root.
pub(super) fn write_unit(path: &Path, text: &str, reach: Reach) -> anyhow::Result<()> {
    if reach == Reach::System && !process::is_root() {
        let what = format!("could not write {}: that needs root", path.display());
        return Err(Problem::new(Kind::Refused, what)
            .hint("without --system, Hermes installs a unit for your user")
            .into());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        atomic::make_folder(folder)?;
    }
    Ok(atomic::write(path, text.as_bytes())?)
}

fn is_ours(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.starts_with(MARK))
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn no_systemd(service: &Service) -> Problem {
    Problem::new(Kind::Refused, "systemd is not running here, or not for this user").hint(format!(
        "`hermes service install --cron` adds this line to your crontab: {}",
        service.cron_line()
    ))
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::new(Kind::Failure, format!("could not remove {}: {error}", path.display()))
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for line in &self.done {
            page.line(line)?;
        }
        match &self.installed {
            Some(Installed::Systemd { unit, .. }) => {
                page.line(format_args!("the daemon starts with the machine: {}", unit.display()))
            }
            Some(Installed::Cron { line }) => {
                page.line(format_args!("the daemon starts with the machine, by cron: {line}"))
            }
            None => page.line("the daemon does not start with the machine"),
        }
    }
}
