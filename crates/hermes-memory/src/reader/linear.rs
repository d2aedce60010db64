//! A linear model: for every sign it knows, how much it speaks for each class.

use std::sync::OnceLock;

use super::signs::Signs;

/// How many numbers the meaning of a text has.
const DIMS: usize = 256;
const MAGIC: &[u8; 8] = b"HERMLIN1";
/// A sign is looked for among those with the same highest bits.
const BITS: u32 = 12;

/// A trained model, read in place.
///
/// The file: `HERMLIN1`; as little-endian u32 the number of classes and of signs, and 1 if the meaning of
/// the text counts too; f32 for each class: scale and bias; if meaning counts, 256 f32 for each class; the
/// hashes of the signs in their order as u32; for each sign an i8 for each class.
pub struct Linear {
    classes: usize,
    scales: Vec<f32>,
    biases: Vec<f32>,
    meaning: Vec<f32>,
    hashes: Vec<u32>,
    rows: &'static [u8],
    starts: Vec<u32>,
}

impl Linear {
    /// Takes the file apart; one that is none of ours has no classes.
    pub fn parse(file: &'static [u8]) -> Linear {
        Linear::parsed(file).unwrap_or(Linear {
            classes: 0,
            scales: Vec::new(),
            biases: Vec::new(),
            meaning: Vec::new(),
            hashes: Vec::new(),
            rows: &[],
            starts: vec![0; (1 << BITS) + 1],
        })
    }

    /// The model that is kept in a cell, read when it is first asked for.
    pub fn once(cell: &'static OnceLock<Linear>, file: &'static [u8]) -> &'static Linear {
        cell.get_or_init(|| Linear::parse(file))
    }

    fn parsed(file: &'static [u8]) -> Option<Linear> {
        let rest = file.strip_prefix(MAGIC)?;
        let (header, rest) = rest.split_at_checked(12)?;
        let header: Vec<usize> = header.chunks_exact(4).map(|four| number(four) as usize).collect();
        let (classes, count, has_meaning) = (header[0], header[1], header[2] == 1);
        let (scales, rest) = rest.split_at_checked(classes * 4)?;
        let (biases, rest) = rest.split_at_checked(classes * 4)?;
        let (meaning, rest) =
            rest.split_at_checked(if has_meaning { classes * DIMS * 4 } else { 0 })?;
        let (hashes, rows) = rest.split_at_checked(count * 4)?;
        if rows.len() != count * classes {
            return None;
        }
        let hashes: Vec<u32> = hashes.chunks_exact(4).map(number).collect();
        let starts = (0..=1_u32 << BITS)
            .map(|high| {
                hashes.partition_point(|hash| u64::from(*hash) < u64::from(high) << (32 - BITS))
            })
            .map(|at| at as u32)
            .collect();
        Some(Linear {
            classes,
            scales: floats(scales),
            biases: floats(biases),
            meaning: floats(meaning),
            hashes,
            rows,
            starts,
        })
    }

    /// Whether it wants the meaning of a text.
    pub fn wants_meaning(&self) -> bool {
        !self.meaning.is_empty()
    }

    /// How likely each class is.
    pub fn judge(&self, signs: &Signs, meaning: Option<&[f32]>) -> Vec<f32> {
        let mut sums = vec![0f32; self.classes];
        for (hash, weight) in &signs.list {
            if let Some(row) = self.row(*hash) {
                for (sum, value) in sums.iter_mut().zip(row) {
                    *sum += weight * f32::from(value.cast_signed());
                }
            }
        }
        for (class, sum) in sums.iter_mut().enumerate() {
            *sum = *sum * self.scales[class] + self.biases[class];
        }
        if let Some(meaning) = meaning.filter(|_| self.wants_meaning()) {
            for (sum, row) in sums.iter_mut().zip(self.meaning.chunks_exact(DIMS)) {
                *sum += row.iter().zip(meaning).map(|(one, other)| one * other).sum::<f32>();
            }
        }
        softmax(sums)
    }

    fn row(&self, hash: u32) -> Option<&[u8]> {
        let high = (hash >> (32 - BITS)) as usize;
        let (start, end) = (self.starts[high] as usize, self.starts[high + 1] as usize);
        let at = start + self.hashes[start..end].iter().position(|known| *known == hash)?;
        self.rows.get(at * self.classes..(at + 1) * self.classes)
    }
}

fn number(four: &[u8]) -> u32 {
    four.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_bits(number(four))).collect()
}

fn softmax(mut sums: Vec<f32>) -> Vec<f32> {
    let most = sums.iter().copied().fold(f32::MIN, f32::max);
    sums.iter_mut().for_each(|sum| *sum = (*sum - most).exp());
    let all: f32 = sums.iter().sum();
    sums.iter_mut().for_each(|sum| *sum /= all.max(1e-9));
    sums
}
