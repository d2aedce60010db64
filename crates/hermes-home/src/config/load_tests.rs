//! Tests of loading: layers, spellings, and what is said about mistakes.

use super::*;
use crate::config::{Backend, EmbeddingProvider, Schedule, SslMode, get, list};
use crate::layout::Wanted;
use crate::secret::set_secret;

struct Case {
    folder: tempfile::TempDir,
    env: Env,
    flags: Vec<(String, String)>,
}

fn case(text: &str) -> Case {
    let folder = tempfile::tempdir().unwrap();
    atomic_write(&folder.path().join("config.yaml"), text.as_bytes());
    Case { folder, env: Env::default(), flags: Vec::new() }
}

fn atomic_write(path: &Path, bytes: &[u8]) {
    crate::atomic::write(path, bytes).unwrap();
}

impl Case {
    fn home(&self) -> Home {
        let wanted = Wanted { home: Some(self.folder.path().to_owned()), profile: None };
        Home::locate(&wanted, &Env::default()).unwrap()
    }

    fn load(&self, owner: Owner) -> Result<Loaded> {
        load(&self.home(), owner, &self.env, &self.flags)
    }

    fn ours(&self) -> Loaded {
        self.load(Owner::Ours).unwrap()
    }

    fn problems(&self) -> String {
        self.load(Owner::Ours).unwrap_err().to_string()
    }
}

#[test]
fn no_file_means_defaults() {
    let case = case("");
    std::fs::remove_file(case.home().config()).unwrap();
    let loaded = case.ours();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.warnings.is_empty());
    assert!(loaded.origins.values().all(|origin| *origin == Origin::Default));
}

#[test]
fn the_scaffold_loads_as_defaults() {
    assert_eq!(case(crate::init::CONFIG).ours().config, Config::default());
}

#[test]
fn documented_sqlite_block_loads() {
    let memory = case(
        r#"{
  "memory": {
    "backend": "sqlite",
    "path": "~/.hermes/memory.db",
    "vacuumSchedule": "weekly",   // auto-vacuum to reclaim space
    "walMode": true               // write-ahead logging for better concurrency
  }
}"#,
    )
    .ours()
    .config
    .memory;
    assert_eq!(memory.backend, Backend::Sqlite);
    assert_eq!(memory.path.as_deref(), Some("~/.hermes/memory.db"));
    assert_eq!((memory.vacuum_schedule, memory.wal_mode), (Schedule::Weekly, true));
}

#[test]
fn documented_postgres_block_loads_with_the_url_from_environment_or_env_file() {
    let text = r#"{
  "memory": {
    "backend": "postgres",
    "connectionString": "${HERMES_DB_URL}",
    // e.g. postgres://user:password@localhost:5432/hermes
    "poolSize": 5,
    "sslMode":  "require"
  }
}"#;
    let mut case = case(text);
    let warnings = case.ours().warnings;
    assert!(warnings[0].message.contains("HERMES_DB_URL"), "{warnings:?}");
    set_secret(&case.home(), "HERMES_DB_URL", &Secret::new("postgres://u:p@file/db".into()))
        .unwrap();
    let url = |loaded: &Loaded| {
        loaded.config.memory.connection_string.as_ref().map(|url| url.reveal().to_owned())
    };
    assert_eq!(url(&case.ours()).as_deref(), Some("postgres://u:p@file/db"));
    case.env = Env::of([("HERMES_DB_URL", "postgres://u:p@env/db")]);
    let loaded = case.ours();
    assert_eq!(url(&loaded).as_deref(), Some("postgres://u:p@env/db"));
    assert_eq!(loaded.config.memory.backend, Backend::Postgres);
    assert_eq!(
        (loaded.config.memory.pool_size, loaded.config.memory.ssl_mode),
        (5, Some(SslMode::Require))
    );
    assert_eq!(get(&loaded, "memory.connectionString").unwrap().value, "postgres://***@env/db");
    assert!(!format!("{loaded:?}").contains("u:p"));
}

#[test]
fn documented_retrieval_block_loads() {
    let retrieval = case(
        r#"{
  "memory": {
    "retrieval": {
      "contextBudgetTokens": 40000,  // how many tokens of memory to inject per task
      "recencyEpisodes":    4,       // always include N most recent
      "semanticTopK":       6,       // semantic search result count
      "minRelevanceScore":  0.7      // discard results below this similarity threshold
    }
  }
}"#,
    )
    .ours()
    .config
    .memory
    .retrieval;
    assert_eq!((retrieval.context_budget_tokens, retrieval.recency_episodes), (40_000, 4));
    assert_eq!((retrieval.semantic_top_k, retrieval.min_relevance_score), (6, 0.7));
}

#[test]
fn documented_embeddings_block_loads() {
    let embeddings = case(
        r#"{
  "memory": {
    "embeddings": {
      "provider":   "anthropic",           // anthropic | openai | local
      "model":      "text-embedding-3-small",  // used if provider is openai
      // For Anthropic, uses the built-in embedding endpoint
      // For local: use ollama with nomic-embed-text
      "dimensions": 1536,
      "batchSize":  100   // embed up to 100 episodes per batch job
    }
  }
}"#,
    )
    .ours()
    .config
    .memory
    .embeddings;
    assert_eq!(embeddings.provider, EmbeddingProvider::Anthropic);
    assert_eq!(embeddings.model.as_deref(), Some("text-embedding-3-small"));
    assert_eq!((embeddings.dimensions, embeddings.batch_size), (Some(1536), 100));
}

#[test]
fn flags_win_over_environment_over_file_over_default() {
    let mut case = case("# top\nmemory:\n  retrieval:\n    semantic_top_k: 6\n");
    let seen = |case: &Case| {
        let loaded = case.ours();
        let origin = loaded.origins["memory.retrieval.semantic_top_k"].clone();
        (loaded.config.memory.retrieval.semantic_top_k, origin)
    };
    let path = case.home().config();
    assert_eq!(seen(&case), (6, Origin::File { path, line: 4 }));
    let name = "HERMES_MEMORY__RETRIEVAL__SEMANTIC_TOP_K";
    case.env = Env::of([(name, "7")]);
    assert_eq!(seen(&case), (7, Origin::Environment { name: name.into() }));
    case.flags = vec![("memory.retrieval.semanticTopK".into(), "8".into())];
    assert_eq!(seen(&case), (8, Origin::Flag));
}

#[test]
fn values_are_checked_with_key_line_and_what_was_found() {
    for (text, parts) in [
        (
            "memory:\n  auto_write: maybe\n",
            &["line 2", "memory.auto_write", "true or false", "\"maybe\""][..],
        ),
        ("memory:\n  pool_size: 0\n", &["line 2", "from 1 to 1000", "found 0"]),
        ("memory:\n  poolSize: 1.5\n", &["whole number", "found 1.5"]),
        ("memory:\n  backend: mysql\n", &["one of sqlite, postgres", "\"mysql\""]),
        ("memory:\n  path: 5\n", &["expected a text", "found 5"]),
        ("memory:\n  path: [a]\n", &["expected a text", "found a list"]),
        ("memory:\n  path:\n    a: 1\n", &["found a section"]),
        ("memory: yes please\n", &["line 1", "`memory` is a section"]),
        ("timezone: Mars/Olympus\n", &["name of a time zone", "Mars/Olympus"]),
        (
            "{\n\"memory\": {\"retrieval\": {\n\"minRelevanceScore\": 2}}}",
            &["line 3", "from 0 to 1"],
        ),
    ] {
        let message = case(text).problems();
        assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
    }
}

#[test]
fn every_unknown_key_is_listed_with_the_nearest_name() {
    let message =
        case("memory:\n  auto_wrte: true\n  retreival:\n    x: 1\nmemroy: {}\nzebra: 1\n")
            .problems();
    for part in [
        "line 2: there is no setting `memory.auto_wrte` (did you mean `memory.auto_write`?)",
        "line 3: there is no setting `memory.retreival` (did you mean `memory.retrieval`?)",
        "line 5: there is no setting `memroy` (did you mean `memory`?)",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.contains("zebra"), "{message}");
}

#[test]
fn settings_of_another_program_stop_nothing() {
    let text = "model:\n  context_length: 65536\n  default: ollama/llama3.2\ndisplay:\n  skin: mono\nzebra: 1\n";
    let mut case = case(text);
    case.env = Env::of([("HERMES_TERMINAL__BACKEND", "local")]);
    let loaded = case.load(Owner::Ours).unwrap();
    assert_eq!(loaded.config.model.default.as_deref(), Some("ollama/llama3.2"));
    let keys: Vec<_> = loaded.warnings.iter().filter_map(|found| found.key.as_deref()).collect();
    assert_eq!(keys, ["model.context_length", "display", "zebra", "terminal.backend"]);
}

#[test]
fn whoever_must_go_on_is_stopped_by_bad_values_and_not_by_names() {
    let forgiving = |text: &str| {
        let case = case(text);
        load_forgiving(&case.home(), Owner::Ours, &case.env, &[])
    };
    for text in ["memory:\n  pth: x\n", "backup:\n  odd: 1\n", "encryption: true\n"] {
        assert!(case(text).load(Owner::Ours).is_err(), "{text}");
        let loaded = forgiving(text).unwrap();
        assert_eq!(loaded.warnings.len(), 1, "{text}");
        assert_eq!(loaded.warnings[0].severity, Severity::Error, "{text}");
    }
    for text in ["memory:\n  backend: postgers\n", "a: [\n", "memory: 5\n"] {
        assert!(forgiving(text).is_err(), "{text}");
    }
}

#[test]
fn two_spellings_of_one_key_must_agree() {
    assert!(case("memory:\n  walMode: false\n  wal_mode: false\n").load(Owner::Ours).is_ok());
    let message = case("memory:\n  walMode: false\n  wal_mode: true\n").problems();
    assert!(message.contains("line 3") && message.contains("line 2"), "{message}");
}

#[test]
fn a_secret_is_in_no_message() {
    for text in [
        "memory:\n  connection_string: [pa55]\n",
        "memory:\n  connection_string: {a: pa55}\n",
        "memory:\n  connection_string: 550055\n",
        "memory:\n  connection_string: \"${pa55 x}\"\n",
        "memory:\n  connection_string: pa55\n  connectionString: other\n",
        "memory:\n  connection_string: \"pa55\n",
        "memory:\n  connection_string: @pa55\n",
        "memory:\n  connection_string: pa55: pa55\n",
        "{\"memory\": {\"connectionString\": \"pa55}}",
        "{\"memory\": {\"connectionString\": pa55}}",
    ] {
        let case = case(text);
        let error = case.load(Owner::Ours).unwrap_err();
        let findings = check(&case.home(), Owner::Ours, &case.env, &[]).unwrap();
        let said = format!("{error} {error:?} {:?} {findings:?}", error.hint());
        assert!(!said.contains("pa55") && !said.contains("550055"), "{said}");
    }
}

#[test]
fn broken_files_are_told_with_line_and_column() {
    let message = case("memory:\n  a: 1\n b: 2\n").problems();
    assert!(message.contains("config.yaml:3:"), "{message}");
    let message = case("{\n  \"memory\": nonsense\n}").problems();
    assert!(message.contains("config.yaml:2:"), "{message}");
    let binary = case("");
    atomic_write(&binary.home().config(), b"a: 1\nb: \xff\xfe\n");
    assert!(
        binary.problems().contains("config.yaml:2:1: it is not UTF-8"),
        "{}",
        binary.problems()
    );
    let large = case("");
    atomic_write(&large.home().config(), &vec![b'#'; LARGEST as usize + 1]);
    assert!(matches!(large.load(Owner::Ours), Err(Error::ConfigTooLarge { .. })));
}

#[test]
fn a_config_of_hermes_agent_loads_whatever_it_holds() {
    let text = "_config_version: 1\nmodel: anthropic/claude\nmemory:\n  memory_enabled: true\n  provider: ''\n\
                \x20 nudge_interval: 10\n  memory_char_limit: lots\nsessions:\n  retention_days: null\n\
                \x20 vacuum_after_prune: true\ntimezone: ''\nplatforms: {email: {tls: true}}\nagent: [1, {2: 3}]\n\
                agent: x\nusers: 5\n";
    assert!(is_hermes_agent_config(text));
    let loaded = case(text).load(Owner::HermesAgent).unwrap();
    assert_eq!(loaded.config.model.default.as_deref(), Some("anthropic/claude"));
    assert_eq!(loaded.config.memory.memory_char_limit, Some(2200));
    assert_eq!(loaded.config.memory.user_char_limit, Some(1375));
    let keys: Vec<_> = loaded.warnings.iter().filter_map(|found| found.key.as_deref()).collect();
    assert_eq!(keys, ["users", "memory.memory_char_limit"]);
}

#[test]
fn in_a_home_of_hermes_agent_only_doubtful_keys_are_warned_about() {
    let text = "_config_version: 1\nterminal: {backend: local}\nmemory:\n  auto_wrte: false\n  odd: 1\nmodle: x\n\
                model: {default: a, provider: b, ssl_verify: false}\nagent: {max_turns: 90}\n\
                checkpoints: {enabled: true, max_snapshots: 20}\n";
    let loaded = case(text).load(Owner::HermesAgent).unwrap();
    let keys: Vec<_> = loaded.warnings.iter().filter_map(|found| found.key.as_deref()).collect();
    assert_eq!(keys, ["memory.auto_wrte", "memory.odd", "modle"]);
}

#[test]
fn in_a_home_of_hermes_agent_slips_about_encryption_and_backup_stay_errors() {
    for (text, key) in [
        ("backup:\n  encryptoin: age\n", "backup.encryptoin"),
        ("backup: true\n", "backup"),
        ("backup:\n  keep_lst: 3\n", "backup.keep_lst"),
        ("backup:\n  recipents: [a]\n", "backup.recipents"),
        ("backup:\n  passphrase_format: pgp\n", "backup.passphrase_format"),
        ("bakcup:\n  recipients: [a]\n", "bakcup"),
        ("encryption: true\n", "encryption"),
        ("memory:\n  sslmode: require\n", "memory.sslmode"),
        ("memory:\n  ssl_mode: requre\n", "memory.ssl_mode"),
        ("sessions:\n  passphraseFile: x\n", "sessions.passphraseFile"),
    ] {
        let error =
            case(&format!("_config_version: 1\n{text}")).load(Owner::HermesAgent).unwrap_err();
        let Error::BadSettings { findings, .. } = error else { panic!("{text}: {error}") };
        assert_eq!(findings[0].key.as_deref(), Some(key), "{text}");
    }
}

#[test]
fn the_section_backup_loads_with_its_lists() {
    let mut case = case(
        "backup:\n  recipients: age1xyz\n  targets:\n    - /mnt/nas\n    - s3://${BUCKET}/x?keep=last:3,daily:2\n\
         \x20 time: 4:05\n  keep_daily: 7\n  keepWithin: 1y\n  alert_webhook: ${HOOK}\n",
    );
    case.env = Env::of([("BUCKET", "mine"), ("HOOK", "https://hooks.example/key")]);
    let loaded = case.ours();
    let backup = &loaded.config.backup;
    assert_eq!(backup.recipients, ["age1xyz"]);
    assert_eq!(backup.targets, ["/mnt/nas", "s3://mine/x?keep=last:3,daily:2"]);
    assert_eq!((backup.time.as_str(), backup.keep_last, backup.keep_daily), ("04:05", 14, 7));
    assert_eq!(backup.keep_within.as_deref(), Some("1y"));
    assert_eq!(backup.alert_webhook.as_ref().unwrap().reveal(), "https://hooks.example/key");
    let shown = get(&loaded, "backup.targets").unwrap().value;
    assert_eq!(shown, r#"["/mnt/nas","s3://${BUCKET}/x?keep=last:3,daily:2"]"#);
    assert!(!get(&loaded, "backup.alert_webhook").unwrap().value.contains("key"));
    case.flags = vec![("backup.targets".into(), r#"["/a", "/b"]"#.into())];
    case.env = Env::of([("HERMES_BACKUP__RECIPIENTS", "age1abc")]);
    assert!(case.load(Owner::Ours).is_err(), "a variable of the webhook is missing");
    case.env = Env::of([("HERMES_BACKUP__RECIPIENTS", "age1abc"), ("HOOK", "x"), ("BUCKET", "y")]);
    let backup = case.ours().config.backup;
    assert_eq!(
        (backup.targets, backup.recipients),
        (vec!["/a".into(), "/b".into()], vec!["age1abc".to_owned()])
    );
}

#[test]
fn a_list_of_anything_but_texts_is_refused() {
    for text in [
        "backup:\n  recipients: [12345678]\n",
        "backup:\n  recipients: [a, '']\n",
        "backup:\n  recipients: 12345678\n",
        "backup:\n  recipients: {a: b}\n",
        "backup:\n  recipients: [[a]]\n",
        "backup:\n  recipients: '[a, b]'\n",
    ] {
        let message = case(text).problems();
        assert!(message.contains("`backup.recipients`: expected a list of texts"), "{message}");
    }
    for empty in
        ["", "backup:\n  recipients:\n", "backup: {recipients: []}\n", "backup: {recipients: ''}\n"]
    {
        assert!(case(empty).ours().config.backup.recipients.is_empty(), "{empty}");
    }
}

#[test]
fn write_approval_means_no_automatic_writing() {
    for (text, writes) in [
        ("", true),
        ("memory: {auto_write: false}\n", false),
        ("memory:\n  write_approval: true\n", false),
        ("memory:\n  write_approval: yes\n  auto_write: on\n", false),
        ("memory:\n  write_approval: no\n", true),
    ] {
        let case = case(&format!("# c\n{text}"));
        assert_eq!(case.load(Owner::HermesAgent).unwrap().config.auto_writes(), writes, "{text}");
    }
}

#[test]
fn hermes_agent_configs_are_recognised() {
    for (text, is_theirs) in [
        ("_config_version: 1\n", true),
        ("a: 1\n_config_version: 17\n", true),
        ("{\"_config_version\": 1}", true),
        ("_config_version: 1\n bad: [\n", true),
        ("# _config_version: 1\n", false),
        ("a:\n  _config_version: 1\n", false),
        ("", false),
    ] {
        assert_eq!(is_hermes_agent_config(text), is_theirs, "{text:?}");
    }
}

#[test]
fn a_setting_in_the_environment_that_is_not_unicode_stops_the_settings() {
    use std::os::unix::ffi::OsStringExt;
    let mut case = case("");
    let broken = std::ffi::OsString::from_vec(vec![0xff]);
    case.env = Env::of_os([("HERMES_MEMORY__AUTO_WRITE".into(), broken)]);
    let findings = check(&case.home(), Owner::Ours, &case.env, &[]).unwrap();
    assert_eq!(findings[0].severity, Severity::Error, "{findings:#?}");
    assert!(findings[0].message.contains("HERMES_MEMORY__AUTO_WRITE"));
    assert!(load(&case.home(), Owner::Ours, &case.env, &[]).is_err());
}

#[test]
fn check_lists_everything_the_worst_first() {
    let mut case = case(
        "memory:\n  auto_write: maybe\n  provider: honcho\n  pool: 1\nsessions:\n  lock_wait_ms: 5\n",
    );
    case.env = Env::of([("HERMES_MEMORY__AUTO_WRIT", "x"), ("HERMES_HOME", "/h")]);
    atomic_write(&case.home().secrets(), b"A=1\nbroken\n");
    let findings = check(&case.home(), Owner::Ours, &case.env, &[]).unwrap();
    let seen: Vec<_> = findings.iter().map(|found| (found.severity, found.line)).collect();
    use Severity::{Error, Note, Warning};
    assert_eq!(
        seen,
        [
            (Error, None),
            (Error, Some(2)),
            (Error, Some(3)),
            (Error, Some(4)),
            (Warning, None),
            (Note, Some(3))
        ],
        "{findings:#?}"
    );
    let broken = check(&self::case("a: [\n").home(), Owner::Ours, &Env::default(), &[]);
    assert!(broken.is_ok());
}

#[test]
fn every_setting_is_listed_with_default_and_origin() {
    let loaded = case("memory:\n  auto_write: false\n").ours();
    let settings = list(&loaded);
    assert_eq!(settings.len(), keys::KEYS.len());
    let setting = get(&loaded, "memory.autoWrite").unwrap();
    assert_eq!((setting.value.as_str(), setting.default.as_str()), ("false", "true"));
    assert!(matches!(setting.origin, Origin::File { line: 2, .. }));
    assert!(matches!(
        get(&loaded, "memory.autowrit"),
        Err(crate::Error::NoSuchSetting { nearest: Some("memory.auto_write"), .. })
    ));
}

#[test]
fn learned_skills_wait_unless_both_settings_let_them_in() {
    use crate::skill::Keep;
    for (text, keep) in [
        ("", Keep::Pending),
        ("skills: {learned: active}\n", Keep::Active),
        ("skills:\n  learned: active\n  writeApproval: true\n", Keep::Pending),
        ("skills: {write_approval: false}\n", Keep::Pending),
    ] {
        assert_eq!(case(text).ours().config.keeps_learned(), keep, "{text}");
    }
    let theirs =
        case("skills:\n  external_dirs: []\n  inline_shell: false\n  write_approval: on\n");
    let loaded = theirs.load(Owner::HermesAgent).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert!(loaded.config.skills.write_approval);
}
