//! Which state.db a transcript is, so that its messages are known again: the database says so itself, else a file in the
//! home does, by the oldest and newest messages it saw there.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use hermes_home::atomic;
use hermes_store::sessions::{RowNames, RowPrint, SessionStore};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// How many of the oldest and of the newest messages are noted.
const NOTED: u32 = 16;

/// What is noted of a database that keeps no id of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Noted {
    id: String,
    messages: Vec<RowPrint>,
}

/// What the messages of a transcript are called. `note` is the file in the home for a database without an id.
pub(crate) fn names(sessions: &SessionStore, note: &Path, now: Timestamp) -> Result<RowNames> {
    if let Some(names) = sessions.row_names()? {
        return Ok(names);
    }
    let before = read(note)?;
    let messages = sessions.row_prints(NOTED)?;
    let id = match &before {
        Some(noted) if is_same(sessions, noted)? => noted.id.clone(),
        _ => new_id(&messages, now),
    };
    let noted = Noted { id, messages };
    if before.as_ref() != Some(&noted) {
        let text = serde_json::to_vec(&noted).map_err(|why| Error::Unreadable(why.into()))?;
        atomic::write(note, &text)?;
    }
    Ok(RowNames::of_one(&noted.id))
}

/// Whether a database is the one that was noted: some message is still there, and none has become another.
fn is_same(sessions: &SessionStore, noted: &Noted) -> Result<bool> {
    let numbers: Vec<i64> = noted.messages.iter().map(|(number, _)| *number).collect();
    let now: HashMap<i64, _> = sessions.prints_of(&numbers)?.into_iter().collect();
    let is_other = |(number, print): &RowPrint| now.get(number).is_some_and(|found| found != print);
    Ok((!now.is_empty() || noted.messages.is_empty()) && !noted.messages.iter().any(is_other))
}

fn new_id(messages: &[RowPrint], now: Timestamp) -> String {
    let mut digest = Sha256::new();
    digest.update(now.as_nanosecond().to_le_bytes());
    for (number, print) in messages {
        digest.update(number.to_le_bytes());
        digest.update(print);
    }
    let hash: [u8; 32] = digest.finalize().into();
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was noted; a file that cannot be understood says nothing, and every message is compared by its words.
fn read(note: &Path) -> Result<Option<Noted>> {
    match fs::read(note) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Unreadable(error)),
    }
}
