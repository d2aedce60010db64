//! The same memory file in more than one place, and how to make one of them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::civil::Date;

use crate::error::{Error, Result};
use crate::init::Owner;
use crate::layout::{Home, MemoryTarget};
use crate::memory_file::edit::{self, NewEntry};
use crate::memory_file::{self, Change, Context, Document, Edited, Entry, Outcome};
use crate::text_file::read_text;
use crate::tokens;

/// A memory file that stands where this program does not write.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Its text and entries.
    pub document: Document,
    /// About how many tokens it costs in each session.
    pub tokens: usize,
}

/// An entry to be added, with the section it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What it says.
    pub text: String,
    /// The heading to put it under.
    pub section: Option<String>,
    /// The day of its date comment.
    pub written: Option<Date>,
}

/// What a merge came to.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The change of the file in `memories/`.
    pub outcome: Outcome,
    /// The files that were set aside: where each was, and where it is now.
    pub set_aside: Vec<(PathBuf, PathBuf)>,
}

/// The files of a target in other places; a link to the file in `memories/` is none.
pub fn find(home: &Home, target: &MemoryTarget, owner: Owner) -> Result<Vec<Place>> {
    let main = home.memory_file(target).canonicalize().ok();
    let mut found = Vec::new();
    for path in home.other_places(target) {
        let is_main = main.is_some() && path.canonicalize().ok() == main;
        if is_main {
            continue;
        }
        if let Some(text) = read_text(&path)? {
            let document = Document::parse(&text, owner);
            found.push(Place { path, document, tokens: tokens::estimate(&text) });
        }
    }
    Ok(found)
}

/// The entries of `other` whose text is not in `main` yet, each with its section.
pub fn merge_plan(main: &Document, other: &Document) -> Vec<Missing> {
    let known: HashSet<&str> = main.entries().iter().map(|entry| entry.text.as_str()).collect();
    let (ours, theirs) = (main.headings_by_name(), other.headings_by_name());
    let title = main.headings().first().map(|heading| &heading.text);
    // What stands under the title alone goes under the title of `main`.
    let section = |entry: &Entry| {
        let name = entry.section.last()?;
        let key = name.to_lowercase();
        let is_title = theirs.get(&key).is_some_and(|heading| heading.level == 1);
        if is_title && !ours.contains_key(&key) { title.cloned() } else { Some(name.clone()) }
    };
    let missing = other.entries().iter().filter(|entry| !known.contains(entry.text.as_str()));
    let planned = missing.map(|entry| Missing {
        text: entry.text.clone(),
        section: section(entry),
        written: entry.written,
    });
    planned.collect()
}

/// Adds what is missing to the file in `memories/`, then sets the other files aside.
pub fn merge(
    home: &Home,
    target: &MemoryTarget,
    context: &Context<'_>,
    today: Date,
) -> Result<Merged> {
    let places = find(home, target, context.rules.owner)?;
    let outcome = memory_file::change(home, target, context, |main| merged(main, &places))?;
    let mut set_aside = Vec::new();
    for place in places {
        let kept = free_name(&place.path, today);
        fs::rename(&place.path, &kept).map_err(|source| Error::write(&kept, source))?;
        set_aside.push((place.path, kept));
    }
    Ok(Merged { outcome, set_aside })
}

fn merged(main: &Document, places: &[Place]) -> Result<Edited> {
    let mut document = main.clone();
    for place in places {
        let missing = merge_plan(&document, &place.document);
        let new: Vec<NewEntry<'_>> = missing.iter().map(Missing::as_new).collect();
        document = edit::insert_all(&document, &new)?.document;
    }
    let change = match document.entries().len() - main.entries().len() {
        0 => Change::Nothing,
        entries => Change::Merged { entries },
    };
    Ok(Edited { document, change, entry: None })
}

impl Missing {
    pub(crate) fn as_new(&self) -> NewEntry<'_> {
        NewEntry { text: &self.text, section: self.section.as_deref(), written: self.written }
    }
}

/// `<name>.merged-YYYYMMDD`, with a number when that is taken.
fn free_name(path: &Path, today: Date) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".merged-{}", today.strftime("%Y%m%d")));
    let mut free = PathBuf::from(&name);
    let mut number = 2;
    while free.symlink_metadata().is_ok() {
        let mut numbered = name.clone();
        numbered.push(format!("-{number}"));
        free = numbered.into();
        number += 1;
    }
    free
}
