//! Hermes Agent: a memory provider in its folder of plugins, chosen in config.yaml, and the server.

use hermes_home::config::is_hermes_agent_config;
use serde_json::json;

use super::{Content, Part, Target};
use crate::integrate::edit::{Format, Manner, Piece};
use crate::integrate::site::Site;

/// What the provider is called; a home of ours takes it for none.
pub const PROVIDER: &str = "hermes_memory";

const CODE: &str = include_str!("../plugin/hermes_memory.py");
const MANIFEST: &str = include_str!("../plugin/plugin.yaml");

pub(super) fn targets(site: &Site) -> Vec<Target> {
    let home = &site.agent_home;
    let folder = home.join("plugins").join(PROVIDER);
    let ours = |name: &str, text: String| Target {
        part: Part::Hooks,
        path: folder.join(name),
        content: Content::Whole(text),
    };
    let provider = Piece::new(Manner::Setting, &["memory", "provider"], json!(PROVIDER));
    let server = Piece::new(Manner::Entry, &["mcp_servers", PROVIDER], site.program.server());
    let mut pieces = Vec::new();
    pieces.extend(site.hooks.then_some(provider));
    pieces.extend(site.mcp.then_some(server));
    let part = if site.mcp { Part::Mcp } else { Part::Hooks };
    let mut targets =
        vec![ours("__init__.py", CODE.to_owned()), ours("plugin.yaml", MANIFEST.to_owned())];
    if site.home.folder() != home {
        // The plugin takes the home it runs in for ours unless it is told.
        let place = json!({"root": site.home.root(), "profile": site.home.profile_name()});
        targets.push(ours("place.json", format!("{place}\n")));
    }
    targets.push(Target::pieces(part, home.join("config.yaml"), Format::Yaml, pieces));
    targets
}

/// Why its settings cannot be written: there are none, or they are those of a home of ours, which would not know them.
pub(super) fn obstacle(site: &Site) -> Option<String> {
    let home = &site.agent_home;
    let config = std::fs::read_to_string(home.join("config.yaml")).unwrap_or_default();
    let is_ours = home.join("hermesd/home.json").exists() && !is_hermes_agent_config(&config);
    let is_none = is_ours || !home.is_dir();
    is_none.then(|| format!("there is no home of Hermes Agent at {}", home.display()))
}

pub(super) fn is_detected(site: &Site) -> bool {
    if obstacle(site).is_some() {
        return false;
    }
    let config = std::fs::read_to_string(site.agent_home.join("config.yaml")).unwrap_or_default();
    is_hermes_agent_config(&config)
        || site.agent_home.join("hermes-agent").is_dir()
        || site.agent_home.join("sessions/sessions.json").is_file()
        || site.has_program(&["hermes-agent"])
}
