//! Making backups: of homes at rest, under writers, of damaged databases, and killed.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod child;
mod damaged;
mod failing;
mod killed;
mod support;
mod whole;
mod writing;
