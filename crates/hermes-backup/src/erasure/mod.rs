//! People who were forgotten: the note that outlives a restore, the receipt, and forgetting them again.

mod holding;
mod person;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hermes_home::{Home, ProfileName, atomic};
use hermes_store::memory::{Admin, Change, Memory, Wanted};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::holding::{HeldBy, Nights, Rules, holding};
pub use self::person::{Erased, Place, forget, look};

use crate::database_files::remove_sidecars;
use crate::folder::Folder;
use crate::{Error, Result};

/// The newest form of the note and the receipt.
pub const FORMAT: u32 = 1;

/// The name of the list of notes, in the folder of backups.
const LIST: &str = "erasures.jsonl";

/// That a person was forgotten: ids that say nothing to anybody who does not have the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// The form of this note.
    pub format: u32,
    /// When.
    pub at: Timestamp,
    /// The memory it was done in.
    pub home: String,
    /// The ids of the person there, and of users merged into them.
    pub users: Vec<String>,
    /// Whether the sessions in a state.db of another program were erased too.
    pub agent_sessions: bool,
    /// The name of the receipt.
    pub receipt: String,
}

/// What was erased, what still holds it, and when it was erased again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    /// The form of this receipt.
    pub format: u32,
    /// When.
    pub at: Timestamp,
    /// The profile.
    pub profile: String,
    /// The memory it was done in.
    pub home: String,
    /// The number of the person there.
    pub user: i64,
    /// The SHA-256 of their name: whoever knows the name can tell that it is this one.
    pub name_sha256: String,
    /// What went.
    pub erased: Erased,
    /// What stays and why, one line each.
    pub stays: Vec<String>,
    /// The backups that still hold it.
    pub backups: Vec<HeldBy>,
    /// When a restore brought it back and it was erased again.
    #[serde(default)]
    pub applied_again: Vec<Applied>,
}

/// That a person was forgotten again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// When.
    pub at: Timestamp,
    /// What had brought it back: the name of an archive, or `the home`.
    pub from: String,
    /// What went.
    pub erased: Erased,
}

/// Notes an erasure in the home and in the folder of backups, durably, before anything is erased.
pub fn note(home: &Home, folder: &Folder, erasure: &Erasure) -> Result<()> {
    folder.make(home.root())?;
    for path in [home.erasures(), folder.path().join(LIST)] {
        append(&path, erasure)?;
    }
    Ok(())
}

/// Keeps a receipt in the folder of backups; returns where.
pub fn keep(folder: &Folder, name: &str, receipt: &Receipt) -> Result<PathBuf> {
    let path = folder.receipts().join(name);
    write_receipt(&path, receipt)?;
    Ok(path)
}

/// Every receipt in a folder of backups with where it is, newest first.
pub fn receipts(folder: &Folder) -> Result<Vec<(PathBuf, Receipt)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.receipts()).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with("forgotten-");
        let bytes = if is_ours { fs::read(entry.path()).unwrap_or_default() } else { continue };
        if let Ok(receipt) = serde_json::from_slice::<Receipt>(&bytes) {
            found.push((entry.path(), receipt));
        }
    }
    found.sort_by_key(|(_, receipt)| std::cmp::Reverse(receipt.at));
    Ok(found)
}

/// The notes in some homes and folders of backups, each once, oldest first.
pub fn noted(places: &[PathBuf]) -> Vec<Erasure> {
    let mut found: Vec<Erasure> = Vec::new();
    for place in places {
        for path in [place.join(LIST), place.join("hermesd").join(LIST)] {
            let text = fs::read(path).unwrap_or_default();
            let lines = text.split(|byte| *byte == b'\n');
            for erasure in lines.filter_map(|line| serde_json::from_slice::<Erasure>(line).ok()) {
                if !found.contains(&erasure) {
                    found.push(erasure);
                }
            }
        }
    }
    found.sort_by_key(|erasure| erasure.at);
    found
}

/// Forgets everybody again who is in a home and was forgotten later than what it holds; says so, a line for each.
///
/// The notes are read from `places` and kept in the home. What cannot be done is said too: nothing is silent here.
pub fn again(root: &Path, places: &[PathBuf], from: &str, now: Timestamp) -> Vec<String> {
    let erasures = noted(places);
    let mut said = Vec::new();
    if erasures.is_empty() {
        return said;
    }
    for (name, home) in homes(root) {
        said.extend(told(again_in(&home, &erasures), &name, places, from, now));
    }
    let list = root.join("hermesd").join(LIST);
    let known = noted(&[root.to_owned()]);
    for erasure in erasures.iter().filter(|one| !known.contains(one)) {
        said.extend(append(&list, erasure).err().map(|error| error.to_string()));
    }
    said
}

/// The same for the memory of one home that is not in a file of it.
pub fn again_on_server(
    store: &mut Memory,
    home: &Home,
    places: &[PathBuf],
    from: &str,
    now: Timestamp,
) -> Vec<String> {
    let done = again_with(store, home, &noted(places));
    told(done, home.profile_name(), places, from, now)
}

/// Says who was forgotten again, and notes it in the receipts.
fn told(
    done: Result<Vec<(Erasure, Erased)>>,
    name: &str,
    places: &[PathBuf],
    from: &str,
    now: Timestamp,
) -> Vec<String> {
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            return vec![format!(
                "people of {name} who were forgotten may be back: {error}; repair that, then run \
                 `hermes user forget --again`"
            )];
        }
    };
    let mut said = Vec::new();
    for (erasure, erased) in done {
        said.push(format!(
            "a person of {name} who was forgotten on {} was in it and has been erased again: {}",
            erasure.at.strftime("%Y-%m-%d"),
            erased.in_words()
        ));
        let applied = Applied { at: now, from: from.to_owned(), erased };
        said.extend(places.iter().filter_map(|place| {
            note_applied(place, &erasure, &applied).err().map(|error| error.to_string())
        }));
    }
    said
}

/// The home itself and its profiles, each with its name.
fn homes(root: &Path) -> Vec<(String, Home)> {
    let mut found = vec![("default".to_owned(), Home::in_folder(root, None))];
    let profiles = fs::read_dir(root.join("profiles")).into_iter().flatten().flatten();
    let mut names: Vec<ProfileName> =
        profiles.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    for name in names {
        found.push((name.as_str().to_owned(), Home::in_folder(root, Some(name))));
    }
    found
}

fn again_in(home: &Home, erasures: &[Erasure]) -> Result<Vec<(Erasure, Erased)>> {
    let memory = home.folder().join("memory.db");
    if !memory.is_file() {
        return Ok(Vec::new());
    }
    let wanted = Wanted { path: &memory, profile: home.profile_name() };
    let mut store = Memory::open(wanted, Access::Write, DEFAULT_WAIT)?;
    let done = again_with(&mut store, home, erasures)?;
    drop(store);
    if !done.is_empty() {
        for database in [memory, home.state_db()] {
            remove_sidecars(&database)?;
        }
    }
    Ok(done)
}

fn again_with(
    store: &mut Memory,
    home: &Home,
    erasures: &[Erasure],
) -> Result<Vec<(Erasure, Erased)>> {
    let mut done = Vec::new();
    let id = store.home_id(Admin)?;
    for erasure in erasures.iter().filter(|one| one.home == id) {
        let uids: Vec<_> = erasure.users.iter().filter_map(|uid| uid.parse().ok()).collect();
        for user in store.to_forget_again(Admin, &uids, erasure.at)? {
            // At the time of the first deed: so it is known to be done, and later words are not meant.
            let change = Change { actor: "user:restore", at: erasure.at };
            let place = Place { home, agent_sessions: erasure.agent_sessions };
            done.push((erasure.clone(), forget(store, &place, user, change)?));
        }
    }
    Ok(done)
}

fn note_applied(place: &Path, erasure: &Erasure, applied: &Applied) -> Result<()> {
    let path = Folder::at(place).receipts().join(&erasure.receipt);
    let Ok(bytes) = fs::read(&path) else { return Ok(()) };
    let failed = |error: serde_json::Error| Error::file("read", &path, error.into());
    let mut receipt: Receipt = serde_json::from_slice(&bytes).map_err(failed)?;
    receipt.applied_again.push(applied.clone());
    write_receipt(&path, &receipt)
}

fn write_receipt(path: &Path, receipt: &Receipt) -> Result<()> {
    let failed = |error: serde_json::Error| Error::file("write to", path, error.into());
    let text = serde_json::to_string_pretty(receipt).map_err(failed)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        atomic::make_folder(folder)?;
    }
    Ok(atomic::write_private(path, format!("{text}\n").as_bytes())?)
}

fn append(path: &Path, erasure: &Erasure) -> Result<()> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            atomic::make_folder(folder).map_err(io::Error::other)?;
        }
        let mut line = serde_json::to_string(erasure)?;
        line.push('\n');
        let mut options = OpenOptions::new();
        options.create(true).append(true).read(true).mode(0o600);
        let mut file = options.open(path)?;
        if atomic::is_torn(&mut file)? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| Error::file("write to", path, error))
}
