//! What goes into a backup and what stays out.

mod rules;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hermes_home::layout::Home;
use hermes_home::profile;

use crate::manifest::LeftOut;
use crate::{Error, Result};
use rules::Place;

/// Which part of a home is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The root home with all its profiles.
    All,
    /// One profile alone; `default` is the root home without `profiles/`.
    Profile(String),
}

impl Scope {
    /// `all`, or the name of the profile.
    pub fn as_str(&self) -> &str {
        match self {
            Scope::All => "all",
            Scope::Profile(name) => name,
        }
    }
}

/// Something that goes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the root home, with `/`.
    pub path: String,
    /// Where it is.
    pub from: PathBuf,
    /// What it is.
    pub what: What,
    /// Its size now.
    pub size: u64,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A folder.
    Folder,
    /// A regular file, or a link to one.
    File,
    /// A SQLite database, told by its first bytes.
    Database,
    /// A file that must be a database by its name and is none: empty, or overwritten.
    Damaged,
}

/// What is in and what is out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// What goes in, sorted by path; folders before what is in them.
    pub entries: Vec<Entry>,
    /// What stays out, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// Why something that is gone when its turn comes is not in.
pub(crate) const VANISHED: &str = "it was deleted meanwhile";

/// Why a link to a folder is not followed; the user is told, since what they meant to keep may be there.
pub(crate) const LINK_TO_FOLDER: &str =
    "it is a link to a folder: what it leads to is not in this backup";

/// Why a name that no manifest can hold is left out; the user is told.
pub(crate) const ODD_NAME: &str = "its name is not UTF-8";

/// Looks through a home; `exclude` are paths below the root that the user wants out, `outside` files of the
/// home that are kept elsewhere (such as a `memory.path`), with the path they get.
///
/// What cannot be read is an error: a backup without it would look whole.
pub fn list(
    home: &Home,
    scope: &Scope,
    exclude: &[String],
    outside: &[(String, PathBuf)],
) -> Result<Contents> {
    home.sibling(None).must_exist()?;
    let exclude = exclude.iter().map(|path| plain(path)).collect();
    let mut walk = Walk { exclude, without_profiles: false, found: Contents::default() };
    match scope {
        Scope::All => walk.folder(home.root(), "")?,
        Scope::Profile(name) if name == hermes_home::name::DEFAULT_PROFILE => {
            walk.without_profiles = true;
            walk.folder(home.root(), "")?;
        }
        Scope::Profile(name) => {
            let one = profile::existing(home, &name.parse()?)?;
            walk.folder(one.folder(), &format!("{}/{name}", rules::PROFILES))?;
        }
    }
    for (path, from) in outside {
        walk.add_outside(&plain(path), from)?;
    }
    let mut found = walk.found;
    found.entries.sort_by(|left, right| left.path.cmp(&right.path));
    found.left_out.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// A path as the user may type it, without `./` before and `/` behind.
fn plain(path: &str) -> String {
    path.trim().trim_start_matches("./").trim_matches('/').to_owned()
}

struct Walk {
    exclude: Vec<String>,
    without_profiles: bool,
    found: Contents,
}

/// One name in a folder, looked at.
struct Seen {
    name: String,
    path: String,
    from: PathBuf,
    kind: FileType,
    /// Of what a link leads to.
    metadata: Metadata,
}

impl Walk {
    fn folder(&mut self, folder: &Path, path: &str) -> Result<()> {
        let names = match names_in(folder) {
            Ok(names) => names,
            Err(gone) if gone.kind() == io::ErrorKind::NotFound && !path.is_empty() => {
                self.leave_out(path, VANISHED);
                return Ok(());
            }
            Err(source) => return Err(Error::file("read", folder, source)),
        };
        let place = Place::of(path);
        let mut files = Vec::new();
        for name in names {
            let from = folder.join(&name);
            let Some(seen) = self.look(path, &name, from)? else { continue };
            if let Some(why) = self.reason_against(&place, &seen) {
                self.leave_out(&seen.path, &why);
            } else if seen.metadata.is_dir() {
                self.add(&seen, What::Folder);
                self.folder(&seen.from, &seen.path)?;
            } else {
                files.push(seen);
            }
        }
        self.files(&place, &files)
    }

    /// None if it stays out for what it is, whatever its name.
    fn look(&mut self, folder: &str, name: &OsStr, from: PathBuf) -> Result<Option<Seen>> {
        let Some(text) = name.to_str() else {
            self.leave_out(&below(folder, &name.to_string_lossy()), ODD_NAME);
            return Ok(None);
        };
        let path = below(folder, text);
        let own = match from.symlink_metadata() {
            Ok(own) => own,
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => {
                self.leave_out(&path, VANISHED);
                return Ok(None);
            }
            Err(source) => return Err(Error::file("read", &from, source)),
        };
        let metadata = match from.metadata() {
            Ok(metadata) => metadata,
            Err(lost) if own.is_symlink() && leads_nowhere(&lost) => {
                self.leave_out(&path, "it is a link that leads nowhere");
                return Ok(None);
            }
            Err(source) => return Err(Error::file("read", &from, source)),
        };
        Ok(Some(Seen { name: text.to_owned(), path, from, kind: own.file_type(), metadata }))
    }

    fn reason_against(&self, place: &Place, seen: &Seen) -> Option<String> {
        let is_excluded = |unwanted: &String| {
            seen.path.strip_prefix(unwanted.as_str()).is_some_and(|rest| {
                !unwanted.is_empty() && (rest.is_empty() || rest.starts_with('/'))
            })
        };
        if self.exclude.iter().any(is_excluded) {
            return Some("it is excluded by a setting or an argument".to_owned());
        }
        if self.without_profiles && seen.path == rules::PROFILES {
            return Some("only the profile `default` is wanted".to_owned());
        }
        let metadata = &seen.metadata;
        let by_rule = if metadata.is_dir() {
            place.reason_against_folder(&seen.name)
        } else if metadata.is_file() {
            place.reason_against_file(&seen.name, &seen.from)
        } else {
            Some("it is neither a file nor a folder: a socket, pipe or device")
        };
        let link = || (metadata.is_dir() && seen.kind.is_symlink()).then_some(LINK_TO_FOLDER);
        by_rule.or_else(link).map(str::to_owned)
    }

    /// The files of one folder: databases are told first, since what lies beside one belongs to it.
    fn files(&mut self, place: &Place, files: &[Seen]) -> Result<()> {
        let mut databases = BTreeSet::new();
        let mut others = Vec::new();
        for seen in files {
            match self.kind_of(place, seen)? {
                None => self.leave_out(&seen.path, VANISHED),
                Some(What::File) => others.push(seen),
                Some(what) => {
                    databases.insert(seen.name.as_str());
                    self.add(seen, what);
                }
            }
        }
        for seen in others {
            let owner = SIDECARS.iter().find_map(|suffix| seen.name.strip_suffix(suffix));
            if owner.is_some_and(|owner| databases.contains(owner)) {
                self.leave_out(&seen.path, SIDECAR);
            } else {
                self.add(seen, What::File);
            }
        }
        Ok(())
    }

    /// None if it is gone.
    fn kind_of(&self, place: &Place, seen: &Seen) -> Result<Option<What>> {
        let must_be_one = place.must_be_database(&seen.name);
        if seen.metadata.len() == 0 {
            return Ok(Some(if must_be_one { What::Damaged } else { What::File }));
        }
        // Somebody has it open. It may be this very process, and closing a second handle would drop the
        // locks of the first: SQLite itself will tell what it is.
        if beside(&seen.from, "-shm").exists() {
            return Ok(Some(What::Database));
        }
        match starts_as_database(&seen.from) {
            Ok(true) => Ok(Some(What::Database)),
            Ok(false) if must_be_one => Ok(Some(What::Damaged)),
            Ok(false) => Ok(Some(What::File)),
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::file("read", &seen.from, source)),
        }
    }

    fn add_outside(&mut self, path: &str, from: &Path) -> Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(seen) = self.look(folder, OsStr::new(name), from.to_owned())? else {
            return Ok(());
        };
        if !seen.metadata.is_file() {
            let why = "it is not a file".to_owned();
            return Err(Error::Setting { what: from.display().to_string(), why });
        }
        // The one that is in use is the one that is kept; what else has the name is no part of the home.
        self.found.entries.retain(|entry| entry.path != path);
        match self.kind_of(&Place::of(folder), &seen)? {
            None => self.leave_out(path, VANISHED),
            Some(what) => self.add(&seen, what),
        }
        Ok(())
    }

    fn add(&mut self, seen: &Seen, what: What) {
        let size = if what == What::Folder { 0 } else { seen.metadata.len() };
        self.found.entries.push(Entry {
            path: seen.path.clone(),
            from: seen.from.clone(),
            what,
            size,
        });
    }

    fn leave_out(&mut self, path: &str, why: &str) {
        self.found.left_out.push(LeftOut { path: path.to_owned(), why: why.to_owned() });
    }
}

/// What SQLite keeps beside a database.
pub(crate) const SIDECARS: &[&str] = &["-wal", "-shm", "-journal"];

/// Why those stay out.
pub(crate) const SIDECAR: &str = "what it holds is in the copy of its database";

/// The path of a file that SQLite keeps beside a database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    // Beside the file itself, where a link leads to one.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = OsString::from(real);
    name.push(suffix);
    name.into()
}

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

fn starts_as_database(path: &Path) -> io::Result<bool> {
    let mut first = [0; MAGIC.len()];
    match fs::File::open(path)?.read_exact(&mut first) {
        Ok(()) => Ok(first == *MAGIC),
        Err(short) if short.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(other) => Err(other),
    }
}

fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn leads_nowhere(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    // A loop has no stable kind of its own; its number is 40 on Linux.
    matches!(error.kind(), NotFound | NotADirectory) || error.raw_os_error() == Some(40)
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests;
