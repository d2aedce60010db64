//! What can be done to facts; each deed says what it did and how it is undone.

use askama::Template;
use axum::http::StatusCode;
use hermes_store::memory::{Fact, Scope};
use serde::Serialize;

use super::{NAME, merge, place};
use crate::pages::notice::Notice;
use crate::pages::show::{self, Head};
use crate::pages::text::{self, Html};
use crate::pages::visit::Frame;
use crate::pages::{Answer, Visit, unknown_deed};
use hermes_app::fact_view::{Change, name_of};
use hermes_app::facts::{self, Facts, New};
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;
use hermes_app::reason::Why;
use hermes_app::text::{counted, one_line};

/// How much of a text a notice says.
const SHORT: usize = 80;

/// Somebody else changed the fact in the meantime.
#[derive(Template, Serialize)]
#[template(path = "fact_conflict.html")]
struct Stale {
    #[serde(skip)]
    frame: Frame,
    id: String,
    /// What it says now.
    now: String,
    /// What it was to say.
    yours: String,
    revision: u32,
    #[serde(skip)]
    difference: Html,
    #[serde(skip)]
    address: String,
}

/// How many facts are changed at a time.
const MOST: usize = 500;

/// What was asked for in the list.
pub(super) fn of_list(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if let Some(id) = visit.said("forget") {
        return forget(seat, visit, &[id]);
    }
    if let Some(id) = visit.said("restore") {
        return restore(seat, visit, &[id]);
    }
    if visit.deed() == "add" {
        return add(seat, visit);
    }
    let chosen = visit.all_said("fact");
    if chosen.len() > MOST {
        return Err(Problem::usage(format!("you can change at most {MOST} facts at a time")).into());
    }
    if chosen.is_empty() {
        return Err(Problem::usage("no fact is selected").hint("select at least one fact").into());
    }
    match visit.deed() {
        "forget" => forget(seat, visit, &chosen),
        "restore" => restore(seat, visit, &chosen),
        "pin" => pin(seat, visit, &chosen, true),
        "unpin" => pin(seat, visit, &chosen, false),
        "merge" => merge::choose(seat, visit, &chosen),
        "merge into" => merge_into(seat, visit, &chosen),
        "undo" => undo(seat, visit, &chosen),
        _ => Err(unknown_deed(visit)),
    }
}

/// What was asked for about one fact.
pub(super) fn of_one(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let id = visit.param("id");
    match visit.deed() {
        "edit" => edit(seat, visit, id),
        "supersede" => supersede(seat, visit, id),
        "forget" => forget(seat, visit, &[id]),
        "restore" => restore(seat, visit, &[id]),
        "undo" => undo(seat, visit, &[id]),
        "pin" => pin(seat, visit, &[id], true),
        "unpin" => pin(seat, visit, &[id], false),
        _ => Err(unknown_deed(visit)),
    }
}

/// Takes facts out of every answer, all or none.
pub(super) fn forget(seat: &mut Seat, visit: &Visit, ids: &[&str]) -> anyhow::Result<Answer> {
    let why = Why::parse(visit.said("reason").unwrap_or_default())?;
    let (scope, _) = changer(seat, visit, ids)?;
    let (app, home, memory) = seat.writer()?;
    let mut done = Vec::new();
    for id in ids {
        done.push(Facts { app, home, memory, scope }.retire_because(id, why.as_ref())?);
    }
    let text = match done.as_slice() {
        [fact] => format!("Forgotten: {}", one_line(&fact.statement, SHORT)),
        several => format!("Forgotten: {}", counted(several.len() as u64, "fact")),
    };
    back_with(seat, visit, text, "restore", &done)
}

fn restore(seat: &mut Seat, visit: &Visit, ids: &[&str]) -> anyhow::Result<Answer> {
    let (scope, found) = changer(seat, visit, ids)?;
    let (app, home, memory) = seat.writer()?;
    for id in ids {
        Facts { app, home, memory, scope }.restore(id)?;
    }
    let text = match found.as_slice() {
        [fact] => format!("Restored: {}", one_line(&fact.statement, SHORT)),
        several => format!("Restored: {}", counted(several.len() as u64, "fact")),
    };
    back_with(seat, visit, text, "forget", &found)
}

fn pin(seat: &mut Seat, visit: &Visit, ids: &[&str], pinned: bool) -> anyhow::Result<Answer> {
    let (scope, found) = changer(seat, visit, ids)?;
    let (app, home, memory) = seat.writer()?;
    for id in ids {
        Facts { app, home, memory, scope }.pin(id, pinned)?;
    }
    let (what, back) = if pinned { ("Pinned", "unpin") } else { ("Unpinned", "pin") };
    let text = match found.as_slice() {
        [fact] => format!("{what}: {}", one_line(&fact.statement, SHORT)),
        several => format!("{what}: {}", counted(several.len() as u64, "fact")),
    };
    back_with(seat, visit, text, back, &found)
}

fn undo(seat: &mut Seat, visit: &Visit, ids: &[&str]) -> anyhow::Result<Answer> {
    let (scope, found) = changer(seat, visit, ids)?;
    let (app, home, memory) = seat.writer()?;
    let mut said = Vec::new();
    for id in ids {
        let (action, fact) = Facts { app, home, memory, scope }.undo(id)?;
        said.push(format!("“{}” {}", one_line(&fact.statement, SHORT), facts::undone(&action)));
    }
    back_with(seat, visit, said.join("; "), "undo", &found)
}

fn add(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let text = visit.said("text").unwrap_or_default();
    let new = New {
        text,
        kind: visit.said("kind"),
        shared: visit.said("shared").is_some(),
        ..New::default()
    };
    new.check()?;
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let (app, home, memory) = seat.writer()?;
    let added = Facts { app, home, memory, scope }.add(&new)?;
    let address = visit.frame(seat)?.link(place(&added.id));
    let notice = match added.change {
        Change::Known => Notice::new(format!("Already known: {}", added.id)),
        _ => Notice::new(format!("Added {}: {}", added.id, one_line(&added.text, SHORT))).undo(
            &address,
            "forget",
            &[],
        ),
    };
    Ok(Answer::Done { back: visit.back(), notice })
}

/// A new text, if nobody else changed it since it was shown.
fn edit(seat: &mut Seat, visit: &Visit, id: &str) -> anyhow::Result<Answer> {
    let yours = facts::sentence(visit.said("text").unwrap_or_default())?;
    let (scope, found) = changer(seat, visit, &[id])?;
    let Some(fact) = found.first() else { return Err(unknown_deed(visit)) };
    if visit.said("revision") != Some(fact.revision.to_string().as_str()) {
        return stale(seat, visit, fact, yours);
    }
    let back = visit.frame(seat)?.link(place(&name_of(fact.id)));
    if fact.statement == yours {
        return Ok(Answer::Done { back, notice: Notice::new("Nothing changed") });
    }
    let (app, home, memory) = seat.writer()?;
    Facts { app, home, memory, scope }.edit(id, &yours)?;
    let notice = Notice::new(format!("Saved: {}", one_line(&yours, SHORT)));
    Ok(Answer::Done { notice: notice.undo(&back, "undo", &[]), back })
}

fn stale(seat: &Seat, visit: &Visit, fact: &Fact, yours: String) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let id = name_of(fact.id);
    let page = Stale {
        address: frame.link(place(&id)),
        difference: text::changed(&fact.statement, &yours),
        now: fact.statement.clone(),
        revision: fact.revision,
        frame,
        yours,
        id,
    };
    let head =
        Head { title: "Changed in the meantime".to_owned(), section: NAME, ..Head::default() };
    show::view_as(StatusCode::CONFLICT, visit, head, &page)
}

fn supersede(seat: &mut Seat, visit: &Visit, id: &str) -> anyhow::Result<Answer> {
    let text = facts::sentence(visit.said("text").unwrap_or_default())?;
    let (scope, _) = changer(seat, visit, &[id])?;
    let (app, home, memory) = seat.writer()?;
    let new = Facts { app, home, memory, scope }.supersede(id, &text)?;
    let frame = visit.frame(seat)?;
    let old = frame.link(place(new.replaced.as_deref().unwrap_or_default()));
    let notice = Notice::new(format!("Superseded. New fact: {}", one_line(&text, SHORT)));
    let back = frame.link(place(&new.id));
    Ok(Answer::Done { back, notice: notice.undo(&old, "undo", &[]) })
}

fn merge_into(seat: &mut Seat, visit: &Visit, ids: &[&str]) -> anyhow::Result<Answer> {
    let keep = visit.must_say("keep")?;
    let (scope, found) = changer(seat, visit, ids)?;
    let (app, home, memory) = seat.writer()?;
    let merged = Facts { app, home, memory, scope }.merge(keep, ids)?;
    let gone: Vec<&str> = merged.iter().filter_map(|one| one.replaced.as_deref()).collect();
    let gone: Vec<Fact> =
        found.into_iter().filter(|fact| gone.contains(&name_of(fact.id).as_str())).collect();
    let text = format!("Merged: {keep} supersedes {}", counted(gone.len() as u64, "other fact"));
    back_with(seat, visit, text, "undo", &gone)
}

/// Back to the page, with a notice whose undoing is a deed on the same facts.
fn back_with(
    seat: &Seat,
    visit: &Visit,
    text: String,
    undo: &str,
    facts: &[Fact],
) -> anyhow::Result<Answer> {
    let address = visit.frame(seat)?.link("facts");
    let names: Vec<String> = facts.iter().map(|fact| name_of(fact.id)).collect();
    let fields: Vec<(&str, &str)> = names.iter().map(|name| ("fact", name.as_str())).collect();
    let notice = Notice::new(text).undo(&address, undo, &fields);
    Ok(Answer::Done { back: visit.back(), notice })
}

/// Who changes facts that must be there: no memory is made only to find nothing.
pub(super) fn changer(
    seat: &mut Seat,
    visit: &Visit,
    ids: &[&str],
) -> anyhow::Result<(Scope, Vec<Fact>)> {
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let found: Result<Vec<Fact>, _> =
        ids.iter().map(|id| memory.store.find_fact(scope, id)).collect();
    Ok((scope, found?))
}
