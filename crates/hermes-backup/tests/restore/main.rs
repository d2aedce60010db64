//! Bringing back what a backup holds, and refusing what it should not hold.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should stop")]

mod drills;
mod foreign;
mod hostile;
mod killed;
mod large;
mod locks;
mod marks;
mod parts;
mod profile;
mod sandbox;
mod signed;
mod tampered;
mod whole;
