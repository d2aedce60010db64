//! hermes-bench scale: recording, search, context and size of a memory of made-up messages

pub(super) mod data;
mod nearest;

use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use hermes_llm::Embedded;
use hermes_memory::retrieval;
use hermes_memory::search::{self, Question, Reading};
use hermes_store::memory::{Memory, Scope, UserNumber};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use self::data::{Data, Words};
use crate::cpu;
use crate::figures::{Figure, Table, Times};
use crate::made_up::PER_SESSION;
use crate::program::Program;
use crate::recall::request;
use crate::scratch::{Filling, Scratch, Whose, size_per_10k};
use hermes_app::text::thousands;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages the memory holds
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    turns: usize,
    /// How many questions to ask of each kind
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    questions: usize,
    /// How many single messages to append
    #[arg(long, default_value_t = 5_000, value_name = "COUNT")]
    appends: usize,
    /// The same number gives the same messages
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
}

const RESULTS: usize = 20;
const CONTEXT_TOKENS: usize = 20_000;
const RUNS: usize = 30;
const WARM_UP: usize = 20;
/// Above it the aims are those for a million.
const LARGE: usize = 100_000;

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    ensure!(arguments.turns >= 1000, "at least 1000 messages are needed to measure anything");
    ensure!(arguments.questions > 0 && arguments.appends > 0, "nothing would be measured");
    let scratch = Scratch::new(now)?;
    let begin = now - SignedDuration::from_mins(arguments.turns as i64);
    let mut filling = Filling::new(&scratch, now)?;
    let mut data = data::fill(&mut filling, arguments.turns, arguments.seed, begin)?;
    let mut results = vec![ingest_figure(&filling)];
    let messages = filling.messages;
    drop(filling);
    results.push(size_figure(size_per_10k(scratch.size()?, messages)));
    let bench = Bench { scratch: &scratch, program, arguments, now, embedded: Embedded::new() };
    results.extend(bench.searches(&mut data)?);
    results.push(bench.contexts(&mut data)?);
    results.extend(bench.nearest(&mut data)?);
    results.extend(bench.program(&mut data)?);
    results.push(bench.appends(&mut data)?);
    let title = format!(
        "{} messages of {} characters on average, CPU time",
        thousands(arguments.turns as u64),
        data.mean_length
    );
    Ok(Table { title, results })
}

/// A filled memory and how it is asked.
struct Bench<'a> {
    scratch: &'a Scratch,
    program: &'a Program,
    arguments: &'a Arguments,
    now: Timestamp,
    embedded: Embedded,
}

const OWNER: UserNumber = UserNumber::OWNER;

impl Bench<'_> {
    fn open(&self) -> anyhow::Result<Memory> {
        self.scratch.open(Access::Read)
    }

    fn is_large(&self) -> bool {
        self.arguments.turns > LARGE
    }

    fn searches(&self, data: &mut Data) -> anyhow::Result<Vec<Figure>> {
        let store = self.open()?;
        for question in data.mixed_questions(WARM_UP) {
            self.search(&store, Scope::of(OWNER), &question)?;
        }
        let mut figures = Vec::new();
        let mut all = Vec::new();
        let kinds =
            [("rare", Words::Rare), ("middling", Words::Middling), ("common", Words::Common)];
        for (what, kind) in kinds {
            let mut times = Vec::new();
            for question in data.questions(kind, self.arguments.questions.div_ceil(3)) {
                times.push(self.search(&store, Scope::of(OWNER), &question)?);
            }
            all.extend_from_slice(&times);
            figures.push(Figure::plain(
                &format!("of these, {what} words"),
                Times::new(times).spread(99),
            ));
        }
        figures.insert(0, self.search_figure("search, one connection", all));
        let mut cold = Vec::new();
        for question in data.mixed_questions(self.arguments.questions) {
            let asked = || self.search(&self.open()?, Scope::of(OWNER), &question);
            cold.push(cpu::timed(asked)?.1);
        }
        figures.push(self.search_figure("search, a new connection each time", cold));
        let mut small = Vec::new();
        for (scope, question) in data.small_questions(self.arguments.questions) {
            small.push(self.search(&store, scope, &question)?);
        }
        figures
            .push(Figure::plain("search of a user with 50 messages", Times::new(small).spread(99)));
        Ok(figures)
    }

    fn search(&self, store: &Memory, scope: Scope, text: &str) -> anyhow::Result<Duration> {
        let question = Question { text, limit: RESULTS, ..Question::default() };
        let reading = self.reading(store, scope);
        let (answer, spent) = cpu::timed(|| search::search(&reading, &question))?;
        ensure!(!answer.results.is_empty(), "nothing was found for {text:?}");
        Ok(spent)
    }

    fn reading<'s>(&'s self, store: &'s Memory, scope: Scope) -> Reading<'s> {
        let zone = const { &TimeZone::UTC };
        Reading { store, embedder: Some(&self.embedded), scope, now: self.now, zone }
    }

    fn search_figure(&self, what: &str, times: Vec<Duration>) -> Figure {
        self.aimed(what, times, [("p50 ≤ 10 ms", 10), ("p50 ≤ 40 ms", 40)])
    }

    fn contexts(&self, data: &mut Data) -> anyhow::Result<Figure> {
        let store = self.open()?;
        let mut times = Vec::new();
        for question in data.mixed_questions(self.arguments.questions) {
            let request = request(&question, CONTEXT_TOKENS);
            let reading = self.reading(&store, Scope::of(OWNER));
            times.push(cpu::timed(|| retrieval::context(&reading, &request, &[]))?.1);
        }
        Ok(self.aimed("context", times, [("p50 ≤ 15 ms", 15), ("p50 ≤ 60 ms", 60)]))
    }

    /// Times with the first of two aims, or the second where there are many messages.
    fn aimed(&self, what: &str, times: Vec<Duration>, aims: [(&'static str, u64); 2]) -> Figure {
        let times = Times::new(times);
        let (aim, limit) = aims[usize::from(self.is_large())];
        Figure::new(what, times.spread(99), aim, times.are_within(limit))
    }

    fn nearest(&self, data: &mut Data) -> anyhow::Result<Vec<Figure>> {
        let questions = data.mixed_questions(self.arguments.questions.min(150));
        let turns = self.arguments.turns;
        let found = nearest::measure(&self.open()?, Scope::of(OWNER), turns, &questions)?;
        let recall = format!("{:.4} over {} questions", found.recall, questions.len());
        let aims = [("p50 ≤ 3 ms", 3), ("p50 ≤ 30 ms", 30)];
        Ok(vec![
            self.aimed("look over all vectors", found.times, aims),
            Figure::new("its first ten of the true ten", recall, "≥ 0.99", found.recall >= 0.99),
        ])
    }

    fn program(&self, data: &mut Data) -> anyhow::Result<Vec<Figure>> {
        const NAME: &str = "`hermes memory search`, whole program";
        const MEMORY: &str = "its anonymous memory";
        let (mut times, mut anonymous) = (Vec::new(), None);
        for question in data.mixed_questions(RUNS) {
            let ran = self.program.run(self.scratch.home(), &["memory", "search", &question])?;
            anonymous = anonymous.max(ran.anonymous);
            times.push(ran.cpu);
        }
        let times = Times::new(times);
        let time = match self.is_large() {
            false => Figure::new(NAME, times.to_longest(), "p50 ≤ 25 ms", times.are_within(25)),
            true => Figure::plain(NAME, times.to_longest()),
        };
        let memory = match anonymous.map(|bytes| bytes as f64 / 1e6) {
            Some(found) => Figure::new(MEMORY, format!("{found:.1} MB"), "≤ 60 MB", found <= 60.0),
            None => Figure::plain(MEMORY, "not measured on this system".to_owned()),
        };
        Ok(vec![time, memory])
    }

    /// Single messages, each durable before the next.
    fn appends(&self, data: &mut Data) -> anyhow::Result<Figure> {
        let mut filling = Filling::new(self.scratch, self.now)?;
        let whose = Whose { scope: Scope::of(OWNER), source: "bench-append" };
        let first = self.arguments.turns.next_multiple_of(PER_SESSION);
        let mut times = Vec::with_capacity(self.arguments.appends);
        for number in 0..self.arguments.appends {
            let text = data.message(number);
            let begin = self.now - SignedDuration::from_mins(first as i64);
            data::add(&mut filling, &whose, &text, first + number, begin)?;
            let before = filling.spent;
            filling.finish(&whose)?;
            times.push(filling.spent - before);
        }
        let times = Times::new(times);
        let what = format!("append one message, {} times", thousands(times.count() as u64));
        Ok(Figure::plain(&what, times.with_rare_ones()))
    }
}

fn ingest_figure(filling: &Filling) -> Figure {
    let rate = filling.rate();
    let measured = format!("{} messages per CPU-second", thousands(rate as u64));
    Figure::new("ingest", measured, "≥ 5,000", rate >= 5_000.0)
}

fn size_figure(size: f64) -> Figure {
    let measured = format!("{size:.1} MiB per 10,000 messages");
    Figure::new("memory.db", measured, "≤ 13 MiB", size <= 13.0)
}
