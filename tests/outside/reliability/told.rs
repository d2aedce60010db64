//! What was told to the program from outside, and what it answered: compared with what it kept.

use std::collections::BTreeMap;

use crate::contents::{facts, is_sound, remembered, rows, transcript};
use crate::sandbox::Sandbox;

/// What kind of thing was told; each is looked for in its own place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Asked and answered; kept in the transcript and in the memory.
    Turn,
    /// The same in a conversation, which keeps the question before there is an answer.
    Conversation,
    /// Asked and answered, by a program that keeps its own transcript.
    ForeignTurn,
    /// One message of a transcript.
    Message,
    Fact,
    /// A line of MEMORY.md.
    Entry,
}

/// How far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was answered as kept.
    Kept,
    /// It was answered as not kept.
    Refused,
    /// No answer came.
    None,
}

/// Everything that was told so far; each thing has a number of its own.
#[derive(Debug, Default)]
pub(crate) struct Told {
    all: BTreeMap<(Kind, usize), Answer>,
    next: usize,
}

impl Told {
    pub(crate) fn next(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    pub(crate) fn note(&mut self, kind: Kind, number: usize, answer: Answer) {
        self.all.insert((kind, number), answer);
    }

    pub(crate) fn count(&self, answer: Answer) -> usize {
        self.all.values().filter(|found| **found == answer).count()
    }

    /// Whatever was answered as kept is there once; what was not is not there, what had no answer at most once; and
    /// nothing is there that nobody told.
    pub(crate) fn agrees_with(&self, sandbox: &Sandbox, what: &str) {
        is_sound(sandbox, what);
        let ran = sandbox.run(&["memory", "catch-up"]);
        assert_eq!(ran.code, 0, "{what}: {}{}", ran.stdout, ran.stderr);
        let (memory, transcript) = (counted(remembered(sandbox)), counted(transcript(sandbox)));
        let texts =
            counted(rows(sandbox, "state.db", "select role || ': ' || content from messages"));
        let (facts, entries) = (counted(facts(sandbox)), counted(entries(sandbox)));
        let mut expected = 0;
        for ((kind, number), answer) in &self.all {
            let kept = kept(
                *kind,
                *number,
                &Kept { memory: &memory, texts: &texts, facts: &facts, entries: &entries },
            );
            let (least, most) = (*kept.iter().min().unwrap(), *kept.iter().max().unwrap());
            let is_right = match answer {
                Answer::Kept => (least, most) == (1, 1),
                Answer::Refused => most == 0,
                Answer::None if *kind == Kind::Conversation => most <= 1,
                Answer::None => most <= 1 && least == most,
            };
            assert!(
                is_right,
                "{what}: {kind:?} {number} was answered {answer:?} and is there {kept:?} times"
            );
            expected += remembered_of(*kind, &kept);
        }
        let told = |text: &String| {
            text.contains("asked ") || text.contains("answered ") || text.contains("said ")
        };
        let found: usize =
            memory.iter().filter(|(text, _)| told(text)).map(|(_, count)| count).sum();
        assert_eq!(found, expected, "{what}: more is remembered than was told");
        assert!(transcript.values().all(|count| *count == 1), "{what}: something was said twice");
    }
}

/// What is kept, line by line, with how often.
struct Kept<'a> {
    memory: &'a BTreeMap<String, usize>,
    texts: &'a BTreeMap<String, usize>,
    facts: &'a BTreeMap<String, usize>,
    entries: &'a BTreeMap<String, usize>,
}

/// How often each part of a thing is there; the parts in the memory first.
fn kept(kind: Kind, number: usize, all: &Kept<'_>) -> Vec<usize> {
    match kind {
        Kind::Turn | Kind::Conversation => {
            [both(all.memory, number), both(all.texts, number)].concat()
        }
        Kind::ForeignTurn => both(all.memory, number),
        Kind::Message => {
            let text = format!("user: said {number}.");
            vec![count(all.memory, &text), count(all.texts, &text)]
        }
        Kind::Fact => vec![count(all.facts, &fact_of(number))],
        Kind::Entry => vec![count(all.entries, &entry_of(number))],
    }
}

/// How many of the parts are messages of the memory.
fn remembered_of(kind: Kind, kept: &[usize]) -> usize {
    let parts = match kind {
        Kind::Turn | Kind::Conversation | Kind::ForeignTurn => 2,
        Kind::Message => 1,
        Kind::Fact | Kind::Entry => 0,
    };
    kept.iter().take(parts).sum()
}

pub(crate) fn asked(number: usize) -> String {
    format!("asked {number}.")
}

pub(crate) fn answered(number: usize) -> String {
    format!("answered {number}.")
}

pub(crate) fn fact_of(number: usize) -> String {
    format!("Shelf {number} holds box {number}")
}

pub(crate) fn entry_of(number: usize) -> String {
    format!("- Drawer {number} is full")
}

/// How often the two halves of a turn are there.
fn both(lines: &BTreeMap<String, usize>, number: usize) -> Vec<usize> {
    let (asked, answered) = (asked(number), answered(number));
    vec![count(lines, &format!("user: {asked}")), count(lines, &format!("assistant: {answered}"))]
}

fn count(lines: &BTreeMap<String, usize>, line: &str) -> usize {
    lines.get(line).copied().unwrap_or(0)
}

fn counted(lines: Vec<String>) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    lines.into_iter().for_each(|line| *counted.entry(line).or_default() += 1);
    counted
}

fn entries(sandbox: &Sandbox) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path("memories/MEMORY.md")).unwrap_or_default();
    text.lines().map(|line| line.split(" <!--").next().unwrap_or_default().to_owned()).collect()
}
