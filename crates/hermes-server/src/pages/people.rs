//! Profiles and users: who talks to the agent, as whom in which channel, and the homes beside this one.

use askama::Template;
use hermes_store::memory::Admin;
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::profiles::{self, ProfileSummary};
use hermes_app::text::bytes;
use hermes_app::users::{self, KnownUsers, Unlinked, UserSummary};
use hermes_home::UserId;

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

/// A profile and where its pages are.
#[derive(Serialize)]
struct Profile {
    #[serde(flatten)]
    summary: ProfileSummary,
    #[serde(skip)]
    address: String,
}

impl Profile {
    fn of(summary: ProfileSummary) -> Profile {
        Profile { address: format!("/p/{}/", summary.name), summary }
    }

    fn size(&self) -> String {
        bytes(self.summary.sessions_bytes)
    }

    fn folder(&self) -> String {
        self.summary.home.display().to_string()
    }
}

/// A user, how much is known of them, and where that is shown.
#[derive(Serialize)]
struct User {
    #[serde(flatten)]
    summary: UserSummary,
    facts: u64,
    #[serde(skip)]
    link: String,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let profiles = profiles::list(&seat.app)?.into_iter().map(Profile::of).collect();
    let (_, _, memory) = seat.reader()?;
    let KnownUsers { results, unlinked, .. } = users::list(&memory.store)?;
    let known = memory.store.users(Admin)?;
    let held = memory.store.held_facts(Admin)?;
    let of = |summary: UserSummary| {
        let found = known.iter().find(|one| one.name == summary.name);
        let held = found.and_then(|found| held.iter().find(|one| one.0 == found.number));
        let link = super::visit::with(&format!("{}/facts", frame.base), "user", &summary.name);
        User { facts: held.map_or(0, |one| one.1), link, summary }
    };
    let results = results.into_iter().map(of).collect();
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

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let address = visit.frame(seat)?.link("people");
    let notice = match visit.deed() {
        "add" => {
            let name: UserId = visit.must_say("name")?.parse()?;
            let zone = visit.said("timezone");
            Notice::new(users::add(&seat.app, &seat.home, &name, zone)?.message)
        }
        "link" => {
            let (channel, id) = (visit.must_say("channel")?, visit.must_say("native_id")?);
            let user: UserId = visit.must_say("to")?.parse()?;
            let change = users::link(&seat.app, &seat.home, [channel, id], &user)?;
            let fields = [("channel", channel), ("native_id", id)];
            Notice::new(change.message).undo(&address, "unlink", &fields)
        }
        "unlink" => {
            let (channel, id) = (visit.must_say("channel")?, visit.must_say("native_id")?);
            Notice::new(users::unlink(&seat.app, &seat.home, [channel, id])?.message)
        }
        "create" => {
            let name = visit.must_say("name")?;
            profiles::create(&seat.app, name)?;
            Notice::new(format!("Created profile {name}"))
        }
        "delete" => {
            let name = visit.must_say("name")?;
            if visit.said("sure") != Some(name) {
                let why = format!("type {name} to confirm that you want to delete this profile");
                return Err(Problem::new(Kind::Usage, why).into());
            }
            if name == visit.profile {
                let why = "you cannot delete the profile that this page shows";
                return Err(Problem::new(Kind::Refused, why)
                    .hint("switch to another profile first")
                    .into());
            }
            let (profile, _) = profiles::removable(&seat.app, name)?;
            let kept = profiles::set_aside(&seat.app, &profile)?;
            let said = format!("Deleted profile {name}. It is kept in {}.", kept.display());
            Notice::new(said).undo(&address, "restore", &[("name", name)])
        }
        "restore" => {
            let name = visit.must_say("name")?;
            profiles::restore(&seat.app, name)?;
            Notice::new(format!("Restored profile {name}"))
        }
        _ => return Err(unknown_deed(visit)),
    };
    Ok(Answer::Done { back: visit.back(), notice })
}
