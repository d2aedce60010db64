//! hermes-bench agent-chat: made-up conversations between people and assistants, with questions

mod ask;
mod plan;
mod set;
mod talk;
mod topics;

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use hermes_home::atomic;
use jiff::civil::DateTime;

use self::ask::Holder;
use self::plan::Plan;
use self::set::{Gold, Set};
use crate::figures::{Figure, Table};
use crate::recall::corpus::{Asked, Turn};
use hermes_app::numbers::Numbers;
use hermes_app::text::thousands;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where the set is written: corpus.jsonl, questions.jsonl and gold.jsonl
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The same number gives the same set
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Table> {
    let set = generate(arguments.seed);
    write(&set, arguments)?;
    let title = format!("Made-up agent conversations in {}", arguments.out.display());
    Ok(Table { title, results: figures(&set) })
}

/// The set that a number stands for.
pub(crate) fn generate(seed: u64) -> Set {
    let (topics, general) = (topics::topics(), topics::general());
    let mut set = Set::default();
    for (number, person) in topics::people().iter().enumerate() {
        let start = seed.wrapping_mul(1_000).wrapping_add(number as u64);
        let mut numbers = Numbers::new(start);
        let plan = plan::plan(person, &topics, &general, &mut numbers);
        let id = format!("chat-{}", number + 1);
        let turn_ids = turns(&plan, &id, &mut set);
        questions(&plan, &id, &turn_ids, &mut set, &mut numbers);
    }
    set
}

/// Writes the messages; returns which message each statement became.
fn turns(plan: &Plan<'_>, id: &str, set: &mut Set) -> HashMap<Holder, (String, String)> {
    let mut turn_ids = HashMap::new();
    for (number, session) in plan.sessions.iter().enumerate() {
        let session_index = number + 1;
        let session_id = format!("S{session_index}");
        let messages = session.pairs.iter().flat_map(|pair| {
            [("user", &pair.user, pair.holds), ("assistant", &pair.assistant, pair.holds)]
        });
        for (at, (role, text, holds)) in messages.enumerate() {
            let turn_index = at + 1;
            let turn_id = format!("{session_id}:{turn_index}");
            if let Some(holder) = holds
                && plan.instances[holder.0].fact.kind.is_said_by_assistant()
                    == (role == "assistant")
            {
                turn_ids.insert(holder, (turn_id.clone(), session_id.clone()));
            }
            set.turns.push(Turn {
                conversation_id: id.to_owned(),
                session_id: session_id.clone(),
                session_index,
                turn_id,
                turn_index,
                timestamp: Some(written(session.begins)),
                speaker: Some(role.to_owned()),
                role: role.to_owned(),
                text: text.clone(),
                caption: None,
                at: None,
            });
        }
    }
    turn_ids
}

fn questions(
    plan: &Plan<'_>,
    id: &str,
    turn_ids: &HashMap<Holder, (String, String)>,
    set: &mut Set,
    numbers: &mut Numbers,
) {
    let now = ask::asking_time(plan, numbers);
    for (number, asked) in ask::questions(plan, now, numbers).into_iter().enumerate() {
        let found: Vec<&(String, String)> =
            asked.evidence.iter().filter_map(|holder| turn_ids.get(holder)).collect();
        let question_id = format!("{id}/q{}", number + 1);
        let mut evidence_sessions: Vec<String> = found.iter().map(|ids| ids.1.clone()).collect();
        evidence_sessions.dedup();
        set.gold.push(Gold {
            question_id: question_id.clone(),
            evidence: found.iter().map(|ids| ids.0.clone()).collect(),
            evidence_sessions,
            answer: asked.answer,
            dropped: Vec::new(),
        });
        set.questions.push(Asked {
            question_id,
            conversation_id: id.to_owned(),
            question: asked.question,
            question_date: Some(written(now)),
            category: asked.category.to_owned(),
            at: None,
        });
    }
}

fn written(time: DateTime) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Writes the three files, unless one of them is there with other content.
fn write(set: &Set, arguments: &Arguments) -> anyhow::Result<()> {
    let files = set.files()?;
    for (name, bytes) in &files {
        let path = arguments.out.join(name);
        if path.exists() && fs::read(&path).ok().as_ref() != Some(bytes) {
            bail!("could not write {}: it is there already and differs", path.display());
        }
    }
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("could not make {}", arguments.out.display()))?;
    for (name, bytes) in &files {
        atomic::write(&arguments.out.join(name), bytes)?;
    }
    Ok(())
}

fn figures(set: &Set) -> Vec<Figure> {
    let answers = set.turns.iter().filter(|turn| turn.role == "assistant");
    let lengths: Vec<usize> = answers.map(|turn| turn.text.chars().count()).collect();
    let average = lengths.iter().sum::<usize>() / lengths.len().max(1);
    let count = |what: usize| thousands(what as u64);
    vec![
        Figure::plain("messages", count(set.turns.len())),
        Figure::plain("questions", count(set.questions.len())),
        Figure::plain("characters of an answer on average", count(average)),
        Figure::plain(
            "words of a question that its evidence has",
            format!("{:.0} %", 100.0 * set.shared_words()),
        ),
    ]
}

#[cfg(test)]
mod tests;
