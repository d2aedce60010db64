//! WordPiece: cuts a text into the tokens of the embedded model, as the uncased BERT tokenizer does.

use crate::table::{Class, LONGEST_PIECE, Table, hash_start, hash_step};
use unicode_normalization::UnicodeNormalization;

/// A longer word has no meaning the model could know.
const LONGEST_WORD: usize = 100;

const SPECIAL: [&str; 2] = ["[PAD]", "[UNK]"];

/// Appends the tokens of a text; what the model does not know is left out.
pub(crate) fn tokenize(table: &Table, text: &str, tokens: &mut Vec<u16>) {
    let mut words = Words { table, tokens, letters: [0; LONGEST_WORD * 4], length: 0, count: 0 };
    let mut rest = text;
    while let Some((at, name)) = next_special(rest) {
        words.add_text(&rest[..at]);
        if name == SPECIAL[0] {
            words.tokens.push(table.padding);
        }
        rest = &rest[at + name.len()..];
    }
    words.add_text(rest);
}

/// Where the reference sees a special token in raw text.
fn next_special(text: &str) -> Option<(usize, &'static str)> {
    if !text.as_bytes().contains(&b'[') {
        return None;
    }
    SPECIAL.iter().filter_map(|name| text.find(name).map(|at| (at, *name))).min()
}

/// The word that is being read, in lower case, and where its tokens go.
struct Words<'a> {
    table: &'a Table,
    tokens: &'a mut Vec<u16>,
    letters: [u8; LONGEST_WORD * 4],
    length: usize,
    count: usize,
}

impl Words<'_> {
    fn add_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii() {
                self.add_ascii(bytes[at]);
                at += 1;
                continue;
            }
            let run = bytes[at..].iter().take_while(|byte| !byte.is_ascii()).count();
            self.add_foreign(&text[at..at + run]);
            at += run;
        }
        self.end_word();
    }

    fn add_ascii(&mut self, byte: u8) {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => self.push(&[byte]),
            b'A'..=b'Z' => self.push(&[byte.to_ascii_lowercase()]),
            b' ' | b'\t' | b'\n' | b'\r' => self.end_word(),
            0..=0x1f | 0x7f => {}
            _ => self.add_alone(&[byte]),
        }
    }

    /// Characters beyond ASCII: clean, space out CJK, decompose, drop the marks, lower the case.
    fn add_foreign(&mut self, run: &str) {
        let table = self.table;
        let cleaned = run.chars().filter(|c| table.class(*c) != Class::Removed);
        let spaced = cleaned.flat_map(|c| {
            let around = is_ideograph(c).then_some(' ');
            [around, Some(c), around].into_iter().flatten()
        });
        let decomposed = spaced.nfd().filter(|c| c.is_ascii() || table.class(*c) != Class::Mark);
        for c in decomposed.flat_map(char::to_lowercase) {
            self.add_character(c);
        }
    }

    fn add_character(&mut self, c: char) {
        if c.is_ascii() {
            return self.add_ascii(c as u8);
        }
        let mut bytes = [0; 4];
        let letters = c.encode_utf8(&mut bytes).as_bytes();
        if c.is_whitespace() {
            self.end_word();
        } else if self.table.class(c) == Class::Punctuation {
            self.add_alone(letters);
        } else {
            self.push(letters);
        }
    }

    fn add_alone(&mut self, letters: &[u8]) {
        self.end_word();
        self.push(letters);
        self.end_word();
    }

    /// One character more; what comes after the longest word is only counted.
    fn push(&mut self, letters: &[u8]) {
        self.count += 1;
        if self.count <= LONGEST_WORD {
            self.letters[self.length..self.length + letters.len()].copy_from_slice(letters);
            self.length += letters.len();
        }
    }

    fn end_word(&mut self) {
        if self.count > 0 && self.count <= LONGEST_WORD {
            self.add_pieces();
        }
        self.count = 0;
        self.length = 0;
    }

    /// The longest piece first, then the longest that continues; all or nothing.
    fn add_pieces(&mut self) {
        let before = self.tokens.len();
        let mut rest = &self.letters[..self.length];
        let mut continues = false;
        while !rest.is_empty() {
            let Some((token, length)) = longest_piece(self.table, rest, continues) else {
                return self.tokens.truncate(before);
            };
            if token != self.table.unknown {
                self.tokens.push(token);
            }
            rest = &rest[length..];
            continues = true;
        }
    }
}

/// The longest piece the letters begin with, and its length in bytes.
fn longest_piece(table: &Table, letters: &[u8], continues: bool) -> Option<(u16, usize)> {
    let reach = letters.len().min(table.longest);
    let mut hashes = [0; LONGEST_PIECE];
    let mut hash = hash_start(continues);
    for (slot, letter) in hashes.iter_mut().zip(&letters[..reach]) {
        hash = hash_step(hash, *letter);
        *slot = hash;
    }
    (1..=reach)
        .rev()
        .filter(|length| letters.get(*length).is_none_or(|next| next & 0xc0 != 0x80))
        .find_map(|length| {
            let token = table.find(&letters[..length], continues, hashes[length - 1])?;
            Some((token, length))
        })
}

/// The blocks of Chinese characters the reference sets apart.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}
