//! Events of agents: answered in their form, recorded, and never in the way, whatever comes in.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{Holder, Ran, Sandbox};

fn hook(sandbox: &Sandbox, agent: &str, event: &Value) -> Ran {
    let ran = sandbox.feed(&["hook", agent], event.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{event}");
    ran
}

fn event(name: &str, more: Value) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": "s-1", "cwd": "/srv/shop"});
    if let Value::Object(more) = more {
        event.as_object_mut().unwrap().extend(more);
    }
    event
}

fn counts(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read("hermesd/hooks.json")).unwrap()
}

fn found(sandbox: &Sandbox, question: &str) -> String {
    sandbox.json(&["memory", "search", question]).to_string()
}

#[test]
fn a_prompt_gets_what_belongs_to_it_and_a_turn_is_recorded() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The staging server of the shop is called heron."]);
    for agent in ["claude-code", "codex"] {
        let start = hook(&sandbox, agent, &event("SessionStart", json!({"source": "startup"})));
        if !start.stdout.is_empty() {
            let answer: Value = serde_json::from_str(&start.stdout).unwrap();
            assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
        }
        let asked =
            json!({"prompt": "What is the staging server of the shop called?", "prompt_id": "p1"});
        let prompt = hook(&sandbox, agent, &event("UserPromptSubmit", asked));
        let answer: Value = serde_json::from_str(&prompt.stdout).unwrap();
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(context.contains("heron") && context.len() <= 10_000, "{context}");
        assert!(context.starts_with("<hermes-memory>"), "{context}");
        let said = format!("It is heron, says {agent}.");
        let stop = json!({"last_assistant_message": said, "prompt_id": "p1"});
        assert_eq!(hook(&sandbox, agent, &event("Stop", stop)).stdout, "");
        assert!(found(&sandbox, &format!("heron says {agent}")).contains(&said), "{agent}");
        assert_eq!(hook(&sandbox, agent, &event("PreCompact", json!({}))).stdout, "");
        hook(&sandbox, agent, &event("SessionEnd", json!({"reason": "other"})));
        let trivial =
            hook(&sandbox, agent, &event("UserPromptSubmit", json!({"prompt": "thanks!"})));
        assert_eq!(trivial.stdout, "");
        let counts = counts(&sandbox);
        assert_eq!(counts["agents"][agent]["events"]["Stop"], 1, "{counts}");
        assert_eq!(counts["agents"][agent]["failures"], 0, "{counts}");
    }
    assert_eq!(std::fs::read_dir(sandbox.path("hermesd/spool")).unwrap().count(), 2);
    sandbox.ok(&["memory", "catch-up"]);
    let table = sandbox.ok(&["integrate"]);
    assert!(table.contains("UserPromptSubmit"), "{table}");
    // Nothing of other agents is in the transcripts.
    assert_eq!(sandbox.json(&["sessions", "list"])["results"], json!([]));
}

#[test]
fn cursor_and_hermes_agent_have_forms_of_their_own() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The user prefers tea, and how they work is slowly."]);
    let cursor = |name: &str, more: Value| {
        let mut event = json!({"hook_event_name": name, "conversation_id": "c-1", "generation_id": "g", "workspace_roots": ["/srv/shop"]});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook(&sandbox, "cursor", &event).stdout
    };
    let start: Value = serde_json::from_str(&cursor("sessionStart", json!({}))).unwrap();
    assert!(start["additional_context"].as_str().unwrap().contains("tea"), "{start}");
    let go_on: Value = serde_json::from_str(&cursor(
        "beforeSubmitPrompt",
        json!({"prompt": "Which drink is in the pantry?"}),
    ))
    .unwrap();
    assert_eq!(go_on, json!({"continue": true}));
    assert_eq!(cursor("afterAgentResponse", json!({"text": "There is oolong in it."})), "");
    assert_eq!(cursor("stop", json!({"status": "completed"})), "");
    assert_eq!(cursor("sessionEnd", json!({})), "");
    assert!(found(&sandbox, "oolong in the pantry").contains("There is oolong"));
    let asked = json!({"hook_event_name": "pre_llm_call", "session_id": "h-1", "cwd": "/", "extra": {"user_message": "What does the user prefer to drink?"}});
    let answer: Value =
        serde_json::from_str(&hook(&sandbox, "hermes-agent", &asked).stdout).unwrap();
    assert!(answer["context"].as_str().unwrap().contains("tea"), "{answer}");
}

#[test]
fn a_transcript_tells_what_the_events_did_not() {
    let sandbox = Sandbox::ready();
    let path = sandbox.folder().join("t.jsonl");
    let lines = [
        json!({"type": "user", "uuid": "u1", "message": {"content": "Which port has the kestrel service?"}}),
        json!({"type": "assistant", "uuid": "a1", "message": {"id": "m", "content": [{"type": "text", "text": "Port 7007."}]}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write("../t.jsonl", text);
    for _ in 0..2 {
        hook(&sandbox, "claude-code", &event("Stop", json!({"transcript_path": path})));
    }
    let found = sandbox.json(&["memory", "search", "kestrel port"]);
    let is_it = |hit: &&Value| hit["text"].as_str().unwrap().contains("Which port has the kestrel");
    assert_eq!(found["results"].as_array().unwrap().iter().filter(is_it).count(), 1, "{found}");
}

#[test]
fn whatever_comes_in_the_exit_code_is_0_and_nothing_is_said() {
    let sandbox = Sandbox::ready();
    let big = format!(
        "{{\"hook_event_name\": \"UserPromptSubmit\", \"prompt\": \"{}\"}}",
        "x".repeat(20_000_000)
    );
    let deep = "[".repeat(100_000);
    let inputs: &[&[u8]] = &[b"", b"garbage", b"\xff\xfe\x00", b"{}", b"[1]", b"null", deep.as_bytes(), big.as_bytes(),
        b"{\"hook_event_name\": 3}", b"{\"hook_event_name\": \"Stop\", \"session_id\": null, \"transcript_path\": \"/dev/zero\"}",
        b"{\"hook_event_name\": \"Stop\", \"session_id\": \"x\\ny\", \"last_assistant_message\": \"z\"}",
        b"{\"hook_event_name\": \"UserPromptSubmit\", \"prompt\": \"\\u0000 \\ud800 ( \\\" OR * what\"}"];
    for agent in ["claude-code", "codex", "cursor", "hermes-agent", "emacs", ""] {
        for input in inputs {
            let ran = sandbox.feed(&["hook", agent], input);
            let shown = String::from_utf8_lossy(&input[..input.len().min(80)]).into_owned();
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{agent}: {shown}");
        }
    }
    assert!(counts(&sandbox)["agents"]["codex"]["failures"].as_u64().unwrap() > 0);
    for wrong in [
        &["hook"][..],
        &["hook", "codex", "--what"],
        &["--nonsense", "hook", "codex"],
        &["hook", "codex", "--home"],
    ] {
        let ran = sandbox.feed(wrong, b"{}");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{wrong:?}");
    }
    let doctor = sandbox.run(&["doctor"]).stdout;
    assert!(doctor.contains("integrations") && doctor.contains("not an event"), "{doctor}");
}

#[test]
fn without_a_home_or_with_a_broken_one_a_hook_is_silent_and_makes_nothing() {
    let sandbox = Sandbox::empty();
    let prompt = event("UserPromptSubmit", json!({"prompt": "What do you know about me?"}));
    assert_eq!(hook(&sandbox, "claude-code", &prompt).stdout, "");
    assert!(!sandbox.home().exists());
    let broken = Sandbox::ready();
    broken.write("config.yaml", "a: [");
    broken.write("memory.db", "not a database");
    assert_eq!(hook(&broken, "claude-code", &prompt).stdout, "");
    assert_eq!(counts(&broken)["agents"]["claude-code"]["failures"], 1);
}

#[test]
fn a_locked_memory_keeps_nobody_waiting_and_the_turn_is_not_lost() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let holder = Holder::of(&sandbox, "memory.db");
    let begun = Instant::now();
    let stop = json!({"prompt": "Where is the grebe archive?", "last_assistant_message": "In the cellar."});
    hook(&sandbox, "claude-code", &event("Stop", stop));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    drop(holder);
    sandbox.ok(&["memory", "catch-up"]);
    assert!(found(&sandbox, "grebe archive").contains("In the cellar."));
}

#[test]
fn an_agent_that_never_closes_the_pipe_is_left_after_the_hard_stop() {
    let sandbox = Sandbox::ready();
    let mut command = sandbox.command(&["hook", "claude-code"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    assert_eq!(child.wait_with_stdin_open(), 0);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(counts(&sandbox)["agents"]["claude-code"]["failures"], 1);
}

trait WaitOpen {
    fn wait_with_stdin_open(&mut self) -> i32;
}

impl WaitOpen for std::process::Child {
    /// `wait` would close standard input first.
    fn wait_with_stdin_open(&mut self) -> i32 {
        let input = self.stdin.take();
        let status = self.wait().unwrap();
        drop(input);
        status.code().unwrap_or(-1)
    }
}
