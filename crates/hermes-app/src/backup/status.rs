//! How it stands with the backups of a home: the newest, the last drill, what is not well, whom it is told.

use std::path::PathBuf;

use hermes_backup::status::{self, About, Colour, Expected, Reason, Standing};
use hermes_home::Home;
use jiff::SignedDuration;
use serde::Serialize;

use super::wanted::{self, Wanted};
use super::{alert as told, due, record};
use crate::app::App;
use crate::problem::message;

/// How it stands with backups, and how they are made.
#[derive(Debug, Serialize)]
pub struct BackupStatus {
    /// How it stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// Where they are kept.
    pub folder: PathBuf,
    /// How they are encrypted, in words.
    pub encryption: String,
    /// The fingerprint of the key that signs them.
    pub signed_with: Option<String>,
    /// Where else they are sent.
    pub places: Vec<String>,
    /// When they are made, in words.
    pub schedule: String,
    /// Whether they are encrypted at all.
    #[serde(skip)]
    pub is_set_up: bool,
}

/// How it stands with the backups of the root home.
pub fn status(app: &App, wanted: &Wanted) -> anyhow::Result<BackupStatus> {
    let settings = &wanted.settings;
    Ok(BackupStatus {
        standing: standing(app, wanted)?,
        folder: wanted.folder.path().to_owned(),
        encryption: encryption(wanted),
        signed_with: wanted.folder.signers().fingerprint(),
        places: wanted.targets(None)?.into_iter().map(|target| target.name).collect(),
        schedule: match record::read(&wanted.home)? {
            None => "none: `hermes backup schedule install --daemon` sets one up".to_owned(),
            Some(noted) => format!("every night at {} by {}", noted.time, noted.by.word()),
        },
        is_set_up: !settings.recipients.is_empty() || settings.passphrase_file.is_some(),
    })
}

/// How it stands with the backups of a home; none where nobody set any up or made any.
pub fn of_home(app: &App, home: &Home) -> anyhow::Result<Option<Standing>> {
    let root = home.sibling(None);
    let app = app.for_profile(&root);
    let wanted = wanted::read(&app, None)?;
    let is_set_up = record::read(&root)?.is_some()
        || !wanted.settings.recipients.is_empty()
        || wanted.settings.passphrase_file.is_some();
    if !is_set_up && wanted.folder.list()?.is_empty() {
        return Ok(None);
    }
    standing(&app, &wanted).map(Some)
}

fn standing(app: &App, wanted: &Wanted) -> anyhow::Result<Standing> {
    let days = i64::from(wanted.settings.drill_days);
    let expected = Expected {
        interval: record::read(&wanted.home)?.map(|_| due::INTERVAL),
        drill_within: SignedDuration::from_hours(24 * days),
        places: wanted.targets(None)?.iter().map(|target| target.place()).collect(),
    };
    let (mut backups, history) = (wanted.folder.list()?, wanted.folder.history()?);
    let strange = status::strangers(&backups, &wanted.folder);
    // One profile alone is no backup of the home, and another home's is none of this one.
    backups.retain(|backup| backup.name.what == "all" && backup.counts_in(&wanted.folder));
    let mut standing = status::judge(&backups, &history, &expected, app.now);
    standing.reasons.extend(strange);
    let settings = &wanted.settings;
    if settings.recipients.is_empty() && settings.passphrase_file.is_none() {
        // Without encryption none is made.
        let is_age = |reason: &&mut Reason| reason.about == About::Age;
        let of_age = standing.reasons.iter_mut().filter(is_age);
        of_age.for_each(|reason| reason.hint = "`hermes backup setup`".to_owned());
    }
    if expected.interval.is_some() {
        standing.reasons.extend(cannot_encrypt(app, wanted));
    }
    // A folder that cannot be read is what the backup itself complains of.
    standing.reasons.extend(status::links(&wanted.links_left_out().unwrap_or_default()));
    let worst = standing.reasons.iter().map(|reason| reason.colour).max();
    standing.colour = worst.unwrap_or(standing.colour).max(standing.colour);
    Ok(standing)
}

/// The next backup will not be made if it cannot be encrypted.
fn cannot_encrypt(app: &App, wanted: &Wanted) -> Option<Reason> {
    let what = match wanted.sealing(app) {
        Ok(Some(_)) => return None,
        Ok(None) => "no encryption is set up: the next backup will fail".to_owned(),
        Err(error) => format!("the next backup will fail: {}", message(&error)),
    };
    let hint = "set it up again: `hermes backup setup`".to_owned();
    Some(Reason { colour: Colour::Red, about: About::Attempts, what, hint, place: None })
}

/// Tells about what is not well, once for each streak.
pub fn alert(app: &App, wanted: &Wanted, error: Option<String>) -> anyhow::Result<()> {
    let mut standing = standing(app, wanted).unwrap_or_else(|error| unseen(wanted, &error));
    let history = wanted.folder.history().unwrap_or_default();
    if let Some(error) = error {
        standing.colour = Colour::Red;
        // Where the folder cannot be written to, the history does not know of it.
        standing.failures = standing.failures.max(1);
        let hint = "try it: `hermes backup create`".to_owned();
        let (colour, about) = (Colour::Red, About::Attempts);
        let first = Reason { colour, about, what: error, hint, place: None };
        standing.reasons.insert(0, first);
    }
    for line in told::tell(wanted, &standing, &history, app.now)? {
        app.note(line);
    }
    Ok(())
}

/// How it stands where nobody can see: whoever waits for an alert must hear of it.
fn unseen(wanted: &Wanted, error: &anyhow::Error) -> Standing {
    let folder = wanted.folder.path().display();
    let what = format!("the backup folder could not be read: {}", message(error));
    let hint = format!("check {folder}: its disk must be mounted, and you must be able to read it");
    let (colour, about) = (Colour::Red, About::Folder);
    let reasons = vec![Reason { colour, about, what, hint, place: None }];
    Standing { colour, reasons, newest: None, drilled: None, failures: 0 }
}

/// How backups are encrypted, in words.
pub fn encryption(wanted: &Wanted) -> String {
    match (&wanted.settings.recipients, &wanted.settings.passphrase_file) {
        (keys, _) if !keys.is_empty() => format!("to {}", keys.join(", ")),
        (_, Some(file)) => format!("with the passphrase in {file}"),
        _ => "not set up".to_owned(),
    }
}
