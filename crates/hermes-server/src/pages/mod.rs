//! The dashboard: pages for a person, each also as JSON and CSV; nothing about memory is decided here.

pub(crate) mod assets;
mod backups;
mod carry;
mod facets;
mod facts;
mod figures;
mod files;

mod inspector;
mod integrations;
mod jobs;
mod kept;
pub mod login;
mod long;
pub(crate) mod notice;
mod overview;
mod people;
mod plot;
mod procedures;
mod search;
mod sessions;
mod settings;
mod shell;
mod shell_word;
mod show;
mod skill_edit;
mod skills;
mod text;
mod timeline;
mod visit;

use axum::http::{StatusCode, header};

use crate::call::{Fault, Reply};
use hermes_app::app::ACTOR;
use hermes_app::pool::{Pool, Seat};
use hermes_app::problem::{Kind, Problem};
use notice::{Notice, Notices};
pub(crate) use shell::{lone, welcome};
use show::Made;
pub(crate) use visit::{Format, Sender, Theme, Visit, cookie, pairs};

/// One page: where it is, what it is called, who answers.
pub(crate) struct Page {
    /// With `{name}` for what varies.
    pub(crate) path: &'static str,
    /// What the menu calls it; none for pages that are reached from another one.
    pub(crate) menu: Option<Menu>,
    /// Who shows it.
    pub(crate) show: Run,
    /// Who does what its forms ask for.
    pub(crate) deed: Option<Run>,
}

/// A line of the menu.
pub(crate) struct Menu {
    /// What it says.
    pub(crate) name: &'static str,
    /// The letter that goes there, after `g`.
    pub(crate) key: &'static str,
}

/// Who answers a visit.
pub(crate) type Run = fn(&mut Seat, &Visit) -> anyhow::Result<Answer>;

/// What comes of a visit.
pub(crate) enum Answer {
    /// Something to look at.
    Made(Made),
    /// A deed was done: back to a page, with a notice.
    Done {
        /// The address, below this listener.
        back: String,
        /// What is said there.
        notice: Notice,
    },
    /// A file to keep.
    Download {
        /// What it is called.
        name: String,
        /// Its media type.
        kind: &'static str,
        /// What is in it.
        bytes: Vec<u8>,
    },
    /// A file to keep that is made while it is sent.
    Stream {
        /// What it is called.
        name: String,
        /// The answer.
        reply: Reply,
    },
}

/// Every page, in the order of the menu.
pub(crate) fn all() -> Vec<Page> {
    let mut pages = vec![overview::page(), search::page()];
    pages.extend(timeline::pages());
    pages.extend(facts::pages());
    pages.push(procedures::page());
    pages.extend(files::pages());
    pages.extend(skills::pages());
    pages.push(skill_edit::page());
    pages.extend(sessions::pages());
    pages.push(inspector::page());
    pages.extend(backups::pages());
    let rest =
        [people::page(), jobs::page(), integrations::page(), settings::page(), carry::page()];
    pages.extend(rest);
    pages
}

/// Answers one visit; what goes wrong is a page, too.
pub(crate) fn answer(pool: &Pool, notices: &Notices, run: Run, visit: &Visit) -> Reply {
    match try_answer(pool, notices, run, visit) {
        Ok(reply) => reply,
        Err(error) => refused(pool, visit, &Fault::of(&error)),
    }
}

/// A page that says what went wrong, and how to go on.
pub(crate) fn refused(pool: &Pool, visit: &Visit, fault: &Fault) -> Reply {
    if visit.format != Format::Html {
        return fault.clone().into_reply();
    }
    let made = shell::trouble(visit, fault);
    let seat = pool.take(&visit.profile).or_else(|_| pool.take("default"));
    let made = made.and_then(|made| match seat {
        Ok(mut seat) => shell::wrap(pool, &mut seat, visit, made),
        Err(_) => shell::lone(visit.theme, fault).map(|text| html(fault.status, text)),
    });
    made.unwrap_or_else(|_| fault.clone().into_reply())
}

fn try_answer(pool: &Pool, notices: &Notices, run: Run, visit: &Visit) -> anyhow::Result<Reply> {
    let mut seat = pool.take(&visit.profile)?;
    seat.heed(&visit.stop)?;
    // A person sits before the page: what they take back stays so.
    let usual = std::mem::replace(&mut seat.app.actor, ACTOR.into());
    let answer = run(&mut seat, visit);
    seat.app.actor = usual;
    let reply = match answer? {
        Answer::Made(made) if visit.format == Format::Html => {
            shell::wrap(pool, &mut seat, visit, made)?
        }
        Answer::Made(made) => made.into_reply(),
        Answer::Done { back, notice } => {
            let id = notices.keep(&visit.visitor, notice)?;
            see(&visit::with(&back, "done", &id))
        }
        Answer::Download { name, kind, bytes } => {
            let reply = Reply { body: bytes.into(), ..Reply::text(kind, String::new()) };
            attached(reply, &name)
        }
        Answer::Stream { name, reply } => attached(reply, &name),
    };
    pool.give_back(seat);
    Ok(reply)
}

/// An answer that is kept as a file.
fn attached(reply: Reply, name: &str) -> Reply {
    reply.with(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))
}

/// Sends somebody on to another page.
pub(crate) fn see(address: &str) -> Reply {
    let reply = Reply::text("text/plain", String::new()).with(header::LOCATION, address);
    Reply { status: StatusCode::SEE_OTHER, ..reply }
}

/// A whole page as an answer.
pub(crate) fn html(status: StatusCode, text: String) -> Reply {
    let text = text::with_marks(text);
    Reply { status, ..Reply::text("text/html; charset=utf-8", text) }
}

/// A deed that a page does not know.
fn unknown_deed(visit: &Visit) -> anyhow::Error {
    Problem::new(Kind::Usage, format!("unknown action {:?}", visit.deed())).into()
}
