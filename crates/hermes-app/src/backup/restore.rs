//! Bringing back: a whole home, parts of one, into a folder beside it; and undoing that.

use std::path::{Path, PathBuf};

use hermes_backup::folder::{Backup, Event, Folder, Happened};
use hermes_backup::restore::{self, From, Part, Piece, Restored};
use hermes_backup::sign::{Signed, Trust};
use hermes_home::{Home, atomic, profile};
use serde::Serialize;

use super::on_server::{self, Brought, Standing};
use super::opening::Opening;
use super::wanted::Wanted;
use crate::app::App;
use crate::problem::{Kind, Problem};
use crate::progress::Progress;

/// The archive that is meant, the hash it must have, and who signed what stands beside it.
pub struct Chosen {
    /// The archive.
    pub path: PathBuf,
    sha256: Option<String>,
    /// Who signed it.
    pub signed: Signed,
}

/// Whose archives are taken.
pub enum Trusted {
    /// Anybody's: a person said so.
    Anybody,
    /// Those that this home signed.
    Home,
    /// Also those of this key, which a person compared.
    Compared(String),
}

/// An archive, and what it is opened and judged with.
pub struct Source<'a> {
    /// The home and its folder of backups.
    pub wanted: &'a Wanted,
    /// The archive.
    pub chosen: &'a Chosen,
    /// Whose archives are taken.
    pub trusted: &'a Trusted,
    /// What opens it.
    pub opening: &'a Opening<'a>,
}

/// What was brought back.
#[derive(Debug, Serialize)]
pub struct HomeRestored {
    /// Where it is now.
    pub home: PathBuf,
    /// Where lies what was there before.
    pub kept_aside: Option<PathBuf>,
    /// How many files.
    pub files: u64,
    /// The backup.
    pub backup: Option<String>,
    /// Memories on servers, and whether each is back.
    pub memories: Vec<Brought>,
    /// What people should know.
    pub remarks: Vec<String>,
}

/// What a restore had moved aside is back.
#[derive(Debug, Serialize)]
pub struct RolledBack {
    /// The home.
    pub home: PathBuf,
    /// Where lies what the restore had brought.
    pub kept_aside: Option<PathBuf>,
    /// What people should know.
    pub remarks: Vec<String>,
}

/// One thing that was brought back alone.
#[derive(Debug, Serialize)]
pub struct PartRestored {
    /// What it is.
    pub what: String,
    /// Where it is now.
    pub path: PathBuf,
    /// Where lies what was there before.
    pub kept_aside: Option<PathBuf>,
}

/// Finds the archive that is meant: a file, an id of the folder of backups, or `latest`. With a profile, what holds more
/// than that is refused unless only parts of it are wanted.
pub fn choose(
    wanted: &Wanted,
    named: &str,
    profile: Option<&str>,
    is_part: bool,
) -> anyhow::Result<Chosen> {
    let file = Path::new(named);
    if file.is_file() {
        let absolute = std::path::absolute(file)?;
        let at = |parent| Folder::at(parent).signed_by(wanted.folder.signers().clone());
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = absolute.parent().map(at).and_then(|folder| folder.find(&name).ok());
        return Ok(Chosen::of(known, absolute));
    }
    if named.contains('/') {
        let missing = format!("could not find {}: there is no such file", file.display());
        return Err(Problem::new(Kind::NotFound, missing)
            .hint("`hermes backup list` shows all backups")
            .into());
    }
    let found = match named {
        // One that is damaged or failed its check is restored only when it is named.
        "latest" => latest_good(wanted, profile, is_part)?,
        id => wanted.folder.find(id)?,
    };
    if let Some(profile) = profile.filter(|name| *name != found.name.what && !is_part) {
        let what = format!("backup {} contains more than profile {profile}", found.name.id());
        return Err(Problem::new(Kind::Refused, what)
            .hint("omit --profile to restore all of it, or restore single items with --path")
            .into());
    }
    let path = found.path.clone();
    Ok(Chosen::of(Some(found), path))
}

fn latest_good(wanted: &Wanted, profile: Option<&str>, is_part: bool) -> anyhow::Result<Backup> {
    let is_wanted = |one: &Backup| match profile {
        Some(name) => one.name.what == name || (is_part && one.name.what == "all"),
        None => one.name.what == "all",
    };
    let is_good = |one: &Backup| !one.name.damaged && one.failed.is_none() && is_wanted(one);
    wanted.folder.latest(is_good)?.ok_or_else(|| {
        let folder = wanted.folder.path().display();
        let of =
            profile.map_or_else(|| "the whole home".to_owned(), |name| format!("profile {name}"));
        Problem::new(
            Kind::NotFound,
            format!("could not find a verified backup of {of} in {folder}"),
        )
        .hint(
            "choose one of `hermes backup list` or a file, or fetch one with `hermes backup \
                 pull`",
        )
        .into()
    })
}

impl Source<'_> {
    pub(crate) fn open<T>(
        &self,
        app: &App,
        mut deed: impl FnMut(&From<'_>) -> hermes_backup::Result<T>,
    ) -> anyhow::Result<T> {
        self.opening.with(app, self.wanted, |keys| {
            deed(&From {
                archive: &self.chosen.path,
                sha256: self.chosen.sha256.as_deref(),
                keys,
                signed: self.chosen.signed.clone(),
                trust: self.trusted.of(self.wanted),
                now: app.now,
            })
        })
    }
}

/// Unpacks and checks into a new folder; the home is left alone.
pub fn to_folder(app: &App, source: &Source<'_>, folder: &Path) -> anyhow::Result<HomeRestored> {
    let (progress, folder) = (Progress::of(app), std::path::absolute(folder)?);
    let restored = source.open(app, |from| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        restore::to_folder(from, &folder, tell)
    })?;
    Ok(HomeRestored::of(restored, Vec::new()))
}

/// Puts a backup in the place of the home; what was there is moved aside.
pub fn whole(app: &App, source: &Source<'_>, standing: Standing) -> anyhow::Result<HomeRestored> {
    let (progress, wanted) = (Progress::of(app), source.wanted);
    let mut done = source.open(app, |from| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        restore::whole(from, &wanted.home, tell)
    })?;
    drop(progress);
    let what = done.manifest.as_ref().map_or("all", |manifest| manifest.what.as_str());
    let memories = on_server::bring_all(app, &wanted.home, what, standing);
    done.remarks.extend(moved_memories(app, &wanted.home));
    let lost = keep_schedule(&done, &wanted.home);
    done.remarks.extend(lost);
    if wanted.folder.path().is_dir() {
        let id = done.manifest.as_ref().map(|manifest| manifest.id.clone());
        let detail = done.at.display().to_string();
        let what = Happened::Restored;
        let noted = wanted.folder.note(&Event { at: app.now, what, id, place: None, detail });
        // The home is back: that the history could not be written is no failure of it.
        done.remarks.extend(noted.err().map(|error| error.to_string()));
    }
    Ok(HomeRestored::of(done, memories))
}

/// Brings back single files, skills and sessions.
pub fn parts(
    app: &App,
    source: &Source<'_>,
    parts: &[Part],
    replace: bool,
) -> anyhow::Result<Vec<PartRestored>> {
    let (home, progress) = (app.existing_home()?, Progress::of(app));
    let pieces = source.open(app, |from| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        restore::parts(from, parts, &home, replace, tell)
    })?;
    let part =
        |piece: Piece| PartRestored { what: piece.what, path: piece.at, kept_aside: piece.aside };
    Ok(pieces.into_iter().map(part).collect())
}

/// Puts back what the last restore moved aside.
pub fn roll_back(app: &App, wanted: &Wanted) -> anyhow::Result<RolledBack> {
    let aside = on_server::kept_aside(&wanted.home);
    let mut done = restore::rollback(&wanted.home, app.now)?;
    done.remarks.extend(on_server::put_back(app, &wanted.home, &aside));
    Ok(RolledBack { home: done.at, kept_aside: done.aside, remarks: done.remarks })
}

/// What belongs to this machine and is in no backup: who makes backups every night. Says if it could not be kept.
fn keep_schedule(done: &Restored, home: &Home) -> Option<String> {
    let schedule = home.backup_schedule();
    let below = schedule.strip_prefix(home.root()).ok()?;
    let bytes = std::fs::read(done.aside.as_ref()?.join(below)).ok()?;
    if schedule.exists() {
        return None;
    }
    let kept = atomic::write_private(&schedule, &bytes);
    kept.err().map(|error| format!("the backup schedule was not restored: {error}"))
}

/// Memories that were kept outside of the home lie in it now, and the settings name the old place.
pub fn moved_memories(app: &App, root: &Home) -> Vec<String> {
    let names = profile::list(root).unwrap_or_default();
    let homes =
        [None].into_iter().chain(names.into_iter().map(Some)).map(|name| root.sibling(name));
    let remark = |home: Home| {
        let here = home.folder().join("memory.db");
        let own = app.for_profile(&home);
        let named = own.memory_path(&home).ok()?;
        let is_elsewhere = !named.starts_with(root.root()) && here.exists();
        is_elsewhere.then(|| {
            format!(
                "{} is here, but memory.path is {}: copy it there, or run `hermes config unset \
                 memory.path`",
                here.display(),
                named.display()
            )
        })
    };
    homes.filter_map(remark).collect()
}

impl Chosen {
    fn of(backup: Option<Backup>, path: PathBuf) -> Chosen {
        let signed = backup.as_ref().map_or(Signed::No, |one| one.signed.clone());
        let sha256 = backup.and_then(|one| one.sidecar).map(|sidecar| sidecar.sha256);
        Chosen { path, sha256, signed }
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Trusted {
    fn of<'a>(&'a self, wanted: &'a Wanted) -> Trust<'a> {
        let signers = wanted.folder.signers();
        match self {
            Trusted::Anybody => Trust::Anybody,
            Trusted::Home => Trust::Home(signers),
            Trusted::Compared(key) => Trust::Compared(signers, key),
        }
    }
}

impl HomeRestored {
    fn of(restored: Restored, memories: Vec<Brought>) -> HomeRestored {
        HomeRestored {
            home: restored.at,
            kept_aside: restored.aside,
            files: restored.files,
            backup: restored.manifest.map(|manifest| manifest.id),
            memories,
            remarks: restored.remarks,
        }
    }
}
