//! Which backup has a database that is missing, and the command that brings it back.

use std::path::Path;

use hermes_backup::folder::Backup;
use hermes_backup::name::Format;
use hermes_home::Home;
use hermes_home::databases::{Database, Seen};

use super::wanted::{self, Wanted};
use crate::app::App;

/// The newest backup that has a database.
#[derive(Debug, Clone)]
pub struct Having {
    /// Its id.
    pub id: String,
    /// What brings the database back from it.
    pub command: String,
}

/// The newest good backup of the home that has a database; `place` is where that belongs.
pub fn newest(
    app: &App,
    home: &Home,
    database: Database,
    seen: Option<&Seen>,
    place: &Path,
) -> Option<Having> {
    let root = home.sibling(None);
    let wanted = wanted::read_anyway(&app.for_profile(&root), None).ok()?;
    let profile = home.profile_name();
    let is_good = |one: &Backup| {
        let is_of_it = one.name.what == "all" || one.name.what == profile;
        is_of_it && !one.name.damaged && one.failed.is_none()
    };
    // One that was made before the database was has another one, or none.
    let since = seen.and_then(|seen| seen.since);
    let has_it = |one: &Backup| is_good(one) && since.is_none_or(|since| one.made() >= since);
    let found = wanted.folder.latest(has_it).ok().flatten()?;
    let command = command(&wanted, &found, home, database, place);
    Some(Having { id: found.name.id(), command })
}

fn command(
    wanted: &Wanted,
    found: &Backup,
    home: &Home,
    database: Database,
    place: &Path,
) -> String {
    let name = database.file_name();
    let below = match home.profile() {
        None => name.to_owned(),
        Some(profile) => format!("profiles/{profile}/{name}"),
    };
    let has_passphrase = wanted.settings.passphrase_file.is_some()
        || found
            .sidecar
            .as_ref()
            .is_some_and(|sidecar| sidecar.encrypted_to.iter().any(|to| to.contains("passphrase")));
    let key = match found.name.format {
        Format::Gpg | Format::Age if !has_passphrase => " --identity FILE",
        _ => "",
    };
    let command = format!("hermes backup restore {} --path {below}{key}", found.name.id());
    let restored = home.folder().join(name);
    match restored == place {
        true => command,
        false => format!("{command} && mv {} {}", restored.display(), place.display()),
    }
}
