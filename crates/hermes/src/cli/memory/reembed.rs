//! hermes memory reembed

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_llm::{Embedded, Embedder};
use hermes_memory::reembed::{self, Report};
use hermes_store::memory::{Admin, Memory};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::embedding::{self, Haste};
use hermes_app::progress::Progress;
use hermes_app::text::{counted, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Recompute every vector, including those that exist
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
struct Done {
    #[serde(flatten)]
    report: Report,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let embedder = app.embedder(&home, Haste::Work)?;
    let mut memory = app.memory(&home, Access::Write)?;
    if arguments.all {
        forget(&home, app, &mut memory.store, embedder.as_ref())?;
    }
    app.out.note(format_args!("embedding with {}", described(embedder.as_ref())));
    let progress = Progress::of(app);
    let report = app.reembed(&home, &mut memory.store, embedder.as_ref(), &mut |coverage| {
        let (done, all) = (thousands(coverage.done), thousands(coverage.all));
        progress.say(format_args!("{done} of {all} texts"));
    })?;
    drop(progress);
    app.out.show(&Done { report })?;
    Ok(Outcome::Done)
}

/// Drops every vector of a model, so that all are made anew; meanwhile the embedded model answers.
fn forget(
    home: &Home,
    app: &Terminal,
    store: &mut Memory,
    embedder: &dyn Embedder,
) -> anyhow::Result<()> {
    let embedded = Embedded::new();
    if embedder.id() == embedded.id() {
        app.out
            .note("the embedded model always computes the same vector for a text, so no vector is recomputed");
        return Ok(());
    }
    // Asked before anything is dropped: a model that cannot be had must not cost what it has made.
    embedder.embed(&["ready"], hermes_llm::Purpose::Document)?;
    let active = store.active_model()?;
    if active.is_some_and(|active| reembed::is_model(&active, embedder.id())) {
        app.reembed(home, store, &embedded, &mut |_| {})?;
    }
    store.drop_retired_vectors(Admin)?;
    Ok(())
}

fn described(embedder: &dyn Embedder) -> String {
    format!("{} ({})", embedder.id().name, embedder.id().provider)
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Report { model, embedded, is_new } = &self.report;
        let made = counted(*embedded, "vector");
        let name = embedding::name(model);
        match is_new {
            true => page.line(format_args!("{made} computed; {name} is active now")),
            false => page.line(format_args!("{made} computed; {name} is still active")),
        }
    }
}
