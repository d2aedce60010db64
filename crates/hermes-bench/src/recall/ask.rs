//! Ask every question, and name what was found by the ids of the set.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, ensure};
use hermes_llm::Embedder;
use hermes_memory::search::{self, Effort, Item, Kind, Looks, Question, Reading};
use hermes_store::memory::{Memory, Message, Scope};
use hermes_store::postgres::Pool;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::corpus::{Asked, Conversation, Turn};
use super::fill::Filled;
use super::noise;
use crate::cpu;

/// One line of a run file.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Answered {
    pub(super) question_id: String,
    /// Best first.
    pub(super) retrieved: Vec<String>,
    pub(super) cpu_ms: f64,
    /// What the context costs that was built for the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<usize>,
}

impl Answered {
    pub(super) fn new(asked: &Asked, retrieved: Vec<String>, spent: Duration) -> Answered {
        let cpu_ms = spent.as_secs_f64() * 1e3;
        Answered { question_id: asked.question_id.clone(), retrieved, cpu_ms, tokens: None }
    }

    /// The same, with the sessions of the messages: `D1` for `D1:3`; each where it comes first.
    pub(super) fn by_session(&self) -> Answered {
        let mut retrieved: Vec<String> = Vec::new();
        for name in &self.retrieved {
            let session = name.rsplit_once(':').map_or(name.as_str(), |(session, _)| session);
            if retrieved.iter().all(|known| known != session) {
                retrieved.push(session.to_owned());
            }
        }
        Answered { retrieved, ..self.clone() }
    }

    pub(super) fn spent(&self) -> Duration {
        Duration::from_secs_f64(self.cpu_ms / 1e3)
    }
}

/// How questions are asked.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) embedder: Option<&'a dyn Embedder>,
    /// Where the memories are that are asked, if not in files.
    pub(super) server: Option<&'a Pool>,
    pub(super) limit: usize,
    /// When a question is asked that has no time, of a conversation that has none.
    pub(super) now: Timestamp,
}

impl Asking<'_> {
    /// When a question is asked: as it says, else at the end of its conversation.
    pub(super) fn time_of(&self, asked: &Asked, conversation: &Conversation) -> Timestamp {
        asked.at.or(conversation.span.map(|(_, end)| end)).unwrap_or(self.now)
    }

    /// A question, to be asked of one kind of things.
    pub(super) fn question<'q>(&self, asked: &'q Asked, kind: Kind) -> Question<'q> {
        Question { text: &asked.question, kind, limit: self.limit, ..Question::default() }
    }

    /// Who asks of a store, at some time.
    pub(super) fn reading<'s>(
        &'s self,
        store: &'s Memory,
        scope: Scope,
        now: Timestamp,
    ) -> Reading<'s> {
        let zone = const { &TimeZone::UTC };
        Reading { store, embedder: self.embedder, scope, now, zone }
    }
}

/// Searches for every question in the memory of its conversation.
pub(super) fn search_all(
    conversations: &[Conversation],
    filled: &Filled,
    asking: Asking<'_>,
    effort: &Effort,
) -> anyhow::Result<Vec<Answered>> {
    let store = filled.open()?;
    let mut answers = Vec::new();
    for (conversation, scope) in conversations.iter().zip(&filled.scopes) {
        let names = Names::of(conversation);
        for asked in &conversation.questions {
            let question = asking.question(asked, Kind::Messages);
            let reading = asking.reading(&store, *scope, asking.time_of(asked, conversation));
            let (answer, spent) = cpu::timed(|| {
                search::search_among(&Looks::default(), &reading, &question, effort)
            })?;
            let mut found = Vec::new();
            for one in &answer.results {
                if let Item::Message { message, episode } = &one.item {
                    found.push(names.name(&episode.session_id, message)?);
                }
            }
            answers.push(Answered::new(asked, found, spent));
        }
    }
    Ok(answers)
}

/// Which turn of the set each message of a conversation is.
pub(super) struct Names<'a> {
    places: HashMap<(&'a str, i64), &'a Turn>,
}

impl<'a> Names<'a> {
    pub(super) fn of(conversation: &'a Conversation) -> Names<'a> {
        Names { places: conversation.places() }
    }

    /// The id of a message; fails if the memory gives back another text than was recorded.
    pub(super) fn name(&self, session_id: &str, message: &Message) -> anyhow::Result<String> {
        let place = message.key.place();
        if let Some(name) = noise::name(session_id, place) {
            return Ok(name);
        }
        let turn = self.places.get(&(session_id, place)).context("a message that nobody said")?;
        ensure!(turn.text == message.text, "{} came back with another text", turn.turn_id);
        Ok(turn.turn_id.clone())
    }
}

/// Who asks what of which memory.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) store: &'a Memory,
    pub(super) scope: Scope,
}
