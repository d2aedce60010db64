//! Backups: how it stands with them, the list, back up now, verify, restore into a scratch folder, receipts of drills.

use std::path::{Path, PathBuf};

use askama::Template;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::command::{self, Told};
use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use crate::failure::{Kind, Problem};
use crate::output::bytes;
use crate::server::pool::Seat;

const NAME: &str = "Backups";

/// The list, and one of it.
pub(super) fn pages() -> [Page; 2] {
    let menu = Some(Menu { name: NAME, key: "b" });
    let path = "/p/{profile}/backups/{id}";
    let list = Page { path: "/p/{profile}/backups", menu, show, deed: Some(change) };
    let one = Page { path, menu: None, show: wizard, deed: Some(change) };
    [list, one]
}

#[derive(Template, Serialize)]
#[template(path = "backups.html")]
struct Shown {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    standing: Standing,
    results: Vec<Backup>,
    receipts: Vec<Receipt>,
}

/// As `hermes backup status` shows it.
#[derive(Serialize, Deserialize)]
struct Standing {
    colour: String,
    reasons: Vec<Reason>,
    newest: Option<Timestamp>,
    drilled: Option<Timestamp>,
    folder: String,
    encryption: String,
    places: Vec<String>,
    schedule: String,
}

impl Standing {
    fn class(&self) -> &'static str {
        match self.colour.as_str() {
            "green" => "good",
            "amber" => "care",
            _ => "bad",
        }
    }

    fn is_set_up(&self) -> bool {
        self.encryption != "not set up"
    }
}

#[derive(Serialize, Deserialize)]
struct Reason {
    colour: String,
    what: String,
    hint: String,
}

/// As `hermes backup list` shows it.
#[derive(Serialize, Deserialize)]
struct Backup {
    id: String,
    what: String,
    made: Timestamp,
    size: u64,
    state: String,
    encrypted_to: Vec<String>,
    copies: Vec<String>,
    label: Option<String>,
    home: String,
    #[serde(skip)]
    address: String,
}

impl Backup {
    fn size(&self) -> String {
        bytes(self.size)
    }

    fn class(&self) -> &'static str {
        match self.state.as_str() {
            "verified" => "good",
            "unverified" => "care",
            _ => "bad",
        }
    }

    fn key(&self) -> String {
        let short = |key: &String| match key.char_indices().nth(12) {
            Some((end, _)) => format!("{}…", &key[..end]),
            None => key.clone(),
        };
        self.encrypted_to.iter().map(short).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Serialize, Deserialize)]
struct Receipt {
    id: String,
    at: Timestamp,
    host: String,
    passed: bool,
    checks: Vec<Check>,
}

#[derive(Serialize, Deserialize)]
struct Check {
    name: String,
    passed: bool,
    seen: String,
}

#[derive(Deserialize)]
struct Listed<T> {
    results: Vec<T>,
}

#[derive(Template, Serialize)]
#[template(path = "backup.html")]
struct Wizard {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    backup: Backup,
    /// A folder that is free.
    scratch: String,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let shown = Shown {
        address: frame.link("backups"),
        standing: command::ask(seat, &["backup", "status"])?,
        results: listed(seat, &frame)?,
        receipts: command::ask::<Listed<Receipt>>(seat, &["backup", "receipt", "list"])?.results,
        frame,
    };
    let command = "hermes backup list".to_owned();
    show::view(visit, Head { title: NAME.to_owned(), section: NAME, command }, &shown)
}

fn listed(seat: &Seat, frame: &Frame) -> anyhow::Result<Vec<Backup>> {
    let mut found = command::ask::<Listed<Backup>>(seat, &["backup", "list"])?.results;
    for backup in &mut found {
        backup.address = frame.link(format_args!("backups/{}", backup.id));
    }
    Ok(found)
}

fn wizard(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let id = visit.param("id");
    let backup = listed(seat, &frame)?.into_iter().find(|backup| backup.id == id);
    let backup = backup
        .ok_or_else(|| Problem::new(Kind::NotFound, format!("could not find backup {id}")))?;
    let scratch = free_folder(seat, id).display().to_string();
    let command = format!("hermes backup restore {id} --to {scratch}");
    let wizard = Wizard { address: backup.address.clone(), frame, backup, scratch };
    show::view(visit, Head { title: format!("Backup {id}"), section: NAME, command }, &wizard)
}

/// A folder beside the home that is not there yet.
fn free_folder(seat: &Seat, id: &str) -> PathBuf {
    let root = seat.home.root();
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = |number: usize| {
        let more = if number == 0 { String::new() } else { format!("-{number}") };
        root.with_file_name(format!("{name}-restored-{id}{more}"))
    };
    let is_free = |folder: &PathBuf| folder.symlink_metadata().is_err();
    (0..100).map(folder).find(is_free).unwrap_or_else(|| folder(100))
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let identity = visit.said("identity");
    let opened: Vec<&str> = identity.map(|file| vec!["--identity", file]).unwrap_or_default();
    let words: Vec<&str> = match visit.deed() {
        "create" => vec!["backup", "create", "--all", "--push", "--prune"],
        "verify" => [vec!["backup", "verify", visit.param("id")], opened].concat(),
        "verify-all" => vec!["backup", "verify", "--all"],
        "drill" => [vec!["backup", "drill", visit.param("id")], opened].concat(),
        "restore" => {
            let to = visit.must_say("to")?;
            if !Path::new(to).is_absolute() {
                return Err(Problem::usage("the folder must begin with /").into());
            }
            [vec!["backup", "restore", visit.param("id"), "--to", to], opened].concat()
        }
        _ => return Err(unknown_deed(visit)),
    };
    let said = match command::tell_long(seat, &words)? {
        Told::Done(said) => said,
        Told::GoesOn => "It goes on; this page shows it when it is done.".to_owned(),
    };
    Ok(Answer::Done { back: visit.back(), notice: Notice::new(said) })
}
