//! Turns: answers, tools, limits, loops, cancelling, windows that are too small.

use std::collections::VecDeque;
use std::sync::Mutex;

use hermes_llm::chat::{Delta, Flow};
use hermes_llm::{Error, Result};
use serde_json::json;

use super::*;
use crate::toolbox::Ask;
use crate::window::Recalled;

/// A model that answers from a script.
struct Scripted {
    answers: Mutex<VecDeque<Result<Answer>>>,
    asked: Mutex<Vec<ChatRequest>>,
    /// Sets this when it begins to answer, and then waits to be cancelled.
    hangs: Option<Arc<AtomicBool>>,
}

impl Scripted {
    fn new(answers: Vec<Result<Answer>>) -> Arc<Scripted> {
        let answers = Mutex::new(answers.into());
        Arc::new(Scripted { answers, asked: Mutex::default(), hangs: None })
    }

    fn next(&self, request: &ChatRequest) -> Result<Answer> {
        self.asked.lock().unwrap().push(request.clone());
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| Ok(says("the end")))
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on: &mut dyn FnMut(Delta<'_>) -> Flow,
    ) -> Result<Answer> {
        let answer = self.next(request)?;
        let _ = on(Delta::Text(&answer.text()));
        if let Some(hangs) = &self.hangs {
            hangs.store(true, Ordering::SeqCst);
            while on(Delta::Thinking("…")) == Flow::Go {
                std::thread::yield_now();
            }
        }
        Ok(answer)
    }

    fn complete_quietly(&self, request: &ChatRequest) -> Result<Answer> {
        self.next(request)
    }
}

fn says(text: &str) -> Answer {
    Answer {
        blocks: vec![Block::Text { text: text.into() }],
        stop: Stop::End,
        usage: Usage { input: 10, output: 2, ..Usage::default() },
        request_id: None,
        model: "scripted".into(),
    }
}

fn calls(name: &str, input: Value) -> Answer {
    let block = Block::ToolCall { id: "c1".into(), name: name.into(), arguments: input };
    Answer { blocks: vec![block], stop: Stop::ToolUse, ..says("") }
}

/// One tool that says how often it was called, and one that always says the same.
#[derive(Default)]
struct Box1 {
    count: u32,
}

impl Toolbox for Box1 {
    fn tools(&self) -> Vec<Tool> {
        ["count", "same", "stop", "read", "sees"]
            .map(|name| Tool {
                name: name.into(),
                description: String::new(),
                parameters: json!({"type": "object"}),
            })
            .to_vec()
    }

    fn describe(&self, call: &Call) -> String {
        call.name.clone()
    }

    fn call(&mut self, call: &Call, window: &Window, _ask: &mut Ask<'_>) -> Outcome {
        self.count += 1;
        let text = match call.name.as_str() {
            "count" => self.count.to_string(),
            "sees" if window.has_outside() => "outside".into(),
            "sees" => "own".into(),
            _ => "same".into(),
        };
        Outcome {
            text,
            is_error: false,
            shown: None,
            ends_turn: call.name == "stop",
            is_outside: call.name == "read",
        }
    }
}

#[derive(Default)]
struct Seen {
    text: String,
    kept: Vec<Kept>,
    notices: Vec<String>,
    summaries: Vec<(Option<i64>, String)>,
}

impl Watch for Seen {
    fn text(&mut self, piece: &str) {
        self.text.push_str(piece);
    }
    fn text_end(&mut self) {
        self.text.push('|');
    }
    fn tool_begins(&mut self, _call: &Call, _describes: &str) {}
    fn tool_ended(&mut self, _call: &Call, _outcome: &Outcome) {}
    fn ask(&mut self, _request: &Request) -> Verdict {
        Verdict::No { reason: None }
    }
    fn notice(&mut self, text: &str) {
        self.notices.push(text.to_owned());
    }
    fn keep(&mut self, messages: &[Kept]) -> Vec<i64> {
        let from = self.kept.len();
        self.kept.extend_from_slice(messages);
        (from..self.kept.len()).map(|row| i64::try_from(row).unwrap()).collect()
    }
    fn compacted(&mut self, up_to: Option<i64>, summary: &str) {
        self.summaries.push((up_to, summary.to_owned()));
    }
    fn spent(&mut self, _usage: &Usage) {}
}

struct Played {
    taken: Taken,
    window: Window,
    seen: Seen,
    model: Arc<Scripted>,
}

fn play(answers: Vec<Result<Answer>>, mut window: Window, max_rounds: u32) -> Played {
    let model = Scripted::new(answers);
    let cancel = AtomicBool::new(false);
    let (mut toolbox, mut seen) = (Box1::default(), Seen::default());
    let means = Means {
        model: Arc::<Scripted>::clone(&model),
        system: &[],
        system_tokens: 0,
        max_rounds,
        answer_tokens: 100,
        takes_tools: true,
        cancel: &cancel,
    };
    let taken = take(&means, &mut window, &mut toolbox, &mut seen);
    Played { taken, window, seen, model }
}

fn asked(text: &str) -> Window {
    let mut window = Window::new(100_000);
    window.begin(text, None);
    window
}

/// Whether the window can be sent: roles alternate, every call has its result.
fn is_fit(window: &Window) -> bool {
    let messages = window.messages();
    let pairs = messages.windows(2).all(|pair| pair[0].role != pair[1].role);
    let results = messages.windows(2).all(|pair| {
        let ids = |blocks: &[Block]| -> Vec<String> {
            let id = |block: &Block| match block {
                Block::ToolCall { id, .. } | Block::ToolResult { id, .. } => Some(id.clone()),
                Block::Text { .. } => None,
            };
            blocks.iter().filter_map(id).collect()
        };
        pair[0].role == Role::User || ids(&pair[0].blocks) == ids(&pair[1].blocks)
    });
    let last_calls = messages.last().is_some_and(|last| {
        last.role == Role::Assistant
            && last.blocks.iter().any(|block| matches!(block, Block::ToolCall { .. }))
    });
    pairs && results && !last_calls
}

#[test]
fn an_answer_ends_the_turn() {
    let played = play(vec![Ok(says("hello"))], asked("hi"), 5);
    assert_eq!(played.taken.ended, Ended::Answered);
    assert_eq!(played.seen.text, "hello|");
    assert_eq!(played.taken.usage.input, 10);
    assert!(is_fit(&played.window));
}

#[test]
fn tools_are_called_and_their_results_brought() {
    let answers = vec![Ok(calls("count", json!({}))), Ok(says("one"))];
    let played = play(answers, asked("count"), 5);
    assert_eq!((played.taken.ended, played.taken.tools), (Ended::Answered, 1));
    assert_eq!(played.window.messages().len(), 4);
    assert_eq!(played.seen.kept.len(), 3);
}

#[test]
fn unknown_tools_and_broken_arguments_are_told_to_the_model() {
    let answers = vec![
        Ok(calls("teleport", json!({}))),
        Ok(calls("count", Value::String("{\"a\": ".into()))),
        Ok(calls("count", json!([1]))),
        Ok(says("sorry")),
    ];
    let played = play(answers, asked("go"), 5);
    assert_eq!((played.taken.ended, played.taken.failed_tools), (Ended::Answered, 3));
    let told: Vec<String> = played
        .seen
        .kept
        .iter()
        .filter_map(|kept| match kept {
            Kept::Result { outcome, .. } => Some(outcome.text.clone()),
            Kept::Answer { .. } => None,
        })
        .collect();
    assert!(told[0].contains("there is no tool teleport; there are count"), "{told:?}");
    assert!(told[1].contains("not JSON") && told[2].contains("one JSON object"), "{told:?}");
    let sent = played.model.asked.lock().unwrap();
    let arguments = sent[2].messages.iter().flat_map(|message| &message.blocks);
    let objects = arguments.filter_map(|block| match block {
        Block::ToolCall { arguments, .. } => Some(arguments.is_object()),
        _ => None,
    });
    assert!(objects.into_iter().all(|is_object| is_object));
}

#[test]
fn what_a_tool_brought_is_known_to_the_next_call_and_to_later_turns() {
    let both = |first: &str, second: &str| {
        let block = |id: &str, name: &str| Block::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: json!({}),
        };
        Answer { blocks: vec![block("a", first), block("b", second)], ..calls("count", json!({})) }
    };
    let told = |played: &Played| -> Vec<String> {
        let texts = played.seen.kept.iter().filter_map(|kept| match kept {
            Kept::Result { call, outcome } if call.name == "sees" => Some(outcome.text.clone()),
            _ => None,
        });
        texts.collect()
    };
    let first = play(vec![Ok(both("sees", "read")), Ok(says("read"))], asked("look"), 5);
    assert_eq!(told(&first), ["own"]);
    let mut window = first.window;
    window.begin("and now?", None);
    let later = play(vec![Ok(calls("sees", json!({}))), Ok(says("ok"))], window, 5);
    assert_eq!(told(&later), ["outside"]);
    let same = play(vec![Ok(both("read", "sees")), Ok(says("ok"))], asked("look"), 5);
    assert_eq!(told(&same), ["outside"]);
}

#[test]
fn the_same_call_again_and_again_is_stopped() {
    let answers = (0..20).map(|_| Ok(calls("same", json!({"a": 1})))).collect();
    let played = play(answers, asked("loop"), 50);
    assert_eq!((played.taken.ended, played.taken.tools), (Ended::Looped, 6));
    assert!(is_fit(&played.window));
    let progress = (0..10).map(|_| Ok(calls("count", json!({})))).collect();
    assert_eq!(play(progress, asked("count"), 50).taken.ended, Ended::Answered);
}

#[test]
fn rounds_are_bounded() {
    let answers = (0..20).map(|_| Ok(calls("count", json!({})))).collect();
    let played = play(answers, asked("count"), 4);
    assert_eq!((played.taken.ended, played.taken.tools), (Ended::Rounds, 4));
    assert!(is_fit(&played.window));
    let last = play(vec![Ok(calls("count", json!({}))), Ok(says("done"))], asked("x"), 1);
    assert_eq!(last.taken.ended, Ended::Answered);
}

#[test]
fn a_model_that_takes_no_tools_answers_without_them() {
    let refused = Error::Refused {
        task: hermes_llm::Task::Answer,
        server: hermes_llm::Server::Ollama,
        model: "m".into(),
        host: "h".into(),
        status: 400,
        message: "m does not support tools".into(),
        key_from: None,
    };
    let played = play(vec![Err(refused), Ok(says("plain"))], asked("x"), 5);
    assert_eq!((&played.taken.ended, played.taken.refused_tools), (&Ended::Answered, true));
    let sent = played.model.asked.lock().unwrap();
    assert!(!sent[0].tools.is_empty() && sent[1].tools.is_empty());
}

#[test]
fn a_tool_may_end_the_turn() {
    let played = play(vec![Ok(calls("stop", json!({})))], asked("x"), 5);
    assert_eq!(played.taken.ended, Ended::ByTool);
    assert!(is_fit(&played.window));
}

#[test]
fn an_error_leaves_the_window_fit_to_go_on_with() {
    let error = Error::Unreachable {
        server: hermes_llm::Server::Other,
        host: "h".into(),
        why: "refused".into(),
    };
    let played = play(vec![Err(error.clone())], asked("x"), 5);
    assert_eq!(played.taken.ended, Ended::Failed(error));
    let mut window = played.window;
    window.begin("again", None);
    assert_eq!(window.messages().len(), 1);
}

#[test]
fn cancelling_keeps_the_part_that_was_heard() {
    let hangs = Arc::new(AtomicBool::new(false));
    let model = Arc::new(Scripted {
        answers: Mutex::new([Ok(says("The first half"))].into()),
        asked: Mutex::default(),
        hangs: Some(Arc::clone(&hangs)),
    });
    let mut window = asked("tell me");
    let (mut toolbox, mut seen) = (Box1::default(), Seen::default());
    // The model sets it as soon as it has said something.
    let means = Means {
        model,
        system: &[],
        system_tokens: 0,
        max_rounds: 5,
        answer_tokens: 100,
        takes_tools: true,
        cancel: &hangs,
    };
    let taken = take(&means, &mut window, &mut toolbox, &mut seen);
    assert_eq!((taken.ended, taken.text.as_str()), (Ended::Cancelled, "The first half"));
    assert_eq!(window.exchanges[0].answer(), "The first half\n[cancelled]");
    assert!(is_fit(&window));
}

#[test]
fn what_does_not_fit_loses_recalled_memory_first_and_then_older_turns() {
    let too_long = || Error::TooLong {
        task: hermes_llm::Task::Answer,
        model: "m".into(),
        message: "too long".into(),
    };
    let mut window = Window::new(100_000);
    for number in 0..6 {
        window.begin(&format!("question {number} {}", "word ".repeat(50)), None);
        window.add(ChatMessage::assistant("answer"));
    }
    let recalled =
        Recalled { text: "<hermes-memory>\n> old".into(), tokens: 10, is_outside: false };
    window.begin("now", Some(recalled));
    let answers = vec![
        Err(too_long()),
        Err(too_long()),
        Ok(says("they asked six questions")),
        Ok(says("here")),
    ];
    let played = play(answers, window, 5);
    assert_eq!(played.taken.ended, Ended::Answered);
    let sent = played.model.asked.lock().unwrap();
    let size = |request: &ChatRequest| format!("{:?}", request.messages).len();
    assert!(size(&sent[1]) < size(&sent[0]) && size(&sent[3]) < size(&sent[1]));
    assert_eq!(played.window.summary.as_deref(), Some("they asked six questions"));
    assert_eq!(played.seen.notices.len(), 2, "{:?}", played.seen.notices);
}

#[test]
fn a_full_window_is_summarised_by_rule_where_no_model_answers() {
    let mut window = Window::new(4_000);
    for number in 0..20 {
        window.begin(&format!("question {number}"), None);
        window.add(ChatMessage::assistant(&"word ".repeat(200)));
    }
    window.begin("now", None);
    let unavailable = Error::Cut { model: "m".into(), host: "h".into(), why: String::new() };
    let played = play(vec![Err(unavailable), Ok(says("fine"))], window, 5);
    assert_eq!(played.taken.ended, Ended::Answered);
    assert!(played.seen.notices[0].contains("by rule"), "{:?}", played.seen.notices);
    assert!(played.window.summary.unwrap().contains("question 3"));
}
