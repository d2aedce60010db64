//! A home in a folder of its own, with everything that a home may hold.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hermes_backup::contents::Scope;
use hermes_backup::create::{self, Created, Request};
use hermes_backup::folder::Folder;
use hermes_backup::name::Compression;
use hermes_backup::restore::{self, From, Restored};
use hermes_backup::seal::{Keys, Sealing};
use hermes_backup::sign::{Signed, Trust};
use hermes_home::Home;
use hermes_home::env::Env;
use hermes_home::layout::Wanted;
use hermes_store::sessions::{NewMessage, NewSession, SessionId, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::Timestamp;
use tempfile::TempDir;

pub(crate) struct Sandbox {
    folder: TempDir,
}

/// Whether the long run was asked for.
pub(crate) fn is_full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

pub(crate) fn now() -> Timestamp {
    "2026-11-16T03:30:00Z".parse().unwrap()
}

impl Sandbox {
    /// A place for a home that is not there.
    pub(crate) fn empty() -> Sandbox {
        Sandbox { folder: tempfile::Builder::new().prefix("hr").tempdir().unwrap() }
    }

    /// A home with a little of everything.
    pub(crate) fn filled() -> Sandbox {
        let sandbox = Sandbox::empty();
        sandbox.write("SOUL.md", "I am calm.\n");
        sandbox.write("config.yaml", "memory:\n  backend: sqlite\n");
        sandbox.write(".env", "TOKEN=secret\n");
        sandbox.write("memories/MEMORY.md", "# Memory\n- likes tea\n");
        sandbox.write("skills/solo/SKILL.md", "---\nname: solo\n---\n");
        sandbox.write("skills/devops/deploy/SKILL.md", "---\nname: deploy\n---\n");
        sandbox.write("skills/devops/deploy/run.sh", "#!/bin/sh\n");
        sandbox.write("profiles/coder/SOUL.md", "I code.\n");
        sandbox.mode("SOUL.md", 0o644);
        sandbox.mode(".env", 0o644);
        sandbox.mode("skills/devops/deploy/run.sh", 0o755);
        sandbox.talk(
            "state.db",
            "first",
            &["the quick zebrafish swims", "an answer about harbours"],
        );
        sandbox.talk("profiles/coder/state.db", "code", &["borrow checker lifetimes"]);
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join("hermes")
    }

    pub(crate) fn home(&self) -> Home {
        let wanted = Wanted { home: Some(self.root()), profile: None };
        Home::locate(&wanted, &Env::of([])).unwrap()
    }

    pub(crate) fn backups(&self) -> Folder {
        Folder::at(&self.home().backups())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        hermes_home::atomic::make_folder(path.parent().unwrap()).unwrap();
        hermes_home::atomic::write(&path, text.as_bytes()).unwrap();
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Says something in a session of a state.db, both of which are made if they are missing.
    pub(crate) fn talk(&self, database: &str, session: &str, texts: &[&str]) {
        let path = self.root().join(database);
        if !path.exists() {
            SessionStore::create(&path).unwrap();
        }
        let mut store = SessionStore::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
        let id = SessionId::from(session.to_owned());
        if !store.every_id().unwrap().contains(&id) {
            store.create_session(&NewSession::plain(id.clone(), now(), "cli")).unwrap();
        }
        let said: Vec<NewMessage> =
            texts.iter().map(|text| NewMessage::text("user", text, now())).collect();
        store.append(&id, &said).unwrap();
    }

    /// Everything that is said in a state.db.
    pub(crate) fn said(&self, database: &str) -> Vec<String> {
        said_in(&self.root().join(database))
    }

    pub(crate) fn backup(&self) -> Created {
        self.backup_as(&Sealing::Plain, Scope::All, 1)
    }

    pub(crate) fn backup_as(&self, sealing: &Sealing, scope: Scope, tag: u32) -> Created {
        let (home, folder) = (self.home(), self.backups());
        let request = Request {
            home: &home,
            scope,
            folder: &folder,
            compression: Compression::Zstd,
            sealing,
            label: None,
            exclude: &[],
            outside: &[],
            follow_links: false,
            secrets: true,
            made_by: "hermes 0.1.0",
            host: "host",
            now: now(),
            tag,
        };
        create::create(&request, &mut |_| {}).unwrap()
    }

    pub(crate) fn restore(&self, archive: &Path) -> hermes_backup::Result<Restored> {
        self.restore_with(archive, &Keys::default())
    }

    pub(crate) fn restore_with(
        &self,
        archive: &Path,
        keys: &Keys,
    ) -> hermes_backup::Result<Restored> {
        let from = From {
            archive,
            sha256: None,
            keys,
            signed: Signed::No,
            trust: Trust::Anybody,
            now: now(),
        };
        restore::whole(&from, &self.home(), &mut |_| {})
    }

    /// What is beside the home, but for the folder of backups.
    pub(crate) fn beside(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "hermes" && name != "hermes-backups")
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn said_in(path: &Path) -> Vec<String> {
    let store = SessionStore::open(path, Access::Read, DEFAULT_WAIT).unwrap();
    let every = store.every_id().unwrap();
    let messages = every
        .iter()
        .flat_map(|id| store.messages(id, hermes_store::sessions::Window::All).unwrap());
    messages.map(|message| message.text).collect()
}

/// Every file below a folder with its mode and content; databases by what is said in them.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    // The folder of our own is made when something is staged or locked in it; marks are in no backup.
    let is_own = |path: &str| {
        path.ends_with("hermesd") || path.ends_with("daemon.lock") || path.contains("high-water")
    };
    found.retain(|path, _| !is_own(path));
    found
}

fn walk(top: &Path, folder: &Path, found: &mut BTreeMap<String, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            found.insert(name, (mode, Vec::new()));
            walk(top, &path, found);
        } else {
            found.insert(name, (mode, fs::read(&path).unwrap()));
        }
    }
}
