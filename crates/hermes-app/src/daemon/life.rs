//! The jobs that a memory lives by: taking in, drawing facts, looking back, telling old episodes by a summary.

use std::time::Duration;

use hermes_home::Home;
use hermes_home::databases::{Database, Noted};
use hermes_memory::chunk::Vectors;
use hermes_memory::record::{turn, whose};
use hermes_memory::{catch_up, extract, identity};
use hermes_store::memory::{Admin, Lifecycle as _, SqliteMemory, UserNumber, Vectors as _};
use hermes_store::rot::HighWater;
use hermes_store::sessions::{Owner, SessionStore, random_bytes};
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, ErrorKind, memory};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::jobs::{Look, Need};
use super::work::Worker;
use crate::app::{App, keep_before_upgrade};
use crate::background::Background;
use crate::hooks::finish;
use crate::rules;
use crate::text::counted;
use crate::{clock, embedding};

/// A session in which nothing was said for so long is over.
pub const IDLE: SignedDuration = SignedDuration::from_mins(30);
/// How many episodes are drawn from before the lease is looked at again.
const EPISODES_A_STEP: usize = 200;
/// After so many tries a model that does not answer well is left out, so that the work goes on.
pub const TRIES_WITH_MODEL: u32 = 2;

/// Whether other programs wrote something that the memory lacks.
pub fn lacks_messages(look: &Look<'_>) -> anyhow::Result<Need> {
    if finish::waiting(look.app, look.home) > 0 {
        return Ok(Need::Now);
    }
    let sessions = sessions(look.app, look.home)?;
    let spool = look.home.spool();
    let is_needed = match look.store {
        Some(store) => {
            let note = look.home.transcript_note();
            catch_up::is_needed(sessions.as_ref(), store, &spool, &note, look.app.now)?
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
    let report = take_in_telling(app, home, &mut memory.store, &mut || {
        if going_on.is_ok() {
            going_on = pulse.came_on();
        }
    })?;
    going_on?;
    let (messages, sessions) =
        (counted(report.added, "message"), counted(report.sessions, "session"));
    let mut said = format!(
        "{messages} from {sessions}, {} waited in files",
        counted(report.spool.turns, "turn")
    );
    said.push_str(&put_right(&report).map(|line| format!("; {line}")).unwrap_or_default());
    Ok(said)
}

/// What was put right of an earlier version, if anything.
pub fn put_right(report: &catch_up::Report) -> Option<String> {
    let (named, noted) = (report.sessions_named, report.summaries_noted);
    (named + noted > 0).then(|| {
        let named = counted(named, "session");
        format!("put right: {named} known by the name of their user, {noted} summaries by number")
    })
}

/// Takes in what the memory of a home lacks, and first of all what hooks left.
pub fn take_in(
    app: &App,
    home: &Home,
    store: &mut SqliteMemory,
) -> anyhow::Result<catch_up::Report> {
    take_in_telling(app, home, store, &mut || {})
}

/// The same; `tell` hears of each session and each turn that is in.
fn take_in_telling(
    app: &App,
    home: &Home,
    store: &mut SqliteMemory,
    tell: &mut dyn FnMut(),
) -> anyhow::Result<catch_up::Report> {
    let zone = app.zone(home)?;
    let settings = turn::Settings {
        zone: &zone,
        now: clock::now(),
        vectors: vectors(store)?,
        random: random_bytes(),
        secrets: app.config(home)?.config.recording.secrets,
        transcript_note: &home.transcript_note(),
    };
    finish::to_spool(app, home)?;
    // Turns that wait in files go to the transcript as well.
    let waiting = hermes_memory::record::spool::waiting(&home.spool()) > 0;
    let mut sessions = sessions(app, home)?;
    let is_due = match &sessions {
        Some(sessions) if sessions.layout().owner() == Owner::Ours => {
            let note = &home.transcript_note();
            let database = catch_up::database(sessions, note, settings.now)?;
            whose::is_due(sessions, store, &database)?
        }
        _ => false,
    };
    if waiting || is_due || sessions.as_ref().is_some_and(lacks_identity) {
        sessions = sessions_to_write(home, app.lock_wait(home)?)?;
    }
    Ok(catch_up::catch_up_telling(sessions.as_mut(), store, &home.spool(), &settings, tell)?)
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
    store: &mut SqliteMemory,
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

/// Whether a database of ours was not opened for writing since it can say which one it is.
fn lacks_identity(sessions: &SessionStore) -> bool {
    sessions.layout().owner() == Owner::Ours && matches!(sessions.row_names(), Ok(None))
}

/// The sessions of a home, if it has any.
fn sessions(app: &App, home: &Home) -> anyhow::Result<Option<SessionStore>> {
    match SessionStore::open(&home.state_db(), Access::Read, app.lock_wait(home)?) {
        Ok(sessions) => Ok(Some(sessions)),
        Err(StoreError::Missing { .. }) => {
            Ok(app.refuse_lost(home, Database::State).map(|()| None)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// The sessions of a home, opened to be written if they may be; none if it never had any.
pub fn sessions_to_write(home: &Home, wait: Duration) -> Result<Option<SessionStore>, StoreError> {
    let path = home.state_db();
    let open = |access| {
        let mut keep = |schema| keep_before_upgrade(home, (&path, schema), clock::now());
        SessionStore::open_keeping(&path, access, wait, &mut keep)
    };
    match open(Access::Write).or_else(|error| match error.kind() {
        ErrorKind::Refused => open(Access::Read),
        _ => Err(error),
    }) {
        Ok(mut store) => {
            store.keep_mark(&HighWater::at(home.high_water()))?;
            Ok(Some(store))
        }
        Err(StoreError::Missing { path }) if Noted::read(home).has(Database::State) => {
            let advice = "`hermes doctor` names the backup that has it".to_owned();
            Err(StoreError::Lost { path, advice })
        }
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn vectors(store: &SqliteMemory) -> anyhow::Result<Vectors> {
    Ok(embedding::vectors(store.active_model()?.as_ref()))
}

/// Where the users live.
pub struct Zones {
    usual: TimeZone,
    own: Vec<(UserNumber, TimeZone)>,
}

impl Zones {
    /// Reads the zone of every user.
    pub fn read(app: &App, home: &Home, store: &SqliteMemory) -> anyhow::Result<Zones> {
        let usual = app.zone(home)?;
        let mut own = Vec::new();
        for user in memory::Users::users(store, Admin)? {
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
