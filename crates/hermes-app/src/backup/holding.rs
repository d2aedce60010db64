//! Which backups of this home still hold somebody, and when the rules let each go.

use hermes_backup::erasure::{self, HeldBy, Nights, Rules};
use hermes_backup::folder::Folder;
use hermes_backup::retention::Policy;
use hermes_home::Home;
use jiff::Timestamp;

use crate::app::App;
use crate::backup::{record, wanted};

/// The folder of backups of this home, and every archive made of the profile since then, here and at places.
pub fn holding(app: &App, home: &Home, since: Timestamp) -> anyhow::Result<(Folder, Vec<HeldBy>)> {
    let wanted = wanted::read(app, None)?;
    let nights = match record::read(&wanted.home)? {
        None => None,
        Some(record) => record.next(app, &wanted.home)?.map(|next| Nights { next }),
    };
    let mut places: Vec<(String, Option<Policy>)> = Vec::new();
    for target in wanted.targets(None)? {
        places.push((target.place(), target.keep));
    }
    let (here, zone) = (wanted.policy()?, app.zone(&wanted.home)?);
    let rules = Rules { here: &here, places: &places, nights, zone: &zone, now: app.now };
    let held = erasure::holding(&wanted.folder, home.profile_name(), since, &rules)?;
    Ok((wanted.folder, held))
}

/// The folder of backups of this home.
pub fn folder(app: &App) -> anyhow::Result<Folder> {
    Ok(wanted::read(app, None)?.folder)
}
