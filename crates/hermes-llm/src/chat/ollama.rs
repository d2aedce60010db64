//! The `/api/chat` protocol of Ollama: one JSON object a line.

use super::gather::{Fault, Gathered, Hearing, Step, number_at, parse, text_at};
use super::{AnswerForm, Block, ChatMessage, ChatRequest, Role, Stop};
use serde_json::{Value, json};

/// The smallest window; Ollama's own default has been as small as 2,048.
const SMALLEST_WINDOW: usize = 4096;
/// Bytes for each token, counted low: too large a window costs memory, too small a one cuts the prompt.
const BYTES_PER_TOKEN: usize = 3;

/// The body of the request.
pub(crate) fn request(model: &str, request: &ChatRequest) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(request.system_text().map(|text| json!({"role": "system", "content": text})));
    for said in &request.messages {
        messages.extend(message(said, &request.messages));
    }
    let mut body = json!({"model": model, "stream": true, "messages": messages});
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if request.answer == AnswerForm::Json {
        body["format"] = "json".into();
    }
    let size = body.to_string().len();
    // Newer servers say when a prompt does not fit instead of cutting it; older ones ignore this.
    body["truncate"] = false.into();
    body["options"] =
        json!({"num_ctx": window(size, request.max_tokens), "num_predict": request.max_tokens});
    if let Some(temperature) = request.temperature {
        body["options"]["temperature"] = temperature.into();
    }
    body
}

/// Takes one line of the stream.
pub(crate) fn line(
    line: &str,
    gathered: &mut Gathered,
    hearing: &mut Hearing<'_>,
) -> Result<Step, Fault> {
    let value = parse(line)?;
    if gathered.model.is_none() {
        gathered.model = value["model"].as_str().map(str::to_owned);
    }
    let message = &value["message"];
    if gathered.thinking(text_at(message, "/thinking"), hearing)? == Step::Stopped
        || gathered.text(text_at(message, "/content"), hearing)? == Step::Stopped
    {
        return Ok(Step::Stopped);
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let number = gathered.next_call();
        let name = text_at(call, "/function/name");
        if gathered.call(number, call["id"].as_str(), name, hearing)? == Step::Stopped {
            return Ok(Step::Stopped);
        }
        gathered.arguments(number, &call["function"]["arguments"].to_string())?;
    }
    if value["done"] != true {
        return Ok(Step::More);
    }
    gathered.usage.input = number_at(&value, "/prompt_eval_count").unwrap_or_default();
    gathered.usage.output = number_at(&value, "/eval_count").unwrap_or_default();
    gathered.stop = Some(match text_at(&value, "/done_reason") {
        "length" => Stop::MaxTokens,
        _ if gathered.has_call(0) => Stop::ToolUse,
        "stop" | "" => Stop::End,
        _ => Stop::Other,
    });
    Ok(Step::Done)
}

/// A window that holds the prompt and the answer; doubled in steps, because Ollama loads the model
/// anew whenever the window changes.
fn window(prompt_bytes: usize, max_tokens: u32) -> usize {
    let needed = prompt_bytes / BYTES_PER_TOKEN + max_tokens as usize;
    needed.max(SMALLEST_WINDOW).next_power_of_two()
}

fn message(message: &ChatMessage, all: &[ChatMessage]) -> Vec<Value> {
    let mut messages: Vec<Value> =
        message.blocks.iter().filter_map(|block| result(block, all)).collect();
    let text = message.text();
    let calls: Vec<Value> = message.blocks.iter().filter_map(call).collect();
    match message.role {
        Role::User if !text.is_empty() => messages.push(json!({"role": "user", "content": text})),
        Role::Assistant if calls.is_empty() => {
            messages.push(json!({"role": "assistant", "content": text}));
        }
        Role::Assistant => {
            messages.push(json!({"role": "assistant", "content": text, "tool_calls": calls}));
        }
        Role::User => {}
    }
    messages
}

fn call(block: &Block) -> Option<Value> {
    let Block::ToolCall { name, arguments, .. } = block else { return None };
    Some(json!({"function": {"name": name, "arguments": arguments}}))
}

/// A result is matched by the tool's name, because older servers know no ids.
fn result(block: &Block, all: &[ChatMessage]) -> Option<Value> {
    let Block::ToolResult { id, text, is_error } = block else { return None };
    let blocks = all.iter().flat_map(|message| &message.blocks);
    let name = blocks.into_iter().find_map(|block| match block {
        Block::ToolCall { id: called, name, .. } if called == id => Some(name.as_str()),
        _ => None,
    });
    let text = if *is_error { format!("error: {text}") } else { text.clone() };
    Some(json!({"role": "tool", "content": text, "tool_name": name}))
}
