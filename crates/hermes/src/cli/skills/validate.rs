//! hermes skills validate

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use hermes_home::Home;
use hermes_home::skill::{self, Catalog, Problem};
use serde::Serialize;

use super::must_be_there;
use crate::failure::Outcome;
use crate::output::{BAD, GOOD, Listing, Page, Show};
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Name of a skill, folder with a SKILL.md, or SKILL.md [default: all skills]
    #[arg(value_name = "NAME|PATH")]
    wanted: Option<String>,
}

#[derive(Debug, Serialize)]
struct Checked {
    name: String,
    path: PathBuf,
    valid: bool,
    problems: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    line: usize,
    message: String,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let results = match arguments.wanted.as_deref() {
        None => all(&app.existing_home()?)?,
        Some(wanted) if is_path(wanted) => vec![at_path(Path::new(wanted))?],
        Some(name) => vec![named(&app.existing_home()?, name)?],
    };
    let is_valid = results.iter().all(|checked| checked.valid);
    app.out.show(&Listing { results })?;
    Ok(if is_valid { Outcome::Done } else { Outcome::Findings })
}

/// A name never holds a slash; `.` is a path.
fn is_path(wanted: &str) -> bool {
    wanted.contains('/') || wanted.starts_with('.') || wanted.ends_with(".md")
}

fn all(home: &Home) -> anyhow::Result<Vec<Checked>> {
    let mut results = Vec::new();
    for catalog in [Catalog::read(home)?, Catalog::pending(home)?] {
        for skill in &catalog.skills {
            let folder = skill.file.parent().unwrap_or(&skill.file);
            results.push(checked(skill.name(), folder, &skill::check_path(folder)?));
        }
        for broken in &catalog.broken {
            results.push(checked(&broken.name, &broken.folder, &broken.problems));
        }
    }
    Ok(results)
}

fn named(home: &Home, name: &str) -> anyhow::Result<Checked> {
    for catalog in [Catalog::read(home)?, Catalog::pending(home)?] {
        if let Some(broken) = catalog.get_broken(name) {
            return Ok(checked(name, &broken.folder, &broken.problems));
        }
    }
    let skill = Catalog::find_any(home, name)?;
    let folder = skill.file.parent().unwrap_or(&skill.file);
    Ok(checked(name, folder, &skill::check_path(folder)?))
}

fn at_path(path: &Path) -> anyhow::Result<Checked> {
    must_be_there(path)?;
    let name = path.display().to_string();
    Ok(checked(&name, path, &skill::check_path(path)?))
}

fn checked(name: &str, path: &Path, problems: &[Problem]) -> Checked {
    let found =
        |problem: &Problem| Found { line: problem.line, message: problem.fault.to_string() };
    Checked {
        name: name.to_owned(),
        path: path.to_owned(),
        valid: problems.is_empty(),
        problems: problems.iter().map(found).collect(),
    }
}

impl Show for Listing<Checked> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no skills");
        }
        for checked in &self.results {
            let name = one_line(&checked.name, usize::MAX);
            if checked.valid {
                page.line(format_args!("{GOOD}ok{GOOD:#}    {name}"))?;
                continue;
            }
            let path = one_line(&checked.path.display().to_string(), usize::MAX);
            page.line(format_args!("{BAD}FAIL{BAD:#}  {name} ({path})"))?;
            for problem in &checked.problems {
                let message = one_line(&problem.message, usize::MAX);
                page.line(format_args!("      line {}: {message}", problem.line))?;
            }
        }
        Ok(())
    }
}
