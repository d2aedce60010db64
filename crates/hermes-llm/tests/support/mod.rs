//! A small HTTP server on the loopback that answers as it was told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One answer: a status, more headers, and a body.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: &'static str,
    pub(crate) body: String,
}

/// What a client sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

/// The server; it ends with the test.
pub(crate) struct Server {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

pub(crate) fn answer(status: u16, body: &str) -> Answer {
    Answer { status, headers: "", body: body.into() }
}

impl Server {
    /// Gives the answers in turn, the last one for ever; with none it is silent.
    pub(crate) fn start(answers: Vec<Answer>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || serve(&listener, &answers, &seen));
        Server { base, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// An address nobody listens at.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn serve(listener: &TcpListener, answers: &[Answer], seen: &Mutex<Vec<Request>>) {
    let mut silent = Vec::new();
    for (turn, stream) in listener.incoming().enumerate() {
        let mut stream = stream.unwrap();
        seen.lock().unwrap().push(read(&stream));
        match answers.get(turn).or(answers.last()) {
            Some(answer) => write(&mut stream, answer),
            None => silent.push(stream),
        }
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            break;
        }
    }
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.trim().parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Request { head, body: serde_json::from_slice(&body).unwrap_or_default() }
}

fn write(stream: &mut TcpStream, answer: &Answer) {
    let Answer { status, headers, body } = answer;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A client that has heard enough may hang up.
    let _ = stream.write_all(body.as_bytes());
}
