//! The conversations and questions of a retrieval set; what answers them is never opened.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use hermes_store::memory::MOST_PLACES;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One message: a line of corpus.jsonl.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) conversation_id: String,
    pub(crate) session_id: String,
    #[serde(default)]
    pub(crate) session_index: usize,
    pub(crate) turn_id: String,
    #[serde(default)]
    pub(crate) turn_index: usize,
    pub(crate) timestamp: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) role: String,
    pub(crate) text: String,
    pub(crate) caption: Option<String>,
    #[serde(skip)]
    pub(crate) at: Option<Timestamp>,
}

/// One question, asked of one conversation: a line of questions.jsonl.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) question_id: String,
    pub(crate) conversation_id: String,
    pub(crate) question: String,
    pub(crate) question_date: Option<String>,
    #[serde(default)]
    pub(crate) category: String,
    #[serde(skip)]
    pub(crate) at: Option<Timestamp>,
}

/// One line of gold.jsonl.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Gold {
    pub(super) question_id: String,
    pub(super) evidence: Vec<String>,
}

/// What was said between some people, and what is asked about it.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) id: String,
    pub(super) turns: Vec<Turn>,
    pub(super) questions: Vec<Asked>,
    /// When it begins and ends, where it has times.
    pub(super) span: Option<(Timestamp, Timestamp)>,
}

/// Reads corpus.jsonl and questions.jsonl of a folder.
pub(super) fn read(folder: &Path) -> anyhow::Result<Vec<Conversation>> {
    let mut found: Vec<Conversation> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for mut turn in lines::<Turn>(&folder.join("corpus.jsonl"))? {
        // A turn without a word cannot be recorded, nor found.
        if turn.text.trim().is_empty() && turn.caption.as_ref().is_none_or(|c| c.trim().is_empty())
        {
            continue;
        }
        turn.at = turn.timestamp.as_deref().map(time).transpose()?;
        let place = *places.entry(turn.conversation_id.clone()).or_insert(found.len());
        if place == found.len() {
            let id = turn.conversation_id.clone();
            found.push(Conversation { id, turns: Vec::new(), questions: Vec::new(), span: None });
        }
        found[place].turns.push(turn);
    }
    for mut asked in lines::<Asked>(&folder.join("questions.jsonl"))? {
        asked.at = asked.question_date.as_deref().map(time).transpose()?;
        let Some(place) = places.get(&asked.conversation_id) else {
            bail!("question {} is about an unknown conversation", asked.question_id);
        };
        found[*place].questions.push(asked);
    }
    ensure!(!found.is_empty(), "there are no conversations in {}", folder.display());
    for conversation in &mut found {
        conversation.span = span(&conversation.turns);
        conversation.check_sessions()?;
    }
    Ok(found)
}

/// Reads gold.jsonl of a folder: what answers each question.
pub(super) fn gold(folder: &Path) -> anyhow::Result<Vec<Gold>> {
    lines(&folder.join("gold.jsonl"))
}

/// All conversations as one: sessions and turns are called `conversation/…`.
pub(super) fn merged(conversations: &[Conversation]) -> Conversation {
    let mut all =
        Conversation { id: "all".to_owned(), turns: Vec::new(), questions: Vec::new(), span: None };
    for conversation in conversations {
        let full = |name: &str| format!("{}/{name}", conversation.id);
        for turn in &conversation.turns {
            let session_id = full(&turn.session_id);
            all.turns.push(Turn { session_id, turn_id: full(&turn.turn_id), ..turn.clone() });
        }
        all.questions.extend(conversation.questions.iter().cloned());
    }
    all.span = span(&all.turns);
    all
}

impl Conversation {
    /// Sessions as they follow each other: parts of the list of turns.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &[Turn]> {
        self.turns.chunk_by(|one, next| one.session_id == next.session_id)
    }

    /// The turn that was recorded at a place of a session.
    pub(super) fn places(&self) -> HashMap<(&str, i64), &Turn> {
        let mut counts: HashMap<&str, i64> = HashMap::new();
        let mut places = HashMap::with_capacity(self.turns.len());
        for turn in &self.turns {
            let count = counts.entry(turn.session_id.as_str()).or_default();
            places.insert((turn.session_id.as_str(), *count), turn);
            *count += 1;
        }
        places
    }

    fn check_sessions(&self) -> anyhow::Result<()> {
        let longest = self.places().into_keys().map(|(_, place)| place).max().unwrap_or(0);
        ensure!(longest < MOST_PLACES, "a session of {} has too many turns", self.id);
        Ok(())
    }
}

fn span(turns: &[Turn]) -> Option<(Timestamp, Timestamp)> {
    let times = || turns.iter().filter_map(|turn| turn.at);
    times().min().zip(times().max())
}

fn lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled
        .map(|(number, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("could not read {} line {}", path.display(), number + 1))
        })
        .collect()
}

/// A time as the sets write it: with a zone, or without one and then in UTC.
fn time(written: &str) -> anyhow::Result<Timestamp> {
    if let Ok(time) = written.parse::<Timestamp>() {
        return Ok(time);
    }
    let local: DateTime = written.parse().with_context(|| format!("{written:?} is not a time"))?;
    Ok(local.to_zoned(TimeZone::UTC)?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_taken_as_utc_unless_they_name_a_zone() {
        let noon: Timestamp = "2023-05-08T12:00:00Z".parse().unwrap();
        assert_eq!(time("2023-05-08T12:00:00").unwrap(), noon);
        assert_eq!(time("2023-05-08T14:00:00+02:00").unwrap(), noon);
        assert!(time("yesterday").is_err());
    }
}
