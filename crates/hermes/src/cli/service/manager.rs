//! The programs of the system that start services: systemctl and crontab.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use hermes_app::problem::{Kind, Problem};

/// Whose services are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reach {
    /// The services of this user.
    User,
    /// The services of the machine.
    System,
}

/// Whether systemd runs and can be asked.
pub(crate) fn has_systemd(reach: Reach) -> bool {
    let said = systemctl(reach, &["is-system-running"]).map(|output| output.stdout);
    let said = said.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    ["running", "degraded", "starting", "initializing", "maintenance"].contains(&said.trim())
}

/// Whether a unit is active now.
pub(crate) fn is_active(reach: Reach, unit: &str) -> bool {
    systemctl(reach, &["is-active", "--quiet", unit]).is_ok_and(|output| output.status.success())
}

/// Runs systemctl; what it says is the reason if it fails.
pub(crate) fn ask_systemd(reach: Reach, arguments: &[&str]) -> anyhow::Result<()> {
    let output = systemctl(reach, arguments).map_err(|error| cannot("systemctl", &error))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let what = format!("systemctl {} failed: {why}", arguments.join(" "));
    Err(Problem::new(Kind::Failure, what).into())
}

/// The user's crontab; nothing if there is none, or no cron.
pub(crate) fn crontab() -> Option<String> {
    let output = Command::new("crontab").arg("-l").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(if output.status.success() { text } else { String::new() })
}

/// Replaces the user's crontab.
pub(crate) fn set_crontab(text: &str) -> anyhow::Result<()> {
    let mut child = Command::new("crontab")
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| cannot("crontab", &error))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    if child.wait()?.success() {
        return Ok(());
    }
    Err(Problem::new(Kind::Failure, "crontab refused the new line").into())
}

fn systemctl(reach: Reach, arguments: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new("systemctl");
    if reach == Reach::User {
        command.arg("--user");
    }
    command.args(arguments).stdin(Stdio::null()).output()
}

fn cannot(program: &str, error: &std::io::Error) -> Problem {
    Problem::new(Kind::Failure, format!("could not run {program}: {error}"))
}
