//! The listener at its edges: under a crowd, killed at work, and for people whom channels know by ids.

use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::listening::Listening;
use crate::sandbox::Sandbox;

#[test]
fn ten_thousand_connections_at_once_are_let_in_or_told_to_come_back() {
    const WANTED: usize = 10_000;
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    assert!(hard as usize > WANTED + 500, "only {hard} files may be open");
    let daemon = Listening::new();
    let open: Vec<TcpStream> =
        (0..WANTED).filter_map(|_| TcpStream::connect(&daemon.address).ok()).collect();
    assert!(open.len() > WANTED / 2, "{} were taken in by the system", open.len());
    let told = daemon.sandbox.json(&["status"]);
    assert_eq!(told["daemon"]["running"], true, "{told}");
    drop(open);
    crate::sandbox::until("it answers again", || {
        daemon.ask("GET", "/health", &[], "").status == 200
    });
    let status = daemon.get("/api/v1/status");
    assert_eq!(status.status, 200, "{}", status.text);
}

fn report(number: usize) -> Value {
    let message = json!({
        "role": "user", "external_id": format!("n-{number}"),
        "text": format!("Parcel {number} went to the harbour marker{number}x"),
    });
    json!({ "session_id": "parcels", "channel": "post", "messages": [message] })
}

fn messages(daemon: &Listening) -> Vec<String> {
    let told = daemon.get("/api/v1/sessions/parcels").json();
    let found = told["results"].as_array().cloned().unwrap_or_default();
    found.iter().map(|message| message["text"].to_string()).collect()
}

#[test]
fn what_was_answered_survives_a_kill_and_is_there_once() {
    const TURNS: usize = 120;
    let daemon = Listening::new();
    let state: Value = serde_json::from_str(&daemon.sandbox.read("hermesd/daemon.json")).unwrap();
    let pid = Pid::from_raw(i32::try_from(state["pid"].as_i64().unwrap()).unwrap());
    let (next, kept) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= TURNS {
                        return;
                    }
                    if number == TURNS / 2 {
                        kill(pid, Signal::SIGKILL).unwrap();
                    }
                    let Ok(_) = TcpStream::connect(&daemon.address) else { return };
                    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        daemon.post("/api/v1/turns", &report(number)).status
                    }));
                    if told.is_ok_and(|status| (200..300).contains(&status)) {
                        kept.lock().unwrap().push(number);
                    }
                }
            });
        }
    });
    let kept = kept.into_inner().unwrap();
    crate::sandbox::until("it is gone", || {
        daemon.sandbox.json(&["status"])["daemon"]["running"] == false
    });
    assert!(!kept.is_empty() && kept.len() < TURNS, "{} were answered", kept.len());
    let daemon = Listening::at(daemon.sandbox);
    let before = messages(&daemon);
    for number in &kept {
        let mark = format!("marker{number}x");
        let times = before.iter().filter(|text| text.contains(&mark)).count();
        assert_eq!(times, 1, "{number} was answered");
    }
    // Whoever did not hear an answer reports again: nothing is there twice.
    for number in 0..TURNS {
        let told = daemon.post("/api/v1/turns", &report(number));
        assert!((200..300).contains(&told.status), "{}", told.text);
    }
    let after = messages(&daemon);
    assert_eq!(after.len(), TURNS, "{after:?}");
    for number in 0..TURNS {
        let mark = format!("marker{number}x");
        assert_eq!(after.iter().filter(|text| text.contains(&mark)).count(), 1, "{number}");
    }
    let checked = daemon.sandbox.json(&["doctor"]);
    assert!(!checked.to_string().contains("damaged"), "{checked}");
}

#[test]
fn a_user_sees_the_sessions_that_channels_know_by_their_id() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["user", "add", "ana"]);
    sandbox.ok(&["user", "link", "telegram", "77", "ana"]);
    let token = sandbox.ok(&["token", "create", "ana", "--user", "ana"]).trim().to_owned();
    let daemon = Listening::at(sandbox);
    for (channel, id, text) in [
        ("telegram", "77", "The violin is at the repair shop canary-own"),
        ("telegram", "78", "The cello is at the repair shop canary-other"),
        ("discord", "77", "The trumpet is at the repair shop canary-elsewhere"),
    ] {
        let turn = json!({
            "session_id": format!("{channel}-{id}"), "channel": channel, "identity": id,
            "messages": [{ "role": "user", "text": text }],
        });
        assert_eq!(daemon.post("/api/v1/turns", &turn).status, 200);
    }
    let bearer = format!("Authorization: Bearer {token}");
    let ask = |path: &str| daemon.ask("GET", path, &[&bearer], "").text;
    for path in ["/api/v1/sessions", "/api/v1/sessions/search?q=repair+shop"] {
        let told = ask(path);
        assert!(told.contains("telegram-77"), "{path}: {told}");
        assert!(!told.contains("telegram-78") && !told.contains("discord-77"), "{path}: {told}");
    }
    assert!(ask("/api/v1/sessions/telegram-77").contains("canary-own"));
    for other in ["telegram-78", "discord-77"] {
        assert!(ask(&format!("/api/v1/sessions/{other}")).contains("not_found"), "{other}");
    }
}
