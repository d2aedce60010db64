//! What was acknowledged, kept outside of every process under test, and how it differs from what is found.

use std::collections::{BTreeMap, BTreeSet};

use crate::tellers::{Kept, TELLERS};

/// Lines, each with how often it is there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines(BTreeMap<String, usize>);

impl Lines {
    pub(crate) fn of(lines: impl IntoIterator<Item = impl Into<String>>) -> Lines {
        let mut counted = BTreeMap::new();
        for line in lines {
            *counted.entry(line.into()).or_default() += 1;
        }
        Lines(counted)
    }

    /// Fails unless the same lines are found, each once; says which are missing, doubled or not wanted.
    pub(crate) fn must_be(&self, found: &Lines, what: &str) {
        let faults = self.differences(found);
        assert!(faults.is_empty(), "{what}: {} lines differ\n{}", faults.len(), shown(&faults));
    }

    /// What differs, line by line.
    pub(crate) fn differences(&self, found: &Lines) -> Vec<String> {
        let all: BTreeSet<&String> = self.0.keys().chain(found.0.keys()).collect();
        let count = |lines: &Lines, line: &String| lines.0.get(line).copied().unwrap_or(0);
        let fault = |line: &String| match (count(self, line), count(found, line)) {
            (wanted, there) if wanted == there => None,
            (_, 0) => Some(format!("missing: {line}")),
            (0, there) => Some(format!("nobody said this, and it is there {there} times: {line}")),
            (_, there) => Some(format!("there {there} times: {line}")),
        };
        all.into_iter().filter_map(fault).collect()
    }
}

/// The first of many.
fn shown(faults: &[String]) -> String {
    const MOST: usize = 40;
    faults.iter().take(MOST).map(|fault| format!("  {fault}\n")).collect()
}

/// What was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Account {
    turns: BTreeSet<(usize, usize)>,
    places: BTreeMap<String, usize>,
}

impl Account {
    /// Notes a turn that was acknowledged; nobody acknowledges one twice.
    pub(crate) fn note(&mut self, kept: Kept) {
        let is_new = self.turns.insert((kept.teller, kept.number));
        assert!(is_new, "acknowledged twice: {kept:?}");
        *self.places.entry(kept.place).or_default() += 1;
    }

    pub(crate) fn count(&self) -> usize {
        self.turns.len()
    }

    /// The teller with the fewest turns so far.
    pub(crate) fn last(&self) -> usize {
        let count = |teller: &usize| self.turns.range((*teller, 0)..(*teller + 1, 0)).count();
        (0..TELLERS.len()).min_by_key(count).unwrap()
    }

    /// Where they were kept when they were acknowledged.
    pub(crate) fn places(&self) -> &BTreeMap<String, usize> {
        &self.places
    }

    /// A few of the turns, spread over all of them.
    pub(crate) fn some(&self, count: usize) -> impl Iterator<Item = (usize, usize)> {
        let step = (self.turns.len() / count).max(1);
        self.turns.iter().copied().step_by(step)
    }

    /// The messages of all turns of the tellers that are asked for: `of` says with which words before them, if at all.
    pub(crate) fn lines(&self, of: impl Fn(usize) -> Option<String>) -> Lines {
        let said = self.turns.iter().filter_map(|(teller, number)| {
            let (before, who) = (of(*teller)?, &TELLERS[*teller]);
            let (asked, answered) = (who.asked(*number), who.answered(*number));
            Some([format!("{before}user: {asked}"), format!("{before}assistant: {answered}")])
        });
        Lines::of(said.flatten())
    }
}

#[test]
fn what_is_missing_doubled_or_foreign_is_named() {
    let wanted = Lines::of(["a", "b", "c"]);
    assert_eq!(wanted.differences(&Lines::of(["c", "b", "a"])), Vec::<String>::new());
    let found = Lines::of(["a", "a", "c", "d"]);
    let faults = ["there 2 times: a", "missing: b", "nobody said this, and it is there 1 times: d"];
    assert_eq!(wanted.differences(&found), faults);
}
