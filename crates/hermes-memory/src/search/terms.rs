//! The question's words: what is looked up in the keyword index, and how rare each one is.

use hermes_store::memory::{ChunkKey, Memory, Postings, RecallFilter, Scope};

use crate::Result;
use crate::chunk;

/// More terms than this say nothing new; each costs a bit in the masks.
const MOST_TERMS: usize = 32;
/// How many places of a word are read at first.
const FIRST_CAP: usize = 1_500;
/// How many places are read of all the words together.
const BUDGET: usize = 12_000;

/// One word or phrase of the question.
#[derive(Debug, Clone)]
pub(super) struct Term {
    /// As it is looked up.
    pub(super) text: String,
    /// How much a text says that has it: the rarer, the more.
    pub(super) weight: f32,
}

/// Where the terms are.
#[derive(Debug, Default)]
pub(super) struct Hits {
    /// The terms, rarest first.
    pub(super) terms: Vec<Term>,
    /// Every chunk with a term, sorted, and which terms it has, one bit each.
    pub(super) chunks: Vec<(ChunkKey, u32)>,
    /// The summed weight of all terms, those that are nowhere and those left out too.
    pub(super) all_weight: f32,
    /// How much the question says at all, whatever the size of the memory.
    pub(super) telling: f32,
    /// Terms so common that only their newest places were read.
    pub(super) capped: Vec<String>,
}

impl Hits {
    /// Which terms a chunk has.
    pub(super) fn mask(&self, key: ChunkKey) -> u32 {
        self.chunks.binary_search_by_key(&key, |(key, _)| *key).map_or(0, |at| self.chunks[at].1)
    }

    /// The summed weight of the terms in a mask.
    pub(super) fn weight(&self, mask: u32) -> f32 {
        let present = |(place, term): (usize, &Term)| {
            if mask >> place & 1 == 1 { term.weight } else { 0.0 }
        };
        self.terms.iter().enumerate().map(present).sum()
    }
}

/// Looks every term up, rarest ones whole, common ones as far as the budget goes.
pub(super) fn look_up(
    store: &Memory,
    scope: Scope,
    filter: &RecallFilter,
    terms: Vec<String>,
    all_chunks: usize,
) -> Result<Hits> {
    let postings = store.postings_of(scope, filter, &terms, FIRST_CAP)?;
    let mut found: Vec<(String, Postings)> = terms.into_iter().zip(postings).collect();
    found.sort_by_key(|(_, postings)| postings.estimated);
    let mut left = BUDGET;
    let mut hits = Hits::default();
    for (text, mut postings) in found {
        store.still_wanted()?;
        if !postings.complete && postings.estimated < left + left / 4 {
            postings = store.postings(scope, filter, &text, left)?;
        }
        let weight = rarity(all_chunks, postings.estimated);
        hits.all_weight += weight;
        hits.telling += bounded_rarity(all_chunks, postings.estimated);
        if !postings.complete {
            hits.capped.push(text.clone());
            // A part of a common word's places misleads more than it helps, unless there is nothing else.
            if !hits.terms.is_empty() {
                continue;
            }
        }
        left = left.saturating_sub(postings.chunks.len());
        let place = hits.terms.len();
        hits.terms.push(Term { text, weight });
        hits.chunks.extend(postings.chunks.into_iter().map(|key| (key, 1 << place)));
    }
    hits.chunks.sort_unstable_by_key(|(key, _)| *key);
    hits.chunks.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 |= next.1;
        }
        same
    });
    Ok(hits)
}

/// In a small memory every word is rare: its texts count as if there were so many.
const FEWEST: usize = 400;
/// From here on a word's rarity says no more about how telling a question is.
const MANY: usize = 1_000;

/// How much it says that a text has a word which `with` of `all` texts have.
pub(super) fn rarity(all: usize, with: usize) -> f32 {
    let (all, with) = (all.max(with).max(FEWEST) as f32, with as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// The same, as if a large memory were a middling one.
fn bounded_rarity(all: usize, with: usize) -> f32 {
    if all <= MANY { rarity(all, with) } else { rarity(MANY, with * MANY / all) }
}

/// The terms of a question: quoted phrases whole, words without the small ones and without the
/// names of those who spoke, each once.
pub(super) fn terms_of(question: &str, names: &[String]) -> Vec<String> {
    let (plain, phrases) = take_phrases(question);
    let words = chunk::question_words(&plain);
    let is_telling = |word: &&String| !is_stop_word(word);
    let is_no_name = |word: &&String| !names.contains(word);
    let mut telling: Vec<&String> = words.iter().filter(is_telling).filter(is_no_name).collect();
    if telling.is_empty() {
        telling = words.iter().filter(is_no_name).collect();
    }
    if telling.is_empty() {
        telling = words.iter().collect();
    }
    let mut terms: Vec<String> = Vec::new();
    for term in phrases.iter().chain(telling) {
        if terms.len() < MOST_TERMS && !terms.contains(term) {
            terms.push(term.clone());
        }
    }
    terms
}

/// The text without its quoted phrases, and the phrases of two words or more.
fn take_phrases(question: &str) -> (String, Vec<String>) {
    let mut plain = String::new();
    let mut phrases = Vec::new();
    let parts: Vec<&str> = question.split(['"', '“', '”']).collect();
    let pairs_up = parts.len() % 2 == 1;
    for (place, part) in parts.iter().enumerate() {
        let words = chunk::question_words(part);
        if pairs_up && place % 2 == 1 && words.len() > 1 {
            phrases.push(words.join(" "));
        }
        plain.push_str(part);
        plain.push(' ');
    }
    (plain, phrases)
}

/// The small words of English, which are in every text and say little.
const STOP_WORDS: [&str; 85] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "he", "her", "hers", "him", "his", "how", "i",
    "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our", "she", "should", "so",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "was",
    "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with",
    "would", "you", "your", "am", "not", "don", "didn", "doesn", "isn", "wasn", "t", "s", "ll",
    "re", "ve", "d", "m", "us", "yours", "any",
];

/// Whether a word, in lower case, says little.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_are_left_out_unless_there_is_nothing_else() {
        assert_eq!(
            terms_of("When did Caroline go to the group?", &[]),
            ["caroline", "go", "group"]
        );
        assert_eq!(terms_of("who is it?", &[]), ["who", "is", "it"]);
        assert!(terms_of("?!… \0 \"\"", &[]).is_empty());
    }

    #[test]
    fn a_quoted_phrase_is_one_term_and_its_words_count_too() {
        let terms = terms_of("the \"support group\" meeting", &[]);
        assert_eq!(terms, ["support group", "support", "group", "meeting"]);
        assert_eq!(terms_of("an open \" quote", &[]), ["open", "quote"]);
    }

    #[test]
    fn rare_words_weigh_more() {
        assert!(rarity(1000, 1) > rarity(1000, 100));
        assert!(rarity(1000, 1000) > 0.0);
        assert!(rarity(0, 5).is_finite());
    }
}
