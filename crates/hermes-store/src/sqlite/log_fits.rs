//! Whether the log beside a database is its own: SQLite plays in whatever lies there.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::connect::{beside, hold_alone};
use super::still;
use crate::{Error, Result};

/// Fails if the log beside the database was written for another one.
///
/// A database that was put in the place of one with a log, or copied over it, would get pages of that other one.
/// The two are read only where the times of the files say that the database came after its log, and nobody has
/// it open: what fits is taken in by the next writer, so this is done once.
pub(crate) fn refuse_foreign(path: &Path) -> Result<()> {
    let log = beside(path, "-wal");
    if !came_after(path, &log) {
        return Ok(());
    }
    // Held while the file is read by hand: to close it drops the locks of this process, and nobody else has any now.
    let Ok(alone) = hold_alone(path, Duration::ZERO) else { return Ok(()) };
    let (head, frames) = (Head::read(path), Frames::read(&log));
    drop(alone);
    let (Some(head), Some(frames)) = (head, frames) else { return Ok(()) };
    match frames.may_follow(&head) && is_whole_with_log(path) {
        true => Ok(()),
        false => Err(Error::ForeignLog { path: path.to_owned(), log }),
    }
}

/// What the first bytes of a database say.
struct Head {
    page_size: u32,
    /// One more with each writer that changes the first page.
    counter: u32,
}

/// What a log holds that SQLite would play in.
struct Frames {
    page_size: u32,
    /// The counters of the first and the last change of the first page.
    counters: Option<(u32, u32)>,
}

impl Head {
    fn read(path: &Path) -> Option<Head> {
        let mut bytes = [0; 100];
        File::open(path).ok()?.read_exact(&mut bytes).ok()?;
        Some(Head {
            page_size: page_size(u32::from(number16(&bytes, 16))),
            counter: number(&bytes, 24),
        })
    }
}

impl Frames {
    /// Reads up to the last change that was finished; none if there is none.
    fn read(log: &Path) -> Option<Frames> {
        let mut file = BufReader::new(File::open(log).ok()?);
        let mut head = [0; 32];
        file.read_exact(&mut head).ok()?;
        let magic = number(&head, 0);
        if magic & !1 != 0x377f_0682 {
            return None;
        }
        let page_size = page_size(number(&head, 8));
        // SQLite plays in nothing of a log whose head makes no sense.
        if !page_size.is_power_of_two() || !(512..=65_536).contains(&page_size) {
            return None;
        }
        let mut sum = Sum { is_big: magic & 1 == 1, parts: (number(&head, 24), number(&head, 28)) };
        let (mut finished, mut unfinished, mut has_finished) = (None, None, false);
        let mut page = vec![0; page_size as usize];
        let mut frame = [0; 24];
        while file.read_exact(&mut frame).is_ok() && file.read_exact(&mut page).is_ok() {
            sum.add(&frame[..8]);
            sum.add(&page);
            let is_valid = frame[8..16] == head[16..24]
                && sum.parts == (number(&frame, 16), number(&frame, 20));
            if !is_valid {
                break;
            }
            if number(&frame, 0) == 1 {
                let counter = number(&page, 24);
                let first = unfinished.or(finished).map_or(counter, |(first, _)| first);
                unfinished = Some((first, counter));
            }
            if number(&frame, 4) != 0 {
                (finished, has_finished) = (unfinished.or(finished), true);
            }
        }
        has_finished.then_some(Frames { page_size, counters: finished })
    }

    /// A log begins where its database is, and what is taken in of it brings the database up to its end at most.
    fn may_follow(&self, head: &Head) -> bool {
        let is_between = |(first, last): (u32, u32)| {
            head.counter.saturating_add(1) >= first && head.counter <= last
        };
        self.page_size == head.page_size && self.counters.is_none_or(is_between)
    }
}

/// The checksum of a log, which goes on from frame to frame.
struct Sum {
    is_big: bool,
    parts: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let word = |bytes: &[u8]| {
            let bytes = bytes.try_into().unwrap_or_default();
            if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let (mut one, mut two) = self.parts;
        for pair in bytes.chunks_exact(8) {
            one = one.wrapping_add(word(&pair[..4])).wrapping_add(two);
            two = two.wrapping_add(word(&pair[4..])).wrapping_add(one);
        }
        self.parts = (one, two);
    }
}

/// Whether the database is one with its log. One that is not whole without it either is left to whoever repairs.
fn is_whole_with_log(path: &Path) -> bool {
    let with_log = still::open(path, Duration::ZERO);
    with_log.is_ok_and(|together| is_whole(&together))
        || !still::open_immutable(path, Duration::ZERO).is_ok_and(|alone| is_whole(&alone))
}

fn is_whole(connection: &Connection) -> bool {
    let said: rusqlite::Result<String> =
        connection.query_row("pragma integrity_check(1)", [], |row| row.get(0));
    said.is_ok_and(|said| said == "ok")
}

/// A log is made after its database, and written before what is in it goes there.
fn came_after(path: &Path, log: &Path) -> bool {
    let (Ok(file), Ok(log)) = (path.metadata(), log.metadata()) else { return false };
    let is_later = |file: std::io::Result<_>, log: std::io::Result<_>| matches!((file, log), (Ok(file), Ok(log)) if file > log);
    is_later(file.created(), log.created()) || is_later(file.modified(), log.modified())
}

/// A size of pages as it is written: the largest does not fit into its two bytes.
fn page_size(said: u32) -> u32 {
    if said == 1 { 65_536 } else { said }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].try_into().map_or(0, u32::from_be_bytes)
}

fn number16(bytes: &[u8], at: usize) -> u16 {
    bytes[at..at + 2].try_into().map_or(0, u16::from_be_bytes)
}
