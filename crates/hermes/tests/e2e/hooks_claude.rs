//! Claude Code as its hooks see it: the configured line in a shell, a transcript that is behind, hooks that are killed.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::daemon::send;
use crate::moments::is_full;
use crate::sandbox::{Ran, Sandbox, until};

/// A Claude Code that is connected.
struct Claude<'a> {
    sandbox: &'a Sandbox,
    settings: Value,
}

/// One session of it.
struct Talk<'a> {
    claude: &'a Claude<'a>,
    id: String,
    transcript: PathBuf,
}

impl<'a> Claude<'a> {
    fn connected(sandbox: &'a Sandbox) -> Claude<'a> {
        sandbox.ok(&["integrate", "claude-code", "--no-mcp", "--yes"]);
        Claude::as_configured(sandbox)
    }

    fn as_configured(sandbox: &'a Sandbox) -> Claude<'a> {
        let path = sandbox.folder().join(".claude/settings.json");
        let settings = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Claude { sandbox, settings }
    }

    fn talk(&'a self, id: &str) -> Talk<'a> {
        let transcript = self.sandbox.folder().join(format!("{id}.jsonl"));
        Talk { claude: self, id: id.to_owned(), transcript }
    }

    /// Starts the hook of an event as versions before 2.1.147 do: `command` in a shell, `args` unknown.
    fn start(&self, event: &Value) -> Child {
        let name = event["hook_event_name"].as_str().unwrap();
        let line = self.settings["hooks"][name][0]["hooks"][0]["command"].as_str().unwrap();
        let mut command = self.sandbox.command_of("/bin/sh".as_ref(), &["-c", line]);
        command.env("CLAUDE_PROJECT_DIR", self.sandbox.folder());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(format!("{event}\n").as_bytes());
        child
    }

    fn run(&self, event: &Value) -> Ran {
        Ran::of(&self.start(event).wait_with_output().unwrap())
    }
}

impl Talk<'_> {
    fn event(&self, name: &str, more: &Value) -> Value {
        let mut event = json!({"hook_event_name": name, "session_id": self.id,
            "transcript_path": self.transcript, "cwd": self.claude.sandbox.folder()});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    }

    /// An event that the agent waits for; exit code 2 would block it.
    fn send(&self, name: &str, more: &Value) {
        let ran = self.claude.run(&self.event(name, more));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}");
    }

    fn writes(&self, role: &str, text: &str) {
        let content = match role {
            "user" => json!(text),
            _ => json!([{"type": "text", "text": text}]),
        };
        let id = format!("{role}-{text}");
        let line = json!({"type": role, "uuid": id, "sessionId": self.id,
            "timestamp": "2026-01-05T10:00:00Z",
            "message": {"id": id, "role": role, "content": content, "stop_reason": Value::Null}});
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(&self.transcript).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// One `claude -p`: its Stop hook runs in the background, and is killed with all it started when it goes on for
    /// longer than `moments` of this thread.
    fn print_mode(&self, number: usize, moments: usize) {
        let (asked, answered) = (format!("question {number}"), format!("reply {number}"));
        self.send("SessionStart", &json!({"source": "startup"}));
        if number.is_multiple_of(2) {
            self.writes("user", &asked);
        }
        self.send("UserPromptSubmit", &json!({"prompt": asked}));
        if !number.is_multiple_of(2) {
            self.writes("user", &asked);
        }
        let is_behind = number.is_multiple_of(3);
        if !is_behind {
            self.writes("assistant", &answered);
        }
        let more = match number.is_multiple_of(4) {
            // Versions before 2.1.47 do not say what was answered.
            true => json!({}),
            false => json!({"last_assistant_message": answered}),
        };
        let mut stop = self.claude.start(&self.event("Stop", &more));
        if is_behind {
            self.writes("assistant", &answered);
        }
        (0..moments).for_each(|_| std::thread::yield_now());
        let _ = killpg(Pid::from_raw(i32::try_from(stop.id()).unwrap()), Signal::SIGKILL);
        stop.wait().unwrap();
        // One that is killed itself says no end.
        if !number.is_multiple_of(5) {
            self.send("SessionEnd", &json!({"reason": "other"}));
        }
    }
}

/// How often each text is in the memory.
fn kept(sandbox: &Sandbox) -> BTreeMap<String, usize> {
    let mut kept = BTreeMap::new();
    for line in sandbox.sql("memory.db", "select text from message").lines() {
        *kept.entry(line.to_owned()).or_default() += 1;
    }
    kept
}

/// Makes every transcript as old as one to which nothing was added for an hour.
fn grow_old(sandbox: &Sandbox) {
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for entry in fs::read_dir(sandbox.folder()).unwrap().flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "jsonl") {
            let file = OpenOptions::new().append(true).open(entry.path()).unwrap();
            file.set_modified(hour_ago).unwrap();
        }
    }
}

#[test]
fn no_turn_of_claude_p_is_lost_or_twice_whenever_its_stop_hook_is_killed() {
    let sandbox = Sandbox::ready();
    let claude = Claude::connected(&sandbox);
    let runs = if is_full() { 200 } else { 24 };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs {
                        return;
                    }
                    let talk = claude.talk(&format!("run-{number}"));
                    talk.print_mode(number, (number * 7_919) % 4_000);
                }
            });
        }
    });
    grow_old(&sandbox);
    sandbox.ok(&["memory", "catch-up"]);
    let kept = kept(&sandbox);
    for number in 0..runs {
        for text in [format!("question {number}"), format!("reply {number}")] {
            assert_eq!(kept.get(&text), Some(&1), "{text}: {kept:?}");
        }
    }
    assert_eq!(kept.len(), 2 * runs, "{kept:?}");
    sandbox.ok(&["memory", "catch-up"]);
    assert_eq!(self::kept(&sandbox), kept);
}

#[test]
fn the_next_hook_of_any_session_finishes_what_is_left() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let claude = Claude::connected(&sandbox);
    let first = claude.talk("first");
    first.send("UserPromptSubmit", &json!({"prompt": "Where is the heron?"}));
    first.writes("user", "Where is the heron?");
    first.writes("assistant", "On the roof.");
    grow_old(&sandbox);
    let file = fs::read_dir(sandbox.path("hermesd/hook-sessions")).unwrap().flatten();
    let file = file
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "json"));
    let minute_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = OpenOptions::new().append(true).open(file.unwrap()).unwrap();
    file.set_modified(minute_ago).unwrap();
    // One that is short of time leaves it to the next.
    until("a hook of another session has recorded the turn", || {
        claude.talk("second").send("SessionStart", &json!({"source": "startup"}));
        kept(&sandbox).contains_key("On the roof.")
    });
    let kept = kept(&sandbox);
    assert_eq!(kept.get("On the roof."), Some(&1), "{kept:?}");
    // Its own hook, should it come after all, adds nothing.
    first.send("Stop", &json!({"last_assistant_message": "On the roof."}));
    assert_eq!(self::kept(&sandbox), kept);
}

#[test]
fn the_daemon_finishes_what_is_left() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let claude = Claude::connected(&sandbox);
    sandbox.ok(&["start"]);
    let talk = claude.talk("left");
    talk.send("UserPromptSubmit", &json!({"prompt": "Who feeds the heron?"}));
    talk.writes("user", "Who feeds the heron?");
    talk.send("SessionEnd", &json!({"reason": "other"}));
    talk.writes("assistant", "Marta does.");
    let pid = i32::try_from(sandbox.json(&["status"])["daemon"]["pid"].as_i64().unwrap()).unwrap();
    until("the turn is in the memory", || {
        // It looks every minute; this wakes it.
        send(pid, Signal::SIGUSR1);
        kept(&sandbox).get("Marta does.") == Some(&1)
    });
}

#[test]
fn an_outdated_connection_works_is_named_and_is_written_anew() {
    let sandbox = Sandbox::ready();
    let path = sandbox.folder().join(".claude/settings.json");
    let before = "{\n  \"model\": \"opus\"\n}\n";
    let program = env!("CARGO_BIN_EXE_hermes");
    let group = |more: Value| {
        let mut hook =
            json!({"type": "command", "command": program, "args": ["hook", "claude-code"]});
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{"hooks": [hook]}])
    };
    let old = json!({"model": "opus", "hooks": {
        "UserPromptSubmit": group(json!({"timeout": 3})),
        "Stop": group(json!({"timeout": 10, "async": true})),
        "SessionEnd": group(json!({}))}});
    sandbox.write("../.claude/settings.json", old.to_string());
    let claude = Claude::as_configured(&sandbox);
    let talk = claude.talk("old");
    talk.send("UserPromptSubmit", &json!({"prompt": "Where is the kestrel?"}));
    talk.send("Stop", &json!({"last_assistant_message": "In the tower."}));
    assert_eq!(kept(&sandbox).get("In the tower."), Some(&1));
    let checked = sandbox.run(&["integrate", "--check", "claude-code"]);
    assert_eq!(checked.code, 6, "{}", checked.stdout);
    assert!(
        checked.stdout.contains("outdated") && !checked.stdout.contains("FAIL"),
        "{}",
        checked.stdout
    );
    assert!(sandbox.ok(&["integrate"]).contains("old"));
    sandbox.ok(&["integrate", "claude-code", "--no-mcp", "--yes"]);
    let now: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"] {
        let groups = now["hooks"][event].as_array().unwrap();
        assert_eq!(groups.len(), 1, "{now}");
        let hook = &groups[0]["hooks"][0];
        assert_eq!(hook["command"], format!("{program} hook claude-code"));
        assert_eq!((hook.get("args"), hook.get("async")), (None, None), "{hook}");
    }
    sandbox.ok(&["integrate", "--check", "claude-code"]);
    // What was there before it was ever connected comes back to the byte.
    sandbox.ok(&["integrate", "--remove", "claude-code", "--yes"]);
    sandbox.write("../.claude/settings.json", before);
    sandbox.ok(&["integrate", "claude-code", "--no-mcp", "--yes"]);
    sandbox.ok(&["integrate", "--remove", "claude-code", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_program_and_a_home_with_spaces_and_quotes_are_found_by_a_shell() {
    let sandbox = Sandbox::ready();
    let folder = sandbox.folder().join("my $HOME's \"tools\"");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("hermes");
    fs::hard_link(env!("CARGO_BIN_EXE_hermes"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_hermes"), &program).map(drop))
        .unwrap();
    let home = sandbox.folder().join("a `home` of 'mine'");
    let place = ["--home", home.to_str().unwrap()];
    let ok = |arguments: &[&str]| {
        let all: Vec<&str> = place.iter().copied().chain(arguments.iter().copied()).collect();
        let ran = Ran::of(&sandbox.command_of(&program, &all).output().unwrap());
        assert_eq!(ran.code, 0, "{arguments:?} {}{}", ran.stdout, ran.stderr);
    };
    ok(&["init"]);
    for agent in ["claude-code", "codex", "cursor"] {
        ok(&["integrate", agent, "--no-mcp", "--yes"]);
        ok(&["integrate", "--check", agent]);
    }
    let claude = Claude::as_configured(&sandbox);
    let talk = claude.talk("quoted");
    talk.send("UserPromptSubmit", &json!({"prompt": "Where is the wren?"}));
    talk.send("Stop", &json!({"last_assistant_message": "Under the eaves."}));
    let kept = "select count(*) from message where text = 'Under the eaves.'";
    assert_eq!(sandbox.sql("../a `home` of 'mine'/memory.db", kept), "1");
}

#[test]
fn the_bare_program_answers_an_event_and_shows_its_help_to_everybody_else() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The staging server of the shop is called heron."]);
    let asked = json!({"hook_event_name": "UserPromptSubmit", "session_id": "b", "cwd": "/srv",
        "prompt": "What is the staging server of the shop called?"});
    let ran = sandbox.feed(&[], format!("{asked}\n").as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("heron"), "{}", ran.stdout);
    for broken in [&b"{"[..], b"{}", b"{\"hook_event_name\": 3}"] {
        let ran = sandbox.feed(&[], broken);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    }
    for no_event in [&b""[..], b"hello", b"[1]"] {
        let ran = sandbox.feed(&[], no_event);
        assert_eq!(ran.code, 2, "{no_event:?}");
        assert!(ran.stderr.contains("Usage:"), "{}", ran.stderr);
    }
    // Somebody who has sent nothing yet may be an agent: no veto.
    let mut command = sandbox.command(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage:"));
}

#[test]
fn the_bare_program_records_in_the_home_that_the_settings_name() {
    let sandbox = Sandbox::ready();
    let other = sandbox.folder().join("other");
    sandbox.ok(&["init", "--home", other.to_str().unwrap()]);
    let hook = json!({"type": "command", "command": env!("CARGO_BIN_EXE_hermes"),
        "args": ["--home", other, "hook", "claude-code"]});
    let settings = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
    sandbox.write("../.claude/settings.json", settings.to_string());
    let claude = Claude::as_configured(&sandbox);
    let stop = json!({"prompt": "Where is the owl?", "last_assistant_message": "In the barn."});
    claude.talk("elsewhere").send("Stop", &stop);
    assert!(!sandbox.path("memory.db").exists());
    assert!(other.join("memory.db").exists());
}

#[test]
fn the_doctor_runs_hooks_as_the_agent_would_and_leaves_no_trace() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "How we work on this project: trunk-based."]);
    sandbox.ok(&["integrate", "claude-code", "--no-mcp", "--yes"]);
    let before = sandbox.sql("memory.db", "select count(*) from message");
    let well = sandbox.run(&["doctor"]).stdout;
    assert!(well.contains("claude-code: its hook responded with"), "{well}");
    assert_eq!(sandbox.sql("memory.db", "select count(*) from message"), before);
    assert!(!sandbox.path("hermesd/hooks.json").exists());
    assert!(!sandbox.path("hermesd/hook-sessions").exists());
    let path = sandbox.folder().join(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let broken = text.replace(env!("CARGO_BIN_EXE_hermes"), "/gone/hermes");
    sandbox.write("../.claude/settings.json", &broken);
    let ill = sandbox.run(&["doctor"]).stdout;
    assert!(
        ill.contains("could not start") && ill.contains("hermes integrate claude-code"),
        "{ill}"
    );
    sandbox.write("../.claude/settings.json", &text);
    sandbox.write("memory.db", "not a database");
    let checked = sandbox.run(&["integrate", "--check", "claude-code"]);
    assert_eq!(checked.code, 6, "{}", checked.stdout);
    assert!(checked.stdout.contains("turns wait in files"), "{}", checked.stdout);
}
