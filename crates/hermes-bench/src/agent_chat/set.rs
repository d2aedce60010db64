//! The neutral form of a retrieval set: what was said, what is asked, what answers it.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::recall::corpus::{Asked, Turn};
use crate::text::is_empty_word;

/// A whole set.
#[derive(Debug, Default)]
pub(crate) struct Set {
    pub(crate) turns: Vec<Turn>,
    pub(crate) questions: Vec<Asked>,
    pub(crate) gold: Vec<Gold>,
}

/// The messages that answer a question.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Gold {
    pub(crate) question_id: String,
    pub(crate) evidence: Vec<String>,
    pub(crate) evidence_sessions: Vec<String>,
    pub(crate) answer: String,
    pub(crate) dropped: Vec<String>,
}

impl Set {
    /// The three files by name.
    pub(super) fn files(&self) -> serde_json::Result<[(&'static str, Vec<u8>); 3]> {
        Ok([
            ("corpus.jsonl", json_lines(&self.turns)?),
            ("questions.jsonl", json_lines(&self.questions)?),
            ("gold.jsonl", json_lines(&self.gold)?),
        ])
    }

    /// Which share of a question's content words its evidence has, averaged over the questions.
    pub(crate) fn shared_words(&self) -> f64 {
        let texts: HashMap<(&str, &str), &str> = self
            .turns
            .iter()
            .map(|turn| ((&*turn.conversation_id, &*turn.turn_id), &*turn.text))
            .collect();
        let shares = self.questions.iter().zip(&self.gold).map(|(question, gold)| {
            let key = |id| (&*question.conversation_id, id);
            let texts = gold.evidence.iter().filter_map(|id| texts.get(&key(&**id)));
            let said: HashSet<String> = texts.flat_map(|text| content_words(text)).collect();
            let asked = content_words(&question.question);
            let shared = asked.iter().filter(|word| said.contains(*word)).count();
            shared as f64 / asked.len().max(1) as f64
        });
        shares.sum::<f64>() / self.questions.len().max(1) as f64
    }
}

fn json_lines<T: Serialize>(values: &[T]) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for value in values {
        serde_json::to_writer(&mut bytes, value)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The words that carry meaning, without common endings.
fn content_words(text: &str) -> HashSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| !word.is_empty() && !is_empty_word(word))
        .map(|word| stem(word).to_owned())
        .collect()
}

fn stem(word: &str) -> &str {
    let endings = ["ing", "ed", "es", "s", "e"];
    let cut = endings.iter().find_map(|ending| word.strip_suffix(ending));
    cut.filter(|cut| cut.chars().count() >= 3).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_words_are_compared_without_their_endings() {
        let words = content_words("Which ports was it listening on?");
        assert_eq!(words, HashSet::from(["port".to_owned(), "listen".to_owned()]));
        assert!(content_words("it listens on port 80").is_superset(&words));
    }
}
