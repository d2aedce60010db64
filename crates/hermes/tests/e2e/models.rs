//! Chat models: which one is used and why, testing one, and what is said when it fails.

use serde_json::{Value, json};

use crate::model_server::{KEY, ModelServer, Reply};
use crate::sandbox::{Ran, Sandbox};

const MODELS: [(&str, &str); 6] = [
    ("anthropic/claude-haiku-4-5", "/v1/messages"),
    ("openai/gpt-5.4-mini", "/v1/chat/completions"),
    ("openrouter/vendor/name", "/v1/chat/completions"),
    ("ollama/llama3.2", "/api/chat"),
    ("lmstudio/qwen", "/v1/chat/completions"),
    ("llamacpp/any", "/v1/chat/completions"),
];

/// Runs with every provider at the server; the key must not come out anywhere.
fn run(sandbox: &Sandbox, server: &ModelServer, arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(arguments);
    server.point(&mut command);
    let ran = Ran::of(&command.output().unwrap());
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(KEY), "{}{}", ran.stdout, ran.stderr);
    ran
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn every_protocol_can_be_tested() {
    let sandbox = Sandbox::ready();
    for (model, path) in MODELS {
        let server = ModelServer::start(vec![Reply::Slow("I am ready".to_owned())]);
        let tested = json(&run(&sandbox, &server, &["model", "test", model, "--json"]));
        assert_eq!(tested["model"], model);
        assert_eq!(tested["answered_by"], "loopback-1");
        assert_eq!(tested["answer"], "I am ready");
        assert_eq!(tested["request_id"], "req_loopback");
        assert_eq!(
            (&tested["usage"]["input"], &tested["usage"]["output"]),
            (&json!(11), &json!(3))
        );
        let seen = server.requests();
        assert_eq!((seen.len(), seen[0].path.as_str()), (1, path), "{model}");
        assert!(seen[0].prompt().contains("ready"));
        assert_eq!(seen[0].head.contains(KEY), !model.starts_with("ollama"), "{model}");
    }
    let server = ModelServer::start(vec![Reply::text("ready")]);
    let shown = run(&sandbox, &server, &["model", "test", "claude-haiku-4-5"]).stdout;
    for words in ["anthropic/claude-haiku-4-5 answered in", "11 tokens read", "$0.000026", "req_"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let address = format!("{}/v1#any", server.base());
    assert_eq!(run(&sandbox, &server, &["model", "test", &address]).code, 0);
}

#[test]
fn each_fault_has_its_exit_code_and_its_words() {
    let sandbox = Sandbox::ready();
    for (reply, code, words) in [
        (Reply::Garbage, 1, "could not use the answer"),
        (Reply::Large, 1, "larger than 4194304 bytes"),
        (Reply::WebPage, 1, "a web page instead of an answer"),
        (Reply::Cut, 13, "interrupted"),
        (Reply::HalfJson, 13, "interrupted"),
        (Reply::Close, 13, "could not reach"),
        (
            Reply::Status(429, "slow down"),
            13,
            "responded with 429: slow down (request req_loopback)",
        ),
        (Reply::Status(529, "overloaded"), 13, "responded with 529: overloaded"),
        (Reply::Status(400, "prompt is too long"), 1, "the request is too long for this model"),
        (Reply::Status(402, "pay first"), 5, "no credit left"),
        (Reply::Status(404, "no such model"), 4, "no such model"),
    ] {
        for (model, _) in MODELS {
            let server = ModelServer::start(vec![reply.clone()]);
            run(&sandbox, &server, &["model", "test", model]).failed(code, &[words]);
            assert_eq!(server.requests().len(), 1, "a test asks once: {model} {reply:?}");
        }
    }
    for model in ["anthropic/any", "openai/gpt-5.4"] {
        let server = ModelServer::start(vec![Reply::Refusal]);
        run(&sandbox, &server, &["model", "test", model]).failed(5, &["declined to answer"]);
    }
    let server = ModelServer::start(vec![Reply::Status(404, "not found")]);
    run(&sandbox, &server, &["model", "test", "ollama/x"]).failed(4, &["`ollama pull x`"]);
    let ran = run(&sandbox, &server, &["model", "test", "ollama/x", "--json"]);
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &error["error"]["kind"]), (4, &json!("not_found")));
}

#[test]
fn a_refused_key_is_named_by_its_variable() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::answering(|_, seen| {
        let key = seen.head.lines().find_map(|line| line.strip_prefix("x-api-key: "));
        // A server that repeats the key in its complaint must not make us repeat it.
        Reply::Status(
            401,
            Box::leak(format!("wrong key {}", key.unwrap_or_default()).into_boxed_str()),
        )
    });
    let ran = run(&sandbox, &server, &["model", "test", "anthropic/any"]);
    ran.failed(5, &["responded with 401: wrong key ***", "ANTHROPIC_API_KEY in the environment"]);
}

#[test]
fn a_missing_key_is_named_with_the_command_that_sets_it() {
    let sandbox = Sandbox::ready();
    for (model, variable) in [
        ("anthropic/any", "ANTHROPIC_API_KEY"),
        ("gpt-5.4", "OPENAI_API_KEY"),
        ("openrouter/a/b", "OPENROUTER_API_KEY"),
    ] {
        let words =
            [&format!("{variable} is not set"), &format!("`hermes config set {variable} -`")];
        sandbox.fails(&["model", "test", model], 5, &words.map(String::as_str));
    }
    sandbox.fails(&["model", "test"], 4, &["there is no model to test"]);
    sandbox.fails(&["model", "test", "llama3.2"], 2, &["names no provider", "ollama/NAME"]);
    sandbox.fails(&["model", "test", "http://127.0.0.1:1/v1#m"], 13, &["could not reach"]);
}

#[test]
fn a_key_alone_is_for_conversations_and_never_for_background_work() {
    let sandbox = Sandbox::ready();
    let ran = sandbox.feed(&["config", "set", "ANTHROPIC_API_KEY", "-"], KEY.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let list = sandbox.json(&["model", "list"]);
    assert!(!list.to_string().contains(KEY));
    assert_eq!(list["background"], json!({"model": null, "why": "no model.light set"}));
    assert_eq!(list["conversation"]["why"], "ANTHROPIC_API_KEY in .env");
    let anthropic = &list["results"][0];
    assert_eq!((&anthropic["ready"], &anthropic["key_found_in"]), (&json!(true), &json!(".env")));
    assert_eq!(list["results"][1]["ready"], false);
    let text = sandbox.ok(&["model", "list"]);
    assert!(text.contains("background work: rules only (no model.light set)"), "{text}");
    sandbox.ok(&["config", "set", "model.light", "anthropic/claude-haiku-4-5"]);
    sandbox.ok(&["config", "set", "model.default", "ollama/llama3.2"]);
    let text = sandbox.ok(&["model", "list"]);
    assert!(text.contains("background work: anthropic/claude-haiku-4-5"), "{text}");
    assert!(text.contains("conversations: ollama/llama3.2 (model.default)"), "{text}");
}

#[test]
fn a_dry_run_shows_the_request_and_sends_nothing() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("ready")]);
    for (model, path) in MODELS {
        let shown = json(&run(&sandbox, &server, &["model", "test", model, "--dry-run"]));
        assert!(shown["url"].as_str().unwrap().ends_with(path), "{shown}");
        assert_eq!(shown["body"]["model"], model.split_once('/').unwrap().1);
        let has_key = shown["headers"].to_string().contains("***");
        assert_eq!(has_key, !model.starts_with("ollama"), "{shown}");
    }
    assert!(server.requests().is_empty());
    let ran = sandbox.run(&["model", "test", "anthropic/any", "--dry-run"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY is not set"), "{}", ran.stderr);
}

#[test]
fn settings_that_hermes_agent_shares_choose_the_same_model() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("ready")]);
    let base = format!("{}/v1", server.base());
    for (key, value) in
        [("default", "anthropic/claude-x"), ("provider", "openrouter"), ("base_url", &base)]
    {
        sandbox.ok(&["config", "set", &format!("model.{key}"), value]);
    }
    let tested = sandbox.json(&["model", "test"]);
    assert_eq!(tested["model"], "openrouter/anthropic/claude-x");
    assert_eq!(server.requests()[0].body["model"], "anthropic/claude-x");
    sandbox.ok(&["config", "set", "model.provider", "nous"]);
    sandbox.fails(&["model", "test"], 2, &["model.provider \"nous\""]);
}
