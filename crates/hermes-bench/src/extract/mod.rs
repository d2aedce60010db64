//! hermes-bench extract: what the rules draw from labelled messages, and how fast

mod score;
mod set;

use hermes_memory::extract::{Kind, Spoken, rules};

use crate::cpu;
use crate::figures::{Figure, Table};
use score::Score;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only the half that the rules are worked on with
    #[arg(long)]
    dev: bool,
    /// Other labelled messages in the same form instead
    #[arg(long, value_name = "FILE", conflicts_with = "dev")]
    turns: Option<std::path::PathBuf>,
    /// Other labelled pairs in the same form, with --turns
    #[arg(long, value_name = "FILE", requires = "turns")]
    pairs: Option<std::path::PathBuf>,
    /// Print every fact that is wrong and every one that is missed
    #[arg(long, requires = "turns")]
    show: bool,
}

/// The lowest precision and recall that will do.
const AIM: (f64, f64) = (0.9, 0.6);
const AIM_TEXT: &str = "P ≥ 0.90, R ≥ 0.60";
const LEAST_PER_SECOND: f64 = 5_000.0;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Table> {
    let mut results = Vec::new();
    let halves = match &arguments.turns {
        Some(turns) => vec![set::given(turns, arguments.pairs.as_deref())?],
        None => set::halves(arguments.dev)?,
    };
    for half in halves {
        if arguments.show {
            score::show(&half)?;
        }
        results.extend(figures_of(&half)?);
    }
    results.push(speed()?);
    Ok(Table { title: "What the rules draw from labelled messages".to_owned(), results })
}

fn figures_of(half: &set::Half) -> anyhow::Result<Vec<Figure>> {
    let facts = score::facts(half)?;
    let mut figures = vec![
        aimed(&format!("{}: facts", half.name), facts.all),
        Figure::plain(
            &format!("{}: facts, each for one label alone", half.name),
            facts.apart.written(),
        ),
        aimed(&format!("{}: types of tasks", half.name), score::tasks(half)),
        aimed(&format!("{}: names", half.name), score::names(half)),
        aimed(&format!("{}: contradictions", half.name), score::pairs(half)?),
    ];
    for kind in Kind::ALL {
        let score = facts.of(kind);
        figures.push(Figure::plain(
            &format!("{}: facts of kind {}", half.name, kind.as_str()),
            score.written(),
        ));
    }
    Ok(figures)
}

fn aimed(what: &str, score: Score) -> Figure {
    let reached = score.precision() >= AIM.0 && score.recall() >= AIM.1;
    Figure::new(what, score.written(), AIM_TEXT, reached)
}

/// How many messages of 300 characters the rules read in a second of one processor.
fn speed() -> anyhow::Result<Figure> {
    const LENGTH: usize = 300;
    const ROUNDS: usize = 20;
    let texts = set::texts_of_length(LENGTH)?;
    let zone = jiff::tz::TimeZone::UTC;
    let at: jiff::Timestamp = "2026-03-04T09:00:00Z".parse()?;
    let begun = cpu::of_thread();
    let mut found = 0;
    for text in texts.iter().cycle().take(texts.len() * ROUNDS) {
        found += rules::draw(&Spoken { role: "user", text, before: &[], at, zone: &zone }).len();
    }
    let taken = (cpu::of_thread() - begun).as_secs_f64();
    let rate = (texts.len() * ROUNDS) as f64 / taken.max(1e-9);
    let what = format!("messages of {LENGTH} characters per second of a processor ({found} facts)");
    Ok(Figure::new(&what, format!("{rate:.0}"), "≥ 5,000", rate >= LEAST_PER_SECOND))
}
