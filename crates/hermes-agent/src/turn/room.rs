//! Makes room in the window: what was recalled goes first, then older turns become a summary, then long results shrink.

use hermes_home::tokens;
use hermes_llm::chat::ChatModel;

use super::Turn;
use crate::window::{self, Window};

/// How long a summary may be.
const SUMMARY_TOKENS: u32 = 1_500;

/// Makes as much room as the window needs for the next request.
pub(super) fn make(turn: &mut Turn<'_>) {
    let others = others(turn);
    let mut has_trimmed = false;
    while turn.window.excess(others) > 0 && turn.window.trim_recalled() {
        has_trimmed = true;
    }
    if has_trimmed {
        turn.watch
            .notice("the context window is full: memory recalled for earlier messages was removed");
    }
    if turn.window.excess(others) > 0 {
        leave(turn);
    }
    if turn.window.excess(others) > 0 && turn.window.shorten_results() {
        turn.watch.notice("the context window is full: long tool results were shortened");
    }
}

/// Makes some more room after the model said that the request is too long; false if there is none to be made.
pub(super) fn make_more(turn: &mut Turn<'_>) -> bool {
    if turn.window.trim_recalled() {
        turn.watch.notice("the request was too long for the model: recalled memory was removed");
        return true;
    }
    // The model can look at less than we thought: half of what was tried.
    let tried = turn.window.filled().used + others(turn);
    turn.window.size = turn.window.size.min(tried) / 2;
    leave(turn) || turn.window.shorten_results()
}

/// The oldest turns leave; false if there are none that can.
fn leave(turn: &mut Turn<'_>) -> bool {
    let count = turn.window.to_leave(others(turn));
    if count == 0 {
        return false;
    }
    let Compressed { up_to, summary, by_rule } =
        compress(turn.window, count, Some(turn.means.model.as_ref()));
    turn.watch.compacted(up_to, &summary);
    let by = if by_rule { ", by rules" } else { "" };
    turn.watch.notice(&format!(
        "the context window is full: the oldest {count} turns were summarised{by}"
    ));
    true
}

/// What came of letting turns leave a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compressed {
    /// The number of the last message that was written down of them.
    pub up_to: Option<i64>,
    /// What stands for them.
    pub summary: String,
    /// Whether no model wrote it.
    pub by_rule: bool,
}

/// Lets the oldest turns of a window leave: a model writes the summary, or rules where it does not answer.
pub fn compress(window: &mut Window, count: usize, model: Option<&dyn ChatModel>) -> Compressed {
    let left = &window.exchanges[..count.min(window.exchanges.len())];
    let before = window.summary.as_deref();
    let request = window::summary_request(left, before, SUMMARY_TOKENS);
    let written = model.and_then(|model| model.complete_quietly(&request).ok());
    let written = written.map(|answer| answer.text()).filter(|text| !text.trim().is_empty());
    let by_rule = written.is_none();
    let summary = written.unwrap_or_else(|| window::by_rule(left, before));
    let up_to = window.compress(count, summary.trim());
    Compressed { up_to, summary: summary.trim().to_owned(), by_rule }
}

/// What the prompt, the tools and the answer take.
fn others(turn: &Turn<'_>) -> usize {
    let tool = |tool: &hermes_llm::chat::Tool| {
        tokens::estimate(&tool.description) + tokens::estimate(&tool.parameters.to_string()) + 10
    };
    let tools: usize = turn.tools.iter().map(tool).sum();
    turn.means.system_tokens + tools + turn.means.answer_tokens as usize
}
