//! The checksums of messages of state.db, outside of it: eight bytes for each, at eight times its number.
//!
//! state.db may be another program's and is never altered for this. A place that was never written is 0.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::HighWater;

/// The name of the file.
pub(super) const NAME: &str = "state.sums";

/// Numbers above this would make a file of gigabytes: whoever gives out such numbers does not count messages.
const HIGHEST: i64 = 1 << 27;

/// The checksums, held open by whoever writes messages.
#[derive(Debug)]
pub(crate) struct SumsFile {
    file: Option<File>,
}

impl SumsFile {
    /// Opens the file; where that is not possible, no sums are kept.
    pub(crate) fn open(marks: &HighWater) -> SumsFile {
        SumsFile { file: marks.file(NAME).ok() }
    }

    /// Drops the sums of all messages after a number.
    pub(crate) fn cut_after(&self, last: i64) {
        let Some(file) = &self.file else { return };
        let wanted = (last.max(0).unsigned_abs() + 1) * 8;
        let is_longer = file.metadata().is_ok_and(|found| found.len() > wanted);
        if is_longer {
            let _ = file.set_len(wanted);
        }
    }

    /// Keeps the sums of some messages; those side by side are written in one go.
    pub(crate) fn keep(&self, sums: &[(i64, i64)]) {
        let Some(file) = &self.file else { return };
        let mut sorted: Vec<(i64, i64)> =
            sums.iter().copied().filter(|(id, _)| (1..HIGHEST).contains(id)).collect();
        // The last one said about a message holds.
        sorted.reverse();
        sorted.sort_by_key(|(id, _)| *id);
        sorted.dedup_by_key(|(id, _)| *id);
        for run in sorted.chunk_by(|one, next| one.0 + 1 == next.0) {
            let bytes: Vec<u8> = run.iter().flat_map(|(_, sum)| sum.to_le_bytes()).collect();
            let place = run.first().map_or(0, |(id, _)| id.unsigned_abs() * 8);
            // A message without a sum is not compared; it is there all the same.
            let _ = file.write_all_at(&bytes, place);
        }
    }
}

/// All sums at one moment.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    bytes: Vec<u8>,
}

impl Sums {
    /// Reads the sums of a home; none if there are none.
    pub fn read(marks: &HighWater) -> Sums {
        Sums::of_file(&marks.folder().join(NAME))
    }

    fn of_file(path: &Path) -> Sums {
        Sums { bytes: std::fs::read(path).unwrap_or_default() }
    }

    /// The sum of a message.
    pub(crate) fn of(&self, id: i64) -> Option<i64> {
        let place = usize::try_from(id).ok()?.checked_mul(8)?;
        let bytes = self.bytes.get(place..)?.first_chunk::<8>()?;
        Some(i64::from_le_bytes(*bytes)).filter(|sum| *sum != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_by_number_and_the_last_one_holds() {
        let folder = tempfile::tempdir().unwrap();
        let marks = HighWater::at(folder.path().join("marks"));
        let file = SumsFile::open(&marks);
        file.keep(&[(3, 30), (4, 40), (9, 90), (4, 41), (i64::MAX, 1), (-1, 1)]);
        let sums = Sums::read(&marks);
        let all: Vec<_> = (0..12).filter_map(|id| sums.of(id).map(|sum| (id, sum))).collect();
        assert_eq!(all, [(3, 30), (4, 41), (9, 90)]);
        assert_eq!(sums.of(-1), None);
        file.keep(&[(3, 0)]);
        assert_eq!(Sums::read(&marks).of(3), None);
    }
}
