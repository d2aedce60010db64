//! Knows a command of ours when it stands in another program's file.

use serde_json::Value;

/// What the program is called.
const NAMES: &[&str] = &["hermes", "hermes.exe"];
/// Flags that stand before the verb and take a value.
const FLAGS: &[&str] = &["--home", "--profile", "-p"];

/// Whether a value is an entry of ours: every command in it, and at least one, is `hermes hook …` or `hermes mcp`.
pub fn is_ours(value: &Value) -> bool {
    let mut commands = Vec::new();
    collect(value, &mut commands);
    !commands.is_empty() && commands.iter().all(|command| is_our_command(&command.words))
}

/// Which elements of a list are ours.
pub fn elements(list: &Value) -> Vec<usize> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_it = |(place, item): (usize, &Value)| is_ours(item).then_some(place);
    items.iter().enumerate().filter_map(is_it).collect()
}

/// A command as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command, word by word.
    pub words: Vec<String>,
    /// What a shell is given by an agent that knows `command` alone.
    pub line: Option<String>,
    /// Whether `args` stand beside the line.
    pub has_args: bool,
    /// Whether the agent goes on without waiting for it.
    pub is_async: bool,
}

impl Command {
    /// Whether it is a hook, and not a server.
    pub fn is_hook(&self) -> bool {
        self.words.iter().any(|word| word == "hook")
    }
}

/// Every command of ours in a value.
pub fn commands(value: &Value) -> Vec<Command> {
    let mut commands = Vec::new();
    collect(value, &mut commands);
    commands.retain(|command| is_our_command(&command.words));
    commands
}

fn collect(value: &Value, found: &mut Vec<Command>) {
    match value {
        Value::Object(keys) => {
            if let Some(command) = keys.get("command").or_else(|| keys.get("cmd")) {
                found.push(Command {
                    words: words(command, keys.get("args")),
                    line: command.as_str().map(str::to_owned),
                    has_args: keys.contains_key("args"),
                    is_async: keys.get("async") == Some(&Value::Bool(true)),
                });
                return;
            }
            keys.values().for_each(|inner| collect(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, found)),
        _ => {}
    }
}

fn words(command: &Value, arguments: Option<&Value>) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    match (command, arguments) {
        (Value::String(program), Some(arguments)) => {
            [vec![program.clone()], texts(arguments)].concat()
        }
        (Value::String(line), None) => split(line),
        (list, _) => texts(list),
    }
}

fn is_our_command(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    if !NAMES.contains(&name) {
        return false;
    }
    let mut rest = rest.iter().map(String::as_str);
    let mut verb = rest.next();
    while let Some(flag) = verb.filter(|word| word.starts_with('-')) {
        if FLAGS.contains(&flag) {
            rest.next();
        }
        verb = rest.next();
    }
    // Hermes Agent has a program of the same name, and serves its own tools with `hermes mcp serve`.
    match verb {
        Some("hook") => true,
        Some("mcp") => rest.next() != Some("serve"),
        _ => false,
    }
}

/// A command line as a shell would split it: blanks, and quotes of both kinds.
pub fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (end, Some(open)) if end == open => quote = None,
            ('\\', None | Some('"')) => word.extend(letters.next()),
            (other, Some(_)) => word.push(other),
            ('\'' | '"', None) => (quote, begun) = (Some(letter), true),
            (blank, None) if blank.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (other, None) => word.push(other),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_of_ours_are_known_in_every_form() {
        for ours in [
            json!({"command": "/opt/x/hermes", "args": ["hook", "claude-code"]}),
            json!({"hooks": [{"type": "command", "command": "/opt/hermes", "args": ["hook", "x"]}]}),
            json!({"command": "'/opt/my programs/hermes' --home '/a b' hook codex"}),
            json!({"type": "local", "command": ["/opt/hermes", "--profile", "work", "mcp"]}),
            json!({"cmd": "hermes", "args": ["-p", "x", "mcp"]}),
        ] {
            assert!(is_ours(&ours), "{ours}");
        }
    }

    #[test]
    fn what_others_wrote_is_not_ours() {
        for theirs in [
            json!({"command": "hermes", "args": ["mcp", "serve"]}),
            json!({"command": "/usr/bin/hermes-x", "args": ["mcp"]}),
            json!({"command": "hermes", "args": ["chat"]}),
            json!({"hooks": [{"command": "hermes hook codex"}, {"command": "say done"}]}),
            json!({"url": "http://127.0.0.1"}),
            json!("hermes mcp"),
        ] {
            assert!(!is_ours(&theirs), "{theirs}");
        }
    }
}
