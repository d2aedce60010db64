//! One block of ours in a page like AGENTS.md, between two marks; the rest of the page is left alone.

use std::path::Path;

use jiff::Timestamp;

use super::Plan;
use super::agents::Part;
use super::edit::Splice;
use super::plan::{self, Step};
use super::record::{Installed, Record, Written, hash};
use super::site::Scope;
use crate::problem::{Kind, Problem};

/// What pages are called in records.
pub const NAME: &str = "agents-md";

const BEGIN: &str = "<!-- hermes:begin -->";
const END: &str = "<!-- hermes:end -->";
const BLOCK: &str = include_str!("plugin/agents-block.md");

/// What it takes to put the block into a page, or bring it up to date.
pub fn put(path: &Path, record: &Record, now: Timestamp) -> Result<Plan, Problem> {
    let before = plan::read(path)?;
    let text = before.clone().unwrap_or_default();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block = format!("{BEGIN}\n{BLOCK}{END}").replace('\n', newline);
    let after = match find(&text).map_err(|why| odd(path, why))? {
        Some(range) => [&text[..range.start], &block, &text[range.end..]].concat(),
        None if text.is_empty() => format!("{block}{newline}"),
        None => {
            let gap = if text.ends_with('\n') { newline.to_owned() } else { newline.repeat(2) };
            format!("{text}{gap}{block}{newline}")
        }
    };
    let project = path.to_owned();
    let known = record.find(NAME, Scope::Project, Some(&project));
    let written = match known.and_then(|known| known.files.first()) {
        Some(written) if after == text => written.clone(),
        _ => Written {
            path: project.clone(),
            part: Part::Hooks,
            format: None,
            created: before.is_none(),
            folders: Vec::new(),
            before: before.as_deref().map(hash),
            after: hash(&after),
            copy: None,
            splices: vec![Splice::between(&text, &after)],
            pieces: Vec::new(),
        },
    };
    let installed = Installed {
        agent: NAME.to_owned(),
        scope: Scope::Project,
        project: Some(project.clone()),
        at: now,
        files: vec![written.clone()],
    };
    let step = Step {
        path: project,
        before,
        after: Some(after),
        written: Some(written),
        folders: Vec::new(),
        left: None,
    };
    Ok(Plan { agent: NAME.to_owned(), steps: vec![step], installed, remarks: Vec::new() })
}

/// What it takes to take the block out of every page that has one by record.
pub fn remove(record: &Record, now: Timestamp) -> Result<Vec<Plan>, Problem> {
    let pages = record.installed.iter().filter(|installed| installed.agent == NAME);
    pages.map(|page| remove_one(page, now)).collect()
}

fn remove_one(page: &Installed, now: Timestamp) -> Result<Plan, Problem> {
    let mut steps = Vec::new();
    for written in &page.files {
        let before = plan::read(&written.path)?;
        let text = before.clone().unwrap_or_default();
        let exact =
            super::edit::undo(&text, &written.splices).filter(|_| hash(&text) == written.after);
        let left = match (exact, find(&text).map_err(|why| odd(&written.path, why))?) {
            (Some(exact), _) => exact,
            (None, Some(range)) => {
                let head = text[..range.start].trim_end();
                let tail = text[range.end..].trim_start_matches(['\r', '\n']);
                let gap = &text[head.len()..range.start];
                if tail.is_empty() {
                    format!("{head}{}", if gap.contains("\r\n") { "\r\n" } else { "\n" })
                } else {
                    format!("{head}{gap}{tail}")
                }
            }
            (None, None) => text.clone(),
        };
        let goes = written.created && left.trim().is_empty();
        let after = if goes || before.is_none() { None } else { Some(left) };
        steps.push(Step {
            path: written.path.clone(),
            before,
            after,
            written: None,
            folders: Vec::new(),
            left: None,
        });
    }
    let installed = Installed { at: now, files: Vec::new(), ..page.clone() };
    Ok(Plan { agent: NAME.to_owned(), steps, installed, remarks: Vec::new() })
}

/// Where the block is, marks included.
fn find(text: &str) -> Result<Option<std::ops::Range<usize>>, &'static str> {
    let (begins, ends) = (text.matches(BEGIN).count(), text.matches(END).count());
    match (text.find(BEGIN), text.find(END)) {
        (None, None) => Ok(None),
        (Some(begin), Some(end)) if begin < end && begins == 1 && ends == 1 => {
            Ok(Some(begin..end + END.len()))
        }
        _ => Err("the markers of the Hermes block do not match"),
    }
}

fn odd(path: &Path, why: &str) -> Problem {
    Problem::new(Kind::Refused, format!("could not change {}: {why}", path.display()))
        .hint(format!("correct `{BEGIN}` and `{END}` so that each is there once, or remove both"))
}
