//! The embedders behind HTTP endpoints, against a server on the loopback.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod support;

use hermes_llm::{
    ApiKey, Embedder, Error, ErrorKind, HttpEmbedder, HttpModel, Limits, Prefixes, Purpose, Sleep,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Answer, Server, answer, nobody};

const TWO: &str = r#"{"data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[0,2]}]}"#;
const KEY: &str = "sk-very-secret-0123456789";

fn waits() -> (Sleep, Arc<Mutex<Vec<Duration>>>) {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&noted);
    (Box::new(move |wait| note.lock().unwrap().push(wait)), noted)
}

fn no_wait() -> Sleep {
    Box::new(|_| {})
}

fn model(server: &Server) -> HttpModel {
    HttpModel::new(&server.base, "small")
}

fn openai(server: &Server) -> HttpEmbedder {
    HttpEmbedder::openai(model(server), no_wait()).unwrap()
}

/// The error of asking for two vectors when the server answers this.
fn error_of(body: &str) -> Error {
    let server = Server::start(vec![answer(200, body)]);
    let error = openai(&server).embed(&["a", "b"], Purpose::Query).unwrap_err();
    assert_eq!(server.requests().len(), 1, "a bad answer is not asked for again");
    error
}

#[test]
fn openai_vectors_come_with_length_one() {
    let server = Server::start(vec![answer(200, TWO)]);
    let vectors = openai(&server).embed(&["a", "b"], Purpose::Document).unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]]);
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/embeddings "), "{}", request.head);
    assert_eq!(request.body["model"], "small");
    assert_eq!(request.body["input"], serde_json::json!(["a", "b"]));
    assert!(request.body.get("dimensions").is_none());
    assert!(!request.head.to_lowercase().contains("authorization"));
}

#[test]
fn vectors_out_of_order_are_put_in_order() {
    let body = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;
    let server = Server::start(vec![answer(200, body)]);
    let vectors = openai(&server).embed(&["a", "b"], Purpose::Query).unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]]);
}

#[test]
fn texts_go_in_batches_and_blank_ones_do_not_go_at_all() {
    let one = r#"{"data":[{"index":0,"embedding":[1,0]}]}"#;
    let server = Server::start(vec![answer(200, TWO), answer(200, one)]);
    let settings = HttpModel { batch: 2, ..model(&server) };
    let embedder = HttpEmbedder::openai(settings, no_wait()).unwrap();
    let vectors = embedder.embed(&["a", " \n", "b", "c", ""], Purpose::Document).unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.requests()[1].body["input"], serde_json::json!(["c"]));
    assert_eq!(embedder.embed(&[], Purpose::Query).unwrap(), Vec::<Vec<f32>>::new());
    let error = embedder.embed(&[" "], Purpose::Query).unwrap_err();
    assert!(matches!(error, Error::NoText { .. }));
}

#[test]
fn a_busy_server_is_asked_again_after_the_time_it_names() {
    let busy = Answer { headers: "retry-after: 7\r\n", ..answer(429, "slow down") };
    let server = Server::start(vec![busy, answer(503, "{}"), answer(200, TWO)]);
    let (sleep, noted) = waits();
    let embedder = HttpEmbedder::openai(model(&server), sleep).unwrap();
    assert_eq!(embedder.embed(&["a", "b"], Purpose::Query).unwrap().len(), 2);
    let noted = noted.lock().unwrap();
    assert_eq!(noted[0], Duration::from_secs(7));
    assert!((750..=1000).contains(&noted[1].as_millis()), "{noted:?}");
}

#[test]
fn a_server_that_stays_broken_is_given_up_after_four_tries() {
    let server = Server::start(vec![answer(500, r#"{"error":{"message":"it\nburns"}}"#)]);
    let error = openai(&server).embed(&["a"], Purpose::Query).unwrap_err();
    assert_eq!(server.requests().len(), 4);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let host = server.base.trim_start_matches("http://");
    let expected = format!("could not embed with small: {host} responded with 500: it burns");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn no_wait_is_longer_than_the_deadline() {
    let busy = Answer { headers: "retry-after: 600\r\n", ..answer(429, "later") };
    let server = Server::start(vec![busy]);
    let (sleep, noted) = waits();
    let embedder = HttpEmbedder::openai(model(&server), sleep).unwrap();
    let error = embedder.embed(&["a"], Purpose::Query).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(noted.lock().unwrap().is_empty());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn answers_that_cannot_be_used_are_named() {
    let bad = [
        (r#"{"data":[{"index":0,"embedding":[3,4]}]}"#, "1 vectors for 2 texts"),
        (r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#, "given twice"),
        (r#"{"data":[{"index":0,"embedding":[1]},{"index":9,"embedding":[1]}]}"#, "out of range"),
        (r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[]}]}"#, "empty"),
        (r#"{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}"#, "expected"),
        (r#"{"data":[{"index":0,"embedding":[1e99]},{"index":1,"embedding":[1]}]}"#, "number"),
        (r#"{"error":{"message":"no credit left"}}"#, "no credit left"),
        ("<html>", "expected value"),
    ];
    for (body, why) in bad {
        let error = error_of(body);
        assert_eq!(error.kind(), ErrorKind::BadAnswer, "{body}");
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn vectors_of_another_width_are_refused() {
    let uneven = r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}"#;
    assert_eq!(error_of(uneven).kind(), ErrorKind::DimensionMismatch);

    let server = Server::start(vec![answer(200, TWO)]);
    let settings = HttpModel { dimensions: Some(512), ..model(&server) };
    let embedder = HttpEmbedder::openai(settings, no_wait()).unwrap();
    let error = embedder.embed(&["a", "b"], Purpose::Query).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DimensionMismatch);
    assert!(error.hint().unwrap().contains("512"));
    assert_eq!(server.requests()[0].body["dimensions"], 512);
}

#[test]
fn a_server_that_is_down_or_silent_is_unavailable() {
    let down = HttpEmbedder::ollama(HttpModel::new(&nobody(), "small"), no_wait()).unwrap();
    let error = down.embed(&["a"], Purpose::Query).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.hint().unwrap().contains("ollama serve"));

    let silent = Server::start(Vec::new());
    let limits = Limits { request: Duration::from_millis(50), ..Limits::default() };
    let settings = HttpModel { limits, ..model(&silent) };
    let embedder = HttpEmbedder::openai(settings, no_wait()).unwrap();
    let error = embedder.embed(&["a"], Purpose::Query).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

#[test]
fn a_key_goes_to_the_server_and_nowhere_else() {
    let echo = format!(r#"{{"error":{{"message":"{}wrong key {KEY}"}}}}"#, "x".repeat(180));
    let server = Server::start(vec![answer(401, &echo)]);
    let settings = HttpModel { key: Some(ApiKey::new(&format!("{KEY}\n"))), ..model(&server) };
    assert!(!format!("{settings:?}").contains("secret"));
    let embedder = HttpEmbedder::openai(settings, no_wait()).unwrap();
    let error = embedder.embed(&["a"], Purpose::Query).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAccess);
    assert!(!format!("{error} {error:?} {:?}", error.hint()).contains("sk-"), "{error}");
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "a refusal is not asked for again");
    assert!(requests[0].head.contains(&format!("Bearer {KEY}")));
}

#[test]
fn a_key_that_no_header_can_hold_is_refused_before_it_is_sent() {
    let key = Some(ApiKey::new("sk-one\nsk-two"));
    let settings = HttpModel { key, ..HttpModel::new("http://host", "m") };
    let error = HttpEmbedder::openai(settings, no_wait()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NoAccess);
    assert!(!format!("{error} {error:?}").contains("sk-"));
}

#[test]
fn a_refusal_is_final_and_its_message_is_cut() {
    for (status, kind) in [
        (400, ErrorKind::Refused),
        (403, ErrorKind::NoAccess),
        (404, ErrorKind::NoSuchModel),
        (302, ErrorKind::Refused),
    ] {
        let server = Server::start(vec![answer(status, &"long ".repeat(200))]);
        let error = openai(&server).embed(&["a"], Purpose::Query).unwrap_err();
        assert_eq!(server.requests().len(), 1);
        assert_eq!(error.kind(), kind);
        assert!(matches!(&error, Error::Refused { message, .. } if message.len() == 200));
    }
}

#[test]
fn ollama_is_asked_in_its_own_way() {
    let body = r#"{"model":"x","embeddings":[[3,4]]}"#;
    let server = Server::start(vec![answer(200, body)]);
    let address = server.base.trim_start_matches("http://");
    let settings = HttpModel::new(address, "nomic-embed-text");
    let embedder = HttpEmbedder::ollama(settings, no_wait()).unwrap();
    assert_eq!(embedder.embed(&["a"], Purpose::Query).unwrap(), [[0.6, 0.8]]);
    assert_eq!(embedder.embed(&["a"], Purpose::Document).unwrap(), [[0.6, 0.8]]);
    let requests = server.requests();
    assert!(requests[0].head.starts_with("POST /api/embed "));
    assert_eq!(requests[0].body["input"][0], "search_query: a");
    assert_eq!(requests[1].body["input"][0], "search_document: a");
    assert_eq!(embedder.id().prefixes, Prefixes::for_model("nomic-embed-text"));
}

#[test]
fn a_model_ollama_does_not_have_can_be_pulled() {
    let server = Server::start(vec![answer(404, r#"{"error":"model not found"}"#)]);
    let embedder = HttpEmbedder::ollama(model(&server), no_wait()).unwrap();
    let error = embedder.embed(&["a"], Purpose::Query).unwrap_err();
    assert!(error.to_string().ends_with("responded with 404: model not found"));
    assert!(error.hint().unwrap().contains("`ollama pull small`"));
}

#[test]
fn voyage_is_told_the_purpose() {
    let one = r#"{"data":[{"index":0,"embedding":[0,5]}]}"#;
    let server = Server::start(vec![answer(200, one)]);
    let settings = HttpModel { dimensions: Some(2), ..model(&server) };
    let embedder = HttpEmbedder::voyage(settings, no_wait()).unwrap();
    embedder.embed(&["a"], Purpose::Query).unwrap();
    embedder.embed(&["a"], Purpose::Document).unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].body["input_type"], "query");
    assert_eq!(requests[1].body["input_type"], "document");
    assert_eq!(requests[1].body["output_dimension"], 2);
}

#[test]
fn an_address_that_is_none_is_refused_without_showing_a_password() {
    for base in ["", "ftp://user:hunter2@host", "user:hunter2@host", "http://"] {
        let error = HttpEmbedder::openai(HttpModel::new(base, "m"), no_wait()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
