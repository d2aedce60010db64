//! What a finished session was about and how it went, by what was said and done in it. Pure.

use hermes_store::memory::{Message, Session, Step};
use jiff::Timestamp;

use super::sentences::{first, sentences, shorten};
use super::signs::{self, LONGEST_QUOTE, Sign};
use crate::remember::suspicion;
use crate::task::{self, TaskType};

/// A session with everything in it.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The session.
    pub session: Session,
    /// Its messages in their order.
    pub messages: Vec<Message>,
    /// The tools that were called, in their order.
    pub steps: Vec<Step>,
    /// Questions that were asked again in their place, because the answer was not wanted.
    pub asked_again: Vec<String>,
    /// Whether it is history that was brought in: no model reads it.
    pub imported: bool,
}

/// How a task went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The user said so, or nothing failed, was corrected or asked for again.
    Success,
    /// The last thing that was heard of it is that it does not work.
    Failure,
    /// It was corrected or asked for again, and nobody said how it ended.
    Unclear,
}

impl Outcome {
    /// The word that stands for it in the memory.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Failure => "failure",
            Outcome::Unclear => "unclear",
        }
    }
}

/// Something that was said or done and shows how the task went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What it shows.
    pub shows: Shows,
    /// The episode.
    pub episode: i64,
    /// The message.
    pub message: i64,
    /// When.
    pub at: Timestamp,
    /// The words, as they occur there; for a tool call its arguments.
    pub quote: String,
    /// What the assistant had said just before.
    pub answer: Option<String>,
}

/// What a piece of evidence shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shows {
    /// The user's words about the work before them.
    Said(Sign),
    /// The user asked for the same again: the first words.
    AskedAgain(String),
    /// A tool failed.
    Failed {
        /// The tool.
        tool: String,
        /// What it answered, if that was recorded: message and words.
        error: Option<(i64, String)>,
        /// The arguments with which it worked then.
        worked: Option<String>,
    },
}

/// What a session was about and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// What kind of task.
    pub task_type: TaskType,
    /// What was asked, in one line.
    pub title: String,
    /// How it went.
    pub outcome: Outcome,
    /// What shows it, in the order of the session.
    pub evidence: Vec<Evidence>,
    /// The words that tell what it was about.
    pub words: String,
    /// The episode, the message and the first sentence of the last answer.
    pub answer: Option<(i64, i64, String)>,
    /// The message that asked: episode, message, words.
    pub asked: (i64, i64, String),
}

/// Looks at a session; none if nothing was asked for, or nobody answered.
pub fn judge(talk: &Talk) -> Option<Work> {
    let users = || talk.messages.iter().filter(|message| message.role == "user");
    let asked = users().find(|message| !task::says_little(&message.text))?;
    let after = |message: &&Message| message.key > asked.key && message.role == "assistant";
    let answered = talk.messages.iter().rev().find(after);
    if answered.is_none() && talk.steps.is_empty() {
        return None;
    }
    let title = first(&asked.text, 120);
    let evidence = evidence(talk);
    let text: Vec<&str> = users().take(3).map(|message| message.text.as_str()).collect();
    let task_type = match task::infer(&asked.text) {
        TaskType::General => task::infer(&text.join("\n")),
        known => known,
    };
    let answer = answered
        .map(|message| (message.episode, message.key.get(), first(&message.text, LONGEST_QUOTE)));
    Some(Work {
        task_type,
        words: words_of(&title, users().map(|message| message.text.as_str())),
        outcome: outcome(&evidence),
        evidence,
        answer: answer.filter(|(_, _, text)| !text.is_empty() && suspicion(text).is_none()),
        asked: (asked.episode, asked.key.get(), quoted(&asked.text)),
        title: if title.is_empty() { shorten(&asked.text, 120) } else { title },
    })
}

/// How it went: the last word of the user counts most.
pub fn outcome(evidence: &[Evidence]) -> Outcome {
    let is_good = |one: &Evidence| one.shows == Shows::Said(Sign::Praise);
    // A call that failed and then worked is how work goes.
    let is_settled = |one: &Evidence| matches!(&one.shows, Shows::Failed { worked: Some(_), .. });
    let last = evidence.iter().rev().find(|one| !is_settled(one));
    match last {
        None => Outcome::Success,
        Some(one) if is_good(one) => Outcome::Success,
        Some(one) => match &one.shows {
            Shows::Said(Sign::Complaint) | Shows::Failed { .. } => Outcome::Failure,
            _ => Outcome::Unclear,
        },
    }
}

fn evidence(talk: &Talk) -> Vec<Evidence> {
    let mut found = Vec::new();
    let mut answer: Option<&str> = None;
    let mut asked: Vec<&Message> = Vec::new();
    for message in &talk.messages {
        match message.role.as_str() {
            "assistant" => answer = Some(&message.text),
            "user" => {
                said(message, answer, &mut found);
                again(message, &asked, answer, &mut found);
                retried(message, talk, &mut found);
                asked.push(message);
            }
            _ => {}
        }
    }
    found.extend(failures(talk));
    found.sort_by_key(|one| one.message);
    found
}

fn said(message: &Message, answer: Option<&str>, found: &mut Vec<Evidence>) {
    for shown in signs::read(&message.text, signs::before(answer)) {
        found.push(Evidence {
            shows: Shows::Said(shown.sign),
            episode: message.episode,
            message: message.key.get(),
            at: message.at,
            quote: message.text[shown.quote].to_owned(),
            answer: answer.map(|text| first(text, 160)).filter(|text| suspicion(text).is_none()),
        });
    }
}

/// The same request once more, in nearly the same words, after an answer.
fn again(message: &Message, asked: &[&Message], answer: Option<&str>, found: &mut Vec<Evidence>) {
    const SAME: f64 = 0.8;
    const LEAST_WORDS: usize = 3;
    let words = task::content_words(&message.text);
    if answer.is_none() || words.len() < LEAST_WORDS || message.text.len() > 2000 {
        return;
    }
    let same =
        asked.iter().find(|earlier| likeness(&task::content_words(&earlier.text), &words) >= SAME);
    if let Some(earlier) = same {
        found.push(Evidence {
            shows: Shows::AskedAgain(quoted(&earlier.text)),
            episode: message.episode,
            message: message.key.get(),
            at: message.at,
            quote: quoted(&message.text),
            answer: None,
        });
    }
}

/// A question that stands in the place of itself.
fn retried(message: &Message, talk: &Talk, found: &mut Vec<Evidence>) {
    if talk.asked_again.iter().any(|question| question.trim() == message.text.trim()) {
        found.push(Evidence {
            shows: Shows::AskedAgain(quoted(&message.text)),
            episode: message.episode,
            message: message.key.get(),
            at: message.at,
            quote: quoted(&message.text),
            answer: None,
        });
    }
}

/// The share of the words that two texts have in common, of all their words.
pub(crate) fn likeness(left: &[String], right: &[String]) -> f64 {
    let (left, right): (std::collections::BTreeSet<_>, std::collections::BTreeSet<_>) =
        (left.iter().collect(), right.iter().collect());
    let all = left.union(&right).count();
    if all == 0 { 0.0 } else { left.intersection(&right).count() as f64 / all as f64 }
}

/// Failed calls, each tool's row of failures once, with what worked afterwards.
fn failures(talk: &Talk) -> Vec<Evidence> {
    let mut found = Vec::new();
    for (place, step) in talk.steps.iter().enumerate().filter(|(_, step)| step.failed) {
        let next = talk.steps[place + 1..].iter().find(|later| later.tool == step.tool);
        // The last failure before a success tells most.
        if next.is_some_and(|next| next.failed) {
            continue;
        }
        let Some(call) = talk.messages.iter().find(|message| message.key.get() == step.message)
        else {
            continue;
        };
        let worked = next.map(|next| shorten(&next.arguments, 300));
        let is_new = worked.as_deref() != Some(&shorten(&step.arguments, 300));
        found.push(Evidence {
            shows: Shows::Failed {
                tool: shorten(&step.tool, 60),
                error: error_after(talk, call),
                worked: worked.filter(|_| is_new),
            },
            episode: call.episode,
            message: call.key.get(),
            at: call.at,
            quote: shorten(&step.arguments, 300),
            answer: None,
        });
        if !is_new {
            // The same call worked later: something else was put right, and there is nothing to learn.
            found.pop();
        }
    }
    found
}

/// The line of a tool's answer that says what went wrong.
fn error_after(talk: &Talk, call: &Message) -> Option<(i64, String)> {
    const SIGNS: [&str; 8] =
        ["error", "failed", "failure", "not found", "denied", "no such", "cannot", "exception"];
    let answers = talk.messages.iter().skip_while(|message| message.key <= call.key);
    let tools = answers.take_while(|message| message.role == "tool");
    for message in tools {
        let says_it = |line: &&str| {
            let lower = line.to_lowercase();
            SIGNS.iter().any(|sign| lower.contains(sign))
        };
        let line = message.text.lines().find(says_it).or_else(|| message.text.lines().next());
        if let Some(line) = line.map(str::trim).filter(|line| !line.is_empty()) {
            // What a tool answers is not to be trusted: an order in it is not carried on.
            let quote = beginning(line, 200).to_owned();
            return suspicion(&quote).is_none().then_some((message.key.get(), quote));
        }
    }
    None
}

fn words_of<'a>(title: &str, texts: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 40;
    let mut words: Vec<String> = Vec::new();
    let all = std::iter::once(title).chain(texts.map(|text| beginning(text, 1000)));
    for word in all.flat_map(task::content_words) {
        if words.len() < MOST && !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The first sentence of a text as it stands there.
fn quoted(text: &str) -> String {
    let range = sentences(text).into_iter().next().unwrap_or(0..text.len());
    beginning(text[range].trim(), LONGEST_QUOTE).to_owned()
}

fn beginning(text: &str, longest: usize) -> &str {
    text.char_indices().nth(longest).map_or(text, |(at, _)| &text[..at])
}
