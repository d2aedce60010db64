//! OpenClaw: the server in openclaw.json, which people write in a loose JSON.

use std::path::PathBuf;

use super::{Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::Site;

pub(super) fn folder(site: &Site) -> PathBuf {
    site.folder("OPENCLAW_STATE_DIR", ".openclaw")
}

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let path = match site.env.get("OPENCLAW_CONFIG_PATH") {
        Some(said) => site.expand(said),
        None => folder(site).join("openclaw.json"),
    };
    let server = Piece::new(Manner::Entry, &["mcp", "servers", "hermes"], site.program.server());
    vec![Target::pieces(Part::Mcp, path, Format::LooseJson, vec![server])]
}

pub(super) fn by_hand(site: &Site) -> String {
    format!("openclaw mcp set hermes '{}'", site.program.server())
}
