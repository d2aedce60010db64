//! hermes profile export, import: one profile as an archive that is carried elsewhere

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use hermes_backup::contents::Scope;
use hermes_backup::create::{self as backup, Request};
use hermes_backup::export::{self, Exported};
use hermes_backup::folder::Folder;
use hermes_backup::manifest::Kind as FileKind;
use hermes_backup::restore::{self, From, Import as Wish, Imported};
use hermes_backup::seal::Sealing;
use hermes_backup::sign::{Signed, Trust};
use hermes_home::layout::parse_profile;
use hermes_home::profile;
use serde::Serialize;

use super::create::{Encryption, Smaller};
use super::keys::Opening;
use crate::failure::Outcome;
use crate::output::{BOLD, CARE, DIM, GOOD, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::create::BackupPlan;
use hermes_app::backup::on_server::{self, Brought, Dump, Standing};
use hermes_app::backup::restore::moved_memories;
use hermes_app::backup::wanted::{self, MADE_BY, Wanted};
use hermes_app::platform;
use hermes_app::problem::{Kind, Problem};
use hermes_app::progress::Progress;
use hermes_app::text::{bytes, counted};

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Profile to export; `default` is the home itself without its profiles
    name: String,
    /// File to write, or folder to write to [default: the current folder]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Compression [default: backup.compression]
    #[arg(long, value_enum)]
    compression: Option<Smaller>,
    #[command(flatten)]
    encryption: Encryption,
    /// Leave out .env, login files and keys; without encryption they are always left out
    #[arg(long)]
    without_secrets: bool,
    /// Show what would be included and what would not, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Exported profile, or with --profile any backup that contains it
    file: PathBuf,
    /// Name of the imported profile [default: the name it had]
    #[arg(long, value_name = "NEW")]
    name: Option<String>,
    #[command(flatten)]
    opening: Opening,
    /// Unpack and check the file and show what would be imported, and keep nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Written {
    profile: String,
    path: PathBuf,
    size: u64,
    files: u64,
    databases: u64,
    bytes: u64,
    encrypted_to: Vec<String>,
    secrets_left_out: Vec<String>,
    damaged: Vec<String>,
    remarks: Vec<String>,
    sha256: String,
    open_with: String,
}

#[derive(Debug, Serialize)]
struct Taken {
    profile: String,
    was: String,
    path: PathBuf,
    files: u64,
    bytes: u64,
    dry_run: bool,
    remarks: Vec<String>,
}

pub(crate) fn export(arguments: &Export, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read(app, None)?;
    wanted.home.must_exist()?;
    if let Some(name) = parse_profile(&arguments.name)? {
        profile::existing(&wanted.home, &name)?;
    }
    let scope = Scope::Profile(arguments.name.clone());
    let dump = (!arguments.dry_run).then_some(Dump::No);
    let outside = wanted.outside(app, &scope, dump)?;
    let sealing = match arguments.dry_run {
        true => Sealing::Plain,
        false => arguments.encryption.sealing(app, &wanted)?,
    };
    let (folder, file) = place(arguments.to.as_deref())?;
    let folder = Folder::at(&folder);
    let request = Request {
        home: &wanted.home,
        scope,
        folder: &folder,
        compression: Smaller::of(arguments.compression, &wanted),
        sealing: &sealing,
        label: None,
        exclude: &wanted.settings.exclude,
        outside: &outside.files,
        follow_links: wanted.settings.follow_links,
        secrets: !arguments.without_secrets && !arguments.encryption.is_plain(),
        made_by: MADE_BY,
        host: &platform::host(),
        now: app.now,
        tag: platform::random_number()?,
    };
    if arguments.dry_run {
        app.out.show(&BackupPlan::of(backup::plan(&request)?))?;
        return Ok(Outcome::Done);
    }
    let progress = Progress::of(app);
    let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
    let exported = export::export(&request, file.as_deref(), tell)?;
    drop(progress);
    let written = Written::of(&arguments.name, exported);
    app.out.show(&written)?;
    app.out.hint("import it on the other machine with `hermes profile import FILE`");
    Ok(if written.damaged.is_empty() { Outcome::Done } else { Outcome::Findings })
}

/// The folder that is written to, and the file in it if one was named.
fn place(to: Option<&Path>) -> anyhow::Result<(PathBuf, Option<PathBuf>)> {
    let Some(to) = to else { return Ok((std::path::absolute(".")?, None)) };
    let to = std::path::absolute(to)?;
    if to.is_dir() {
        return Ok((to, None));
    }
    if to.symlink_metadata().is_ok() {
        let what = format!("{} already exists and is not overwritten", to.display());
        return Err(Problem::new(Kind::Refused, what)
            .hint("choose another file with `--to FILE`")
            .into());
    }
    match to.parent().filter(|folder| folder.is_dir()) {
        Some(folder) => Ok((folder.to_owned(), Some(to.clone()))),
        None => {
            let what = format!("could not write {}: there is no such folder", to.display());
            Err(Problem::new(Kind::NotFound, what).into())
        }
    }
}

pub(crate) fn import(arguments: &Import, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, None)?;
    wanted.home.must_exist()?;
    if !arguments.file.is_file() {
        let missing = format!("could not find {}: there is no such file", arguments.file.display());
        return Err(Problem::new(Kind::NotFound, missing).into());
    }
    let archive = std::path::absolute(&arguments.file)?;
    let sha256 = sha256_beside(&archive);
    let wish = Wish {
        profile: app.named_profile(),
        name: arguments.name.as_deref(),
        dry_run: arguments.dry_run,
    };
    let progress = Progress::of(app);
    let imported = arguments.opening.with(app, |opening| {
        opening.with(app, &wanted, |keys| {
            // A profile of another home is what is carried: the person names the file.
            let (signed, trust) = (Signed::No, Trust::Anybody);
            let sha256 = sha256.as_deref();
            let from = From { archive: &archive, sha256, keys, signed, trust, now: app.now };
            let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
            restore::profile(&from, wish, &wanted.home, tell)
        })
    })?;
    drop(progress);
    let mut taken = Taken::of(imported, arguments.dry_run);
    if !arguments.dry_run {
        let brought = on_server::bring_all(app, &wanted.home, &taken.profile, Standing::Stays);
        taken.remarks.extend(brought.iter().map(Brought::said));
        taken.remarks.extend(memory_elsewhere(app, &wanted, &taken.profile));
    }
    app.out.show(&taken)?;
    if !arguments.dry_run {
        let name = &taken.profile;
        app.out.hint(format_args!(
            "use it with `hermes --profile {name} …` or `hermes profile use {name}`"
        ));
    }
    Ok(Outcome::Done)
}

/// The settings came along and may keep the memory at the place of the profile that was exported.
fn memory_elsewhere(app: &App, wanted: &Wanted, name: &str) -> Vec<String> {
    let folder = wanted.home.profiles().join(name).display().to_string();
    let mut remarks = moved_memories(app, &wanted.home);
    remarks.retain(|remark| remark.starts_with(&folder));
    remarks
}

/// What stands beside an archive says what its hash must be.
fn sha256_beside(archive: &Path) -> Option<String> {
    let name = archive.file_name()?.to_str()?;
    let known = Folder::at(archive.parent()?).find(name).ok()?;
    known.sidecar.map(|sidecar| sidecar.sha256)
}

impl Written {
    fn of(profile: &str, exported: Exported) -> Written {
        let Exported { path, sidecar, manifest, secrets_left_out, remarks } = exported;
        let damaged = manifest.files.into_iter().filter(|file| file.kind == FileKind::Damaged);
        Written {
            profile: profile.to_owned(),
            path,
            size: sidecar.size,
            files: sidecar.files,
            databases: sidecar.databases,
            bytes: sidecar.bytes,
            encrypted_to: sidecar.encrypted_to,
            secrets_left_out,
            damaged: damaged.map(|file| file.path).collect(),
            remarks,
            sha256: sidecar.sha256,
            open_with: sidecar.open_with,
        }
    }
}

impl Taken {
    fn of(imported: Imported, dry_run: bool) -> Taken {
        let Imported { profile, was, at, files, bytes, remarks, .. } = imported;
        Taken { profile, was, path: at, files, bytes, dry_run, remarks }
    }
}

impl Show for Written {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let profile = &self.profile;
        page.line(format_args!("{GOOD}exported and verified{GOOD:#}  {BOLD}{profile}{BOLD:#}"))?;
        page.line(format_args!("  file       {} ({})", self.path.display(), bytes(self.size)))?;
        page.line(format_args!(
            "  contains   {} with {} before compression, including checked copies of {}",
            counted(self.files, "file"),
            bytes(self.bytes),
            counted(self.databases, "database")
        ))?;
        let to = match self.encrypted_to.is_empty() {
            true => "no".to_owned(),
            false => format!("to {}", self.encrypted_to.join(", ")),
        };
        page.line(format_args!("  encrypted  {to}"))?;
        if !self.secrets_left_out.is_empty() {
            let names = self.secrets_left_out.join(", ");
            page.line(format_args!("  {CARE}secrets{CARE:#}    left out: {names}"))?;
        }
        for path in &self.damaged {
            page.line(format_args!("  {CARE}damaged{CARE:#}    {path}"))?;
        }
        for remark in &self.remarks {
            page.line(format_args!("  {DIM}note{DIM:#}       {remark}"))?;
        }
        page.line(format_args!("  open with  {}", self.open_with))
    }
}

impl Show for Taken {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let word = if self.dry_run { "would import" } else { "imported" };
        let was = match self.was == self.profile {
            true => String::new(),
            false => format!(" (it was called {})", self.was),
        };
        page.line(format_args!("{GOOD}{word}{GOOD:#}  {BOLD}{}{BOLD:#}{was}", self.profile))?;
        page.line(format_args!("  folder     {}", self.path.display()))?;
        page.line(format_args!(
            "  contains   {} with {}, each compared with the export",
            counted(self.files, "file"),
            bytes(self.bytes)
        ))?;
        for remark in &self.remarks {
            page.line(format_args!("  {DIM}note{DIM:#}       {remark}"))?;
        }
        Ok(())
    }
}
