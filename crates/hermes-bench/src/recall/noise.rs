//! Messages that say nothing: a conversation's own words, in its own lengths, drawn at random.

use jiff::{SignedDuration, Timestamp};

use super::corpus::{Conversation, Turn};
use hermes_app::numbers::Numbers;

/// How many messages a made-up session has.
pub(super) const PER_SESSION: usize = 20;
const YEARS: SignedDuration = SignedDuration::from_hours(24 * 730);
const PREFIX: &str = "noise-";

/// Draws messages from the words of one conversation.
pub(super) struct Noise<'a> {
    /// Every word as often as it was said, so that drawing one keeps the frequencies.
    words: Vec<&'a str>,
    /// How many words each turn has.
    lengths: Vec<usize>,
    /// Who speaks: role and name.
    speakers: Vec<(&'a str, Option<&'a str>)>,
}

/// A session of the memory in the order of time.
pub(super) enum Session<'a> {
    /// One of the conversation.
    Real(&'a [Turn]),
    /// A made-up one, with its number.
    MadeUp(usize),
}

/// A made-up message.
pub(super) struct MadeUp<'a> {
    pub(super) role: &'a str,
    pub(super) speaker: Option<&'a str>,
    pub(super) text: String,
}

impl<'a> Noise<'a> {
    pub(super) fn of(conversation: &'a Conversation) -> Noise<'a> {
        let turns = &conversation.turns;
        let mut speakers: Vec<(&str, Option<&str>)> = Vec::new();
        for turn in turns {
            let speaker = (turn.role.as_str(), turn.speaker.as_deref());
            if !speakers.contains(&speaker) {
                speakers.push(speaker);
            }
        }
        let lengths = turns.iter().map(|turn| turn.text.split_whitespace().count().max(1));
        Noise {
            words: turns.iter().flat_map(|turn| turn.text.split_whitespace()).collect(),
            lengths: lengths.collect(),
            speakers,
        }
    }

    /// The message at a place of a session; speakers take turns.
    pub(super) fn message(&self, numbers: &mut Numbers, place: usize) -> MadeUp<'a> {
        let (role, speaker) = self.speakers[place % self.speakers.len()];
        let length = self.lengths[numbers.below(self.lengths.len())];
        let mut text = String::new();
        for _ in 0..length {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(match self.words.as_slice() {
                [] => "hm",
                words => words[numbers.below(words.len())],
            });
        }
        MadeUp { role, speaker, text }
    }
}

/// The sessions of a conversation among `count` made-up messages, by time: two years with the
/// conversation in their middle, so that neither the oldest nor the newest is always a true one.
pub(super) fn timeline(
    conversation: &Conversation,
    count: usize,
    now: Timestamp,
) -> Vec<(Timestamp, Session<'_>)> {
    let (begin, end) = conversation.span.unwrap_or((now, now));
    let room = (YEARS - begin.duration_until(end)).max(SignedDuration::ZERO);
    let first = begin.saturating_sub(room / 2).unwrap_or(begin);
    let made_up = count.div_ceil(PER_SESSION);
    let step = YEARS / i32::try_from(made_up.max(1)).unwrap_or(i32::MAX);
    let mut all: Vec<(Timestamp, Session<'_>)> = Vec::new();
    let mut last = begin;
    for turns in conversation.sessions() {
        last = turns.first().and_then(|turn| turn.at).unwrap_or(last);
        all.push((last, Session::Real(turns)));
    }
    let mut at = first;
    for number in 0..made_up {
        all.push((at, Session::MadeUp(number)));
        at = at.saturating_add(step).unwrap_or(at);
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

/// The id of a made-up session.
pub(super) fn session_id(number: usize) -> String {
    format!("{PREFIX}{number:07}")
}

/// The name of a message in a run file, if it is a made-up one.
pub(super) fn name(session_id: &str, place: i64) -> Option<String> {
    session_id.starts_with(PREFIX).then(|| format!("{session_id}:{}", place + 1))
}
