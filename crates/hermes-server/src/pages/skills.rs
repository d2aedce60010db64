//! Skills: those in use and those that wait, where they come from, whether they are well-formed, and what they say.

use askama::Template;
use hermes_app::skills;
use hermes_home::skill::{self, Catalog, OfLocked, Origin, Skill, State};
use hermes_home::tokens;
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::text::{self, Html};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;

const NAME: &str = "Skills";

/// The list, and one of it.
pub(super) fn pages() -> [Page; 2] {
    let menu = Some(Menu { name: NAME, key: "k" });
    let list = Page { path: "/p/{profile}/skills", menu, show: list, deed: Some(change) };
    let one =
        Page { path: "/p/{profile}/skills/{name}", menu: None, show: one, deed: Some(change) };
    [list, one]
}

#[derive(Template, Serialize)]
#[template(path = "skills.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    results: Vec<Row>,
    /// What naming all that are in use costs in a prompt.
    tokens: usize,
}

#[derive(Serialize)]
struct Row {
    name: String,
    description: String,
    state: State,
    origin: Option<Origin>,
    locked: bool,
    problems: Vec<String>,
    #[serde(skip)]
    address: String,
}

impl Row {
    fn waits(&self) -> bool {
        self.state == State::Pending
    }

    fn origin(&self) -> &'static str {
        self.origin.map_or("–", word)
    }
}

#[derive(Template, Serialize)]
#[template(path = "skill.html")]
struct One {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    edit: String,
    name: String,
    description: String,
    state: State,
    origin: Origin,
    locked: bool,
    category: Option<String>,
    made_from: Vec<String>,
    file: String,
    tokens: usize,
    problems: Vec<String>,
    text: String,
    #[serde(skip)]
    shown: Html,
}

impl One {
    fn waits(&self) -> bool {
        self.state == State::Pending
    }

    fn origin(&self) -> &'static str {
        word(self.origin)
    }
}

fn list(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let mut results = Vec::new();
    let mut tokens = 0;
    for catalog in [Catalog::pending(&seat.home)?, Catalog::read(&seat.home)?] {
        for skill in &catalog.skills {
            if skill.state == State::Active {
                tokens += tokens::estimate(skill.name());
                tokens += tokens::estimate(&skill.content.description);
            }
            results.push(Row::of(skill, &frame)?);
        }
        results.extend(catalog.broken.iter().map(|broken| Row {
            name: broken.name.clone(),
            description: String::new(),
            state: broken.state,
            origin: None,
            locked: broken.is_locked,
            problems: broken.problems.iter().map(ToString::to_string).collect(),
            // What is broken cannot be shown, but mended.
            address: edit_address(&frame, &broken.name, broken.state),
        }));
    }
    let address = frame.link("skills");
    let head = Head {
        title: NAME.to_owned(),
        section: NAME,
        command: "hermes skills list --all".to_owned(),
    };
    show::view(visit, head, &List { frame, address, results, tokens })
}

fn one(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let name = visit.param("name");
    let skill = match visit.asked("pending") {
        Some(_) => Catalog::find_pending(&seat.home, name)?,
        None => Catalog::find_any(&seat.home, name)?,
    };
    let one = One {
        address: frame.link("skills"),
        edit: edit_address(&frame, skill.name(), skill.state),
        problems: problems(&skill)?,
        origin: skill.origin(),
        name: skill.name().to_owned(),
        description: skill.content.description.clone(),
        state: skill.state,
        locked: skill.content.is_locked,
        category: skill.category.clone(),
        made_from: skill.content.learned.map(|learned| learned.sources).unwrap_or_default(),
        file: skill.file.display().to_string(),
        tokens: tokens::estimate(&skill.content.body),
        shown: text::markdown(&skill.content.body),
        text: skill.content.body,
        frame,
    };
    let command = format!("hermes skills show {}", one.name);
    show::view(visit, Head { title: one.name.clone(), section: NAME, command }, &one)
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let known = ["approve", "reject", "lock", "unlock", "delete", "restore"];
    let asked = known.iter().find_map(|deed| visit.said(deed).map(|name| (*deed, name)));
    let (deed, name) = asked.ok_or_else(|| unknown_deed(visit))?;
    let (app, home) = (&seat.app, &seat.home);
    let change = match deed {
        "approve" => skills::approve(app, home, name)?,
        "reject" => skills::reject(app, home, name)?,
        "delete" => skills::delete(app, home, name, OfLocked::Refuse)?,
        "restore" => skills::restore(app, home, name)?,
        lock => skills::lock(app, home, name, lock == "lock")?,
    };
    let address = visit.frame(seat)?.link("skills");
    let notice = Notice::new(change.done);
    let notice = match deed {
        "lock" => notice.undo(&address, "", &[("unlock", name)]),
        "unlock" => notice.undo(&address, "", &[("lock", name)]),
        "reject" | "delete" => notice.undo(&address, "", &[("restore", name)]),
        _ => notice,
    };
    let back = if matches!(deed, "reject" | "delete") { address } else { visit.back() };
    Ok(Answer::Done { back, notice })
}

impl Row {
    fn of(skill: &Skill, frame: &Frame) -> anyhow::Result<Row> {
        let place = format!("skills/{}", skill.name());
        Ok(Row {
            name: skill.name().to_owned(),
            description: skill.content.description.clone(),
            state: skill.state,
            origin: Some(skill.origin()),
            locked: skill.content.is_locked,
            problems: problems(skill)?,
            address: match skill.state {
                State::Active => frame.link(place),
                State::Pending => frame.link_with(place, "pending", "1"),
            },
        })
    }
}

fn edit_address(frame: &Frame, name: &str, state: State) -> String {
    let place = format!("skills/{name}/edit");
    match state {
        State::Active => frame.link(place),
        State::Pending => frame.link_with(place, "pending", "1"),
    }
}

fn problems(skill: &Skill) -> anyhow::Result<Vec<String>> {
    let folder = skill.file.parent().unwrap_or(&skill.file);
    let found = skill::check_path(folder)?;
    Ok(found.iter().map(|one| format!("line {}: {}", one.line, one.fault)).collect())
}

fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "yours",
        Origin::Learned => "learned",
        Origin::Edited => "learned, then edited",
    }
}
