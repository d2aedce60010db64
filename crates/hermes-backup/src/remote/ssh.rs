//! A host as a place, reached with the system's sftp; no shell is needed there.

use std::path::Path;

use super::folder::open_private;
use super::scratch::Scratch;
use super::sftp::{self, Failed, quote};
use super::{Remote, Ssh, Stored, check_content, check_name, not_what_was_sent, ssh_says};
use crate::{Error, Progress, Result, Tell};

/// A host that is reached anew for each step.
pub(super) struct Host {
    ssh: Ssh,
}

impl Host {
    pub(super) fn new(ssh: Ssh) -> Host {
        Host { ssh }
    }

    fn run(&self, doing: &'static str, script: &[String]) -> Result<String> {
        sftp::run(&self.ssh, script).map_err(|failed| ssh_says::error(&self.ssh, doing, failed))
    }

    /// The folder there; what is relative to the login folder is never taken for an option.
    fn folder(&self) -> String {
        let path = &self.ssh.path;
        if path.starts_with('/') { path.clone() } else { format!("./{path}") }
    }

    /// A file there, as a word of a script.
    fn word(&self, name: &str) -> String {
        quote(&format!("{}/{name}", self.folder().trim_end_matches('/')))
    }

    /// Everything in the folder, unfinished uploads too; none if there is no folder.
    fn everything(&self, doing: &'static str) -> Result<Option<Vec<Stored>>> {
        let script = [format!("cd {}", quote(&self.folder())), "ls -lan".to_owned()];
        match sftp::run(&self.ssh, &script) {
            Ok(text) => Ok(Some(sftp::read_list(&text))),
            Err(failed) if ssh_says::is_missing(&failed) => Ok(None),
            Err(failed) => Err(ssh_says::error(&self.ssh, doing, failed)),
        }
    }

    /// Makes the folder and those above it; those that are there already say no, which is let be.
    fn make_folder(&self) -> Result<()> {
        let whole = self.folder();
        let ends = whole.match_indices('/').map(|(at, _)| at).chain([whole.len()]);
        let script: Vec<String> = ends
            .filter(|end| *end > 0 && &whole[..*end] != ".")
            .map(|end| format!("-mkdir {}", quote(&whole[..end])))
            .collect();
        self.run("send to", &script).map(drop)
    }

    /// How much of a file is there from an earlier try.
    fn sent_before(&self, partial: &str) -> Result<u64> {
        match self.everything("send to")? {
            Some(found) => {
                Ok(found.iter().find(|file| file.name == partial).map_or(0, |file| file.size))
            }
            None => self.make_folder().map(|()| 0),
        }
    }

    /// Sends the file, or what is missing of it, under its temporary name.
    fn send(&self, from: &Path, partial: &str, before: u64, size: u64) -> Result<()> {
        if before == size {
            return Ok(());
        }
        let failed = |failed: Failed| ssh_says::error(&self.ssh, "send to", failed);
        let to = self.word(partial);
        if before > size {
            self.run("send to", &[format!("rm {to}")])?;
        }
        if self.ssh.rsync {
            let to = format!("{}/{partial}", self.folder().trim_end_matches('/'));
            return sftp::rsync(&self.ssh, from, &to).map(drop).map_err(failed);
        }
        let verb = if (1..size).contains(&before) { "reput" } else { "put" };
        let script = [format!("{verb} -f {} {to}", local_word(from)?), format!("-chmod 600 {to}")];
        self.run("send to", &script).map(drop)
    }

    /// Fetches what was sent and hashes it.
    fn read_back(&self, from: &Path, partial: &str) -> Result<String> {
        let folder = from.parent().unwrap_or_else(|| Path::new("."));
        let failed = |source| Error::file("write to", folder, source);
        let copy = Scratch::make(folder).map_err(failed)?;
        let script = [format!("get {} {}", self.word(partial), local_word(copy.path())?)];
        self.run("read back from", &script)?;
        copy.hash().map_err(failed)
    }

    /// Gives what was sent its name, over one that is there.
    fn name(&self, partial: &str, name: &str) -> Result<()> {
        let rename = format!("rename {} {}", self.word(partial), self.word(name));
        match sftp::run(&self.ssh, std::slice::from_ref(&rename)) {
            Ok(_) => Ok(()),
            // Servers without the newer rename do not replace.
            Err(Failed::Said(said)) if said.contains("Failure") => {
                self.run("send to", &[format!("-rm {}", self.word(name)), rename]).map(drop)
            }
            Err(failed) => Err(ssh_says::error(&self.ssh, "send to", failed)),
        }
    }
}

impl Remote for Host {
    fn place(&self) -> String {
        self.ssh.place()
    }

    fn list(&self) -> Result<Vec<Stored>> {
        let mut found = self.everything("list")?.unwrap_or_default();
        found.retain(|file| !file.name.starts_with('.'));
        Ok(found)
    }

    fn put(&self, from: &Path, name: &str, sha256: &str, tell: Tell<'_>) -> Result<()> {
        check_name("send to", &self.place(), name)?;
        check_content(from, sha256)?;
        let of = std::fs::metadata(from).map_err(|source| Error::file("read", from, source))?.len();
        let partial = format!(".{name}.partial");
        let doing = format!("sending {name}");
        let mut before = self.sent_before(&partial)?;
        loop {
            tell(Progress { doing: &doing, done: before.min(of), of });
            self.send(from, &partial, before, of)?;
            tell(Progress { doing: &doing, done: of, of });
            if self.read_back(from, &partial)? == sha256 {
                return self.name(&partial, name);
            }
            self.run("delete from", &[format!("rm {}", self.word(&partial))])?;
            if before == 0 {
                return Err(not_what_was_sent(from, sha256, &self.place()));
            }
            // What an earlier try had left was something else: once more from the start.
            before = 0;
        }
    }

    fn get(&self, name: &str, to: &Path, tell: Tell<'_>) -> Result<()> {
        check_name("fetch from", &self.place(), name)?;
        // Made here, so that it is readable by its owner alone.
        let file = open_private(to).map_err(|source| Error::file("write to", to, source))?;
        let before = file.metadata().map_err(|source| Error::file("read", to, source))?.len();
        tell(Progress { doing: &format!("fetching {name}"), done: before, of: 0 });
        let verb = if before > 0 { "reget" } else { "get" };
        self.run("fetch from", &[format!("{verb} {} {}", self.word(name), local_word(to)?)])?;
        file.sync_all().map_err(|source| Error::file("write to", to, source))
    }

    fn delete(&self, name: &str) -> Result<()> {
        check_name("delete from", &self.place(), name)?;
        match sftp::run(&self.ssh, &[format!("rm {}", self.word(name))]) {
            Err(failed) if !ssh_says::is_missing(&failed) => {
                Err(ssh_says::error(&self.ssh, "delete from", failed))
            }
            _ => Ok(()),
        }
    }

    fn warnings(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// A file here, as a word of a script.
fn local_word(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => Ok(quote(text)),
        _ => {
            let why = "its path is not text that sftp accepts".to_owned();
            Err(Error::Setting { what: path.display().to_string(), why })
        }
    }
}
