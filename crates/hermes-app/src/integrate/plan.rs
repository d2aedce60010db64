//! What would become of each file of an agent, before anything is written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::agents::{Content, Target};
use super::edit::{self, Format, Manner, Piece, Refusal, Splice};
use super::record::{Written, hash};
use crate::problem::{Kind, Problem};

/// Beyond this a file is not one of settings.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub path: PathBuf,
    /// What it holds now; none where there is no such file.
    pub before: Option<String>,
    /// What it will hold; none where it goes.
    pub after: Option<String>,
    /// What is recorded of it afterwards; none where nothing of ours is in it.
    pub written: Option<Written>,
    /// Folders that go if they are empty.
    pub folders: Vec<PathBuf>,
    /// Why it is left as it is although something of ours is in it.
    pub left: Option<String>,
}

impl Step {
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// Puts what belongs there into one file.
pub(crate) fn install(target: &Target, known: Option<&Written>) -> Result<Step, Problem> {
    let before = read(&target.path)?;
    let now = before.clone().unwrap_or_default();
    let (base, edited, format, pieces) = match &target.content {
        Content::Whole(text) => {
            let base = known.and_then(|known| edit::undo(&now, &known.splices));
            (base.unwrap_or_else(|| now.clone()), text.clone(), None, Vec::new())
        }
        Content::Pieces { format, pieces } => {
            let put = with_pieces(*format, pieces, &now, known);
            let (base, edited) = put.map_err(|refusal| refused(&target.path, &refusal))?;
            (base, edited, Some(*format), pieces.clone())
        }
    };
    if before.as_ref() == Some(&edited) {
        let written = known.cloned();
        let after = before.clone();
        return Ok(Step {
            path: target.path.clone(),
            before,
            after,
            written,
            folders: vec![],
            left: None,
        });
    }
    writable(&target.path)?;
    let created = known.map_or(before.is_none(), |known| known.created);
    let put = put_again(format, &base, &pieces, &edited);
    let written = Written {
        path: target.path.clone(),
        part: target.part,
        format,
        created,
        folders: known.map_or_else(|| missing_folders(&target.path), |known| known.folders.clone()),
        before: before.as_ref().map(|_| hash(&base)),
        after: hash(&edited),
        copy: known.and_then(|known| known.copy.clone()),
        splices: put.0,
        pieces: put.1,
    };
    Ok(Step {
        path: target.path.clone(),
        before,
        after: Some(edited),
        written: Some(written),
        folders: Vec::new(),
        left: None,
    })
}

/// Takes out of one file what was put there.
pub(crate) fn remove(written: &Written) -> Result<Step, Problem> {
    let before = read(&written.path)?;
    let mut step = Step {
        path: written.path.clone(),
        before: before.clone(),
        after: before.clone(),
        written: None,
        folders: written.folders.clone(),
        left: None,
    };
    let Some(now) = before else { return Ok(step) };
    let is_untouched = hash(&now) == written.after;
    let exact = edit::undo(&now, &written.splices).filter(|_| is_untouched);
    let left = match (exact, written.format) {
        (Some(exact), _) => exact,
        (None, None) if written.before == Some(hash(&now)) => now.clone(),
        (None, None) => {
            step.left = Some("it was changed since and is left as it is".to_owned());
            step.folders.clear();
            return Ok(step);
        }
        (None, Some(format)) => edit::reverse(format, &now, &written.splices, &written.pieces)
            .map_err(|refusal| refused(&written.path, &refusal))?,
    };
    let is_hollow = written.format.is_some_and(|format| edit::is_hollow(format, &left));
    let goes = written.created && (left.trim().is_empty() || is_hollow);
    step.after = if goes { None } else { Some(left) };
    if step.changes() {
        writable(&written.path)?;
    }
    Ok(step)
}

/// What a file of which nothing is recorded would lose: everything that is ours by its look.
pub(crate) fn remove_unrecorded(target: &Target) -> Result<Option<Step>, Problem> {
    let Some(now) = read(&target.path)? else { return Ok(None) };
    let after = match &target.content {
        Content::Whole(text) if *text == now => None,
        Content::Whole(_) => return Ok(None),
        Content::Pieces { format, pieces } => {
            let ours = certain(pieces);
            let left = edit::take_out(*format, &now, &ours);
            Some(left.map_err(|refusal| refused(&target.path, &refusal))?)
        }
    };
    let before = Some(now);
    if before == after {
        return Ok(None);
    }
    writable(&target.path)?;
    let path = target.path.clone();
    Ok(Some(Step { path, before, after, written: None, folders: vec![], left: None }))
}

/// The text of a file; none if there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Problem> {
    let failed = |why: String| {
        Problem::new(Kind::Failure, format!("could not read {}: {why}", path.display()))
    };
    let is_dangling =
        path.symlink_metadata().is_ok_and(|found| found.is_symlink()) && !path.exists();
    if is_dangling {
        return Err(failed("it is a broken link".to_owned()));
    }
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
        Ok(found) if !found.is_file() => return Err(failed("it is not a file".to_owned())),
        Ok(found) if found.len() > LARGEST => return Err(failed("it is too large".to_owned())),
        Ok(_) => {}
    }
    match fs::read(path).map(String::from_utf8) {
        Err(error) => Err(failed(error.to_string())),
        Ok(Err(_)) => Err(failed("it is not UTF-8 text".to_owned())),
        Ok(Ok(text)) => Ok(Some(text)),
    }
}

/// The text without ours and the text with it.
fn with_pieces(
    format: Format,
    pieces: &[Piece],
    now: &str,
    known: Option<&Written>,
) -> Result<(String, String), Refusal> {
    let base = match known {
        Some(known) if hash(now) == known.after => edit::undo(now, &known.splices),
        Some(known) => Some(edit::reverse(format, now, &known.splices, &known.pieces)?),
        None => None,
    };
    let base = match base {
        Some(base) => base,
        None => edit::take_out(format, now, &certain(pieces))?,
    };
    if edit::holds(format, now, pieces)? {
        return Ok((base, now.to_owned()));
    }
    let edited = edit::put_in(format, &base, pieces)?;
    Ok((base, edited.text))
}

/// The steps from the text without ours to the one with it.
fn put_again(
    format: Option<Format>,
    base: &str,
    pieces: &[Piece],
    edited: &str,
) -> (Vec<Splice>, Vec<Piece>) {
    let put = format.and_then(|format| edit::put_in(format, base, pieces).ok());
    match put.filter(|put| put.text == edited) {
        Some(put) => (put.splices, put.pieces),
        None => (vec![Splice::between(base, edited)], pieces.to_vec()),
    }
}

/// The pieces that are known by their look.
fn certain(pieces: &[Piece]) -> Vec<Piece> {
    pieces.iter().filter(|piece| piece.manner != Manner::Default).cloned().collect()
}

fn refused(path: &Path, refusal: &Refusal) -> Problem {
    let kind = match refusal {
        Refusal::Syntax { .. } => Kind::Failure,
        Refusal::Taken { .. } | Refusal::Unsafe { .. } => Kind::Refused,
    };
    Problem::new(kind, format!("could not change {}: {refusal}", path.display()))
}

fn writable(path: &Path) -> Result<(), Problem> {
    match fs::metadata(path) {
        Ok(found) if found.permissions().readonly() => Err(Problem::new(
            Kind::Refused,
            format!("could not change {}: it is read-only", path.display()),
        )),
        _ => Ok(()),
    }
}

fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> =
        above.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::agents::Part;
    use super::*;

    /// What was written as `command` and `args` becomes one line, and what was there before either comes back.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests write files as another program would")]
    fn pieces_of_an_older_form_are_replaced_and_taken_back_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let theirs = "{\n  // mine\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"say done\"}]}]},\n  \"model\": \"opus\"\n}\n";
        fs::write(&path, theirs).unwrap();
        let target = |hook: serde_json::Value| Target {
            part: Part::Hooks,
            path: path.clone(),
            content: Content::Pieces {
                format: Format::Json,
                pieces: vec![Piece::new(
                    Manner::Element,
                    &["hooks", "Stop"],
                    json!({"hooks": [hook]}),
                )],
            },
        };
        let old = json!({"command": "/opt/hermes", "args": ["hook", "x"], "async": true});
        let first = install(&target(old), None).unwrap();
        fs::write(&path, first.after.unwrap()).unwrap();
        let new = json!({"command": "/opt/hermes hook x"});
        let second = install(&target(new.clone()), first.written.as_ref()).unwrap();
        let text = second.after.clone().unwrap();
        assert!(text.contains("/opt/hermes hook x") && !text.contains("args"), "{text}");
        assert!(text.contains("say done") && text.contains("// mine"), "{text}");
        fs::write(&path, &text).unwrap();
        let again = install(&target(new), second.written.as_ref()).unwrap();
        assert!(!again.changes());
        let gone = remove(&again.written.unwrap()).unwrap();
        assert_eq!(gone.after.as_deref(), Some(theirs));
    }
}
