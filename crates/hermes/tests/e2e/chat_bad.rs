//! Conversations where something goes wrong: a clear message, and the session can be gone on with.

use serde_json::{Value, json};

use crate::model_server::{ModelServer, Reply};
use crate::sandbox::{Ran, Sandbox};
use crate::talks::{ask, events, talk};

#[test]
fn without_a_model_or_a_key_nothing_is_recorded() {
    let sandbox = Sandbox::ready();
    let before = sandbox.snapshot();
    sandbox.fails(&["chat", "-q", "hi"], 13, &["no chat model is configured", "hermes model list"]);
    let named = ["chat", "-q", "hi", "--model", "anthropic/claude-sonnet-5"];
    sandbox.fails(
        &named,
        13,
        &["ANTHROPIC_API_KEY is not set", "hermes config set ANTHROPIC_API_KEY -"],
    );
    sandbox.fails(&["chat", "-q", "hi", "--model", "nonsense"], 2, &["nonsense"]);
    sandbox.fails(&["chat", "-q", " "], 2, &["the message is empty"]);
    sandbox.fails(&["run", ""], 2, &["the task is empty"]);
    assert_eq!(before, sandbox.snapshot());
    Sandbox::empty().fails(&["chat", "-q", "hi"], 10, &["hermes"]);
}

#[test]
fn each_fault_of_a_model_is_told_and_the_session_goes_on() {
    for (reply, code, words) in [
        (Reply::Status(401, "invalid x-api-key"), 5, "responded with 401"),
        (Reply::Status(404, "no such model"), 4, "no such model"),
        (Reply::Status(402, "pay first"), 5, "no credit left"),
        (Reply::Status(429, "slow down"), 13, "responded with 429"),
        (Reply::Status(529, "overloaded"), 13, "responded with 529"),
        (Reply::Close, 13, "could not reach"),
        (Reply::Garbage, 1, "could not use the answer"),
        (Reply::WebPage, 1, "a web page instead of an answer"),
        (Reply::Cut, 13, "interrupted"),
        (Reply::Refusal, 5, "declined"),
    ] {
        let sandbox = Sandbox::ready();
        let server = ModelServer::start(vec![reply.clone()]);
        let ran = talk(&sandbox, &server, &["-q", "Where is the ship?"], &[]);
        let shown = format!("{reply:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("hermes: ") && ran.stderr.contains(words), "{shown}");
        assert!(ran.code != 0 && (ran.code == code || code == 5), "{} {shown}", ran.code);
        let good = ModelServer::start(vec![Reply::text("In the harbour.")]);
        let again = talk(&sandbox, &good, &["-c", "-q", "Tell me now."], &[]);
        assert_eq!(again.stdout, "In the harbour.\n", "{}", again.stderr);
        let seen = good.requests()[0].body.to_string();
        assert!(seen.contains("Where is the ship?"), "{seen}");
        if matches!(reply, Reply::Cut) {
            assert!(seen.contains("The answer is\\n[cut short]"), "{seen}");
        }
    }
}

#[test]
fn a_request_that_does_not_fit_loses_memory_first_and_says_so() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The lighthouse keeper is called Ines"]);
    let server = ModelServer::start(vec![
        Reply::Status(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Reply::text("Ines."),
    ]);
    let ran = ask(&sandbox, &server, "Who keeps the lighthouse?");
    assert!(ran.stderr.contains("recalled memory was removed"), "{}", ran.stderr);
    let requests = server.requests();
    assert!(requests[0].last().contains("hermes-memory"), "{}", requests[0].last());
    assert!(!requests[1].last().contains("hermes-memory"), "{}", requests[1].last());
    let never = ModelServer::start(vec![Reply::Status(400, "prompt is too long")]);
    let ran = talk(&sandbox, &never, &["-q", "Who keeps the lighthouse?"], &[]);
    ran.failed(1, &["too long for this model"]);
}

#[test]
fn unknown_tools_and_broken_arguments_are_told_to_the_model() {
    for model in ["anthropic/claude-haiku-4-5", "openai/gpt-5.4-mini", "ollama/llama3.2"] {
        let sandbox = Sandbox::ready();
        let server = ModelServer::start(vec![
            Reply::call("teleport", &json!({"to": "Porto"})),
            Reply::Calls(String::new(), vec![("memory".into(), "{\"action\": \"add\", ".into())]),
            Reply::call("memory", &json!({"action": "fly"})),
            Reply::call("session_search", &json!({"limit": "many"})),
            Reply::call("skill_view", &json!({"name": "../../etc/passwd"})),
            Reply::text("I could not do that."),
        ]);
        let ran = talk(&sandbox, &server, &["--model", model, "--json"], &["go"]);
        let told: Vec<Value> =
            events(&ran).into_iter().filter(|one| one["event"] == "tool_ended").collect();
        assert_eq!(told.len(), 5, "{model}: {}", ran.stdout);
        assert!(told.iter().all(|one| one["failed"] == true), "{told:?}");
        assert!(told[0]["text"].as_str().unwrap().contains("there is no tool teleport"));
        assert!(server.requests().len() == 6, "{model}");
    }
}

#[test]
fn a_model_that_loops_is_stopped_and_rounds_are_bounded() {
    let sandbox = Sandbox::ready();
    let same = ModelServer::start(vec![Reply::call("skills_list", &json!({}))]);
    let ran = talk(&sandbox, &same, &["-q", "list them"], &[]);
    ran.failed(3, &["kept repeating the same call"]);
    assert!(same.requests().len() < 10, "{}", same.requests().len());
    let busy = ModelServer::answering(|number, _| {
        Reply::call("memory", &json!({"action": "search", "query": format!("thing {number}")}))
    });
    let ran = talk(&sandbox, &busy, &["--max-rounds", "3", "-q", "go"], &[]);
    ran.failed(3, &["maximum number of tool rounds"]);
    assert_eq!(busy.requests().len(), 4);
    let good = ModelServer::start(vec![Reply::text("fine")]);
    assert_eq!(talk(&sandbox, &good, &["-c", "-q", "go on"], &[]).stdout, "fine\n");
}

#[test]
fn a_task_says_by_its_exit_code_how_it_went() {
    let sandbox = Sandbox::ready();
    let run = |server: &ModelServer, arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        server.point(&mut command);
        Ran::of(&command.output().unwrap())
    };
    let write = json!({"path": "notes.txt", "content": "hello\n"});
    let script = || vec![Reply::call("write_file", &write), Reply::text("Done.")];
    let refused = ModelServer::start(script());
    let ran = run(&refused, &["run", "write notes.txt"]);
    assert!(!sandbox.folder().join("notes.txt").exists(), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.code != 0 || ran.stdout.contains("Done."), "{}", ran.stderr);
    let allowed = ModelServer::start(script());
    let ran = run(&allowed, &["run", "write notes.txt", "--allow", "write .", "--json"]);
    let last = events(&ran);
    assert!(sandbox.folder().join("notes.txt").exists(), "{}", ran.stdout);
    assert!(
        last.iter()
            .any(|one| one["event"] == "turn_ended" && one["figures"]["ended"] == "answered")
    );
    let down = ModelServer::start(vec![Reply::Status(401, "no")]);
    assert_eq!(run(&down, &["run", "anything"]).code, 5);
}

#[test]
fn control_sequences_of_a_model_do_not_reach_the_output() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("red \u{1b}[31mtext\u{7} and \u{9b}2J end")]);
    let ran = ask(&sandbox, &server, "colours?");
    assert!(!ran.stdout.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{:?}", ran.stdout);
    assert!(ran.stdout.contains("text") && ran.stdout.contains("end"), "{:?}", ran.stdout);
}

#[test]
fn memory_is_not_written_where_that_is_off_or_after_reading_files() {
    let sandbox = Sandbox::ready();
    let add =
        json!({"action": "add", "target": "memory", "content": "The harbour has nine cranes"});
    let off = ModelServer::start(vec![Reply::call("memory", &add), Reply::text("ok")]);
    let ran =
        talk(&sandbox, &off, &["--set", "memory.auto_write=false", "-q", "note the cranes"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(off.requests()[1].last().contains("\"staged\":true"), "{}", off.requests()[1].last());
    assert!(!sandbox.read("memories/MEMORY.md").contains("cranes"));
    let pending = sandbox.ok(&["memory", "pending"]);
    assert!(pending.contains("nine cranes"), "{pending}");
    let read = ModelServer::start(vec![
        Reply::call("list_files", &json!({"path": "."})),
        Reply::call("memory", &json!({"action": "add", "content": "Says a file"})),
        Reply::text("ok"),
    ]);
    ask(&sandbox, &read, "look around");
    assert!(!sandbox.read("memories/MEMORY.md").contains("Says a file"));
}
