//! Facts by rules, without a model: sentences, clauses, what speaks against them, patterns for each kind.

mod clause;
mod dates;
mod own;
mod pattern;
mod rewrite;
mod secret;
mod table;
mod table_self;
mod table_wish;
mod table_work;
mod wish;
mod words;

pub use secret::has_secret;

use std::ops::Range;

use jiff::ToSpan;
use jiff::civil::Date;

use self::clause::{Clause, Doubt};
use self::pattern::Match;
use self::table::{Needs, Rule, table};
use self::wish::Asked;
use self::words::Word;
use super::{Found, Kind, Spoken};
use crate::task;

/// The name of these rules, kept with what they find; another number when they find something else.
pub const EXTRACTOR: &str = "rules-1";

/// A longer message is a document: only its beginning is read.
const LONGEST: usize = 20_000;

/// The facts that a message states, in their order.
pub fn draw(message: &Spoken<'_>) -> Vec<Found> {
    if message.role != "user" {
        return Vec::new();
    }
    let text = beginning(message.text);
    let mut drawing = Drawing { message, text, said: message.day(), found: Vec::new() };
    let sentences = own::sentences(text);
    let mut list_wish = false;
    for (number, place) in sentences.iter().enumerate() {
        let words = words::words(&text[place.clone()], place.start);
        if words.is_empty() {
            continue;
        }
        let before = drawing.found.len();
        if wish::points_back(&words) {
            drawing.keep_sentence_before(number.checked_sub(1).map(|at| sentences[at].clone()));
            continue;
        }
        list_wish = drawing.list(&words, place, list_wish);
        if !list_wish || drawing.found.len() == before {
            drawing.sentence(&words, place);
        }
    }
    drawing.answer();
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
    said: Date,
    found: Vec<Found>,
}

impl Drawing<'_> {
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
        for clause in clause::clauses(words) {
            self.clause(&clause, asked.is_some());
        }
        if let Some(asked) = asked
            && self.found.len() == before
            && !words.is_empty()
        {
            self.noted(words, asked);
        }
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
        let kind = if asked.is_order || wish::is_order(words) { Kind::Instruction } else { Kind::Fact };
        let statement = if kind == Kind::Instruction { format!("User wants: {said}") } else { said };
        self.push(kind, statement, words, None, true);
    }

    fn clause(&mut self, clause: &Clause<'_>, is_explicit: bool) {
        let words = &clause.words[clause.start..];
        let said = self.said;
        let dates = move |words: &[Word]| dates::at_start(words, said).map_or(0, |named| named.length);
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
            if is_free && self.is_allowed(rule, &found, clause) && self.apply(rule, &found, words, is_explicit) {
                claimed.push(found.words.clone());
            }
        }
    }

    fn is_allowed(&self, rule: &Rule, found: &Match, clause: &Clause<'_>) -> bool {
        let words = &clause.words[clause.start..];
        let taken = |name: char| found.taken(name).map_or(&[][..], |place| &words[place]);
        let is_stated = clause.doubt.is_none();
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
            Needs::Day => found.taken('d').and_then(|place| dates::at_start(&words[place], self.said)),
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
            let object = day.map_or_else(|| short(&fill(object)), |named| named.day.to_string());
            (short(&fill(subject)), predicate.to_owned(), object)
        });
        self.push(rule.kind, statement, words, triple, is_explicit || wish::is_explicit(words, rule.kind));
        if let (Some(last), Some(named)) = (self.found.last_mut(), day) {
            last.due = Some(named.day);
        }
        true
    }

    /// A sentence with the words a pattern took in their places; `{c}` is the whole clause.
    fn fill(&self, template: &str, found: &Match, words: &[Word]) -> String {
        let mut filled = template.to_owned();
        for name in ['x', 'y', 'z', 's', 'r'] {
            let place = format!("{{{name}}}");
            if filled.contains(&place) {
                let taken = found.taken(name).map(|taken| rewrite::third_person(self.text, &words[taken]));
                filled = filled.replace(&place, taken.as_deref().unwrap_or_default());
            }
        }
        if filled.contains("{c}") {
            filled = filled.replace("{c}", &rewrite::third_person(self.text, words));
        }
        rewrite::tidy(&filled)
    }

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
            entities: task::names(said),
            quote,
            is_explicit,
            is_change: wish::is_change(words),
        });
    }

    /// The sentence before, if `remember that` points back to it and nothing was found in it.
    fn keep_sentence_before(&mut self, before: Option<Range<usize>>) {
        let Some(place) = before else { return };
        let mut is_known = false;
        for found in self.found.iter_mut().filter(|found| place.contains(&found.quote.start)) {
            found.is_explicit = true;
            found.confidence = 0.95;
            is_known = true;
        }
        let words = words::words(&self.text[place.clone()], place.start);
        if !is_known && !is_not_meant(&self.text[place]) && !wish::points_back(&words) {
            self.noted(&words, Asked { content: 0, is_order: false });
        }
    }

    /// A list under a heading of rules: every line of it is one.
    fn list(&mut self, words: &[Word], place: &Range<usize>, is_under_rules: bool) -> bool {
        let line_start = self.text[..place.start].rfind('\n').map_or(0, |at| at + 1);
        let is_bullet = self.text[line_start..place.start].contains(['-', '*', '•']);
        if is_under_rules && is_bullet {
            let said = rewrite::third_person(self.text, words);
            self.push(Kind::Instruction, format!("User wants: {said}"), words, None, true);
            return true;
        }
        words.last().is_some_and(|last| last.after.colon || self.text[place.clone()].ends_with(':'))
            && wish::is_heading_of_rules(words)
    }

    /// A short yes to a question of the assistant.
    fn answer(&mut self) {
        let Some((_, question)) = self.message.before.iter().rev().find(|(role, _)| *role == "assistant")
        else {
            return;
        };
        let words = words::words(self.text, 0);
        if let Some(statement) = wish::agreed(&words, question)
            && self.found.is_empty()
        {
            self.push(Kind::Instruction, statement, &words, None, true);
        }
    }

    /// Every fact once, with the times it holds.
    fn done(mut self) -> Vec<Found> {
        let zone = self.message.zone.clone();
        for found in &mut self.found {
            if let Some(day) = found.due {
                let end = day.checked_add(1.day()).ok().and_then(|next| next.to_zoned(zone.clone()).ok());
                found.valid_to = end.map(|end| end.timestamp());
            }
            if found.is_change {
                found.valid_from = Some(self.message.at);
            }
        }
        let mut seen = std::collections::HashSet::new();
        self.found.retain(|found| seen.insert(found.statement.to_lowercase()));
        self.found
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

/// A value without what is said around it.
fn short(value: &str) -> String {
    const ENDS: &[&str] = &[
        " because ", " since ", " so ", " when ", " but ", ", ", " (", " for ", " now", " instead",
        " these days", " with ", " from now", " if ", " as ", " and ", " over ", " these",
    ];
    let lower = value.to_lowercase();
    let end = ENDS.iter().filter_map(|sign| lower.find(sign)).filter(|at| *at > 0).min();
    let end = end.filter(|end| value.is_char_boundary(*end)).unwrap_or(value.len());
    value[..end].trim().to_owned()
}

/// Signs that a sentence is not meant.
fn is_not_meant(sentence: &str) -> bool {
    sentence.contains(['😂', '🙄', '🤣', '😜', '😉', '😏', '🙃']) || sentence.contains("/s")  && sentence.trim_end().ends_with("/s")
}
