//! The conversations in a scratch memory, each its own user, alone or among made-up messages.

use anyhow::Context;
use hermes_store::memory::{Memory, Scope};
use hermes_store::postgres::Pool;
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use super::corpus::{Conversation, Turn};
use super::noise::{self, Noise, Session};
use crate::scratch::{Filling, Line, Scratch, Whose};
use hermes_app::numbers::Numbers;

/// A memory with every conversation in it.
pub(super) struct Filled {
    scratch: Scratch,
    /// The user of each conversation, in their order.
    pub(super) scopes: Vec<Scope>,
    pub(super) messages: u64,
    /// Messages recorded for each second of CPU time.
    pub(super) rate: f64,
    pub(super) bytes: u64,
}

/// How much noise is added to each conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    pub(super) messages: usize,
    pub(super) seed: u64,
}

impl Filled {
    pub(super) fn open(&self) -> anyhow::Result<Memory> {
        self.scratch.open(Access::Read)
    }

    pub(super) fn open_to_write(&self) -> anyhow::Result<Memory> {
        self.scratch.open(Access::Write)
    }
}

/// Makes a memory and records every conversation, by time among its noise.
pub(super) fn fill(
    conversations: &[Conversation],
    noise: Amount,
    now: Timestamp,
    server: Option<&Pool>,
) -> anyhow::Result<Filled> {
    let scratch = match server {
        Some(pool) => Scratch::on_server(pool.clone(), now)?,
        None => Scratch::new(now)?,
    };
    let mut filling = Filling::new(&scratch, now)?;
    let mut scopes = Vec::new();
    for conversation in conversations {
        let scope = filling.user(&conversation.id)?;
        scopes.push(scope);
        let whose = Whose { scope, source: &conversation.id };
        record(&mut filling, &whose, conversation, noise)
            .with_context(|| format!("could not record {}", conversation.id))?;
    }
    let (messages, rate) = (filling.messages, filling.rate());
    drop(filling);
    let bytes = scratch.size()?;
    Ok(Filled { scratch, scopes, messages, rate, bytes })
}

/// Every message of a conversation with its noise, in the order in which it is recorded.
pub(super) fn each_message(
    conversation: &Conversation,
    amount: Amount,
    now: Timestamp,
    mut take: impl FnMut(&Line<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let noise = Noise::of(conversation);
    let mut numbers = Numbers::new(amount.seed);
    for (at, session) in noise::timeline(conversation, amount.messages, now) {
        match session {
            Session::Real(turns) => turns.iter().try_for_each(|turn| take(&line_of(turn)))?,
            Session::MadeUp(number) => {
                let session_id = noise::session_id(number);
                let left = amount.messages - number * noise::PER_SESSION;
                for place in 0..noise::PER_SESSION.min(left) {
                    let said = noise.message(&mut numbers, place);
                    let name = noise::name(&session_id, place as i64).unwrap_or_default();
                    take(&Line {
                        session_id: &session_id,
                        role: said.role,
                        speaker: said.speaker,
                        timestamp: Some(at + SignedDuration::from_mins(place as i64)),
                        text: &said.text,
                        caption: None,
                        external_id: &name,
                    })?;
                }
            }
        }
    }
    Ok(())
}

fn record(
    filling: &mut Filling,
    whose: &Whose<'_>,
    conversation: &Conversation,
    noise: Amount,
) -> anyhow::Result<()> {
    let now = filling.now();
    each_message(conversation, noise, now, |line| filling.add(whose, line))?;
    filling.finish(whose)
}

fn line_of(turn: &Turn) -> Line<'_> {
    Line {
        session_id: &turn.session_id,
        role: &turn.role,
        speaker: turn.speaker.as_deref(),
        timestamp: turn.at,
        text: &turn.text,
        caption: turn.caption.as_deref(),
        external_id: &turn.turn_id,
    }
}
