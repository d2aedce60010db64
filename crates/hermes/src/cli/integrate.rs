//! hermes integrate

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::Home;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::one_of::{Word, one_of};
use crate::confirm::consent;
use crate::failure::Outcome;
use crate::output::{BAD, BOLD, CARE, DIM, GOOD, Listing, Page, Show};
use hermes_app::clock;
use hermes_app::hooks::counts::{Counts, Seen};
use hermes_app::integrate::agents::{self, Agent, Part, named};
use hermes_app::integrate::check::{self, Checked};
use hermes_app::integrate::record::Record;
use hermes_app::integrate::site::{self, Parts, Scope, Site};
use hermes_app::integrate::{self, FileShown, Plan, Standing, State, agents_md, emit};
use hermes_app::problem::Problem;
use hermes_app::text::counted;

/// Shown below `hermes integrate --help`.
const EXAMPLES: &str = "Without an agent, this prints a table and changes nothing. Hermes shows each change to an agent's files
as a diff before writing it and keeps a copy of the original. `--remove` removes exactly what was added.

Examples:
  hermes integrate                         show which agents are installed and connected
  hermes integrate claude-code --dry-run   show what would be written
  hermes integrate claude-code             write it
  hermes integrate --check                 test every installed command
  hermes integrate --remove claude-code";

const AGENTS: &[Word<Agent>] = &[
    ("claude-code", "", Agent::ClaudeCode),
    ("codex", "", Agent::Codex),
    ("cursor", "", Agent::Cursor),
    ("openclaw", "", Agent::Openclaw),
    ("hermes-agent", "", Agent::HermesAgent),
    ("goose", "", Agent::Goose),
    ("opencode", "", Agent::Opencode),
    ("vscode", "", Agent::Vscode),
    ("zed", "", Agent::Zed),
];

const SCOPES: &[Word<Scope>] = &[
    ("user", "For everything you do as this user", Scope::User),
    ("project", "For the project in the current folder", Scope::Project),
];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Agent to connect
    #[arg(value_parser = one_of(AGENTS), value_name = "AGENT", conflicts_with_all = ["all_detected", "remove", "check", "emit_plugin", "agents_md"])]
    agent: Option<Agent>,
    /// Connect the agent for everything, or only for the project in the current folder
    #[arg(long, value_parser = one_of(SCOPES), default_value = "user")]
    scope: Scope,
    /// Skip what the agent calls automatically: hooks, or the provider plugin
    #[arg(long)]
    no_hooks: bool,
    /// Skip the MCP server
    #[arg(long)]
    no_mcp: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Connect every agent that is installed
    #[arg(long, conflicts_with_all = ["remove", "check", "emit_plugin", "agents_md"])]
    all_detected: bool,
    /// Remove what was added to an agent's files; `agents-md` removes the block from pages such as AGENTS.md
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["check", "emit_plugin", "agents_md"])]
    remove: Option<String>,
    /// Send a test event through every installed command, and report how long it took
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "all", conflicts_with_all = ["emit_plugin", "agents_md"])]
    check: Option<String>,
    /// Write a plugin folder, for agents that install plugins
    #[arg(long, value_name = "FOLDER", conflicts_with = "agents_md")]
    emit_plugin: Option<PathBuf>,
    /// Add or update a block about the memory in a page such as AGENTS.md
    #[arg(long, value_name = "FILE")]
    agents_md: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.home()?;
    let (hooks, mcp) = (!arguments.no_hooks, !arguments.no_mcp);
    let site = site::site(app, &home, Parts { scope: arguments.scope, hooks, mcp })?;
    if let Some(folder) = &arguments.emit_plugin {
        let results = emit::write(&site.project.join(folder), &site.program)?;
        app.out.show(&Emitted { results })?;
        return Ok(Outcome::Done);
    }
    let record = Record::read(&home)?;
    if let Some(page) = &arguments.agents_md {
        let plan = agents_md::put(&site.project.join(page), &record, app.now)?;
        return finish(vec![plan], arguments, app, &home, "Write the block");
    }
    if let Some(name) = &arguments.remove {
        let plans = removal(name, &site, &record, app.now)?;
        return finish(plans, arguments, app, &home, "Disconnect");
    }
    if let Some(which) = &arguments.check {
        return try_out(which, &site, app);
    }
    let wanted: Vec<Agent> = match (arguments.agent, arguments.all_detected) {
        (Some(agent), _) => vec![agent],
        (None, true) => {
            agents::ALL.iter().copied().filter(|agent| agent.is_detected(&site)).collect()
        }
        (None, false) => return table(&site, &home, app),
    };
    if site.hooks || site.mcp {
        home.must_exist()?;
    }
    let (mut plans, mut is_partial) = (Vec::new(), false);
    for agent in wanted {
        match integrate::connect(agent, &site, &record, app.now) {
            Ok(plan) => plans.push(plan),
            Err(problem) if arguments.all_detected => {
                is_partial = true;
                app.out.note(format_args!("{CARE}skipped{CARE:#} {}: {problem}", agent.name()));
            }
            Err(problem) => return Err(problem.into()),
        }
    }
    let outcome = finish(plans, arguments, app, &home, "Connect")?;
    Ok(if is_partial { Outcome::Partial } else { outcome })
}

fn removal(name: &str, site: &Site, record: &Record, now: Timestamp) -> Result<Vec<Plan>, Problem> {
    if name == agents_md::NAME {
        return agents_md::remove(record, now);
    }
    Ok(vec![integrate::disconnect(named(name)?, site, record, now)?])
}

/// Shows the plans, asks, writes.
fn finish(
    mut plans: Vec<Plan>,
    arguments: &Arguments,
    app: &mut Terminal,
    home: &Home,
    verb: &str,
) -> anyhow::Result<Outcome> {
    let changing = plans.iter().filter(|plan| plan.changes()).count();
    let asks = changing > 0 && !arguments.dry_run;
    let results: Vec<Connected> = plans.iter().map(|plan| Connected::of(plan, arguments)).collect();
    let shown = Done { results };
    if !app.json {
        app.out.show(&shown)?;
    }
    if asks {
        let names: Vec<&str> = plans.iter().map(|plan| plan.agent.as_str()).collect();
        let files: usize =
            plans.iter().flat_map(|plan| &plan.steps).filter(|step| step.changes()).count();
        let question = format!("{verb} {}: {}?", names.join(", "), counted(files as u64, "file"));
        consent(app.asking, &question)?;
    }
    if !arguments.dry_run {
        for plan in &mut plans {
            integrate::apply(plan, home, app.now)?;
        }
    }
    if app.json {
        app.out.show(&shown)?;
    } else if asks {
        app.out.note(format_args!(
            "{GOOD}done{GOOD:#}; copies of the original files are in {}",
            home.integration_copies().display()
        ));
        for remark in plans.iter().flat_map(|plan| &plan.remarks) {
            app.out.hint(remark);
        }
    }
    Ok(Outcome::Done)
}

fn try_out(which: &str, site: &Site, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted: Vec<Agent> =
        if which == "all" { agents::ALL.to_vec() } else { vec![named(which)?] };
    let results: Vec<Checked> = wanted.iter().flat_map(|agent| check::run(*agent, site)).collect();
    if results.is_empty() {
        app.out.note("no agent is connected: connect one with `hermes integrate AGENT`");
    }
    let is_well = results.iter().all(|checked| checked.ok && checked.outdated.is_none());
    app.out.show(&Tried { results })?;
    Ok(if is_well { Outcome::Done } else { Outcome::Findings })
}

fn table(site: &Site, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let counts = Counts::read(&home.hook_counts());
    let zone = app.zone(home).unwrap_or(jiff::tz::TimeZone::UTC);
    let row = |standing: Standing| {
        let seen = counts.of(standing.agent.name());
        Row { last_event: seen.map(|seen| LastEvent::of(seen, &zone)), standing }
    };
    let results = integrate::overview(site).into_iter().map(row).collect();
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    standing: Standing,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<LastEvent>,
}

#[derive(Debug, Serialize)]
struct LastEvent {
    name: String,
    at: Timestamp,
    #[serde(skip)]
    shown: String,
}

impl LastEvent {
    fn of(seen: &Seen, zone: &jiff::tz::TimeZone) -> LastEvent {
        let shown = format!("{} {}", clock::minute(seen.last_at, zone), seen.last_event);
        LastEvent { name: seen.last_event.clone(), at: seen.last_at, shown }
    }
}

impl Show for Listing<Row> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let word = |state: State| {
            match state {
                State::Yes => "yes",
                State::Old => "old",
                State::No => "no",
                State::None => "-",
            }
            .to_owned()
        };
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|row| {
                let detected = if row.standing.detected { "yes" } else { "no" }.to_owned();
                let event =
                    row.last_event.as_ref().map_or("-".to_owned(), |event| event.shown.clone());
                vec![
                    row.standing.agent.name().to_owned(),
                    detected,
                    word(row.standing.mcp),
                    word(row.standing.hooks),
                    event,
                ]
            })
            .collect();
        page.table(&["agent", "detected", "mcp", "hooks", "last event seen"], &rows)
    }
}

#[derive(Debug, Serialize)]
struct Done {
    results: Vec<Connected>,
}

/// What became, or would become, of one agent's files.
#[derive(Debug, Serialize)]
struct Connected {
    agent: String,
    dry_run: bool,
    changed: bool,
    files: Vec<FileShown>,
    remarks: Vec<String>,
}

impl Connected {
    fn of(plan: &Plan, arguments: &Arguments) -> Connected {
        Connected {
            agent: plan.agent.clone(),
            dry_run: arguments.dry_run,
            changed: plan.changes(),
            files: plan.shown(),
            remarks: plan.remarks.clone(),
        }
    }
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for connected in &self.results {
            for file in &connected.files {
                for line in file.diff.lines() {
                    let style = match line.as_bytes().first() {
                        Some(b'+') => GOOD,
                        Some(b'-') => BAD,
                        Some(b'@') => DIM,
                        _ => anstyle::Style::new(),
                    };
                    page.line(format_args!("{style}{line}{style:#}"))?;
                }
            }
            if !connected.changed {
                page.line(format_args!("{BOLD}{}{BOLD:#}: nothing to change", connected.agent))?;
            }
            for file in connected.files.iter().filter(|file| file.because.is_some()) {
                let because = file.because.as_deref().unwrap_or_default();
                page.line(format_args!("{}: {because}", file.path.display()))?;
            }
        }
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Tried {
    results: Vec<Checked>,
}

impl Show for Tried {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let part = |part: Part| if part == Part::Mcp { "mcp" } else { "hooks" }.to_owned();
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|checked| {
                let word = match (checked.ok, &checked.outdated) {
                    (false, _) => "FAIL",
                    (true, Some(_)) => "old",
                    (true, None) => "ok",
                }
                .to_owned();
                let took = format!("{} ms", checked.milliseconds);
                vec![
                    word,
                    checked.agent.name().to_owned(),
                    part(checked.part),
                    took,
                    checked.told(),
                ]
            })
            .collect();
        if rows.is_empty() {
            Ok(())
        } else {
            page.table(&["", "agent", "part", "took", "result"], &rows)
        }
    }
}

#[derive(Debug, Serialize)]
struct Emitted {
    results: Vec<PathBuf>,
}

impl Show for Emitted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        self.results.iter().try_for_each(|path| page.line(path.display()))
    }
}
