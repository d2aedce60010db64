//! Carry: download the whole memory as one document; delete a part or all of it, by typing its name, after a backup.

use askama::Template;
use hermes_app::backup::{status, wanted};
use hermes_store::memory::{Admin, Counts, Users as _};
use serde::Serialize;

use super::command::{self, Told};
use super::figures;
use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use crate::server::routes::transfer::{self, Wish};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem, message};

const NAME: &str = "Carry";
const TYPES: [(&str, &str); 4] = [
    ("facts", "what is known"),
    ("episodes", "what was said"),
    ("procedures", "how things are done well"),
    ("events", "what happened when"),
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
    types: [(&'static str, &'static str); 4],
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
    let head = Head { title: "Export and reset".to_owned(), section: NAME, command };
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
    let reply = transfer::stream(seat, Wish { user, since: None, redact: form == "redacted" })?;
    let day = seat.app.today(&seat.home)?;
    Ok(Answer::Stream { name: format!("hermes-{}-{day}.json", visit.profile), reply })
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if visit.deed() != "forget" {
        return Err(unknown_deed(visit));
    }
    let what = visit.must_say("what")?;
    let words = chosen(seat, visit, what)?;
    if visit.said("sure") != Some(name_of(visit, what)) {
        let why = format!("type {} to say that you are sure", name_of(visit, what));
        return Err(Problem::new(Kind::Usage, why).hint("nothing was deleted").into());
    }
    let kept = backed_up(seat, visit)?;
    let said = command::tell(seat, &words.iter().map(String::as_str).collect::<Vec<_>>())?;
    let notice = Notice::new(format!("{} · {kept}", done(&said)));
    Ok(Answer::Done { back: visit.back(), notice })
}

/// What was done and what stays. Somebody who is forgotten is told of before and after: the receipt counts.
fn done(said: &str) -> String {
    let receipt = said.rfind(RECEIPT_BEGINS).map_or(said, |at| &said[at..]);
    let lines = receipt.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// How the receipt of `hermes user forget` begins.
const RECEIPT_BEGINS: &str = "erased of ";

/// What a person must type.
fn name_of<'a>(visit: &'a Visit, what: &'a str) -> &'a str {
    match what {
        "all" => &visit.profile,
        what => what.split_once(':').map_or(what, |(_, name)| name),
    }
}

/// The command that forgets it: `all`, `type:facts`, `user:NAME`, `one:ID`.
fn chosen(seat: &mut Seat, visit: &Visit, what: &str) -> anyhow::Result<Vec<String>> {
    let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let unknown = || Problem::usage(format!("{what:?} is nothing that can be deleted here"));
    let of = visit.user().unwrap_or("owner");
    let erase = visit.said("erase").is_some();
    let forget = |words: &[&str]| -> Vec<String> {
        let depth: &[&str] = if erase { &["--erase"] } else { &[] };
        command(&[&["memory", "forget"], words, depth].concat())
    };
    match what.split_once(':').unwrap_or((what, "")) {
        ("all", _) => Ok(forget(&["--all"])),
        ("type", name) if TYPES.iter().any(|(known, _)| *known == name) => {
            Ok(forget(&["--type", name, "--user", of]))
        }
        ("user", name) => {
            let (_, _, memory) = seat.reader()?;
            if memory.store.user(name)?.is_none() {
                return Err(unknown().into());
            }
            // For good means everywhere: the memory, the transcript, the files.
            let mut words = match erase {
                true => command(&["user", "forget", name]),
                false => forget(&["--user", name]),
            };
            if erase && visit.said("agent_sessions").is_some() {
                words.push("--agent-sessions".to_owned());
            }
            Ok(words)
        }
        _ => Err(unknown().into()),
    }
}

/// Nothing is deleted before a backup was made and read back, unless the person said so.
fn backed_up(seat: &Seat, visit: &Visit) -> anyhow::Result<String> {
    if visit.said("unsafe").is_some() {
        return Ok("No backup was made, as you said.".to_owned());
    }
    let words = ["backup", "create", "--all", "--label", "before deleting"];
    match command::tell_long(seat, &words) {
        Ok(Told::Done(_)) => Ok("A backup of everything was made before.".to_owned()),
        Ok(Told::GoesOn) => {
            Err(Problem::new(Kind::Refused, "the backup before it takes long; nothing was deleted")
                .hint("try again when the list of backups shows it, or say that none is wanted")
                .into())
        }
        Err(error) => {
            let why =
                format!("no backup could be made, so nothing was deleted: {}", message(&error));
            Err(Problem::new(Kind::Refused, why)
                .hint("set backups up with `hermes backup setup`, or say that none is wanted")
                .into())
        }
    }
}
