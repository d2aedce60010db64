//! Anthropic's memory tool, over the memory files.

use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, WholeText};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Scoped;
use super::tool::{CHANGES, Entry, Told, arguments, schema};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind as Failed, Problem};
use hermes_app::rules;

/// The one tool.
pub(super) const ALL: &[Entry] = &[Entry {
    name: "memory",
    title: "Memory files",
    about: "Read and change the files /memories/MEMORY.md and /memories/USER.md: view, create, str_replace, insert.",
    hints: CHANGES,
    schema: schema::<FileCommand>,
    run: file_command,
}];

#[derive(Debug, Deserialize, JsonSchema)]
struct FileCommand {
    /// view, create, str_replace or insert
    command: String,
    /// /memories, /memories/MEMORY.md or /memories/USER.md
    path: String,
    /// create: the whole text
    file_text: Option<String>,
    /// str_replace: what stands there, exactly once
    old_str: Option<String>,
    /// str_replace: what is to stand there
    new_str: Option<String>,
    /// insert: after which line; 0 is the beginning
    insert_line: Option<usize>,
    /// insert: what
    insert_text: Option<String>,
}

fn file_command(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: FileCommand = arguments(value)?;
    if asked.path.trim_end_matches('/') == "/memories" && asked.command == "view" {
        let text = "/memories/MEMORY.md\n/memories/USER.md".to_owned();
        return Ok(Told { value: json!({ "text": text }), text });
    }
    let target = match asked.path.as_str() {
        "/memories/MEMORY.md" => MemoryTarget::Memory,
        "/memories/USER.md" => scoped.whom.user_file(),
        other => {
            return Err(Problem::new(Failed::NotFound, format!("there is no file {other}"))
                .hint("the files are /memories/MEMORY.md and /memories/USER.md")
                .into());
        }
    };
    if asked.command != "view" {
        scoped.whom.may_write(&target)?;
    }
    let (app, home) = (&seat.app, &seat.home);
    let context = rules::of_change(app, home, &target, &app.actor)?;
    let read = memory_file::read(home, &target, context.rules)?;
    let before = read.document.text().to_owned();
    let text = match asked.command.as_str() {
        "view" => return Ok(Told { value: json!({ "text": before }), text: before }),
        "create" => asked.file_text.unwrap_or_default(),
        "str_replace" => replaced(&before, asked.old_str.as_deref(), asked.new_str.as_deref())?,
        "insert" => inserted(&before, asked.insert_line, asked.insert_text.as_deref())?,
        other => {
            return Err(Problem::usage(format!("{other:?} is not supported here"))
                .hint("use view, create, str_replace or insert; files are not deleted or renamed")
                .into());
        }
    };
    let whole = WholeText { text: &text, expected_hash: &read.hash };
    memory_file::replace_whole(home, &target, &context, &whole)?;
    let said = format!("{} is changed; the earlier text is kept", asked.path);
    Ok(Told { value: json!({ "text": said }), text: said })
}

fn replaced(before: &str, old: Option<&str>, new: Option<&str>) -> Result<String, Problem> {
    let old = old.filter(|old| !old.is_empty());
    let old = old.ok_or_else(|| Problem::usage("old_str is missing"))?;
    match before.matches(old).count() {
        1 => Ok(before.replacen(old, new.unwrap_or_default(), 1)),
        0 => Err(Problem::new(Failed::NotFound, "old_str is not in the file")),
        count => Err(Problem::usage(format!("old_str is in the file {count} times"))),
    }
}

fn inserted(before: &str, line: Option<usize>, text: Option<&str>) -> Result<String, Problem> {
    let (line, text) =
        line.zip(text).ok_or_else(|| Problem::usage("insert_line or insert_text is missing"))?;
    let mut lines: Vec<&str> = before.lines().collect();
    if line > lines.len() {
        return Err(Problem::usage(format!("the file has {} lines", lines.len())));
    }
    lines.insert(line, text.trim_end_matches('\n'));
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_replaced_where_it_stands_exactly_once() {
        assert_eq!(replaced("a b c", Some("b"), Some("x")).unwrap(), "a x c");
        assert!(replaced("a b b", Some("b"), Some("x")).is_err());
        assert!(replaced("a", Some("b"), None).is_err() && replaced("a", None, None).is_err());
    }

    #[test]
    fn text_is_inserted_after_a_line() {
        assert_eq!(inserted("a\nb\n", Some(1), Some("x\n")).unwrap(), "a\nx\nb\n");
        assert_eq!(inserted("", Some(0), Some("x")).unwrap(), "x\n");
        assert!(
            inserted("a\n", Some(5), Some("x")).is_err() && inserted("a\n", None, None).is_err()
        );
    }
}
