//! VS Code: a server in the user's or the project's mcp.json.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::Site;

pub(super) fn folder(site: &Site) -> PathBuf {
    let settings = match cfg!(target_os = "macos") {
        true => site.user.join("Library/Application Support"),
        false => site.settings(),
    };
    settings.join("Code").join("User")
}

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let folder = if site.is_project() { site.project.join(".vscode") } else { folder(site) };
    let mut server = json!({"type": "stdio"});
    if let (Value::Object(into), Value::Object(more)) = (&mut server, site.program.server()) {
        into.extend(more);
    }
    let server = Piece::new(Manner::Entry, &["servers", "hermes"], server);
    vec![Target::pieces(Part::Mcp, folder.join("mcp.json"), Format::Json, vec![server])]
}
