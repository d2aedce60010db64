//! What goes into a backup and what stays out.

mod rules;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hermes_home::layout::Home;
use hermes_home::profile;

use crate::manifest::{LeftOut, Manifest};
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
pub(crate) const VANISHED: &str = "it was deleted while the backup was made";

/// Why a link to a folder is not followed; the user is told, since what they meant to keep may be there.
pub(crate) const LINK_TO_FOLDER: &str =
    "it is a link to a folder: what it leads to is not in this backup";

/// The same where links are followed, but this one leads into a circle.
const LINK_IN_CIRCLE: &str =
    "it is a link to a folder around the home: following it would lead in a circle";

/// A link whose folder is in the home anyway: nothing is missed.
const LINK_INSIDE: &str = "it is a link to a folder of this home, which is listed separately";

/// The same where there is too much behind it.
const LINK_TO_TOO_MUCH: &str = "it is a link to a folder with more in it than a backup follows";

/// The same below a link that was followed.
const LINK_BEHIND_LINK: &str =
    "it is a link behind a link to a folder: of what is there only plain files are taken";

/// How many files and folders are taken from behind one link.
const MOST_BEHIND_LINK: usize = 100_000;

/// Why secrets stay out where nobody wants them in.
pub(crate) const SECRET: &str = "it may hold secrets";

/// Why a name that no manifest can hold is left out; the user is told.
pub(crate) const ODD_NAME: &str = "its name is not UTF-8";

/// What the user wants in and out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<'a> {
    /// Paths below the root that are to stay out.
    pub exclude: &'a [String],
    /// Files of the home that are kept elsewhere (such as a `memory.path`), with the path they get.
    pub outside: &'a [(String, PathBuf)],
    /// Whether the plain files behind links to folders go in.
    pub follow_links: bool,
    /// Whether secrets go in: `.env`, files of logins, keys.
    pub secrets: bool,
}

/// Whether something stayed out because it is a link that was not followed.
pub fn is_link_left_out(left: &LeftOut) -> bool {
    [LINK_TO_FOLDER, LINK_IN_CIRCLE, LINK_TO_TOO_MUCH, LINK_BEHIND_LINK]
        .contains(&left.why.as_str())
}

impl Manifest {
    /// The links to folders that were not followed: what they lead to is not in the archive.
    pub fn links_left_out(&self) -> impl Iterator<Item = &str> {
        let links = self.left_out.iter().filter(|left| is_link_left_out(left));
        links.map(|left| left.path.as_str())
    }
}

/// The links to folders of a home that no backup follows; looks at folders alone and opens no file.
pub fn links_left_out(home: &Home, choice: &Choice<'_>) -> Result<Vec<String>> {
    let mut walk = Walk::new(home, choice);
    walk.without_files = true;
    walk.folder(home.root(), "")?;
    let mut left_out = walk.found.left_out;
    left_out.retain(is_link_left_out);
    Ok(left_out.into_iter().map(|left| left.path).collect())
}

/// Looks through a home.
///
/// What cannot be read is an error: a backup without it would look whole.
pub fn list(home: &Home, scope: &Scope, choice: &Choice<'_>) -> Result<Contents> {
    home.sibling(None).must_exist()?;
    let mut walk = Walk::new(home, choice);
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
    for (path, from) in choice.outside {
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

#[derive(Clone)]
struct Walk {
    exclude: Vec<String>,
    without_profiles: bool,
    without_files: bool,
    secrets: bool,
    follow_links: bool,
    /// Whether a link was followed: then no other is.
    is_behind_link: bool,
    /// The home itself.
    root: PathBuf,
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
    fn new(home: &Home, choice: &Choice<'_>) -> Walk {
        Walk {
            exclude: choice.exclude.iter().map(|path| plain(path)).collect(),
            without_profiles: false,
            without_files: false,
            secrets: choice.secrets,
            follow_links: choice.follow_links,
            is_behind_link: false,
            root: home.root().canonicalize().unwrap_or_else(|_| home.root().to_owned()),
            found: Contents::default(),
        }
    }

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
            if self.is_behind_link && self.found.entries.len() > MOST_BEHIND_LINK {
                return Ok(());
            }
            if let Some(why) = self.reason_against(&place, &seen) {
                self.leave_out(&seen.path, &why);
            } else if seen.metadata.is_dir() && seen.kind.is_symlink() {
                self.follow(&seen)?;
            } else if seen.metadata.is_dir() {
                self.add(&seen, What::Folder);
                self.folder(&seen.from, &seen.path)?;
            } else {
                files.push(seen);
            }
        }
        if self.without_files { Ok(()) } else { self.files(&place, &files) }
    }

    /// Takes in the plain files behind a link to a folder, all of them or none.
    fn follow(&mut self, seen: &Seen) -> Result<()> {
        let real = match seen.from.canonicalize() {
            Ok(real) => real,
            Err(source) => return Err(Error::file("read", &seen.from, source)),
        };
        if self.root.starts_with(&real) {
            self.leave_out(&seen.path, LINK_IN_CIRCLE);
            return Ok(());
        }
        let mut behind = Walk { found: Contents::default(), is_behind_link: true, ..self.clone() };
        behind.add(seen, What::Folder);
        behind.folder(&seen.from, &seen.path)?;
        if behind.found.entries.len() > MOST_BEHIND_LINK {
            self.leave_out(&seen.path, LINK_TO_TOO_MUCH);
            return Ok(());
        }
        self.found.entries.extend(behind.found.entries);
        self.found.left_out.extend(behind.found.left_out);
        Ok(())
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
            Err(source) => {
                let Some(why) = why_gone(own.is_symlink(), &source) else {
                    return Err(Error::file("read", &from, source));
                };
                self.leave_out(&path, why);
                return Ok(None);
            }
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
            return Some("only the profile `default` was requested".to_owned());
        }
        let metadata = &seen.metadata;
        let by_rule = if metadata.is_dir() {
            place.reason_against_folder(&seen.name)
        } else if metadata.is_file() {
            place.reason_against_file(&seen.name, &seen.from)
        } else {
            Some("it is not a file or folder but a socket, pipe or device")
        };
        let secret = || (!self.secrets && place.is_secret(&seen.name)).then_some(SECRET);
        let link = || match seen.kind.is_symlink() {
            true if metadata.is_dir() && self.is_inside(&seen.from) => Some(LINK_INSIDE),
            true if self.is_behind_link => Some(LINK_BEHIND_LINK),
            true if metadata.is_dir() && !self.follow_links => Some(LINK_TO_FOLDER),
            _ => None,
        };
        by_rule.or_else(secret).or_else(link).map(str::to_owned)
    }

    fn is_inside(&self, link: &Path) -> bool {
        link.canonicalize().is_ok_and(|real| real.starts_with(&self.root))
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
pub(crate) const SIDECAR: &str = "its content is in the copy of its database";

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

/// Why what a folder listed cannot be looked at, if it is only gone; none for any other trouble.
fn why_gone(is_link: bool, error: &io::Error) -> Option<&'static str> {
    match is_link {
        true if leads_nowhere(error) => Some("it is a broken link"),
        false if error.kind() == io::ErrorKind::NotFound => Some(VANISHED),
        _ => None,
    }
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
