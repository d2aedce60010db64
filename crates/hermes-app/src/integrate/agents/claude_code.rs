//! Claude Code: hooks in settings.json, the server in .claude.json or the project's .mcp.json.

use std::path::{Path, PathBuf};

use hermes_home::env::Env;
use serde_json::{Value, json};

use super::{Part, Target, events};
use crate::integrate::edit::{Format, Manner, Piece, read};
use crate::integrate::emit::PLUGIN;
use crate::integrate::site::Site;
use crate::integrate::{ours, plan};

pub(super) fn folder(site: &Site) -> PathBuf {
    site.folder("CLAUDE_CONFIG_DIR", ".claude")
}

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let line = site.program.hook_line("claude-code");
    let hooks = events().iter().map(|(event, matcher, timeout)| {
        Piece::new(Manner::Element, &["hooks", event], group(&line, *matcher, *timeout))
    });
    let mut server = json!({"type": "stdio"});
    merge(&mut server, site.program.server());
    let server = Piece::new(Manner::Entry, &["mcpServers", "hermes"], server);
    vec![
        Target::pieces(Part::Hooks, settings(site), Format::Json, hooks.collect()),
        Target::pieces(Part::Mcp, servers(site), Format::Json, vec![server]),
    ]
}

/// A plugin of ours that is switched on.
pub(super) fn plugin(site: &Site) -> Option<PathBuf> {
    let is_on = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let settings = read(Format::Json, &text).unwrap_or_default();
        let plugins = settings["enabledPlugins"].as_object().cloned().unwrap_or_default();
        let is_it = |(name, on): (&String, &Value)| {
            name.split('@').next() == Some(PLUGIN) && on.as_bool() != Some(false)
        };
        plugins.iter().any(is_it)
    };
    let project = site.project.join(".claude");
    let places = [folder(site), project.clone()].map(|place| place.join("settings.json"));
    places.into_iter().chain([project.join("settings.local.json")]).find(is_on)
}

/// The commands of ours that a hook of Claude Code is configured with, in a project and for the user.
pub fn hook_commands(env: &Env) -> Vec<Vec<String>> {
    let project = env.get("CLAUDE_PROJECT_DIR").map(|folder| Path::new(folder).join(".claude"));
    let user = env.user_folder().ok().flatten().map(|folder| folder.join(".claude"));
    let user = env.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).or(user);
    let names = ["settings.local.json", "settings.json"];
    let folders = project.into_iter().chain(user);
    let files = folders.flat_map(|folder| names.map(|name| folder.join(name)));
    let commands = files.flat_map(|file| {
        let text = plan::read(&file).ok().flatten().unwrap_or_default();
        let settings = read(Format::Json, &text).unwrap_or_default();
        ours::commands(&settings["hooks"])
    });
    commands.map(|command| command.words).collect()
}

/// One line for a shell: versions before 2.1.147 know no `args`, and would call the bare program. Not `async`: what
/// is still running when `claude -p` ends is killed.
fn group(line: &str, matcher: Option<&str>, timeout: u64) -> Value {
    let hook = json!({"type": "command", "command": line, "timeout": timeout});
    match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
        None => json!({"hooks": [hook]}),
    }
}

fn settings(site: &Site) -> PathBuf {
    let folder = if site.is_project() { site.project.join(".claude") } else { folder(site) };
    folder.join("settings.json")
}

fn servers(site: &Site) -> PathBuf {
    match (site.is_project(), site.env.get("CLAUDE_CONFIG_DIR")) {
        (true, _) => site.project.join(".mcp.json"),
        (false, Some(_)) => folder(site).join(".claude.json"),
        (false, None) => site.user.join(".claude.json"),
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
