//! hermes backup restore

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use hermes_backup::folder::{Backup, Event, Folder, Happened};
use hermes_backup::restore::{self, From, Part, Piece, Restored, Rollback};
use hermes_backup::seal::Keys;
use hermes_backup::sign::{Signed, Trust};
use hermes_home::layout::ChosenBy;
use hermes_home::{Home, atomic, profile};
use jiff::Timestamp;
use serde::Serialize;

use super::keys::Opening;
use super::rows;
use crate::cli::progress::Progress;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, GOOD, Listing, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::on_server::{self, Brought, Standing};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The backup: its id, a unique beginning of it, `latest`, or a file (also a zip of Hermes Agent or a
    /// plain tar of a home)
    #[arg(default_value = "latest")]
    backup: String,
    /// Unpack and check into this new folder, and leave the home alone
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["path", "skill", "session", "rollback"])]
    to: Option<PathBuf>,
    /// Only this file or folder, by its path below the home; can be given several times
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Only this skill; can be given several times
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,
    /// Only this session; can be given several times
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Only single rows of the databases: messages, facts and other texts that are not what was written, and
    /// messages that are missing at the end; shows them first
    #[arg(long, conflicts_with_all = ["to", "path", "skill", "session", "replace", "replace_memory", "rollback"])]
    rows: bool,
    /// Put the file or skill in its place; what is there is kept aside
    #[arg(long)]
    replace: bool,
    /// Where the server of a memory still has one: put the backup's in its place, and keep that under another name
    #[arg(long, conflicts_with_all = ["to", "path", "skill", "session"])]
    replace_memory: bool,
    /// Take an archive that nobody signed, or that another home signed; asks first
    #[arg(long)]
    accept_unsigned: bool,
    /// The key that signed the backup, as it stands on the recovery kit
    #[arg(long, value_name = "FINGERPRINT", conflicts_with = "accept_unsigned")]
    signed_by: Option<String>,
    /// Put back the home or profile that the last restore moved aside; says first what that is
    #[arg(long, conflicts_with_all = ["backup", "path", "skill", "session", "replace", "replace_memory"])]
    rollback: bool,
    #[command(flatten)]
    opening: Opening,
    /// The folder of backups [default: the one of the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Done {
    home: PathBuf,
    kept_aside: Option<PathBuf>,
    files: u64,
    backup: Option<String>,
    /// Memories on servers, and whether each is back.
    memories: Vec<Brought>,
    remarks: Vec<String>,
}

/// What a restore had moved aside is back.
#[derive(Debug, Serialize)]
struct Back {
    home: PathBuf,
    kept_aside: Option<PathBuf>,
    remarks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct BroughtPart {
    what: String,
    path: PathBuf,
    kept_aside: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    if arguments.rollback {
        return roll_back(app, &wanted);
    }
    let profile = named_profile(app)?;
    let chosen = archive(arguments, &wanted, profile.as_deref())?;
    let trusted = trusted(arguments, app, &wanted, &chosen)?;
    if arguments.rows {
        return rows::run(app, &wanted, &arguments.opening, (&chosen, trusted.of(&wanted)));
    }
    let parts = arguments.parts(profile.as_deref())?;
    if !parts.is_empty() {
        return bring(arguments, app, &wanted, (&chosen, trusted.of(&wanted)), &parts);
    }
    if arguments.to.is_none() {
        may_replace(app, &wanted, &chosen)?;
    }
    let mut progress = Progress::of(app);
    let to = arguments.to.as_deref().map(std::path::absolute).transpose()?;
    let mut done = arguments.opening.with(app, &wanted, |keys| {
        let from = chosen.from(keys, trusted.of(&wanted), app.now);
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        match &to {
            Some(folder) => restore::to_folder(&from, folder, tell),
            None => restore::whole(&from, &wanted.home, tell),
        }
    })?;
    progress.end();
    let moved = done.aside.is_some();
    let mut memories = Vec::new();
    if to.is_none() {
        let standing = match arguments.replace_memory {
            true => Standing::GoesAside,
            false => Standing::Stays,
        };
        let what = done.manifest.as_ref().map_or("all", |manifest| manifest.what.as_str());
        memories = on_server::bring_all(app, &wanted.home, what, standing);
        done.remarks.extend(moved_memories(app, &wanted.home));
        let lost = keep_schedule(&done, &wanted.home);
        done.remarks.extend(lost);
    }
    if to.is_none() && wanted.folder.path().is_dir() {
        let id = done.manifest.as_ref().map(|manifest| manifest.id.clone());
        let detail = done.at.display().to_string();
        let what = Happened::Restored;
        let noted = wanted.folder.note(&Event { at: app.now, what, id, place: None, detail });
        // The home is back: that the history could not be written is no failure of it.
        done.remarks.extend(noted.err().map(|error| error.to_string()));
    }
    let is_partly = memories.iter().any(Brought::has_failed);
    app.out.show(&Done { memories, ..Done::of(done) })?;
    if moved {
        app.out.hint("undo it with `hermes backup restore --rollback`");
    }
    Ok(if is_partly { Outcome::Partial } else { Outcome::Done })
}

/// Asks before a home that is there is replaced.
fn may_replace(app: &Terminal, wanted: &Wanted, chosen: &Chosen) -> anyhow::Result<()> {
    let home = wanted.home.root();
    if home.symlink_metadata().is_err() {
        return Ok(());
    }
    let question = format!(
        "replace {} by {}? (what is there now is moved aside, not deleted)",
        home.display(),
        chosen.path.file_name().unwrap_or_default().to_string_lossy()
    );
    confirm::consent(app.asking, &question)
}

/// Says what would be undone, then undoes it. Whole homes and profiles are put back; of single files and skills it
/// is said where they lie.
fn roll_back(app: &mut Terminal, wanted: &Wanted) -> anyhow::Result<Outcome> {
    let root = wanted.home.root().display();
    // A restore that was cut off is undone first, whatever lies aside.
    let plan = restore::rollback_plan(&wanted.home);
    if let Ok(Rollback { parts, .. }) = &plan {
        for part in parts {
            app.out.note(format_args!(
                "not undone by this, since it is one thing alone: {} (put it back with mv)",
                part.display()
            ));
        }
    }
    let question = match &plan {
        Ok(Rollback { what: Some(what), from: Some(from), .. }) => format!(
            "put back {what} of {root} from {}? (what is there now is moved aside)",
            from.display()
        ),
        _ => format!("put back what the last restore of {root} moved aside?"),
    };
    confirm::consent(app.asking, &question)?;
    let aside = on_server::kept_aside(&wanted.home);
    let mut done = restore::rollback(&wanted.home, app.now)?;
    done.remarks.extend(on_server::put_back(app, &wanted.home, &aside));
    app.out.show(&Back { home: done.at, kept_aside: done.aside, remarks: done.remarks })?;
    Ok(Outcome::Done)
}

fn bring(
    arguments: &Arguments,
    app: &mut Terminal,
    wanted: &Wanted,
    (chosen, trust): (&Chosen, Trust<'_>),
    parts: &[Part],
) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut progress = Progress::of(app);
    let pieces = arguments.opening.with(app, wanted, |keys: &Keys| {
        let from = chosen.from(keys, trust, app.now);
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        restore::parts(&from, parts, &home, arguments.replace, tell)
    })?;
    progress.end();
    let results = pieces.into_iter().map(BroughtPart::of).collect();
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

/// The archive that is meant, the hash it must have, and who signed what stands beside it.
pub(super) struct Chosen {
    pub(super) path: PathBuf,
    sha256: Option<String>,
    signed: Signed,
}

impl Chosen {
    fn of(backup: Option<Backup>, path: PathBuf) -> Chosen {
        let signed = backup.as_ref().map_or(Signed::No, |one| one.signed.clone());
        let sha256 = backup.and_then(|one| one.sidecar).map(|sidecar| sidecar.sha256);
        Chosen { path, sha256, signed }
    }

    pub(super) fn from<'a>(&'a self, keys: &'a Keys, trust: Trust<'a>, now: Timestamp) -> From<'a> {
        let signed = self.signed.clone();
        From { archive: &self.path, sha256: self.sha256.as_deref(), keys, signed, trust, now }
    }
}

/// Whose archives are taken, as the person said.
enum Trusted {
    Anybody,
    Home,
    Compared(String),
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

/// Asks about an archive that this home did not sign. A home that never signed a backup is a new machine: there the key
/// of another is shown, and a person compares it with the recovery kit.
fn trusted(
    arguments: &Arguments,
    app: &Terminal,
    wanted: &Wanted,
    chosen: &Chosen,
) -> anyhow::Result<Trusted> {
    let name = chosen.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if arguments.accept_unsigned {
        let question = format!("take {name} ({})? nothing shows who made it", chosen.signed.said());
        confirm::consent(app.asking, &question)?;
        return Ok(Trusted::Anybody);
    }
    if let Some(key) = &arguments.signed_by {
        return Ok(Trusted::Compared(key.clone()));
    }
    match &chosen.signed {
        Signed::Other(key) if !wanted.folder.signers().has_made_any() => {
            app.out.note(format_args!("{name} is signed with the key {key}"));
            let question =
                format!("is {key} the key on your recovery kit? (else somebody else made {name})");
            confirm::consent(app.asking, &question)?;
            Ok(Trusted::Compared(key.clone()))
        }
        _ => Ok(Trusted::Home),
    }
}

/// The archive that is meant.
fn archive(
    arguments: &Arguments,
    wanted: &Wanted,
    profile: Option<&str>,
) -> anyhow::Result<Chosen> {
    let file = Path::new(&arguments.backup);
    if file.is_file() {
        let absolute = std::path::absolute(file)?;
        let at = |parent| Folder::at(parent).signed_by(wanted.folder.signers().clone());
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = absolute.parent().map(at).and_then(|folder| folder.find(&name).ok());
        return Ok(Chosen::of(known, absolute));
    }
    if arguments.backup.contains('/') {
        let missing = format!("could not find {}: there is no such file", file.display());
        return Err(Problem::new(Kind::NotFound, missing)
            .hint("see them all with `hermes backup list`")
            .into());
    }
    let found = match arguments.backup.as_str() {
        // One that is damaged or failed its check is restored only when it is named.
        "latest" => latest_good(wanted, profile, arguments.is_part())?,
        id => wanted.folder.find(id)?,
    };
    if let Some(profile) = profile.filter(|name| *name != found.name.what && !arguments.is_part()) {
        let what = format!("backup {} holds more than profile {profile}", found.name.id());
        return Err(Problem::new(Kind::Refused, what)
            .hint("leave out --profile to bring back all of it, or name single things with --path")
            .into());
    }
    let path = found.path.clone();
    Ok(Chosen::of(Some(found), path))
}

/// The profile that was named on the command line.
fn named_profile(app: &App) -> anyhow::Result<Option<String>> {
    let home = app.home()?;
    let is_named = home.chosen_by() == ChosenBy::Flag;
    Ok(is_named.then(|| home.profile_name().to_owned()))
}

fn latest_good(wanted: &Wanted, profile: Option<&str>, is_part: bool) -> anyhow::Result<Backup> {
    let is_wanted = |one: &Backup| match profile {
        Some(name) => one.name.what == name || (is_part && one.name.what == "all"),
        None => one.name.what == "all",
    };
    let is_good = |one: &Backup| !one.name.damaged && one.failed.is_none() && is_wanted(one);
    wanted.folder.latest(is_good)?.ok_or_else(|| {
        let folder = wanted.folder.path().display();
        let of = profile.map_or_else(|| "the whole home".to_owned(), |name| format!("profile {name}"));
        Problem::new(Kind::NotFound, format!("could not find a good backup of {of} in {folder}"))
            .hint("name one of `hermes backup list` or a file, or fetch one with `hermes backup pull`")
            .into()
    })
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
    kept.err().map(|error| format!("the schedule of backups is not kept: {error}"))
}

/// Memories that were kept outside of the home lie in it now, and the settings name the old place.
pub(super) fn moved_memories(app: &App, root: &Home) -> Vec<String> {
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
                "{} is here, but memory.path names {}: copy it there, or `hermes config unset memory.path`",
                here.display(),
                named.display()
            )
        })
    };
    homes.filter_map(remark).collect()
}

impl Arguments {
    fn is_part(&self) -> bool {
        self.rows || !(self.path.is_empty() && self.skill.is_empty() && self.session.is_empty())
    }

    /// Paths are below the home, or below the profile that was named.
    fn parts(&self, profile: Option<&str>) -> Result<Vec<Part>, Problem> {
        let profile = profile.filter(|name| *name != "default");
        if let (Some(name), Some(skill)) = (profile, self.skill.first()) {
            return Err(Problem::usage("--skill looks in the home itself")
                .hint(format!("for a profile: --path skills/{skill} with --profile {name}")));
        }
        let below = |path: &String| match profile {
            Some(name) if !path.starts_with("profiles/") => format!("profiles/{name}/{path}"),
            _ => path.clone(),
        };
        let paths = self.path.iter().map(below).map(Part::Path);
        let skills = self.skill.iter().cloned().map(Part::Skill);
        let sessions = self.session.iter().cloned().map(Part::Session);
        Ok(paths.chain(skills).chain(sessions).collect())
    }
}

impl Done {
    fn of(restored: Restored) -> Done {
        Done {
            home: restored.at,
            kept_aside: restored.aside,
            files: restored.files,
            backup: restored.manifest.map(|manifest| manifest.id),
            memories: Vec::new(),
            remarks: restored.remarks,
        }
    }
}

impl BroughtPart {
    fn of(piece: Piece) -> BroughtPart {
        BroughtPart { what: piece.what, path: piece.at, kept_aside: piece.aside }
    }
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!(
            "{GOOD}restored{GOOD:#} {} to {BOLD}{}{BOLD:#}",
            counted(self.files, "file"),
            self.home.display()
        ))?;
        if let Some(id) = &self.backup {
            page.line(format_args!("  backup     {id}"))?;
        }
        if let Some(aside) = &self.kept_aside {
            page.line(format_args!("  before     kept in {}", aside.display()))?;
        }
        for memory in &self.memories {
            page.line(format_args!("  memory     {}", memory.said()))?;
        }
        for remark in &self.remarks {
            page.line(format_args!("  {DIM}note{DIM:#}       {remark}"))?;
        }
        Ok(())
    }
}

impl Show for Back {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{GOOD}undone{GOOD:#}  {BOLD}{}{BOLD:#}", self.home.display()))?;
        if let Some(aside) = &self.kept_aside {
            page.line(format_args!("  restored   kept in {}", aside.display()))?;
        }
        for remark in &self.remarks {
            page.line(format_args!("  {DIM}note{DIM:#}       {remark}"))?;
        }
        Ok(())
    }
}

impl Show for Listing<BroughtPart> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            page.line(format_args!(
                "{GOOD}restored{GOOD:#} {} as {}",
                one.what,
                one.path.display()
            ))?;
            if let Some(aside) = &one.kept_aside {
                page.line(format_args!("  before     kept in {}", aside.display()))?;
            }
        }
        Ok(())
    }
}
