//! How much of what was found, and of what was said, is still there.

use std::collections::HashMap;

use hermes_memory::compress;

use super::corpus::Turn;
use crate::figures::Figure;

/// How many results count as found.
pub(super) const FIRST: usize = 10;
/// How many of the rarest words of a message are looked for.
const RARE: usize = 3;

/// Where what was found before is found after.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) questions: u32,
    /// Questions for which one of it is among the first ten, five, at the first place.
    one: [u32; 3],
    /// Questions for which all of it is among the first ten.
    all: u32,
}

impl Counts {
    pub(super) fn add(&mut self, places: &[Option<usize>]) {
        if places.is_empty() {
            return;
        }
        let within = |place: &Option<usize>, most: usize| place.is_some_and(|at| at < most);
        self.questions += 1;
        for (count, most) in self.one.iter_mut().zip([FIRST, 5, 1]) {
            *count += u32::from(places.iter().any(|place| within(place, most)));
        }
        self.all += u32::from(places.iter().all(|place| within(place, FIRST)));
    }

    pub(super) fn figures(&self, what: &str) -> Vec<Figure> {
        let share = |count: u32| f64::from(count) / f64::from(self.questions.max(1));
        let [ten, five, first] = self.one.map(share);
        vec![
            Figure::new(
                &format!("{what} among the first ten after"),
                format!("{ten:.3} of {} questions", self.questions),
                "≥ .85",
                ten >= 0.85,
            ),
            Figure::plain(
                "the same among the first five, at the first place, all where there are several",
                format!("{five:.3}, {first:.3}, {:.3}", share(self.all)),
            ),
        ]
    }
}

/// How many messages kept one, half, all of their rarest words.
#[derive(Default)]
pub(super) struct Kept {
    messages: u32,
    one: u32,
    half: u32,
    all: u32,
}

impl Kept {
    pub(super) fn add(&mut self, there: usize, words: usize) {
        if words == 0 {
            return;
        }
        self.messages += 1;
        self.one += u32::from(there > 0);
        self.half += u32::from(there * 2 >= words);
        self.all += u32::from(there == words);
    }

    pub(super) fn figure(&self, what: &str) -> Figure {
        let share = |count: u32| f64::from(count) / f64::from(self.messages.max(1));
        let (one, half, all) = (share(self.one), share(self.half), share(self.all));
        Figure::new(
            what,
            format!(
                "{one:.3} one of three, {half:.3} half, {all:.3} all, of {} messages",
                self.messages
            ),
            "half ≥ .6",
            half >= 0.6,
        )
    }
}

/// How many messages of a conversation have each word.
pub(super) struct Rarity(HashMap<String, u32>);

impl Rarity {
    pub(super) fn of(turns: &[Turn]) -> Rarity {
        let mut counts = HashMap::new();
        for turn in turns {
            for word in words(&turn.text) {
                *counts.entry(word).or_default() += 1;
            }
        }
        Rarity(counts)
    }

    /// The rarest words of a text, at most three; of equally rare ones those that are rarer in English.
    pub(super) fn rarest(&self, text: &str) -> Vec<String> {
        let mut words = words(text);
        let count = |word: &String| self.0.get(word).copied().unwrap_or(0);
        words.sort_by(|one, other| {
            let rarer = || compress::rarity(other).total_cmp(&compress::rarity(one));
            count(one).cmp(&count(other)).then_with(rarer)
        });
        words.truncate(RARE);
        words
    }
}

/// The words of a text that say something, each once, in their order.
fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (word, _) in compress::content_words(text) {
        let word = word.to_lowercase();
        if word.chars().count() > 2 && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}
