//! A session as a Markdown page.

use std::fmt::Write;

use super::conversation::{Conversation, Line};

/// The whole page.
pub(crate) fn page(conversation: &Conversation) -> String {
    let mut text = format!("# {}\n\n", one_line(&conversation.title));
    for (name, value) in &conversation.details {
        let _ = writeln!(text, "- {name}: {}", one_line(value));
    }
    for message in &conversation.messages {
        text.push_str(&section(message));
    }
    text
}

fn section(message: &Line) -> String {
    let state = message.state.map(|state| format!(" ({state})")).unwrap_or_default();
    let mut text = format!("\n## {} · {}{state}\n", one_line(&message.role), message.when);
    if !message.text.is_empty() {
        let _ = write!(text, "\n{}\n", body(message));
    }
    for call in &message.calls {
        let _ = write!(text, "\n{}\n", fenced(call));
    }
    text
}

/// What a tool printed is data, not Markdown; what people wrote is kept, headings moved out of the way.
fn body(message: &Line) -> String {
    if message.role.starts_with("tool") {
        return fenced(&message.text);
    }
    let mut inside_fence = false;
    let lines = message.text.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            inside_fence = !inside_fence;
        }
        if line.starts_with('#') && !inside_fence { format!("\\{line}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A code block whose fence is longer than any in the text.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_the_ones_inside() {
        assert_eq!(fenced("plain"), "```\nplain\n```");
        assert_eq!(fenced("a ```` b"), "`````\na ```` b\n`````");
    }

    #[test]
    fn headings_in_messages_do_not_become_sections() {
        let line = |text: &str| Line {
            role: "user".into(),
            when: String::new(),
            state: None,
            text: text.into(),
            calls: Vec::new(),
        };
        assert_eq!(body(&line("# hello\n```\n# code\n```")), "\\# hello\n```\n# code\n```");
    }
}
