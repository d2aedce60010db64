//! What is in the model's window: the turns of a conversation, and a summary of those that left it.

mod restore;
mod summary;

use hermes_home::tokens;
use hermes_llm::chat::{Block, ChatMessage, Role};
use serde::Serialize;

pub use restore::Row;
pub use summary::{by_rule, request as summary_request};

/// What a message costs besides its words.
const FRAME: usize = 6;
/// Which share of the window may be filled before older turns leave it, in hundredths.
const FULL: usize = 80;
/// Which share of that is left to the turns that stay, in hundredths.
const STAYS: usize = 50;
/// A longer result of a tool is shortened when nothing else is left to make room.
const LONG_RESULT: usize = 1_200;

/// A conversation as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// How many tokens the model can look at.
    pub size: usize,
    /// What stands for the turns that left.
    pub summary: Option<String>,
    /// The turns that are in it, oldest first.
    pub exchanges: Vec<Exchange>,
    /// Whether what stands before the first turn holds words that are not the person's own: what was recalled when
    /// the session began, or a summary of turns that held such words.
    pub has_outside_before: bool,
}

/// One turn: what the person said, and all that followed.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The person's own words.
    pub said: String,
    /// What was recalled for them.
    pub recalled: Option<Recalled>,
    /// What followed: answers, calls and results.
    pub messages: Vec<ChatMessage>,
    /// The number of the last message of it that was written down.
    pub last_row: Option<i64>,
    /// The number of the first.
    pub first_row: Option<i64>,
    /// Whether words that are not the person's own came into it: what was recalled, brought by a tool, or pasted. It
    /// stays so when they are left out to make room, because the answers rest on them.
    pub has_outside: bool,
}

/// What was recalled for a turn, fenced and quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recalled {
    /// The text.
    pub text: String,
    /// What it costs.
    pub tokens: usize,
    /// Whether something in it is not the person's own words.
    pub is_outside: bool,
}

/// How full a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Filled {
    /// Tokens of the turns and the summary.
    pub used: usize,
    /// Tokens the model can look at.
    pub size: usize,
    /// Tokens of what was recalled for single turns.
    pub recalled: usize,
    /// Turns.
    pub turns: usize,
}

impl Window {
    /// An empty one.
    pub fn new(size: usize) -> Window {
        Window { size, summary: None, exchanges: Vec::new(), has_outside_before: false }
    }

    /// A turn begins.
    pub fn begin(&mut self, said: &str, recalled: Option<Recalled>) {
        let is_outside = recalled.as_ref().is_some_and(|one| one.is_outside);
        self.exchanges.push(Exchange {
            said: said.to_owned(),
            has_outside: is_outside || hermes_home::pasted::is_pasted(said),
            recalled,
            messages: Vec::new(),
            last_row: None,
            first_row: None,
        });
    }

    /// Words that are not the person's own came into the turn that goes on.
    pub fn note_outside(&mut self) {
        if let Some(last) = self.exchanges.last_mut() {
            last.has_outside = true;
        }
    }

    /// Whether anything in it is not the person's own words: what the model does next may be another's wish.
    pub fn has_outside(&self) -> bool {
        self.has_outside_before || self.exchanges.iter().any(|one| one.has_outside)
    }

    /// Something follows in the turn that goes on.
    pub fn add(&mut self, message: ChatMessage) {
        if let Some(last) = self.exchanges.last_mut() {
            last.messages.push(message);
        }
    }

    /// Notes under which numbers messages of the last turn were written down.
    pub fn written(&mut self, rows: &[i64]) {
        let (Some(last), Some(first_row), Some(last_row)) =
            (self.exchanges.last_mut(), rows.first(), rows.last())
        else {
            return;
        };
        last.first_row = last.first_row.or(Some(*first_row));
        last.last_row = Some(*last_row);
    }

    /// The messages for a request; the prompt up to the last one may be cached.
    pub fn messages(&self) -> Vec<ChatMessage> {
        let mut messages: Vec<ChatMessage> = Vec::new();
        let summary = self.summary.as_deref().map(summary::shown);
        for (place, exchange) in self.exchanges.iter().enumerate() {
            let before = summary.as_deref().filter(|_| place == 0).unwrap_or_default();
            push(&mut messages, exchange.spoken(before));
            exchange.messages.iter().for_each(|message| push(&mut messages, message.clone()));
        }
        if let Some(last) = messages.last_mut() {
            last.cache = true;
        }
        messages
    }

    /// How full it is.
    pub fn filled(&self) -> Filled {
        let summary = self.summary.as_deref().map_or(0, |text| tokens::estimate(text) + FRAME);
        let used = summary + self.exchanges.iter().map(Exchange::tokens).sum::<usize>();
        let recalled = self.exchanges.iter().filter_map(|one| one.recalled.as_ref());
        Filled {
            used,
            size: self.size,
            recalled: recalled.map(|one| one.tokens).sum(),
            turns: self.exchanges.len(),
        }
    }

    /// By how many tokens it is too full, with so many taken by the prompt, the tools and the answer.
    pub fn excess(&self, others: usize) -> usize {
        self.filled().used.saturating_sub(self.limit(others))
    }

    /// How many tokens the turns may have, with so many taken by others.
    fn limit(&self, others: usize) -> usize {
        (self.size * FULL / 100).saturating_sub(others).max(1)
    }

    /// Leaves out what was recalled, for earlier turns first; true if there was any.
    pub fn trim_recalled(&mut self) -> bool {
        let count = self.exchanges.len();
        let earlier = self.exchanges.iter_mut().take(count.saturating_sub(1));
        let taken = earlier.filter_map(|one| one.recalled.take()).count();
        if taken > 0 {
            return true;
        }
        self.exchanges.last_mut().and_then(|last| last.recalled.take()).is_some()
    }

    /// Shortens long results of tools, all but those of the last message; true if there were any.
    pub fn shorten_results(&mut self) -> bool {
        let mut all: Vec<&mut ChatMessage> =
            self.exchanges.iter_mut().flat_map(|one| &mut one.messages).collect();
        all.pop();
        let mut has_changed = false;
        for block in all.into_iter().flat_map(|message| &mut message.blocks) {
            if let Block::ToolResult { text, .. } = block
                && text.chars().count() > LONG_RESULT
            {
                *text = shortened(text);
                has_changed = true;
            }
        }
        has_changed
    }

    /// How many of the oldest turns should leave: all but those that fit into the share that stays, and never the
    /// one that goes on.
    pub fn to_leave(&self, others: usize) -> usize {
        let room = self.limit(others) * STAYS / 100;
        let mut used = 0;
        let mut stay = 0;
        for exchange in self.exchanges.iter().rev() {
            used += exchange.tokens();
            if stay > 0 && used > room {
                break;
            }
            stay += 1;
        }
        self.exchanges.len() - stay
    }

    /// Lets a summary stand for the oldest turns; returns the number of their last message that was written down.
    pub fn compress(&mut self, count: usize, summary: &str) -> Option<i64> {
        let count = count.min(self.exchanges.len());
        let left: Vec<Exchange> = self.exchanges.drain(..count).collect();
        self.summary = Some(summary.to_owned());
        self.has_outside_before |= left.iter().any(|one| one.has_outside);
        left.iter().filter_map(|one| one.last_row).max()
    }

    /// Takes the last turn out; returns it.
    pub fn take_back(&mut self) -> Option<Exchange> {
        self.exchanges.pop()
    }
}

impl Exchange {
    /// What it costs.
    pub fn tokens(&self) -> usize {
        let recalled = self.recalled.as_ref().map_or(0, |one| one.tokens);
        let following: usize = self.messages.iter().map(cost).sum();
        tokens::estimate(&self.said) + FRAME + recalled + following
    }

    /// The words of the assistant.
    pub fn answer(&self) -> String {
        let texts = self.messages.iter().filter(|one| one.role == Role::Assistant);
        let texts: Vec<String> = texts.map(words).filter(|text| !text.trim().is_empty()).collect();
        texts.join("\n\n")
    }

    /// The message of the person: what was recalled stands behind their words, as data.
    fn spoken(&self, before: &str) -> ChatMessage {
        let recalled = self.recalled.as_ref().map(|one| format!("\n\n{}", one.text.trim_end()));
        ChatMessage::user(&format!("{before}{}{}", self.said, recalled.unwrap_or_default()))
    }
}

/// What a message costs.
pub fn cost(message: &ChatMessage) -> usize {
    let block = |block: &Block| match block {
        Block::Text { text } => tokens::estimate(text),
        Block::ToolCall { name, arguments, .. } => {
            tokens::estimate(name) + tokens::estimate(&arguments.to_string()) + FRAME
        }
        Block::ToolResult { text, .. } => tokens::estimate(text) + FRAME,
    };
    FRAME + message.blocks.iter().map(block).sum::<usize>()
}

/// How many tokens a model can look at, by its name; a guess on the safe side where it is not known.
pub fn size_of(model: &str) -> usize {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let known = [
        ("claude-", 200_000),
        ("gpt-5", 272_000),
        ("gpt-4.1", 1_000_000),
        ("gpt-4o", 128_000),
        ("o1", 200_000),
        ("o3", 200_000),
        ("o4", 200_000),
        ("gemini-", 1_000_000),
        ("mistral-large", 128_000),
        ("deepseek-", 64_000),
    ];
    let is_local = model.starts_with("ollama/") || model.contains("://");
    let found = known.iter().filter(|_| !is_local).find(|(start, _)| name.starts_with(start));
    found.map_or(32_000, |(_, size)| *size)
}

/// Adds a message; two of the person's in a row are one, as some providers want it.
fn push(messages: &mut Vec<ChatMessage>, message: ChatMessage) {
    if message.blocks.is_empty() {
        return;
    }
    match messages.last_mut().filter(|last| last.role == message.role) {
        Some(last) => {
            let has_text = matches!(last.blocks.last(), Some(Block::Text { .. }));
            for (place, block) in message.blocks.into_iter().enumerate() {
                last.blocks.push(match block {
                    Block::Text { text } if has_text && place == 0 => {
                        Block::Text { text: format!("\n\n{text}") }
                    }
                    other => other,
                });
            }
        }
        None => messages.push(message),
    }
}

fn words(message: &ChatMessage) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The beginning and the end of a text.
fn shortened(text: &str) -> String {
    const EACH: usize = 400;
    let count = text.chars().count();
    let head: String = text.chars().take(EACH).collect();
    let tail: String = text.chars().skip(count.saturating_sub(EACH)).collect();
    format!("{head}\n[… {} characters left out to make room …]\n{tail}", count - 2 * EACH)
}

#[cfg(test)]
mod tests;
