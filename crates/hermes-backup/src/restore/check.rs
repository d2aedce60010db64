//! Are the databases of an unpacked home whole, and what the list says they are?

use std::path::Path;

use hermes_store::snapshot::{self, Depth, Examined};

use crate::database_files::remove_sidecars;
use crate::manifest::{Database, Manifest};
use crate::{Error, Result};

/// Checks every database that the list speaks of; returns what differs, one line each.
pub(crate) fn databases(folder: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let mut differs = Vec::new();
    for listed in &manifest.databases {
        differs.extend(database(folder, listed)?);
    }
    Ok(differs)
}

/// Checks one database; returns what differs.
pub(crate) fn database(folder: &Path, listed: &Database) -> Result<Vec<String>> {
    let path = folder.join(&listed.path);
    let depth = if listed.checked == Depth::Full.as_str() { Depth::Full } else { Depth::Quick };
    let examined = snapshot::examine(&path, depth);
    remove_sidecars(&path)?;
    let found = match examined {
        Ok(found) => found,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    Ok(compare(&found, listed).into_iter().map(|what| format!("{}: {what}", listed.path)).collect())
}

fn compare(found: &Examined, listed: &Database) -> Vec<String> {
    let mut differs = Vec::new();
    // What was wrong already may be told in other words by another SQLite: only what was right must be right.
    if listed.integrity == "ok" && found.integrity != "ok" {
        differs.push(format!(
            "its integrity check found {}; when the backup was made it was ok",
            found.integrity
        ));
    }
    for (name, _) in listed.indexes.iter().filter(|(_, then)| *then == "ok") {
        let now = found.indexes.get(name).map_or("missing", String::as_str);
        if now != "ok" {
            differs.push(format!("the index {name} is {now}; when the backup was made it was ok"));
        }
    }
    if found.rows != listed.rows {
        differs.push("its row counts have changed".to_owned());
    }
    if found.newest_message != listed.newest_message {
        differs.push("its newest message is a different one".to_owned());
    }
    if (found.pages, found.page_size) != (listed.pages, listed.page_size) {
        differs.push("its number of pages has changed".to_owned());
    }
    differs
}

/// Fails if anything differs.
pub(crate) fn must_be_right(archive: &Path, differs: &[String]) -> Result<()> {
    match differs.first() {
        None => Ok(()),
        Some(first) => Err(Error::Tampered {
            what: archive.display().to_string(),
            why: match differs.len() {
                1 => first.clone(),
                count => format!("{first} (and {} more)", count - 1),
            },
        }),
    }
}
