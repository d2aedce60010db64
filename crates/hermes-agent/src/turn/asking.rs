//! Asks a model in a thread of its own, so that the person can stop waiting at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use hermes_llm::Error;
use hermes_llm::chat::{Answer, Block, ChatModel, ChatRequest, Delta, Flow, Stop, Usage};

/// How often it is looked whether the person wants to stop.
const LOOK: Duration = Duration::from_millis(40);
/// How long a model that was told to stop is given to say what it has cost.
const GRACE: Duration = Duration::from_millis(250);

/// What came of asking.
#[derive(Debug)]
pub(super) enum Heard {
    /// An answer, whole or stopped by the person.
    Answer(Answer),
    /// None, or a part of one.
    Failed {
        /// What went wrong.
        error: Error,
        /// What had come until then.
        text: String,
    },
}

impl Heard {
    /// Whether words were heard.
    pub(super) fn has_text(&self) -> bool {
        match self {
            Heard::Answer(answer) => !answer.text().is_empty(),
            Heard::Failed { text, .. } => !text.is_empty(),
        }
    }
}

enum Sign {
    Text(String),
    Done(Result<Answer, Error>),
}

/// Asks and hands the words over as they come; ends at once when the person cancels.
pub(super) fn ask(
    model: &Arc<dyn ChatModel>,
    request: ChatRequest,
    cancel: &AtomicBool,
    on_text: &mut dyn FnMut(&str),
) -> Heard {
    let (sender, receiver) = mpsc::channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let (model, over) = (Arc::clone(model), Arc::clone(&is_over));
    std::thread::spawn(move || listen(model.as_ref(), &request, &sender, &over));
    let mut text = String::new();
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(Sign::Text(piece)) => {
                text.push_str(&piece);
                on_text(&piece);
            }
            Ok(Sign::Done(Ok(answer))) => return Heard::Answer(answer),
            Ok(Sign::Done(Err(error))) => return Heard::Failed { error, text },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let (host, why) = (String::new(), "the reader of the answer stopped".to_owned());
                let error = Error::Cut { model: String::new(), host, why };
                return Heard::Failed { error, text };
            }
        }
        if cancel.load(Ordering::SeqCst) {
            is_over.store(true, Ordering::SeqCst);
            return Heard::Answer(stopped(&receiver, text));
        }
    }
}

/// What was heard when the person cancelled, with what it cost if that is told soon.
fn stopped(receiver: &Receiver<Sign>, text: String) -> Answer {
    let until = Instant::now() + GRACE;
    let mut usage = Usage::default();
    let mut name = String::new();
    while let Ok(sign) = receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
        if let Sign::Done(done) = sign {
            if let Ok(answer) = done {
                (usage, name) = (answer.usage, answer.model);
            }
            break;
        }
    }
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::Text { text }] };
    Answer { blocks, stop: Stop::Cancelled, usage, request_id: None, model: name }
}

fn listen(model: &dyn ChatModel, request: &ChatRequest, sender: &Sender<Sign>, over: &AtomicBool) {
    let answer = model.complete(request, &mut |delta| {
        if over.load(Ordering::SeqCst) {
            return Flow::Stop;
        }
        let is_heard = match delta {
            Delta::Text(piece) => sender.send(Sign::Text(piece.to_owned())).is_ok(),
            _ => true,
        };
        if is_heard { Flow::Go } else { Flow::Stop }
    });
    // Nobody may be left to hear it.
    let _ = sender.send(Sign::Done(answer));
}
