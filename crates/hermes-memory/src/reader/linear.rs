//! A linear model: for every sign it knows, how much it speaks for each class.

use std::sync::OnceLock;

use super::signs::Signs;

/// How many numbers the meaning of a text has.
const DIMS: usize = 256;
const MAGIC: &[u8; 8] = b"HERMLIN1";
/// A sign is looked for among those with the same highest bits.
const BITS: u32 = 15;

/// A trained model.
///
/// The file: `HERMLIN1`; as little-endian u32 the number of classes, of signs and of texts whose meaning
/// counts too; f32 for each class: scale and bias; for each meaning 256 f32 for each class; the hashes of
/// the signs in their order as u32; for each sign an i8 for each class.
pub struct Linear<const CLASSES: usize> {
    scales: [f32; CLASSES],
    biases: [f32; CLASSES],
    /// For each number of each meaning, how much it speaks for each class.
    meaning: Vec<[f32; CLASSES]>,
    rows: Vec<Row<CLASSES>>,
    starts: Vec<u32>,
}

/// A sign and what it says, side by side: both are found with one look into memory.
struct Row<const CLASSES: usize> {
    hash: u32,
    weights: [i8; CLASSES],
}

impl<const CLASSES: usize> Linear<CLASSES> {
    /// Takes the file apart; one that is none of ours knows nothing.
    pub fn parse(file: &'static [u8]) -> Self {
        Self::parsed(file).unwrap_or(Self {
            scales: [0.0; CLASSES],
            biases: [0.0; CLASSES],
            meaning: Vec::new(),
            rows: Vec::new(),
            starts: vec![0; (1 << BITS) + 1],
        })
    }

    /// The model that is kept in a cell, read when it is first asked for.
    pub fn once(cell: &'static OnceLock<Self>, file: &'static [u8]) -> &'static Self {
        cell.get_or_init(|| Self::parse(file))
    }

    fn parsed(file: &'static [u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (header, rest) = rest.split_at_checked(12)?;
        let header: Vec<usize> = header.chunks_exact(4).map(|four| number(four) as usize).collect();
        let (classes, count, meanings) = (header[0], header[1], header[2]);
        let (scales, rest) = rest.split_at_checked(classes * 4)?;
        let (biases, rest) = rest.split_at_checked(classes * 4)?;
        let (meaning, rest) = rest.split_at_checked(meanings.checked_mul(classes * DIMS * 4)?)?;
        let (hashes, rows) = rest.split_at_checked(count * 4)?;
        let (rows, rest) = rows.as_chunks::<CLASSES>();
        if classes != CLASSES || rows.len() != count || !rest.is_empty() {
            return None;
        }
        let rows: Vec<Row<CLASSES>> = hashes
            .chunks_exact(4)
            .zip(rows)
            .map(|(hash, row)| Row { hash: number(hash), weights: row.map(u8::cast_signed) })
            .collect();
        let meaning = floats(meaning);
        let all_classes = |row: usize| {
            let (part, at) = (row / DIMS, row % DIMS);
            std::array::from_fn(|class| meaning[(part * CLASSES + class) * DIMS + at])
        };
        Some(Self {
            scales: floats(scales).try_into().ok()?,
            biases: floats(biases).try_into().ok()?,
            meaning: (0..meanings * DIMS).map(all_classes).collect(),
            starts: starts(&rows),
            rows,
        })
    }

    /// How much the signs speak for each class, before anything is made of it.
    pub fn sums(&self, signs: &Signs) -> [f32; CLASSES] {
        let mut sums = [0f32; CLASSES];
        for (hash, weight) in &signs.list {
            if let Some(row) = self.row(*hash) {
                for class in 0..CLASSES {
                    sums[class] += weight * f32::from(row[class]);
                }
            }
        }
        sums
    }

    /// How much the meaning of a text speaks for each class; `part` is which of the texts it is that the
    /// model was trained with.
    pub fn meant(&self, part: usize, meaning: &[f32]) -> [f32; CLASSES] {
        let mut sums = [0f32; CLASSES];
        for (row, number) in self.meaning.iter().skip(part * DIMS).zip(meaning) {
            for class in 0..CLASSES {
                sums[class] += row[class] * number;
            }
        }
        sums
    }

    /// How likely each class is; `common` are the sums of signs that were not settled, `meant` what the
    /// meanings of texts speak for.
    pub fn judge(
        &self,
        signs: &Signs,
        common: Option<&[f32; CLASSES]>,
        meant: &[[f32; CLASSES]],
    ) -> [f32; CLASSES] {
        let mut sums = self.sums(signs);
        for class in 0..CLASSES {
            let common = common.map_or(0.0, |common| common[class] * signs.scale);
            sums[class] = (sums[class] + common) * self.scales[class] + self.biases[class];
        }
        for meant in meant {
            sums.iter_mut().zip(meant).for_each(|(sum, more)| *sum += more);
        }
        softmax(sums)
    }

    fn row(&self, hash: u32) -> Option<&[i8; CLASSES]> {
        let high = high(hash);
        let (start, end) = (self.starts[high] as usize, self.starts[high + 1] as usize);
        let row = self.rows.get(start..end)?.iter().find(|row| row.hash == hash)?;
        Some(&row.weights)
    }
}

/// The highest bits of a hash.
fn high(hash: u32) -> usize {
    (hash >> (32 - BITS)) as usize
}

/// Where the rows with the same highest bits begin, for each value of these; one more for the end.
fn starts<const CLASSES: usize>(rows: &[Row<CLASSES>]) -> Vec<u32> {
    let mut starts = vec![0; (1 << BITS) + 1];
    rows.iter().for_each(|row| starts[high(row.hash) + 1] += 1);
    let mut before = 0;
    for start in &mut starts {
        before += *start;
        *start = before;
    }
    starts
}

fn number(four: &[u8]) -> u32 {
    four.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_bits(number(four))).collect()
}

fn softmax<const CLASSES: usize>(mut sums: [f32; CLASSES]) -> [f32; CLASSES] {
    let most = sums.iter().copied().fold(f32::MIN, f32::max);
    sums.iter_mut().for_each(|sum| *sum = (*sum - most).exp());
    let all: f32 = sums.iter().sum();
    sums.iter_mut().for_each(|sum| *sum /= all.max(1e-9));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_in_the_program_are_whole() {
        assert!(Linear::<10>::parsed(include_bytes!("../../model/clauses.bin")).is_some());
        assert!(Linear::<8>::parsed(include_bytes!("../../model/tasks.bin")).is_some());
        assert!(Linear::<3>::parsed(include_bytes!("../../model/names.bin")).is_some());
        assert!(Linear::<2>::parsed(include_bytes!("../../model/pairs.bin")).is_some());
    }

    #[test]
    fn a_file_that_is_cut_or_has_other_classes_is_no_model() {
        let whole: &'static [u8] = include_bytes!("../../model/pairs.bin");
        assert!(Linear::<2>::parsed(&whole[..whole.len() - 1]).is_none());
        assert!(Linear::<3>::parsed(whole).is_none());
        assert!(Linear::<2>::parsed(b"").is_none());
    }
}
