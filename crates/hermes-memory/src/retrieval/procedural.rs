//! How this kind of task was done well before.

use hermes_store::memory::{ItemKind, Procedure, ProcedureKind};

use super::{Asking, Candidate, Found, Pass, Section, Thing};
use crate::search::{Item, Kind, Part};
use crate::task::TaskType;
use crate::{Result, chunk};

/// How many procedures are shown for their type alone, and how many a search may bring.
const MOST_OF_TYPE: usize = 3;
const MOST_FOUND: usize = 10;
const MOST_READ: usize = 50;
/// How sure we are that a procedure of the same type of task belongs to this one.
const SAME_TYPE: f64 = 0.6;

/// Procedures of the same type of task, and those that a search for the task finds.
pub(super) fn pass(asking: &Asking<'_>, found: &mut Found) -> Result<()> {
    let kind = asking.task_type;
    if kind != TaskType::General {
        let same = asking.reading.store.list_procedures(
            asking.reading.scope,
            Some(kind.as_str()),
            MOST_READ,
        )?;
        let reason = format!("for tasks of type {}", kind.as_str());
        // A skill is for one sort of task: its type alone does not make it belong.
        let is_general = |one: &&Procedure| is_held(one) && one.kind != ProcedureKind::Skill;
        let held = same.iter().filter(is_general).take(MOST_OF_TYPE);
        let evidence = vec![Part { name: "type of task", value: SAME_TYPE }];
        let judge = |one| candidate(asking, one, SAME_TYPE, evidence.clone(), reason.clone());
        found.candidates.extend(held.map(judge));
    }
    for result in asking.search(Kind::Procedures, MOST_FOUND, &mut found.notes)?.results {
        let Item::Procedure(procedure) = &result.item else { continue };
        if !is_held(procedure) {
            continue;
        }
        let reason = match procedure.kind {
            ProcedureKind::Skill => "a skill for such tasks",
            _ => "answers the task",
        };
        let (relevance, evidence) = (result.relevance, result.parts.clone());
        let candidate = candidate(asking, procedure, relevance, evidence, reason.to_owned());
        found.propose(candidate, relevance, asking);
    }
    Ok(())
}

fn is_held(procedure: &Procedure) -> bool {
    procedure.retired_at.is_none() && !procedure.quarantined
}

fn candidate(
    asking: &Asking<'_>,
    procedure: &Procedure,
    relevance: f64,
    evidence: Vec<Part>,
    reason: String,
) -> Candidate {
    let mut head = chunk::written_day(chunk::day_of(procedure.recorded_at, asking.reading.zone));
    if let Some(outcome) = &procedure.outcome {
        head.push_str(", ");
        head.push_str(outcome);
    }
    let is_said_twice = procedure.body.trim().starts_with(procedure.title.trim());
    let text = if is_said_twice || procedure.title.trim().is_empty() {
        procedure.body.clone()
    } else {
        format!("{}\n{}", procedure.title.trim(), procedure.body)
    };
    Candidate {
        thing: Thing {
            name: format!("procedure:{}", procedure.id),
            section: Section::Procedures,
            key: Some((ItemKind::Procedure, procedure.id)),
            head,
            text,
            short: None,
            at: Some(procedure.recorded_at),
            weight: success(procedure),
            trust: procedure.trust,
        },
        pass: Pass::Procedural,
        relevance: Some(relevance),
        evidence,
        reason,
    }
}

/// The share of tasks it helped; ¾ for one that was never tried.
fn success(procedure: &Procedure) -> f64 {
    let (wins, losses) = (f64::from(procedure.wins), f64::from(procedure.losses));
    (wins + 3.0) / (wins + losses + 4.0)
}
