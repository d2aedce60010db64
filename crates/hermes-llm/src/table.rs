//! The file of the embedded model, read in place: every part is found when the program is compiled.

use crate::kernel::{DIMS, Row, signed};

/// The most bytes a piece may have; the file says how many its longest has.
pub(crate) const LONGEST_PIECE: usize = 32;

const MAGIC: &[u8; 8] = b"HERMSTAT";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const EMPTY: u16 = u16::MAX;
const CONTINUES: u32 = 1 << 31;
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_CONTINUES: u64 = 0x9e37_79b9_7f4a_7c15;
const HASH_STEP: u64 = 0x0100_0000_01b3;

/// What the tokenizer does with a character beyond ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Part of a word, or white space.
    Plain,
    /// Removed before anything else.
    Removed,
    /// Removed after the decomposition.
    Mark,
    /// A word of its own.
    Punctuation,
}

/// The parts of the file.
pub(crate) struct Table {
    pub(crate) rows: &'static [Row],
    pub(crate) unknown: u16,
    pub(crate) padding: u16,
    pub(crate) longest: usize,
    factors: &'static [[u8; 8]],
    slots: &'static [[u8; 4]],
    offsets: &'static [[u8; 4]],
    ranges: &'static [[u8; 8]],
    text: &'static str,
}

impl Table {
    /// Takes the file apart; a wrong file stops the compiler, as this runs only there.
    pub(crate) const fn parse(file: &'static [u8]) -> Table {
        let (header, rest) = file.split_at(HEADER);
        assert!(same(header, MAGIC) && field(header, 0) == VERSION, "not a model of this version");
        assert!(field(header, 1) as usize == DIMS, "the model has another width");
        let count = field(header, 2) as usize;
        assert!(count < EMPTY as usize, "token numbers must fit in 16 bits");
        let longest = field(header, 6) as usize;
        assert!(longest <= LONGEST_PIECE, "a piece is longer than the tokenizer looks");
        let (rows, rest) = rest.split_at(count * DIMS);
        let (factors, rest) = rest.split_at(count * 8);
        let (slots, rest) = rest.split_at(4 << field(header, 3));
        let (offsets, rest) = rest.split_at((count + 1) * 4);
        let (ranges, text) = rest.split_at(field(header, 4) as usize * 8);
        assert!(text.len() == field(header, 5) as usize, "the model is cut or too long");
        let special = field(header, 7);
        Table {
            rows: signed(rows.as_chunks::<DIMS>().0),
            unknown: (special >> 16) as u16,
            padding: special as u16,
            longest,
            factors: factors.as_chunks().0,
            slots: slots.as_chunks().0,
            offsets: offsets.as_chunks().0,
            ranges: ranges.as_chunks().0,
            text: match std::str::from_utf8(text) {
                Ok(text) => text,
                Err(_) => panic!("the vocabulary is not UTF-8"),
            },
        }
    }

    /// What turns the row of a token into its vector.
    pub(crate) fn scale(&self, token: usize) -> f32 {
        let [a, b, c, d, ..] = self.factors[token];
        f32::from_le_bytes([a, b, c, d])
    }

    /// One divided by the length of the row of a token.
    pub(crate) fn inverse_length(&self, token: usize) -> f32 {
        let [.., a, b, c, d] = self.factors[token];
        f32::from_le_bytes([a, b, c, d])
    }

    /// The letters of a token, and whether it continues a word.
    pub(crate) fn piece(&self, token: usize) -> (&'static str, bool) {
        let start = u32::from_le_bytes(self.offsets[token]);
        let end = u32::from_le_bytes(self.offsets[token + 1]) & !CONTINUES;
        let letters = (start & !CONTINUES) as usize..end as usize;
        (&self.text[letters], start & CONTINUES != 0)
    }

    /// The token of these letters, whose hash is known already.
    pub(crate) fn find(&self, letters: &[u8], continues: bool, hash: u64) -> Option<u16> {
        let mixed = hash ^ (hash >> 32);
        let tag = (mixed >> 16) as u16;
        let mask = self.slots.len() - 1;
        let mut slot = mixed as usize & mask;
        loop {
            let [a, b, c, d] = self.slots[slot];
            let token = u16::from_le_bytes([c, d]);
            if token == EMPTY {
                return None;
            }
            if tag == u16::from_le_bytes([a, b]) {
                let (piece, is_rest) = self.piece(token as usize);
                if is_rest == continues && piece.as_bytes() == letters {
                    return Some(token);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The class of a character beyond ASCII.
    pub(crate) fn class(&self, character: char) -> Class {
        let code = u32::from(character);
        let after = self.ranges.partition_point(|range| range_start(range) <= code);
        let Some(range) = after.checked_sub(1).map(|index| &self.ranges[index]) else {
            return Class::Plain;
        };
        let [.., a, b, c, kind] = *range;
        match (code <= u32::from_le_bytes([a, b, c, 0]), kind) {
            (true, 1) => Class::Removed,
            (true, 2) => Class::Mark,
            (true, 3) => Class::Punctuation,
            _ => Class::Plain,
        }
    }
}

/// The hash before the first letter.
pub(crate) fn hash_start(continues: bool) -> u64 {
    if continues { HASH_START ^ HASH_CONTINUES } else { HASH_START }
}

/// The hash after one letter more.
pub(crate) fn hash_step(hash: u64, letter: u8) -> u64 {
    (hash ^ u64::from(letter)).wrapping_mul(HASH_STEP)
}

fn range_start(range: &[u8; 8]) -> u32 {
    let [a, b, c, d, ..] = *range;
    u32::from_le_bytes([a, b, c, d])
}

const fn field(header: &[u8], index: usize) -> u32 {
    let at = MAGIC.len() + index * 4;
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

const fn same(header: &[u8], magic: &[u8; 8]) -> bool {
    let mut index = 0;
    while index < magic.len() {
        if header[index] != magic[index] {
            return false;
        }
        index += 1;
    }
    true
}
