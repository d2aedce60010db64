//! What the model is told about the tools.

use hermes_llm::chat::Tool;
use serde_json::{Value, json};

/// The descriptions of all tools, always in the same order and the same words.
pub(super) fn tools() -> Vec<Tool> {
    vec![read_file(), write_file(), patch(), list_files(), grep(), terminal()]
}

fn read_file() -> Tool {
    tool(
        "read_file",
        "Read a text file. Every line comes with its number and a tab, which are not part of the file.",
        &json!({
            "path": text("The file, relative to the working folder"),
            "first": number("The first line wanted; 1 if it is left out"),
            "lines": number("How many lines; as many as fit if it is left out"),
            "from_byte": number("Begin at this byte instead of a line: for very large files"),
        }),
        &["path"],
    )
}

fn write_file() -> Tool {
    tool(
        "write_file",
        "Write a file whole, new or in place of an old one. The user sees the difference and decides. To change a part of a file, use patch.",
        &json!({
            "path": text("The file, relative to the working folder; missing folders are made"),
            "content": text("Everything the file will hold"),
        }),
        &["path", "content"],
    )
}

fn patch() -> Tool {
    tool(
        "patch",
        "Replace a piece of a text file by another. The old text must stand in the file exactly once, with the same white space. The user sees the difference and decides.",
        &json!({
            "path": text("The file, relative to the working folder"),
            "old": text("The text that goes, with enough around it to be found once"),
            "new": text("The text that comes in its place"),
            "all": {"type": "boolean", "description": "Replace it wherever it stands"},
        }),
        &["path", "old", "new"],
    )
}

fn list_files() -> Tool {
    tool(
        "list_files",
        "List files and folders below a folder, without those that .gitignore names.",
        &json!({
            "path": text("The folder; the working folder if it is left out"),
            "pattern": text("Only paths like this, such as *.rs or src/**/test_*.py"),
            "depth": number("How many levels of folders; all if it is left out"),
        }),
        &[],
    )
}

fn grep() -> Tool {
    tool(
        "grep",
        "Find lines in files by a regular expression, without files that .gitignore names.",
        &json!({
            "pattern": text("A regular expression in Rust's syntax, without look-around"),
            "path": text("A file or folder; the working folder if it is left out"),
            "files": text("Only files like this, such as *.rs"),
            "ignore_case": {"type": "boolean", "description": "Whether A is found as a too"},
            "around": number("How many lines to show before and after each; 0 if it is left out"),
        }),
        &["pattern"],
    )
}

fn terminal() -> Tool {
    tool(
        "terminal",
        "Run a shell command in the working folder. The user sees it and decides. It has no input, ends after a time-out with everything it started, sees no API keys, and usually can change only what is in the working folder and reach no network.",
        &json!({
            "command": text("One line for the shell"),
            "timeout_s": number("End it after so many seconds, if that is less than the setting"),
        }),
        &["command"],
    )
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    }
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "integer", "description": description, "minimum": 0})
}
