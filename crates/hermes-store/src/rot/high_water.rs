//! The high-water mark: how far a database had come when something in it was acknowledged, kept outside of it.
//!
//! The database itself is synced before anything is acknowledged. The mark is written right after, and not synced:
//! it survives the death of the process, and after a power cut it may be an older one, which says less and never
//! something false.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// Which database a mark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// memory.db: the last entry in the chain of changes.
    Memory,
    /// state.db: the last message.
    Sessions,
}

impl Which {
    /// The name of the database.
    pub fn database(self) -> &'static str {
        match self {
            Which::Memory => "memory.db",
            Which::Sessions => "state.db",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Which::Memory => "memory.mark",
            Which::Sessions => "state.mark",
        }
    }

    fn note(self) -> &'static str {
        match self {
            Which::Memory => "memory.behind.json",
            Which::Sessions => "state.behind.json",
        }
    }
}

/// The last thing that was acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of the last entry of the chain, or of the last message.
    pub(crate) last: i64,
    /// What that row was: a part of its hash.
    pub(crate) sum: i64,
    /// When it was written, in milliseconds since 1970.
    pub(crate) at: i64,
}

/// A database that has less than was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Behind {
    /// The number of the last change or message that was acknowledged.
    pub acknowledged: i64,
    /// When that was, in milliseconds since 1970.
    pub at: i64,
    /// The last number that is there.
    pub found: i64,
    /// Whether something else stands where the acknowledged row stood.
    pub is_other: bool,
}

impl Behind {
    /// When the last thing that is missing was written.
    pub fn written_at(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.at).ok()
    }
}

/// The folder of marks of one home.
#[derive(Debug, Clone)]
pub struct HighWater {
    folder: PathBuf,
}

impl HighWater {
    /// The marks in a folder, which need not be there yet.
    pub fn at(folder: PathBuf) -> HighWater {
        HighWater { folder }
    }

    /// What was found missing when the database was opened to be written, and nobody has answered yet.
    pub fn noted(&self, which: Which) -> Option<Behind> {
        let text = fs::read(self.folder.join(which.note())).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Forgets the mark and what is noted about it: the database is taken as it is.
    pub fn forget(&self, which: Which) -> Result<()> {
        let mut names = vec![which.note(), which.file()];
        if which == Which::Sessions {
            names.push(super::sums_file::NAME);
        }
        names.into_iter().try_for_each(|name| self.remove(name))
    }

    /// Forgets what was found missing and keeps the sums: what is there was not changed by that.
    pub(crate) fn forget_note(&self, which: Which) -> Result<()> {
        self.remove(which.note())
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::File { doing: "remove", path, source })
            }
            _ => Ok(()),
        }
    }

    /// The mark, if there is a whole one.
    pub(crate) fn read(&self, which: Which) -> Option<Mark> {
        let file = File::open(self.folder.join(which.file())).ok()?;
        newest(&slots(&file)?).map(|slot| slot.mark)
    }

    /// Keeps what was found missing, so that later writes do not hide it.
    pub(crate) fn note(&self, which: Which, behind: Behind) {
        let text = serde_json::to_vec(&behind).unwrap_or_default();
        // A home that cannot be written says it at the next look again, from the mark itself.
        let _ = self.file(which.note()).and_then(|file| {
            file.set_len(0)?;
            file.write_all_at(&text, 0)
        });
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file in the folder, for its owner alone; both are made if they are missing.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let path = self.folder.join(name);
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&self.folder)?;
                options.open(&path)
            }
            opened => opened,
        }
    }
}

fn make_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The mark of one database, held open by whoever writes to it.
#[derive(Debug)]
pub(crate) struct Water {
    file: Option<File>,
    written: Option<Mark>,
}

impl Water {
    /// Opens the mark of a database; where that is not possible, nothing is marked.
    pub(crate) fn open(marks: &HighWater, which: Which) -> Water {
        Water { file: marks.file(which.file()).ok(), written: None }
    }

    /// Raises the mark; one that another process raised further stays.
    pub(crate) fn raise(&mut self, mark: Mark) {
        if self.written == Some(mark) {
            return;
        }
        self.put(mark, |before| before.last < mark.last);
        self.written = Some(mark);
    }

    /// Sets the mark, also to less.
    pub(crate) fn set(&mut self, mark: Mark) {
        self.put(mark, |before| *before != mark);
        self.written = Some(mark);
    }

    /// What is acknowledged is in the database: a mark that cannot be written takes nothing from that. Two processes in
    /// the same microseconds may leave the lower of their marks until the next one; a lock would cost more than all
    /// else here.
    fn put(&self, mark: Mark, is_wanted: impl Fn(&Mark) -> bool) {
        let Some(file) = &self.file else { return };
        let found = slots(file).unwrap_or_default();
        let before = newest(&found);
        if before.is_none_or(|slot| is_wanted(&slot.mark)) {
            let number = before.map_or(1, |slot| slot.number + 1);
            // The older of the two is overwritten: one that is torn leaves the other.
            let place = (number % 2) * SLOT as u64;
            let _ = file.write_all_at(&Slot { number, mark }.to_bytes(), place);
        }
    }
}

const SLOT: usize = 48;
const MAGIC: [u8; 8] = *b"hermeswm";

#[derive(Debug, Clone, Copy)]
struct Slot {
    number: u64,
    mark: Mark,
}

impl Slot {
    fn to_bytes(self) -> [u8; SLOT] {
        let mut bytes = [0; SLOT];
        let parts = [
            MAGIC,
            self.number.to_le_bytes(),
            self.mark.last.to_le_bytes(),
            self.mark.sum.to_le_bytes(),
            self.mark.at.to_le_bytes(),
        ];
        for (place, part) in bytes.chunks_exact_mut(8).zip(parts) {
            place.copy_from_slice(&part);
        }
        let sum = checksum(&bytes[..SLOT - 8]);
        bytes[SLOT - 8..].copy_from_slice(&sum);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Slot> {
        let (content, sum) = bytes.split_at_checked(SLOT - 8)?;
        if content[..8] != MAGIC || sum != checksum(content) {
            return None;
        }
        let number = |place: usize| {
            content[place * 8..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let signed = |place: usize| number(place).cast_signed();
        let mark = Mark { last: signed(2), sum: signed(3), at: signed(4) };
        Some(Slot { number: number(1), mark })
    }
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(bytes);
    digest.first_chunk::<8>().copied().unwrap_or_default()
}

fn slots(file: &File) -> Option<[Option<Slot>; 2]> {
    let mut bytes = [0; SLOT * 2];
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], read as u64) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(_) => return None,
        }
    }
    let (first, second) = bytes.split_at(SLOT);
    Some([Slot::from_bytes(first), Slot::from_bytes(second)])
}

fn newest(slots: &[Option<Slot>; 2]) -> Option<Slot> {
    slots.iter().flatten().max_by_key(|slot| slot.number).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(last: i64) -> Mark {
        Mark { last, sum: last * 7, at: 1_000 + last }
    }

    #[test]
    fn the_higher_of_two_writers_stays() {
        let folder = tempfile::tempdir().unwrap();
        let marks = HighWater::at(folder.path().join("marks"));
        let mut one = Water::open(&marks, Which::Memory);
        let mut other = Water::open(&marks, Which::Memory);
        one.raise(mark(5));
        other.raise(mark(6));
        one.raise(mark(4));
        assert_eq!(marks.read(Which::Memory), Some(mark(6)));
        one.set(mark(3));
        assert_eq!(marks.read(Which::Memory), Some(mark(3)));
        marks.forget(Which::Memory).unwrap();
        assert_eq!(marks.read(Which::Memory), None);
    }

    #[test]
    fn a_torn_mark_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let marks = HighWater::at(folder.path().to_owned());
        let mut water = Water::open(&marks, Which::Sessions);
        for last in 1..=4 {
            water.raise(mark(last));
        }
        let file = marks.file("state.mark").unwrap();
        for place in 0..SLOT as u64 {
            // The fourth stands in the first slot.
            let mut byte = [0];
            file.read_at(&mut byte, place).unwrap();
            file.write_all_at(&[!byte[0]], place).unwrap();
            assert_eq!(marks.read(Which::Sessions), Some(mark(3)), "byte {place}");
            file.write_all_at(&byte, place).unwrap();
        }
        assert_eq!(marks.read(Which::Sessions), Some(mark(4)));
    }
}
