//! A chat model on the loopback that answers from a script, in the protocol it is asked in.
//!
//! ```ignore
//! let server = ModelServer::start(vec![Reply::text("{\"facts\":[]}"), Reply::Cut]);
//! let mut command = sandbox.command(&["model", "test", "anthropic/any"]);
//! server.point(&mut command);           // addresses and fake keys of all providers
//! let ran = Ran::of(&command.output().unwrap());
//! assert_eq!(server.requests()[0].path, "/v1/messages");
//! ```

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// The key that [`ModelServer::point`] gives to every provider; no output may ever hold it.
pub(crate) const KEY: &str = "sk-loopback-3141592653589793";

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with this text.
    Text(String),
    /// Answers with this text, one word at a time, with pauses.
    Slow(String),
    /// Says this text and calls these tools, each with its arguments as they are written.
    Calls(String, Vec<(String, String)>),
    /// Declines, in the way of the protocol.
    Refusal,
    /// Answers with a status and a message; 429 and the like may be tried again at once.
    Status(u16, &'static str),
    /// Answers 200 with what no protocol knows.
    Garbage,
    /// Answers 200 and ends in the middle of a JSON object.
    HalfJson,
    /// Answers 200 with one line of 10 MB.
    Large,
    /// Answers 200 with a web page, as a captive portal does.
    WebPage,
    /// Begins to answer with this text and says no more, without hanging up.
    Stall(String),
    /// Begins to answer and hangs up.
    Cut,
    /// Hangs up without a word.
    Close,
}

/// A request the server has seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The path, which tells the protocol: `/v1/messages`, `/v1/chat/completions`, `/api/chat`.
    pub(crate) path: String,
    /// Request line and headers, in lower case.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Value,
}

/// The server; it ends with the test.
pub(crate) struct ModelServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Reply {
    /// Answers with this text.
    pub(crate) fn text(text: &str) -> Reply {
        Reply::Text(text.to_owned())
    }
}

impl Reply {
    /// Calls one tool.
    pub(crate) fn call(name: &str, arguments: &Value) -> Reply {
        Reply::Calls(String::new(), vec![(name.to_owned(), arguments.to_string())])
    }
}

impl Seen {
    /// The system prompt as one text.
    pub(crate) fn system(&self) -> String {
        match &self.body["system"] {
            Value::Array(parts) => {
                let texts: Vec<&str> =
                    parts.iter().filter_map(|part| part["text"].as_str()).collect();
                texts.join("\n\n")
            }
            _ => text_of(&self.body["messages"][0]),
        }
    }

    /// The text of the last message.
    pub(crate) fn last(&self) -> String {
        let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
        messages.last().map(text_of).unwrap_or_default()
    }

    /// Everything the model was told, as one text.
    pub(crate) fn prompt(&self) -> String {
        format!("{}{}", self.body["system"], self.body["messages"])
    }
}

impl ModelServer {
    /// Gives the replies in turn, the last one for ever.
    pub(crate) fn start(script: Vec<Reply>) -> ModelServer {
        ModelServer::answering(move |number, _| {
            script.get(number).or(script.last()).cloned().unwrap_or(Reply::Close)
        })
    }

    /// Asks for each reply, with the number of the request, from 0, and the request itself.
    pub(crate) fn answering(
        mut reply: impl FnMut(usize, &Seen) -> Reply + Send + 'static,
    ) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            // Connections that are not hung up.
            let mut held = Vec::new();
            for (number, mut stream) in listener.incoming().flatten().enumerate() {
                let Some(request) = read(&stream) else { continue };
                let reply = reply(number, &request);
                let path = request.path.clone();
                noted.lock().unwrap().push(request);
                // A client that has heard enough may hang up.
                let _ = write(&mut stream, &path, &reply);
                if matches!(reply, Reply::Stall(_)) {
                    held.push(stream);
                }
            }
        });
        ModelServer { address, seen }
    }

    /// Its address, `http://127.0.0.1:PORT`.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Lets a run of the program find every provider here, each with [`KEY`].
    pub(crate) fn point(&self, command: &mut Command) {
        for name in ["ANTHROPIC", "OPENAI", "OPENROUTER", "LMSTUDIO", "LLAMACPP"] {
            command.env(format!("{name}_BASE_URL"), self.base());
        }
        command.env("OLLAMA_HOST", self.address.to_string());
        for name in ["ANTHROPIC", "OPENAI", "OPENROUTER", "LLAMA", "MODEL"] {
            command.env(format!("{name}_API_KEY"), KEY);
        }
        command.env("LM_API_TOKEN", KEY);
    }
}

/// The words of a message, and what tools brought.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let text = |block: &Value| {
                let part = block["text"].as_str().or(block["content"].as_str());
                part.unwrap_or_default().to_owned()
            };
            blocks.iter().map(text).collect::<Vec<_>>().join("")
        }
        _ => String::new(),
    }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some(Seen { path, head, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn write(stream: &mut TcpStream, path: &str, reply: &Reply) -> std::io::Result<()> {
    let is_ollama = path == "/api/chat";
    let kind = if is_ollama { "application/x-ndjson" } else { "text/event-stream" };
    match reply {
        Reply::Close => Ok(()),
        Reply::Status(status, message) => {
            let body = json!({"type": "error", "error": {"type": "x", "message": message}});
            let body = if is_ollama { json!({ "error": message }) } else { body };
            head(stream, &format!("{status} X"), "application/json\r\nretry-after: 0")?;
            write!(stream, "{body}")
        }
        Reply::WebPage => {
            head(stream, "200 OK", "text/html")?;
            write!(stream, "<html><body>Log in to the network</body></html>")
        }
        streamed => {
            head(stream, "200 OK", kind)?;
            for piece in pieces(path, streamed) {
                stream.write_all(piece.as_bytes())?;
                if matches!(streamed, Reply::Slow(_)) {
                    stream.flush()?;
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            Ok(())
        }
    }
}

fn head(stream: &mut TcpStream, status: &str, kind: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nrequest-id: req_loopback\r\nconnection: close\r\n\r\n"
    )
}

/// The pieces of a stream in the protocol of a path.
fn pieces(path: &str, reply: &Reply) -> Vec<String> {
    let whole = |words: Vec<String>| {
        let middle = words.into_iter().map(|word| delta(path, &word));
        [begin(path)].into_iter().chain(middle).chain([end(path, "stop")]).collect()
    };
    match reply {
        Reply::Text(text) => whole(vec![text.clone()]),
        Reply::Slow(text) => whole(text.split_inclusive(' ').map(str::to_owned).collect()),
        Reply::Calls(text, calls) => {
            let text = (!text.is_empty()).then(|| delta(path, text));
            let calls = calls
                .iter()
                .enumerate()
                .flat_map(|(place, (name, arguments))| call(path, place, (name, arguments)));
            let middle = text.into_iter().chain(calls);
            [begin(path)].into_iter().chain(middle).chain([end(path, "tools")]).collect()
        }
        Reply::Refusal => vec![begin(path), end(path, "refusal")],
        Reply::Stall(text) => vec![begin(path), delta(path, text)],
        Reply::Cut => vec![begin(path), delta(path, "The answer is")],
        Reply::HalfJson => {
            let last = delta(path, "The answer is");
            vec![begin(path), last[..last.len() / 2].to_owned()]
        }
        Reply::Large => vec![delta(path, &"x".repeat(10_000_000))],
        _ => vec!["data: %$#@!\n\n".to_owned()],
    }
}

fn event(value: &Value) -> String {
    let name = value["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {value}\n\n")
}

fn begin(path: &str) -> String {
    match path {
        "/v1/messages" => {
            let usage = json!({"input_tokens": 11, "output_tokens": 1});
            let message = json!({"id": "msg_1", "model": "loopback-1", "usage": usage});
            event(&json!({"type": "message_start", "message": message}))
        }
        "/api/chat" => String::new(),
        _ => ": PROCESSING\n\n".to_owned(),
    }
}

fn delta(path: &str, text: &str) -> String {
    match path {
        "/v1/messages" => event(&json!({
            "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text},
        })),
        "/api/chat" => {
            let message = json!({"role": "assistant", "content": text});
            format!("{}\n", json!({"model": "loopback-1", "message": message, "done": false}))
        }
        _ => event(&json!({
            "id": "chatcmpl-1", "model": "loopback-1",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}],
        })),
    }
}

/// A call of a tool, its arguments in two pieces.
fn call(path: &str, place: usize, (name, arguments): (&str, &str)) -> Vec<String> {
    let id = format!("call_{place}_{name}");
    let middle = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at));
    let (first, second) = arguments.split_at(middle.unwrap_or(0));
    match path {
        "/v1/messages" => {
            let index = place + 1;
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            let begin =
                json!({"type": "content_block_start", "index": index, "content_block": block});
            let piece = |text: &str| {
                let delta = json!({"type": "input_json_delta", "partial_json": text});
                event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
            };
            vec![event(&begin), piece(first), piece(second)]
        }
        "/api/chat" => {
            let arguments: Value =
                serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            let calls = json!([{"function": {"name": name, "arguments": arguments}}]);
            let message = json!({"role": "assistant", "content": "", "tool_calls": calls});
            vec![format!("{}\n", json!({"model": "loopback-1", "message": message, "done": false}))]
        }
        _ => {
            let piece = |call: Value| {
                let choice =
                    json!({"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null});
                event(&json!({"id": "chatcmpl-1", "model": "loopback-1", "choices": [choice]}))
            };
            let function = json!({"name": name, "arguments": first});
            vec![
                piece(json!({"index": place, "id": id, "type": "function", "function": function})),
                piece(json!({"index": place, "function": {"arguments": second}})),
            ]
        }
    }
}

fn end(path: &str, reason: &str) -> String {
    let is_refusal = reason == "refusal";
    let has_calls = reason == "tools";
    match path {
        "/v1/messages" => {
            let reason = match reason {
                "refusal" => "refusal",
                "tools" => "tool_use",
                _ => "end_turn",
            };
            let delta = json!({"stop_reason": reason});
            event(&json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}}))
                + &event(&json!({"type": "message_stop"}))
        }
        "/api/chat" => {
            let last = json!({
                "model": "loopback-1", "message": {"role": "assistant", "content": ""},
                "done": true, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 3,
            });
            format!("{last}\n")
        }
        _ => {
            let reason = match (is_refusal, has_calls) {
                (true, _) => "content_filter",
                (_, true) => "tool_calls",
                _ => "stop",
            };
            let usage = json!({"prompt_tokens": 11, "completion_tokens": 3});
            event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
                + &event(&json!({"choices": [], "usage": usage}))
                + "data: [DONE]\n\n"
        }
    }
}
