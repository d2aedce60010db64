//! The settings: one table of keys, read from file, environment and flags, edited without losing a comment.

mod agent;
mod assemble;
mod edit;
mod keys;
mod load;
mod provider;
mod reference;
mod server;
mod values;
mod view;

pub use crate::error::{Finding, Severity};
pub use agent::{Agent, Checkpoints};
pub use edit::{Unknown, clear_setting, put_value, set, take_value, unset, write_setting};
pub use keys::{KEYS, Key, Kind, find, nearest};
pub use load::{Loaded, Origin, check, is_hermes_agent_config, load, load_forgiving, read_text};
pub use reference::reference;
pub use server::ServerSettings;
pub use values::{
    ArchiveCompression, Backend, Backup, Compression, Config, EmbeddingProvider, Embeddings,
    Memory, Model, PassphraseFormat, Recording, Retrieval, Schedule, Sessions, Skills, SslMode,
    Users, UsersMode,
};
pub use view::{Setting, get, list};
