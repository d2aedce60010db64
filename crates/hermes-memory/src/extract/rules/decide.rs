//! What of a message is kept: the reader judges every clause, the patterns say what exactly it states.

use std::ops::Range;
use std::sync::OnceLock;

use super::units::{self, Units};
use super::{Drawing, Found, Kind, dates, rewrite, wish};
use crate::reader::words::Word;
use crate::reader::{Linear, clauses};

static MODEL: OnceLock<Linear<10>> = OnceLock::new();

/// As sure as this a clause is kept; `model/README.md` says what it was chosen by.
const SURE: f32 = 0.68;
/// What the user asked to remember may be of any kind, if it states something.
const SURE_IF_ASKED: f32 = 0.6;
/// Two neighbours in a sentence of which both may state something of one kind are one fact.
const MAY_BELONG: f32 = 0.2;
/// What is of the first kind can as well be kept as the second: for how many of the labelled facts.
const AS_WELL: [(Kind, Kind, f32); 4] = [
    (Kind::Preference, Kind::Instruction, 0.8),
    (Kind::Instruction, Kind::Preference, 0.45),
    (Kind::Decision, Kind::Tool, 0.15),
    (Kind::Fact, Kind::Instruction, 0.15),
];

/// Clauses of one sentence that state one thing.
#[derive(Debug)]
struct Statement {
    kind: Kind,
    /// How likely it can be kept as this kind.
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
        // `Omar is my cofounder and CTO`: a pattern knows one of both.
        let may_miss = usize::from(statement.kind != Kind::Relation);
        if !exact.is_empty() && left_out(self.text, words, &exact) <= may_miss {
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
        if let Some(before) = statement.units.start.checked_sub(1)
            && (points_back(words) || lacks_its_thing(units, statement))
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
    let meanings = units.meanings(text);
    let sentences = meanings.sentences.iter().map(|one| model.meant(1, one));
    let sentences: Vec<[f32; 10]> = sentences.collect();
    let message = model.meant(2, &meanings.message);
    let mut found: Vec<Statement> = Vec::new();
    for (number, unit) in units.list.iter().enumerate() {
        let meant = model.meant(0, &meanings.clauses[number]);
        let seen = clauses::signs(&units.seen, number, weight);
        let [none, kinds @ ..] =
            model.judge(&seen, Some(&common), &[meant, sentences[unit.sentence], message]);
        let Some((kind, sure)) =
            Kind::ALL.into_iter().zip(kinds).max_by(|one, other| one.1.total_cmp(&other.1))
        else {
            continue;
        };
        let any = 1.0 - none;
        let sure = sure + as_well(kind, &kinds);
        let last = found.last_mut().filter(|last| {
            let before = &units.list[last.units.end - 1];
            let is_same = last.kind == kind || (is_wish(last.kind) && is_wish(kind));
            (before.sentence == unit.sentence || goes_on(units, number, kind))
                && last.units.end == number
                && is_same
                && last.any > MAY_BELONG
                && any > MAY_BELONG
        });
        match last {
            Some(last) => {
                if sure > last.sure {
                    (last.kind, last.sure) = (kind, sure);
                }
                last.any = last.any.max(any);
                last.units.end = number + 1;
            }
            None => found.push(Statement { kind, sure, any, units: number..number + 1 }),
        }
    }
    found
}

/// Whether a short sentence without a subject of its own goes on with the wish or the decision before
/// it: `No American dates with me. Day first, always.`
fn goes_on(units: &Units, number: usize, kind: Kind) -> bool {
    const SHORT: usize = 8;
    let own = &units.list[number];
    let is_one_clause = units.list.get(number + 1).is_none_or(|next| next.sentence != own.sentence);
    let first = units.words[own.words.clone()].first().map_or("", |word| word.lower.as_str());
    (is_wish(kind) || kind == Kind::Decision)
        && is_one_clause
        && own.words.len() <= SHORT
        && !matches!(first, "i" | "we" | "my" | "our")
}

/// How the user wants things, today or always: one is often said with the other.
fn is_wish(kind: Kind) -> bool {
    matches!(kind, Kind::Preference | Kind::Instruction)
}

/// How likely a statement is of another kind but can be kept as this one.
fn as_well(kind: Kind, kinds: &[f32; 9]) -> f32 {
    let likely = |other: Kind| Kind::ALL.into_iter().zip(kinds).find(|(one, _)| *one == other);
    AS_WELL
        .into_iter()
        .filter(|(_, kept, _)| *kept == kind)
        .filter_map(|(other, _, share)| likely(other).map(|(_, likely)| likely * share))
        .sum()
}

/// Whether a deadline may be one of what the clause before it in the sentence names.
fn lacks_its_thing(units: &Units, statement: &Statement) -> bool {
    let first = statement.units.start;
    statement.kind == Kind::Deadline
        && first > 0
        && units.list[first - 1].sentence == units.list[first].sentence
}

/// The words of a statement, in the words of the message.
fn run(units: &Units, statement: &Statement) -> Range<usize> {
    let list = &units.list[statement.units.clone()];
    let start = list.first().map_or(0, |unit| unit.words.start);
    start..list.last().map_or(start, |unit| unit.words.end)
}

/// How many of the words that say something are left out by facts that patterns found.
fn left_out(text: &str, words: &[Word], found: &[Found]) -> usize {
    let said: Vec<String> = found.iter().map(|one| one.statement.to_lowercase()).collect();
    let whole = rewrite::third_person(text, words).to_lowercase();
    crate::task::content_words(&whole)
        .iter()
        .filter(|word| !said.iter().any(|statement| statement.contains(word.as_str())))
        .count()
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
            "she"
                | "he"
                | "they"
                | "it"
                | "its"
                | "this"
                | "that"
                | "these"
                | "both"
                | "his"
                | "her"
        )
    })
}
