//! A memory that lives as long as a measurement, filled through the recording that the program itself uses.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::ensure;
use hermes_home::Home;
use hermes_home::env::Env;
use hermes_home::init::{self, Owner};
use hermes_home::layout::Wanted;
use hermes_home::redaction::Policy;
use hermes_llm::Embedded;
use hermes_memory::chunk::Vectors;
use hermes_memory::{record, reembed};
use hermes_store::memory::{Change, Memory, Scope, ServerMemory, Wanted as WantedMemory};
use hermes_store::postgres::Pool;
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use tempfile::TempDir;

use crate::cpu;

const WAIT: Duration = Duration::from_secs(10);
/// As many as the program records in one transaction.
const BATCH: usize = 500;

/// A home in a temporary folder with an empty memory.
pub(crate) struct Scratch {
    home: Home,
    path: PathBuf,
    /// The connections and the profile of a memory that is on a server instead.
    server: Option<(Pool, String)>,
    now: Timestamp,
    _folder: Option<TempDir>,
}

impl Scratch {
    pub(crate) fn new(now: Timestamp) -> anyhow::Result<Scratch> {
        let folder = tempfile::Builder::new().prefix("hermes-bench-").tempdir()?;
        let scratch = Scratch::at(&folder.path().join("home"), now)?;
        Ok(Scratch { _folder: Some(folder), ..scratch })
    }

    /// The same in a folder that stays; what is there already is used.
    pub(crate) fn at(folder: &Path, now: Timestamp) -> anyhow::Result<Scratch> {
        let home = home_at(folder)?;
        let path = home.folder().join("memory.db");
        let scratch = Scratch { home, path, server: None, now, _folder: None };
        let change = Change { actor: "bench", at: now };
        if !scratch.path.exists() {
            Memory::create(scratch.wanted(), "owner", change)?;
        }
        scratch.embed(now)?;
        Ok(scratch)
    }

    /// The same with a memory of its own on a server; it stays there under a new name.
    pub(crate) fn on_server(pool: Pool, now: Timestamp) -> anyhow::Result<Scratch> {
        let mut scratch = Scratch::new(now)?;
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bench-{}-{number}", std::process::id());
        scratch.server = Some((pool, name));
        scratch.embed(now)?;
        Ok(scratch)
    }

    /// Lets the model inside the program make the vectors.
    fn embed(&self, now: Timestamp) -> anyhow::Result<()> {
        let settings = reembed::Settings { batch: BATCH, now, zone: &TimeZone::UTC };
        let mut store = self.open(Access::Write)?;
        reembed::reembed(&mut store, &Embedded::new(), &settings, &mut |_| {})?;
        Ok(())
    }

    pub(crate) fn open(&self, access: Access) -> anyhow::Result<Memory> {
        let Some((pool, profile)) = &self.server else {
            return Ok(Memory::open(self.wanted(), access, WAIT)?);
        };
        let wanted = ServerMemory { pool, profile, owner: "owner", access, wait: WAIT };
        let change = Change { actor: "bench", at: self.now };
        Ok(Memory::on_server(wanted, change)?)
    }

    /// The home.
    pub(crate) fn located(&self) -> &Home {
        &self.home
    }

    /// The folder to name in `HERMES_HOME`.
    pub(crate) fn home(&self) -> &Path {
        self.home.folder()
    }

    /// The profile of its memory.
    pub(crate) fn profile(&self) -> &str {
        self.server.as_ref().map_or(self.home.profile_name(), |(_, profile)| profile)
    }

    /// The size of the database and of its log, in bytes.
    pub(crate) fn size(&self) -> anyhow::Result<u64> {
        let log = self.path.with_extension("db-wal");
        Ok(fs::metadata(&self.path)?.len() + fs::metadata(log).map_or(0, |found| found.len()))
    }

    fn wanted(&self) -> WantedMemory<'_> {
        WantedMemory { path: &self.path, profile: self.home.profile_name() }
    }
}

/// A home in a folder, which is made if it is not there.
pub(crate) fn home_at(folder: &Path) -> anyhow::Result<Home> {
    let wanted = Wanted { home: Some(folder.to_owned()), profile: None };
    let home = Home::locate(&wanted, &Env::default())?;
    init::prepare(&home, Owner::Ours)?;
    Ok(home)
}

/// One message as a line of a recording.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) role: &'a str,
    pub(crate) speaker: Option<&'a str>,
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) text: &'a str,
    pub(crate) caption: Option<&'a str>,
    pub(crate) external_id: &'a str,
}

/// Fills a memory in the batches of the program, and keeps account of the CPU time.
pub(crate) struct Filling {
    pub(crate) store: Memory,
    pub(crate) messages: u64,
    pub(crate) spent: Duration,
    now: Timestamp,
    lines: Vec<u8>,
    waiting: usize,
}

impl Filling {
    pub(crate) fn new(scratch: &Scratch, now: Timestamp) -> anyhow::Result<Filling> {
        Ok(Filling {
            store: scratch.open(Access::Write)?,
            messages: 0,
            spent: Duration::ZERO,
            now,
            lines: Vec::new(),
            waiting: 0,
        })
    }

    /// The scope of a user of this name, who is made if there is none.
    pub(crate) fn user(&mut self, name: &str) -> anyhow::Result<Scope> {
        let change = Change { actor: "bench", at: self.now };
        Ok(Scope::of(self.store.user_or_new(name, change)?))
    }

    /// Adds a message of the user; it is written when the batch is full or the user is finished.
    pub(crate) fn add(&mut self, whose: &Whose<'_>, line: &Line<'_>) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.lines, line)?;
        self.lines.push(b'\n');
        self.waiting += 1;
        if self.waiting == BATCH { self.finish(whose) } else { Ok(()) }
    }

    /// Writes what waits.
    pub(crate) fn finish(&mut self, whose: &Whose<'_>) -> anyhow::Result<()> {
        let settings = record::Settings {
            source: whose.source,
            scope: whose.scope,
            zone: &TimeZone::UTC,
            now: self.now,
            vectors: Vectors::Now,
            secrets: Policy::Redact,
        };
        let mut lines = Cursor::new(&self.lines);
        let recording = || record::record(&mut self.store, &mut lines, &settings, &mut |_| {});
        let (report, spent) = cpu::timed(recording)?;
        self.spent += spent;
        if let Some(problem) = report.problems.first() {
            anyhow::bail!("could not record a message: {}", problem.reason);
        }
        ensure!(report.added == self.waiting as u64, "some messages were recorded already");
        self.messages += report.added;
        self.lines.clear();
        self.waiting = 0;
        Ok(())
    }

    /// The time of messages that have none.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Messages for each second of CPU time.
    pub(crate) fn rate(&self) -> f64 {
        self.messages as f64 / self.spent.as_secs_f64().max(1e-9)
    }
}

/// Whose messages they are, and where they come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whose<'a> {
    pub(crate) scope: Scope,
    pub(crate) source: &'a str,
}

/// Mebibytes for every 10,000 messages.
pub(crate) fn size_per_10k(bytes: u64, messages: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0) / (messages.max(1) as f64 / 10_000.0)
}
