//! A daemon that is killed again and again while clients tell it things over HTTP and MCP.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::doors::mcp_call;
use crate::is_full;
use crate::sandbox::{Sandbox, until};
use crate::told::{Answer, Kind, Told, answered, asked, fact_of};
use crate::tree::Chance;

/// How often the daemon is killed in each test.
fn kills() -> usize {
    if is_full() { 260 } else { 5 }
}

/// A daemon in the foreground; strace may stand between.
pub(crate) struct Daemon {
    child: Child,
    pid: Pid,
    address: String,
    token: String,
}

impl Daemon {
    /// Starts one; none if it was killed before it listened.
    pub(crate) fn start(sandbox: &Sandbox, inject: Option<&str>) -> Option<Daemon> {
        let _ = std::fs::remove_file(sandbox.path("hermesd/daemon.json"));
        let program = env!("CARGO_BIN_EXE_hermes");
        let mut words = Vec::new();
        if let Some(inject) = inject {
            words.extend([
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                "trace=pwrite64,fdatasync,rename",
                inject,
            ]);
            words.push(program);
        }
        words.extend(["start", "--foreground"]);
        let first =
            if inject.is_some() { Path::new("/usr/bin/strace") } else { Path::new(program) };
        let mut command = sandbox.command_of(first, &words);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let child = Mutex::new(child);
        let state = || -> Option<Value> {
            let text = std::fs::read_to_string(sandbox.path("hermesd/daemon.json")).ok()?;
            serde_json::from_str(&text).ok()
        };
        let has_ended = || child.lock().unwrap().try_wait().unwrap().is_some();
        let listens = || {
            let address = state().and_then(|state| state["address"].as_str().map(str::to_owned));
            address.is_some_and(|address| TcpStream::connect(address).is_ok())
        };
        until("the daemon listens or is dead", || has_ended() || listens());
        let state = state()?;
        let pid = Pid::from_raw(i32::try_from(state["pid"].as_i64()?).ok()?);
        let address = state["address"].as_str()?.to_owned();
        let token =
            std::fs::read_to_string(sandbox.path("hermesd/api-token")).ok()?.trim().to_owned();
        Some(Daemon { child: child.into_inner().unwrap(), pid, address, token })
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        // It may be dead already, which is what was wanted.
        let _ = kill(self.pid, Signal::SIGKILL);
        self.child.wait().unwrap();
    }
}

/// One request; status and text, if an answer came whole.
fn post(address: &str, token: &str, path: &str, body: &Value) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
    });
    if length.is_some_and(|length| body.len() < length) {
        return None;
    }
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

fn turn(number: usize) -> Value {
    json!({"session_id": "api", "channel": "api", "messages": [
        {"role": "user", "text": asked(number), "external_id": format!("q{number}")},
        {"role": "assistant", "text": answered(number), "external_id": format!("r{number}")}]})
}

/// Tells one thing, chosen by its number.
fn tell(daemon: &Daemon, number: usize) -> (Kind, Answer) {
    let (address, token) = (&daemon.address, &daemon.token);
    let (kind, told, wanted) = match number % 3 {
        0 => (Kind::Turn, post(address, token, "/api/v1/turns", &turn(number)), "kept_in"),
        1 => {
            let fact = json!({"text": fact_of(number)});
            (Kind::Fact, post(address, token, "/api/v1/facts", &fact), "fact:")
        }
        _ => (Kind::Fact, post(address, token, "/mcp", &mcp_call(&fact_of(number))), "fact:"),
    };
    let answer = match told {
        Some((status, text)) if status < 300 => {
            assert!(text.contains(wanted), "{kind:?} {number}: {text}");
            Answer::Kept
        }
        // The daemon is gone, and that of another home got its port.
        Some((401, _)) => Answer::None,
        Some((status, text)) => panic!("{kind:?} {number} was refused with {status}: {text}"),
        None => Answer::None,
    };
    (kind, answer)
}

/// Three clients tell as fast as they can until the daemon is gone.
fn tell_until_dead(daemon: &Daemon, next: &AtomicUsize, told: &Mutex<Told>, answers: &AtomicUsize) {
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let (kind, answer) = tell(daemon, number);
                    told.lock().unwrap().note(kind, number, answer);
                    if answer == Answer::None {
                        break;
                    }
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
}

/// Kills round after round; `inject` says at which call, if it is not to be at a random moment.
#[expect(clippy::print_stderr, reason = "how many kills there were is worth knowing")]
fn is_killed(inject: impl Fn(&mut Chance) -> Option<String>) {
    let sandbox = Sandbox::ready();
    let (told, next) = (Mutex::new(Told::default()), AtomicUsize::new(1));
    let mut chance = Chance::new(7);
    for round in 0..kills() {
        let inject = inject(&mut chance);
        let Some(daemon) = Daemon::start(&sandbox, inject.as_deref()) else { continue };
        let delay = Duration::from_millis(chance.below(150) as u64);
        let answers = AtomicUsize::new(0);
        let (pid, waits) = (daemon.pid, inject.is_some());
        std::thread::scope(|scope| {
            let (daemon, next, told, answers) = (&daemon, &next, &told, &answers);
            let clients = scope.spawn(move || tell_until_dead(daemon, next, told, answers));
            // The first answer is awaited; the kill falls somewhere into those that follow.
            until("an answer, or the end", || {
                answers.load(Ordering::Relaxed) > 0 || clients.is_finished()
            });
            std::thread::sleep(if waits { delay * 10 } else { delay });
            let _ = kill(pid, Signal::SIGKILL);
        });
        daemon.kill();
        if round % 10 == 9 {
            told.lock().unwrap().agrees_with(&sandbox, &format!("after kill {round}"));
        }
    }
    let told = told.into_inner().unwrap();
    told.agrees_with(&sandbox, "after the last kill");
    eprintln!(
        "{} kills, {} kept, {} without an answer",
        kills(),
        told.count(Answer::Kept),
        told.count(Answer::None)
    );
    assert!(told.count(Answer::Kept) >= kills() / 2);
}

#[test]
fn a_daemon_killed_at_any_moment_keeps_what_it_answered() {
    is_killed(|_| None);
}

#[test]
fn a_daemon_killed_at_any_call_keeps_what_it_answered() {
    is_killed(|chance| {
        let call = ["pwrite64", "fdatasync", "rename"][chance.below(3)];
        Some(format!("--inject={call}:signal=SIGKILL:when={}", 1 + chance.below(60)))
    });
}
