//! What a clause of a message states: one of the kinds of facts, or nothing to keep.

use std::ops::Range;

use super::signs::{Signs, hash, join};
use super::tokens::{Token, hashes, without_courtesies};

/// A message whose clauses are to be judged.
#[derive(Debug, Default)]
pub struct Message {
    /// The words and marks of all its own sentences.
    pub tokens: Vec<Token>,
    /// Where each sentence stands in the tokens.
    pub sentences: Vec<Range<usize>>,
    /// The clauses, in their order.
    pub clauses: Vec<Clause>,
}

/// One clause.
#[derive(Debug, Clone)]
pub struct Clause {
    /// Which sentence it belongs to.
    pub sentence: usize,
    /// Where it stands in the tokens.
    pub place: Range<usize>,
    /// What was noticed of it: doubts, wishes, patterns that fit.
    pub notes: Vec<&'static str>,
}

/// What every clause of a message has in common with its other clauses; not settled.
pub fn common(message: &Message) -> Signs {
    let mut signs = Signs::default();
    for token in &message.tokens {
        signs.add("message", token.word, 0.25);
    }
    let tokens = &message.tokens;
    signs.add("message starts", run(&tokens[..tokens.len().min(1)]), 0.7);
    signs.add("message starts", run(&tokens[..tokens.len().min(2)]), 0.7);
    signs.add("message length", (tokens.len() / 10).min(6) as u32, 1.0);
    signs.add("clauses", message.clauses.len().min(5) as u32, 1.0);
    signs
}

/// What can be seen of a clause and what stands around it; `common` is the weight of what it has in
/// common with the others, see [`Signs::squares`].
pub fn signs(message: &Message, number: usize, common: f32) -> Signs {
    let clause = &message.clauses[number];
    let own = &message.tokens[clause.place.clone()];
    let mut signs = Signs::default();
    inside(&mut signs, own);
    around(&mut signs, message, number);
    for note in &clause.notes {
        signs.add("note", hash(note), 1.0);
    }
    signs.settle(common)
}

fn inside(signs: &mut Signs, own: &[Token]) {
    let plain = hashes(own);
    signs.runs("", &plain, 3, 1.0);
    let frames: Vec<u32> = own.iter().take(12).map(|token| token.frame).collect();
    signs.runs("frame", &frames, 4, 0.7);
    if own.iter().any(|token| token.is_name) {
        let mut classes: Vec<u32> = own.iter().map(|token| token.class).collect();
        classes.dedup();
        signs.runs("class", &classes, 4, 0.8);
    }
    let point = without_courtesies(own);
    for length in 1..=point.len().min(4) {
        signs.add("point", run(&point[..length]), 1.0);
    }
    for (at, token) in own.iter().enumerate() {
        if let (Some(stem), Some(ending)) = (token.stem, token.ending) {
            signs.add("stem", stem, 0.5);
            signs.add("ending", ending, 0.3);
        }
        for far in [2, 3] {
            if let Some(other) = own.get(at + far).filter(|_| token.is_small) {
                let pair = join(token.word, other.word);
                signs.add(["", "", "far", "farther"][far], pair, 0.4);
            }
        }
    }
    let names = own.iter().filter(|token| token.is_name).count();
    signs.add("names", names.min(3) as u32, 1.0);
    signs.add("length", (own.len() / 4).min(6) as u32, 1.0);
}

fn around(signs: &mut Signs, message: &Message, number: usize) {
    let clause = &message.clauses[number];
    let sentence = &message.sentences[clause.sentence];
    let tokens = &message.tokens;
    for token in tokens[sentence.start..clause.place.start]
        .iter()
        .chain(&tokens[clause.place.end..sentence.end])
    {
        signs.add("sentence", token.word, 0.5);
    }
    let whole = &tokens[sentence.clone()];
    signs.add("sentence starts", run(&whole[..whole.len().min(1)]), 0.7);
    signs.add("sentence starts", run(&whole[..whole.len().min(2)]), 0.7);
    match number.checked_sub(1).map(|before| &message.clauses[before]) {
        Some(before) => {
            let said = &tokens[before.place.clone()];
            for token in said {
                signs.add("before", token.word, 0.3);
            }
            let end = said.len().saturating_sub(2);
            signs.add("before ends", run(&said[end..]), 0.5);
            for note in &before.notes {
                signs.add("note before", hash(note), 0.7);
            }
        }
        None => signs.flag(true, "first clause"),
    }
    place(signs, message, number);
    if let Some(next) = message.clauses.get(number + 1) {
        for token in tokens[next.place.clone()].iter().take(4) {
            signs.add("next", token.word, 0.3);
        }
    }
}

/// Where the clause stands, and how the sentences beside its own begin.
fn place(signs: &mut Signs, message: &Message, number: usize) {
    let clause = &message.clauses[number];
    let sentences = &message.sentences;
    let later = sentences.len() - 1 - clause.sentence;
    signs.add("sentences before", clause.sentence.min(3) as u32, 0.7);
    signs.add("sentences after", later.min(3) as u32, 0.7);
    signs.flag(number + 1 == message.clauses.len(), "last clause");
    let beside = [
        ("sentence before", clause.sentence.checked_sub(1)),
        ("sentence after", Some(clause.sentence + 1)),
    ];
    for (sort, which) in beside {
        let Some(place) = which.and_then(|which| sentences.get(which)) else { continue };
        let words = &message.tokens[place.clone()];
        signs.add(sort, run(&words[..words.len().min(1)]), 0.5);
        signs.add(sort, run(&words[..words.len().min(2)]), 0.5);
        signs.add(sort, run(&words[words.len() - 1..]), 0.5);
    }
}

/// Some words in their order.
fn run(tokens: &[Token]) -> u32 {
    tokens.iter().fold(0, |run, token| join(run, token.word))
}
