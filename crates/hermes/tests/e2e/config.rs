//! Settings from the command line: layers, comments, secrets, unknown keys.

use crate::sandbox::{Ran, Sandbox};

const YAML: &str = "# my settings\nmemory:\n  # I like control\n  autoWrite: true   # camel case, as in an old guide\nsessions:\n  retention_days: 60\n";

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let sandbox = Sandbox::ready();
    let value = |variable: &str, flags: &[&str]| {
        let arguments: Vec<&str> = flags
            .iter()
            .copied()
            .chain(["config", "get", "sessions.retention_days", "-v"])
            .collect();
        let mut command = sandbox.command(&arguments);
        let output = command.env("HERMES_SESSIONS__RETENTION_DAYS", variable).output().unwrap();
        Ran::of(&output).stdout
    };
    assert!(value("", &[]).starts_with("90\nfrom the default"));
    sandbox.write("config.yaml", YAML);
    let from_file = value("", &[]);
    assert!(from_file.starts_with("60\n") && from_file.contains("config.yaml:6"), "{from_file}");
    assert!(value("50", &[]).starts_with("50\nfrom the environment variable HERMES_SESSIONS__"));
    assert!(value("50", &["--set", "sessions.retention_days=40"]).starts_with("40\nfrom --set"));
}

#[test]
fn set_keeps_comments_order_and_spelling() {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", YAML);
    sandbox.ok(&["config", "set", "memory.auto_write", "false"]);
    sandbox.ok(&["config", "set", "sessions.retention_days", "30"]);
    assert_eq!(
        sandbox.read("config.yaml"),
        YAML.replace("autoWrite: true ", "autoWrite: false ").replace("60", "30")
    );
    sandbox.ok(&["config", "set", "timezone", "Europe/London"]);
    sandbox.ok(&["config", "unset", "timezone"]);
    assert_eq!(
        sandbox.read("config.yaml"),
        YAML.replace("autoWrite: true ", "autoWrite: false ").replace("60", "30")
    );
}

#[test]
fn json_with_comments_is_a_config_file_too() {
    let sandbox = Sandbox::ready();
    let json = "{\n  \"memory\": {\n    \"retrieval\": {\n      \"contextBudgetTokens\": 30000,  // per task\n      \"minRelevanceScore\":  0.65     // discard below\n    }\n  }\n}\n";
    sandbox.write("config.yaml", json);
    assert_eq!(sandbox.ok(&["config", "get", "memory.retrieval.context_budget_tokens"]), "30000\n");
    assert_eq!(sandbox.ok(&["config", "get", "memory.retrieval.contextBudgetTokens"]), "30000\n");
    sandbox.ok(&["config", "set", "memory.retrieval.contextBudgetTokens", "40000"]);
    assert_eq!(sandbox.read("config.yaml"), json.replace("30000", "40000"));
}

#[test]
fn unknown_keys_stop_the_command_and_name_the_nearest() {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", "memory:\n  sslmode: require\n");
    sandbox.fails(&["sessions", "list"], 1, &["sslmode", "ssl_mode"]);
    assert_eq!(sandbox.run(&["config", "check"]).code, 6);
    assert_eq!(sandbox.run(&["doctor"]).code, 6);
    sandbox.write("config.yaml", "backup:\n  encypt_to: alice\n");
    sandbox.fails(&["sessions", "list"], 1, &["backup"]);
    sandbox.fails(&["config", "set", "memory.auto_writ", "true"], 2, &["auto_write"]);
}

#[test]
fn in_a_home_of_hermes_agent_its_keys_are_its_own_but_encryption_is_not_guessed() {
    let sandbox = Sandbox::empty();
    let theirs = "_config_version: 1\nmodel: anthropic/claude\nagent:\n  max_turns: 90\nmemory:\n  nudge_interval: 10\n  provider: ''\n";
    sandbox.write("config.yaml", theirs);
    assert_eq!(sandbox.ok(&["config", "get", "memory.memory_char_limit"]), "2200\n");
    assert_eq!(sandbox.run(&["config", "check"]).code, 0);
    sandbox.ok(&["config", "set", "memory.auto_write", "false"]);
    assert_eq!(
        sandbox.read("config.yaml"),
        theirs.replace("memory:\n", "memory:\n  auto_write: false\n")
    );
    sandbox.write("config.yaml", format!("{theirs}backup:\n  encript: true\n"));
    sandbox.fails(&["config", "get", "timezone"], 1, &["backup"]);
}

#[test]
fn broken_files_and_values_are_named_with_their_line() {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", "memory:\n  auto_write: [true\n");
    sandbox.fails(&["sessions", "list"], 1, &["config.yaml:2"]);
    sandbox.write("config.yaml", "sessions:\n  retention_days: many\n");
    sandbox.fails(&["sessions", "list"], 1, &["retention_days", "line 2"]);
    sandbox.write("config.yaml", "timezone: ${NOWHERE_SET}\n");
    sandbox.fails(&["sessions", "list"], 1, &["NOWHERE_SET"]);
    sandbox.write("config.yaml", b"\xff\xfe\x00");
    sandbox.fails(&["sessions", "list"], 1, &["UTF-8"]);
    let before = "sessions:\n  retention_days: 60\n";
    sandbox.write("config.yaml", before);
    sandbox.fails(&["config", "set", "sessions.retention_days", "many"], 2, &["retention_days"]);
    assert_eq!(sandbox.read("config.yaml"), before);
}

#[test]
fn secrets_come_from_standard_input_and_are_never_shown() {
    let sandbox = Sandbox::ready();
    sandbox.fails(&["config", "set", "SOME_API_KEY", "hunter2-secret"], 5, &["standard input"]);
    let ran = sandbox.feed(&["config", "set", "SOME_API_KEY", "-"], b"hunter2-secret\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(sandbox.read(".env").contains("hunter2-secret"));
    sandbox.write(
        "config.yaml",
        "memory:\n  connection_string: postgres://alice:hunter2-secret@db.example/hermes\n",
    );
    for arguments in [
        &["config", "list"][..],
        &["config", "list", "--json"],
        &["config", "get", "memory.connection_string", "-v"],
        &["config", "check"],
        &["doctor"],
        &["start", "--no-daemon"],
    ] {
        let ran = sandbox.run(arguments);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains("hunter2"), "{arguments:?}: {all}");
    }
    sandbox.ok(&["config", "unset", "SOME_API_KEY"]);
    assert!(!sandbox.read(".env").contains("SOME_API_KEY="));
}

#[test]
fn variables_expand_from_the_environment_and_from_the_secrets() {
    let sandbox = Sandbox::ready();
    sandbox.write(".env", "MY_ZONE=Europe/Paris\n");
    sandbox.write("config.yaml", "timezone: ${MY_ZONE}\n");
    assert_eq!(sandbox.ok(&["config", "get", "timezone"]), "Europe/Paris\n");
    let mut command = sandbox.command(&["config", "get", "timezone"]);
    let ran = Ran::of(&command.env("MY_ZONE", "Asia/Tokyo").output().unwrap());
    assert_eq!(ran.stdout, "Asia/Tokyo\n");
}

#[test]
fn a_secret_that_a_variable_stands_for_is_not_shown_either() {
    let sandbox = Sandbox::ready();
    sandbox.write(".env", "KEY=hunter3-secret\n");
    sandbox.write("config.yaml", "model:\n  default: ${KEY}\n");
    for arguments in [&["config", "get", "model.default", "-v"][..], &["config", "list", "--json"]]
    {
        let shown = sandbox.ok(arguments);
        assert!(!shown.contains("hunter3") && shown.contains("${KEY}"), "{shown}");
    }
    assert!(!sandbox.ok(&["config", "set", "model.light", "${KEY}"]).contains("hunter3"));
}

#[test]
fn a_misspelt_variable_of_the_environment_is_not_ignored() {
    let sandbox = Sandbox::ready();
    let with = |name: &str| {
        let mut command = sandbox.command(&["sessions", "list"]);
        Ran::of(&command.env(name, "1").output().unwrap())
    };
    with("HERMES_BACKUP__ENCRYPTON").failed(1, &["HERMES_BACKUP__ENCRYPTON"]);
    with("HERMES_SESSIONS__RETENTION_DAIS").failed(1, &["sessions.retention_days"]);
    sandbox.write("config.yaml", "_config_version: 1\n");
    assert_eq!(with("HERMES_SESSIONS__RETENTION_DAIS").code, 0);
    with("HERMES_ENCRYPTION__KEY").failed(1, &["HERMES_ENCRYPTION__KEY"]);
}

#[test]
fn a_postgres_block_from_a_guide_loads_before_its_variable_is_set() {
    let sandbox = Sandbox::ready();
    let block = "{\n  \"memory\": {\n    \"backend\": \"postgres\",\n    \"connectionString\": \"${HERMES_DB_URL}\",\n    // e.g. postgres://user:password@localhost:5432/hermes\n    \"poolSize\": 5,\n    \"sslMode\":  \"require\"\n  }\n}\n";
    sandbox.write("config.yaml", block);
    assert_eq!(sandbox.ok(&["config", "get", "memory.ssl_mode"]), "require\n");
    assert!(sandbox.ok(&["config", "check"]).contains("HERMES_DB_URL"));
}

#[test]
fn a_file_with_two_mistakes_can_be_mended_one_by_one() {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", "sessions:\n  retention_days: many\n  lock_wait_ms: long\n");
    assert!(
        sandbox.ok(&["config", "set", "sessions.retention_days", "30"]).contains("config check")
    );
    sandbox.ok(&["config", "set", "sessions.lock_wait_ms", "500"]);
    assert_eq!(sandbox.run(&["config", "check"]).code, 0);
}

#[test]
fn the_config_editor_saves_and_checks() {
    let sandbox = Sandbox::ready();
    let mut command = sandbox.command(&["config", "edit"]);
    sandbox.write("../editor.sh", "echo 'timezone: Europe/Berlin' >> \"$1\"\n");
    let editor = format!("sh {}", sandbox.folder().join("editor.sh").display());
    let ran = Ran::of(&command.env("EDITOR", editor).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(sandbox.ok(&["config", "get", "timezone"]), "Europe/Berlin\n");
}

#[test]
fn a_provider_is_refused_until_one_can_be_asked() {
    let sandbox = Sandbox::ready();
    let before = sandbox.read("config.yaml");
    sandbox.fails(&["config", "set", "memory.provider", "honcho"], 5, &["honcho", "hermes import"]);
    assert_eq!(sandbox.read("config.yaml"), before);
    sandbox.write("config.yaml", "memory:\n  provider: honcho\n");
    sandbox.fails(&["memory", "search", "x"], 1, &["memory.provider", "honcho"]);
    let check = sandbox.run(&["config", "check"]);
    assert_eq!(check.code, 6, "{}", check.stdout);
    assert!(check.stdout.contains("config unset memory.provider"), "{}", check.stdout);
    sandbox.ok(&["config", "unset", "memory.provider"]);
    sandbox.ok(&["memory", "search", "x"]);
    // In a home of Hermes Agent it is that program's to ask.
    sandbox.write("config.yaml", "_config_version: 1\nmemory:\n  provider: honcho\n");
    sandbox.ok(&["memory", "search", "x"]);
    sandbox.ok(&["config", "check"]);
}
