//! Cure a damaged state.db with the smallest cure that works.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Serialize;

use super::check::{CheckReport, Depth, FindingKind, check};
use super::layout::{FullText, Owner};
use super::salvage::{Salvaged, salvage};
use crate::sqlite::{self, Access, beside};
use crate::{Error, Result, migrate};

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// The cure that was applied.
    pub cure: Cure,
    /// The copy of the damaged file, if anything was done.
    pub kept: Option<PathBuf>,
    /// What was wrong before.
    pub before: CheckReport,
    /// What was saved and lost, where rows had to be copied one by one.
    pub salvaged: Option<Salvaged>,
}

/// A way to make a database whole, from the smallest to the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cure {
    /// Nothing was wrong.
    Nothing,
    /// The full-text index was made anew from the messages.
    RebuildFullText,
    /// The indexes were made anew from the tables.
    Reindex,
    /// Every row that could be read was copied to a new database.
    Salvage,
}

const REBUILD: &str = "insert into messages_fts (messages_fts) values ('rebuild')";

const REINDEX: &str = "reindex";

const DROP_TRIGGERS: &str = "
    drop trigger if exists messages_fts_insert;
    drop trigger if exists messages_fts_delete;
    drop trigger if exists messages_fts_update;";

/// Repairs a database that no one has open; a copy of it is kept as it was.
pub fn repair(path: &Path, now: Timestamp, wait: Duration) -> Result<RepairReport> {
    let before = check(path, Depth::Full, wait)?;
    if before.is_healthy() {
        return Ok(RepairReport { cure: Cure::Nothing, kept: None, before, salvaged: None });
    }
    // Where the name is a link, the file behind it is the one to replace.
    let real = path.canonicalize().map_err(|source| Error::File {
        doing: "find",
        path: path.to_owned(),
        source,
    })?;
    let path = real.as_path();
    let mut cure = smallest_cure(path, &before, wait)?;
    sqlite::refuse_in_use(path)?;
    let mut seen = Stamp::of(path);
    let kept = keep_copy(path, now)?;
    loop {
        let salvaged = match cure {
            Cure::Salvage => Some(replace_by_salvage(path, &seen, wait)?),
            in_place => apply(path, in_place, wait).map(|()| None)?,
        };
        if check(path, Depth::Full, wait)?.is_healthy() {
            return Ok(RepairReport { cure, kept: Some(kept), before, salvaged });
        }
        seen = Stamp::of(path);
        cure = match (cure, before.owner) {
            (Cure::RebuildFullText | Cure::Reindex, Some(Owner::Ours | Owner::Extended)) => {
                Cure::Salvage
            }
            _ => {
                let why =
                    format!("the repair did not help; the original file is {}", kept.display());
                return Err(refused(path, &why));
            }
        };
    }
}

/// Decides what to try first; refuses what would alter a database that is not ours.
fn smallest_cure(path: &Path, found: &CheckReport, wait: Duration) -> Result<Cure> {
    let all = |kinds: &[FindingKind]| found.findings.iter().all(|f| kinds.contains(&f.kind));
    let is_ours = match found.owner {
        // One that Hermes Agent extended gets its tables back when that program opens it again.
        Some(owner) => owner != Owner::Foreign,
        // The file does not open: rows can be saved only if its schema still says it is ours.
        None => super::salvage::is_ours(path, wait)?,
    };
    if all(&[FindingKind::FullText]) {
        return match is_ours || can_be_rebuilt(path, wait)? {
            true => Ok(Cure::RebuildFullText),
            false => Err(refused(path, "only Hermes Agent can rebuild its full-text index")),
        };
    }
    if !is_ours {
        let why = "it is damaged and belongs to another program; restore it from a backup";
        return Err(refused(path, why));
    }
    match all(&[FindingKind::FullText, FindingKind::Index]) {
        true => Ok(Cure::Reindex),
        false => Ok(Cure::Salvage),
    }
}

/// Whether the index of a database that is not ours alone reads its text elsewhere, or is missing
/// from a database that we made.
fn can_be_rebuilt(path: &Path, wait: Duration) -> Result<bool> {
    let connection = sqlite::open(path, Access::Read, wait)?;
    let layout = super::detect(&connection, path)?;
    Ok(match layout.full_text() {
        FullText::OverView | FullText::OverTable => true,
        FullText::None => layout.owner() != Owner::Foreign,
        _ => false,
    })
}

/// Applies a cure that leaves every row where it is.
fn apply(path: &Path, cure: Cure, wait: Duration) -> Result<()> {
    let connection = sqlite::open(path, Access::Write, wait)?;
    let layout = super::detect(&connection, path)?;
    let mut statements: Vec<&str> = Vec::new();
    if cure == Cure::Reindex {
        statements.push(REINDEX);
    }
    if *layout.full_text() == FullText::None && layout.owner() != Owner::Foreign {
        statements.extend([DROP_TRIGGERS, migrate::full_text_part()]);
    }
    statements.push(REBUILD);
    for statement in statements {
        match connection.execute_batch(statement).map_err(|e| Error::from_sqlite(path, e)) {
            // Left for the check after the cure, which leads on to the next one.
            Ok(()) | Err(Error::Damaged { .. } | Error::Database { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

/// Copies what can be read to a new file, and gives it the name of the old one.
fn replace_by_salvage(path: &Path, seen: &Stamp, wait: Duration) -> Result<Salvaged> {
    let fresh = beside(path, ".salvaged");
    let discard = || {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            // It is there only if an earlier repair was cut short, or this one failed.
            drop(std::fs::remove_file(beside(&fresh, suffix)));
        }
    };
    discard();
    let salvaged = salvage(path, &fresh, wait).and_then(|salvaged| {
        let checked = check(&fresh, Depth::Full, wait)?;
        if !checked.is_healthy() {
            return Err(refused(path, "the rows that could be saved are damaged too"));
        }
        refuse_changed(path, seen)?;
        Ok(salvaged)
    });
    if salvaged.is_err() {
        discard();
        return salvaged;
    }
    // A log of the old file beside the new one would be played into it; the copy has its own.
    for suffix in ["-wal", "-shm"] {
        remove_if_there(&beside(path, suffix))?;
    }
    let failed = |source| Error::File { doing: "replace", path: path.to_owned(), source };
    std::fs::rename(&fresh, path).map_err(failed)?;
    sync_folder_of(path)?;
    salvaged
}

/// Length and time of the last change of a database and its log, to see whether someone wrote.
#[derive(Debug, PartialEq, Eq)]
struct Stamp([Option<(u64, SystemTime)>; 2]);

impl Stamp {
    fn of(path: &Path) -> Stamp {
        Stamp(["", "-wal"].map(|suffix| {
            let found = beside(path, suffix).metadata().ok()?;
            // An empty log is as good as none: readers make it and take it away.
            (found.len() > 0).then_some((found.len(), found.modified().ok()?))
        }))
    }
}

/// Fails if another program has the file open, or wrote to it after we looked.
fn refuse_changed(path: &Path, seen: &Stamp) -> Result<()> {
    sqlite::refuse_in_use(path)?;
    match Stamp::of(path) == *seen {
        true => Ok(()),
        false => Err(refused(
            path,
            "another program wrote to it in the meantime; close that program and \
                 try again",
        )),
    }
}

/// Copies the database and its log, byte by byte, to names that say when.
///
/// Reads the file as a plain file, which drops the locks of this process on it: no connection of
/// this process may be open.
fn keep_copy(path: &Path, now: Timestamp) -> Result<PathBuf> {
    remove_unfinished_copies(path);
    let stamp = now.strftime("%Y%m%dT%H%M%SZ");
    let names = (1..).map(|number| match number {
        1 => beside(path, &format!(".damaged-{stamp}")),
        _ => beside(path, &format!(".damaged-{stamp}-{number}")),
    });
    let mut free = names.skip_while(|name| name.symlink_metadata().is_ok());
    let Some(kept) = free.next() else { return Err(Error::Exists { path: path.to_owned() }) };
    // A copy has its name only when it is whole; the log first, since without it the database would be another.
    let there: Vec<&str> =
        ["-wal", ""].into_iter().filter(|suffix| beside(path, suffix).exists()).collect();
    for suffix in &there {
        let (from, to) = (beside(path, suffix), beside(&kept, &format!("{suffix}.part")));
        let copied = std::fs::copy(&from, &to).and_then(|_| sync(&to));
        copied.map_err(|source| Error::File { doing: "copy", path: from, source })?;
    }
    for suffix in &there {
        let (from, to) = (beside(&kept, &format!("{suffix}.part")), beside(&kept, suffix));
        std::fs::rename(&from, &to).map_err(|source| Error::File {
            doing: "rename",
            path: from,
            source,
        })?;
        sync_folder_of(path)?;
    }
    Ok(kept)
}

/// Copies that a repair before this one was cut short in.
fn remove_unfinished_copies(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned() + ".damaged-";
    let beside = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    for entry in beside.into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        if found.starts_with(&name) && found.ends_with(".part") {
            // One that stays is in nobody's way.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

fn sync(path: &Path) -> std::io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}

fn sync_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sqlite::sync_folder(folder.unwrap_or(Path::new(".")))
}

fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { doing: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn refused(path: &Path, why: &str) -> Error {
    Error::RepairRefused { path: path.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{NewSession, SessionId, SessionStore};
    use crate::sqlite::DEFAULT_WAIT;

    #[test]
    fn a_file_written_to_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        SessionStore::create(&path).unwrap();
        let seen = Stamp::of(&path);
        let mut store = SessionStore::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let new = NewSession::plain(SessionId::new(now, [1, 2, 3]), now, "cli");
        store.create_session(&new).unwrap();

        let replace = || replace_by_salvage(&path, &seen, DEFAULT_WAIT).unwrap_err();
        assert!(matches!(replace(), Error::Locked { .. }));
        drop(store);
        assert!(matches!(replace(), Error::RepairRefused { .. }));
        let names: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["state.db"]);

        let fresh = Stamp::of(&path);
        assert_eq!(replace_by_salvage(&path, &fresh, DEFAULT_WAIT).unwrap().sessions, 1);
    }
}
