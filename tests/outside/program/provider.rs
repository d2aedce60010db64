//! The provider plugin inside the real Hermes Agent.

use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn python() -> PathBuf {
    let named =
        std::env::vars().find(|(name, _)| name == "HERMES_TEST_PEER").map(|(_, value)| value);
    let path = PathBuf::from(named.unwrap_or_default());
    assert!(path.exists(), "{} is missing: run `./test`", path.display());
    path
}

/// Runs a command of `provider.py` in the home and returns what it says.
fn agent(sandbox: &Sandbox, command: &str) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/program/provider.py");
    let mut process = sandbox.command_of(&python(), &[script, command]);
    let output = process.env("HERMES_HOME", sandbox.home()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command}: {text}{errors}");
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// A home of Hermes Agent with the plugin in it.
fn connected() -> Sandbox {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", "_config_version: 3\nmemory:\n  memory_char_limit: 2200\n");
    sandbox.ok(&["integrate", "hermes-agent", "--yes"]);
    sandbox
}

#[test]
fn hermes_agent_loads_the_plugin_and_every_call_reaches_the_api() {
    let sandbox = connected();
    let said = agent(&sandbox, "whole");
    assert_eq!((&said["chosen"], &said["found"]), (&"hermes_memory".into(), &true.into()));
    assert!(said["recalled"].as_str().unwrap().contains("Porto"), "{said}");
    assert!(said["recalled_length"].as_u64().unwrap() <= 10_000);
    assert_eq!((&said["again"], &said["contexts"]), (&true.into(), &1.into()));
    assert!(said["trivial"].as_array().unwrap().iter().all(|text| text == ""));
    let seen = said["seen"].as_array().unwrap();
    let calls: Vec<String> = seen
        .iter()
        .map(|call| {
            format!("{} {}", call["method"].as_str().unwrap(), call["path"].as_str().unwrap())
        })
        .collect();
    for call in ["POST /api/v1/turns", "POST /api/v1/facts", "POST /api/v1/facts/fact:7/supersede"]
    {
        assert!(calls.iter().any(|seen| seen == call), "{call} in {calls:?}");
    }
    assert!(calls.iter().any(|call| call.starts_with("DELETE /api/v1/facts/")), "{calls:?}");
    assert!(seen.iter().all(|call| call["token"] == "Bearer secret-token"));
    let turn = seen.iter().find(|call| call["path"] == "/api/v1/turns").unwrap();
    assert_eq!(turn["body"]["from"], "hermes-agent");
    let roles: Vec<&str> = turn["body"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert!(seen.iter().any(|call| call["body"]["ended"] == true));
}

#[test]
fn without_the_daemon_nothing_is_lost_and_nothing_waits() {
    let sandbox = connected();
    let said = agent(&sandbox, "whole");
    // After three failures it is left alone.
    assert_eq!(said["asked_while_down"], 3, "{}", said["asked_while_down"]);
    assert_eq!(said["recalled_while_down"], "");
    assert!(said["tool_while_down"]["error"].as_str().unwrap().contains("cannot be reached"));
    assert!(said["seconds_down"].as_f64().unwrap() < 8.0);
    assert_eq!(said["spooled"].as_array().unwrap().len(), 7, "{}", said["spooled"]);
    let caught = sandbox.ok(&["memory", "catch-up"]);
    let found = sandbox.json(&["memory", "search", "question 4 of many"]).to_string();
    assert!(found.contains("question 4 of many"), "{caught} {found}");
    // A turn of Hermes Agent is not written to its transcripts again.
    assert_eq!(sandbox.json(&["sessions", "list"])["results"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_a_schedule_says_is_nobodys_words() {
    let sandbox = connected();
    let said = agent(&sandbox, "silent");
    assert_eq!((&said["recalled"], &said["spooled"]), (&"".into(), &0.into()));
    let turns = said["turn"].as_array().unwrap();
    assert_eq!(turns.len(), 1, "{said}");
    assert_eq!((&turns[0]["identity"], &turns[0]["channel"]), (&"u-9".into(), &"telegram".into()));
    // Whoever speaks in a channel never gets at what is the owner's: every call says who it is.
    let calls = said["seen"].as_array().unwrap();
    assert_eq!(calls.len(), 2, "{said}");
    assert!(calls.iter().all(|call| call["body"]["identity"] == "u-9"), "{said}");
    assert!(said["found"]["text"].as_str().unwrap().contains("Porto"), "{said}");
    assert!(said["forgotten"]["error"].as_str().unwrap().contains("owner"), "{said}");
}

#[test]
fn what_one_session_of_hermes_agent_says_another_recalls_through_the_daemon() {
    let sandbox = connected();
    sandbox.ok(&["start"]);
    let told = agent(&sandbox, "live");
    assert!(told["recalled"].as_str().unwrap().contains("Doctor Almeida"), "{told}");
    assert!(told["found"].to_string().contains("Doctor Almeida"), "{told}");
    assert_eq!(told["spooled"], 0, "{told}");
}

#[test]
fn a_turn_that_does_not_get_into_the_home_waits_outside_and_is_taken_in() {
    let sandbox = connected();
    agent(&sandbox, "outside");
    let outside = sandbox.folder().join(".local/state/hermes/spool");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
    }
    let found = sandbox.json(&["memory", "search", "dinghy"]).to_string();
    assert!(found.contains("At the pier."), "{found}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}
