//! What the model is given and what it cost: /context and /usage.

use std::fmt::Write as _;

use hermes_agent::prompt::Name;

use super::Told;
use crate::chat::ContextTable;
use crate::chat::front::terminal::clean::clean;
use crate::chat::front::terminal::status::{dollars, short};
use crate::output::{BOLD, DIM};
use hermes_app::text::thousands;

/// One part of the window.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: &'static str,
    tokens: usize,
    note: &'static str,
}

/// How long the longest bar is.
const BAR: usize = 24;

pub(super) fn context(told: &mut Told<'_>) -> anyhow::Result<()> {
    let is_why = match told.rest {
        "" => false,
        "--why" | "why" => true,
        _ => return Err(told.wanted(&told.command.usage())),
    };
    let table = told.conversation.context_table();
    told.print(&text(&table))?;
    if !is_why {
        return Ok(());
    }
    match &table.why {
        Some(why) => {
            let why = clean(why);
            told.print(&format!("\n{BOLD}Recalled for the last message{BOLD:#}\n{why}\n"))
        }
        None => told.notice("nothing was recalled for the last message"),
    }
}

pub(super) fn usage(told: &mut Told<'_>) -> anyhow::Result<()> {
    let conversation = &told.conversation;
    let spent = &conversation.spent;
    let rows = [
        ("model", conversation.model.name.clone()),
        ("requests", thousands(spent.calls)),
        ("read", format!("{} tokens", thousands(spent.input_tokens))),
        ("cache read", format!("{} tokens", thousands(spent.cache_read_tokens))),
        ("cache write", format!("{} tokens", thousands(spent.cache_write_tokens))),
        ("written", format!("{} tokens", thousands(spent.output_tokens))),
        ("cost", spent.cost.map_or_else(|| "unknown price".to_owned(), dollars)),
        ("remembered", thousands(conversation.written.len() as u64)),
    ];
    let text: String =
        rows.iter().map(|(name, value)| format!("{DIM}{name:13}{DIM:#} {value}\n")).collect();
    told.print(&text)
}

fn text(table: &ContextTable) -> String {
    let size = table.window.size;
    let free = size.saturating_sub(table.tokens);
    let mut rows = rows(table);
    rows.push(Row { name: "free", tokens: free, note: "" });
    let mut text = String::new();
    for Row { name, tokens, note } in rows {
        let bar = bar(tokens, size);
        let note = if note.is_empty() { String::new() } else { format!(" {DIM}{note}{DIM:#}") };
        let _ = writeln!(
            text,
            "{name:13} {:>9}  {DIM}{bar:BAR$}{DIM:#}{note}",
            thousands(tokens as u64)
        );
    }
    let share = (table.tokens * 100).checked_div(size).unwrap_or(0);
    let _ = writeln!(
        text,
        "{BOLD}{} of {} tokens, {share} %{BOLD:#}",
        thousands(table.tokens as u64),
        short(size as u64)
    );
    text
}

/// The parts in the order in which the model reads them.
fn rows(table: &ContextTable) -> Vec<Row> {
    let section = |name: &'static str, wanted: Name| {
        let found = table.sections.iter().find(|section| section.name == wanted);
        let is_cut = found.is_some_and(|section| section.is_cut);
        Row {
            name,
            tokens: found.map_or(0, |section| section.tokens),
            note: if is_cut { "cut: longer than its limit" } else { "" },
        }
    };
    let mut retrieved = section("retrieved", Name::Recalled);
    retrieved.tokens += table.window.recalled;
    vec![
        section("SOUL", Name::Soul),
        section("core", Name::Core),
        section("MEMORY", Name::Memory),
        section("USER", Name::User),
        section("recent", Name::Recent),
        retrieved,
        section("skills", Name::Skills),
        Row { name: "tools", tokens: table.tool_tokens, note: "" },
        Row {
            name: "conversation",
            tokens: table.window.used.saturating_sub(table.window.recalled),
            note: "",
        },
    ]
}

/// A share of the window; what is there is never nothing to see.
fn bar(tokens: usize, size: usize) -> String {
    if tokens == 0 || size == 0 {
        return String::new();
    }
    let eighths = (tokens * BAR * 8 / size).clamp(1, BAR * 8);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get(eighths % 8).copied());
    bar
}

#[cfg(test)]
mod tests {
    use hermes_agent::prompt::Section;
    use hermes_agent::window::Filled;

    use super::*;

    fn table() -> ContextTable {
        let section = |name, tokens, is_cut| Section {
            name,
            text: String::new(),
            tokens,
            cap: 1_000,
            is_cut,
        };
        ContextTable {
            sections: vec![section(Name::Soul, 100, false), section(Name::Memory, 1_000, true)],
            tool_tokens: 500,
            window: Filled { used: 400, size: 10_000, recalled: 300, turns: 1 },
            tokens: 2_000,
            why: None,
        }
    }

    #[test]
    fn the_table_adds_up_to_the_window() {
        let table = table();
        let sum: usize = rows(&table).iter().map(|row| row.tokens).sum();
        assert_eq!(sum, table.tokens);
        let text = anstream::adapter::strip_str(&text(&table)).to_string();
        assert!(text.contains("free              8,000"), "{text}");
        assert!(text.contains("2,000 of 10k tokens, 20 %"), "{text}");
        assert!(
            text.lines().any(|line| line.starts_with("MEMORY") && line.contains("cut")),
            "{text}"
        );
    }

    #[test]
    fn a_bar_is_never_longer_than_the_window() {
        assert_eq!(bar(0, 100), "");
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!(bar(50, 100).chars().count(), 12);
        assert_eq!(bar(500, 100).chars().count(), BAR);
    }
}
