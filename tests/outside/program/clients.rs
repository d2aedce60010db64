//! Programs that others wrote, talking to this one: the MCP client and a tester of the API's own page.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::listening::Listening;
use crate::sandbox::Sandbox;

/// The Python with the client packages; `./test` installs it.
fn python() -> PathBuf {
    let named = std::env::vars().find(|(name, _)| name == "HERMES_TEST_CLIENTS");
    let path = PathBuf::from(named.map(|(_, value)| value).unwrap_or_default());
    assert!(path.exists(), "{} is missing: run `./test`", path.display());
    path
}

/// Runs a script beside this file and reads the JSON it prints.
fn script(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("program").join(name);
    let mut command = sandbox.command_of(&python(), &[]);
    command.arg(path).args(arguments).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {said}{error}");
    serde_json::from_str(said.lines().last().unwrap_or_default())
        .unwrap_or_else(|why| panic!("{name}: {why}: {said}{error}"))
}

#[test]
fn the_official_client_remembers_and_recalls_over_standard_input() {
    let sandbox = Sandbox::ready();
    let told = script(&sandbox, "mcp_client.py", &["stdio", env!("CARGO_BIN_EXE_hermes")]);
    check(&told);
    // What came this way says so.
    let facts = sandbox.json(&["memory", "fact", "list", "--all"]);
    let text = facts.to_string();
    assert!(text.contains("Porto") && text.contains("\"origin\":\"agent\""), "{facts}");
    let history = sandbox.json(&["memory", "fact", "history", "1"]);
    assert!(history.to_string().contains("\"actor\":\"mcp\""), "{history}");
}

#[test]
fn the_official_client_remembers_and_recalls_over_http() {
    let daemon = Listening::new();
    let url = format!("http://{}/mcp", daemon.address);
    check(&script(&daemon.sandbox, "mcp_client.py", &["http", &url, &daemon.token]));
}

fn check(told: &Value) {
    let tools: Vec<&str> =
        told["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let order = [
        "memory_search",
        "memory_context",
        "memory_get",
        "memory_add",
        "memory_update",
        "memory_forget",
        "memory_history",
        "session_search",
        "memory_reflect",
        "memory_status",
    ];
    assert_eq!(tools, order);
    assert!(told["found"].as_str().unwrap().contains("Porto"), "{told}");
    assert!(told["context"].as_str().unwrap().contains("Porto"), "{told}");
    assert!(told["updated"].as_str().unwrap().contains("Lisbon"), "{told}");
    assert_eq!(told["after_forget"], "nothing found", "{told}");
    assert!(told["unknown_is_error"].as_bool().unwrap(), "{told}");
    assert_eq!(told["in_order"], true, "{told}");
    assert!(told["resource"].as_str().unwrap().contains('#'), "{told}");
    assert_eq!(told["read_only_hints"], 6, "{told}");
}

#[test]
fn the_page_of_the_api_says_what_it_does() {
    let daemon = Listening::new();
    daemon.sandbox.ok(&["memory", "fact", "add", "Rosa leads the shop team"]);
    let url = format!("http://{}", daemon.address);
    let told = script(&daemon.sandbox, "api_page.py", &[&url, &daemon.token]);
    assert_eq!(told["failures"], serde_json::json!([]), "{told}");
    assert!(told["calls"].as_u64().unwrap() > 100, "{told}");
}
