//! A conversation for programs: one event a line, as JSON.

use std::io::{self, Write};

use hermes_agent::approval::{Request, Verdict};
use serde_json::{Value, json};

use super::{Event, Front, Input, plain};

/// Standard input and output as lines of JSON.
pub(crate) struct Events {
    /// One message and no more; none: every line of standard input is one.
    one: Option<Option<String>>,
}

impl Events {
    /// Every line of standard input is a message: plain text, or `{"text": …}`.
    pub(crate) fn lines() -> Events {
        Events { one: None }
    }

    /// This message and no more.
    pub(crate) fn one(text: String) -> Events {
        Events { one: Some(Some(text)) }
    }
}

impl Front for Events {
    fn read(&mut self) -> anyhow::Result<Input> {
        if let Some(one) = &mut self.one {
            return Ok(one.take().map_or(Input::End, Input::Line));
        }
        let input = plain::read_line()?;
        Ok(match input {
            Input::Line(line) => Input::Line(said(&line).unwrap_or(line)),
            other => other,
        })
    }

    fn show(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        let mut out = io::stdout();
        writeln!(out, "{}", value(event))?;
        Ok(out.flush()?)
    }

    fn ask(&mut self, _request: &Request) -> Verdict {
        Verdict::No { reason: Some("nobody is there to be asked".to_owned()) }
    }

    fn confirm(&mut self, _question: &str, _detail: &str) -> bool {
        false
    }

    fn is_interactive(&self) -> bool {
        false
    }
}

/// The text of a line that is a JSON object.
fn said(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line.trim()).ok().filter(Value::is_object)?;
    value.get("text")?.as_str().map(str::to_owned)
}

/// An event as JSON.
pub(crate) fn value(event: &Event<'_>) -> Value {
    match event {
        Event::Began { session, model, is_resumed } => {
            json!({"event": "began", "session": session, "model": model, "resumed": is_resumed})
        }
        Event::Recalled { items, tokens } => {
            json!({"event": "recalled", "items": items, "tokens": tokens})
        }
        Event::Text(text) => json!({"event": "text", "text": text}),
        Event::TextEnd => json!({"event": "text_end"}),
        Event::ToolBegins { call, describe } => json!({
            "event": "tool_begins", "id": call.id, "tool": call.name, "input": call.input, "describes": describe,
        }),
        Event::ToolEnded { call, outcome } => json!({
            "event": "tool_ended", "id": call.id, "tool": call.name, "failed": outcome.is_error,
            "text": outcome.text, "shown": outcome.shown,
        }),
        Event::Remembered { id, text, undo } => {
            json!({"event": "remembered", "id": id, "text": text, "can_undo": undo})
        }
        Event::Notice(text) => json!({"event": "notice", "text": text}),
        Event::Output(text) => {
            json!({"event": "output", "text": anstream::adapter::strip_str(text).to_string()})
        }
        Event::Problem(problem) => json!({"event": "problem", "error": problem}),
        Event::TurnEnded(figures) => json!({"event": "turn_ended", "figures": figures}),
        Event::Ended { session, turns } => {
            json!({"event": "ended", "session": session, "turns": turns})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_be_plain_or_an_object_with_a_text() {
        assert_eq!(said("{\"text\": \"hi\"}").as_deref(), Some("hi"));
        assert_eq!(said("hi"), None);
        assert_eq!(said("{\"other\": 1}"), None);
        assert_eq!(said("\"hi\""), None);
    }

    #[test]
    fn every_event_says_which_it_is() {
        let event = value(&Event::Recalled { items: 2, tokens: 30 });
        assert_eq!(event, json!({"event": "recalled", "items": 2, "tokens": 30}));
    }
}
