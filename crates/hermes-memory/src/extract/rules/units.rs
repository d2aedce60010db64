//! A message as its clauses, with what was noticed of each: what the reader judges.

use std::ops::Range;

use hermes_llm::EmbeddedModel;

use super::wish::{self, Asked};
use super::{Drawing, clause, is_not_meant, own};
use crate::reader::clauses::{Clause as Seen, Message};
use crate::reader::tokens::{Token, marks};
use crate::reader::words::Word;

/// One clause of a message.
#[derive(Debug)]
pub(super) struct Unit {
    /// Which sentence it belongs to.
    pub(super) sentence: usize,
    /// Which of the words it has, without what people say before they come to the point.
    pub(super) words: Range<usize>,
    /// Where it stands in the message.
    pub(super) place: Range<usize>,
    /// Whether the user asked for it to be remembered.
    pub(super) is_wished: bool,
}

/// A message cut into clauses.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// The words of all sentences.
    pub(super) words: Vec<Word>,
    /// The clauses, in their order.
    pub(super) list: Vec<Unit>,
    /// The same as the reader sees them.
    pub(super) seen: Message,
}

/// What the parts of a message mean, as vectors.
#[derive(Debug, Default)]
pub(super) struct Meanings {
    /// Of each clause.
    pub(super) clauses: Vec<Vec<f32>>,
    /// Of each sentence.
    pub(super) sentences: Vec<Vec<f32>>,
    /// Of all clauses together.
    pub(super) message: Vec<f32>,
}

/// Cuts a message into clauses.
pub(super) fn units(drawing: &Drawing<'_>) -> Units {
    let mut units = Units::default();
    let mut is_under_rules = false;
    for place in own::sentences(drawing.text) {
        let words = drawing.words(&place);
        if words.is_empty() {
            continue;
        }
        let line = drawing.text[..place.start].rfind('\n').map_or(0, |at| at + 1);
        let is_bullet = drawing.text[line..place.start].contains(['-', '*', '•']);
        let text = &drawing.text[place];
        let is_heading = text.ends_with(':') && wish::is_heading_of_rules(&words);
        is_under_rules = is_heading || (is_under_rules && is_bullet);
        if wish::points_back(&words) {
            units.wish_for_last();
        }
        units.add(words, text, is_under_rules && is_bullet);
    }
    units
}

impl Units {
    /// What each clause means, and all of them.
    pub(super) fn meanings(&self, text: &str) -> Meanings {
        let model = EmbeddedModel::get();
        let mut tokens = Vec::new();
        let mut meanings = Meanings::default();
        let mut sentence = 0;
        for (at, unit) in self.list.iter().enumerate() {
            let start = tokens.len();
            if at == 0 || self.list[at - 1].sentence != unit.sentence {
                sentence = start;
            }
            model.tokens(&text[unit.place.clone()], &mut tokens);
            meanings.clauses.push(model.pool(&tokens[start..]));
            meanings.sentences.resize(unit.sentence, Vec::new());
            meanings.sentences.push(model.pool(&tokens[sentence..]));
        }
        meanings.message = model.pool(&tokens);
        meanings
    }

    /// The sentence before is to be remembered: `Remember that.`
    fn wish_for_last(&mut self) {
        let last = self.list.last().map_or(0, |unit| unit.sentence);
        for (unit, seen) in self.list.iter_mut().zip(&mut self.seen.clauses) {
            if unit.sentence == last {
                unit.is_wished = true;
                seen.notes.push("wish");
            }
        }
    }

    /// Adds the clauses of a sentence.
    fn add(&mut self, words: Vec<Word>, text: &str, is_rule: bool) {
        let (first_token, first_word) = (self.seen.tokens.len(), self.words.len());
        let mut starts = Vec::with_capacity(words.len() + 1);
        for (at, word) in words.iter().enumerate() {
            starts.push(self.seen.tokens.len());
            self.seen.tokens.push(Token::of_word(&word.lower, word.is_capital, at == 0));
            self.seen.tokens.extend(marks(word));
        }
        starts.push(self.seen.tokens.len());
        let sentence = self.seen.sentences.len();
        self.seen.sentences.push(first_token..self.seen.tokens.len());
        let asked = wish::asked(&words);
        let notes = notes(&words, text, asked);
        let is_wished = asked.is_some() || is_rule;
        let mut at = asked.map_or(0, |asked| asked.content).min(words.len());
        for clause in clause::clauses(&words[at..]) {
            let end = at + clause.words.len();
            let mut notes = notes.clone();
            let has_digit = |word: &Word| word.lower.contains(|c: char| c.is_ascii_digit());
            notes.extend(clause.words.iter().any(has_digit).then_some("digit"));
            notes.extend(is_rule.then_some("rule"));
            let quoted = clause.words.iter().filter(|word| word.is_quoted).count();
            notes.extend((quoted == clause.words.len()).then_some("quoted"));
            notes.extend((quoted > 0).then_some("partly quoted"));
            self.seen.clauses.push(Seen { sentence, place: starts[at]..starts[end], notes });
            self.list.push(Unit {
                sentence,
                words: first_word + at + clause.start..first_word + end,
                place: words[at].place.start..words[end - 1].place.end,
                is_wished,
            });
            at = end;
        }
        self.words.extend(words);
    }
}

fn notes(words: &[Word], text: &str, asked: Option<Asked>) -> Vec<&'static str> {
    let mut notes = Vec::new();
    let mut note = |is: bool, name| notes.extend(is.then_some(name));
    note(asked.is_some(), "wish");
    note(asked.is_some_and(|asked| asked.is_order), "order");
    note(is_not_meant(text), "not meant");
    note(wish::points_back(words), "points back");
    note(words.iter().any(|word| word.after.question), "asks");
    note(text.contains(['"', '“', '„', '«']), "quotes");
    notes
}
