//! hermes skills list

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::skill::{Broken, Catalog, Origin, Skill, State};
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Listing, Page, Show};
use hermes_app::text::{counted, one_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// List only skills that are waiting for your approval
    #[arg(long, conflicts_with = "all")]
    pending: bool,
    /// List active and pending skills
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    locked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    folder: PathBuf,
    /// What is wrong with it, where something is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let (active, pending) = (Catalog::read(&home)?, Catalog::pending(&home)?);
    let waiting = rows(&pending);
    let unseen = waiting.len();
    let is_default = !arguments.pending && !arguments.all;
    let mut results = if arguments.pending { Vec::new() } else { rows(&active) };
    if !is_default {
        results.extend(waiting);
    }
    let is_broken = results.iter().any(|row| !row.problems.is_empty());
    let is_empty = results.is_empty();
    app.out.show(&Listing { results })?;
    if is_broken {
        app.out.hint("`hermes skills validate` shows what is wrong, with line numbers");
    }
    if arguments.pending && !is_empty {
        app.out.hint(
            "read one with `hermes skills show NAME --pending`, then `hermes skills approve NAME` or `hermes skills reject NAME`",
        );
    }
    if is_default && unseen > 0 {
        app.out.hint(format_args!(
            "{} for your approval: `hermes skills list --pending`",
            match unseen {
                1 => "1 skill is waiting".to_owned(),
                many => format!("{} are waiting", counted(many as u64, "skill")),
            }
        ));
    } else if is_default && is_empty {
        app.out.hint("add one with `hermes skills add FOLDER`");
    }
    Ok(Outcome::Done)
}

fn rows(catalog: &Catalog) -> Vec<Row> {
    let mut rows: Vec<Row> = catalog.skills.iter().map(of_skill).collect();
    rows.extend(catalog.broken.iter().map(of_broken));
    rows.sort_by(|left, right| left.name.cmp(&right.name));
    rows
}

fn of_skill(skill: &Skill) -> Row {
    Row {
        name: skill.name().to_owned(),
        description: Some(skill.content.description.clone()),
        state: skill.state,
        origin: Some(skill.origin()),
        locked: skill.content.is_locked,
        category: skill.category.clone(),
        folder: skill.file.parent().unwrap_or(&skill.file).to_owned(),
        problems: Vec::new(),
    }
}

fn of_broken(broken: &Broken) -> Row {
    Row {
        name: broken.name.clone(),
        description: None,
        state: broken.state,
        origin: None,
        locked: broken.is_locked,
        category: None,
        folder: broken.folder.clone(),
        problems: broken.problems.iter().map(ToString::to_string).collect(),
    }
}

/// Where a skill comes from, in one word.
pub(super) fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Learned => "learned",
        Origin::Edited => "edited",
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        const WIDTH: usize = 60;
        let state = match self.state {
            _ if !self.problems.is_empty() => "broken",
            State::Active => "active",
            State::Pending => "pending",
        };
        let said = self.description.as_ref().or(self.problems.first());
        vec![
            self.name.clone(),
            state.to_owned(),
            self.origin.map_or("", word).to_owned(),
            if self.locked { "locked".to_owned() } else { String::new() },
            one_line(said.map_or("", String::as_str), WIDTH),
        ]
    }
}

impl Show for Listing<Row> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no skills");
        }
        let rows: Vec<_> = self.results.iter().map(Row::cells).collect();
        page.table(&["skill", "state", "origin", "locked", "description"], &rows)
    }
}
