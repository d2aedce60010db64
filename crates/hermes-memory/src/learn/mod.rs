//! The learning loop: three similar tasks that went well make a skill, which waits for the user's word.

mod active;
mod draft;
mod similar;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use hermes_home::Home;
use hermes_home::skill::{self, Keep, Offered};
use hermes_store::memory::{
    Admin, Change, Memory, Procedure, ProcedureKind, Scope, Step, Task, UserNumber,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::ask::Ask;
use crate::chunk::Vectors;
use crate::reflect::patterns::Meaning;
use crate::remember::suspicion;
use crate::{Error, Result};

pub use active::{Noted, note_skills};
pub use steps::{CommonStep, common};

/// So many similar successes, each from a session of its own, make a skill.
pub const LEAST_SUCCESSES: usize = 3;
const MOST_TASKS: usize = 500;
const ACTOR: &str = "learn";

/// How to learn.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Where the skills are.
    pub home: &'a Home,
    /// Whether a new skill waits or is used at once.
    pub keep: Keep,
    /// When.
    pub now: Timestamp,
    /// The zone of the days in a skill.
    pub zone: &'a TimeZone,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
}

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Skills that were drafted.
    pub drafted: Vec<Drafted>,
    /// What changed among the skills in use.
    pub noted: Noted,
    /// Drafts whose wording by a model could not be used: they keep the plain one.
    pub plain: u64,
}

/// A skill that was drafted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drafted {
    /// Its name.
    pub name: String,
    /// Whether it is used, or waits.
    pub state: skill::State,
    /// From how many tasks.
    pub tasks: usize,
}

/// Drafts skills from tasks that went well, and notes the skills in use; doing it again adds nothing.
pub fn learn(
    store: &mut Memory,
    settings: &Settings<'_>,
    mut ask: Option<&mut Ask<'_>>,
) -> Result<Report> {
    let mut report = Report::default();
    for user in store.users(Admin)? {
        let scope = Scope::of(user.number);
        let mut tasks = store.tasks(scope, None, MOST_TASKS)?;
        tasks.retain(|task| task.user == user.number);
        let lessons = lessons(store, scope)?;
        let free: Vec<Task> = tasks.iter().filter(|task| is_free_success(task)).cloned().collect();
        for group in similar::groups(&free, LEAST_SUCCESSES) {
            let mind = recurring(&tasks, &group, &lessons);
            let ask: Option<&mut Ask<'_>> = match &mut ask {
                None => None,
                Some(ask) => Some(&mut **ask),
            };
            let Some(common) = common_to(&group, mind, ask, &mut report.plain)? else { continue };
            report.drafted.extend(draft_skill(store, scope, &common, settings)?);
        }
    }
    report.noted = note_skills(settings.home, store, settings.vectors, change(settings))?;
    Ok(report)
}

fn is_free_success(task: &Task) -> bool {
    task.outcome.as_deref() == Some("success") && task.skill.is_none()
}

/// What tasks have in common, worded by a model if one is asked; counts the wordings that could not be used.
fn common_to<'t>(
    group: &'t [&'t Task],
    mind: Vec<String>,
    ask: Option<&mut Ask<'_>>,
    plain: &mut u64,
) -> Result<Option<draft::Common<'t>>> {
    let lists: Vec<Vec<Step>> =
        group.iter().map(|task| serde_json::from_str(&task.steps).unwrap_or_default()).collect();
    let common = draft::Common::of(group, common(&lists), mind);
    let (Some(common), Some(ask)) = (&common, ask) else { return Ok(common) };
    match common.clone().worded(ask) {
        Ok(worded) => Ok(Some(worded)),
        Err(Error::BadReply { .. }) => {
            *plain += 1;
            Ok(Some(common.clone()))
        }
        Err(other) => Err(other),
    }
}

/// Offers a skill for tasks; none if there is nothing to write.
fn draft_skill(
    store: &mut Memory,
    scope: Scope,
    common: &draft::Common<'_>,
    settings: &Settings<'_>,
) -> Result<Option<Drafted>> {
    let Some(new) = common.skill(settings.zone, settings.now) else { return Ok(None) };
    // What another user does becomes a skill for all only by the owner's word.
    let keep = if scope.user() == UserNumber::OWNER { settings.keep } else { Keep::Pending };
    let name = new.name.as_str().to_owned();
    let drafted = match skill::offer(settings.home, &new, keep)? {
        Offered::Written { state, .. } => Some(Drafted { name, state, tasks: common.tasks.len() }),
        _ => None,
    };
    // Whatever came of it, these tasks have had their turn; the number of the procedure follows
    // once the skill is in use.
    let ids: Vec<i64> = common.tasks.iter().map(|task| task.id).collect();
    store.note_skill_of_tasks(scope, &ids, 0)?;
    Ok(drafted)
}

/// A lesson and the session it comes from.
struct Taught {
    session: String,
    procedure: Procedure,
    meaning: Meaning,
}

/// What users corrected, by session.
fn lessons(store: &Memory, scope: Scope) -> Result<Vec<Taught>> {
    const MOST: usize = 1000;
    let held = store.list_procedures(scope, None, MOST)?;
    let mut found = Vec::new();
    for procedure in held.into_iter().filter(is_correction) {
        let sources = store.sources_of_procedure(scope, procedure.id)?;
        let episodes: Vec<i64> = sources.iter().filter_map(|source| source.episode).collect();
        let Some(episode) = store.episodes(scope, &episodes)?.into_iter().next() else { continue };
        found.push(Taught {
            session: episode.session_id,
            meaning: Meaning::of(&procedure.title),
            procedure,
        });
    }
    Ok(found)
}

/// Only the user's own words go into a skill.
fn is_correction(procedure: &Procedure) -> bool {
    procedure.kind == ProcedureKind::Reflection
        && procedure.trust == hermes_store::memory::Trust::User
        && procedure.body.starts_with("The user said: ")
        && suspicion(&procedure.title).is_none()
}

/// What was corrected in two or more sessions of tasks like these, however they went.
fn recurring(tasks: &[Task], group: &[&Task], lessons: &[Taught]) -> Vec<String> {
    const LEAST: usize = 2;
    const MOST: usize = 8;
    let Some(first) = group.first() else { return Vec::new() };
    let model = similar::Compared::of(first);
    let own: BTreeSet<&str> = tasks
        .iter()
        .filter(|task| {
            group.iter().any(|one| one.id == task.id) || model.is_like(&similar::Compared::of(task))
        })
        .map(similar::session_of)
        .collect();
    let mut kinds: Vec<(&Taught, BTreeSet<&str>)> = Vec::new();
    for one in lessons.iter().filter(|one| own.contains(one.session.as_str())) {
        match kinds.iter_mut().find(|(known, _)| known.meaning.is_like(&one.meaning)) {
            Some((_, sessions)) => {
                sessions.insert(&one.session);
            }
            None => kinds.push((one, BTreeSet::from([one.session.as_str()]))),
        }
    }
    let often = kinds.into_iter().filter(|(_, sessions)| sessions.len() >= LEAST);
    let by_count: BTreeMap<_, _> = often
        .map(|(one, sessions)| {
            let text = format!("{} (said in {} sessions)", one.procedure.title, sessions.len());
            ((std::cmp::Reverse(sessions.len()), one.procedure.id), text)
        })
        .collect();
    by_count.into_values().take(MOST).collect()
}

fn change(settings: &Settings<'_>) -> Change<'static> {
    Change { actor: ACTOR, at: settings.now }
}
