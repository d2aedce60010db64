//! Episodes, procedures and events as they are shown and taken back, and lessons that are reported.

use hermes_home::Home;
use hermes_memory::chunk::{self, Words};
use hermes_memory::task;
use hermes_store::memory::{
    Added, Change, ChunkKey, Episode, Event, ItemKind, Memory, NewChunk, NewProcedure, Procedure,
    ProcedureKind, Scope, Trust, UserNumber,
};
use serde_json::{Value, json};

use super::facts;
use crate::app::App;
use crate::embedding;
use crate::problem::{Kind, Problem};

/// Something that is remembered, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A piece of a conversation, or the summary of several.
    Episode(i64),
    /// How a kind of task is done well.
    Procedure(i64),
    /// What happened.
    Event(i64),
}

/// A lesson that somebody reports.
#[derive(Debug, Clone)]
pub struct Lesson<'a> {
    /// What was learned.
    pub text: &'a str,
    /// What the task was.
    pub task: Option<&'a str>,
    /// `success`, `failure` or `unclear`.
    pub outcome: Option<&'a str>,
}

impl Wanted {
    /// `episode:17`, `procedure:3`, `event:5`; none for anything else.
    pub fn parse(text: &str) -> Option<Wanted> {
        let (kind, number) = text.split_once(':')?;
        let number = number.parse().ok()?;
        match kind {
            "episode" => Some(Wanted::Episode(number)),
            "procedure" => Some(Wanted::Procedure(number)),
            "event" => Some(Wanted::Event(number)),
            _ => None,
        }
    }

    /// As it is typed and shown.
    pub fn name(self) -> String {
        match self {
            Wanted::Episode(id) => format!("episode:{id}"),
            Wanted::Procedure(id) => format!("procedure:{id}"),
            Wanted::Event(id) => format!("event:{id}"),
        }
    }
}

/// One thing with all its words.
pub fn show(store: &Memory, scope: Scope, wanted: Wanted) -> anyhow::Result<Value> {
    let missing = || Problem::new(Kind::NotFound, format!("could not find {}", wanted.name()));
    match wanted {
        Wanted::Episode(id) => {
            let found = store.episodes(scope, &[id])?;
            let episode = found.first().ok_or_else(missing)?;
            let messages = store.messages_of(scope, episode)?;
            let mut shown = of_episode(episode);
            if episode.body.is_none() {
                let said: Vec<String> = messages
                    .iter()
                    .map(|message| {
                        let who = message.speaker.as_ref().unwrap_or(&message.role);
                        format!("{who}: {}", message.text)
                    })
                    .collect();
                shown["text"] = Value::from(said.join("\n"));
            }
            shown["messages"] = messages
                .iter()
                .map(|message| {
                    json!({
                        "id": message.key.get(), "at": message.at, "role": message.role,
                        "speaker": message.speaker, "text": message.text,
                    })
                })
                .collect();
            Ok(shown)
        }
        Wanted::Procedure(id) => {
            let found = store.procedures(scope, &[id])?;
            Ok(of_procedure(found.first().ok_or_else(missing)?))
        }
        Wanted::Event(id) => {
            let found = store.events(scope, &[id])?;
            Ok(of_event(found.first().ok_or_else(missing)?))
        }
    }
}

/// Whose it is, if the asker may read it.
pub fn whose(store: &Memory, scope: Scope, wanted: Wanted) -> anyhow::Result<UserNumber> {
    let found = match wanted {
        Wanted::Episode(id) => store.episodes(scope, &[id])?.first().map(|one| one.user),
        Wanted::Procedure(id) => store.procedures(scope, &[id])?.first().map(|one| one.user),
        Wanted::Event(id) => store.events(scope, &[id])?.first().map(|one| one.user),
    };
    let missing = || Problem::new(Kind::NotFound, format!("could not find {}", wanted.name()));
    Ok(found.ok_or_else(missing)?)
}

/// Takes something out of every answer.
pub fn retire(
    store: &mut Memory,
    scope: Scope,
    wanted: Wanted,
    change: Change<'_>,
) -> anyhow::Result<()> {
    match wanted {
        Wanted::Episode(id) => store.retire_episode(scope, id, change)?,
        Wanted::Procedure(id) => store.retire_procedure(scope, id, change)?,
        Wanted::Event(id) => store.retire_event(scope, id, change)?,
    }
    Ok(())
}

/// Brings something back that was taken out of every answer.
pub fn restore(
    app: &App,
    home: &Home,
    store: &mut Memory,
    scope: Scope,
    wanted: Wanted,
) -> anyhow::Result<()> {
    let change = app.change();
    match wanted {
        Wanted::Procedure(id) => store.restore_procedure(scope, id, change)?,
        Wanted::Event(id) => store.restore_event(scope, id, change)?,
        Wanted::Episode(id) => {
            let missing =
                || Problem::new(Kind::NotFound, format!("could not find {}", wanted.name()));
            let episode = store.any_episode(scope, id)?.ok_or_else(missing)?;
            let chunks = chunks_of(app, home, store, scope, &episode)?;
            store.restore_episode(scope, id, &chunks, change)?;
        }
    }
    Ok(())
}

/// What the index held of an episode.
fn chunks_of(
    app: &App,
    home: &Home,
    store: &Memory,
    scope: Scope,
    episode: &Episode,
) -> anyhow::Result<Vec<(ChunkKey, NewChunk)>> {
    let vectors = embedding::vectors(store.active_model()?.as_ref());
    if let Some(body) = &episode.body {
        let parts = chunk::prepare_summary(body, "", vectors).into_iter().enumerate();
        let key = |part| ChunkKey::of_item(episode.user, ItemKind::Summary, episode.id, part);
        return Ok(parts.map(|(part, chunk)| (key(part), chunk)).collect());
    }
    let zone = app.zone_of(home, store, scope.user())?;
    let mut chunks = Vec::new();
    for message in store.messages_of(scope, episode)? {
        let words = Words {
            text: &message.text,
            caption: message.caption.as_deref(),
            speaker: message.speaker.as_deref(),
            day: Some(chunk::day_of(message.at, &zone)),
        };
        let parts = chunk::prepare(&words, vectors).into_iter().enumerate();
        chunks.extend(parts.map(|(part, chunk)| (ChunkKey::of_message(message.key, part), chunk)));
    }
    Ok(chunks)
}

/// Keeps a lesson; the same one twice is kept once.
pub fn keep_lesson(
    app: &App,
    home: &Home,
    store: &mut Memory,
    scope: Scope,
    lesson: &Lesson<'_>,
) -> anyhow::Result<Value> {
    let text = facts::kept(app, home, lesson.text)?;
    let outcome = match lesson.outcome {
        None => None,
        Some(word @ ("success" | "failure" | "unclear")) => Some(word),
        Some(other) => {
            return Err(Problem::usage(format!("{other:?} is not a valid outcome"))
                .hint("it must be success, failure or unclear")
                .into());
        }
    };
    let secrets = app.config(home)?.config.recording.secrets;
    let about = lesson.task.map(str::trim).filter(|task| !task.is_empty()).unwrap_or(&text);
    let about = &*secrets.clean(about);
    let entities = task::names(about);
    let vectors = embedding::vectors(store.active_model()?.as_ref());
    let title: String = about.chars().take(120).collect();
    let new = NewProcedure {
        kind: ProcedureKind::Reflection,
        task_type: Some(task::infer(about).as_str()),
        title: &title,
        body: &text,
        outcome,
        trust: Trust::Agent,
        shared: false,
        entities: &entities,
        sources: &[],
        chunks: chunk::prepare(&Words { text: &text, ..Words::default() }, vectors),
        origin: None,
        skill_path: None,
    };
    let (id, change) = match store.add_procedure(scope, &new, app.change())? {
        Added::New(id) => (id, "added"),
        Added::Known(id) => (id, "known"),
    };
    Ok(json!({ "id": Wanted::Procedure(id).name(), "text": text, "change": change }))
}

/// An episode without its messages.
pub fn of_episode(episode: &Episode) -> Value {
    json!({
        "id": Wanted::Episode(episode.id).name(),
        "uid": episode.uid.to_string(),
        "session_id": episode.session_id,
        "channel": episode.channel,
        "agent": episode.agent,
        "project": episode.project,
        "task_type": episode.task_type,
        "state": episode.state,
        "started_at": episode.started_at,
        "ended_at": episode.ended_at,
        "tokens": episode.tokens,
        "text": episode.body.clone().unwrap_or_default(),
    })
}

/// A procedure.
pub fn of_procedure(procedure: &Procedure) -> Value {
    json!({
        "id": Wanted::Procedure(procedure.id).name(),
        "uid": procedure.uid.to_string(),
        "kind": procedure.kind,
        "task_type": procedure.task_type,
        "title": procedure.title,
        "text": procedure.body,
        "outcome": procedure.outcome,
        "recorded_at": procedure.recorded_at,
        "wins": procedure.wins,
        "losses": procedure.losses,
        "shared": procedure.user == UserNumber::SHARED,
    })
}

/// An event.
pub fn of_event(event: &Event) -> Value {
    json!({
        "id": Wanted::Event(event.id).name(),
        "uid": event.uid.to_string(),
        "at": event.at,
        "kind": event.kind,
        "text": event.text,
        "why": event.why,
        "shared": event.user == UserNumber::SHARED,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_called_by_kind_and_number() {
        for name in ["episode:17", "procedure:3", "event:5"] {
            assert_eq!(Wanted::parse(name).unwrap().name(), name);
        }
        assert!(
            ["fact:1", "episode:", "episode", "event:x", ""]
                .iter()
                .all(|name| Wanted::parse(name).is_none())
        );
    }
}
