//! Carry: download the whole memory as one document; delete a part or all of it, by typing its name, after a backup.

use askama::Template;
use hermes_app::backup::{status, wanted};
use hermes_app::forget::{self, Forget};
use hermes_app::users::forget as user_forget;
use hermes_home::UserId;
use hermes_store::memory::{Admin, Choice, Counts, ItemKind};
use serde::Serialize;

use super::figures;
use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use super::{backups, long};
use crate::export::{self, Wish};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem, message};

const NAME: &str = "Export & delete";
const TYPES: [(&str, &str, ItemKind); 4] = [
    ("facts", "what is known", ItemKind::Fact),
    ("episodes", "what was said", ItemKind::Message),
    ("procedures", "lessons from finished work", ItemKind::Procedure),
    ("events", "what happened, and when", ItemKind::Event),
];

/// The page.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "c" });
    Page { path: "/p/{profile}/carry", menu, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "carry.html")]
struct Shown {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    profile: String,
    users: Vec<User>,
    #[serde(skip)]
    types: [(&'static str, &'static str, ItemKind); 4],
    /// Everything there is.
    all: Amount,
    /// Whether a backup can be made before something is deleted.
    can_back_up: bool,
}

/// Somebody whose memory can be taken along or forgotten alone.
#[derive(Serialize)]
struct User {
    name: String,
    #[serde(skip)]
    address: String,
}

/// How much there is of each.
#[derive(Serialize)]
struct Amount {
    episodes: u64,
    messages: u64,
    facts: u64,
    procedures: u64,
    events: u64,
}

impl Amount {
    fn of(counts: &Counts) -> Amount {
        Amount {
            episodes: counts.raw_episodes + counts.compressed_episodes,
            messages: counts.messages,
            facts: counts.facts + counts.retired_facts,
            procedures: counts.procedures,
            events: counts.events,
        }
    }

    fn is_nothing(&self) -> bool {
        self.episodes + self.messages + self.facts + self.procedures + self.events == 0
    }
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if let Some(form) = visit.asked("download") {
        return download(seat, visit, form);
    }
    let frame = visit.frame(seat)?;
    let (_, _, memory) = seat.reader()?;
    let whole = frame.link_with("carry", "download", "all");
    let user = |name: String| User { address: super::visit::with(&whole, "of", &name), name };
    let users = memory.store.users(Admin)?.into_iter().map(|one| user(one.name)).collect();
    let all = Amount::of(&*figures::counts(seat)?);
    let root = seat.app.for_folder(seat.home.root());
    let standing = wanted::read(&root, None).and_then(|wanted| status::status(&root, &wanted));
    let shown = Shown {
        address: frame.link("carry"),
        profile: visit.profile.clone(),
        users,
        types: TYPES,
        all,
        can_back_up: standing.is_ok_and(|standing| standing.is_set_up),
        frame,
    };
    let command = "hermes memory export -o memory.json".to_owned();
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    show::view(visit, head, &shown)
}

/// One document with everything, or with what belongs to one user.
fn download(seat: &mut Seat, visit: &Visit, form: &str) -> anyhow::Result<Answer> {
    let (_, _, memory) = seat.reader()?;
    let user = match visit.asked("of") {
        None => None,
        Some(name) => {
            let missing = || Problem::new(Kind::NotFound, format!("could not find user {name}"));
            Some(memory.store.user(name)?.ok_or_else(missing)?.number)
        }
    };
    let reply = export::stream(seat, Wish { user, since: None, redact: form == "redacted" })?;
    let day = seat.app.today(&seat.home)?;
    Ok(Answer::Stream { name: format!("hermes-{}-{day}.json", visit.profile), reply })
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if visit.deed() != "forget" {
        return Err(unknown_deed(visit));
    }
    let what = visit.must_say("what")?;
    let deletion = chosen(seat, visit, what)?;
    if visit.said("sure") != Some(name_of(visit, what)) {
        let why = format!("type {} to confirm", name_of(visit, what));
        return Err(Problem::new(Kind::Usage, why).hint("nothing was deleted").into());
    }
    let kept = backed_up(seat, visit)?;
    let said = deletion.carry_out(seat)?;
    let notice = Notice::new(format!("{said} · {kept}"));
    Ok(Answer::Done { back: visit.back(), notice })
}

/// What somebody wants to be gone.
enum Deletion {
    Part(Forget),
    Person { name: UserId, agent_sessions: bool },
}

impl Deletion {
    /// Deletes it; says what was done and what stays.
    fn carry_out(&self, seat: &Seat) -> anyhow::Result<String> {
        let (app, home) = (seat.app.for_profile(&seat.home), &seat.home);
        match self {
            Deletion::Part(forget) => {
                let done = match forget.plan(&app, home)? {
                    plan if plan.is_nothing() => plan,
                    _ => forget.carry_out(&app, home)?,
                };
                let lines = forget.keeps().into_iter().map(str::to_owned);
                Ok([done.said()].into_iter().chain(lines).collect::<Vec<_>>().join(" · "))
            }
            Deletion::Person { name, agent_sessions } => {
                let found = user_forget::look(&app, home, name, *agent_sessions)?;
                let done = found.carry_out(&app, home)?;
                let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
                Ok(done.lines().iter().map(words).collect::<Vec<_>>().join(" · "))
            }
        }
    }
}

/// What a person must type.
fn name_of<'a>(visit: &'a Visit, what: &'a str) -> &'a str {
    match what {
        "all" => &visit.profile,
        what => what.split_once(':').map_or(what, |(_, name)| name),
    }
}

/// What is meant: `all`, `type:facts`, `user:NAME`.
fn chosen(seat: &mut Seat, visit: &Visit, what: &str) -> anyhow::Result<Deletion> {
    let unknown = || Problem::usage(format!("{what:?} cannot be deleted here"));
    let erase = visit.said("erase").is_some();
    let part = |choice| Deletion::Part(Forget { choice, erase, transcript: false });
    let (_, _, memory) = seat.reader()?;
    match what.split_once(':').unwrap_or((what, "")) {
        ("all", _) => Ok(part(Choice::All)),
        ("type", name) => {
            let kind = TYPES.iter().find(|(known, ..)| *known == name).ok_or_else(unknown)?.2;
            let of = forget::user(&memory.store, visit.user().unwrap_or("owner"))?;
            Ok(part(Choice::Kind(of, kind)))
        }
        ("user", name) => {
            let user = memory.store.user(name)?.ok_or_else(unknown)?;
            if !erase {
                return Ok(part(Choice::User(user.number)));
            }
            // For good means everywhere: the memory, the transcript, the files.
            let agent_sessions = visit.said("agent_sessions").is_some();
            Ok(Deletion::Person { name: name.parse()?, agent_sessions })
        }
        _ => Err(unknown().into()),
    }
}

/// Nothing is deleted before a backup was made and read back, unless the person said so.
fn backed_up(seat: &Seat, visit: &Visit) -> anyhow::Result<String> {
    if visit.said("unsafe").is_some() {
        return Ok("No backup was made, as you requested.".to_owned());
    }
    match long::run(seat, |app| backups::make(app, Some("before deleting")).map(drop)) {
        Ok(Some(())) => Ok("A backup of everything was made first.".to_owned()),
        Ok(None) => {
            Err(Problem::new(Kind::Refused, "the backup is still running; nothing was deleted")
                .hint("try again when the backup is in the list, or choose to make none")
                .into())
        }
        Err(error) => {
            let why =
                format!("could not make a backup, so nothing was deleted: {}", message(&error));
            Err(Problem::new(Kind::Refused, why)
                .hint("set up backups with `hermes backup setup`, or choose to make none")
                .into())
        }
    }
}
