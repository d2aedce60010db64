//! Codex: hooks in hooks.json, the server in config.toml.

use std::path::PathBuf;

use serde_json::json;

use super::{Part, Target, events};
use crate::integrate::edit::{Format, Manner, Piece, read};
use crate::integrate::emit::PLUGIN;
use crate::integrate::site::Site;

pub(super) fn folder(site: &Site) -> PathBuf {
    site.folder("CODEX_HOME", ".codex")
}

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let folder = if site.is_project() { site.project.join(".codex") } else { folder(site) };
    let line = site.program.hook_line("codex");
    let hooks = events().iter().map(|(event, matcher, timeout)| {
        let mut group =
            json!({"hooks": [{"type": "command", "command": line, "timeout": timeout}]});
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        Piece::new(Manner::Element, &["hooks", event], group)
    });
    let mut server = site.program.server();
    server["startup_timeout_sec"] = json!(10);
    let server = Piece::new(Manner::Entry, &["mcp_servers", "hermes"], server);
    vec![
        Target::pieces(Part::Hooks, folder.join("hooks.json"), Format::Json, hooks.collect()),
        Target::pieces(Part::Mcp, folder.join("config.toml"), Format::Toml, vec![server]),
    ]
}

/// A plugin of ours that is switched on.
pub(super) fn plugin(site: &Site) -> Option<PathBuf> {
    let path = folder(site).join("config.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let settings = read(Format::Toml, &text).unwrap_or_default();
    let plugins = settings["plugins"].as_object().cloned().unwrap_or_default();
    let is_on = plugins.iter().any(|(name, plugin)| {
        name.split('@').next() == Some(PLUGIN) && plugin["enabled"].as_bool() != Some(false)
    });
    is_on.then_some(path)
}
