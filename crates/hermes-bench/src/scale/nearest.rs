//! The quick look over all vectors: how long it takes, and whether it finds what a slow look finds.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context;
use hermes_llm::EmbeddedModel;
use hermes_store::memory::{
    ChunkKey, ItemKind, Memory, QuestionVector, RecallFilter, Scope, SessionKey,
};

use crate::cpu;
use crate::made_up::PER_SESSION;

const TOP: usize = 10;
/// Two cosines that differ less are the same.
const SAME: f32 = 1e-6;
const SESSIONS_AT_ONCE: i64 = 50;

/// What was measured.
pub(super) struct Nearest {
    pub(super) times: Vec<Duration>,
    /// Which share of the true first ten was among the first ten.
    pub(super) recall: f64,
}

/// One question with what was found for it.
struct Asked {
    vector: Vec<f32>,
    found: Vec<ChunkKey>,
    /// The true cosines of what was found.
    true_of_found: Vec<f32>,
    /// The true best cosines, best first.
    best: Vec<f32>,
}

/// Looks for the nearest texts of each question, and compares with the cosines of all vectors.
pub(super) fn measure(
    store: &Memory,
    scope: Scope,
    turns: usize,
    questions: &[String],
) -> anyhow::Result<Nearest> {
    let model = store.active_model()?.context("the memory has no model")?;
    let filter = RecallFilter { kinds: vec![ItemKind::Message], ..RecallFilter::default() };
    let mut times = Vec::new();
    let mut asked = Vec::new();
    for question in questions {
        let vector = EmbeddedModel::get().embed(question);
        let asking = QuestionVector { model: model.id, vector: &vector };
        let (near, spent) = cpu::timed(|| store.nearest(scope, &filter, &asking, TOP))?;
        times.push(spent);
        let found = near.iter().take(TOP).map(|near| near.key).collect();
        asked.push(Asked { vector, found, true_of_found: Vec::new(), best: Vec::new() });
    }
    look_at_all(store, scope, turns, &mut asked)?;
    let shares = asked.iter().map(Asked::recall);
    Ok(Nearest { times, recall: shares.sum::<f64>() / questions.len().max(1) as f64 })
}

/// The vector as the store keeps it, one byte for each dimension: what the quick look is held against.
fn as_kept(mut vector: Vec<f32>) -> Vec<f32> {
    let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    vector.iter_mut().for_each(|value| *value = (*value / scale).round() * scale);
    vector
}

/// Makes every vector anew from the tokens of its text.
fn look_at_all(
    store: &Memory,
    scope: Scope,
    turns: usize,
    asked: &mut [Asked],
) -> anyhow::Result<()> {
    let mut finders: HashMap<ChunkKey, Vec<usize>> = HashMap::new();
    for (place, one) in asked.iter().enumerate() {
        one.found.iter().for_each(|key| finders.entry(*key).or_default().push(place));
    }
    let sessions = i64::try_from(turns.div_ceil(PER_SESSION))?;
    // A little beyond the end, should the numbers of sessions begin at one.
    for first in (0..=sessions).step_by(SESSIONS_AT_ONCE as usize) {
        let last = (first + SESSIONS_AT_ONCE - 1).min(sessions);
        let range = |number| SessionKey::new(scope.user(), number).map(ChunkKey::all_of_session);
        let (Some(first), Some(last)) = (range(first), range(last)) else { continue };
        for row in store.chunks(scope, &[*first.start()..=*last.end()], None)? {
            let vector = as_kept(EmbeddedModel::get().pool(&row.tokens));
            for one in asked.iter_mut() {
                one.see(cosine(&one.vector, &vector));
            }
            for place in finders.get(&row.key).into_iter().flatten() {
                let one = &mut asked[*place];
                one.true_of_found.push(cosine(&one.vector, &vector));
            }
        }
    }
    Ok(())
}

impl Asked {
    fn see(&mut self, similarity: f32) {
        let is_better = self.best.len() < TOP || self.best.last().is_some_and(|l| similarity > *l);
        if is_better {
            let place = self.best.partition_point(|better| *better >= similarity);
            self.best.insert(place, similarity);
            self.best.truncate(TOP);
        }
    }

    fn recall(&self) -> f64 {
        let Some(last) = self.best.last() else { return 0.0 };
        let hits = self.true_of_found.iter().filter(|found| **found >= last - SAME).count();
        hits.min(self.best.len()) as f64 / self.best.len() as f64
    }
}

/// Of vectors of length one; eight sums side by side, which is quick.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (one, other) in one.chunks_exact(8).zip(other.chunks_exact(8)) {
        for place in 0..8 {
            sums[place] += one[place] * other[place];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_what_is_as_near_as_the_tenth() {
        let mut asked = Asked {
            vector: Vec::new(),
            found: Vec::new(),
            true_of_found: Vec::new(),
            best: Vec::new(),
        };
        (0..20).for_each(|number| asked.see(number as f32 / 20.0));
        assert_eq!(asked.best.len(), TOP);
        asked.true_of_found = vec![0.95, 0.9, 0.5, 0.45];
        assert!((asked.recall() - 0.3).abs() < 1e-9);
    }
}
