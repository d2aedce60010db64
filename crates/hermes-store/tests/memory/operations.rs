//! Changes of a memory drawn by chance, the same for every kind of memory.

use hermes_store::memory::{
    Admin, Chat, ChunkKey, Episode, FileEntry, Identity, ItemKind, JobFailure, Lease, NewChunk,
    NewFact, NewJob, NewMessage, NewReceipt, NewSource, OriginId, Schedule, Scope, UserNumber,
};
use proptest::prelude::*;

use crate::compared::Compared;
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
    (0..28_u8, 1..=users, 0..60_usize, 0..60_usize, prop::bool::weighted(0.15))
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
        store: &mut dyn Compared,
        operation: &Operation,
        minute: i64,
    ) -> String {
        let scope = Scope::of(UserNumber::new(operation.user));
        let answer = match operation.what {
            0..=4 => self.record(store, scope, operation, minute),
            5..=13 => self.change_fact(store, scope, operation, minute),
            14..=18 => self.change_others(store, scope, operation, minute),
            24..=25 => mark(store, scope, operation, minute),
            26 => serve(store, operation, minute),
            27 => come_in(store, operation, minute),
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
        store: &mut dyn Compared,
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
            let chunks: Vec<_> = chunks.collect();
            store.restore_episode(scope, episode.id, &chunks, by("user", minute))?;
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
        store: &mut dyn Compared,
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
            subject: Some(&names[0]),
            predicate: Some(["likes", "lives in"][a % 2]),
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
                store.edit_fact(scope, id, &text, &chunks, change).map(|()| String::new())
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
        store: &mut dyn Compared,
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
                new.origin = origin(b, &text);
                let sources = [NewSource { quote: Some(&text), ..NewSource::default() }];
                new.sources = &sources;
                store.add_procedure(scope, &new, change).map(|added| format!("{added:?}"))
            }
            15 => {
                let mut new = event(&text, minute - 5);
                new.shared = is_shared;
                new.entities = &names;
                new.origin = origin(b, &text);
                store.add_event(scope, &new, change).map(|added| format!("{added:?}"))
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
    store: &dyn Compared,
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
    store: &mut dyn Compared,
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
            let failure = JobFailure { error: "no answer", again, at: at(minute) };
            let failed = store.fail_job(Admin, id, owner, failure)?;
            let done = store.finish_job(Admin, id + 1, owner, at(minute))?;
            Ok(format!("{queued:?} {leased:?} {failed} {done}"))
        }
    }
}

/// Some things say what makes them unique.
fn origin(number: usize, text: &str) -> Option<OriginId<'_>> {
    number.is_multiple_of(3).then_some(OriginId { source: "test", external_id: text })
}

/// Pins, entries of memory files, and what is brought back.
fn mark(
    store: &mut dyn Compared,
    scope: Scope,
    operation: &Operation,
    minute: i64,
) -> hermes_store::Result<String> {
    let Operation { a, b, .. } = *operation;
    let (id, change) = ((a % 12 + 1) as i64, by("user", minute));
    let done = match (operation.what, b % 3) {
        (24, 0) => store.pin_fact(scope, id, a % 2 == 0, change),
        (24, 1) => {
            let link = FileEntry { fact: id, file: "memory".to_owned(), entry: [a as u8; 32] };
            store.link_file_entry(scope, &link, at(minute))
        }
        (24, _) => store.unlink_file_entry(scope, id, "memory"),
        (_, 0) => store.restore_procedure(scope, (a % 6 + 1) as i64, change),
        _ => store.restore_event(scope, (a % 6 + 1) as i64, change),
    };
    done.map(|()| String::new())
}

/// What looks after jobs.
fn serve(
    store: &mut dyn Compared,
    operation: &Operation,
    minute: i64,
) -> hermes_store::Result<String> {
    let Operation { a, b, .. } = *operation;
    let id = (a % 6) as i64;
    let lease = Lease { owner: ["one", "two"][b % 2], until: at(minute + 4) };
    match b % 5 {
        0 => store.retry_job(Admin, id, at(minute)).map(|()| String::new()),
        1 => store.lease_this_job(Admin, id, lease, at(minute)).map(|taken| taken.to_string()),
        2 => store.renew_lease(Admin, id, lease).map(|renewed| renewed.to_string()),
        3 => store.clear_jobs(Admin, at(minute - 8)).map(|gone| gone.to_string()),
        _ => {
            let schedule = Schedule {
                name: NAMES[a % NAMES.len()].to_owned(),
                cron: "0 3 * * *".to_owned(),
                next_run: (a % 2 == 0).then(|| at(minute + 9)),
                last_run: Some(at(minute)),
                last_result: None,
            };
            store.keep_schedule(Admin, &schedule).map(|()| String::new())
        }
    }
}

/// Identities and where their users live.
fn come_in(
    store: &mut dyn Compared,
    operation: &Operation,
    minute: i64,
) -> hermes_store::Result<String> {
    let Operation { a, b, .. } = *operation;
    let (user, native_id) = (UserNumber::new((a % 5) as i64), (b % 4).to_string());
    let done = match a % 3 {
        0 => {
            let chat = if b % 2 == 0 { Chat::Direct } else { Chat::Group };
            let channel = "telegram".to_owned();
            let identity = Identity { channel, native_id, chat, user, at: at(minute) };
            store.note_identity(&identity, at(minute))
        }
        1 => store.link_identity("telegram", &native_id, user, by("user", minute)),
        _ => store.set_timezone(user, (b % 2 == 0).then_some("Europe/Berlin"), by("user", minute)),
    };
    done.map(|()| String::new())
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
