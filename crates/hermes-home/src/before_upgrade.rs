//! Copies of databases as they were before an upgrade changed their tables: what they are called, which stay.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::{Home, Result, atomic};

/// How many stay of each database.
const KEPT: usize = 2;
/// How long one stays.
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(24 * 30);
/// Between the parts of a name.
const SCHEMA: &str = "-schema-";
/// What a copy is called while it is being made.
const UNFINISHED: &str = ".part";

/// A copy of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// The name of the database: `memory` or `state`.
    pub database: String,
    /// The number of its schema.
    pub schema: i64,
    /// When it was made.
    pub at: Timestamp,
}

impl Kept {
    fn parse(path: PathBuf) -> Option<Kept> {
        let name = path.file_name()?.to_str()?.strip_suffix(".db")?;
        let (database, rest) = name.split_once(SCHEMA)?;
        let (schema, at) = rest.split_once('-')?;
        let at = Timestamp::from_millisecond(at.parse().ok()?).ok()?;
        Some(Kept { database: database.to_owned(), schema: schema.parse().ok()?, at, path })
    }
}

/// A copy that is being made.
#[derive(Debug)]
pub struct Unfinished {
    /// Where it is written.
    pub path: PathBuf,
    named: PathBuf,
}

/// Begins a copy of a database that has this schema.
pub fn begin(home: &Home, database: &Path, schema: i64, now: Timestamp) -> Result<Unfinished> {
    let folder = home.before_upgrade();
    atomic::make_folder(&folder)?;
    let database = database.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{database}{SCHEMA}{schema}-{}.db", now.as_millisecond());
    // Two programs may begin in the same moment.
    let path = folder.join(format!("{name}.{}{UNFINISHED}", std::process::id()));
    Ok(Unfinished { path, named: folder.join(name) })
}

impl Unfinished {
    /// Gives the copy its name, now that it is whole; what is no longer wanted goes.
    pub fn finish(self, home: &Home, now: Timestamp) -> Result<()> {
        let named = fs::File::open(&self.path)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.path, &self.named))
            .and_then(|()| atomic::sync_folder(&home.before_upgrade()));
        named.map_err(|source| crate::Error::write(&self.named, source))?;
        sweep(home, now);
        Ok(())
    }
}

/// The copies that are there, newest first.
pub fn all(home: &Home) -> Vec<Kept> {
    let mut kept: Vec<Kept> =
        files(&home.before_upgrade()).into_iter().filter_map(Kept::parse).collect();
    kept.sort_by_key(|kept| std::cmp::Reverse(kept.at));
    kept
}

/// Removes what is too old or one too many; what cannot be removed is left for the next time.
pub fn sweep(home: &Home, now: Timestamp) {
    for kept in unwanted(&all(home), now) {
        let _ = fs::remove_file(&kept.path);
    }
    let is_old = |path: &Path| {
        let modified = path.metadata().and_then(|found| found.modified());
        let modified = modified.ok().and_then(|at| Timestamp::try_from(at).ok());
        modified.is_none_or(|at| now.duration_since(at) > SignedDuration::from_hours(24))
    };
    let is_unfinished = |path: &Path| path.to_string_lossy().ends_with(UNFINISHED);
    for path in files(&home.before_upgrade()) {
        if is_unfinished(&path) && is_old(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes every copy: somebody in them is to be forgotten.
pub fn remove_all(home: &Home) -> Result<()> {
    let folder = home.before_upgrade();
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(crate::Error::write(&folder, error))
        }
        _ => Ok(()),
    }
}

/// Those that the rule lets go; `all` has the newest first.
fn unwanted(all: &[Kept], now: Timestamp) -> Vec<&Kept> {
    let is_extra = |kept: &Kept| {
        all.iter().filter(|other| other.database == kept.database && other.at > kept.at).count()
            >= KEPT
    };
    all.iter().filter(|kept| now.duration_since(kept.at) > KEPT_FOR || is_extra(kept)).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_newest_two_of_each_database_stay_for_a_month() {
        let root = tempfile::tempdir().unwrap();
        let home = &testing::home(&root);
        let day = |day: i64| Timestamp::from_second(day * 24 * 3600).unwrap();
        let copy = |database: &str, schema, at| {
            let unfinished = begin(home, Path::new(database), schema, at).unwrap();
            atomic::write(&unfinished.path, b"copied").unwrap();
            unfinished.finish(home, at).unwrap();
        };
        for (schema, at) in [(3, 1), (4, 2), (5, 3)] {
            copy("/x/memory.db", schema, day(at));
        }
        copy("/x/state.db", 1, day(4));
        let left = || -> Vec<(String, i64)> {
            all(home).into_iter().map(|kept| (kept.database, kept.schema)).collect()
        };
        let expected = [("state", 1), ("memory", 5), ("memory", 4)];
        assert_eq!(left(), expected.map(|(name, schema)| (name.to_owned(), schema)));
        sweep(home, day(33));
        assert_eq!(left().len(), 2);
        sweep(home, day(90));
        assert!(left().is_empty());
        copy("/x/memory.db", 6, day(91));
        remove_all(home).unwrap();
        remove_all(home).unwrap();
        assert!(!home.before_upgrade().exists());
    }

    #[test]
    fn a_copy_that_was_not_finished_has_no_name_and_goes_after_a_day() {
        let root = tempfile::tempdir().unwrap();
        let home = &testing::home(&root);
        let unfinished = begin(home, Path::new("memory.db"), 1, Timestamp::UNIX_EPOCH).unwrap();
        atomic::write(&unfinished.path, b"half").unwrap();
        let made = Timestamp::try_from(unfinished.path.metadata().unwrap().modified().unwrap());
        let made = made.unwrap();
        assert!(all(home).is_empty());
        sweep(home, made + SignedDuration::from_hours(1));
        assert!(unfinished.path.exists());
        sweep(home, made + SignedDuration::from_hours(25));
        assert!(!unfinished.path.exists());
    }
}
