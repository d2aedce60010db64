//! The edges of recording: locked, damaged, killed, half understood. Nothing is lost, and what is said is true.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::daemon::send;
use crate::model_server::{ModelServer, Reply};
use crate::sandbox::{Holder, Ran, Sandbox, until};

fn check(sandbox: &Sandbox, name: &str) -> Value {
    let report: Value = serde_json::from_str(&sandbox.run(&["doctor", "--json"]).stdout).unwrap();
    let found = report["results"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in {report}")).clone()
}

fn messages(sandbox: &Sandbox) -> String {
    sandbox.sql("memory.db", "select text from message order by id")
}

fn transcript(sandbox: &Sandbox) -> String {
    sandbox.sql("state.db", "select content from messages order by id")
}

#[test]
fn a_turn_that_waited_for_a_locked_transcript_comes_into_it() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "turn", "--session", "s", "--user-text", "first"]);
    let held = Holder::of(&sandbox, "state.db");
    let told = sandbox.json(&["memory", "turn", "--session", "s", "--user-text", "second"]);
    assert_eq!(told["results"][0]["kept_in"], "spool", "{told}");
    drop(held);
    sandbox.ok(&["memory", "catch-up"]);
    assert_eq!(transcript(&sandbox), "first\nsecond");
    assert_eq!(messages(&sandbox), "first\nsecond");
    sandbox.ok(&["memory", "catch-up"]);
    assert_eq!(sandbox.ok(&["memory", "catch-up"]), "nothing is missing\n");
    assert_eq!(messages(&sandbox), "first\nsecond");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test damages a database as a bad disk would")]
fn a_damaged_database_loses_no_turn() {
    for file in ["state.db", "memory.db"] {
        let sandbox = Sandbox::ready();
        sandbox.ok(&["memory", "turn", "--session", "s", "--user-text", "first"]);
        let whole = fs::read(sandbox.path(file)).unwrap();
        fs::write(sandbox.path(file), vec![7; 8192]).unwrap();
        let from = ["memory", "turn", "--session", "t", "--user-text", "third", "--from", "x"];
        let told = sandbox.run(&from);
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(told.stdout.contains("the turn waits in"), "{}", told.stdout);
        let told = sandbox.run(&["memory", "turn", "--session", "s", "--user-text", "second"]);
        assert_eq!(told.code, 0, "{}", told.stderr);
        if file == "state.db" {
            assert!(told.stdout.contains("the turn waits in"), "{}", told.stdout);
            assert!(told.stderr.contains("hermes doctor"), "{}", told.stderr);
        }
        fs::write(sandbox.path(file), whole).unwrap();
        sandbox.ok(&["memory", "catch-up"]);
        assert_eq!(transcript(&sandbox), "first\nsecond", "{file}");
        let mut all: Vec<String> = messages(&sandbox).lines().map(str::to_owned).collect();
        all.sort();
        assert_eq!(all, ["first", "second", "third"], "{file}");
    }
}

#[test]
fn two_users_of_one_session_keep_their_words_whenever_the_program_is_killed() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "users.mode", "several"]);
    let arguments = |who: &'static str, text: &str| -> Vec<String> {
        ["memory", "turn", "--session", "g", "--channel", "telegram", "--identity", who]
            .into_iter()
            .chain(["--user-text", text])
            .map(str::to_owned)
            .collect()
    };
    fn run(words: &[String]) -> Vec<&str> {
        words.iter().map(String::as_str).collect()
    }
    sandbox.ok(&run(&arguments("1", "1 begins")));
    let begun = Instant::now();
    sandbox.ok(&run(&arguments("1", "1 goes on")));
    let usual = begun.elapsed();
    for number in 0..24_u32 {
        let who = if number % 2 == 0 { "2" } else { "1" };
        let words = arguments(who, &format!("{who} says {number}"));
        let mut child = sandbox.command(&run(&words)).stdout(Stdio::null()).spawn().unwrap();
        let until = begun.elapsed() + usual * (number % 12) / 10;
        while begun.elapsed() < until {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    sandbox.ok(&["memory", "catch-up"]);
    assert_eq!(sandbox.json(&["memory", "catch-up"])["problems"], json!([]));
    let whose = "select u.name || '|' || m.text from message m
        join session s on s.id = m.id >> 12 join user u on u.id = s.user_id";
    for line in sandbox.sql("memory.db", whose).lines() {
        let (name, text) = line.split_once('|').unwrap();
        assert_eq!(name, format!("telegram-{}", &text[..1]), "{line}");
    }
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(messages(&sandbox)), sorted(transcript(&sandbox)));
}

#[test]
fn what_cannot_be_a_turn_is_an_error_and_the_others_are_recorded() {
    let sandbox = Sandbox::ready();
    sandbox.fails(&["memory", "turn", "--user-text", " "], 2, &["it is empty"]);
    for session in ["", "a\nb"] {
        let words = ["memory", "turn", "--session", session, "--user-text", "x"];
        sandbox.fails(&words, 2, &["session_id"]);
    }
    let bad_role = json!({"messages": [{"role": "usr", "text": "x"}]}).to_string();
    sandbox.feed(&["memory", "turn", "-"], bad_role.as_bytes()).failed(2, &["usr", "assistant"]);
    sandbox.feed(&["memory", "turn", "-"], b"").failed(2, &["no turn"]);
    assert!(!sandbox.path("memory.db").exists());
    let good =
        |text: &str| json!({"session_id": "s", "messages": [{"role": "user", "text": text}]});
    let lines = format!("{}\n{{\"messages\": [\nnonsense\n{bad_role}\n{}\n", good("a"), good("b"));
    let ran = sandbox.feed(&["memory", "turn", "-"], lines.as_bytes());
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    for words in ["(line 2): not JSON", "(line 4): message 1: `role`"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!(messages(&sandbox), "a\nb");
    assert_eq!(transcript(&sandbox), "a\nb");
}

fn over(sandbox: &Sandbox, session: &str, text: &str) {
    sandbox.ok(&["memory", "turn", "--session", session, "--user-text", text, "--ended"]);
}

#[test]
fn where_nobody_answers_rules_do_the_work_at_once_and_the_model_is_named() {
    for model in ["ollama/llama3.2", "anthropic/claude-haiku-4-5"] {
        let sandbox = Sandbox::ready();
        sandbox.ok(&["config", "set", "model.light", model]);
        over(&sandbox, "s", "My sister lives in Lisbon.");
        assert_eq!(check(&sandbox, "model")["status"], "ok");
        let mut command = sandbox.command(&["jobs", "run", "extract"]);
        let ran = Ran::of(&command.env("OLLAMA_HOST", "127.0.0.1:9").output().unwrap());
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("from 1 episode"), "{}", ran.stdout);
        let found = check(&sandbox, "model");
        assert_eq!(found["status"], "warn", "{found}");
        assert_eq!(found["repair"], format!("hermes model test {model}"));
        let shown = sandbox.ok(&["status"]);
        assert!(shown.contains(&format!("{model} did not answer")), "{shown}");
        let trouble = sandbox.json(&["status"])["profiles"][0]["model"].clone();
        assert!(!trouble["error"].as_str().unwrap().is_empty(), "{trouble}");
        sandbox.ok(&["config", "set", "model.light", "lmstudio/other"]);
        assert_eq!(check(&sandbox, "model")["status"], "ok");
    }
}

#[test]
fn a_model_that_answers_again_is_no_longer_named() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "model.light", "ollama/llama3.2"]);
    let extract = |host: &str| {
        let mut command = sandbox.command(&["jobs", "run", "extract"]);
        Ran::of(&command.env("OLLAMA_HOST", host).output().unwrap())
    };
    over(&sandbox, "s", "My sister lives in Lisbon.");
    assert_eq!(extract("127.0.0.1:9").code, 0);
    assert_eq!(check(&sandbox, "model")["status"], "warn");
    let server = ModelServer::start(vec![Reply::text(r#"{"facts": [], "events": []}"#)]);
    over(&sandbox, "t", "My brother lives in Porto.");
    extract(server.base().trim_start_matches("http://"));
    assert!(!server.requests().is_empty());
    assert_eq!(check(&sandbox, "model")["status"], "ok");
}

#[test]
fn changed_settings_begin_what_waits_anew() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "model.light", "ollama/llama3.2"]);
    over(&sandbox, "s", "My sister lives in Lisbon.");
    let server = ModelServer::start(vec![Reply::text("nonsense")]);
    let mut command = sandbox.command(&["jobs", "run", "extract"]);
    server.point(&mut command);
    let ran = Ran::of(&command.output().unwrap());
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    let state = || {
        let jobs = sandbox.json(&["jobs", "list"])["results"].clone();
        let jobs = jobs.as_array().unwrap().clone();
        jobs.iter().find(|job| job["kind"] == "extract").cloned().unwrap()["state"].clone()
    };
    assert_eq!(state(), "waiting");
    sandbox.ok(&["config", "unset", "model.light"]);
    sandbox.ok(&["start"]);
    // Less than the minute after which it would be tried again anyway.
    until("the job is done", || state() == "done");
}

#[test]
fn a_dead_daemon_is_missed_to_the_minute_and_its_context_says_so() {
    let sandbox = Sandbox::ready();
    let context = |more: &[&str]| {
        let all = [&["memory", "context", "where is the ferry?"][..], more].concat();
        sandbox.ok(&all)
    };
    over(&sandbox, "s", "The ferry to Barreiro is late.");
    assert!(!context(&[]).contains("no daemon"), "nobody wanted one so far");
    let pid = sandbox.json(&["start"])["daemon"]["pid"].as_i64().unwrap();
    until("all is drawn", || {
        let jobs = sandbox.json(&["jobs", "list"])["results"].clone();
        let is_drawn = |job: &Value| job["kind"] == "extract" && job["state"] == "done";
        jobs.as_array().unwrap().iter().any(is_drawn)
    });
    send(i32::try_from(pid).unwrap(), Signal::SIGKILL);
    until("it is gone", || sandbox.json(&["status"])["daemon"]["running"] == false);
    // As if it had lived on for a quarter of an hour after it last wrote the file whole.
    let file = fs::File::options().write(true).open(sandbox.path("hermesd/daemon.json")).unwrap();
    let died = std::time::SystemTime::now() + Duration::from_secs(900);
    file.set_modified(died).unwrap();
    let since = sandbox.json(&["status"])["daemon"]["since"].as_str().unwrap().to_owned();
    let since: jiff::Timestamp = since.parse().unwrap();
    let died = jiff::Timestamp::try_from(died).unwrap();
    assert!(since.duration_until(died).abs() < jiff::SignedDuration::from_secs(60), "{since}");
    assert!(!context(&[]).contains("no daemon"), "nothing waits");
    over(&sandbox, "t", "The tram to Belém is full.");
    let told = context(&[]);
    assert!(told.contains("no daemon since 20") && told.contains("hermes start"), "{told}");
    assert!(told.starts_with("<hermes-memory>") && told.ends_with("</hermes-memory>\n"), "{told}");
    assert!(context(&["--session", "new"]).contains("no daemon since 20"));
    assert!(!context(&["--session", "t"]).contains("no daemon"), "said once, at the beginning");
}

#[test]
fn every_line_of_the_log_is_one_of_the_log_although_several_were_started() {
    let sandbox = Sandbox::ready();
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| sandbox.ok(&["start"]));
        }
    });
    sandbox.ok(&["stop"]);
    for entry in fs::read_dir(sandbox.path("hermesd/logs")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            let time = line.split(' ').next().unwrap();
            assert!(time.parse::<jiff::Timestamp>().is_ok(), "{text}");
        }
    }
}

#[test]
fn hints_name_what_is_meant() {
    let sandbox = Sandbox::ready();
    let words = ["--channel", "telegram", "--identity", "9", "--group"];
    let group = ["memory", "turn", "--user-text", "The raffle is on Saturday."];
    sandbox.ok(&[&group[..], &words].concat());
    let listed = sandbox.ok(&["user", "list"]);
    for command in
        ["link: hermes user link telegram 9 telegram-9", "you: hermes user link telegram 9 owner"]
    {
        assert!(listed.contains(command), "{listed}");
    }
    assert!(sandbox.ok(&["doctor"]).contains("messages went to telegram-9"));
    let far = sandbox.run(&["memory", "timeline", "--since", "1y"]);
    assert!(!far.stderr.contains("--since 1y"), "{}", far.stderr);
    assert!(sandbox.run(&["memory", "timeline"]).stderr.contains("--since 1y"));
    let said = json!({"session_id": "r", "user": "ana", "ended": true, "messages": [
        {"role": "user", "text": "Deploy the shop."},
        {"role": "assistant", "text": "Deployed with rsync."},
        {"role": "user", "text": "No, that is wrong. Use docker compose instead of rsync."},
        {"role": "assistant", "text": "Deployed with docker compose."},
        {"role": "user", "text": "Perfect, thanks!"}]});
    assert_eq!(sandbox.feed(&["memory", "turn", "-"], said.to_string().as_bytes()).code, 0);
    let looked = sandbox.run(&["memory", "reflect"]);
    assert!(looked.stderr.contains("memories/users/ana/REFLECTIONS.md"), "{}", looked.stderr);
    assert!(looked.stderr.contains("reflections list --user ana"), "{}", looked.stderr);
    assert!(!looked.stderr.contains("workspace/"), "{}", looked.stderr);
    assert!(sandbox.path("memories/users/ana/REFLECTIONS.md").exists());
}

#[test]
fn who_is_unlinked_is_nobody_in_particular_again() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "users.mode", "several"]);
    sandbox.ok(&["user", "add", "ana"]);
    sandbox.ok(&["user", "link", "telegram", "7", "ana"]);
    let says = |text: &str| {
        let words = ["memory", "turn", "--channel", "telegram", "--identity", "7"];
        sandbox.ok(&[&words[..], &["--user-text", text]].concat());
    };
    says("The heron is back.");
    let told = sandbox.ok(&["user", "unlink", "telegram", "7"]);
    assert!(told.contains("no longer linked to ana"), "{told}");
    sandbox.fails(&["user", "unlink", "telegram", "7"], 4, &["not linked to a user"]);
    says("The beaver is back.");
    let of = |name: &str| {
        let sql = format!(
            "select m.text from message m join session s on s.id = m.id >> 12
            join user u on u.id = s.user_id where u.name = '{name}'"
        );
        sandbox.sql("memory.db", &sql)
    };
    assert_eq!(
        (of("ana").as_str(), of("telegram-7").as_str()),
        ("The heron is back.", "The beaver is back.")
    );
}

#[test]
fn the_memory_is_written_ahead_or_not_as_the_settings_say() {
    let sandbox = Sandbox::ready();
    let mode = || sandbox.sql("memory.db", "pragma journal_mode");
    sandbox.ok(&["memory", "fact", "add", "The ladder is in the cellar"]);
    assert_eq!(mode(), "wal");
    sandbox.ok(&["config", "set", "memory.wal_mode", "false"]);
    sandbox.ok(&["memory", "fact", "add", "The lamp is in the attic"]);
    assert_eq!(mode(), "delete");
    assert!(sandbox.ok(&["memory", "fact", "list"]).contains("ladder"));
    assert!(!sandbox.path("memory.db-wal").exists());
    sandbox.ok(&["config", "set", "memory.wal_mode", "true"]);
    sandbox.ok(&["memory", "fact", "add", "The rope is in the shed"]);
    assert_eq!(mode(), "wal");
}

#[test]
fn names_of_what_was_erased_do_not_come_back_by_an_import() {
    let sandbox = Sandbox::ready();
    let names = || sandbox.sql("memory.db", "select name from entity order by name");
    sandbox.ok(&["memory", "fact", "add", "BrightCart is deployed in Porto"]);
    let kept = names();
    over(&sandbox, "secret", "I work with Zebulon at Quixmart in Zanzibar.");
    sandbox.ok(&["memory", "extract"]);
    assert_ne!(names(), kept, "the conversation names somebody");
    let document = sandbox.ok(&["memory", "export"]);
    sandbox.ok(&["memory", "forget", "--session", "secret", "--erase", "--yes"]);
    let after = names();
    assert!(!after.contains("Zebulon") && !after.contains("Quixmart"), "{after}");
    let ran = sandbox.feed(&["memory", "import", "-", "--json"], document.as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(names(), after);
    let other = Sandbox::ready();
    other.ok(&["memory", "fact", "add", "The rope is in the shed"]);
    let ran = other.feed(&["memory", "import", "-", "--json"], document.as_bytes());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let audit = &report["tallies"]["audit"];
    assert!(
        audit.is_null() || audit["known"] == 0,
        "changes of another memory are not known: {report}"
    );
}
