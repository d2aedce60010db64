//! Letting summaries stand for old episodes, by hand or in the background.

use hermes_home::{Home, pins};
use hermes_memory::compress::{self, Report, Settings};
use hermes_store::memory::Memory;
use jiff::{SignedDuration, Timestamp};

use super::life::{TRIES_WITH_MODEL, Zones};
use super::work::Worker;
use crate::app::App;
use crate::background::Background;
use crate::text::counted;
use crate::{clock, embedding};

/// How many summaries are written before the lease is looked at again.
const SUMMARIES_A_STEP: u64 = 20;

/// What is to be compressed, and how.
pub struct Wanted<'a, 'b> {
    /// Episodes that ended before it are old.
    pub before: Timestamp,
    /// Only say what would be done.
    pub dry_run: bool,
    /// How many summaries at most.
    pub limit: Option<u64>,
    /// The model to ask; none: rules.
    pub model: Option<&'a Background<'b>>,
}

/// The rule of the job: at night, before the vacuum.
pub fn rule(config: &hermes_home::config::Config) -> Option<String> {
    config.memory.compression.enabled.then(|| "0 3 * * *".to_owned())
}

/// Summarises what is old.
pub fn compact(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let Worker { app, home, memory, job, pulse } = worker;
    let model = match job.own_tries() + job.cut_short() <= TRIES_WITH_MODEL {
        true => Background::open_for_job(app, home)?,
        false => None,
    };
    let mut wanted = Wanted {
        before: clock::now() - usual_age(app, home)?,
        dry_run: false,
        limit: Some(SUMMARIES_A_STEP),
        model: model.as_ref(),
    };
    let mut total = Report::default();
    loop {
        pulse.beat()?;
        let report = compress(app, home, &mut memory.store, &wanted, &mut |_| {});
        let is_left_out = wanted.model.is_some_and(Background::has_failed);
        let was_in_vain = report.as_ref().is_ok_and(|report| report.stopped.is_some());
        if is_left_out && (was_in_vain || report.is_err()) {
            // Rules do the work at once where asking is no use.
            wanted.model = None;
            continue;
        }
        let report = report?;
        let is_done = report.clusters + report.finished < SUMMARIES_A_STEP;
        total.episodes += report.episodes;
        total.clusters += report.clusters + report.finished;
        if report.clusters + report.finished > 0 {
            pulse.came_on()?;
        }
        if let Some(why) = report.stopped {
            return Err(anyhow::anyhow!(why));
        }
        if is_done {
            break;
        }
    }
    let episodes = counted(total.episodes, "episode");
    Ok(format!("{episodes} summarised in {}", counted(total.clusters, "new text")))
}

/// How old an episode must be, as the settings say.
pub fn usual_age(app: &App, home: &Home) -> anyhow::Result<SignedDuration> {
    let days = app.config(home)?.config.memory.compression.after_days;
    Ok(SignedDuration::from_hours(24 * i64::from(days)))
}

/// Compresses what is old.
pub fn compress(
    app: &App,
    home: &Home,
    store: &mut Memory,
    wanted: &Wanted<'_, '_>,
    progress: &mut dyn FnMut(&Report),
) -> anyhow::Result<Report> {
    let pinned = pins::read(home)?;
    let zones = Zones::read(app, home, store)?;
    let settings = Settings {
        dry_run: wanted.dry_run,
        vectors: embedding::vectors(store.active_model()?.as_ref()),
        zone_of: &|user| zones.of(user),
        is_pinned: &|session| pinned.contains(session),
        limit: wanted.limit,
        ..Settings::new(wanted.before, clock::now())
    };
    let mut ask = wanted.model.map(|model| |prompt: &_| model.ask(prompt));
    let ask = ask.as_mut().map(|ask| ask as &mut hermes_memory::ask::Ask<'_>);
    Ok(compress::run(store, &settings, ask, progress)?)
}
