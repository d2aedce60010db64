//! A home to make backups of, and the programs everybody has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_backup::contents::Scope;
use hermes_backup::create::{self, Created, Request};
use hermes_backup::folder::Folder;
use hermes_backup::name::Compression;
use hermes_backup::seal::Sealing;
use hermes_home::Home;
use hermes_home::env::Env;
use hermes_home::layout::Wanted;
use hermes_store::snapshot::{Depth, examine};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};
use jiff::Timestamp;

pub(crate) struct Place {
    _temporary: Option<tempfile::TempDir>,
    pub(crate) home: Home,
    pub(crate) folder: Folder,
}

const TABLES: &str = "
    create table counter (total integer not null);
    insert into counter values (0);
    create table messages (id integer primary key, n integer not null, text text not null);
    create view texts as select id, text from messages;
    create virtual table words using fts5 (text, content = 'texts', content_rowid = 'id');
    create trigger words_insert after insert on messages begin
        insert into words (rowid, text) values (new.id, new.text); end;";

pub(crate) const ADD: &str = "
    begin immediate;
    insert into messages (n, text) values (1, hex(randomblob(100)) || ' lantern in the harbour');
    insert into messages (n, text) values (1, 'and ' || hex(randomblob(300)));
    update counter set total = total + 2;
    commit;";

/// Makes a database whose rows must fit each other.
pub(crate) fn make_database(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    sqlite::create(path, |connection| {
        connection.execute_batch(TABLES).unwrap();
        for _ in 0..100 {
            connection.execute_batch(ADD).unwrap();
        }
        Ok(())
    })
    .unwrap();
}

/// Fails unless everything in the database fits; the number of its rows.
pub(crate) fn check_database(path: &Path) -> u64 {
    let found = examine(path, Depth::Full).unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!(found.indexes["words"], "ok");
    let connection = sqlite::open(path, Access::Read, DEFAULT_WAIT).unwrap();
    let sums = "select total, (select count(*) from messages), (select sum(n) from messages)
        from counter";
    let sums: (u64, u64, u64) =
        connection.query_row(sums, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert_eq!((sums.0, sums.0), (sums.1, sums.2));
    sums.0
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    hermes_home::atomic::write(path, bytes).unwrap();
}

impl Place {
    /// A home with two profiles.
    pub(crate) fn new() -> Place {
        let temporary = tempfile::tempdir().unwrap();
        let mut place = Place::at(&temporary.path().join(".hermes"));
        place._temporary = Some(temporary);
        for database in ["state.db", "profiles/coder/state.db", "profiles/coder/memory.db"] {
            make_database(&place.path(database));
        }
        for (file, text) in [
            ("SOUL.md", "Be kind."),
            (".env", "KEY=secret"),
            ("skills/x/hermes-agent/SKILL.md", "a skill"),
            ("profiles/writer/memories/MEMORY.md", "- tea"),
            ("hermes-agent/run.py", "print()"),
            ("logs/agent.log", "log"),
        ] {
            put(&place.path(file), text.as_bytes());
        }
        place
    }

    /// The home at a path, with backups beside it.
    pub(crate) fn at(root: &Path) -> Place {
        fs::create_dir_all(root).unwrap();
        let wanted = Wanted { home: Some(root.to_owned()), profile: None };
        let home = Home::locate(&wanted, &Env::default()).unwrap();
        let folder = Folder::at(&home.backups());
        Place { _temporary: None, home, folder }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.home.root().join(path)
    }

    pub(crate) fn request<'a>(&'a self, sealing: &'a Sealing, tag: u32) -> Request<'a> {
        Request {
            home: &self.home,
            scope: Scope::All,
            folder: &self.folder,
            compression: Compression::Zstd,
            sealing,
            label: None,
            exclude: &[],
            outside: &[],
            follow_links: false,
            secrets: true,
            made_by: "hermes 0.1.0",
            host: "harbour",
            now: Timestamp::from_second(1_794_800_000 + i64::from(tag)).unwrap(),
            tag,
        }
    }

    /// A plain backup.
    pub(crate) fn create(&self, tag: u32) -> hermes_backup::Result<Created> {
        create::create(&self.request(&Sealing::Plain, tag), &mut |_| {})
    }

    /// The names in the folder of backups but for its lock and history.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "backup.lock" && name != "history.jsonl");
        names.sort();
        names
    }
}

/// Runs the system's own tar on an archive, as somebody without this program would.
pub(crate) fn tar(archive: &Path, arguments: &[&str]) -> String {
    let mut plain = tempfile::NamedTempFile::new().unwrap();
    zstd::stream::copy_decode(fs::File::open(archive).unwrap(), &mut plain).unwrap();
    run(Command::new("tar").args(arguments).arg("-f").arg(plain.path()))
}

/// Unpacks an archive.
pub(crate) fn untar(archive: &Path) -> tempfile::TempDir {
    let target = tempfile::tempdir().unwrap();
    tar(archive, &["-x", "-C", target.path().to_str().unwrap()]);
    target
}

/// Runs a program that must do well; what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}{complaint}", output.status);
    text
}

/// How often to do what is done many times only when there is time.
pub(crate) fn times(usual: u32, full: u32) -> u32 {
    if is_full() { full } else { usual }
}

pub(crate) fn is_full() -> bool {
    variable("HERMES_TEST_FULL").as_deref() == Some("1")
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::vars().find(|(found, _)| found == name).map(|(_, value)| value)
}
