//! What surrounds every page: the menu, whose memory it is, the colours, the notice, the same as JSON, CSV and command.

use askama::Template;
use axum::http::StatusCode;
use hermes_store::memory::{Admin, JobState};

use super::notice::Notice;
use super::show::{Head, Made};
use super::text::Html;
use super::visit::{Frame, Theme, with};
use super::{Visit, all, assets, html};
use crate::call::{Fault, Reply};
use hermes_app::pool::{Pool, Seat};
use hermes_app::problem;

/// A whole page.
#[derive(Template)]
#[template(path = "shell.html")]
struct Shell<'a> {
    head: &'a Head,
    main: Html,
    frame: Frame,
    menu: Vec<Line>,
    profiles: Vec<Choice>,
    users: Vec<Choice>,
    theme: Theme,
    notice: Option<&'a Notice>,
    trouble: Option<String>,
    json: String,
    csv: String,
    style: &'static str,
    script: &'static str,
    icon: &'static str,
    search: String,
}

/// The part of it that our script puts in the place of the old one.
#[derive(Template)]
#[template(path = "fragment.html")]
struct Fragment<'a> {
    head: &'a Head,
    main: Html,
    frame: Frame,
    notice: Option<&'a Notice>,
    json: String,
    csv: String,
}

/// A page for somebody who is not let in.
#[derive(Template)]
#[template(path = "lone.html")]
struct Lone<'a> {
    title: &'a str,
    text: &'a str,
    hint: Option<&'a str>,
    /// Where it goes on by itself.
    onward: Option<&'a str>,
    theme: Theme,
    style: &'static str,
    icon: &'static str,
}

/// What went wrong.
#[derive(Template)]
#[template(path = "trouble.html")]
struct Trouble<'a> {
    status: u16,
    message: &'a str,
    hint: Option<&'a str>,
    search: String,
    back: String,
}

struct Line {
    name: &'static str,
    key: &'static str,
    address: String,
    is_here: bool,
}

struct Choice {
    name: String,
    address: String,
    is_here: bool,
}

/// The page with all that surrounds it.
pub(crate) fn wrap(
    pool: &Pool,
    seat: &mut Seat,
    visit: &Visit,
    made: Made,
) -> anyhow::Result<Reply> {
    let frame = visit.frame(seat)?;
    let json = with(&visit.here(), "format", "json");
    let csv = with(&visit.here(), "format", "csv");
    let (head, main, notice) = (&made.head, Html(made.text), visit.notice.as_ref());
    if visit.is_fragment {
        let text = Fragment { head, main, frame, notice, json, csv }.render()?;
        return Ok(html(made.status, text));
    }
    let shell = Shell {
        menu: menu(&frame, head.section),
        profiles: profiles(pool, visit)?,
        users: users(seat, visit)?,
        trouble: trouble_of(seat),
        search: visit.asked("q").unwrap_or_default().to_owned(),
        head,
        main,
        frame,
        theme: visit.theme,
        notice,
        json,
        csv,
        style: assets::address("style.css"),
        script: assets::address("app.js"),
        icon: assets::address("icon.svg"),
    };
    Ok(html(made.status, shell.render()?))
}

/// The main part of a page that says what went wrong.
pub(crate) fn trouble(visit: &Visit, fault: &Fault) -> anyhow::Result<Made> {
    let (message, hint) = fault.told();
    let text = Trouble {
        status: fault.status.as_u16(),
        message,
        hint,
        search: format!("/p/{}/search", visit.profile),
        back: visit.back(),
    };
    let title = match fault.status {
        StatusCode::NOT_FOUND => "Not found",
        _ => "Something went wrong",
    };
    let head = Head { title: title.to_owned(), ..Head::default() };
    Ok(Made::html(fault.status, head, text.render()?))
}

/// A page for somebody who is not let in.
pub(crate) fn lone(theme: Theme, fault: &Fault) -> anyhow::Result<String> {
    let (message, hint) = fault.told();
    let title = match fault.status {
        StatusCode::UNAUTHORIZED => "Sign in required",
        StatusCode::OK => "Signed out",
        _ => "Something went wrong",
    };
    Ok(plain(theme, title, message, hint).render()?)
}

/// The page between the code and the dashboard: a cookie that is only for this site is not sent along
/// where another one led here, so the way on begins on a page of ours.
pub(crate) fn welcome(theme: Theme) -> anyhow::Result<String> {
    let page = plain(theme, "Signed in", "You are signed in.", None);
    Ok(Lone { onward: Some("/"), ..page }.render()?)
}

fn plain<'a>(theme: Theme, title: &'a str, text: &'a str, hint: Option<&'a str>) -> Lone<'a> {
    Lone {
        title,
        text,
        hint,
        onward: None,
        theme,
        style: assets::address("style.css"),
        icon: assets::address("icon.svg"),
    }
}

fn menu(frame: &Frame, section: &str) -> Vec<Line> {
    let pages = all().into_iter();
    let lines = pages.filter_map(|page| page.menu.map(|menu| (menu, page.path)));
    lines
        .map(|(menu, path)| Line {
            name: menu.name,
            key: menu.key,
            address: frame.link(path.trim_start_matches("/p/{profile}/")),
            is_here: menu.name == section,
        })
        .collect()
}

fn profiles(pool: &Pool, visit: &Visit) -> anyhow::Result<Vec<Choice>> {
    let names = pool.profiles()?.into_iter();
    Ok(names
        .map(|name| Choice { address: format!("/p/{name}/"), is_here: name == visit.profile, name })
        .collect())
}

/// Nobody to choose from where there is the owner alone.
fn users(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Vec<Choice>> {
    let (_, _, memory) = seat.reader()?;
    let users = memory.store.users(Admin)?;
    if users.len() < 2 {
        return Ok(Vec::new());
    }
    let here = visit.user();
    let choice = |user: hermes_store::memory::User| {
        let is_owner = user.number == hermes_store::memory::UserNumber::OWNER;
        let name = if is_owner { "" } else { user.name.as_str() };
        Choice {
            address: visit.here_with(&[("user", name), ("offset", "")]),
            is_here: here == Some(user.name.as_str()) || (here.is_none() && is_owner),
            name: user.name,
        }
    };
    Ok(users.into_iter().map(choice).collect())
}

/// What somebody should look at, in a few words; nothing if all is well.
fn trouble_of(seat: &mut Seat) -> Option<String> {
    let (_, _, memory) = match seat.reader() {
        Ok(opened) => opened,
        Err(error) => return Some(problem::message(&error)),
    };
    let failed = memory.store.jobs(Admin, Some(JobState::Failed), 1).unwrap_or_default();
    failed.first().map(|job| format!("A job failed: {}", job.kind))
}
