//! Scheduled backups: who makes them, when they are due, who is told when they fail.

#[allow(dead_code, reason = "called when a scheduled backup is over")]
pub(crate) mod alert;
pub(crate) mod due;
pub(crate) mod record;
