//! Cursor: hooks.json and mcp.json, and in a project a rule, because the editor ignores what hooks say.

use std::path::PathBuf;

use serde_json::json;

use super::{Content, Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::Site;

/// The events that call us.
const EVENTS: &[&str] = &[
    "sessionStart",
    "beforeSubmitPrompt",
    "afterAgentResponse",
    "stop",
    "preCompact",
    "sessionEnd",
];

const RULE: &str = include_str!("../plugin/cursor-rule.mdc");

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let folder = folder(site);
    let line = site.program.hook_line("cursor");
    let mut hooks = vec![Piece::new(Manner::Default, &["version"], json!(1))];
    hooks.extend(
        EVENTS
            .iter()
            .map(|event| Piece::new(Manner::Element, &["hooks", event], json!({"command": line}))),
    );
    let server = Piece::new(Manner::Entry, &["mcpServers", "hermes"], site.program.server());
    let mut targets = vec![
        Target::pieces(Part::Hooks, folder.join("hooks.json"), Format::Json, hooks),
        Target::pieces(Part::Mcp, folder.join("mcp.json"), Format::Json, vec![server]),
    ];
    if site.is_project() {
        let path = folder.join("rules").join("hermes-memory.mdc");
        let content = Content::Whole(RULE.to_owned());
        targets.push(Target { part: Part::Hooks, path, content });
    }
    targets
}

fn folder(site: &Site) -> PathBuf {
    if site.is_project() { &site.project } else { &site.user }.join(".cursor")
}
