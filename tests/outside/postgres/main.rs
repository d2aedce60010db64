//! Connections to a real PostgreSQL: reached, refused, cut, shared, behind a pooler.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its server should stop")]

mod bouncer;
mod connecting;
mod cutting;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../pg_server/mod.rs"]
mod pg_server;
mod pooling;
mod protected;
mod support;
