//! hermes backup setup: three questions, or flags

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hermes_backup::name::Format;
use hermes_backup::push;
use hermes_backup::remote;
use hermes_backup::seal::Passphrase;
use hermes_backup::seal::keyring::{self, NewKey};
use serde::Serialize;

use super::create::Form;
use super::keys::{self, Phrase};
use super::{key, schedule};
use crate::cli::service::manager::Reach;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{BAD, DIM, GOOD, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::backup::{record, status};
use hermes_app::platform;
use hermes_app::problem::{self, Problem};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Encrypt to this public key: a file, or an age recipient
    #[arg(long, value_name = "KEY", conflicts_with_all = ["passphrase_file", "new_key"])]
    encrypt_to: Option<String>,
    /// Create a new key pair, and write the private key to this file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    new_key: Option<PathBuf>,
    #[command(flatten)]
    phrase: Phrase,
    /// Format of the key or passphrase
    #[arg(long, value_enum, default_value = "gpg")]
    format: Form,
    /// Remote to send every backup to: a folder, ssh://user@host/path or s3://bucket/prefix?endpoint=…
    #[arg(long, value_name = "PLACE")]
    target: Vec<String>,
    /// Do not test the remotes
    #[arg(long)]
    no_check: bool,
    /// What creates a backup every night
    #[arg(long, value_enum)]
    schedule: Option<By>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// systemd timer
    Systemd,
    /// crontab line
    Cron,
    /// Hermes daemon
    Daemon,
    /// Nothing
    None,
}

/// What was chosen.
enum Encryption {
    Key(String),
    NewKey(PathBuf),
    PassphraseFile(PathBuf),
}

#[derive(Debug, Serialize)]
struct Ready {
    done: Vec<String>,
    /// The places that could not be written to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Unreached>,
}

#[derive(Debug, Serialize)]
struct Unreached {
    place: String,
    error: String,
    hint: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read(app, None)?;
    wanted.home.must_exist()?;
    let ask = keys::may_ask(app);
    let encryption = encryption(arguments, &wanted, ask)?;
    let targets = targets(arguments, &wanted, ask)?;
    let by = by(arguments, ask)?;
    refuse(&wanted, encryption.as_ref(), &targets)?;
    consent_to_replace(app, &wanted, &targets)?;
    let drill = drill_hint(&wanted, encryption.as_ref());
    let mut done = Vec::new();
    match encryption {
        None => done.push(format!("encrypted as before: {}", status::encryption(&wanted))),
        Some(chosen) => done.push(encrypt(arguments, app, &wanted, chosen)?),
    }
    if !targets.is_empty() {
        wanted.set_list(app, "backup.targets", &targets)?;
        done.push(format!("sent to {}", targets.join(", ")));
    }
    if let Some(by) = by.schedule() {
        done.extend(schedule::install(app, &wanted.home, by, Reach::User)?);
    }
    let failed = match arguments.no_check {
        true => Vec::new(),
        false => unreached(app, &wanted, &targets, &mut done)?,
    };
    let is_well = failed.is_empty();
    app.out.show(&Ready { done, failed })?;
    app.out.hint(format_args!(
        "create the first backup with `hermes backup create`, then test it with {drill}"
    ));
    Ok(if is_well { Outcome::Done } else { Outcome::Partial })
}

/// Refuses what would put the key to the backups beside them, before anything is changed.
fn refuse(
    wanted: &Wanted,
    encryption: Option<&Encryption>,
    targets: &[String],
) -> anyhow::Result<()> {
    let (file, what) = match encryption {
        Some(Encryption::NewKey(file)) => (file, "the private key"),
        Some(Encryption::PassphraseFile(file)) => (file, "the passphrase"),
        Some(Encryption::Key(_)) | None => return Ok(()),
    };
    wanted.refuse_secret_at(file, what)?;
    // A place that is new is one as well.
    let mut new = wanted.settings.clone();
    new.targets = targets.to_vec();
    let (home, folder) = (wanted.home.clone(), wanted.folder.clone());
    Wanted { home, folder, settings: new }.refuse_secret_at(file, what)
}

/// Asks before places are given up that backups were sent to until now.
fn consent_to_replace(app: &Terminal, wanted: &Wanted, targets: &[String]) -> anyhow::Result<()> {
    let gone: Vec<&str> = wanted
        .settings
        .targets
        .iter()
        .filter(|before| !targets.is_empty() && !targets.contains(before))
        .map(String::as_str)
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    let question = format!(
        "stop sending backups to {} and send them to {} instead? (backups that are already there stay)",
        gone.join(", "),
        targets.join(", ")
    );
    confirm::consent(app.asking, &question)
}

/// Writes something small to each place and takes it away again; those where that failed.
fn unreached(
    app: &App,
    wanted: &Wanted,
    targets: &[String],
    done: &mut Vec<String>,
) -> anyhow::Result<Vec<Unreached>> {
    let mut failed = Vec::new();
    for target in targets {
        let target = remote::parse(target)?;
        let tag = platform::random_number()?;
        let tried = wanted
            .remote(app, &target)
            .and_then(|remote| Ok(push::try_place(remote.as_ref(), tag)?));
        match tried {
            Ok(remark) => {
                let remark = remark.map(|remark| format!("; {remark}")).unwrap_or_default();
                done.push(format!("{}: test file written and read back{remark}", target.place()));
            }
            Err(error) => {
                let (place, hint) = (target.place(), problem::hint(&error));
                failed.push(Unreached { place, error: problem::message(&error), hint });
            }
        }
    }
    Ok(failed)
}

/// The command that proves the first backup, with what opens it.
fn drill_hint(wanted: &Wanted, encryption: Option<&Encryption>) -> String {
    let flag = match encryption {
        Some(Encryption::NewKey(file)) => format!("--identity {}", file.display()),
        Some(Encryption::PassphraseFile(file)) => format!("--passphrase-file {}", file.display()),
        None if wanted.settings.recipients.is_empty() => "--passphrase-file FILE".to_owned(),
        Some(Encryption::Key(_)) | None => "--identity FILE".to_owned(),
    };
    format!("`hermes backup drill {flag}`")
}

fn encryption(
    arguments: &Arguments,
    wanted: &Wanted,
    ask: bool,
) -> anyhow::Result<Option<Encryption>> {
    if let Some(key) = &arguments.encrypt_to {
        return Ok(Some(Encryption::Key(key.clone())));
    }
    if let Some(file) = &arguments.new_key {
        return Ok(Some(Encryption::NewKey(std::path::absolute(file)?)));
    }
    if let Some(file) = arguments.phrase.file() {
        return Ok(Some(Encryption::PassphraseFile(std::path::absolute(file)?)));
    }
    let is_set_up =
        !wanted.settings.recipients.is_empty() || wanted.settings.passphrase_file.is_some();
    if !ask {
        return match is_set_up {
            true => Ok(None),
            false => Err(Problem::usage(
                "backups need a key or a passphrase, and there is no terminal to ask for it",
            )
            .hint("pass --encrypt-to KEY, --new-key FILE or --passphrase-file FILE")
            .into()),
        };
    }
    let default = if is_set_up { "keep" } else { "" };
    let question = "1/3 Which public key should backups be encrypted to? (a file, age1…, or `new` to create one)";
    match keys::ask(question, default)?.as_str() {
        "keep" if is_set_up => Ok(None),
        "" => Err(Problem::usage(
            "a backup contains your keys and everything you said, so it must be encrypted",
        )
        .into()),
        "new" => {
            let place = keys::ask(
                "    Which file should the private key be written to? (not inside the home or its backups)",
                "",
            )?;
            if place.is_empty() {
                return Err(Problem::usage("no file was given for the private key").into());
            }
            Ok(Some(Encryption::NewKey(std::path::absolute(place)?)))
        }
        said => Ok(Some(Encryption::Key(said.to_owned()))),
    }
}

fn targets(arguments: &Arguments, wanted: &Wanted, ask: bool) -> anyhow::Result<Vec<String>> {
    let mut targets = arguments.target.clone();
    if targets.is_empty() && ask {
        let now = wanted.settings.targets.join(" ");
        let question = "2/3 Where should each backup be sent? (a folder, ssh://user@host/path, s3://bucket; `none`)";
        let said = keys::ask(question, if now.is_empty() { "none" } else { &now })?;
        targets = said.split_whitespace().filter(|one| *one != "none").map(str::to_owned).collect();
    }
    for target in &targets {
        remote::parse(target)?;
    }
    Ok(targets)
}

fn by(arguments: &Arguments, ask: bool) -> anyhow::Result<By> {
    match (arguments.schedule, ask) {
        (Some(by), _) => Ok(by),
        (None, false) => Ok(By::None),
        (None, true) => {
            let said = keys::ask(
                "3/3 What should create a backup every night? (systemd, cron, daemon, none)",
                "daemon",
            )?;
            By::from_str(&said, true).map_err(|_| {
                Problem::usage(format!("{said:?} is not one of systemd, cron, daemon, none")).into()
            })
        }
    }
}

fn encrypt(
    arguments: &Arguments,
    app: &mut Terminal,
    wanted: &Wanted,
    chosen: Encryption,
) -> anyhow::Result<String> {
    match chosen {
        Encryption::Key(said) => {
            let key = key::take_in(app, wanted, &said)?;
            Ok(format!("encrypted to {} {}", key.id, key.user))
        }
        Encryption::NewKey(private) => {
            let protected = match (arguments.phrase.given()?, keys::may_ask(app)) {
                (Some(given), _) => Some(given),
                (None, true) => Some(keys::prompt_new()?),
                (None, false) => None,
            };
            let format = match arguments.format {
                Form::Gpg => Format::Gpg,
                Form::Age => Format::Age,
            };
            let user = "Hermes backups";
            let new = NewKey { format, user, private: &private, passphrase: protected.as_ref() };
            let key = keyring::generate(&wanted.keys(), &new, app.now)?;
            wanted.set_list(app, "backup.recipients", std::slice::from_ref(&key.id))?;
            Ok(format!("encrypted to {}; the private key is in {}", key.id, private.display()))
        }
        Encryption::PassphraseFile(file) => {
            Passphrase::from_file(&file)?;
            wanted.unset(app, "backup.recipients")?;
            wanted.set(app, "backup.passphrase_file", &file.display().to_string())?;
            let format = match arguments.format {
                Form::Gpg => "gpg",
                Form::Age => "age",
            };
            wanted.set(app, "backup.passphrase_format", format)?;
            Ok(format!("encrypted with the passphrase in {}", file.display()))
        }
    }
}

impl By {
    fn schedule(self) -> Option<record::By> {
        match self {
            By::Systemd => Some(record::By::Systemd),
            By::Cron => Some(record::By::Cron),
            By::Daemon => Some(record::By::Daemon),
            By::None => None,
        }
    }
}

impl Show for Ready {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for line in &self.done {
            page.line(format_args!("{GOOD}ok{GOOD:#}  {line}"))?;
        }
        for one in &self.failed {
            page.line(format_args!("{BAD}FAIL{BAD:#}  {}", one.error))?;
            if let Some(hint) = &one.hint {
                page.line(format_args!("      {DIM}next:{DIM:#} {hint}"))?;
            }
        }
        Ok(())
    }
}
