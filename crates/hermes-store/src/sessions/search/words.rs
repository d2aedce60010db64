//! Splits text into words exactly as the full-text index (FTS5, unicode61) does.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::word_tables::{BARE_LETTERS, ODD_FOLDS, UNFOLDED, WORD_CHARACTERS};

/// The words of one text; kept between texts, so that reading many costs no allocation.
#[derive(Debug, Default)]
pub(super) struct Words {
    folded: String,
    spans: Vec<Span>,
}

/// Where a word stands in the text, and in the folded copy.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    folded_end: usize,
}

impl Words {
    /// Reads a text, forgetting the one before.
    pub(super) fn read(&mut self, text: &str) {
        self.folded.clear();
        self.spans.clear();
        let mut start = None;
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if is_ascii_word(byte) {
                let run = bytes[at..].iter().position(|byte| !is_ascii_word(*byte));
                let end = run.map_or(bytes.len(), |length| at + length);
                start.get_or_insert(at);
                let from = self.folded.len();
                self.folded.push_str(&text[at..end]);
                self.folded[from..].make_ascii_lowercase();
                at = end;
            } else if byte < 0x80 {
                self.close(&mut start, at);
                at += 1;
            } else {
                let c = text[at..].chars().next().unwrap_or(' ');
                self.read_wide(c, &mut start, at);
                at += c.len_utf8();
            }
        }
        self.close(&mut start, text.len());
    }

    fn read_wide(&mut self, c: char, start: &mut Option<usize>, at: usize) {
        if is_word_character(c) {
            start.get_or_insert(at);
            self.folded.push(fold(c));
        } else if start.is_none() || !is_dropped_mark(c) {
            self.close(start, at);
        }
    }

    fn close(&mut self, start: &mut Option<usize>, end: usize) {
        if let Some(start) = start.take() {
            self.spans.push(Span { start, end, folded_end: self.folded.len() });
        }
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The folded word number `index`; empty beyond the last.
    pub(super) fn word(&self, index: usize) -> &str {
        let Some(span) = self.spans.get(index) else { return "" };
        let from = if index == 0 { 0 } else { self.spans[index - 1].folded_end };
        &self.folded[from..span.folded_end]
    }

    /// Where word number `index` begins and ends in the text, in bytes.
    pub(super) fn place(&self, index: usize) -> (usize, usize) {
        self.spans.get(index).map_or((0, 0), |span| (span.start, span.end))
    }

    /// The number of the word at or after a byte of the text.
    pub(super) fn index_at(&self, byte: usize) -> usize {
        self.spans.partition_point(|span| span.end <= byte)
    }
}

/// The folded words of a text.
pub(in crate::sessions) fn split(text: &str) -> Vec<String> {
    let mut words = Words::default();
    words.read(text);
    (0..words.len()).map(|index| words.word(index).to_owned()).collect()
}

/// Whether the character belongs to a script that is written without blanks between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035
        | 0x3040..=0x30fa | 0x30fc..=0x318f | 0x31a0..=0x31bf | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff
        | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x1b000..=0x1b16f | 0x20000..=0x3ffff)
}

/// Whether the character is part of a word.
pub(super) fn is_word_character(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte < 0x80 => is_ascii_word(byte),
        _ => within(WORD_CHARACTERS, c),
    }
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn within(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|(first, _)| *first <= code);
    after > 0 && code <= ranges[after - 1].1
}

/// The combining marks that may stand inside a word and are left out of it.
fn is_dropped_mark(c: char) -> bool {
    matches!(u32::from(c),
        0x300..=0x304 | 0x306..=0x30c | 0x30f | 0x311 | 0x31b | 0x323..=0x328
        | 0x32d | 0x32e | 0x330 | 0x331)
}

fn fold(c: char) -> char {
    static FOLDS: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let bare = BARE_LETTERS.iter().flat_map(|(to, from)| from.chars().map(|from| (from, *to)));
        bare.chain(ODD_FOLDS.iter().copied()).collect()
    });
    if let Some(folded) = FOLDS.get(&c) {
        return *folded;
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) if !within(UNFOLDED, c) => lower,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    const INDEX: &str = "
        create virtual table text using fts5 (content);
        create virtual table words using fts5vocab (text, instance);";

    /// What FTS5 itself makes of the texts, each as its list of words.
    fn split_by_fts5(texts: &[String]) -> Vec<Vec<String>> {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(INDEX).unwrap();
        db.execute_batch("begin").unwrap();
        let mut insert = db.prepare("insert into text (rowid, content) values (?1, ?2)").unwrap();
        for (row, text) in (0_i64..).zip(texts) {
            insert.execute((row, text)).unwrap();
        }
        let mut split = vec![Vec::new(); texts.len()];
        let mut select = db.prepare("select doc, term from words order by doc, offset").unwrap();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            split[row.get::<_, isize>(0).unwrap() as usize].push(row.get(1).unwrap());
        }
        split
    }

    #[test]
    fn every_character_is_read_as_the_index_reads_it() {
        let all: Vec<char> = ('\u{1}'..=char::MAX).collect();
        let text = |some: &[char]| some.iter().map(|c| format!("{c} a{c}b ")).collect::<String>();
        let texts: Vec<String> = all.chunks(64).map(text).collect();
        for (text, expected) in texts.iter().zip(split_by_fts5(&texts)) {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    #[test]
    fn words_are_lower_case_without_marks() {
        assert_eq!(
            split("Ärger über state.db, don't!"),
            ["arger", "uber", "state", "db", "don", "t"]
        );
        assert_eq!(split("e\u{301}te\u{301} 部署Docker 🎉"), ["ete", "部署docker"]);
    }

    #[test]
    fn places_point_into_the_text() {
        let mut words = Words::default();
        let text = "— Über\u{0}uns";
        words.read(text);
        let (start, end) = words.place(0);
        assert_eq!(&text[start..end], "Über");
        assert_eq!(words.word(1), "uns");
        assert_eq!(words.index_at(end), 1);
        assert_eq!(words.word(2), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_text_is_split_as_the_index_splits_it(texts in prop::collection::vec(".{0,60}", 20)) {
            let split_here: Vec<Vec<String>> = texts.iter().map(|text| split(text)).collect();
            prop_assert_eq!(split_here, split_by_fts5(&texts));
        }
    }
}
