//! Events of Claude Code, and of Codex, which has the same form.

use serde_json::{Map, Value, json};

use super::event::{Event, Moment, text};

pub(super) fn read(object: &Map<String, Value>) -> Option<Event> {
    let name = text(object, "hook_event_name")?;
    let moment = match name.as_str() {
        "SessionStart" => Moment::Start,
        "UserPromptSubmit" => Moment::Prompt,
        "Stop" => Moment::Stop,
        "SessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    Some(Event {
        session: text(object, "session_id"),
        turn: text(object, "prompt_id").or_else(|| text(object, "turn_id")),
        folder: text(object, "cwd").map(Into::into),
        prompt: text(object, "prompt"),
        answer: text(object, "last_assistant_message"),
        transcript: text(object, "transcript_path").map(Into::into),
        is_inner: object.contains_key("agent_id"),
        ..Event::new(&name, moment)
    })
}

pub(super) fn answer(event: &Event, context: Option<&str>) -> Option<Value> {
    let output = json!({"hookEventName": event.name, "additionalContext": context?});
    Some(json!({"hookSpecificOutput": output}))
}
