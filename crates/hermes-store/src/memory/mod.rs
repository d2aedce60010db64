//! memory.db: what happened, what is known, how things are done well, and the index over all of it.

mod ahead;
mod audit;
mod backend;
mod best;
mod candidates;
mod code;
mod code_check;
mod counters;
mod covered;
pub mod echo;
mod entities;
mod episodes;
mod events;
mod facts;
mod forgetting;
mod graves;
mod index;
mod jobs;
mod kernel;
mod leases;
mod lifecycle;
mod marked;
mod members;
mod models;
mod near;
mod origins;
mod passing;
mod people;
mod procedures;
mod proposals;
mod recall_server;
mod recorded;
mod recorder;
mod redacting;
mod replaced;
mod rows;
mod segments;
mod server;
mod store;
mod sums;
mod tokens;
mod transfer;
mod types;
mod upkeep;
mod users;
mod vectors;
mod words;

use self::store::{ADD_META, ADD_USER, Outcome, Refusal, new_uid};
use self::types::marks;

pub use self::members::{Invitation, invitation_sql, invite};
pub use self::server::{
    ServerMemory, ServerState, SharedView, has_profile, has_profile_number, migrate_server,
    server_sql, server_state,
};
pub use self::store::{Memory, View, Wanted};
pub use self::sums::compare_memory;
pub use self::types::*;
