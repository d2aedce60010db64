//! The settings as types, with their defaults.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::config::agent::{Agent, Checkpoints};
use crate::config::server::ServerSettings;
use crate::init::Owner;
use crate::redaction::Policy;
use crate::secret::Secret;
use crate::skill::Keep;

/// Every setting, with the default where nothing else was said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// `timezone`: an IANA name; none means the system's.
    pub timezone: Option<String>,
    /// `memory`.
    pub memory: Memory,
    /// `users`.
    pub users: Users,
    /// `recording`.
    pub recording: Recording,
    /// `model`.
    pub model: Model,
    /// `skills`.
    pub skills: Skills,
    /// `sessions`.
    pub sessions: Sessions,
    /// `backup`.
    pub backup: Backup,
    /// `server`.
    pub server: ServerSettings,
    /// `agent`.
    pub agent: Agent,
    /// `checkpoints`.
    pub checkpoints: Checkpoints,
}

/// The section `memory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Whether memory may be written without asking; see [`Config::auto_writes`].
    pub auto_write: bool,
    /// Whether writes wait for approval, as Hermes Agent calls it.
    pub write_approval: bool,
    /// Whether finished work is looked back on.
    pub reflection_enabled: bool,
    /// After how many days without use an entry is proposed for removal.
    pub stale_after_days: u32,
    /// The name of an external memory provider.
    pub provider: String,
    /// The longest MEMORY.md, in characters.
    pub memory_char_limit: Option<u32>,
    /// The longest USER.md, in characters.
    pub user_char_limit: Option<u32>,
    /// Where facts and episodes are stored.
    pub backend: Backend,
    /// The SQLite file; none means inside the home.
    pub path: Option<String>,
    /// How often free space is given back.
    pub vacuum_schedule: Schedule,
    /// Whether SQLite writes ahead, so that readers never wait.
    pub wal_mode: bool,
    /// How to reach PostgreSQL.
    pub connection_string: Option<Secret>,
    /// How many PostgreSQL connections are kept.
    pub pool_size: u32,
    /// How the PostgreSQL connection is protected.
    pub ssl_mode: Option<SslMode>,
    /// Whether older tables on the server are brought up to date when they are used.
    pub auto_migrate: bool,
    /// `memory.retrieval`.
    pub retrieval: Retrieval,
    /// `memory.embeddings`.
    pub embeddings: Embeddings,
    /// `memory.compression`.
    pub compression: Compression,
}

/// The section `memory.compression`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compression {
    /// Whether old episodes become summaries in the background.
    pub enabled: bool,
    /// After how many days an episode is old.
    pub after_days: u32,
}

/// The section `memory.retrieval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retrieval {
    /// How many tokens of memory a task is given.
    pub context_budget_tokens: u32,
    /// How many of the newest episodes are always included.
    pub recency_episodes: u32,
    /// How many results a search by meaning adds.
    pub semantic_top_k: u32,
    /// Results below this likeness are left out.
    pub min_relevance_score: f64,
}

/// The section `memory.embeddings`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Embeddings {
    /// What turns text into vectors.
    pub provider: EmbeddingProvider,
    /// The model's name, where the provider has several.
    pub model: Option<String>,
    /// The length of a vector, where the model lets one choose.
    pub dimensions: Option<u32>,
    /// How many texts are sent at once.
    pub batch_size: u32,
    /// Where the provider is; none means its usual address.
    pub base_url: Option<String>,
    /// What the model wants before a question.
    pub query_prefix: Option<String>,
    /// What the model wants before a text to be found.
    pub document_prefix: Option<String>,
}

/// The section `recording`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recording {
    /// What is done with secrets in what is recorded.
    pub secrets: Policy,
}

/// The section `users`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Users {
    /// Whether one person or several talk to this agent.
    pub mode: UsersMode,
}

/// The section `model`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Model {
    /// The model for conversations.
    pub default: Option<String>,
    /// The provider of `default`, where its name does not say it.
    pub provider: Option<String>,
    /// Where the provider of `default` is; none means its usual address.
    pub base_url: Option<String>,
    /// The model for demanding conversations.
    pub main: Option<String>,
    /// The model for background work.
    pub light: Option<String>,
    /// How many tokens background work may use a day; 0 means no limit.
    pub daily_tokens: u64,
    /// How many US dollars background work may cost a day; 0 means no limit.
    pub daily_cost: f64,
    /// What a million tokens read by `light` cost, in US dollars.
    pub price_input: Option<f64>,
    /// What a million tokens written by `light` cost, in US dollars.
    pub price_output: Option<f64>,
}

/// The section `skills`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skills {
    /// Where a skill made from finished work goes; see [`Config::keeps_learned`].
    pub learned: Keep,
    /// Whether skills wait for approval, as Hermes Agent calls it.
    pub write_approval: bool,
}

/// The section `sessions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// Whether old sessions are pruned without a stated age.
    pub auto_prune: bool,
    /// How many days a session is kept then.
    pub retention_days: u32,
    /// How long a write waits for another program's lock, in milliseconds.
    pub lock_wait_ms: u32,
}

/// The section `backup`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Backup {
    /// Where backups are kept; none means beside the home.
    pub folder: Option<String>,
    /// How an archive is made smaller.
    pub compression: ArchiveCompression,
    /// The public keys that backups are encrypted to.
    pub recipients: Vec<String>,
    /// The file whose first line is the passphrase.
    pub passphrase_file: Option<String>,
    /// What opens a backup that is encrypted with a passphrase.
    pub passphrase_format: PassphraseFormat,
    /// When the scheduled backup of a day is made: `03:30`.
    pub time: String,
    /// How many minutes later it may come, by chance.
    pub random_delay_minutes: u32,
    /// How many of the newest are kept.
    pub keep_last: u32,
    /// Of how many hours one is kept.
    pub keep_hourly: u32,
    /// Of how many days.
    pub keep_daily: u32,
    /// Of how many weeks.
    pub keep_weekly: u32,
    /// Of how many months.
    pub keep_monthly: u32,
    /// Of how many years.
    pub keep_yearly: u32,
    /// How much older than the newest one may be: `1y6m14d3h`.
    pub keep_within: Option<String>,
    /// The places that every backup is sent to.
    pub targets: Vec<String>,
    /// Paths below the home that are left out.
    pub exclude: Vec<String>,
    /// Whether the plain files behind links to folders are taken in.
    pub follow_links: bool,
    /// What is run when backups fail.
    pub alert_command: Option<String>,
    /// Where a message is sent when backups fail.
    pub alert_webhook: Option<Secret>,
    /// After how many failures in a row an alert is sent.
    pub alert_after: u32,
    /// After how many days without a drill the status is no longer green.
    pub drill_days: u32,
}

/// How an archive is made smaller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveCompression {
    /// Fast.
    #[default]
    Zstd,
    /// Opens everywhere.
    Gzip,
}

/// What a passphrase is used with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassphraseFormat {
    /// OpenPGP.
    #[default]
    Gpg,
    /// age.
    Age,
}

/// Where facts and episodes are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// A file in the home.
    #[default]
    Sqlite,
    /// A server that several machines share.
    Postgres,
}

/// How often something is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Not at all.
    Never,
    /// Once a day.
    Daily,
    /// Once a week.
    #[default]
    Weekly,
    /// Once a month.
    Monthly,
}

/// How a PostgreSQL connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SslMode {
    /// Never encrypted.
    Disable,
    /// Encrypted only where the server wants it.
    Allow,
    /// Encrypted where the server can.
    Prefer,
    /// Always encrypted.
    Require,
    /// Encrypted, and the certificate is signed by a known authority.
    VerifyCa,
    /// The same, and the certificate names the host.
    VerifyFull,
}

/// What turns text into vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingProvider {
    /// The model inside the program.
    #[default]
    Embedded,
    /// Ollama at its usual address.
    Local,
    /// Ollama.
    Ollama,
    /// OpenAI.
    Openai,
    /// Voyage.
    Voyage,
    /// Anthropic.
    Anthropic,
}

/// How many people talk to this agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsersMode {
    /// One person.
    #[default]
    Single,
    /// Several, each with a USER.md.
    Several,
}

/// Hermes Agent's limits, which hold in its homes when config.yaml is silent.
const HERMES_AGENT_MEMORY_LIMIT: u32 = 2200;
const HERMES_AGENT_USER_LIMIT: u32 = 1375;

impl Config {
    /// The defaults in a home of this owner.
    pub fn defaults(owner: Owner) -> Config {
        let mut config = Config::default();
        if owner == Owner::HermesAgent {
            config.memory.memory_char_limit = Some(HERMES_AGENT_MEMORY_LIMIT);
            config.memory.user_char_limit = Some(HERMES_AGENT_USER_LIMIT);
        }
        config
    }

    /// Whether memory is written without asking; `write_approval` and `auto_write: false` both say no.
    pub fn auto_writes(&self) -> bool {
        self.memory.auto_write && !self.memory.write_approval
    }

    /// Where a skill made from finished work goes; `write_approval` says pending too.
    pub fn keeps_learned(&self) -> Keep {
        if self.skills.write_approval { Keep::Pending } else { self.skills.learned }
    }

    /// The time zone to show times in; none means the system's.
    pub fn time_zone(&self) -> Option<TimeZone> {
        self.timezone.as_deref().and_then(|name| TimeZone::get(name).ok())
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            auto_write: true,
            write_approval: false,
            reflection_enabled: true,
            stale_after_days: 180,
            provider: String::new(),
            memory_char_limit: None,
            user_char_limit: None,
            backend: Backend::default(),
            path: None,
            vacuum_schedule: Schedule::default(),
            wal_mode: true,
            connection_string: None,
            pool_size: 5,
            ssl_mode: None,
            auto_migrate: false,
            retrieval: Retrieval::default(),
            embeddings: Embeddings::default(),
            compression: Compression::default(),
        }
    }
}

impl Default for Retrieval {
    fn default() -> Retrieval {
        Retrieval {
            context_budget_tokens: 20_000,
            recency_episodes: 3,
            semantic_top_k: 5,
            min_relevance_score: 0.65,
        }
    }
}

impl Default for Embeddings {
    fn default() -> Embeddings {
        Embeddings {
            provider: EmbeddingProvider::default(),
            model: None,
            dimensions: None,
            batch_size: 100,
            base_url: None,
            query_prefix: None,
            document_prefix: None,
        }
    }
}

impl Default for Compression {
    fn default() -> Compression {
        Compression { enabled: true, after_days: 30 }
    }
}

impl Default for Model {
    fn default() -> Model {
        Model {
            default: None,
            provider: None,
            base_url: None,
            main: None,
            light: None,
            daily_tokens: 500_000,
            daily_cost: 1.0,
            price_input: None,
            price_output: None,
        }
    }
}

impl Default for Sessions {
    fn default() -> Sessions {
        Sessions { auto_prune: false, retention_days: 90, lock_wait_ms: 10_000 }
    }
}

impl Default for Backup {
    fn default() -> Backup {
        Backup {
            folder: None,
            compression: ArchiveCompression::default(),
            recipients: Vec::new(),
            passphrase_file: None,
            passphrase_format: PassphraseFormat::default(),
            time: "03:30".to_owned(),
            random_delay_minutes: 15,
            keep_last: 14,
            keep_hourly: 0,
            keep_daily: 0,
            keep_weekly: 0,
            keep_monthly: 0,
            keep_yearly: 0,
            keep_within: None,
            targets: Vec::new(),
            exclude: Vec::new(),
            follow_links: false,
            alert_command: None,
            alert_webhook: None,
            alert_after: 1,
            drill_days: 90,
        }
    }
}
