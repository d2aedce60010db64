//! Text of a model or a tool as it may go to a terminal: nothing in it drives the terminal or hides words.
//!
//! One character becomes one mark or stays as it is, so a text may be cleaned piece by piece.

use hermes_app::text;
use hermes_memory::remember::is_hidden;

use hermes_app::text::is_turning;

/// The text with a visible mark in the place of every character that a terminal would obey.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => cleaned.push(c),
            // A line end of Windows; alone it would only let words be written over others.
            '\r' => {}
            c if c.is_control() || is_turning(c) => cleaned.push_str(&mark(c)),
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// The same, and marks for all that cannot be seen: for what a person is asked to agree to.
pub(crate) fn exact(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() || is_turning(c) || is_hidden(c) => shown.push_str(&mark(c)),
            c => shown.push(c),
        }
    }
    shown
}

/// What a command of ours printed: its colours stay, and nothing else that a terminal would obey.
pub(crate) fn keep_styles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        kept.push_str(&clean(&rest[..at]));
        let sequence = &rest[at..];
        let length = style_length(sequence).unwrap_or(0);
        kept.push_str(&sequence[..length]);
        let after = if length == 0 { 1 } else { length };
        if length == 0 {
            kept.push_str(&mark('\u{1b}'));
        }
        rest = &sequence[after..];
    }
    kept + &clean(rest)
}

/// How long the sequence is that a text begins with, if it sets a style: ESC, `[`, numbers, `m`.
fn style_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(end + 3)
}

/// ESC is shown as ␛; what has no picture of its own by its number.
fn mark(c: char) -> String {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}').to_string(),
        0x7f => '\u{2421}'.to_string(),
        _ => text::mark(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_are_shown_and_not_obeyed() {
        assert_eq!(clean("a\u{1b}[31mred\u{7}"), "a␛[31mred␇");
        assert_eq!(clean("\u{9b}2J\u{7f}"), "<U+009B>2J␡");
        assert_eq!(clean("one\r\ntwo\tthree\rfour"), "one\ntwo\tthreefour");
        assert_eq!(clean("abc\u{202e}fed\u{2066}"), "abc<U+202E>fed<U+2066>");
        assert_eq!(clean("naïve 界 👩‍👧"), "naïve 界 👩‍👧");
    }

    #[test]
    fn what_is_agreed_to_hides_nothing() {
        assert_eq!(exact("rm\u{200b} -r\u{e0041}\r\n"), "rm<U+200B> -r<U+E0041>␍\n");
    }

    #[test]
    fn styles_of_our_own_stay_and_nothing_else() {
        let styled = "\u{1b}[1mbold\u{1b}[0m \u{1b}[2J\u{1b}[31";
        assert_eq!(keep_styles(styled), "\u{1b}[1mbold\u{1b}[0m ␛[2J␛[31");
        assert_eq!(keep_styles("a\u{7}\u{202e}"), "a␇<U+202E>");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_control_character_ever_comes_out(text in any::<String>(), sequence in "\u{1b}[\\[\\]PX^_][ -~]{0,8}") {
            for shown in [clean(&text), exact(&text), clean(&format!("{text}{sequence}{text}"))] {
                prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
                prop_assert!(!shown.chars().any(is_turning));
            }
        }

        #[test]
        fn only_styles_are_kept(text in "[\u{1b}\\[0-9;mHJ\u{7}a]{0,20}") {
            for sequence in keep_styles(&text).split('\u{1b}').skip(1) {
                prop_assert!(style_length(&format!("\u{1b}{sequence}")).is_some(), "{:?}", sequence);
            }
        }

        #[test]
        fn pieces_are_cleaned_as_the_whole(first in any::<String>(), second in any::<String>()) {
            prop_assert_eq!(clean(&first) + &clean(&second), clean(&(first + &second)));
        }
    }
}
