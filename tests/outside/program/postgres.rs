//! A memory on a PostgreSQL server: shared by homes, missed when it is away, copied.

use std::time::{Duration, Instant};

use crate::model_server::{ModelServer, Reply};
use crate::pg_server::proxy::Proxy;
use crate::pg_server::{self, Flavour, Server};
use crate::sandbox::{Sandbox, until};
use crate::talks::{ask, said, state, talk, turn};

/// A home whose memory is on a server.
pub(crate) fn home_on(url: &str) -> Sandbox {
    let sandbox = Sandbox::ready();
    join(&sandbox, url);
    sandbox
}

pub(crate) fn join(sandbox: &Sandbox, url: &str) {
    sandbox.feed(&["config", "set", "HERMES_DB_URL", "-"], format!("{url}\n").as_bytes());
    sandbox.ok(&["config", "set", "memory.connectionString", "${HERMES_DB_URL}"]);
    sandbox.ok(&["config", "set", "memory.backend", "postgres"]);
}

/// The name of a database in an address.
pub(crate) fn database(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// Makes the role of daemons and returns the address with it.
pub(crate) fn as_app_role(server: &Server, url: &str, sandbox: &Sandbox) -> String {
    let role = format!("app_{}", database(url));
    server.sql("postgres", &format!("create role {role} login password 'pw' nobypassrls"));
    let sql = sandbox.ok(&["db", "migrate", "--print-sql", "--role", &role]);
    server.sql(database(url), &sql);
    url.replace("postgres@", &format!("{role}@"))
}

pub(crate) fn found(sandbox: &Sandbox, question: &str) -> String {
    sandbox.json(&["memory", "search", question]).to_string()
}

#[test]
fn what_one_home_records_the_other_recalls() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let server = pg_server::shared(flavour);
        let url = server.fresh_database();
        if flavour == Flavour::Vector {
            server.sql(database(&url), "create extension vector");
        }
        let first = home_on(&url);
        let url = as_app_role(server, &url, &first);
        join(&first, &url);
        let second = home_on(&url);
        let status = first.json(&["db", "status"]);
        assert_eq!(status["backend"], "postgres");
        assert_eq!(status["schema"], status["known_schema"]);
        assert_eq!((&status["passes_rules"], &status["answers"]), (&false.into(), &true.into()));
        assert_eq!(status["pgvector"].is_string(), flavour == Flavour::Vector, "{status}");
        first.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
        first.ok(&[
            "memory",
            "turn",
            "--user-text",
            "We moved the bakery to Lisbon.",
            "--assistant-text",
            "Noted.",
        ]);
        assert!(found(&second, "which port does staging use").contains("5433"));
        assert!(found(&second, "where is the bakery").contains("Lisbon"));
        let context = second.ok(&["memory", "context", "where is the bakery now"]);
        assert!(context.contains("Lisbon"), "{context}");
        assert!(!first.path("memory.db").exists() && !second.path("memory.db").exists());
        let id = second.json(&["memory", "fact", "list"])["results"][0]["id"].to_string();
        second.ok(&["memory", "fact", "delete", id.trim_matches('"'), "--yes"]);
        assert!(!found(&first, "which port does staging use").contains("5433"));
    }
}

#[test]
fn a_server_that_never_answers_does_not_keep_the_daemon_from_ending() {
    // Accepts, hears, and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (heard, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().flatten() {
            held.push(stream);
            let _ = heard.send(());
        }
    });
    let sandbox = home_on(&format!("postgres://hermes:pw@{address}/hermes?sslmode=disable"));
    sandbox.ok(&["start"]);
    asked.recv_timeout(Duration::from_secs(120)).unwrap();
    let begun = Instant::now();
    sandbox.ok(&["stop"]);
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
    let daemon = sandbox.json(&["status"])["daemon"].clone();
    assert_eq!((&daemon["running"], &daemon["ended_well"]), (&false.into(), &true.into()));
}

#[test]
fn profiles_on_one_server_do_not_mix() {
    let server = pg_server::shared(Flavour::Plain);
    let sandbox = home_on(&server.fresh_database());
    sandbox.ok(&["profile", "create", "work"]);
    let config = sandbox.read("config.yaml");
    sandbox.write("profiles/work/config.yaml", config);
    sandbox.write("profiles/work/.env", sandbox.read(".env"));
    sandbox.ok(&["memory", "fact", "add", "The cat is called Kipper"]);
    assert!(!sandbox.ok(&["-p", "work", "memory", "fact", "list"]).contains("Kipper"));
    assert!(sandbox.ok(&["memory", "fact", "list"]).contains("Kipper"));
}

#[test]
fn tables_are_made_shown_and_refused() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let sandbox = home_on(&url);
    let planned = sandbox.json(&["db", "migrate", "--dry-run"]);
    assert_eq!((&planned["from"], &planned["dry_run"]), (&0.into(), &true.into()));
    assert_eq!(sandbox.json(&["db", "status"])["schema"], 0);
    sandbox.ok(&["db", "migrate"]);
    let status = sandbox.json(&["db", "status"]);
    assert_eq!(status["schema"], planned["to"]);
    assert!(sandbox.ok(&["db", "migrate"]).contains("is up to date"));
    let checks = sandbox.run(&["doctor"]).stdout;
    assert!(checks.contains("bypasses the row-level security"), "{checks}");
    server
        .sql(database(&url), "insert into hermes.migration (number, checksum) values (9999, 'x')");
    sandbox.fails(&["memory", "fact", "list"], 5, &["its schema is 9999", "upgrade hermes"]);
    sandbox.fails(&["db", "migrate"], 5, &["9999"]);
    let file = Sandbox::ready();
    file.fails(&["db", "migrate"], 5, &["SQLite file", "memory.backend postgres"]);
    assert_eq!(file.json(&["db", "status"])["backend"], "sqlite");
}

#[test]
fn what_is_wrong_with_a_server_is_said_without_the_password() {
    let server = pg_server::shared(Flavour::Plain);
    let good = server.tcp_url("postgres");
    let cases = [
        (good.replace("secret", "hunter2"), 12, "could not log in to PostgreSQL"),
        (server.tcp_url("nowhere"), 10, "there is no database nowhere"),
        ("postgres://u:hunter2@127.0.0.1:1/x".to_owned(), 13, "could not reach PostgreSQL"),
        ("postgres://u:hunter2@127.0.0.1:1/x?sslmod=require".to_owned(), 5, "sslmod"),
    ];
    for (url, code, words) in cases {
        let sandbox = home_on(&url);
        let ran = sandbox.fails(&["memory", "fact", "list"], code, &[words]);
        let status = sandbox.run(&["db", "status"]);
        let all = format!("{}{}{}{}", ran.stdout, ran.stderr, status.stdout, status.stderr);
        assert!(!all.contains("hunter2") && !all.contains("of%20the"), "{all}");
        assert_eq!(status.code, code, "{all}");
    }
    let unset = Sandbox::ready();
    unset.ok(&["config", "set", "memory.backend", "postgres"]);
    unset.fails(&["memory", "fact", "list"], 5, &["memory.connection_string is not set"]);
}

#[test]
fn a_memory_goes_to_the_server_and_back_the_same() {
    let server = pg_server::shared(Flavour::Plain);
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
    for number in 0..12 {
        let said = format!("Note {number}: the warehouse number {number} is in Porto.");
        sandbox.ok(&["memory", "turn", "--user-text", &said, "--assistant-text", "Noted."]);
    }
    let url = server.fresh_database();
    sandbox.feed(&["config", "set", "HERMES_DB_URL", "-"], format!("{url}\n").as_bytes());
    sandbox.ok(&["config", "set", "memory.connection_string", "${HERMES_DB_URL}"]);
    let copied = sandbox.json(&["db", "copy", "--to", "postgres"]);
    assert_eq!(copied["is_twin"], true, "{copied}");
    let again = sandbox.json(&["db", "copy", "--to", "postgres"]);
    assert_eq!((&again["added"], &again["is_twin"]), (&0.into(), &true.into()), "{again}");
    let before = found(&sandbox, "which warehouse is in Porto");
    sandbox.ok(&["config", "set", "memory.backend", "postgres"]);
    assert!(found(&sandbox, "staging port").contains("5433"));
    assert_eq!(
        before.matches("Porto").count(),
        found(&sandbox, "which warehouse is in Porto").matches("Porto").count()
    );
    let other = home_on(&url);
    let back = other.json(&["db", "copy", "--to", "sqlite"]);
    assert_eq!(back["is_twin"], true, "{back}");
    other.ok(&["config", "set", "memory.backend", "sqlite"]);
    assert!(found(&other, "staging port").contains("5433"));
}

#[test]
fn a_home_is_invited_with_a_role_of_its_own_and_shares_what_was_said_to_be_shared() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let first = home_on(&server.tcp_url(database(&url)));
    first.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
    let role = |name: &str| format!("{name}_{}", database(&url));
    let invited = first.json(&["db", "invite", &role("ben")]);
    let second = home_on(invited["connection_string"].as_str().unwrap());
    second.ok(&["memory", "fact", "add", "The copper is mine"]);
    assert!(!found(&second, "which port does staging use").contains("5433"));
    assert!(!found(&first, "whose is the copper").contains("mine"));
    let status = second.json(&["db", "status"]);
    assert_eq!((&status["passes_rules"], &status["owns_tables"]), (&false.into(), &false.into()));
    assert_eq!(status["own_profiles"], serde_json::json!(["default"]));
    assert_eq!(status["warnings"].as_array().map(Vec::len), Some(0), "{status}");
    // A machine of the same person.
    let invited = first.json(&["db", "invite", &role("laptop"), "--share", "default"]);
    let third = home_on(invited["connection_string"].as_str().unwrap());
    assert!(found(&third, "which port does staging use").contains("5433"));
    // Homes that use one role are not kept apart by the server, and that is said.
    let address = invited["connection_string"].as_str().unwrap();
    third.ok(&["profile", "create", "work"]);
    let set = |arguments: &[&str], given: &str| {
        let arguments = [&["--profile", "work", "config", "set"], arguments].concat();
        third.feed(&arguments, format!("{given}\n").as_bytes());
    };
    set(&["HERMES_DB_URL", "-"], address);
    set(&["memory.connection_string", "${HERMES_DB_URL}"], "");
    set(&["memory.backend", "postgres"], "");
    third.ok(&["--profile", "work", "memory", "fact", "add", "The shop opens at nine"]);
    let warned = home_on(address).json(&["db", "status"])["warnings"].to_string();
    assert!(warned.contains("work") && warned.contains("hermes db invite"), "{warned}");
    // What cannot be.
    first.fails(&["db", "invite", "Ben; drop"], 2, &["is not a valid name for a role"]);
    first.fails(&["db", "invite", "eve", "--share", "nothing"], 4, &["has no profile nothing"]);
    second.fails(&["db", "invite", "eve"], 5, &["permission denied", "--print-sql"]);
    let sql = second.ok(&["db", "invite", "eve", "--share", "default", "--print-sql"]);
    assert!(sql.contains("create role \"eve\"") && sql.contains("SCRAM-SHA-256$"), "{sql}");
}

#[test]
fn a_conversation_goes_on_without_the_server_and_nothing_is_lost_or_doubled() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let proxy = Proxy::to(server.port());
    let port = |port: u16| format!("127.0.0.1:{port}");
    let through = server.tcp_url(database(&url)).replace(&port(server.port()), &port(proxy.port()));
    let sandbox = home_on(&format!("{through}?connect_timeout=2"));
    sandbox.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
    proxy.cut_after(0);
    let models =
        ModelServer::start(vec![Reply::text("I cannot look that up."), Reply::text("Fine.")]);
    let asked = Instant::now();
    let ran = ask(&sandbox, &models, "Which port does the staging database use?");
    assert!(ran.stdout.contains("I cannot look that up."), "{}", ran.stdout);
    assert!(ran.stderr.contains("PostgreSQL"), "{}", ran.stderr);
    assert!(asked.elapsed() < Duration::from_secs(300));
    let kept = sandbox.ok(&[
        "memory",
        "turn",
        "--user-text",
        "The parrot is called Rio.",
        "--assistant-text",
        "Noted.",
    ]);
    assert!(!kept.is_empty());
    let messages: i64 =
        state(&sandbox).query_row("select count(*) from messages", [], |row| row.get(0)).unwrap();
    assert!(messages >= 2);
    proxy.heal();
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
    }
    let count = |text: &str| {
        let statement = format!("select count(*) from hermes.message where text like '%{text}%'");
        server.sql(database(&url), &statement).trim().to_owned()
    };
    assert_eq!(
        (count("Which port does the staging").as_str(), count("parrot is called Rio").as_str()),
        ("1", "1")
    );
    assert!(found(&sandbox, "what is the parrot called").contains("Rio"));
    let again = talk(&sandbox, &models, &["-q", "Which port does staging use?"], &[]);
    assert_eq!(again.code, 0, "{}", again.stderr);
}

#[test]
fn turns_are_recorded_once_however_the_line_is_cut() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let proxy = Proxy::to(server.port());
    let port = |port: u16| format!("127.0.0.1:{port}");
    let through = server.tcp_url(database(&url)).replace(&port(server.port()), &port(proxy.port()));
    let sandbox = home_on(&format!("{through}?connect_timeout=2&sslmode=disable"));
    sandbox.ok(&["memory", "fact", "add", "A first thing"]);
    let before = proxy.passed();
    sandbox.ok(&[
        "memory",
        "turn",
        "--user-text",
        "Turn 0 was said.",
        "--assistant-text",
        "Noted.",
    ]);
    let whole = proxy.passed() - before;
    let cuts = if pg_server::is_full() { 60 } else { 8 };
    for number in 1..=cuts {
        proxy.cut_after(whole * number / (cuts + 1));
        let said = format!("Turn {number} was said.");
        sandbox.ok(&["memory", "turn", "--user-text", &said, "--assistant-text", "Noted."]);
        proxy.heal();
    }
    sandbox.ok(&["memory", "catch-up"]);
    let counted = server.sql(
        database(&url),
        "select count(*) || ' ' || count(distinct text) from hermes.message where text like 'Turn % was said.'",
    );
    assert_eq!(counted.trim(), format!("{0} {0}", cuts + 1));
}

#[test]
fn daemons_of_two_homes_work_on_one_memory() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let homes = [home_on(&url), home_on(&url)];
    let turns = if pg_server::is_full() { 1_000 } else { 5 };
    for home in &homes {
        home.ok(&["start"]);
    }
    std::thread::scope(|scope| {
        for (place, home) in homes.iter().enumerate() {
            scope.spawn(move || {
                for number in 0..turns {
                    let said = format!("Home {place} says {number}.");
                    home.ok(&[
                        "memory",
                        "turn",
                        "--user-text",
                        &said,
                        "--assistant-text",
                        "Noted.",
                    ]);
                }
            });
        }
    });
    let counted = server.sql(
        database(&url),
        "select count(*) || ' ' || count(distinct text) from hermes.message where text like 'Home % says %.'",
    );
    assert_eq!(counted.trim(), format!("{0} {0}", 2 * turns));
    until("no job of the two waits", || {
        let jobs = homes[0].json(&["jobs", "list"]);
        jobs["results"]
            .as_array()
            .is_some_and(|jobs| jobs.iter().all(|job| job["state"] != "leased"))
    });
    for home in &homes {
        assert_eq!(home.json(&["status"])["profiles"][0]["trouble"], serde_json::Value::Null);
        home.ok(&["stop"]);
    }
}

#[test]
fn what_writes_files_of_a_home_is_done_by_the_daemon_of_that_home() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let (here, there) = (home_on(&url), home_on(&url));
    here.ok(&["jobs", "run", "learn"]);
    let name = server.sql(database(&url), "select kind from hermes.job where kind like 'learn%'");
    let name = name.trim();
    assert!(name.starts_with("learn@"), "{name}");
    let state = |kind: &str| {
        let asked = format!("select state from hermes.job where kind = '{kind}'");
        server.sql(database(&url), &asked).trim().to_owned()
    };
    let again = format!(
        "update hermes.job set state = 'waiting', attempts = 0, finished_at = null where kind = '{name}'"
    );
    server.sql(database(&url), &again);
    // The other home has something to do of its own, and leaves what is not its own.
    let told = "{\"session_id\": \"s1\", \"ended\": true, \"messages\": [{\"role\": \"user\", \
                \"text\": \"My GitHub username is nat-dev.\", \"timestamp\": \"2026-01-02T09:00:00Z\"}]}";
    let ran = there.feed(&["memory", "turn", "-"], told.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    there.ok(&["start"]);
    let done = "select count(*) from hermes.job where kind like 'extract@%' and state = 'done'";
    until("the other home has drawn facts", || server.sql(database(&url), done).trim() != "0");
    assert_eq!(state(name), "waiting");
    there.ok(&["stop"]);
    assert_eq!(state(name), "waiting");
    here.ok(&["start"]);
    until("the home has done its own", || state(name) == "done");
    here.ok(&["stop"]);
}

#[test]
fn homes_that_call_their_session_the_same_keep_every_message() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let homes = [home_on(&url), home_on(&url), home_on(&url)];
    for round in 0..5 {
        for (number, home) in homes.iter().enumerate() {
            let text = format!("home {number} said {round}");
            let told = turn(home, &said("main", &text, "noted"));
            assert_eq!((&told["kept_in"], &told["added"]), (&"memory".into(), &2.into()), "{told}");
            assert_eq!(told["known"], 0, "{told}");
        }
    }
    let count = server.sql(database(&url), "select count(*) from hermes.message");
    assert!(count.contains("30"), "{count}");
}

#[test]
fn a_memory_on_a_server_needs_no_file() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The staging database listens on port 5433"]);
    sandbox.feed(&["config", "set", "HERMES_DB_URL", "-"], format!("{url}\n").as_bytes());
    sandbox.ok(&["config", "set", "memory.connection_string", "${HERMES_DB_URL}"]);
    sandbox.ok(&["db", "copy", "--to", "postgres"]);
    join(&sandbox, &url);
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(sandbox.path(&format!("memory.db{ending}")));
    }
    assert!(!sandbox.path("memory.db").exists());
    assert!(found(&sandbox, "staging port").contains("5433"));
    assert!(sandbox.json(&["status"])["profiles"][0]["missing"].is_null());
    let made = sandbox.json(&["backup", "create", "--plaintext"]);
    assert_eq!(made["damaged"], serde_json::json!([]), "{made}");
    sandbox.ok(&["config", "set", "memory.backend", "sqlite"]);
    sandbox.fails(&["memory", "fact", "list"], 10, &["memory.db", "missing"]);
    // What is copied from the server is not made out of nothing.
    sandbox.ok(&["db", "copy", "--to", "sqlite"]);
    assert!(found(&sandbox, "staging port").contains("5433"));
}
