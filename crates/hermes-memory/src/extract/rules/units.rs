//! A message as its clauses, with what was noticed of each: what the reader judges.

use std::ops::Range;

use super::clause::{self, Doubt};
use super::words::Word;
use super::{Drawing, Found, Kind, is_not_meant, own, rewrite, shape, wish};
use crate::reader::clauses::{Clause as Seen, Message};
use crate::reader::tokens::Token;

/// One clause of a message.
#[derive(Debug)]
pub(super) struct Unit {
    /// Which sentence it belongs to.
    pub(super) sentence: usize,
    /// Its words, without what people say before they come to the point.
    pub(super) words: Vec<Word>,
    /// Where it stands in the message.
    pub(super) place: Range<usize>,
    /// Whether it asks: a question, or for work to be done now.
    pub(super) asks: bool,
    /// Whether the user asked for it to be remembered.
    pub(super) is_wished: bool,
}

/// A message cut into clauses.
#[derive(Debug, Default)]
pub(super) struct Units {
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
            sentence(&mut units, drawing, &words, &place);
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

fn sentence(units: &mut Units, drawing: &Drawing<'_>, words: &[Word], place: &Range<usize>) {
    let start = units.seen.tokens.len();
    let asked = wish::asked(words);
    let content = asked.map_or(0, |asked| asked.content).min(words.len());
    let mut ends = Vec::with_capacity(words.len() + 1);
    for (at, word) in words.iter().enumerate() {
        ends.push(units.seen.tokens.len());
        units.seen.tokens.push(Token::of_word(&word.lower, word.is_capital, at == 0));
        units.seen.tokens.extend(marks(word));
    }
    ends.push(units.seen.tokens.len());
    let number = units.seen.sentences.len();
    units.seen.sentences.push(start..units.seen.tokens.len());
    let mut notes: Vec<&'static str> = Vec::new();
    let mut note = |is: bool, name| notes.extend(is.then_some(name));
    note(asked.is_some(), "wish");
    note(asked.is_some_and(|asked| asked.is_order), "order");
    note(is_not_meant(&drawing.text[place.clone()]), "not meant");
    note(wish::points_back(words), "points back");
    note(drawing.text[place.clone()].contains(['"', '“', '„', '«']), "quotes");
    let mut at = content;
    for clause in clause::clauses(&words[content..]) {
        let (from, to) = (at, at + clause.words.len());
        at = to;
        let (Some(first), Some(last)) = (clause.words.first(), clause.words.last()) else { continue };
        let point = &clause.words[clause.start..];
        let mut own = notes.clone();
        own.push(doubt(clause.doubt));
        let mut note = |is: bool, name| own.extend(is.then_some(name));
        note(clause.is_for_now, "for now");
        note(wish::is_lasting(point), "lasting");
        note(wish::is_change(point), "change");
        note(shape::due(point, drawing.said).is_some(), "due");
        note(point.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit())), "digit");
        units.seen.clauses.push(Seen { sentence: number, place: ends[from]..ends[to], notes: own });
        units.list.push(Unit {
            sentence: number,
            words: point.to_vec(),
            place: first.place.start..last.place.end,
            asks: matches!(clause.doubt, Some(Doubt::Question | Doubt::Request)),
            is_wished: asked.is_some(),
        });
    }
}

/// The words and marks of a whole text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut starts = true;
    for word in super::words::words(text, 0) {
        tokens.push(Token::of_word(&word.lower, word.is_capital, starts));
        tokens.extend(marks(&word));
        let rest = &text[word.place.end..];
        starts = rest.starts_with(['.', '!', '?', ':', '\n']);
        if rest.starts_with(['.', '!']) {
            tokens.push(Token::of_mark("."));
        }
    }
    tokens
}

/// The marks after a word.
fn marks(word: &Word) -> impl Iterator<Item = Token> {
    let after = word.after;
    [
        (after.comma, ","),
        (after.colon, ":"),
        (after.semicolon, ";"),
        (after.dash, "-"),
        (after.bracket, ")"),
        (after.question, "?"),
    ]
    .into_iter()
    .filter_map(|(is, mark)| is.then(|| Token::of_mark(mark)))
}

fn doubt(doubt: Option<Doubt>) -> &'static str {
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

/// TEMPORARY
pub(super) fn dump(drawing: &Drawing<'_>, found: &[Found]) -> serde_json::Value {
    let units = units(drawing, found);
    let list: Vec<_> = units.list.iter().enumerate().map(|(n, u)| {
        let signs = crate::reader::clauses::signs(&units.seen, n);
        let said = &drawing.text[u.place.clone()];
        serde_json::json!({
            "sentence": u.sentence, "place": [u.place.start, u.place.end], "asks": u.asks, "wish": u.is_wished,
            "notes": units.seen.clauses[n].notes,
            "statement": rewrite::capitalised(&rewrite::third_person(drawing.text, &u.words)),
            "h": signs.list.iter().map(|s| s.0).collect::<Vec<_>>(), "w": signs.list.iter().map(|s| (s.1*1e4).round() as i32).collect::<Vec<_>>(),
            "e": hermes_llm::EmbeddedModel::get().embed(said).iter().map(|v| (v*1e4).round() as i32).collect::<Vec<_>>(),
        })
    }).collect();
    let _ = Kind::ALL;
    serde_json::json!(list)
}
