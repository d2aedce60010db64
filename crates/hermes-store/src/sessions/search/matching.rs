//! Finds the terms of a query in a text, word for word as the index would.

use std::collections::HashMap;

use super::query::{Term, TermKind, Way};
use super::words::Words;

/// The terms of a query, ready to be looked for in many texts.
#[derive(Debug)]
pub(super) struct Matcher {
    /// For the first word of each way: the term, whether it is the form that was typed, and what follows.
    by_word: HashMap<String, Vec<Entry>>,
    begun: Vec<(String, Entry)>,
    literals: Vec<(String, usize)>,
    /// For each first byte the lengths of the words looked for, to pass by most words at once.
    lengths: [u64; 256],
}

#[derive(Debug, Clone)]
struct Entry {
    term: usize,
    is_typed: bool,
    lead: Vec<String>,
    begun: Option<String>,
}

/// One place in a text where a term stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) term: usize,
    /// Whether it is the form that was typed, not another form of the word.
    pub(super) is_typed: bool,
    /// The number of its first word in the text.
    pub(super) position: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Matcher {
    /// Makes ready; terms to be kept out are looked for as well, so that conditions can be checked.
    pub(super) fn new(terms: &[Term]) -> Matcher {
        let mut matcher = Matcher {
            by_word: HashMap::new(),
            begun: Vec::new(),
            literals: Vec::new(),
            lengths: [0; 256],
        };
        for (number, term) in terms.iter().enumerate() {
            for (way_number, way) in term.ways.iter().enumerate() {
                matcher.add(number, way_number == 0, way);
            }
        }
        matcher
    }

    fn add(&mut self, term: usize, is_typed: bool, way: &Way) {
        let (words, begun) = match way {
            Way::Literal(text) => return self.literals.push((text.clone(), term)),
            Way::Words(words) => (words.as_slice(), None),
            Way::Begun(words) => match words.split_last() {
                Some((begun, words)) => (words, Some(begun.clone())),
                None => return,
            },
        };
        match words.split_first() {
            Some((first, rest)) => {
                let byte = first.as_bytes().first().copied().unwrap_or(0);
                self.lengths[usize::from(byte)] |= length_bit(first);
                let entry = Entry { term, is_typed, lead: rest.to_vec(), begun };
                self.by_word.entry(first.clone()).or_default().push(entry);
            }
            None => {
                let entry = Entry { term, is_typed, lead: Vec::new(), begun: None };
                self.begun.extend(begun.map(|begun| (begun, entry)));
            }
        }
    }

    /// Every place where a term stands in the text, in order; `words` is left holding the text's words.
    pub(super) fn hits(&self, text: &str, words: &mut Words) -> Vec<Hit> {
        words.read(text);
        let mut hits = Vec::new();
        for position in 0..words.len() {
            let word = words.word(position);
            let byte = word.as_bytes().first().copied().unwrap_or(0);
            if self.lengths[usize::from(byte)] & length_bit(word) != 0
                && let Some(entries) = self.by_word.get(word)
            {
                hits.extend(entries.iter().filter_map(|entry| entry.at(words, position)));
            }
            for (begun, entry) in &self.begun {
                if word.starts_with(begun.as_str()) {
                    hits.extend(entry.at(words, position));
                }
            }
        }
        if !self.literals.is_empty() {
            self.add_literals(text, words, &mut hits);
        }
        hits
    }

    fn add_literals(&self, text: &str, words: &Words, hits: &mut Vec<Hit>) {
        for (literal, term) in &self.literals {
            hits.extend(text.match_indices(literal.as_str()).map(|(start, found)| Hit {
                term: *term,
                is_typed: true,
                position: words.index_at(start),
                start,
                end: start + found.len(),
            }));
        }
        hits.sort_by_key(|hit| hit.start);
    }
}

impl Entry {
    /// The hit, if the words that must follow the one at `position` do follow it.
    fn at(&self, words: &Words, position: usize) -> Option<Hit> {
        let follow = self.lead.iter().enumerate();
        let is_lead = follow.clone().all(|(n, word)| words.word(position + 1 + n) == word);
        let last = position + self.lead.len() + usize::from(self.begun.is_some());
        let is_begun = self
            .begun
            .as_ref()
            .is_none_or(|begun| last < words.len() && words.word(last).starts_with(begun.as_str()));
        (is_lead && is_begun).then(|| Hit {
            term: self.term,
            is_typed: self.is_typed,
            position,
            start: words.place(position).0,
            end: words.place(last).1,
        })
    }
}

fn length_bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// The terms that must be there for a text to have "all of the words": those that say something,
/// or all if none does.
pub(super) fn needed(terms: &[Term]) -> Vec<usize> {
    let of_kind = |kind: TermKind| {
        let numbers = (0..terms.len()).filter(|number| terms[*number].kind == kind);
        numbers.collect::<Vec<usize>>()
    };
    match of_kind(TermKind::Content) {
        content if content.is_empty() => of_kind(TermKind::Stop),
        content => content,
    }
}

#[cfg(test)]
mod tests {
    use super::super::query::parse;
    use super::*;

    fn found(query: &str, text: &str) -> Vec<String> {
        let matcher = Matcher::new(&parse(query).terms);
        let hits = matcher.hits(text, &mut Words::default());
        hits.iter().map(|hit| text[hit.start..hit.end].to_owned()).collect()
    }

    #[test]
    fn words_are_found_in_every_form() {
        assert_eq!(found("decide", "We Decided; they decide."), ["Decided", "decide"]);
        assert_eq!(found("ete", "l’Été"), ["Été"]);
    }

    #[test]
    fn phrases_and_beginnings_are_found_where_they_stand() {
        assert_eq!(found("\"state db\"", "state.db, state of db"), ["state.db"]);
        assert_eq!(found("dep*", "deploy a depot, adept"), ["deploy", "depot"]);
        assert_eq!(found("\"state d\"*", "state.db state x"), ["state.db"]);
        assert_eq!(found("\"a b\"", "a"), Vec::<String>::new());
    }

    #[test]
    fn characters_without_blanks_are_found_inside_a_run() {
        assert_eq!(found("部署", "我们部署了,再部署"), ["部署", "部署"]);
    }
}
