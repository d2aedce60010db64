//! Where the folders and files of a restore are: all of them beside the home.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_home::Home;
use jiff::Timestamp;

use crate::held::{self, Scratch};
use crate::{Error, Result};

const ASIDE: &str = ".before-restore-";
const IN_THE_WAY: &str = ".in-the-way-";
const UNPACKED: &str = ".restoring-";

/// The real folder of a home, and what is beside it.
#[derive(Debug)]
pub(crate) struct Names {
    root: PathBuf,
    parent: PathBuf,
}

impl Names {
    /// The names for a home; a link to a home stays, what it leads to is replaced.
    pub(crate) fn of(home: &Home) -> Result<Names> {
        if let Some(names) = Names::found(home)? {
            return Ok(names);
        }
        let failed = |error| Error::file("access", home.root(), error);
        hermes_home::atomic::make_common_folder(home.root().parent().unwrap_or(Path::new("/")))
            .map_err(failed)?;
        let missing = || failed(io::Error::from(io::ErrorKind::NotFound));
        Names::found(home)?.ok_or_else(missing)
    }

    /// The same without making anything; none where not even the folder around the home is there.
    pub(crate) fn found(home: &Home) -> Result<Option<Names>> {
        let failed = |error| Error::file("access", home.root(), error);
        let root = match real(home.root()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(failed)?,
        };
        match root.parent() {
            Some(parent) => Ok(Some(Names { parent: parent.to_owned(), root })),
            None => Err(Error::Setting {
                what: home.root().display().to_string(),
                why: "it has no parent folder in which it could be moved aside".to_owned(),
            }),
        }
    }

    /// The home.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder it is in.
    pub(crate) fn parent(&self) -> &Path {
        &self.parent
    }

    /// What is being done, while folders are swapped.
    pub(crate) fn journal(&self) -> PathBuf {
        self.beside(".restore.json")
    }

    /// The same while it is being written.
    pub(crate) fn unwritten_journal(&self) -> PathBuf {
        self.beside(".restore.json.partial")
    }

    /// A name that nothing has yet, for what is moved aside.
    pub(crate) fn aside(&self, now: Timestamp) -> PathBuf {
        self.free(ASIDE, now)
    }

    /// The same for what somebody else put where the home belongs: no restore moved it, none puts it back.
    pub(crate) fn in_the_way(&self, now: Timestamp) -> PathBuf {
        self.free(IN_THE_WAY, now)
    }

    fn free(&self, mark: &str, now: Timestamp) -> PathBuf {
        let first = self.beside(&format!("{mark}{}", stamp(now)));
        let numbered = (2u32..).map(|number| {
            let mut name = first.as_os_str().to_owned();
            name.push(format!("-{number}"));
            PathBuf::from(name)
        });
        let mut every = std::iter::once(first.clone()).chain(numbered);
        every.find(|path| path.symlink_metadata().is_err()).unwrap_or(first)
    }

    /// What was moved aside last.
    pub(crate) fn last_aside(&self) -> Result<Option<PathBuf>> {
        let named = |path: &PathBuf| {
            let rest = self.rest_of(path, ASIDE)?;
            let (time, number) = rest.split_once('-').unwrap_or((rest.as_str(), "1"));
            Some((time.to_owned(), number.parse::<u32>().ok()?))
        };
        let found = self.neighbours()?.into_iter();
        Ok(found
            .filter_map(|path| Some((named(&path)?, path)))
            .max()
            .map(|(_, path)| path)
            .filter(|path| path.is_dir()))
    }

    /// Makes a folder to unpack into, for its owner alone and held by this process.
    pub(crate) fn unpack_into(&self, now: Timestamp) -> Result<Scratch> {
        for number in 0u32..1000 {
            let more = if number == 0 { String::new() } else { format!("-{number}") };
            let name = format!("{UNPACKED}{}-{}{more}", stamp(now), std::process::id());
            if let Some(made) = Scratch::named(&self.beside(&name))? {
                return Ok(made);
            }
        }
        Err(Error::Busy { holder: self.root.display().to_string() })
    }

    /// Whether a folder is one that was unpacked into.
    pub(crate) fn is_unpacked(&self, path: &Path) -> bool {
        self.is_beside(path) && self.rest_of(path, UNPACKED).is_some()
    }

    /// Whether a folder is one that a restore moved things aside into.
    pub(crate) fn is_aside(&self, path: &Path) -> bool {
        self.is_beside(path) && self.rest_of(path, ASIDE).is_some()
    }

    /// Whether a folder is one that a home may be put in its place from.
    pub(crate) fn is_source(&self, path: &Path) -> bool {
        self.is_unpacked(path) || self.is_aside(path)
    }

    fn is_beside(&self, path: &Path) -> bool {
        path.parent() == Some(&self.parent)
    }

    /// Takes away what killed restores had unpacked: it holds everything that the home holds. What a living one
    /// works in stays.
    pub(crate) fn sweep(&self) -> Result<()> {
        for path in self.neighbours()? {
            let Some(rest) = self.rest_of(&path, UNPACKED) else {
                continue;
            };
            let Some(process) = rest.split('-').nth(1).and_then(|id| id.parse::<u32>().ok()) else {
                continue;
            };
            if !held::is_in_use(&path, Some(process)) {
                fs::remove_dir_all(&path).map_err(|error| Error::file("remove", &path, error))?;
            }
        }
        Ok(())
    }

    /// A neighbour of the home whose name begins like it.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(&self.root);
        name.push(ending);
        name.into()
    }

    fn neighbours(&self) -> Result<Vec<PathBuf>> {
        let failed = |error| Error::file("read", &self.parent, error);
        fs::read_dir(&self.parent)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
            .collect()
    }

    /// What follows the name of the home and `mark` in the name of a neighbour.
    fn rest_of(&self, path: &Path, mark: &str) -> Option<String> {
        let own = self.root.file_name().and_then(OsStr::to_str)?;
        let name = path.file_name()?.to_str()?;
        Some(name.strip_prefix(own)?.strip_prefix(mark)?.to_owned())
    }
}

/// How many links lead to a home at most.
const MOST_LINKS: usize = 16;

/// Where a home really is, or was: while it is moved aside, a link to it leads nowhere.
fn real(root: &Path) -> io::Result<PathBuf> {
    let mut place = root.to_owned();
    for _ in 0..MOST_LINKS {
        match place.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let parent = place.parent().unwrap_or(Path::new("/")).canonicalize()?;
        let Ok(link) = fs::read_link(&place) else {
            return Ok(parent.join(place.file_name().unwrap_or_default()));
        };
        place = parent.join(link);
    }
    Err(io::Error::other("it leads through too many links"))
}

/// A time in the form that names of files have.
pub(crate) fn stamp(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}
