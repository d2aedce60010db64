//! Tests of how turns are told: by their own hook, by others, from a transcript that is behind or ahead.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::hooks::event::{Caller, Moment};

/// A session with a transcript that can be written.
struct Case {
    _folder: tempfile::TempDir,
    path: PathBuf,
    session: Session,
}

impl Case {
    /// A prompt came when the transcript held so much.
    fn asked(prompt: &str, before: &[Value]) -> Case {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut case = Case { _folder: folder, path, session: Session::default() };
        case.write(before);
        let event = Event {
            session: Some("s".into()),
            prompt: Some(prompt.into()),
            transcript: Some(case.path.clone()),
            ..Event::new("UserPromptSubmit", Moment::Prompt)
        };
        case.session.meet(Caller::ClaudeCode, &event);
        case.session.begin(&event, now());
        case
    }

    #[expect(clippy::disallowed_methods, reason = "tests write files as another program would")]
    fn write(&self, lines: &[Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.path, text).unwrap();
    }

    fn tell(&mut self, because: Because) -> Vec<(String, String)> {
        assert_eq!(tell(&mut self.session, because, now()), None);
        self.told()
    }

    fn stop(&mut self, answer: Option<&str>) -> Vec<(String, String)> {
        let event = Event { answer: answer.map(str::to_owned), ..Event::new("Stop", Moment::Stop) };
        assert_eq!(stop(&mut self.session, &event, now()), None);
        self.told()
    }

    /// Texts and ids of what is told; ids of our own without what chance and time made of them.
    fn told(&mut self) -> Vec<(String, String)> {
        let told = std::mem::take(&mut self.session.told);
        let messages = told.iter().flat_map(|turn| turn["messages"].as_array().unwrap().clone());
        let pair = |message: Value| {
            let id = message["external_id"].as_str().unwrap();
            let id = if id.starts_with("hook:") { "ours" } else { id }.to_owned();
            (message["text"].as_str().unwrap().to_owned(), id)
        };
        messages.map(pair).collect()
    }
}

fn now() -> Timestamp {
    crate::clock::now()
}

fn user(id: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": id, "message": {"content": text}})
}

fn assistant(id: &str, text: &str, stop_reason: Option<&str>) -> Value {
    let content = [json!({"type": "text", "text": text})];
    json!({"type": "assistant", "uuid": id, "message": {"id": id, "stop_reason": stop_reason, "content": content}})
}

fn pairs(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    wanted.iter().map(|(text, id)| ((*text).to_owned(), (*id).to_owned())).collect()
}

#[test]
fn a_turn_is_made_of_what_is_known_best() {
    let whole = pairs(&[("a prompt", "u1"), ("an answer", "a1")]);
    let lines = [user("u1", "a prompt"), assistant("a1", "an answer", None)];
    let mut case = Case::asked("a prompt", &[]);
    case.write(&lines);
    assert_eq!(case.stop(Some("an answer")), whole);
    assert!(!case.session.is_open());
    // Nobody noted the prompt, or somebody else has told the turn by now: the same ids.
    assert_eq!(case.stop(None), whole);
    assert_eq!(case.stop(Some("an answer")), whole);
    // A transcript that lags tells of the turn before.
    let mut late = Case::asked(
        "a prompt",
        &[user("u0", "an earlier one"), assistant("a0", "its answer", None)],
    );
    assert_eq!(late.stop(Some("an answer")), pairs(&[("a prompt", "ours"), ("an answer", "ours")]));
    let mut silent = Case::asked("a prompt", &[]);
    silent.session.transcript = None;
    silent.session.close();
    assert!(silent.stop(None).is_empty());
}

#[test]
fn an_answer_that_is_not_in_the_transcript_yet_is_taken_from_there_later() {
    let before = [user("u0", "go on"), assistant("a0", "done", Some("end_turn"))];
    let mut case = Case::asked("go on", &before);
    assert!(case.stop(None).is_empty());
    assert!(case.session.is_open());
    assert!(case.tell(Because::PassingBy).is_empty());
    let mut lines = before.to_vec();
    lines.push(user("u1", "go on"));
    case.write(&lines);
    assert!(case.tell(Because::PassingBy).is_empty());
    lines.push(assistant("a1", "done again", None));
    case.write(&lines);
    assert_eq!(case.tell(Because::PassingBy), pairs(&[("go on", "u1"), ("done again", "a1")]));
    assert!(case.tell(Because::PassingBy).is_empty());
}

#[test]
fn somebody_who_passes_by_leaves_a_turn_alone_that_goes_on() {
    let mut case = Case::asked("a prompt", &[]);
    let mut lines = vec![user("u1", "a prompt"), assistant("a1", "I shall look.", None)];
    case.write(&lines);
    assert!(case.tell(Because::PassingBy).is_empty());
    lines.push(
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}}),
    );
    lines.push(json!({"type": "assistant", "isSidechain": true, "uuid": "x", "message": {"stop_reason": "end_turn", "content": [{"type": "text", "text": "inner"}]}}));
    case.write(&lines);
    assert!(case.tell(Because::PassingBy).is_empty());
    lines.push(assistant("a2", "It is 7.", Some("end_turn")));
    case.write(&lines);
    assert_eq!(case.tell(Because::PassingBy), pairs(&[("a prompt", "u1"), ("It is 7.", "a2")]));
}

#[test]
fn the_next_prompt_and_the_end_tell_what_is_there_and_no_more() {
    let mut case = Case::asked("a prompt", &[]);
    case.write(&[user("u1", "a prompt"), assistant("a1", "half", None), user("u2", "another")]);
    assert_eq!(case.tell(Because::NextPrompt), pairs(&[("a prompt", "u1"), ("half", "a1")]));
    let mut unanswered = Case::asked("a prompt", &[]);
    assert!(unanswered.tell(Because::NextPrompt).is_empty());
    let mut ended = Case::asked("a prompt", &[]);
    ended.session.is_ended = true;
    assert!(ended.tell(Because::Ended).is_empty());
    assert!(ended.session.is_ended, "the answer may still come");
    ended.write(&[user("u1", "a prompt"), assistant("a1", "an answer", None)]);
    tell(&mut ended.session, Because::PassingBy, now());
    assert_eq!(ended.session.told.len(), 2);
    assert_eq!(ended.session.told[1]["ended"], true);
    assert!(!ended.session.is_ended && !ended.session.is_open());
}

#[test]
fn a_turn_of_another_prompt_does_not_take_this_ones_answer() {
    let mut case = Case::asked("first", &[]);
    case.session.turn = Some("p1".into());
    case.write(&[user("u1", "first"), assistant("a1", "one", None)]);
    let event = Event {
        turn: Some("p2".into()),
        answer: Some("two".into()),
        ..Event::new("Stop", Moment::Stop)
    };
    stop(&mut case.session, &event, now());
    let told = case.told();
    assert_eq!(told[..2], pairs(&[("first", "u1"), ("one", "a1")]));
    assert!(told[2..].contains(&("two".to_owned(), "ours".to_owned())), "{told:?}");
}
