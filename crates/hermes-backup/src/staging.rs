//! Copies the databases of a home aside, so that what is packed holds still.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_home::Home;
use hermes_store::memory::compare_memory;
use hermes_store::rot::{Compared, DifferingRow, HighWater, Sums};
use hermes_store::sessions::compare_sessions;
use hermes_store::snapshot::{self, Depth, Examined};
use hermes_store::{ErrorKind, sqlite};

use crate::archive::Source;
use crate::contents::{self, Contents, Entry, ODD_NAME, VANISHED, What};
use crate::manifest::{self, Kind, LeftOut};
use crate::{Error, Progress, Result, Tell};

/// Everything that will be packed, and what is known of it.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    pub(crate) sources: Vec<Source>,
    pub(crate) databases: Vec<manifest::Database>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) damaged: bool,
    pub(crate) remarks: Vec<String>,
    /// CPU time of the checks.
    pub(crate) checking: Duration,
}

/// Makes a copy of each database in `folder`, checks it, and lists what is to be packed, sorted by path.
pub(crate) fn stage(contents: Contents, folder: &Path, tell: Tell<'_>) -> Result<Staged> {
    let mut staged = Staged { left_out: contents.left_out, ..Staged::default() };
    staged.remark_what_is_missed();
    for (number, entry) in contents.entries.iter().enumerate() {
        let target = folder.join(number.to_string());
        let taken = match entry.what {
            What::Folder => staged.add(entry, Kind::Folder, None),
            What::File => staged.add(entry, Kind::File, Some(entry.from.clone())),
            What::Database => staged.database(entry, &target, &mut *tell),
            What::Damaged => staged.damaged(entry, &target, "it is empty or was overwritten"),
        };
        match taken {
            Err(error) if has_vanished(&error, entry) => {
                staged.leave_out(&entry.path, VANISHED);
            }
            other => other?,
        }
    }
    staged.sources.sort_by(|left, right| left.file.path.cmp(&right.file.path));
    Ok(staged)
}

/// How many bytes the copies need.
pub(crate) fn bytes_of(contents: &Contents) -> u64 {
    let copied = contents.entries.iter().filter(|entry| is_copied(entry.what));
    copied.map(|entry| entry.size + log_size(&entry.from)).sum()
}

fn is_copied(what: What) -> bool {
    matches!(what, What::Database | What::Damaged)
}

fn log_size(database: &Path) -> u64 {
    contents::beside(database, "-wal").metadata().map_or(0, |log| log.len())
}

impl Staged {
    /// Notes databases that are lost: what is packed is no good backup without them.
    pub(crate) fn lacks(&mut self, lost: Vec<LeftOut>) {
        self.damaged |= !lost.is_empty();
        self.remarks.extend(lost.iter().map(|left| format!("{}: {}", left.path, left.why)));
        self.left_out.extend(lost);
    }

    fn add(&mut self, entry: &Entry, kind: Kind, from: Option<PathBuf>) -> Result<()> {
        let unread = |source| Error::file("read", &entry.from, source);
        let metadata = entry.from.metadata().map_err(unread)?;
        let link = fs::read_link(&entry.from).ok().map(|link| link.to_string_lossy().into_owned());
        let size = match &from {
            None => 0,
            // For the progress alone; what is packed is measured when it is.
            Some(from) => from.metadata().map_err(unread)?.len(),
        };
        let file = manifest::File { link, ..member(&entry.path, kind, size, &metadata) };
        self.sources.push(Source { file, from });
        Ok(())
    }

    fn database(&mut self, entry: &Entry, target: &Path, tell: Tell<'_>) -> Result<()> {
        // SQLite keeps its log beside the file itself, not beside a link to it.
        let real = entry.from.canonicalize();
        let real = real.map_err(|source| Error::file("read", &entry.from, source))?;
        let doing = format!("copying {}", entry.path);
        let mut tell_copied = |done, of| tell(Progress { doing: &doing, done, of });
        let sums = SumsBefore::of(entry);
        match snapshot::take(&real, target, limits(entry.size), &mut tell_copied) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Damaged => {
                return self.damaged(entry, target, &error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        let doing = format!("checking {}", entry.path);
        tell(Progress { doing: &doing, done: 0, of: 0 });
        match self.check(target) {
            Ok(examined) if examined.is_whole() => {
                self.remark_indexes(&entry.path, &examined);
                let differing = self.compare(entry, target, &sums)?;
                self.databases.push(as_database(&entry.path, examined, differing));
                self.add(entry, Kind::Database, Some(target.to_owned()))
            }
            Ok(examined) => self.damaged(entry, target, &examined.integrity),
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.damaged(entry, target, &error.to_string())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn check(&mut self, copy: &Path) -> hermes_store::Result<Examined> {
        let begun = cpu_time();
        let size = copy.metadata().map_or(0, |found| found.len());
        let examined = snapshot::examine(copy, Depth::for_size(size));
        self.checking += cpu_time().saturating_sub(begun);
        examined
    }

    /// Compares the rows of a copy with their checksums, and names those that differ.
    fn compare(&mut self, entry: &Entry, copy: &Path, sums: &SumsBefore) -> Result<Vec<String>> {
        let begun = cpu_time();
        let compared = sums.compare(copy)?;
        self.checking += cpu_time().saturating_sub(begun);
        let differing: Vec<String> = compared.differing.iter().map(DifferingRow::said).collect();
        if differing.is_empty() {
            return Ok(differing);
        }
        // Another program may change its own messages as it likes.
        self.damaged |= !compared.changed_by_others;
        for said in differing.iter().take(MOST_NAMED) {
            self.remarks.push(format!("{}: {said} does not match its checksum", entry.path));
        }
        if let Some(more) = differing.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            self.remarks
                .push(format!("{}: {more} more rows do not match their checksums", entry.path));
        }
        Ok(differing)
    }

    /// Saves the bytes as they are: more may be read from them one day than from what is left of a copy.
    fn damaged(&mut self, entry: &Entry, target: &Path, why: &str) -> Result<()> {
        // The log first: a database that is older than its log takes it in, one that is newer may not.
        for suffix in ["-wal", "-journal"] {
            let log = contents::beside(&entry.from, suffix);
            let Ok(metadata) = log.metadata() else { continue };
            if metadata.len() == 0 {
                continue;
            }
            let copy = named(target, suffix);
            copy_private(&log, &copy)?;
            let path = format!("{}{suffix}", entry.path);
            self.left_out.retain(|left| left.path != path);
            let file = member(&path, Kind::Damaged, metadata.len(), &metadata);
            self.sources.push(Source { file, from: Some(copy) });
        }
        copy_private(&entry.from, target)?;
        self.add(entry, Kind::Damaged, Some(target.to_owned()))?;
        self.damaged = true;
        self.remarks
            .push(format!("{} is damaged; its bytes were saved as they are: {why}", entry.path));
        Ok(())
    }

    fn leave_out(&mut self, path: &str, why: &str) {
        self.left_out.push(LeftOut { path: path.to_owned(), why: why.to_owned() });
    }

    fn remark_what_is_missed(&mut self) {
        let missed = |left: &&LeftOut| contents::is_link_left_out(left) || left.why == ODD_NAME;
        let remarks = self.left_out.iter().filter(missed);
        self.remarks = remarks.map(|left| format!("{}: {}", left.path, left.why)).collect();
    }

    fn remark_indexes(&mut self, path: &str, examined: &Examined) {
        for (index, found) in &examined.indexes {
            if found != "ok" && !found.starts_with("not checked") {
                self.remarks
                    .push(format!("the search index {index} of {path} is damaged: {found}"));
            }
        }
    }
}

fn member(path: &str, kind: Kind, size: u64, metadata: &Metadata) -> manifest::File {
    let (mode, modified) = mode_and_time(metadata);
    let (path, sha256) = (path.to_owned(), String::new());
    manifest::File { path, kind, size, mode, modified, sha256, link: None }
}

/// Ten minutes, and a second more for each megabyte.
fn limits(size: u64) -> snapshot::Limits {
    let deadline = Duration::from_secs(600 + size / 1_000_000);
    snapshot::Limits { wait: sqlite::DEFAULT_WAIT, deadline }
}

/// How many rows that differ are named one by one.
const MOST_NAMED: usize = 20;

/// Which rows of a database can be compared, and the checksums as they were before it was copied.
enum SumsBefore {
    Memory,
    Sessions(HighWater, Sums),
    None,
}

impl SumsBefore {
    fn of(entry: &Entry) -> SumsBefore {
        match entry.path.rsplit('/').next() {
            Some("memory.db") => SumsBefore::Memory,
            Some("state.db") => {
                let folder = entry.from.parent().unwrap_or(Path::new("."));
                let marks = HighWater::at(Home::in_folder(folder, None).high_water());
                let sums = Sums::read(&marks);
                SumsBefore::Sessions(marks, sums)
            }
            _ => SumsBefore::None,
        }
    }

    /// A database of that name that holds something else has nothing to compare.
    fn compare(&self, copy: &Path) -> hermes_store::Result<Compared> {
        let compared = match self {
            SumsBefore::Memory => compare_memory(copy, sqlite::DEFAULT_WAIT),
            SumsBefore::Sessions(marks, sums) => {
                compare_sessions(copy, marks, sums, sqlite::DEFAULT_WAIT)
            }
            SumsBefore::None => Ok(Compared::default()),
        };
        match compared {
            Err(hermes_store::Error::NotSessions { .. }) => Ok(Compared::default()),
            other => other,
        }
    }
}

fn as_database(path: &str, examined: Examined, differing: Vec<String>) -> manifest::Database {
    manifest::Database {
        path: path.to_owned(),
        schema_version: examined.schema_version,
        pages: examined.pages,
        page_size: examined.page_size,
        integrity: examined.integrity,
        checked: examined.checked.as_str().to_owned(),
        indexes: examined.indexes,
        rows: examined.rows,
        newest_message: examined.newest_message,
        differing,
    }
}

/// Whether the error only says that the entry was deleted since it was listed.
fn has_vanished(error: &Error, entry: &Entry) -> bool {
    let is_missing = match error {
        Error::File { source, .. } => source.kind() == io::ErrorKind::NotFound,
        Error::Store(error) => error.kind() == ErrorKind::Missing,
        _ => false,
    };
    is_missing && entry.from.symlink_metadata().is_err()
}

/// Copies bytes into a new file that only its owner may read.
pub(crate) fn copy_private(from: &Path, to: &Path) -> Result<()> {
    let mut input = fs::File::open(from).map_err(|source| Error::file("read", from, source))?;
    // What is left of a copy that failed.
    let _ = fs::remove_file(to);
    let mut output = create_private(to)?;
    io::copy(&mut input, &mut output).map(drop).map_err(|source| Error::file("copy", from, source))
}

/// Makes a new file that only its owner may read.
pub(crate) fn create_private(path: &Path) -> Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path).map_err(|source| Error::file("create", path, source))
}

fn named(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn mode_and_time(metadata: &Metadata) -> (u32, i64) {
    (metadata.mode() & 0o777, metadata.mtime().max(0))
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
