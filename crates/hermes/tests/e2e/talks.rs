//! What is said to the program: conversations with a model on the loopback, and turns that other programs report.

use std::io::Write as _;
use std::process::Stdio;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::model_server::{KEY, ModelServer};
use crate::sandbox::{Ran, Sandbox};

/// Talks: each line is a message; every provider is at the server.
pub(crate) fn talk(
    sandbox: &Sandbox,
    server: &ModelServer,
    arguments: &[&str],
    lines: &[&str],
) -> Ran {
    let all: Vec<&str> = ["chat"].into_iter().chain(arguments.iter().copied()).collect();
    let mut command = sandbox.command(&all);
    server.point(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(KEY));
    ran
}

/// One question and its answer.
pub(crate) fn ask(sandbox: &Sandbox, server: &ModelServer, question: &str) -> Ran {
    let ran = talk(sandbox, server, &["-q", question], &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran
}

/// The transcripts of the home, as any program would open them.
pub(crate) fn state(sandbox: &Sandbox) -> Connection {
    sandbox.database("state.db")
}

/// What `--json` printed, an event a line.
pub(crate) fn events(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn turn(sandbox: &Sandbox, turn: &Value) -> Value {
    let ran = sandbox.feed(&["memory", "turn", "-", "--json"], turn.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["results"][0].clone()
}

pub(crate) fn said(session: &str, asked: &str, answered: &str) -> Value {
    json!({"session_id": session, "messages": [
        {"role": "user", "text": asked}, {"role": "assistant", "text": answered}]})
}

/// The texts that a search of the memory finds.
pub(crate) fn found(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let all = [&["memory", "search", "--type", "episodes"][..], arguments].concat();
    let results = sandbox.json(&all)["results"].as_array().unwrap().clone();
    results.iter().map(|hit| hit["text"].as_str().unwrap().to_owned()).collect()
}
