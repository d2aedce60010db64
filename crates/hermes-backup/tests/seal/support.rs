//! What the tests of encryption share: archives in memory, a gpg home of their own, a big stream.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use hermes_backup::seal::{self, Keys, Passphrase, Sealing};
use jiff::Timestamp;
use tempfile::TempDir;

/// Whether the long counts are asked for.
pub(crate) fn full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

/// The time at which keys are made and used: that of the machine, since gpg reads its clock.
pub(crate) fn now() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).expect("a clock")
}

pub(crate) fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.to_owned())
}

/// Bytes that look random and are the same every time.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    Noise::new(length as u64).read_to_end(&mut bytes).expect("a stream in memory");
    bytes
}

/// A stream of such bytes that needs no memory; how it is read makes no difference to it.
#[derive(Clone)]
pub(crate) struct Noise {
    at: u64,
    end: u64,
}

impl Noise {
    pub(crate) fn new(length: u64) -> Noise {
        Noise { at: 0, end: length }
    }
}

/// The next of a row of numbers that look random.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

impl Read for Noise {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() && self.at < self.end {
            let eight = (self.at / 8 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let eight = (eight ^ (eight >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes();
            let from = usize::try_from(self.at % 8).unwrap_or(0);
            let left = usize::try_from(self.end - self.at).unwrap_or(8);
            let length = (8 - from).min(left).min(buffer.len() - done);
            buffer[done..done + length].copy_from_slice(&eight[from..from + length]);
            done += length;
            self.at += length as u64;
        }
        Ok(done)
    }
}

/// Encrypts in memory.
pub(crate) fn sealed(sealing: &Sealing, plain: &[u8]) -> Result<(Vec<u8>, Keys)> {
    let mut out = Vec::new();
    let keys = seal::seal(sealing, plain, &mut out)?;
    Ok((out, keys))
}

/// Opens an archive that is given as bytes.
pub(crate) fn opened(archive: &[u8], keys: &Keys) -> Result<Vec<u8>> {
    opened_as("archive.bin", archive, keys)
}

/// Opens an archive of that name.
pub(crate) fn opened_as(name: &str, archive: &[u8], keys: &Keys) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = write(folder.path(), name, archive)?;
    let mut plain = Vec::new();
    seal::open(&path, keys)?.read_to_end(&mut plain)?;
    Ok(plain)
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(&path)?.write_all(bytes)?;
    Ok(path)
}

/// A gpg of its own: keys, settings and agent in a short temporary path.
pub(crate) struct Gpg {
    pub(crate) home: TempDir,
}

impl Gpg {
    pub(crate) fn new() -> Result<Gpg> {
        let home = tempfile::Builder::new().prefix("g").tempdir_in("/tmp")?;
        Ok(Gpg { home })
    }

    /// Runs gpg; what it prints is returned, a failure is an error with what it said.
    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let output = self.try_run(arguments, input)?;
        if !output.status.success() {
            bail!("gpg {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.stdout)
    }

    pub(crate) fn try_run(&self, arguments: &[&str], input: &[u8]) -> Result<Output> {
        let mut command = Command::new("gpg");
        command.arg("--homedir").arg(self.home.path()).args(QUIET).args(arguments);
        fed(command, input)
    }

    /// Runs a command line as a user would type it, with this home.
    pub(crate) fn shell(&self, line: &str) -> Result<Vec<u8>> {
        let rest = line.strip_prefix("gpg ").context("the command is one of gpg")?;
        let mut command = Command::new("sh");
        let line = format!("gpg {} --passphrase '' {rest}", QUIET.join(" "));
        command.arg("-c").arg(line).env("GNUPGHOME", self.home.path());
        let output = fed(command, b"")?;
        if !output.status.success() {
            bail!("{rest}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.stdout)
    }

    /// Makes a key without a passphrase; returns its fingerprint.
    pub(crate) fn new_key(&self, user: &str, kind: &[&str]) -> Result<String> {
        let mut arguments = vec!["--passphrase", "", "--quick-generate-key", user];
        arguments.extend(kind);
        self.run(&arguments, b"")?;
        self.fingerprint(user)
    }

    pub(crate) fn fingerprint(&self, user: &str) -> Result<String> {
        let listed = self.run(&["--with-colons", "--list-keys", user], b"")?;
        let listed = String::from_utf8(listed)?;
        let line = listed.lines().find(|line| line.starts_with("fpr:")).context("a fingerprint")?;
        Ok(line.split(':').nth(9).context("a fingerprint")?.to_owned())
    }

    pub(crate) fn public(&self, user: &str) -> Result<Vec<u8>> {
        self.run(&["--armor", "--export", user], b"")
    }

    pub(crate) fn private(&self, user: &str) -> Result<Vec<u8>> {
        self.run(&["--armor", "--export-secret-keys", user], b"")
    }
}

impl Drop for Gpg {
    fn drop(&mut self) {
        let _ = Command::new("gpgconf")
            .arg("--homedir")
            .arg(self.home.path())
            .args(["--kill", "all"])
            .output();
    }
}

const QUIET: &[&str] = &[
    "--batch",
    "--no-tty",
    "--disable-dirmngr",
    "--no-auto-key-locate",
    "--pinentry-mode",
    "loopback",
    "--trust-model",
    "always",
];

/// Runs a program with that input.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Result<Output> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("a pipe")?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(input);
        });
        Ok(child.wait_with_output()?)
    })
}

/// The commands that a hint shows, in the order of the text.
pub(crate) fn commands(hint: &str) -> Vec<String> {
    hint.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}
