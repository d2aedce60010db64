//! An exported session as a conversation to read: the common ground of Markdown and HTML.

use hermes_store::sessions::shown_user;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::clock;

/// One exported session, ready to be written as a page.
pub(crate) struct Conversation {
    pub id: String,
    pub title: String,
    /// Source, user, model and times, as name and value.
    pub details: Vec<(&'static str, String)>,
    pub messages: Vec<Line>,
}

/// One message of it.
pub(crate) struct Line {
    pub role: String,
    pub when: String,
    /// Why the message is not in the agent's window, if it is not.
    pub state: Option<&'static str>,
    pub text: String,
    /// The tools the assistant called here, with their arguments.
    pub calls: Vec<String>,
}

impl Conversation {
    /// Reads the object that `sessions export` writes for a session.
    pub(crate) fn of(session: &Value, zone: &TimeZone) -> Conversation {
        let text = |key: &str| session[key].as_str().filter(|text| !text.is_empty());
        let time = |key: &str| shown_time(&session[key], zone);
        let id = text("id").unwrap_or("unknown").to_owned();
        let details = [
            ("id", Some(id.clone())),
            ("source", text("source").map(str::to_owned)),
            ("user", text("user_id").map(|user| shown_user(user).to_owned())),
            ("model", text("model").map(str::to_owned)),
            ("started", time("started_at")),
            ("ended", time("ended_at")),
            ("continues", text("parent_session_id").map(str::to_owned)),
        ];
        let rows = session["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        Conversation {
            title: text("title").unwrap_or(&id).to_owned(),
            details: details.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            messages: rows.iter().map(|message| Line::of(message, zone)).collect(),
            id,
        }
    }
}

impl Line {
    fn of(message: &Value, zone: &TimeZone) -> Line {
        let role = message["role"].as_str().unwrap_or("unknown");
        let role = match message["tool_name"].as_str() {
            Some(tool) if role == "tool" => format!("tool {tool}"),
            _ => role.to_owned(),
        };
        let is = |key: &str, value: i64| message[key].as_i64() == Some(value);
        let state = match (is("active", 0), is("compacted", 1)) {
            (true, true) => Some("compacted"),
            (true, false) => Some("rewound"),
            _ => None,
        };
        let when = shown_time(&message["timestamp"], zone);
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        Line {
            role,
            when: when.unwrap_or_default(),
            state,
            text: text_of(&message["content"]),
            calls: calls.iter().map(call).collect(),
        }
    }
}

fn shown_time(seconds: &Value, zone: &TimeZone) -> Option<String> {
    seconds.as_f64().and_then(clock::from_seconds).map(|moment| clock::minute(moment, zone))
}

/// The words of a message: text as it is, of structured content its text parts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        other => part(other),
    }
}

fn part(part: &Value) -> String {
    match (part["text"].as_str(), part["type"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(kind)) => format!("[{kind}]"),
        (None, None) => part.to_string(),
    }
}

fn call(call: &Value) -> String {
    let function = &call["function"];
    let name = function["name"].as_str().or(call["name"].as_str()).unwrap_or("tool");
    let arguments =
        if function["arguments"].is_null() { &call["arguments"] } else { &function["arguments"] };
    match arguments {
        Value::Null => name.to_owned(),
        Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    }
}
