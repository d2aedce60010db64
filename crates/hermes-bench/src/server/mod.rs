//! hermes-bench server: the same memory in a file and on a PostgreSQL server that is started for it

mod postgres;
mod recording;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use hermes_app::text::thousands;
use hermes_llm::Embedded;
use hermes_memory::retrieval;
use hermes_memory::search::{self, Question, Reading};
use hermes_store::memory::{Memory, Scope, UserNumber};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use self::postgres::{Database, Postgres};
use self::recording::Place;
pub(crate) use self::recording::{Worker, work};
use crate::daemon::Daemon;
use crate::figures::{Figure, Table, Times, milliseconds};
use crate::program::Program;
use crate::recall::request;
use crate::scale::data::{self, Data};
use crate::scratch::{Filling, Scratch};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder with the programs of a PostgreSQL server: initdb, postgres
    #[arg(long, value_name = "DIR")]
    programs: PathBuf,
    /// How many messages both memories hold when they are asked
    #[arg(long, default_value_t = 10_000, value_name = "COUNT")]
    messages: usize,
    /// How many questions both are asked
    #[arg(long, default_value_t = 40, value_name = "COUNT")]
    questions: usize,
    /// How many turns each process and each connection records
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    turns: usize,
    /// How many messages are recorded with pgvector's index, and without
    #[arg(long, default_value_t = 3_000, value_name = "COUNT")]
    indexed: usize,
}

/// How many record at once.
const SEVERAL: usize = 4;
const CONTEXT_TOKENS: usize = 2_000;
/// How many tables are named with their size.
const LARGEST: usize = 6;
/// The first questions warm up what is kept at hand.
const WARM_UP: usize = 4;
const FOUND: usize = 10;

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    ensure!(arguments.questions > 0 && arguments.turns > 0, "nothing would be measured");
    ensure!(arguments.messages >= 1000, "at least 1000 messages are needed to measure anything");
    let postgres = Postgres::start(&arguments.programs)?;
    let bench = Bench { arguments, program, now, postgres };
    let mut results = bench.contexts()?;
    results.extend(bench.processes()?);
    results.push(bench.requests()?);
    results.push(bench.index()?);
    let title = format!(
        "{} messages, {} turns for each process and connection, PostgreSQL {}, time of the clock",
        thousands(arguments.messages as u64),
        thousands(arguments.turns as u64),
        bench.postgres.version()?,
    );
    Ok(Table { title, results })
}

/// What is measured, and where.
struct Bench<'a> {
    arguments: &'a Arguments,
    program: &'a Program,
    now: Timestamp,
    postgres: Postgres,
}

/// A memory that was filled, what there is to ask about, and how many messages a second it took in.
struct Filled {
    store: Memory,
    data: Data,
    messages: u64,
    rate: f64,
}

impl Bench<'_> {
    /// Both filled with the same, and asked the same by turns.
    fn contexts(&self) -> anyhow::Result<Vec<Figure>> {
        let (scratch, database) = (Scratch::new(self.now)?, self.postgres.database("contexts")?);
        let on_server = Scratch::on_server(database.pool.clone(), self.now)?;
        let mut file = self.filled(&scratch, self.arguments.messages)?;
        let server = self.filled(&on_server, self.arguments.messages)?;
        database.settle()?;
        let recorded = format!("file {:.0}, server {:.0} a second", file.rate, server.rate);
        let size = |bytes: u64| format!("{:.0}", bytes as f64 / file.messages as f64);
        let tables = database.sizes()?;
        let whole: u64 = tables.iter().map(|(_, bytes)| bytes).sum();
        let largest =
            tables.iter().take(LARGEST).map(|(name, bytes)| format!("{name} {}", size(*bytes)));
        let largest = largest.collect::<Vec<_>>().join(", ");
        let sizes = format!(
            "file {}, server {} bytes for each ({largest})",
            size(scratch.size()?),
            size(whole)
        );
        let mut figures = self.ask_both(&mut file, &server.store)?;
        figures.push(Figure::plain("messages recorded in batches", recorded));
        figures.push(Figure::plain("messages on disk, with their indexes", sizes));
        Ok(figures)
    }

    fn filled(&self, scratch: &Scratch, messages: usize) -> anyhow::Result<Filled> {
        let begin = self.now - SignedDuration::from_mins(messages as i64);
        let mut filling = Filling::new(scratch, self.now)?;
        let begun = Instant::now();
        let data = data::fill(&mut filling, messages, 1, begin)?;
        let rate = filling.messages as f64 / begun.elapsed().as_secs_f64();
        let messages = filling.messages;
        drop(filling);
        Ok(Filled { store: scratch.open(Access::Read)?, data, messages, rate })
    }

    fn ask_both(&self, file: &mut Filled, server: &Memory) -> anyhow::Result<Vec<Figure>> {
        let embedded = Embedded::new();
        let (mut times, mut alike): ([Vec<Duration>; 2], f64) = Default::default();
        let questions = file.data.mixed_questions(WARM_UP + self.arguments.questions);
        for (number, question) in questions.iter().enumerate() {
            let mut found: [BTreeSet<String>; 2] = Default::default();
            for (place, store) in [&file.store, server].into_iter().enumerate() {
                let (took, names) = self.ask(store, &embedded, question)?;
                if number >= WARM_UP {
                    times[place].push(took);
                }
                found[place] = names;
            }
            let same = found[0].intersection(&found[1]).count();
            alike += same as f64 / found[0].len().max(1) as f64;
        }
        let [file, server] = times.map(|times| Times::new(times).at(0.5));
        let ratio = server.as_secs_f64() / file.as_secs_f64().max(1e-9);
        let said = format!("file {}, server {}", milliseconds(file), milliseconds(server));
        let name =
            format!("context at {} messages, p50", thousands(self.arguments.messages as u64));
        let alike = alike / questions.len() as f64;
        let asked = format!("the ten best of {} questions, alike", questions.len());
        Ok(vec![
            Figure::new(&name, format!("{said}: {ratio:.2} ×"), "≤ 3 ×", ratio <= 3.0),
            Figure::new(&asked, format!("{alike:.3}"), "≥ .9", alike >= 0.9),
        ])
    }

    /// How long a context takes, and what a search finds.
    fn ask(
        &self,
        store: &Memory,
        embedder: &Embedded,
        text: &str,
    ) -> anyhow::Result<(Duration, BTreeSet<String>)> {
        let (scope, zone) = (Scope::of(UserNumber::OWNER), const { &TimeZone::UTC });
        let reading = Reading { store, embedder: Some(embedder), scope, now: self.now, zone };
        let begun = Instant::now();
        let view = store.view()?;
        retrieval::context(&reading, &request(text, CONTEXT_TOKENS), &[])?;
        drop(view);
        let took = begun.elapsed();
        let question = Question { text, limit: FOUND, ..Question::default() };
        let answer = search::search(&reading, &question)?;
        Ok((took, answer.results.iter().map(|one| one.item.text().to_owned()).collect()))
    }

    /// Turns by one process, and by several at once.
    fn processes(&self) -> anyhow::Result<Vec<Figure>> {
        let database = self.postgres.database("processes")?;
        let mut rates = [[0.0; 2]; 2];
        for (row, count) in [1, SEVERAL].into_iter().enumerate() {
            let scratch = Scratch::new(self.now)?;
            let on_server = Scratch::on_server(database.pool.clone(), self.now)?;
            let path = scratch.home().join("memory.db");
            let profile = on_server.profile();
            for (column, place) in [Place::File(&path), Place::Server(&database.address, profile)]
                .into_iter()
                .enumerate()
            {
                rates[row][column] = recording::processes(place, count, self.arguments.turns)?;
            }
        }
        let [[file, server], [several_file, several]] = rates;
        let ratio = several / server.max(1e-9);
        Ok(vec![
            Figure::plain("turns, one process", a_second(file, server)),
            Figure::plain(&format!("turns, {SEVERAL} processes"), a_second(several_file, several)),
            Figure::new(
                &format!("turns on the server, {SEVERAL} processes against one"),
                format!("{ratio:.2} ×"),
                "≥ 1.3 ×",
                ratio >= 1.3,
            ),
        ])
    }

    /// One turn a request, over connections that stay open.
    fn requests(&self) -> anyhow::Result<Figure> {
        let database = self.postgres.database("requests")?;
        let (on_file, on_server) = (Scratch::new(self.now)?, Scratch::new(self.now)?);
        let settings = [
            ("memory.connection_string", database.address.as_str()),
            ("memory.backend", "postgres"),
        ];
        for (key, value) in settings {
            self.program.run(on_server.home(), &["config", "set", key, value])?;
        }
        let rate = |scratch: &Scratch| -> anyhow::Result<f64> {
            let daemon = Daemon::start(self.program, scratch.home())?;
            recording::requests(&daemon, SEVERAL, self.arguments.turns)
        };
        let (file, server) = (rate(&on_file)?, rate(&on_server)?);
        let name = format!("turns over HTTP, {SEVERAL} connections, one turn a request");
        Ok(Figure::plain(&name, a_second(file, server)))
    }

    /// What pgvector's index costs when something is recorded.
    fn index(&self) -> anyhow::Result<Figure> {
        const NAME: &str = "messages recorded in batches with pgvector's index, against without";
        let Some(with) = self.postgres.database_with_index("indexed")? else {
            return Ok(Figure::plain(NAME, "this server has no pgvector: 0 measured".to_owned()));
        };
        let without = self.postgres.database("not_indexed")?;
        let rate = |database: &Database| -> anyhow::Result<f64> {
            let scratch = Scratch::on_server(database.pool.clone(), self.now)?;
            Ok(self.filled(&scratch, self.arguments.indexed)?.rate)
        };
        let (without, with) = (rate(&without)?, rate(&with)?);
        let ratio = with / without.max(1e-9);
        Ok(Figure::plain(NAME, format!("{with:.0} and {without:.0} a second: {ratio:.2} ×")))
    }
}

fn a_second(file: f64, server: f64) -> String {
    format!("file {file:.0}, server {server:.0} a second")
}
