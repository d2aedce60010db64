//! The program that is measured: found, run on a home, and watched from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_app::problem::{Kind, Problem};

use crate::cpu;

/// The longest pause between two looks at the memory of a process.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// The `hermes` program.
pub(crate) struct Program {
    path: PathBuf,
}

/// What one run took.
pub(crate) struct Ran {
    pub(crate) cpu: Duration,
    /// The most anonymous memory seen, in bytes, where the system tells.
    pub(crate) anonymous: Option<u64>,
    /// The most memory it held with its mapped files, in bytes, where the system tells.
    pub(crate) resident: Option<u64>,
}

impl Program {
    /// The program that was named, else the one beside this program.
    pub(crate) fn find(named: Option<PathBuf>) -> anyhow::Result<Program> {
        let beside = || -> std::io::Result<PathBuf> {
            let name = format!("hermes{}", std::env::consts::EXE_SUFFIX);
            Ok(std::env::current_exe()?.with_file_name(name))
        };
        let path = named.map_or_else(beside, Ok)?;
        if !path.is_file() {
            let message = format!("there is no program to measure at {}", path.display());
            let hint =
                "build it with `cargo build --release -p hermes`, or name another with --program";
            return Err(Problem::new(Kind::Missing, message).hint(hint).into());
        }
        // It is started in other folders than this one.
        Ok(Program { path: path.canonicalize()? })
    }

    /// A run of it on a home, with nothing to read and nobody who reads what it prints.
    pub(crate) fn on(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(arguments).env("HERMES_HOME", home).current_dir(home);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Runs it on a home to its end, without its remarks.
    pub(crate) fn run(&self, home: &Path, arguments: &[&str]) -> anyhow::Result<Ran> {
        let mut command = self.on(home, arguments);
        command.arg("--quiet");
        watched(command)
    }
}

/// Runs a program to its end, which must be a good one.
pub(crate) fn watched(mut command: Command) -> anyhow::Result<Ran> {
    let (before, begun) = (cpu::of_children(), Instant::now());
    let mut child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
    let (mut anonymous, mut resident) = (None, None);
    let status = loop {
        anonymous = anonymous.max(memory_of(child.id(), "RssAnon:"));
        resident = resident.max(memory_of(child.id(), "VmHWM:"));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // A short run is looked at often, a long one seldom.
        std::thread::sleep((begun.elapsed() / 100).min(LONGEST_PAUSE));
    };
    ensure!(status.success(), "{command:?} failed");
    Ok(Ran { cpu: cpu::of_children() - before, anonymous, resident })
}

/// What the system tells about the memory of a running process, in bytes.
pub(crate) fn memory_of(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
