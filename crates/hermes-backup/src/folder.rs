//! The folder that backups are kept in: archives, what is known of them, and what happened.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use hermes_home::lock::{self, Held};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::manifest::Sidecar;
use crate::name::ArchiveName;
use crate::{Error, Result};

/// A folder of backups. It is beside the home, never in it.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
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
}

/// Something that happened, one line of `history.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Happened,
    /// The backup it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The place off this host it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// A backup was made and read back.
    Created,
    /// A backup was made of a damaged database.
    CreatedDamaged,
    /// Making one failed.
    CreateFailed,
    /// Every member was compared and is right.
    Verified,
    /// Only the hash of the encrypted archive was compared.
    HashVerified,
    /// A check found something wrong.
    VerifyFailed,
    /// It was sent to a place and read back.
    Pushed,
    /// Sending failed.
    PushFailed,
    /// It was deleted because newer ones are kept.
    Pruned,
    /// It was deleted at a place.
    PrunedAt,
    /// A drill went well.
    Drilled,
    /// A drill found something wrong.
    DrillFailed,
    /// A home was restored from it.
    Restored,
    /// An alert was sent.
    Alerted,
}

const LOCK: &str = "backup.lock";
const HISTORY: &str = "history.jsonl";

/// What the name of a folder begins with that a run works in and takes away at its end.
pub(crate) const STAGING: &str = ".staging-";

/// What the name of an archive ends with until it is whole.
pub(crate) const PARTIAL: &str = ".partial";

impl Folder {
    /// The folder at `path`, whether it is there or not.
    pub fn at(path: &Path) -> Folder {
        Folder { path: path.to_owned() }
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
                why: "it is inside the home, and whoever loses the home would lose the backups"
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
        let history = self.history()?;
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
            let mut backup = Backup {
                verified: sidecar.as_ref().and_then(|sidecar| sidecar.verified),
                name,
                path,
                size: found.len(),
                sidecar,
                failed: None,
                copies: Vec::new(),
            };
            backup.take_in(&history);
            backups.push(backup);
        }
        backups.sort_by_key(|backup| std::cmp::Reverse((backup.name.made, backup.name.tag)));
        Ok(backups)
    }

    /// The one that is meant: an id or a unique beginning of it, a file name, `latest`.
    ///
    /// `latest` is the newest one without a damaged database, if there is one.
    pub fn find(&self, id: &str) -> Result<Backup> {
        let all = self.list()?;
        let not_found = |why: String| Error::NotFound { id: id.to_owned(), why };
        if id == "latest" {
            let whole = all.iter().find(|backup| !backup.name.damaged).or(all.first()).cloned();
            return whole.ok_or_else(|| not_found(self.none_there()));
        }
        let file_name = Path::new(id).file_name().and_then(|name| name.to_str()).unwrap_or(id);
        let is_meant =
            |backup: &&Backup| backup.name.to_string() == file_name || backup.name.id() == id;
        if let Some(exact) = all.iter().find(is_meant) {
            return Ok(exact.clone());
        }
        let fits = |backup: &&Backup| !id.is_empty() && backup.name.id().starts_with(id);
        let fitting: Vec<&Backup> = all.iter().filter(fits).collect();
        match fitting.as_slice() {
            [one] => Ok((*one).clone()),
            [] if all.is_empty() => Err(not_found(self.none_there())),
            [] => Err(not_found(format!("there is none of that name in {}", self.path.display()))),
            several => {
                let ids: Vec<String> = several.iter().map(|backup| backup.name.id()).collect();
                Err(not_found(format!("several begin like that: {}", ids.join(", "))))
            }
        }
    }

    /// Everything that happened, oldest first; a line that is cut short is passed over.
    pub fn history(&self) -> Result<Vec<Event>> {
        let path = self.path.join(HISTORY);
        let text = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::file("read", &path, source)),
        };
        let lines = text.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Adds to the history, durably.
    pub fn note(&self, event: &Event) -> Result<()> {
        let path = self.path.join(HISTORY);
        let failed = |source| Error::file("write to", &path, source);
        let mut line = serde_json::to_string(event).map_err(io::Error::from).map_err(failed)?;
        line.push('\n');
        append(&path, &line).map_err(failed)
    }

    /// Where receipts of drills are kept.
    pub fn receipts(&self) -> PathBuf {
        self.path.join("receipts")
    }

    /// Deletes an archive with what stands beside it, durably.
    pub fn delete(&self, backup: &Backup) -> Result<()> {
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
        format!("there is no backup in {}", self.path.display())
    }
}

impl Backup {
    /// Adds what the history tells of this one.
    fn take_in(&mut self, history: &[Event]) {
        let id = self.name.id();
        for event in history.iter().filter(|event| event.id.as_deref() == Some(id.as_str())) {
            match (event.what, &event.place) {
                (Happened::Created | Happened::CreatedDamaged, _) => {
                    self.verified = self.verified.max(Some(event.at));
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

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    let separate = if atomic::is_torn(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{separate}{line}").as_bytes())?;
    file.sync_all()
}

/// The path without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in absolute.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), absolute.strip_prefix(there)) {
            return real.join(rest);
        }
    }
    absolute
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(&place.path().join("home-backups"));
        folder.make(&place.path().join("home")).unwrap();
        (place, folder)
    }

    fn put(folder: &Folder, name: &str) {
        atomic::write(&folder.path().join(name), b"x").unwrap();
    }

    fn event(second: i64, what: Happened, id: &str) -> Event {
        let at = Timestamp::from_second(second).unwrap();
        Event { at, what, id: Some(id.to_owned()), place: None, detail: format!("at {second}") }
    }

    const OLD: &str = "hermes-all-20261115T033000Z-00000001.tar.zst";
    const NEW: &str = "hermes-all-20261116T033000Z-00000002.tar.zst";
    const BAD: &str = "hermes-all-20261116T043000Z-00000003-DAMAGED.tar.zst";
    const OLD_ID: &str = "20261115T033000Z-00000001";

    #[test]
    fn a_folder_inside_the_home_is_refused_even_through_a_link() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        fs::create_dir(&home).unwrap();
        for inside in ["home", "home/a/b", "home/../home/backups"] {
            let refused = Folder::at(&place.path().join(inside)).make(&home).unwrap_err();
            assert!(matches!(refused, Error::Setting { .. }), "{refused}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&home, place.path().join("link")).unwrap();
            Folder::at(&place.path().join("link/backups")).make(&home).unwrap_err();
        }
        Folder::at(&place.path().join("home-backups")).make(&home).unwrap();
    }

    #[test]
    fn whoever_comes_second_learns_who_is_first() {
        let (_place, folder) = folder();
        let held = folder.lock("hermes 0.1.0, process 7").unwrap();
        let refused = folder.lock("another").unwrap_err();
        assert!(refused.to_string().contains("process 7"), "{refused}");
        assert!(matches!(refused, Error::Busy { .. }));
        drop(held);
        folder.lock("another").unwrap();
    }

    #[test]
    fn what_a_killed_run_left_goes_and_everything_else_stays() {
        let (_place, folder) = folder();
        let kept = [OLD, &format!("{OLD}.json"), "notes.json", "photo.partial", "history.jsonl"];
        kept.iter().for_each(|name| put(&folder, name));
        let left = [&format!("{NEW}.partial"), &format!(".{BAD}.partial"), &format!("{NEW}.json")];
        left.iter().for_each(|name| put(&folder, name));
        fs::create_dir_all(folder.path().join(".staging-x/deep")).unwrap();
        put(&folder, ".staging-x/deep/state.db");
        let held = folder.lock("me").unwrap();
        assert_eq!(folder.sweep(&held).unwrap().len(), 4);
        let mut names = folder.names().unwrap();
        names.retain(|name| name != LOCK);
        let mut kept = kept.map(str::to_owned);
        kept.sort();
        assert_eq!(names, kept);
    }

    #[test]
    fn backups_are_found_by_id_beginning_name_and_latest() {
        let (_place, folder) = folder();
        assert!(folder.find("latest").is_err());
        [OLD, NEW, BAD].iter().for_each(|name| put(&folder, name));
        put(&folder, "hermes-all.tar.gz");
        let names: Vec<String> =
            folder.list().unwrap().iter().map(|backup| backup.name.to_string()).collect();
        assert_eq!(names, [BAD, NEW, OLD]);
        let found = |id: &str| folder.find(id).map(|backup| backup.name.to_string()).ok();
        assert_eq!(found("latest").as_deref(), Some(NEW));
        assert_eq!(found(OLD_ID).as_deref(), Some(OLD));
        assert_eq!(found("20261115").as_deref(), Some(OLD));
        assert_eq!(found(BAD).as_deref(), Some(BAD));
        assert_eq!(found("20261116"), None);
        assert_eq!(found(""), None);
        let several = folder.find("20261116").unwrap_err().to_string();
        assert!(several.contains("20261116T033000Z-00000002"), "{several}");
    }

    #[test]
    fn the_history_tells_of_checks_and_copies() {
        let (_place, folder) = folder();
        put(&folder, OLD);
        let one = || folder.find(OLD_ID).unwrap();
        folder.note(&event(10, Happened::Created, OLD_ID)).unwrap();
        folder.note(&event(20, Happened::VerifyFailed, OLD_ID)).unwrap();
        assert_eq!(one().verified, Some(Timestamp::from_second(10).unwrap()));
        assert_eq!(one().failed.as_deref(), Some("at 20"));
        folder.note(&event(30, Happened::HashVerified, OLD_ID)).unwrap();
        assert!(one().failed.is_some(), "a weaker check takes nothing back");
        folder.note(&event(40, Happened::Verified, OLD_ID)).unwrap();
        assert_eq!((one().failed, one().verified), (None, Timestamp::from_second(40).ok()));
        let at = |what| Event { place: Some("nas".into()), ..event(50, what, OLD_ID) };
        folder.note(&at(Happened::Pushed)).unwrap();
        folder.note(&at(Happened::Pushed)).unwrap();
        assert_eq!(one().copies, ["nas"]);
        folder.note(&at(Happened::PrunedAt)).unwrap();
        assert!(one().copies.is_empty());
    }

    #[test]
    fn a_line_cut_short_is_passed_over_and_the_next_one_is_whole() {
        let (_place, folder) = folder();
        folder.note(&event(10, Happened::Created, "a")).unwrap();
        let mut file = OpenOptions::new().append(true).open(folder.path().join(HISTORY)).unwrap();
        file.write_all(b"{\"at\":\"2026-").unwrap();
        folder.note(&event(20, Happened::Created, "b")).unwrap();
        let ids: Vec<_> =
            folder.history().unwrap().into_iter().filter_map(|line| line.id).collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn deleting_takes_the_sidecar_along() {
        let (_place, folder) = folder();
        put(&folder, OLD);
        put(&folder, &format!("{OLD}.json"));
        put(&folder, NEW);
        folder.delete(&folder.find(OLD_ID).unwrap()).unwrap();
        assert_eq!(folder.names().unwrap(), [NEW]);
    }
}
