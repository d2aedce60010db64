//! The receipts of drills: kept as JSON and as text, and taken in from another machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use jiff::{SignedDuration, Timestamp};

use crate::drill::{FORMAT, Receipt};
use crate::folder::{Event, Folder, Happened};
use crate::{Error, Result, hash};

/// A receipt is a page long; nothing larger is read.
const LONGEST: u64 = 1024 * 1024;

/// How far the clock of the machine of a drill may be ahead of this one's.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Takes in the receipt of a drill that was made on another machine: its archive must be one of this folder.
///
/// One that is here already is not noted again.
pub fn import_receipt(folder: &Folder, file: &Path, now: Timestamp) -> Result<Receipt> {
    let receipt = read(file)?;
    let refused =
        |why: &str| Error::Tampered { what: file.display().to_string(), why: why.to_owned() };
    let backup = folder.find(&receipt.id)?;
    if backup.name.id() != receipt.id {
        return Err(refused("it does not contain the full id of a backup"));
    }
    if now.duration_until(receipt.at) > AHEAD {
        return Err(refused("its date is in the future: check the clocks of both machines"));
    }
    if receipt.at < backup.name.made {
        return Err(refused("it is older than the backup: check the clocks of both machines"));
    }
    let sha256 = match &backup.sidecar {
        Some(sidecar) => sidecar.sha256.clone(),
        None => hash::of_file(&backup.path)?,
    };
    if sha256 != receipt.sha256 {
        return Err(refused("it is for another archive than the one in this folder"));
    }
    if receipt.passed != receipt.checks.iter().all(|check| check.passed)
        || receipt.checks.is_empty()
    {
        return Err(refused("its result contradicts its checks"));
    }
    if !receipts(folder)?.contains(&receipt) {
        keep(folder, &receipt)?;
        note(folder, &receipt)?;
    }
    Ok(receipt)
}

/// Every receipt, newest first; what is no receipt is passed over.
pub fn receipts(folder: &Folder) -> Result<Vec<Receipt>> {
    let path = folder.receipts();
    let failed = |error| Error::file("read", &path, error);
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(failed)?,
    };
    let mut every = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            every.extend(read(&path));
        }
    }
    every.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
    Ok(every)
}

/// Keeps a receipt as JSON and as text; returns where the JSON is.
pub(super) fn keep(folder: &Folder, receipt: &Receipt) -> Result<PathBuf> {
    let path = folder.receipts();
    atomic::make_folder(&path)?;
    let name = format!("{}-drill-{}", receipt.id, receipt.at.strftime("%Y%m%dT%H%M%SZ"));
    let json = serde_json::to_string_pretty(receipt)
        .map_err(|error| Error::file("write to", &path, error.into()))?;
    for number in 1u32.. {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let file = path.join(format!("{name}{more}.json"));
        if atomic::create(&file, (json.clone() + "\n").as_bytes())? {
            atomic::write_private(&file.with_extension("txt"), text(receipt).as_bytes())?;
            return Ok(file);
        }
    }
    Err(Error::Busy { holder: path.display().to_string() })
}

/// Writes what came out into the history, at the time of the drill.
pub(super) fn note(folder: &Folder, receipt: &Receipt) -> Result<()> {
    let failed = receipt.checks.iter().find(|check| !check.passed);
    let (what, detail) = match failed {
        None => (Happened::Drilled, format!("on {}", receipt.host)),
        Some(check) => (Happened::DrillFailed, format!("{}: {}", check.name, check.seen)),
    };
    let id = Some(receipt.id.clone());
    folder.note(&Event { at: receipt.at, what, id, place: None, detail })
}

/// The receipt as a person reads it.
pub(super) fn text(receipt: &Receipt) -> String {
    let verdict = if receipt.passed { "every check passed" } else { "NOT EVERY CHECK PASSED" };
    let mut text = format!(
        "Restore test of backup {}\nat {} on {}\nSHA-256 {}\n\n",
        receipt.id, receipt.at, receipt.host, receipt.sha256
    );
    for check in &receipt.checks {
        let mark = if check.passed { "ok  " } else { "FAIL" };
        text.push_str(&format!("{mark}  {}: {}\n", check.name, check.seen));
    }
    text.push_str(&format!("\n{verdict}\n"));
    text
}

fn read(file: &Path) -> Result<Receipt> {
    let failed = |error| Error::file("read", file, error);
    let not_one = |why: String| Error::NotArchive { path: file.to_owned(), why };
    if file.metadata().map_err(failed)?.len() > LONGEST {
        return Err(not_one("it is too long for a receipt".to_owned()));
    }
    let bytes = fs::read(file).map_err(failed)?;
    let receipt: Receipt = serde_json::from_slice(&bytes)
        .map_err(|error| not_one(format!("it is not a receipt of a restore test: {error}")))?;
    if receipt.format > FORMAT {
        return Err(not_one("it is a receipt of a newer version of Hermes".to_owned()));
    }
    Ok(receipt)
}
