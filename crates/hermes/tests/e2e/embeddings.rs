//! Embedding models behind an endpoint: switching, going on after a kill, and doing without.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::ports::free_port;
use crate::recall::{first, remembering};
use crate::sandbox::Sandbox;

#[test]
fn anthropic_without_a_key_says_what_to_do() {
    let sandbox = remembering();
    sandbox.ok(&["config", "set", "memory.embeddings.provider", "anthropic"]);
    let ran = sandbox.run(&["memory", "reembed"]);
    ran.failed(5, &["VOYAGE_API_KEY", "no embedding endpoint", "provider embedded"]);
    let ran = sandbox.run(&["memory", "search", "docker compose"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("docker compose"), "{}", ran.stdout);
}

#[test]
fn an_endpoint_that_is_down_leaves_the_words() {
    let sandbox = remembering();
    let endpoint = Endpoint::start(usize::MAX);
    endpoint.set(&sandbox);
    sandbox.ok(&["memory", "reembed"]);
    drop(endpoint);
    let base = format!("http://127.0.0.1:{}/v1", free_port());
    sandbox.ok(&["config", "set", "memory.embeddings.base_url", &base]);
    let ran = sandbox.run(&["memory", "search", "docker compose"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("docker compose"), "{}", ran.stdout);
    assert!(ran.stderr.contains("keyword search only"), "{}", ran.stderr);
    let ran = sandbox.run(&["memory", "fact", "add", "The ladder is in the cellar"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("memory reembed"), "{}", ran.stderr);
    assert_eq!(first(&sandbox, "where is the ladder?"), "The ladder is in the cellar");
    let ran = sandbox.run(&["doctor"]);
    assert!(ran.stdout.contains("1 texts have no vector"), "{}", ran.stdout);
    sandbox.fails(&["memory", "reembed"], 13, &["could not reach"]);
}

#[test]
fn reembedding_switches_and_goes_on_where_it_was_stopped() {
    let sandbox = remembering();
    // Seven requests for the middle of the vectors, three for the first fifteen texts.
    let short = Endpoint::start(10);
    short.set(&sandbox);
    sandbox.ok(&["config", "set", "memory.embeddings.batch_size", "5"]);
    let ran = sandbox.run(&["memory", "search", "docker compose"]);
    assert!(ran.stderr.contains("hermes memory reembed"), "{}", ran.stderr);
    let mut child = sandbox.command(&["memory", "reembed"]).spawn().unwrap();
    short.silent.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let models = sandbox.json(&["memory", "status"])["models"].clone();
    assert_eq!((&models[0]["state"], &models[0]["done"]), (&json!("building"), &json!(15)));
    assert_eq!(
        (&models[1]["state"], &models[1]["provider"]),
        (&json!("active"), &json!("embedded"))
    );
    assert!(first(&sandbox, "docker compose").contains("docker compose"));
    let whole = Endpoint::start(usize::MAX);
    whole.set(&sandbox);
    let report = sandbox.json(&["memory", "reembed"]);
    assert_eq!(
        (&report["model"]["provider"], &report["model"]["dims"]),
        (&json!("openai"), &json!(8))
    );
    assert_eq!(report["embedded"].as_u64().unwrap(), 33 - 15);
    assert_eq!(sandbox.json(&["memory", "status"])["models"].as_array().unwrap().len(), 1);
    assert!(first(&sandbox, "docker compose").contains("docker compose"));
    sandbox.ok(&["memory", "fact", "add", "The ladder is in the cellar"]);
    assert_eq!(sandbox.json(&["memory", "reembed"])["embedded"], 0, "the fact has its vector");
    assert_eq!(sandbox.json(&["memory", "reembed", "--all"])["embedded"], 34);
    sandbox.ok(&["config", "set", "memory.embeddings.provider", "embedded"]);
    sandbox.ok(&["config", "unset", "memory.embeddings.base_url"]);
    sandbox.ok(&["memory", "reembed"]);
    assert_eq!(sandbox.run(&["doctor"]).code, 0);
}

/// A server that speaks OpenAI's protocol and gives every text a vector of eight numbers.
pub(crate) struct Endpoint {
    address: SocketAddr,
    /// Hears of every request that is left without an answer.
    pub(crate) silent: Receiver<()>,
}

impl Endpoint {
    /// Answers so many requests and leaves the next ones waiting.
    pub(crate) fn start(answers: usize) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (heard, silent) = channel();
        std::thread::spawn(move || serve(&listener, answers, &heard));
        Endpoint { address, silent }
    }

    pub(crate) fn set(&self, sandbox: &Sandbox) {
        sandbox.ok(&["config", "set", "memory.embeddings.provider", "openai"]);
        let base = format!("http://{}/v1", self.address);
        sandbox.ok(&["config", "set", "memory.embeddings.base_url", &base]);
    }
}

fn serve(listener: &TcpListener, answers: usize, heard: &Sender<()>) {
    let mut waiting = Vec::new();
    for (count, stream) in listener.incoming().flatten().enumerate() {
        if count < answers {
            let _ = answer(stream);
        } else {
            waiting.push(stream);
            let _ = heard.send(());
        }
    }
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let texts = asked["input"].as_array().cloned().unwrap_or_default();
    let item = |(index, text)| json!({ "index": index, "embedding": numbers(text) });
    let data: Vec<Value> = texts.iter().enumerate().map(item).collect();
    let body = json!({ "data": data }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(reader.get_mut(), "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn numbers(text: &Value) -> Vec<f64> {
    let mut sums = [0.1; 8];
    for (place, byte) in text.as_str().unwrap_or_default().bytes().enumerate() {
        sums[place % 8] += f64::from(byte % 32);
    }
    sums.to_vec()
}
