//! A model on the loopback that answers at once: what is left of a turn is the program's own work.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::cpu;

/// The model; its thread ends with this program.
pub(crate) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The process that asks.
    asking: AtomicU32,
    /// What the next request is answered with instead of words: a search of sessions for this.
    search: Mutex<Option<String>>,
    asked: Mutex<Vec<Asked>>,
}

/// What one request held.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The hash of what should not change from request to request: the system prompt and the tools.
    pub(crate) prefix: String,
    /// What a tool answered, where that was said last.
    pub(crate) tool_answer: Option<String>,
    /// The CPU time that the asking process had used: it waits now.
    pub(crate) cpu: Duration,
}

impl Model {
    /// Listens on a port of its own.
    pub(crate) fn start() -> anyhow::Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever hangs up in between has no answer, and says so.
                let _ = own.answer(stream);
            }
        });
        Ok(Model { address, shared })
    }

    /// Its name, as `--model` takes it.
    pub(crate) fn name(&self) -> String {
        format!("http://{}/v1#bench", self.address)
    }

    /// Says which process asks.
    pub(crate) fn is_asked_by(&self, process: u32) {
        self.shared.asking.store(process, Ordering::SeqCst);
    }

    /// Lets the next request be answered with a search of sessions.
    pub(crate) fn search_next(&self, query: &str) {
        *locked(&self.shared.search) = Some(query.to_owned());
    }

    /// What was asked since the last time this was called.
    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *locked(&self.shared.asked))
    }
}

impl Shared {
    fn answer(&self, mut stream: TcpStream) -> anyhow::Result<()> {
        let request = read(&stream)?;
        let asked = Asked::of(&request, cpu::of_process(self.asking.load(Ordering::SeqCst)));
        locked(&self.asked).push(asked);
        let (delta, reason) = match locked(&self.search).take() {
            None => (json!({ "content": "It is so." }), "stop"),
            Some(query) => {
                let arguments = json!({ "query": query, "limit": 10 }).to_string();
                let function = json!({ "name": "session_search", "arguments": arguments });
                let call = json!({ "index": 0, "id": "bench", "function": function });
                (json!({ "tool_calls": [call] }), "tool_calls")
            }
        };
        let said = json!({ "choices": [{ "delta": delta }] });
        let end = json!({ "choices": [{ "delta": {}, "finish_reason": reason }] });
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
             data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n"
        )?;
        Ok(())
    }
}

impl Asked {
    fn of(request: &Value, cpu: Duration) -> Asked {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has_role = |role: &'static str| move |message: &&Value| message["role"] == role;
        let system: Vec<&Value> = messages.iter().filter(has_role("system")).collect();
        let hash = Sha256::digest(format!("{system:?}{}", request["tools"]));
        let tool_answer = messages.last().filter(has_role("tool"));
        Asked {
            prefix: hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect(),
            tool_answer: tool_answer.and_then(|said| said["content"].as_str()).map(str::to_owned),
            cpu,
        }
    }
}

/// The body of a request.
fn read(stream: &TcpStream) -> anyhow::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        ensure!(reader.read_line(&mut head)? > 0, "the request ended within its head");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.context("a request without a length")?.trim().parse()?];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
