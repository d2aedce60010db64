//! What the tests share: times, small things to keep.

use hermes_store::memory::{
    Change, EventKind, NewChunk, NewEvent, NewFact, NewMessage, NewModel, NewProcedure, NewSource,
    Origin, ProcedureKind, Scope, Trust, UserNumber,
};
use jiff::Timestamp;

pub(crate) use crate::place::Place;

/// The owner.
pub(crate) fn alice() -> Scope {
    Scope::of(UserNumber::OWNER)
}

/// The `minute`th minute of the tests.
pub(crate) fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + minute * 60).unwrap()
}

pub(crate) fn by(actor: &str, minute: i64) -> Change<'_> {
    Change { actor, at: at(minute) }
}

/// The whole text as one chunk.
pub(crate) fn chunk(text: &str, vector: Option<Vec<f32>>) -> NewChunk {
    let (start, length, words) = (0, text.len(), text.to_owned());
    NewChunk { start, length, words, tokens: vec![7, 300], vector }
}

pub(crate) fn message<'a>(
    session_id: &'a str,
    external_id: &'a str,
    text: &'a str,
) -> NewMessage<'a> {
    NewMessage {
        session_id,
        role: "user",
        speaker: Some("Alice"),
        text,
        said: None,
        caption: None,
        at: at(1),
        channel: Some("cli"),
        agent: Some("hermes"),
        project: Some("garden"),
        source: "test",
        external_id,
        former_id: None,
        trust: Trust::User,
        tokens: 5,
        chunks: vec![chunk(text, None)],
        steps: Vec::new(),
        imported: false,
    }
}

pub(crate) fn fact(statement: &str) -> NewFact<'_> {
    NewFact {
        statement,
        kind: "fact",
        subject: None,
        predicate: None,
        object: None,
        confidence: 0.9,
        origin: Origin::User,
        trust: Trust::User,
        valid_from: None,
        valid_to: None,
        shared: false,
        entities: &[],
        sources: &[],
        chunks: vec![chunk(statement, None)],
    }
}

pub(crate) fn procedure<'a>(title: &'a str, sources: &'a [NewSource<'a>]) -> NewProcedure<'a> {
    NewProcedure {
        kind: ProcedureKind::Reflection,
        task_type: Some("coding"),
        title,
        body: "look first",
        outcome: Some("success"),
        trust: Trust::Agent,
        shared: false,
        entities: &[],
        sources,
        chunks: vec![chunk(&format!("{title}\nlook first"), None)],
        origin: None,
        skill_path: None,
    }
}

pub(crate) fn event(text: &str, minute: i64) -> NewEvent<'_> {
    NewEvent {
        at: at(minute),
        kind: EventKind::Decision,
        text,
        why: Some("cheaper"),
        trust: Trust::User,
        shared: false,
        entities: &[],
        chunks: vec![chunk(text, None)],
        session: None,
        sources: &[],
        origin: None,
    }
}

/// A model with four dimensions.
pub(crate) fn small_model(name: &str) -> NewModel<'_> {
    NewModel { provider: "embedded", name, dims: 4, details: "", mean: &[0.0; 4] }
}
