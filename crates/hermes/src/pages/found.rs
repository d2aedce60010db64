//! How something was found, said honestly, and how a word is typed in a terminal.

use crate::desk::hit::Hit;

/// A share of the score that counts.
const WORDS_COUNT: f64 = 0.05;
const MEANING_COUNTS: f64 = 0.25;

/// `keyword`, `semantic` or `both`: by what its score is really made of.
pub(super) fn label(hit: &Hit) -> &'static str {
    let sum = |names: &[&str]| -> f64 {
        let parts = hit.parts.iter().filter(|part| names.contains(&part.name));
        parts.map(|part| part.value.max(0.0)).sum()
    };
    let words = sum(&["words"]);
    let meaning = sum(&["tokens", "topic", "meaning", "meaning nearby"]);
    let all = words + meaning;
    if all <= 0.0 {
        return "keyword";
    }
    match (words / all > WORDS_COUNT, meaning / all > MEANING_COUNTS) {
        (true, true) => "both",
        (true, false) => "keyword",
        (false, _) => "semantic",
    }
}

/// A word as a shell takes it.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_memory::search::Part;

    #[test]
    fn a_label_says_what_the_score_is_made_of() {
        let hit = |parts: &[(&'static str, f64)]| Hit {
            parts: parts.iter().map(|(name, value)| Part { name, value: *value }).collect(),
            ..Hit::default()
        };
        assert_eq!(label(&hit(&[("words", 0.6), ("meaning", 0.4)])), "both");
        assert_eq!(label(&hit(&[("words", 0.6), ("meaning", 0.1)])), "keyword");
        assert_eq!(label(&hit(&[("words", 0.0), ("meaning", 0.4), ("time", 1.2)])), "semantic");
        assert_eq!(label(&hit(&[])), "keyword");
    }

    #[test]
    fn what_is_typed_in_a_shell_stays_one_word() {
        assert_eq!(quoted("tea"), "tea");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
