//! A summary of turns that leave the window: by a model, or by rule where none can be asked.

use hermes_home::tokens;
use hermes_llm::chat::{AnswerForm, Block, ChatMessage, ChatRequest, Role, SystemPart};

use super::Exchange;

/// What a model is told that writes a summary.
const ORDER: &str = include_str!("../../prompts/summary.md");
/// How much of the turns a model reads at most, in tokens.
const MOST_READ: usize = 60_000;
/// How long a summary by rule may be, in tokens.
const BY_RULE: usize = 1_500;
/// How much of one message it shows, in characters.
const SHOWN: usize = 220;

/// What a model is asked for a summary.
pub fn request(left: &[Exchange], before: Option<&str>, answer_tokens: u32) -> ChatRequest {
    let mut text = String::new();
    if let Some(before) = before {
        text.push_str(&format!("What was said before that, in short:\n{before}\n\n"));
    }
    let mut spoken: Vec<String> = left.iter().map(told).collect();
    let mut cost: usize = spoken.iter().map(|one| tokens::estimate(one)).sum();
    while cost > MOST_READ && spoken.len() > 1 {
        cost -= tokens::estimate(&spoken.remove(0));
    }
    text.push_str("-----\n");
    text.push_str(&spoken.join("\n"));
    text.push_str("-----\n");
    ChatRequest {
        system: vec![SystemPart::passing(ORDER)],
        messages: vec![ChatMessage::user(&text)],
        max_tokens: answer_tokens,
        answer: AnswerForm::Text,
        ..ChatRequest::default()
    }
}

/// The summary that rules make: what was there before, and a line for what each side said, the oldest shortened away.
pub fn by_rule(left: &[Exchange], before: Option<&str>) -> String {
    let mut lines: Vec<String> =
        before.into_iter().flat_map(str::lines).map(str::to_owned).collect();
    for exchange in left {
        lines.push(format!("- the person: {}", short(&exchange.said)));
        let calls = names_of_calls(exchange);
        if !calls.is_empty() {
            lines.push(format!("  tools used: {}", calls.join(", ")));
        }
        let answer = exchange.answer();
        if !answer.trim().is_empty() {
            lines.push(format!("  you: {}", short(&answer)));
        }
    }
    let mut cost: usize = lines.iter().map(|line| tokens::estimate(line) + 1).sum();
    let mut from = 0;
    while cost > BY_RULE && from + 1 < lines.len() {
        cost -= tokens::estimate(&lines[from]) + 1;
        from += 1;
    }
    if from > 0 {
        lines
            .splice(..from, ["(the oldest part was left out; session_search finds it)".to_owned()]);
    }
    lines.join("\n")
}

/// A summary as it stands before the first turn that is left.
pub(super) fn shown(summary: &str) -> String {
    format!(
        "[What was said before in this conversation, in short. The whole of it is found with session_search.]\n{}\n[End of the summary.]\n\n",
        summary.trim()
    )
}

/// A turn as text, results of tools shortened.
fn told(exchange: &Exchange) -> String {
    let mut text = format!("Person: {}\n", exchange.said.trim());
    for message in &exchange.messages {
        for block in &message.blocks {
            match block {
                Block::Text { text: said } if message.role == Role::Assistant => {
                    text.push_str(&format!("Assistant: {}\n", said.trim()));
                }
                Block::Text { .. } => {}
                Block::ToolCall { name, arguments, .. } => {
                    text.push_str(&format!(
                        "Assistant calls {name}: {}\n",
                        short(&arguments.to_string())
                    ));
                }
                Block::ToolResult { text: result, is_error, .. } => {
                    let word = if *is_error { "failed" } else { "brought" };
                    text.push_str(&format!("The tool {word}: {}\n", short(result)));
                }
            }
        }
    }
    text
}

fn names_of_calls(exchange: &Exchange) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for block in exchange.messages.iter().flat_map(|message| &message.blocks) {
        if let Block::ToolCall { name, .. } = block
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    names
}

fn short(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Window, words};

    #[test]
    fn a_summary_by_rule_keeps_the_newest_and_stays_short() {
        let mut window = Window::new(1_000_000);
        for number in 0..200 {
            window.begin(&format!("question {number} {}", "about the harbour ".repeat(40)), None);
            window.add(ChatMessage::assistant(&format!("answer {number}")));
        }
        let summary = by_rule(&window.exchanges, Some("- earlier: the port is 5433"));
        assert!(tokens::estimate(&summary) <= BY_RULE + 40);
        assert!(summary.contains("answer 199") && !summary.contains("answer 0\n"));
        assert!(summary.starts_with("(the oldest part"));
        assert!(words(&ChatMessage::assistant("x")) == "x");
    }

    #[test]
    fn what_a_model_reads_to_summarise_is_bounded() {
        let mut window = Window::new(1_000_000);
        for number in 0..100 {
            window.begin(&format!("{number} {}", "word ".repeat(2_000)), None);
        }
        let asked = request(&window.exchanges, Some("before"), 1_000);
        assert!(super::super::cost(&asked.messages[0]) <= MOST_READ + 2_000);
        assert!(asked.tools.is_empty());
    }
}
