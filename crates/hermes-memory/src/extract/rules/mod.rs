//! Facts by rules, without a model: sentences, clauses, what speaks against them, patterns for each kind.

mod clause;
mod clause_words;
mod dates;
mod decide;
mod gather;
mod own;
mod pattern;
mod rewrite;
mod secret;
mod shape;
mod table;
mod table_self;
mod table_wish;
mod table_work;
mod units;
mod wish;

#[cfg(test)]
mod tests;

pub use secret::has_secret;

use std::ops::Range;

use jiff::civil::Date;

use self::clause::{Clause, Doubt};
use self::pattern::Match;
use self::table::{Needs, Rule, table};
use self::wish::Asked;
use super::{Found, Kind, Spoken};
use crate::reader::words::{self, Word};
use crate::task;

/// The name of these rules, kept with what they find; another number when they find something else.
pub const EXTRACTOR: &str = "rules-2";

/// A longer message is a document: only its beginning is read.
const LONGEST: usize = 20_000;

/// The facts that a message states, in their order.
pub fn draw(message: &Spoken<'_>) -> Vec<Found> {
    if message.role != "user" {
        return Vec::new();
    }
    let mut drawing = Drawing::of(message);
    drawing.patterns();
    drawing.decide();
    drawing.answer();
    drawing.done()
}

/// What can be seen of each clause of a message: what the reader is trained with.
pub fn seen(message: &Spoken<'_>) -> Vec<SeenClause> {
    let mut drawing = Drawing::of(message);
    drawing.patterns();
    let found = std::mem::take(&mut drawing.found);
    let units = units::units(&drawing, &found);
    let words = |unit: &units::Unit| &units.words[unit.words.clone()];
    let seen = units.list.iter().enumerate().map(|(number, unit)| SeenClause {
        sentence: unit.sentence,
        place: unit.place.clone(),
        statement: rewrite::third_person(drawing.text, words(unit)),
        signs: crate::reader::clauses::signs(&units.seen, number),
    });
    seen.collect()
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
    pub signs: crate::reader::signs::Signs,
}

/// Every sentence that states something, whether or not it is worth keeping by itself: what a held
/// fact can be compared with.
pub fn statements(message: &Spoken<'_>) -> Vec<Found> {
    if message.role != "user" {
        return Vec::new();
    }
    let mut drawing = Drawing::of(message);
    let text = drawing.text;
    for place in own::sentences(text) {
        let words = drawing.words(&place);
        let is_stated = clause::clauses(&words)
            .first()
            .is_some_and(|clause| matches!(clause.doubt, None | Some(Doubt::Past)));
        if is_stated && words.len() >= 3 && !is_not_meant(&text[place]) {
            let said = rewrite::capitalised(&rewrite::third_person(text, &words));
            drawing.push(Kind::Fact, said, &words, None, false);
        }
    }
    drawing.done()
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
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
        let text = beginning(message.text);
        let quotations = words::quotations(text);
        Drawing { message, text, quotations, said: message.day(), found: Vec::new() }
    }
}

impl Drawing<'_> {
    /// What the patterns find, whether or not it is meant to be kept.
    fn patterns(&mut self) {
        let sentences = own::sentences(self.text);
        let mut list_wish = false;
        for (number, place) in sentences.iter().enumerate() {
            let words = self.words(place);
            if words.is_empty() {
                continue;
            }
            let before = self.found.len();
            if wish::points_back(&words) {
                self.keep_sentence_before(number.checked_sub(1).map(|at| sentences[at].clone()));
                continue;
            }
            list_wish = self.list(&words, place, list_wish);
            if !list_wish || self.found.len() == before {
                self.sentence(&words, place);
            }
        }
    }

    fn words(&self, place: &Range<usize>) -> Vec<Word> {
        let mut words = words::words(&self.text[place.clone()], place.start);
        words::mark(&mut words, &self.quotations);
        words
    }

    /// Everything that a sentence states.
    fn sentence(&mut self, words: &[Word], place: &Range<usize>) {
        let whole = &self.text[place.clone()];
        if is_not_meant(whole) {
            return;
        }
        let asked = wish::asked(words);
        let before = self.found.len();
        let words = match asked {
            Some(Asked { content, .. }) => &words[content..],
            None => words,
        };
        let mut wanted = asked.is_some();
        let mut unknown: Vec<&[Word]> = Vec::new();
        for clause in clause::clauses(words) {
            if wish::points_back(clause.words) {
                wanted = true;
                continue;
            }
            let known = self.found.len();
            self.clause(&clause, asked.is_some());
            if self.found.len() == known && clause.doubt.is_none() {
                unknown.push(clause.words);
            }
        }
        self.widen_decision(before, words);
        self.widen_condition(before, words);
        if !wanted || words.is_empty() {
            return;
        }
        let asked = asked.unwrap_or(Asked { content: 0, is_order: false });
        self.found[before..].iter_mut().for_each(|found| found.is_explicit = true);
        if self.found.len() == before {
            self.noted(without_the_wish(words), asked);
        } else if let Some(first) = unknown.first()
            && first.first() == words.first()
        {
            self.noted(first, asked);
        }
    }

    /// A decision is told by its whole sentence, and is one however many clauses tell it.
    fn widen_decision(&mut self, before: usize, words: &[Word]) {
        let Some(at) = self.found[before..].iter().position(|found| found.kind == Kind::Decision)
        else {
            return;
        };
        let kept = without_the_wish(words);
        let said = rewrite::capitalised(&rewrite::third_person(self.text, kept));
        if let (Some(first), Some(last)) = (kept.first(), kept.last())
            && !secret::has_secret(&said)
        {
            let found = &mut self.found[before + at];
            found.statement = said;
            found.quote = first.place.start..last.place.end;
            found.entities = task::entities(&self.text[found.quote.clone()]);
        }
        let mut number = 0;
        self.found.retain(|found| {
            number += 1;
            let is_later = number > before + at + 1;
            !(is_later && matches!(found.kind, Kind::Decision | Kind::Tool | Kind::Instruction))
        });
    }

    /// A rule for when something happens is told with what is to be done then.
    fn widen_condition(&mut self, before: usize, words: &[Word]) {
        let is_condition = |found: &Found| {
            let said = self.text[found.quote.clone()].to_lowercase();
            found.kind == Kind::Instruction
                && ["when ", "whenever ", "next time ", "every time ", "if "]
                    .iter()
                    .any(|start| said.starts_with(start))
        };
        let Some(at) = self.found[before..].iter().position(is_condition) else { return };
        let at = before + at;
        let start = words
            .iter()
            .position(|word| word.place.start == self.found[at].quote.start)
            .unwrap_or(0);
        let kept = without_the_wish(&words[start..]);
        let said = format!("User wants: {}", rewrite::third_person(self.text, kept));
        if let Some(last) = kept.last()
            && !secret::has_secret(&said)
        {
            self.found[at].quote.end = last.place.end.max(self.found[at].quote.end);
            self.found[at].statement = said;
        }
        let mut number = 0;
        self.found.retain(|found| {
            number += 1;
            number <= at + 1 || !matches!(found.kind, Kind::Instruction | Kind::Preference)
        });
    }

    /// What the user asked to remember and no pattern knows.
    fn noted(&mut self, words: &[Word], asked: Asked) {
        const FEWEST: usize = 3;
        let is_doubted = clause::clauses(words)
            .first()
            .and_then(|clause| clause.doubt)
            .is_some_and(|doubt| matches!(doubt, Doubt::Joke | Doubt::Question | Doubt::Reported));
        if is_doubted || words.len() < FEWEST {
            return;
        }
        let said = rewrite::capitalised(&rewrite::third_person(self.text, words));
        let kind = wish::noted_kind(words, asked.is_order);
        let statement =
            if kind == Kind::Instruction { format!("User wants: {said}") } else { said };
        self.push(kind, statement, words, None, true);
    }

    fn clause(&mut self, clause: &Clause<'_>, is_explicit: bool) {
        let words = &clause.words[clause.start..];
        let said = self.said;
        let dates =
            move |words: &[Word]| dates::at_start(words, said).map_or(0, |named| named.length);
        let mut claimed: Vec<Range<usize>> = Vec::new();
        let mut matches: Vec<(usize, Match)> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            for number in table().starting_with(&word.lower) {
                let pattern = &table().rules[number].pattern;
                if pattern.is_tied_to_start() && at > 0 {
                    continue;
                }
                matches.extend(pattern.find_at(words, at, &dates).map(|found| (number, found)));
            }
        }
        matches.sort_by_key(|(number, found)| (*number, found.words.start));
        for (number, found) in matches {
            let rule = &table().rules[number];
            let is_free = claimed
                .iter()
                .all(|other| other.end <= found.words.start || found.words.end <= other.start);
            if is_free
                && self.is_allowed(rule, &found, clause)
                && self.apply(rule, &found, words, is_explicit)
            {
                claimed.push(found.words.clone());
            }
        }
        if claimed.is_empty() {
            self.shape(clause, is_explicit);
        }
    }

    /// What the shape of a clause tells where no pattern did.
    fn shape(&mut self, clause: &Clause<'_>, is_explicit: bool) {
        let words = &clause.words[clause.start..];
        let is_stated = clause.doubt.is_none();
        let is_ordered = is_stated || clause.doubt == Some(Doubt::Request);
        let said = || rewrite::capitalised(&rewrite::third_person(self.text, words));
        if is_stated && shape::is_place_of_work(words) {
            self.push(Kind::Tool, said(), words, None, is_explicit);
        } else if is_stated && shape::is_account(words) {
            self.push(Kind::Account, said(), words, None, is_explicit);
        } else if let Some(day) = is_stated.then(|| shape::due(words, self.said)).flatten() {
            let statement = format!("Deadline {day}: {}", said());
            self.push(Kind::Deadline, statement, words, None, is_explicit);
            if let Some(last) = self.found.last_mut() {
                last.due = Some(day);
            }
        } else if is_ordered
            && !clause.is_for_now
            && shape::is_rule(words)
            && wish::is_lasting(words)
        {
            let statement = format!("User wants: {}", rewrite::third_person(self.text, words));
            let is_liking =
                clause::has_any(words, &["better", "best", "nicer", "fine", "preferred"]);
            let kind = if is_liking { Kind::Preference } else { Kind::Instruction };
            self.push(kind, statement, words, None, true);
        }
    }

    fn is_allowed(&self, rule: &Rule, found: &Match, clause: &Clause<'_>) -> bool {
        let words = &clause.words[clause.start..];
        let taken = |name: char| found.taken(name).map_or(&[][..], |place| &words[place]);
        let is_stated = clause.doubt.is_none();
        let is_denied = found.words.start > 0
            && matches!(words[found.words.start - 1].lower.as_str(), "not" | "never")
            && matches!(rule.kind, Kind::Identity | Kind::Preference | Kind::Instruction);
        if is_denied {
            return false;
        }
        match rule.needs {
            Needs::Statement | Needs::Day => is_stated,
            Needs::Lasting => is_stated && !clause.is_for_now && wish::is_lasting(words),
            Needs::Order => {
                let is_ordered = matches!(clause.doubt, None | Some(Doubt::Request))
                    || (clause.doubt == Some(Doubt::Question) && wish::asks_for_a_habit(words));
                is_ordered && !clause.is_for_now && wish::is_lasting(words)
            }
            Needs::Trait => is_stated && wish::is_trait(taken('x')),
            Needs::Person => is_stated && wish::is_person(taken('x')),
        }
    }

    /// Keeps what a rule found; false if it turns out to say nothing.
    fn apply(&mut self, rule: &Rule, found: &Match, words: &[Word], is_explicit: bool) -> bool {
        let fill = |template: &str| self.fill(template, found, words);
        let day = match rule.needs {
            Needs::Day => {
                found.taken('d').and_then(|place| dates::at_start(&words[place], self.said))
            }
            _ => None,
        };
        if rule.needs == Needs::Day && day.is_none() {
            return false;
        }
        let statement = match rule.statement {
            Some(template) => {
                let template = day.map_or_else(
                    || template.to_owned(),
                    |named| template.replace("{d}", &named.day.to_string()),
                );
                fill(&template)
            }
            None => rewrite::capitalised(&rewrite::third_person(self.text, words)),
        };
        let triple = rule.triple.map(|(subject, predicate, object)| {
            let object =
                day.map_or_else(|| rewrite::short(&fill(object)), |named| named.day.to_string());
            (rewrite::short(&fill(subject)), predicate.to_owned(), object)
        });
        self.push(
            rule.kind,
            statement,
            words,
            triple,
            is_explicit || wish::is_explicit(words, rule.kind),
        );
        if let (Some(last), Some(named)) = (self.found.last_mut(), day) {
            last.due = Some(named.day);
        }
        self.more(rule, found, words, is_explicit);
        true
    }

    /// What else a clause says of the same subject: a job after a name, a place of work after a job,
    /// a second tool after `and`.
    fn more(&mut self, rule: &Rule, found: &Match, words: &[Word], is_explicit: bool) {
        let predicate = rule.triple.map_or("", |(_, predicate, _)| predicate);
        let taken = found.taken('x').unwrap_or(0..0);
        if predicate == "name"
            && let Some(length) = shape::role_length(&words[taken.end..])
        {
            let role = &words[taken.end..taken.end + length];
            let statement = format!("User is {}", rewrite::third_person(self.text, role));
            let triple =
                ("user".to_owned(), "job".to_owned(), rewrite::third_person(self.text, role));
            self.push(Kind::Identity, statement, role, Some(triple), is_explicit);
        }
        if (rule.needs == Needs::Trait || predicate == "name")
            && let Some(place) = shape::workplace(&words[taken.start..])
        {
            let place = &words[taken.start + place.start..taken.start + place.end];
            let name = rewrite::third_person(self.text, place);
            let triple = ("user".to_owned(), "works_at".to_owned(), name.clone());
            self.push(
                Kind::Identity,
                format!("User is at {name}"),
                place,
                Some(triple),
                is_explicit,
            );
        }
        if rule.kind == Kind::Tool
            && let Some(second) = shape::second_tool(&words[taken.start..])
        {
            let second = taken.start + second.start..taken.start + second.end;
            let lead = rewrite::third_person(self.text, &words[..taken.start]);
            let tool = rewrite::third_person(self.text, &words[second]);
            let statement = rewrite::tidy(&format!("{lead} {tool}"));
            let subject =
                rule.triple.map(|(subject, ..)| rewrite::short(&self.fill(subject, found, words)));
            let triple = subject.map(|subject| (subject, "uses".to_owned(), tool));
            self.push(Kind::Tool, statement, words, triple, is_explicit);
        }
    }

    /// A sentence with the words a pattern took in their places; `{c}` is the whole clause.
    fn fill(&self, template: &str, found: &Match, words: &[Word]) -> String {
        let mut filled = template.to_owned();
        for name in ['x', 'y', 'z', 's', 'r'] {
            let place = format!("{{{name}}}");
            if filled.contains(&place) {
                let taken =
                    found.taken(name).map(|taken| rewrite::third_person(self.text, &words[taken]));
                filled = filled.replace(&place, taken.as_deref().unwrap_or_default());
            }
        }
        if filled.contains("{c}") {
            filled = filled.replace("{c}", &rewrite::third_person(self.text, words));
        }
        rewrite::tidy(&filled)
    }

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
        if secret::has_secret(said) || secret::has_secret(&statement) {
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
            confidence: if is_explicit { 0.95 } else { confidence(kind) },
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

fn confidence(kind: Kind) -> f64 {
    match kind {
        Kind::Identity | Kind::Account => 0.9,
        Kind::Relation | Kind::Deadline | Kind::Instruction | Kind::Decision => 0.85,
        Kind::Preference | Kind::Tool => 0.8,
        Kind::Fact => 0.75,
    }
}

/// The words without a wish to remember at their end.
fn without_the_wish(words: &[Word]) -> &[Word] {
    let mut end = words.len();
    for clause in clause::clauses(words).iter().rev() {
        if wish::points_back(clause.words) || clause.doubt.is_some() {
            end -= clause.words.len();
        } else {
            break;
        }
    }
    &words[..end]
}

/// Signs that a sentence is not meant.
fn is_not_meant(sentence: &str) -> bool {
    sentence.contains(['😂', '🙄', '🤣', '😜', '😉', '😏', '🙃'])
        || sentence.contains("/s") && sentence.trim_end().ends_with("/s")
}
