//! Calls of tools: what was called, in few words.

use hermes_store::memory::Step;
use serde_json::Value;

/// The tool and the first words of its command: `bash cargo test`, or the tool alone.
pub(crate) fn command_head(step: &Step) -> String {
    let arguments = parsed(step);
    match command_of(&arguments) {
        Some(command) => head(command).to_lowercase(),
        None => step.tool.to_lowercase(),
    }
}

/// What a tool was called with.
pub(crate) fn parsed(step: &Step) -> Value {
    let plain = || Value::String(step.arguments.clone());
    serde_json::from_str(&step.arguments).unwrap_or_else(|_| plain())
}

/// The command among it, if there is one.
pub(crate) fn command_of(arguments: &Value) -> Option<&str> {
    let map = match arguments {
        Value::String(text) => return Some(text),
        Value::Object(map) => map,
        _ => return None,
    };
    ["command", "cmd", "script"].iter().find_map(|name| map.get(*name)?.as_str())
}

/// The program and its subcommand: `cargo test` of `cargo test --all`.
pub(crate) fn head(command: &str) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    match words.next().filter(is_plain) {
        Some(sub) => format!("{program} {sub}"),
        None => program.to_owned(),
    }
}
