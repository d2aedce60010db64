//! goose: an extension in config.yaml.

use serde_json::json;

use super::{Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::Site;

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let path = site.settings().join("goose").join("config.yaml");
    let extension = json!({
        "enabled": true,
        "type": "stdio",
        "name": "hermes",
        "description": "What is remembered from earlier sessions",
        "cmd": site.program.path,
        "args": site.program.mcp(),
        "timeout": 300,
    });
    let extension = Piece::new(Manner::Entry, &["extensions", "hermes"], extension);
    vec![Target::pieces(Part::Mcp, path, Format::Yaml, vec![extension])]
}
