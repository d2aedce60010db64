//! The list inside each archive, and the short clear one beside it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::name::{Compression, Format};

/// The newest form of a manifest that this program writes and reads.
pub const FORMAT: u32 = 1;

/// Where the manifest stands in an archive: the last member, inside the home's own folder.
pub const MEMBER: &str = ".hermes/hermesd/backup-manifest.json";

/// The folder that all members are below.
pub const ROOT: &str = ".hermes";

/// Everything that is in an archive, and what was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of this list.
    pub format: u32,
    /// Which program made it: `hermes 0.1.0`.
    pub made_by: String,
    /// The id of the backup.
    pub id: String,
    /// `all`, or the name of the one profile.
    pub what: String,
    /// The host it was made on.
    pub host: String,
    /// What the user called it.
    pub label: Option<String>,
    /// When it was begun.
    pub started: Timestamp,
    /// When everything in it had been read.
    pub finished: Timestamp,
    /// Every member but this list, in their order.
    pub files: Vec<File>,
    /// What is known of the databases among them.
    pub databases: Vec<Database>,
    /// What was not taken, with the reason.
    pub left_out: Vec<LeftOut>,
    /// The archive before this one in the same folder: its name and SHA-256.
    pub previous: Option<Previous>,
    /// The signature of the home over everything else in this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Mark>,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its path below the home, with `/`.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes; 0 for a folder.
    pub size: u64,
    /// Its permission bits, without set-uid and the like.
    pub mode: u32,
    /// When it was changed last, in seconds since 1970.
    pub modified: i64,
    /// The SHA-256 of its content; empty for a folder.
    pub sha256: String,
    /// Where it led, if it was a link to a file: the content is kept, the link is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file as it was.
    File,
    /// A consistent copy of a SQLite database.
    Database,
    /// A database that could not be copied as one: its bytes as they were.
    Damaged,
}

/// What is known of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// Its path below the home.
    pub path: String,
    /// The version of its tables, as the database says it.
    pub schema_version: Option<i64>,
    /// How many pages it has.
    pub pages: u64,
    /// How large a page is.
    pub page_size: u32,
    /// `ok`, or the first thing that is wrong.
    pub integrity: String,
    /// Whether every page was looked at (`full`) or the quick check was made (`quick`).
    pub checked: String,
    /// Each full-text index: `ok`, or what is wrong.
    pub indexes: BTreeMap<String, String>,
    /// How many rows each table has.
    pub rows: BTreeMap<String, u64>,
    /// The highest number of a message, where it has messages.
    pub newest_message: Option<i64>,
    /// Rows whose content is not what was written, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<String>,
}

/// Something that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path below the home; a folder stands for all that is in it.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The archive before this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// Its id.
    pub id: String,
    /// The SHA-256 of the whole archive.
    pub sha256: String,
}

/// A signature with the public key that it fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The public key, in hexadecimal digits.
    pub key: String,
    /// The signature, in hexadecimal digits.
    pub signature: String,
}

/// What stands in clear text beside an archive, as `<name>.json`: no path, no name, no word of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// The form of this list.
    pub format: u32,
    /// The id of the backup.
    pub id: String,
    /// The name of the archive.
    pub archive: String,
    /// The SHA-256 of the archive.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was begun.
    pub made: Timestamp,
    /// The random id of the home that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Which program made it.
    pub made_by: String,
    /// How it is made smaller.
    pub compression: Compression,
    /// What it is encrypted with.
    pub encryption: Format,
    /// For whom: fingerprints or age recipients; `passphrase`.
    pub encrypted_to: Vec<String>,
    /// How many files it holds.
    pub files: u64,
    /// How many databases are among them.
    pub databases: u64,
    /// How large the files are together.
    pub bytes: u64,
    /// Whether a database was damaged.
    pub damaged: bool,
    /// When the archive had been read back, decrypted and compared member by member.
    pub verified: Option<Timestamp>,
    /// How many links to folders were not followed: what they lead to is not in it.
    #[serde(default)]
    pub links_left_out: u64,
    /// The archive before this one in the same folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
    /// The signature of the home over what this list says of the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Mark>,
    /// The command that opens it without Hermes.
    pub open_with: String,
}
