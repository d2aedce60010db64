//! Styled words on lines of a given width, by what they take on a terminal.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text in one style.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) style: Style,
}

/// What is put on lines: words without white space in them.
#[derive(Debug)]
enum Word {
    /// Pieces that are not parted, and whether white space stands before them.
    Run(Vec<Piece>, bool),
    /// The line ends here.
    Break,
}

impl Piece {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Piece {
        Piece { text: text.into(), style }
    }
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// How many columns pieces take.
pub(super) fn width_of(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| width(&piece.text)).sum()
}

/// The pieces on lines of at most so many columns; only a single character that is wider stands out.
pub(super) fn wrap(pieces: &[Piece], columns: usize) -> Vec<Vec<Piece>> {
    let columns = columns.max(1);
    let mut lines: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut used = 0;
    for word in words(pieces) {
        let Word::Run(run, has_space) = word else {
            lines.push(Vec::new());
            used = 0;
            continue;
        };
        let space = usize::from(has_space && used > 0);
        let needed = width_of(&run);
        if used > 0 && used + space + needed > columns {
            lines.push(Vec::new());
            used = 0;
        } else if space == 1 {
            add(&mut lines, Piece::new(" ", Style::new()));
            used += 1;
        }
        if needed <= columns {
            used += needed;
            run.into_iter().for_each(|piece| add(&mut lines, piece));
        } else {
            used = split(&mut lines, &run, columns);
        }
    }
    lines
}

/// A word that is longer than a line is parted where the line ends.
fn split(lines: &mut Vec<Vec<Piece>>, run: &[Piece], columns: usize) -> usize {
    let mut used = 0;
    for piece in run {
        for c in piece.text.chars() {
            let needed = c.width().unwrap_or(0);
            if used > 0 && used + needed > columns {
                lines.push(Vec::new());
                used = 0;
            }
            used += needed;
            add(lines, Piece::new(c, piece.style));
        }
    }
    used
}

/// Adds to the last line; pieces of one style become one.
fn add(lines: &mut [Vec<Piece>], piece: Piece) {
    let Some(line) = lines.last_mut() else { return };
    match line.last_mut() {
        Some(last) if last.style == piece.style => last.text.push_str(&piece.text),
        _ => line.push(piece),
    }
}

fn words(pieces: &[Piece]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut run: Vec<Piece> = Vec::new();
    let mut has_space = false;
    for piece in pieces {
        for c in piece.text.chars() {
            if c == '\n' {
                end(&mut words, &mut run, &mut has_space);
                words.push(Word::Break);
                has_space = false;
                continue;
            }
            if c.is_whitespace() && c != '\u{a0}' {
                end(&mut words, &mut run, &mut has_space);
                has_space = true;
                continue;
            }
            // Between wide characters a line may end anywhere.
            let is_joined = run.last().is_some_and(|last| last.text.ends_with('\u{200d}'));
            if c.width() == Some(2) && !is_joined {
                end(&mut words, &mut run, &mut has_space);
            }
            match run.last_mut() {
                Some(last) if last.style == piece.style => last.text.push(c),
                _ => run.push(Piece::new(c, piece.style)),
            }
        }
    }
    end(&mut words, &mut run, &mut has_space);
    words
}

fn end(words: &mut Vec<Word>, run: &mut Vec<Piece>, has_space: &mut bool) {
    if !run.is_empty() {
        words.push(Word::Run(std::mem::take(run), *has_space));
        *has_space = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        let wrapped = wrap(&[Piece::new(text, Style::new())], columns);
        wrapped.iter().map(|line| line.iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn words_go_on_lines_by_the_columns_they_take() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(lines("界界界界", 5), ["界界", "界界"]);
        assert_eq!(lines("a\nb", 10), ["a", "b"]);
        assert_eq!(lines("", 10), [""]);
    }

    #[test]
    fn a_style_may_change_inside_a_word() {
        let bold = Style::new().bold();
        let pieces =
            [Piece::new("a", Style::new()), Piece::new("b", bold), Piece::new("c d", Style::new())];
        let wrapped = wrap(&pieces, 3);
        assert_eq!(wrapped.len(), 2);
        assert_eq!(wrapped[0].len(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_line_is_wider_and_no_word_is_lost(text in "[a-z界é \n]{0,80}", columns in 2usize..40) {
            let wrapped = lines(&text, columns);
            prop_assert!(wrapped.iter().all(|line| width(line) <= columns));
            let without = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(without(&wrapped.concat()), without(&text));
        }
    }
}
