//! The Chat Completions protocol of OpenAI, spoken by many servers, each in its own way.

use super::gather::{Fault, Gathered, Hearing, Step, number_at, parse, text_at};
use super::sse::Event;
use super::{AnswerForm, Block, ChatMessage, ChatRequest, Protocol, Role, Stop};
use serde_json::{Value, json};

/// The body of the request.
pub(crate) fn request(protocol: Protocol, model: &str, request: &ChatRequest) -> Value {
    let mut body = json!({
        "model": model, "stream": true, "stream_options": {"include_usage": true},
        "messages": messages(request),
    });
    let limit = match protocol {
        Protocol::OpenAi => "max_completion_tokens",
        _ => "max_tokens",
    };
    body[limit] = request.max_tokens.into();
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(temperature) = request.temperature.filter(|_| takes_temperature(protocol, model)) {
        body["temperature"] = temperature.into();
    }
    // LM Studio knows only JSON of a given schema; the system prompt says it there.
    if request.answer == AnswerForm::Json && protocol != Protocol::LmStudio {
        body["response_format"] = json!({"type": "json_object"});
    }
    body
}

/// Takes one event of the stream.
pub(crate) fn event(
    event: &Event,
    gathered: &mut Gathered,
    hearing: &mut Hearing<'_>,
) -> Result<Step, Fault> {
    if event.data.trim() == "[DONE]" {
        return Ok(Step::Done);
    }
    let value = parse(&event.data)?;
    name(&value, gathered);
    count(&value, gathered);
    let Some(choice) = value.pointer("/choices/0") else { return Ok(Step::More) };
    let delta = &choice["delta"];
    gathered.refuse(text_at(delta, "/refusal"))?;
    for place in ["/reasoning_content", "/reasoning"] {
        if gathered.thinking(text_at(delta, place), hearing)? == Step::Stopped {
            return Ok(Step::Stopped);
        }
    }
    if gathered.text(text_at(delta, "/content"), hearing)? == Step::Stopped {
        return Ok(Step::Stopped);
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        if piece_of_call(call, gathered, hearing)? == Step::Stopped {
            return Ok(Step::Stopped);
        }
    }
    gathered.stop = stop(text_at(choice, "/finish_reason")).or(gathered.stop);
    Ok(Step::More)
}

fn name(value: &Value, gathered: &mut Gathered) {
    for (place, slot) in [("/id", &mut gathered.id), ("/model", &mut gathered.model)] {
        let said = text_at(value, place);
        if slot.is_none() && !said.is_empty() {
            *slot = Some(said.to_owned());
        }
    }
}

/// OpenAI counts what came from the cache as read too; it is counted once here.
fn count(value: &Value, gathered: &mut Gathered) {
    if let Some(read) = number_at(value, "/usage/prompt_tokens") {
        let cached = number_at(value, "/usage/prompt_tokens_details/cached_tokens").unwrap_or(0);
        gathered.usage.input = read.saturating_sub(cached);
        gathered.usage.cache_read = cached;
    }
    if let Some(written) = number_at(value, "/usage/completion_tokens") {
        gathered.usage.output = written;
    }
}

fn piece_of_call(
    call: &Value,
    gathered: &mut Gathered,
    hearing: &mut Hearing<'_>,
) -> Result<Step, Fault> {
    let name = text_at(call, "/function/name");
    let number = call["index"].as_u64().unwrap_or_else(|| gathered.next_call());
    let mut step = Step::More;
    if !name.is_empty() && !gathered.has_call(number) {
        step = gathered.call(number, call["id"].as_str(), name, hearing)?;
    }
    match call.pointer("/function/arguments") {
        Some(Value::String(piece)) => gathered.arguments(number, piece)?,
        Some(whole @ Value::Object(_)) => gathered.arguments(number, &whole.to_string())?,
        _ => {}
    }
    Ok(step)
}

fn stop(reason: &str) -> Option<Stop> {
    Some(match reason {
        "" => return None,
        "stop" => Stop::End,
        "length" => Stop::MaxTokens,
        "tool_calls" | "function_call" => Stop::ToolUse,
        "content_filter" => Stop::Refusal,
        _ => Stop::Other,
    })
}

/// OpenAI's reasoning models answer 400 to any temperature.
fn takes_temperature(protocol: Protocol, model: &str) -> bool {
    let mut letters = model.chars();
    let is_o = letters.next() == Some('o') && letters.next().is_some_and(|c| c.is_ascii_digit());
    protocol != Protocol::OpenAi || !(is_o || model.starts_with("gpt-5"))
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let system = request.system_text().map(|text| json!({"role": "system", "content": text}));
    system.into_iter().chain(request.messages.iter().flat_map(message)).collect()
}

/// A message of ours may be several there: each result of a tool is one.
fn message(message: &ChatMessage) -> Vec<Value> {
    let mut messages: Vec<Value> = message.blocks.iter().filter_map(result).collect();
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
    let Block::ToolCall { id, name, arguments } = block else { return None };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

fn result(block: &Block) -> Option<Value> {
    let Block::ToolResult { id, text, is_error } = block else { return None };
    let text = if *is_error { format!("error: {text}") } else { text.clone() };
    Some(json!({"role": "tool", "tool_call_id": id, "content": text}))
}
