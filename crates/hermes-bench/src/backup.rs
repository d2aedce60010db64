//! hermes-bench backup: making, checking and restoring a backup, beside the usual pipeline of shell programs

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use hermes_app::numbers::Numbers;
use hermes_app::platform;
use hermes_app::text::{bytes, thousands};
use hermes_home::Home;
use hermes_store::sessions::{NewMessage, NewSession, SessionId, SessionStore};
use jiff::Timestamp;

use crate::cpu;
use crate::figures::{Figure, Table, Times, milliseconds};
use crate::made_up::{self, Session};
use crate::program::{self, Program, Ran};
use crate::scratch;
use crate::text::Vocabulary;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages state.db holds
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    messages: usize,
    /// How long a message is on average, in characters
    #[arg(long, default_value_t = 1_300, value_name = "COUNT")]
    length: usize,
    /// How large the home is whose memory use is measured, in megabytes of random bytes; 0: not measured
    #[arg(long, default_value_t = 2_000, value_name = "MB")]
    large: u64,
    /// How many messages are appended for the writer's own times, before a backup and during it
    #[arg(long, default_value_t = 2_000, value_name = "COUNT")]
    appends: usize,
}

const MEMORY_AIM: u64 = 128 * 1024 * 1024;

/// Folders of one measurement: short, for gpg's sockets have short names.
struct Place<'a> {
    program: &'a Program,
    folder: tempfile::TempDir,
    home: Home,
}

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    let folder = tempfile::Builder::new().prefix("hb").tempdir()?;
    let home = scratch::home_at(&folder.path().join(".hermes"))?;
    let place = Place { program, folder, home };
    fill(&place, arguments, now)?;
    let key = place.key()?;
    place.hermes(&["backup", "key", "import", path(&key)?])?;
    let size = fs::metadata(place.home.state_db())?.len();
    let mut results = vec![Figure::plain("state.db", bytes(size))];
    results.extend(beside_pipeline(&place)?);
    results.push(writer(&place, arguments, now)?);
    if arguments.large > 0 {
        results.extend(large(&place, arguments.large)?);
    }
    let title = format!(
        "A home with {} messages of {} characters on average, zstd, encrypted to a public key, CPU time",
        thousands(arguments.messages as u64),
        arguments.length
    );
    place.end_agent();
    Ok(Table { title, results })
}

fn fill(place: &Place<'_>, arguments: &Arguments, now: Timestamp) -> anyhow::Result<()> {
    let mut store = made_up::session_store(&place.home.state_db())?;
    let vocabulary = Vocabulary::new();
    let mut numbers = Numbers::new(11);
    made_up::fill(&mut store, arguments.messages, now, |number, count| {
        let mut text = || {
            let length = arguments.length / 2 + numbers.below(arguments.length.max(1));
            vocabulary.message(&mut numbers, length)
        };
        let texts = (0..count).map(|_| text()).collect();
        let begins = now.as_second() as f64 - 60.0 * count as f64;
        Session { number, title: None, begins, texts }
    })
}

/// Our backup, and what a shell script does: `sqlite3 .backup`, `tar -cz`, `gpg --encrypt`, nothing verified.
fn beside_pipeline(place: &Place<'_>) -> anyhow::Result<Vec<Figure>> {
    let pipeline = place.pipeline()?;
    let (ours, printed) = place.hermes(&["--json", "backup", "create"])?;
    let said: serde_json::Value = serde_json::from_str(&printed)?;
    let checking = Duration::from_secs_f64(said["checking_seconds"].as_f64().unwrap_or_default());
    let making = ours.cpu.saturating_sub(checking);
    let ratio = making.as_secs_f64() / pipeline.as_secs_f64().max(1e-9);
    let (verified, _) =
        place.hermes(&["backup", "verify", "--identity", path(&place.private())?])?;
    Ok(vec![
        Figure::plain("sqlite3 .backup + tar -cz + gpg", seconds(pipeline)),
        Figure::plain("backup create: copy, pack, encrypt, read back", seconds(making)),
        Figure::new("the same to the pipeline", format!("{ratio:.2} ×"), "≤ 0.50 ×", ratio <= 0.5),
        Figure::plain("integrity and full-text checks of the copies, beside it", seconds(checking)),
        Figure::plain("backup verify: decrypt, compare every member", seconds(verified.cpu)),
        Figure::plain("the archive", bytes(said["size"].as_u64().unwrap_or_default())),
    ])
}

/// How long a writer waits while a backup is made, beside how long it waits without one.
fn writer(place: &Place<'_>, arguments: &Arguments, now: Timestamp) -> anyhow::Result<Figure> {
    let session = SessionId::new(now, [9, 9, 9]);
    let mut store = made_up::session_store(&place.home.state_db())?;
    store.create_session(&NewSession::plain(session.clone(), now, "bench"))?;
    let never = AtomicBool::new(false);
    let before = append(&mut store, &session, now, arguments.appends, &never)?;
    let ended = AtomicBool::new(false);
    let (during, backup) = std::thread::scope(|scope| {
        let made = scope.spawn(|| {
            let made = place.hermes(&["backup", "create"]);
            ended.store(true, Ordering::Relaxed);
            made
        });
        let during = append(&mut store, &session, now, usize::MAX, &ended);
        (during, made.join())
    });
    backup.map_err(|_| anyhow::anyhow!("the backup did not end"))??;
    let (before, during) = (Times::new(before), Times::new(during?));
    let ratio = during.at(0.99).as_secs_f64() / before.at(0.99).as_secs_f64().max(1e-9);
    let measured = format!(
        "{ratio:.1} × (p99 {} of {} appends, {} without)",
        milliseconds(during.at(0.99)),
        during.count(),
        milliseconds(before.at(0.99))
    );
    Ok(Figure::new(
        "a writer's p99 during a backup, to its own without",
        measured,
        "≤ 2 ×",
        ratio <= 2.0,
    ))
}

/// Waiting counts here, so it is the clock that is read and not CPU time; both are measured in one run.
fn append(
    store: &mut SessionStore,
    session: &SessionId,
    now: Timestamp,
    most: usize,
    ended: &AtomicBool,
) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    while times.len() < most && !ended.load(Ordering::Relaxed) {
        let message =
            NewMessage::text("user", "a message that is written while a backup is made", now);
        let begun = Instant::now();
        store.append(session, &[message])?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// The memory that a large archive takes to make, to verify and to restore.
fn large(place: &Place<'_>, megabytes: u64) -> anyhow::Result<Vec<Figure>> {
    let mut numbers = Numbers::new(17);
    fs::create_dir_all(place.home.workspace())?;
    let mut file = File::create(place.home.workspace().join("large.bin"))?;
    let mut block = vec![0u8; 1_000_000];
    for _ in 0..megabytes {
        block.chunks_mut(8).for_each(|chunk| {
            let word = (numbers.fraction().to_bits() ^ (numbers.below(1 << 30) as u64) << 20)
                .to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        });
        file.write_all(&block)?;
    }
    drop(file);
    let private = place.private();
    let to = place.folder.path().join("restored");
    let steps: [(&str, &[&str]); 3] = [
        ("create", &["backup", "create"]),
        ("verify", &["backup", "verify", "--identity", path(&private)?]),
        ("restore", &["backup", "restore", "--to", path(&to)?, "--identity", path(&private)?]),
    ];
    let mut figures = Vec::new();
    for (name, arguments) in steps {
        let (ran, _) = place.hermes(arguments)?;
        let what = format!("memory of {name} with {megabytes} MB that cannot be made smaller");
        let Some(most) = ran.resident else { continue };
        figures.push(Figure::new(&what, bytes(most), "< 128 MB", most < MEMORY_AIM));
    }
    Ok(figures)
}

impl Place<'_> {
    fn private(&self) -> PathBuf {
        self.folder.path().join("private.asc")
    }

    fn gpg(&self) -> Command {
        let mut gpg = Command::new("gpg");
        gpg.arg("--homedir").arg(self.folder.path().join("g"));
        gpg.args(["--batch", "--no-tty", "--quiet", "--disable-dirmngr", "--no-auto-key-locate"]);
        gpg.args(["--pinentry-mode", "loopback", "--passphrase", "", "--trust-model", "always"]);
        gpg
    }

    /// A pair of keys of gpg itself; the public one is returned.
    fn key(&self) -> anyhow::Result<PathBuf> {
        fs::create_dir(self.folder.path().join("g"))?;
        platform::set_mode(&self.folder.path().join("g"), 0o700)?;
        let id = "bench@example.org";
        let mut make = self.gpg();
        make.args(["--quick-generate-key", id, "future-default", "default", "never"]);
        done(make)?;
        let public = self.folder.path().join("public.asc");
        let mut export = self.gpg();
        export.arg("--armor").arg("--output").arg(&public).args(["--export", id]);
        done(export)?;
        let mut private = self.gpg();
        private
            .arg("--armor")
            .arg("--output")
            .arg(self.private())
            .args(["--export-secret-keys", id]);
        done(private)?;
        Ok(public)
    }

    fn end_agent(&self) {
        let homedir = self.folder.path().join("g");
        // An agent that is gone already is as good as one that was ended.
        let _ =
            Command::new("gpgconf").arg("--homedir").arg(homedir).args(["--kill", "all"]).status();
    }

    fn pipeline(&self) -> anyhow::Result<Duration> {
        let snapshot = self.folder.path().join("snapshot.db");
        let before = cpu::of_children();
        let mut copy = Command::new("sqlite3");
        copy.arg(self.home.state_db()).arg(format!(".backup '{}'", snapshot.display()));
        done(copy)?;
        let mut tar = Command::new("tar")
            .args(["-cz", "--exclude=.hermes/state.db*", "-C"])
            .arg(self.folder.path())
            .args([".hermes", "snapshot.db"])
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start tar")?;
        let mut gpg = self.gpg();
        gpg.args(["--encrypt", "--recipient", "bench@example.org", "--output"]);
        gpg.arg(self.folder.path().join("pipeline.tar.gz.gpg"));
        gpg.stdin(tar.stdout.take().context("tar has no output")?);
        done(gpg)?;
        ensure!(tar.wait()?.success(), "tar failed");
        let spent = cpu::of_children() - before;
        fs::remove_file(snapshot)?;
        Ok(spent)
    }

    /// Runs the program; what it took, and what it printed.
    fn hermes(&self, arguments: &[&str]) -> anyhow::Result<(Ran, String)> {
        let output = self.folder.path().join("printed");
        let mut command = self.program.on(self.home.root(), arguments);
        command.stdout(File::create(&output)?);
        Ok((program::watched(command)?, fs::read_to_string(output)?))
    }
}

fn done(mut command: Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("could not start {name}"))?;
    ensure!(status.success(), "{name} failed");
    Ok(())
}

fn path(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("the folder for temporary files has a name that is not UTF-8")
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
