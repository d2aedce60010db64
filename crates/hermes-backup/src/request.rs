//! What is wanted of a backup, and what would be in it.

use std::path::PathBuf;

use hermes_home::Home;
use jiff::Timestamp;

use crate::Result;
use crate::contents::{self, Choice, Contents, Scope};
use crate::folder::Folder;
use crate::name::Compression;
use crate::seal::Sealing;

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
    /// Whether what links to folders lead to goes in as well.
    pub follow_links: bool,
    /// Whether secrets go in: `.env`, files of logins, keys.
    pub secrets: bool,
    /// `hermes 0.1.0`.
    pub made_by: &'a str,
    /// The name of this host.
    pub host: &'a str,
    /// Now.
    pub now: Timestamp,
    /// What tells two backups of one second apart: a random number.
    pub tag: u32,
}

/// What would go in and what would stay out.
pub fn plan(request: &Request<'_>) -> Result<Contents> {
    let Request { exclude, outside, follow_links, secrets, .. } = *request;
    let choice = Choice { exclude, outside, follow_links, secrets };
    contents::list(request.home, &request.scope, &choice)
}
