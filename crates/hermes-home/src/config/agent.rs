//! The settings of the agent: what it may do, and what is kept before it does it.

use serde::{Deserialize, Serialize};

/// The section `agent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// Commands that are run without asking, by their first words.
    pub allow: Vec<String>,
    /// Commands that are never run, by their first words.
    pub deny: Vec<String>,
    /// Folders in which files are written without asking.
    pub write_below: Vec<String>,
    /// Folders besides the working folder that may be touched.
    pub folders: Vec<String>,
    /// Whether commands are kept inside of their folders and from the network, where the system can.
    pub confine: bool,
    /// Commands that may reach the network, by their first words.
    pub network: Vec<String>,
    /// After how many seconds a command is ended.
    pub timeout_s: u32,
    /// How many characters of a file or an output a model is given.
    pub output_cap: u32,
    /// How often a model may call tools before it must answer.
    pub max_rounds: u32,
    /// How many tokens the model of conversations can look at.
    pub window_tokens: Option<u32>,
    /// Whether what is remembered is looked up for every message.
    pub recall: bool,
}

/// The section `checkpoints`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoints {
    /// Whether the state of files is kept before they are changed.
    pub enabled: bool,
    /// How much room all of them may take.
    pub max_mb: u32,
    /// After how many days one goes.
    pub max_age_days: u32,
    /// Up to what size a file is kept before a command.
    pub max_file_mb: u32,
    /// Up to how many files are kept before a command.
    pub max_files: u32,
}

impl Default for Agent {
    fn default() -> Agent {
        Agent {
            allow: Vec::new(),
            deny: Vec::new(),
            write_below: Vec::new(),
            folders: Vec::new(),
            confine: true,
            network: Vec::new(),
            timeout_s: 120,
            output_cap: 30_000,
            max_rounds: 25,
            window_tokens: None,
            recall: true,
        }
    }
}

impl Default for Checkpoints {
    fn default() -> Checkpoints {
        Checkpoints {
            enabled: true,
            max_mb: 500,
            max_age_days: 7,
            max_file_mb: 10,
            max_files: 50_000,
        }
    }
}
