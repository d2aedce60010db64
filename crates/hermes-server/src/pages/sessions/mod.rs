//! Sessions: the list, one with its transcript and what was put before the model, and what can be done to them.

mod list;
mod one;
pub(super) mod order;
mod prune;

use hermes_store::sessions::{SessionId, SessionStore, SessionSummary};
use hermes_store::sqlite::Access;

use super::notice::Notice;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::sessions::delete::{self, Deleting};
use hermes_app::sessions::{self, restore};
use hermes_app::text::counted;

const NAME: &str = "Sessions";

/// The list, and one of it.
pub(super) fn pages() -> [Page; 2] {
    let menu = Some(Menu { name: NAME, key: "s" });
    let list = Page { path: "/p/{profile}/sessions", menu, show: list::show, deed: Some(many) };
    let one = Page {
        path: "/p/{profile}/sessions/{id}",
        menu: None,
        show: one::show,
        deed: Some(change),
    };
    [list, one]
}

/// A session that the one who looks may see.
fn found(
    seat: &mut Seat,
    visit: &Visit,
) -> anyhow::Result<(SessionStore, SessionId, SessionSummary)> {
    let (app, home, memory) = seat.reader()?;
    let store = app.sessions(home, Access::Read)?;
    let id = store.find(visit.param("id"))?;
    let mut session = store.session(&id)?;
    let whose = visit.asker(&memory.store)?.sessions(&memory.store)?;
    if whose.is_some_and(|whose| !whose.has(&session.source, session.user_id.as_deref())) {
        return Err(Problem::new(Kind::NotFound, "could not find the session").into());
    }
    session.pinned |= hermes_home::pins::read(home)?.contains(id.as_str());
    Ok((store, id, session))
}

/// What is done to sessions that are not there, or to many.
fn many(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    match visit.deed() {
        "restore" => {
            let id = visit.must_say("session")?;
            restore::restore(&seat.app, &seat.home, id)?;
            let back = visit.frame(seat)?.link(format_args!("sessions/{id}"));
            Ok(Answer::Done { back, notice: Notice::new("Session restored") })
        }
        "prune" => prune::prune_shown(seat, visit),
        _ => Err(unknown_deed(visit)),
    }
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let (_, id, session) = found(seat, visit)?;
    let id = id.as_str();
    let frame = visit.frame(seat)?;
    let address = frame.link(format_args!("sessions/{id}"));
    match visit.deed() {
        "pin" => {
            sessions::pin(&seat.app, &seat.home, id, true)?;
            let notice = Notice::new("Pinned. Hermes never prunes this session.").undo(
                &address,
                "unpin",
                &[],
            );
            Ok(Answer::Done { back: visit.back(), notice })
        }
        "unpin" => {
            sessions::pin(&seat.app, &seat.home, id, false)?;
            let notice = Notice::new("Unpinned").undo(&address, "pin", &[]);
            Ok(Answer::Done { back: visit.back(), notice })
        }
        "rename" => {
            sessions::rename(&seat.app, &seat.home, id, visit.must_say("title")?)?;
            let mut notice = Notice::new("Renamed");
            if let Some(before) = &session.title {
                notice = notice.undo(&address, "rename", &[("title", before)]);
            }
            Ok(Answer::Done { back: visit.back(), notice })
        }
        "delete" => {
            let ids = [SessionId::from(id.to_owned())];
            let deleted =
                delete::delete(&seat.app, &seat.home, &ids, Deleting::default())?.messages;
            let back = frame.link("sessions");
            let said = format!("Deleted 1 session with {}", counted(deleted, "message"));
            let notice = Notice::new(said).undo(&back, "restore", &[("session", id)]);
            Ok(Answer::Done { back, notice })
        }
        _ => Err(unknown_deed(visit)),
    }
}
