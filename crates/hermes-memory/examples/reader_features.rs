//! Writes what the reader sees of labelled messages, one JSON line for each, for training it.

use std::io::{BufRead, BufWriter, Write};

use anyhow::Context as _;
use hermes_llm::EmbeddedModel;
use hermes_memory::extract::{Spoken, rules};
use hermes_memory::reader::names::{self, Tag, Word};
use hermes_memory::reader::tasks;
use hermes_memory::task;
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let mut turn: Value = serde_json::from_str(&line?)?;
        let text = turn["text"].as_str().context("no text")?.to_owned();
        turn["clauses"] = clauses(&turn, &text)?;
        turn["task_signs"] = json!(tasks::seen(&text).packed());
        turn["task_meaning"] = meaning(&text);
        turn["words"] = words(&turn, &text);
        writeln!(out, "{turn}")?;
    }
    Ok(())
}

fn clauses(turn: &Value, text: &str) -> anyhow::Result<Value> {
    let zone = jiff::tz::TimeZone::get(turn["zone"].as_str().unwrap_or("UTC"))?;
    let at: jiff::civil::DateTime = turn["at"].as_str().context("no time")?.parse()?;
    let at = at.to_zoned(zone.clone())?.timestamp();
    let spoken = Spoken { role: "user", text, before: &[], at, zone: &zone };
    let seen = rules::seen(&spoken).into_iter().map(|clause| {
        json!({
            "sentence": clause.sentence,
            "statement": clause.statement,
            "signs": clause.signs.packed(),
            "meanings": clause.meanings.map(|one| packed(&one)),
        })
    });
    Ok(seen.collect())
}

/// Each word with its tag, and what is seen of it after each tag.
fn words(turn: &Value, text: &str) -> Value {
    let words = names::guess(names::words(text), text, &task::guessed_names(text));
    let tags = tags(turn, text, &words);
    let is_all_lower = names::is_all_lower(text);
    let mut before = Tag::Other;
    let seen = words.iter().enumerate().map(|(at, word)| {
        let after: Value = Tag::ALL
            .iter()
            .map(|tag| json!(names::signs(&words, at, *tag, is_all_lower).packed()))
            .collect();
        let row = json!({
            "place": [word.place.start, word.place.end],
            "is_end": word.is_end,
            "tag": tags[at] as u32,
            "before": before as u32,
            "signs": after,
        });
        before = tags[at];
        row
    });
    seen.collect()
}

/// What each word is by the labels.
fn tags(turn: &Value, text: &str, words: &[Word]) -> Vec<Tag> {
    let mut tags = vec![Tag::Other; words.len()];
    let lower = text.to_lowercase();
    let labels = turn["entities"].as_array().cloned().unwrap_or_default();
    let mut labels: Vec<String> =
        labels.iter().filter_map(|label| label.as_str().map(str::to_lowercase)).collect();
    labels.sort_by_key(|label| std::cmp::Reverse(label.len()));
    for label in labels.iter().filter(|_| lower.len() == text.len()) {
        for (start, _) in lower.match_indices(label.as_str()) {
            let end = start + label.len();
            let inside: Vec<usize> = (0..words.len())
                .filter(|at| words[*at].place.start >= start && words[*at].place.end <= end)
                .collect();
            let is_whole = inside.first().is_some_and(|at| words[*at].place.start == start)
                && inside.last().is_some_and(|at| words[*at].place.end == end);
            if is_whole && inside.iter().all(|at| tags[*at] == Tag::Other) {
                inside.iter().for_each(|at| tags[*at] = Tag::Goes);
                tags[inside[0]] = Tag::Begins;
            }
        }
    }
    tags
}

fn meaning(text: &str) -> Value {
    packed(&EmbeddedModel::get().embed(text))
}

fn packed(vector: &[f32]) -> Value {
    vector.iter().map(|v| (v * 10_000.0).round() as i32).collect()
}
