//! "Remember that…": an entry of a memory file and a fact that says the same, with one undo for both.

mod suspect;

pub use suspect::{is_hidden, suspicion, without_hidden};
