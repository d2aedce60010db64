//! What a home keeps of single sessions beside the transcript: copies of deleted ones, files as they were before an
//! agent changed them, turns under way, what was typed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::layout::Home;
use crate::{atomic, lock, pins};

/// Erases what is kept of some sessions: copies of them that were deleted, files before an agent changed them in one of
/// them, turns under way, pins. Returns how many files went.
pub fn erase(home: &Home, sessions: &[String]) -> Result<u64> {
    let is_meant = |head: &Value| {
        let id = head.get("id").and_then(Value::as_str);
        id.is_some_and(|id| sessions.iter().any(|session| session == id))
    };
    let mut gone = erase_deleted(home, is_meant)?;
    gone += erase_checkpoints(home, |session| sessions.iter().any(|one| one == session))?;
    for path in turns_under_way(home, sessions) {
        remove(&path)?;
        gone += 1;
    }
    let pinned = pins::read(home)?;
    for session in sessions.iter().filter(|session| pinned.contains(*session)) {
        pins::set(home, session, false)?;
    }
    Ok(gone)
}

/// Erases the copies of deleted sessions whose first line, the session itself, is meant.
pub fn erase_deleted(home: &Home, is_meant: impl Fn(&Value) -> bool) -> Result<u64> {
    let mut gone = 0;
    for path in files_in(&home.deleted_sessions())? {
        let bytes = fs::read(&path).map_err(|source| Error::read(&path, source))?;
        let head = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if serde_json::from_slice::<Value>(head).is_ok_and(|head| is_meant(&head)) {
            remove(&path)?;
            gone += 1;
        }
    }
    Ok(gone)
}

/// Erases the checkpoints of the sessions that are meant, the lists of files that can be made again, and every content
/// that nothing names any more. Returns how many checkpoints went.
pub fn erase_checkpoints(home: &Home, is_meant: impl Fn(&str) -> bool) -> Result<u64> {
    let folder = home.checkpoints();
    if !folder.is_dir() {
        return Ok(0);
    }
    let _lock = lock::hold(&folder.join("store"))?;
    let (mut gone, mut named, mut pending) = (0, BTreeSet::new(), BTreeSet::new());
    for path in files_in(&folder.join("log"))? {
        let bytes = fs::read(&path).map_err(|source| Error::read(&path, source))?;
        let checkpoint: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if checkpoint.get("session").and_then(Value::as_str).is_some_and(&is_meant) {
            remove(&path)?;
            gone += 1;
            continue;
        }
        hashes_in(&bytes, &mut named);
        pending.extend(checkpoint.get("pending").and_then(Value::as_str).map(str::to_owned));
    }
    if gone == 0 {
        return Ok(0);
    }
    for path in files_in(&folder.join("indexes"))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if pending.contains(&name) {
            hashes_in(&fs::read(&path).map_err(|source| Error::read(&path, source))?, &mut named);
        } else {
            remove(&path)?;
        }
    }
    for head in folders_in(&folder.join("contents"))? {
        let first = head.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for path in files_in(&head)? {
            let rest = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !named.contains(&format!("{first}{rest}")) {
                remove(&path)?;
            }
        }
    }
    Ok(gone)
}

/// The files in which hooks keep turns of some sessions that are under way: named by the hash of the session.
pub(crate) fn turns_under_way(home: &Home, sessions: &[String]) -> Vec<PathBuf> {
    let ends: BTreeSet<String> = sessions
        .iter()
        .map(|session| {
            let hash = Sha256::digest(session.as_bytes());
            let hash: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
            format!("-{hash}.json")
        })
        .collect();
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ends.iter().any(|end| name.ends_with(end))
    };
    let mut found = files_in(&home.hook_sessions()).unwrap_or_default();
    found.retain(is_meant);
    found
}

/// Takes lines that say just this out of what was typed in conversations; a line break stands there as `<\n>`.
pub fn erase_typed(history: &Path, texts: &[String]) -> Result<u64> {
    let text = match fs::read_to_string(history) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other.map_err(|source| Error::read(history, source))?,
    };
    let meant: BTreeSet<String> = texts.iter().map(|text| text.replace('\n', "<\\n>")).collect();
    let (gone, stays): (Vec<&str>, Vec<&str>) = text
        .split_inclusive('\n')
        .partition(|line| meant.contains(line.trim_end_matches('\n').trim()));
    if !gone.is_empty() {
        atomic::write_private(history, stays.concat().as_bytes())?;
    }
    Ok(gone.len() as u64)
}

/// The hashes that a text names.
fn hashes_in(bytes: &[u8], found: &mut BTreeSet<String>) {
    const LENGTH: usize = 64;
    let words = bytes.split(|byte| !byte.is_ascii_hexdigit());
    let hashes = words.filter(|word| word.len() == LENGTH);
    found.extend(hashes.filter_map(|hash| String::from_utf8(hash.to_vec()).ok()));
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_file()).collect())
}

fn folders_in(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::read(folder, error)),
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| Error::write(path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        atomic::write(path, text.as_bytes()).unwrap();
    }

    #[test]
    fn a_session_goes_with_its_copies_and_the_contents_that_only_it_names() {
        let root = tempfile::tempdir().unwrap();
        let home = &testing::home(&root);
        let (own, others) = ("a".repeat(64), "b".repeat(64));
        let checkpoints = home.checkpoints();
        let log = |number: u32, session: &str, hash: &str| {
            let text = format!(
                r#"{{"session":"{session}","changes":[{{"before":{{"hash":"{hash}"}}}}]}}"#
            );
            write(&checkpoints.join("log").join(format!("{number:08}.json")), &text);
            write(&checkpoints.join("contents").join(&hash[..2]).join(&hash[2..]), "content");
        };
        log(1, "s1", &own);
        log(2, "s2", &others);
        write(&checkpoints.join("indexes/folder"), &own);
        write(&home.deleted_sessions().join("1-s1.jsonl"), "{\"id\":\"s1\"}\n{\"text\":\"x\"}\n");
        write(&home.deleted_sessions().join("2-s2.jsonl"), "{\"id\":\"s2\"}\n");
        assert_eq!(erase(home, &["s1".to_owned()]).unwrap(), 2);
        assert!(!checkpoints.join("contents").join(&own[..2]).join(&own[2..]).exists());
        assert!(checkpoints.join("contents").join(&others[..2]).join(&others[2..]).exists());
        assert!(!checkpoints.join("indexes/folder").exists());
        assert!(!home.deleted_sessions().join("1-s1.jsonl").exists());
        assert!(home.deleted_sessions().join("2-s2.jsonl").exists());
        assert_eq!(erase(home, &["s1".to_owned()]).unwrap(), 0);
    }

    #[test]
    fn what_was_typed_goes_line_by_line() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("chat-history");
        write(&path, "keep this\nthe code is 7\ntwo<\\n>lines\nthe code is 7 too\n");
        let texts = ["the code is 7".to_owned(), "two\nlines".to_owned()];
        assert_eq!(erase_typed(&path, &texts).unwrap(), 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), "keep this\nthe code is 7 too\n");
    }
}
