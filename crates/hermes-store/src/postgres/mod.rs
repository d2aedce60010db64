//! Connections to a PostgreSQL server: where it is, how it is reached safely, and what to do when it is not.
//!
//! What holds here, so that a pooler in transaction mode (PgBouncer) can stand in between:
//! - nothing is set for a whole connection but what the address itself asks for: as a startup option PgBouncer refuses
//!   it, which is said, and with a plain `set` it would stay behind on a connection that another program gets next;
//! - no statement gets a name on the server: use `query_typed` and its kin, or the simple protocol. A named one
//!   would be made on one connection and asked for on another;
//! - nobody relies on `listen` alone, which such a pooler does not pass on ([`Notices`]).

mod address;
mod connect;
mod identity;
mod notices;
mod pool;
mod refusal;
mod retry;
mod tls;

pub use crate::error::ServerError;
pub use address::{Address, SslMode, Surroundings, Warning};
pub use notices::Notices;
pub use pool::{Pool, PoolSettings, Pooled};
pub use retry::{Delays, is_retriable, retried};
