//! Profiles and users: who talks to the agent, as whom in which channel, and the homes beside this one.

use askama::Template;
use hermes_store::memory::{Admin, Facts as _, Users as _};
use serde::{Deserialize, Serialize};

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, command, unknown_deed};
use crate::failure::{Kind, Problem};
use crate::output::bytes;
use crate::server::pool::Seat;

const NAME: &str = "People";

/// The page.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "w" });
    Page { path: "/p/{profile}/people", menu, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "people.html")]
struct Shown {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    here: String,
    profiles: Vec<Profile>,
    results: Vec<User>,
    unlinked: Vec<Unlinked>,
}

/// As `hermes profile list` shows it.
#[derive(Serialize, Deserialize)]
struct Profile {
    name: String,
    in_use: bool,
    home: String,
    sessions_bytes: Option<u64>,
    memory_tokens: usize,
}

impl Profile {
    fn size(&self) -> String {
        self.sessions_bytes.map(bytes).unwrap_or_default()
    }

    fn address(&self) -> String {
        format!("/p/{}/", self.name)
    }
}

/// As `hermes user list` shows it.
#[derive(Serialize, Deserialize)]
struct User {
    name: String,
    timezone: Option<String>,
    identities: Vec<Identity>,
    #[serde(skip_deserializing)]
    facts: u64,
    #[serde(skip)]
    link: String,
}

#[derive(Serialize, Deserialize)]
struct Identity {
    channel: String,
    native_id: String,
}

/// Somebody whom nobody is linked to yet.
#[derive(Serialize, Deserialize)]
struct Unlinked {
    channel: String,
    native_id: String,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize)]
struct Listed<T> {
    results: Vec<T>,
}

#[derive(Deserialize)]
struct Users {
    results: Vec<User>,
    unlinked: Vec<Unlinked>,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let profiles = command::ask::<Listed<Profile>>(seat, &["profile", "list"])?.results;
    let Users { mut results, unlinked } = command::ask(seat, &["user", "list"])?;
    let (_, _, memory) = seat.reader()?;
    let known = memory.store.users(Admin)?;
    let held = memory.store.held_facts(Admin)?;
    for user in &mut results {
        user.link = super::visit::with(&format!("{}/facts", frame.base), "user", &user.name);
        let Some(found) = known.iter().find(|one| one.name == user.name) else { continue };
        let count = held.iter().find(|one| one.0 == found.number).map_or(0, |one| one.1);
        user.facts = count;
    }
    let shown = Shown {
        address: frame.link("people"),
        here: visit.profile.clone(),
        frame,
        profiles,
        results,
        unlinked,
    };
    let command = "hermes user list".to_owned();
    let head = Head { title: "Profiles and users".to_owned(), section: NAME, command };
    show::view(visit, head, &shown)
}

/// Each deed is a command.
fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let address = visit.frame(seat)?.link("people");
    let notice = match visit.deed() {
        "add" => {
            let name = visit.must_say("name")?;
            let mut words = vec!["user", "add", name];
            if let Some(zone) = visit.said("timezone") {
                words.extend(["--timezone", zone]);
            }
            Notice::new(command::tell(seat, &words)?)
        }
        "link" => {
            let (channel, id) = (visit.must_say("channel")?, visit.must_say("native_id")?);
            let user = visit.must_say("to")?;
            let said = command::tell(seat, &["user", "link", channel, id, user])?;
            let fields = [("channel", channel), ("native_id", id)];
            Notice::new(said).undo(&address, "unlink", &fields)
        }
        "unlink" => {
            let (channel, id) = (visit.must_say("channel")?, visit.must_say("native_id")?);
            Notice::new(command::tell(seat, &["user", "unlink", channel, id])?)
        }
        "create" => {
            let name = visit.must_say("name")?;
            Notice::new(command::tell(seat, &["profile", "create", name])?)
        }
        "delete" => {
            let name = visit.must_say("name")?;
            if visit.said("sure") != Some(name) {
                let why = format!("type {name} to take the profile away");
                return Err(Problem::new(Kind::Usage, why).into());
            }
            if name == visit.profile {
                let why = "this page is in that profile";
                return Err(Problem::new(Kind::Refused, why)
                    .hint("go to another profile first")
                    .into());
            }
            let said = command::tell(seat, &["profile", "delete", name])?;
            Notice::new(said).undo(&address, "restore", &[("name", name)])
        }
        "restore" => {
            let name = visit.must_say("name")?;
            Notice::new(command::tell(seat, &["profile", "restore", name])?)
        }
        _ => return Err(unknown_deed(visit)),
    };
    Ok(Answer::Done { back: visit.back(), notice })
}
