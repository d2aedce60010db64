//! The tools that an assistant's messages call, and whether they failed.

use hermes_store::memory::{Step, echo};
use serde_json::{Map, Value};

/// A call of a tool, with the id its answer carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    /// Whether the answer comes from a memory.
    pub(crate) asks_memory: bool,
}

/// Longer texts in arguments are cut: what a tool was called with is told, not kept whole.
const LONGEST_ARGUMENT: usize = 300;

impl Call {
    /// The step this call is, once it is known how it went.
    pub(crate) fn step(&self, failed: bool) -> Step {
        Step { message: 0, tool: self.tool.clone(), arguments: self.arguments.clone(), failed }
    }
}

/// The calls in a list as the common programs write it: with `function`, or with `name` and `input`.
pub(crate) fn calls(tool_calls: &Value) -> Vec<Call> {
    match tool_calls {
        Value::Array(calls) => calls.iter().filter_map(call).collect(),
        one => call(one).into_iter().collect(),
    }
}

/// Whether what a tool answered says that it failed.
pub(crate) fn reports_failure(answer: &str) -> bool {
    let answer = answer.trim();
    if let Some(object) = object_of(answer) {
        return says_failure(&object);
    }
    let begins = ["Error", "ERROR", "error:", "Traceback"];
    begins.iter().any(|word| answer.starts_with(word)) || has_bad_exit_code(answer)
}

fn call(value: &Value) -> Option<Call> {
    let function = value.get("function").unwrap_or(value);
    let tool = function.get("name").and_then(Value::as_str)?.to_owned();
    let said = ["arguments", "input", "args"].iter().find_map(|key| function.get(key));
    let arguments = match said {
        None => Value::Object(Map::new()),
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
    };
    let ids = ["id", "call_id", "tool_call_id"];
    let id = ids.iter().find_map(|key| value.get(key)).and_then(Value::as_str).map(str::to_owned);
    let asks_memory = echo::answers_from_memory(&tool) || echo::reads_memory(&arguments);
    // What a memory is asked or told is in the memory itself: a copy would outlive its erasure.
    let arguments = if asks_memory { Value::Object(Map::new()) } else { shortened(arguments) };
    Some(Call { id, tool, arguments: arguments.to_string(), asks_memory })
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.chars().nth(LONGEST_ARGUMENT).is_some() => {
            Value::String(text.chars().take(LONGEST_ARGUMENT).chain(['…']).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(shortened).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, shortened(value))).collect())
        }
        other => other,
    }
}

fn object_of(answer: &str) -> Option<Map<String, Value>> {
    if !answer.starts_with('{') {
        return None;
    }
    serde_json::from_str(answer).ok()
}

fn says_failure(object: &Map<String, Value>) -> bool {
    let is = |key: &str, wanted: bool| object.get(key).and_then(Value::as_bool) == Some(wanted);
    let code = |key: &&str| object.get(*key).and_then(Value::as_i64).is_some_and(|code| code != 0);
    let has_error = match object.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(_) => true,
    };
    is("is_error", true)
        || is("isError", true)
        || is("success", false)
        || ["exit_code", "exitCode", "returncode"].iter().any(code)
        || has_error
}

/// A line `exit code: 1`, first or last, as shells report it.
fn has_bad_exit_code(answer: &str) -> bool {
    let code = |line: &str| {
        let line = line.trim().to_lowercase();
        let rest =
            line.strip_prefix("exit code").or_else(|| line.strip_prefix("exited with code"))?;
        let digits = rest.trim_start_matches([':', ' ']);
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let ends = [answer.lines().next(), answer.lines().next_back()];
    ends.into_iter().flatten().filter_map(code).any(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_in_every_common_form() {
        let read = calls(&json!([
            {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": 2}"}},
            {"id": "2", "name": "run", "input": {"command": "ls"}},
            {"name": "bare"},
            {"nothing": true},
        ]));
        let told: Vec<_> = read.iter().map(|c| (c.tool.as_str(), c.arguments.as_str())).collect();
        assert_eq!(told, [("look", r#"{"at":2}"#), ("run", r#"{"command":"ls"}"#), ("bare", "{}")]);
        assert_eq!(read[1].id.as_deref(), Some("2"));
    }

    #[test]
    fn what_a_memory_was_asked_or_told_is_not_kept_a_second_time() {
        let read = calls(&json!([
            {"name": "mcp__hermes__memory_add", "input": {"text": "the safe is behind the piano"}},
            {"name": "Bash", "input": {"command": "hermes memory search piano"}},
        ]));
        assert!(read.iter().all(|call| call.asks_memory && call.arguments == "{}"), "{read:?}");
    }

    #[test]
    fn long_arguments_are_cut_and_stay_json() {
        let read = calls(&json!([{"name": "write", "input": {"text": "x".repeat(9000)}}]));
        assert!(read[0].arguments.len() < 400);
        assert!(serde_json::from_str::<Value>(&read[0].arguments).is_ok());
    }

    #[test]
    fn failures_are_known_by_what_they_say() {
        for bad in [
            "Error: no such file",
            "Traceback (most recent call last):\n  x",
            r#"{"is_error": true}"#,
            r#"{"output": "", "exit_code": 2, "error": null}"#,
            r#"{"error": "no"}"#,
            r#"{"success": false}"#,
            "make: *** failed\nexit code: 2",
            "Exit code 1\nboom",
        ] {
            assert!(reports_failure(bad), "{bad}");
        }
        for good in [
            "",
            "all well, no Error",
            r#"{"output": "x", "exit_code": 0, "error": null}"#,
            r#"{"success": true, "error": ""}"#,
            "exit code: 0",
            "{not json",
        ] {
            assert!(!reports_failure(good), "{good}");
        }
    }
}
