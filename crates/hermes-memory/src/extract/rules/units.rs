//! A message as its clauses, with what was noticed of each: what the reader judges.

use std::ops::Range;

use super::clause::{self, Clause, Doubt};
use super::wish::{self, Asked};
use super::{Drawing, Found, is_not_meant, own, shape};
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

/// Cuts a message into clauses; `found` is what the patterns found in it.
pub(super) fn units(drawing: &Drawing<'_>, found: &[Found]) -> Units {
    let mut units = Units::default();
    for place in own::sentences(drawing.text) {
        let words = drawing.words(&place);
        if !words.is_empty() {
            units.add(drawing, words, &drawing.text[place]);
        }
    }
    for (unit, seen) in units.list.iter().zip(&mut units.seen.clauses) {
        for one in found.iter().filter(|one| overlaps(&one.quote, &unit.place)) {
            seen.notes.push(one.kind.as_str());
        }
    }
    units
}

/// Whether two places have something in common.
pub(super) fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

impl Units {
    /// Adds the clauses of a sentence.
    fn add(&mut self, drawing: &Drawing<'_>, words: Vec<Word>, text: &str) {
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
        let common = notes_of_sentence(&words, text, asked);
        let mut at = asked.map_or(0, |asked| asked.content).min(words.len());
        for clause in clause::clauses(&words[at..]) {
            let end = at + clause.words.len();
            let mut notes = common.clone();
            notes.extend(notes_of_clause(&clause, drawing));
            self.seen.clauses.push(Seen { sentence, place: starts[at]..starts[end], notes });
            self.list.push(Unit {
                sentence,
                words: first_word + at + clause.start..first_word + end,
                place: words[at].place.start..words[end - 1].place.end,
            });
            at = end;
        }
        self.words.extend(words);
    }
}

fn notes_of_sentence(words: &[Word], text: &str, asked: Option<Asked>) -> Vec<&'static str> {
    let mut notes = Vec::new();
    let mut note = |is: bool, name| notes.extend(is.then_some(name));
    note(asked.is_some(), "wish");
    note(asked.is_some_and(|asked| asked.is_order), "order");
    note(is_not_meant(text), "not meant");
    note(wish::points_back(words), "points back");
    note(text.contains(['"', '“', '„', '«']), "quotes");
    notes
}

fn notes_of_clause(clause: &Clause<'_>, drawing: &Drawing<'_>) -> Vec<&'static str> {
    let point = &clause.words[clause.start..];
    let mut notes = vec![name_of(clause.doubt)];
    let mut note = |is: bool, name| notes.extend(is.then_some(name));
    note(clause.is_for_now, "for now");
    note(wish::is_lasting(point), "lasting");
    note(wish::is_change(point), "change");
    note(shape::due(point, drawing.said).is_some(), "due");
    note(point.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit())), "digit");
    notes
}

fn name_of(doubt: Option<Doubt>) -> &'static str {
    match doubt {
        None => "stated",
        Some(Doubt::Question) => "question",
        Some(Doubt::Hypothesis) => "hypothesis",
        Some(Doubt::Reported) => "reported",
        Some(Doubt::Request) => "request",
        Some(Doubt::Unsure) => "unsure",
        Some(Doubt::Past) => "past",
        Some(Doubt::Joke) => "joke",
    }
}
