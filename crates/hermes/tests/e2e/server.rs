//! The HTTP API of the daemon: asked as any program would, by those who may and those who may not.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::listening::Listening;
use crate::sandbox::Sandbox;

#[test]
fn a_turn_that_is_reported_is_found_and_put_in_front_of_a_model() {
    let daemon = Listening::new();
    let health = daemon.ask("GET", "/health", &[], "");
    assert_eq!((health.status, &health.json()["status"]), (200, &json!("ok")));
    daemon.sandbox.ok(&["user", "link", "telegram", "42", "owner"]);
    let turn = json!({
        "session_id": "s1", "channel": "telegram", "identity": "42", "agent": "shopbot",
        "messages": [
            { "role": "user", "text": "We deploy the shop to Lisbon on Fridays", "external_id": "m1" },
            { "role": "assistant", "text": "Noted: Lisbon, Fridays.", "external_id": "m2" },
        ],
    });
    let told = daemon.post("/api/v1/turns", &turn);
    assert_eq!(told.status, 200, "{}", told.text);
    assert_eq!(told.json()["results"][0]["kept_in"], "memory", "{}", told.text);
    // The same report again adds nothing.
    daemon.post("/api/v1/turns", &turn);
    let found = daemon.get("/api/v1/search?q=where+is+the+shop+deployed").json();
    assert!(found["results"][0]["text"].as_str().unwrap().contains("Lisbon"), "{found}");
    let asked = json!({ "task": "when do we deploy the shop?", "session_id": "s2" });
    let given = daemon.post("/api/v1/context", &asked).json();
    assert!(given["text"].as_str().unwrap().contains("Fridays"), "{given}");
    assert!(given["tokens"].as_u64().unwrap() > 0);
    let episodes = daemon.get("/api/v1/episodes").json();
    assert_eq!(episodes["results"].as_array().unwrap().len(), 1, "{episodes}");
    let id =
        episodes["results"][0]["id"].as_str().unwrap().trim_start_matches("episode:").to_owned();
    let one = daemon.get(&format!("/api/v1/episodes/{id}")).json();
    assert_eq!(one["messages"].as_array().unwrap().len(), 2, "{one}");
    let sessions = daemon.get("/api/v1/sessions").json();
    assert_eq!(sessions["results"][0]["id"], "s1", "{sessions}");
    assert_eq!(daemon.post("/api/v1/sessions/s1/end", &json!({})).json()["ended"], true);
}

#[test]
fn a_fact_is_added_edited_superseded_taken_back_and_explained() {
    let daemon = Listening::new();
    let added = daemon.post("/api/v1/facts", &json!({ "text": "Rosa leads the shop team" }));
    assert_eq!(added.status, 201, "{}", added.text);
    let id = added.json()["id"].as_str().unwrap().to_owned();
    let again = daemon.post("/api/v1/facts", &json!({ "text": "Rosa leads the shop team" }));
    assert_eq!((again.status, &again.json()["change"]), (200, &json!("known")));
    let path = format!("/api/v1/facts/{id}");
    let edited =
        daemon.ask("PATCH", &path, &[&daemon.bearer()], r#"{"text":"Rosa leads the web team"}"#);
    assert_eq!(edited.json()["change"], "edited", "{}", edited.text);
    let newer = daemon
        .post(&format!("{path}/supersede"), &json!({ "text": "Ines leads the web team" }))
        .json();
    assert_eq!(newer["replaced"], id.as_str(), "{newer}");
    let newer = format!("/api/v1/facts/{}", newer["id"].as_str().unwrap());
    let gone = daemon.ask("DELETE", &newer, &[&daemon.bearer()], "");
    assert_eq!(gone.status, 200, "{}", gone.text);
    let list = daemon.get("/api/v1/facts").json();
    assert!(list["results"].as_array().unwrap().is_empty(), "{list}");
    assert_eq!(daemon.post(&format!("{newer}/restore"), &json!({})).json()["change"], "restored");
    let history = daemon.get(&format!("{newer}/history")).json();
    let actions: Vec<&str> = history["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["action"].as_str())
        .collect();
    assert!(actions.contains(&"fact.retire") && actions.contains(&"fact.restore"), "{history}");
    let detail = daemon.get(&newer).json();
    assert_eq!(
        (&detail["origin"], &detail["trust"]),
        (&json!("agent"), &json!("agent")),
        "{detail}"
    );
    daemon.get("/api/v1/facts/fact:999").refused(404, "not_found");
    daemon.post("/api/v1/facts", &json!({ "text": " " })).refused(400, "usage");
    daemon.post("/api/v1/facts", &json!({ "txt": "x" })).refused(400, "usage");
    let lesson = json!({ "lesson": "Run the tests before a release", "task": "release", "outcome": "failure" });
    assert_eq!(daemon.post("/api/v1/reflections", &lesson).status, 201);
    assert_eq!(daemon.get("/api/v1/procedures").json()["results"].as_array().unwrap().len(), 1);
}

#[test]
fn without_the_right_token_host_and_origin_nothing_is_told() {
    let daemon = Listening::new();
    let kind = "Content-Type: application/json";
    daemon.ask("GET", "/api/v1/facts", &[], "").refused(401, "unauthorized");
    daemon
        .ask("GET", "/api/v1/facts", &["Authorization: Bearer nonsense"], "")
        .refused(401, "unauthorized");
    daemon
        .ask("GET", "/api/v1/facts", &["Authorization: Basic eDp5"], "")
        .refused(401, "unauthorized");
    daemon
        .ask("GET", &format!("/api/v1/facts?token={}", daemon.token), &[], "")
        .refused(401, "unauthorized");
    let key = format!("X-Api-Key: {}", daemon.token);
    assert_eq!(daemon.ask("GET", "/api/v1/facts", &[&key], "").status, 200);
    let page: Value = daemon.ask("GET", "/openapi.json", &[], "").json();
    let hosts = [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost",
        "localhost:1",
        "127.0.0.1@evil.example",
        "",
    ];
    for path in page["paths"].as_object().unwrap().keys() {
        let path = path.replace("{id}", "1").replace("{name}", "memory");
        for host in hosts.iter().filter(|host| **host != "localhost") {
            let head = format!(
                "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{}\r\n\r\n",
                daemon.bearer()
            );
            daemon.send(&head, b"").refused(403, "refused");
        }
        for origin in ["https://evil.example", "null", "http://localhost:3000"] {
            daemon
                .ask("POST", &path, &[&daemon.bearer(), kind, &format!("Origin: {origin}")], "{}")
                .refused(403, "refused");
        }
    }
    let own = format!("Origin: http://{}", daemon.address);
    assert_eq!(daemon.ask("GET", "/api/v1/facts", &[&daemon.bearer(), &own], "").status, 200);
    daemon.send("GET /api/v1/facts HTTP/1.0\r\n\r\n", b"").refused(403, "refused");
    // The token is in no answer.
    for path in ["/health", "/openapi.json", "/metrics", "/api/v1/status", "/api/v1/nothing"] {
        assert!(!daemon.get(path).text.contains(&daemon.token), "{path}");
    }
}

#[test]
fn a_narrow_token_sees_its_profile_and_its_user_alone() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "work"]);
    sandbox.ok(&["memory", "fact", "add", "The owner drinks tea canary-owner"]);
    sandbox.ok(&["memory", "fact", "add", "Ana drinks milk canary-ana", "--user", "ana"]);
    sandbox.ok(&["-p", "work", "memory", "fact", "add", "Work drinks water canary-work"]);
    let make = |flags: &[&str]| {
        let all: Vec<&str> = ["token", "create"].into_iter().chain(flags.iter().copied()).collect();
        format!("Authorization: Bearer {}", sandbox.ok(&all).trim())
    };
    let ana = make(&["ana", "--user", "ana"]);
    let work = make(&["work", "--only-profile", "work", "--read-only"]);
    let listed = sandbox.ok(&["token", "list"]);
    assert!(
        listed.contains("ana") && listed.contains("work") && !listed.contains("hermes_"),
        "{listed}"
    );
    let daemon = Listening::at(sandbox);
    let sees = |token: &str, path: &str, more: &[&str]| {
        let headers: Vec<&str> = [token].into_iter().chain(more.iter().copied()).collect();
        daemon.ask("GET", path, &headers, "")
    };
    let found = sees(&ana, "/api/v1/search?q=who+drinks+what", &[]).text;
    assert!(found.contains("canary-ana") && !found.contains("canary-owner"), "{found}");
    let exported = sees(&ana, "/api/v1/export", &[]).text;
    assert!(exported.contains("canary-ana") && !exported.contains("canary-owner"), "{exported}");
    sees(&ana, "/api/v1/facts", &["X-Hermes-User: owner"]).refused(403, "refused");
    for path in ["/api/v1/jobs", "/api/v1/backups", "/api/v1/users", "/metrics", "/api/v1/changes"]
    {
        sees(&ana, path, &[]).refused(403, "refused");
    }
    let found = sees(&work, "/api/v1/facts", &[]).text;
    assert!(found.contains("canary-work") && !found.contains("canary-owner"), "{found}");
    sees(&work, "/api/v1/facts", &["X-Hermes-Profile: default"]).refused(403, "refused");
    daemon.ask("POST", "/api/v1/facts", &[&work], r#"{"text":"x"}"#).refused(403, "refused");
    // Over MCP too: another user, or what is no name at all, never falls to the owner.
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let mcp = |headers: &[&str]| daemon.ask("POST", "/mcp", headers, hello).status;
    assert_eq!(mcp(&[&ana, "X-Hermes-User: owner"]), 403);
    assert_eq!(mcp(&[&daemon.bearer(), "X-Hermes-User: ../x"]), 400);
    daemon.sandbox.ok(&["token", "revoke", "ana"]);
    sees(&ana, "/api/v1/facts", &[]).refused(401, "unauthorized");
    // Another profile's things are not there under their number.
    let other =
        daemon.ask("GET", "/api/v1/facts/1", &[&daemon.bearer(), "X-Hermes-Profile: work"], "");
    assert!(!other.text.contains("canary-owner"), "{}", other.text);
    let missing =
        daemon.ask("GET", "/api/v1/facts", &[&daemon.bearer(), "X-Hermes-Profile: nobody"], "");
    assert_eq!(missing.status, 404, "{}", missing.text);
    let strange =
        daemon.ask("GET", "/api/v1/facts", &[&daemon.bearer(), "X-Hermes-Profile: ../x"], "");
    assert!(strange.status == 400 || strange.status == 404, "{}", strange.text);
}

#[test]
fn an_edit_never_writes_over_what_nobody_has_seen() {
    let daemon = Listening::new();
    let path = "/api/v1/files/memory";
    let first = daemon.get(path);
    let tag = first.header("etag").unwrap().to_owned();
    let put = |tag: Option<&str>, text: &str| {
        let tag = tag.map(|tag| format!("If-Match: {tag}"));
        let mut headers = vec![daemon.bearer(), "Content-Type: text/markdown".to_owned()];
        headers.extend(tag);
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        daemon.ask("PUT", path, &headers, text)
    };
    put(None, "- x\n").refused(428, "usage");
    put(Some("*"), "- x\n").refused(412, "refused");
    daemon.sandbox.ok(&["memory", "add", "Somebody wrote this meanwhile"]);
    put(Some(&tag), "- mine\n").refused(412, "refused");
    let now = daemon.get(path);
    let tag = now.header("etag").unwrap().to_owned();
    assert!(now.text.contains("meanwhile"));
    let known = daemon.ask("GET", path, &[&daemon.bearer(), &format!("If-None-Match: {tag}")], "");
    assert_eq!((known.status, known.text.as_str()), (304, ""));
    let done = put(Some(&tag), &format!("{}- And this is mine\n", now.text));
    assert_eq!((done.status, &done.json()["changed"]), (200, &json!(true)), "{}", done.text);
    let text = daemon.sandbox.read("memories/MEMORY.md");
    assert!(text.contains("meanwhile") && text.contains("And this is mine"), "{text}");
    assert_eq!(daemon.get("/api/v1/files/passwords").status, 404);
    assert_eq!(daemon.get("/api/v1/files").json()["results"].as_array().unwrap().len(), 3);
}

#[test]
fn nonsense_is_answered_and_the_daemon_goes_on() {
    let daemon = Listening::new();
    let bearer = daemon.bearer();
    for body in ["", "{", "[]", "null", "\u{0}", "{\"task\":5}", "{\"task\":\"x\",\"unknown\":1}"] {
        let answer = daemon.ask("POST", "/api/v1/context", &[&bearer], body);
        answer.refused(400, "usage");
    }
    let deep = "[".repeat(200_000);
    daemon.ask("POST", "/api/v1/turns", &[&bearer], &deep).refused(400, "usage");
    let large = format!("{{\"task\":\"{}\"}}", "x".repeat(9 * 1024 * 1024));
    let answer = daemon.ask("POST", "/api/v1/context", &[&bearer], &large);
    assert!(answer.status == 413 || answer.status == 0, "{}", answer.status);
    for query in
        ["limit=-1", "limit=99999999", "type=nothing", "q=", "q=x&since=never", "q=x&nope=1"]
    {
        let answer = daemon.get(&format!("/api/v1/search?{query}"));
        assert!((400..500).contains(&answer.status), "{query}: {}", answer.text);
    }
    for path in [
        "/nothing",
        "/api",
        "/api/v1/nothing",
        "/api/v1/facts/..%2F..%2Fetc",
        "/api/v1/episodes/x",
        "/api/v1/jobs/9/retry",
    ] {
        let answer = daemon.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
    }
    daemon.ask("DELETE", "/api/v1/context", &[&bearer], "").refused(405, "usage");
    let turns = json!({ "turns": [{ "messages": [] }, { "messages": [{ "role": "user", "text": "hello there" }] }] });
    let told = daemon.post("/api/v1/turns", &turns).json();
    assert_eq!(told["results"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{told}");
    // Clients that stall, and more of them than are let in.
    let stalled: Vec<TcpStream> = (0..600)
        .filter_map(|number| {
            let mut stream = TcpStream::connect(&daemon.address).ok()?;
            if number % 2 == 0 {
                let _ = stream.write_all(b"POST /api/v1/turns HTTP/1.1\r\nHost: x");
            }
            Some(stream)
        })
        .collect();
    assert!(stalled.len() > 400);
    drop(stalled);
    crate::sandbox::until("it answers again", || {
        daemon.ask("GET", "/health", &[], "").status == 200
    });
    assert_eq!(daemon.sandbox.json(&["status"])["daemon"]["running"], true);
}

#[test]
fn whoever_listens_hears_what_changes() {
    let daemon = Listening::new();
    daemon.post("/api/v1/facts", &json!({ "text": "The first fact" }));
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let head = format!(
        "GET /api/v1/changes HTTP/1.1\r\nHost: {}\r\nLast-Event-ID: 0\r\n{}\r\n\r\n",
        daemon.address,
        daemon.bearer()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut heard = |word: &str| lines.by_ref().any(|line| line.unwrap().contains(word));
    assert!(heard("text/event-stream") && heard("event: fact.add"));
    daemon.post("/api/v1/facts", &json!({ "text": "The second fact" }));
    assert!(heard("event: fact.add"));
}

#[test]
fn the_listener_obeys_its_settings() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "server.requests_per_minute", "5"]);
    let daemon = Listening::at(sandbox);
    let statuses: Vec<u16> = (0..8).map(|_| daemon.get("/api/v1/status").status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    assert!(daemon.get("/api/v1/status").header("retry-after").is_some());
    daemon.sandbox.ok(&["stop"]);
    daemon.sandbox.ok(&["config", "set", "server.enabled", "false"]);
    daemon.sandbox.ok(&["start"]);
    let state: Value = serde_json::from_str(&daemon.sandbox.read("hermesd/daemon.json")).unwrap();
    assert!(state["address"].is_null(), "{state}");
    daemon.sandbox.ok(&["stop"]);
    daemon.sandbox.ok(&["config", "set", "server.enabled", "true"]);
    daemon.sandbox.ok(&["config", "set", "server.bind", "0.0.0.0"]);
    daemon.sandbox.ok(&["start"]);
    let status = daemon.sandbox.json(&["status"]);
    let trouble = status["daemon"]["server_trouble"].as_str().unwrap();
    assert!(trouble.contains("TLS is not set up"), "{status}");
}

#[test]
fn files_of_the_listener_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = Listening::new();
    daemon.sandbox.ok(&["token", "create", "bot", "--read-only"]);
    for name in ["hermesd/api-token", "hermesd/tokens.json", "hermesd/daemon.json"] {
        let mode = daemon.sandbox.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert!(!daemon.sandbox.read("hermesd/tokens.json").contains("hermes_"));
    daemon.sandbox.fails(&["token", "create", "bot"], 5, &["already", "revoke"]);
    daemon.sandbox.fails(&["token", "revoke", "nobody"], 4, &["no token"]);
}
