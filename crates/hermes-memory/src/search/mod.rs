//! Search everything that is remembered: words and meaning together, best first, each score explained.

mod candidates;
mod load;
mod looks;
mod named;
mod outdated;
mod places;
mod question;
mod relevance;
mod run;
mod score;
mod terms;
mod ways;

use std::borrow::Cow;

use hermes_llm::Embedder;
use hermes_store::memory::{
    Episode, Event, Fact, ItemKind, Memory, Message, Origin, Procedure, Scope, Trust,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Result, provenance};

pub use looks::Looks;
pub(crate) use outdated::heir_of_episode;
pub use ways::Ways;

/// Who asks, of which memory, and when.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The memory.
    pub store: &'a Memory,
    /// The store's active model; none means words only.
    pub embedder: Option<&'a dyn Embedder>,
    /// Whose things.
    pub scope: Scope,
    /// When it is asked: for what holds now.
    pub now: Timestamp,
    /// The zone in which the asker's days begin.
    pub zone: &'a TimeZone,
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Question<'a> {
    /// The words, as a person typed them.
    pub text: &'a str,
    /// Where to look.
    pub kind: Kind,
    /// What else narrows the answer.
    pub filter: Filter<'a>,
    /// How many results at most.
    pub limit: usize,
}

/// Where to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What is known.
    Facts,
    /// What was said.
    Episodes,
    /// How things are done well.
    Procedures,
    /// What happened when.
    Events,
    /// Whole conversations in state.db.
    Sessions,
    /// MEMORY.md and USER.md.
    Files,
    /// All but sessions.
    #[default]
    All,
    /// What was said, and not what sums it up; nobody asks for it by a word.
    #[serde(skip)]
    Messages,
}

impl Kind {
    /// What of the memory is looked through; none for what it does not hold.
    fn items(self) -> &'static [ItemKind] {
        match self {
            Kind::Facts => &[ItemKind::Fact],
            Kind::Episodes => &[ItemKind::Message, ItemKind::Summary],
            Kind::Procedures => &[ItemKind::Procedure],
            Kind::Events => &[ItemKind::Event],
            Kind::Messages => &[ItemKind::Message],
            Kind::All => &ItemKind::ALL,
            Kind::Sessions | Kind::Files => &[],
        }
    }
}

/// What narrows an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter<'a> {
    /// Messages only of this session.
    pub session: Option<&'a str>,
    /// Messages not of this session.
    pub except_session: Option<&'a str>,
    /// Messages only of this channel.
    pub channel: Option<&'a str>,
    /// Messages only of this project: its folder, or the last part of it.
    pub project: Option<&'a str>,
    /// Only what comes from there, as `Item::source` says it.
    pub source: Option<&'a str>,
    /// Only what mentions this name.
    pub entity: Option<&'a str>,
    /// Only what was said, or happened, at or after.
    pub since: Option<Timestamp>,
    /// Only what was said, or happened, before.
    pub until: Option<Timestamp>,
    /// What held and was known at this time.
    pub as_of: Option<Timestamp>,
}

impl Filter<'_> {
    /// Whether it narrows nothing.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

/// What was found, best first.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The results.
    pub results: Vec<Found>,
    /// How sure we are that the first results hold what was asked for at all, from 0 to 1.
    pub confidence: f64,
    /// What the asker should know about how they were found: a model that is down, common words left out.
    pub notes: Vec<String>,
}

impl Answer {
    /// Whether what was found is only what comes nearest: in 98 of 100 cases it does not answer.
    pub fn is_unsure(&self) -> bool {
        !self.results.is_empty() && self.confidence < 0.02
    }
}

/// One result.
#[derive(Debug, Clone)]
pub struct Found {
    /// What was found.
    pub item: Item,
    /// Its score; only the order means something.
    pub score: f64,
    /// How sure we are that it answers the question, from 0 to 1.
    pub relevance: f64,
    /// The parts of the score.
    pub parts: Vec<Part>,
    /// How it was found.
    pub ways: Ways,
    /// Where in the text the best chunk is, in bytes.
    pub best: std::ops::Range<usize>,
    /// The fact that holds in the place of what it says.
    pub superseded_by: Option<i64>,
}

/// What was found.
#[derive(Debug, Clone)]
pub enum Item {
    /// A message, with the episode it is from.
    Message {
        /// The message.
        message: Message,
        /// Its episode, without messages.
        episode: Episode,
    },
    /// The summary that stands for an old episode.
    Summary(Episode),
    /// A fact.
    Fact(Fact),
    /// A procedure.
    Procedure(Procedure),
    /// An event.
    Event(Event),
}

impl Item {
    /// Its kind and number: `fact:42`, `episode:17`.
    pub fn name(&self) -> String {
        match self {
            Item::Message { episode, .. } | Item::Summary(episode) => {
                format!("episode:{}", episode.id)
            }
            Item::Fact(fact) => format!("fact:{:03}", fact.id),
            Item::Procedure(procedure) => format!("procedure:{}", procedure.id),
            Item::Event(event) => format!("event:{}", event.id),
        }
    }

    /// Where it comes from: a `user` who said so, an `agent` that noted it, a `conversation`, an `import`, an
    /// external `provider`; none where nobody knows.
    pub fn source(&self) -> Option<&'static str> {
        match self {
            Item::Message { episode, .. } | Item::Summary(episode) if episode.imported => {
                Some("import")
            }
            Item::Message { .. } | Item::Summary(_) | Item::Event(_) => Some("conversation"),
            Item::Fact(fact) => Some(match fact.origin {
                Origin::User => "user",
                Origin::Agent => "agent",
                Origin::Extract => "conversation",
                Origin::Import => "import",
                Origin::Provider => "provider",
            }),
            Item::Procedure(_) => None,
        }
    }

    /// How far its words can be trusted.
    pub fn trust(&self) -> Trust {
        match self {
            Item::Message { message, .. } => provenance::of_message(message),
            Item::Summary(_) => Trust::Agent,
            Item::Fact(fact) => fact.trust,
            Item::Procedure(procedure) => procedure.trust,
            Item::Event(event) => event.trust,
        }
    }

    /// The project it belongs to.
    pub fn project(&self) -> Option<&str> {
        match self {
            Item::Message { episode, .. } | Item::Summary(episode) => episode.project.as_deref(),
            _ => None,
        }
    }

    /// Its name, and of messages which one of the episode.
    fn place(&self) -> (String, i64) {
        let message = match self {
            Item::Message { message, .. } => message.key.get(),
            _ => 0,
        };
        (self.name(), message)
    }

    /// What it says.
    pub fn text(&self) -> &str {
        match self {
            Item::Message { message, .. } => &message.text,
            Item::Summary(episode) => episode.body.as_deref().unwrap_or_default(),
            Item::Fact(fact) => &fact.statement,
            Item::Procedure(procedure) => &procedure.body,
            Item::Event(event) => &event.text,
        }
    }
}

/// One part of a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// What was measured: `words`, `meaning`, `tokens`, `speaker`, `date`, …
    pub name: &'static str,
    /// What it added to the score, or the factor it was multiplied with.
    pub value: f64,
}

/// What a score is multiplied with.
const FACTORS: [&str; 6] = ["role", "speaker", "question", "first", "time", "superseded"];

impl Part {
    /// Whether the score was multiplied with it, not added to.
    pub fn is_factor(&self) -> bool {
        FACTORS.contains(&self.name)
    }

    /// For a person: `words 0.62`, `speaker ×1.35`.
    pub fn told(&self) -> String {
        let times = if self.is_factor() { "×" } else { "" };
        format!("{} {times}{:.2}", self.name, self.value)
    }
}

/// How many bytes of a text are looked for: what is longer says no more, and whoever sends it may mean harm.
pub const LONGEST_TEXT: usize = 8 * 1024;
/// So many of them are its end, where people put what they want after what they pasted.
const END: usize = LONGEST_TEXT / 4;

/// The part of a long text that is looked for: its beginning and its end.
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_TEXT {
        return Cow::Borrowed(text);
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let most = LONGEST_TEXT - END - 1;
    let first = (0..=most).rev().find(is_boundary).unwrap_or(0);
    let last = (text.len() - END..=text.len()).find(is_boundary).unwrap_or(text.len());
    Cow::Owned(format!("{}\n{}", &text[..first], &text[last..]))
}

/// What is said where only a part of a text was looked for.
pub fn bounded_note(text: &str) -> Option<String> {
    (text.len() > LONGEST_TEXT).then(|| {
        format!(
            "the text has {} bytes: only the first {} and the last {END} were searched for",
            text.len(),
            LONGEST_TEXT - END
        )
    })
}

/// Finds what answers the question.
pub fn search(reading: &Reading<'_>, question: &Question<'_>) -> Result<Answer> {
    search_among(&Looks::default(), reading, question, &Effort::default())
}

/// The same for one of several questions about one text, where what was looked up for one of them serves all; or with
/// another effort than the usual, for measuring.
pub fn search_among(
    looks: &Looks,
    reading: &Reading<'_>,
    question: &Question<'_>,
    effort: &Effort,
) -> Result<Answer> {
    if question.kind.items().is_empty() {
        return Ok(Answer::default());
    }
    let text = bounded(question.text);
    let mut notes: Vec<String> = bounded_note(question.text).into_iter().collect();
    let question = &Question { text: &text, ..question.clone() };
    notes.extend(looks.vector(reading, question.text)?.notes.iter().cloned());
    let looking = run::Looking { looks, reading, question, effort };
    let mut answer = reading.held(|| looking.search())?;
    answer.notes.splice(0..0, notes);
    Ok(answer)
}

impl Reading<'_> {
    /// One state of the store for everything that is read, whatever others write meanwhile.
    pub(crate) fn held<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let began = self.store.begin_reading()?;
        let done = read();
        let ended = if began { self.store.end_reading() } else { Ok(()) };
        let done = done?;
        ended?;
        Ok(done)
    }
}

/// How much work a search may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effort {
    /// Up to so many chunks all are scored; above, only those that the words or the meaning point to.
    pub score_all_below: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { score_all_below: 2_000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_looked_for_by_its_beginning_and_its_end() {
        let text = format!("begin {} end", "é".repeat(100_000));
        let part = bounded(&text);
        assert!(part.len() <= LONGEST_TEXT && part.len() > LONGEST_TEXT - 8, "{}", part.len());
        assert!(part.starts_with("begin é") && part.ends_with("é end"));
        assert_eq!(bounded("short"), "short");
        assert!(bounded_note(&text).is_some() && bounded_note("short").is_none());
    }
}
