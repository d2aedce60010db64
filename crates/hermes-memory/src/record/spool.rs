//! Turns that could not be recorded at once wait in files, one turn a line, and are recorded later.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::{atomic, lock};
use hermes_store::sessions::SessionId;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Value, json};

use super::turn::{SENT_AGAIN_WITHIN, Settings, Turn};
use crate::{Error, Result};

/// What became of the turns that waited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Drained {
    /// Turns recorded.
    pub turns: u64,
    /// Files that are done and gone.
    pub files: u64,
    /// Lines that are no turns; they are in the folder `refused` with the reason.
    pub refused: u64,
    /// Whether somebody else was at it.
    pub busy: bool,
}

/// A turn that waits in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Spooled {
    /// The file.
    pub path: PathBuf,
    /// The turn as it will be read from there: with its session, its times and an id for each message.
    pub turn: Turn,
}

impl Spooled {
    /// The session of the turn.
    pub fn session_id(&self) -> &str {
        self.turn.session_id.as_deref().unwrap_or_default()
    }

    /// Takes the file away, because its turn is recorded; somebody else may have done so.
    pub fn done(&self) -> Result<()> {
        remove(&self.path).map(drop)
    }
}

/// Writes a turn to a file of its own in the folder; durable on return. Until the file is gone, whoever
/// catches up records the turn from it: both halves, each once.
pub fn put(folder: &Path, turn: &Turn, settings: &Settings<'_>) -> Result<Spooled> {
    if !folder.exists() {
        atomic::make_folder(folder)?;
    }
    let Settings { now, random, .. } = *settings;
    let mut turn = turn.clone();
    turn.session_id.get_or_insert_with(|| SessionId::new(now, random).to_string());
    for message in &mut turn.messages {
        message.at.get_or_insert(now);
    }
    let line = format!("{}\n", turn.to_json());
    let [a, b, c] = random;
    let base = format!("{}-{}-{a:02x}{b:02x}{c:02x}", now.as_millisecond(), std::process::id());
    let mut number = 0;
    loop {
        let name = format!("{base}-{number}.jsonl");
        let path = folder.join(&name);
        if atomic::create(&path, line.as_bytes())? {
            return Ok(Spooled { path, turn: with_ids(turn, &format!("{name}:1")) });
        }
        number += 1;
    }
}

/// The file in which the same turn waits already, if whoever sends it may have sent it before and not heard of it.
pub fn sent_before(folder: &Path, turn: &Turn, settings: &Settings<'_>) -> Result<Option<Spooled>> {
    if !turn.is_bare() || turn.session_id.is_none() || !folder.is_dir() {
        return Ok(None);
    }
    let since = (settings.now - SENT_AGAIN_WITHIN).as_millisecond();
    let wanted = turn.to_json();
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let put_at = name.split('-').next().and_then(|at| at.parse::<i64>().ok());
        if put_at.is_none_or(|at| at < since) {
            continue;
        }
        // One that was recorded in the meantime is gone.
        let Ok(bytes) = fs::read(&path) else { continue };
        let Ok(waits) = read(&bytes, settings.zone) else { continue };
        let mut bare = waits.clone();
        bare.messages.iter_mut().for_each(|message| message.at = None);
        if bare.to_json() == wanted {
            return Ok(Some(Spooled { path, turn: with_ids(waits, &format!("{name}:1")) }));
        }
    }
    Ok(None)
}

/// Whether the file that an id of a message names still waits in the folder.
pub fn still_waits(folder: &Path, external_id: &str) -> bool {
    let place = external_id.strip_prefix(MARK);
    let name = place.and_then(|place| place.rsplitn(3, ':').nth(2));
    name.is_some_and(|name| !name.contains('/') && folder.join(name).is_file())
}

/// Whether an id says that its message came through a file; others are those of a channel or a program.
pub(crate) fn is_mark(external_id: &str) -> bool {
    external_id.starts_with(MARK)
}

/// How the ids begin of messages that came through a file.
const MARK: &str = "spool:";

/// Hands every turn that waits to `record`, file by file, oldest name first; a file goes when all its lines
/// are recorded. A line without its end stays, with its file. One drains at a time.
pub fn drain(
    folder: &Path,
    zone: &TimeZone,
    record: &mut dyn FnMut(Turn) -> Result<()>,
) -> Result<Drained> {
    let mut done = Drained::default();
    if !folder.is_dir() {
        return Ok(done);
    }
    let Some(_held) = lock::try_hold_beside(&folder.join("drain"))? else {
        done.busy = true;
        return Ok(done);
    };
    for path in files(folder)? {
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Whoever wrote it has recorded it in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(source) => return Err(failed(&path, source)),
        };
        let whole = take_lines(&path, &bytes, zone, record, &mut done)?;
        if whole && is_unchanged(&path, &bytes) {
            done.files += u64::from(remove(&path)?);
        }
    }
    atomic::sync_folder(folder).map_err(|source| failed(folder, source))?;
    Ok(done)
}

/// How many files wait in the folder.
pub fn waiting(folder: &Path) -> usize {
    files(folder).map_or(0, |files| files.len())
}

/// Records the lines of one file; false if its last line has no end.
fn take_lines(
    path: &Path,
    bytes: &[u8],
    zone: &TimeZone,
    record: &mut dyn FnMut(Turn) -> Result<()>,
    done: &mut Drained,
) -> Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if !line.ends_with(b"\n") {
            return Ok(false);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match read(line, zone) {
            Ok(turn) => {
                record(with_ids(turn, &format!("{name}:{}", number + 1)))?;
                done.turns += 1;
            }
            Err(reason) => {
                refuse(path, number + 1, line, &reason)?;
                done.refused += 1;
            }
        }
    }
    Ok(true)
}

fn read(line: &[u8], zone: &TimeZone) -> std::result::Result<Turn, String> {
    let value: Value = serde_json::from_slice(line).map_err(|why| format!("not JSON: {why}"))?;
    Turn::from_json(&value, zone)
}

/// A turn that is the same one however often its line is read.
fn with_ids(mut turn: Turn, place: &str) -> Turn {
    turn.session_id.get_or_insert_with(|| format!("spool-{place}"));
    for (number, message) in turn.messages.iter_mut().enumerate() {
        message.external_id.get_or_insert_with(|| format!("{MARK}{place}:{}", number + 1));
    }
    turn
}

fn refuse(path: &Path, number: usize, line: &[u8], reason: &str) -> Result<()> {
    let folder = path.with_file_name("refused");
    if !folder.exists() {
        atomic::make_folder(&folder)?;
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let kept = json!({"line": number, "reason": reason, "text": String::from_utf8_lossy(line)});
    let kept_at = folder.join(format!("{stem}-{number}.json"));
    Ok(atomic::write_private(&kept_at, format!("{kept}\n").as_bytes())?)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(folder, source)),
    };
    let mut found: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl") && path.is_file())
        .collect();
    found.sort();
    Ok(found)
}

/// Takes a file away; false if it was gone.
fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(failed(path, source)),
    }
}

/// Whether nobody added to the file while it was read.
fn is_unchanged(path: &Path, bytes: &[u8]) -> bool {
    fs::metadata(path).is_ok_and(|found| found.len() == bytes.len() as u64)
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Spool { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::turn::{Caller, TurnMessage};
    use super::*;
    use crate::chunk::Vectors;

    fn settings(zone: &TimeZone) -> Settings<'_> {
        Settings {
            zone,
            now: Timestamp::UNIX_EPOCH,
            vectors: Vectors::Later,
            secrets: hermes_home::redaction::Policy::Redact,
            random: [1, 2, 3],
            transcript_note: Path::new("unused"),
        }
    }

    fn turn(text: &str) -> Turn {
        Turn {
            session_id: Some("s".to_owned()),
            channel: "cli".to_owned(),
            identity: None,
            user: None,
            agent: None,
            project: None,
            messages: vec![TurnMessage::text("user", text)],
            from: Caller::OurOwn,
            ended: false,
        }
    }

    fn drained(folder: &Path) -> (Drained, Vec<Turn>) {
        let mut turns = Vec::new();
        let mut take = |turn| {
            turns.push(turn);
            Ok(())
        };
        let done = drain(folder, &TimeZone::UTC, &mut take).unwrap();
        (done, turns)
    }

    #[test]
    fn what_is_put_is_drained_once_and_its_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let spool = folder.path().join("spool");
        assert_eq!(drained(&spool).0, Drained::default());
        for text in ["one", "two"] {
            let put = put(&spool, &turn(text), &settings(&TimeZone::UTC)).unwrap();
            let id = put.turn.messages[0].external_id.clone().unwrap();
            assert!(still_waits(&spool, &id), "{id}");
            assert!(!still_waits(&spool, "spool:other.jsonl:1:1"));
        }
        assert_eq!(waiting(&spool), 2);
        let (done, turns) = drained(&spool);
        assert_eq!((done.turns, done.files), (2, 2));
        assert_eq!(turns[1].messages[0].text, "two");
        let id = turns[0].messages[0].external_id.clone().unwrap();
        assert!(!still_waits(&spool, &id));
        assert!(id.starts_with("spool:") && id.ends_with(".jsonl:1:1"), "{id}");
        assert_eq!(drained(&spool).0, Drained::default());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests write files as another program would")]
    fn a_bad_line_is_put_aside_and_half_a_line_stays() {
        let folder = tempfile::tempdir().unwrap();
        let spool = folder.path();
        let half = r#"{"messages": [{"role": "us"#;
        let text = format!("{}\nnonsense\n{half}", turn("one").to_json());
        fs::write(spool.join("a.jsonl"), &text).unwrap();
        let (done, turns) = drained(spool);
        assert_eq!((done.turns, done.files, done.refused), (1, 0, 1));
        let aside = fs::read_to_string(spool.join("refused/a-2.json")).unwrap();
        assert!(aside.contains("nonsense") && aside.contains("not JSON"), "{aside}");
        let first = turns[0].messages[0].external_id.clone();
        let rest = r#"er", "text": "two"}]}"#;
        fs::write(spool.join("a.jsonl"), format!("{text}{rest}\n")).unwrap();
        let (done, turns) = drained(spool);
        assert_eq!((done.turns, done.files, done.refused), (2, 1, 1));
        assert_eq!(turns[0].messages[0].external_id, first);
    }

    #[test]
    fn a_failure_keeps_the_file_and_two_do_not_drain_at_once() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), &turn("one"), &settings(&TimeZone::UTC)).unwrap();
        let mut fail = |_| Err(Error::Unreadable(std::io::Error::other("no")));
        assert!(drain(folder.path(), &TimeZone::UTC, &mut fail).is_err());
        let held = lock::hold(&folder.path().join("drain")).unwrap();
        assert!(drained(folder.path()).0.busy);
        drop(held);
        assert_eq!(drained(folder.path()).0.turns, 1);
    }
}
