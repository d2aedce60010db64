//! memory.db: what happened, what is known, how things are done well, and the index over all of it.

mod audit;
mod entity;
mod episode;
mod event;
mod fact;
mod job;
mod key;
mod marks;
mod procedure;
mod recall;
mod scope;
mod sqlite;
mod trust;
mod uid;
mod upkeep;
mod user;
mod vector;

pub use audit::{Audit, AuditEntry, ChainState};
pub use entity::{Entities, Entity};
pub use episode::{
    Episode, EpisodeState, Episodes, Message, NewChunk, NewMessage, RecentFilter, Recorded,
};
pub use event::{Event, EventKind, Events, NewEvent};
pub use fact::{Added, Fact, FactFilter, Facts, NewFact, NewSource, Origin, Revision, Source};
pub use job::{Job, JobFailure, JobState, Jobs, Lease, NewJob};
pub use key::{
    ChunkKey, ItemKind, MOST_PARTS, MOST_PLACES, MOST_SESSIONS, MOST_USERS, MessageKey, SessionKey,
};
pub use procedure::{NewProcedure, Procedure, ProcedureKind, Procedures};
pub use recall::{
    ChunkRow, Extent, MessageHead, Near, Postings, QuestionVector, Recall, RecallFilter,
    SessionChoice,
};
pub use scope::{Admin, Scope, UserNumber};
pub use sqlite::{SqliteMemory, Wanted};
pub use trust::{Change, Trust};
pub use uid::Uid;
pub use upkeep::{Counts, MemoryFinding, NewReceipt, Upkeep, Vacuumed};
pub use user::{User, Users};
pub use vector::{Coverage, EmbedModel, ModelState, NewModel, Unembedded, Vectors};

/// Everything a memory must do, whatever database it lives in.
pub trait MemoryStore:
    Episodes + Facts + Procedures + Events + Entities + Users + Jobs + Audit + Vectors + Recall + Upkeep
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
{
}
