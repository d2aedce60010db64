//! Changes of a memory drawn by chance, the same for every kind of memory.

use hermes_store::memory::{
    Admin, ChunkKey, Episode, ItemKind, JobFailure, Lease, MemoryStore, NewChunk, NewFact, NewJob,
    NewMessage, NewReceipt, NewSource, Scope, UserNumber,
};
use proptest::prelude::*;

use crate::support::{at, by, chunk, event, fact, message, procedure, small_model};

pub(crate) const WORDS: [&str; 6] = ["harbor", "copper", "velvet", "onion", "lantern", "quartz"];
pub(crate) const NAMES: [&str; 5] = ["berlin", "new york", "hermes", "acme corp", "kim"];
pub(crate) const SESSIONS: [&str; 3] = ["monday", "tuesday", "friday"];

/// One change: what, by whom, and numbers that say with which words.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    what: u8,
    pub(crate) user: i64,
    a: usize,
    b: usize,
    is_shared: bool,
}

pub(crate) fn operation(users: i64) -> impl Strategy<Value = Operation> {
    (0..24_u8, 1..=users, 0..60_usize, 0..60_usize, prop::bool::weighted(0.15))
        .prop_map(|(what, user, a, b, is_shared)| Operation { what, user, a, b, is_shared })
}

/// One who changes a memory, and remembers the episodes they retired.
#[derive(Default)]
pub(crate) struct Changer {
    retired: Vec<(Scope, Episode)>,
    canaries: bool,
}

impl Changer {
    /// One who puts a word of the user's own into each of their texts.
    pub(crate) fn with_canaries() -> Changer {
        Changer { canaries: true, ..Changer::default() }
    }

    /// Makes the change; the answer, or the words of the error.
    pub(crate) fn apply(
        &mut self,
        store: &mut dyn MemoryStore,
        operation: &Operation,
        minute: i64,
    ) -> String {
        let scope = Scope::of(UserNumber::new(operation.user));
        let answer = match operation.what {
            0..=4 => self.record(store, scope, operation, minute),
            5..=13 => self.change_fact(store, scope, operation, minute),
            14..=18 => self.change_others(store, scope, operation, minute),
            _ => look_after(store, scope, operation, minute),
        };
        answer.unwrap_or_else(|error| error.to_string())
    }

    fn text(&self, operation: &Operation) -> String {
        let Operation { a, b, .. } = operation;
        let text = format!("{} {}", WORDS[a % WORDS.len()], WORDS[b % WORDS.len()]);
        // What is shared is everybody's to read.
        if self.canaries && !operation.is_shared {
            return format!("{text} canary{}", operation.user);
        }
        text
    }

    fn name(&self, operation: &Operation, number: usize) -> String {
        let name = NAMES[number % NAMES.len()];
        if self.canaries && !operation.is_shared && number.is_multiple_of(3) {
            return format!("{name} canary{}", operation.user);
        }
        name.to_owned()
    }

    fn record(
        &mut self,
        store: &mut dyn MemoryStore,
        scope: Scope,
        operation: &Operation,
        minute: i64,
    ) -> hermes_store::Result<String> {
        let Operation { a, b, .. } = *operation;
        let id = (a % 8 + 1) as i64;
        if operation.what == 3 {
            for episode in store.episodes(scope, &[id])? {
                self.retired.push((scope, episode));
            }
            return store.retire_episode(scope, id, by("user", minute)).map(|()| String::new());
        }
        if operation.what == 4 {
            let Some((scope, episode)) = self.retired.pop() else { return Ok(String::new()) };
            let said = store.messages_of(scope, &episode)?;
            let chunks = said
                .iter()
                .map(|message| (ChunkKey::of_message(message.key, 0), chunk(&message.text, None)));
            let chunks = chunks.collect();
            store.restore_episode(scope, episode.id, chunks, by("user", minute))?;
            return Ok(String::new());
        }
        let text = self.text(operation);
        let external_id = format!("{}-{a}", operation.user);
        let role = if b % 3 == 0 { "user" } else { "assistant" };
        let speaker =
            if self.canaries { format!("Smith canary{}", operation.user) } else { "Smith".into() };
        let channel = Some(if b % 4 == 0 { "telegram" } else { "cli" });
        let first = NewMessage {
            role,
            speaker: Some(&speaker),
            channel,
            at: at(minute),
            chunks: vec![chunk(&text, vector(b))],
            ..message(SESSIONS[a % 3], &external_id, &text)
        };
        let other_id = format!("{external_id}-again");
        let second = NewMessage { at: at(minute), ..message(SESSIONS[b % 3], &other_id, &text) };
        let done = store.record(scope, &[first, second], by("user", minute))?;
        Ok(format!("{done:?}"))
    }

    fn change_fact(
        &self,
        store: &mut dyn MemoryStore,
        scope: Scope,
        operation: &Operation,
        minute: i64,
    ) -> hermes_store::Result<String> {
        let Operation { a, b, is_shared, .. } = *operation;
        let (id, text, change) = ((a % 12 + 1) as i64, self.text(operation), by("agent", minute));
        let names = [self.name(operation, b)];
        let sources = [NewSource { quote: Some(&text), ..NewSource::default() }];
        let new = NewFact {
            kind: if a % 2 == 0 { "fact" } else { "preference" },
            shared: is_shared,
            entities: &names,
            sources: &sources,
            valid_from: (a % 5 == 0).then(|| at(minute - 3)),
            valid_to: (b % 5 == 0).then(|| at(minute + 3)),
            chunks: vec![chunk(&text, vector(a))],
            ..fact(&text)
        };
        match operation.what {
            5..=7 => store.add_fact(scope, &new, change).map(|added| format!("{added:?}")),
            8 => {
                // A text of one's own may not go into a fact that everybody reads.
                let of_others = store.facts(scope, &[id])?.iter().any(|f| f.user != scope.user());
                if self.canaries && of_others {
                    return Ok(String::new());
                }
                let chunks: Vec<NewChunk> = vec![chunk(&text, None)];
                store.edit_fact(scope, id, &text, chunks, change).map(|()| String::new())
            }
            9 => {
                let of_others = store.facts(scope, &[id])?.iter().any(|f| f.user != scope.user());
                if self.canaries && of_others {
                    return Ok(String::new());
                }
                store.supersede_fact(scope, id, &new, change).map(|new| new.to_string())
            }
            10 => store.retire_fact(scope, id, change).map(|()| String::new()),
            11..=12 => store.restore_fact(scope, id, change).map(|()| String::new()),
            _ => store.erase_fact(scope, id, change).map(|()| String::new()),
        }
    }

    fn change_others(
        &self,
        store: &mut dyn MemoryStore,
        scope: Scope,
        operation: &Operation,
        minute: i64,
    ) -> hermes_store::Result<String> {
        let Operation { a, b, is_shared, .. } = *operation;
        let (id, text, change) = ((b % 6 + 1) as i64, self.text(operation), by("user", minute));
        let names = [self.name(operation, a), self.name(operation, b)];
        match operation.what {
            14 => {
                let mut new = procedure(&text, &[]);
                new.shared = is_shared;
                new.entities = &names;
                store.add_procedure(scope, &new, change).map(|id| id.to_string())
            }
            15 => {
                let mut new = event(&text, minute - 5);
                new.shared = is_shared;
                new.entities = &names;
                store.add_event(scope, &new, change).map(|id| id.to_string())
            }
            16 if b % 2 == 0 => store.retire_procedure(scope, id, change).map(|()| String::new()),
            16 => store.retire_event(scope, id, change).map(|()| String::new()),
            17 => store.add_alias(scope, &names[0], &names[1], change).map(|id| id.to_string()),
            _ => {
                let kind = ItemKind::ALL[a % 5];
                let owner_is_all = self.canaries && is_of_all(store, scope, kind, id)?;
                let kept = if owner_is_all { &[][..] } else { &names[..] };
                store.mention(scope, kind, id, kept, change).map(|()| String::new())
            }
        }
    }
}

fn is_of_all(
    store: &dyn MemoryStore,
    scope: Scope,
    kind: ItemKind,
    id: i64,
) -> hermes_store::Result<bool> {
    let shared = UserNumber::SHARED;
    Ok(match kind {
        ItemKind::Fact => store.facts(scope, &[id])?.iter().any(|one| one.user == shared),
        ItemKind::Procedure => store.procedures(scope, &[id])?.iter().any(|one| one.user == shared),
        ItemKind::Event => store.events(scope, &[id])?.iter().any(|one| one.user == shared),
        ItemKind::Message | ItemKind::Summary => false,
    })
}

/// Models, vectors, jobs and receipts.
fn look_after(
    store: &mut dyn MemoryStore,
    scope: Scope,
    operation: &Operation,
    minute: i64,
) -> hermes_store::Result<String> {
    let Operation { a, b, .. } = *operation;
    let model = (a % 2 + 1) as i64;
    match operation.what {
        19 => {
            let name = ["first", "second"][a % 2];
            store.add_model(Admin, &small_model(name), at(minute)).map(|known| format!("{known:?}"))
        }
        20 => {
            if !store.models(Admin)?.iter().any(|known| known.id == model) {
                return Ok(String::new());
            }
            let lacking = store.unembedded(Admin, model, None, a)?;
            let made = lacking
                .iter()
                .zip(1..)
                .map(|(text, n)| (text.chunk, vector(n * 2).unwrap_or(vec![0.5; 4])));
            let made: Vec<_> = made.collect();
            let kept = store.put_vectors(Admin, model, &made)?;
            let active = store.activate_model(Admin, model);
            Ok(format!("{kept} {:?}", active.map_err(|error| error.to_string())))
        }
        21 => store.drop_retired_vectors(Admin).map(|gone| gone.to_string()),
        22 => {
            let items = [(ItemKind::Fact, (a % 9) as i64), (ItemKind::Summary, (b % 9) as i64)];
            let receipt =
                NewReceipt { session_id: None, turn: Some("1"), tokens: 9, items: &items };
            store.hand_out(scope, &receipt, at(minute)).map(|()| String::new())
        }
        _ => {
            let kind = ["extract", "embed"][a % 2];
            let new = NewJob {
                kind,
                payload: "{}",
                dedupe_key: (b % 2 == 0).then_some("same"),
                user: None,
                run_at: at(minute + (b % 3) as i64),
            };
            let queued = store.queue_job(Admin, &new, at(minute))?;
            let owner = ["one", "two"][b % 2];
            let lease = Lease { owner, until: at(minute + 4) };
            let leased = store.lease_job(Admin, &[kind], lease, at(minute))?;
            let id = (a % 4) as i64;
            let again = (a % 3 == 0).then(|| at(minute + 1));
            let failure = JobFailure { error: "no answer", again };
            let failed = store.fail_job(Admin, id, owner, failure)?;
            let done = store.finish_job(Admin, id + 1, owner, at(minute))?;
            Ok(format!("{queued:?} {leased:?} {failed} {done}"))
        }
    }
}

/// Vectors that one byte for each dimension keeps exactly enough to compare.
fn vector(number: usize) -> Option<Vec<f32>> {
    match number % 6 {
        0 => None,
        5 => Some(vec![0.5; 4]),
        axis => {
            let mut vector = vec![0.0; 4];
            vector[axis - 1] = 1.0;
            Some(vector)
        }
    }
}
