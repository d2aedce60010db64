//! The daemon's process: left behind, run until it is told to stop, ended.

pub(crate) mod launch;
mod run;

pub(crate) use run::{Manner, run};
