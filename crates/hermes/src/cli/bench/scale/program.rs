//! The program as a whole: CPU time from its start to its printed answer, and the memory it takes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use hermes_app::platform;

/// What runs of the program took.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) times: Vec<Duration>,
    /// The most anonymous memory seen, in bytes; none where the system does not tell.
    pub(super) anonymous: Option<u64>,
    /// How many runs failed.
    pub(super) failed: usize,
}

/// Runs `hermes memory search` once for each question.
pub(super) fn searches(home: &Path, questions: &[String]) -> anyhow::Result<Runs> {
    let mut runs = Runs::default();
    for question in questions {
        let before = platform::children_cpu();
        let mut child = Command::new(std::env::current_exe()?)
            .args(["memory", "search", question])
            .env("HERMES_HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not start this program again")?;
        let status = loop {
            runs.anonymous = runs.anonymous.max(anonymous_memory(child.id()));
            if let Some(status) = child.try_wait()? {
                break status;
            }
        };
        runs.times.push(platform::children_cpu() - before);
        runs.failed += usize::from(!status.success());
    }
    Ok(runs)
}

/// What a running process holds beyond its files, where the system tells.
pub(crate) fn anonymous_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
