//! opencode: a local server in opencode.json or opencode.jsonc.

use serde_json::json;

use super::{Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::{Site, first_existing};

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let folder =
        if site.is_project() { site.project.clone() } else { site.settings().join("opencode") };
    let path = match site.env.get("OPENCODE_CONFIG").filter(|_| !site.is_project()) {
        Some(said) => site.expand(said),
        None => first_existing(vec![folder.join("opencode.json"), folder.join("opencode.jsonc")]),
    };
    let mut command = vec![site.program.path.clone()];
    command.extend(site.program.mcp());
    let server = json!({"type": "local", "command": command, "enabled": true});
    let server = Piece::new(Manner::Entry, &["mcp", "hermes"], server);
    vec![Target::pieces(Part::Mcp, path, Format::Json, vec![server])]
}
