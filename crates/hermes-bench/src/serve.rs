//! hermes-bench serve: the context over HTTP, a hook and MCP, on a memory of made-up messages

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::cpu;
use crate::daemon::{Daemon, let_rest};
use crate::figures::{Figure, Table, Times};
use crate::program::{Program, memory_of};
use crate::scale::data;
use crate::scratch::{Filling, Scratch};
use hermes_app::text::{bytes, thousands};

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

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    ensure!(arguments.turns >= 1000, "at least 1000 messages are needed to measure anything");
    ensure!(arguments.questions > 0 && arguments.clients > 0, "nothing would be measured");
    let scratch = Scratch::new(now)?;
    let begin = now - SignedDuration::from_mins(arguments.turns as i64);
    let mut filling = Filling::new(&scratch, now)?;
    let mut data = data::fill(&mut filling, arguments.turns, 1, begin)?;
    drop(filling);
    let_rest(&scratch, now)?;
    let daemon = Daemon::start(program, scratch.home())?;
    for question in data.mixed_questions(20) {
        context(&daemon, &question)?;
    }
    let mut results = vec![one_client(&daemon, &data.mixed_questions(arguments.questions))?];
    results.extend(many(&daemon, arguments.clients, &data.mixed_questions(arguments.questions))?);
    results.push(memory(&daemon));
    drop(daemon);
    let questions = data.mixed_questions(RUNS);
    results.push(hooks(program, scratch.home(), &questions, arguments.turns > LARGE)?);
    results.push(greetings(program, scratch.home())?);
    let title = format!(
        "{} messages of {} characters on average; one client and MCP in time of the clock, the rest CPU time",
        thousands(arguments.turns as u64),
        data.mean_length
    );
    Ok(Table { title, results })
}

/// Asks once, on a connection of its own.
fn context(daemon: &Daemon, question: &str) -> anyhow::Result<Duration> {
    let request = json!({ "task": question, "budget_tokens": 2000 });
    let begun = Instant::now();
    daemon.context(&request)?;
    Ok(begun.elapsed())
}

fn one_client(daemon: &Daemon, questions: &[String]) -> anyhow::Result<Figure> {
    let times = questions.iter().map(|question| context(daemon, question));
    let times = Times::new(times.collect::<anyhow::Result<Vec<_>>>()?);
    let reached = times.are_within(18);
    Ok(Figure::new("context over HTTP, one client", times.spread(99), "p50 ≤ 18 ms", reached))
}

/// All questions once, by so many clients; how many a core answers in a second of its time.
fn many(daemon: &Daemon, clients: usize, questions: &[String]) -> anyhow::Result<Vec<Figure>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let times = Mutex::new(Vec::new());
    let before = daemon.cpu();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                while let Some(question) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match context(daemon, question) {
                        Ok(time) => times.lock().map(|mut times| times.push(time)).unwrap_or(()),
                        Err(_) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let spent = daemon.cpu().saturating_sub(before);
    let times = Times::new(times.into_inner().unwrap_or_default());
    let rate = times.count() as f64 / spent.as_secs_f64().max(0.001);
    let failed = failed.into_inner();
    let name = format!("{clients} clients, each second of CPU time of the daemon");
    let said = format!("{rate:.0} requests, {failed} failed");
    Ok(vec![
        Figure::new(&name, said, "≥ 60, none failed", rate >= 60.0 && failed == 0),
        Figure::plain("what one of them waited", times.spread(99)),
    ])
}

fn memory(daemon: &Daemon) -> Figure {
    const NAME: &str = "anonymous memory of the daemon";
    match memory_of(daemon.id(), "RssAnon:") {
        None => Figure::plain(NAME, "not told by this system".to_owned()),
        Some(size) => Figure::new(NAME, bytes(size), "≤ 150 MB", size <= 150_000_000),
    }
}

/// A hook from its start to its answer.
fn hooks(
    program: &Program,
    home: &Path,
    questions: &[String],
    is_large: bool,
) -> anyhow::Result<Figure> {
    let (mut times, mut answered) = (Vec::new(), 0);
    for (number, question) in questions.iter().enumerate() {
        let event = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": format!("bench-{number}"),
            "prompt": question, "cwd": home,
        });
        let before = cpu::of_children();
        let mut child = program
            .on(home, &["hook", "claude-code"])
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
        times.push(cpu::of_children() - before);
    }
    let times = Times::new(times);
    let (aim, limit) = if is_large { ("p50 ≤ 80 ms", 80) } else { ("p50 ≤ 30 ms", 30) };
    let said = format!("{} ({answered} of {} with an answer)", times.spread(99), times.count());
    Ok(Figure::new("hook of a prompt, whole program", said, aim, times.are_within(limit)))
}

/// MCP from the start of the program to its first answer.
fn greetings(program: &Program, home: &Path) -> anyhow::Result<Figure> {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        },
    });
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let mut child = program
            .on(home, &["mcp"])
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
    let reached = times.are_within(20);
    Ok(Figure::new("MCP, start to first answer", times.spread(99), "p50 ≤ 20 ms", reached))
}
