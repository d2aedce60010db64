//! A window from the messages that were written down: a resumed session goes on where it stopped.

use hermes_llm::chat::{Block, ChatMessage, Role};
use serde_json::{Value, json};

use super::{Exchange, Window};

/// A message as it was written down.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// The words.
    pub text: String,
    /// The tools called, as JSON.
    pub tool_calls: Option<Value>,
    /// The call this answers.
    pub tool_call_id: Option<String>,
    /// Whether it holds words that are not the person's own.
    pub is_outside: bool,
}

impl Window {
    /// The window of a session that is taken up again; every call gets a result, every result has its call.
    pub fn restore(size: usize, summary: Option<String>, rows: &[Row]) -> Window {
        let mut window = Window { summary, ..Window::new(size) };
        for row in rows {
            match row.role.as_str() {
                "user" => window.begin(&row.text, None),
                "assistant" if !window.exchanges.is_empty() => window.add(answer(row)),
                "tool" => result(&mut window, row),
                _ => continue,
            }
            window.written(&[row.number]);
            if row.is_outside {
                window.note_outside();
            }
        }
        window.exchanges.iter_mut().for_each(settle);
        window
    }
}

fn answer(row: &Row) -> ChatMessage {
    let mut blocks = Vec::new();
    if !row.text.trim().is_empty() {
        blocks.push(Block::Text { text: row.text.clone() });
    }
    let calls = row.tool_calls.as_ref().and_then(Value::as_array);
    blocks.extend(calls.into_iter().flatten().enumerate().filter_map(|(place, value)| {
        let function = value.get("function").unwrap_or(value);
        let name = function.get("name")?.as_str()?.to_owned();
        let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            Some(other) => other.clone(),
            None => Value::Null,
        };
        let arguments = if arguments.is_object() { arguments } else { json!({}) };
        let id = id.unwrap_or_else(|| format!("call_{}_{place}", row.number));
        Some(Block::ToolCall { id, name, arguments })
    }));
    ChatMessage { role: Role::Assistant, blocks, cache: false }
}

/// A result joins the message that brings results, right behind the calls.
fn result(window: &mut Window, row: &Row) {
    let Some(exchange) = window.exchanges.last_mut() else { return };
    let Some(id) = row.tool_call_id.clone() else { return };
    let block = Block::ToolResult { id, text: row.text.clone(), is_error: false };
    match exchange.messages.last_mut().filter(|last| last.role == Role::User) {
        Some(last) => last.blocks.push(block),
        None => {
            let message = ChatMessage { role: Role::User, blocks: vec![block], cache: false };
            exchange.messages.push(message);
        }
    }
}

/// Gives each call exactly one result, in the message behind it, and drops results that answer nothing.
pub(crate) fn settle(exchange: &mut Exchange) {
    let mut settled: Vec<ChatMessage> = Vec::new();
    let mut messages = std::mem::take(&mut exchange.messages).into_iter().peekable();
    while let Some(mut message) = messages.next() {
        if message.role == Role::User {
            continue;
        }
        // Two answers without a result between them are one.
        while let Some(next) = messages.next_if(|next| next.role == Role::Assistant) {
            message.blocks.extend(next.blocks);
        }
        let brought = messages.next_if(|next| next.role == Role::User);
        let brought = brought.map(|next| next.blocks).unwrap_or_default();
        let results: Vec<Block> = ids(&message).iter().map(|id| result_for(id, &brought)).collect();
        if !message.blocks.is_empty() {
            settled.push(message);
        }
        if !results.is_empty() {
            settled.push(ChatMessage { role: Role::User, blocks: results, cache: false });
        }
    }
    exchange.messages = settled;
}

fn ids(message: &ChatMessage) -> Vec<String> {
    let id = |block: &Block| match block {
        Block::ToolCall { id, .. } => Some(id.clone()),
        _ => None,
    };
    message.blocks.iter().filter_map(id).collect()
}

fn result_for(wanted: &str, brought: &[Block]) -> Block {
    let found =
        brought.iter().find(|block| matches!(block, Block::ToolResult { id, .. } if id == wanted));
    found.cloned().unwrap_or_else(|| Block::ToolResult {
        id: wanted.to_owned(),
        text: "no result was kept".to_owned(),
        is_error: true,
    })
}
