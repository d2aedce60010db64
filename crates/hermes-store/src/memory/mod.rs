//! memory.db: what happened, what is known, how things are done well, and the index over all of it.

mod audit;
mod counter;
pub mod echo;
mod entity;
mod episode;
mod event;
mod fact;
mod forgetting;
mod job;
mod key;
mod lifecycle;
mod marks;
mod people;
mod portable;
mod procedure;
mod proposal;
mod recall;
mod scope;
mod sqlite;
mod trust;
mod uid;
mod upkeep;
mod user;
mod vector;

pub use audit::{Audit, AuditEntry, ChainState};
pub use counter::Counters;
pub use entity::{Entities, Entity};
pub use episode::{
    Episode, EpisodeState, Episodes, Message, NewChunk, NewMessage, RecentFilter, Recorded,
};
pub use event::{Event, EventKind, Events, NewEvent};
pub use fact::{
    Added, Conflict, Drawn, DrawnFact, Fact, FactChange, FactFilter, FactOnly, FactOrder, Facts,
    FileEntry, NewFact, NewSource, Origin, Revision, Source, Standing, Undone,
};
pub use forgetting::{Choice, Depth, Forgetting, Forgotten, TakenBack, ToldElsewhere};
pub use job::{Job, JobFailure, JobState, Jobs, Lease, Leased, NewJob, Schedule};
pub use key::{
    ChunkKey, ItemKind, MOST_PARTS, MOST_PLACES, MOST_SESSIONS, MOST_USERS, MessageKey, SessionKey,
};
pub use lifecycle::{
    After, Dropped, Lifecycle, NewSummary, NewTask, Offered, Receipt, Session, Step, TakenIn, Task,
};
pub use people::{Known, MergedUser, Moved, Passed, People};
pub use portable::{
    Chunker, EXPORT_VERSION, ExportChoice, ExportHead, Exported, Import, Imported, MESSAGES,
    MOST_REASONS, PortableItem, PortableText, Section, Tally, Transfer,
};
pub use procedure::{NewProcedure, OriginId, Procedure, ProcedureKind, Procedures};
pub use proposal::{NewProposal, Proposal, ProposalState, Proposals};
pub use recall::{
    ChunkRow, Extent, MessageHead, Near, Postings, QuestionVector, Recall, RecallFilter,
    SessionChoice,
};
pub use scope::{Admin, Scope, UserNumber};
pub use sqlite::{
    Invitation, ServerMemory, ServerState, SharedView, SqliteMemory, View, Wanted, compare_memory,
    has_profile, has_profile_number, invitation_sql, invite, migrate_server, server_sql,
    server_state,
};
pub use trust::{Change, Trust};
pub use uid::Uid;
pub use upkeep::{Counts, Growth, MemoryFinding, NewReceipt, Upkeep, Vacuumed};
pub use user::{Chat, Identity, User, Users};
pub use vector::{Coverage, EmbedModel, ModelState, NewModel, Unembedded, Vectors};

/// Everything a memory must do, whatever database it lives in.
pub trait MemoryStore:
    Episodes
    + Facts
    + Procedures
    + Events
    + Entities
    + Users
    + Jobs
    + Audit
    + Vectors
    + Recall
    + Upkeep
    + Lifecycle
    + Proposals
    + Forgetting
    + Counters
    + Transfer
{
}

impl<T> MemoryStore for T where
    T: Episodes
        + Facts
        + Procedures
        + Events
        + Entities
        + Users
        + Jobs
        + Audit
        + Vectors
        + Recall
        + Upkeep
        + Lifecycle
        + Proposals
        + Forgetting
        + Counters
        + Transfer
{
}
