//! What exactly a clause says, where a pattern knows it: the sentence, and subject, predicate and object.

use std::ops::Range;

use super::dates;
use super::pattern::Match;
use super::table::{Needs, Rule, table};
use super::wish;
use super::{Drawing, Found, Kind, rewrite};
use crate::reader::words::Word;

impl Drawing<'_> {
    /// The facts of one kind that patterns find in a clause.
    pub(super) fn by_patterns(&mut self, words: &[Word], kind: Kind) -> Vec<Found> {
        let kept = std::mem::take(&mut self.found);
        let mut claimed: Vec<Range<usize>> = Vec::new();
        for (number, found) in self.matches(words, kind) {
            let is_free = claimed
                .iter()
                .all(|other| other.end <= found.words.start || found.words.end <= other.start);
            let rule = &table().rules[number];
            if is_free && is_allowed(rule, &found, words) && self.apply(rule, &found, words) {
                claimed.push(found.words.clone());
            }
        }
        std::mem::replace(&mut self.found, kept)
    }

    fn matches(&self, words: &[Word], kind: Kind) -> Vec<(usize, Match)> {
        let said = self.said;
        let dates =
            move |words: &[Word]| dates::at_start(words, said).map_or(0, |named| named.length);
        let mut matches: Vec<(usize, Match)> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            for number in table().starting_with(&word.lower) {
                let rule = &table().rules[number];
                if rule.kind == kind && (at == 0 || !rule.pattern.is_tied_to_start()) {
                    let found = rule.pattern.find_at(words, at, &dates);
                    matches.extend(found.map(|found| (number, found)));
                }
            }
        }
        matches.sort_by_key(|(number, found)| (*number, found.words.start));
        matches
    }

    /// Keeps what a rule found; false if it turns out to say nothing.
    fn apply(&mut self, rule: &Rule, found: &Match, words: &[Word]) -> bool {
        let day = match rule.needs {
            Needs::Day => {
                found.taken('d').and_then(|place| dates::at_start(&words[place], self.said))
            }
            _ => None,
        };
        if rule.needs == Needs::Day && day.is_none() {
            return false;
        }
        let day = day.map(|named| named.day);
        let fill = |template: &str| self.fill(template, found, words);
        let statement = match (rule.statement, day) {
            (Some(template), Some(day)) => fill(&template.replace("{d}", &day.to_string())),
            (Some(template), None) => fill(template),
            (None, _) => rewrite::capitalised(&rewrite::third_person(self.text, words)),
        };
        let triple = rule.triple.map(|(subject, predicate, object)| {
            let object = day.map_or_else(|| rewrite::short(&fill(object)), |day| day.to_string());
            (rewrite::short(&fill(subject)), predicate.to_owned(), object)
        });
        self.push(rule.kind, statement, words, triple, false);
        if let Some(last) = self.found.last_mut() {
            last.due = day;
        }
        true
    }

    /// A sentence with the words a pattern took in their places.
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
        rewrite::tidy(&filled)
    }
}

fn is_allowed(rule: &Rule, found: &Match, words: &[Word]) -> bool {
    let taken = |name: char| found.taken(name).map_or(&[][..], |place| &words[place]);
    let is_denied = found.words.start > 0
        && matches!(words[found.words.start - 1].lower.as_str(), "not" | "never" | "no");
    !is_denied
        && match rule.needs {
            Needs::Words | Needs::Day => true,
            Needs::Trait => wish::is_trait(taken('x')),
            Needs::Person => wish::is_person(taken('x')),
        }
}
