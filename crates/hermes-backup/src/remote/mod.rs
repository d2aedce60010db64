//! A place off this host.

mod folder;
mod s3;
mod s3_http;
mod s3_parts;
mod s3_says;
mod scratch;
mod sftp;
mod ssh;
mod ssh_says;
mod target;
mod xml;

use std::path::{Path, PathBuf};

pub use target::parse;

use crate::name::ArchiveName;
use crate::retention::Policy;
use crate::{Error, Result, Tell, hash};

/// Something that lies at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its name there.
    pub name: String,
    /// Its size.
    pub size: u64,
}

/// A place that archives are sent to.
pub trait Remote {
    /// The place in words, without secrets: `s3://bucket/prefix at host`.
    fn place(&self) -> String;

    /// What lies there, sorted by name; unfinished uploads are not among it.
    fn list(&self) -> Result<Vec<Stored>>;

    /// Sends a file under a temporary name, goes on where an earlier try was cut, reads it back, compares its
    /// SHA-256 with `sha256`, then gives it its name. One that is not `sha256` here is refused before that.
    fn put(&self, from: &Path, name: &str, sha256: &str, tell: Tell<'_>) -> Result<()>;

    /// Fetches a file to `to`, going on where an earlier try was cut; the caller checks it and names it.
    fn get(&self, name: &str, to: &Path, tell: Tell<'_>) -> Result<()>;

    /// The SHA-256 of what lies there, where that can be told without fetching it over a network.
    fn sha256_there(&self, name: &str) -> Result<Option<String>> {
        check_name("check", &self.place(), name).map(|()| None)
    }

    /// Deletes a file.
    fn delete(&self, name: &str) -> Result<()>;

    /// What the user should know of this place, such as a bucket without versioning.
    fn warnings(&self) -> Result<Vec<String>>;
}

/// A place as the settings name it:
/// `/mnt/nas/hermes`, `ssh://user@host:22/srv/hermes?transfer=rsync&identity=/path`,
/// `s3://bucket/prefix?endpoint=https://…&region=auto&style=path`, each with `&keep=last:30,monthly:12`.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// How the user names it on the command line: the text itself without its query.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Which backups stay there; none: the same as here.
    pub keep: Option<Policy>,
}

/// The kinds of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A folder, such as a mounted disk.
    Folder(std::path::PathBuf),
    /// A host reached with the system's ssh programs.
    Ssh(Ssh),
    /// An S3-shaped bucket.
    S3(S3),
}

/// A host reached with the system's sftp or rsync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The user there.
    pub user: Option<String>,
    /// The host.
    pub host: String,
    /// The port.
    pub port: Option<u16>,
    /// The folder there.
    pub path: String,
    /// Whether rsync is used instead of sftp.
    pub rsync: bool,
    /// The file of the private key; none: whatever ssh itself chooses.
    pub identity: Option<std::path::PathBuf>,
    /// A file of known hosts of its own; none: the user's.
    pub known_hosts: Option<std::path::PathBuf>,
}

/// A bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3 {
    /// Its name.
    pub bucket: String,
    /// What the names there begin with; empty or ending in `/`.
    pub prefix: String,
    /// The address of the service.
    pub endpoint: String,
    /// The region; `auto` for R2.
    pub region: String,
    /// Whether the bucket is part of the path and not of the host name.
    pub path_style: bool,
}

impl Ssh {
    fn place(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        let path = if self.path.starts_with('/') { "" } else { "/~/" };
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("ssh://{user}{host}{port}{path}{}", self.path)
    }
}

impl S3 {
    fn place(&self) -> String {
        let host = self.endpoint.split_once("://").map_or(self.endpoint.as_str(), |(_, host)| host);
        let host = host.trim_end_matches('/');
        format!("s3://{}/{} at {host}", self.bucket, self.prefix.trim_end_matches('/'))
    }
}

/// The keys of a bucket; never shown.
#[derive(Clone)]
pub struct S3Keys {
    /// AWS_ACCESS_KEY_ID.
    pub id: String,
    /// AWS_SECRET_ACCESS_KEY.
    pub secret: zeroize::Zeroizing<String>,
    /// AWS_SESSION_TOKEN.
    pub token: Option<zeroize::Zeroizing<String>>,
    /// A file of certificates that are trusted in the place of the built-in ones.
    pub authorities: Option<PathBuf>,
}

/// Opens a place; a bucket needs keys.
pub fn open(target: &Target, keys: Option<&S3Keys>) -> Result<Box<dyn Remote>> {
    Ok(match (&target.kind, keys) {
        (Kind::Folder(path), _) => Box::new(folder::Mounted::new(path)),
        (Kind::Ssh(ssh), _) => Box::new(ssh::Host::new(ssh.clone())),
        (Kind::S3(s3), Some(keys)) => Box::new(s3::Store::new(s3, keys)?),
        (Kind::S3(s3), None) => {
            return Err(Error::Remote {
                doing: "open",
                place: s3.place(),
                why: "its keys are not set".to_owned(),
                again: false,
                hint: Some(s3_says::SET_KEYS.to_owned()),
            });
        }
    })
}

impl Target {
    /// The place in words, the same as [`Remote::place`] says once it is open.
    pub fn place(&self) -> String {
        match &self.kind {
            Kind::Folder(path) => path.display().to_string(),
            Kind::Ssh(ssh) => ssh.place(),
            Kind::S3(s3) => s3.place(),
        }
    }
}

/// The archive that a name at a place belongs to, and whether it is what stands beside it; none if it is not
/// ours or could lead out of a folder.
pub(crate) fn ours(name: &str) -> Option<(ArchiveName, bool)> {
    if name.contains(['/', '\\']) || name.chars().any(char::is_control) {
        return None;
    }
    match name.strip_suffix(".json") {
        Some(archive) => archive.parse().ok().map(|archive| (archive, true)),
        None => name.parse().ok().map(|archive| (archive, false)),
    }
}

/// Refuses a name that is none of ours, before it reaches a place or this disk.
fn check_name(doing: &'static str, place: &str, name: &str) -> Result<()> {
    if ours(name).is_some() {
        return Ok(());
    }
    let why = format!("{name:?} is not the name of a backup");
    Err(Error::Remote { doing, place: place.to_owned(), why, again: false, hint: None })
}

/// Refuses a file that is not what it was when it was made: it must not take the place of what may be whole there.
fn check_content(from: &Path, sha256: &str) -> Result<()> {
    if hash::of_file(from)? == sha256 {
        return Ok(());
    }
    Err(Error::Tampered {
        what: from.display().to_string(),
        why: "its SHA-256 is not the one it had when it was made".to_owned(),
    })
}

/// What is said when the content at a place is not what was sent: the file here may have changed meanwhile.
fn not_what_was_sent(from: &Path, sha256: &str, place: &str) -> Error {
    let why =
        "the file that was read back differs from what was sent; it was deleted there".to_owned();
    let there =
        Error::Remote { doing: "send to", place: place.to_owned(), why, again: true, hint: None };
    check_content(from, sha256).err().unwrap_or(there)
}
