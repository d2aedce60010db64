//! The Messages protocol of Anthropic.

use super::gather::{Fault, Gathered, Hearing, Step, number_at, parse, text_at};
use super::sse::Event;
use super::{Block, ChatMessage, ChatRequest, Role, Stop};
use serde_json::{Value, json};

/// The version of the protocol that is spoken.
pub(crate) const VERSION: &str = "2023-06-01";

/// The body of the request.
pub(crate) fn request(model: &str, request: &ChatRequest) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let mut body = json!({
        "model": model, "max_tokens": request.max_tokens, "stream": true, "messages": messages,
    });
    let system: Vec<Value> = request
        .system_parts()
        .into_iter()
        .map(|(text, cache)| marked(json!({"type": "text", "text": text}), cache))
        .collect();
    if !system.is_empty() {
        body["system"] = system.into();
    }
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = temperature.into();
    }
    body
}

/// Takes one event of the stream.
pub(crate) fn event(
    event: &Event,
    gathered: &mut Gathered,
    hearing: &mut Hearing<'_>,
) -> Result<Step, Fault> {
    let value = parse(&event.data)?;
    let number = number_at(&value, "/index").unwrap_or_default();
    match text_at(&value, "/type") {
        "message_start" => start(&value, gathered),
        "content_block_start" => return block_start(&value, number, gathered, hearing),
        "content_block_delta" => match text_at(&value, "/delta/type") {
            "text_delta" => return gathered.text(text_at(&value, "/delta/text"), hearing),
            "thinking_delta" => {
                return gathered.thinking(text_at(&value, "/delta/thinking"), hearing);
            }
            "input_json_delta" => {
                gathered.arguments(number, text_at(&value, "/delta/partial_json"))?;
            }
            _ => {}
        },
        "message_delta" => {
            gathered.stop = stop(text_at(&value, "/delta/stop_reason")).or(gathered.stop);
            count(&value, "/usage", gathered);
            gathered.refusal.push_str(text_at(&value, "/delta/stop_details/explanation"));
        }
        "message_stop" => return Ok(Step::Done),
        _ => {}
    }
    Ok(Step::More)
}

fn start(value: &Value, gathered: &mut Gathered) {
    gathered.id = Some(text_at(value, "/message/id").to_owned()).filter(|id| !id.is_empty());
    gathered.model = Some(text_at(value, "/message/model").to_owned());
    count(value, "/message/usage", gathered);
}

fn block_start(
    value: &Value,
    number: u64,
    gathered: &mut Gathered,
    hearing: &mut Hearing<'_>,
) -> Result<Step, Fault> {
    let block = &value["content_block"];
    match text_at(block, "/type") {
        "tool_use" => gathered.call(number, block["id"].as_str(), text_at(block, "/name"), hearing),
        "text" => gathered.text(text_at(block, "/text"), hearing),
        _ => Ok(Step::More),
    }
}

/// Numbers of a later event take the place of those before.
fn count(value: &Value, place: &str, gathered: &mut Gathered) {
    let usage = &mut gathered.usage;
    for (name, slot) in [
        ("input_tokens", &mut usage.input),
        ("output_tokens", &mut usage.output),
        ("cache_read_input_tokens", &mut usage.cache_read),
        ("cache_creation_input_tokens", &mut usage.cache_write),
    ] {
        *slot = number_at(value, &format!("{place}/{name}")).unwrap_or(*slot);
    }
}

fn stop(reason: &str) -> Option<Stop> {
    Some(match reason {
        "" => return None,
        "end_turn" | "stop_sequence" => Stop::End,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        "tool_use" => Stop::ToolUse,
        "refusal" => Stop::Refusal,
        _ => Stop::Other,
    })
}

fn message(message: &ChatMessage) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let last = message.blocks.len().saturating_sub(1);
    let blocks = message.blocks.iter().enumerate();
    let content: Vec<Value> =
        blocks.map(|(place, found)| marked(block(found), message.cache && place == last)).collect();
    json!({"role": role, "content": content})
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({"type": "text", "text": text}),
        Block::ToolCall { id, name, arguments } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
        }
        Block::ToolResult { id, text, is_error } => {
            json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error})
        }
    }
}

fn marked(mut block: Value, cache: bool) -> Value {
    if cache {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    block
}
