//! Runs of the program that are killed at random moments, until one comes to its end.

use std::cell::{Cell, RefCell};
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Work that is killed again and again, and what must hold.
pub(crate) struct Work<'a> {
    pub(crate) sandbox: &'a Sandbox,
    /// The program with its arguments; what was cut short is begun again with the same ones.
    pub(crate) command: &'a dyn Fn() -> Command,
    /// Checks what holds after every kill.
    pub(crate) killed: &'a dyn Fn() -> Fell,
    /// Checks what holds once the work came to its end, however often it was killed before.
    pub(crate) done: &'a dyn Fn(),
}

/// Where a kill fell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fell {
    /// Before anything was done, or after everything.
    Beside,
    /// Something was done and something was not.
    InTheMidst,
    /// The same, and the work cannot be gone on with: it begins anew.
    InTheMidstAndEnds,
    /// After everything, and the work begins anew.
    Ends,
}

impl Fell {
    pub(crate) fn between(finished: usize, all: usize) -> Fell {
        if (1..all).contains(&finished) { Fell::InTheMidst } else { Fell::Beside }
    }
}

/// How many kills `./test --full` makes of each kind.
const MANY: u32 = 300;

impl Work<'_> {
    #[expect(clippy::print_stderr, reason = "how many kills fell into the work is worth knowing")]
    /// Kills the work this often, or a few hundred times when all tests are to be made.
    pub(crate) fn is_killed_often(&self, few: u32) {
        let kills = if is_full() { MANY } else { few };
        let beginning = Beginning::of(self.sandbox);
        let mut moments = Moments::of(self.whole());
        (self.done)();
        beginning.bring_back(self.sandbox);
        let (mut killed, mut in_the_midst, mut is_new) = (0, 0, true);
        while killed < kills || (in_the_midst == 0 && killed < 20 * kills) {
            let is_at_an_end = match moments.cut((self.command)(), is_new) {
                true => {
                    killed += 1;
                    let fell = (self.killed)();
                    let is_hit = matches!(fell, Fell::InTheMidst | Fell::InTheMidstAndEnds);
                    in_the_midst += u32::from(is_hit);
                    matches!(fell, Fell::Ends | Fell::InTheMidstAndEnds)
                }
                false => {
                    (self.done)();
                    true
                }
            };
            is_new = is_at_an_end;
            if is_at_an_end {
                beginning.bring_back(self.sandbox);
            }
        }
        self.whole();
        (self.done)();
        eprintln!("{killed} kills, {in_the_midst} of them in the midst of the work");
        assert!(in_the_midst > 0, "no kill of {killed} fell into the work");
        beginning.bring_back(self.sandbox);
    }

    /// One run to the end; how long it takes.
    fn whole(&self) -> Duration {
        let begun = Instant::now();
        let output = (self.command)().output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        begun.elapsed()
    }
}

/// Whether the long-running counts are wanted.
pub(crate) fn is_full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

/// Random moments within the time that a run usually takes; the same ones in every run of the tests.
pub(crate) struct Moments {
    random: Cell<u64>,
    usual: Duration,
    last: RefCell<Vec<Duration>>,
}

/// What the random numbers are made from.
const FIRST: u64 = 0x6b69_6c6c;

impl Moments {
    pub(crate) fn of(usual: Duration) -> Moments {
        Moments { random: Cell::new(FIRST), usual, last: RefCell::new(Vec::new()) }
    }

    /// The next moment.
    pub(crate) fn next(&self) -> Duration {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let part = ((mixed ^ (mixed >> 31)) % 1_000) as f64 / 1_000.0;
        let moment = self.usual.mul_f64(part * 1.1);
        self.last.borrow_mut().push(moment);
        moment
    }

    /// Runs it up to the next moment and kills it then; false if it had come to its end.
    fn cut(&mut self, mut command: Command, is_new: bool) -> bool {
        let moment = self.next();
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let (send, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = output.read_to_end(&mut Vec::new());
            let _ = send.send(());
        });
        if ended.recv_timeout(moment).is_err() {
            // It may have ended by itself just now.
            let _ = child.kill();
        }
        let status = child.wait().unwrap();
        let was_killed = status.signal() == Some(9);
        assert!(was_killed || status.success(), "a run after a kill failed: {status}");
        // The machine may be busier or idler than when the first run was measured.
        match (is_new, was_killed) {
            (_, true) => self.usual = self.usual.mul_f64(1.02),
            (true, false) => self.usual = begun.elapsed(),
            (false, false) => {}
        }
        was_killed
    }
}

impl Drop for Moments {
    #[expect(clippy::print_stderr, reason = "a test that failed says which moments it had")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let last = self.last.borrow();
            eprintln!(
                "moments drawn from {FIRST:#x}: {} so far, the last {:?} of {:?}",
                last.len(),
                last.last(),
                self.usual
            );
        }
    }
}

/// A copy of a home as it was.
struct Beginning {
    folder: tempfile::TempDir,
}

impl Beginning {
    fn of(sandbox: &Sandbox) -> Beginning {
        let beginning = Beginning { folder: tempfile::tempdir().unwrap() };
        copy(&sandbox.home(), &beginning.folder.path().join("home"));
        beginning
    }

    fn bring_back(&self, sandbox: &Sandbox) {
        std::fs::remove_dir_all(sandbox.home()).unwrap();
        copy(&self.folder.path().join("home"), &sandbox.home());
    }
}

/// Copies a folder with the modes of its files.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.unwrap().success());
}
