//! How well each text answers: words, tokens and meaning, weighed together. Pure arithmetic.
//!
//! Every constant was chosen by measuring (docs/PERFORMANCE.md says what each part is worth).

use hermes_llm::EmbeddedModel;
use hermes_store::memory::ChunkRow;

use super::places::Places;
use super::terms::Hits;

/// What the messages before and after count: someone answers, or goes on.
const BEFORE: [f32; 3] = [0.5, 0.25, 0.12];
const AFTER: [f32; 3] = [0.4, 0.2, 0.1];
/// What the message before counts more when it was a question.
const ANSWER: f32 = 0.3;
/// What the other parts of the same message count.
const OWN: f32 = 0.2;
/// A second place with the same word says less than the first: applied to each word by itself.
const POWER: f32 = 0.4;
/// Below this cosine two tokens have nothing in common.
const FLOOR: f32 = 0.1;
/// How far the subject of a conversation reaches, and how fast it fades.
const TOPIC: [f32; 5] = [0.7, 0.49, 0.343, 0.24, 0.168];
const MEANING_NEAR: [f32; 2] = [0.5, 0.25];

const TOKEN_SHARE: f32 = 1.2;
const TOPIC_SHARE: f32 = 0.5;
const MEANING_SHARE: f32 = 0.2;
const MEANING_NEAR_SHARE: f32 = 0.3;
/// In talks with an assistant the neighbours say less: answers are long, questions jump.
const ASSISTANT_NEIGHBOURS: f32 = 0.25;

/// Everything that is known about the texts to be scored.
pub(super) struct Evidence<'a> {
    /// The chunks, in the order of their numbers.
    pub(super) chunks: &'a [ChunkRow],
    /// Where the question's words are.
    pub(super) hits: &'a Hits,
    /// The tokens of the question that say something, and how much each does.
    pub(super) tokens: &'a [(u16, f32)],
}

/// One chunk with the parts of its score.
#[derive(Debug, Clone, Default)]
pub(super) struct Scores {
    pub(super) words: Vec<f32>,
    pub(super) tokens: Vec<f32>,
    pub(super) topic: Vec<f32>,
    pub(super) meaning: Vec<f32>,
    pub(super) meaning_near: Vec<f32>,
    /// The largest of each part, in the same order.
    pub(super) most: [f32; 5],
}

impl Scores {
    /// What each part adds to the score of a chunk.
    pub(super) fn shares(&self, chunk: usize) -> [f32; 5] {
        let of = |part: usize, values: &[f32], share: f32| {
            if self.most[part] > 0.0 { share * values[chunk] / self.most[part] } else { 0.0 }
        };
        [
            of(0, &self.words, 1.0),
            of(1, &self.tokens, TOKEN_SHARE),
            of(2, &self.topic, TOPIC_SHARE),
            of(3, &self.meaning, MEANING_SHARE),
            of(4, &self.meaning_near, MEANING_NEAR_SHARE),
        ]
    }
}

/// The parts of the score of every chunk.
pub(super) fn score(evidence: &Evidence<'_>, places: &Places) -> Scores {
    let words = word_scores(evidence, places);
    let (tokens, own_tokens) = token_scores(evidence, places);
    let topic_of_texts = places.blurred(&places.fold(&own_tokens), &TOPIC);
    let topic = places.unfold(&topic_of_texts);
    let meaning: Vec<f32> =
        evidence.chunks.iter().map(|chunk| chunk.similarity.unwrap_or(0.0).max(0.0)).collect();
    let meaning_near = near_meaning(&meaning, places);
    let mut scores = Scores { words, tokens, topic, meaning, meaning_near, most: [0.0; 5] };
    let largest = |values: &[f32]| values.iter().copied().fold(0.0_f32, f32::max);
    scores.most = [
        largest(&scores.words),
        largest(&scores.tokens),
        largest(&scores.topic),
        largest(&scores.meaning),
        largest(&scores.meaning_near),
    ];
    scores
}

/// The question's words in each chunk and around it.
fn word_scores(evidence: &Evidence<'_>, places: &Places) -> Vec<f32> {
    let masks: Vec<u32> =
        evidence.chunks.iter().map(|chunk| evidence.hits.mask(chunk.key)).collect();
    let mut scores = vec![0.0; evidence.chunks.len()];
    for (at, term) in evidence.hits.terms.iter().enumerate() {
        let present: Vec<f32> =
            masks.iter().map(|mask| if mask >> at & 1 == 1 { 1.0 } else { 0.0 }).collect();
        for (score, value) in scores.iter_mut().zip(window(&present, places)) {
            if value > 0.0 {
                *score += term.weight * value.powf(POWER);
            }
        }
    }
    scores
}

/// For each chunk: over the question's tokens, how near its nearest token comes; with the chunks
/// around it, and by itself.
fn token_scores(evidence: &Evidence<'_>, places: &Places) -> (Vec<f32>, Vec<f32>) {
    let mut place_of = vec![u16::MAX; 1 << 16];
    let mut distinct: Vec<u16> = Vec::new();
    for token in evidence.chunks.iter().flat_map(|chunk| &chunk.tokens) {
        let place = &mut place_of[usize::from(*token)];
        if *place == u16::MAX {
            *place = u16::try_from(distinct.len()).unwrap_or(u16::MAX - 1);
            distinct.push(*token);
        }
    }
    let asked: Vec<u16> = evidence.tokens.iter().map(|(token, _)| *token).collect();
    let table = EmbeddedModel::get().similarity_table(&asked, &distinct);
    let mut around = vec![0.0_f32; evidence.chunks.len()];
    let mut alone = around.clone();
    for (at, (_, weight)) in evidence.tokens.iter().enumerate() {
        let row = table.row(at);
        let nearest = |chunk: &ChunkRow| {
            let cosines = chunk.tokens.iter().map(|token| {
                row.get(usize::from(place_of[usize::from(*token)])).copied().unwrap_or(0.0)
            });
            let best = (cosines.fold(0.0_f32, f32::max) - FLOOR).max(0.0) / (1.0 - FLOOR);
            best * best * best
        };
        let near: Vec<f32> = evidence.chunks.iter().map(nearest).collect();
        for (place, value) in window(&near, places).into_iter().enumerate() {
            if value > 0.0 {
                around[place] += weight * value.powf(POWER);
            }
            alone[place] += weight * near[place];
        }
    }
    (around, alone)
}

/// What a chunk has, with shares of what its message and the messages around have.
fn window(chunks: &[f32], places: &Places) -> Vec<f32> {
    let texts = places.fold(chunks);
    let around: Vec<f32> = (0..texts.len())
        .map(|at| {
            let mut sum = 0.0;
            for (step, share) in BEFORE.iter().enumerate() {
                if let Some(other) = places.before(at, step + 1) {
                    let answer = step == 0 && places.is_question(other);
                    sum += texts[other] * if answer { share + ANSWER } else { *share };
                }
            }
            for (step, share) in AFTER.iter().enumerate() {
                if let Some(other) = places.after(at, step + 1) {
                    sum += texts[other] * share;
                }
            }
            let sum = sum * places.neighbours;
            if places.is_with_assistant(at) { sum * ASSISTANT_NEIGHBOURS } else { sum }
        })
        .collect();
    let with = |(chunk, own): (usize, &f32)| {
        let text = places.text_of(chunk);
        own + OWN * (texts[text] - own) + around[text]
    };
    chunks.iter().enumerate().map(with).collect()
}

/// The meaning of a chunk with that of the messages around it.
fn near_meaning(meaning: &[f32], places: &Places) -> Vec<f32> {
    let texts = places.fold(meaning);
    let around = |(chunk, own): (usize, &f32)| {
        let at = places.text_of(chunk);
        let (mut sum, mut shares) = (*own, 1.0);
        for (step, share) in MEANING_NEAR.iter().enumerate() {
            let others = [places.before(at, step + 1), places.after(at, step + 1)];
            for other in others.into_iter().flatten() {
                sum += share * texts[other];
                shares += share;
            }
        }
        sum / f32::sqrt(shares)
    };
    meaning.iter().enumerate().map(around).collect()
}
