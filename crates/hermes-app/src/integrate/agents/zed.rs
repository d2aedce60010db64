//! Zed: a context server in settings.json.

use std::path::PathBuf;

use serde_json::json;

use super::{Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::Site;

pub(super) fn folder(site: &Site) -> PathBuf {
    site.settings().join("zed")
}

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let folder = if site.is_project() { site.project.join(".zed") } else { folder(site) };
    let mut server = site.program.server();
    // Versions before 2026 want to be told that no extension brings it.
    server["source"] = json!("custom");
    let server = Piece::new(Manner::Entry, &["context_servers", "hermes"], server);
    vec![Target::pieces(Part::Mcp, folder.join("settings.json"), Format::Json, vec![server])]
}
