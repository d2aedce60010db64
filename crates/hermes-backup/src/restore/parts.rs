//! Brings back single things beside what is there, or in its place.

use std::fs::{self, File};
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_home::databases::{Database, Noted};
use hermes_store::rot::{HighWater, Which};
use hermes_store::sessions::{SessionId, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::database_files::{SIDECARS, beside};
use crate::restore::names::{Names, stamp};
use crate::restore::swap::{Alone, Move};
use crate::restore::{From, Part, Piece, foreign, holders, owner, swap, unpack_and_check};
use crate::{Error, Result, Tell};

/// Brings back single things: beside what is there (`<name>.restored-<time>`), or in its place with `replace`,
/// what was there being moved aside. A session is added to state.db if it is not there, else written as JSON lines.
pub fn parts(
    from: &From<'_>,
    parts: &[Part],
    home: &Home,
    replace: bool,
    tell: Tell<'_>,
) -> Result<Vec<Piece>> {
    refuse_replaced_sessions(parts, replace)?;
    let names = Names::of(home)?;
    swap::recover(home, &names, from.now)?;
    names.sweep()?;
    let unpacking = names.unpack_into(from.now)?;
    unpack_and_check(from, unpacking.path(), tell)?;
    let like = if names.root().exists() { names.root() } else { names.parent() };
    owner::give_to_owner_of(unpacking.path(), like)?;
    let root = names.root().to_owned();
    let bring = Bring { from, home, names: &names, unpacked: unpacking.path(), root, replace };
    // All are looked for before the first is moved.
    let found = parts.iter().map(|part| bring.find(part)).collect::<Result<Vec<_>>>()?;
    let pieces = found.into_iter().map(|found| bring.put(found)).collect::<Result<Vec<_>>>()?;
    owner::sync(names.parent())?;
    Ok(pieces)
}

/// What was said in a session since the backup would be lost: it has no place to be moved aside to.
fn refuse_replaced_sessions(parts: &[Part], replace: bool) -> Result<()> {
    let mut sessions = parts.iter().filter_map(|part| match part {
        Part::Session(id) => Some(id),
        Part::Path(_) | Part::Skill(_) => None,
    });
    match sessions.next().filter(|_| replace) {
        None => Ok(()),
        Some(id) => Err(Error::Setting {
            what: format!("--replace with session {id}"),
            why:
                "an existing session is never overwritten; without --replace, its older version is \
                 written to a file beside it as JSON lines"
                    .to_owned(),
        }),
    }
}

struct Bring<'a> {
    from: &'a From<'a>,
    home: &'a Home,
    names: &'a Names,
    unpacked: &'a Path,
    root: PathBuf,
    replace: bool,
}

/// Where a thing is among what was unpacked.
enum Found {
    Path(PathBuf),
    Session(SessionId),
}

impl Bring<'_> {
    fn find(&self, part: &Part) -> Result<Found> {
        match part {
            Part::Path(path) => {
                let path = inside(path, &self.root)?;
                self.must_be_there(&path).map(|()| Found::Path(path))
            }
            Part::Skill(name) => self.skill(name).map(Found::Path),
            Part::Session(id) => {
                let id = SessionId::from(id.clone());
                let store = self.store_there()?;
                match store.every_id()?.contains(&id) {
                    true => Ok(Found::Session(id)),
                    false => Err(not_there(&format!("session {id}"))),
                }
            }
        }
    }

    fn must_be_there(&self, path: &Path) -> Result<()> {
        match self.unpacked.join(path).symlink_metadata() {
            Ok(_) => Ok(()),
            Err(_) => Err(not_there(&path.display().to_string())),
        }
    }

    /// The folder of a profile below the root home.
    fn profile(&self) -> PathBuf {
        self.home.folder().strip_prefix(self.home.root()).unwrap_or(Path::new("")).to_owned()
    }

    /// `skills/<name>`, or `skills/<category>/<name>` where one category alone has it.
    fn skill(&self, name: &str) -> Result<PathBuf> {
        let skills = self.profile().join("skills");
        let direct = skills.join(inside(name, &self.root)?);
        if self.unpacked.join(&direct).is_dir() {
            return Ok(direct);
        }
        let mut found = Vec::new();
        for category in fs::read_dir(self.unpacked.join(&skills)).into_iter().flatten().flatten() {
            if category.path().join(name).is_dir() {
                found.push(skills.join(category.file_name()).join(name));
            }
        }
        match (found.len(), found.pop()) {
            (1, Some(one)) => Ok(one),
            (0, _) => Err(not_there(&format!("skill {name}"))),
            _ => Err(Error::NotFound {
                id: format!("skill {name}"),
                why: "several categories have a skill of that name: write CATEGORY/NAME".to_owned(),
            }),
        }
    }

    fn store_there(&self) -> Result<SessionStore> {
        let path = self.unpacked.join(self.profile()).join("state.db");
        Ok(SessionStore::open(&path, Access::Read, DEFAULT_WAIT)?)
    }

    fn put(&self, found: Found) -> Result<Piece> {
        match found {
            Found::Path(path) => self.put_path(&path),
            Found::Session(id) => self.put_session(&id),
        }
    }

    fn put_path(&self, path: &Path) -> Result<Piece> {
        let (new, place) = (self.unpacked.join(path), self.root.join(path));
        let what = path.display().to_string();
        if let Some(parent) = place.parent() {
            hermes_home::atomic::make_folder(parent)?;
        }
        let ending = |what: &str| format!(".{what}-{}", stamp(self.from.now));
        if !self.replace && place.symlink_metadata().is_ok() {
            let at = free(&place, &ending("restored"));
            rename(&new, &at)?;
            return Ok(Piece { what, at, aside: None });
        }
        if foreign::holds_database(&new) {
            holders::must_be_free(self.home, &place)?;
        }
        let aside = free(&place, &ending("before-restore"));
        let coming = free(&place, &ending("restoring"));
        let was_there = place.symlink_metadata().is_ok();
        let mut moves = Vec::new();
        if was_there {
            moves.push(Move::away(place.clone(), aside.clone()));
        }
        // A log of the old database would be played into the new one. The database goes before its log: cut off
        // between the two, the place is empty, and no program opens a database that lacks what its log holds.
        if foreign::is_database(&place) || foreign::is_database(&new) {
            let sidecars = SIDECARS.map(|ending| (beside(&place, ending), beside(&aside, ending)));
            let there = sidecars.into_iter().filter(|(from, _)| from.symlink_metadata().is_ok());
            moves.extend(there.map(|(from, to)| Move::away(from, to)));
        }
        let done = bring_beside(&new, &coming).and_then(|()| {
            if moves.is_empty() {
                return rename(&coming, &place);
            }
            moves.push(Move::coming(coming.clone(), place.clone()));
            swap::exchange(&Alone::below(self.names)?, moves, self.from.now)
        });
        if done.is_err() {
            // What went wrong first is what the user has to know.
            let _ = swap::remove(&coming);
        }
        done?;
        begin_marks_anew(&place)?;
        Ok(Piece { what, at: place, aside: was_there.then_some(aside) })
    }

    /// A new state.db with one session alone would stand in the place of the one that was lost.
    fn refuse_lost_sessions(&self, live: &Path) -> Result<()> {
        if !Noted::read(self.home).has(Database::State) {
            return Ok(());
        }
        let advice =
            "restore the whole database with `--path state.db` instead of `--session`".to_owned();
        Err(hermes_store::Error::Lost { path: live.to_owned(), advice }.into())
    }

    /// Adds a session that is not there; one that is there stays as it is, and the other is written beside it.
    fn put_session(&self, id: &SessionId) -> Result<Piece> {
        let what = format!("session {id}");
        let live = self.home.state_db();
        if !live.exists() {
            self.refuse_lost_sessions(&live)?;
            SessionStore::create(&live)?;
        }
        let mut store = SessionStore::open(&live, Access::Write, DEFAULT_WAIT)?;
        let mut lines = tempfile::tempfile_in(self.unpacked)
            .map_err(|error| Error::file("write to", self.unpacked, error))?;
        self.store_there()?.export_session(id, &mut lines)?;
        let failed = |error| Error::file("read", self.unpacked, error);
        lines.rewind().map_err(failed)?;
        if store.every_id()?.contains(id) {
            let name = self.home.folder().join(format!("{}.jsonl", file_name(id.as_str())));
            let name = name.with_extension("");
            let at = free(&name, &format!(".restored-{}.jsonl", stamp(self.from.now)));
            copy_new(&mut lines, &at)?;
            return Ok(Piece { what, at, aside: None });
        }
        let report = store.import(&mut BufReader::new(lines), self.from.now)?;
        match report.problems.first() {
            None => Ok(Piece { what, at: live, aside: None }),
            Some(problem) => Err(Error::Tampered {
                what: self.from.archive.display().to_string(),
                why: format!("{what}: {}", problem.reason),
            }),
        }
    }
}

/// A database that was put in the place of another is as far as it is: it is not compared with what that one had.
fn begin_marks_anew(place: &Path) -> Result<()> {
    let which = match place.file_name().and_then(|name| name.to_str()) {
        Some("memory.db") => Which::Memory,
        Some("state.db") => Which::Sessions,
        _ => return Ok(()),
    };
    let folder = place.parent().unwrap_or(Path::new("."));
    Ok(HighWater::at(Home::in_folder(folder, None).high_water()).forget(which)?)
}

/// A path below the home as the user gave it: relative, or below the home itself.
fn inside(path: &str, root: &Path) -> Result<PathBuf> {
    let given = Path::new(path);
    let relative = given.strip_prefix(root).unwrap_or(given);
    let is_plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    if relative.as_os_str().is_empty() || !relative.components().all(is_plain) {
        return Err(Error::Setting {
            what: path.to_owned(),
            why: "it must be a path relative to the home, such as memories/MEMORY.md".to_owned(),
        });
    }
    Ok(relative.components().collect())
}

/// A name for a file, whatever the id of a session is.
fn file_name(id: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    id.chars().map(kept).take(100).collect()
}

/// A name that nothing has yet.
fn free(place: &Path, ending: &str) -> PathBuf {
    let named = |number: u32| {
        let mut name = place.as_os_str().to_owned();
        match (number, ending.strip_suffix(".jsonl")) {
            (1, _) => name.push(ending),
            (_, Some(ending)) => name.push(format!("{ending}-{number}.jsonl")),
            (_, None) => name.push(format!("{ending}-{number}")),
        }
        PathBuf::from(name)
    };
    let mut every = (1..).map(named);
    every.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| named(1))
}

fn copy_new(lines: &mut File, at: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let failed = |error| Error::file("write to", at, error);
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(at).map_err(failed)?;
    std::io::copy(lines, &mut file).map_err(failed)?;
    file.sync_all().map_err(failed)
}

/// Brings what was unpacked into the folder of its place, whole and on the disk, before anything is moved.
fn bring_beside(new: &Path, coming: &Path) -> Result<()> {
    match fs::rename(new, coming) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => copy_all(new, coming),
        done => done,
    }
    .map_err(|error| Error::file("write to", coming, error))?;
    owner::sync(coming.parent().unwrap_or(coming))
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, lchown};
    let found = from.symlink_metadata()?;
    if found.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        fs::copy(from, to)?;
        File::options().write(true).open(to)?.set_modified(found.modified()?)?;
    }
    if nix::unistd::geteuid().is_root() {
        lchown(to, Some(found.uid()), Some(found.gid()))?;
    }
    fs::set_permissions(to, found.permissions())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::file("rename", from, error))
}

fn not_there(what: &str) -> Error {
    Error::NotInBackup { what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_everything() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        hermes_home::atomic::make_folder(&from.join("a/b")).unwrap();
        hermes_home::atomic::write(&from.join("a/b/file"), b"text").unwrap();
        copy_all(&from, &folder.path().join("to")).unwrap();
        assert_eq!(fs::read(folder.path().join("to/a/b/file")).unwrap(), b"text");
    }
}
