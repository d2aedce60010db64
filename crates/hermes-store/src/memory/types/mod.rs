//! What goes into a memory and comes out of it, as plain values.

mod audit;
mod entity;
mod episode;
mod event;
mod fact;
mod forgetting;
pub(super) mod job;
mod key;
mod lifecycle;
pub(super) mod marks;
mod people;
mod portable;
mod procedure;
mod proposal;
mod recall;
mod scope;
mod trust;
mod uid;
mod upkeep;
mod user;
mod vector;

pub use audit::{AuditEntry, ChainState};
pub use entity::Entity;
pub use episode::{Episode, EpisodeState, Message, NewChunk, NewMessage, RecentFilter, Recorded};
pub use event::{Event, EventKind, NewEvent};
pub use fact::{
    Added, Conflict, Drawn, DrawnFact, Fact, FactChange, FactFilter, FactOnly, FactOrder,
    FileEntry, NewFact, NewSource, Origin, Revision, Source, Standing, Undone,
};
pub use forgetting::{Choice, Depth, Forgotten, TakenBack, ToldElsewhere};
pub use job::{Job, JobFailure, JobState, Lease, Leased, NewJob, Schedule};
pub use key::{
    ChunkKey, ItemKind, MOST_PARTS, MOST_PLACES, MOST_SESSIONS, MOST_USERS, MessageKey, SessionKey,
};
pub use lifecycle::{
    After, Dropped, NewSummary, NewTask, Offered, Receipt, Session, Step, TakenIn, Task,
};
pub use people::{Known, MergedUser, Moved, Passed, Unmerged};
pub use portable::{
    Chunker, EXPORT_VERSION, ExportChoice, ExportHead, Exported, Import, Imported, MESSAGES,
    MOST_REASONS, PortableItem, PortableText, Section, Tally,
};
pub use procedure::{NewProcedure, OriginId, Procedure, ProcedureKind};
pub use proposal::{NewProposal, Proposal, ProposalState};
pub use recall::{
    ChunkRow, Extent, MessageHead, Near, Postings, QuestionVector, RecallFilter, SessionChoice,
};
pub use scope::{Admin, Scope, UserNumber};
pub use trust::{Change, Trust};
pub use uid::Uid;
pub use upkeep::{Counts, Growth, MemoryFinding, NewReceipt, Vacuumed};
pub use user::{Chat, Identity, User};
pub use vector::{Coverage, EmbedModel, ModelState, NewModel, Unembedded};
