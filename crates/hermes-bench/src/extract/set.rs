//! The labelled messages, read from `corpora/extract`.

use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;

/// One part of the set.
pub(super) struct Half {
    pub(super) name: &'static str,
    pub(super) turns: Vec<Turn>,
    pub(super) pairs: Vec<Pair>,
}

/// A message with what a careful reader would keep from it.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    at: DateTime,
    zone: String,
    pub(super) role: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) before: Vec<Said>,
    pub(super) facts: Vec<Label>,
    pub(super) task: String,
    pub(super) entities: Vec<String>,
}

/// What was said before.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    pub(super) role: String,
    pub(super) text: String,
}

/// A fact to be found.
#[derive(Debug, Deserialize)]
pub(super) struct Label {
    pub(super) kind: Vec<String>,
    pub(super) must: Vec<String>,
    #[serde(default)]
    pub(super) date: Option<String>,
}

/// Two messages of one user, the older first.
#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) relation: String,
}

impl Turn {
    /// When it was said, and where.
    pub(super) fn when(&self) -> anyhow::Result<(Timestamp, TimeZone)> {
        let zone = TimeZone::get(&self.zone).with_context(|| format!("no zone {}", self.zone))?;
        Ok((self.at.to_zoned(zone.clone())?.timestamp(), zone))
    }
}

/// A part of the set by its name.
macro_rules! part {
    ($name:literal) => {
        half(
            $name,
            include_str!(concat!("../../corpora/extract/turns-", $name, ".jsonl")),
            include_str!(concat!("../../corpora/extract/pairs-", $name, ".jsonl")),
        )
    };
}

/// The part for working on the reader, and unless it is to be alone the part for measuring, and the one that
/// was for measuring before.
pub(super) fn halves(only_dev: bool) -> anyhow::Result<Vec<Half>> {
    match only_dev {
        true => Ok(vec![part!("dev")?]),
        false => Ok(vec![part!("dev")?, part!("held")?, part!("earlier")?]),
    }
}

/// Labelled messages, and pairs if there are any, from files.
pub(super) fn given(turns: &Path, pairs: Option<&Path>) -> anyhow::Result<Half> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
    };
    let pairs = pairs.map(read).transpose()?.unwrap_or_default();
    half("given", &read(turns)?, &pairs)
}

/// The users' messages of the working half, joined and cut to one length.
pub(super) fn texts_of_length(length: usize) -> anyhow::Result<Vec<String>> {
    let dev = halves(true)?;
    let turns = dev.iter().flat_map(|half| &half.turns).filter(|turn| turn.role == "user");
    let all: Vec<char> = turns.flat_map(|turn| turn.text.chars().chain([' '])).collect();
    Ok(all.chunks_exact(length).map(|part| part.iter().collect()).collect())
}

fn half(name: &'static str, turns: &str, pairs: &str) -> anyhow::Result<Half> {
    Ok(Half { name, turns: lines(turns)?, pairs: lines(pairs)? })
}

fn lines<T: for<'de> Deserialize<'de>>(text: &str) -> anyhow::Result<Vec<T>> {
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
