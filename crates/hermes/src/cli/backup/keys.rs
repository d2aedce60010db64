//! Passphrases and private keys as the command line gives them: a file, a descriptor or a prompt, never an argument.

use crate::terminal::Terminal;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use hermes_app::backup::opening as backup;
use hermes_backup::seal::Passphrase;

use hermes_app::problem::Problem;

/// What opens an encrypted backup.
#[derive(Debug, Args)]
pub(crate) struct Opening {
    /// File with a private key, OpenPGP or age; can be given several times
    #[arg(long, short = 'i', value_name = "FILE")]
    identity: Vec<PathBuf>,
    #[command(flatten)]
    phrase: Phrase,
}

/// Where a passphrase comes from.
#[derive(Debug, Args)]
pub(crate) struct Phrase {
    /// File whose first line is the passphrase; it must be readable only by its owner
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    passphrase_file: Option<PathBuf>,
    /// Open file descriptor to read the passphrase from
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<u32>,
}

impl Phrase {
    /// The file that was named.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        self.passphrase_file.as_ref()
    }

    /// The passphrase that was given, if one was.
    pub(super) fn given(&self) -> anyhow::Result<Option<Passphrase>> {
        if let Some(path) = &self.passphrase_file {
            return Ok(Some(Passphrase::from_file(path)?));
        }
        let Some(number) = self.passphrase_fd else { return Ok(None) };
        let opened = std::fs::File::open(format!("/dev/fd/{number}")).map_err(|error| {
            Problem::usage(format!("could not read descriptor {number}: {error}"))
        })?;
        let mut line = String::new();
        BufReader::new(opened).read_line(&mut line)?;
        let text = line.trim_end_matches(['\r', '\n']).to_owned();
        if text.is_empty() {
            return Err(
                Problem::usage(format!("descriptor {number} contains no passphrase")).into()
            );
        }
        Ok(Some(Passphrase::new(text)))
    }
}

impl Opening {
    /// Does what needs keys: with those that were given, else the passphrase of the settings, else a prompt.
    pub(super) fn with<T>(
        &self,
        app: &Terminal,
        deed: impl FnOnce(&backup::Opening<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let ask = |to: &str| prompt(&format!("Passphrase ({to}): "));
        deed(&backup::Opening {
            identity: self.identity.clone(),
            passphrase: self.phrase.given()?,
            ask: may_ask(app).then_some(&ask),
        })
    }
}

/// Whether somebody is there to be asked.
pub(super) fn may_ask(app: &Terminal) -> bool {
    !app.asking.no_input && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a passphrase; what is typed is not shown.
pub(super) fn prompt(question: &str) -> anyhow::Result<Passphrase> {
    Ok(Passphrase::new(rpassword::prompt_password(question)?))
}

/// Asks for a new passphrase twice.
pub(super) fn prompt_new() -> anyhow::Result<Passphrase> {
    let first = rpassword::prompt_password("New passphrase: ")?;
    if first.is_empty() {
        return Err(Problem::usage("the passphrase is empty").into());
    }
    if rpassword::prompt_password("Repeat passphrase: ")? != first {
        return Err(Problem::usage("the two passphrases differ").into());
    }
    Ok(Passphrase::new(first))
}

/// Asks for a line of text; an empty answer is the default.
pub(super) fn ask(question: &str, default: &str) -> anyhow::Result<String> {
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    write!(io::stderr(), "{question}{shown} ")?;
    io::stderr().flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Err(
            Problem::usage("standard input ended before all questions were answered").into()
        );
    }
    let said = line.trim();
    Ok(if said.is_empty() { default.to_owned() } else { said.to_owned() })
}
