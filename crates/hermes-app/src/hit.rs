//! One result of a search, wherever it was found, and how it is shown.

use std::ops::Range;

use hermes_memory::search::{Found, Item, Part, Ways};
use hermes_memory::task;
use hermes_store::memory::{Trust, UserNumber};
use hermes_store::sessions::SearchResult;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::clock;
use crate::text::one_line;

/// One result.
#[derive(Debug, Default, Serialize)]
pub struct Hit {
    /// What it is: `message`, `summary`, `fact`, `procedure`, `event`, `file`, `session`.
    pub kind: &'static str,
    /// `fact:042`, `episode:17`, the id of a session, a file and the number of its entry.
    pub id: String,
    /// All of its words.
    pub text: String,
    /// The part that answers best.
    pub snippet: String,
    /// What it is ranked by.
    pub score: f64,
    /// How likely it answers, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// When it was said or recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// When the last of what a summary tells of was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The sessions that a summary tells of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// Who said it: `user`, `assistant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Their name, where the session has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The session it was said in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<i64>,
    /// Where the session was held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Where it comes from: `user`, `agent`, `conversation`, `import`, `provider`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
    /// The names that a fact is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// Whether it belongs to everybody.
    pub shared: bool,
    /// The fact that holds in the place of what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// How it was found: `keyword`, `semantic`, `both`; `weak` for what only comes nearest.
    pub found: &'static str,
    /// The words of the question that stand in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// How near it comes in meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// What the score is made of.
    pub parts: Vec<Part>,
    /// Whether it is not the user's own words.
    #[serde(skip)]
    pub is_outside: bool,
}

/// How wide a line of a snippet is.
const WIDTH: usize = 100;
const LINES: usize = 3;
/// How many words are shown before the one that was asked for.
const WORDS_BEFORE: usize = 8;
/// Two lists whose scores cannot be compared are joined by place; the constant is that of the measurements.
const RANK_WEIGHT: f64 = 20.0;

/// The two lists as one, by place; where places are equal the first list comes first.
pub fn join(first: Vec<Hit>, second: Vec<Hit>) -> Vec<Hit> {
    let ranked = |hits: Vec<Hit>| {
        hits.into_iter().enumerate().map(|(place, hit)| (1.0 / (RANK_WEIGHT + place as f64), hit))
    };
    let mut all: Vec<(f64, Hit)> = ranked(first).chain(ranked(second)).collect();
    all.sort_by(|left, right| right.0.total_cmp(&left.0));
    all.into_iter().map(|(_, hit)| hit).collect()
}

impl Hit {
    /// What was found in memory.db.
    pub fn of_memory(found: &Found, question: &str) -> Hit {
        let text = found.item.text();
        let best = focus(text, found.best.clone(), &task::content_words(question));
        let mut hit = Hit {
            id: found.item.name(),
            text: text.to_owned(),
            snippet: snippet(text, best),
            score: found.score,
            relevance: Some(found.relevance),
            found: found.ways.label(),
            words: found.ways.words.clone(),
            cosine: found.ways.cosine,
            parts: found.parts.clone(),
            superseded_by: found.superseded_by.map(|id| format!("fact:{id:03}")),
            source: found.item.source(),
            is_outside: found.item.trust() < Trust::User,
            project: found.item.project().map(str::to_owned),
            ..Hit::default()
        };
        match &found.item {
            Item::Message { message, episode } => {
                hit.kind = "message";
                hit.at = Some(message.at);
                hit.role = Some(message.role.clone());
                hit.speaker = message.speaker.clone();
                hit.session_id = Some(episode.session_id.clone());
                hit.message_id = Some(message.key.get());
                hit.channel = episode.channel.clone();
                if let (true, Some(caption)) = (text.trim().is_empty(), &message.caption) {
                    hit.snippet = snippet(caption, 0..caption.len());
                }
            }
            Item::Summary(episode) => {
                hit.kind = "summary";
                hit.at = Some(episode.started_at);
                hit.until = Some(episode.ended_at);
                hit.channel = episode.channel.clone();
            }
            Item::Fact(fact) => {
                hit.kind = "fact";
                hit.entities = fact.entities.clone();
                hit.at = Some(fact.recorded_at);
                hit.shared = fact.user == UserNumber::SHARED;
            }
            Item::Procedure(procedure) => {
                hit.kind = "procedure";
                hit.at = Some(procedure.recorded_at);
                hit.shared = procedure.user == UserNumber::SHARED;
            }
            Item::Event(event) => {
                hit.kind = "event";
                hit.at = Some(event.at);
                hit.shared = event.user == UserNumber::SHARED;
            }
        }
        hit
    }

    /// What was found in state.db.
    pub fn of_session(result: SearchResult) -> Hit {
        let snippet: String = result.snippet.pieces().into_iter().map(|(piece, _)| piece).collect();
        Hit {
            kind: "session",
            found: "keyword",
            id: result.session_id.to_string(),
            text: result.text.clone(),
            snippet: lines(&snippet, "", ""),
            at: Some(result.timestamp),
            role: result.role.clone(),
            session_id: Some(result.session_id.to_string()),
            message_id: result.message_id,
            channel: Some(result.source),
            ..Hit::default()
        }
    }

    /// An entry of a memory file.
    pub fn of_entry(file: &str, number: usize, text: &str, parts: Vec<Part>, ways: Ways) -> Hit {
        Hit {
            kind: "file",
            id: format!("{file}#{number}"),
            text: text.to_owned(),
            snippet: snippet(text, 0..text.len()),
            score: parts.iter().map(|part| part.value).sum(),
            found: ways.label(),
            words: ways.words,
            cosine: ways.cosine,
            parts,
            ..Hit::default()
        }
    }

    /// One line for a model: what it is, when and where it was said, whether it still holds, and its words.
    pub fn line(&self, zone: &TimeZone) -> String {
        let at = self.at.map(|at| clock::minute(at, zone)).unwrap_or_default();
        let outdated = self.superseded_by.as_ref().map(|by| format!(" [superseded by {by}]"));
        let place = [Some(at), self.session_id.clone()].into_iter().flatten();
        let place: Vec<String> =
            place.filter(|part| !part.is_empty() && *part != self.id).collect();
        format!(
            "{} ({}){}: {}",
            self.id,
            place.join(", "),
            outdated.unwrap_or_default(),
            one_line(&self.snippet, 300)
        )
    }

    /// How it was found and what its score is made of.
    pub fn explanation(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Part::told).collect();
        let relevance =
            self.relevance.map(|value| format!(", relevance {value:.2}")).unwrap_or_default();
        let found = match self.words.is_empty() {
            true => self.found.to_owned(),
            false => format!("{} ({})", self.found, self.words.join(", ")),
        };
        format!("{found}, score {:.2}{relevance}: {}", self.score, parts.join(", "))
    }
}

/// The part around the first word that was asked for, where the best part is too long to be shown.
fn focus(text: &str, best: Range<usize>, asked: &[String]) -> Range<usize> {
    let Some(part) = text.get(best.clone()).filter(|part| part.len() > WIDTH * LINES) else {
        return best;
    };
    let mut words = part.split_whitespace();
    let Some(word) = words.find(|word| {
        let word = word.to_lowercase();
        asked.iter().any(|asked| word.contains(asked.as_str()))
    }) else {
        return best;
    };
    // The word is a slice of the part, so the distance of the two is its place.
    let place = word.as_ptr() as usize - part.as_ptr() as usize;
    let lead = part[..place].split_whitespace().rev().take(WORDS_BEFORE).last();
    let start = lead.map_or(place, |lead| lead.as_ptr() as usize - part.as_ptr() as usize);
    best.start + start..best.end
}

/// At most three lines of the text from the part that answers best.
fn snippet(text: &str, best: Range<usize>) -> String {
    let start = (0..=best.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let start = start.unwrap_or(0);
    let before = if text[..start].trim().is_empty() { "" } else { "… " };
    let end = (best.end.max(start)..=text.len()).find(|at| text.is_char_boundary(*at));
    let end = end.unwrap_or(text.len());
    let after = if text[end..].trim().is_empty() { "" } else { " …" };
    lines(&text[start..end], before, after)
}

fn lines(text: &str, before: &str, after: &str) -> String {
    let words = one_line(text, usize::MAX);
    let mut lines: Vec<String> = vec![before.to_owned()];
    for word in words.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let used = lines.last().map_or(0, |line| line.chars().count());
            let needs_space =
                lines.last().is_some_and(|line| !line.is_empty() && !line.ends_with(' '));
            let room = WIDTH.saturating_sub(used + usize::from(needs_space));
            if word.len() > room && used > 0 && word.len() <= WIDTH {
                lines.push(String::new());
                continue;
            }
            if room == 0 {
                lines.push(String::new());
                continue;
            }
            let piece: String = word.drain(..word.len().min(room)).collect();
            if let Some(line) = lines.last_mut() {
                if needs_space {
                    line.push(' ');
                }
                line.push_str(&piece);
            }
        }
    }
    let is_cut = lines.len() > LINES;
    lines.truncate(LINES);
    if let Some(last) = lines.last_mut() {
        last.push_str(if is_cut { " …" } else { after });
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_short_and_begins_at_the_best_part() {
        assert_eq!(snippet("one two", 0..7), "one two");
        assert_eq!(snippet("one. two. three.", 5..9), "… two. …");
        let long = snippet(&"word ".repeat(500), 0..2_500);
        assert_eq!(long.lines().count(), 3);
        assert!(long.lines().all(|line| line.chars().count() <= WIDTH + 2), "{long}");
        assert_eq!(snippet(&"界".repeat(500), 1..1_499).lines().count(), 3);
        assert_eq!(snippet("é", 1..1), "é");
        assert_eq!(snippet("", 0..0), "");
    }

    #[test]
    fn a_long_part_is_shown_around_the_word_that_was_asked_for() {
        let text = format!("{}the marzipan is in the cupboard", "word ".repeat(500));
        let best = focus(&text, 0..text.len(), &["marzipan".to_owned()]);
        assert!(text[best.clone()].starts_with("word word"));
        assert!(snippet(&text, best).contains("marzipan"));
        assert_eq!(focus(&text, 0..text.len(), &["absent".to_owned()]), 0..text.len());
        assert_eq!(focus("short", 0..5, &["short".to_owned()]), 0..5);
    }

    #[test]
    fn lists_are_joined_by_place() {
        let hit = |id: &str| Hit { id: id.to_owned(), ..Hit::default() };
        let joined = join(vec![hit("a"), hit("b")], vec![hit("x")]);
        let ids: Vec<&str> = joined.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(ids, ["a", "x", "b"]);
    }
}
