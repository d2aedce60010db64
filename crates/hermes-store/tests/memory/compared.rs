//! What the simple memory can do too, so that the two can be compared.

use std::ops::RangeInclusive;

use hermes_store::Result;
use hermes_store::memory::{
    Added, Admin, AuditEntry, ChainState, Change, ChunkKey, ChunkRow, Conflict, Counts, Coverage,
    EmbedModel, Entity, Episode, Event, Extent, Fact, FactFilter, FileEntry, Growth, Identity,
    ItemKind, Job, JobFailure, JobState, Lease, Memory, MemoryFinding, Message, MessageHead,
    MessageKey, Near, NewChunk, NewEvent, NewFact, NewJob, NewMessage, NewModel, NewProcedure,
    NewReceipt, Postings, Procedure, QuestionVector, RecallFilter, RecentFilter, Recorded,
    Revision, Schedule, Scope, SessionChoice, SessionKey, Source, Unembedded, User, UserNumber,
    Vacuumed,
};
use jiff::Timestamp;

use crate::model::ModelMemory;

/// Makes a trait of what is listed, and lets both memories answer by their own method of the same name.
macro_rules! compared {
    (
        reads { $(fn $read:ident($($asked:ident: $question:ty),*) -> $found:ty;)* }
        changes { $(fn $change:ident($($given:ident: $kind:ty),*) -> $answer:ty;)* }
    ) => {
        /// A memory that can be compared with another.
        #[allow(clippy::too_many_arguments, reason = "as of the memory")]
        pub(crate) trait Compared {
            $(fn $read(&self, $($asked: $question),*) -> $found;)*
            $(fn $change(&mut self, $($given: $kind),*) -> $answer;)*
        }

        impl Compared for Memory {
            $(fn $read(&self, $($asked: $question),*) -> $found {
                Memory::$read(self, $($asked),*)
            })*
            $(fn $change(&mut self, $($given: $kind),*) -> $answer {
                Memory::$change(self, $($given),*)
            })*
        }

        impl Compared for ModelMemory {
            $(fn $read(&self, $($asked: $question),*) -> $found {
                ModelMemory::$read(self, $($asked),*)
            })*
            $(fn $change(&mut self, $($given: $kind),*) -> $answer {
                ModelMemory::$change(self, $($given),*)
            })*
        }
    };
}

compared! {
    reads {
        fn find_fact(scope: Scope, selector: &str) -> Result<Fact>;
        fn facts(scope: Scope, ids: &[i64]) -> Result<Vec<Fact>>;
        fn list_facts(scope: Scope, filter: &FactFilter<'_>, now: Timestamp) -> Result<Vec<Fact>>;
        fn sources_of_fact(scope: Scope, id: i64) -> Result<Vec<Source>>;
        fn revisions_of_fact(scope: Scope, id: i64) -> Result<Vec<Revision>>;
        fn facts_about(scope: Scope, subject: &str, predicate: Option<&str>) -> Result<Vec<Fact>>;
        fn held_facts(given: Admin) -> Result<Vec<(UserNumber, u64)>>;
        fn conflicts(given: Scope) -> Result<Vec<Conflict>>;
        fn file_entries(scope: Scope) -> Result<Vec<FileEntry>>;
        fn recent_episodes(scope: Scope, filter: &RecentFilter<'_>) -> Result<Vec<Episode>>;
        fn episodes(scope: Scope, ids: &[i64]) -> Result<Vec<Episode>>;
        fn any_episode(scope: Scope, id: i64) -> Result<Option<Episode>>;
        fn messages_of(scope: Scope, episode: &Episode) -> Result<Vec<Message>>;
        fn messages(scope: Scope, keys: &[MessageKey]) -> Result<Vec<Message>>;
        fn active_model() -> Result<Option<EmbedModel>>;
        fn models(given: Admin) -> Result<Vec<EmbedModel>>;
        fn unembedded(given: Admin, model: i64, after: Option<ChunkKey>, limit: usize) -> Result<Vec<Unembedded>>;
        fn coverage(given: Admin, model: i64) -> Result<Coverage>;
        fn postings(scope: Scope, filter: &RecallFilter, word: &str, cap: usize) -> Result<Postings>;
        fn nearest(scope: Scope, filter: &RecallFilter, question: &QuestionVector<'_>, count: usize) -> Result<Vec<Near>>;
        fn chunks(scope: Scope, ranges: &[RangeInclusive<i64>], question: Option<&QuestionVector<'_>>) -> Result<Vec<ChunkRow>>;
        fn extent(scope: Scope, filter: &RecallFilter, limit: usize) -> Result<Extent>;
        fn sessions(scope: Scope, choice: &SessionChoice<'_>) -> Result<Vec<SessionKey>>;
        fn speakers(scope: Scope, words: &[String]) -> Result<Vec<String>>;
        fn message_heads(scope: Scope, ranges: &[RangeInclusive<i64>]) -> Result<Vec<MessageHead>>;
        fn list_procedures(scope: Scope, task_type: Option<&str>, limit: usize) -> Result<Vec<Procedure>>;
        fn procedures(scope: Scope, ids: &[i64]) -> Result<Vec<Procedure>>;
        fn sources_of_procedure(scope: Scope, id: i64) -> Result<Vec<Source>>;
        fn list_events(scope: Scope, since: Option<Timestamp>, until: Option<Timestamp>, limit: usize) -> Result<Vec<Event>>;
        fn events(scope: Scope, ids: &[i64]) -> Result<Vec<Event>>;
        fn sources_of_event(scope: Scope, id: i64) -> Result<Vec<Source>>;
        fn entities_in(scope: Scope, text: &str) -> Result<Vec<Entity>>;
        fn entity(scope: Scope, name: &str) -> Result<Option<Entity>>;
        fn mentions(scope: Scope, entity: &Entity, kind: ItemKind, limit: usize) -> Result<Vec<i64>>;
        fn users(given: Admin) -> Result<Vec<User>>;
        fn user(name: &str) -> Result<Option<User>>;
        fn user_of_identity(channel: &str, native_id: &str) -> Result<Option<UserNumber>>;
        fn identities(given: Admin) -> Result<Vec<Identity>>;
        fn unlinked_identities(given: Admin) -> Result<Vec<Identity>>;
        fn open_jobs(given: Admin, limit: usize) -> Result<Vec<Job>>;
        fn jobs(given: Admin, state: Option<JobState>, limit: usize) -> Result<Vec<Job>>;
        fn job(given: Admin, id: i64) -> Result<Job>;
        fn schedules(given: Admin) -> Result<Vec<Schedule>>;
        fn audit_log(given: Admin, limit: usize) -> Result<Vec<AuditEntry>>;
        fn check_audit(given: Admin) -> Result<ChainState>;
        fn growth(scope: Scope, since: Timestamp) -> Result<Vec<Growth>>;
        fn counts(given: Admin) -> Result<Counts>;
        fn check_memory(given: Admin) -> Result<Vec<MemoryFinding>>;
    }
    changes {
        fn add_fact(scope: Scope, fact: &NewFact<'_>, change: Change<'_>) -> Result<Added>;
        fn edit_fact(scope: Scope, id: i64, statement: &str, chunks: &[NewChunk], change: Change<'_>) -> Result<()>;
        fn supersede_fact(scope: Scope, id: i64, by: &NewFact<'_>, change: Change<'_>) -> Result<i64>;
        fn retire_fact(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn restore_fact(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn erase_fact(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn pin_fact(scope: Scope, id: i64, pinned: bool, change: Change<'_>) -> Result<()>;
        fn link_file_entry(scope: Scope, link: &FileEntry, given: Timestamp) -> Result<()>;
        fn unlink_file_entry(scope: Scope, fact: i64, file: &str) -> Result<()>;
        fn record(scope: Scope, messages: &[NewMessage<'_>], change: Change<'_>) -> Result<Recorded>;
        fn retire_episode(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn restore_episode(scope: Scope, id: i64, chunks: &[(ChunkKey, NewChunk)], change: Change<'_>) -> Result<()>;
        fn add_model(given: Admin, new: &NewModel<'_>, now: Timestamp) -> Result<EmbedModel>;
        fn put_vectors(given: Admin, model: i64, vectors: &[(ChunkKey, Vec<f32>)]) -> Result<usize>;
        fn activate_model(admin: Admin, model: i64) -> Result<()>;
        fn drop_retired_vectors(given: Admin) -> Result<u64>;
        fn add_procedure(scope: Scope, new: &NewProcedure<'_>, change: Change<'_>) -> Result<Added>;
        fn retire_procedure(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn restore_procedure(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn add_event(scope: Scope, new: &NewEvent<'_>, change: Change<'_>) -> Result<Added>;
        fn retire_event(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn restore_event(scope: Scope, id: i64, change: Change<'_>) -> Result<()>;
        fn add_alias(scope: Scope, name: &str, alias: &str, change: Change<'_>) -> Result<i64>;
        fn mention(scope: Scope, kind: ItemKind, item: i64, names: &[String], change: Change<'_>) -> Result<()>;
        fn user_or_new(name: &str, change: Change<'_>) -> Result<UserNumber>;
        fn link_identity(channel: &str, native_id: &str, user: UserNumber, change: Change<'_>) -> Result<()>;
        fn note_identity(identity: &Identity, now: Timestamp) -> Result<()>;
        fn set_timezone(user: UserNumber, zone: Option<&str>, change: Change<'_>) -> Result<()>;
        fn queue_job(given: Admin, new: &NewJob<'_>, now: Timestamp) -> Result<Option<i64>>;
        fn lease_job(given: Admin, kinds: &[&str], lease: Lease<'_>, now: Timestamp) -> Result<Option<Job>>;
        fn finish_job(given: Admin, id: i64, owner: &str, now: Timestamp) -> Result<bool>;
        fn fail_job(given: Admin, id: i64, owner: &str, failure: JobFailure<'_>) -> Result<bool>;
        fn retry_job(admin: Admin, id: i64, now: Timestamp) -> Result<()>;
        fn lease_this_job(admin: Admin, id: i64, lease: Lease<'_>, now: Timestamp) -> Result<bool>;
        fn renew_lease(given: Admin, id: i64, lease: Lease<'_>) -> Result<bool>;
        fn clear_jobs(given: Admin, before: Timestamp) -> Result<u64>;
        fn keep_schedule(given: Admin, schedule: &Schedule) -> Result<()>;
        fn vacuum(given: Admin, now: Timestamp) -> Result<Vacuumed>;
        fn rebuild_segments(given: Admin) -> Result<u64>;
        fn hand_out(scope: Scope, receipt: &NewReceipt<'_>, now: Timestamp) -> Result<()>;
    }
}
