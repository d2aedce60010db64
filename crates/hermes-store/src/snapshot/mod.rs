//! A whole copy of a database that others are writing to, and what can be said of one.

mod examine;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, ffi};

pub use examine::{Depth, Examined, examine};

use crate::sqlite::{self, beside};
use crate::{Error, Result};

/// How long a copy may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long to wait for a lock that another program holds.
    pub wait: Duration,
    /// How long all of it may take.
    pub deadline: Duration,
}

/// Between two steps writers get their turn; larger steps are not faster.
const STEP_BYTES: u64 = 2 * 1024 * 1024;
const PAUSE: Duration = Duration::from_millis(1);

const ANY_READ: &str = "select count(*) from sqlite_schema";

/// Copies the database as it is at one moment into a new file that only its owner may read.
///
/// The source keeps every byte, and so does a log that a crash left beside it; what the log holds is in the copy.
/// The copy has the same pages and needs no file beside it. `tell` hears bytes done and bytes in all. Fails if the
/// source is damaged or locked for too long; then no copy is left.
pub fn take(
    source: &Path,
    target: &Path,
    limits: Limits,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let begun = Instant::now();
    make_private(target)?;
    let copied = match copy(source, target, limits, begun, tell) {
        // Only where a crash left a journal may the source not be read without writing to it.
        Err(Error::NotWritable { .. }) if sqlite::has_journal(source) => {
            copy_with_journal(source, target, limits, begun, tell)
        }
        other => other,
    };
    if copied.is_err() {
        // What went wrong is worth more than whether this does.
        let _ = fs::remove_file(target);
    }
    copied
}

fn copy(
    source: &Path,
    target: &Path,
    limits: Limits,
    begun: Instant,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let from = sqlite::open_for_copying(source, limits.wait)?;
    let failed = |refusal| Error::from_sqlite(source, refusal);
    // The read holds one moment of the database. Without it every write of another program makes the
    // copy begin anew: tried with a busy writer, it never came to its end.
    let still = from.unchecked_transaction().map_err(failed)?;
    still.query_row(ANY_READ, [], |_| Ok(())).map_err(failed)?;
    let page_size: u32 =
        still.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;
    let mut to = sqlite::open_for_pages(target)?;
    let pages = Pages { source, target, size: u64::from(page_size), limits, begun };
    copy_pages(&still, &mut to, &pages, tell)?;
    to.close().map_err(|(_, refusal)| copy_failed(&pages, refusal))
}

struct Pages<'a> {
    source: &'a Path,
    target: &'a Path,
    size: u64,
    limits: Limits,
    begun: Instant,
}

fn copy_pages(
    from: &Connection,
    to: &mut Connection,
    pages: &Pages<'_>,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let failed = |refusal| copy_failed(pages, refusal);
    let backup = Backup::new(from, to).map_err(failed)?;
    let step = i32::try_from((STEP_BYTES / pages.size.max(1)).max(1)).unwrap_or(i32::MAX);
    loop {
        let came_to = backup.step(step).map_err(failed)?;
        let progress = backup.progress();
        let bytes = |count: i32| u64::try_from(count).unwrap_or(0) * pages.size;
        let of = bytes(progress.pagecount);
        let done = of.saturating_sub(bytes(progress.remaining));
        tell(done, of);
        if came_to == StepResult::Done {
            return Ok(());
        }
        if pages.begun.elapsed() > pages.limits.deadline {
            let seconds = pages.limits.deadline.as_secs();
            return Err(Error::CopyTooSlow { path: pages.source.to_owned(), seconds, done, of });
        }
        thread::sleep(PAUSE);
    }
}

/// Undoes the half-written change in a copy of both files: nobody has them open, or there would be a lock.
fn copy_with_journal(
    source: &Path,
    target: &Path,
    limits: Limits,
    begun: Instant,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let crashed = beside(target, ".crashed");
    let journal = beside(&crashed, "-journal");
    let mut take_over = || -> Result<()> {
        copy_file(source, &crashed)?;
        copy_file(&beside(source, "-journal"), &journal)?;
        // The first one who may write undoes it.
        let undone = sqlite::open(&crashed, sqlite::Access::Write, limits.wait)?;
        undone
            .query_row(ANY_READ, [], |_| Ok(()))
            .map_err(|refusal| Error::from_sqlite(source, refusal))?;
        drop(undone);
        copy(&crashed, target, limits, begun, tell)
    };
    let copied = take_over();
    for left in [&crashed, &journal] {
        let _ = fs::remove_file(left);
    }
    copied
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).map_err(|source| Error::File {
        doing: "copy",
        path: from.to_owned(),
        source,
    })
}

fn make_private(target: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(target).map(drop).map_err(|source| Error::File {
        doing: "create",
        path: target.to_owned(),
        source,
    })
}

/// Only the copy is written to, so a write that fails is the copy's, and a read the source's.
fn copy_failed(pages: &Pages<'_>, refusal: rusqlite::Error) -> Error {
    let unwritten = Error::CopyUnwritten { path: pages.target.to_owned() };
    let rusqlite::Error::SqliteFailure(said, _) = &refusal else {
        return Error::from_sqlite(pages.source, refusal);
    };
    match (said.code, said.extended_code) {
        (ErrorCode::DiskFull, _)
        | (
            ErrorCode::SystemIoFailure,
            ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_TRUNCATE,
        ) => unwritten,
        (ErrorCode::SystemIoFailure, _) => Error::Damaged {
            path: pages.source.to_owned(),
            why: format!("a part of it could not be read ({refusal})"),
        },
        _ => Error::from_sqlite(pages.source, refusal),
    }
}

#[cfg(test)]
mod tests;
