//! Connects agents: what would be written where, shown, written, recorded, taken back.

pub mod agents;
pub mod agents_md;
pub mod check;
mod diff;
mod edit;
pub mod emit;
pub mod ours;
mod plan;
pub mod program;
pub mod record;
pub mod site;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_home::{Home, atomic, lock};
use jiff::Timestamp;
use serde::Serialize;

use self::agents::{Agent, Content, Part};
use self::plan::Step;
use self::record::{Installed, Record};
use self::site::{Scope, Site};
use crate::problem::{Kind, Problem};

/// What would be done to connect or disconnect one agent.
pub struct Plan {
    /// The agent.
    pub agent: String,
    /// The files that change.
    pub steps: Vec<Step>,
    /// What is recorded afterwards.
    installed: Installed,
    /// What the user should know.
    pub remarks: Vec<String>,
}

/// One file of a plan, for people and programs.
#[derive(Debug, Clone, Serialize)]
pub struct FileShown {
    /// The file.
    pub path: PathBuf,
    /// Whether it is made, changed, removed, left or as it should be.
    pub becomes: &'static str,
    /// The change, as a diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// Why it is left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Plan {
    /// Whether anything would change.
    pub fn changes(&self) -> bool {
        self.steps.iter().any(Step::changes)
    }

    /// The files as they are shown.
    pub fn shown(&self) -> Vec<FileShown> {
        self.steps.iter().map(shown).collect()
    }
}

/// What it takes to connect an agent.
pub fn connect(
    agent: Agent,
    site: &Site,
    record: &Record,
    now: Timestamp,
) -> Result<Plan, Problem> {
    check_scope(agent, site)?;
    if let Some(why) = agent.obstacle(site) {
        return Err(Problem::new(Kind::NotFound, why)
            .hint("start Hermes Agent there once, or give its home with HERMES_HOME"));
    }
    if site.hooks
        && let Some(path) = agent.plugin(site)
    {
        return Err(Problem::new(
            Kind::Refused,
            format!("the plugin {} already calls the hooks: {}", emit::PLUGIN, path.display()),
        )
        .hint("add `--no-hooks`, or switch the plugin off"));
    }
    let project = site.is_project().then(|| site.project.clone());
    let known = record.find(agent.name(), site.scope, project.as_deref());
    let known_files = known.map(|known| known.files.clone()).unwrap_or_default();
    let mut steps = Vec::new();
    let mut files = known_files.clone();
    for target in agent.targets(site) {
        let of_it = known_files.iter().find(|written| written.path == target.path);
        let step = plan::install(&target, of_it).map_err(|problem| match agent.by_hand(site) {
            Some(command) => problem.hint(format!("do it by hand: {command}")),
            None => problem,
        })?;
        files.retain(|written| written.path != step.path);
        files.extend(step.written.clone());
        steps.push(step);
    }
    let installed = Installed {
        agent: agent.name().to_owned(),
        scope: site.scope,
        project,
        at: known.map_or(now, |known| known.at),
        files,
    };
    Ok(Plan { agent: agent.name().to_owned(), steps, installed, remarks: agent.remarks(site) })
}

/// What it takes to take everything of ours out of an agent's files.
pub fn disconnect(
    agent: Agent,
    site: &Site,
    record: &Record,
    now: Timestamp,
) -> Result<Plan, Problem> {
    let project = site.is_project().then(|| site.project.clone());
    let known = record.find(agent.name(), site.scope, project.as_deref());
    let mut steps = Vec::new();
    for written in known.map(|known| known.files.as_slice()).unwrap_or_default() {
        steps.push(plan::remove(written)?);
    }
    // What stands there without a record, because another home put it there.
    for target in agent.targets(site) {
        let is_seen = steps.iter().any(|step: &Step| step.path == target.path);
        if !is_seen {
            steps.extend(plan::remove_unrecorded(&target)?);
        }
    }
    let installed = Installed {
        agent: agent.name().to_owned(),
        scope: site.scope,
        project,
        at: now,
        files: vec![],
    };
    Ok(Plan { agent: agent.name().to_owned(), steps, installed, remarks: Vec::new() })
}

/// Writes what a plan says: copies first, then the record, then the files.
pub fn apply(plan: &mut Plan, home: &Home, now: Timestamp) -> anyhow::Result<()> {
    let mut expected = Record::read(home)?;
    let recorded = expected.clone();
    expected.set(plan.installed.clone());
    if !plan.changes() && expected == recorded {
        return Ok(());
    }
    if let Some(folder) = home.integrations().parent().filter(|folder| !folder.exists()) {
        atomic::make_folder(folder)?;
    }
    let _lock = lock::hold(&home.integrations())?;
    keep_copies(plan, home, now)?;
    let mut record = Record::read(home)?;
    let before = record.clone();
    // A record of what is about to be written harms nothing: taking back looks at the file first.
    // While files go it must stay until they are gone.
    let goes = plan.installed.files.is_empty();
    record.set(plan.installed.clone());
    if !goes && record != before {
        record.write(home)?;
    }
    for step in &plan.steps {
        write(step)?;
    }
    if goes && record != before {
        record.write(home)?;
    }
    Ok(())
}

/// Whether a part of an agent is there: every piece as it should be, some of it, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is installed.
    Yes,
    /// Of another version, path or home, or in part.
    Old,
    /// It is not.
    No,
    /// The agent has no such thing.
    None,
}

/// How a part of an agent stands in its files.
pub fn state(agent: Agent, part: Part, site: &Site) -> State {
    if part == Part::Hooks && !agent.has_hooks() {
        return State::None;
    }
    let (hooks, mcp) = (part == Part::Hooks, part == Part::Mcp);
    let alone = Site { hooks, mcp, ..site.clone() };
    let targets = agent.targets(&alone);
    let (mut whole, mut some) = (!targets.is_empty(), false);
    for target in targets {
        let text = plan::read(&target.path).ok().flatten().unwrap_or_default();
        match &target.content {
            Content::Whole(ours) => {
                whole &= *ours == text;
                some |= !text.is_empty();
            }
            Content::Pieces { format, pieces } => {
                let holds = edit::holds(*format, &text, pieces).unwrap_or_default();
                whole &= holds;
                let without = edit::take_out(*format, &text, pieces);
                some |= holds || without.is_ok_and(|without| without != text);
            }
        }
    }
    match (whole, some) {
        (true, _) => State::Yes,
        (false, true) => State::Old,
        (false, false) => State::No,
    }
}

fn check_scope(agent: Agent, site: &Site) -> Result<(), Problem> {
    let has_none = matches!(agent, Agent::Openclaw | Agent::HermesAgent | Agent::Goose);
    if site.scope == Scope::Project && has_none {
        let what = format!("{} has no settings for a single project", agent.title());
        return Err(Problem::usage(what).hint("omit `--scope`"));
    }
    Ok(())
}

fn keep_copies(plan: &mut Plan, home: &Home, now: Timestamp) -> anyhow::Result<()> {
    let folder = home
        .integration_copies()
        .join(&plan.agent)
        .join(now.strftime("%Y%m%d-%H%M%S%.3f").to_string());
    for (number, step) in plan.steps.iter_mut().enumerate() {
        let Some(before) =
            step.before.as_ref().filter(|before| Some(*before) != step.after.as_ref())
        else {
            continue;
        };
        if !folder.exists() {
            atomic::make_folder(&folder)?;
        }
        let name = step.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let copy = folder.join(format!("{}-{name}", number + 1));
        atomic::write_private(&copy, before.as_bytes())?;
        for written in &mut plan.installed.files {
            if written.path == step.path {
                written.copy.get_or_insert(copy.clone());
            }
        }
    }
    Ok(())
}

fn write(step: &Step) -> anyhow::Result<()> {
    if step.changes() {
        if plan::read(&step.path)? != step.before {
            return Err(Problem::new(
                Kind::Locked,
                format!("{} was changed in the meantime", step.path.display()),
            )
            .hint("run the same command again")
            .into());
        }
        match &step.after {
            Some(text) => {
                if let Some(folder) = step.path.parent().filter(|folder| !folder.exists()) {
                    atomic::make_folder(folder)?;
                }
                atomic::write(&step.path, text.as_bytes())?;
            }
            None => fs::remove_file(&step.path)
                .with_context(|| format!("could not remove {}", step.path.display()))?,
        }
    }
    if let Some(folder) = step.path.parent() {
        sweep(folder);
    }
    step.folders.iter().rev().for_each(|folder| drop_folder(folder));
    Ok(())
}

/// Takes away what a killed run left half-written beside a file; in a home others may be writing.
fn sweep(folder: &Path) {
    if folder.join("hermesd").exists() {
        return;
    }
    let left = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in left.filter(|entry| atomic::is_temporary(&entry.file_name())) {
        let _ = fs::remove_file(entry.path());
    }
}

/// A folder that was made for a file goes with it, unless something else is in it by now.
fn drop_folder(folder: &Path) {
    // Python leaves what it made of the plugin's code.
    let cache = folder.join("__pycache__");
    if cache.is_dir() && folder.file_name().is_some_and(|name| name == agents::PROVIDER) {
        let _ = fs::remove_dir_all(cache);
    }
    let _ = fs::remove_dir(folder);
}

fn shown(step: &Step) -> FileShown {
    let becomes = match (&step.before, &step.after) {
        _ if step.left.is_some() => "left",
        (None, None) => "gone",
        (None, Some(_)) => "made",
        (Some(_), None) => "removed",
        (before, after) if before == after => "unchanged",
        _ => "changed",
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let diff =
        diff::unified(&step.path.display().to_string(), &text(&step.before), &text(&step.after));
    FileShown { path: step.path.clone(), becomes, diff, because: step.left.clone() }
}

/// Which agents are here, and what of ours is in each.
pub fn overview(site: &Site) -> Vec<Standing> {
    let of = |agent: &Agent| Standing {
        agent: *agent,
        detected: agent.is_detected(site),
        mcp: state(*agent, Part::Mcp, site),
        hooks: state(*agent, Part::Hooks, site),
    };
    agents::ALL.iter().map(of).collect()
}

/// How one agent stands.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// The agent.
    pub agent: Agent,
    /// Whether it is on this machine.
    pub detected: bool,
    /// Whether it has our MCP server.
    pub mcp: State,
    /// Whether it calls our hooks.
    pub hooks: State,
}
