//! hermes-bench chat: what a turn of a conversation costs besides the model, on a home of made-up messages

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use hermes_app::numbers::Numbers;
use hermes_app::text::thousands;
use hermes_home::tokens;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cpu;
use crate::figures::{Figure, Table, Times};
use crate::made_up::{self, PER_SESSION, Session};
use crate::model::{Asked, Model};
use crate::program::Program;
use crate::scale::data;
use crate::scratch::{Filling, Scratch};
use crate::text::Vocabulary;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages the home holds, in both databases
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    messages: usize,
    /// How many turns are taken
    #[arg(long, default_value_t = 50, value_name = "COUNT")]
    turns: usize,
}

const STARTS: usize = 20;
const LENGTH: usize = 300;
/// A model that is nowhere: it is only named.
const NOWHERE: &str = "http://127.0.0.1:9/v1#bench";

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    ensure!(arguments.messages >= 1000 && arguments.turns > 1, "nothing would be measured");
    let scratch = Scratch::new(now)?;
    let begin = now - SignedDuration::from_mins(arguments.messages as i64);
    let mut filling = Filling::new(&scratch, now)?;
    let mut data = data::fill(&mut filling, arguments.messages, 1, begin)?;
    drop(filling);
    fill_sessions(scratch.home(), arguments.messages, begin, now)?;
    let mut results = vec![starts(program, scratch.home())?];
    let mut talk = Talk::open(program, scratch.home())?;
    results.extend(talk.turns(&data.mixed_questions(arguments.turns))?);
    results.extend(talk.searches(&data.mixed_questions(arguments.turns))?);
    let title = format!(
        "{} messages of {} characters on average in each database; CPU time, the start in time of the clock",
        thousands(arguments.messages as u64),
        data.mean_length
    );
    Ok(Table { title, results })
}

/// As many messages in state.db, in sessions of their own.
fn fill_sessions(
    home: &Path,
    messages: usize,
    begin: Timestamp,
    now: Timestamp,
) -> anyhow::Result<()> {
    let mut store = made_up::session_store(&home.join("state.db"))?;
    let (vocabulary, mut numbers) = (Vocabulary::new(), Numbers::new(7));
    made_up::fill(&mut store, messages, now, |number, count| {
        let texts = (0..count).map(|_| vocabulary.message(&mut numbers, LENGTH)).collect();
        let begins = begin.as_second() as f64 + (number * PER_SESSION) as f64 * 60.0;
        Session { number, title: None, begins, texts }
    })
}

/// The whole program from its start until it waits for a line, which never comes.
fn starts(program: &Program, home: &Path) -> anyhow::Result<Figure> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let status = program.on(home, &["chat", "--model", NOWHERE]).status()?;
        ensure!(status.success(), "the conversation did not open");
        times.push(begun.elapsed());
    }
    let times = Times::new(times);
    let what = "start of a conversation to its prompt, and its end";
    Ok(Figure::new(what, times.to_longest(), "p50 ≤ 50 ms", times.are_within(50)))
}

/// A conversation with a model that answers at once.
struct Talk {
    model: Model,
    program: Child,
    input: ChildStdin,
    events: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn open(program: &Program, home: &Path) -> anyhow::Result<Talk> {
        let model = Model::start()?;
        let arguments =
            ["--json", "--set", "agent.window_tokens=200000", "chat", "--model", &model.name()];
        let mut child = program
            .on(home, &arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start a conversation")?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).context("no pipes")?;
        model.is_asked_by(child.id());
        let events = BufReader::new(output).lines();
        let mut talk = Talk { model, program: child, input, events };
        talk.wait_for("began")?;
        Ok(talk)
    }

    /// Takes a turn; returns the CPU time it cost.
    fn say(&mut self, text: &str) -> anyhow::Result<Duration> {
        let before = cpu::of_process(self.program.id());
        writeln!(self.input, "{text}")?;
        let ended = self.wait_for("turn_ended")?;
        let spent = cpu::of_process(self.program.id()) - before;
        ensure!(ended["figures"]["ended"] == "answered", "a turn was not answered: {ended}");
        Ok(spent)
    }

    fn wait_for(&mut self, name: &str) -> anyhow::Result<Value> {
        for line in &mut self.events {
            let event: Value = serde_json::from_str(&line?)?;
            ensure!(event["event"] != "problem", "the conversation failed: {}", event["error"]);
            if event["event"] == name {
                return Ok(event);
            }
        }
        anyhow::bail!("the conversation ended")
    }

    /// Recall, recording in both databases, wishes, receipts, cost, asking the model: all but its answer.
    fn turns(&mut self, questions: &[String]) -> anyhow::Result<Vec<Figure>> {
        let times: Vec<Duration> =
            questions.iter().map(|question| self.say(question)).collect::<anyhow::Result<_>>()?;
        let times = Times::new(times);
        let what = "a turn, all but the model";
        Ok(vec![
            Figure::new(what, times.spread(95), "p50 ≤ 25 ms", times.are_within(25)),
            prefix(&self.model.take_asked()),
        ])
    }

    /// What the tool that searches sessions answers, and what it costs until the model is asked again.
    fn searches(&mut self, questions: &[String]) -> anyhow::Result<Vec<Figure>> {
        let (mut times, mut sizes) = (Vec::new(), Vec::new());
        for question in questions {
            self.model.search_next(question);
            self.say(question)?;
            let asked = self.model.take_asked();
            let [before, after] = &asked[..] else {
                anyhow::bail!(
                    "the model was asked {} times in a turn with one search",
                    asked.len()
                );
            };
            let answer = after.tool_answer.as_deref().context("the search was not answered")?;
            ensure!(!answer.starts_with("error:"), "{answer}");
            times.push(after.cpu - before.cpu);
            sizes.push(tokens::estimate(answer));
        }
        sizes.sort_unstable();
        let largest = sizes.last().copied().unwrap_or_default();
        let middle = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
        let said = format!("{middle} tokens, at most {largest}");
        let what = "answer of session_search with ten sessions";
        Ok(vec![
            Figure::new(what, said, "≤ 1,500 tokens", largest <= 1_500),
            Figure::plain("what it costs to find them", Times::new(times).spread(95)),
        ])
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn prefix(asked: &[Asked]) -> Figure {
    let is_same = asked.windows(2).all(|pair| pair[0].prefix == pair[1].prefix);
    let said = match asked.first().filter(|_| is_same) {
        Some(first) => format!("{} times {}", asked.len(), first.prefix),
        None => "it changed".to_owned(),
    };
    Figure::new("hash of prompt and tools over all turns", said, "one", is_same)
}
