//! Which programs have a database of a home open.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hermes_home::{Home, lock};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;

use crate::database_files::{SIDECARS, beside};
use crate::{Error, Result};

/// Databases of a home, also while they are empty or gone.
const DATABASES: [&str; 2] = ["state.db", "memory.db"];
/// The first bytes of a SQLite database.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";
/// A database is made of pages, the smallest of which has this size.
const SMALLEST_PAGE: u64 = 512;
/// Where SQLite locks the file itself: the bytes `pending`, `reserved` and 510 `shared` ones.
const FILE_LOCKS: Range<i64> = 0x4000_0000..0x4000_0200;
/// Where it locks the file `-shm`: eight bytes for deeds, and one that every connection holds while it lives.
const SHM_LOCKS: Range<i64> = 120..129;

/// Fails if the daemon of the home runs, or another program has a database below `folder` open, naming it.
pub(crate) fn must_be_free(home: &Home, folder: &Path) -> Result<()> {
    if let Some(said) = lock::holder(&home.daemon_lock())? {
        let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
        let holders = format!("the daemon of this home is running{said}");
        return Err(Error::InUse { home: home.root().to_owned(), holders });
    }
    databases_must_be_free(folder)
}

/// Fails if another program has a database below `folder` open, naming it.
pub(crate) fn databases_must_be_free(folder: &Path) -> Result<()> {
    let Ok(folder) = folder.canonicalize() else {
        return Ok(());
    };
    let own = own_files();
    let mut databases = BTreeSet::new();
    collect(&folder, own.as_ref(), &mut databases);
    let holders = match &own {
        Some(own) => open_in(&folder, &databases, own),
        // Without a list of open files only SQLite itself can tell.
        None => locked_in(&databases)?,
    };
    if holders.is_empty() {
        return Ok(());
    }
    let holders: Vec<String> = holders.into_iter().map(|(_, said)| said).collect();
    Err(Error::InUse { home: folder, holders: holders.join("; ") })
}

/// A file on its file system, whatever its name.
type Inode = (u64, u64);

/// What this process has open; none if the system does not tell.
///
/// Whoever opens and closes a file of a database by hand drops the locks that SQLite holds on it in the same
/// process, so these are never opened.
fn own_files() -> Option<BTreeSet<Inode>> {
    let open = fs::read_dir("/proc/self/fd").ok()?;
    let files = open.flatten().filter_map(|entry| fs::metadata(entry.path()).ok());
    Some(files.map(|found| (found.dev(), found.ino())).collect())
}

/// Every SQLite file below a folder; links are not followed.
fn collect(folder: &Path, own: Option<&BTreeSet<Inode>>, found: &mut BTreeSet<PathBuf>) {
    let is_own = |path: &Path| {
        path.metadata().is_ok_and(|file| own.is_some_and(|own| own.contains(&inode(&file))))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
        if metadata.is_dir() {
            collect(&path, own, found);
            continue;
        }
        let is_named = entry.file_name().to_str().is_some_and(|name| DATABASES.contains(&name));
        let may_be_one = metadata.is_file()
            && metadata.len() >= SMALLEST_PAGE
            && metadata.len().is_multiple_of(SMALLEST_PAGE);
        let is_one = is_named
            || (metadata.is_file() && beside(&path, "-shm").exists())
            || (may_be_one && (is_own(&path) || starts_as_database(&path)));
        if is_one {
            found.insert(path);
        }
    }
}

fn inode(file: &fs::Metadata) -> Inode {
    (file.dev(), file.ino())
}

fn starts_as_database(path: &Path) -> bool {
    let mut first = [0; SQLITE.len()];
    open(path).is_some_and(|mut file| file.read_exact(&mut first).is_ok()) && &first == SQLITE
}

fn open(path: &Path) -> Option<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    File::options().read(true).custom_flags(flags.bits()).open(path).ok()
}

/// Every process but this one that has one of the databases open, once each.
///
/// The list of open files shows those of this user, or all of them to root; the locks that the kernel keeps show
/// those of other users too.
fn open_in(
    folder: &Path,
    databases: &BTreeSet<PathBuf>,
    own: &BTreeSet<Inode>,
) -> Vec<(Option<u32>, String)> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let this = std::process::id();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut holders: Vec<(Option<u32>, String)> = ids
        .filter(|id: &u32| *id != this)
        .filter_map(|id| Some((Some(id), held_by(id, folder, databases)?)))
        .collect();
    for database in databases {
        let files = [(database.clone(), FILE_LOCKS), (beside(database, "-shm"), SHM_LOCKS)];
        for (path, bytes) in files {
            let Some(id) = locker(&path, &bytes, own) else { continue };
            let id = (id > 0).then_some(id.unsigned_abs());
            if !holders.iter().any(|(known, _)| *known == id) {
                holders.push((id, said(id, database, folder)));
            }
        }
    }
    holders
}

/// The process that holds a lock on some bytes of a file; 0 or less if the kernel names none.
fn locker(path: &Path, bytes: &Range<i64>, own: &BTreeSet<Inode>) -> Option<i32> {
    if own.contains(&inode(&path.symlink_metadata().ok()?)) {
        return None;
    }
    let file = open(path)?;
    let mut asked = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: bytes.start,
        l_len: bytes.end - bytes.start,
        l_pid: 0,
    };
    fcntl(&file, FcntlArg::F_GETLK(&mut asked)).ok()?;
    (asked.l_type != libc::F_UNLCK as libc::c_short).then_some(asked.l_pid)
}

fn held_by(id: u32, folder: &Path, databases: &BTreeSet<PathBuf>) -> Option<String> {
    let open = fs::read_dir(format!("/proc/{id}/fd")).ok()?;
    let mut paths = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let held = paths.find(|path| is_database(path, folder, databases))?;
    Some(said(Some(id), &held, folder))
}

fn said(id: Option<u32>, held: &Path, folder: &Path) -> String {
    // A memory outside of the home is looked for by its own path.
    let below = held.strip_prefix(folder).ok().filter(|below| !below.as_os_str().is_empty());
    let name = below.unwrap_or(held).display();
    let Some(id) = id else {
        return format!("a program has {name} open");
    };
    let program = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    let program = match program.trim() {
        "" => "a program",
        name => name,
    };
    format!("{program} (process {id}) has {name} open")
}

fn is_database(path: &Path, folder: &Path, databases: &BTreeSet<PathBuf>) -> bool {
    // Linux says so of a file that was deleted while it was open.
    let bytes = path.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    let main = SIDECARS.iter().find_map(|ending| bytes.strip_suffix(ending.as_bytes()));
    let main = Path::new(OsStr::from_bytes(main.unwrap_or(bytes)));
    let is_named =
        main.file_name().and_then(OsStr::to_str).is_some_and(|name| DATABASES.contains(&name));
    main.starts_with(folder) && (is_named || databases.contains(main))
}

fn locked_in(databases: &BTreeSet<PathBuf>) -> Result<Vec<(Option<u32>, String)>> {
    let mut locked = Vec::new();
    for database in databases.iter().filter(|path| path.metadata().is_ok_and(|f| f.len() > 0)) {
        match hermes_store::sqlite::refuse_in_use(database) {
            Err(hermes_store::Error::Locked { .. }) => {
                locked.push((None, format!("a program has {} open", database.display())));
            }
            Err(error) => return Err(error.into()),
            Ok(()) => {}
        }
    }
    Ok(locked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    #[test]
    fn databases_and_what_is_beside_them_are_known_by_name_and_folder() {
        let home = Path::new("/home/mira/.hermes");
        let others = BTreeSet::from([home.join("skills/a/cards.sqlite")]);
        for held in [
            "/home/mira/.hermes/state.db",
            "/home/mira/.hermes/state.db-wal",
            "/home/mira/.hermes/profiles/coder/memory.db-shm",
            "/home/mira/.hermes/state.db-wal (deleted)",
            "/home/mira/.hermes/skills/a/cards.sqlite-wal",
        ] {
            assert!(is_database(Path::new(held), home, &others), "{held}");
        }
        for other in [
            "/home/mira/.hermes-backups/state.db",
            "/home/mira/.hermes/state.db.txt",
            "/home/mira/.hermes/skills/b/cards.sqlite",
        ] {
            assert!(!is_database(Path::new(other), home, &others), "{other}");
        }
    }

    const FILE: &str = "HERMES_TEST_HELD";
    const STATEMENTS: &str = "HERMES_TEST_HELD_BY";

    /// This program once more, with a database open.
    fn hold(path: &Path, mode: &str, then: &str) -> Child {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "restore::holders::tests::holds", "--ignored", "--nocapture"])
            .env(FILE, path)
            .env(STATEMENTS, format!("pragma journal_mode = {mode}; create table t (a); {then}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "held"));
        child
    }

    /// Has a database open until it is killed, or nobody waits for it any longer.
    #[test]
    #[ignore = "started by the next test"]
    #[expect(
        clippy::print_stdout,
        clippy::disallowed_methods,
        reason = "it stands for another program"
    )]
    fn holds() {
        let told = |wanted: &str| std::env::vars().find(|(name, _)| name == wanted);
        let (Some((_, file)), Some((_, statements))) = (told(FILE), told(STATEMENTS)) else {
            return;
        };
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.execute_batch(&statements).unwrap();
        println!("\nheld");
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }

    #[test]
    fn the_kernel_names_who_holds_any_database_without_a_list_of_open_files() {
        let folder = tempfile::tempdir().unwrap();
        let own = BTreeSet::new();
        for (mode, then, bytes, ending) in [
            ("wal", "select count(*) from t;", SHM_LOCKS, "-shm"),
            ("delete", "begin; select count(*) from t;", FILE_LOCKS, ""),
        ] {
            let path = folder.path().join(format!("cards-{mode}.sqlite"));
            let mut child = hold(&path, mode, then);
            let locked = if ending.is_empty() { path.clone() } else { beside(&path, ending) };
            assert_eq!(locker(&locked, &bytes, &own), i32::try_from(child.id()).ok(), "{mode}");
            let refused = databases_must_be_free(folder.path()).unwrap_err().to_string();
            let said = format!(" (process {}) has cards-{mode}.sqlite", child.id());
            assert!(refused.contains(&said), "{refused}");
            child.kill().unwrap();
            child.wait().unwrap();
            databases_must_be_free(folder.path()).unwrap();
        }
    }
}
