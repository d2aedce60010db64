//! hermes bench chat: what a turn of a conversation costs besides the model, on a home of made-up messages

use crate::terminal::Terminal;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use hermes_agent::approval::{Request, Verdict};
use hermes_agent::toolbox::{Call, Toolbox as _};
use hermes_home::tokens;
use hermes_llm::chat::{Answer, Block, ChatModel, ChatRequest, Delta, Flow, Stop, Usage};
use hermes_store::sessions::{AppendedTurn, NewMessage, NewSession, SessionId, SessionStore};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::figures::{Figure, Table, Times, milliseconds};
use super::scale::data;
use super::scratch::{Filling, Scratch};
use super::text::{Numbers, Vocabulary};
use crate::chat::front::{Event, Front, Input};
use crate::chat::{Conversation, Opening, Which};
use crate::failure::Outcome;
use hermes_app::app::App;
use hermes_app::platform;
use hermes_app::text::thousands;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages the home holds, in both databases
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    messages: usize,
    /// How many turns are taken
    #[arg(long, default_value_t = 50, value_name = "COUNT")]
    turns: usize,
}

const WAIT: Duration = Duration::from_secs(10);
const STARTS: usize = 20;
const PER_SESSION: usize = 20;
const LENGTH: usize = 300;
/// A model that is nowhere: it is only named.
const NOWHERE: &str = "http://127.0.0.1:9/v1#bench";

/// Answers at once, and notes what does not change from request to request.
struct Instantly {
    prefixes: Mutex<Vec<[u8; 32]>>,
}

/// Shows nothing, asks nobody.
struct Nobody;

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    ensure!(platform::thread_cpu() > Duration::ZERO, "CPU time cannot be measured on this system");
    ensure!(arguments.messages >= 1000 && arguments.turns > 1, "nothing would be measured");
    let scratch = Scratch::new(app.now)?;
    let begin = app.now - SignedDuration::from_mins(arguments.messages as i64);
    let mut filling = Filling::new(&scratch, app.now)?;
    let mut data = data::fill(&mut filling, arguments.messages, 1, begin)?;
    drop(filling);
    fill_sessions(scratch.home(), arguments.messages, begin)?;
    let mut results = vec![starts(scratch.home())?];
    let model = Arc::new(Instantly { prefixes: Mutex::default() });
    let mut conversation = open(app, scratch.home(), &model)?;
    results.push(turns(&mut conversation, &data.mixed_questions(arguments.turns))?);
    results.push(prefix(&model));
    results.extend(discover(&mut conversation, &data.mixed_questions(arguments.turns))?);
    let title = format!(
        "{} messages of {} characters on average in each database; CPU time, the start in time of the clock",
        thousands(arguments.messages as u64),
        data.mean_length
    );
    app.out.show(&Table { title, results })?;
    Ok(Outcome::Done)
}

/// As many messages in state.db, in sessions of their own.
fn fill_sessions(home: &Path, messages: usize, begin: Timestamp) -> anyhow::Result<()> {
    let path = home.join("state.db");
    if !path.exists() {
        SessionStore::create(&path)?;
    }
    let mut store = SessionStore::open(&path, hermes_store::sqlite::Access::Write, WAIT)?;
    let (vocabulary, mut numbers) = (Vocabulary::new(), Numbers::new(7));
    for session in 0..messages / PER_SESSION {
        let at = begin + SignedDuration::from_mins((session * PER_SESSION) as i64);
        let id = SessionId::from(format!("made-up-{session}"));
        let rows: Vec<NewMessage> = (0..PER_SESSION)
            .map(|number| {
                let role = if number % 2 == 0 { "user" } else { "assistant" };
                let text = vocabulary.message(&mut numbers, LENGTH);
                NewMessage::text(role, &text, at + SignedDuration::from_mins(number as i64))
            })
            .collect();
        store.append_turn(&NewSession::plain(id, at, "cli"), &rows, AppendedTurn::default())?;
    }
    Ok(())
}

/// The whole program from its start until it waits for a line, which never comes.
fn starts(home: &Path) -> anyhow::Result<Figure> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let status = Command::new(std::env::current_exe()?)
            .args(["chat", "--model", NOWHERE])
            .env("HERMES_HOME", home)
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .context("could not start this program again")?;
        ensure!(status.success(), "the conversation did not open");
        times.push(begun.elapsed());
    }
    let times = Times::new(times);
    let reached = times.at(0.5) <= Duration::from_millis(50);
    let said =
        format!("p50 {}, longest {}", milliseconds(times.at(0.5)), milliseconds(times.longest()));
    Ok(Figure::new(
        "start of a conversation to its prompt, and its end",
        said,
        "p50 ≤ 50 ms",
        reached,
    ))
}

fn open(app: &App, home: &Path, model: &Arc<Instantly>) -> anyhow::Result<Conversation> {
    let own = app.for_folder(home);
    let opening = Opening {
        user: None,
        channel: "cli".to_owned(),
        which: Which::New,
        model: Some(NOWHERE.to_owned()),
        folder: home.to_owned(),
        max_rounds: None,
        allow: Vec::new(),
        commands: crate::cli::run_words,
    };
    let mut conversation = Conversation::open(&own, opening)?;
    conversation.window.size = 200_000;
    conversation.model.chat = Arc::<Instantly>::clone(model);
    Ok(conversation)
}

/// Recall, recording in both databases, wishes, receipts, cost: all but the model.
fn turns(conversation: &mut Conversation, questions: &[String]) -> anyhow::Result<Figure> {
    let mut times = Vec::new();
    for question in questions {
        let begun = platform::thread_cpu();
        let end = conversation.say(question, &mut Nobody)?;
        times.push(platform::thread_cpu() - begun);
        ensure!(end.is_answered, "a turn was not answered");
    }
    let times = Times::new(times);
    let reached = times.at(0.5) <= Duration::from_millis(25);
    let said = format!("p50 {}, p95 {}", milliseconds(times.at(0.5)), milliseconds(times.at(0.95)));
    Ok(Figure::new("a turn, all but the model", said, "p50 ≤ 25 ms", reached))
}

fn prefix(model: &Instantly) -> Figure {
    let seen = model.prefixes.lock().map(|seen| seen.clone()).unwrap_or_default();
    let is_same = seen.windows(2).all(|pair| pair[0] == pair[1]);
    let hash = seen
        .first()
        .map(|hash| hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect::<String>());
    let said = match is_same {
        true => format!("{} times {}", seen.len(), hash.unwrap_or_default()),
        false => "it changed".to_owned(),
    };
    Figure::new("hash of prompt and tools over all turns", said, "one", is_same)
}

fn discover(conversation: &mut Conversation, questions: &[String]) -> anyhow::Result<Vec<Figure>> {
    let (mut times, mut sizes) = (Vec::new(), Vec::new());
    for question in questions {
        let call = Call {
            id: "bench".to_owned(),
            name: "session_search".to_owned(),
            input: json!({"query": question, "limit": 10}),
        };
        let begun = platform::thread_cpu();
        let mut agree = |_: &Request| Verdict::Once;
        let outcome = conversation.tools.call(&call, &conversation.window, &mut agree);
        times.push(platform::thread_cpu() - begun);
        ensure!(!outcome.is_error, "{}", outcome.text);
        sizes.push(tokens::estimate(&outcome.text));
    }
    sizes.sort_unstable();
    let largest = sizes.last().copied().unwrap_or_default();
    let middle = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    let times = Times::new(times);
    let said = format!("{middle} tokens, at most {largest}");
    let time = format!("p50 {}, p95 {}", milliseconds(times.at(0.5)), milliseconds(times.at(0.95)));
    Ok(vec![
        Figure::new(
            "answer of session_search with ten sessions",
            said,
            "≤ 1,500 tokens",
            largest <= 1_500,
        ),
        Figure::plain("what it costs to find them", time),
    ])
}

impl ChatModel for Instantly {
    fn name(&self) -> &str {
        "bench"
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on: &mut dyn FnMut(Delta<'_>) -> Flow,
    ) -> hermes_llm::Result<Answer> {
        let _ = on(Delta::Text("It is so."));
        self.complete_quietly(request)
    }

    fn complete_quietly(&self, request: &ChatRequest) -> hermes_llm::Result<Answer> {
        let prefix = Sha256::digest(format!("{:?}{:?}", request.system, request.tools));
        if let Ok(mut seen) = self.prefixes.lock() {
            seen.push(prefix.into());
        }
        Ok(Answer {
            blocks: vec![Block::Text { text: "It is so.".to_owned() }],
            stop: Stop::End,
            usage: Usage::default(),
            request_id: None,
            model: "bench".to_owned(),
        })
    }
}

impl Front for Nobody {
    fn read(&mut self) -> anyhow::Result<Input> {
        Ok(Input::End)
    }

    fn show(&mut self, _event: &Event<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    fn ask(&mut self, _request: &Request) -> Verdict {
        Verdict::No { reason: None }
    }

    fn confirm(&mut self, _question: &str, _detail: &str) -> bool {
        false
    }

    fn is_interactive(&self) -> bool {
        false
    }
}
