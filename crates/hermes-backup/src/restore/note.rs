//! The note in a folder that was moved aside: which part of a home it holds.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hermes_home::atomic;
use serde::{Deserialize, Serialize};

use crate::restore::swap::{Replaced, entries};
use crate::{Error, Result};

/// The name of the note.
pub(crate) const NAME: &str = ".moved-aside.json";

/// What a folder without a note must have one of to be taken for a whole home.
const SIGNS: [&str; 4] = ["SOUL.md", "config.yaml", "state.db", "hermesd"];

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    what: String,
}

/// Writes the note, so that it is on the disk; a link that has its name is not followed.
pub(crate) fn write(folder: &Path, replaced: &Replaced) -> Result<()> {
    let path = folder.join(NAME);
    remove(folder)?;
    let note = Note { what: replaced.name().to_owned() };
    let failed = |error| Error::file("write to", &path, error);
    let text = serde_json::to_vec(&note).map_err(|error| failed(error.into()))?;
    // Under its own name at once: cut off, it leaves nothing that the next restore would not take away.
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    atomic::sync_folder(folder).map_err(failed)
}

/// Takes the note away: what is a home again needs none.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    let path = folder.join(NAME);
    unless_missing(fs::remove_file(&path)).map_err(|error| Error::file("remove", &path, error))
}

/// Which part of a home a folder that was moved aside holds; refuses one that holds nothing to put back.
pub(crate) fn part_of(aside: &Path) -> Result<Replaced> {
    let refused =
        |why: &str| Err(Error::Setting { what: aside.display().to_string(), why: why.to_owned() });
    let note = fs::read(aside.join(NAME)).ok();
    let note = note.and_then(|text| serde_json::from_slice::<Note>(&text).ok());
    let Some(replaced) = note.and_then(|note| Replaced::named(&note.what).ok()) else {
        return match SIGNS.iter().any(|sign| aside.join(sign).exists()) {
            true => Ok(Replaced::Whole),
            false => {
                refused("it does not record which part of a home it is, and it is not a whole home")
            }
        };
    };
    let holds_it = match &replaced {
        Replaced::Whole => true,
        Replaced::Default => entries(aside)?.iter().any(|name| name != NAME && name != "profiles"),
        Replaced::Profile(name) => aside.join("profiles").join(name).is_dir(),
    };
    if holds_it { Ok(replaced) } else { refused("it contains nothing to put back") }
}

/// Removes a folder that things were moved out of, unless something is still in it.
pub(crate) fn remove_emptied(folder: &Path) -> Result<()> {
    let profiles = folder.join("profiles");
    let is_other = |name: &std::ffi::OsString| name != NAME && name != "profiles";
    if entries(folder)?.iter().any(is_other) || !entries(&profiles)?.is_empty() {
        return Ok(());
    }
    remove(folder)?;
    unless_missing(fs::remove_dir(profiles))
        .and_then(|()| unless_missing(fs::remove_dir(folder)))
        .map_err(|error| Error::file("remove", folder, error))
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
