//! Turns that are recorded one by one: by one process, by several at once, and over the connections of a daemon.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;
use hermes_app::numbers::Numbers;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::turn::{self, Caller, Places, Settings, Turn, TurnMessage};
use hermes_store::memory::{Admin, Change, Memory, ServerMemory, Wanted};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::postgres::pool_at;
use crate::daemon::Daemon;
use crate::made_up::{PER_SESSION, WAIT};
use crate::text::Vocabulary;

/// Characters of a message.
const LENGTH: usize = 300;

/// One of several processes that record at once; `hermes-bench server` starts them.
#[derive(Debug, Clone, Args)]
pub(crate) struct Worker {
    /// The address of a server, or the file
    #[arg(long)]
    place: String,
    /// The profile on the server
    #[arg(long, default_value = "default")]
    profile: String,
    /// Which of them it is
    #[arg(long)]
    number: usize,
    /// How many turns to record
    #[arg(long)]
    turns: usize,
}

/// Where turns are recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// In a file.
    File(&'a Path),
    /// In a profile on a server.
    Server(&'a str, &'a str),
}

impl Place<'_> {
    fn arguments(self) -> [String; 4] {
        let (place, profile) = match self {
            Place::File(path) => (path.display().to_string(), "default"),
            Place::Server(address, profile) => (address.to_owned(), profile),
        };
        ["--place".to_owned(), place, "--profile".to_owned(), profile.to_owned()]
    }
}

/// Turns a second that so many processes record together, each as many; what is there afterwards is counted.
pub(crate) fn processes(place: Place<'_>, count: usize, turns: usize) -> anyhow::Result<f64> {
    let memory = open(place, Access::Read)?;
    let before = memory.counts(Admin)?.messages;
    let workers = (0..count).map(|number| start(place, number, turns));
    let mut workers = workers.collect::<anyhow::Result<Vec<_>>>()?;
    for worker in &mut workers {
        let output = worker.stdout.as_mut().context("no pipe")?;
        BufReader::new(output).read_line(&mut String::new())?;
    }
    let begun = Instant::now();
    workers.iter_mut().for_each(|worker| drop(worker.stdin.take()));
    for worker in &mut workers {
        ensure!(worker.wait()?.success(), "a process that recorded has failed");
    }
    let took = begun.elapsed();
    let added = memory.counts(Admin)?.messages - before;
    ensure!(added == (2 * count * turns) as u64, "{added} messages were recorded");
    Ok((count * turns) as f64 / took.as_secs_f64())
}

fn start(place: Place<'_>, number: usize, turns: usize) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("server-worker").args(place.arguments());
    command.args(["--number", &number.to_string(), "--turns", &turns.to_string()]);
    Ok(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?)
}

/// What one of the processes does: it opens the memory, says that it is ready, and records when its input ends.
pub(crate) fn work(worker: &Worker, now: Timestamp) -> anyhow::Result<()> {
    let path = PathBuf::from(&worker.place);
    let place = match worker.place.starts_with("postgres://") {
        true => Place::Server(&worker.place, &worker.profile),
        false => Place::File(&path),
    };
    let mut memory = open(place, Access::Write)?;
    let texts = Texts::of(worker.number);
    let turns: Vec<Turn> = texts.take(worker.turns).enumerate().map(made_up(worker)).collect();
    writeln!(std::io::stdout(), "ready")?;
    std::io::stdin().read_line(&mut String::new())?;
    turns.iter().try_for_each(|turn| record(&mut memory, turn, now))
}

/// A turn of a worker, in sessions of the usual length.
fn made_up(worker: &Worker) -> impl Fn((usize, [String; 2])) -> Turn {
    |(place, [asked, answered])| {
        let number = worker.number;
        let message = |role, text: &str, mark| TurnMessage {
            external_id: Some(format!("{mark}-{number}-{place}")),
            ..TurnMessage::text(role, text)
        };
        Turn {
            session_id: Some(format!("bench-{number}-{}", 2 * place / PER_SESSION)),
            channel: "bench".to_owned(),
            identity: None,
            user: None,
            agent: None,
            project: None,
            messages: vec![message("user", &asked, "q"), message("assistant", &answered, "a")],
            from: Caller::Other("bench".to_owned()),
            ended: false,
        }
    }
}

fn record(memory: &mut Memory, turn: &Turn, now: Timestamp) -> anyhow::Result<()> {
    let settings = Settings {
        zone: &TimeZone::UTC,
        now,
        vectors: Vectors::Now,
        random: [0; 3],
        secrets: hermes_home::redaction::Policy::Redact,
        transcript_note: Path::new("transcript.json"),
    };
    let recorded = turn::turn(Places { sessions: None, store: memory }, turn, &settings)?;
    ensure!(recorded.recorded.added == 2, "a turn did not come in");
    Ok(())
}

fn open(place: Place<'_>, access: Access) -> anyhow::Result<Memory> {
    let (address, profile) = match place {
        Place::File(path) => {
            return Ok(Memory::open(Wanted { path, profile: "default" }, access, WAIT)?);
        }
        Place::Server(address, profile) => (address, profile),
    };
    let pool = pool_at(address)?;
    let wanted = ServerMemory { pool: &pool, profile, owner: "owner", access, wait: WAIT };
    Ok(Memory::on_server(wanted, Change { actor: "bench", at: hermes_app::clock::now() })?)
}

/// Turns a second that clients report to a daemon, each over a connection of its own, one turn a request.
pub(crate) fn requests(daemon: &Daemon, clients: usize, turns: usize) -> anyhow::Result<f64> {
    let bodies: Vec<Vec<String>> = (0..clients).map(|client| bodies(client, turns)).collect();
    let begun = Instant::now();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let all: Vec<_> =
            bodies.iter().map(|bodies| scope.spawn(|| report(daemon, bodies))).collect();
        for one in all {
            one.join().map_err(|_| anyhow::anyhow!("a client ended"))??;
        }
        Ok(())
    })?;
    Ok((clients * turns) as f64 / begun.elapsed().as_secs_f64())
}

fn bodies(client: usize, turns: usize) -> Vec<String> {
    let body = |(place, [asked, answered]): (usize, [String; 2])| {
        let session = 2 * place / PER_SESSION;
        json!({"session_id": format!("http-{client}-{session}"), "channel": "bench", "messages": [
            {"role": "user", "text": asked, "external_id": format!("q-{client}-{place}")},
            {"role": "assistant", "text": answered, "external_id": format!("a-{client}-{place}")}]})
        .to_string()
    };
    Texts::of(100 + client).take(turns).enumerate().map(body).collect()
}

/// All of these on one connection; each must be in the memory when it is answered.
fn report(daemon: &Daemon, bodies: &[String]) -> anyhow::Result<()> {
    let mut connection = daemon.connect()?;
    for body in bodies {
        let answer = connection.post("/api/v1/turns", body)?;
        ensure!(answer.contains("\"kept_in\":\"memory\""), "{answer}");
    }
    Ok(())
}

/// Questions and answers, other ones for each number.
struct Texts {
    vocabulary: Vocabulary,
    numbers: Numbers,
}

impl Texts {
    fn of(seed: usize) -> Texts {
        Texts { vocabulary: Vocabulary::new(), numbers: Numbers::new(seed as u64 + 1) }
    }
}

impl Iterator for Texts {
    type Item = [String; 2];

    fn next(&mut self) -> Option<[String; 2]> {
        Some([(); 2].map(|()| self.vocabulary.message(&mut self.numbers, LENGTH)))
    }
}
