//! Events of Cursor: other names, and only the beginning of a session takes in a context.

use serde_json::{Map, Value, json};

use super::event::{Event, Moment, text};

pub(super) fn read(object: &Map<String, Value>) -> Option<Event> {
    let name = text(object, "hook_event_name")?;
    let moment = match name.as_str() {
        "sessionStart" => Moment::Start,
        "beforeSubmitPrompt" => Moment::Prompt,
        "afterAgentResponse" => Moment::Answer,
        "stop" => Moment::Stop,
        "sessionEnd" => Moment::End,
        _ => Moment::Other,
    };
    let roots = object.get("workspace_roots").and_then(Value::as_array);
    let first = roots.and_then(|roots| roots.first()).and_then(Value::as_str);
    Some(Event {
        session: text(object, "conversation_id").or_else(|| text(object, "session_id")),
        turn: text(object, "generation_id"),
        folder: first.map(Into::into),
        prompt: text(object, "prompt"),
        answer: text(object, "text"),
        transcript: text(object, "transcript_path").map(Into::into),
        ..Event::new(&name, moment)
    })
}

pub(super) fn answer(event: &Event, context: Option<&str>) -> Option<Value> {
    match event.moment {
        Moment::Start => context.map(|context| json!({"additional_context": context})),
        Moment::Prompt => Some(json!({"continue": true})),
        _ => None,
    }
}
