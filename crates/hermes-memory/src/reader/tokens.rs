//! The words and marks of a text as the reader compares them.

use super::signs::hash;
use super::words::{self, Word};

/// A word or a punctuation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The word in lower case; numbers and addresses by their sort.
    pub word: u32,
    /// The same, but every name is the same name.
    pub class: u32,
    /// A function word stays itself, any other is the same gap.
    pub frame: u32,
    /// The first letters of a long word.
    pub stem: Option<u32>,
    /// The last letters of a long word.
    pub ending: Option<u32>,
    /// Whether it is a word that only joins others.
    pub is_small: bool,
    /// Whether it is a name by its looks.
    pub is_name: bool,
    /// Whether it is a courtesy with which sentences begin.
    pub is_courtesy: bool,
    /// Whether it is a mark and no word.
    pub is_mark: bool,
}

#[rustfmt::skip]
const SMALL: &[&str] = &[
    "'s", "a", "always", "am", "an", "and", "are", "as", "at", "but", "by", "do", "does", "for", "from", "he", "her",
    "his", "i", "if", "in", "is", "it", "me", "my", "never", "not", "now", "of", "on", "or", "our", "please", "she",
    "that", "the", "their", "they", "this", "to", "us", "was", "we", "when", "with", "you", "your",
];

#[rustfmt::skip]
const COURTESIES: &[&str] = &[
    "alright", "also", "and", "anyway", "btw", "can", "could", "hello", "hey", "hi", "just", "kindly", "morning", "now",
    "oh", "ok", "okay", "please", "pls", "quick", "right", "so", "thanks", "then", "thx", "u", "uh", "um", "well",
    "will", "would", "yo", "you",
];

impl Token {
    /// A word in lower case, with how it was written.
    pub fn of_word(lower: &str, is_capital: bool, starts_sentence: bool) -> Token {
        let shown = sort_of(lower).unwrap_or(lower);
        let word = hash(shown);
        let is_small = SMALL.binary_search(&lower).is_ok();
        let is_plain = lower.chars().all(char::is_alphabetic);
        let is_name = is_capital && !starts_sentence && lower != "i" && is_plain;
        let letters = lower.chars().count();
        let long = |least: usize| is_plain && letters > least;
        let stem_end = lower.char_indices().nth(4).map_or(lower.len(), |(at, _)| at);
        let ending_start =
            lower.char_indices().nth(letters.saturating_sub(3)).map_or(0, |(at, _)| at);
        Token {
            word,
            class: if is_name { hash("<name>") } else { word },
            frame: if is_small || !is_plain { word } else { hash("<gap>") },
            stem: long(4).then(|| hash(&lower[..stem_end])),
            ending: long(4).then(|| hash(&lower[ending_start..])),
            is_small,
            is_name,
            is_courtesy: COURTESIES.binary_search(&lower).is_ok(),
            is_mark: false,
        }
    }

    /// A punctuation mark.
    pub fn of_mark(mark: &str) -> Token {
        let word = hash(mark);
        Token {
            word,
            class: word,
            frame: word,
            stem: None,
            ending: None,
            is_small: false,
            is_name: false,
            is_courtesy: false,
            is_mark: true,
        }
    }
}

/// What stands for a number, an address or a handle.
fn sort_of(lower: &str) -> Option<&'static str> {
    let digits = lower.chars().filter(char::is_ascii_digit).count();
    if digits == lower.len() {
        return Some(["<0>", "<1>", "<2>", "<3>", "<4>", "<5>"][digits.min(5)]);
    }
    if digits > 0 && lower.chars().all(|c| c.is_ascii_digit() || ".,:/-".contains(c)) {
        return Some("<number>");
    }
    if lower.starts_with('@') {
        return Some("<handle>");
    }
    (lower.contains('@') && lower.contains('.')).then_some("<address>")
}

/// The words and marks of a text.
pub(crate) fn of_text(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut starts = true;
    for word in words::words(text, 0) {
        tokens.push(Token::of_word(&word.lower, word.is_capital, starts));
        tokens.extend(marks(&word));
        let rest = &text[word.place.end..];
        starts = rest.starts_with(['.', '!', '?', ':', '\n']);
        if rest.starts_with(['.', '!']) {
            tokens.push(Token::of_mark("."));
        }
    }
    tokens
}

/// The marks after a word.
pub(crate) fn marks(word: &Word) -> impl Iterator<Item = Token> {
    let after = word.after;
    [
        (after.comma, ","),
        (after.colon, ":"),
        (after.semicolon, ";"),
        (after.dash, "-"),
        (after.bracket, ")"),
        (after.question, "?"),
    ]
    .into_iter()
    .filter(|(is, _)| *is)
    .map(|(_, mark)| Token::of_mark(mark))
}

/// The words of a run of tokens.
pub fn hashes(tokens: &[Token]) -> Vec<u32> {
    tokens.iter().map(|token| token.word).collect()
}

/// The tokens after the courtesies at the beginning.
pub fn without_courtesies(tokens: &[Token]) -> &[Token] {
    let start = tokens.iter().take_while(|token| token.is_courtesy || token.is_mark).count();
    &tokens[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(SMALL.is_sorted() && COURTESIES.is_sorted());
    }

    #[test]
    fn names_numbers_and_addresses_are_compared_by_their_sort() {
        let class = |word: &str| {
            Token::of_word(&word.to_lowercase(), word.starts_with(char::is_uppercase), false).class
        };
        assert_eq!(class("Porto"), class("Lyon"));
        assert_ne!(class("porto"), class("lyon"));
        assert_eq!(class("31"), class("42"));
        assert_eq!(class("a@b.example"), class("c@d.example"));
    }
}
