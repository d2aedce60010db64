//! The settings as the command line shows them: nothing secret, everything with its origin.

use serde::Serialize;

use crate::config::Config;
use crate::config::assemble::display;
use crate::config::keys::{self, KEYS, Key};
use crate::config::load::{Loaded, Origin};
use crate::error::{Error, Result};

/// One setting as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its full name.
    pub key: &'static str,
    /// Its value, secrets hidden; empty when there is none.
    pub value: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// The value it has when nothing is said; empty when there is none.
    pub default: String,
    /// What it does.
    pub doc: &'static str,
    /// Whether this build acts on it.
    pub acts: bool,
}

/// Every setting, in the order of the reference page.
pub fn list(loaded: &Loaded) -> Vec<Setting> {
    KEYS.iter().map(|key| setting(loaded, key)).collect()
}

/// One setting by its name, in snake_case or camelCase.
pub fn get(loaded: &Loaded, name: &str) -> Result<Setting> {
    keys::find(name).map(|key| setting(loaded, key)).ok_or_else(|| no_such_key(name))
}

/// The error for a name that no setting has.
pub(crate) fn no_such_key(name: &str) -> Error {
    Error::NoSuchSetting { key: name.to_owned(), nearest: keys::nearest(name) }
}

/// The default of a setting as text; empty when there is none.
pub(crate) fn default_of(defaults: &Config, key: &Key) -> String {
    let tree = serde_json::to_value(defaults).unwrap_or_default();
    display(key.segments().iter().fold(&tree, |value, part| &value[*part]))
}

fn setting(loaded: &Loaded, key: &Key) -> Setting {
    Setting {
        key: key.path,
        value: loaded.shown.get(key.path).cloned().unwrap_or_default(),
        origin: loaded.origins.get(key.path).cloned().unwrap_or(Origin::Default),
        default: default_of(&Config::defaults(loaded.owner), key),
        doc: key.doc,
        acts: key.acts,
    }
}
