//! The editor of a skill: its text is checked before it is saved, and over no other version than the one shown.

use askama::Template;
use axum::http::StatusCode;
use hermes_app::skills;
use hermes_home::memory_file::WholeText;
use hermes_home::skill::{self, SkillText, State, Trouble};
use hermes_home::{Error as HomeError, tokens, versions};
use jiff::Timestamp;
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::text::{self, Html};
use super::visit::Frame;
use super::{Answer, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};

const SECTION: &str = "Skills";
/// So many earlier texts are listed.
const VERSIONS: usize = 20;

pub(super) fn page() -> Page {
    Page { path: "/p/{profile}/skills/{name}/edit", menu: None, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "skill_edit.html")]
struct Editor {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    name: String,
    path: String,
    /// The version that is on the disk.
    hash: String,
    text: String,
    tokens: usize,
    problems: Vec<String>,
    /// Whether the text was looked at and nothing is wrong.
    #[serde(skip)]
    is_checked: bool,
    #[serde(skip)]
    waits: bool,
    versions: Vec<Version>,
    /// What is on the disk beside what was to be saved, if somebody else changed it.
    #[serde(skip)]
    difference: Option<Html>,
}

#[derive(Serialize)]
struct Version {
    number: usize,
    at: Timestamp,
    hash: String,
    reason: String,
    current: bool,
}

/// Why a text is shown again.
#[derive(Clone, Copy)]
enum Again {
    /// It is shown for the first time, or was checked.
    No,
    /// Something is wrong with it.
    Bad,
    /// Another text is on the disk by now.
    Stale,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let read = skill::read_text(&seat.home, visit.param("name"), state(visit))?;
    let text = read.text.clone();
    editor(seat, visit, &read, text, Again::No)
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let (name, state) = (visit.param("name"), state(visit));
    let read = skill::read_text(&seat.home, name, state)?;
    let (text, expected) = match visit.deed() {
        "save" | "check" => {
            let sent = visit.raw_said("text").unwrap_or_default();
            (text::as_in(&read.text, sent), visit.must_say("hash")?.to_owned())
        }
        "undo" => {
            let bytes = versions::content(&seat.home, visit.must_say("version")?)?;
            (String::from_utf8_lossy(&bytes).into_owned(), read.hash.clone())
        }
        _ => return Err(unknown_deed(visit)),
    };
    if visit.deed() == "check" {
        return editor(seat, visit, &read, text, Again::Bad);
    }
    let whole = WholeText { text: &text, expected_hash: &expected };
    match skill::edit(&seat.home, name, state, &whole, seat.app.now) {
        Err(HomeError::ChangedMeanwhile { .. }) => {
            let now = skill::read_text(&seat.home, name, state)?;
            editor(seat, visit, &now, text, Again::Stale)
        }
        Err(HomeError::Skill { trouble: Trouble::Bad { .. }, .. }) => {
            editor(seat, visit, &read, text, Again::Bad)
        }
        Err(error) => Err(error.into()),
        Ok(edited) => {
            // The memory names skills by what they are for.
            skills::note_in_memory(&seat.app, &seat.home);
            let here = address(seat, visit)?;
            let said = match edited.changed {
                true => format!("Saved {name}, about {} tokens", tokens::estimate(&text)),
                false => format!("{name} is unchanged"),
            };
            let notice = Notice::new(said);
            let notice = match edited.changed {
                true => notice.undo(&here, "undo", &[("version", &edited.before)]),
                false => notice,
            };
            Ok(Answer::Done { back: here, notice })
        }
    }
}

fn editor(
    seat: &Seat,
    visit: &Visit,
    read: &SkillText,
    text: String,
    again: Again,
) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let name = visit.param("name").to_owned();
    let found = skill::check_text(&name, &text);
    let listed = versions::list_of(&seat.home, &read.path)?.into_iter().take(VERSIONS);
    let status = match again {
        Again::Stale => StatusCode::CONFLICT,
        Again::Bad if !found.is_empty() => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::OK,
    };
    let page = Editor {
        address: address(seat, visit)?,
        path: read.path.display().to_string(),
        hash: read.hash.clone(),
        tokens: tokens::estimate(&text),
        problems: found.iter().map(ToString::to_string).collect(),
        is_checked: matches!(again, Again::Bad) && found.is_empty(),
        waits: state(visit) == State::Pending,
        versions: listed
            .map(|one| Version {
                number: one.number,
                at: one.at,
                hash: one.hash,
                reason: one.reason,
                current: one.current,
            })
            .collect(),
        difference: matches!(again, Again::Stale).then(|| text::changed(&read.text, &text)),
        frame,
        text,
        name,
    };
    let command = format!("hermes skills edit {} FILE", page.name);
    let head = Head { title: format!("Edit {}", page.name), section: SECTION, command };
    show::view_as(status, visit, head, &page)
}

fn state(visit: &Visit) -> State {
    let waits = visit.asked("pending").is_some();
    if waits { State::Pending } else { State::Active }
}

/// Where this editor is; which of the two skills of a name it edits stays in the address.
fn address(seat: &Seat, visit: &Visit) -> anyhow::Result<String> {
    let name = visit.param("name");
    if name.is_empty() {
        return Err(Problem::new(Kind::NotFound, "the address names no skill").into());
    }
    let frame = visit.frame(seat)?;
    let place = format!("skills/{name}/edit");
    Ok(match state(visit) {
        State::Pending => frame.link_with(place, "pending", "1"),
        State::Active => frame.link(place),
    })
}
