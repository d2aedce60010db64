//! Let the user change a text in their own editor.

use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use hermes_home::env::Env;

use hermes_app::platform;
use hermes_app::problem::{Kind, Problem};

/// Opens a private copy of `text` in the user's editor; none when it came back unchanged.
///
/// The copy stays where it is when the editor fails, so that no typed word is lost.
pub(crate) fn change(env: &Env, name: &str, text: &str) -> anyhow::Result<Option<Edited>> {
    let command = match env.editor() {
        Some(command) => command,
        None if !std::io::stdin().is_terminal() => return Err(no_editor().into()),
        None => "vi",
    };
    let folder = private_folder()?;
    let copy = folder.path().join(name);
    hermes_home::atomic::write(&copy, text.as_bytes())?;
    let changed = run(command, &copy).and_then(|()| Ok(fs::read_to_string(&copy)?));
    match changed {
        Ok(changed) if changed == text => Ok(None),
        Ok(changed) => Ok(Some(Edited { text: changed, folder })),
        Err(error) => {
            let kept = folder.keep().join(name);
            Err(error).with_context(|| format!("your text is kept in {}", kept.display()))
        }
    }
}

/// What came back from the editor, and the copy that is kept until it is safely written.
pub(crate) struct Edited {
    pub(crate) text: String,
    folder: tempfile::TempDir,
}

impl Edited {
    /// Keeps the copy because the text could not be written, and says where it is.
    pub(crate) fn keep(self) -> std::path::PathBuf {
        self.folder.keep()
    }
}

/// A folder that nobody else can look into.
fn private_folder() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("hermes-edit-").tempdir()?;
    platform::set_mode(folder.path(), 0o700)?;
    Ok(folder)
}

/// The editor may be a command with arguments and quotes, so the shell takes it apart.
fn run(command: &str, file: &Path) -> anyhow::Result<()> {
    let failed = |why: String| {
        Problem::new(Kind::Failure, format!("could not edit with {command}: {why}"))
            .hint("set EDITOR to the editor you use")
    };
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(format!("{command} \"$@\"")).arg("editor").arg(file);
    let status = shell.status().map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string()).into()) }
}

fn no_editor() -> Problem {
    Problem::usage("there is no terminal to edit in")
        .hint("set EDITOR to a program that edits the file")
}
