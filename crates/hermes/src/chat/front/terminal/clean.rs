//! Text of a model or a tool as it may go to a terminal: nothing in it drives the terminal or hides words.
//!
//! One character becomes one mark or stays as it is, so a text may be cleaned piece by piece.

use hermes_memory::remember::is_hidden;

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

/// Characters that turn the direction of others, and tags that no font shows.
fn is_turning(c: char) -> bool {
    matches!(
        c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// ESC is shown as ␛; what has no picture of its own by its number.
fn mark(c: char) -> String {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}').to_string(),
        0x7f => '\u{2421}'.to_string(),
        code => format!("<U+{code:04X}>"),
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
        fn pieces_are_cleaned_as_the_whole(first in any::<String>(), second in any::<String>()) {
            prop_assert_eq!(clean(&first) + &clean(&second), clean(&(first + &second)));
        }
    }
}
