//! hermes-bench sessions: append, import, search and size of a state.db of made-up messages

use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use hermes_app::numbers::Numbers;
use hermes_app::text::thousands;
use hermes_store::sessions::{NewMessage, NewSession, SearchRequest, SessionId, SessionStore};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use crate::cpu;
use crate::figures::{Figure, Table, Times};
use crate::made_up::{self, PER_SESSION, Session, WAIT};
use crate::program::Program;
use crate::scratch;
use crate::text::Vocabulary;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages the database holds
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    messages: usize,
    /// How many single appends to time
    #[arg(long, default_value_t = 20_000, value_name = "COUNT")]
    appends: usize,
    /// How many questions to ask of each kind
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    questions: usize,
}

const LENGTH: usize = 300;
const RUNS: usize = 30;
const COMMON_RANKS: usize = 300;
const RARE_RANKS: (usize, usize) = (3_000, 20_000);

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    cpu::must_be_known()?;
    ensure!(arguments.messages >= 1000, "at least 1000 messages are needed to measure anything");
    ensure!(arguments.appends > 0 && arguments.questions > 0, "nothing would be measured");
    let folder = tempfile::Builder::new().prefix("hermes-bench-").tempdir()?;
    let home = scratch::home_at(&folder.path().join("home"))?;
    let path = home.state_db();
    let vocabulary = Vocabulary::new();
    let corpus = Corpus::new(&vocabulary, arguments, now)?;
    let mut results = vec![import(&path, &corpus, arguments, now)?];
    results.push(size(&path)?);
    results.extend(questions(&path, &vocabulary, &corpus, arguments)?);
    results.extend(whole_program(program, home.folder(), &vocabulary)?);
    results.extend(appends(&path, &vocabulary, arguments, now)?);
    let title = format!(
        "{} messages of {LENGTH} characters on average, Zipf text, CPU time",
        thousands(arguments.messages as u64)
    );
    Ok(Table { title, results })
}

/// The made-up messages: as lines of JSON, and some of them to ask about.
struct Corpus {
    lines: Vec<u8>,
    samples: Vec<String>,
}

impl Corpus {
    fn new(
        vocabulary: &Vocabulary,
        arguments: &Arguments,
        now: Timestamp,
    ) -> anyhow::Result<Corpus> {
        let mut numbers = Numbers::new(2);
        let mut corpus = Corpus { lines: Vec::new(), samples: Vec::new() };
        let start = now.checked_sub(SignedDuration::from_hours(24 * 365))?.as_second() as f64;
        let sample_every = (arguments.messages / arguments.questions.max(1)).max(1);
        for (session, count) in made_up::sessions_of(arguments.messages) {
            let first = session * PER_SESSION;
            let mut texts = Vec::with_capacity(PER_SESSION);
            for number in first..first + count {
                let text = vocabulary.message(&mut numbers, spread(number));
                if number % sample_every == 0 {
                    corpus.samples.push(text.clone());
                }
                texts.push(text);
            }
            let begins = start + first as f64 * 60.0;
            Session { number: session, title: None, begins, texts }.write(&mut corpus.lines)?;
        }
        Ok(corpus)
    }
}

/// All messages come in as an import, in lines of JSON as `sessions export` writes them.
fn import(
    path: &Path,
    corpus: &Corpus,
    arguments: &Arguments,
    now: Timestamp,
) -> anyhow::Result<Figure> {
    let mut store = made_up::session_store(path)?;
    let (report, spent) = cpu::timed(|| store.import(&mut Cursor::new(&corpus.lines), now))?;
    ensure!(report.messages_added == arguments.messages as u64, "not all messages came in");
    let rate = arguments.messages as f64 / spent.as_secs_f64();
    let measured = format!("{} messages per CPU-second", thousands(rate as u64));
    Ok(Figure::new("batch import", measured, "≥ 10,000", rate >= 10_000.0))
}

/// Lengths from 50 to 550 characters, 300 on average.
fn spread(number: usize) -> usize {
    const STEPS: usize = 11;
    LENGTH - 250 + (number % STEPS) * 50 - 7
}

fn size(path: &Path) -> anyhow::Result<Figure> {
    let stats = SessionStore::open(path, Access::Read, WAIT)?.stats()?;
    let on_disk = fs::metadata(path)?.len() as f64;
    let ratio = on_disk / stats.text_bytes.max(1) as f64;
    let measured = format!("{ratio:.2} × the text ({:.0} MB)", on_disk / 1e6);
    Ok(Figure::new("database", measured, "≤ 2.5 ×", ratio <= 2.5))
}

fn questions(
    path: &Path,
    vocabulary: &Vocabulary,
    corpus: &Corpus,
    arguments: &Arguments,
) -> anyhow::Result<Vec<Figure>> {
    let store = SessionStore::open(path, Access::Read, WAIT)?;
    let mut numbers = Numbers::new(4);
    let count = arguments.questions;
    let rare: Vec<String> = (0..count).map(|_| rare(vocabulary, &mut numbers)).collect();
    let common: Vec<String> = (0..count).map(|_| common(vocabulary, &mut numbers)).collect();
    let about = |sample: &String| paraphrase(vocabulary, &mut numbers, sample);
    let paraphrased: Vec<String> = corpus.samples.iter().take(count).map(about).collect();
    let single: Vec<String> = (0..100).map(|rank| vocabulary.rank(rank).to_owned()).collect();
    let mut figures = Vec::new();
    let mut all = Vec::new();
    for (what, asked) in
        [("rare words", &rare), ("common words", &common), ("paraphrased questions", &paraphrased)]
    {
        let times = ask(&store, asked)?;
        all.extend_from_slice(&times);
        figures.push(Figure::plain(&format!("of these, {what}"), Times::new(times).spread(99)));
    }
    figures.insert(0, search_figure("search, all three kinds", &Times::new(all)));
    let times = ask(&store, &single)?;
    figures.push(search_figure("search, one of the 100 commonest words", &Times::new(times)));
    figures.push(found(&store, &paraphrased, &corpus.samples)?);
    Ok(figures)
}

fn ask(store: &SessionStore, questions: &[String]) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(questions.len());
    for question in questions {
        times.push(cpu::timed(|| store.search(&SearchRequest::new(question)))?.1);
    }
    Ok(times)
}

fn search_figure(what: &str, times: &Times) -> Figure {
    let reached = times.are_within(10) && times.at(0.99) <= Duration::from_millis(25);
    Figure::new(what, times.spread(99), "p50 ≤ 10 ms, p99 ≤ 25 ms", reached)
}

/// How often the message a question was made from is among the first ten.
fn found(store: &SessionStore, questions: &[String], samples: &[String]) -> anyhow::Result<Figure> {
    const ENOUGH_TO_KNOW_IT: usize = 60;
    let mut hits = 0;
    for (question, sample) in questions.iter().zip(samples) {
        let beginning: String = sample.chars().take(ENOUGH_TO_KNOW_IT).collect();
        let answer = store.search(&SearchRequest::new(question))?;
        hits +=
            usize::from(answer.results.iter().any(|result| result.text.starts_with(&beginning)));
    }
    let measured = format!("{hits} of {} in the first ten", questions.len());
    Ok(Figure::plain("paraphrased questions that find their message", measured))
}

fn rare(vocabulary: &Vocabulary, numbers: &mut Numbers) -> String {
    let (low, high) = RARE_RANKS;
    let word = |numbers: &mut Numbers| vocabulary.rank(low + numbers.below(high - low)).to_owned();
    format!("{} {} {}", word(numbers), word(numbers), word(numbers))
}

fn common(vocabulary: &Vocabulary, numbers: &mut Numbers) -> String {
    let words: Vec<&str> =
        (0..4 + numbers.below(3)).map(|_| vocabulary.rank(numbers.below(COMMON_RANKS))).collect();
    words.join(" ")
}

/// A question about a stored message: some of its words, among words of asking and one it may not have.
fn paraphrase(vocabulary: &Vocabulary, numbers: &mut Numbers, stored: &str) -> String {
    let words = stored.split_whitespace().map(|word| word.trim_matches('.'));
    let content: Vec<&str> = words.filter(|word| word.len() > 5).collect();
    let mut question = String::from("what did we say about the");
    for _ in 0..3.min(content.len()) {
        let _ = write!(question, " {}", content[numbers.below(content.len())]);
    }
    let _ = write!(question, " and {}?", vocabulary.draw(numbers));
    question
}

/// From starting the program to its printed answer.
fn whole_program(
    program: &Program,
    home: &Path,
    vocabulary: &Vocabulary,
) -> anyhow::Result<Vec<Figure>> {
    let mut numbers = Numbers::new(5);
    let mut search = Vec::new();
    let mut help = Vec::new();
    for _ in 0..RUNS {
        let question = rare(vocabulary, &mut numbers);
        search.push(program.run(home, &["sessions", "search", &question])?.cpu);
        help.push(program.run(home, &["--help"])?.cpu);
    }
    let figure = |what, times, aim, limit| {
        let times = Times::new(times);
        Figure::new(what, times.to_longest(), aim, times.are_within(limit))
    };
    Ok(vec![
        figure("`hermes sessions search`, whole program", search, "≤ 15 ms", 15),
        figure("`hermes --help`, whole program", help, "≤ 5 ms", 5),
    ])
}

/// Single messages, each durable before the next.
fn appends(
    path: &Path,
    vocabulary: &Vocabulary,
    arguments: &Arguments,
    now: Timestamp,
) -> anyhow::Result<Vec<Figure>> {
    let mut store = made_up::session_store(path)?;
    let session = SessionId::new(now, [1, 2, 3]);
    store.create_session(&NewSession::plain(session.clone(), now, "bench"))?;
    let mut numbers = Numbers::new(3);
    let mut times = Vec::with_capacity(arguments.appends);
    for number in 0..arguments.appends {
        let text = vocabulary.message(&mut numbers, spread(number));
        let message = NewMessage::text("user", &text, now);
        times.push(cpu::timed(|| store.append(&session, &[message]))?.1);
    }
    let times = Times::new(times);
    let (median, high) = (times.at(0.5), times.at(0.999));
    let ratio = high.as_secs_f64() / median.as_secs_f64().max(1e-9);
    let what = format!("append one message, {} times", thousands(arguments.appends as u64));
    Ok(vec![
        Figure::plain(&what, times.with_rare_ones()),
        Figure::new("append, p99.9 to median", format!("{ratio:.1} ×"), "< 20 ×", ratio < 20.0),
    ])
}
