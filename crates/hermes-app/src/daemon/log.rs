//! The logs of the daemon: a file for each day, a line for each happening, never the user's words.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hermes_home::{Home, atomic, redaction};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// How many days are kept.
const DAYS: i64 = 7;
const PREFIX: &str = "hermesd-";
const SUFFIX: &str = ".log";

/// Where the daemon writes what happens.
pub struct Log {
    folder: PathBuf,
    /// Whether the lines are also written to standard error, where somebody watches.
    is_watched: bool,
    /// The day whose old files were removed.
    swept: Option<Date>,
}

impl Log {
    /// The log of a home.
    pub fn new(home: &Home, is_watched: bool) -> Log {
        Log { folder: home.logs(), is_watched, swept: None }
    }

    /// Writes one line. What is said holds kinds, numbers and names of files, never what a user wrote.
    pub fn line(&mut self, now: Timestamp, what: &str) {
        let what = redaction::redact(what);
        let flat: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = format!("{} {flat}\n", now.strftime("%Y-%m-%dT%H:%M:%SZ"));
        if self.is_watched {
            let _ = io::stderr().write_all(line.as_bytes());
        }
        // A full disk must not stop the daemon; what it did is in the jobs as well.
        let _ = self.sweep(day(now));
        let _ = open(&path(&self.folder, day(now)))
            .and_then(|mut file| file.write_all(line.as_bytes()));
    }

    fn sweep(&mut self, today: Date) -> io::Result<()> {
        if self.swept == Some(today) {
            return Ok(());
        }
        self.swept = Some(today);
        for file in old(&files(&self.folder), today) {
            fs::remove_file(file)?;
        }
        Ok(())
    }
}

/// The file of a day, opened to add to it.
pub fn open_today(home: &Home, now: Timestamp) -> anyhow::Result<File> {
    atomic::make_folder(&home.logs())?;
    Ok(open(&path(&home.logs(), day(now)))?)
}

/// The file of a day.
pub fn path_today(home: &Home, now: Timestamp) -> PathBuf {
    path(&home.logs(), day(now))
}

/// The logs that are there, oldest first.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| day_of(path).is_some()).collect();
    found.sort();
    found
}

/// A log and how far it was read.
pub type End = (PathBuf, u64);

/// The last lines of all days together, and where the newest file ends.
pub fn last(home: &Home, limit: usize) -> anyhow::Result<(Vec<String>, Option<End>)> {
    let mut lines = Vec::new();
    let mut end = None;
    for path in files(&home.logs()).into_iter().rev() {
        let bytes = fs::read(&path)?;
        let text = String::from_utf8_lossy(&bytes);
        let more: Vec<String> = text.lines().rev().map(str::to_owned).collect();
        lines.extend(more);
        end.get_or_insert((path, bytes.len() as u64));
        if lines.len() >= limit {
            break;
        }
    }
    lines.truncate(limit);
    lines.reverse();
    Ok((lines, end))
}

/// Those whose days are over.
fn old(files: &[PathBuf], today: Date) -> Vec<PathBuf> {
    let Ok(first) = today.checked_sub((DAYS - 1).days()) else { return Vec::new() };
    files.iter().filter(|path| day_of(path).is_some_and(|day| day < first)).cloned().collect()
}

fn day(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}

fn path(folder: &Path, day: Date) -> PathBuf {
    folder.join(format!("{PREFIX}{day}{SUFFIX}"))
}

fn day_of(path: &Path) -> Option<Date> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_days_are_kept_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| drop(File::create(folder.path().join(name)).unwrap());
        for day in 1..=9 {
            make(&format!("hermesd-2026-05-0{day}.log"));
        }
        make("hermesd-notes.log");
        let mut log = Log { folder: folder.path().to_owned(), is_watched: false, swept: None };
        log.line("2026-05-09T12:00:00Z".parse().unwrap(), "two\nlines");
        let names: Vec<String> = files(folder.path())
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(names.first().unwrap(), "hermesd-2026-05-03.log");
        assert_eq!(names.len(), 7);
        assert!(folder.path().join("hermesd-notes.log").exists());
        let text = fs::read_to_string(folder.path().join("hermesd-2026-05-09.log")).unwrap();
        assert_eq!(text, "2026-05-09T12:00:00Z two lines\n");
    }
}
