//! A memory in a folder that goes away, and the lines that fill it.

use std::time::Duration;

use hermes_llm::{Embedder, ModelId, Prefixes, Provider, Purpose};
use hermes_memory::chunk::{self, Vectors, Words};
use hermes_memory::record::{self, Report};
use hermes_memory::reembed;
use hermes_memory::search::Reading;
use hermes_store::memory::{
    Added, Change, Memory, NewFact, Origin, Scope, Trust, UserNumber, Wanted,
};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tempfile::TempDir;

/// The owner asks now, by words alone.
pub(crate) fn reading(store: &Memory) -> Reading<'_> {
    let zone = const { &TimeZone::UTC };
    Reading { store, embedder: None, scope: owner(), now: now(), zone }
}

pub(crate) fn owner() -> Scope {
    Scope::of(UserNumber::OWNER)
}

pub(crate) fn now() -> Timestamp {
    "2026-10-15T12:00:00Z".parse().unwrap()
}

pub(crate) fn change() -> Change<'static> {
    Change { actor: "test", at: now() }
}

/// A new memory; the folder goes away with the first of the two.
pub(crate) fn memory() -> (TempDir, Memory) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let wanted = Wanted { path: &path, profile: "default" };
    Memory::create(wanted, "owner", change()).unwrap();
    let memory = Memory::open(wanted, Access::Write, Duration::from_secs(5)).unwrap();
    (folder, memory)
}

pub(crate) fn record(memory: &mut Memory, lines: &str) -> Report {
    record_as(memory, owner(), lines)
}

/// The same for anybody.
pub(crate) fn record_as(memory: &mut Memory, scope: Scope, lines: &str) -> Report {
    let settings = record::Settings {
        source: "test",
        scope,
        zone: &TimeZone::UTC,
        now: now(),
        vectors: Vectors::Now,
        secrets: hermes_home::redaction::Policy::Redact,
    };
    record::record(memory, &mut lines.as_bytes(), &settings, &mut |_| {}).unwrap()
}

/// One line of a recording.
pub(crate) fn line(session: &str, role: &str, day: &str, text: &str) -> String {
    let at = format!("{day}T10:00:00Z");
    let line = serde_json::json!({
        "session_id": session, "role": role, "timestamp": at, "text": text, "channel": "cli",
    });
    format!("{line}\n")
}

pub(crate) fn add_fact(memory: &mut Memory, statement: &str, entities: &[&str]) -> i64 {
    let entities: Vec<String> = entities.iter().map(|name| (*name).to_owned()).collect();
    match memory.add_fact(owner(), &new_fact(statement, &entities), change()).unwrap() {
        Added::New(id) | Added::Known(id) => id,
    }
}

pub(crate) fn new_fact<'a>(statement: &'a str, entities: &'a [String]) -> NewFact<'a> {
    let words = Words { text: statement, ..Words::default() };
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
        entities,
        sources: &[],
        chunks: chunk::prepare(&words, Vectors::Now),
    }
}

pub(crate) fn reembed_with(
    memory: &mut Memory,
    embedder: &dyn Embedder,
    batch: usize,
) -> hermes_memory::Result<reembed::Report> {
    let settings = reembed::Settings { batch, now: now(), zone: &TimeZone::UTC };
    reembed::reembed(memory, embedder, &settings, &mut |_| {})
}

/// A model of three numbers that stops answering after some calls.
pub(crate) struct Flaky {
    id: ModelId,
    calls: std::sync::atomic::AtomicUsize,
    most: usize,
}

impl Flaky {
    pub(crate) fn new(most: usize) -> Flaky {
        let id = ModelId {
            provider: Provider::Ollama,
            name: "three".to_owned(),
            dims: None,
            prefixes: Prefixes::default(),
        };
        Flaky { id, calls: 0.into(), most }
    }
}

impl Embedder for Flaky {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> hermes_llm::Result<Vec<Vec<f32>>> {
        if self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= self.most {
            return Err(hermes_llm::Error::NoText { model: self.id.name.clone() });
        }
        let vector = |text: &&str| {
            if text.len().is_multiple_of(2) { [1.0, 0.0, 0.0] } else { [0.0, 0.6, 0.8] }
        };
        Ok(texts.iter().map(|text| vector(text).to_vec()).collect())
    }
}
