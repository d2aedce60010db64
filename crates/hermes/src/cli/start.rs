//! hermes start

use std::io;
use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::init::Owner;
use hermes_home::layout::MemoryTarget;
use hermes_home::{memory_file, soul};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::cli::doctor::{self, Check, Status};
use crate::cli::{init, memory};
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, Page, Show, counted, entries, thousands};

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
    findings: Vec<Check>,
}

#[derive(Debug, Serialize)]
struct FileState {
    file: PathBuf,
    entries: usize,
    tokens: usize,
}

pub(crate) fn run(app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.home()?;
    let prepared = init::prepare(app, &home)?;
    let persona = soul::show(&home)?;
    let stats = app.sessions(&home, Access::Read).and_then(|store| Ok(store.stats()?));
    let mut findings = doctor::checks(app, &home);
    findings.retain(|check| check.status != Status::Ok);
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
        findings,
    })?;
    Ok(if stats.is_err() { Outcome::Findings } else { Outcome::Done })
}

fn files(app: &App, home: &Home) -> anyhow::Result<Vec<FileState>> {
    let mut states = Vec::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(None)] {
        let read = memory_file::read(home, &target, memory::rules(app, home, &target)?)?;
        let entries = read.document.entries().len();
        states.push(FileState { file: read.path, entries, tokens: read.tokens });
    }
    Ok(states)
}

impl Show for Ready {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let what = match (self.made.is_empty(), self.made.contains(&self.home)) {
            (true, _) => "is ready",
            (false, true) => "was made and is ready",
            (false, false) => "was completed and is ready",
        };
        page.line(format_args!(
            "{BOLD}{}{BOLD:#} {what} (profile {})",
            self.home.display(),
            self.profile
        ))?;
        if self.owner == Owner::HermesAgent {
            page.line("it belongs to Hermes Agent: its files are used as they are")?;
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
        for check in &self.findings {
            doctor::show_check(check, page)?;
        }
        page.line("")?;
        page.line("next:")?;
        page.line("  hermes soul edit                        say who your agent is")?;
        page.line("  hermes memory add \"…\"                   keep a fact for every session")?;
        page.line("  hermes sessions search \"…\"              find what was said")?;
        page.line("  hermes doctor                           check everything")
    }
}
