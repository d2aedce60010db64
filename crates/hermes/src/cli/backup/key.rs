//! hermes backup key generate, import, list, remove, kit

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, Kit, NewKey, PublicKey};
use jiff::Timestamp;
use serde::Serialize;

use super::create::Form;
use super::keys::{self, Phrase};
use crate::failure::Outcome;
use crate::output::{DIM, GOOD, Page, Show};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::problem::Problem;
use hermes_app::text::printable;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a key pair: the public key is stored in the home, the private key in a file you choose
    Generate {
        /// File to write the private key to, outside the home, for example on a removable disk
        #[arg(long, value_name = "FILE")]
        private: PathBuf,
        /// Owner of the key, such as "Mira <mira@example.org>"
        #[arg(long, default_value = "Hermes backups", value_name = "NAME")]
        name: String,
        /// Kind of key
        #[arg(long, value_enum, default_value = "gpg")]
        format: Form,
        #[command(flatten)]
        phrase: Phrase,
        /// Do not protect the private key with a passphrase
        #[arg(long)]
        no_passphrase: bool,
    },
    /// Import a public key and encrypt to it from now on
    Import {
        /// Public key: a file, an age recipient (age1…), or `-` for standard input
        key: String,
    },
    /// List the public keys, and show which ones backups are encrypted to
    List,
    /// Stop encrypting to a key, and remove it
    Remove {
        /// Fingerprint of the key, the end of the fingerprint, or the age recipient
        id: String,
    },
    /// Print a recovery page to keep on paper: which keys open the backups, and how, without Hermes
    Kit {
        /// Also print this private key on the page
        #[arg(long, value_name = "FILE")]
        private: Option<PathBuf>,
    },
}

#[derive(Debug, Serialize)]
struct Keys {
    results: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    format: Format,
    user: String,
    expires: Option<Timestamp>,
    /// Whether backups are encrypted to it.
    used: bool,
}

#[derive(Debug, Serialize)]
struct Changed {
    id: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<PathBuf>,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut wanted = wanted::read(app, None)?;
    wanted.home.must_exist()?;
    if matches!(command, Command::Kit { .. }) {
        wanted.begin_signing()?;
    }
    match command {
        Command::Generate { private, name, format, phrase, no_passphrase } => {
            let protected = match (phrase.given()?, no_passphrase) {
                (Some(given), _) => Some(given),
                (None, true) => None,
                (None, false) if keys::may_ask(app) => Some(keys::prompt_new()?),
                (None, false) => return Err(unprotected().into()),
            };
            let private = std::path::absolute(private)?;
            wanted.refuse_secret_at(&private, "the private key")?;
            let format = match format {
                Form::Gpg => Format::Gpg,
                Form::Age => Format::Age,
            };
            let new =
                NewKey { format, user: name, private: &private, passphrase: protected.as_ref() };
            generate(app, &wanted, &new)
        }
        Command::Import { key } => import(app, &wanted, key),
        Command::List => list(app, &wanted),
        Command::Remove { id } => remove(app, &wanted, id),
        Command::Kit { private } => kit(app, &wanted, private.as_deref()),
    }
}

fn unprotected() -> Problem {
    Problem::usage("the private key needs a passphrase, and there is no terminal to ask for it")
        .hint("pass it with --passphrase-file FILE, or use --no-passphrase")
}

/// Makes a pair of keys and encrypts to it from now on.
pub(super) fn generate(
    app: &mut Terminal,
    wanted: &Wanted,
    new: &NewKey<'_>,
) -> anyhow::Result<Outcome> {
    let key = keyring::generate(&wanted.keys(), new, app.now)?;
    encrypt_to(app, wanted, &key)?;
    let message = format!("backups are encrypted to {} from now on", key.id);
    app.out.show(&Changed { id: key.id, message, private: Some(new.private.to_owned()) })?;
    app.out
        .note("without the private key no backup can be opened: store it away from this machine");
    app.out.hint("print a recovery page to keep with it: `hermes backup key kit`");
    Ok(Outcome::Done)
}

fn import(app: &mut Terminal, wanted: &Wanted, said: &str) -> anyhow::Result<Outcome> {
    let key = take_in(app, wanted, said)?;
    let message = format!("backups are encrypted to {} from now on", key.id);
    app.out.show(&Changed { id: key.id, message, private: None })?;
    Ok(Outcome::Done)
}

/// Takes in a public key from a file, from standard input or as it is, and encrypts to it from now on.
pub(super) fn take_in(
    app: &mut Terminal,
    wanted: &Wanted,
    said: &str,
) -> anyhow::Result<PublicKey> {
    let bytes = match said {
        "-" => crate::input::text(said)?.into_bytes(),
        recipient if recipient.starts_with("age1") => recipient.as_bytes().to_vec(),
        file => std::fs::read(file)
            .map_err(|error| Problem::usage(format!("could not read {file}: {error}")))?,
    };
    let key = keyring::import(&wanted.keys(), &bytes, app.now)?;
    encrypt_to(app, wanted, &key)?;
    Ok(key)
}

/// Adds the key to the recipients of the settings; keys of the other format are replaced, for one archive has one.
fn encrypt_to(app: &mut Terminal, wanted: &Wanted, key: &PublicKey) -> anyhow::Result<()> {
    let is_age = |id: &str| id.starts_with("age1");
    let mut recipients = wanted.settings.recipients.clone();
    recipients.retain(|id| *id != key.id && is_age(id) == is_age(&key.id));
    recipients.push(key.id.clone());
    set_recipients(app, wanted, &recipients)
}

fn set_recipients(
    app: &mut Terminal,
    wanted: &Wanted,
    recipients: &[String],
) -> anyhow::Result<()> {
    match recipients.is_empty() {
        true => wanted.unset(app, "backup.recipients"),
        false => wanted.set_list(app, "backup.recipients", recipients),
    }
}

fn list(app: &mut Terminal, wanted: &Wanted) -> anyhow::Result<Outcome> {
    let used = |id: &str| wanted.settings.recipients.iter().any(|one| id.ends_with(one.as_str()));
    let row = |key: PublicKey| Row {
        used: used(&key.id),
        id: key.id,
        format: key.format,
        user: key.user,
        expires: key.expires,
    };
    let results: Vec<Row> = keyring::list(&wanted.keys())?.into_iter().map(row).collect();
    let is_empty = results.is_empty();
    app.out.show(&Keys { results })?;
    if is_empty {
        app.out.note("there is no key yet");
        app.out.hint("import one with `hermes backup key import FILE`, or create one with `hermes backup key generate --private FILE`");
    }
    Ok(Outcome::Done)
}

fn remove(app: &mut Terminal, wanted: &Wanted, id: &str) -> anyhow::Result<Outcome> {
    let key = keyring::remove(&wanted.keys(), id)?;
    let mut recipients = wanted.settings.recipients.clone();
    recipients.retain(|one| !key.id.ends_with(one.as_str()));
    set_recipients(app, wanted, &recipients)?;
    let message = format!("{} was removed; existing backups stay encrypted to it", key.id);
    app.out.show(&Changed { id: key.id, message, private: None })?;
    if recipients.is_empty() {
        app.out.note("there is no key left: no backup can be created until you add one");
    }
    Ok(Outcome::Done)
}

fn kit(app: &mut Terminal, wanted: &Wanted, private: Option<&Path>) -> anyhow::Result<Outcome> {
    let secret = match private {
        None => None,
        Some(path) => Some(std::fs::read(path).map_err(|error| {
            Problem::usage(format!("could not read {}: {error}", path.display()))
        })?),
    };
    let all = keyring::list(&wanted.keys())?;
    let passphrase_file = match wanted.settings.recipients.is_empty() {
        true => wanted.passphrase_file(app)?,
        false => None,
    };
    let places: Vec<String> = wanted.targets(None)?.iter().map(|one| one.place()).collect();
    let text = keyring::kit(&Kit {
        keys: &all,
        private: secret.as_deref(),
        passphrase_file: passphrase_file.as_deref(),
        signed_by: wanted.folder.signers().fingerprint().as_deref(),
        backups: wanted.folder.path(),
        places: &places,
        now: app.now,
    });
    io::Write::write_all(app.out.raw(), text.as_bytes())?;
    io::Write::flush(app.out.raw())?;
    if all.is_empty() && passphrase_file.is_none() {
        app.out.note(
            "no encryption is set up yet: the page describes backups encrypted with a passphrase that you enter yourself",
        );
        app.out.hint("set it up with `hermes backup setup`, then print the page again");
    }
    Ok(Outcome::Done)
}

impl Show for Keys {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for row in &self.results {
            let used = if row.used { "used" } else { "    " };
            let expires = row.expires.map(|at| format!("  until {at}")).unwrap_or_default();
            page.line(format_args!(
                "{GOOD}{used}{GOOD:#}  {}  {}{DIM}{expires}{DIM:#}",
                row.id,
                printable(&row.user)
            ))?;
        }
        Ok(())
    }
}

impl Show for Changed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.message)?;
        match &self.private {
            Some(path) => page.line(format_args!("the private key is in {}", path.display())),
            None => Ok(()),
        }
    }
}
