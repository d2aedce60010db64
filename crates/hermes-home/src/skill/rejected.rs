//! Which skills the user did not want, by the hash of what they said.

use std::fs;
use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::error::{Error, Result};
use crate::layout::Home;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Rejections {
    skills: Vec<Rejection>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Rejection {
    name: String,
    content: String,
    at: Timestamp,
}

/// Whether a skill that says the same was rejected.
pub(super) fn is_rejected(home: &Home, hash: &str) -> Result<bool> {
    Ok(read(home)?.skills.iter().any(|rejection| rejection.content == hash))
}

/// Remembers the hashes of a skill; the caller holds the guard of the skills.
pub(super) fn remember(home: &Home, name: &str, hashes: &[String], now: Timestamp) -> Result<()> {
    let mut rejections = read(home)?;
    for hash in hashes {
        rejections.skills.push(Rejection { name: name.to_owned(), content: hash.clone(), at: now });
    }
    write(home, &rejections)
}

/// Lets a skill of this name be offered again; the caller holds the guard of the skills.
pub(super) fn forget(home: &Home, name: &str) -> Result<()> {
    let mut rejections = read(home)?;
    let before = rejections.skills.len();
    rejections.skills.retain(|rejection| rejection.name != name);
    if rejections.skills.len() == before { Ok(()) } else { write(home, &rejections) }
}

fn write(home: &Home, rejections: &Rejections) -> Result<()> {
    let path = home.rejected_skills();
    let text = serde_json::to_string_pretty(rejections)
        .map_err(|error| Error::write(&path, error.into()))?;
    atomic::write(&path, format!("{text}\n").as_bytes())
}

fn read(home: &Home) -> Result<Rejections> {
    let path = home.rejected_skills();
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Rejections::default()),
        Err(error) => Err(Error::read(&path, error)),
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| Error::read(&path, error.into()))
        }
    }
}
