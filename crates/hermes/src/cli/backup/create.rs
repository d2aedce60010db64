//! hermes backup create

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hermes_backup::name::Compression;
use hermes_backup::seal::{Sealing, keyring};
use hermes_home::config::PassphraseFormat;

use super::keys::{self, Phrase};
use super::push;
use crate::cli::one_of::{Word, one_of};
use crate::failure::Outcome;
use crate::output::{BOLD, CARE, DIM, GOOD, Page, Show};
use hermes_app::backup::create::{self, BackupMade, BackupPlan, NewBackup};
use hermes_app::backup::record::{self, Begin, By, Ended};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::backup::{prune, status};
use hermes_app::clock;
use hermes_app::problem::{Problem, message};
use hermes_app::text::{bytes, counted, thousands};

const BY: &[Word<By>] = &[
    ("systemd", "systemd timer", By::Systemd),
    ("cron", "crontab line", By::Cron),
    ("daemon", "Hermes daemon", By::Daemon),
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder to write the backup to [default: backup.folder, else beside the home]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
    /// Compression [default: backup.compression]
    #[arg(long, value_enum)]
    compression: Option<Smaller>,
    /// Back up the root home with all profiles, even if --profile is given
    #[arg(long)]
    all: bool,
    /// Name for the backup
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    encryption: Encryption,
    /// Show what would be included and what would not, and create nothing
    #[arg(long)]
    dry_run: bool,
    /// Then send the backup to the remotes in backup.targets
    #[arg(long)]
    push: bool,
    /// Then delete old backups by the retention rules
    #[arg(long)]
    prune: bool,
    /// Do what the schedule does: create a backup, send it to the remotes, delete old backups, alert on failure
    #[arg(long, value_parser = one_of(BY), value_name = "BY", conflicts_with_all = ["to", "label", "dry_run"])]
    scheduled: Option<By>,
}

/// How an archive is encrypted, if not as the settings say.
#[derive(Debug, Args)]
pub(crate) struct Encryption {
    /// Encrypt to this key instead of those in the settings: a fingerprint, or an age recipient; can be
    /// given several times
    #[arg(long, value_name = "KEY", conflicts_with = "plaintext")]
    encrypt_to: Vec<String>,
    #[command(flatten)]
    phrase: Phrase,
    /// Encrypt with a passphrase, which is prompted for unless --passphrase-file or --passphrase-fd is given
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["plaintext", "encrypt_to"])]
    passphrase: Option<Form>,
    /// Do not encrypt: anyone who has the file can read your keys and everything you said
    #[arg(long, conflicts_with_all = ["passphrase_file", "passphrase_fd"])]
    plaintext: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Smaller {
    Zstd,
    Gzip,
}

/// What a passphrase is used with.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Form {
    /// OpenPGP: `gpg --decrypt` opens it
    Gpg,
    /// age: `age --decrypt` opens it
    Age,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut wanted = wanted::read(app, arguments.to.as_deref())?;
    wanted.home.must_exist()?;
    if arguments.dry_run {
        // A plan needs no key.
        let planned = create::plan(app, &wanted, &arguments.new_backup(&wanted, Sealing::Plain))?;
        app.out.show(&planned)?;
        return Ok(Outcome::Done);
    }
    create::begin_signing(app, &mut wanted);
    if let Some(by) = arguments.scheduled {
        return scheduled(arguments, app, &wanted, by);
    }
    let mut outcome = make(arguments, app, &wanted)?;
    if arguments.push {
        outcome = outcome.worst(push::to_all(app, &wanted, None)?);
    }
    if arguments.prune {
        prune::by_settings(app, &wanted)?;
    }
    Ok(outcome)
}

/// Everything the schedule does; a failure is told before it is returned.
fn scheduled(
    arguments: &Arguments,
    app: &mut Terminal,
    wanted: &Wanted,
    by: By,
) -> anyhow::Result<Outcome> {
    if let Begin::Not(remark) = record::begin(app, &wanted.home, by)? {
        app.out.note(remark);
        return Ok(Outcome::Done);
    }
    let done = nightly(arguments, app, wanted);
    let (well, detail) = match &done {
        Ok(outcome) => (*outcome != Outcome::Findings, String::new()),
        Err(error) => (false, message(error)),
    };
    // None of these may keep the others from happening: that it failed must be told above all.
    let noted = record::finish(&wanted.home, Ended { at: clock::now(), well, detail });
    let told = status::alert(app, wanted, done.as_ref().err().map(message));
    for error in [noted.err(), told.err()].into_iter().flatten() {
        app.out.note(message(&error));
    }
    done
}

/// Makes one, sends it away, deletes what the rules let go.
fn nightly(arguments: &Arguments, app: &mut Terminal, wanted: &Wanted) -> anyhow::Result<Outcome> {
    let made = make(arguments, app, wanted)?;
    let pushed = push::to_all(app, wanted, None)?;
    if made == Outcome::Findings {
        return Ok(made);
    }
    prune::by_settings(app, wanted)?;
    Ok(pushed)
}

/// Makes one and shows it; a damaged home is a finding.
fn make(arguments: &Arguments, app: &mut Terminal, wanted: &Wanted) -> anyhow::Result<Outcome> {
    let sealing = arguments.encryption.sealing(app, wanted)?;
    let made = create::make(app, wanted, &arguments.new_backup(wanted, sealing))?;
    show(app, &made)?;
    Ok(if made.damaged.is_empty() { Outcome::Done } else { Outcome::Findings })
}

impl Arguments {
    fn new_backup(&self, wanted: &Wanted, sealing: Sealing) -> NewBackup {
        let compression = Smaller::of(self.compression, wanted);
        NewBackup { all: self.all, compression, sealing, label: self.label.clone() }
    }
}

impl Encryption {
    /// Whether plain text is wanted.
    pub(super) fn is_plain(&self) -> bool {
        self.plaintext
    }

    /// How it is encrypted; never in plain text unless that was said.
    pub(super) fn sealing(&self, app: &Terminal, wanted: &Wanted) -> anyhow::Result<Sealing> {
        if self.plaintext {
            return Ok(Sealing::Plain);
        }
        if !self.encrypt_to.is_empty() {
            return Ok(keyring::sealing_to(&wanted.keys(), &self.encrypt_to, app.now)?);
        }
        let given = self.phrase.given()?;
        let form = self.passphrase.map(Form::setting);
        match (given, form) {
            (Some(phrase), form) => Ok(wanted::with_passphrase(
                phrase,
                form.unwrap_or(wanted.settings.passphrase_format),
            )),
            (None, Some(form)) if keys::may_ask(app) => {
                Ok(wanted::with_passphrase(keys::prompt_new()?, form))
            }
            (None, Some(_)) => Err(Problem::usage(
                "a passphrase is needed, and there is no terminal to ask for it",
            )
            .hint("pass it with --passphrase-file FILE")
            .into()),
            (None, None) => {
                wanted.sealing(app)?.ok_or_else(|| hermes_backup::Error::NotEncrypted.into())
            }
        }
    }
}

impl Smaller {
    /// What was asked for, else what the settings say.
    pub(super) fn of(asked: Option<Smaller>, wanted: &Wanted) -> Compression {
        match asked {
            None => wanted.compression(),
            Some(Smaller::Zstd) => Compression::Zstd,
            Some(Smaller::Gzip) => Compression::Gzip,
        }
    }
}

fn show(app: &mut Terminal, made: &BackupMade) -> anyhow::Result<()> {
    app.out.show(made)?;
    for link in &made.links_left_out {
        app.out.note(format_args!(
            "{CARE}warning:{CARE:#} {link} is a link to a folder: the folder's contents are NOT in this backup"
        ));
    }
    if !made.links_left_out.is_empty() {
        app.out.hint("include them with `hermes config set backup.follow_links true`");
    }
    if !made.damaged.is_empty() {
        app.out
            .hint("a damaged database never counts as a good backup: see `hermes doctor --deep`");
    }
    Ok(())
}

impl Form {
    pub(super) fn setting(self) -> PassphraseFormat {
        match self {
            Form::Gpg => PassphraseFormat::Gpg,
            Form::Age => PassphraseFormat::Age,
        }
    }
}

impl Show for BackupMade {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let (style, word) = match self.damaged.is_empty() {
            true => (GOOD, "backup created and verified"),
            false => (CARE, "backup of a DAMAGED home"),
        };
        page.line(format_args!("{style}{word}{style:#}  {BOLD}{}{BOLD:#}", self.id))?;
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
        for memory in &self.memories {
            page.line(format_args!("  memory     {}", memory.said()))?;
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

impl Show for BackupPlan {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let files = self.included.iter().filter(|one| one.kind != "folder").count();
        for one in self.included.iter().filter(|one| one.kind != "folder") {
            page.line(format_args!(
                "{GOOD}in {GOOD:#}  {:>10}  {:<9} {}",
                bytes(one.size),
                one.kind,
                one.path
            ))?;
        }
        for one in &self.left_out {
            page.line(format_args!(
                "{DIM}out{DIM:#}  {:>10}  {:<9} {}: {}",
                "", "", one.path, one.why
            ))?;
        }
        page.line(format_args!(
            "{} with {} would be included, {} would not",
            counted(files as u64, "file"),
            bytes(self.bytes),
            thousands(self.left_out.len() as u64)
        ))
    }
}
