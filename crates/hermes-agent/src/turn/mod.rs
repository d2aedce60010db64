//! One user message to one answer: the model, its tools, bounded rounds, cancellation.

mod asking;
mod guard;
mod room;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hermes_llm::ErrorKind;
use hermes_llm::chat::{
    Answer, Block, ChatMessage, ChatModel, ChatRequest, Role, Stop, SystemPart, Tool, Usage,
};
use serde_json::{Value, json};

use crate::approval::{Request, Verdict};
use crate::toolbox::{Call, Outcome, Toolbox};
use crate::window::Window;

use asking::Heard;
use guard::Guard;
pub use room::{Compressed, compress};

/// With what a turn is taken.
pub struct Means<'a> {
    /// The model that answers.
    pub model: Arc<dyn ChatModel>,
    /// The system prompt of the session.
    pub system: &'a [SystemPart],
    /// What the prompt costs.
    pub system_tokens: usize,
    /// How often the model may call tools before it must answer.
    pub max_rounds: u32,
    /// How long an answer may be.
    pub answer_tokens: u32,
    /// Whether the model is known to take tools, or not known to take none.
    pub takes_tools: bool,
    /// Set when the person wants no more of it.
    pub cancel: &'a AtomicBool,
}

/// Who watches a turn: shows it, is asked, writes it down.
pub trait Watch {
    /// More words of the answer.
    fn text(&mut self, piece: &str);
    /// The words end here, for now or for good.
    fn text_end(&mut self);
    /// A tool begins.
    fn tool_begins(&mut self, call: &Call, describes: &str);
    /// A tool has ended.
    fn tool_ended(&mut self, call: &Call, outcome: &Outcome);
    /// The person is asked.
    fn ask(&mut self, request: &Request) -> Verdict;
    /// Something worth a line happened.
    fn notice(&mut self, text: &str);
    /// These messages are to be kept now; returns the numbers under which they were.
    fn keep(&mut self, messages: &[Kept]) -> Vec<i64>;
    /// Turns left the window: a summary stands for all up to this number.
    fn compacted(&mut self, up_to: Option<i64>, summary: &str);
    /// A request was answered.
    fn spent(&mut self, usage: &Usage);
}

/// A message that is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// The assistant said and called something.
    Answer {
        /// The words.
        text: String,
        /// The calls.
        calls: Vec<Call>,
        /// Why it is not whole, if it is not.
        broken: Option<&'static str>,
    },
    /// A tool brought something.
    Result {
        /// The call.
        call: Call,
        /// What came of it.
        outcome: Outcome,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With an answer.
    Answered,
    /// The answer reached the limit of its length.
    TooLong,
    /// The person cancelled it.
    Cancelled,
    /// A tool ended it: the person said no, or a limit was reached.
    ByTool,
    /// The model called tools for as many rounds as it may.
    Rounds,
    /// The model made the same call again and again.
    Looped,
    /// The model declined to go on.
    Refused,
    /// The model could not be asked, or broke off.
    Failed(hermes_llm::Error),
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// How it ended.
    pub ended: Ended,
    /// The last words of the assistant.
    pub text: String,
    /// What all its requests cost.
    pub usage: Usage,
    /// How many requests were made.
    pub requests: u64,
    /// How many tools were called.
    pub tools: u64,
    /// How many of them failed.
    pub failed_tools: u64,
    /// Whether the model turned out to take none.
    pub refused_tools: bool,
}

/// Takes the turn that was begun in the window to its end; whatever happens, the window stays fit to go on with.
pub fn take(
    means: &Means<'_>,
    window: &mut Window,
    toolbox: &mut dyn Toolbox,
    watch: &mut dyn Watch,
) -> Taken {
    let tools = if means.takes_tools { toolbox.tools() } else { Vec::new() };
    let mut turn = Turn {
        means,
        window,
        toolbox,
        watch,
        tools,
        guard: Guard::default(),
        taken: Taken {
            ended: Ended::Answered,
            text: String::new(),
            usage: Usage::default(),
            requests: 0,
            tools: 0,
            failed_tools: 0,
            refused_tools: false,
        },
    };
    let ended = turn.run();
    Taken { ended, ..turn.taken }
}

/// A turn under way.
struct Turn<'a> {
    means: &'a Means<'a>,
    window: &'a mut Window,
    toolbox: &'a mut dyn Toolbox,
    watch: &'a mut dyn Watch,
    tools: Vec<Tool>,
    guard: Guard,
    taken: Taken,
}

impl Turn<'_> {
    fn run(&mut self) -> Ended {
        for round in 0..=self.means.max_rounds {
            let answer = match self.answer() {
                Ok(answer) => answer,
                Err(ended) => return ended,
            };
            let calls = calls_of(&answer.blocks);
            self.note(&answer, &calls);
            match answer.stop {
                Stop::Cancelled => return Ended::Cancelled,
                Stop::Refusal => return Ended::Refused,
                Stop::MaxTokens if calls.is_empty() => return Ended::TooLong,
                _ if calls.is_empty() => return Ended::Answered,
                _ => {}
            }
            let is_last = round + 1 >= self.means.max_rounds;
            if round == self.means.max_rounds {
                self.leave_undone(&calls, "the limit of rounds for one turn is reached");
                return Ended::Rounds;
            }
            if let Some(ended) = self.carry_out(&calls, is_last) {
                return ended;
            }
        }
        Ended::Rounds
    }

    /// Asks the model; makes room where its window is too small.
    fn answer(&mut self) -> Result<Answer, Ended> {
        room::make(self);
        loop {
            let heard =
                asking::ask(&self.means.model, self.request(), self.means.cancel, &mut |piece| {
                    self.watch.text(piece)
                });
            self.taken.requests += 1;
            if heard.has_text() {
                self.watch.text_end();
            }
            match heard {
                Heard::Answer(answer) => return Ok(answer),
                Heard::Failed { error, text }
                    if error.kind() == ErrorKind::TooLong
                        && text.is_empty()
                        && room::make_more(self) => {}
                Heard::Failed { error, text }
                    if text.is_empty() && !self.tools.is_empty() && takes_no_tools(&error) =>
                {
                    self.tools.clear();
                    self.taken.refused_tools = true;
                    self.watch.notice("this model does not support tools: it answers without them");
                }
                Heard::Failed { error, text } => {
                    self.keep_part(&text, "cut short");
                    return Err(Ended::Failed(error));
                }
            }
        }
    }

    fn request(&self) -> ChatRequest {
        ChatRequest {
            system: self.means.system.to_vec(),
            messages: self.window.messages(),
            tools: self.tools.clone(),
            max_tokens: self.means.answer_tokens,
            ..ChatRequest::default()
        }
    }

    /// Puts an answer into the window and has it kept.
    fn note(&mut self, answer: &Answer, calls: &[Call]) {
        let usage = &answer.usage;
        self.taken.usage = sum(&self.taken.usage, usage);
        self.watch.spent(usage);
        let broken = match answer.stop {
            Stop::Cancelled => Some("cancelled"),
            Stop::MaxTokens => Some("it reached its limit of length"),
            Stop::Refusal => Some("the model declined to go on"),
            _ => None,
        };
        let text = answer.text();
        if !text.trim().is_empty() {
            self.taken.text.clone_from(&text);
        }
        if text.trim().is_empty() && calls.is_empty() {
            return;
        }
        self.window.add(said(&text, calls, broken));
        let kept = Kept::Answer { text, calls: calls.to_vec(), broken };
        let rows = self.watch.keep(&[kept]);
        self.window.written(&rows);
        if answer.stop == Stop::Cancelled && !calls.is_empty() {
            self.leave_undone(calls, "the person cancelled the turn");
        }
    }

    /// Keeps what came of an answer that broke off.
    fn keep_part(&mut self, text: &str, broken: &'static str) {
        if text.trim().is_empty() {
            return;
        }
        self.taken.text = text.to_owned();
        self.window.add(said(text, &[], Some(broken)));
        let kept = Kept::Answer { text: text.to_owned(), calls: Vec::new(), broken: Some(broken) };
        let rows = self.watch.keep(&[kept]);
        self.window.written(&rows);
    }

    /// Carries the calls out, in their order; says how the turn ends if it does.
    fn carry_out(&mut self, calls: &[Call], is_last: bool) -> Option<Ended> {
        let mut results: Vec<(Call, Outcome)> = Vec::new();
        let mut ends = None;
        for call in calls {
            let outcome = match (&ends, self.means.cancel.load(Ordering::SeqCst)) {
                (Some(_), _) => Outcome::failed("not done: the turn ended before it"),
                (None, true) => {
                    ends = Some(Ended::Cancelled);
                    Outcome::failed("not done: the person cancelled the turn")
                }
                (None, false) => self.carry_out_one(call),
            };
            if outcome.ends_turn {
                ends = ends.or(Some(Ended::ByTool));
            }
            results.push((call.clone(), outcome));
        }
        if self.guard.is_stuck() {
            ends = ends.or(Some(Ended::Looped));
        }
        if is_last
            && ends.is_none()
            && let Some((_, outcome)) = results.last_mut()
        {
            outcome.text.push_str(
                "\n\n[No more tools can be called in this turn: answer with what you have.]",
            );
        }
        self.bring(results);
        ends
    }

    fn carry_out_one(&mut self, call: &Call) -> Outcome {
        self.taken.tools += 1;
        let refused = self.unfit(call).or_else(|| self.guard.refuses(call));
        let outcome = match refused {
            Some(why) => Outcome::failed(&why),
            None => {
                let describes = self.toolbox.describe(call);
                self.watch.tool_begins(call, &describes);
                let watch = &mut *self.watch;
                let mut ask = |request: &Request| watch.ask(request);
                let outcome = self.toolbox.call(call, self.window, &mut ask);
                if outcome.is_outside {
                    // At once: the next call of the same answer is made with it in mind.
                    self.window.note_outside();
                }
                self.guard.note(call, &outcome);
                outcome
            }
        };
        self.taken.failed_tools += u64::from(outcome.is_error);
        self.watch.tool_ended(call, &outcome);
        outcome
    }

    /// Why a call cannot even be tried.
    fn unfit(&self, call: &Call) -> Option<String> {
        if !self.tools.iter().any(|tool| tool.name == call.name) {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
            return Some(format!("there is no tool {}; there are {}", call.name, names.join(", ")));
        }
        match &call.input {
            Value::Object(_) => None,
            Value::String(text) => Some(format!(
                "the arguments of {} are not JSON: {}; write them as one JSON object",
                call.name,
                text.chars().take(200).collect::<String>()
            )),
            _ => Some(format!("the arguments of {} must be one JSON object", call.name)),
        }
    }

    fn leave_undone(&mut self, calls: &[Call], why: &str) {
        let outcome = Outcome::failed(&format!("not done: {why}"));
        self.bring(calls.iter().map(|call| (call.clone(), outcome.clone())).collect());
    }

    /// Results go into the window, and are kept.
    fn bring(&mut self, results: Vec<(Call, Outcome)>) {
        let block = |(call, outcome): &(Call, Outcome)| Block::ToolResult {
            id: call.id.clone(),
            text: outcome.text.clone(),
            is_error: outcome.is_error,
        };
        let blocks = results.iter().map(block).collect();
        self.window.add(ChatMessage { role: Role::User, blocks, cache: false });
        let kept: Vec<Kept> =
            results.into_iter().map(|(call, outcome)| Kept::Result { call, outcome }).collect();
        let rows = self.watch.keep(&kept);
        self.window.written(&rows);
    }
}

impl Outcome {
    /// A call that did not work, with what the model is told.
    pub fn failed(why: &str) -> Outcome {
        Outcome {
            text: why.to_owned(),
            is_error: true,
            shown: None,
            ends_turn: false,
            is_outside: false,
        }
    }
}

impl Kept {
    /// The words as they are kept: a part says that it is one.
    pub fn words(text: &str, broken: Option<&str>) -> String {
        match broken {
            Some(why) => format!("{}\n[{why}]", text.trim_end()),
            None => text.to_owned(),
        }
    }
}

/// Whether a server says that it, or its model, cannot be given tools.
fn takes_no_tools(error: &hermes_llm::Error) -> bool {
    use hermes_llm::Error::{Busy, Refused};
    match error {
        Refused { status: 400 | 404 | 422 | 500 | 501, message, .. }
        | Busy { status: 500 | 501, message, .. } => {
            let message = message.to_lowercase();
            message.contains("tool")
                || message.contains("function call")
                || message.contains("jinja")
        }
        _ => false,
    }
}

fn calls_of(blocks: &[Block]) -> Vec<Call> {
    let call = |block: &Block| match block {
        Block::ToolCall { id, name, arguments } => {
            Some(Call { id: id.clone(), name: name.clone(), input: arguments.clone() })
        }
        _ => None,
    };
    blocks.iter().filter_map(call).collect()
}

/// An answer as it goes back to the model; arguments that were no object are sent as an empty one.
fn said(text: &str, calls: &[Call], broken: Option<&str>) -> ChatMessage {
    let mut blocks = Vec::new();
    if !text.trim().is_empty() {
        blocks.push(Block::Text { text: Kept::words(text, broken) });
    }
    blocks.extend(calls.iter().map(|call| Block::ToolCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: if call.input.is_object() { call.input.clone() } else { json!({}) },
    }));
    ChatMessage { role: Role::Assistant, blocks, cache: false }
}

fn sum(left: &Usage, right: &Usage) -> Usage {
    Usage {
        input: left.input + right.input,
        output: left.output + right.output,
        cache_read: left.cache_read + right.cache_read,
        cache_write: left.cache_write + right.cache_write,
    }
}

#[cfg(test)]
mod tests;
