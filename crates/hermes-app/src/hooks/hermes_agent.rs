//! Events of the shell hooks of Hermes Agent, for who uses these instead of the provider plugin.

use serde_json::{Map, Value, json};

use super::event::{Event, Moment, text};

pub(super) fn read(object: &Map<String, Value>) -> Option<Event> {
    let name = text(object, "hook_event_name")?;
    let moment = match name.as_str() {
        "pre_llm_call" => Moment::Prompt,
        "post_llm_call" => Moment::Stop,
        "on_session_end" => Moment::End,
        _ => Moment::Other,
    };
    let extra = object.get("extra").and_then(Value::as_object).cloned().unwrap_or_default();
    let any = |keys: &[&str]| keys.iter().find_map(|key| text(&extra, key));
    Some(Event {
        session: text(object, "session_id"),
        turn: text(&extra, "turn_id"),
        folder: text(object, "cwd").map(Into::into),
        prompt: any(&["user_message", "original_user_message"]),
        answer: any(&["assistant_response", "response", "final_response"]),
        ..Event::new(&name, moment)
    })
}

pub(super) fn answer(context: Option<&str>) -> Option<Value> {
    context.map(|context| json!({"context": context}))
}
