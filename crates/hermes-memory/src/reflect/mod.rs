//! Look back on finished work: how it went, what it taught, what is often the same.

pub mod lessons;
pub mod look_back;
pub mod model;
mod pattern_words;
pub mod patterns;
pub mod retries;
mod run;
mod sentences;
mod sign_words;
pub mod signs;
mod stale;
mod talks;
pub mod work;

#[cfg(test)]
mod work_tests;

pub use run::{Gave, IDLE, Report, Settings, Trouble, look_back_on, run, write_log};
pub(crate) use sentences::shorten;
