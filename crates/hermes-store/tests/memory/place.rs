//! Where a memory of the tests is kept: in a file.

use std::path::PathBuf;

use hermes_store::Error;
use hermes_store::memory::{Memory, Wanted};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use tempfile::TempDir;

use crate::support::by;

/// A folder with a new memory of the profile `default`, owned by alice.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        Memory::create(place.wanted(&place.path()), "alice", by("user", 0)).unwrap();
        place
    }

    /// Two memories of one profile.
    pub(crate) fn pair() -> (Place, Place) {
        (Place::new(), Place::new())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("memory.db")
    }

    pub(crate) fn wanted<'a>(&self, path: &'a std::path::Path) -> Wanted<'a> {
        Wanted { path, profile: "default" }
    }

    pub(crate) fn open(&self, access: Access) -> Result<Memory, Error> {
        Memory::open(self.wanted(&self.path()), access, DEFAULT_WAIT)
    }

    pub(crate) fn write(&self) -> Memory {
        self.open(Access::Write).unwrap()
    }

    pub(crate) fn read(&self) -> Memory {
        self.open(Access::Read).unwrap()
    }

    /// Runs statements beside the program; each row is a line with `|` between its values.
    pub(crate) fn sql(&self, statements: &str) -> String {
        crate::sql::run_on(&self.path(), statements)
    }

    /// Every byte of the database and of its log.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = std::fs::read(self.path()).unwrap();
        let log = self.folder.path().join("memory.db-wal");
        bytes.extend(std::fs::read(log).unwrap_or_default());
        bytes
    }
}

/// How many cases of a test that takes so many with a file.
pub(crate) fn cases(with_a_file: u32) -> u32 {
    with_a_file
}
