//! Whether a newer fact means that an older one no longer holds: a linear model over what is seen of both.

use std::sync::OnceLock;

use super::words::{Words, is_number, shared};
use crate::extract::Found;
use crate::reader::Linear;
use crate::reader::signs::{Signs, hash, join};

static MODEL: OnceLock<Linear<2>> = OnceLock::new();

/// One of two facts that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What is seen of its statement.
    pub words: &'a Words,
    /// Whom or what it is about.
    pub subject: Option<&'a str>,
    /// What it says of the subject.
    pub predicate: Option<&'a str>,
    /// The value.
    pub object: Option<&'a str>,
}

impl<'a> Side<'a> {
    /// A fact that was found, with what is seen of its statement.
    pub fn of(found: &'a Found, words: &'a Words) -> Side<'a> {
        Side {
            words,
            subject: found.subject.as_deref(),
            predicate: found.predicate.as_deref(),
            object: found.object.as_deref(),
        }
    }
}

/// How likely the newer fact means that the older one no longer holds; none if they have nothing in common.
pub(super) fn judge(older: &Side<'_>, newer: &Side<'_>) -> Option<f32> {
    let common = Common::of(older, newer)?;
    let model = Linear::once(&MODEL, include_bytes!("../../../model/pairs.bin"));
    let [_, replaced] = model.judge(&signs(older, newer, &common), None, &[]);
    Some(replaced)
}

/// Whether two facts have so much in common that one may take the place of the other: a single word may
/// be a name of which something else is said.
pub(super) fn is_same_thing(older: &Words, newer: &Words) -> bool {
    shared(&newer.content, &older.content) >= 2
}

/// What can be seen of two facts, none if they have nothing in common: what the judge is trained with.
pub fn seen(older: &Side<'_>, newer: &Side<'_>) -> Option<Signs> {
    Common::of(older, newer).map(|common| signs(older, newer, &common))
}

/// The share of common words and how near the meanings are, from 0 to 2.
pub fn nearness(older: &Words, newer: &Words) -> f32 {
    let least = older.content.len().min(newer.content.len()).max(1);
    shared(&newer.content, &older.content) as f32 / least as f32 + cosine(older, newer)
}

fn cosine(older: &Words, newer: &Words) -> f32 {
    older.meaning().iter().zip(newer.meaning()).map(|(one, other)| one * other).sum()
}

/// How near two facts are to each other.
struct Common {
    words: usize,
    cosine: f32,
}

impl Common {
    /// Two facts without a common word must mean nearly the same to be compared.
    fn of(older: &Side<'_>, newer: &Side<'_>) -> Option<Common> {
        const LEAST: f32 = 0.3;
        let words = shared(&newer.words.content, &older.words.content);
        let cosine = cosine(older.words, newer.words);
        let says_the_same = newer.predicate.is_some() && newer.predicate == older.predicate;
        (words > 0 || says_the_same || cosine >= LEAST).then_some(Common { words, cosine })
    }
}

fn signs(older: &Side<'_>, newer: &Side<'_>, common: &Common) -> Signs {
    let mut signs = text(older.words, newer.words).settle(0.0);
    let mut both = Both { signs: &mut signs, changes: changes(newer.words), common: common.words };
    both.nearness(older.words, newer.words, common);
    both.values(older.words, newer.words);
    both.notes(older.words, newer.words);
    both.places(older.words, newer.words);
    for (sort, side) in [("older says", older), ("newer says", newer)] {
        if let Some(predicate) = side.predicate {
            signs.add(sort, hash(predicate), 0.7);
        }
    }
    if let Some(predicate) = newer.predicate.filter(|name| older.predicate == Some(name)) {
        signs.flag(true, "both say");
        signs.add("both say", hash(predicate), 1.0);
    }
    signs
}

/// The newer words, and what stands around those that the older one has too.
fn text(older: &Words, newer: &Words) -> Signs {
    let mut signs = Signs::default();
    signs.runs("", &newer.tokens, 3, 1.0);
    let common = hash("=");
    let is_common = |at: usize| {
        let stem = &newer.stems[at];
        older.content.binary_search(stem).is_ok() && newer.content.binary_search(stem).is_ok()
    };
    let marked: Vec<u32> = (0..newer.tokens.len())
        .map(|at| if is_common(at) { common } else { newer.tokens[at] })
        .collect();
    for length in [2, 3] {
        for run in marked.windows(length).filter(|run| run.contains(&common)) {
            signs.add("around", run.iter().fold(0, |run, word| join(run, *word)), 0.8);
        }
    }
    signs
}

/// How much the newer words speak of a change.
fn changes(newer: &Words) -> u32 {
    match newer.notes {
        notes if notes.changes => 2,
        notes if notes.may_change => 1,
        _ => 0,
    }
}

/// Signs of the two together, and the strongest of them crossed.
struct Both<'a> {
    signs: &'a mut Signs,
    changes: u32,
    common: usize,
}

impl Both<'_> {
    /// A sign by itself, with whether something changed and with how many words are shared.
    fn crossed(&mut self, sort: &str, value: u32) {
        let own = join(hash(sort), value);
        self.signs.add("alone", own, 1.0);
        self.signs.add("changes", join(own, self.changes), 1.0);
        self.signs.add("common", join(own, self.common.min(3) as u32), 1.0);
    }

    fn nearness(&mut self, older: &Words, newer: &Words, common: &Common) {
        let (old, new) = (older.content.len(), newer.content.len());
        let of = |whole: usize| common.words as f32 / whole.max(1) as f32;
        let share = of(old.min(new));
        self.signs.add("cosine", 0, common.cosine * 2.0);
        self.signs.add("share", 0, share);
        self.signs.add("share of older", 0, of(old));
        self.signs.add("share of newer", 0, of(new));
        self.signs.add("length", 0, newer.all.len() as f32 / 20.0);
        let share = step(share, &[0.01, 0.34, 0.5, 0.67, 1.0]);
        self.crossed("words in common", common.words.min(3) as u32);
        self.crossed("share", share);
        self.crossed("share of older", step(of(old), &[0.01, 0.26, 0.5, 0.67, 1.0]));
        self.crossed("cosine", step(common.cosine, &[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]));
        let names = shared(&newer.names, &older.names);
        let kinds = [names > 0, newer.names.len() > names, older.names.len() > names];
        self.crossed("names", bits(&kinds));
        let (only_new, only_old) = (new - common.words, old - common.words);
        self.signs.add("only in newer", only_new.min(6) as u32, 1.0);
        self.signs.add("only in older", only_old.min(4) as u32, 1.0);
        self.signs.add("only in newer, share", join(only_new.min(3) as u32, share), 1.0);
    }

    fn values(&mut self, older: &Words, newer: &Words) {
        let both = shared(&newer.numbers, &older.numbers);
        let is_whole = both == newer.numbers.len() && both == older.numbers.len();
        let kinds = [both > 0, is_whole, newer.numbers.is_empty(), older.numbers.is_empty()];
        self.crossed("numbers", bits(&kinds));
        if has_another_version(newer, older) {
            self.crossed("version", 1);
        }
        let (one, other) = (older.notes.opposites, newer.notes.opposites);
        if (one.0 & other.1 & !other.0) | (one.1 & other.0 & !other.1) != 0 {
            self.crossed("opposites", 1);
        }
    }

    fn notes(&mut self, older: &Words, newer: &Words) {
        let (old, new) = (older.notes, newer.notes);
        self.crossed("no", bits(&[old.negates, new.negates]));
        self.signs.add("changed before", u32::from(old.changes), 1.0);
        if new.adds {
            self.crossed("adds", 1);
        }
        if new.repeats {
            self.crossed("repeats", 1);
        }
    }

    /// Whether they begin alike, and whether the newer one names what the older one begins or ends with.
    fn places(&mut self, older: &Words, newer: &Words) {
        let alike = older.tokens.iter().zip(&newer.tokens).take_while(|(a, b)| a == b).count();
        self.crossed("begin alike", alike.min(4) as u32);
        let first = |words: &Words| words.tokens.first().copied().unwrap_or_default();
        self.signs.add("begin with", join(first(older), first(newer)), 0.7);
        let is_kept =
            |stem: Option<&u32>| stem.is_some_and(|stem| newer.content.binary_search(stem).is_ok());
        let says = |stem: &&u32| older.content.binary_search(stem).is_ok();
        let kept =
            [is_kept(older.stems.iter().find(says)), is_kept(older.stems.iter().rfind(says))];
        self.crossed("kept", bits(&kept));
    }
}

/// `Node 18` and `node 22`.
fn has_another_version(newer: &Words, older: &Words) -> bool {
    let versions = |words: &'_ Words| -> Vec<(u32, u32)> {
        let follows = |at: &usize| is_number(&words.all[*at]) && !is_number(&words.all[at - 1]);
        let found = (1..words.all.len()).filter(follows);
        found.map(|at| (words.stems[at - 1], words.stems[at])).collect()
    };
    let is_content = |name: &u32| newer.content.binary_search(name).is_ok();
    let old = versions(older);
    let new = versions(newer);
    new.iter().any(|(name, number)| {
        is_content(name) && old.iter().any(|(other, before)| other == name && before != number)
    })
}

fn step(value: f32, steps: &[f32]) -> u32 {
    steps.iter().filter(|step| value >= **step).count() as u32
}

fn bits(flags: &[bool]) -> u32 {
    flags.iter().fold(0, |bits, flag| bits << 1 | u32::from(*flag))
}
