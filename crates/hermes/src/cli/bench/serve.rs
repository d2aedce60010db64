//! hermes bench serve: the context over HTTP, a hook and MCP, on a memory of made-up messages

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use hermes_store::memory::{Admin, Lifecycle as _};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::figures::{Figure, Table, Times, milliseconds};
use super::scale::{anonymous_memory, data};
use super::scratch::{Filling, Scratch};
use crate::app::App;
use crate::failure::Outcome;
use crate::output::{bytes, thousands};
use crate::platform;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages the memory holds
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    turns: usize,
    /// How many questions one client asks, and how many all of them together
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    questions: usize,
    /// How many clients ask at the same time
    #[arg(long, default_value_t = 16, value_name = "COUNT")]
    clients: usize,
}

const RUNS: usize = 20;
/// Above it the aims are those for a million.
const LARGE: usize = 100_000;

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    ensure!(arguments.turns >= 1000, "at least 1000 messages are needed to measure anything");
    ensure!(arguments.questions > 0 && arguments.clients > 0, "nothing would be measured");
    let scratch = Scratch::new(app.now)?;
    let begin = app.now - SignedDuration::from_mins(arguments.turns as i64);
    let mut filling = Filling::new(&scratch, app.now)?;
    let mut data = data::fill(&mut filling, arguments.turns, 1, begin)?;
    drop(filling);
    let_rest(&scratch, app.now)?;
    let daemon = Daemon::start(scratch.home())?;
    for question in data.mixed_questions(20) {
        daemon.context(&question)?;
    }
    let mut results = vec![one_client(&daemon, &data.mixed_questions(arguments.questions))?];
    results.extend(many(&daemon, arguments.clients, &data.mixed_questions(arguments.questions))?);
    results.push(memory(&daemon));
    drop(daemon);
    results.push(hooks(scratch.home(), &data.mixed_questions(RUNS), arguments.turns > LARGE)?);
    results.push(greetings(scratch.home())?);
    let title = format!(
        "{} messages of {} characters on average; one client and MCP in time of the clock, the rest CPU time",
        thousands(arguments.turns as u64),
        data.mean_length
    );
    app.out.show(&Table { title, results })?;
    Ok(Outcome::Done)
}

/// Says that facts were drawn and lessons learned from everything, so that the daemon has nothing to do but answer.
fn let_rest(scratch: &Scratch, now: Timestamp) -> anyhow::Result<()> {
    const PART: usize = 1000;
    let mut store = scratch.open(Access::Write)?;
    loop {
        let waiting = store.waiting_episodes(Admin, now, PART)?;
        if waiting.is_empty() {
            break;
        }
        let ids: Vec<i64> = waiting.iter().map(|episode| episode.id).collect();
        store.mark_extracted(Admin, &ids, now)?;
    }
    loop {
        let waiting = store.sessions_to_reflect(Admin, now, PART)?;
        if waiting.is_empty() {
            return Ok(());
        }
        for session in waiting {
            store.mark_reflected(Admin, session.key, now)?;
        }
    }
}

/// The daemon of the scratch home; it ends with the measurement.
struct Daemon {
    child: Child,
    address: String,
    token: String,
}

impl Daemon {
    fn start(home: &Path) -> anyhow::Result<Daemon> {
        let child =
            program(home, &["start", "--foreground", "--set", "server.requests_per_minute=0"])?
                .stderr(Stdio::null())
                .spawn()
                .context("could not start this program again")?;
        let begun = Instant::now();
        loop {
            let state = std::fs::read(home.join("hermesd/daemon.json")).unwrap_or_default();
            let state: Value = serde_json::from_slice(&state).unwrap_or_default();
            if let Some(address) =
                state["address"].as_str().filter(|_| state["stopped_at"].is_null())
            {
                let token = std::fs::read_to_string(home.join("hermesd/api-token"))?;
                return Ok(Daemon {
                    child,
                    address: address.to_owned(),
                    token: token.trim().to_owned(),
                });
            }
            ensure!(
                begun.elapsed() < Duration::from_secs(30),
                "the daemon did not begin to listen"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks once, on a connection of its own; what comes back must be a context.
    fn context(&self, question: &str) -> anyhow::Result<Duration> {
        let body = json!({ "task": question, "budget_tokens": 2000 }).to_string();
        let begun = Instant::now();
        let mut stream = TcpStream::connect(&self.address)?;
        write!(
            stream,
            "POST /api/v1/context HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(
            answer.starts_with("HTTP/1.1 200"),
            "{}",
            answer.lines().next().unwrap_or_default()
        );
        Ok(begun.elapsed())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(home: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).env("HERMES_HOME", home).current_dir(home);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command)
}

fn one_client(daemon: &Daemon, questions: &[String]) -> anyhow::Result<Figure> {
    let times = questions.iter().map(|question| daemon.context(question));
    let times = Times::new(times.collect::<anyhow::Result<Vec<_>>>()?);
    let reached = times.at(0.5) <= Duration::from_millis(18);
    Ok(Figure::new("context over HTTP, one client", spread(&times), "p50 ≤ 18 ms", reached))
}

/// All questions once, by so many clients; how many a core answers in a second of its time.
fn many(daemon: &Daemon, clients: usize, questions: &[String]) -> anyhow::Result<Vec<Figure>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let times = Mutex::new(Vec::new());
    let before = cpu_of(daemon.child.id());
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                while let Some(question) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match daemon.context(question) {
                        Ok(time) => times.lock().map(|mut times| times.push(time)).unwrap_or(()),
                        Err(_) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let spent = cpu_of(daemon.child.id()).saturating_sub(before);
    let times = Times::new(times.into_inner().unwrap_or_default());
    let rate = times.count() as f64 / spent.as_secs_f64().max(0.001);
    let failed = failed.into_inner();
    let name = format!("{clients} clients, each second of CPU time of the daemon");
    let said = format!("{rate:.0} requests, {failed} failed");
    Ok(vec![
        Figure::new(&name, said, "≥ 60, none failed", rate >= 60.0 && failed == 0),
        Figure::plain("what one of them waited", spread(&times)),
    ])
}

fn memory(daemon: &Daemon) -> Figure {
    const NAME: &str = "anonymous memory of the daemon";
    match anonymous_memory(daemon.child.id()) {
        None => Figure::plain(NAME, "not told by this system".to_owned()),
        Some(size) => Figure::new(NAME, bytes(size), "≤ 150 MB", size <= 150_000_000),
    }
}

/// The CPU time of a running process, where the system tells.
fn cpu_of(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 =
        after.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    // A tick is a hundredth of a second on every Linux.
    Duration::from_millis(ticks * 10)
}

/// A hook from its start to its answer.
fn hooks(home: &Path, questions: &[String], is_large: bool) -> anyhow::Result<Figure> {
    let (mut times, mut answered) = (Vec::new(), 0);
    for (number, question) in questions.iter().enumerate() {
        let event = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": format!("bench-{number}"),
            "prompt": question, "cwd": home,
        });
        let before = platform::children_cpu();
        let mut child = program(home, &["hook", "claude-code"])?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(event.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the hook failed");
        // Where nothing belongs to a prompt, nothing is said; looking for it costs the same.
        answered += usize::from(!output.stdout.is_empty());
        times.push(platform::children_cpu() - before);
    }
    let times = Times::new(times);
    let (aim, limit) = if is_large { ("p50 ≤ 80 ms", 80) } else { ("p50 ≤ 30 ms", 30) };
    let reached = times.at(0.5) <= Duration::from_millis(limit);
    let said = format!("{} ({answered} of {} with an answer)", spread(&times), times.count());
    Ok(Figure::new("hook of a prompt, whole program", said, aim, reached))
}

/// MCP from the start of the program to its first answer.
fn greetings(home: &Path) -> anyhow::Result<Figure> {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        },
    });
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let mut child = program(home, &["mcp"])?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).context("no pipes")?;
        let mut input = input;
        writeln!(input, "{hello}")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        times.push(begun.elapsed());
        ensure!(line.contains("serverInfo"), "no greeting: {line}");
        drop(input);
        child.wait()?;
    }
    let times = Times::new(times);
    let reached = times.at(0.5) <= Duration::from_millis(20);
    Ok(Figure::new("MCP, start to first answer", spread(&times), "p50 ≤ 20 ms", reached))
}

fn spread(times: &Times) -> String {
    format!("p50 {}, p99 {}", milliseconds(times.at(0.5)), milliseconds(times.at(0.99)))
}
