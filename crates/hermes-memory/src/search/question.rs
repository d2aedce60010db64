//! What a question tells besides its words: whom it names, whether it asks for a time, which tokens count.

use std::collections::{HashMap, HashSet};

use hermes_llm::EmbeddedModel;
use hermes_store::memory::{ChunkRow, Memory, Scope};

use super::terms::{Hits, is_stop_word, rarity};
use crate::Result;
use crate::chunk;

/// A question of a few sentences has no more tokens that say something; each one costs.
const MOST_TOKENS: usize = 14;

/// What a question tells besides its words.
#[derive(Debug)]
pub(super) struct Asked {
    /// The speakers it names.
    pub(super) speakers: Vec<String>,
    /// The words of their names that are in the question.
    pub(super) name_words: Vec<String>,
    /// Whether it is no sentence but a few words to look up.
    pub(super) is_look_up: bool,
    /// Whether it asks for a time.
    pub(super) for_time: bool,
    /// Whether it asks for what the assistant said.
    pub(super) for_assistant: bool,
}

/// Reads a question.
pub(super) fn read(store: &Memory, scope: Scope, text: &str) -> Result<Asked> {
    let words = chunk::question_words(text);
    let speakers = store.speakers(scope, &words)?;
    let parts = speakers.iter().flat_map(|name| name.split(|c: char| !c.is_alphanumeric()));
    let parts: HashSet<String> = parts.map(str::to_lowercase).collect();
    let name_words = words.iter().filter(|word| parts.contains(*word)).cloned().collect();
    Ok(Asked {
        is_look_up: words.len() <= 3
            && !text.contains('?')
            && !words.iter().any(|w| is_stop_word(w)),
        for_time: asks_for_time(&words),
        for_assistant: asks_for_assistant(&words),
        speakers,
        name_words,
    })
}

/// Whether the words ask when, or how long.
fn asks_for_time(words: &[String]) -> bool {
    let is = |word: Option<&String>, choices: &[&str]| {
        word.is_some_and(|word| choices.contains(&word.as_str()))
    };
    words.iter().enumerate().any(|(at, word)| match word.as_str() {
        "when" => true,
        "what" | "which" => is(words.get(at + 1), &["date", "day", "month", "year", "time"]),
        "how" => is(words.get(at + 1), &["long"]),
        _ => false,
    })
}

/// Whether the words ask for what the assistant said: "you", but not in "can you tell me".
fn asks_for_assistant(words: &[String]) -> bool {
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).map(String::as_str);
    words.iter().enumerate().any(|(at, word)| match word.as_str() {
        "your" | "yours" => true,
        "you" => {
            let asks = matches!(before(at), Some("can" | "could" | "would" | "will"));
            let next = words.get(at + 1).map(String::as_str);
            let reminds = matches!(next, Some("remember" | "know" | "recall"));
            !asks && !reminds
        }
        _ => false,
    })
}

/// The tokens of the question that say something, and how much each does. Counted in the chunks if
/// these are all there are; else each token weighs what its word does.
pub(super) fn tokens(
    text: &str,
    asked: &Asked,
    hits: &Hits,
    counted_in: Option<&[ChunkRow]>,
) -> Vec<(u16, f32)> {
    let model = EmbeddedModel::get();
    // What was seen before, or is a name, is not counted.
    let mut seen: HashSet<u16> =
        asked.name_words.iter().flat_map(|word| model.word_pieces(word)).collect();
    let mut all = Vec::new();
    model.tokens(text, &mut all);
    let mut telling: Vec<u16> = Vec::new();
    for token in all {
        let says_something = model.piece(token).is_some_and(|(piece, _)| {
            piece.chars().any(char::is_alphanumeric) && !is_stop_word(piece)
        });
        if says_something && seen.insert(token) {
            telling.push(token);
        }
    }
    let mut weighed: Vec<(u16, f32)> = match counted_in {
        Some(chunks) => count_weights(&telling, chunks),
        None => word_weights(&telling, hits),
    };
    if weighed.len() > MOST_TOKENS {
        weighed.sort_by(|a, b| b.1.total_cmp(&a.1));
        weighed.truncate(MOST_TOKENS);
    }
    weighed
}

/// How rare each token is among the chunks, all counted in one walk.
fn count_weights(tokens: &[u16], chunks: &[ChunkRow]) -> Vec<(u16, f32)> {
    // A table of all tokens: hashing each one of a chunk would cost more than the rest of the search.
    let mut places = vec![usize::MAX; usize::from(u16::MAX) + 1];
    for (place, token) in tokens.iter().enumerate() {
        places[usize::from(*token)] = place;
    }
    let mut counts = vec![(0, usize::MAX); tokens.len()];
    for (number, chunk) in chunks.iter().enumerate() {
        for token in &chunk.tokens {
            if let Some((count, last)) = counts.get_mut(places[usize::from(*token)])
                && *last != number
            {
                (*count, *last) = (*count + 1, number);
            }
        }
    }
    let weight =
        |(token, (with, _)): (&u16, &(usize, usize))| (*token, rarity(chunks.len(), *with));
    tokens.iter().zip(&counts).map(weight).collect()
}

/// The weight of the word that each token is a piece of; of a middling word if it is of none.
fn word_weights(tokens: &[u16], hits: &Hits) -> Vec<(u16, f32)> {
    let model = EmbeddedModel::get();
    let mut heaviest: HashMap<u16, f32> = HashMap::new();
    for term in &hits.terms {
        for piece in model.word_pieces(&term.text) {
            let known = heaviest.entry(piece).or_insert(term.weight);
            *known = known.max(term.weight);
        }
    }
    let weight = |token: &u16| heaviest.get(token).copied().unwrap_or(4.0);
    tokens.iter().map(|token| (*token, weight(token))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        chunk::question_words(text)
    }

    #[test]
    fn questions_for_a_time_are_known() {
        assert!(asks_for_time(&words("When was it?")));
        assert!(asks_for_time(&words("In which year did it begin?")));
        assert!(!asks_for_time(&words("What did she buy?")));
    }

    #[test]
    fn questions_for_what_the_assistant_said_are_known() {
        assert!(asks_for_assistant(&words("What did you recommend?")));
        assert!(!asks_for_assistant(&words("Can you tell me my port?")));
        assert!(!asks_for_assistant(&words("Do you remember my port?")));
    }
}
