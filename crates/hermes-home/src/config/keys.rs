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
    used("timezone", Kind::TimeZone, "The time zone that times are shown in, such as Europe/London; none: the system's.").shared(),
    used("memory.auto_write", Kind::Switch, "Write what was learned to MEMORY.md and USER.md; false: only propose it."),
    used("memory.write_approval", Kind::Switch, "Wait for approval before writing memory: the same as auto_write: false.").shared(),
    used("memory.reflection_enabled", Kind::Switch, "Look back on finished work and keep what it taught."),
    used("memory.stale_after_days", Kind::Whole(1, 36_500), "After how many days without use an entry of a memory file is proposed for removal."),
    later("memory.provider", Kind::Text, "The external memory provider that Hermes Agent asks, in a home of that program; in a home of our own it is refused, since no provider can be asked yet.").shared(),
    used("memory.memory_char_limit", LIMIT, "The longest MEMORY.md, in characters; none: no limit (2200 in a home of Hermes Agent).").shared(),
    used("memory.user_char_limit", LIMIT, "The longest USER.md, in characters; none: no limit (1375 in a home of Hermes Agent).").shared(),
    used("memory.backend", Kind::OneOf(WORDS_BACKEND), "Where facts and episodes are stored: sqlite, in a file of the home, or postgres, on a server that several machines share."),
    used("memory.path", Kind::Text, "The SQLite file of the memory, such as ~/.hermes/memory.db; none: memory.db in the home."),
    used("memory.vacuum_schedule", Kind::OneOf(WORDS_SCHEDULE), "How often the daemon lets the SQLite file give back free space."),
    used("memory.wal_mode", Kind::Switch, "Let SQLite write memory.db ahead, so that readers never wait for a writer; false: for file systems that cannot."),
    used("memory.connection_string", Kind::Text, "How to reach PostgreSQL, such as postgres://hermes@db.example.com/hermes; keep it in .env and write ${HERMES_DB_URL} here; none: what the variables PG* say."),
    used("memory.pool_size", Kind::Whole(1, 1000), "How many connections to PostgreSQL one process keeps at most."),
    used("memory.ssl_mode", Kind::OneOf(WORDS_SSL), "How the connection to PostgreSQL is protected, where the connection string does not say; none: verify_full for another machine, prefer for this one."),
    used("memory.auto_migrate", Kind::Switch, "Bring tables of an earlier version on the server up to date when they are used; false: `hermes db migrate` does it. Tables are made in an empty database either way."),
    used("memory.retrieval.context_budget_tokens", Kind::Whole(0, 10 * MANY), "How many tokens of memory a task is given by `hermes memory context`."),
    used("memory.retrieval.recency_episodes", Kind::Whole(0, MANY), "How many of the newest episodes are always included."),
    used("memory.retrieval.semantic_top_k", Kind::Whole(0, MANY), "How many episodes a search by meaning adds."),
    used("memory.retrieval.min_relevance_score", Kind::Number(0.0, 1.0), "How sure it must be, from 0 to 1, that something belongs to a task before a context has it."),
    used("memory.embeddings.provider", Kind::OneOf(WORDS_EMBEDDING), "What turns text into vectors; embedded needs no network, local is Ollama at its usual address."),
    used("memory.embeddings.model", Kind::Text, "The embedding model, where the provider has several; none: the provider's usual one."),
    used("memory.embeddings.dimensions", Kind::Whole(1, 65_536), "The length of a vector; none: the model's own."),
    used("memory.embeddings.batch_size", Kind::Whole(1, 10_000), "How many texts are sent to the provider at once."),
    used("memory.embeddings.base_url", Kind::Text, "Where the provider is, such as http://127.0.0.1:8080/v1; none: its usual address."),
    used("memory.embeddings.query_prefix", Kind::Text, "What the model wants before a question; none: what its makers ask for."),
    used("memory.embeddings.document_prefix", Kind::Text, "What the model wants before a text to be found; none: what its makers ask for."),
    used("memory.compression.enabled", Kind::Switch, "Let old episodes become summaries in the background."),
    used("memory.compression.after_days", Kind::Whole(1, 36_500), "After how many days an episode is old and becomes part of a summary."),
    used("recording.secrets", Kind::OneOf(WORDS_SECRETS), "What happens to passwords, keys and tokens in what is recorded: redact, a name such as [secret: github-token] stands in their place in the memory; keep, they are recorded in clear; refuse, a message that holds one is not recorded in the memory."),
    used("users.mode", Kind::OneOf(WORDS_USERS), "Whether one person or several talk to this agent. Whoever writes and is linked to nobody is a user of their own; with single they are told only what is shared, with several also what they said themselves."),
    used("model.default", Kind::Text, "The model for conversations, as provider/name, such as anthropic/claude-sonnet-5 or ollama/llama3.2.").shared(),
    used("model.provider", Kind::Text, "The provider of model.default, where its name does not begin with one; none or auto: its name says it.").shared(),
    used("model.base_url", Kind::Text, "Where the provider of model.default is; none: its usual address.").shared(),
    used("model.main", Kind::Text, "The model for demanding conversations, as provider/name; none: model.default.").shared(),
    used("model.light", Kind::Text, "The model for background work, as provider/name; none: background work goes by rules and asks no model.").shared(),
    used("model.daily_tokens", Kind::Whole(0, MANY * MANY), "How many tokens background work may use a day; 0: no limit."),
    used("model.daily_cost", Kind::Number(0.0, 1e6), "How many US dollars background work may cost a day; 0: no limit."),
    used("model.price_input", Kind::Number(0.0, 1e6), "What a million tokens read by model.light cost, in US dollars; none: the list price, where it is known."),
    used("model.price_output", Kind::Number(0.0, 1e6), "What a million tokens written by model.light cost, in US dollars; none: the list price, where it is known."),
    used("skills.learned", Kind::OneOf(WORDS_LEARNED), "What becomes of a skill made from finished work: it waits for `hermes skills approve`, or is used at once."),
    used("skills.write_approval", Kind::Switch, "Wait for approval before a skill is written: the same as learned: pending.").shared(),
    used("sessions.auto_prune", Kind::Switch, "Let the daemon delete sessions every night that had no activity for retention_days and are not pinned; `hermes sessions restore` brings them back for 30 days. In a home of Hermes Agent that program does it.").shared(),
    used("sessions.retention_days", Kind::Whole(1, 36_500), "After how many days without activity a session is deleted by `hermes sessions prune`, or by the daemon where auto_prune is on.").shared(),
    used("sessions.lock_wait_ms", Kind::Whole(0, 600_000), "How long a write waits for another program's lock, in milliseconds."),
    used("backup.folder", Kind::Text, "Where backups are kept; none: beside the home, in a folder of its name with -backups."),
    used("backup.compression", Kind::OneOf(WORDS_COMPRESSION), "How an archive is made smaller: zstd is faster, gzip opens everywhere."),
    used("backup.recipients", Kind::Texts, "The public keys that backups are encrypted to: fingerprints of OpenPGP keys, or age recipients."),
    used("backup.passphrase_file", Kind::Text, "The file whose first line is the passphrase that backups are encrypted with, where there are no recipients."),
    used("backup.passphrase_format", Kind::OneOf(WORDS_PASSPHRASE), "What opens a backup that is encrypted with a passphrase."),
    used("backup.time", Kind::TimeOfDay, "When the scheduled backup of a day is made, in your time zone."),
    used("backup.random_delay_minutes", Kind::Whole(0, 720), "A scheduled backup comes up to so many minutes later, by chance, so that not all machines send at once."),
    used("backup.keep_last", KEPT, "How many of the newest backups are kept."),
    used("backup.keep_hourly", KEPT, "Of how many of the last hours that have a backup the newest is kept."),
    used("backup.keep_daily", KEPT, "Of how many of the last days that have a backup the newest is kept."),
    used("backup.keep_weekly", KEPT, "Of how many of the last weeks that have a backup the newest is kept."),
    used("backup.keep_monthly", KEPT, "Of how many of the last months that have a backup the newest is kept."),
    used("backup.keep_yearly", KEPT, "Of how many of the last years that have a backup the newest is kept."),
    used("backup.keep_within", Kind::Text, "Every backup is kept that is not older than this before the newest one, such as 1y6m14d3h; none: no such rule."),
    used("backup.targets", Kind::Texts, "The places that every backup is sent to: a folder, ssh://user@host/folder, s3://bucket/prefix?endpoint=https://…"),
    used("backup.exclude", Kind::Texts, "Paths below the home that no backup takes in."),
    used("backup.follow_links", Kind::Switch, "Whether a backup takes in the plain files behind links that lead to folders; without it such a link is named in every backup and in the status."),
    used("backup.alert_command", Kind::Text, "What is run when backups fail; it finds the message in HERMES_ALERT and on standard input."),
    used("backup.alert_webhook", Kind::Text, "Where a message is sent with POST as JSON when backups fail; keep it in .env and write ${NAME} here."),
    used("backup.alert_after", Kind::Whole(1, 1000), "After how many failures in a row an alert is sent."),
    used("backup.drill_days", Kind::Whole(1, 36_500), "After how many days without a drill the status is no longer green."),
    used("server.enabled", Kind::Switch, "Whether the daemon listens for other programs: the HTTP API and MCP."),
    used("server.bind", Kind::Text, "The address it listens on; anything but loopback needs TLS."),
    used("server.port", Kind::Whole(1, 65_535), "The port it listens on; none: 8420, or any other where that one is taken."),
    used("server.allowed_hosts", Kind::Texts, "Names besides localhost by which it may be called, such as memory.example."),
    used("server.tls_cert", Kind::Text, "The file with the certificate for TLS, as PEM."),
    used("server.tls_key", Kind::Text, "The file with the private key of the certificate, as PEM."),
    used("server.requests_per_minute", Kind::Whole(0, 1_000_000), "How many requests a minute each token may make; 0: as many as it likes."),
    used("server.max_body_mb", Kind::Whole(1, 1024), "The largest body of a request, in megabytes."),
    used("agent.allow", Kind::Texts, "Commands that the agent runs without asking, by their first words, such as cargo test; a line is allowed only where every command in it is."),
    used("agent.deny", Kind::Texts, "Commands that the agent never runs, by their first words, such as git push."),
    used("agent.write_below", Kind::Texts, "Folders in which the agent writes files without asking; a relative one is below the working folder, and . is that folder itself."),
    used("agent.folders", Kind::Texts, "Folders besides the working folder that the agent may read and, when it is let, write."),
    used("agent.confine", Kind::Switch, "Whether commands of the agent are kept inside of their folders and from the network, where the system can do that (Landlock and namespaces of Linux)."),
    used("agent.network", Kind::Texts, "Commands of the agent that may reach the network, by their first words, such as git fetch; * means all."),
    used("agent.timeout_s", Kind::Whole(1, 86_400), "After how many seconds a command of the agent is ended."),
    used("agent.output_cap", Kind::Whole(1_000, MANY), "How many characters of a file or of what a command prints a model is given; of what is longer, the beginning and the end."),
    used("agent.max_rounds", Kind::Whole(1, 1_000), "How often a model may call tools before it must answer."),
    used("agent.window_tokens", Kind::Whole(4_000, 10 * MANY), "How many tokens the model of conversations can look at; none: by its name, and 32000 where it is not known."),
    used("agent.recall", Kind::Switch, "Whether what is remembered is looked up for every message."),
    used("checkpoints.enabled", Kind::Switch, "Keep the state of files before the agent changes them, so that it can be brought back.").shared(),
    used("checkpoints.max_mb", Kind::Whole(1, MANY), "How much room checkpoints may take, in megabytes; the oldest go first."),
    used("checkpoints.max_age_days", Kind::Whole(1, 36_500), "After how many days a checkpoint goes."),
    used("checkpoints.max_file_mb", Kind::Whole(1, 10_000), "Up to what size, in megabytes, a file is kept before a command."),
    used("checkpoints.max_files", Kind::Whole(1, MANY), "Up to how many files below the working folder are kept before a command."),
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
