//! Measures a memory in a file against the same memory on a PostgreSQL server: contexts, answers, writing.
//!
//! `measure_server ADDRESS MESSAGES [FOLDER]`: the database at the address must be empty or hold an earlier run's
//! profile. In a folder the file is kept, and with the same folder and address a later run asks only.
//!
//! `measure_server ADDRESS turns COUNT`: one process records so many turns, then four at once as many each.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hermes_home::config::Retrieval;
use hermes_llm::Embedded;
use hermes_memory::chunk::Vectors;
use hermes_memory::retrieval::{self, Request};
use hermes_memory::search::{self, Question, Reading};
use hermes_memory::{record, reembed};
use hermes_store::memory::{
    Admin, Change, Memory, NewModel, Scope, ServerMemory, UserNumber, Wanted,
};
use hermes_store::postgres::{Address, Pool, PoolSettings, Surroundings};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::Timestamp;
use jiff::tz::TimeZone;

const QUESTIONS: usize = 40;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().context("the address of a database is missing")?;
    let what = arguments.next().context("how many messages?")?;
    if what == "turns" {
        let count = arguments.next().context("how many turns?")?.parse()?;
        return match (arguments.next(), arguments.next()) {
            (Some(profile), Some(number)) => turns(&address, &profile, &number, count),
            _ => throughput(&address, count),
        };
    }
    let messages: usize = what.parse()?;
    let kept = arguments.next();
    let folder = tempfile::tempdir()?;
    let path = kept.as_deref().map_or(folder.path(), Path::new).join("memory.db");
    let is_new = !path.exists();
    let wanted = Wanted { path: &path, profile: "default" };
    if is_new {
        Memory::create(wanted, "owner", change()?)?;
    }
    let mut file = Memory::open(wanted, Access::Write, DEFAULT_WAIT)?;
    let pool = Pool::new(address_of(&address)?, PoolSettings::default())?;
    let profile = match &kept {
        Some(folder) => format!("measured-{}", folder.replace('/', "-")),
        None => format!("measured-{}", std::process::id()),
    };
    let mut server = on_server(&pool, &profile)?;
    let mut out = std::io::stdout().lock();
    for (name, memory) in [("file", &mut file), ("server", &mut server)] {
        if !is_new {
            continue;
        }
        add_model(memory)?;
        let began = Instant::now();
        fill(memory, messages)?;
        writeln!(out, "{name}: {messages} messages recorded in {:.1?}", began.elapsed())?;
    }
    drop(out);
    ask_both(&file, &server)
}

/// Asks both the same by turns, and says how long it took and how alike the answers are.
fn ask_both(file: &Memory, server: &Memory) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let (mut alike, mut times): (f64, [Vec<Duration>; 2]) = Default::default();
    let embedder = Embedded::new();
    for number in 0..QUESTIONS + 4 {
        let asked = text(number * 7919 + 13, 9);
        let mut found: [BTreeSet<String>; 2] = Default::default();
        for (place, memory) in [file, server].into_iter().enumerate() {
            let (took, names) = ask(memory, &embedder, &asked)?;
            // The first questions warm up what is kept at hand.
            if number >= 4 {
                times[place].push(took);
            }
            found[place] = names;
        }
        let same = found[0].intersection(&found[1]).count();
        alike += same as f64 / found[0].len().max(1) as f64;
    }
    for (name, times) in ["file", "server"].into_iter().zip(&mut times) {
        times.sort_unstable();
        let (middle, slow) = (times[QUESTIONS / 2], times[QUESTIONS * 95 / 100]);
        writeln!(out, "{name}: a context takes {middle:.2?} (p50), {slow:.2?} (p95)")?;
    }
    let ratio = times[1][QUESTIONS / 2].as_secs_f64() / times[0][QUESTIONS / 2].as_secs_f64();
    writeln!(
        out,
        "{ratio:.1} times; overlap of the ten best {:.3}",
        alike / (QUESTIONS + 4) as f64
    )?;
    Ok(())
}

fn on_server(pool: &Pool, profile: &str) -> anyhow::Result<Memory> {
    let (access, wait) = (Access::Write, DEFAULT_WAIT);
    let wanted = ServerMemory { pool, profile, owner: "owner", access, wait };
    Ok(Memory::on_server(wanted, change()?)?)
}

/// How much more four processes record in the same time than one.
fn throughput(address: &str, count: usize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut rates = Vec::new();
    for processes in [1, 4] {
        let profile = format!("turns-{processes}-{}", std::process::id());
        let pool = Pool::new(address_of(address)?, PoolSettings::default())?;
        add_model(&mut on_server(&pool, &profile)?)?;
        let began = Instant::now();
        let mut running = Vec::new();
        for number in 0..processes {
            let mut command = std::process::Command::new(std::env::current_exe()?);
            command.args([address, "turns", &count.to_string(), &profile, &number.to_string()]);
            running.push(command.spawn()?);
        }
        for child in &mut running {
            anyhow::ensure!(child.wait()?.success(), "a process that recorded has failed");
        }
        let took = began.elapsed();
        let kept = on_server(&pool, &profile)?.counts(Admin)?.messages;
        anyhow::ensure!(kept == (processes * count * 2) as u64, "{kept} messages are there");
        let rate = (processes * count) as f64 / took.as_secs_f64();
        writeln!(out, "{processes} at once: {rate:.0} turns a second")?;
        rates.push(rate);
    }
    writeln!(out, "{:.2} times", rates[1] / rates[0])?;
    Ok(())
}

/// Records turns as one daemon of several does: each in a transaction of its own.
fn turns(address: &str, profile: &str, number: &str, count: usize) -> anyhow::Result<()> {
    let pool = Pool::new(address_of(address)?, PoolSettings::default())?;
    let mut memory = on_server(&pool, profile)?;
    let start: usize = number.parse::<usize>()? * 1_000_000;
    for turn in 0..count {
        let (asked, said) = (text(start + turn * 2, 20), text(start + turn * 2 + 1, 52));
        let session = turn / 20;
        let mut lines = String::new();
        for (role, text) in [("user", &asked), ("assistant", &said)] {
            let at = Timestamp::from_second(1_700_000_000 + turn as i64 * 60)?;
            writeln!(
                lines,
                "{{\"session_id\":\"{number}-{session}\",\"role\":\"{role}\",\"timestamp\":\"{at}\",\"text\":\"{text}\"}}"
            )?;
        }
        take_in(&mut memory, &lines)?;
    }
    Ok(())
}

/// Lets the model inside the program answer.
fn add_model(memory: &mut Memory) -> anyhow::Result<()> {
    let model = Embedded::new();
    let id = hermes_llm::Embedder::id(&model);
    let details = reembed::details_of(id);
    let dims = id.dims.context("the model does not say its dimensions")?;
    let middle = vec![0.0; dims];
    let new =
        NewModel { provider: "embedded", name: &id.name, dims, details: &details, mean: &middle };
    memory.add_model(Admin, &new, change()?.at)?;
    Ok(())
}

fn change() -> anyhow::Result<Change<'static>> {
    Ok(Change { actor: "measure", at: "2026-10-15T12:00:00Z".parse()? })
}

fn address_of(text: &str) -> anyhow::Result<Address> {
    let around = Surroundings {
        variable: &|_| None,
        home: None,
        user: "postgres",
        application: "measure",
        ssl_mode: None,
    };
    Ok(Address::parse(text, &around)?)
}

/// Sessions of twenty messages, each of at least 300 characters.
fn fill(memory: &mut Memory, messages: usize) -> anyhow::Result<()> {
    let mut lines = String::new();
    for number in 0..messages {
        let (session, role) = (number / 20, if number % 2 == 0 { "user" } else { "assistant" });
        let at = Timestamp::from_second(1_700_000_000 + number as i64 * 60)?;
        let said = text(number, 52);
        writeln!(
            lines,
            "{{\"session_id\":\"s{session}\",\"role\":\"{role}\",\"timestamp\":\"{at}\",\"text\":\"{said}\",\"channel\":\"cli\"}}"
        )?;
    }
    take_in(memory, &lines)
}

fn take_in(memory: &mut Memory, lines: &str) -> anyhow::Result<()> {
    let settings = record::Settings {
        source: "measure",
        scope: Scope::of(UserNumber::OWNER),
        zone: &TimeZone::UTC,
        now: change()?.at,
        vectors: Vectors::Now,
        secrets: hermes_home::redaction::Policy::Redact,
    };
    record::record(memory, &mut lines.as_bytes(), &settings, &mut |_| {})?;
    Ok(())
}

/// Words as people use them: few often, many seldom.
fn text(seed: usize, words: usize) -> String {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut out = String::new();
    for _ in 0..words {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let chance = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (20_000_f64.powf(chance) - 1.0) as usize;
        let mut number = rank + 7;
        while number > 0 {
            out.push_str(["ba", "ko", "ri", "mu", "se", "ta", "lo", "ne", "vi", "du"][number % 10]);
            number /= 10;
        }
        out.push(' ');
    }
    out.trim_end().to_owned()
}

fn ask(
    memory: &Memory,
    embedder: &Embedded,
    task: &str,
) -> anyhow::Result<(Duration, BTreeSet<String>)> {
    let reading = Reading {
        store: memory,
        embedder: Some(embedder),
        scope: Scope::of(UserNumber::OWNER),
        now: change()?.at,
        zone: const { &TimeZone::UTC },
    };
    let settings = Retrieval { min_relevance_score: 0.0, ..Retrieval::default() };
    let request = Request {
        task,
        channel: Some("cli"),
        budget: Some(2_000),
        settings: Some(settings),
        ..Request::default()
    };
    let began = Instant::now();
    let view = memory.view()?;
    retrieval::context(&reading, &request, &[])?;
    drop(view);
    let took = began.elapsed();
    let question = Question { text: task, limit: 10, ..Question::default() };
    let answer = search::search(&reading, &question)?;
    Ok((took, answer.results.iter().map(|one| one.item.text().to_owned()).collect()))
}
