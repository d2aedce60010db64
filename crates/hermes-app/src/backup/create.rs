//! Making a backup of a home.

use std::path::PathBuf;

use hermes_backup::contents::{Contents, Entry, Scope, What};
use hermes_backup::create::{self, Created, Request};
use hermes_backup::lacking;
use hermes_backup::manifest::{File, Kind as FileKind, LeftOut};
use hermes_backup::name::Compression;
use hermes_backup::seal::Sealing;
use serde::Serialize;

use super::on_server::{Dump, Taken};
use super::wanted::{self, MADE_BY, Outside, Wanted};
use crate::app::App;
use crate::platform;
use crate::problem::message;
use crate::progress::Progress;

/// What backup is wanted.
pub struct NewBackup {
    /// The root home with all profiles, even if a profile is named.
    pub all: bool,
    /// How it is made smaller.
    pub compression: Compression,
    /// How it is encrypted.
    pub sealing: Sealing,
    /// What it is called.
    pub label: Option<String>,
}

/// A backup that was made and read back.
#[derive(Debug, Serialize)]
pub struct BackupMade {
    /// Its id.
    pub id: String,
    /// The archive.
    pub path: PathBuf,
    /// Its length.
    pub size: u64,
    /// How many files are in it.
    pub files: u64,
    /// How many databases were copied whole and checked.
    pub databases: u64,
    /// How much it is before packing.
    pub bytes: u64,
    /// The keys that open it.
    pub encrypted_to: Vec<String>,
    /// Whether it was read back.
    pub verified: bool,
    /// What was damaged in the home, or lost from it.
    pub damaged: Vec<String>,
    /// Memories on servers, and how each was taken.
    pub memories: Vec<Taken>,
    /// How many things stayed out.
    pub left_out: usize,
    /// Links to folders: what they lead to is not in it.
    pub links_left_out: Vec<String>,
    /// What people should know about it.
    pub remarks: Vec<String>,
    /// CPU seconds that the checks of the copied databases took.
    pub checking_seconds: f64,
    /// The command that opens it.
    pub open_with: String,
}

/// What would go into a backup, and what would stay out.
#[derive(Debug, Serialize)]
pub struct BackupPlan {
    /// How much goes in.
    pub bytes: u64,
    /// What goes in.
    pub included: Vec<Included>,
    /// What stays out, and why.
    pub left_out: Vec<LeftOut>,
}

/// Something that goes into a backup.
#[derive(Debug, Serialize)]
pub struct Included {
    /// Where it is below the home.
    pub path: String,
    /// `file`, `folder`, `database` or `damaged`.
    pub kind: &'static str,
    /// Its length.
    pub size: u64,
}

impl NewBackup {
    /// As the settings say: of everything, encrypted to their keys. Refused where they name none.
    pub fn by_settings(app: &App, wanted: &Wanted) -> anyhow::Result<NewBackup> {
        let sealing = wanted.sealing(app)?.ok_or(hermes_backup::Error::NotEncrypted)?;
        Ok(NewBackup { all: true, compression: wanted.compression(), sealing, label: None })
    }
}

/// A home that cannot be written is backed up all the same; the archive is signed once there is a key.
pub fn begin_signing(app: &App, wanted: &mut Wanted) {
    if let Err(error) = wanted.begin_signing() {
        app.note(format_args!("this backup is not signed: {}", message(&error)));
    }
}

/// Makes a backup and reads it back.
pub fn make(app: &App, wanted: &Wanted, new: &NewBackup) -> anyhow::Result<BackupMade> {
    let ready = Ready::of(app, wanted, new, Some(Dump::IfPossible))?;
    let progress = Progress::of(app);
    let created = create::create(&ready.request(app)?, &mut |step| progress.step(&step))?;
    Ok(BackupMade { memories: ready.outside.taken, ..BackupMade::of(created) })
}

/// Looks at what a backup would hold, and makes nothing.
pub fn plan(app: &App, wanted: &Wanted, new: &NewBackup) -> anyhow::Result<BackupPlan> {
    let ready = Ready::of(app, wanted, new, None)?;
    Ok(BackupPlan::of(create::plan(&ready.request(app)?)?))
}

/// What a backup is made from.
struct Ready<'a> {
    wanted: &'a Wanted,
    new: &'a NewBackup,
    scope: Scope,
    outside: Outside,
    host: String,
}

impl<'a> Ready<'a> {
    fn of(
        app: &App,
        wanted: &'a Wanted,
        new: &'a NewBackup,
        dump: Option<Dump>,
    ) -> anyhow::Result<Ready<'a>> {
        let scope = wanted::scope(app, new.all)?;
        let outside = wanted.outside(app, &scope, dump)?;
        Ok(Ready { wanted, new, scope, outside, host: platform::host() })
    }

    fn request(&self, app: &App) -> anyhow::Result<Request<'_>> {
        Ok(Request {
            home: &self.wanted.home,
            scope: self.scope.clone(),
            folder: &self.wanted.folder,
            compression: self.new.compression,
            sealing: &self.new.sealing,
            label: self.new.label.clone(),
            exclude: &self.wanted.settings.exclude,
            outside: &self.outside.files,
            follow_links: self.wanted.settings.follow_links,
            secrets: true,
            made_by: MADE_BY,
            host: &self.host,
            now: app.now,
            tag: platform::random_number()?,
        })
    }
}

impl BackupMade {
    fn of(created: Created) -> BackupMade {
        let Created { backup, manifest, remarks, checking, .. } = created;
        let is_damaged = |file: &&File| file.kind == FileKind::Damaged;
        let damaged = manifest.files.iter().filter(is_damaged).map(|file| &file.path);
        let lost = manifest.left_out.iter().filter(|left| left.why == lacking::LOST);
        let mut damaged: Vec<String> =
            damaged.chain(lost.map(|left| &left.path)).cloned().collect();
        if backup.name.damaged {
            let differing = manifest.databases.iter().filter(|one| !one.differing.is_empty());
            damaged.extend(differing.map(|one| one.path.clone()));
        }
        let sidecar = backup.sidecar;
        BackupMade {
            id: backup.name.id(),
            path: backup.path,
            size: backup.size,
            files: sidecar.as_ref().map_or(0, |sidecar| sidecar.files),
            databases: sidecar.as_ref().map_or(0, |sidecar| sidecar.databases),
            bytes: sidecar.as_ref().map_or(0, |sidecar| sidecar.bytes),
            encrypted_to: sidecar.as_ref().map(|s| s.encrypted_to.clone()).unwrap_or_default(),
            verified: backup.verified.is_some(),
            damaged,
            memories: Vec::new(),
            left_out: manifest.left_out.len(),
            links_left_out: manifest.links_left_out().map(str::to_owned).collect(),
            remarks,
            checking_seconds: checking.as_secs_f64(),
            open_with: sidecar.map(|sidecar| sidecar.open_with).unwrap_or_default(),
        }
    }
}

impl BackupPlan {
    /// What a look at the home found.
    pub fn of(contents: Contents) -> BackupPlan {
        let included = |entry: Entry| Included {
            path: entry.path,
            size: entry.size,
            kind: match entry.what {
                What::Folder => "folder",
                What::File => "file",
                What::Database => "database",
                What::Damaged => "damaged",
            },
        };
        let included: Vec<Included> = contents.entries.into_iter().map(included).collect();
        let bytes = included.iter().map(|one| one.size).sum();
        BackupPlan { bytes, included, left_out: contents.left_out }
    }
}
