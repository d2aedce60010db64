//! The folder that backups are kept in: archives, what is known of them, and what happened.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use hermes_home::lock::{self, Held};
use jiff::Timestamp;

use crate::error::NONE_YET;
use crate::history::{self, Line};
use crate::manifest::{Previous, Sidecar};
use crate::name::{ArchiveName, PARTIAL, STAGING};
use crate::sign::{Signed, Signers};
use crate::whose::{Owner, Whose, are_of_several};
use crate::{Error, Result};

pub use crate::history::{Event, Happened};

/// A folder of backups. It is beside the home, never in it.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    home: Option<String>,
    signers: Signers,
}

/// One archive that is there.
#[derive(Debug, Clone)]
pub struct Backup {
    /// Its name, taken apart.
    pub name: ArchiveName,
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub size: u64,
    /// What stands beside it; none if that file is gone.
    pub sidecar: Option<Sidecar>,
    /// The newest check of it that went well, member by member.
    pub verified: Option<Timestamp>,
    /// Whether the newest check of it found something wrong.
    pub failed: Option<String>,
    /// The places off this host that have it, as they were noted.
    pub copies: Vec<String>,
    /// What the user called it; it is known here alone.
    pub label: Option<String>,
    /// Whose it is.
    pub whose: Whose,
    /// Who signed what stands beside it.
    pub signed: Signed,
}

const LOCK: &str = "backup.lock";
impl Folder {
    /// The folder at `path`, whether it is there or not.
    pub fn at(path: &Path) -> Folder {
        Folder { path: path.to_owned(), home: None, signers: Signers::default() }
    }

    /// The same folder for the home with this id: what other homes have in it is told apart.
    pub fn of_home(self, id: Option<String>) -> Folder {
        Folder { home: id, ..self }
    }

    /// The same folder for the home with these keys: what it did not sign is none of its own.
    pub fn signed_by(self, signers: Signers) -> Folder {
        Folder { signers, ..self }
    }

    /// The keys of the home that asks.
    pub fn signers(&self) -> &Signers {
        &self.signers
    }

    /// The id of the home that asks, if it is known.
    pub fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, readable by its owner alone; refuses one that is inside `home`.
    ///
    /// A folder that is there already keeps its mode: what is put into it is private by itself.
    pub fn make(&self, home: &Path) -> Result<()> {
        if real(&self.path).starts_with(real(home)) {
            return Err(Error::Setting {
                what: self.path.display().to_string(),
                why: "it is inside the home: if the home is lost, the backups are lost too"
                    .to_owned(),
            });
        }
        if !self.path.is_dir() {
            atomic::make_folder(&self.path)?;
        }
        Ok(())
    }

    /// Takes the lock of all work on backups, signed with who holds it; fails at once if it is taken.
    pub fn lock(&self, who: &str) -> Result<Held> {
        let path = self.path.join(LOCK);
        let Some(mut held) = lock::try_hold(&path)? else {
            let holder = lock::holder(&path)?.filter(|holder| !holder.is_empty());
            return Err(Error::Busy { holder: holder.unwrap_or_else(|| "unsigned".to_owned()) });
        };
        held.sign(who).map_err(|source| Error::file("write to", &path, source))?;
        Ok(held)
    }

    /// Takes away what a killed run left: partial archives and staging folders. Only while the lock is held.
    pub fn sweep(&self, _held: &Held) -> Result<Vec<PathBuf>> {
        let mut swept = Vec::new();
        for name in self.names()? {
            if !self.is_left_over(&name) {
                continue;
            }
            let path = self.path.join(&name);
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            let removed =
                if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|source| Error::file("remove", &path, source))?;
            swept.push(path);
        }
        Ok(swept)
    }

    /// Every archive, newest first.
    pub fn list(&self) -> Result<Vec<Backup>> {
        let history = self.lines()?.into_iter().map(|line| line.event).collect::<Vec<_>>();
        let owner = self.owner()?;
        let mut backups = Vec::new();
        for file in self.names()? {
            let Ok(name) = file.parse::<ArchiveName>() else { continue };
            let path = self.path.join(&file);
            let found = match path.symlink_metadata() {
                Ok(found) if found.is_file() => found,
                // Deleted meanwhile, or no archive after all.
                _ => continue,
            };
            let sidecar = read_sidecar(&sidecar_path(&path), &file);
            let signed = self.signers.look_beside(sidecar.as_ref());
            let mut backup = Backup {
                verified: sidecar.as_ref().and_then(|sidecar| sidecar.verified),
                whose: owner.whose(&name.id(), sidecar.as_ref()),
                signed,
                label: None,
                name,
                path,
                size: found.len(),
                sidecar,
                failed: None,
                copies: Vec::new(),
            };
            backup.take_in(&history);
            if self.signers.is_any() && backup.signed != Signed::Ours {
                // What stands beside it and what the history says may be anybody's words.
                backup.verified = None;
            }
            if backup.signed == Signed::Broken {
                backup.failed = Some(backup.signed.said());
            }
            backups.push(backup);
        }
        must_follow(&mut backups);
        backups.sort_by_key(|backup| std::cmp::Reverse((backup.made(), backup.name.tag)));
        Ok(backups)
    }

    /// The newest one of this home that is wanted; where none is of this home, the newest of the only other one.
    pub fn latest(&self, is_wanted: impl Fn(&Backup) -> bool) -> Result<Option<Backup>> {
        let wanted: Vec<Backup> = self.list()?.into_iter().filter(is_wanted).collect();
        if let Some(ours) = wanted.iter().find(|one| one.whose == Whose::Ours) {
            return Ok(Some(ours.clone()));
        }
        if are_of_several(wanted.iter().map(Backup::home)) {
            return Err(of_several("latest", &self.path.display().to_string()));
        }
        Ok(wanted.into_iter().next())
    }

    /// The one that is meant: an id or a unique beginning of it, a file name, its label, `latest`.
    ///
    /// `latest` is the newest one without a damaged database, if there is one.
    pub fn find(&self, id: &str) -> Result<Backup> {
        let not_found = |why: String| Error::NotFound { id: id.to_owned(), why };
        if id == "latest" {
            let whole = self.latest(|backup| !backup.name.damaged)?;
            let any = whole.map_or_else(|| self.latest(|_| true), |whole| Ok(Some(whole)))?;
            return any.ok_or_else(|| not_found(self.none_there()));
        }
        let all = self.list()?;
        let file_name = Path::new(id).file_name().and_then(|name| name.to_str()).unwrap_or(id);
        let is_meant =
            |backup: &&Backup| backup.name.to_string() == file_name || backup.name.id() == id;
        if let Some(exact) = all.iter().find(is_meant) {
            return Ok(exact.clone());
        }
        let fits = |backup: &&Backup| !id.is_empty() && backup.name.id().starts_with(id);
        let mut fitting: Vec<&Backup> = all.iter().filter(fits).collect();
        if fitting.is_empty() {
            fitting = all.iter().filter(|backup| backup.label.as_deref() == Some(id)).collect();
        }
        match fitting.as_slice() {
            [one] => Ok((*one).clone()),
            [] if all.is_empty() => Err(not_found(self.none_there())),
            [] => Err(not_found(format!("no backup in {} has that name", self.path.display()))),
            several => {
                let ids: Vec<String> = several.iter().map(|backup| backup.name.id()).collect();
                Err(not_found(format!("several backups match: {}", ids.join(", "))))
            }
        }
    }

    /// Everything that happened to this home, oldest first; a line that is cut short is passed over.
    ///
    /// What does not say which home it happened to counts as this one's, as does everything where the home is not known.
    pub fn history(&self) -> Result<Vec<Event>> {
        let is_ours = |line: &Line| match (&line.home, &self.home) {
            (Some(theirs), Some(ours)) => theirs == ours,
            _ => true,
        };
        Ok(self.lines()?.into_iter().filter(is_ours).map(|line| line.event).collect())
    }

    /// What this home knows of itself.
    pub(crate) fn owner(&self) -> Result<Owner> {
        Ok(Owner::new(self.home(), &self.history()?, &self.signers))
    }

    /// Everything that happened to any home that uses this folder.
    fn lines(&self) -> Result<Vec<Line>> {
        history::read(&self.path)
    }

    /// Adds to the history, durably.
    pub fn note(&self, event: &Event) -> Result<()> {
        history::add(&self.path, &Line { event: event.clone(), home: self.home.clone() })
    }

    /// Where receipts of drills are kept.
    pub fn receipts(&self) -> PathBuf {
        self.path.join("receipts")
    }

    /// Deletes an archive with what stands beside it, durably.
    pub fn delete(&self, backup: &Backup) -> Result<()> {
        let id = backup.name.id();
        if self.signers.last_in(&self.path).is_some_and(|last| last.id == id) {
            let mut left = self.list()?;
            left.retain(|one| one.signed == Signed::Ours && one.name.id() != id);
            let next = left.into_iter().find_map(|one| one.sidecar);
            let next = next.map(|one| Previous { id: one.id, sha256: one.sha256 });
            self.signers.note_last(next, &self.path)?;
        }
        // The archive first: what is left beside one that is gone is swept away later.
        for path in [backup.path.clone(), sidecar_path(&backup.path)] {
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::file("remove", &path, source));
                }
                _ => {}
            }
        }
        atomic::sync_folder(&self.path)
            .map_err(|source| Error::file("write to", &self.path, source))
    }

    /// The names in the folder that are text, sorted; none if it is not there.
    fn names(&self) -> Result<Vec<String>> {
        let failed = |source| Error::file("read", &self.path, source);
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(failed(source)),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    fn is_left_over(&self, name: &str) -> bool {
        let is_archive = |name: &str| name.parse::<ArchiveName>().is_ok();
        let is_alone = |archive: &str| is_archive(archive) && !self.path.join(archive).exists();
        let bare = name.trim_start_matches('.');
        bare.strip_suffix(PARTIAL).is_some_and(is_archive)
            || name.strip_suffix(".json").is_some_and(is_alone)
            || name.starts_with(STAGING)
            || (name.starts_with(".hermes_") && name.ends_with(".tmp"))
    }

    fn none_there(&self) -> String {
        format!("{NONE_YET} {}", self.path.display())
    }
}

impl Backup {
    /// When it was begun, as exactly as is known.
    pub fn made(&self) -> Timestamp {
        let said = self.sidecar.as_ref().map(|sidecar| sidecar.made);
        // The name counts: what stands beside it can only tell those of one second apart.
        said.filter(|said| said.as_second() == self.name.made.as_second()).unwrap_or(self.name.made)
    }

    /// The id of the home it was made of, if it says so.
    pub fn home(&self) -> Option<&str> {
        self.sidecar.as_ref()?.home.as_deref()
    }

    /// Whether it may count as a backup of the home that asks for the folder.
    pub fn counts_in(&self, folder: &Folder) -> bool {
        self.whose == Whose::Ours || (folder.home.is_none() && self.whose == Whose::Unknown)
    }

    /// Adds what the history tells of this one.
    fn take_in(&mut self, history: &[Event]) {
        let id = self.name.id();
        for event in history.iter().filter(|event| event.id.as_deref() == Some(id.as_str())) {
            match (event.what, &event.place) {
                (Happened::Created | Happened::CreatedDamaged, _) => {
                    self.verified = self.verified.max(Some(event.at));
                    self.label = Some(event.detail.clone()).filter(|label| !label.is_empty());
                }
                (Happened::Verified | Happened::Drilled, _) => {
                    self.verified = self.verified.max(Some(event.at));
                    self.failed = None;
                }
                (Happened::VerifyFailed | Happened::DrillFailed, _) => {
                    self.failed = Some(event.detail.clone());
                }
                (Happened::Pushed, Some(place)) if !self.copies.contains(place) => {
                    self.copies.push(place.clone());
                }
                (Happened::PrunedAt, Some(place)) => self.copies.retain(|copy| copy != place),
                _ => {}
            }
        }
    }
}

/// Each archive of this home says which one was before it: another one in the place of that is none of its own.
fn must_follow(backups: &mut [Backup]) {
    let ours = backups.iter().filter(|one| one.signed == Signed::Ours);
    let said: Vec<(String, Previous)> = ours
        .filter_map(|one| Some((one.name.id(), one.sidecar.as_ref()?.previous.clone()?)))
        .collect();
    for (later, previous) in said {
        let before = backups.iter_mut().find(|one| one.name.id() == previous.id);
        let Some(before) = before else { continue };
        let hash = before.sidecar.as_ref().map(|sidecar| sidecar.sha256.as_str());
        if hash.is_some_and(|hash| hash != previous.sha256) {
            before.failed = Some(format!("it is not the archive that backup {later} followed"));
        }
    }
}

/// What is said where `latest` could be the wrong home's.
pub(crate) fn of_several(id: &str, place: &str) -> Error {
    let why = format!(
        "no backup in {place} belongs to this home, and those in it belong to several other homes"
    );
    Error::NotFound { id: id.to_owned(), why }
}

/// Where the sidecar of an archive is.
pub(crate) fn sidecar_path(archive: &Path) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

/// None if it is missing, unreadable or of another archive.
fn read_sidecar(path: &Path, archive: &str) -> Option<Sidecar> {
    let sidecar: Sidecar = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (sidecar.archive == archive).then_some(sidecar)
}

/// The path without links, as far as it is there.
pub fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in absolute.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), absolute.strip_prefix(there)) {
            return real.join(rest);
        }
    }
    absolute
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
