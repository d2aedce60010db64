//! Connections to a PostgreSQL server: where it is, how it is reached safely, and what to do when it is not.
//!
//! What holds here, so that a pooler in transaction mode (PgBouncer) can stand in between:
//! - nothing is set for a whole connection but what the address itself asks for: as a startup option PgBouncer refuses
//!   it, which is said, and with a plain `set` it would stay behind on a connection that another program gets next;
//! - a statement is kept on the server only where it is known to stay with the connection ([`prepared`]);
//! - nobody relies on `listen` alone, which such a pooler does not pass on ([`Notices`]).

mod address;
mod client;
mod connect;
mod identity;
mod notices;
mod pool;
mod prepared;
mod refusal;
mod retry;
mod tls;

pub use crate::error::ServerError;
pub use address::{Address, SslMode, Surroundings, Warning};
pub use client::{Client, Request, Response, Transaction, Value};
pub use notices::Notices;
pub use pool::{Pool, PoolSettings, Pooled};
pub use retry::{Delays, is_retriable, retried};
