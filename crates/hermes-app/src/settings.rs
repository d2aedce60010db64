//! Settings are changed: in config.yaml, or in .env for secrets; comments and order stay.

use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::config::{self, Origin, Unknown};
use hermes_home::secret::{self, Secret};
use serde::Serialize;

use crate::app::App;

/// What became of a setting.
#[derive(Debug, Serialize)]
pub struct SettingChange {
    /// Its name.
    pub key: String,
    /// The file that has it, or had it.
    pub file: PathBuf,
    /// What is true now, in a sentence.
    pub message: String,
}

/// Changes one setting in config.yaml.
pub fn set(
    app: &mut App,
    home: &Home,
    key: &str,
    value: &str,
    unknown: Unknown,
) -> anyhow::Result<SettingChange> {
    config::write_setting(home, app.owner(home)?, key, value, unknown)?;
    app.settings_changed();
    let now = app.config(home).and_then(|loaded| Ok(config::get(loaded, key)?));
    let message = match now {
        Ok(now) if matches!(now.origin, Origin::Environment { .. } | Origin::Flag) => {
            format!(
                "{} is set in config.yaml, but {} takes precedence",
                now.key,
                origin(&now.origin)
            )
        }
        Ok(now) => format!("{} is now {}", now.key, shown(&now.value)),
        Err(_) => format!("{key} is set; `hermes config check` shows the other problems"),
    };
    Ok(SettingChange { key: key.to_owned(), file: home.config(), message })
}

/// Keeps a secret in .env.
pub fn set_secret(home: &Home, name: &str, value: String) -> anyhow::Result<SettingChange> {
    secret::set_secret(home, name, &Secret::new(value))?;
    let message = format!("{name} is stored in {}", home.secrets().display());
    Ok(SettingChange { key: name.to_owned(), file: home.secrets(), message })
}

/// Removes a setting, so that its default holds, or a secret.
pub fn unset(app: &App, home: &Home, key: &str, unknown: Unknown) -> anyhow::Result<SettingChange> {
    let (was_there, file) = match secret::is_secret_name(key) {
        true => (secret::remove_secret(home, key)?, home.secrets()),
        false => (config::clear_setting(home, app.owner(home)?, key, unknown)?, home.config()),
    };
    let message = match was_there {
        true => format!("{key} was removed from {}", file.display()),
        false => format!("{key} is not in {}; nothing was changed", file.display()),
    };
    Ok(SettingChange { key: key.to_owned(), file, message })
}

/// Where a value comes from, in words.
pub fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => "the default".into(),
        Origin::File { path, line } => format!("{}:{line}", path.display()),
        Origin::Environment { name } => format!("the environment variable {name}"),
        Origin::Flag => "--set".into(),
    }
}

/// A value as it is shown.
pub fn shown(value: &str) -> &str {
    if value.is_empty() { "not set" } else { value }
}
