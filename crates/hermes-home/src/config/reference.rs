//! The table of settings as text: the reference page, and the scaffold that a new home gets.

use std::fmt::Write;

use crate::config::Config;
use crate::config::keys::{KEYS, Kind};
use crate::config::view::default_of;

/// All settings as a Markdown table.
pub fn reference() -> String {
    let mut page =
        String::from("| Setting | Values | Default | What it does |\n|---|---|---|---|\n");
    for key in KEYS {
        let default = match default_of(&Config::default(), key) {
            empty if empty.is_empty() => "none".to_owned(),
            value => format!("`{value}`"),
        };
        let note = if key.acts { "" } else { " *Checked, but not used yet.*" };
        let values = values(key.kind);
        let _ = writeln!(page, "| `{}` | {values} | {default} | {}{note} |", key.path, key.doc);
    }
    page
}

fn values(kind: Kind) -> String {
    match kind {
        Kind::OneOf(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        other => other.expects(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init;
    use crate::keyed_text::document::{self, Twice};

    const HEAD: &str = "\
# Settings of this home. Every line is optional; the values below are the defaults.
# To change one, remove the `# ` in front of it and of its section, or use
# `hermes config set memory.auto_write false`. `hermes config list` shows all with their values.
";

    /// The scaffold as the key table says it should be.
    fn scaffold() -> String {
        let mut text = String::from(HEAD);
        let mut open: Vec<&str> = Vec::new();
        for key in KEYS {
            let parts = key.segments();
            let (name, section) = parts.split_last().unwrap();
            let shared = open.iter().zip(section).take_while(|(a, b)| a == b).count();
            open.truncate(shared);
            for head in &section[shared..] {
                if open.is_empty() {
                    text.push('\n');
                }
                writeln!(text, "# {}{head}:", "  ".repeat(open.len())).unwrap();
                open.push(head);
            }
            if section.is_empty() {
                text.push('\n');
            }
            let indent = "  ".repeat(open.len());
            let default = match default_of(&Config::default(), key) {
                empty if empty.is_empty() && key.path == "memory.provider" => "''".to_owned(),
                empty if empty.is_empty() => "null".to_owned(),
                value => value,
            };
            let choice = match key.kind {
                Kind::OneOf(words) => format!(" ({})", words.join(", ")),
                _ => String::new(),
            };
            let note = if key.acts { "" } else { " [not used yet]" };
            writeln!(text, "# {indent}# {}{choice}{note}", key.doc).unwrap();
            writeln!(text, "# {indent}{name}: {default}").unwrap();
        }
        text
    }

    #[test]
    fn the_scaffold_is_the_key_table() {
        assert_eq!(init::CONFIG, scaffold(), "write this to scaffold/config.yaml:\n{}", scaffold());
    }

    #[test]
    fn the_scaffold_with_its_marks_taken_away_says_the_defaults() {
        let bare: String = init::CONFIG
            .lines()
            .skip(HEAD.lines().count())
            .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line)))
            .collect();
        let leaves = document::parse(&bare, Twice::Refuse).unwrap().leaves();
        assert_eq!(leaves.len(), KEYS.len());
        assert!(document::parse(init::CONFIG, Twice::Refuse).unwrap().leaves().len() <= 1);
    }

    #[test]
    fn the_reference_has_a_row_for_every_setting() {
        let page = reference();
        assert_eq!(page.lines().count(), KEYS.len() + 2);
        assert!(page.contains("| `memory.retrieval.semantic_top_k` |"));
    }
}
