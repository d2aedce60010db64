//! The steps of a search: look up, choose, score, multiply, vary, load.

use hermes_llm::{EmbeddedModel, Purpose};
use hermes_store::memory::{
    ChunkKey, ChunkRow, ItemKind, MessageHead, QuestionVector, RecallFilter,
};

use super::places::{Places, is_with_assistant};
use super::question::{self, Asked};
use super::score::{self, Evidence, Scores};
use super::terms::{self, Hits};
use super::{
    Answer, Effort, Found, Looks, Part, Question, Reading, candidates, load, outdated, relevance,
    ways,
};
use crate::{Result, reembed};

/// How many of the best are looked at for being too much alike, at most.
const VARIED: usize = 60;
/// What likeness to a better result costs.
const ALIKE: f32 = 0.04;

/// Who looks a word up wants the text that has it, not the one beside it.
const LOOK_UP_NEIGHBOURS: f32 = 0.1;

/// What it counts that a summary tells of one whom the question names: of 265 questions 7 in 100 more
/// found theirs among the first ten.
const NAMED_IN_SUMMARY: f64 = 1.7;

/// One text that may be shown.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    /// The number of the text.
    pub(super) text: i64,
    /// Its best chunk, by place.
    pub(super) chunk: usize,
    pub(super) score: f32,
    pub(super) factors: Vec<Part>,
}

/// Everything that was looked up for a question.
pub(super) struct Looked {
    pub(super) chunks: Vec<ChunkRow>,
    pub(super) heads: Vec<MessageHead>,
    pub(super) hits: Hits,
    pub(super) asked: Asked,
    pub(super) tokens: Vec<(u16, f32)>,
}

/// Who looks for what, and how far.
pub(super) struct Looking<'a> {
    pub(super) looks: &'a Looks,
    pub(super) reading: &'a Reading<'a>,
    pub(super) question: &'a Question<'a>,
    pub(super) effort: &'a Effort,
}

impl Looking<'_> {
    pub(super) fn search(&self) -> Result<Answer> {
        let Looking { reading, question, .. } = *self;
        let Reading { store, scope, .. } = *reading;
        let mut notes = Vec::new();
        let filter = load::recall_filter(reading, question)?;
        let vector = self.looks.vector(reading, question.text)?.made.as_ref();
        let vector = vector.map(|(model, vector)| QuestionVector { model: *model, vector });
        let looked = self.looks.of(question.kind, || self.look(&filter, vector.as_ref()))?;
        if !looked.hits.capped.is_empty() {
            notes.push(format!(
                "very common words were ignored or only partly searched: {}",
                looked.hits.capped.join(", ")
            ));
        }
        let mut places = Places::new(&looked.chunks, &looked.heads);
        if looked.asked.is_look_up {
            places.neighbours = LOOK_UP_NEIGHBOURS;
        }
        let evidence =
            Evidence { chunks: &looked.chunks, hits: &looked.hits, tokens: &looked.tokens };
        let scores = score::score(&evidence, &places);
        let ranked = vary(&looked, rank(&looked, &places, &scores), question.limit);
        let confidence = relevance::of_all(&looked, &scores, &ranked);
        let floor = ways::floor(&looked);
        let mut results = Vec::new();
        let best = ranked.iter().take(question.limit);
        let best: Vec<ChunkKey> = best.map(|ranked| looked.chunks[ranked.chunk].key).collect();
        store.expect(scope, &best)?;
        let loader = load::Loader::new(reading, question);
        for ranked in ranked {
            if results.len() == question.limit {
                break;
            }
            store.still_wanted()?;
            let chunk = &looked.chunks[ranked.chunk];
            if let Some(item) = loader.item(chunk.key)? {
                let relevance = relevance::of(&looked, &scores, &ranked);
                let parts = parts(&scores, &ranked);
                let best = chunk.start..chunk.start + chunk.length;
                let score = f64::from(ranked.score);
                let ways = ways::of(&looked, ranked.text, floor);
                results.push(Found {
                    item,
                    score,
                    relevance,
                    parts,
                    ways,
                    best,
                    superseded_by: None,
                });
            }
        }
        outdated::settle(reading, question, &mut results)?;
        Ok(Answer { results, confidence, notes })
    }

    fn look(&self, filter: &RecallFilter, vector: Option<&QuestionVector<'_>>) -> Result<Looked> {
        let Reading { store, scope, .. } = *self.reading;
        let text = self.question.text;
        let extent = store.extent(scope, filter, self.effort.score_all_below)?;
        let asked = question::read(store, scope, text)?;
        let wanted = terms::terms_of(text, &asked.name_words);
        let hits = terms::look_up(store, scope, filter, wanted, extent.chunks)?;
        store.still_wanted()?;
        let mut chunks;
        if extent.more {
            let near = match vector {
                Some(vector) => store.nearest(scope, filter, vector, candidates::BEST_OF_EACH)?,
                None => Vec::new(),
            };
            let texts = candidates::choose(&hits, &near);
            chunks = store.chunks(scope, &candidates::chunk_ranges(&texts), vector)?;
            chunks.retain(|chunk| filter.passes(chunk.key));
        } else {
            chunks = store.chunks(scope, &filter.ranges(scope), vector)?;
            chunks.retain(|chunk| filter.passes(chunk.key));
        }
        let counted_in = (!extent.more).then_some(&chunks[..]);
        let tokens = question::tokens(text, &asked, &hits, counted_in);
        store.still_wanted()?;
        let heads = store.message_heads(scope, &candidates::text_ranges(&chunks))?;
        Ok(Looked { chunks, heads, hits, asked, tokens })
    }
}

/// The question as a vector of the model that answers; a model that is down is noted, not an error.
pub(super) fn question_vector(
    reading: &Reading<'_>,
    text: &str,
    notes: &mut Vec<String>,
) -> Result<Option<(i64, Vec<f32>)>> {
    let active = reading.store.active_model()?;
    let (Some(model), Some(embedder)) = (active, reading.embedder) else { return Ok(None) };
    if !reembed::is_model(&model, embedder.id()) {
        notes.push(format!(
            "keyword search only: the vectors of the memory are from {}",
            model.name
        ));
        return Ok(None);
    }
    let vectors = match embedder.embed(&[text], Purpose::Query) {
        Ok(vectors) => vectors,
        Err(error) => {
            notes.push(format!("keyword search only: {error}"));
            return Ok(None);
        }
    };
    let Some(vector) = vectors.into_iter().next() else { return Ok(None) };
    if vector.len() != model.dims {
        notes.push(format!(
            "keyword search only: the model now returns vectors of {} dimensions, the memory has \
             {}",
            vector.len(),
            model.dims
        ));
        return Ok(None);
    }
    Ok(vector.iter().any(|value| *value != 0.0).then_some((model.id, vector)))
}

/// The texts by their scores, best first; those without any score are left out.
fn rank(looked: &Looked, places: &Places, scores: &Scores) -> Vec<Ranked> {
    let mut best: Vec<Option<(f32, usize)>> = vec![None; places.len()];
    for chunk in 0..looked.chunks.len() {
        let score: f32 = scores.shares(chunk).iter().sum();
        let best = &mut best[places.text_of(chunk)];
        if score > 0.0 && best.is_none_or(|(most, _)| score > most) {
            *best = Some((score, chunk));
        }
    }
    let with_factors = |(text, (score, chunk)): (usize, (f32, usize))| {
        let factors = match looked.chunks[chunk].key.kind() {
            Some(ItemKind::Summary) => factors_of_summary(looked, places.number(text)),
            _ => factors(looked, places.number(text)),
        };
        let product: f32 = factors.iter().map(|part| part.value as f32).product();
        Ranked { text: places.number(text), chunk, score: score * product, factors }
    };
    let mut ranked: Vec<Ranked> = best
        .into_iter()
        .enumerate()
        .filter_map(|(text, best)| best.map(|best| (text, best)))
        .map(with_factors)
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.text.cmp(&b.text)));
    ranked
}

/// What a message's score is multiplied with: who said it, where it stands, what it is.
fn factors(looked: &Looked, text: i64) -> Vec<Part> {
    let Ok(at) = looked.heads.binary_search_by_key(&text, |head| head.key.get()) else {
        return Vec::new();
    };
    let (head, asked) = (&looked.heads[at], &looked.asked);
    let mut factors = Vec::new();
    let mut multiply = |name, value| factors.push(Part { name, value });
    if is_with_assistant(head) && !asked.is_look_up {
        let wanted = if asked.for_assistant { "assistant" } else { "user" };
        if head.role == wanted {
            multiply("role", 1.3);
        }
    } else if head.speaker.as_ref().is_some_and(|name| asked.speakers.contains(name)) {
        multiply("speaker", 1.35);
    }
    if head.is_question {
        multiply("question", 0.88);
    }
    if head.key.place() == 0 {
        multiply("first", 1.1);
    }
    if asked.for_time && head.has_time {
        multiply("time", 1.2);
    }
    factors
}

/// What a summary's score is multiplied with: whether it tells of one whom the question names.
fn factors_of_summary(looked: &Looked, text: i64) -> Vec<Part> {
    let model = EmbeddedModel::get();
    let first = looked.chunks.partition_point(|chunk| chunk.key.text() < text);
    let chunks = looked.chunks[first..].iter().take_while(|chunk| chunk.key.text() == text);
    let tokens: Vec<u16> = chunks.flat_map(|chunk| chunk.tokens.iter().copied()).collect();
    let has = |word: &String| model.word_pieces(word).iter().all(|piece| tokens.contains(piece));
    let is_named = looked.asked.name_words.iter().any(has);
    let named = Part { name: "speaker", value: NAMED_IN_SUMMARY };
    if is_named { vec![named] } else { Vec::new() }
}

/// Puts what repeats a better result a little lower.
fn vary(looked: &Looked, mut ranked: Vec<Ranked>, limit: usize) -> Vec<Ranked> {
    let model = EmbeddedModel::get();
    let looked_at = (limit * 3).min(VARIED);
    let rest = ranked.split_off(ranked.len().min(looked_at));
    let vectors: Vec<Vec<f32>> =
        ranked.iter().map(|ranked| model.pool(&looked.chunks[ranked.chunk].tokens)).collect();
    let mut left: Vec<(f32, usize)> =
        ranked.iter().enumerate().map(|(at, ranked)| (ranked.score, at)).collect();
    let mut varied = Vec::with_capacity(ranked.len());
    while let Some(place) = (0..left.len())
        .max_by(|a, b| left[*a].0.total_cmp(&left[*b].0).then(left[*b].1.cmp(&left[*a].1)))
    {
        let (_, taken) = left.remove(place);
        for (score, other) in &mut left {
            let likeness: f32 =
                vectors[taken].iter().zip(&vectors[*other]).map(|(a, b)| a * b).sum();
            *score *= 1.0 - ALIKE * likeness.max(0.0);
        }
        varied.push(ranked[taken].clone());
    }
    varied.extend(rest);
    varied
}

/// The parts of a score by name: what was added, then what it was multiplied with.
fn parts(scores: &Scores, ranked: &Ranked) -> Vec<Part> {
    const NAMES: [&str; 5] = ["words", "tokens", "topic", "meaning", "meaning nearby"];
    let shares = scores.shares(ranked.chunk);
    let added =
        NAMES.into_iter().zip(shares).map(|(name, value)| Part { name, value: f64::from(value) });
    added.chain(ranked.factors.iter().cloned()).collect()
}

/// Whether a chunk belongs to a message.
pub(super) fn is_message(chunk: &ChunkRow) -> bool {
    chunk.key.kind() == Some(ItemKind::Message)
}
