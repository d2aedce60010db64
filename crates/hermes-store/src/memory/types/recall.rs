//! What a search needs of the store: posting lists, nearest vectors, and the chunks to be scored.

use std::ops::RangeInclusive;

use jiff::Timestamp;

use super::{ChunkKey, ItemKind, Scope, SessionKey};

/// Which texts a search may find, besides what the scope says.
#[derive(Debug, Clone, Default)]
pub struct RecallFilter {
    /// Only of these kinds; empty means all.
    pub kinds: Vec<ItemKind>,
    /// Messages only of these sessions (sorted), and summaries that tell of one of them; none means
    /// every session.
    pub sessions: Option<Vec<SessionKey>>,
    /// Nothing but messages and summaries; where only sessions are chosen by time, other things pass.
    pub only_messages: bool,
    /// Messages not of these sessions (sorted), and no summaries that tell of nothing else.
    pub without_sessions: Vec<SessionKey>,
}

impl RecallFilter {
    /// The ranges of chunk numbers that the scope and the filter leave.
    pub fn ranges(&self, scope: Scope) -> Vec<RangeInclusive<i64>> {
        let kinds = if self.kinds.is_empty() { &ItemKind::ALL[..] } else { &self.kinds };
        let mut ranges: Vec<_> = scope
            .readable()
            .into_iter()
            .flat_map(|user| kinds.iter().map(move |kind| ChunkKey::all_of(user, *kind)))
            .collect();
        ranges.sort_by_key(|range| *range.start());
        ranges.dedup();
        join_touching(ranges)
    }

    /// Whether a chunk inside the ranges passes; for a summary see `passes_as_summary_of` too.
    pub fn passes(&self, chunk: ChunkKey) -> bool {
        match chunk.kind() {
            Some(ItemKind::Message) => self.passes_in(chunk.message().session()),
            Some(ItemKind::Summary) => true,
            _ => !self.only_messages,
        }
    }

    /// Whether a summary that tells of these sessions passes: one of them has to.
    pub fn passes_as_summary_of(&self, sessions: &[SessionKey]) -> bool {
        !self.narrows_sessions() || sessions.iter().any(|session| self.passes_in(*session))
    }

    /// Whether it matters in which session something was said.
    pub fn narrows_sessions(&self) -> bool {
        self.sessions.is_some() || !self.without_sessions.is_empty()
    }

    fn passes_in(&self, session: SessionKey) -> bool {
        self.sessions.as_ref().is_none_or(|only| only.binary_search(&session).is_ok())
            && self.without_sessions.binary_search(&session).is_err()
    }
}

fn join_touching(ranges: Vec<RangeInclusive<i64>>) -> Vec<RangeInclusive<i64>> {
    let mut joined: Vec<RangeInclusive<i64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *last.end() + 1 == *range.start() => *last = *last.start()..=*range.end(),
            _ => joined.push(range),
        }
    }
    joined
}

/// The chunks that hold a word.
#[derive(Debug, Clone, Default)]
pub struct Postings {
    /// The chunks, newest session first.
    pub chunks: Vec<ChunkKey>,
    /// Whether these are all; else the newest up to the cap.
    pub complete: bool,
    /// About how many there are in all.
    pub estimated: usize,
}

/// Which sessions are meant.
#[derive(Debug, Clone, Default)]
pub struct SessionChoice<'a> {
    /// The session with this id.
    pub session_id: Option<&'a str>,
    /// Those of this channel.
    pub channel: Option<&'a str>,
    /// Those with something said at or after.
    pub since: Option<Timestamp>,
    /// Those with something said before.
    pub until: Option<Timestamp>,
}

/// One chunk with what scoring needs.
#[derive(Debug, Clone)]
pub struct ChunkRow {
    /// Its number.
    pub key: ChunkKey,
    /// Where its text begins, in bytes.
    pub start: usize,
    /// How many bytes it is long.
    pub length: usize,
    /// The ids of its tokens.
    pub tokens: Vec<u16>,
    /// Its similarity to the question (cosine); none if it has no vector of the model.
    pub similarity: Option<f32>,
}

/// A chunk near to the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// Its number.
    pub key: ChunkKey,
    /// The cosine.
    pub similarity: f32,
}

/// How many chunks a search can find.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Chunks; about right where there are more than the limit.
    pub chunks: usize,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// Who said a message, and when: what scoring needs besides the chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageHead {
    /// Its number.
    pub key: super::MessageKey,
    /// The episode.
    pub episode: i64,
    /// When.
    pub at: Timestamp,
    /// Whether the user said it.
    pub role: String,
    /// Who, by name.
    pub speaker: Option<String>,
    /// Whether its text ends as a question.
    pub is_question: bool,
    /// Whether its text speaks of a time.
    pub has_time: bool,
}

/// The question as a vector, and the model that made it.
#[derive(Debug, Clone, Copy)]
pub struct QuestionVector<'a> {
    /// The model's number.
    pub model: i64,
    /// The vector, of length one.
    pub vector: &'a [f32],
}

#[cfg(test)]
mod tests {
    use super::super::UserNumber;
    use super::*;

    #[test]
    fn a_filter_of_all_kinds_leaves_one_range_for_each_reader() {
        let ranges = RecallFilter::default().ranges(Scope::of(UserNumber::new(7)));
        assert_eq!(ranges.len(), 2);
        let shared = RecallFilter::default().ranges(Scope::of(UserNumber::SHARED));
        assert_eq!(shared.len(), 1);
    }

    #[test]
    fn a_filter_by_session_leaves_out_what_has_none() {
        let session = SessionKey::new(UserNumber::OWNER, 4).unwrap();
        let filter = RecallFilter {
            sessions: Some(vec![session]),
            only_messages: true,
            ..RecallFilter::default()
        };
        let message = super::super::MessageKey::new(session, 0).unwrap();
        assert!(filter.passes(ChunkKey::of_message(message, 0)));
        assert!(!filter.passes(ChunkKey::of_item(UserNumber::OWNER, ItemKind::Fact, 4, 0)));
    }
}
