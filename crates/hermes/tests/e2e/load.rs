//! Many programs at one daemon: what is not done is refused cleanly, what was acknowledged is there once, memory stays flat.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::listening::Listening;
use crate::moments::is_full;
use crate::sandbox::{Sandbox, until};

/// No answer takes longer: a request waits twice for its turn, for ten seconds each, and is worked on for thirty.
const LONGEST: Duration = Duration::from_secs(60);
/// The most memory that a daemon may hold under load, in kilobytes.
const MOST_MEMORY: u64 = 120 * 1024;

/// So many clients at once, each asking so often or for so long, whichever ends first.
struct Load {
    clients: usize,
    each: usize,
    time: Duration,
}

/// What came of it.
#[derive(Default)]
struct Outcome {
    statuses: BTreeMap<u16, u64>,
    /// Whatever else happened than a good answer, a 429 or a 503 that says when to come back.
    failures: Vec<String>,
    waits: Vec<Duration>,
    /// The marks of turns that were acknowledged.
    acknowledged: Vec<String>,
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.failures.extend(other.failures);
        self.waits.extend(other.waits);
        self.acknowledged.extend(other.acknowledged);
    }

    /// The wait that only this part of all requests exceeds.
    fn percentile(&mut self, part: f64) -> Duration {
        self.waits.sort_unstable();
        let place = (self.waits.len() as f64 * part) as usize;
        self.waits.get(place.min(self.waits.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// A connection that is kept between requests.
struct Client<'a> {
    daemon: &'a Listening,
    stream: Option<BufReader<TcpStream>>,
}

impl Client<'_> {
    /// One request and its answer; a connection that the daemon closed meanwhile is opened anew once.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> io::Result<(u16, bool)> {
        let is_kept = self.stream.is_some();
        match self.try_ask(method, path, body) {
            Err(error) if is_kept && is_closed(&error) => {
                self.stream = None;
                self.try_ask(method, path, body)
            }
            answered => answered,
        }
    }

    fn try_ask(&mut self, method: &str, path: &str, body: &str) -> io::Result<(u16, bool)> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.daemon.address)?;
                stream.set_read_timeout(Some(LONGEST))?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.daemon.address,
            self.daemon.token,
            body.len()
        );
        // One that is turned away may be told so before it has said everything.
        let said = stream.get_mut().write_all(request.as_bytes());
        let (status, headers) = match head(&mut stream) {
            Err(_) if said.is_err() => return Err(said.unwrap_err()),
            read => read?,
        };
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let length: u64 = length.ok_or_else(|| io::Error::other("an answer of no length"))?;
        let read = io::copy(&mut (&mut stream).take(length), &mut io::sink())?;
        if read < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if headers.get("connection").is_none_or(|said| said != "close") {
            self.stream = Some(stream);
        }
        Ok((status, headers.contains_key("retry-after")))
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn head(stream: &mut impl BufRead) -> io::Result<(u16, HashMap<String, String>)> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    Ok((status.ok_or_else(|| io::Error::other(line))?, headers))
}

/// What a client asks for as its n-th request: half of it reads, half of it writes.
fn request(client: usize, number: usize) -> (&'static str, String, String, Option<String>) {
    let mark = format!("mark-{client}-{number}-end");
    match number % 6 {
        0 | 3 => {
            let text = format!("Parcel {mark} went to the harbour by the evening boat");
            let message = json!({ "role": "user", "external_id": mark.clone(), "text": text });
            let turn = json!({ "session_id": format!("load-{client}"), "channel": "load", "messages": [message] });
            ("POST", "/api/v1/turns".to_owned(), turn.to_string(), Some(mark))
        }
        1 => {
            let body = json!({ "task": "where did the parcels go?", "budget_tokens": 1000 });
            ("POST", "/api/v1/context".to_owned(), body.to_string(), None)
        }
        2 => {
            let text =
                json!({ "text": format!("Shelf {client} holds crate {number}") }).to_string();
            ("POST", "/api/v1/facts".to_owned(), text, None)
        }
        4 => ("GET", "/api/v1/search?q=harbour".to_owned(), String::new(), None),
        _ => ("GET", "/api/v1/facts?limit=10".to_owned(), String::new(), None),
    }
}

fn one_client(daemon: &Listening, load: &Load, client: usize, begun: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    let mut own = Client { daemon, stream: None };
    for number in 0..load.each {
        if begun.elapsed() > load.time {
            break;
        }
        let (method, path, body, mark) = request(client, number);
        let asked = Instant::now();
        let answered = own.ask(method, &path, &body);
        outcome.waits.push(asked.elapsed());
        match answered {
            Ok((status, says_when)) => {
                *outcome.statuses.entry(status).or_default() += 1;
                match status {
                    200..300 => outcome.acknowledged.extend(mark),
                    // Whoever is told to come back does so a little later.
                    429 | 503 if says_when => std::thread::sleep(Duration::from_millis(100)),
                    status => outcome.failures.push(format!("{method} {path}: {status}")),
                }
            }
            Err(error) => outcome.failures.push(format!("{method} {path}: {error:?}")),
        }
    }
    outcome
}

impl Load {
    fn put_on(&self, daemon: &Listening) -> Outcome {
        let all = Mutex::new(Outcome::default());
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for client in 0..self.clients {
                let all = &all;
                std::thread::Builder::new()
                    .stack_size(256 * 1024)
                    .spawn_scoped(scope, move || {
                        let outcome = one_client(daemon, self, client, begun);
                        all.lock().unwrap().add(outcome);
                    })
                    .unwrap();
            }
        });
        all.into_inner().unwrap()
    }
}

/// What the daemon holds now, in kilobytes, as the system counts it.
struct Held {
    all: u64,
    /// Pages of databases that its readers have mapped, counted once for each reader: the system's own cache, which it takes
    /// back when it needs the room.
    maps: u64,
}

impl Held {
    fn now(daemon: &Listening) -> Held {
        let state = daemon.sandbox.read("hermesd/daemon.json");
        let state: Value = serde_json::from_str(&state).unwrap();
        let maps = std::fs::read_to_string(format!("/proc/{}/smaps", state["pid"])).unwrap();
        let (mut held, mut is_database) = (Held { all: 0, maps: 0 }, false);
        for line in maps.lines() {
            if let Some(size) = line.strip_prefix("Rss:") {
                let size: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
                held.all += size;
                held.maps += if is_database { size } else { 0 };
            } else if line.split(' ').next().is_some_and(|first| first.contains('-')) {
                is_database = line.ends_with(".db");
            }
        }
        held
    }

    fn without_maps(&self) -> u64 {
        self.all - self.maps
    }
}

/// A daemon without a limit of requests, as the load of one client after the other would have none.
fn unlimited() -> Listening {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "server.requests_per_minute", "0"]);
    Listening::at(sandbox)
}

/// Every turn that was acknowledged is in the transcript once.
fn is_kept(daemon: &Listening, acknowledged: &[String]) {
    let marks = || -> HashMap<String, usize> {
        let sql = "select content from messages where content like '%mark-%'";
        let state = daemon.sandbox.database("state.db");
        let mut found = HashMap::new();
        let mut statement = state.prepare(sql).unwrap();
        let texts = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        for text in texts {
            let text = text.unwrap();
            let mark = text.split(' ').find(|word| word.starts_with("mark-")).unwrap().to_owned();
            *found.entry(mark).or_default() += 1;
        }
        found
    };
    // What waits in files is taken in by the daemon.
    until("every turn is there", || {
        let found = marks();
        acknowledged.iter().all(|mark| found.contains_key(mark))
    });
    let twice: Vec<_> = marks().into_iter().filter(|(_, times)| *times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[expect(clippy::print_stderr, reason = "how long requests waited is worth knowing")]
fn must_be_clean(daemon: &Listening, mut outcome: Outcome) -> Duration {
    let (middle, high) = (outcome.percentile(0.5), outcome.percentile(0.99));
    let mut line = format!("{} requests, p50 {middle:?}, p99 {high:?}", outcome.waits.len());
    for (status, count) in &outcome.statuses {
        let _ = write!(line, ", {count} x {status}");
    }
    let held = Held::now(daemon);
    let (all, maps) = (held.all / 1024, held.maps / 1024);
    eprintln!("{line}; the daemon holds {all} MB, {maps} MB of them maps of databases");
    assert!(outcome.failures.is_empty(), "{line}\n{:#?}", &outcome.failures);
    assert!(outcome.statuses.contains_key(&200), "{line}");
    is_kept(daemon, &outcome.acknowledged);
    high
}

#[test]
fn a_crowd_is_answered_or_told_to_come_back_and_memory_stays_flat() {
    let daemon = unlimited();
    let (clients, each, minutes) = if is_full() { (200, usize::MAX, 10) } else { (24, 30, 2) };
    let load = |clients, each, minutes: u64| Load {
        clients,
        each,
        time: Duration::from_secs(minutes * 60),
    };
    let warm = load(clients, each.min(30), minutes).put_on(&daemon);
    must_be_clean(&daemon, warm);
    let before = Held::now(&daemon).without_maps();
    let high = must_be_clean(&daemon, load(clients, each, minutes).put_on(&daemon));
    let after = Held::now(&daemon).without_maps();
    assert!(high < LONGEST, "the slowest hundredth waited {high:?}");
    assert!(after < MOST_MEMORY, "{after} kB are held, {before} kB before");
    let crowd = if is_full() { load(1000, usize::MAX, 1) } else { load(450, 3, 1) };
    must_be_clean(&daemon, crowd.put_on(&daemon));
    let after = Held::now(&daemon).without_maps();
    assert!(after < MOST_MEMORY, "{after} kB are held after a crowd");
}

#[test]
fn who_says_nothing_takes_nothing_or_dawdles_is_in_nobodys_way() {
    let daemon = unlimited();
    Load { clients: 4, each: 60, time: LONGEST }.put_on(&daemon);
    let connect = || TcpStream::connect(&daemon.address).unwrap();
    let bearer = format!("Authorization: Bearer {}", daemon.token);
    let idle: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    let slow_writers: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = connect();
            let head = format!("POST /api/v1/turns HTTP/1.1\r\nHost: {}\r\n", daemon.address);
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let slow_readers: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = connect();
            // Answers to requests that follow one another, none of which is ever read.
            let one = format!(
                "GET /api/v1/search?q=harbour HTTP/1.1\r\nHost: {}\r\n{bearer}\r\n\r\n",
                daemon.address
            );
            stream.write_all(one.repeat(20).as_bytes()).unwrap();
            stream
        })
        .collect();
    let outcome = Load { clients: 8, each: 30, time: LONGEST }.put_on(&daemon);
    must_be_clean(&daemon, outcome);
    assert_eq!(daemon.get("/api/v1/status").status, 200);
    // Those who dawdle are let go in the end: their places are free again.
    until("nobody holds a place for nothing", || {
        let metrics = daemon.get("/metrics").text;
        let line = metrics.lines().find(|line| line.starts_with("hermes_http_connections "));
        let open = line.and_then(|line| line.split(' ').next_back()?.parse::<u64>().ok());
        open.is_some_and(|open| open < 150)
    });
    drop((idle, slow_writers, slow_readers));
}

#[test]
fn a_token_that_asks_too_often_is_told_when_to_come_back() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "server.requests_per_minute", "60"]);
    let daemon = Listening::at(sandbox);
    let outcome = Load { clients: 8, each: 30, time: LONGEST }.put_on(&daemon);
    assert!(outcome.statuses.get(&429).is_some_and(|count| *count > 0), "{:?}", outcome.statuses);
    must_be_clean(&daemon, outcome);
}
