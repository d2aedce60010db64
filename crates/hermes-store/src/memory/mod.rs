//! memory.db: what happened, what is known, how things are done well, and the index over all of it.

mod audit;
mod backend;
mod best;
mod candidates;
mod code;
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
mod models;
mod numbers;
mod origins;
mod passing;
mod people;
mod procedures;
mod proposals;
mod recorder;
mod redacting;
mod retiring;
mod rows;
mod store;
mod tokens;
mod transfer;
mod types;
mod upkeep;
mod users;
mod vector_model;

use self::store::{ADD_META, ADD_USER, Outcome, Refusal, new_uid};
use self::types::marks;

pub use self::backend::postgres::{
    Invitation, ServerMemory, ServerState, SharedView, has_profile, has_profile_number,
    invitation_sql, invite, migrate_server, server_sql, server_state,
};
pub use self::backend::sqlite::{Wanted, compare_memory};
pub use self::store::{Memory, View};
pub use self::types::*;
