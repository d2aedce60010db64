//! A program in a pseudo-terminal: keys go in, and what it writes is waited for, never slept for.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rexpect::process::{PtyProcess, WaitStatus};

/// Nothing here takes this long unless it is broken.
const PATIENCE: Duration = Duration::from_secs(120);
/// What a line editor asks a terminal to find out where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";

/// A program in a terminal of 80 columns.
pub(crate) struct Terminal {
    process: PtyProcess,
    keys: File,
    written: Arc<(Mutex<Written>, Condvar)>,
    /// Up to where the text was looked at.
    at: usize,
}

#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Terminal {
    /// Starts a program.
    pub(crate) fn start(mut command: Command) -> Terminal {
        command.env("TERM", "xterm-256color");
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let process = PtyProcess::new(command).unwrap();
        let (keys, screen) =
            (process.get_file_handle().unwrap(), process.get_file_handle().unwrap());
        let written = Arc::new((Mutex::new(Written::default()), Condvar::new()));
        let shared = Arc::clone(&written);
        let answers = process.get_file_handle().unwrap();
        std::thread::spawn(move || watch(screen, answers, &shared));
        Terminal { process, keys, written, at: 0 }
    }

    /// Types these characters.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Types a line and Enter.
    pub(crate) fn line(&mut self, text: &str) {
        self.keys(&format!("{text}\r"));
    }

    /// Waits until this text is written after what was waited for before; returns what stood before it.
    pub(crate) fn expect(&mut self, text: &str) -> String {
        let (lock, bell) = &*self.written;
        let mut written = lock.lock().unwrap();
        loop {
            let shown = plain(&written.bytes);
            let rest = shown.get(self.at..).unwrap_or_default();
            if let Some(place) = rest.find(text) {
                let before = rest[..place].to_owned();
                self.at += place + text.len();
                return before;
            }
            assert!(!written.is_over, "it ended before {text:?} came:\n{shown}");
            let (next, timeout) = bell.wait_timeout(written, PATIENCE).unwrap();
            written = next;
            assert!(!timeout.timed_out(), "{text:?} never came after {rest:?} in:\n{shown}");
        }
    }

    /// Waits for the prompt that stands after what was waited for.
    pub(crate) fn prompt(&mut self) {
        self.expect("› ");
    }

    /// Waits for this text and then for the prompt; returns what stood before the text.
    pub(crate) fn prompt_after(&mut self, text: &str) -> String {
        let before = self.expect(text);
        self.prompt();
        before
    }

    /// Waits for the end and returns the exit code.
    pub(crate) fn end(&mut self) -> i32 {
        let (lock, bell) = &*self.written;
        let written = lock.lock().unwrap();
        let (written, timeout) =
            bell.wait_timeout_while(written, PATIENCE, |written| !written.is_over).unwrap();
        assert!(!timeout.timed_out(), "it did not end:\n{}", plain(&written.bytes));
        drop(written);
        match self.process.wait().unwrap() {
            WaitStatus::Exited(_, code) => code,
            other => panic!("{other:?}"),
        }
    }

    /// All that was written so far, without what moves the cursor and sets colours.
    pub(crate) fn text(&self) -> String {
        plain(&self.written.0.lock().unwrap().bytes)
    }

    /// All that was written so far, to the byte.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.written.0.lock().unwrap().bytes.clone()
    }
}

/// Reads what the program writes, and answers where the cursor is as a terminal does.
fn watch(mut screen: File, mut answers: File, shared: &(Mutex<Written>, Condvar)) {
    let (lock, bell) = shared;
    let mut piece = [0; 4096];
    let mut answered = 0;
    loop {
        // The other side being gone is an error here.
        let count = screen.read(&mut piece).unwrap_or(0);
        // A test that failed waits for nothing more.
        let Ok(mut written) = lock.lock() else { return };
        written.bytes.extend_from_slice(&piece[..count]);
        written.is_over = count == 0;
        let asked = written.bytes.windows(WHERE.len()).filter(|window| *window == WHERE).count();
        bell.notify_all();
        drop(written);
        for _ in answered..asked {
            let _ = answers.write_all(b"\x1b[1;1R");
        }
        answered = asked;
        if count == 0 {
            return;
        }
    }
}

/// The text without control sequences.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut rest),
            '\r' => {}
            c => shown.push(c),
        }
    }
    shown
}

fn skip_sequence(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => {
            let _ = rest.find(|c| ('@'..='~').contains(c));
        }
        Some(']') => {
            let _ = rest.find(|c| *c == '\u{7}');
        }
        _ => {}
    }
}
