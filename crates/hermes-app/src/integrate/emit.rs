//! A plugin folder for agents that install plugins: manifests, hooks, the server and a skill.

use std::path::{Path, PathBuf};

use hermes_home::atomic;
use serde_json::{Value, json};

use super::agents::events;
use super::program::Program;
use crate::problem::{Kind, Problem};

/// What the plugin is called.
pub const PLUGIN: &str = "hermes-memory";

const SKILL: &str = include_str!("plugin/skill.md");
const DESCRIPTION: &str =
    "What is remembered from earlier sessions, of every agent on this machine";

/// The files of the plugin with their texts.
pub fn files(program: &Program) -> Vec<(&'static str, String)> {
    let manifest = json!({
        "name": PLUGIN,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["memory", "recall"],
    });
    let mut open = json!({"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.json"});
    extend(&mut open, manifest.clone());
    let server = program.server();
    let mut typed = json!({"type": "stdio"});
    extend(&mut typed, server.clone());
    let servers = json!({"mcpServers": {"hermes": server}});
    let open_servers = json!({
        "$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.json",
        "mcpServers": {"hermes": typed},
    });
    let marketplace = json!({
        "name": "hermes",
        "owner": {"name": "hermes"},
        "plugins": [{"name": PLUGIN, "source": "./", "description": DESCRIPTION}],
    });
    vec![
        ("plugin.json", pretty(&open)),
        ("mcp.json", pretty(&open_servers)),
        (".mcp.json", pretty(&servers)),
        (".claude-plugin/plugin.json", pretty(&manifest)),
        (".claude-plugin/marketplace.json", pretty(&marketplace)),
        (".codex-plugin/plugin.json", pretty(&manifest)),
        (".cursor-plugin/plugin.json", pretty(&manifest)),
        ("hooks/hooks.json", pretty(&hooks(program))),
        ("skills/hermes-memory/SKILL.md", SKILL.to_owned()),
    ]
}

/// Writes the folder; one that holds something else is refused.
pub fn write(folder: &Path, program: &Program) -> anyhow::Result<Vec<PathBuf>> {
    let files = files(program);
    let is_foreign = |found: std::fs::DirEntry| {
        let name = found.file_name();
        !files.iter().any(|(path, _)| Path::new(path).iter().next() == Some(&name))
    };
    let mut found = folder.read_dir().into_iter().flatten().flatten();
    if let Some(other) = found.find_map(|entry| {
        let name = entry.file_name();
        is_foreign(entry).then_some(name)
    }) {
        let what = format!("{} contains other files: {}", folder.display(), other.display());
        return Err(Problem::new(Kind::Refused, what).hint("choose an empty folder").into());
    }
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            atomic::make_folder(parent)?;
        }
        atomic::write(&path, text.as_bytes())?;
        written.push(path);
    }
    Ok(written)
}

fn hooks(program: &Program) -> Value {
    let line = program.hook_line("claude-code");
    let mut all = serde_json::Map::new();
    for (event, matcher, timeout) in events() {
        let mut group =
            json!({"hooks": [{"type": "command", "command": line, "timeout": timeout}]});
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        all.insert((*event).to_owned(), json!([group]));
    }
    json!({"hooks": all})
}

fn extend(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
