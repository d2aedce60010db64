//! How sure we are that a result answers the question: a number from 0 to 1 that means what it says.
//!
//! Fitted on conversations with known answers: of the results said to be right in 65 of 100 cases,
//! 61 were (docs/PERFORMANCE.md has the whole curve). It compares with what a perfect result would
//! have, not with the best of the same question, so that a question about something never talked
//! about gets low numbers throughout.

use super::run::{Looked, Ranked};
use super::score::Scores;

/// How likely it is that a result is what was asked for, or stands within two messages of it.
pub(super) fn of(looked: &Looked, scores: &Scores, ranked: &Ranked) -> f64 {
    let features = features(looked, scores, ranked);
    let named = if features.is_named { 0.961 } else { 0.0 };
    logistic(if looked.asked.speakers.is_empty() {
        -11.037
            + 5.884 * features.words
            + 1.738 * features.tokens
            + 1.821 * features.telling.ln_1p()
    } else {
        -11.779
            + 5.538 * features.words
            + 1.993 * features.tokens
            + 1.896 * features.telling.ln_1p()
            + named
    })
}

/// How likely it is that the first results hold what was asked for at all.
pub(super) fn of_all(looked: &Looked, scores: &Scores, ranked: &[Ranked]) -> f64 {
    let mut most = Features { words: 0.0, tokens: 0.0, telling: 0.0, is_named: false };
    for ranked in ranked.iter().take(5) {
        let one = features(looked, scores, ranked);
        most.words = most.words.max(one.words);
        most.tokens = most.tokens.max(one.tokens);
        most.telling = one.telling;
        most.is_named |= one.is_named;
    }
    let named = if most.is_named { 4.864 } else { 0.0 };
    logistic(if looked.asked.speakers.is_empty() {
        -13.721 + 6.295 * most.words + 3.973 * most.tokens + 2.371 * most.telling.ln_1p()
    } else {
        -15.264 + 3.398 * most.words + 4.541 * most.tokens + 2.189 * most.telling.ln_1p() + named
    })
}

fn features(looked: &Looked, scores: &Scores, ranked: &Ranked) -> Features {
    let all_tokens = looked.tokens.iter().map(|(_, weight)| weight).sum();
    Features {
        words: share(scores.words[ranked.chunk], looked.hits.all_weight),
        tokens: share(scores.tokens[ranked.chunk], all_tokens),
        telling: f64::from(looked.hits.telling),
        is_named: ranked.factors.iter().any(|part| part.name == "speaker"),
    }
}

/// What the estimate is made of.
struct Features {
    /// How much of the question's words is here, weighed by how rare they are.
    words: f64,
    /// The same for its tokens and what is near to them.
    tokens: f64,
    /// How much the question says at all.
    telling: f64,
    /// Whether the one whom the question names said it.
    is_named: bool,
}

fn share(part: f32, whole: f32) -> f64 {
    if whole > 0.0 { f64::from(part / whole) } else { 0.0 }
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}
