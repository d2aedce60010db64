//! write_file and patch: shown whole, approved, kept, and written whole.

use std::io::Write;
use std::path::{Path, PathBuf};

use hermes_home::atomic;

use super::Hands;
use super::arguments::Arguments;
use super::output::{cancelled, counted, done, failed, refused};
use super::read::whole;
use crate::approval::{Decision, Kind, Request, Verdict};
use crate::diff;
use crate::error::{Error, Result as Checked};
use crate::fence::Aim;
use crate::toolbox::{Ask, Call, Outcome};

/// Larger files are changed by commands.
const LARGEST: u64 = 10_000_000;

/// One change of a file, as it is shown.
struct Change {
    path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

impl Hands {
    pub(super) fn write_file(
        &mut self,
        call: &Call,
        ask: &mut Ask<'_>,
    ) -> Result<Outcome, Outcome> {
        let arguments = Arguments::of(&call.name, &call.input, &["path", "content"])?;
        let (text, content) = (arguments.text("path")?, arguments.text("content")?);
        let path = self.writable(text)?;
        let before = self.before(&path)?;
        self.change(&Change { path, before, after: content.as_bytes().to_vec() }, ask)
    }

    pub(super) fn patch(&mut self, call: &Call, ask: &mut Ask<'_>) -> Result<Outcome, Outcome> {
        let arguments = Arguments::of(&call.name, &call.input, &["path", "old", "new", "all"])?;
        let text = arguments.text("path")?;
        let (old, new) = (arguments.text("old")?, arguments.text("new")?);
        let all = arguments.switch("all")?;
        let path = self.writable(text)?;
        let name = self.fence.shown(&path);
        let Some(before) = self.before(&path)? else {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(self.unreadable(text, &Error::read(&path, source)));
        };
        if diff::is_binary(&before) {
            return Err(refused(format!("{name} is a binary file: it cannot be patched")));
        }
        let Ok(content) = std::str::from_utf8(&before) else {
            return Err(refused(format!("{name} is not UTF-8 text: it cannot be patched")));
        };
        let after = super::patch::replaced(&name, content, &super::patch::Piece { old, new, all });
        let after = after.map_err(refused)?.into_bytes();
        self.change(&Change { path, before: Some(before), after }, ask)
    }

    fn writable(&self, text: &str) -> Result<PathBuf, Outcome> {
        if text.ends_with(['/', std::path::MAIN_SEPARATOR]) {
            return Err(refused(format!("{text} names a folder, not a file")));
        }
        self.fence.resolve(text, Aim::Write).map_err(|error| failed(&error))
    }

    /// What a file holds before it is changed; none if there is none.
    fn before(&self, path: &Path) -> Result<Option<Vec<u8>>, Outcome> {
        if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        {
            return Ok(None);
        }
        let mut opened =
            self.fence.open_resolved(path.to_owned()).map_err(|error| failed(&error))?;
        if opened.metadata.permissions().readonly() {
            return Err(refused(format!("{} is read-only", self.fence.shown(path))));
        }
        whole(&mut opened, LARGEST).map(Some)
    }

    /// Asks, keeps, writes.
    fn change(&mut self, change: &Change, ask: &mut Ask<'_>) -> Result<Outcome, Outcome> {
        let name = self.fence.shown(&change.path);
        if change.before.as_deref() == Some(change.after.as_slice()) {
            return Ok(done(
                format!("{name} has this content already"),
                format!("{name} is unchanged"),
            ));
        }
        self.approve(change, &name, ask)?;
        if self.is_cancelled() {
            return Err(cancelled());
        }
        // Between the question and the answer anything may have happened.
        let is_same = self
            .fence
            .resolve(&change.path.to_string_lossy(), Aim::Write)
            .is_ok_and(|now| now == change.path)
            && self.before(&change.path)? == change.before;
        if !is_same {
            return Err(refused(format!(
                "{name} was changed meanwhile by somebody else: nothing was written; read it again"
            )));
        }
        let kept = match &mut self.keeper {
            None => None,
            Some(keeper) => {
                let kept = keeper.before_write(&self.fence, &change.path, &change.after);
                Some(kept.map_err(|error| {
                    refused(format!(
                        "nothing was written: what is there could not be kept: {error}"
                    ))
                })?)
            }
        };
        if let Err(error) = self.put(change) {
            if let (Some(keeper), Some(number)) = (&mut self.keeper, kept) {
                // A checkpoint of nothing is harmless.
                let _ = keeper.drop_unused(number);
            }
            return Err(failed(&error));
        }
        let lines = counted(String::from_utf8_lossy(&change.after).lines().count(), "line");
        let undo = kept.map(|number| format!(" (checkpoint {number})")).unwrap_or_default();
        Ok(done(format!("wrote {name}, {lines}"), format!("wrote {name}, {lines}{undo}")))
    }

    fn approve(&mut self, change: &Change, name: &str, ask: &mut Ask<'_>) -> Result<(), Outcome> {
        match self.rules.on_write(&change.path) {
            Decision::Allow => return Ok(()),
            Decision::Deny(why) => return Err(refused(format!("not written: {why}"))),
            Decision::Ask => {}
        }
        let folder = self.fence.folder_of(&change.path).unwrap_or(self.fence.working()).to_owned();
        let request = Request {
            kind: Kind::Write,
            title: format!("write {name}"),
            detail: diff::of_file(name, change.before.as_deref(), Some(&change.after)),
            folder: self.fence.working().to_owned(),
            always: Some(format!("writes below {}", folder.display())),
            editable: None,
            confinement: None,
        };
        match ask(&request) {
            Verdict::Once => Ok(()),
            Verdict::Always => {
                self.rules.always_write(&folder);
                Ok(())
            }
            Verdict::Edited(_) => Err(refused("not written: the content cannot be edited here")),
            Verdict::No { reason } => Err(denied(&request.title, reason.as_deref())),
        }
    }

    fn put(&self, change: &Change) -> Checked<()> {
        let path = &change.path;
        let write = |source| Error::write(path, source);
        if let Some(folder) = path.parent() {
            atomic::make_common_folder(folder).map_err(write)?;
            if folder.canonicalize().map_err(write)? != folder {
                let why = "the way to it was replaced meanwhile";
                return Err(Error::OutOfBounds { path: path.clone(), why });
            }
        }
        let mode = path.symlink_metadata().ok().map(|found| found.permissions());
        atomic::put(path, mode.as_ref(), &mut |file| file.write_all(&change.after))?;
        Ok(())
    }
}

/// What the model is told when a person says no.
pub(super) fn denied(title: &str, reason: Option<&str>) -> Outcome {
    let text = match reason {
        Some(reason) => format!("not done, the user said no: {reason}"),
        None => "not done: the user said no".to_owned(),
    };
    Outcome {
        text,
        is_error: true,
        shown: Some(format!("not done: {title}")),
        ends_turn: reason.is_none(),
        // The person's own words.
        is_outside: false,
    }
}
