//! What of a message is kept: the reader judges every clause, the patterns say what exactly it states.

use std::ops::Range;
use std::sync::OnceLock;

use hermes_llm::EmbeddedModel;

use super::units::{self, Units};
use super::{Drawing, Found, Kind, dates, rewrite, wish};
use crate::reader::words::Word;
use crate::reader::{Linear, clauses};

static MODEL: OnceLock<Linear<10>> = OnceLock::new();

/// As sure as this a clause is kept.
const SURE: f32 = 0.65;
/// What the user asked to remember needs less.
const SURE_IF_ASKED: f32 = 0.4;
/// Two neighbours in a sentence of which both may state something of one kind are one fact.
const MAY_BELONG: f32 = 0.3;

/// Clauses of one sentence that state one thing.
#[derive(Debug)]
struct Statement {
    kind: Kind,
    /// How likely it is of this kind.
    sure: f32,
    /// How likely it states anything to keep.
    any: f32,
    /// Which clauses.
    units: Range<usize>,
}

impl Drawing<'_> {
    /// Keeps what the reader takes for a fact.
    pub(super) fn decide(&mut self) {
        let units = units::units(self);
        for statement in statements(&units, self.text) {
            let is_wished = units.list[statement.units.clone()].iter().any(|unit| unit.is_wished);
            let is_sure = match is_wished {
                true => statement.any >= SURE_IF_ASKED,
                false => statement.sure >= SURE,
            };
            if is_sure {
                self.keep(&units, &statement, is_wished);
            }
        }
    }

    fn keep(&mut self, units: &Units, statement: &Statement, is_wished: bool) {
        let words = &units.words[run(units, statement)];
        let mut exact = Vec::new();
        for unit in &units.list[statement.units.clone()] {
            exact.extend(self.by_patterns(&units.words[unit.words.clone()], statement.kind));
        }
        let before = self.found.len();
        if !exact.is_empty() && says_most(self.text, words, &exact) {
            self.found.extend(exact);
        } else {
            self.whole(units, statement, &exact);
        }
        let is_standing = statement.kind == Kind::Instruction && wish::is_standing(words);
        for found in &mut self.found[before..] {
            found.is_explicit = is_wished || is_standing;
            found.confidence = (f64::from(statement.sure) * 100.0).round() / 100.0;
            found.confidence = found.confidence.clamp(0.5, 0.97);
        }
    }

    /// Keeps the whole of some clauses as one fact; `exact` is what patterns know of it.
    fn whole(&mut self, units: &Units, statement: &Statement, exact: &[Found]) {
        let words = &units.words[run(units, statement)];
        let day = exact.iter().find_map(|one| one.due);
        let day = day.or_else(|| dates::last(words, self.said).map(|(_, named)| named.day));
        let triple = match exact {
            [one] => triple_of(one),
            _ => None,
        };
        let mut said = rewrite::third_person(self.text, words);
        if points_back(words)
            && let Some(before) = statement.units.start.checked_sub(1)
        {
            let before = &units.words[units.list[before].words.clone()];
            said = format!("{}; {said}", rewrite::third_person(self.text, before));
        }
        // What a pattern says in other words stands before it: the words people look for.
        if let [one] = exact
            && statement.kind != Kind::Deadline
            && !said.eq_ignore_ascii_case(&one.statement)
        {
            let rest = ["User ", "The team "].iter().find_map(|start| said.strip_prefix(start));
            said = format!("{} ({})", one.statement, rest.unwrap_or(&said));
        }
        let said = match (statement.kind, day) {
            (Kind::Deadline, Some(day)) => format!("Deadline {day}: {said}"),
            (Kind::Deadline, None) => return,
            (Kind::Instruction, _) => format!("User wants: {}", uncapitalised(&said)),
            _ => rewrite::capitalised(&said),
        };
        self.push(statement.kind, said, words, triple, false);
        if let Some(last) = self.found.last_mut()
            && statement.kind == Kind::Deadline
        {
            last.due = day;
        }
    }
}

/// What the clauses of a message state, neighbours that belong together as one.
fn statements(units: &Units, text: &str) -> Vec<Statement> {
    let model = Linear::once(&MODEL, include_bytes!("../../../model/clauses.bin"));
    let common = clauses::common(&units.seen);
    let (weight, common) = (common.squares(), model.sums(&common));
    let mut found: Vec<Statement> = Vec::new();
    for (number, unit) in units.list.iter().enumerate() {
        let meaning = EmbeddedModel::get().embed(&text[unit.place.clone()]);
        let seen = clauses::signs(&units.seen, number, weight);
        let [none, kinds @ ..] = model.judge(&seen, Some(&common), Some(&meaning));
        let Some((kind, sure)) =
            Kind::ALL.into_iter().zip(kinds).max_by(|one, other| one.1.total_cmp(&other.1))
        else {
            continue;
        };
        let any = 1.0 - none;
        let last = found.last_mut().filter(|last| {
            let before = &units.list[last.units.end - 1];
            before.sentence == unit.sentence
                && last.units.end == number
                && last.kind == kind
                && last.any > MAY_BELONG
                && any > MAY_BELONG
        });
        match last {
            Some(last) => {
                last.sure = last.sure.max(sure);
                last.any = last.any.max(any);
                last.units.end = number + 1;
            }
            None => found.push(Statement { kind, sure, any, units: number..number + 1 }),
        }
    }
    found
}

/// The words of a statement, in the words of the message.
fn run(units: &Units, statement: &Statement) -> Range<usize> {
    let list = &units.list[statement.units.clone()];
    let start = list.first().map_or(0, |unit| unit.words.start);
    start..list.last().map_or(start, |unit| unit.words.end)
}

/// Whether facts that patterns found leave out hardly anything of the words.
fn says_most(text: &str, words: &[Word], found: &[Found]) -> bool {
    const LEFT_OUT: usize = 1;
    let said: Vec<String> = found.iter().map(|one| one.statement.to_lowercase()).collect();
    let whole = rewrite::third_person(text, words).to_lowercase();
    let left_out = crate::task::content_words(&whole)
        .iter()
        .filter(|word| !said.iter().any(|statement| statement.contains(word.as_str())))
        .count();
    left_out <= LEFT_OUT
}

fn triple_of(found: &Found) -> Option<(String, String, String)> {
    Some((found.subject.clone()?, found.predicate.clone()?, found.object.clone()?))
}

/// A sentence that goes on after a colon: a capital only where a name begins it.
fn uncapitalised(said: &str) -> String {
    let first = said.split([' ', ',']).next().unwrap_or_default();
    let is_name = crate::task::entities(said).iter().any(|name| name.starts_with(first));
    let is_plain = first.chars().skip(1).all(char::is_lowercase) && first != "User";
    let mut letters = said.chars();
    match letters.next() {
        Some(letter) if is_plain && !is_name => {
            letter.to_lowercase().collect::<String>() + letters.as_str()
        }
        _ => said.to_owned(),
    }
}

/// Whether words speak of something that was named before them.
fn points_back(words: &[Word]) -> bool {
    words.first().is_some_and(|word| {
        matches!(
            word.lower.as_str(),
            "she" | "he" | "they" | "it" | "this" | "that" | "these" | "both" | "his" | "her"
        )
    })
}
