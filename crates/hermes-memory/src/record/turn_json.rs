//! A turn as JSON: what programs send, and what waits in a file.

use std::borrow::Cow;

use hermes_store::memory::Chat;
use hermes_store::sessions::COMMAND_LINE;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::line::{role_of, session_of, string, time_of, word};
use super::turn::{Caller, Identity, Turn, TurnMessage};
use crate::identity;

type Object = Map<String, Value>;

/// Who can speak in a turn.
const ROLES: [&str; 4] = ["user", "assistant", "tool", "system"];

impl Turn {
    /// Reads a turn, or says what is wrong with it; keys it does not know are left alone.
    pub fn from_json(value: &Value, zone: &TimeZone) -> Result<Turn, String> {
        let object = value.as_object().ok_or("not a JSON object")?;
        let messages = match object.get("messages") {
            Some(Value::Array(messages)) => messages.as_slice(),
            _ => return Err("`messages` is missing or not a list".to_owned()),
        };
        let read = |(number, message): (usize, &Value)| {
            message_of(message, zone).map_err(|why| format!("message {}: {why}", number + 1))
        };
        Ok(Turn {
            session_id: session_of(object)?,
            channel: channel_of(object)?,
            identity: identity_of(object)?,
            user: user_of(object)?,
            agent: word(object, "agent")?,
            project: word(object, "project")?,
            messages: messages.iter().enumerate().map(read).collect::<Result<_, _>>()?,
            from: word(object, "from")?.map_or(Caller::OurOwn, Caller::Other),
            ended: flag(object, "ended")?.unwrap_or(false),
        })
    }

    /// The turn as [`Turn::from_json`] reads it.
    pub fn to_json(&self) -> Value {
        let identity = self.identity.as_ref().map(|identity| {
            let chat = match identity.chat {
                Chat::Direct => "direct",
                Chat::Group => "group",
            };
            json!({"id": identity.native_id, "chat": chat, "name": identity.name})
        });
        let from = match &self.from {
            Caller::OurOwn | Caller::OurChat => None,
            Caller::Other(name) => Some(name),
        };
        json!({
            "session_id": self.session_id, "channel": self.channel, "identity": identity,
            "user": self.user, "agent": self.agent, "project": self.project, "from": from,
            "ended": self.ended,
            "messages": self.messages.iter().map(message_json).collect::<Vec<_>>(),
        })
    }
}

fn message_of(value: &Value, zone: &TimeZone) -> Result<TurnMessage, String> {
    let object = value.as_object().ok_or("not a JSON object")?;
    let role = word(object, "role")?.ok_or("`role` is missing or empty")?;
    let role = role_of(&role);
    if !ROLES.contains(&role.as_str()) {
        return Err(format!("`role` is not one of {}: {role:?}", ROLES.join(", ")));
    }
    let text = match string(object, "text")? {
        Some(text) => text,
        None => string(object, "content")?.unwrap_or_default(),
    };
    Ok(TurnMessage {
        role,
        text,
        tool_name: word(object, "tool_name")?,
        tool_calls: object.get("tool_calls").filter(|calls| !calls.is_null()).cloned(),
        tool_call_id: word(object, "tool_call_id")?,
        at: object.get("timestamp").map(|at| time_of(at, zone)).transpose()?.flatten(),
        external_id: word(object, "external_id")?,
        failed: flag(object, "failed")?,
    })
}

fn message_json(message: &TurnMessage) -> Value {
    json!({
        "role": message.role, "text": message.text, "tool_name": message.tool_name,
        "tool_calls": message.tool_calls, "tool_call_id": message.tool_call_id,
        "timestamp": message.at.map(|at| at.to_string()), "external_id": message.external_id,
        "failed": message.failed,
    })
}

impl<'de> Deserialize<'de> for Identity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Identity, D::Error> {
        let object = Object::from_iter([("identity".to_owned(), Value::deserialize(from)?)]);
        let read = identity_of(&object).map_err(D::Error::custom)?;
        read.ok_or_else(|| D::Error::custom("`identity` is missing"))
    }
}

impl JsonSchema for Identity {
    fn schema_name() -> Cow<'static, str> {
        "Identity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Somebody as a channel knows them: an id, or an id with more about it.",
            "anyOf": [
                {
                    "description": "The id alone: somebody who speaks alone with the agent.",
                    "type": "string",
                },
                {
                    "description": "The id, and whether it was in a group.",
                    "type": "object",
                    "properties": {
                        "id": { "description": "The id.", "type": "string" },
                        "chat": {
                            "description": "`direct` or `group`.",
                            "type": "string", "enum": ["direct", "group"], "default": "direct",
                        },
                    },
                    "required": ["id"],
                },
            ],
        })
    }
}

fn identity_of(object: &Object) -> Result<Option<Identity>, String> {
    let inside = match object.get("identity") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(inside)) => inside,
        // The id alone: somebody who speaks alone with the agent.
        Some(_) => {
            let native_id = who_of(object, "identity")?;
            return Ok(Some(Identity { native_id, chat: Chat::Direct, name: None }));
        }
    };
    let chat = match word(inside, "chat")?.as_deref() {
        None | Some("direct" | "dm" | "private") => Chat::Direct,
        Some(_) => Chat::Group,
    };
    let native_id = who_of(inside, "id").map_err(|why| format!("`identity`: {why}"))?;
    Ok(Some(Identity { native_id, chat, name: word(inside, "name")? }))
}

/// Somebody's id: whoever is named is not taken for nobody because the name cannot be read.
fn who_of(object: &Object, key: &str) -> Result<String, String> {
    let id = string(object, key)?.ok_or_else(|| format!("`{key}` is missing"))?;
    match identity::fault(&id) {
        None => Ok(id),
        Some(why) => Err(format!("`{key}` {why}")),
    }
}

fn channel_of(object: &Object) -> Result<String, String> {
    let channel = word(object, "channel")?.unwrap_or_else(|| COMMAND_LINE.to_owned());
    match identity::fault(&channel) {
        None => Ok(channel),
        Some(why) => Err(format!("`channel` {why}")),
    }
}

fn user_of(object: &Object) -> Result<Option<String>, String> {
    let Some(name) = string(object, "user")? else { return Ok(None) };
    match name.parse::<hermes_home::UserId>() {
        Ok(name) => Ok(Some(name.to_string())),
        Err(why) => Err(format!("`user`: {why}")),
    }
}

fn flag(object: &Object, key: &str) -> Result<Option<bool>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(said)) => Ok(Some(*said)),
        Some(_) => Err(format!("`{key}` is not true or false")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(value: &Value) -> Result<Turn, String> {
        Turn::from_json(value, &TimeZone::UTC)
    }

    #[test]
    fn a_turn_needs_little() {
        let turn =
            read(&json!({"messages": [{"role": "human", "content": "hi"}], "x": 1})).unwrap();
        assert_eq!((turn.channel.as_str(), &turn.from), ("cli", &Caller::OurOwn));
        assert_eq!(
            (turn.messages[0].role.as_str(), turn.messages[0].text.as_str()),
            ("user", "hi")
        );
    }

    #[test]
    fn somebody_is_named_by_an_id_or_by_all_that_is_known() {
        let turn = |identity: Value| read(&json!({"messages": [], "identity": identity}));
        let alone = turn(json!(42)).unwrap().identity.unwrap();
        assert_eq!((alone.native_id.as_str(), alone.chat), ("42", Chat::Direct));
        let group = turn(json!({"id": "u", "chat": "supergroup", "name": "Ana"})).unwrap();
        assert_eq!(group.identity.unwrap().chat, Chat::Group);
        assert!(turn(json!({"chat": "group"})).is_err_and(|why| why.contains("`id`")));
        for unreadable in [json!(""), json!(" "), json!({"id": ""}), json!("a\u{1f}b"), json!([])] {
            assert!(turn(unreadable.clone()).is_err(), "{unreadable} is nobody, not the owner");
        }
        assert!(read(&json!({"messages": [], "user": ""})).is_err());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let fault = |value: Value| read(&value).unwrap_err();
        assert_eq!(fault(json!([])), "not a JSON object");
        assert!(fault(json!({})).contains("messages"));
        assert!(
            fault(json!({"messages": [{"role": "user"}, {"text": "x"}]})).contains("message 2")
        );
        assert!(fault(json!({"messages": [], "user": "a/b"})).contains("user"));
        assert!(fault(json!({"messages": [], "ended": "yes"})).contains("ended"));
        assert!(fault(json!({"messages": [{"role": "usr", "text": "x"}]})).contains("\"usr\""));
        for session in ["", " ", "a\nb", "a\u{7f}"] {
            assert!(fault(json!({"messages": [], "session_id": session})).contains("session_id"));
        }
    }

    #[test]
    fn the_schema_names_everything_that_is_read() {
        let turn = read(&json!({"messages": [{"role": "user", "text": "hi"}]})).unwrap().to_json();
        let names = |value: &Value| {
            let mut names: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            names.sort();
            names
        };
        let schema = schemars::schema_for!(Turn).to_value();
        assert_eq!(names(&schema["properties"]), names(&turn));
        let message = &schema["$defs"]["MessageBody"];
        assert_eq!(names(&message["properties"]), names(&turn["messages"][0]));
        assert_eq!(message["required"], json!(["role", "text"]));
        assert_eq!(schema.get("required"), None, "each may stand in `turns` instead");
    }

    #[test]
    fn whoever_asks_is_read_as_in_a_turn() {
        let who = |value: Value| serde_json::from_value::<Identity>(value);
        assert_eq!(who(json!("u")).unwrap().chat, Chat::Direct);
        assert_eq!(who(json!({"id": "u", "chat": "group"})).unwrap().chat, Chat::Group);
        assert!(who(json!("")).is_err_and(|why| why.to_string().contains("`identity`")));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            texts in proptest::collection::vec(any::<String>(), 0..4),
            session in proptest::option::of("[a-z]{1,5}"), group in any::<bool>(), other in any::<bool>(),
        ) {
            let chat = if group { Chat::Group } else { Chat::Direct };
            let turn = Turn {
                session_id: session,
                channel: "telegram".to_owned(),
                identity: Some(Identity { native_id: "42".to_owned(), chat, name: Some("Ana".to_owned()) }),
                user: None,
                agent: Some("a".to_owned()),
                project: None,
                messages: texts.iter().map(|text| TurnMessage {
                    tool_calls: Some(json!([{"name": "look"}])),
                    at: Some("2026-05-01T10:00:00.123Z".parse().unwrap()),
                    failed: Some(true),
                    ..TurnMessage::text("assistant", text)
                }).collect(),
                from: if other { Caller::Other("x".to_owned()) } else { Caller::OurOwn },
                ended: group,
            };
            prop_assert_eq!(read(&turn.to_json()).unwrap(), turn);
        }
    }
}
