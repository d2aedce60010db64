//! Makes one backup while everything runs.

use std::path::PathBuf;

use hermes_home::Home;
use jiff::Timestamp;

use crate::contents::{Contents, Scope};
use crate::folder::{Backup, Folder};
use crate::manifest::Manifest;
use crate::name::Compression;
use crate::seal::Sealing;
use crate::{Result, Tell};

/// What is wanted.
#[derive(Debug)]
pub struct Request<'a> {
    /// The home.
    pub home: &'a Home,
    /// Which part of it.
    pub scope: Scope,
    /// Where the archive goes.
    pub folder: &'a Folder,
    /// How it is made smaller.
    pub compression: Compression,
    /// How it is encrypted.
    pub sealing: &'a Sealing,
    /// What the user calls it.
    pub label: Option<String>,
    /// Paths below the root that the user wants out.
    pub exclude: &'a [String],
    /// Files of the home that are kept elsewhere: the path they get, and where they are.
    pub outside: &'a [(String, PathBuf)],
    /// `hermes 0.1.0`.
    pub made_by: &'a str,
    /// The name of this host.
    pub host: &'a str,
    /// Now.
    pub now: Timestamp,
    /// What tells two backups of one second apart: a random number.
    pub tag: u32,
}

/// What was made.
#[derive(Debug)]
pub struct Created {
    /// The archive, as the folder lists it.
    pub backup: Backup,
    /// What is in it.
    pub manifest: Manifest,
    /// What a killed run had left and was taken away.
    pub swept: Vec<PathBuf>,
    /// What the user should know: links that lead to folders, files that changed while they were read.
    pub remarks: Vec<String>,
    /// CPU seconds of the checks of databases, reported beside the rest.
    pub checking: std::time::Duration,
}

/// What would go in and what would stay out.
pub fn plan(request: &Request<'_>) -> Result<Contents> {
    let _ = request;
    unimplemented!()
}

/// Makes the backup: copies databases, packs, encrypts, reads all of it back, then gives it its name.
pub fn create(request: &Request<'_>, tell: Tell<'_>) -> Result<Created> {
    let _ = (request, tell);
    unimplemented!()
}
