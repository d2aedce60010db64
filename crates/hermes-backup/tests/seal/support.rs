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
pub fn full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

/// The time at which keys are made and used: that of the machine, since gpg reads its clock.
pub fn now() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).expect("a clock")
}

pub fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.to_owned())
}

/// Bytes that look random and are the same every time.
pub fn noise(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    Noise::new(length as u64).read_to_end(&mut bytes).expect("a stream in memory");
    bytes
}

/// A stream of such bytes that needs no memory.
#[derive(Clone)]
pub struct Noise {
    state: u64,
    left: u64,
}

impl Noise {
    pub fn new(length: u64) -> Noise {
        Noise { state: 0x9E37_79B9_7F4A_7C15, left: length }
    }
}

/// The next of a row of numbers that look random.
pub fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

impl Read for Noise {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for eight in buffer[..length].chunks_mut(8) {
            let bytes = next(&mut self.state).to_le_bytes();
            eight.copy_from_slice(&bytes[..eight.len()]);
        }
        self.left -= length as u64;
        Ok(length)
    }
}

/// Encrypts in memory.
pub fn sealed(sealing: &Sealing, plain: &[u8]) -> Result<(Vec<u8>, Keys)> {
    let mut out = Vec::new();
    let keys = seal::seal(sealing, plain, &mut out)?;
    Ok((out, keys))
}

/// Opens an archive that is given as bytes.
pub fn opened(archive: &[u8], keys: &Keys) -> Result<Vec<u8>> {
    opened_as("archive.bin", archive, keys)
}

/// Opens an archive of that name.
pub fn opened_as(name: &str, archive: &[u8], keys: &Keys) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = write(folder.path(), name, archive)?;
    let mut plain = Vec::new();
    seal::open(&path, keys)?.read_to_end(&mut plain)?;
    Ok(plain)
}

pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(&path)?.write_all(bytes)?;
    Ok(path)
}

/// A gpg of its own: keys, settings and agent in a short temporary path.
pub struct Gpg {
    pub home: TempDir,
}

impl Gpg {
    pub fn new() -> Result<Gpg> {
        let home = tempfile::Builder::new().prefix("g").tempdir_in("/tmp")?;
        Ok(Gpg { home })
    }

    /// Runs gpg; what it prints is returned, a failure is an error with what it said.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let output = self.try_run(arguments, input)?;
        if !output.status.success() {
            bail!("gpg {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.stdout)
    }

    pub fn try_run(&self, arguments: &[&str], input: &[u8]) -> Result<Output> {
        let mut command = Command::new("gpg");
        command.arg("--homedir").arg(self.home.path()).args(QUIET).args(arguments);
        fed(command, input)
    }

    /// Runs a command line as a user would type it, with this home.
    pub fn shell(&self, line: &str) -> Result<Vec<u8>> {
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
    pub fn new_key(&self, user: &str, kind: &[&str]) -> Result<String> {
        let mut arguments = vec!["--passphrase", "", "--quick-generate-key", user];
        arguments.extend(kind);
        self.run(&arguments, b"")?;
        self.fingerprint(user)
    }

    pub fn fingerprint(&self, user: &str) -> Result<String> {
        let listed = self.run(&["--with-colons", "--list-keys", user], b"")?;
        let listed = String::from_utf8(listed)?;
        let line = listed.lines().find(|line| line.starts_with("fpr:")).context("a fingerprint")?;
        Ok(line.split(':').nth(9).context("a fingerprint")?.to_owned())
    }

    pub fn public(&self, user: &str) -> Result<Vec<u8>> {
        self.run(&["--armor", "--export", user], b"")
    }

    pub fn private(&self, user: &str) -> Result<Vec<u8>> {
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
pub fn fed(mut command: Command, input: &[u8]) -> Result<Output> {
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
pub fn commands(hint: &str) -> Vec<String> {
    hint.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}
