//! Writes what is seen of labelled pairs of messages, one JSON line for each, for training the judge.
//!
//! A line with `old` and `new` gets `pairs`: the signs of each fact of the newer message against each of
//! the older. A line with `olds` and `news`, lists of messages, gets the same for all of them.

use std::io::{BufRead, BufWriter, Write};

use anyhow::Context as _;
use hermes_memory::extract::relate::Words;
use hermes_memory::extract::relate::judge::{self, Side};
use hermes_memory::extract::{Found, Spoken, rules};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let mut row: Value = serde_json::from_str(&line?)?;
        let (old, new) = (messages(&row, "old", "olds")?, messages(&row, "new", "news")?);
        let with_statements = row["only_drawn"] != true;
        let read = |texts: &[String], at: &str| -> anyhow::Result<Vec<(Found, Words)>> {
            let at: Timestamp = at.parse()?;
            let all = texts.iter().flat_map(|text| all_of(text, at, with_statements));
            Ok(all.map(|found| (Words::of(&found.statement), found)).map(|(a, b)| (b, a)).collect())
        };
        let old = read(&old, "2026-03-04T09:00:00Z")?;
        let new = read(&new, "2026-03-24T09:00:00Z")?;
        let all = old.iter().flat_map(|old| new.iter().map(move |new| (old, new)));
        row["pairs"] = all.filter_map(|(old, new)| pair(old, new)).collect();
        writeln!(out, "{row}")?;
    }
    Ok(())
}

fn messages(row: &Value, one: &str, several: &str) -> anyhow::Result<Vec<String>> {
    if let Some(list) = row[several].as_array() {
        return Ok(list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect());
    }
    Ok(vec![row[one].as_str().context("no text")?.to_owned()])
}

fn all_of(text: &str, at: Timestamp, with_statements: bool) -> Vec<Found> {
    let spoken = Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC };
    let mut found = rules::draw(&spoken);
    if with_statements {
        found.extend(rules::statements(&spoken));
    }
    found
}

fn pair((old, old_words): &(Found, Words), (new, new_words): &(Found, Words)) -> Option<Value> {
    if old.statement.eq_ignore_ascii_case(&new.statement) {
        return None;
    }
    let seen = judge::seen(&Side::of(old, old_words), &Side::of(new, new_words))?;
    let near = judge::nearness(old_words, new_words);
    Some(json!({
        "old": old.statement,
        "new": new.statement,
        "near": near,
        "signs": seen.packed(),
    }))
}
