//! What can go wrong with backups, and the hint for each.

use std::path::{Path, PathBuf};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with backups.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read, written, moved or removed.
    #[error("could not {doing} {}: {source}", path.display())]
    File {
        /// What was tried: `read`, `write to`, `rename`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The home said no.
    #[error(transparent)]
    Home(#[from] hermes_home::Error),
    /// A database said no.
    #[error(transparent)]
    Store(#[from] hermes_store::Error),
    /// No key, no passphrase and no word that plain text is wanted.
    #[error("could not create a backup: no encryption is set up")]
    NotEncrypted,
    /// An encryption that is set up cannot be used.
    #[error("could not encrypt: {why}")]
    CannotEncrypt {
        /// Which key or file, and what is wrong with it.
        why: String,
        /// The command that mends it.
        hint: Option<String>,
    },
    /// The passphrase or the key does not open the archive.
    #[error("could not decrypt {what}: {why}")]
    WrongKey {
        /// The archive.
        what: String,
        /// What was tried.
        why: String,
    },
    /// Nothing was given that could open the archive.
    #[error(
        "could not decrypt {what}: it is encrypted to {to}, and no matching key or passphrase was \
         given"
    )]
    NoKey {
        /// The archive.
        what: String,
        /// For whom it was encrypted.
        to: String,
    },
    /// An archive is not what it was when it was made, or never was one of ours.
    #[error("could not verify {what}: {why}")]
    Tampered {
        /// The archive.
        what: String,
        /// What does not fit.
        why: String,
    },
    /// Nobody signed the archive.
    #[error("could not trust {what}: it is not signed, so Hermes cannot tell who made it")]
    NotSigned {
        /// The archive.
        what: String,
    },
    /// Another home signed the archive.
    #[error("could not trust {what}: it is signed by another home, with the key {fingerprint}")]
    OtherSigner {
        /// The archive.
        what: String,
        /// The fingerprint of the key.
        fingerprint: String,
    },
    /// An archive that says it was made later than now.
    #[error("could not trust {what}: its date, {}, is in the future", made.strftime("%Y-%m-%d"))]
    Ahead {
        /// The archive.
        what: String,
        /// When it says it was made.
        made: jiff::Timestamp,
    },
    /// A file that is no archive this program can read.
    #[error("could not read {}: {why}", path.display())]
    NotArchive {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        why: String,
    },
    /// A program of PostgreSQL did not do its work.
    #[error("could not use {program}: {why}")]
    ServerProgram {
        /// `pg_dump` or `pg_restore`.
        program: &'static str,
        /// What it said, or what is not as it must be.
        why: String,
    },
    /// No backup has this id.
    #[error("could not find {}: {why}", named(id))]
    NotFound {
        /// What was asked for.
        id: String,
        /// None is there, or several fit.
        why: String,
    },
    /// A backup does not hold what was asked for.
    #[error("could not find {what}: it is not in this backup")]
    NotInBackup {
        /// A path, a skill or a session.
        what: String,
    },
    /// No restore has moved a home aside.
    #[error("could not undo a restore: no restore has moved {} aside", home.display())]
    NothingAside {
        /// The home.
        home: PathBuf,
    },
    /// Another backup, restore or prune is at work.
    #[error("could not start: another backup is running ({holder})")]
    Busy {
        /// Who holds the lock.
        holder: String,
    },
    /// A program has the home's databases open.
    #[error("could not restore over {}: {holders}", home.display())]
    InUse {
        /// The home.
        home: PathBuf,
        /// Which program, with its id.
        holders: String,
    },
    /// A restore of the home was cut off.
    #[error("could not read {} as one home: a restore of it was interrupted", home.display())]
    CutOff {
        /// The home.
        home: PathBuf,
    },
    /// The disk is too small.
    #[error("could not write to {}: {needed} bytes are needed, {free} are free", folder.display())]
    NoSpace {
        /// Where.
        folder: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A place off this host did not do what was asked.
    #[error("could not {doing} {place}: {why}")]
    Remote {
        /// What was tried: `send to`, `list`, `fetch from`, `delete at`.
        doing: &'static str,
        /// The place, without secrets.
        place: String,
        /// What it said.
        why: String,
        /// Whether trying again may help.
        again: bool,
        /// What mends it, where that is known.
        hint: Option<String>,
    },
    /// A setting or argument that makes no sense.
    #[error("could not use {what}: {why}")]
    Setting {
        /// The setting or argument, without secrets.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// An archive that no restore would take.
    #[error("could not create a backup that can be restored: {why}")]
    NotRestorable {
        /// What is too much.
        why: String,
    },
    /// A profile that cannot be taken in as it is.
    #[error("could not import {what}: {why}")]
    NotImported {
        /// The archive or the profile.
        what: String,
        /// What is in the way.
        why: String,
        /// What helps.
        hint: String,
    },
    /// Deleting now could take the wrong ones.
    #[error("could not prune: {why}")]
    UnsafePrune {
        /// The clock, or that nothing verified would stay.
        why: String,
    },
}

impl Error {
    /// A failed operation on a file.
    pub fn file(doing: &'static str, path: &Path, source: std::io::Error) -> Error {
        Error::File { doing, path: path.to_owned(), source }
    }

    /// The next command, where there is an obvious one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Home(error) => error.hint(),
            Error::Store(error) => error.hint(),
            Error::CannotEncrypt { hint, .. } | Error::Remote { hint, .. } => hint.clone(),
            Error::NotEncrypted => {
                Some("set it up with `hermes backup setup`, or pass --plaintext".to_owned())
            }
            Error::NotSigned { .. } => Some(
                "if you know who made it, pass --accept-unsigned; archives of scripts and of other programs are never signed"
                    .to_owned(),
            ),
            Error::OtherSigner { fingerprint, .. } => Some(format!(
                "compare the key with your recovery kit; if they match, pass --signed-by {fingerprint}"
            )),
            Error::Ahead { .. } => {
                Some("check the clock of this machine, or choose another backup".to_owned())
            }
            Error::NoKey { to, .. } => Some(opened_with(to).to_owned()),
            Error::WrongKey { why, .. } if why.contains("passphrase") => {
                Some("pass the right passphrase with --passphrase-file FILE".to_owned())
            }
            Error::CutOff { .. } => {
                Some(
                    "undo it with `hermes backup restore --rollback`; `hermes start` undoes it too, and then starts".to_owned())
            }
            Error::NotRestorable { .. } => {
                Some("exclude something with the setting `backup.exclude`".to_owned())
            }
            Error::NotImported { hint, .. } => Some(hint.clone()),
            Error::File { doing: "read", path, source }
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                Some(format!(
                    "see who owns it with `ls -ld {0}`; make it readable (`chmod u+r {0}`), or exclude it with the setting `backup.exclude`",
                    quoted(&path.display().to_string())
                ))
            }
            Error::WrongKey { .. } => Some(
                "see which key it is encrypted to with `hermes backup show`, and pass that private key with --identity FILE"
                    .to_owned(),
            ),
            Error::NotFound { why, .. } if why.starts_with(NONE_YET) => Some(
                "create one with `hermes backup create`, or fetch one with `hermes backup pull --target PLACE`"
                    .to_owned(),
            ),
            Error::NotFound { .. } => Some("`hermes backup list` shows all backups".to_owned()),
            Error::NotInBackup { .. } => Some(
                "paths are relative to the home, as `hermes backup create --dry-run` shows them; it may be in an earlier backup of `hermes backup list`"
                    .to_owned(),
            ),
            Error::InUse { .. } => {
                Some("stop that program first; stop the daemon with `hermes stop`".to_owned())
            }
            Error::NoSpace { .. } => {
                Some("free some space, or choose another folder with --to DIR".to_owned())
            }
            _ => None,
        }
    }
}

/// A path or name as a shell takes it.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// What the reason begins with where a folder has no backup at all.
pub(crate) const NONE_YET: &str = "there is no backup in";

/// A backup as people speak of it.
fn named(id: &str) -> String {
    match id {
        "latest" => "the latest backup".to_owned(),
        id => format!("backup {id}"),
    }
}

/// How that is given which opens an archive, by for whom it is encrypted.
pub fn opened_with(to: &str) -> &'static str {
    match to.contains("passphrase") {
        true => "pass the passphrase with --passphrase-file FILE",
        false => "pass the private key with --identity FILE",
    }
}
