//! Procedures: what finished work taught, by type of task, with the words that show it.

use askama::Template;
use hermes_store::memory::{Procedure, ProcedureKind, Scope};
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::promote;
use hermes_app::text::one_line;

const NAME: &str = "Procedures";
/// So many are read.
const MOST: usize = 200;

/// The list.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "p" });
    Page { path: "/p/{profile}/procedures", menu, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "procedures.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    results: Vec<Row>,
    #[serde(skip)]
    types: Vec<String>,
    #[serde(skip)]
    task_type: String,
    #[serde(skip)]
    is_cut: bool,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    procedure: Procedure,
    quotes: Vec<String>,
    /// Whether the one before is for another type of task.
    #[serde(skip)]
    is_first: bool,
}

impl Row {
    fn task_type(&self) -> &str {
        self.procedure.task_type.as_deref().unwrap_or("general")
    }

    fn kind(&self) -> &'static str {
        match self.procedure.kind {
            ProcedureKind::Reflection => "lesson",
            ProcedureKind::Pattern => "habit",
            ProcedureKind::Skill => "skill",
        }
    }

    fn can_be_skill(&self) -> bool {
        self.procedure.kind != ProcedureKind::Skill
    }

    fn outcome(&self) -> (&'static str, &str) {
        match self.procedure.outcome.as_deref() {
            Some("success") => ("good", "success"),
            Some("failure") => ("bad", "failure"),
            Some(other) => ("", other),
            None => ("", ""),
        }
    }
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let wanted = visit.asked("type");
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let mut found = memory.store.list_procedures(scope, None, MOST + 1)?;
    let is_cut = found.len() > MOST;
    found.truncate(MOST);
    let name = |one: &Procedure| one.task_type.clone().unwrap_or_else(|| "general".to_owned());
    let mut types: Vec<String> = found.iter().map(name).collect();
    types.sort();
    types.dedup();
    found.retain(|one| wanted.is_none_or(|wanted| name(one) == wanted));
    found.sort_by_key(|one| (name(one), std::cmp::Reverse((one.recorded_at, one.id))));
    let mut results: Vec<Row> = Vec::new();
    for procedure in found {
        let sources = memory.store.sources_of_procedure(scope, procedure.id)?;
        let quotes = sources.into_iter().filter_map(|source| source.quote).collect();
        let is_first = results.last().is_none_or(|last| last.task_type() != name(&procedure));
        results.push(Row { procedure, quotes, is_first });
    }
    let address = frame.link("procedures");
    let task_type = wanted.unwrap_or_default().to_owned();
    let list = List { frame, address, results, types, task_type, is_cut };
    let command = "hermes memory reflections list".to_owned();
    show::view(visit, Head { title: NAME.to_owned(), section: NAME, command }, &list)
}

/// A skill from a lesson: it waits in Skills.
fn to_skill(seat: &mut Seat, visit: &Visit, id: &str) -> anyhow::Result<Answer> {
    let number: i64 = id.parse().map_err(|_| missing(id))?;
    let (app, home, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let procedure = promote::find(&memory.store, scope, number)?;
    let promoted = promote::promote(home, &procedure, None, app.now)?;
    let frame = visit.frame(seat)?;
    let (name, skills) = (promoted.skill.as_str(), frame.link("skills"));
    let notice = match promoted.changed {
        true => Notice::new(format!("{name} needs your approval in Skills")).undo(
            &skills,
            "",
            &[("reject", name)],
        ),
        false => Notice::new(format!("The skill {name} already says this")),
    };
    Ok(Answer::Done { back: visit.back(), notice })
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if let Some(id) = visit.said("promote") {
        return to_skill(seat, visit, id);
    }
    let (id, forgets) = match (visit.said("forget"), visit.said("restore")) {
        (Some(id), _) => (id, true),
        (_, Some(id)) => (id, false),
        _ => return Err(unknown_deed(visit)),
    };
    let id: i64 = id.parse().map_err(|_| missing(id))?;
    let (_, _, memory) = seat.reader()?;
    let scope: Scope = visit.scope(&memory.store)?;
    let known = memory.store.procedures(scope, &[id])?.pop();
    let (app, _, memory) = seat.writer()?;
    let change = app.change();
    match forgets {
        true => memory.store.retire_procedure(scope, id, change)?,
        false => memory.store.restore_procedure(scope, id, change)?,
    }
    let title = known.map_or_else(|| format!("procedure:{id}"), |one| one_line(&one.title, 80));
    let address = visit.frame(seat)?.link("procedures");
    let number = id.to_string();
    let notice = match forgets {
        true => {
            Notice::new(format!("Forgotten: {title}")).undo(&address, "", &[("restore", &number)])
        }
        false => {
            Notice::new(format!("Restored: {title}")).undo(&address, "", &[("forget", &number)])
        }
    };
    Ok(Answer::Done { back: visit.back(), notice })
}

fn missing(id: &str) -> Problem {
    Problem::new(Kind::NotFound, format!("could not find procedure {id}"))
}
