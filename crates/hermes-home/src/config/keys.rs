//! The table of every setting: its name, what it may hold, what it does.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::keyed_text::is_spelling_of;
use crate::secret::is_secret_key;

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its full name: `memory.retrieval.semantic_top_k`.
    pub path: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// Whether this build acts on it; otherwise it is only read and checked.
    pub acts: bool,
    /// Whether Hermes Agent has a key of the same name and meaning.
    pub in_hermes_agent: bool,
}

/// What a setting may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// true or false.
    Switch,
    /// A whole number between two others, both included.
    Whole(u64, u64),
    /// A number between two others, both included.
    Number(f64, f64),
    /// Any text.
    Text,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The IANA name of a time zone.
    TimeZone,
    /// A list of texts; one text alone is a list of one, and a text that begins with `[` is a list in JSON.
    Texts,
    /// A time of day.
    TimeOfDay,
}

const LIMIT: Kind = Kind::Whole(1, 10_000_000);
const MANY: u64 = 1_000_000;
const WORDS_BACKEND: &[&str] = &["sqlite", "postgres"];
const WORDS_SCHEDULE: &[&str] = &["never", "daily", "weekly", "monthly"];
const WORDS_SSL: &[&str] = &["disable", "allow", "prefer", "require", "verify_ca", "verify_full"];
const WORDS_EMBEDDING: &[&str] = &["embedded", "local", "ollama", "openai", "voyage", "anthropic"];
const WORDS_LEARNED: &[&str] = &["pending", "active"];
const WORDS_USERS: &[&str] = &["single", "several"];
const WORDS_SECRETS: &[&str] = &["redact", "keep", "refuse"];
const WORDS_COMPRESSION: &[&str] = &["zstd", "gzip"];
const WORDS_PASSPHRASE: &[&str] = &["gpg", "age"];
const KEPT: Kind = Kind::Whole(0, 100_000);

/// Every setting, in the order of the scaffold and the reference page.
#[rustfmt::skip] // One setting a row reads as a table.
pub const KEYS: &[Key] = &[
    used("timezone", Kind::TimeZone, "Time zone that times are shown in, such as Europe/London. If unset, the system's.").shared(),
    used("memory.auto_write", Kind::Switch, "Write what was learned to MEMORY.md and USER.md. If false, Hermes only proposes it."),
    used("memory.write_approval", Kind::Switch, "Wait for approval before writing to the memory files; true is the same as auto_write: false.").shared(),
    used("memory.reflection_enabled", Kind::Switch, "Reflect on finished work and store what was learned."),
    used("memory.stale_after_days", Kind::Whole(1, 36_500), "Days without use after which an entry of a memory file is proposed for removal."),
    later("memory.provider", Kind::Text, "External memory provider that Hermes Agent uses, in a home of that program. In a home of our own it is refused, because this version cannot use external providers.").shared(),
    used("memory.memory_char_limit", LIMIT, "Maximum length of MEMORY.md in characters. If unset, no limit (2200 in a home of Hermes Agent).").shared(),
    used("memory.user_char_limit", LIMIT, "Maximum length of USER.md in characters. If unset, no limit (1375 in a home of Hermes Agent).").shared(),
    used("memory.backend", Kind::OneOf(WORDS_BACKEND), "Where facts and episodes are stored: sqlite, in a file of the home, or postgres, on a server that several machines can share."),
    used("memory.path", Kind::Text, "SQLite file of the memory, such as ~/.hermes/memory.db. If unset, memory.db in the home."),
    used("memory.vacuum_schedule", Kind::OneOf(WORDS_SCHEDULE), "How often the daemon frees unused space in the SQLite file."),
    used("memory.wal_mode", Kind::Switch, "Use a write-ahead log for memory.db, so that readers never wait for a writer. Set it to false on file systems that do not support this."),
    used("memory.connection_string", Kind::Text, "How to connect to PostgreSQL, such as postgres://hermes@db.example.com/hermes. Store it in .env and write ${HERMES_DB_URL} here. If unset, the PG* environment variables apply."),
    used("memory.pool_size", Kind::Whole(1, 1000), "Maximum number of connections to PostgreSQL that one process keeps open."),
    used("memory.ssl_mode", Kind::OneOf(WORDS_SSL), "TLS mode of the connection to PostgreSQL, if the connection string does not set it. If unset, verify_full for another machine and prefer for this one."),
    used("memory.auto_migrate", Kind::Switch, "Migrate tables of an earlier version on the server when they are used. If false, run `hermes db migrate`. In an empty database, tables are created either way."),
    used("memory.retrieval.context_budget_tokens", Kind::Whole(0, 10 * MANY), "Maximum size in tokens of the context that `hermes memory context` builds for a task."),
    used("memory.retrieval.recency_episodes", Kind::Whole(0, MANY), "How many of the newest episodes are always included in a context."),
    used("memory.retrieval.semantic_top_k", Kind::Whole(0, MANY), "How many episodes a semantic search adds to a context."),
    used("memory.retrieval.min_relevance_score", Kind::Number(0.0, 1.0), "How relevant something must be to be included in a context, from 0 to 1."),
    used("memory.embeddings.provider", Kind::OneOf(WORDS_EMBEDDING), "Provider that computes the embeddings. embedded needs no network; local is Ollama at its usual address."),
    used("memory.embeddings.model", Kind::Text, "Embedding model, if the provider has several. If unset, the provider's usual one."),
    used("memory.embeddings.dimensions", Kind::Whole(1, 65_536), "Length of a vector. If unset, the model's own."),
    used("memory.embeddings.batch_size", Kind::Whole(1, 10_000), "How many texts are sent to the provider in one request."),
    used("memory.embeddings.base_url", Kind::Text, "Address of the provider, such as http://127.0.0.1:8080/v1. If unset, its usual address."),
    used("memory.embeddings.query_prefix", Kind::Text, "Text that is put before a query. If unset, what the model's authors specify."),
    used("memory.embeddings.document_prefix", Kind::Text, "Text that is put before a document. If unset, what the model's authors specify."),
    used("memory.compression.enabled", Kind::Switch, "Replace old episodes with summaries in the background."),
    used("memory.compression.after_days", Kind::Whole(1, 36_500), "Age in days from which an episode is old and is summarised."),
    used("recording.secrets", Kind::OneOf(WORDS_SECRETS), "What to do with passwords, keys and tokens in recorded text: redact replaces them in the memory with a placeholder such as [secret: github-token], keep records them in clear text, refuse does not record a message that contains one in the memory."),
    used("users.mode", Kind::OneOf(WORDS_USERS), "Whether one person or several talk to this agent. An unlinked channel account is a user of its own. With single it can only read what is shared, with several also what it said itself."),
    used("model.default", Kind::Text, "Model for conversations, as provider/name, such as anthropic/claude-sonnet-5 or ollama/llama3.2.").shared(),
    used("model.provider", Kind::Text, "Provider of model.default, if its name does not begin with one. If unset or auto, it is taken from the name.").shared(),
    used("model.base_url", Kind::Text, "Address of the provider of model.default. If unset, its usual address.").shared(),
    used("model.main", Kind::Text, "Model for demanding conversations, as provider/name. If unset, model.default.").shared(),
    used("model.light", Kind::Text, "Model for background work, as provider/name. If unset, background work uses rules and calls no model.").shared(),
    used("model.daily_tokens", Kind::Whole(0, MANY * MANY), "Maximum number of tokens that background work can use in a day. 0 means no limit."),
    used("model.daily_cost", Kind::Number(0.0, 1e6), "Maximum cost of background work in a day, in US dollars. 0 means no limit."),
    used("model.price_input", Kind::Number(0.0, 1e6), "Price of a million input tokens of model.light, in US dollars. If unset, the list price, if it is known."),
    used("model.price_output", Kind::Number(0.0, 1e6), "Price of a million output tokens of model.light, in US dollars. If unset, the list price, if it is known."),
    used("skills.learned", Kind::OneOf(WORDS_LEARNED), "Whether a skill learned from finished work waits for `hermes skills approve` or is used at once."),
    used("skills.write_approval", Kind::Switch, "Wait for approval before a skill is used; true is the same as learned: pending.").shared(),
    used("sessions.auto_prune", Kind::Switch, "Every night, let the daemon delete sessions that had no activity for retention_days and are not pinned. `hermes sessions restore` can restore them for 30 days. In a home of Hermes Agent, that program prunes.").shared(),
    used("sessions.retention_days", Kind::Whole(1, 36_500), "Days without activity after which `hermes sessions prune` deletes a session, or the daemon if auto_prune is on.").shared(),
    used("sessions.lock_wait_ms", Kind::Whole(0, 600_000), "How long a write waits for another program's lock, in milliseconds."),
    used("backup.folder", Kind::Text, "Folder where backups are stored. If unset, a folder beside the home, named after it with -backups."),
    used("backup.compression", Kind::OneOf(WORDS_COMPRESSION), "Compression of archives: zstd is faster, gzip can be opened everywhere."),
    used("backup.recipients", Kind::Texts, "Public keys that backups are encrypted to: fingerprints of OpenPGP keys, or age recipients."),
    used("backup.passphrase_file", Kind::Text, "File whose first line is the passphrase that backups are encrypted with, if there are no recipients."),
    used("backup.passphrase_format", Kind::OneOf(WORDS_PASSPHRASE), "Format of backups that are encrypted with a passphrase: the program that opens them."),
    used("backup.time", Kind::TimeOfDay, "Time of day of the scheduled backup, in your time zone."),
    used("backup.random_delay_minutes", Kind::Whole(0, 720), "Maximum random delay of a scheduled backup in minutes, so that not all machines send at the same time."),
    used("backup.keep_last", KEPT, "Keep the newest N backups."),
    used("backup.keep_hourly", KEPT, "Keep the newest backup of each of the last N hours that have one."),
    used("backup.keep_daily", KEPT, "Keep the newest backup of each of the last N days that have one."),
    used("backup.keep_weekly", KEPT, "Keep the newest backup of each of the last N weeks that have one."),
    used("backup.keep_monthly", KEPT, "Keep the newest backup of each of the last N months that have one."),
    used("backup.keep_yearly", KEPT, "Keep the newest backup of each of the last N years that have one."),
    used("backup.keep_within", Kind::Text, "Keep every backup that is at most this much older than the newest one, such as 1y6m14d3h. If unset, this rule does not apply."),
    used("backup.targets", Kind::Texts, "Remotes that every backup is sent to: a folder, ssh://user@host/folder, s3://bucket/prefix?endpoint=https://…"),
    used("backup.exclude", Kind::Texts, "Paths below the home that are left out of backups."),
    used("backup.follow_links", Kind::Switch, "Include the plain files behind links to folders. If false, every backup and the status list such links."),
    used("backup.alert_command", Kind::Text, "Command to run when backups fail; it receives the message in HERMES_ALERT and on standard input."),
    used("backup.alert_webhook", Kind::Text, "Address to send a message to with POST as JSON when backups fail. Store it in .env and write ${NAME} here."),
    used("backup.alert_after", Kind::Whole(1, 1000), "Number of failures in a row after which an alert is sent."),
    used("backup.drill_days", Kind::Whole(1, 36_500), "Days without a restore test after which the status is no longer green."),
    used("server.enabled", Kind::Switch, "Whether the daemon listens for other programs: the HTTP API and MCP."),
    used("server.bind", Kind::Text, "Address the daemon listens on. Any address except loopback needs TLS."),
    used("server.port", Kind::Whole(1, 65_535), "Port the daemon listens on. If unset, 8420, or another one if that is taken."),
    used("server.allowed_hosts", Kind::Texts, "Host names besides localhost that requests can use, such as memory.example."),
    used("server.tls_cert", Kind::Text, "File with the TLS certificate, in PEM format."),
    used("server.tls_key", Kind::Text, "File with the private key of the certificate, in PEM format."),
    used("server.requests_per_minute", Kind::Whole(0, 1_000_000), "Maximum number of requests per minute for each token. 0 means no limit."),
    used("server.max_body_mb", Kind::Whole(1, 1024), "Maximum size of a request body, in megabytes."),
    used("agent.allow", Kind::Texts, "Commands that the agent can run without asking, by their first words, such as cargo test. A line is allowed only if every command in it is."),
    used("agent.deny", Kind::Texts, "Commands that the agent can never run, by their first words, such as git push."),
    used("agent.write_below", Kind::Texts, "Folders in which the agent can write files without asking. A relative path is below the working folder, and . is that folder itself."),
    used("agent.folders", Kind::Texts, "Folders besides the working folder that the agent can read and, if allowed, write to."),
    used("agent.confine", Kind::Switch, "Confine commands of the agent to their folders and block the network, if the system supports it (Landlock and namespaces of Linux)."),
    used("agent.network", Kind::Texts, "Commands of the agent that can use the network, by their first words, such as git fetch; * means all."),
    used("agent.timeout_s", Kind::Whole(1, 86_400), "Seconds after which a command of the agent is terminated."),
    used("agent.output_cap", Kind::Whole(1_000, MANY), "Maximum number of characters of a file or of a command's output that a model receives; longer text is reduced to its beginning and end."),
    used("agent.max_rounds", Kind::Whole(1, 1_000), "Maximum rounds of tool calls before the model must answer."),
    used("agent.window_tokens", Kind::Whole(4_000, 10 * MANY), "Size of the context window of the conversation model in tokens. If unset, known by the model's name, else 32000."),
    used("agent.recall", Kind::Switch, "Search the memory for every message."),
    used("checkpoints.enabled", Kind::Switch, "Save files before the agent changes them, so that they can be restored.").shared(),
    used("checkpoints.max_mb", Kind::Whole(1, MANY), "Maximum disk space for checkpoints, in megabytes; the oldest are deleted first."),
    used("checkpoints.max_age_days", Kind::Whole(1, 36_500), "Days after which a checkpoint is deleted."),
    used("checkpoints.max_file_mb", Kind::Whole(1, 10_000), "Maximum size in megabytes of a file that is saved before a command."),
    used("checkpoints.max_files", Kind::Whole(1, MANY), "Maximum number of files below the working folder that are saved before a command."),
];

const fn used(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { path, kind, doc, acts: true, in_hermes_agent: false }
}

const fn later(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { path, kind, doc, acts: false, in_hermes_agent: false }
}

impl Key {
    const fn shared(self) -> Key {
        Key { in_hermes_agent: true, ..self }
    }

    /// The key's name in each section on the way to it: `memory`, `retrieval`, `semantic_top_k`.
    pub fn segments(&self) -> Vec<&'static str> {
        self.path.split('.').collect()
    }

    /// Whether its value must never be shown.
    pub fn is_secret(&self) -> bool {
        is_secret_key(self.path)
    }

    /// The environment variable that sets it: `HERMES_MEMORY__AUTO_WRITE`.
    pub fn variable(&self) -> String {
        format!("HERMES_{}", self.path.replace('.', "__").to_uppercase())
    }
}

/// The setting with this name, each part in snake_case or camelCase.
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| {
        let (ours, typed) = (key.path.split('.'), path.split('.'));
        ours.clone().count() == typed.clone().count()
            && ours.zip(typed).all(|(ours, typed)| is_spelling_of(typed, ours))
    })
}

/// The name of the next part below `section` that `typed` spells, if a setting goes that way.
pub(crate) fn canonical_part(section: &[&'static str], typed: &str) -> Option<&'static str> {
    KEYS.iter().find_map(|key| {
        let mut parts = key.path.split('.');
        let inside = section.iter().all(|part| parts.next() == Some(part));
        parts.next().filter(|name| inside && is_spelling_of(typed, name))
    })
}

/// The setting or section whose name looks most like `path`, when one does.
pub fn nearest(path: &str) -> Option<&'static str> {
    const NEAR: f64 = 0.75;
    let wanted = snake_case(path);
    let likeness = |name: &str| {
        let tail = name.strip_suffix(wanted.as_str()).is_some_and(|head| head.ends_with('.'));
        if tail { 1.0 } else { strsim::normalized_damerau_levenshtein(name, &wanted) }
    };
    let same_depth = |name: &str| name.split('.').count() == wanted.split('.').count();
    let names = KEYS.iter().map(|key| key.path).chain(sections());
    names
        .map(|name| (likeness(name) + if same_depth(name) { 0.05 } else { 0.0 }, name))
        .filter(|(score, _)| *score >= NEAR)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name)
}

/// The names of all sections: `memory`, `memory.retrieval`, …
pub(crate) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&'static str> =
        KEYS.iter().filter_map(|key| key.path.rsplit_once('.')).map(|(head, _)| head).collect();
    sections.sort_unstable();
    sections.dedup();
    sections
}

pub(crate) fn snake_case(path: &str) -> String {
    let mut snake = String::with_capacity(path.len() + 4);
    for letter in path.chars() {
        if letter.is_uppercase() && !snake.is_empty() && !snake.ends_with(['_', '.']) {
            snake.push('_');
        }
        match letter {
            '-' => snake.push('_'),
            other => snake.extend(other.to_lowercase()),
        }
    }
    snake
}

impl Kind {
    /// What is expected, in words.
    pub fn expects(&self) -> String {
        match self {
            Kind::Switch => "true or false".into(),
            Kind::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Number(least, most) => format!("a number from {least} to {most}"),
            Kind::Text => "a text".into(),
            Kind::OneOf(words) => format!("one of {}", words.join(", ")),
            Kind::TimeZone => "the name of a time zone, such as Europe/London".into(),
            Kind::Texts => "a list of texts".into(),
            Kind::TimeOfDay => "a time of day, such as 03:30".into(),
        }
    }

    /// The value in its proper form, or none when it does not fit; a text that reads as the wanted type does.
    pub(crate) fn accept(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Kind::Text, Value::String(_)) => Some(value.clone()),
            (Kind::TimeZone, Value::String(name)) => accept_time_zone(name),
            (Kind::OneOf(words), Value::String(word)) => accept_word(words, word),
            (Kind::Texts, Value::Array(items)) => accept_texts(items),
            (Kind::Texts, Value::String(text)) => parse_texts(text),
            (Kind::TimeOfDay, Value::String(text)) => accept_time_of_day(text),
            (Kind::Switch, Value::Bool(_)) => Some(value.clone()),
            (Kind::Switch, Value::String(text)) => parse_switch(text).map(Value::Bool),
            (Kind::Whole(least, most), Value::Number(_)) => accept_whole(value, *least, *most),
            (Kind::Number(least, most), Value::Number(_)) => accept_number(value, *least, *most),
            (Kind::Whole(..) | Kind::Number(..), Value::String(text)) => {
                let number: serde_json::Number = text.trim().parse().ok()?;
                self.accept(&Value::Number(number))
            }
            _ => None,
        }
    }
}

fn accept_whole(value: &Value, least: u64, most: u64) -> Option<Value> {
    let number = value.as_u64()?;
    (least..=most).contains(&number).then(|| Value::from(number))
}

fn accept_number(value: &Value, least: f64, most: f64) -> Option<Value> {
    let number = value.as_f64()?;
    (least..=most).contains(&number).then(|| Value::from(number))
}

fn accept_word(words: &[&str], word: &str) -> Option<Value> {
    let plain = word.replace('-', "_");
    words.iter().find(|known| **known == plain).map(|known| Value::from(*known))
}

fn accept_time_zone(name: &str) -> Option<Value> {
    TimeZone::get(name).ok().map(|_| Value::from(name))
}

/// Every item a text, none of them blank.
fn accept_texts(items: &[Value]) -> Option<Value> {
    let is_text = |item: &Value| item.as_str().is_some_and(|text| !text.trim().is_empty());
    items.iter().all(is_text).then(|| Value::from(items))
}

/// A list as it is typed: JSON, or one text alone; nothing is an empty list.
fn parse_texts(text: &str) -> Option<Value> {
    match text.trim() {
        "" => Some(Value::Array(Vec::new())),
        list if list.starts_with('[') => {
            accept_texts(serde_json::from_str::<Value>(list).ok()?.as_array()?)
        }
        one => Some(Value::from(vec![one])),
    }
}

fn accept_time_of_day(text: &str) -> Option<Value> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |digits: &str, most: u8| {
        let is_short = !digits.is_empty() && digits.len() <= 2;
        let is_number = is_short && digits.chars().all(|c| c.is_ascii_digit());
        digits.parse::<u8>().ok().filter(|number| is_number && *number <= most)
    };
    let (hour, minute) = (number(hour, 23)?, number(minute, 59).filter(|_| minute.len() == 2)?);
    Some(Value::from(format!("{hour:02}:{minute:02}")))
}

/// `yes`, `no`, `on` and `off` count too: Hermes Agent's YAML reader takes them for booleans.
fn parse_switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_table_and_the_types_have_the_same_keys() {
        fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
            match value.as_object() {
                None => found.push(path.trim_start_matches('.').to_owned()),
                Some(map) => {
                    map.iter().for_each(|(k, v)| leaves(v, &format!("{path}.{k}"), found));
                }
            }
        }
        let (mut typed, mut table) = (Vec::new(), Vec::new());
        leaves(&serde_json::to_value(Config::default()).unwrap(), "", &mut typed);
        table.extend(KEYS.iter().map(|key| key.path.to_owned()));
        typed.sort();
        table.sort();
        assert_eq!(typed, table);
    }

    #[test]
    fn every_word_of_a_choice_is_one_of_its_type() {
        for key in KEYS {
            let Kind::OneOf(words) = key.kind else { continue };
            for word in words {
                let value = key
                    .path
                    .rsplit('.')
                    .fold(Value::from(*word), |inner, part| serde_json::json!({ part: inner }));
                assert!(serde_json::from_value::<Config>(value).is_ok(), "{} {word}", key.path);
            }
        }
    }

    #[test]
    fn every_default_fits_its_key() {
        let defaults = serde_json::to_value(Config::default()).unwrap();
        for key in KEYS {
            let value = key.path.split('.').fold(&defaults, |value, part| &value[part]);
            assert!(value.is_null() || key.kind.accept(value).is_some(), "{}", key.path);
        }
    }

    #[test]
    fn a_key_is_found_in_both_spellings() {
        for (typed, path) in [
            ("memory.auto_write", Some("memory.auto_write")),
            ("memory.autoWrite", Some("memory.auto_write")),
            ("memory.retrieval.semanticTopK", Some("memory.retrieval.semantic_top_k")),
            ("memory.embeddings.batchSize", Some("memory.embeddings.batch_size")),
            ("timezone", Some("timezone")),
            ("memory.AutoWrite", None),
            ("memory.autowrite", None),
            ("memory", None),
            ("memory.auto_write.x", None),
            ("", None),
        ] {
            assert_eq!(find(typed).map(|key| key.path), path, "{typed}");
        }
    }

    #[test]
    fn the_nearest_name_is_found_for_slips() {
        for (typed, near) in [
            ("memory.autowrite", Some("memory.auto_write")),
            ("memory.auto-write", Some("memory.auto_write")),
            ("memory.retreival.semanticTopK", Some("memory.retrieval.semantic_top_k")),
            ("auto_write", Some("memory.auto_write")),
            ("memroy", Some("memory")),
            ("time_zone", Some("timezone")),
            ("platforms", None),
            ("terminal.backend", None),
        ] {
            assert_eq!(nearest(typed), near, "{typed}");
        }
    }

    #[test]
    fn a_list_is_typed_as_json_or_as_one_text() {
        for (typed, list) in [
            ("", Some(vec![])),
            ("/mnt/nas", Some(vec!["/mnt/nas"])),
            ("s3://b/p?keep=last:3,daily:2", Some(vec!["s3://b/p?keep=last:3,daily:2"])),
            (r#"["a", "b c"]"#, Some(vec!["a", "b c"])),
            ("[]", Some(vec![])),
            ("[a, b]", None),
            (r#"["a", 1]"#, None),
            (r#"["a", " "]"#, None),
        ] {
            assert_eq!(Kind::Texts.accept(&Value::from(typed)), list.map(Value::from), "{typed}");
        }
        assert_eq!(Kind::Texts.accept(&serde_json::json!(["a", 7])), None);
        assert_eq!(Kind::Texts.accept(&serde_json::json!(7)), None);
    }

    #[test]
    fn a_time_of_day_is_hours_and_minutes() {
        for (typed, time) in [
            ("03:30", Some("03:30")),
            ("3:05", Some("03:05")),
            ("23:59", Some("23:59")),
            ("24:00", None),
            ("03:60", None),
            ("03:3", None),
            ("+3:30", None),
            ("0330", None),
            ("", None),
        ] {
            assert_eq!(
                Kind::TimeOfDay.accept(&Value::from(typed)),
                time.map(Value::from),
                "{typed}"
            );
        }
    }
}
