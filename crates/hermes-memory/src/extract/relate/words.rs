//! The words of a fact as they are compared with those of another.

use std::sync::OnceLock;

use hermes_llm::EmbeddedModel;

use super::lists::{
    ALSO, CHANGES, ENDINGS, KNOWN, MAY_CHANGE, NO, OPPOSITES, OTHER_NO, is_empty_word,
};
use crate::reader::signs::hash;

/// What is seen of a statement, worked out once and compared often.
#[derive(Debug)]
pub struct Words {
    pub(super) all: Vec<String>,
    /// The words between spaces, with one at each end.
    pub(super) joined: String,
    /// The words as hashes, every number as the same one.
    pub(super) tokens: Vec<u32>,
    /// The stem of each word.
    pub(super) stems: Vec<u32>,
    /// The stems that say something, in order.
    pub(super) content: Vec<u32>,
    /// What is written with a capital inside the statement, in order.
    pub(super) names: Vec<u32>,
    /// Numbers, versions and days, in order.
    pub(super) numbers: Vec<u32>,
    pub(super) notes: Notes,
    meaning: OnceLock<Vec<f32>>,
}

/// What the words of a statement say by themselves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Notes {
    pub(super) changes: bool,
    pub(super) may_change: bool,
    pub(super) adds: bool,
    pub(super) repeats: bool,
    pub(super) negates: bool,
    pub(super) says_no: bool,
    pub(super) ends: bool,
    /// Which pairs of opposites it has the first of, and the second, as bits.
    pub(super) opposites: (u32, u32),
}

impl Words {
    /// Takes a statement apart.
    pub fn of(text: &str) -> Words {
        let plain = text.replace('’', "'");
        let written: Vec<&str> = split(&plain).collect();
        let all: Vec<String> = written.iter().map(|word| word.to_lowercase()).collect();
        let stems: Vec<u32> = all.iter().map(|word| hash(&stem(word))).collect();
        let says =
            |word: &str| word.chars().count() > 2 && !is_number(word) && !is_empty_word(word);
        let of = |is: &dyn Fn(usize) -> bool| {
            sorted((0..all.len()).filter(|at| is(*at)).map(|at| stems[at]).collect())
        };
        let content = of(&|at| says(&all[at]));
        let names = of(&|at| at > 0 && written[at].starts_with(char::is_uppercase));
        let numbers = of(&|at| all[at].contains(|c: char| c.is_ascii_digit()));
        let joined = format!(" {} ", all.join(" "));
        let tokens =
            all.iter().map(|word| hash(if is_number(word) { "#" } else { word })).collect();
        let notes = Notes::of(&joined, &all);
        let meaning = OnceLock::new();
        Words { all, joined, tokens, stems, content, names, numbers, notes, meaning }
    }

    /// The day that a deadline names.
    pub(super) fn day(&self) -> Option<&str> {
        self.all.iter().map(String::as_str).find(|word| is_day(word))
    }

    /// What the whole statement means.
    pub(super) fn meaning(&self) -> &[f32] {
        self.meaning.get_or_init(|| EmbeddedModel::get().embed(&self.joined))
    }
}

impl Notes {
    fn of(joined: &str, all: &[String]) -> Notes {
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| contains(joined, phrase));
        let mut opposites = (0, 0);
        for (at, (one, other)) in OPPOSITES.iter().enumerate() {
            opposites.0 |= u32::from(has(one)) << at;
            opposites.1 |= u32::from(has(other)) << at;
        }
        Notes {
            changes: has(CHANGES),
            may_change: has(MAY_CHANGE),
            adds: has(ALSO),
            repeats: has(KNOWN),
            negates: has(NO) || has(OTHER_NO) || all.iter().any(|word| word.ends_with("n't")),
            says_no: has(NO),
            ends: has(ENDINGS),
            opposites,
        }
    }
}

/// The words of a text without the marks around them.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    let is_cut =
        |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '\'' | ':' | ','));
    let trim = |c: char| matches!(c, '.' | ',' | ':' | '\'' | '-');
    text.split(is_cut)
        .map(move |word| word.trim_matches(trim).trim_end_matches("'s"))
        .filter(|word| !word.is_empty())
}

/// How many two ordered lists have in common.
pub(super) fn shared(one: &[u32], other: &[u32]) -> usize {
    one.iter().filter(|word| other.binary_search(word).is_ok()).count()
}

/// Whether a phrase stands between the spaces of a joined text.
fn contains(joined: &str, phrase: &str) -> bool {
    let bytes = joined.as_bytes();
    joined.match_indices(phrase).any(|(at, _)| {
        at > 0 && bytes[at - 1] == b' ' && bytes.get(at + phrase.len()) == Some(&b' ')
    })
}

fn sorted(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list.dedup();
    list
}

fn is_day(word: &str) -> bool {
    word.len() == 10 && word.parse::<jiff::civil::Date>().is_ok()
}

/// Whether a word begins with a digit.
pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// A word without the ending of the plural.
pub(super) fn stem(word: &str) -> String {
    let short = word.strip_suffix("ies").map(|start| format!("{start}y"));
    short.unwrap_or_else(|| {
        let plain = word.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
        plain.unwrap_or(word).to_owned()
    })
}
