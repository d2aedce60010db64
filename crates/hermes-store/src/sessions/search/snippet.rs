//! The part of a text around its matches, with the matches marked.

use std::ops::Range;

/// A piece of a text on one line, and where in it the matches are.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Snippet {
    /// The piece; `…` stands where the text goes on.
    pub text: String,
    /// Where matches begin and end in `text`, as bytes of UTF-8, in order and never overlapping.
    pub marks: Vec<(usize, usize)>,
}

impl Snippet {
    /// The text in pieces, each with whether it is a match.
    pub fn pieces(&self) -> Vec<(&str, bool)> {
        let mut pieces = Vec::new();
        let mut at = 0;
        for (start, end) in &self.marks {
            pieces.push((&self.text[at..*start], false));
            pieces.push((&self.text[*start..*end], true));
            at = *end;
        }
        pieces.push((&self.text[at..], false));
        pieces.retain(|(piece, _)| !piece.is_empty());
        pieces
    }
}

/// Cuts about `width` characters out of the text, where the most matches stand.
///
/// `matches` are byte ranges of the text in rising order; each names the term it is a match of,
/// and a place with many different terms wins.
pub(super) fn cut(text: &str, matches: &[(Range<usize>, usize)], width: usize) -> Snippet {
    let matches: Vec<(Range<usize>, usize)> = matches
        .iter()
        .filter(|(range, _)| text.get(range.clone()).is_some_and(|found| !found.is_empty()))
        .cloned()
        .collect();
    let window = window(text, &matches, width);
    let mut snippet = Snippet::default();
    let is_cut_before = !text[..window.start].trim().is_empty();
    let is_cut_after = !text[window.end..].trim().is_empty();
    if is_cut_before {
        snippet.text.push('…');
    }
    let mut at = window.start;
    for (range, _) in &matches {
        if range.start < at || range.end > window.end {
            continue;
        }
        push_line(&mut snippet.text, &text[at..range.start]);
        let start = snippet.text.len();
        push_line(&mut snippet.text, &text[range.clone()]);
        snippet.marks.push((start, snippet.text.len()));
        at = range.end;
    }
    push_line(&mut snippet.text, &text[at..window.end]);
    snippet.text.truncate(snippet.text.trim_end().len());
    if is_cut_after {
        snippet.text.push('…');
    }
    snippet
}

/// The first `width` characters of a text, with `…` where it was cut.
pub(super) fn shorten(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some((end, _)) => {
            let end = whole_before(text, end);
            format!("{}…", text[..end].trim_end())
        }
    }
}

fn window(text: &str, matches: &[(Range<usize>, usize)], width: usize) -> Range<usize> {
    let Some(first) = matches.get(best_match(text, matches, width)) else {
        let end = text.char_indices().nth(width).map_or(text.len(), |(at, _)| at);
        return 0..whole_before(text, end);
    };
    // A third of the room before the first match, the rest from there on.
    let start = back(text, first.0.start, width / 3);
    let start = word_start(text, start, first.0.start);
    let end = text[start..].char_indices().nth(width).map_or(text.len(), |(at, _)| start + at);
    let end = if end < first.0.end { first.0.end } else { end };
    start..word_end(text, end, first.0.end)
}

/// The match from which the next `width` characters hold the most different terms.
fn best_match(text: &str, matches: &[(Range<usize>, usize)], width: usize) -> usize {
    let reach = width * 2 / 3;
    let mut best = (0, 0, 0);
    for (number, (range, _)) in matches.iter().enumerate().take(400) {
        let end = text[range.start..].char_indices().nth(reach);
        let end = end.map_or(text.len(), |(at, _)| range.start + at);
        let inside = matches[number..].iter().take_while(|(other, _)| other.end <= end);
        let mut terms: Vec<usize> = inside.map(|(_, term)| *term).collect();
        let count = terms.len();
        terms.sort_unstable();
        terms.dedup();
        if (terms.len(), count) > (best.0, best.1) {
            best = (terms.len(), count, number);
        }
    }
    best.2
}

/// The byte that is `count` characters before `from`.
fn back(text: &str, from: usize, count: usize) -> usize {
    text[..from].char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(at, _)| at)
}

/// The start of the next word after `at`, so that no word is cut; `at` if there is none before `limit`.
fn word_start(text: &str, at: usize, limit: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let blank = text[at..limit].char_indices().take(24).find(|(_, c)| c.is_whitespace());
    match blank {
        Some((offset, c)) => at + offset + c.len_utf8(),
        None => whole_before(text, at),
    }
}

/// The end of the last word before `at`; `at` if there is none after `limit`.
fn word_end(text: &str, at: usize, limit: usize) -> usize {
    if at == text.len() {
        return at;
    }
    let blank = text[limit..at].char_indices().rev().take(24).find(|(_, c)| c.is_whitespace());
    match blank {
        Some((offset, _)) => limit + offset,
        None => whole_before(text, at).max(limit),
    }
}

/// The nearest place at or before `at` where no accent or joined sign is torn from its letter.
fn whole_before(text: &str, at: usize) -> usize {
    let mut at = at;
    while let (Some(before), Some(after)) =
        (text[..at].chars().next_back(), text[at..].chars().next())
    {
        if !clings(after) && before != '\u{200d}' {
            break;
        }
        at -= before.len_utf8();
    }
    at
}

/// Whether the character is shown as part of the one before it.
fn clings(c: char) -> bool {
    matches!(u32::from(c),
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f
        | 0x93a..=0x94f | 0xe31..=0xe3a | 0xe47..=0xe4e | 0x1160..=0x11ff | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff | 0x200d | 0x20d0..=0x20ff | 0x3099..=0x309a | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f | 0x1f3fb..=0x1f3ff | 0xe0020..=0xe007f | 0xe0100..=0xe01ef)
}

/// Adds text on one line: every run of blanks and control characters becomes one blank.
fn push_line(line: &mut String, text: &str) {
    for c in text.chars() {
        if !c.is_whitespace() && !c.is_control() {
            line.push(c);
        } else if !line.is_empty() && !line.ends_with([' ', '…']) {
            line.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str, needle: &str, width: usize) -> String {
        let matches: Vec<_> =
            text.match_indices(needle).map(|(at, found)| (at..at + found.len(), 0)).collect();
        let snippet = cut(text, &matches, width);
        let show = |(piece, is_match): (&str, bool)| match is_match {
            true => format!("[{piece}]"),
            false => piece.to_owned(),
        };
        snippet.pieces().into_iter().map(show).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole_with_every_match_marked() {
        assert_eq!(
            marked("Deploy on\n Friday, not on  Monday", "on", 80),
            "Deploy [on] Friday, not [on] M[on]day"
        );
    }

    #[test]
    fn a_long_text_is_cut_at_words_around_the_match() {
        let text = format!("{} the needle is here {}", "hay ".repeat(60), "stack ".repeat(60));
        let shown = marked(&text, "needle", 60);
        assert!(shown.starts_with("…hay ") && shown.ends_with("stack…"), "{shown}");
        assert!(shown.contains("the [needle] is here"), "{shown}");
    }

    #[test]
    fn the_place_with_the_most_different_terms_is_shown() {
        let text = format!("zebra {} zebra met lion", "x ".repeat(200));
        let zebra = text.match_indices("zebra").map(|(at, _)| (at..at + 5, 0));
        let lion = text.match_indices("lion").map(|(at, _)| (at..at + 4, 1));
        let matches: Vec<_> = zebra.chain(lion).collect();
        assert!(cut(&text, &matches, 60).text.contains("zebra met lion"));
    }

    #[test]
    fn without_a_match_the_beginning_is_shown() {
        assert_eq!(cut("one two three four", &[], 9).text, "one two t…");
        assert_eq!(cut("", &[], 9), Snippet::default());
    }

    #[test]
    fn an_accent_or_a_family_is_never_torn_apart() {
        let family = "👨\u{200d}👩\u{200d}👧".repeat(5);
        let family_end = shorten(&family, 7);
        assert_eq!(family_end, "👨\u{200d}👩\u{200d}👧…");
        assert_eq!(shorten("cafe\u{301} au lait", 4), "caf…");
    }

    proptest! {
        #[test]
        fn marks_are_in_order_and_show_what_was_matched(
            text in "[a-c \n\u{301}é部🎉]{0,200}", needle in "[a-cé部]{1,2}", width in 1usize..80
        ) {
            let matches: Vec<_> = text
                .match_indices(&needle)
                .map(|(at, found)| (at..at + found.len(), 0))
                .collect();
            let snippet = cut(&text, &matches, width);
            let mut last = 0;
            for (start, end) in &snippet.marks {
                prop_assert!(*start >= last && end > start);
                prop_assert_eq!(&snippet.text[*start..*end], needle.as_str());
                last = *end;
            }
            prop_assert_eq!(snippet.marks.is_empty(), matches.is_empty());
            prop_assert!(snippet.text.chars().count() <= width + needle.len() + 26);
        }

        #[test]
        fn a_shortened_text_is_a_beginning(text in "\\PC{0,60}", width in 0usize..40) {
            let short = shorten(&text, width);
            prop_assert!(text.starts_with(short.trim_end_matches('…')) || text == short);
            prop_assert!(short.chars().count() <= width + 1);
        }
    }
}
