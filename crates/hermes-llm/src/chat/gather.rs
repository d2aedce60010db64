//! An answer as it is put together, piece by piece, whatever protocol the pieces come in.

use super::{Answer, Block, Delta, Flow, Stop, Usage};
use crate::complaint::Complaint;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a protocol found wrong with a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server says what went wrong.
    Complaint(Complaint),
    /// It cannot be understood.
    Unreadable(String),
    /// It is larger than allowed.
    TooLarge,
}

/// Where a stream stands after one of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More will come.
    More,
    /// The answer is complete.
    Done,
    /// The caller wants no more.
    Stopped,
}

/// The caller, who hears the pieces.
pub(crate) struct Hearing<'a> {
    on: &'a mut dyn FnMut(Delta<'_>) -> Flow,
    /// Whether the caller has heard anything of this answer.
    pub(crate) has_heard: bool,
}

/// An answer that is not complete.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) usage: Usage,
    pub(crate) stop: Option<Stop>,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    /// What was said in place of an answer.
    pub(crate) refusal: String,
    /// Whether the model has begun, if only to think.
    pub(crate) has_begun: bool,
    blocks: Vec<Open>,
    /// The place in `blocks` of each call, by the provider's number for it.
    calls: BTreeMap<u64, usize>,
    size: usize,
    limit: usize,
}

#[derive(Debug)]
enum Open {
    Text(String),
    Call { id: String, name: String, arguments: String },
}

type Result<T> = std::result::Result<T, Fault>;

impl<'a> Hearing<'a> {
    pub(crate) fn new(on: &'a mut dyn FnMut(Delta<'_>) -> Flow) -> Hearing<'a> {
        Hearing { on, has_heard: false }
    }

    fn hear(&mut self, delta: Delta<'_>) -> Step {
        self.has_heard = true;
        match (self.on)(delta) {
            Flow::Go => Step::More,
            Flow::Stop => Step::Stopped,
        }
    }
}

impl Gathered {
    /// Nothing yet; no more than so many bytes will be kept.
    pub(crate) fn new(limit: usize) -> Gathered {
        Gathered {
            usage: Usage::default(),
            stop: None,
            model: None,
            id: None,
            refusal: String::new(),
            has_begun: false,
            blocks: Vec::new(),
            calls: BTreeMap::new(),
            size: 0,
            limit,
        }
    }

    /// More words.
    pub(crate) fn text(&mut self, piece: &str, hearing: &mut Hearing<'_>) -> Result<Step> {
        if piece.is_empty() {
            return Ok(Step::More);
        }
        self.grow(piece)?;
        match self.blocks.last_mut() {
            Some(Open::Text(text)) => text.push_str(piece),
            _ => self.blocks.push(Open::Text(piece.into())),
        }
        Ok(hearing.hear(Delta::Text(piece)))
    }

    /// More thinking, which is heard and not kept.
    pub(crate) fn thinking(&mut self, piece: &str, hearing: &mut Hearing<'_>) -> Result<Step> {
        if piece.is_empty() {
            return Ok(Step::More);
        }
        self.grow(piece)?;
        Ok(hearing.hear(Delta::Thinking(piece)))
    }

    /// Words said in place of an answer.
    pub(crate) fn refuse(&mut self, piece: &str) -> Result<()> {
        self.refusal.push_str(piece);
        self.grow(piece)
    }

    /// A call begins; servers without ids get one made up.
    pub(crate) fn call(
        &mut self,
        number: u64,
        id: Option<&str>,
        name: &str,
        hearing: &mut Hearing<'_>,
    ) -> Result<Step> {
        self.grow(name)?;
        let made = || format!("call_{}", self.calls.len() + 1);
        let id = id.filter(|id| !id.is_empty()).map_or_else(made, str::to_owned);
        self.calls.insert(number, self.blocks.len());
        self.blocks.push(Open::Call { id, name: name.into(), arguments: String::new() });
        Ok(hearing.hear(Delta::ToolName(name)))
    }

    /// Whether a call with this number has begun.
    pub(crate) fn has_call(&self, number: u64) -> bool {
        self.calls.contains_key(&number)
    }

    /// The number for a call of a server that gives none.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.keys().next_back().map_or(0, |last| last + 1)
    }

    /// More of what a call takes, as JSON text.
    pub(crate) fn arguments(&mut self, number: u64, piece: &str) -> Result<()> {
        self.grow(piece)?;
        let place = self.calls.get(&number).copied();
        match place.and_then(|place| self.blocks.get_mut(place)) {
            Some(Open::Call { arguments, .. }) => arguments.push_str(piece),
            _ => return Err(Fault::Unreadable("arguments for a call that did not begin".into())),
        }
        Ok(())
    }

    /// Whether anything but white space was said or called.
    pub(crate) fn says_anything(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            Open::Text(text) => !text.trim().is_empty(),
            Open::Call { .. } => true,
        })
    }

    /// The answer; a call that is not complete is left out when the caller stopped.
    pub(crate) fn finish(self, stop: Stop) -> Answer {
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in self.blocks {
            match block {
                Open::Text(text) => blocks.push(Block::Text { text }),
                Open::Call { id, name, arguments } => match parse_arguments(&arguments) {
                    Some(arguments) => blocks.push(Block::ToolCall { id, name, arguments }),
                    None if stop == Stop::Cancelled => {}
                    // The model is told that it cannot be read, and can try again.
                    None => {
                        let arguments = Value::String(arguments);
                        blocks.push(Block::ToolCall { id, name, arguments });
                    }
                },
            }
        }
        let model = self.model.unwrap_or_default();
        Answer { blocks, stop, usage: self.usage, request_id: self.id, model }
    }

    fn grow(&mut self, piece: &str) -> Result<()> {
        self.has_begun = true;
        self.size += piece.len();
        if self.size > self.limit { Err(Fault::TooLarge) } else { Ok(()) }
    }
}

fn parse_arguments(arguments: &str) -> Option<Value> {
    if arguments.trim().is_empty() {
        return Some(json!({}));
    }
    serde_json::from_str(arguments).ok()
}

/// An event's data as JSON, or the server's complaint in it.
pub(crate) fn parse(data: &str) -> Result<Value> {
    let value: Value =
        serde_json::from_str(data).map_err(|error| Fault::Unreadable(error.to_string()))?;
    let is_complaint = value.get("error").is_some_and(|error| !error.is_null());
    match Complaint::of_value(&value).filter(|_| is_complaint) {
        Some(complaint) => Err(Fault::Complaint(complaint)),
        None => Ok(value),
    }
}

/// The text at a place, empty when there is none.
pub(crate) fn text_at<'a>(value: &'a Value, place: &str) -> &'a str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number at a place, if there is one.
pub(crate) fn number_at(value: &Value, place: &str) -> Option<u64> {
    value.pointer(place).and_then(Value::as_u64)
}
