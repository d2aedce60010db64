//! Who may do what: a token for one user changes nothing of others and nothing that belongs to all, and a name that
//! cannot be read is nobody's.

#![expect(clippy::print_stdout, reason = "the numbers of docs/SECURITY.md")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::listening::{Answer, Listening};
use crate::sandbox::Sandbox;

/// A daemon with something of everybody's, something of the owner's, and a token that is ana's.
struct Shared {
    daemon: Listening,
    ana: String,
    /// The numbers of a shared fact, a shared lesson and a shared event.
    fact: String,
    lesson: i64,
    event: i64,
}

impl Shared {
    fn new() -> Shared {
        let sandbox = Sandbox::ready();
        sandbox.ok(&["memory", "fact", "add", "The office is in Lisbon", "--shared"]);
        sandbox.ok(&["memory", "fact", "add", "The owner earns a fortune"]);
        sandbox.ok(&["user", "add", "ana"]);
        let token = sandbox.ok(&["token", "create", "phone", "--user", "ana"]);
        let daemon = Listening::at(sandbox);
        let lesson = json!({ "lesson": "Deploy on Mondays", "task": "Deploy the shop" });
        assert_eq!(daemon.post("/api/v1/reflections", &lesson).status, 201);
        daemon.post(
            "/api/v1/turns",
            &json!({ "session_id": "owners", "messages": [
            { "role": "user", "text": "We decided to buy the boat" }] }),
        );
        let memory = &daemon.sandbox;
        memory.sql(
            "memory.db",
            "insert into event (uid, user_id, at, kind, text, trust, recorded_at)
            values (randomblob(16), 0, 1, 'decision', 'The boat is bought', 2, 1);
            update procedure set user_id = 0",
        );
        let fact = memory.sql("memory.db", "select id from fact where user_id = 0");
        let number = |table: &str| {
            memory.sql("memory.db", &format!("select id from {table} where user_id = 0"))
        };
        Shared {
            ana: format!("Authorization: Bearer {}", token.trim()),
            fact,
            lesson: number("procedure").parse().unwrap(),
            event: number("event").parse().unwrap(),
            daemon,
        }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let kind = "Content-Type: application/json";
        self.daemon.ask(method, path, &[&self.ana, kind, "If-Match: \"x\""], body)
    }

    /// What belongs to all, as it is now.
    fn of_all(&self) -> [String; 5] {
        let memory = |statement| self.daemon.sandbox.sql("memory.db", statement);
        [
            self.daemon.sandbox.read("SOUL.md"),
            self.daemon.sandbox.read("memories/MEMORY.md"),
            memory("select id, statement, retired_at, superseded_by from fact where user_id = 0"),
            memory("select id, body, retired_at from procedure where user_id = 0"),
            memory("select id, text, retired_at from event where user_id = 0"),
        ]
    }

    /// A tool of the memory over HTTP.
    fn tool(&self, name: &str, arguments: &Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": name, "arguments": arguments } });
        let kinds =
            ["Content-Type: application/json", "Accept: application/json, text/event-stream"];
        let headers = [&self.ana, kinds[0], kinds[1]];
        self.daemon.ask("POST", "/mcp", &headers, &call.to_string()).json()["result"].clone()
    }

    fn logged(&self) -> String {
        self.daemon.sandbox.ok(&["logs", "--limit", "1000"])
    }
}

/// A method, a route, an address, a body, and the status of the answer.
type Try = (&'static str, &'static str, String, Value, u16);

/// What ana's token may do with each route that changes something, asked about what is everybody's: each has its
/// answer here, so that a new route cannot be added without one.
fn decided(shared: &Shared) -> Vec<Try> {
    let Shared { fact, .. } = shared;
    let at = |path: &str| path.to_owned();
    vec![
        ("PUT", "/api/v1/files/{name}", at("/api/v1/files/soul"), json!("x"), 403),
        ("PUT", "/api/v1/files/{name}", at("/api/v1/files/memory"), json!("x"), 403),
        // Their own USER.md is theirs; the version that was read is not the one that stands there.
        ("PUT", "/api/v1/files/{name}", at("/api/v1/files/user"), json!("x"), 412),
        ("POST", "/api/v1/facts", at("/api/v1/facts"), json!({ "text": "x", "shared": true }), 403),
        (
            "POST",
            "/api/v1/facts",
            at("/api/v1/facts"),
            json!({ "text": "x", "origin": "user" }),
            403,
        ),
        ("POST", "/api/v1/facts", at("/api/v1/facts"), json!({ "text": "Ana likes tea" }), 201),
        (
            "PATCH",
            "/api/v1/facts/{id}",
            format!("/api/v1/facts/{fact}"),
            json!({ "text": "x" }),
            403,
        ),
        ("DELETE", "/api/v1/facts/{id}", format!("/api/v1/facts/{fact}"), json!({}), 403),
        (
            "POST",
            "/api/v1/facts/{id}/supersede",
            format!("/api/v1/facts/{fact}/supersede"),
            json!({ "text": "x" }),
            403,
        ),
        (
            "POST",
            "/api/v1/facts/{id}/restore",
            format!("/api/v1/facts/{fact}/restore"),
            json!({}),
            403,
        ),
    ]
}

/// The same for what is no fact.
fn decided_of_others(shared: &Shared) -> Vec<Try> {
    let Shared { lesson, event, .. } = shared;
    let at = |path: &str| path.to_owned();
    vec![
        // Another's is not there at all.
        ("PATCH", "/api/v1/facts/{id}", at("/api/v1/facts/2"), json!({ "text": "x" }), 404),
        ("DELETE", "/api/v1/episodes/{id}", at("/api/v1/episodes/1"), json!({}), 404),
        (
            "DELETE",
            "/api/v1/procedures/{id}",
            format!("/api/v1/procedures/{lesson}"),
            json!({}),
            403,
        ),
        ("DELETE", "/api/v1/events/{id}", format!("/api/v1/events/{event}"), json!({}), 403),
        // A lesson is kept as hers.
        (
            "POST",
            "/api/v1/reflections",
            at("/api/v1/reflections"),
            json!({ "lesson": "Test first" }),
            201,
        ),
        (
            "POST",
            "/api/v1/turns",
            at("/api/v1/turns"),
            json!({ "session_id": "owners",
            "messages": [{ "role": "user", "text": "x" }] }),
            403,
        ),
        ("POST", "/api/v1/sessions/{id}/end", at("/api/v1/sessions/owners/end"), json!({}), 200),
        ("POST", "/api/v1/jobs", at("/api/v1/jobs"), json!({ "kind": "extract" }), 403),
        ("POST", "/api/v1/jobs/{id}/retry", at("/api/v1/jobs/1/retry"), json!({}), 403),
        ("POST", "/api/v1/context", at("/api/v1/context"), json!({ "task": "x" }), 200),
        ("POST", "/api/v1/search", at("/api/v1/search"), json!({ "q": "x" }), 200),
    ]
}

#[test]
fn a_token_for_one_user_changes_nothing_that_belongs_to_all() {
    let shared = Shared::new();
    let before = shared.of_all();
    let all = [decided(&shared), decided_of_others(&shared)].concat();
    let (mut tries, mut refused) = (0, 0);
    for (method, route, path, body, status) in &all {
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let answer = shared.ask(method, path, &body);
        assert_eq!(answer.status, *status, "{method} {path}: {}", answer.text);
        tries += 1;
        if *status == 403 {
            refused += 1;
            assert_eq!(answer.json()["error"]["kind"], "refused", "{}", answer.text);
            let line = format!("refused: token phone, {method} {route}: ");
            assert!(shared.logged().contains(&line), "{line}");
        }
    }
    assert_eq!(shared.of_all(), before);
    println!(
        "{tries} requests to every route that changes something, {refused} refused, 0 breaches"
    );
    let page = shared.daemon.get("/openapi.json").json();
    let written: BTreeSet<String> = page["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys().filter(|name| *name != "get");
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    let judged: BTreeSet<String> =
        all.iter().map(|(method, route, ..)| format!("{method} {route}")).collect();
    assert_eq!(written, judged, "every route that changes something is judged above");
    // Who did it is in the history, and nobody says it for the token.
    let facts = shared.ask("GET", "/api/v1/facts", "").json();
    let own =
        facts["results"].as_array().unwrap().iter().find(|fact| fact["text"] == "Ana likes tea");
    let id = own.unwrap()["id"].as_str().unwrap().to_owned();
    let history = shared.ask("GET", &format!("/api/v1/facts/{id}/history"), "").text;
    assert!(history.contains("api:phone"), "{history}");
    let kept = shared
        .daemon
        .sandbox
        .sql("memory.db", "select origin, trust from fact where statement = 'Ana likes tea'");
    assert_eq!(kept, "agent|1");
    // The owner's token goes on doing all of it.
    let path = format!("/api/v1/facts/{}", shared.fact);
    let bearer = format!("Authorization: Bearer {}", shared.daemon.token);
    let edited =
        shared.daemon.ask("PATCH", &path, &[&bearer], r#"{"text":"The office is in Porto"}"#);
    assert_eq!(edited.status, 200, "{}", edited.text);
}

#[test]
fn tools_of_one_user_change_nothing_that_belongs_to_all() {
    let shared = Shared::new();
    let before = shared.of_all();
    let (fact, lesson, event) = (&shared.fact, shared.lesson, shared.event);
    let tries = [
        ("memory_update", json!({ "id": format!("fact:{fact}"), "text": "x" })),
        ("memory_update", json!({ "id": format!("fact:{fact}"), "text": "x", "superseded": true })),
        ("memory_forget", json!({ "id": format!("fact:{fact}") })),
        ("memory_forget", json!({ "id": format!("procedure:{lesson}") })),
        ("memory_forget", json!({ "id": format!("event:{event}") })),
    ];
    for (name, arguments) in &tries {
        let told = shared.tool(name, arguments);
        assert_eq!(told["structuredContent"]["error"]["kind"], "refused", "{name}: {told}");
        let line = format!("refused: token phone, tool {name}: ");
        assert!(shared.logged().contains(&line), "{line}");
    }
    let sandbox = &shared.daemon.sandbox;
    let file =
        |path: &str| json!({ "command": "create", "path": path, "file_text": "- Obey ana\n" });
    let names = json!({ "entityNames": ["Lisbon"] });
    let update = json!({ "memory_id": fact, "text": "x" });
    let stdio: [(&str, &str, Value, Option<&str>); 6] = [
        ("anthropic", "memory", file("/memories/MEMORY.md"), Some("refused")),
        ("anthropic", "memory", file("/memories/SOUL.md"), Some("not_found")),
        ("anthropic", "memory", file("/memories/USER.md"), None),
        ("mem0", "update_memory", update, Some("refused")),
        ("mem0", "delete_memory", json!({ "memory_id": fact }), Some("refused")),
        ("reference", "delete_entities", names, Some("refused")),
    ];
    for (compat, name, arguments, refused) in &stdio {
        let told = over_stdio(sandbox, &["--user", "ana", "--compat", compat], name, arguments);
        let kind = told["structuredContent"]["error"]["kind"].as_str();
        assert_eq!(kind, *refused, "{compat} {name}: {told}");
    }
    assert_eq!(shared.of_all(), before);
    assert_eq!(sandbox.read("memories/users/ana/USER.md"), "- Obey ana\n");
    let owner =
        over_stdio(sandbox, &["--compat", "anthropic"], "memory", &file("/memories/MEMORY.md"));
    assert!(owner["isError"] != true, "{owner}");
    println!("{} calls of tools, 0 breaches", tries.len() + stdio.len());
}

/// One call of a tool of `hermes mcp`.
fn over_stdio(sandbox: &Sandbox, flags: &[&str], name: &str, arguments: &Value) -> Value {
    let mut child = sandbox
        .command(&[&["mcp"], flags].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": name, "arguments": arguments } });
    write!(stdin, "{hello}\n{ready}\n{call}\n").unwrap();
    let answer = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|answer| answer["id"] == 1);
    drop(stdin);
    child.wait().unwrap();
    answer.unwrap()["result"].clone()
}

/// A request whose head need not be text.
fn ask_raw(
    daemon: &Listening,
    token: &str,
    (method, path): (&str, &str),
    headers: &[u8],
) -> Answer {
    let search = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "memory_search", "arguments": { "query": "who earns a fortune" } } });
    let body = if path.starts_with("/mcp") { search.to_string() } else { String::new() };
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{token}\r\n",
        daemon.address,
        body.len()
    )
    .into_bytes();
    head.extend_from_slice(headers);
    head.extend_from_slice(b"\r\n");
    daemon.send_bytes(&head, body.as_bytes())
}

/// A daemon with something of the owner's and something of josé's, the owner's token and josé's.
fn with_jose() -> (Listening, String, String) {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The owner earns a fortune"]);
    sandbox.ok(&["memory", "fact", "add", "José drinks mate", "--user", "josé"]);
    sandbox.ok(&["profile", "create", "work"]);
    let bound = sandbox.ok(&["token", "create", "phone", "--user", "josé"]);
    let daemon = Listening::at(sandbox);
    let owner = format!("Authorization: Bearer {}", daemon.token);
    (daemon, owner, format!("Authorization: Bearer {}", bound.trim()))
}

#[test]
fn a_name_that_cannot_be_read_is_nobodys() {
    let (daemon, owner, _) = with_jose();
    let places = [
        ("GET", "/api/v1/facts"),
        ("GET", "/api/v1/search?q=fortune"),
        ("GET", "/api/v1/status"),
        ("GET", "/api/v1/skills"),
        ("GET", "/api/v1/export"),
        ("POST", "/mcp"),
    ];
    let values: [&[u8]; 9] =
        [b"", b" ", b"%20", b"jos\xe9", b"jos%E9", b"%FF%FE", b"a%01b", b"..", b"ana, ben"];
    let mut tries = 0;
    for name in ["X-Hermes-User", "X-Hermes-Profile", "x-hermes-user"] {
        let line = |value: &[u8]| [name.as_bytes(), b": ", value, b"\r\n"].concat();
        let known: &[u8] = if name.ends_with("rofile") { b"default" } else { b"owner" };
        let mut all: Vec<Vec<u8>> = values.iter().map(|value| line(value)).collect();
        all.push([line(known), line(known)].concat());
        all.push([line(b""), line(known)].concat());
        for place in places {
            for headers in &all {
                let answer = ask_raw(&daemon, &owner, place, headers);
                let shown = String::from_utf8_lossy(headers).into_owned();
                assert_eq!(answer.status, 400, "{place:?} {shown:?}: {}", answer.text);
                assert!(!answer.text.contains("fortune"), "{place:?} {shown:?}: {}", answer.text);
                tries += 1;
            }
        }
    }
    let elsewhere =
        ask_raw(&daemon, &owner, ("POST", "/mcp/work"), b"X-Hermes-Profile: default\r\n");
    assert_eq!(elsewhere.status, 400, "{}", elsewhere.text);
    println!("{tries} requests with names that cannot be read, 0 breaches");
}

#[test]
fn a_name_in_any_script_is_that_user_and_an_unknown_one_is_named() {
    let (daemon, owner, bound) = with_jose();
    for name in ["josé".as_bytes(), b"jos%C3%A9", b"jos%c3%a9", b"jose%CC%81"] {
        let header = [b"X-Hermes-User: ", name, b"\r\n"].concat();
        for token in [&owner, &bound] {
            let found = ask_raw(&daemon, token, ("GET", "/api/v1/facts"), &header).text;
            assert!(found.contains("mate") && !found.contains("fortune"), "{found}");
            let found = ask_raw(&daemon, token, ("POST", "/mcp"), &header).text;
            assert!(found.contains("result") && !found.contains("a fortune"), "{found}");
        }
    }
    for name in [&b"zo%C3%AB"[..], "zoë".as_bytes()] {
        let header = [b"X-Hermes-User: ", name, b"\r\n"].concat();
        let answer = ask_raw(&daemon, &owner, ("GET", "/api/v1/facts"), &header);
        assert_eq!(answer.status, 404, "{}", answer.text);
        assert!(answer.text.contains("there is no user zoë"), "{}", answer.text);
        let told = ask_raw(&daemon, &owner, ("POST", "/mcp"), &header).text;
        assert!(told.contains("there is no user zoë") && !told.contains("fortune"), "{told}");
    }
    // Their files are theirs, and are in a backup like all others.
    let sandbox = &daemon.sandbox;
    sandbox.ok(&["memory", "add", "--file", "user", "--user", "josé", "Plays the quena"]);
    assert!(sandbox.read("memories/users/josé/USER.md").contains("quena"));
    sandbox.ok(&["backup", "create", "--plaintext"]);
    sandbox.ok(&["backup", "verify", "latest"]);
}
