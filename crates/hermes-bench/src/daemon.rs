//! The daemon of a home that is measured: started, asked, and ended with the measurement.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_store::memory::{Admin, Memory};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde_json::Value;

use crate::cpu;
use crate::program::Program;
use crate::scratch::Scratch;

/// A running daemon.
pub(crate) struct Daemon {
    child: Child,
    address: String,
    token: String,
}

impl Daemon {
    /// Starts it, and waits until it listens.
    pub(crate) fn start(program: &Program, home: &Path) -> anyhow::Result<Daemon> {
        let arguments = ["start", "--foreground", "--set", "server.requests_per_minute=0"];
        let child = program
            .on(home, &arguments)
            .stderr(Stdio::null())
            .spawn()
            .context("could not start the daemon")?;
        let mut daemon = Daemon { child, address: String::new(), token: String::new() };
        let begun = Instant::now();
        loop {
            let state = std::fs::read(home.join("hermesd/daemon.json")).unwrap_or_default();
            let state: Value = serde_json::from_slice(&state).unwrap_or_default();
            let is_this = state["pid"].as_u64() == Some(u64::from(daemon.id()));
            if let Some(address) =
                state["address"].as_str().filter(|_| is_this && state["stopped_at"].is_null())
            {
                address.clone_into(&mut daemon.address);
                let token = std::fs::read_to_string(home.join("hermesd/api-token"))?;
                token.trim().clone_into(&mut daemon.token);
                return Ok(daemon);
            }
            ensure!(
                begun.elapsed() < Duration::from_secs(30),
                "the daemon did not begin to listen"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The CPU time of all its threads, also those that ended, where the system tells.
    pub(crate) fn cpu(&self) -> Duration {
        cpu::of_process(self.id())
    }

    /// Has a context made.
    pub(crate) fn context(&self, request: &Value) -> anyhow::Result<()> {
        let head =
            format!("POST /api/v1/context HTTP/1.1\r\nAuthorization: Bearer {}\r\n", self.token);
        self.ask(&head, &request.to_string(), "200")?;
        Ok(())
    }

    /// A connection that stays open.
    pub(crate) fn connect(&self) -> anyhow::Result<Connection<'_>> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { daemon: self, stream: BufReader::new(stream) })
    }

    /// Asks once, on a connection of its own; what comes back is the body of the answer, which must have this status.
    pub(crate) fn ask(&self, head: &str, body: &str, status: &str) -> anyhow::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(
            stream,
            "{head}Host: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.context("the daemon gave no whole answer")?;
        let body = answer.split_off(end + 4);
        let head = String::from_utf8_lossy(&answer).into_owned();
        let said = head.lines().next().unwrap_or_default();
        ensure!(said.split(' ').nth(1) == Some(status), "{said}");
        Ok(body)
    }
}

/// A connection on which one request follows the other.
pub(crate) struct Connection<'a> {
    daemon: &'a Daemon,
    stream: BufReader<TcpStream>,
}

impl Connection<'_> {
    /// Sends a body; what comes back is that of the answer, which must be a good one.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> anyhow::Result<String> {
        let Daemon { address, token, .. } = self.daemon;
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let begins = head.len();
            ensure!(self.stream.read_line(&mut head)? > 0, "the daemon ended the connection");
            let line = head[begins..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = String::from_utf8(body)?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
        Ok(body)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many are marked at once.
const PART: usize = 1000;

/// Says that facts were drawn and lessons learned from everything, so that the daemon has nothing to do but answer.
pub(crate) fn let_rest(scratch: &Scratch, now: Timestamp) -> anyhow::Result<()> {
    let mut store = scratch.open(Access::Write)?;
    mark_drawn(&mut store, now)?;
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

/// Says that facts were drawn from everything.
pub(crate) fn mark_drawn(store: &mut Memory, now: Timestamp) -> anyhow::Result<()> {
    loop {
        let waiting = store.waiting_episodes(Admin, now, PART)?;
        if waiting.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = waiting.iter().map(|episode| episode.id).collect();
        store.mark_extracted(Admin, &ids, now)?;
    }
}
