//! The listener stays open to people: under silent connections, bad codes, one greedy token, and other ports.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::listening::{Answer, Listening};
use crate::ports::free_port;
use crate::sandbox::{Sandbox, until};

/// The code that the terminal prints.
fn code(daemon: &Listening) -> String {
    let printed = daemon.sandbox.ok(&["dashboard", "--print"]);
    let (_, code) = printed.lines().next().unwrap().split_once("code=").unwrap();
    code.to_owned()
}

fn by_password(password: &str) -> String {
    format!("Authorization: Basic {}", BASE64_STANDARD.encode(format!("me:{password}")))
}

/// A figure of `/metrics`.
fn figure(daemon: &Listening, name: &str) -> Option<u64> {
    let text = daemon.get("/metrics").text;
    let line = text.lines().find(|line| line.starts_with(&format!("{name} ")))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let daemon = Listening::new();
    let connect = || TcpStream::connect(&daemon.address).unwrap();
    let silent: Vec<TcpStream> = (0..420).map(|_| connect()).collect();
    let begun: Vec<TcpStream> = (0..420)
        .map(|_| {
            let mut stream = connect();
            let _ = stream.write_all(b"GET /api/v1/status HTTP/1.1\r\nHost: ");
            stream
        })
        .collect();
    // Whoever shows a token is answered, once those before had a moment to say something.
    let is_let_in = || daemon.get("/api/v1/status").status == 200;
    for _ in 0..50 {
        until("somebody with a token is let in", is_let_in);
    }
    let (host, login) = (daemon.own_host(), format!("/login?code={}", code(&daemon)));
    until("somebody with a code is let in", || {
        daemon.ask_at(&host, ("GET", &login), &[], "").status == 200
    });
    drop(silent);
    // A connection that has shown a token stays, however many come after it.
    let head = format!(
        "GET /api/v1/status HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        daemon.address, daemon.token
    );
    let is_answered = |mut stream: &TcpStream| {
        stream.write_all(head.as_bytes()).is_ok() && one_answer(stream) == 200
    };
    let own = RefCell::new(connect());
    until("the connection is let in", || {
        is_answered(&own.borrow()) || {
            own.replace(connect());
            false
        }
    });
    let more: Vec<TcpStream> = (0..420).map(|_| connect()).collect();
    until("somebody with a token is let in", || {
        assert!(is_answered(&own.borrow()));
        is_let_in()
    });
    drop((begun, more));
}

/// The status of the next answer on a connection that stays.
fn one_answer(stream: &TcpStream) -> u16 {
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() {
        return 0;
    }
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        match line.trim().to_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    status
}

#[test]
fn eight_thousand_bad_codes_use_up_nothing() {
    let daemon = Listening::new();
    let good = code(&daemon);
    let host = daemon.own_host();
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    let mut told = std::collections::BTreeMap::<u16, usize>::new();
    for number in 0..8_000 {
        let head = format!("GET /login?code={number:064} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        *told.entry(one_answer(&stream)).or_default() += 1;
    }
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), [401, 429], "{told:?}");
    let entered = daemon.ask_at(&host, ("GET", &format!("/login?code={good}")), &[], "");
    assert_eq!(entered.status, 200, "{}", entered.text);
    assert!(entered.header("set-cookie").is_some());
    // The same for codes that are given as passwords.
    let password = by_password(&code(&daemon));
    let refused = daemon.ask("GET", "/enter", &[&by_password("nonsense")], "").status;
    assert!([401, 429].contains(&refused), "{refused}");
    assert_eq!(daemon.ask("GET", "/enter", &[&password], "").status, 303);
}

#[test]
fn a_cookie_opens_nothing_at_a_name_that_other_ports_have_too() {
    let sandbox = Sandbox::ready();
    let port = free_port().to_string();
    sandbox.ok(&["config", "set", "server.port", &port]);
    let daemon = Listening::at(sandbox);
    let host = daemon.own_host();
    assert!(host.starts_with("hermes-") && host.ends_with(&format!(".localhost:{port}")), "{host}");
    let good = code(&daemon);
    // A code that is not good is told no name; one that is leads there, and is as good as before.
    let wrong = daemon.ask("GET", "/login?code=1", &[], "");
    assert_eq!(wrong.status, 401);
    assert!(
        wrong.header("location").is_none() && !wrong.text.contains(".localhost"),
        "{}",
        wrong.text
    );
    let led = daemon.ask("GET", &format!("/login?code={good}"), &[], "");
    let there = format!("http://{host}/login?code={good}");
    assert_eq!((led.status, led.header("location")), (303, Some(there.as_str())));
    assert!(led.header("set-cookie").is_none());
    let entered = daemon.ask_at(&host, ("GET", &format!("/login?code={good}")), &[], "");
    let cookie = entered.header("set-cookie").unwrap();
    assert!(!cookie.to_lowercase().contains("domain"), "{cookie}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let page =
        |name: &str| -> Answer { daemon.ask_at(name, ("GET", "/p/default/facts"), &[&cookie], "") };
    assert_eq!(page(&host).status, 200);
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        let refused = page(&format!("{name}:{port}"));
        assert_eq!(refused.status, 401, "{name}");
        assert!(!refused.text.contains(".localhost"), "the name is told to whoever asks");
    }
    for name in ["hermes.localhost", "evil.localhost", "localhost.", "hermes-0.localhost"] {
        assert_eq!(page(&format!("{name}:{port}")).status, 403, "{name}");
    }
    // The name stays when the daemon begins anew.
    daemon.sandbox.ok(&["restart"]);
    assert_eq!(daemon.own_host(), host);
}

#[test]
fn where_the_name_is_not_found_the_code_is_a_password() {
    let daemon = Listening::new();
    let asked = daemon.ask("GET", "/enter", &[], "");
    assert_eq!(asked.status, 401);
    assert!(asked.header("www-authenticate").unwrap().starts_with("Basic "), "{}", asked.text);
    let password = by_password(&code(&daemon));
    // A page takes no code that was not given where it is asked for.
    assert_eq!(daemon.ask("GET", "/p/default/", &[&password], "").status, 401);
    assert_eq!(daemon.ask("GET", "/enter", &[&password], "").header("location"), Some("/"));
    let page = daemon.ask("GET", "/p/default/facts", &[&password], "");
    assert_eq!(page.status, 200, "{}", page.text);
    let (_, rest) = page.text.split_once("name=\"csrf\" value=\"").unwrap();
    let csrf = rest.split('"').next().unwrap();
    let post = |body: &str, more: &[&str]| {
        let headers: Vec<&str> =
            [password.as_str()].into_iter().chain(more.iter().copied()).collect();
        daemon.ask("POST", "/p/default/facts", &headers, body).status
    };
    assert_eq!(post("deed=add&text=Prefers+tea", &[]), 403);
    let good = format!("deed=add&text=Prefers+tea&csrf={csrf}");
    assert_eq!(post(&good, &["Origin: http://localhost"]), 403);
    assert_eq!(post(&good, &["Origin: http://evil.example"]), 403);
    assert_eq!(post(&good, &[&format!("Origin: http://{}", daemon.address)]), 303);
    let gone = daemon.ask("POST", "/logout", &[&password], &format!("csrf={csrf}"));
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(daemon.ask("GET", "/p/default/", &[&password], "").status, 401);
    assert_eq!(daemon.ask("GET", "/enter", &[&password], "").status, 401);
}

#[test]
fn one_token_takes_half_of_the_workers_and_health_needs_none() {
    let sandbox = Sandbox::ready();
    // Without a log that is written ahead, whoever reads waits for whoever writes.
    sandbox.ok(&["config", "set", "memory.wal_mode", "false"]);
    sandbox.ok(&["config", "set", "sessions.lock_wait_ms", "20000"]);
    sandbox.ok(&["memory", "fact", "add", "Prefers tea"]);
    let daemon = Listening::at(sandbox);
    let made = daemon.sandbox.ok(&["token", "create", "other"]);
    let other =
        made.split_whitespace().find(|word| word.starts_with("hermes_")).unwrap().to_owned();
    let held = daemon.sandbox.database("memory.db");
    held.execute_batch("begin exclusive").unwrap();
    let ask = |token: &str| -> u16 {
        let bearer = format!("Authorization: Bearer {token}");
        daemon.ask("GET", "/api/v1/facts", &[&bearer], "").status
    };
    let figures = || {
        (
            figure(&daemon, "hermes_http_workers_busy"),
            figure(&daemon, "hermes_http_requests_waiting"),
        )
    };
    std::thread::scope(|scope| {
        let greedy: Vec<_> = (0..12).map(|_| scope.spawn(|| ask(&daemon.token))).collect();
        until("one token has half of the workers", || figures() == (Some(4), Some(8)));
        let others: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&other))).collect();
        until("the other token has the other half", || figures() == (Some(8), Some(8)));
        let health = daemon.ask("GET", "/health", &[], "");
        assert_eq!(health.status, 200, "{}", health.text);
        assert_eq!(daemon.ask("GET", "/openapi.json", &[], "").status, 200);
        assert_eq!(figures(), (Some(8), Some(8)), "nobody was let go meanwhile");
        held.execute_batch("rollback").unwrap();
        for one in greedy.into_iter().chain(others) {
            assert_eq!(one.join().unwrap(), 200);
        }
    });
    until("the workers are free", || figures() == (Some(0), Some(0)));
}

#[test]
fn what_turns_a_text_round_is_seen_in_lists_errors_and_pages_and_exact_in_data() {
    let sandbox = Sandbox::ready();
    let hostile = "Pays to \u{202e}olleh\u{202c} and \u{2066}x\u{2069}\u{200f}";
    sandbox.ok(&["memory", "fact", "add", hostile]);
    let is_plain =
        |text: &str| !text.contains(['\u{202e}', '\u{202c}', '\u{2066}', '\u{2069}', '\u{200f}']);
    for words in [
        &["memory", "fact", "list"][..],
        &["memory", "fact", "show", "1"],
        &["memory", "search", "Pays"],
        &["memory", "fact", "history", "1"],
    ] {
        let shown = sandbox.ok(words);
        assert!(is_plain(&shown) && shown.contains("<U+202E>"), "{words:?}: {shown}");
    }
    // What is given to a model has none of them at all, or marks.
    assert!(is_plain(&sandbox.ok(&["memory", "context", "Pays to whom?"])));
    let ran = sandbox.run(&["memory", "fact", "show", "no\u{202e}such"]);
    assert!(
        ran.code != 0 && is_plain(&ran.stderr) && ran.stderr.contains("<U+202E>"),
        "{}",
        ran.stderr
    );
    assert_eq!(sandbox.json(&["memory", "fact", "show", "1"])["text"], hostile);
    let daemon = Listening::at(sandbox);
    assert_eq!(daemon.get("/api/v1/facts/1").json()["text"], hostile);
    let visitor = crate::pages::Visitor::new(&daemon);
    for page in ["facts", "facts/1", "search?q=Pays", "inspector?task=Pays", ""] {
        let text = visitor.page(page).text;
        let outside: String =
            text.split("<textarea").map(|part| part.split("</textarea>").last().unwrap()).collect();
        assert!(is_plain(&outside), "{page}: {outside}");
    }
    let text = visitor.page("facts/1").text;
    assert!(text.contains("&lt;U+202E&gt;") && text.contains("dir=\"auto\""), "{text}");
    assert_eq!(visitor.json("facts/1")["text"], hostile);
}
