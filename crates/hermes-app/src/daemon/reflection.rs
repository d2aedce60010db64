//! Looking back: on sessions that are over, on habits over many of them, on tasks that went well.

use hermes_home::Home;
use hermes_memory::learn;
use hermes_memory::reflect::{self, look_back};
use hermes_store::memory::{Admin, Memory};
use jiff::{SignedDuration, Timestamp};

use super::jobs::{Look, Need};
use super::life::TRIES_WITH_MODEL;
use super::work::Worker;
use crate::app::App;
use crate::background::Background;
use crate::rules::{self, IDLE};
use crate::text::counted;
use crate::{clock, embedding};

/// Whether a session waits to be looked back on, or when one will.
pub fn has_waiting_sessions(look: &Look<'_>) -> anyhow::Result<Need> {
    let Some(store) = look.store else { return Ok(Need::No) };
    if !is_enabled(look.app, look.home)? {
        return Ok(Need::No);
    }
    let now = look.app.now;
    if !store.sessions_to_reflect(Admin, now - IDLE, 1)?.is_empty() {
        return Ok(Need::Now);
    }
    let going_on = store.sessions_to_reflect(Admin, Timestamp::MAX, 1)?;
    let at = going_on.first().map(|session| session.last_at + IDLE);
    Ok(at.map_or(Need::No, |at| Need::At(at.max(now + SignedDuration::from_mins(1)))))
}

/// Looks back at a task that is over.
pub fn reflect(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let Worker { app, home, memory, job, pulse } = worker;
    let model = match job.own_tries() + job.cut_short() <= TRIES_WITH_MODEL {
        true => Background::open_for_job(app, home)?,
        false => None,
    };
    let mut going_on = Ok(());
    let mut beat = |done: u64| {
        going_on = pulse.beat().and_then(|()| if done > 0 { pulse.came_on() } else { Ok(()) });
        match &going_on {
            Ok(()) => Ok(()),
            // The reason is kept above; this only ends the work.
            Err(_) => Err(hermes_memory::Error::Unreadable(std::io::ErrorKind::Interrupted.into())),
        }
    };
    let mut report = sessions(app, home, &mut memory.store, model.as_ref(), &mut beat);
    if report.is_err() && model.as_ref().is_some_and(Background::has_failed) {
        // Rules do the work at once where asking is no use.
        report = sessions(app, home, &mut memory.store, None, &mut beat);
    }
    going_on?;
    let report = report?;
    if let Some(trouble) = report.again.first() {
        return Err(anyhow::anyhow!(trouble.why.clone()));
    }
    let (sessions, lessons) =
        (counted(report.sessions, "session"), counted(report.lessons, "lesson"));
    Ok(format!("{lessons} from {sessions}"))
}

/// Looks for tasks that are over.
pub fn look_back(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    if !is_enabled(worker.app, worker.home)? {
        return Ok("memory.reflection_enabled is false".to_owned());
    }
    let report = habits(worker.app, worker.home, &mut worker.memory.store)?;
    Ok(format!(
        "entries: {} written, {} proposed, {} proposed for removal",
        report.written, report.proposed, report.stale
    ))
}

/// Makes skills from lessons that came again.
pub fn learn(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    if !is_enabled(worker.app, worker.home)? {
        return Ok("memory.reflection_enabled is false".to_owned());
    }
    let Worker { app, home, memory, job, .. } = worker;
    let model = match job.own_tries() + job.cut_short() <= TRIES_WITH_MODEL {
        true => Background::open_for_job(app, home)?,
        false => None,
    };
    let report = match skills(app, home, &mut memory.store, model.as_ref()) {
        Err(_) if model.as_ref().is_some_and(Background::has_failed) => {
            skills(app, home, &mut memory.store, None)?
        }
        other => other?,
    };
    Ok(format!("{} drafted", counted(report.drafted.len() as u64, "skill")))
}

/// Whether the settings want anything of this.
pub fn is_enabled(app: &App, home: &Home) -> anyhow::Result<bool> {
    Ok(app.config(home)?.config.memory.reflection_enabled)
}

/// Looks back on every session that is over.
pub fn sessions(
    app: &App,
    home: &Home,
    store: &mut Memory,
    model: Option<&Background<'_>>,
    progress: &mut dyn FnMut(u64) -> hermes_memory::Result<()>,
) -> anyhow::Result<reflect::Report> {
    let zone = app.zone(home)?;
    let vectors = embedding::vectors(store.active_model()?.as_ref());
    let settings = reflect::Settings { now: clock::now(), zone: &zone, vectors, limit: usize::MAX };
    let mut ask = model.map(|model| |prompt: &_| model.ask(prompt));
    let ask = ask.as_mut().map(|ask| ask as &mut hermes_memory::ask::Ask<'_>);
    Ok(reflect::run(home, store, &settings, ask, progress)?)
}

/// Looks at what many sessions have in common, and at entries that may be stale.
pub fn habits(app: &App, home: &Home, store: &mut Memory) -> anyhow::Result<look_back::Report> {
    let rules = rules::of_learning(app, home, store)?;
    let zone = app.zone(home)?;
    let answering = app.answering(home, store)?;
    let days = app.config(home)?.config.memory.stale_after_days;
    let settings = look_back::Settings {
        now: clock::now(),
        zone: &zone,
        stale_after_days: i32::try_from(days).unwrap_or(i32::MAX),
        embedder: answering.embedder.as_deref(),
    };
    Ok(look_back::look_back(store, &rules, &settings)?)
}

/// Drafts skills from tasks that went well.
pub fn skills(
    app: &App,
    home: &Home,
    store: &mut Memory,
    model: Option<&Background<'_>>,
) -> anyhow::Result<learn::Report> {
    let zone = app.zone(home)?;
    let vectors = embedding::vectors(store.active_model()?.as_ref());
    let keep = app.config(home)?.config.keeps_learned();
    let settings = learn::Settings { home, keep, now: clock::now(), zone: &zone, vectors };
    let mut ask = model.map(|model| |prompt: &_| model.ask(prompt));
    let ask = ask.as_mut().map(|ask| ask as &mut hermes_memory::ask::Ask<'_>);
    Ok(learn::learn(store, &settings, ask)?)
}
