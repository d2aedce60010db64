//! hermes memory extract

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::{Home, tokens};
use hermes_memory::extract::Report;
use hermes_store::memory::{Admin, Memory, Scope};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::whose::Whose;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::background::Background;
use hermes_app::daemon::life::{self, Drawing};
use hermes_app::later;
use hermes_app::memory::OpenMemory;
use hermes_app::problem::{Kind, Problem};
use hermes_app::rules::IDLE;
use hermes_app::text::{counted, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Also send imported history to the model of model.light (shows tokens and cost first)
    #[arg(long)]
    with_model: bool,
    /// Extract again from conversations that were processed before; known facts are not added again
    #[arg(long)]
    again: bool,
    /// Extract only from this conversation
    #[arg(long, value_name = "ID", requires = "again")]
    session: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

/// What was drawn.
#[derive(Debug, Serialize)]
struct Done {
    #[serde(flatten)]
    report: Report,
    /// The model that was asked; none: rules alone.
    model: Option<String>,
}

/// A model writes at most this share of what it reads.
const WRITTEN_SHARE: u64 = 5;
/// Instructions and the frame of a call, in tokens.
const FRAME: u64 = 1_200;
/// About so many tokens are read in one call.
const A_CALL: u64 = 6_000;

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut memory = app.memory(&home, Access::Write)?;
    if arguments.again {
        let scope = arguments.whose.existing(&memory.store)?;
        let count = memory.store.extract_again(scope, arguments.session.as_deref())?;
        app.out.note(format_args!("{} to extract from again", counted(count, "episode")));
    }
    let report = draw(arguments.with_model, app, &home, &mut memory)?;
    app.out.show(&report)?;
    later::fill_in(&home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

/// Lets the model read history that was brought in, once its cost was shown and agreed to.
pub(crate) fn with_model(
    app: &mut Terminal,
    home: &Home,
    memory: &mut OpenMemory,
) -> anyhow::Result<()> {
    let done = draw(true, app, home, memory)?;
    app.out.show(&done)
}

fn draw(
    with_model: bool,
    app: &Terminal,
    home: &Home,
    memory: &mut OpenMemory,
) -> anyhow::Result<Done> {
    let model = Background::open(app, home)?;
    if with_model {
        let Some(model) = &model else {
            return Err(Problem::new(Kind::Refused, "no model is configured for background work")
                .hint("set one with `hermes config set model.light PROVIDER/NAME`")
                .into());
        };
        agree(app, model, &memory.store)?;
    }
    let drawing = Drawing { model: model.as_ref(), imported_with_model: with_model };
    let mut total = Report::default();
    loop {
        let report = life::draw(app, home, &mut memory.store, &drawing)?;
        total.add(&report);
        if report.episodes == 0 {
            break;
        }
    }
    let model = model.as_ref().filter(|_| total.calls > 0);
    Ok(Done { report: total, model: model.map(|model| model.name().to_owned()) })
}

/// Says what it would cost, and goes on only with consent.
fn agree(app: &Terminal, model: &Background<'_>, store: &Memory) -> anyhow::Result<()> {
    let waiting = store.waiting_episodes(Admin, app.now - IDLE, usize::MAX)?;
    let mut read = 0;
    for episode in &waiting {
        for message in store.messages_of(Scope::of(episode.user), episode)? {
            read += tokens::estimate(&message.text) as u64 + 20;
        }
    }
    if waiting.is_empty() {
        return Ok(());
    }
    let calls = read / A_CALL + 1;
    let (input, output) = (read + calls * FRAME, read / WRITTEN_SHARE);
    let cost = match model.cost(input, output) {
        Some(dollars) => format!("about ${dollars:.2}"),
        None => "at an unknown price".to_owned(),
    };
    let question = format!(
        "send {} of conversations ({}) to {}, {cost}?",
        counted(waiting.len() as u64, "episode"),
        format_args!("about {} tokens", thousands(input + output)),
        model.name()
    );
    confirm::consent(app.asking, &question)
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Report {
            episodes,
            facts,
            known,
            superseded,
            doubtful,
            buried,
            remembered,
            proposed,
            followed,
            left_alone,
            ..
        } = &self.report;
        if *episodes == 0 {
            return page.line("nothing to do: facts are extracted when a conversation ends, or after half an hour without a message");
        }
        let by = self.model.as_deref().map_or("rules", |model| model);
        page.line(format_args!(
            "{} from {} by {by}",
            counted(*facts, "new fact"),
            counted(*episodes, "episode")
        ))?;
        let rest = [
            (*known, "known already"),
            (*superseded, "superseding an earlier one"),
            (*doubtful, "that may contradict another fact: see `hermes memory fact conflicts`"),
            (*buried, "skipped, because you deleted it before"),
            (*remembered, "also written to your memory files"),
            (*followed, "updated in your memory files"),
            (*left_alone, "outdated in your memory files, left alone because you edited them"),
            (*proposed, "waiting for your approval: see `hermes memory pending`"),
        ];
        for (count, what) in rest.iter().filter(|(count, _)| *count > 0) {
            page.line(format_args!("  {} {what}", thousands(*count)))?;
        }
        Ok(())
    }
}
