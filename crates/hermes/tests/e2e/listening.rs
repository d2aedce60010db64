//! A daemon that listens on the loopback, and requests as any program sends them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A daemon that listens, and the token of its owner.
pub(crate) struct Listening {
    pub(crate) sandbox: Sandbox,
    pub(crate) address: String,
    pub(crate) token: String,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Expects a refusal of this status and kind, in the one form that errors have.
    pub(crate) fn refused(&self, status: u16, kind: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.json()["error"]["kind"], kind, "{}", self.text);
        assert!(!self.json()["error"]["message"].as_str().unwrap().is_empty());
    }
}

impl Listening {
    pub(crate) fn new() -> Listening {
        Listening::at(Sandbox::ready())
    }

    pub(crate) fn at(sandbox: Sandbox) -> Listening {
        sandbox.ok(&["start"]);
        let state: Value = serde_json::from_str(&sandbox.read("hermesd/daemon.json")).unwrap();
        let address = state["address"].as_str().unwrap().to_owned();
        let token = sandbox.ok(&["token", "show"]).trim().to_owned();
        Listening { sandbox, address, token }
    }

    /// One request as it stands, on a connection of its own.
    pub(crate) fn send(&self, head: &str, body: &[u8]) -> Answer {
        self.send_bytes(head.as_bytes(), body)
    }

    /// The same with a head that need not be text.
    pub(crate) fn send_bytes(&self, head: &[u8], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let _ = stream.write_all(head);
        let _ = stream.write_all(body);
        read(stream)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        self.ask_at(&self.address, (method, path), headers, body)
    }

    /// The same by another name.
    pub(crate) fn ask_at(
        &self,
        host: &str,
        (method, path): (&str, &str),
        headers: &[&str],
        body: &str,
    ) -> Answer {
        let more: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n{more}\r\n",
            body.len()
        );
        self.send(&head, body.as_bytes())
    }

    /// The name and port by which browsers find the dashboard.
    pub(crate) fn own_host(&self) -> String {
        let state: Value = serde_json::from_str(&self.sandbox.read("hermesd/daemon.json")).unwrap();
        state["dashboard"].as_str().unwrap().trim_start_matches("http://").to_owned()
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[&self.bearer()], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let kind = "Content-Type: application/json";
        self.ask("POST", path, &[&self.bearer(), kind], &body.to_string())
    }
}

fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let is_chunked = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let text = if is_chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, headers, text }
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        text.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    text
}
