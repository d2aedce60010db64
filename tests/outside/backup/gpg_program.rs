//! The stock gpg with a home of its own, and other programs that are fed.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

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
