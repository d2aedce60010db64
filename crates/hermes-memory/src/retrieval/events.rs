//! What happened in the time that the task asks about.

use hermes_store::memory::{Event, EventKind, ItemKind};
use jiff::tz::TimeZone;

use super::{Asking, Candidate, Pass, Section, Thing};
use crate::search::{Part, Reading};
use crate::{Result, chunk, when};

const MOST_EVENTS: usize = 30;
/// How sure we are that an event of the time asked about belongs to the task.
const SAME_TIME: f64 = 0.8;

/// The events of the time the task names; none if it names no time in the past.
pub(super) fn pass(asking: &Asking<'_>) -> Result<Vec<Candidate>> {
    let Reading { store, scope, now, zone, .. } = *asking.reading;
    let Some(time) = when::asked_about(asking.request.task, now, zone) else {
        return Ok(Vec::new());
    };
    let (since, until) = (Some(time.start), Some(time.end));
    let events = store.list_events(scope, since, until, MOST_EVENTS)?;
    let held = events.iter().filter(|event| event.retired_at.is_none() && !event.quarantined);
    Ok(held.map(|event| candidate(event, zone)).collect())
}

fn candidate(event: &Event, zone: &TimeZone) -> Candidate {
    let kind = match event.kind {
        EventKind::Task => "task",
        EventKind::Decision => "decision",
        EventKind::Result => "result",
        EventKind::Failure => "failure",
    };
    let text = match &event.why {
        Some(why) => format!("{}\nwhy: {why}", event.text),
        None => event.text.clone(),
    };
    let day = chunk::written_day(chunk::day_of(event.at, zone));
    Candidate {
        thing: Thing {
            name: format!("event:{}", event.id),
            section: Section::Events,
            key: Some((ItemKind::Event, event.id)),
            head: format!("{day}, {kind}"),
            text,
            short: None,
            at: Some(event.at),
            weight: 1.0,
            trust: event.trust,
        },
        pass: Pass::Time,
        relevance: Some(SAME_TIME),
        evidence: vec![Part { name: "time asked about", value: SAME_TIME }],
        reason: "happened in the time the task asks about".to_owned(),
    }
}
