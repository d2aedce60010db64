//! What the tests share: a home, a working folder beside it, files as an editor writes them.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_home::env::Env;
use hermes_home::layout::Wanted;
use jiff::Timestamp;

/// A home and a working folder, gone with this.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    pub(crate) home: Home,
    pub(crate) working: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let working = root.join("work");
        fs::create_dir(&working).unwrap();
        fs::create_dir_all(root.join("user/.hermes/hermesd")).unwrap();
        let wanted = Wanted { home: Some(root.join("user/.hermes")), profile: None };
        let home = Home::locate(&wanted, &Env::default()).unwrap();
        Place { _folder: folder, home, working }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.working.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        write(&self.path(name), text.as_ref());
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

/// Writes in place, as an editor or a command does.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

pub(crate) fn now() -> Timestamp {
    "2026-03-04T05:06:07Z".parse().unwrap()
}
