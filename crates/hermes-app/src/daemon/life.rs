//! The jobs that a memory lives by: taking in, drawing facts, looking back, telling old episodes by a summary.

use hermes_home::Home;
use hermes_memory::chunk::Vectors;
use hermes_memory::{catch_up as messages, extract, identity};
use hermes_store::memory::{Admin, Memory, UserNumber};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::jobs::{Look, Need};
use super::work::Worker;
use crate::app::App;
use crate::background::Background;
use crate::catch_up;
use crate::hooks::finish;
use crate::rules::{self, IDLE};
use crate::text::counted;
use crate::transcript;
use crate::{clock, embedding};

/// How many episodes are drawn from before the lease is looked at again.
const EPISODES_A_STEP: usize = 200;
/// After so many tries a model that does not answer well is left out, so that the work goes on.
pub const TRIES_WITH_MODEL: u32 = 2;

/// Whether other programs wrote something that the memory lacks.
pub fn lacks_messages(look: &Look<'_>) -> anyhow::Result<Need> {
    if finish::waiting(look.app, look.home) > 0 {
        return Ok(Need::Now);
    }
    let sessions = transcript::to_read(look.app, look.home)?;
    let spool = look.home.spool();
    let is_needed = match look.store {
        Some(store) => {
            let note = look.home.transcript_note();
            messages::is_needed(sessions.as_ref(), store, &spool, &note, look.app.now)?
        }
        None => {
            let has_messages = match &sessions {
                Some(sessions) => !sessions.marks()?.is_empty(),
                None => false,
            };
            has_messages || hermes_memory::record::spool::waiting(&spool) > 0
        }
    };
    // The hook of a turn that is under way may never come.
    let again = finish::next_look(look.home).map(|later| Need::At(look.app.now + later));
    Ok(if is_needed { Need::Now } else { again.unwrap_or(Need::No) })
}

/// Takes in what was recorded elsewhere.
pub fn catch_up(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let Worker { app, home, memory, pulse, .. } = worker;
    let mut going_on = Ok(());
    let report = catch_up::take_in_telling(app, home, &mut memory.store, &mut || {
        if going_on.is_ok() {
            going_on = pulse.came_on();
        }
    })?;
    going_on?;
    let (messages, sessions) =
        (counted(report.added, "message"), counted(report.sessions, "session"));
    let mut said = format!(
        "{messages} from {sessions}, {} from waiting files",
        counted(report.spool.turns, "turn")
    );
    said.push_str(
        &catch_up::put_right(&report).map(|line| format!("; {line}")).unwrap_or_default(),
    );
    Ok(said)
}

/// Whether facts can be drawn from something, or when.
pub fn has_waiting_episodes(look: &Look<'_>) -> anyhow::Result<Need> {
    let Some(store) = look.store else { return Ok(Need::No) };
    let now = look.app.now;
    if !store.waiting_episodes(Admin, now - IDLE, 1)?.is_empty() {
        return Ok(Need::Now);
    }
    // Nothing is over yet: the oldest that goes on will be when nothing more is said in it.
    let going_on = store.waiting_episodes(Admin, Timestamp::MAX, 1)?;
    let at = going_on.first().map(|episode| episode.ended_at + IDLE);
    Ok(at.map_or(Need::No, |at| Need::At(at.max(now + SignedDuration::from_mins(1)))))
}

/// Draws facts from what was said.
pub fn extract(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let Worker { app, home, memory, job, pulse } = worker;
    let mut model = match job.own_tries() + job.cut_short() <= TRIES_WITH_MODEL {
        true => Background::open_for_job(app, home)?,
        false => None,
    };
    let mut total = extract::Report::default();
    loop {
        pulse.beat()?;
        let drawing = Drawing { model: model.as_ref(), imported_with_model: false };
        let report = match draw(app, home, &mut memory.store, &drawing) {
            // Rules do the work at once where asking is no use.
            Err(_) if model.as_ref().is_some_and(Background::has_failed) => {
                model = None;
                continue;
            }
            other => other?,
        };
        if report.episodes == 0 {
            break;
        }
        total.add(&report);
        pulse.came_on()?;
    }
    Ok(format!("{} from {}", counted(total.facts, "new fact"), counted(total.episodes, "episode")))
}

/// How facts are drawn.
pub struct Drawing<'a, 'b> {
    /// The model to ask; none: rules.
    pub model: Option<&'a Background<'b>>,
    /// Whether it also reads history that was brought in.
    pub imported_with_model: bool,
}

/// Draws facts from some of the episodes that wait.
pub fn draw(
    app: &App,
    home: &Home,
    store: &mut Memory,
    drawing: &Drawing<'_, '_>,
) -> anyhow::Result<extract::Report> {
    let now = clock::now();
    let zones = Zones::read(app, home, store)?;
    let rules = rules::of_learning(app, home, store)?;
    let settings = extract::Settings {
        now,
        zone_of: &|user| zones.of(user),
        idle_since: now - IDLE,
        limit: EPISODES_A_STEP,
        vectors: vectors(store)?,
        imported_with_model: drawing.imported_with_model,
        remember: Some(&rules),
    };
    let mut ask = drawing.model.map(|model| |prompt: &_| model.ask(prompt));
    let ask = ask.as_mut().map(|ask| ask as &mut hermes_memory::ask::Ask<'_>);
    Ok(extract::run(store, &settings, ask)?)
}

fn vectors(store: &Memory) -> anyhow::Result<Vectors> {
    Ok(embedding::vectors(store.active_model()?.as_ref()))
}

/// Where the users live.
pub struct Zones {
    usual: TimeZone,
    own: Vec<(UserNumber, TimeZone)>,
}

impl Zones {
    /// Reads the zone of every user.
    pub fn read(app: &App, home: &Home, store: &Memory) -> anyhow::Result<Zones> {
        let usual = app.zone(home)?;
        let mut own = Vec::new();
        for user in store.users(Admin)? {
            own.push((user.number, identity::zone_of(store, user.number, &usual)?));
        }
        Ok(Zones { usual, own })
    }

    /// The zone of a user.
    pub fn of(&self, user: UserNumber) -> TimeZone {
        let own = self.own.iter().find(|(number, _)| *number == user);
        own.map_or_else(|| self.usual.clone(), |(_, zone)| zone.clone())
    }
}
