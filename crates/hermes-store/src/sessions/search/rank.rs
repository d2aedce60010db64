//! How well a text answers a query. Pure arithmetic on the places where its terms stand.

use super::matching::{Hit, needed};
use super::query::{Term, TermKind};

/// Saturation of repeated words and weight of length, as usual for BM25.
const K1: f64 = 1.2;
const B: f64 = 0.6;
/// A small word counts this much of what its rarity would give it.
const STOP_WEIGHT: f64 = 0.05;
/// Another form of a word than the one typed.
const VARIANT_WEIGHT: f64 = 0.9;
/// Words further apart than this are not near.
const NEAR_WORDS: usize = 12;
/// What closeness can add to a score, as a share of it.
const NEARNESS_SHARE: f64 = 0.35;

/// What is known of the whole of the texts.
#[derive(Debug, Clone)]
pub(super) struct Corpus {
    pub(super) rows: f64,
    /// In how many rows each term stands.
    pub(super) frequencies: Vec<f64>,
    /// Words in an ordinary row.
    pub(super) mean_length: f64,
}

/// What one text has of the terms, small enough to be kept for every candidate.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// How often each term stands there, other forms counting less; parallel to the terms.
    pub(super) counts: Vec<f32>,
    /// From 0 (far apart or alone) to 1 (side by side).
    pub(super) nearness: f32,
    pub(super) length: usize,
}

/// Counts what the hits in one text say.
pub(super) fn weigh(hits: &[Hit], terms: &[Term], length: usize) -> Evidence {
    let mut counts = vec![0.0; terms.len()];
    for hit in hits {
        counts[hit.term] += if hit.is_typed { 1.0 } else { VARIANT_WEIGHT as f32 };
    }
    Evidence { counts, nearness: nearness(hits, terms), length }
}

/// The share of the content terms' neighbourhoods that are tight in the best place of the text.
fn nearness(hits: &[Hit], terms: &[Term]) -> f32 {
    let is_content = |hit: &&Hit| terms[hit.term].kind == TermKind::Content;
    let count = needed(terms).len();
    if count < 2 {
        return 0.0;
    }
    let content: Vec<&Hit> = hits.iter().filter(is_content).collect();
    let mut best = vec![0.0_f32; terms.len()];
    for pair in content.windows(2) {
        let gap = pair[1].position.saturating_sub(pair[0].position).max(1);
        if pair[0].term != pair[1].term && gap <= NEAR_WORDS {
            let near = 1.0 / gap as f32;
            best[pair[1].term] = best[pair[1].term].max(near);
        }
    }
    (best.iter().sum::<f32>() / (count - 1) as f32).min(1.0)
}

impl Evidence {
    /// What two pieces of one text have together.
    pub(super) fn and(mut self, other: &Evidence) -> Evidence {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.nearness = self.nearness.max(other.nearness);
        self.length += other.length;
        self
    }

    /// Whether every one of the terms is there.
    pub(super) fn has_all(&self, numbers: &[usize]) -> bool {
        numbers.iter().all(|number| self.counts[*number] > 0.0)
    }

    /// Which of the terms are there.
    pub(super) fn present(&self) -> Vec<bool> {
        self.counts.iter().map(|count| *count > 0.0).collect()
    }

    /// Whether none of the terms is there.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0.0)
    }
}

/// The score of a text: rare words, all of the words, words close together.
pub(super) fn score(evidence: &Evidence, terms: &[Term], corpus: &Corpus) -> f64 {
    let length = 1.0 - B + B * evidence.length as f64 / corpus.mean_length.max(1.0);
    let (mut sum, mut found, mut possible) = (0.0, 0.0, 0.0);
    for (number, term) in terms.iter().enumerate() {
        let weight = match term.kind {
            TermKind::Content => rarity(corpus, number),
            TermKind::Stop => STOP_WEIGHT * rarity(corpus, number),
            TermKind::Excluded => continue,
        };
        let count = f64::from(evidence.counts[number]);
        possible += weight;
        if count > 0.0 {
            found += weight;
            sum += weight * count * (K1 + 1.0) / (count + K1 * length);
        }
    }
    let coverage = if possible > 0.0 { found / possible } else { 0.0 };
    sum * (0.5 + 0.5 * coverage) * (1.0 + NEARNESS_SHARE * f64::from(evidence.nearness))
}

fn rarity(corpus: &Corpus, number: usize) -> f64 {
    let frequency = corpus.frequencies.get(number).copied().unwrap_or(0.0).min(corpus.rows);
    (1.0 + (corpus.rows - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// How much the words of a role count: what people and models say before what tools print.
pub(super) fn role_weight(role: &str) -> f64 {
    match role {
        "user" => 1.1,
        "assistant" => 1.0,
        "tool" => 0.7,
        _ => 0.8,
    }
}

/// How much a session's messages count: those a person did not take part in come later.
pub(super) fn source_weight(source: &str, is_hidden: bool) -> f64 {
    match source {
        "cron" | "subagent" | "tool" => 0.7,
        _ if is_hidden => 0.7,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::matching::Matcher;
    use super::super::query::parse;
    use super::super::words::Words;
    use super::*;

    fn scored(query: &str, text: &str, frequencies: &[f64]) -> f64 {
        let query = parse(query);
        let mut words = Words::default();
        let hits = Matcher::new(&query.terms).hits(text, &mut words);
        let corpus = Corpus { rows: 1000.0, frequencies: frequencies.to_vec(), mean_length: 10.0 };
        score(&weigh(&hits, &query.terms, words.len()), &query.terms, &corpus)
    }

    #[test]
    fn a_rare_word_counts_more_than_a_common_one() {
        let frequencies = [3.0, 400.0];
        assert!(
            scored("zebra deploy", "a zebra here", &frequencies)
                > scored("zebra deploy", "a deploy here", &frequencies)
        );
    }

    #[test]
    fn close_words_count_more_than_scattered_ones() {
        let frequencies = [10.0, 10.0];
        assert!(
            scored("zebra deploy", "zebra deploy x x x x x x", &frequencies)
                > scored("zebra deploy", "zebra x x x x x x deploy", &frequencies)
        );
    }

    #[test]
    fn more_of_the_words_count_more_than_one_word_often() {
        let frequencies = [10.0, 10.0, 10.0];
        assert!(
            scored("zebra deploy server", "zebra x x x deploy", &frequencies)
                > scored("zebra deploy server", "zebra zebra zebra zebra zebra", &frequencies)
        );
    }

    #[test]
    fn small_words_hardly_count() {
        let frequencies = [900.0, 10.0];
        let with = scored("the zebra", "the zebra", &frequencies);
        let without = scored("the zebra", "one zebra", &frequencies);
        assert!(with >= without && with < without * 1.2);
    }
}
