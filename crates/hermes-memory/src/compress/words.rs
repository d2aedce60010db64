//! How much a word says: the rarer it is in English, the more; small words and courtesies say nothing.

use std::collections::HashMap;

use hermes_llm::EmbeddedModel;

use crate::task;

/// Words that fill a talk and say nothing about what it is about.
const FILLERS: [&str; 60] = [
    "absolutely",
    "actually",
    "agree",
    "amazing",
    "anyway",
    "awesome",
    "best",
    "better",
    "bit",
    "bye",
    "care",
    "cool",
    "definitely",
    "exactly",
    "feel",
    "feeling",
    "glad",
    "go",
    "going",
    "gonna",
    "good",
    "got",
    "great",
    "guess",
    "guys",
    "haha",
    "happy",
    "hear",
    "hello",
    "hey",
    "hi",
    "hope",
    "just",
    "know",
    "like",
    "lol",
    "looks",
    "lot",
    "lots",
    "love",
    "luck",
    "nice",
    "nope",
    "oh",
    "okay",
    "really",
    "right",
    "sounds",
    "sure",
    "thank",
    "thing",
    "things",
    "think",
    "totally",
    "wanna",
    "wonderful",
    "wow",
    "yay",
    "yeah",
    "yep",
];

/// Longer words are no words: keys, hashes, addresses.
const LONGEST: usize = 24;
/// A number says about as much as a rare word.
const NUMBER: f32 = 3.5;
/// A word that the model knows only in pieces is rare, or a name.
pub(super) const IN_PIECES: f32 = 5.0;
/// What stands at this place of the model's words says little.
const COMMON: f32 = 1_000.0;
/// So many weights are kept at most.
const MOST_KEPT: usize = 50_000;

/// The words of a text that say something: as they stand there, and as they are compared.
pub fn content_words(text: &str) -> Vec<(&str, String)> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.len() <= LONGEST * 3)
        .filter(|word| word.chars().count() <= LONGEST)
        .filter_map(|word| {
            let lower = word.to_lowercase();
            says_something(&lower).then(|| (word, stem(&lower)))
        })
        .collect()
}

/// Whether a text has a word, in any of its common forms.
pub fn is_word_in(text: &str, word: &str) -> bool {
    let wanted = stem(&word.to_lowercase());
    text.split(|c: char| !c.is_alphanumeric()).any(|word| stem(&word.to_lowercase()) == wanted)
}

/// A word without its common endings, for comparing: `hikes`, `hiked` and `hiking` are the same.
pub fn stem(lower: &str) -> String {
    if !lower.is_ascii() || lower.len() < 4 {
        return lower.to_owned();
    }
    let cut = |ending: &str| lower.strip_suffix(ending).filter(|rest| rest.len() >= 3);
    let rest = if let Some(rest) = cut("ing").or_else(|| cut("ed")) {
        rest
    } else if let Some(rest) = cut("ies") {
        return format!("{rest}y");
    } else if let Some(rest) = cut("es").filter(|rest| rest.ends_with(['s', 'x', 'h'])) {
        rest
    } else if lower.ends_with("ss") {
        lower
    } else {
        cut("s").unwrap_or(lower)
    };
    let bytes = rest.as_bytes();
    let twice = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    let rest = if twice && !rest.ends_with(['l', 's']) { &rest[..rest.len() - 1] } else { rest };
    rest.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(rest).to_owned()
}

/// How rare a word is in English: 0 for the commonest.
pub fn rarity(word: &str) -> f32 {
    Weights::new().of(word)
}

/// How much each word says, found once for each.
#[derive(Debug, Default)]
pub(super) struct Weights {
    known: HashMap<String, f32>,
    first: u16,
}

impl Weights {
    pub(super) fn new() -> Weights {
        let first = EmbeddedModel::get().word_pieces("the").first().copied().unwrap_or(0);
        Weights { known: HashMap::new(), first }
    }

    /// How much a word says, as it stands in a text.
    pub(super) fn of(&mut self, word: &str) -> f32 {
        let lower = word.to_lowercase();
        if let Some(weight) = self.known.get(&lower) {
            return *weight;
        }
        if self.known.len() >= MOST_KEPT {
            self.known.clear();
        }
        let weight = self.weigh(&lower);
        self.known.insert(lower, weight);
        weight
    }

    fn weigh(&self, lower: &str) -> f32 {
        if lower.bytes().all(|byte| byte.is_ascii_digit()) {
            return if lower.len() > 1 { NUMBER } else { 0.5 };
        }
        match EmbeddedModel::get().word_pieces(lower).as_slice() {
            [token] => (1.0 + f32::from(token.saturating_sub(self.first)) / COMMON).ln(),
            _ => IN_PIECES,
        }
    }
}

fn says_something(lower: &str) -> bool {
    let is_long = lower.chars().count() > 1 || !lower.is_ascii();
    is_long && !task::is_empty_word(lower) && FILLERS.binary_search(&lower).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_in_order() {
        assert!(FILLERS.is_sorted());
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        for (one, other) in [
            ("hikes", "hiking"),
            ("hiked", "hike"),
            ("cities", "city"),
            ("running", "runs"),
            ("boxes", "box"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("glass"), stem("glas"));
        assert!(is_word_in("They were painting.", "painted") && !is_word_in("a pain", "paint"));
    }

    #[test]
    fn rare_words_say_more_than_common_ones() {
        let mut weights = Weights::new();
        assert!(weights.of("counseling") > weights.of("support"));
        assert!(weights.of("Kestrelbrook") > weights.of("house"));
        assert!(weights.of("8443") > weights.of("7"));
    }

    #[test]
    fn small_words_and_courtesies_say_nothing() {
        let words: Vec<&str> = content_words("Wow, I really love the Kestrel server!")
            .into_iter()
            .map(|w| w.0)
            .collect();
        assert_eq!(words, ["Kestrel", "server"]);
    }
}
