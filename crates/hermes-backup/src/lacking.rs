//! Databases that a home has lost: a backup without them is kept and never counts as a good one.

use hermes_home::databases::{self, Database, Noted};
use hermes_home::{Home, ProfileName, profile};

use crate::Result;
use crate::contents::{Contents, Scope};
use crate::manifest::LeftOut;

/// Why a database that the home is known to have is not in a backup.
pub const LOST: &str = "it existed before and is missing from the home";

/// The databases that the part of the home is known to have and that are not among its contents.
pub(crate) fn lost(home: &Home, scope: &Scope, contents: &Contents) -> Result<Vec<LeftOut>> {
    let mut lost = Vec::new();
    for home in homes(home, scope)? {
        let noted = Noted::read(&home);
        for database in [Database::State, Database::Memory] {
            let name = database.file_name();
            let path = match home.profile() {
                None => name.to_owned(),
                Some(profile) => format!("profiles/{profile}/{name}"),
            };
            let Some(seen) = noted.seen(database) else { continue };
            // One that is left out for another reason is there, and so is one that was made just now.
            let is_listed = contents.entries.iter().any(|entry| entry.path == path)
                || contents.left_out.iter().any(|left| left.path == path);
            if !is_listed && !databases::place(&home, seen).exists() {
                lost.push(LeftOut { path, why: LOST.to_owned() });
            }
        }
    }
    Ok(lost)
}

fn homes(home: &Home, scope: &Scope) -> Result<Vec<Home>> {
    let profiles = |names: Vec<ProfileName>| -> Vec<Home> {
        names.into_iter().map(|name| home.sibling(Some(name))).collect()
    };
    Ok(match scope {
        Scope::All => {
            let mut all = profiles(profile::list(home)?);
            all.push(home.sibling(None));
            all
        }
        Scope::Profile(name) => vec![home.sibling(hermes_home::layout::parse_profile(name)?)],
    })
}
