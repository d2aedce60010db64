//! hermes memory status

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_store::memory::{Admin, Counts, Coverage, EmbedModel, ModelState};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::embedding;
use hermes_app::memory::OpenMemory;
use hermes_app::text::{bytes, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Also show vectors, models, users and jobs
    #[arg(long, short = 'v')]
    verbose: bool,
}

#[derive(Debug, Serialize)]
struct Status {
    path: PathBuf,
    exists: bool,
    episodes: u64,
    #[serde(flatten)]
    counts: Counts,
    user_names: Vec<String>,
    models: Vec<Progress>,
    #[serde(skip)]
    verbose: bool,
    #[serde(skip)]
    zone: TimeZone,
}

/// A model that answers or is being made ready.
#[derive(Debug, Serialize)]
struct Progress {
    #[serde(flatten)]
    model: EmbedModel,
    #[serde(flatten)]
    coverage: Coverage,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let mut counts = memory.store.counts(Admin)?;
    if !memory.exists {
        counts.size = 0;
    }
    let users = memory.store.users(Admin)?;
    let status = Status {
        episodes: counts.raw_episodes + counts.compressed_episodes,
        counts,
        user_names: users.into_iter().map(|user| user.name).collect(),
        models: models(&memory)?,
        verbose: arguments.verbose,
        zone: app.zone(&home)?,
        path: memory.path.clone(),
        exists: memory.exists,
    };
    app.out.show(&status)?;
    for note in app.answering(&home, &memory.store)?.notes {
        app.out.note(note);
    }
    Ok(Outcome::Done)
}

fn models(memory: &OpenMemory) -> anyhow::Result<Vec<Progress>> {
    let mut found = Vec::new();
    for model in memory.store.models(Admin)? {
        if model.state != ModelState::Retired {
            let coverage = memory.store.coverage(Admin, model.id)?;
            found.push(Progress { model, coverage });
        }
    }
    Ok(found)
}

impl Show for Status {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let counts = &self.counts;
        let states = match self.verbose {
            false => String::new(),
            true => format!(
                " (raw: {}, compressed: {})",
                thousands(counts.raw_episodes),
                thousands(counts.compressed_episodes)
            ),
        };
        page.line(format_args!("Episodes: {}{states}", thousands(self.episodes)))?;
        page.line(format_args!("Facts: {}", thousands(counts.facts)))?;
        page.line(format_args!("Reflections: {}", thousands(counts.reflections)))?;
        if self.verbose {
            page.line(format_args!(
                "Embeddings: {} episode + {} fact vectors",
                thousands(counts.episode_vectors),
                thousands(counts.fact_vectors)
            ))?;
        }
        page.line(format_args!("DB size: {}", bytes(counts.size)))?;
        if self.verbose {
            self.details(page)?;
        }
        if !self.exists || self.verbose {
            let note = if self.exists { "" } else { " (created with the first fact or recording)" };
            page.line(format_args!("Path: {}{note}", self.path.display()))?;
        }
        Ok(())
    }
}

impl Status {
    fn details(&self, page: &mut Page) -> io::Result<()> {
        let day = |at: Option<Timestamp>| match at {
            Some(at) => at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d").to_string(),
            None => "never".to_owned(),
        };
        page.line(format_args!("Last vacuum: {}", day(self.counts.last_vacuum)))?;
        page.line(format_args!("Last compression: {}", day(self.counts.last_compression)))?;
        page.line(format_args!("Messages: {}", thousands(self.counts.messages)))?;
        for progress in &self.models {
            page.line(format_args!("Model: {}", shown(progress)))?;
        }
        page.line(format_args!("Users: {}", self.user_names.join(", ")))?;
        page.line(format_args!("Open jobs: {}", thousands(self.counts.open_jobs)))
    }
}

fn shown(progress: &Progress) -> String {
    let Progress { model, coverage } = progress;
    let state = match (model.state, coverage.done < coverage.all) {
        (ModelState::Active, false) => "active".to_owned(),
        (ModelState::Active, true) => {
            format!("active, {} texts without a vector", thousands(coverage.all - coverage.done))
        }
        _ => format!(
            "not active yet: {} of {} texts embedded",
            thousands(coverage.done),
            thousands(coverage.all)
        ),
    };
    format!("{}, {} dimensions ({state})", embedding::name(model), model.dims)
}
