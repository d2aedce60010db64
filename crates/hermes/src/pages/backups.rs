//! Backups: how it stands with them, the list, back up now, verify, restore into a scratch folder, receipts of drills.

use std::path::{Path, PathBuf};

use askama::Template;
use hermes_app::App;
use hermes_app::backup::list::{self, BackupState, BackupSummary, OfHome};
use hermes_app::backup::status::{self, BackupStatus};
use hermes_app::backup::wanted;
use hermes_backup::drill::{self, Receipt};
use hermes_backup::status::Colour;
use serde::Serialize;

use super::command::{self, Told};
use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::bytes;

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
    standing: BackupStatus,
    results: Vec<Backup>,
    receipts: Vec<Receipt>,
}

/// A backup and where its page is.
#[derive(Serialize)]
struct Backup {
    #[serde(flatten)]
    summary: BackupSummary,
    #[serde(skip)]
    address: String,
}

impl Backup {
    fn size(&self) -> String {
        bytes(self.summary.size)
    }

    fn class(&self) -> &'static str {
        match self.summary.state {
            BackupState::Verified => "good",
            BackupState::Unverified => "care",
            BackupState::Damaged | BackupState::Failed => "bad",
        }
    }

    fn is_of_another_home(&self) -> bool {
        self.summary.home == OfHome::Another
    }

    fn key(&self) -> String {
        let short = |key: &String| match key.char_indices().nth(12) {
            Some((end, _)) => format!("{}…", &key[..end]),
            None => key.clone(),
        };
        self.summary.encrypted_to.iter().map(short).collect::<Vec<_>>().join(", ")
    }
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

impl Shown {
    fn class(&self) -> &'static str {
        match self.standing.standing.colour {
            Colour::Green => "good",
            Colour::Amber => "care",
            Colour::Red => "bad",
        }
    }

    fn colour(&self) -> &'static str {
        match self.standing.standing.colour {
            Colour::Green => "green",
            Colour::Amber => "amber",
            Colour::Red => "red",
        }
    }
}

/// Backups are of the whole home, whatever profile is looked at.
fn whole(seat: &Seat) -> App {
    seat.app.for_folder(seat.home.root())
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let app = whole(seat);
    let wanted = wanted::read_anyway(&app, None)?;
    let shown = Shown {
        address: frame.link("backups"),
        standing: status::status(&app, &wanted)?,
        results: listed(seat, &frame)?,
        receipts: drill::receipts(&wanted.folder)?,
        frame,
    };
    let command = "hermes backup list".to_owned();
    show::view(visit, Head { title: NAME.to_owned(), section: NAME, command }, &shown)
}

fn listed(seat: &Seat, frame: &Frame) -> anyhow::Result<Vec<Backup>> {
    let found = list::list(&whole(seat))?.into_iter();
    let of = |summary: BackupSummary| Backup {
        address: frame.link(format_args!("backups/{}", summary.id)),
        summary,
    };
    Ok(found.map(of).collect())
}

fn wizard(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let id = visit.param("id");
    let backup = listed(seat, &frame)?.into_iter().find(|backup| backup.summary.id == id);
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
