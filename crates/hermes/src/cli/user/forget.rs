//! hermes user forget

use crate::terminal::Terminal;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use hermes_backup::erasure::{self, Erased, Erasure, FORMAT, HeldBy, Place, Receipt};
use hermes_home::{Home, UserId, profile, versions};
use hermes_store::memory::{Admin, Choice, Forgetting as _, Known, People as _, User, UserNumber};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use crate::server::tokens;
use hermes_app::app::App;
use hermes_app::backup::holding;
use hermes_app::daemon::life;
use hermes_app::in_step;
use hermes_app::memory::Memory;
use hermes_app::problem::{Kind, Problem};
use hermes_app::users::known_user;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Who is to be forgotten; `owner` is you
    #[arg(required_unless_present = "again")]
    user: Option<UserId>,
    /// Only show what would be erased, and which backups hold it
    #[arg(long)]
    dry_run: bool,
    /// Also erase their sessions in a state.db that another program made
    #[arg(long)]
    agent_sessions: bool,
    /// Erase everybody again who was forgotten and was brought back, by hand or by a restore
    #[arg(long, conflicts_with_all = ["user", "dry_run", "agent_sessions"])]
    again: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    user: String,
    done: bool,
    erased: Erased,
    stays: Vec<String>,
    backups: Vec<HeldBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
}

#[derive(Debug, Serialize)]
struct Again {
    results: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let Some(name) = &arguments.user else { return again(app, &home) };
    let place = Place { home: &home, agent_sessions: arguments.agent_sessions };
    let memory = app.memory(&home, Access::Read)?;
    let user = known_user(&memory.store, name)?;
    let known = memory.store.known_by(Admin, user.number)?;
    let (folder, backups) = holding::holding(app, &home, known.since)?;
    let mut report = Report {
        user: user.name.clone(),
        done: false,
        erased: erasure::look(&memory.store, &place, user.number)?,
        stays: Vec::new(),
        backups,
        receipt: None,
    };
    report.stays = stays(&home, &user, &report.erased);
    if arguments.dry_run {
        app.out.show(&report)?;
        return Ok(Outcome::Done);
    }
    drop(memory);
    if !app.json {
        app.out.show(&report)?;
    }
    must_mean_it(app, &user.name)?;
    let mut memory = app.memory(&home, Access::Write)?;
    life::take_in(app, &home, &mut memory.store)?;
    let erasure = Erasure {
        format: FORMAT,
        at: app.now,
        home: memory.store.home_id(Admin)?,
        users: known.uids.iter().map(ToString::to_string).collect(),
        agent_sessions: arguments.agent_sessions,
        receipt: format!("forgotten-{}-{}.json", app.now.as_millisecond(), user.number.get()),
    };
    // Noted first: what is cut short is brought to its end by `--again`, and by every restore.
    erasure::note(&home, &folder, &erasure)?;
    erase_entries(app, &home, &memory, user.number)?;
    report.erased = erasure::forget(&mut memory.store, &place, user.number, app.change())?;
    revoke_tokens(app, &known)?;
    report.done = true;
    let receipt = Receipt {
        format: FORMAT,
        at: app.now,
        profile: home.profile_name().to_owned(),
        home: erasure.home.clone(),
        user: user.number.get(),
        name_sha256: versions::hash(user.name.as_bytes()),
        erased: report.erased.clone(),
        stays: report.stays.clone(),
        backups: report.backups.clone(),
        applied_again: Vec::new(),
    };
    let kept = erasure::keep(&folder, &erasure.receipt, &receipt)?;
    report.receipt = Some(kept.display().to_string());
    app.out.show(&report)?;
    Ok(Outcome::Done)
}

/// Typing the name is harder to do by accident than a letter.
fn must_mean_it(app: &Terminal, name: &str) -> anyhow::Result<()> {
    if app.asking.yes {
        return Ok(());
    }
    let refused =
        || Problem::new(Kind::Refused, format!("not done: forget everything of {name} for good?"));
    if app.asking.no_input || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(refused().hint("add `--yes` to go ahead").into());
    }
    let mut stderr = io::stderr();
    write!(stderr, "everything of {name} is erased for good; type the name to go ahead: ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == name { Ok(()) } else { Err(refused().into()) }
}

/// Entries of MEMORY.md that were written with facts of theirs.
fn erase_entries(app: &App, home: &Home, memory: &Memory, user: UserNumber) -> anyhow::Result<()> {
    let told = memory.store.told_elsewhere(Admin, &Choice::User(user))?;
    let everybody = in_step::everybody(memory)?;
    let erased = in_step::erase(app, home, memory, (&everybody, &told.facts))?;
    in_step::tell(app, erased);
    Ok(())
}

/// Nobody comes in as somebody who was forgotten.
fn revoke_tokens(app: &App, known: &Known) -> anyhow::Result<()> {
    let root = app.root_home()?;
    for token in tokens::kept(&root)? {
        if token.user.as_ref().is_some_and(|user| known.names.contains(user)) {
            tokens::revoke(&root, &token.name)?;
        }
    }
    Ok(())
}

/// What is not erased and may still tell of them.
fn stays(home: &Home, user: &User, erased: &Erased) -> Vec<String> {
    let mut stays = Vec::new();
    if erased.agent_sessions_left > 0 {
        stays.push(format!(
            "{} sessions in state.db, which another program made: add `--agent-sessions`",
            erased.agent_sessions_left
        ));
    }
    if user.number == UserNumber::OWNER {
        stays.push("MEMORY.md and SOUL.md: everybody's; see `hermes memory show`".to_owned());
    }
    for (folder, what) in [
        (home.migration(), "copies of what was brought in from another program"),
        (home.deleted_profiles(), "profiles that were deleted, each with a memory of its own"),
    ] {
        if folder.is_dir() {
            stays.push(format!("{what}: {}", folder.display()));
        }
    }
    stays.push("shared facts, without the words of theirs they came from".to_owned());
    stays.push(
        "skills that were learned, wait or were deleted: see `hermes skills list`".to_owned(),
    );
    stays.push("exports and copies that somebody made by hand".to_owned());
    let root = home.root();
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = root.parent().and_then(|parent| std::fs::read_dir(parent).ok());
    for entry in beside.into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        if found.strip_prefix(&name).is_some_and(|rest| rest.starts_with(".before-restore-")) {
            let path = entry.path().display().to_string();
            stays.push(format!("a home that a restore moved aside: {path}; delete it by hand"));
        }
    }
    stays
}

/// Forgets everybody again who was forgotten in this home.
fn again(app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let folder = holding::folder(app)?;
    let places = [home.root().to_owned(), folder.path().to_owned(), home.backups()];
    let mut places = places.to_vec();
    places.dedup();
    let mut results = erasure::again(home.root(), &places, "the home", app.now);
    let root = app.root_home()?;
    let names = profile::list(&root)?;
    for name in [None].into_iter().chain(names.into_iter().map(Some)) {
        results.extend(again_on_server(app, &root.sibling(name), &places)?);
    }
    app.out.show(&Again { results })?;
    Ok(Outcome::Done)
}

/// The same for a memory that is on a server.
fn again_on_server(app: &App, home: &Home, places: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let own = app.for_profile(home);
    if !own.is_on_server(home)? || erasure::noted(places).is_empty() {
        return Ok(Vec::new());
    }
    let mut memory = own.memory(home, Access::Write)?;
    Ok(erasure::again_on_server(&mut memory.store, home, places, ("the server", app.now)))
}

impl Show for Again {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            page.line("nobody who was forgotten is here")?;
        }
        self.results.iter().try_for_each(|line| page.line(line))
    }
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let doing = if self.done { "erased of" } else { "would erase of" };
        page.line(format_args!("{doing} {}: {}", self.user, self.erased.in_words()))?;
        for line in &self.stays {
            page.line(format_args!("  stays    {line}"))?;
        }
        if self.backups.is_empty() {
            page.line("  backups  none of this home holds it")?;
        }
        for backup in &self.backups {
            page.line(format_args!("  backup   {} in {}", backup.id, backup.place))?;
            page.line(format_args!("           ends {}", backup.ends))?;
        }
        match &self.receipt {
            Some(path) => page.line(format_args!("  receipt  {path}")),
            None => Ok(()),
        }
    }
}
