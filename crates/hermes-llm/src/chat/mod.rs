//! What every chat model can do: answer a conversation, word by word, with or without tools.

mod anthropic;
mod gather;
mod http_chat;
mod ollama;
mod openai;
pub mod price;
mod sse;

pub use http_chat::{ChatEndpoint, ChatLimits, HttpChat, Preview, Protocol};

use crate::error::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Answers conversations.
pub trait ChatModel: Send + Sync {
    /// The full name by which the user chose it, such as `anthropic/claude-haiku-4-5`.
    fn name(&self) -> &str;

    /// Answers, and hands over each piece as it comes; nothing is tried again after the first piece.
    fn complete(
        &self,
        request: &ChatRequest,
        on: &mut dyn FnMut(Delta<'_>) -> Flow,
    ) -> Result<Answer>;

    /// Answers for work that nobody watches, so that an answer cut short can be asked for again; a
    /// refusal is always an error.
    fn complete_quietly(&self, request: &ChatRequest) -> Result<Answer>;
}

/// What is asked of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// What holds for the whole conversation, in parts.
    pub system: Vec<SystemPart>,
    /// The conversation so far.
    pub messages: Vec<ChatMessage>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// How long the answer may be, thinking included.
    pub max_tokens: u32,
    /// How freely words are chosen; the model's own way when absent.
    pub temperature: Option<f32>,
    /// What the answer should be.
    pub answer: AnswerForm,
}

/// A part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPart {
    /// Its text.
    pub text: String,
    /// Whether the prompt up to here will come again and may be cached, where the provider is told so.
    pub cache: bool,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said, called or brought.
    pub blocks: Vec<Block>,
    /// Whether the prompt up to here will come again and may be cached, where the provider is told so.
    pub cache: bool,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person, or the tools that bring results.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// The model calls a tool.
    ToolCall {
        /// By which the result is matched.
        id: String,
        /// Which tool.
        name: String,
        /// With what; a text where the model wrote something that is not JSON.
        arguments: Value,
    },
    /// What a tool brought.
    ToolResult {
        /// The id of the call.
        id: String,
        /// What came of it.
        text: String,
        /// Whether it failed.
        is_error: bool,
    },
}

/// Something the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does and when to call it.
    pub description: String,
    /// A JSON schema of what it takes.
    pub parameters: Value,
}

/// What an answer should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// Words.
    #[default]
    Text,
    /// One JSON value and nothing else, as far as the provider can be held to it.
    Json,
}

/// A piece of an answer as it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More words.
    Text(&'a str),
    /// More of what the model thinks before it answers.
    Thinking(&'a str),
    /// The model begins to call this tool.
    ToolName(&'a str),
}

/// Whether to go on reading an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Go,
    /// Stop; what came so far is the answer.
    Stop,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// What was said and called.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost in tokens.
    pub usage: Usage,
    /// The id by which the provider can be asked about it.
    pub request_id: Option<String>,
    /// The model that answered, as the provider names it.
    pub model: String,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// All is said.
    End,
    /// The limit of tokens was reached.
    MaxTokens,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The model stopped in the middle because it will not go on.
    Refusal,
    /// The caller stopped it.
    Cancelled,
    /// Anything else.
    Other,
}

/// Tokens that were read and written; each is counted in one place only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Read, and neither taken from nor put into a cache.
    pub input: u64,
    /// Written, thinking included.
    pub output: u64,
    /// Taken from a cache.
    pub cache_read: u64,
    /// Put into a cache.
    pub cache_write: u64,
}

/// What a model is told when the answer should be JSON; some providers insist on the word.
const JSON_ONLY: &str = "Answer with one JSON value and nothing else.";

impl ChatRequest {
    /// One question, without anything else.
    pub fn of(text: &str, max_tokens: u32) -> ChatRequest {
        let messages = vec![ChatMessage::user(text)];
        ChatRequest { messages, max_tokens, ..ChatRequest::default() }
    }

    /// The parts of the system prompt, with what the form of the answer adds.
    fn system_parts(&self) -> Vec<(&str, bool)> {
        let mut parts: Vec<_> =
            self.system.iter().map(|part| (part.text.as_str(), part.cache)).collect();
        parts.retain(|(text, _)| !text.trim().is_empty());
        if self.answer == AnswerForm::Json {
            parts.push((JSON_ONLY, false));
        }
        parts
    }

    /// The system prompt as one text.
    fn system_text(&self) -> Option<String> {
        let texts: Vec<&str> = self.system_parts().into_iter().map(|(text, _)| text).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}

impl SystemPart {
    /// A part that is the same in the next request.
    pub fn lasting(text: &str) -> SystemPart {
        SystemPart { text: text.into(), cache: true }
    }

    /// A part that changes from request to request.
    pub fn passing(text: &str) -> SystemPart {
        SystemPart { text: text.into(), cache: false }
    }
}

impl ChatMessage {
    /// Something the user says.
    pub fn user(text: &str) -> ChatMessage {
        let blocks = vec![Block::Text { text: text.into() }];
        ChatMessage { role: Role::User, blocks, cache: false }
    }

    /// Something the model said.
    pub fn assistant(text: &str) -> ChatMessage {
        ChatMessage { role: Role::Assistant, ..ChatMessage::user(text) }
    }

    fn text(&self) -> String {
        text_of(&self.blocks)
    }
}

impl Answer {
    /// The words of the answer.
    pub fn text(&self) -> String {
        text_of(&self.blocks)
    }
}

impl Usage {
    /// All tokens that were read.
    pub fn read(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// All tokens.
    pub fn total(&self) -> u64 {
        self.read() + self.output
    }
}

fn text_of(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
