//! Which texts are worth scoring: those with the question's words, those near in meaning, and their neighbours.

use std::ops::RangeInclusive;

use hermes_store::memory::{ChunkKey, ChunkRow, ItemKind, MessageKey, Near};

use super::run::is_message;
use super::terms::Hits;

/// How many texts each way of looking adds.
pub(super) const BEST_OF_EACH: usize = 64;
/// How far neighbours count, in messages.
const REACH: i64 = 2;

/// The texts to score, as ranges of text numbers: sorted, not touching.
pub(super) fn choose(hits: &Hits, near: &[Near]) -> Vec<RangeInclusive<i64>> {
    let mut texts = best_by_words(hits);
    let mut by_meaning: Vec<i64> = near.iter().map(|found| found.key.text()).collect();
    by_meaning.dedup();
    texts.extend(by_meaning.into_iter().take(BEST_OF_EACH));
    let mut ranges: Vec<RangeInclusive<i64>> = texts.into_iter().map(with_neighbours).collect();
    ranges.sort_unstable_by_key(|range| *range.start());
    join(ranges)
}

/// Texts as ranges of chunk numbers.
pub(super) fn chunk_ranges(texts: &[RangeInclusive<i64>]) -> Vec<RangeInclusive<i64>> {
    texts
        .iter()
        .map(|range| {
            *ChunkKey::all_of_text(*range.start()).start()
                ..=*ChunkKey::all_of_text(*range.end()).end()
        })
        .collect()
}

/// The messages among some chunks, as ranges of numbers.
pub(super) fn text_ranges(chunks: &[ChunkRow]) -> Vec<RangeInclusive<i64>> {
    let messages = chunks.iter().filter(|chunk| is_message(chunk));
    join(messages.map(|chunk| chunk.key.text()..=chunk.key.text()).collect())
}

/// The texts whose words, with those of their neighbours, weigh most.
fn best_by_words(hits: &Hits) -> Vec<i64> {
    let mut texts: Vec<(i64, f32)> = Vec::new();
    for (key, mask) in &hits.chunks {
        let weight = hits.weight(*mask);
        match texts.last_mut() {
            Some((text, best)) if *text == key.text() => *best = best.max(weight),
            _ => texts.push((key.text(), weight)),
        }
    }
    let mut scored: Vec<(f32, i64)> =
        (0..texts.len()).map(|at| (smoothed(&texts, at), texts[at].0)).collect();
    if scored.len() > BEST_OF_EACH {
        scored.select_nth_unstable_by(BEST_OF_EACH, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        scored.truncate(BEST_OF_EACH);
    }
    scored.into_iter().map(|(_, text)| text).collect()
}

/// The weight of a text with a share of its neighbours'.
fn smoothed(texts: &[(i64, f32)], at: usize) -> f32 {
    let (text, own) = texts[at];
    let session = session_of(text);
    let mut sum = own;
    for (other, weight) in texts[..at].iter().rev().take(2).chain(texts[at + 1..].iter().take(2)) {
        let distance = (other - text).abs();
        if is_message_text(text) && distance <= REACH && session_of(*other) == session {
            sum += weight * share(distance);
        }
    }
    sum
}

fn is_message_text(text: i64) -> bool {
    ChunkKey::from_row(*ChunkKey::all_of_text(text).start()).kind() == Some(ItemKind::Message)
}

/// What a neighbour's score counts at a distance.
fn share(distance: i64) -> f32 {
    match distance {
        1 => 0.5,
        2 => 0.25,
        _ => 0.0,
    }
}

/// The session of a message, as far as texts are messages.
fn session_of(text: i64) -> i64 {
    MessageKey::from_row(text).session().get()
}

fn with_neighbours(text: i64) -> RangeInclusive<i64> {
    if !is_message_text(text) {
        return text..=text;
    }
    let key = MessageKey::from_row(text);
    let before = key.place().min(REACH);
    text - before..=text + REACH
}

fn join(ranges: Vec<RangeInclusive<i64>>) -> Vec<RangeInclusive<i64>> {
    let mut joined: Vec<RangeInclusive<i64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= *last.end() + 1 => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}
