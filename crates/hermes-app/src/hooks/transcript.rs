//! The end of a transcript: the last prompt, the last answer, and the ids by which an import knows them.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

/// One turn as a transcript tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    pub prompt: Option<Said>,
    pub answer: Option<Said>,
    /// Whether the answer is the last of its turn, as far as the transcript says so.
    pub is_over: bool,
}

/// A text with its id in the transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub text: String,
    pub id: Option<String>,
    pub at: Option<Timestamp>,
    /// Where its line begins in the transcript.
    pub place: u64,
}

/// How much of the end is looked at.
const LOOKED_AT: u64 = 512 * 1024;

/// The last turn in a transcript of Claude Code or Codex; what is not there or not understood is left out.
pub(crate) fn tail(path: &Path) -> Tail {
    turns(path).pop().unwrap_or_default()
}

/// The turn of a prompt that came when the transcript was so long: by its text, else by where its answer stands.
pub(crate) fn turn_of(path: &Path, prompt: &str, length: u64) -> Option<Tail> {
    let turns = turns(path);
    let is_asked =
        |turn: &&Tail| turn.prompt.as_ref().is_some_and(|said| said.text.trim() == prompt.trim());
    let is_since = |turn: &&Tail| turn.answer.as_ref().is_some_and(|said| said.place >= length);
    let mut found = turns.iter().rfind(|turn| is_asked(turn) && is_since(turn));
    found = found.or_else(|| turns.iter().rfind(is_since));
    found.or_else(|| turns.iter().rfind(|turn| is_asked(turn) && turn.answer.is_none())).cloned()
}

/// The turns at the end of a transcript.
fn turns(path: &Path) -> Vec<Tail> {
    let (text, mut place) = end_of(path).unwrap_or_default();
    let mut turns = vec![Tail::default()];
    let mut answer_of = None;
    for line in text.split_inclusive('\n') {
        let begins = place;
        place += line.len() as u64;
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let Some(turn) = turns.last_mut().filter(|_| !is_aside(&value)) else { continue };
        turn.is_over = turn.answer.is_some() && ends(&value).unwrap_or(turn.is_over);
        let Some((role, mut said, message)) = said(&value) else { continue };
        said.place = begins;
        if role == "user" {
            turn.is_over = turn.answer.is_some();
            turns.push(Tail { prompt: Some(said), ..Tail::default() });
            answer_of = None;
            continue;
        }
        turn.is_over = ends(&value).unwrap_or_default();
        // One message of the assistant may stand on several lines; an import knows it by the first.
        match turn.answer.as_mut().filter(|_| message.is_some() && answer_of == message) {
            Some(answer) => answer.text = format!("{}\n{}", answer.text, said.text),
            None => turn.answer = Some(said),
        }
        answer_of = message;
    }
    turns
}

/// Whether a line is nobody's words: a remark for the model, or the work of a part of the agent.
fn is_aside(line: &Value) -> bool {
    ["isMeta", "isSidechain"].iter().any(|key| line[key].as_bool() == Some(true))
}

/// Whether a line ends its turn; none where it says nothing about that.
fn ends(line: &Value) -> Option<bool> {
    match (line["type"].as_str()?, line["payload"]["type"].as_str()) {
        ("assistant", _) => {
            let why = line["message"]["stop_reason"].as_str();
            Some(matches!(why, Some("end_turn" | "stop_sequence" | "max_tokens" | "refusal")))
        }
        ("user", _) => Some(false),
        ("event_msg", Some("task_complete" | "turn_complete")) => Some(true),
        _ => None,
    }
}

/// The end of a file as text, and where it begins; a pipe or a device is not read.
fn end_of(path: &Path) -> std::io::Result<(String, u64)> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        return Ok(Default::default());
    }
    let mut file = File::open(path)?;
    let from = found.len().saturating_sub(LOOKED_AT);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), from))
}

/// Who said what in a line, and of which message of theirs it is a part.
fn said(line: &Value) -> Option<(&str, Said, Option<String>)> {
    match line["type"].as_str()? {
        role @ ("user" | "assistant") => {
            let text = plain(&line["message"]["content"])?;
            let id = line["uuid"].as_str().map(str::to_owned);
            let message = line["message"]["id"].as_str().map(str::to_owned);
            Some((role, Said { text, id, at: time(line), place: 0 }, message))
        }
        "event_msg" => {
            let role = match line["payload"]["type"].as_str()? {
                "user_message" => "user",
                "agent_message" => "assistant",
                _ => return None,
            };
            let text = line["payload"]["message"].as_str()?.to_owned();
            Some((role, Said { text, id: None, at: time(line), place: 0 }, None))
        }
        _ => None,
    }
}

fn time(line: &Value) -> Option<Timestamp> {
    line["timestamp"].as_str()?.parse().ok()
}

/// The text of a message; the answers of tools are none.
fn plain(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests write files as another program would")]
    fn the_last_prompt_and_its_answer_are_found_whatever_else_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let lines = [
            r#"torn": 1}"#,
            r#"{"type":"user","uuid":"u1","message":{"content":"first"}}"#,
            r#"{"type":"assistant","uuid":"a1","message":{"id":"m1","content":[{"type":"text","text":"one"}]}}"#,
            r#"{"type":"user","uuid":"u2","message":{"content":[{"type":"text","text":"second"}]}}"#,
            r#"{"type":"user","uuid":"u3","isMeta":true,"message":{"content":"a remark"}}"#,
            r#"{"type":"assistant","uuid":"a2","message":{"id":"m2","content":[{"type":"text","text":"two"}]}}"#,
            r#"{"type":"assistant","uuid":"a3","message":{"id":"m2","content":[{"type":"tool_use"}]}}"#,
            r#"{"type":"user","uuid":"u4","message":{"content":[{"type":"tool_result","content":"x"}]}}"#,
            r#"{"type":"assistant","uuid":"a4","message":{"id":"m2","content":[{"type":"text","text":"three"}]}}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let known = |said: Option<Said>| said.map(|said| (said.text, said.id.unwrap()));
        let found = tail(&path);
        assert!(!found.is_over);
        assert_eq!(known(found.prompt), Some(("second".into(), "u2".into())));
        assert_eq!(known(found.answer), Some(("two\nthree".into(), "a2".into())));
        assert_eq!(tail(&folder.path().join("none")), Tail::default());
        let first = turn_of(&path, "first", 0).unwrap();
        assert_eq!(known(first.answer), Some(("one".into(), "a1".into())));
        let length = std::fs::metadata(&path).unwrap().len();
        assert_eq!(turn_of(&path, "third", length), None);
        let last = r#"{"type":"assistant","uuid":"a5","message":{"id":"m5","stop_reason":"end_turn","content":[{"type":"text","text":"four"}]}}"#;
        std::fs::write(&path, format!("{}\n{last}\n", lines.join("\n"))).unwrap();
        let other = turn_of(&path, "/third", length).unwrap();
        assert_eq!(
            (known(other.answer), other.is_over),
            (Some(("four".into(), "a5".into())), true)
        );
    }
}
