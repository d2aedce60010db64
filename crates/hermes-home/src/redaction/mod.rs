//! Secrets in texts: finds them by form, by name and by randomness, and puts a name in their place.

mod checks;
mod kinds;
mod said;
mod search;

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What kind it is: `github-token`.
    pub kind: &'static str,
    /// Where it stands.
    pub place: Range<usize>,
}

/// What is done with secrets in what is recorded: the setting `recording.secrets`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A name stands in place of each; the words around stay.
    #[default]
    Redact,
    /// They are kept in clear.
    Keep,
    /// What holds one is not recorded.
    Refuse,
}

/// What is kept of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// All of it, as it is.
    AsItIs,
    /// This, with names in place of secrets.
    Redacted(String),
    /// Nothing, because of a secret of this kind.
    Refused(&'static str),
}

impl Policy {
    /// What is kept of a text.
    pub fn keep(self, text: &str) -> Kept {
        match self {
            Policy::Keep => Kept::AsItIs,
            Policy::Redact => match redact(text) {
                Cow::Borrowed(_) => Kept::AsItIs,
                Cow::Owned(clean) => Kept::Redacted(clean),
            },
            Policy::Refuse => match find(text).first() {
                None => Kept::AsItIs,
                Some(found) => Kept::Refused(found.kind),
            },
        }
    }

    /// The text as it may be kept and shown beside what is kept: without secrets, unless they are kept in clear.
    pub fn clean(self, text: &str) -> Cow<'_, str> {
        match self {
            Policy::Keep => Cow::Borrowed(text),
            Policy::Redact | Policy::Refuse => redact(text),
        }
    }

    /// The text to be kept; none if it is refused.
    pub fn clean_or_refuse(self, text: &str) -> Option<Cow<'_, str>> {
        match self.keep(text) {
            Kept::AsItIs => Some(Cow::Borrowed(text)),
            Kept::Redacted(clean) => Some(Cow::Owned(clean)),
            Kept::Refused(_) => None,
        }
    }

    /// A text of JSON without secrets, which stays JSON.
    pub fn clean_json(self, text: &str) -> String {
        if self == Policy::Keep || !has_secret(text) {
            return text.to_owned();
        }
        match serde_json::from_str(text) {
            Ok(value) => redact_value(value).to_string(),
            Err(_) => redact(text).into_owned(),
        }
    }
}

/// How what stands in place of a secret begins.
pub const MARK: &str = "[secret: ";

/// All secrets of a text, in order and apart.
pub fn find(text: &str) -> Vec<Found> {
    search::find(text)
}

/// Whether a text holds a secret.
pub fn has_secret(text: &str) -> bool {
    !find(text).is_empty()
}

/// Whether a text holds a secret, or stood around one.
pub fn tells_of_secret(text: &str) -> bool {
    text.contains(MARK) || has_secret(text)
}

/// The text with `[secret: github-token]` and the like in place of its secrets; the words around stay.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = without(text, &found);
    // What is left can stand in another light once its neighbour is gone.
    for _ in 0..MOST_ROUNDS {
        found = find(&clean);
        if found.is_empty() {
            break;
        }
        clean = without(&clean, &found);
    }
    Cow::Owned(clean)
}

const MOST_ROUNDS: usize = 4;

fn without(text: &str, found: &[Found]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for Found { kind, place } in found {
        clean.push_str(&text[from..place.start]);
        clean.push_str(MARK);
        clean.push_str(kind);
        clean.push(']');
        from = place.end;
    }
    clean.push_str(&text[from..]);
    clean
}

/// A value with every text in it redacted. A name of a field counts as a name before its text.
pub fn redact_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text).into_owned()),
        Value::Array(values) => Value::Array(values.into_iter().map(redact_value).collect()),
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(name, value)| redact_field(name, value)).collect(),
        ),
        other => other,
    }
}

fn redact_field(name: String, value: Value) -> (String, Value) {
    let Value::String(text) = value else { return (name, redact_value(value)) };
    // `{"password": "hunter2"}`: the text alone says nothing.
    let before = format!("{name}: ");
    let named = find(&format!("{before}{text}"));
    let as_value = |found: &Found| found.place.start == before.len();
    let clean = match named.first().filter(|found| as_value(found)) {
        Some(found) if found.place.end == before.len() + text.len() => {
            format!("{MARK}{}]", found.kind)
        }
        _ => redact(&text).into_owned(),
    };
    (name, Value::String(clean))
}

#[cfg(test)]
mod tests;
