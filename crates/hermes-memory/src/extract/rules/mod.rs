//! Facts without a model: sentences, clauses, what the reader makes of each, patterns for what exactly it says.

mod clause;
mod clause_words;
mod dates;
mod decide;
mod gather;
mod own;
mod pattern;
mod patterns;
mod rewrite;
mod table;
mod table_self;
mod table_work;
mod units;
mod wish;

#[cfg(test)]
mod tests;

use std::ops::Range;

use hermes_home::redaction::tells_of_secret;
use jiff::civil::Date;

use super::{Found, Kind, Spoken};
use crate::reader::clauses;
use crate::reader::signs::Signs;
use crate::reader::words::{self, Word};
use crate::task;

/// The name of these rules, kept with what they find; another number when they find something else.
pub const EXTRACTOR: &str = "rules-3";

/// A longer message is a document: only its beginning is read.
const LONGEST: usize = 20_000;

/// The facts that a message states, in their order.
pub fn draw(message: &Spoken<'_>) -> Vec<Found> {
    if message.role != "user" {
        return Vec::new();
    }
    let mut drawing = Drawing::of(message);
    drawing.decide();
    drawing.answer();
    drawing.done()
}

/// Every sentence that states something, whether or not it is worth keeping by itself: what a held
/// fact can be compared with.
pub fn statements(message: &Spoken<'_>) -> Vec<Found> {
    const FEWEST: usize = 3;
    if message.role != "user" {
        return Vec::new();
    }
    let mut drawing = Drawing::of(message);
    for place in own::sentences(drawing.text) {
        let words = drawing.words(&place);
        let asks = words.last().is_some_and(|word| word.after.question);
        if words.len() >= FEWEST && !asks && !is_not_meant(&drawing.text[place]) {
            let said = rewrite::capitalised(&rewrite::third_person(drawing.text, &words));
            drawing.push(Kind::Fact, said, &words, None, false);
        }
    }
    drawing.done()
}

/// A clause with what can be seen of it.
#[derive(Debug)]
pub struct SeenClause {
    /// Which sentence it belongs to.
    pub sentence: usize,
    /// Where it stands in the message.
    pub place: Range<usize>,
    /// What it says, in the third person.
    pub statement: String,
    /// What can be seen.
    pub signs: Signs,
    /// What it means, what its sentence means and what the whole message means.
    pub meanings: [Vec<f32>; 3],
}

/// What can be seen of each clause of a message: what the reader is trained with.
pub fn seen(message: &Spoken<'_>) -> Vec<SeenClause> {
    let drawing = Drawing::of(message);
    let units = units::units(&drawing);
    let common = clauses::common(&units.seen);
    let meanings = units.meanings(drawing.text);
    let signs = |number| {
        let mut signs = clauses::signs(&units.seen, number, common.squares());
        let scale = signs.scale;
        signs.list.extend(common.list.iter().map(|(hash, weight)| (*hash, weight * scale)));
        signs
    };
    let seen = units.list.iter().enumerate().map(|(number, unit)| SeenClause {
        sentence: unit.sentence,
        place: unit.place.clone(),
        statement: rewrite::third_person(drawing.text, &units.words[unit.words.clone()]),
        signs: signs(number),
        meanings: [
            meanings.clauses[number].clone(),
            meanings.sentences[unit.sentence].clone(),
            meanings.message.clone(),
        ],
    });
    seen.collect()
}

/// The facts of one message, being found.
struct Drawing<'a> {
    message: &'a Spoken<'a>,
    text: &'a str,
    quotations: Vec<Range<usize>>,
    said: Date,
    found: Vec<Found>,
}

impl<'a> Drawing<'a> {
    fn of(message: &'a Spoken<'a>) -> Drawing<'a> {
        let text = &message.text[..message.text.floor_char_boundary(LONGEST)];
        let quotations = words::quotations(text);
        Drawing { message, text, quotations, said: message.day(), found: Vec::new() }
    }
}

impl Drawing<'_> {
    fn words(&self, place: &Range<usize>) -> Vec<Word> {
        let mut words = words::words(&self.text[place.clone()], place.start);
        words::mark(&mut words, &self.quotations);
        words
    }

    /// Keeps a fact, unless it tells a secret.
    #[expect(clippy::too_many_arguments, reason = "what kind, which words, what they say, how")]
    fn push(
        &mut self,
        kind: Kind,
        statement: String,
        words: &[Word],
        triple: Option<(String, String, String)>,
        is_explicit: bool,
    ) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let quote = first.place.start..last.place.end;
        let said = &self.text[quote.clone()];
        if tells_of_secret(said) || tells_of_secret(&statement) {
            return;
        }
        let (subject, predicate, object) = match triple {
            Some((subject, predicate, object)) => (Some(subject), Some(predicate), Some(object)),
            None => (None, None, None),
        };
        self.found.push(Found {
            kind,
            statement,
            subject,
            predicate,
            object,
            confidence: 0.5,
            valid_from: None,
            valid_to: None,
            due: None,
            entities: task::entities(said),
            quote,
            is_explicit,
            is_change: wish::is_change(words),
        });
    }
}

/// Signs that a sentence is not meant.
fn is_not_meant(sentence: &str) -> bool {
    sentence.contains(['😂', '🙄', '🤣', '😜', '😉', '😏', '🙃'])
        || sentence.contains("/s") && sentence.trim_end().ends_with("/s")
}
