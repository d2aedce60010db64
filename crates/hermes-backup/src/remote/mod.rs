//! A place off this host.

use std::path::Path;

use crate::retention::Policy;
use crate::{Result, Tell};

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
    /// SHA-256 with `sha256`, then gives it its name.
    fn put(&self, from: &Path, name: &str, sha256: &str, tell: Tell<'_>) -> Result<()>;

    /// Fetches a file to `to`, going on where an earlier try was cut; the caller checks it and names it.
    fn get(&self, name: &str, to: &Path, tell: Tell<'_>) -> Result<()>;

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

/// The keys of a bucket; never shown.
#[derive(Clone)]
pub struct S3Keys {
    /// AWS_ACCESS_KEY_ID.
    pub id: String,
    /// AWS_SECRET_ACCESS_KEY.
    pub secret: zeroize::Zeroizing<String>,
    /// AWS_SESSION_TOKEN.
    pub token: Option<zeroize::Zeroizing<String>>,
}

/// Reads a place as the settings name it.
pub fn parse(text: &str) -> Result<Target> {
    let _ = text;
    unimplemented!()
}

/// Opens a place; a bucket needs keys.
pub fn open(target: &Target, keys: Option<&S3Keys>) -> Result<Box<dyn Remote>> {
    let _ = (target, keys);
    unimplemented!()
}
