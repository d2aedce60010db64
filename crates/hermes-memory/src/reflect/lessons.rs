//! What a finished task teaches: only what was said or done, each lesson with its quote. Pure.

use std::fmt::Write;

use hermes_store::memory::{Step, Trust};
use sha2::{Digest, Sha256};

use super::sentences::{shorten, words};
use super::signs::{self, Sign};
use super::work::{Evidence, Shows, Talk, Work};
use crate::remember::suspicion;

/// Something that a finished task taught.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// One line.
    pub title: String,
    /// The lesson, with the words that show it.
    pub body: String,
    /// The lowest trust of what is quoted.
    pub trust: Trust,
    /// What shows it.
    pub cited: Vec<Cited>,
    /// What makes it unique in its session.
    pub key: String,
}

/// Words in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cited {
    /// The episode.
    pub episode: i64,
    /// The message.
    pub message: i64,
    /// The words.
    pub quote: String,
}

/// The lessons of a task; none if nothing can be quoted.
pub fn lessons(work: &Work, talk: &Talk) -> Vec<Lesson> {
    let mut found: Vec<Lesson> = Vec::new();
    for one in &work.evidence {
        let Some(lesson) = lesson(one, work, talk) else { continue };
        match found.iter_mut().find(|known| known.key == lesson.key) {
            Some(known) => known.cited.extend(lesson.cited),
            None => found.push(lesson),
        }
    }
    found
}

fn lesson(one: &Evidence, work: &Work, talk: &Talk) -> Option<Lesson> {
    let cited =
        vec![Cited { episode: one.episode, message: one.message, quote: one.quote.clone() }];
    let quote = shorten(&one.quote, 240);
    let mut lesson = match &one.shows {
        Shows::Said(Sign::Correction) => Lesson {
            title: signs::wish(&one.quote),
            body: format!("The user said: \"{quote}\"\nAsked for: {}", work.title),
            trust: Trust::User,
            cited,
            key: key("correction", &one.quote),
        },
        Shows::Said(Sign::Complaint) => complaint(one, work, cited),
        Shows::Said(Sign::Retry) => return None,
        Shows::Said(Sign::Praise) => praise(one, work, talk, cited)?,
        Shows::AskedAgain(first) => Lesson {
            title: shorten(&format!("Asked for twice: {}", one.quote), 140),
            body: format!("The user asked: \"{}\"\nand again: \"{quote}\"", shorten(first, 240)),
            trust: Trust::User,
            cited,
            key: key("again", &one.quote),
        },
        Shows::Failed { tool, error, worked } => failed(one, (tool, error, worked), cited)?,
    };
    if suspicion(&lesson.title).is_some() {
        lesson.trust = Trust::Untrusted;
    }
    Some(lesson)
}

fn complaint(one: &Evidence, work: &Work, cited: Vec<Cited>) -> Lesson {
    let quote = shorten(&one.quote, 240);
    let mut body = format!("The user said: \"{quote}\"\nAsked for: {}", work.title);
    if let Some(answer) = &one.answer {
        let _ = write!(body, "\nThe answer before it: \"{answer}\"");
    }
    Lesson {
        title: shorten(&format!("Did not do: {}", work.title), 140),
        body,
        trust: if one.answer.is_some() { Trust::Agent } else { Trust::User },
        cited,
        key: key("complaint", &one.quote),
    }
}

/// What went well is worth keeping when it can be told how it was done.
fn praise(one: &Evidence, work: &Work, talk: &Talk, cited: Vec<Cited>) -> Option<Lesson> {
    const SHOWN: usize = 6;
    let done: Vec<String> =
        talk.steps.iter().filter(|step| !step.failed).map(call).collect::<Option<_>>()?;
    let answer = one.answer.as_ref().filter(|answer| !answer.is_empty());
    if done.is_empty() && answer.is_none() {
        return None;
    }
    let mut body = format!("The user said: \"{}\"", shorten(&one.quote, 240));
    let skipped = done.len().saturating_sub(SHOWN);
    for step in &done[skipped..] {
        let _ = write!(body, "\nDone with {step}");
    }
    if let Some(answer) = answer {
        let _ = write!(body, "\nThe answer: \"{answer}\"");
    }
    Some(Lesson {
        title: shorten(&format!("Went well: {}", work.title), 140),
        body,
        trust: Trust::Agent,
        cited,
        key: key("praise", &one.quote),
    })
}

type Failure<'a> = (&'a str, &'a Option<(i64, String)>, &'a Option<String>);

/// A failed call teaches something if its error is known, or what worked instead.
fn failed(
    one: &Evidence,
    (tool, error, worked): Failure<'_>,
    mut cited: Vec<Cited>,
) -> Option<Lesson> {
    let arguments = shorten(&one.quote, 160);
    let parts = [Some(arguments.as_str()), worked.as_deref(), Some(tool)];
    if parts.into_iter().flatten().any(|part| suspicion(part).is_some()) {
        return None;
    }
    let mut body = format!("Called: {tool} {arguments}");
    if let Some((message, words)) = error {
        let _ = write!(body, "\nIt answered: \"{}\"", shorten(words, 200));
        cited.push(Cited { episode: one.episode, message: *message, quote: words.clone() });
    }
    let title = match worked {
        Some(worked) => {
            let _ = write!(body, "\nWhat worked: {tool} {}", shorten(worked, 160));
            format!("{tool}: {} failed, {} worked", shorten(&arguments, 60), shorten(worked, 60))
        }
        None => {
            error.as_ref()?;
            format!("{tool}: {} failed", shorten(&arguments, 100))
        }
    };
    // What a tool answered is nobody's word.
    let trust = if error.is_some() { Trust::Untrusted } else { Trust::Agent };
    let key = key("failed", &format!("{tool} {}", one.quote));
    Some(Lesson { title, body, trust, cited, key })
}

/// A call as it is shown; none if it reads like an order.
fn call(step: &Step) -> Option<String> {
    let shown = format!("{} {}", step.tool, shorten(&step.arguments, 120));
    suspicion(&shown).is_none().then_some(shown)
}

/// A short hash of what makes a lesson unique: its kind and the words that show it.
pub(crate) fn key(kind: &str, quote: &str) -> String {
    let text = format!("{kind} {}", words(quote).join(" "));
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
