//! Scheduled backups: who makes them, when they are due, who is told when they fail.

pub(crate) mod alert;
pub(crate) mod due;
pub(crate) mod record;
