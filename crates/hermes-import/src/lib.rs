//! What other programs keep, read as one stream: their conversations, facts, files and skills. Nothing is changed.
//!
//! ```
//! // Nothing is looked for where no program keeps anything.
//! assert!(hermes_import::detect(&hermes_import::Places::default()).is_empty());
//! ```

mod chatgpt;
mod claude_ai;
mod claude_code;
mod codex;
mod detect;
mod elements;
mod error;
mod files;
mod hermes_agent;
mod holographic;
mod item;
mod jsonl;
mod lines;
mod markdown;
mod mem0;
mod openclaw;
mod packed;
mod read;
mod reading;
mod reference;
mod source;
mod tally;
mod value;

pub use detect::{Found, Places, detect};
pub use error::{Error, Result};
pub use item::{Fact, Item, Kin, Message, Note, Role, Session, SkillFolder};
pub use openclaw::{workspace_files, workspace_of};
pub use read::read;
pub use reading::{Options, Sink};
pub use source::Source;
pub use tally::{LeftOut, MOST_PROBLEMS, Problem, Tally};
