//! Programs that report turns over HTTP to the daemons of several homes, and are killed in the middle of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use serde_json::{Value, json};

use crate::machines::OTHER;

/// Somebody who reports turns: to which home, and for which profile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Teller {
    name: &'static str,
    pub(crate) home: usize,
    pub(crate) profile: &'static str,
}

/// One in each home for the profile that all share, and one for the profile that only the last home has.
pub(crate) const TELLERS: [Teller; 4] = [
    Teller { name: "anna", home: 0, profile: "default" },
    Teller { name: "boris", home: 1, profile: "default" },
    Teller { name: "clara", home: 2, profile: "default" },
    Teller { name: "dora", home: 2, profile: OTHER },
];

/// A turn that was acknowledged, and where it was kept then.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) teller: usize,
    pub(crate) number: usize,
    pub(crate) place: String,
}

/// How often the program of a teller is to be killed, and how often it was.
#[derive(Debug, Default)]
pub(crate) struct Leash {
    wanted: AtomicUsize,
    done: AtomicUsize,
}

impl Leash {
    /// Kills the program in the middle of its next request.
    pub(crate) fn pull(&self) {
        self.wanted.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn done(&self) -> usize {
        self.done.load(Ordering::SeqCst)
    }

    fn is_pulled(&self) -> bool {
        self.done() < self.wanted.load(Ordering::SeqCst)
    }
}

impl Teller {
    /// A word that nobody else says.
    pub(crate) fn word(&self, number: usize) -> String {
        format!("parcel{}x{number}", self.name)
    }

    pub(crate) fn asked(&self, number: usize) -> String {
        format!("Where is {} now?", self.word(number))
    }

    pub(crate) fn answered(&self, number: usize) -> String {
        format!("The boat of {} took {}.", self.name, self.word(number))
    }

    /// A turn with ids of its own. Its session is its own too, or one of thirty turns, or one that the other homes call
    /// by the same name.
    fn turn(&self, number: usize) -> Value {
        let (name, part) = (self.name, number / 30);
        let session = match number % 3 {
            0 => format!("{name}-{number}"),
            1 => format!("{name}-talk-{part}"),
            _ => format!("talk-{part}"),
        };
        json!({"session_id": session, "channel": "api", "messages": [
            {"role": "user", "text": self.asked(number), "external_id": format!("{name}-q{number}")},
            {"role": "assistant", "text": self.answered(number), "external_id": format!("{name}-a{number}")}]})
    }
}

/// Has a teller report turns one after the other until each is acknowledged. A program that is killed is followed by
/// another, which begins with what was not acknowledged. Ends early when nobody hears any more.
pub(crate) fn tell(teller: usize, home: &Path, numbers: Range<usize>, to: &Heard<'_>) {
    let who = &TELLERS[teller];
    let mut program = Program::start(home, who.profile);
    for number in numbers {
        let place = loop {
            match program.tell(&who.turn(number), to.leash) {
                Some(place) => break place,
                None => program = Program::start(home, who.profile),
            }
        };
        if to.kept.send(Kept { teller, number, place }).is_err() {
            return;
        }
    }
}

/// Who hears of what a teller does, and who ends its program.
pub(crate) struct Heard<'a> {
    pub(crate) kept: Sender<Kept>,
    pub(crate) leash: &'a Leash,
}

/// A running program that reports what it is told to.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(home: &Path, profile: &str) -> Program {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/reliability/client.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(home).arg(profile);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Program { child, input, output: BufReader::new(output) }
    }

    /// Has a turn reported; where it was kept, or nothing if the program was killed before it could say so.
    fn tell(&mut self, turn: &Value, leash: &Leash) -> Option<String> {
        writeln!(self.input, "{turn}").unwrap();
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).unwrap();
            assert!(length > 0, "the program that reports turns ended: {:?}", self.child.wait());
            match line.trim_end().split_once(' ') {
                Some(("kept", place)) => return Some(place.to_owned()),
                // The request is on its way, and its answer was not read yet.
                None if leash.is_pulled() => {
                    self.child.kill().unwrap();
                    leash.done.fetch_add(1, Ordering::SeqCst);
                    return None;
                }
                _ => {}
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
