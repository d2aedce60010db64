//! The end of a transcript: the last prompt, the last answer, and the ids by which an import knows them.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

/// What the end of a transcript says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) prompt: Option<Said>,
    pub(crate) answer: Option<Said>,
}

/// A text with its id in the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) id: Option<String>,
}

/// How much of the end is looked at.
const LOOKED_AT: u64 = 512 * 1024;

/// Reads the end of a transcript of Claude Code or Codex; what is not there or not understood is left out.
pub(crate) fn tail(path: &Path) -> Tail {
    let mut tail = Tail::default();
    let mut answer_of = None;
    for line in end_of(path).unwrap_or_default().lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let Some((role, said, message)) = said(&value) else { continue };
        if role == "user" {
            tail = Tail { prompt: Some(said), answer: None };
            answer_of = None;
            continue;
        }
        // One message of the assistant may stand on several lines; an import knows it by the first.
        match tail.answer.as_mut().filter(|_| message.is_some() && answer_of == message) {
            Some(answer) => answer.text = format!("{}\n{}", answer.text, said.text),
            None => tail.answer = Some(said),
        }
        answer_of = message;
    }
    tail
}

fn end_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Who said what in a line, and of which message of theirs it is a part.
fn said(line: &Value) -> Option<(&str, Said, Option<String>)> {
    let is_true = |key: &str| line[key].as_bool() == Some(true);
    match line["type"].as_str()? {
        role @ ("user" | "assistant") if !is_true("isMeta") && !is_true("isSidechain") => {
            let text = plain(&line["message"]["content"])?;
            let id = line["uuid"].as_str().map(str::to_owned);
            let message = line["message"]["id"].as_str().map(str::to_owned);
            Some((role, Said { text, id }, message))
        }
        "event_msg" => {
            let role = match line["payload"]["type"].as_str()? {
                "user_message" => "user",
                "agent_message" => "assistant",
                _ => return None,
            };
            let text = line["payload"]["message"].as_str()?.to_owned();
            Some((role, Said { text, id: None }, None))
        }
        _ => None,
    }
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
        let found = tail(&path);
        assert_eq!(found.prompt, Some(Said { text: "second".into(), id: Some("u2".into()) }));
        assert_eq!(found.answer, Some(Said { text: "two\nthree".into(), id: Some("a2".into()) }));
        assert_eq!(tail(&folder.path().join("none")), Tail::default());
    }
}
