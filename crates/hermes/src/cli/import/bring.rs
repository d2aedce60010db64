//! One import from its plan to its end: look, show, ask, take in.

use crate::terminal::Terminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_home::redaction::Policy;
use hermes_import::{Options, Sink, Source, Tally};
use hermes_memory::import::{Intake, Settings, Survey, Taken};
use hermes_store::memory::{Scope, UserNumber};
use hermes_store::sqlite::Access;

use super::Arguments;
use super::places;
use super::shown::{Imported, Plan};
use crate::cli::memory::extract;
use crate::confirm;
use crate::failure::Outcome;
use hermes_app::app::App;
use hermes_app::embedding;
use hermes_app::later;
use hermes_app::memory::OpenMemory;
use hermes_app::problem::{Kind, Problem};
use hermes_app::progress::Progress;
use hermes_app::text::{counted, thousands};

/// An import as it was asked for.
pub(crate) struct Wanted<'a> {
    pub(crate) source: Source,
    pub(crate) path: PathBuf,
    pub(crate) arguments: &'a Arguments,
    pub(crate) options: Options,
}

pub(super) fn run(
    source: Source,
    arguments: &Arguments,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    arguments.whose.id()?;
    let wanted = Wanted::of(source, arguments, app, &home)?;
    if arguments.dry_run || !app.asking.yes {
        let plan = wanted.plan(app, &home)?;
        let is_partial = plan.tally.is_partial();
        let (messages, facts) = (plan.new.messages, plan.new.facts);
        app.out.show(&plan)?;
        if arguments.dry_run || messages + facts == 0 {
            return Ok(if is_partial { Outcome::Partial } else { Outcome::Done });
        }
        let what = [(messages, "message"), (facts, "fact")];
        let what: Vec<String> = what
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| counted(*count, noun))
            .collect();
        confirm::consent(app.asking, &format!("import {}?", what.join(" and ")))?;
    }
    let outcome = bring(&wanted, app, &home)?;
    if source == Source::OpenClaw {
        app.out.hint("import the persona, files and skills with `hermes claw migrate`");
    }
    Ok(outcome)
}

/// Takes everything in and shows what became of it.
pub(crate) fn bring(
    wanted: &Wanted<'_>,
    app: &mut Terminal,
    home: &Home,
) -> anyhow::Result<Outcome> {
    let mut memory = app.memory(home, Access::Write)?;
    let (tally, taken) = wanted.take(app, home, &mut memory)?;
    let is_partial = tally.is_partial();
    let (source, has_messages) = (wanted.source, taken.messages > 0);
    app.out.show(&Imported { source, path: wanted.path.clone(), tally, taken })?;
    later::fill_in(home, app, &mut memory.store)?;
    if wanted.arguments.with_model {
        extract::with_model(app, home, &mut memory)?;
    } else if has_messages {
        app.out.hint(
            "the daemon extracts facts from it by rules; to do it now, run `hermes memory extract`",
        );
    }
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

impl<'a> Wanted<'a> {
    pub(crate) fn of(
        source: Source,
        arguments: &'a Arguments,
        app: &App,
        home: &Home,
    ) -> anyhow::Result<Wanted<'a>> {
        let path = match &arguments.path {
            Some(path) => path.clone(),
            None => places::usual(source, app, home)?,
        };
        refuse_own(source, &path, home)?;
        let zone = app.zone(home)?;
        let since = app.moment(home, arguments.since.as_deref())?;
        let options = Options { since, project: arguments.project.clone(), zone };
        Ok(Wanted { source, path, arguments, options })
    }

    /// What would come in; nothing is changed.
    pub(crate) fn plan(&self, app: &Terminal, home: &Home) -> anyhow::Result<Plan> {
        let memory = app.memory(home, Access::Read)?;
        let scope = match self.arguments.whose.id()? {
            None => Scope::of(UserNumber::OWNER),
            Some(_) => self.arguments.whose.existing(&memory.store).unwrap_or_else(|_| {
                // Nobody of this name is known yet: nothing of theirs is.
                Scope::of(UserNumber::new(i64::from(u32::MAX)))
            }),
        };
        let (zone, secrets) = (&app.zone(home)?, self.secrets(app, home)?);
        let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
        let (source, now) = (self.source.id(), app.now);
        let settings = Settings { source, scope, zone, now, vectors, secrets };
        let mut survey = Survey::new(&memory.store, &settings);
        let progress = Progress::of(app);
        let mut failed = None;
        let mut look = |item: hermes_import::Item, tally: &Tally| {
            say(&progress, tally);
            going_on(survey.look(&item), &mut failed)
        };
        let read = self.read(&mut look);
        let new = survey.found().clone();
        if let Some(error) = failed {
            return Err(error.into());
        }
        let tally = read?;
        drop(progress);
        let (source, path) = (self.source, self.path.clone());
        Ok(Plan { dry_run: self.arguments.dry_run, source, path, tally, new })
    }

    fn take(
        &self,
        app: &Terminal,
        home: &Home,
        memory: &mut OpenMemory,
    ) -> anyhow::Result<(Tally, Taken)> {
        let scope = self.arguments.whose.writer(&mut memory.store, app.change())?;
        let (zone, secrets) = (&app.zone(home)?, self.secrets(app, home)?);
        let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
        let (source, now) = (self.source.id(), app.now);
        let settings = Settings { source, scope, zone, now, vectors, secrets };
        let mut intake = Intake::new(&mut memory.store, &settings);
        let progress = Progress::of(app);
        let mut failed = None;
        let mut take = |item: hermes_import::Item, tally: &Tally| {
            say(&progress, tally);
            going_on(intake.take(item), &mut failed)
        };
        let read = self.read(&mut take);
        if let Some(error) = failed {
            return Err(error.into());
        }
        // What was read before it went wrong is kept, and is known the next time.
        let taken = intake.finish()?;
        Ok((read?, taken))
    }

    fn read<'s>(&'s self, sink: &'s mut Sink<'s>) -> hermes_import::Result<Tally> {
        hermes_import::read(self.source, &self.path, &self.options, sink)
    }

    fn secrets(&self, app: &App, home: &Home) -> anyhow::Result<Policy> {
        Ok(match (self.arguments.redact, app.config(home)?.config.recording.secrets) {
            (true, Policy::Keep) => Policy::Redact,
            (_, said) => said,
        })
    }
}

/// The home itself is taken in by another command.
fn refuse_own(source: Source, path: &Path, home: &Home) -> Result<(), Problem> {
    let is_own = source == Source::HermesAgent
        && (places::is_same(path, home.folder()) || places::is_same(path, &home.state_db()));
    if !is_own {
        return Ok(());
    }
    let message = format!("could not import {}: it is the home itself", path.display());
    Err(Problem::new(Kind::Refused, message)
        .hint("import its conversations with `hermes memory catch-up`"))
}

fn say(progress: &Progress, tally: &Tally) {
    const EVERY: u64 = 200;
    let count = tally.messages + tally.facts;
    if count.is_multiple_of(EVERY) {
        progress.say(format_args!(
            "{} messages, {} facts from {} files",
            thousands(tally.messages),
            thousands(tally.facts),
            thousands(tally.files)
        ));
    }
}

fn going_on(
    done: hermes_memory::Result<()>,
    failed: &mut Option<hermes_memory::Error>,
) -> ControlFlow<()> {
    match done {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *failed = Some(error);
            ControlFlow::Break(())
        }
    }
}
