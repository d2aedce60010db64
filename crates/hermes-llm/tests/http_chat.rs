//! The chat models behind HTTP endpoints, against a server on the loopback.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod support;

use hermes_llm::chat::{
    Answer as Said, AnswerForm, Block, ChatEndpoint, ChatLimits, ChatMessage, ChatModel,
    ChatRequest, Delta, Flow, HttpChat, Protocol, Role, Stop, SystemPart, Tool, Usage,
};
use hermes_llm::{ApiKey, Error, ErrorKind, Result, Sleep};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Answer, Server, answer, nobody};

const KEY: &str = "sk-very-secret-0123456789";
const ALL: [Protocol; 3] = [Protocol::Anthropic, Protocol::OpenAi, Protocol::Ollama];

const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"claude-haiku-4-5-20251001","usage":{"input_tokens":12,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hel"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"at\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"sky\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

"#;

const OPENAI: &str = r#": OPENROUTER PROCESSING

data: {"id":"chatcmpl-1","model":"gpt-5.4-mini","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"reasoning":"hm"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"look","arguments":""}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"at\":\"sky\"}"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":112,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":100}}}

data: [DONE]

"#;

const OLLAMA: &str = r#"{"model":"llama3.2","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}
{"model":"llama3.2","message":{"role":"assistant","content":"Hel"},"done":false}
{"model":"llama3.2","message":{"role":"assistant","content":"lo"},"done":false}
{"model":"llama3.2","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"at":"sky"}}}]},"done":false}
{"model":"llama3.2","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":112,"eval_count":9}
"#;

fn recorded(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Anthropic => ANTHROPIC,
        Protocol::Ollama => OLLAMA,
        _ => OPENAI,
    }
}

/// A stream of server-sent events.
fn stream(body: &str) -> Answer {
    let headers = "content-type: text/event-stream\r\nrequest-id: req_7\r\n";
    Answer { status: 200, headers, body: body.into() }
}

fn no_wait() -> Sleep {
    Box::new(|_| {})
}

fn endpoint(protocol: Protocol, server: &Server) -> ChatEndpoint {
    ChatEndpoint::new(protocol, &server.base, "small")
}

fn chat(protocol: Protocol, server: &Server) -> HttpChat {
    HttpChat::new(endpoint(protocol, server), no_wait()).unwrap()
}

fn ask(model: &HttpChat) -> Result<Said> {
    model.complete(&ChatRequest::of("hello", 100), &mut |_| Flow::Go)
}

/// The error of asking when the server answers this.
fn error_of(protocol: Protocol, body: &str) -> Error {
    let server = Server::start(vec![stream(body)]);
    ask(&chat(protocol, &server)).unwrap_err()
}

/// A conversation with everything in it.
fn rich() -> ChatRequest {
    let call =
        Block::ToolCall { id: "t1".into(), name: "look".into(), arguments: json!({"at": "sky"}) };
    let result = Block::ToolResult { id: "t1".into(), text: "blue".into(), is_error: false };
    ChatRequest {
        system: vec![SystemPart::lasting("Be brief."), SystemPart::passing("It is noon.")],
        messages: vec![
            ChatMessage::user("What colour is it?"),
            ChatMessage { role: Role::Assistant, blocks: vec![call], cache: false },
            ChatMessage { role: Role::User, blocks: vec![result], cache: true },
        ],
        tools: vec![Tool {
            name: "look".into(),
            description: "Looks.".into(),
            parameters: json!({"type": "object"}),
        }],
        max_tokens: 64,
        temperature: Some(0.5),
        answer: AnswerForm::Json,
    }
}

fn body_of(protocol: Protocol, name: &str) -> Value {
    let endpoint = ChatEndpoint::new(protocol, "http://h", name);
    HttpChat::new(endpoint, no_wait()).unwrap().preview(&rich()).body
}

#[test]
fn each_protocol_gives_the_same_answer() {
    for protocol in ALL {
        let server = Server::start(vec![stream(recorded(protocol))]);
        let mut heard = Vec::new();
        let answer = chat(protocol, &server).complete(&ChatRequest::of("hi", 9), &mut |delta| {
            heard.push(format!("{delta:?}"));
            Flow::Go
        });
        let answer = answer.unwrap();
        let expected =
            [r#"Thinking("hm")"#, r#"Text("Hel")"#, r#"Text("lo")"#, r#"ToolName("look")"#];
        assert_eq!(heard, expected, "{protocol:?}");
        assert_eq!(answer.text(), "Hello");
        let Block::ToolCall { id, name, arguments } = &answer.blocks[1] else { panic!() };
        assert_eq!((name.as_str(), arguments), ("look", &json!({"at": "sky"})));
        assert!(!id.is_empty());
        assert_eq!(answer.stop, Stop::ToolUse);
        assert_eq!(
            (answer.usage.read(), answer.usage.output),
            match protocol {
                Protocol::Anthropic => (117, 9),
                _ => (112, 9),
            }
        );
        assert_eq!(answer.request_id.as_deref(), Some("req_7"));
        assert!(!answer.model.is_empty());
        let sent = &server.requests()[0].body;
        assert_eq!((&sent["model"], &sent["stream"]), (&json!("small"), &json!(true)));
    }
}

#[test]
fn tokens_from_a_cache_are_counted_once() {
    let server = Server::start(vec![stream(OPENAI)]);
    let usage = ask(&chat(Protocol::OpenAi, &server)).unwrap().usage;
    assert_eq!(usage, Usage { input: 12, output: 9, cache_read: 100, cache_write: 0 });
    let server = Server::start(vec![stream(ANTHROPIC)]);
    let usage = ask(&chat(Protocol::Anthropic, &server)).unwrap().usage;
    assert_eq!(usage, Usage { input: 12, output: 9, cache_read: 100, cache_write: 5 });
}

#[test]
fn anthropic_is_asked_in_its_own_way() {
    let body = body_of(Protocol::Anthropic, "claude-haiku-4-5");
    assert_eq!(body["max_tokens"], 64);
    assert_eq!(body["stream"], true);
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert!(body["system"][1].get("cache_control").is_none());
    assert!(body["system"][2]["text"].as_str().unwrap().contains("JSON"));
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"at": "sky"}));
    let result = &body["messages"][2]["content"][0];
    assert_eq!((&result["type"], &result["tool_use_id"]), (&json!("tool_result"), &json!("t1")));
    assert_eq!(result["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
}

#[test]
fn openai_and_its_relatives_are_asked_each_in_their_way() {
    let body = body_of(Protocol::OpenAi, "gpt-4o-mini");
    assert_eq!(body["max_completion_tokens"], 64);
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert_eq!(body["messages"][0]["role"], "system");
    let call = &body["messages"][2]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], r#"{"at":"sky"}"#);
    assert_eq!(
        body["messages"][3],
        json!({"role": "tool", "tool_call_id": "t1", "content": "blue"})
    );
    assert_eq!(body["response_format"]["type"], "json_object");
    assert_eq!(body["temperature"], 0.5);
    assert!(body_of(Protocol::OpenAi, "gpt-5.4-mini").get("temperature").is_none());
    assert!(body_of(Protocol::OpenAi, "o3").get("temperature").is_none());
    let local = body_of(Protocol::LmStudio, "qwen");
    assert_eq!(local["max_tokens"], 64);
    assert!(local.get("response_format").is_none());
}

#[test]
fn ollama_gets_a_window_that_holds_the_request() {
    let body = body_of(Protocol::Ollama, "llama3.2");
    assert_eq!(body["options"]["num_ctx"], 4096);
    assert_eq!(body["options"]["num_predict"], 64);
    assert_eq!(body["truncate"], false);
    assert_eq!(body["format"], "json");
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], json!({"at": "sky"}));
    assert_eq!(body["messages"][3]["tool_name"], "look");
    let model = ChatEndpoint::new(Protocol::Ollama, "box", "llama3.2");
    let model = HttpChat::new(model, no_wait()).unwrap();
    let preview = model.preview(&ChatRequest::of(&"word ".repeat(6000), 1000));
    assert_eq!(preview.body["options"]["num_ctx"], 16384);
    assert_eq!(preview.url, "http://box:11434/api/chat");
}

#[test]
fn a_caller_can_stop_and_keeps_what_came() {
    for protocol in ALL {
        let server = Server::start(vec![stream(recorded(protocol))]);
        let answer = chat(protocol, &server)
            .complete(&ChatRequest::of("hi", 9), &mut |delta| match delta {
                Delta::Text(_) => Flow::Stop,
                _ => Flow::Go,
            })
            .unwrap();
        assert_eq!((answer.text().as_str(), answer.stop), ("Hel", Stop::Cancelled), "{protocol:?}");
    }
}

#[test]
fn a_busy_server_is_asked_again_after_the_time_it_names() {
    let busy = Answer { headers: "retry-after: 7\r\n", ..answer(429, "slow down") };
    let server = Server::start(vec![busy, answer(529, "{}"), stream(ANTHROPIC)]);
    let noted = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&noted);
    let sleep: Sleep = Box::new(move |wait| note.lock().unwrap().push(wait));
    let model = HttpChat::new(endpoint(Protocol::Anthropic, &server), sleep).unwrap();
    assert_eq!(ask(&model).unwrap().text(), "Hello");
    let noted = noted.lock().unwrap();
    assert_eq!(noted[0], Duration::from_secs(7));
    assert!((750..=1000).contains(&noted[1].as_millis()), "{noted:?}");
}

#[test]
fn a_server_that_stays_broken_is_given_up_after_five_tries() {
    let server = Server::start(vec![answer(503, r#"{"error":{"message":"loading model"}}"#)]);
    let error = ask(&chat(Protocol::OpenAiShaped, &server)).unwrap_err();
    assert_eq!(server.requests().len(), 5);
    let host = server.base.trim_start_matches("http://");
    let expected = format!("could not ask small: {host} responded with 503: loading model");
    assert_eq!((error.to_string(), error.kind()), (expected, ErrorKind::Unavailable));
}

#[test]
fn a_stream_cut_short_is_never_taken_for_an_answer() {
    for protocol in ALL {
        let whole = recorded(protocol);
        let half = &whole[..whole.find("lo\"").unwrap()];
        let server = Server::start(vec![stream(half), stream(whole)]);
        let error = ask(&chat(protocol, &server)).unwrap_err();
        assert!(matches!(error, Error::Cut { .. }), "{error:?}");
        assert_eq!(server.requests().len(), 1, "the caller has heard a part already");
    }
}

#[test]
fn a_quiet_call_asks_again_for_an_answer_cut_short() {
    let half = &ANTHROPIC[..ANTHROPIC.find("event: message_delta").unwrap()];
    let server = Server::start(vec![stream(half), stream(ANTHROPIC)]);
    let model = chat(Protocol::Anthropic, &server);
    assert_eq!(model.complete_quietly(&ChatRequest::of("hi", 9)).unwrap().text(), "Hello");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_error_inside_a_stream_is_told_by_what_it_says() {
    let overloaded = r#"event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"#;
    let error = error_of(Protocol::Anthropic, overloaded);
    assert!(
        matches!(&error, Error::GaveUp { message, .. } if message == "Overloaded (request req_7)")
    );
    let broke = "data: {\"error\":{\"code\":402,\"message\":\"no credits\"},\"choices\":[]}\n\n";
    assert!(matches!(error_of(Protocol::OpenRouter, broke), Error::NoCredit { .. }));
    let long = r#"{"error":"the input length exceeds the context length"}"#;
    assert_eq!(error_of(Protocol::Ollama, long).kind(), ErrorKind::TooLong);
}

#[test]
fn answers_that_cannot_be_used_are_named() {
    let page =
        Answer { headers: "content-type: text/html\r\n", ..answer(200, "<html>Log in</html>") };
    let json = Answer { headers: "content-type: application/json\r\n", ..answer(200, "{}") };
    for (given, why) in [
        (page, "a web page"),
        (stream("<html>"), "a web page"),
        (json, "not a stream"),
        (stream("data: {\"choices\":[\n\n"), "EOF while parsing"),
        (stream("data: garbage\n\n"), "expected value"),
        (
            stream("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"),
            "it is empty",
        ),
        (stream(&format!("data: {}\n\n", "x".repeat(10 << 20))), "larger than 4194304 bytes"),
    ] {
        let server = Server::start(vec![given]);
        let error = ask(&chat(Protocol::OpenAi, &server)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadAnswer, "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(server.requests().len(), 1, "a bad answer is not asked for again");
    }
}

#[test]
fn an_answer_of_many_small_pieces_is_bounded_too() {
    let piece = format!("{{\"message\":{{\"content\":\"{}\"}}}}\n", "x".repeat(1000));
    let server = Server::start(vec![stream(&piece.repeat(300))]);
    let limits = ChatLimits { largest_answer: 100_000, ..ChatLimits::default() };
    let settings = ChatEndpoint { limits, ..endpoint(Protocol::Ollama, &server) };
    let error = ask(&HttpChat::new(settings, no_wait()).unwrap()).unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 100_000, .. }), "{error:?}");
}

#[test]
fn a_model_that_declines_is_an_error_unless_it_has_said_something() {
    let refusal = "data: {\"choices\":[{\"delta\":{\"refusal\":\"I cannot.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let error = error_of(Protocol::OpenAi, refusal);
    assert_eq!(
        (error.kind(), error.to_string().contains("I cannot.")),
        (ErrorKind::Declined, true)
    );
    let midway = ANTHROPIC.replace("\"stop_reason\":\"tool_use\"", "\"stop_reason\":\"refusal\"");
    let server = Server::start(vec![stream(&midway)]);
    let model = chat(Protocol::Anthropic, &server);
    assert_eq!(ask(&model).unwrap().stop, Stop::Refusal);
    let error = model.complete_quietly(&ChatRequest::of("hi", 9)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Declined);
}

#[test]
fn refusals_of_the_server_are_final_and_say_what_to_do() {
    for (status, body, kind, hint) in [
        (401, r#"{"error":{"message":"bad key"}}"#, ErrorKind::NoAccess, "OPENAI_API_KEY"),
        (402, "{}", ErrorKind::NoAccess, "credit"),
        (404, r#"{"error":{"message":"no such model"}}"#, ErrorKind::NoSuchModel, "serves small"),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
            ErrorKind::TooLong,
            "",
        ),
    ] {
        let server = Server::start(vec![answer(status, body)]);
        let key_from = Some("OPENAI_API_KEY in the environment".to_owned());
        let settings = ChatEndpoint { key_from, ..endpoint(Protocol::OpenAi, &server) };
        let error = ask(&HttpChat::new(settings, no_wait()).unwrap()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.hint().unwrap_or_default().contains(hint), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
    let server = Server::start(vec![answer(404, r#"{"error":"model 'small' not found"}"#)]);
    let error = ask(&chat(Protocol::Ollama, &server)).unwrap_err();
    assert!(error.hint().unwrap().contains("`ollama pull small`"));
}

#[test]
fn a_silent_or_missing_server_is_unavailable() {
    let silent = Server::start(Vec::new());
    let first_token = Duration::from_millis(50);
    let limits = ChatLimits { first_token, tries: 2, ..ChatLimits::default() };
    let settings = ChatEndpoint { limits, ..endpoint(Protocol::Anthropic, &silent) };
    let error = ask(&HttpChat::new(settings, no_wait()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let gone = ChatEndpoint::new(Protocol::Ollama, &nobody(), "small");
    let error = ask(&HttpChat::new(gone, no_wait()).unwrap()).unwrap_err();
    assert!(error.hint().unwrap().contains("ollama serve"));
}

#[test]
fn a_key_goes_to_the_server_and_nowhere_else() {
    let echo = format!(r#"{{"error":{{"message":"{}wrong key {KEY}"}}}}"#, "x".repeat(180));
    for (protocol, header) in [(Protocol::Anthropic, "x-api-key: "), (Protocol::OpenAi, "Bearer ")]
    {
        let server = Server::start(vec![answer(401, &echo), stream(&format!("data: {echo}\n\n"))]);
        let settings = ChatEndpoint { key: Some(ApiKey::new(KEY)), ..endpoint(protocol, &server) };
        let model = HttpChat::new(settings, no_wait()).unwrap();
        for _ in 0..2 {
            let error = ask(&model).unwrap_err();
            assert!(!format!("{error} {error:?} {:?}", error.hint()).contains("sk-"), "{error}");
        }
        let preview = model.preview(&rich());
        assert!(!format!("{preview:?}").contains("sk-"));
        assert!(format!("{preview:?}").contains("***"));
        assert!(server.requests()[0].head.contains(&format!("{header}{KEY}")));
    }
}
