//! hermes-bench recall: ask the questions of a retrieval set, and write down what the memory finds

mod ask;
mod compacted;
pub(crate) mod corpus;
mod fill;
mod kept;
mod noise;
mod plain;
mod plain_index;
mod prompts;
mod shown;

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::{Args, ValueEnum};
use hermes_home::atomic;
use hermes_llm::{Embedded, Embedder};
use hermes_memory::search::Effort;

use self::ask::{Answered, Asking};
use self::corpus::Conversation;
use self::fill::{Amount, Filled};
pub(super) use self::shown::request;
use crate::figures::{Figure, Table, Times};
use crate::scratch::size_per_10k;
use hermes_app::app::{App, Opening};
use hermes_app::text::thousands;
use jiff::Timestamp;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The set: a folder with corpus.jsonl and questions.jsonl
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Where to write what was found, one line for each question
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How many messages to find for each question
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    limit: usize,
    /// Add made-up messages to each conversation, and ask a plain full-text index the same
    #[arg(long)]
    pooled: bool,
    /// How many made-up messages each conversation gets with --pooled
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    noise: usize,
    /// Build a context of so many tokens for each question instead, and name the messages in it
    #[arg(long, value_name = "TOKENS", conflicts_with = "pooled")]
    context: Option<usize>,
    /// Compress the conversations after asking, all of them one person's, and ask again; the known
    /// evidence (gold.jsonl) is read afterwards, to say what is still found
    #[arg(long, conflicts_with_all = ["pooled", "context"])]
    compacted: bool,
    /// What a run file names: messages, or the sessions they are from
    #[arg(long, value_enum, default_value_t = Level::Turn)]
    level: Level,
    /// Keep the memory on this PostgreSQL server, as a new profile that stays there
    #[arg(long, value_name = "ADDRESS", conflicts_with = "compacted")]
    server: Option<String>,
    /// Search by words alone, without the model of meaning
    #[arg(long)]
    words_only: bool,
    /// The same number gives the same made-up messages
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
}

/// What a run file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Turn,
    Session,
}

pub(crate) fn run(arguments: &Arguments, now: Timestamp) -> anyhow::Result<Table> {
    ensure!(arguments.limit > 0, "nothing would be found");
    let conversations = corpus::read(&arguments.corpus)?;
    let embedded = Embedded::new();
    let server = App::new(Opening::default());
    let pool = arguments.server.as_deref().map(|address| server.pool_at(address)).transpose()?;
    let asking = Asking {
        server: pool.as_ref(),
        embedder: (!arguments.words_only).then_some(&embedded as &dyn Embedder),
        limit: arguments.limit,
        now,
    };
    let questions: usize = conversations.iter().map(|one| one.questions.len()).sum();
    let mut results = vec![
        Figure::plain("conversations", thousands(conversations.len() as u64)),
        Figure::plain("questions", thousands(questions as u64)),
    ];
    results.extend(match arguments.context {
        _ if arguments.compacted => compacted::measure(&conversations, arguments, asking)?,
        _ if arguments.pooled => pooled(&conversations, arguments, asking)?,
        Some(budget) => in_context(&conversations, arguments, asking, budget)?,
        None => alone(&conversations, arguments, asking)?,
    });
    let title = format!("What is found of {}, CPU time", arguments.corpus.display());
    Ok(Table { title, results })
}

/// Every conversation alone.
fn alone(
    conversations: &[Conversation],
    arguments: &Arguments,
    asking: Asking<'_>,
) -> anyhow::Result<Vec<Figure>> {
    let filled = fill::fill(conversations, arguments.no_noise(), asking.now, asking.server)?;
    let answers = ask::search_all(conversations, &filled, asking, &Effort::default())?;
    write(arguments, "", &answers)?;
    let mut figures = memory_figures(&filled, "");
    figures.push(time_figure("search", &answers));
    Ok(figures)
}

/// Every conversation alone and among noise, by this program and by a plain index.
fn pooled(
    conversations: &[Conversation],
    arguments: &Arguments,
    asking: Asking<'_>,
) -> anyhow::Result<Vec<Figure>> {
    let noise = Amount { messages: arguments.noise, seed: arguments.seed };
    // Among noise nothing is looked at only because there is little to look at.
    let large = Effort { score_all_below: 0 };
    let mut figures = Vec::new();
    for (amount, effort, kind, what) in [
        (noise, large, "", " with noise"),
        (arguments.no_noise(), Effort::default(), "small", " without noise"),
    ] {
        let filled = fill::fill(conversations, amount, asking.now, asking.server)?;
        let answers = ask::search_all(conversations, &filled, asking, &effort)?;
        write(arguments, kind, &answers)?;
        figures.extend(memory_figures(&filled, what));
        figures.push(time_figure(&format!("search{what}"), &answers));
    }
    for (amount, kind, what) in
        [(noise, "fts", "with noise"), (arguments.no_noise(), "fts-small", "without noise")]
    {
        let answers = plain::search_all(conversations, amount, asking.limit, asking.now)?;
        write(arguments, kind, &answers)?;
        figures.push(time_figure(&format!("plain full-text search {what}"), &answers));
    }
    Ok(figures)
}

/// A context for every question.
fn in_context(
    conversations: &[Conversation],
    arguments: &Arguments,
    asking: Asking<'_>,
    budget: usize,
) -> anyhow::Result<Vec<Figure>> {
    let filled = fill::fill(conversations, arguments.no_noise(), asking.now, asking.server)?;
    let shown = shown::contexts(conversations, &filled, asking, budget)?;
    write(arguments, "", &shown.answers)?;
    let mut tokens: Vec<usize> = shown.answers.iter().filter_map(|one| one.tokens).collect();
    tokens.sort_unstable();
    let spread = |sorted: &[usize]| {
        let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or(0);
        let longest = sorted.last().copied().unwrap_or(0);
        format!("p50 {}, p90 {}, most {longest}", at(50), at(90))
    };
    let mut figures = memory_figures(&filled, "");
    let (whole, part) = (thousands(shown.whole as u64), thousands(shown.part as u64));
    figures.extend([
        time_figure("context", &shown.answers),
        Figure::plain("tokens of a context", spread(&tokens)),
        Figure::plain("messages in the contexts", format!("{whole} whole, {part} in part")),
        Figure::plain(
            &format!("tokens for {} prompts that need none", shown.idle_tokens.len()),
            spread(&shown.idle_tokens),
        ),
    ]);
    Ok(figures)
}

impl Arguments {
    fn no_noise(&self) -> Amount {
        Amount { messages: 0, seed: self.seed }
    }
}

fn memory_figures(filled: &Filled, what: &str) -> Vec<Figure> {
    let size = size_per_10k(filled.bytes, filled.messages);
    vec![
        Figure::plain(&format!("messages{what}"), thousands(filled.messages)),
        Figure::plain(
            &format!("ingest{what}"),
            format!("{} messages per CPU-second", thousands(filled.rate as u64)),
        ),
        Figure::plain(&format!("memory{what}"), format!("{size:.1} MiB per 10,000 messages")),
    ]
}

fn time_figure(what: &str, answers: &[Answered]) -> Figure {
    let times = Times::new(answers.iter().map(Answered::spent).collect());
    Figure::plain(what, times.spread(99))
}

/// Writes a run file: the one that was asked for, or one beside it.
fn write(arguments: &Arguments, kind: &str, answers: &[Answered]) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    for answer in answers {
        match arguments.level {
            Level::Turn => serde_json::to_writer(&mut bytes, answer)?,
            Level::Session => serde_json::to_writer(&mut bytes, &answer.by_session())?,
        }
        bytes.push(b'\n');
    }
    Ok(atomic::write(&beside(&arguments.out, kind), &bytes)?)
}

/// The file beside the run file: `run.jsonl` becomes `run.fts.jsonl`.
fn beside(path: &Path, kind: &str) -> PathBuf {
    match kind {
        "" => path.to_owned(),
        _ => path.with_extension(format!("{kind}.jsonl")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_files_lie_beside_each_other() {
        assert_eq!(beside(Path::new("a/run.jsonl"), "fts"), Path::new("a/run.fts.jsonl"));
        assert_eq!(beside(Path::new("a/run.jsonl"), ""), Path::new("a/run.jsonl"));
    }
}
