//! hermes start

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::Home;
use hermes_home::databases::Database;
use hermes_home::init::Owner;
use hermes_home::layout::MemoryTarget;
use hermes_home::{memory_file, soul};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::cli::doctor::show_check;
use crate::cli::{dashboard, service};
use crate::daemon::Manner;
use crate::daemon::launch::{self, Launched};
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, Page, Show};
use hermes_app::app::App;
use hermes_app::daemon::{self, log};
use hermes_app::doctor::{self, Check, Status};
use hermes_app::prepare::prepare;
use hermes_app::rules;
use hermes_app::running;
use hermes_app::running::state::State;
use hermes_app::text::{counted, entries, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Run the daemon in the foreground until Ctrl-C, for service managers
    #[arg(long, conflicts_with = "no_daemon")]
    foreground: bool,
    /// Only create and check the home; do not start the daemon
    #[arg(long)]
    no_daemon: bool,
    /// Run as the daemon that `hermes start` starts in the background
    #[arg(long, hide = true, requires = "foreground")]
    left_behind: bool,
}

/// What is ready in the home.
#[derive(Debug, Serialize)]
struct Ready {
    home: PathBuf,
    profile: String,
    owner: Owner,
    made: Vec<PathBuf>,
    soul_tokens: usize,
    built_in_persona: bool,
    files: Vec<FileState>,
    sessions: Option<i64>,
    messages: Option<i64>,
    daemon: Option<DaemonState>,
    models: String,
    findings: Vec<Check>,
}

/// The daemon that works in the background now.
#[derive(Debug, Serialize)]
struct DaemonState {
    pid: u32,
    is_new: bool,
    log: PathBuf,
    /// Where other programs reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Where a person looks at everything; the code in it lets one browser in.
    #[serde(skip_serializing_if = "Option::is_none")]
    dashboard: Option<String>,
    /// Why it does not listen though it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_trouble: Option<String>,
}

#[derive(Debug, Serialize)]
struct FileState {
    file: PathBuf,
    entries: usize,
    tokens: usize,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    if arguments.foreground {
        return be_the_daemon(arguments, app);
    }
    let home = app.home()?;
    // Nothing is made in a home that has lost what it remembers.
    app.refuse_lost(&home, Database::Memory)?;
    let prepared = prepare(app, &home)?;
    let persona = soul::show(&home)?;
    let stats = app.sessions(&home, Access::Read).and_then(|store| Ok(store.stats()?));
    let mut findings = doctor::checks(app, &home);
    findings.retain(|check| check.status != Status::Ok && !check.is_about_daemon());
    // A home with a broken database is to be repaired first.
    let launched = match arguments.no_daemon || stats.is_err() {
        true => None,
        false => Some(launch::start(&home)?),
    };
    app.out.show(&Ready {
        home: home.folder().to_owned(),
        profile: home.profile_name().to_owned(),
        owner: prepared.owner,
        made: prepared.made,
        soul_tokens: persona.tokens,
        built_in_persona: persona.is_built_in,
        files: files(app, &home)?,
        sessions: stats.as_ref().ok().map(|stats| stats.sessions),
        messages: stats.as_ref().ok().map(|stats| stats.messages),
        daemon: launched.as_ref().map(|launched| DaemonState::of(launched, app, &home)),
        models: daemon::models_line(app, &home),
        findings,
    })?;
    if let Some(launched) = launched {
        remark(&launched, app, &home)?;
    }
    Ok(if stats.is_err() { Outcome::Findings } else { Outcome::Done })
}

fn be_the_daemon(arguments: &Arguments, app: &App) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    if !home.folder().exists() {
        prepare(&app.for_profile(&home), &home)?;
    }
    let manner = if arguments.left_behind { Manner::LeftBehind } else { Manner::Watched };
    crate::daemon::run(app, manner)?;
    Ok(Outcome::Done)
}

/// What the user should know besides.
fn remark(launched: &Launched, app: &Terminal, home: &Home) -> anyhow::Result<()> {
    if let Launched::Started { lost: Some(lost), .. } = launched {
        app.out.note(after_a_loss(lost, app, home)?);
    }
    if service::find(app, home)?.is_none() {
        app.out.hint(
            "the daemon will not run after a reboot; `hermes service install` starts it with the machine",
        );
    }
    Ok(())
}

/// A daemon that was killed said nothing; what it left is done again.
pub(crate) fn after_a_loss(lost: &State, app: &App, home: &Home) -> anyhow::Result<String> {
    let seen = hermes_app::clock::minute(lost.beat_at, &app.zone(home)?);
    Ok(format!(
        "the previous daemon (pid {}) ended unexpectedly, last seen {seen}; its interrupted work will run again",
        lost.pid
    ))
}

impl DaemonState {
    fn of(launched: &Launched, app: &App, home: &Home) -> DaemonState {
        let state = running::find(home).ok().and_then(|found| found.state);
        DaemonState {
            pid: launched.pid(),
            is_new: matches!(launched, Launched::Started { .. }),
            log: log::path_today(home, app.now),
            url: state.as_ref().and_then(|state| state.url.clone()),
            dashboard: dashboard::address(app, home).ok().flatten(),
            server_trouble: state.and_then(|state| state.server_trouble),
        }
    }
}

fn files(app: &App, home: &Home) -> anyhow::Result<Vec<FileState>> {
    let mut states = Vec::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(None)] {
        let read = memory_file::read(home, &target, rules::of_file(app, home, &target)?)?;
        let entries = read.document.entries().len();
        states.push(FileState { file: read.path, entries, tokens: read.tokens });
    }
    Ok(states)
}

impl Show for Ready {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let what = match (self.made.is_empty(), self.made.contains(&self.home)) {
            (true, _) => "is ready",
            (false, true) => "was created and is ready",
            (false, false) => "was completed and is ready",
        };
        page.line(format_args!(
            "{BOLD}{}{BOLD:#} {what} (profile {})",
            self.home.display(),
            self.profile
        ))?;
        if self.owner == Owner::HermesAgent {
            page.line("this home belongs to Hermes Agent; its files are used as they are")?;
        }
        let persona = if self.built_in_persona { "built-in, SOUL.md is empty" } else { "SOUL.md" };
        page.line(format_args!(
            "  persona   {persona} {DIM}(about {} tokens){DIM:#}",
            self.soul_tokens
        ))?;
        for file in &self.files {
            let name = file.file.file_name().unwrap_or_default().display();
            page.line(format_args!(
                "  {:<9} {} {DIM}(about {} tokens){DIM:#}",
                name.to_string().trim_end_matches(".md").to_lowercase(),
                entries(file.entries),
                thousands(file.tokens as u64)
            ))?;
        }
        if let (Some(sessions), Some(messages)) = (self.sessions, self.messages) {
            let count = |value: i64, noun| counted(u64::try_from(value).unwrap_or(0), noun);
            let (sessions, messages) = (count(sessions, "session"), count(messages, "message"));
            page.line(format_args!("  sessions  {sessions} with {messages}"))?;
        }
        if let Some(daemon) = &self.daemon {
            let what = if daemon.is_new { "started" } else { "already running" };
            page.line(format_args!(
                "  daemon    {what}, pid {} {DIM}(log {}){DIM:#}",
                daemon.pid,
                daemon.log.display()
            ))?;
            match (&daemon.url, &daemon.server_trouble) {
                (Some(url), _) => page.line(format_args!(
                    "  listens   {url} {DIM}(API and MCP; `hermes token show` prints the token){DIM:#}"
                ))?,
                (None, Some(trouble)) => page.line(format_args!("  listens   no: {trouble}"))?,
                (None, None) => {}
            }
            if let Some(dashboard) = &daemon.dashboard {
                page.line(format_args!("  dashboard {dashboard}"))?;
            }
            page.line(format_args!("  models    {}", self.models))?;
        }
        for check in &self.findings {
            show_check(check, page)?;
        }
        next_steps(page)
    }
}

/// What somebody may want to do now.
fn next_steps(page: &mut Page) -> io::Result<()> {
    page.line("")?;
    page.line("next:")?;
    page.line("  hermes soul edit                        describe who your agent is")?;
    page.line("  hermes chat                             chat with it, using a model you choose")?;
    page.line("  hermes memory add \"…\"                   store an entry that is loaded in every session")?;
    page.line("  hermes sessions search \"…\"              search past conversations")?;
    page.line("  hermes dashboard                        browse everything in a browser")?;
    page.line("  hermes status                           see what the daemon is doing")?;
    page.line("  hermes doctor                           check everything")
}
