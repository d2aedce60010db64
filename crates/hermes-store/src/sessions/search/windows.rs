//! Takes a long text piece by piece, so that reading it costs little memory.

/// Bytes of a piece after the first.
pub(super) const WINDOW: usize = 256 * 1024;
/// Bytes in which a blank is looked for to cut at, and that two pieces share.
const SEAM: usize = 1024;
/// Bytes of the smallest piece.
const LEAST_WINDOW: usize = 4 * SEAM;

/// Pieces of one text, each with where it begins; what stands at a seam is whole in one of them.
#[derive(Debug, Clone)]
pub(super) struct Windows<'text> {
    text: &'text str,
    at: usize,
    size: usize,
}

/// The text in pieces, the first of about `first` bytes.
pub(super) fn windows(text: &str, first: usize) -> Windows<'_> {
    Windows { text, at: 0, size: first.max(LEAST_WINDOW) }
}

impl<'text> Iterator for Windows<'text> {
    type Item = (usize, &'text str);

    fn next(&mut self) -> Option<(usize, &'text str)> {
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at;
        let end = end_before(self.text, start.saturating_add(self.size));
        self.at = if end == self.text.len() { end } else { start_before(self.text, end) };
        self.size = WINDOW;
        Some((start, &self.text[start..end]))
    }
}

/// The last blank before `limit`, or `limit` itself where there is none near.
fn end_before(text: &str, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let limit = text.floor_char_boundary(limit);
    let from = limit - SEAM;
    let blank = text.as_bytes()[from..limit].iter().rposition(u8::is_ascii_whitespace);
    blank.map_or(limit, |at| from + at)
}

/// The first blank in the last bytes before `end`, or where those begin.
fn start_before(text: &str, end: usize) -> usize {
    let from = text.ceil_char_boundary(end - SEAM);
    let blank = text.as_bytes()[from..end].iter().position(u8::is_ascii_whitespace);
    blank.map_or(from, |at| from + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_one_piece_and_an_empty_one_none() {
        assert_eq!(windows("zebra", 1).collect::<Vec<_>>(), [(0, "zebra")]);
        assert_eq!(windows("", 1).count(), 0);
    }

    #[test]
    fn a_word_at_a_seam_is_whole_in_one_piece_and_never_shortened() {
        for shift in 0..12 {
            let text = format!("{} zebrafish {}", "x".repeat(4 * SEAM - shift), "hay ".repeat(999));
            let words = windows(&text, 0).flat_map(|(_, piece)| piece.split_whitespace());
            let fish: Vec<&str> = words.filter(|word| word.starts_with("zebra")).collect();
            assert!(!fish.is_empty() && fish.iter().all(|word| *word == "zebrafish"), "{fish:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_cover_the_text_in_order(
            parts in prop::collection::vec("[a-c]{0,900}|[ é部]{1,900}", 0..40), first in 0usize..9000
        ) {
            let text = parts.concat();
            let mut covered = 0;
            for (start, piece) in windows(&text, first) {
                prop_assert!(start <= covered && start + piece.len() > covered);
                prop_assert_eq!(&text[start..start + piece.len()], piece);
                covered = start + piece.len();
            }
            prop_assert_eq!(covered, text.len());
        }
    }
}
