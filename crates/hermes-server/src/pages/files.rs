//! The memory files: read, edited with their versions, and what is proposed for them.

use askama::Template;
use axum::http::StatusCode;
use hermes_app::proposals::{self, ApprovedProposal};
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, MemoryText, WholeText};
use hermes_home::versions::{self, Which};
use hermes_home::{Error as HomeError, Home};
use hermes_memory::remember::{self, Pending};
use jiff::Timestamp;
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::text::{self, Html};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::rules;

const NAME: &str = "Files";
const NAMES: [&str; 3] = ["memory", "user", "soul"];
/// So many versions are listed.
const VERSIONS: usize = 50;

/// The list, and one of it.
pub(super) fn pages() -> [Page; 2] {
    let menu = Some(Menu { name: NAME, key: "m" });
    let list = Page { path: "/p/{profile}/files", menu, show: list, deed: Some(decide) };
    let one = Page { path: "/p/{profile}/files/{name}", menu: None, show: one, deed: Some(change) };
    [list, one]
}

#[derive(Template, Serialize)]
#[template(path = "files.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Row>,
    /// What all of them cost in each session.
    tokens: usize,
    proposals: Vec<Pending>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    does: &'static str,
    exists: bool,
    tokens: usize,
    entries: usize,
    usage: String,
    percent: Option<usize>,
    written: Option<Timestamp>,
    #[serde(skip)]
    address: String,
}

#[derive(Template, Serialize)]
#[template(path = "file.html")]
struct One {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    name: String,
    title: &'static str,
    path: String,
    exists: bool,
    hash: String,
    tokens: usize,
    limit: Option<usize>,
    characters: usize,
    text: String,
    #[serde(skip)]
    preview: Html,
    versions: Vec<Version>,
    #[serde(skip)]
    compared: Option<Compared>,
}

#[derive(Serialize)]
struct Version {
    number: usize,
    at: Timestamp,
    hash: String,
    size: u64,
    reason: String,
    current: bool,
    #[serde(skip)]
    compare: String,
}

/// An earlier version beside the file as it is.
struct Compared {
    number: usize,
    difference: Html,
}

/// The file was changed while somebody edited it.
#[derive(Template, Serialize)]
#[template(path = "file_conflict.html")]
struct Conflict {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    name: String,
    title: &'static str,
    /// The version that is there now.
    hash: String,
    mine: String,
    theirs: String,
    #[serde(skip)]
    difference: Html,
}

fn list(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let mut results = Vec::new();
    for name in NAMES {
        let target = target(seat, visit, name)?;
        let read = read(seat, &target)?;
        let versions = versions::list(&seat.home, &target)?;
        results.push(Row {
            address: place(&frame, name),
            name,
            title: title(name),
            does: does(name),
            exists: read.exists,
            tokens: read.tokens,
            entries: read.document.entries().len(),
            usage: read.usage.to_string(),
            percent: read.usage.percent(),
            written: versions.iter().find(|version| version.current).map(|version| version.at),
        });
    }
    let tokens = results.iter().map(|row| row.tokens).sum();
    let (_, _, memory) = seat.reader()?;
    let proposals = remember::pending(&memory.store, visit.scope(&memory.store)?)?;
    let command = "hermes memory show".to_owned();
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    show::view(visit, head, &List { frame, results, tokens, proposals })
}

fn one(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let name = visit.param("name").to_owned();
    let target = target(seat, visit, &name)?;
    let read = read(seat, &target)?;
    let text = read.document.text().to_owned();
    let compared = match visit.number("version") {
        Some(number) => Some(compared(&seat.home, &target, number, &text)?),
        None => None,
    };
    let listed = versions::list(&seat.home, &target)?.into_iter().take(VERSIONS);
    let versions = listed
        .map(|version| Version {
            compare: visit.here_with(&[("version", &version.number.to_string())]),
            number: version.number,
            at: version.at,
            hash: version.hash,
            size: version.size,
            reason: version.reason,
            current: version.current,
        })
        .collect();
    let one = One {
        address: place(&frame, &name),
        title: title(&name),
        path: read.path.display().to_string(),
        exists: read.exists,
        hash: read.hash,
        tokens: read.tokens,
        limit: read.usage.limit,
        characters: read.usage.chars,
        preview: text::markdown(&text),
        text,
        versions,
        compared,
        frame,
        name,
    };
    let head = Head { title: one.title.to_owned(), section: NAME, command: command_of(&one.name) };
    show::view(visit, head, &one)
}

fn compared(
    home: &Home,
    target: &MemoryTarget,
    number: usize,
    now: &str,
) -> anyhow::Result<Compared> {
    let listed = versions::list(home, target)?;
    let version = listed.iter().find(|version| version.number == number).ok_or_else(|| {
        Problem::new(Kind::NotFound, format!("there is no version {number} of this file"))
    })?;
    let before = match version.current {
        true => now.to_owned(),
        false => String::from_utf8_lossy(&versions::content(home, &version.hash)?).into_owned(),
    };
    Ok(Compared { number, difference: text::changed(&before, now) })
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let name = visit.param("name");
    let target = target(seat, visit, name)?;
    match visit.deed() {
        "save" => save(seat, visit, &target),
        "restore" => {
            let number = visit.must_say("number")?.parse().map_err(|_| not_a_number())?;
            let before = read(seat, &target)?.hash;
            let restored =
                versions::restore(&seat.home, &target, &Which::Number(number), seat.app.now)?;
            let said = match restored.changed {
                true => format!("Restored version {number} of {}", title(name)),
                false => format!("{} is unchanged", title(name)),
            };
            done(seat, visit, Notice::new(said), &before)
        }
        "undo" => {
            let wanted = Which::Hash(visit.must_say("hash")?.to_owned());
            let before = read(seat, &target)?.hash;
            versions::restore(&seat.home, &target, &wanted, seat.app.now)?;
            done(
                seat,
                visit,
                Notice::new(format!("Restored the previous version of {}", title(name))),
                &before,
            )
        }
        _ => Err(unknown_deed(visit)),
    }
}

/// Writes the text over the version that was read, and over no other.
fn save(seat: &mut Seat, visit: &Visit, target: &MemoryTarget) -> anyhow::Result<Answer> {
    let name = visit.param("name");
    let before = read(seat, target)?;
    let mine = text::as_in(before.document.text(), visit.raw_said("text").unwrap_or_default());
    if visit.must_say("hash")? != before.hash {
        return conflict(seat, visit, mine, &before);
    }
    let context = rules::of_change(&seat.app, &seat.home, target, "dashboard")?;
    let whole = WholeText { text: &mine, expected_hash: &before.hash };
    match memory_file::replace_whole(&seat.home, target, &context, &whole) {
        Err(HomeError::ChangedMeanwhile { .. }) => {
            let now = read(seat, target)?;
            conflict(seat, visit, mine, &now)
        }
        Err(error) => Err(error.into()),
        Ok(outcome) if !outcome.changed => {
            let notice = Notice::new(format!("{} is unchanged", title(name)));
            Ok(Answer::Done { back: visit.back(), notice })
        }
        Ok(outcome) => {
            let tokens = outcome.document.tokens();
            let said = format!("Saved {}, about {tokens} tokens", title(name));
            done(seat, visit, Notice::new(said), &before.hash)
        }
    }
}

fn done(seat: &Seat, visit: &Visit, notice: Notice, before: &str) -> anyhow::Result<Answer> {
    let address = place(&visit.frame(seat)?, visit.param("name"));
    Ok(Answer::Done {
        back: visit.back(),
        notice: notice.undo(&address, "undo", &[("hash", before)]),
    })
}

fn conflict(seat: &Seat, visit: &Visit, mine: String, now: &MemoryText) -> anyhow::Result<Answer> {
    let name = visit.param("name").to_owned();
    let theirs = now.document.text().to_owned();
    let frame = visit.frame(seat)?;
    let body = Conflict {
        address: place(&frame, &name),
        frame,
        title: title(&name),
        hash: now.hash.clone(),
        difference: text::changed(&theirs, &mine),
        mine,
        theirs,
        name,
    };
    let title = format!("{} was changed in the meantime", body.title);
    let head = Head { title, section: NAME, command: command_of(&body.name) };
    show::view_as(StatusCode::CONFLICT, visit, head, &body)
}

/// Proposals are agreed to or not.
fn decide(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let (agrees, id) = match (visit.said("approve"), visit.said("reject")) {
        (Some(id), _) => (true, id),
        (_, Some(id)) => (false, id),
        _ => return Err(unknown_deed(visit)),
    };
    let ids = [proposals::number(id)?];
    let mut memory = proposals::memory(&seat.app, &seat.home)?;
    let scope = visit.asker(&memory.store)?.scope;
    let said = match agrees {
        true => {
            let done = proposals::approve(&seat.app, &seat.home, &mut memory, scope, &ids)?;
            done.iter().flat_map(ApprovedProposal::lines).collect::<Vec<_>>().join("\n")
        }
        false => {
            proposals::reject(&seat.app, &mut memory, scope, &ids)?;
            format!("Rejected proposal:{}. Hermes does not propose it again.", ids[0])
        }
    };
    Ok(Answer::Done { back: visit.back(), notice: Notice::new(said) })
}

fn read(seat: &Seat, target: &MemoryTarget) -> anyhow::Result<MemoryText> {
    let rules = rules::of_file(&seat.app, &seat.home, target)?;
    Ok(memory_file::read(&seat.home, target, rules)?)
}

fn target(seat: &mut Seat, visit: &Visit, name: &str) -> anyhow::Result<MemoryTarget> {
    match name {
        "memory" => Ok(MemoryTarget::Memory),
        "soul" => Ok(MemoryTarget::Soul),
        "user" => {
            let (_, _, memory) = seat.reader()?;
            Ok(MemoryTarget::User(visit.asker(&memory.store)?.user))
        }
        other => Err(Problem::new(Kind::NotFound, format!("there is no file {other}"))
            .hint("the files are memory, user and soul")
            .into()),
    }
}

fn place(frame: &Frame, name: &str) -> String {
    frame.link(format_args!("files/{name}"))
}

fn title(name: &str) -> &'static str {
    match name {
        "memory" => "MEMORY.md",
        "user" => "USER.md",
        _ => "SOUL.md",
    }
}

fn does(name: &str) -> &'static str {
    match name {
        "memory" => "what the agent should know in every session",
        "user" => "who the user is",
        _ => "the agent's persona",
    }
}

fn command_of(name: &str) -> String {
    match name {
        "memory" => "hermes memory show".to_owned(),
        "user" => "hermes memory show --file user".to_owned(),
        _ => "hermes soul show".to_owned(),
    }
}

fn not_a_number() -> Problem {
    Problem::usage("the version is not a number")
}
