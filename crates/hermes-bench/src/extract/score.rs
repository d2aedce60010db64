//! How well what was drawn fits the labels.

use hermes_memory::extract::{Found, Kind, Spoken, relate, rules};
use hermes_memory::task;
use hermes_store::memory::Standing;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::set::{Half, Label, Turn};

/// How many were right, wrong and missed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Score {
    right: usize,
    /// How many labels the right ones say; more than there are right ones where one says several.
    found: usize,
    wrong: usize,
    missed: usize,
}

impl Score {
    pub(super) fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub(super) fn recall(self) -> f64 {
        share(self.found, self.found + self.missed)
    }

    pub(super) fn written(self) -> String {
        let (precision, recall) = (self.precision(), self.recall());
        let both = 2.0 * precision * recall / (precision + recall).max(1e-9);
        format!(
            "P {precision:.3}, R {recall:.3}, F1 {both:.3} ({} right, {} wrong, {} missed)",
            self.right, self.wrong, self.missed
        )
    }

    fn add(&mut self, wanted: bool, got: bool) {
        match (wanted, got) {
            (true, true) => {
                self.right += 1;
                self.found += 1;
            }
            (false, true) => self.wrong += 1,
            (true, false) => self.missed += 1,
            (false, false) => {}
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Facts of all kinds, and of each.
#[derive(Default)]
pub(super) struct FactScores {
    pub(super) all: Score,
    /// The same if a fact is counted for one label, however many it says.
    pub(super) apart: Score,
    kinds: Vec<(Kind, Score)>,
}

impl FactScores {
    pub(super) fn of(&self, kind: Kind) -> Score {
        self.kinds
            .iter()
            .find(|(known, _)| *known == kind)
            .map(|(_, score)| *score)
            .unwrap_or_default()
    }

    fn note(&mut self, kind: Kind, right: usize, wrong: usize, missed: usize) {
        let add = |score: &mut Score| {
            score.right += right.min(1);
            score.found += right;
            score.wrong += wrong;
            score.missed += missed;
        };
        add(&mut self.all);
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, score)) => add(score),
            None => {
                let mut score = Score::default();
                add(&mut score);
                self.kinds.push((kind, score));
            }
        }
    }
}

/// A drawn fact is right if it says what a label of its message says that no fact before it said: its
/// kind, all its words and its day. One sentence may say what several labels say. Everything else that
/// is drawn is wrong, and every label that nothing says is missed.
pub(super) fn facts(half: &Half) -> anyhow::Result<FactScores> {
    let mut scores = FactScores::default();
    for turn in &half.turns {
        let mut labels: Vec<&Label> = turn.facts.iter().collect();
        for found in draw(turn)? {
            let before = labels.len();
            labels.retain(|label| !fits(&found, label));
            let right = before - labels.len();
            scores.note(found.kind, right, usize::from(right == 0), 0);
            scores.apart.add(right > 0, true);
            scores.apart.missed += right.saturating_sub(1);
        }
        for label in labels {
            let kind = label.kind.first().and_then(|word| Kind::from_word(word));
            scores.note(kind.unwrap_or(Kind::Fact), 0, 0, 1);
            scores.apart.missed += 1;
        }
    }
    Ok(scores)
}

/// Prints what is wrong and what is missed.
pub(super) fn show(half: &Half) -> anyhow::Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stderr().lock();
    for turn in &half.turns {
        let mut labels: Vec<&Label> = turn.facts.iter().collect();
        for found in draw(turn)? {
            let before = labels.len();
            labels.retain(|label| !fits(&found, label));
            if before == labels.len() {
                let (kind, sure) = (found.kind.as_str(), found.confidence);
                writeln!(out, "wrong {kind} {sure:.2} | {} | {}", found.statement, turn.text)?;
            }
        }
        for label in labels {
            writeln!(out, "missed {:?} {:?} | {}", label.kind, label.must, turn.text)?;
        }
    }
    Ok(())
}

fn draw(turn: &Turn) -> anyhow::Result<Vec<Found>> {
    let (at, zone) = turn.when()?;
    let before: Vec<(&str, &str)> =
        turn.before.iter().map(|said| (said.role.as_str(), said.text.as_str())).collect();
    let spoken = Spoken { role: &turn.role, text: &turn.text, before: &before, at, zone: &zone };
    Ok(rules::draw(&spoken))
}

fn fits(found: &Found, label: &Label) -> bool {
    let statement = found.statement.to_lowercase();
    label.kind.iter().any(|kind| kind == found.kind.as_str())
        && label.must.iter().all(|words| statement.contains(words.as_str()))
        && label
            .date
            .as_deref()
            .is_none_or(|date| found.due.is_some_and(|due| due.to_string() == date))
}

/// Every message of a user asks for one type of task; `general` means that it asks for none of the others.
pub(super) fn tasks(half: &Half) -> Score {
    let mut score = Score::default();
    for turn in half.turns.iter().filter(|turn| turn.role == "user") {
        let got = task::infer(&turn.text).as_str();
        let (is_wanted, is_got) = (turn.task != "general", got != "general");
        if is_wanted && is_got && got == turn.task {
            score.add(true, true);
        } else {
            score.wrong += usize::from(is_got);
            score.missed += usize::from(is_wanted);
        }
    }
    score
}

/// A name is right if it is written as in the label, whatever its case.
pub(super) fn names(half: &Half) -> Score {
    let mut score = Score::default();
    for turn in half.turns.iter().filter(|turn| turn.role == "user") {
        let mut wanted: Vec<String> =
            turn.entities.iter().map(|name| name.to_lowercase()).collect();
        for name in task::entities(&turn.text) {
            let place = wanted.iter().position(|one| *one == name.to_lowercase());
            if let Some(place) = place {
                wanted.remove(place);
            }
            score.add(place.is_some(), true);
        }
        score.missed += wanted.len();
    }
    score
}

/// Whether what the newer message says takes the place of what the older one says, or may contradict
/// it. What is not a fact by itself counts as a plain statement: the older one may be held because the
/// user asked for it.
pub(super) fn pairs(half: &Half) -> anyhow::Result<Score> {
    let mut score = Score::default();
    let said: Timestamp = "2026-03-04T09:00:00Z".parse()?;
    let later = said.checked_add((20 * 24).hours())?;
    for pair in &half.pairs {
        let (old, new) = (all_of(&pair.old, said), all_of(&pair.new, later));
        let held: Vec<relate::Held<'_>> = old.iter().map(|found| held(found, said)).collect();
        let contradicts =
            new.iter().any(|found| relate::standing(found, later, &held) != Standing::New);
        score.add(pair.relation == "contradicts", contradicts);
    }
    Ok(score)
}

fn all_of(text: &str, at: Timestamp) -> Vec<Found> {
    let spoken = Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC };
    let mut found = rules::draw(&spoken);
    found.extend(rules::statements(&spoken));
    found
}

fn held(found: &Found, said_at: Timestamp) -> relate::Held<'_> {
    relate::Held {
        id: 1,
        statement: &found.statement,
        subject: found.subject.as_deref(),
        predicate: found.predicate.as_deref(),
        object: found.object.as_deref(),
        said_at,
        words: None,
    }
}
