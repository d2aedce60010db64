//! Lessons that a model finds: each must quote words that were really said.

use std::fmt::Write;

use hermes_store::memory::{Message, Trust};
use serde::Deserialize;

use super::lessons::{Cited, Lesson, key};
use super::sentences::shorten;
use super::work::{Talk, Work};
use crate::ask::{Ask, Prompt, Reply, unfenced};
use crate::remember::suspicion;
use crate::{Error, Result};

const PROMPT: &str = include_str!("../../prompts/reflect.md");
const MOST_LESSONS: usize = 5;
/// How much of one message a model is given, and of all, in characters.
const LONGEST_MESSAGE: usize = 1500;
const LONGEST_TALK: usize = 24_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    lessons: Vec<Told>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    title: String,
    lesson: String,
    quotes: Vec<Quoted>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quoted {
    id: String,
    words: String,
}

/// Asks a model what a task teaches. An answer that cannot be used is an error, and nothing is kept of it.
pub fn lessons(work: &Work, talk: &Talk, ask: &mut Ask<'_>) -> Result<Vec<Lesson>> {
    let shown = shown(talk);
    let reply = ask(&prompt(work, talk, &shown))?;
    read(&reply, &shown)
}

/// A message as a model is given it.
struct ShownMessage<'a> {
    id: String,
    message: &'a Message,
    text: String,
}

/// The first message and as many of the last ones as fit.
fn shown(talk: &Talk) -> Vec<ShownMessage<'_>> {
    let mut room = LONGEST_TALK;
    let mut fits = |message: &&Message| {
        let length = message.text.chars().count().min(LONGEST_MESSAGE);
        let is_in = length <= room;
        room = room.saturating_sub(length);
        is_in
    };
    let mut kept: Vec<&Message> = talk.messages.first().into_iter().filter(&mut fits).collect();
    let rest = talk.messages.get(1..).unwrap_or_default();
    let mut last: Vec<&Message> = rest.iter().rev().take_while(&mut fits).collect();
    last.reverse();
    kept.append(&mut last);
    let one = |(place, message): (usize, &'_ Message)| {
        let text = message.text.chars().take(LONGEST_MESSAGE).collect();
        (format!("m{}", place + 1), message.key, text)
    };
    let texts: Vec<_> =
        kept.iter().enumerate().map(|(place, message)| one((place, message))).collect();
    kept.into_iter()
        .zip(texts)
        .map(|(message, (id, _, text))| ShownMessage { id, message, text })
        .collect()
}

fn prompt(work: &Work, talk: &Talk, shown: &[ShownMessage<'_>]) -> Prompt {
    let mut user = format!("The task ({}): {}\n\n", work.task_type.as_str(), work.title);
    for one in shown {
        let role = shorten(&one.message.role, 20);
        let text = one.text.replace('\n', "\n  ");
        let _ = writeln!(user, "[{}] {role}: {text}", one.id);
        for step in talk.steps.iter().filter(|step| step.message == one.message.key.get()) {
            let how = if step.failed { "failed" } else { "worked" };
            let call = shorten(&format!("{} {}", step.tool, step.arguments), 300);
            let _ = writeln!(user, "  (tool call that {how}: {call})");
        }
    }
    let system = PROMPT.replace("{{most}}", &MOST_LESSONS.to_string());
    Prompt { system, user, max_tokens: 1200 }
}

fn read(reply: &Reply, shown: &[ShownMessage<'_>]) -> Result<Vec<Lesson>> {
    let bad = |why: String| Error::BadReply { model: reply.model.clone(), why };
    let text = unfenced(&reply.text);
    let answer: Answer = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
    if answer.lessons.len() > MOST_LESSONS {
        return Err(bad(format!("{} lessons are too many", answer.lessons.len())));
    }
    answer.lessons.iter().map(|told| lesson(told, shown).map_err(&bad)).collect()
}

fn lesson(told: &Told, shown: &[ShownMessage<'_>]) -> std::result::Result<Lesson, String> {
    let (title, body) = (told.title.trim(), told.lesson.trim());
    if title.is_empty() || body.is_empty() || title.contains('\n') {
        return Err("a lesson has no title or no text".to_owned());
    }
    if title.chars().count() > 200 || body.chars().count() > 1000 {
        return Err("a lesson is too long".to_owned());
    }
    if suspicion(title).or_else(|| suspicion(body)).is_some() {
        return Err("a lesson reads like an order to a model".to_owned());
    }
    let cited: Vec<Cited> = told
        .quotes
        .iter()
        .map(|quoted| cited(quoted, shown))
        .collect::<std::result::Result<_, _>>()?;
    let first = cited.first().ok_or("a lesson has no quote")?;
    let quotes: Vec<String> =
        cited.iter().map(|one| format!("Said: \"{}\"", shorten(&one.quote, 240))).collect();
    Ok(Lesson {
        title: shorten(title, 140),
        body: format!("{body}\n{}", quotes.join("\n")),
        trust: Trust::Agent,
        key: key("model", &first.quote),
        cited,
    })
}

/// The words as they stand in the message; blanks and line breaks may differ.
fn cited(quoted: &Quoted, shown: &[ShownMessage<'_>]) -> std::result::Result<Cited, String> {
    let unknown = || format!("there is no message {}", shorten(&quoted.id, 20));
    let one = shown.iter().find(|one| one.id == quoted.id).ok_or_else(unknown)?;
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = plain(&quoted.words);
    if words.is_empty() || !plain(&one.text).contains(&words) {
        return Err(format!("the words quoted from {} are not in it", quoted.id));
    }
    Ok(Cited { episode: one.message.episode, message: one.message.key.get(), quote: words })
}
