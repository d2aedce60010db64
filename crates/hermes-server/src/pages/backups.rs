//! Backups: how it stands with them, the list, back up now, verify, restore into a scratch folder, receipts of drills.

use std::path::{Path, PathBuf};

use askama::Template;
use hermes_app::App;
use hermes_app::backup::create::{self, BackupMade, NewBackup};
use hermes_app::backup::drill::{self as drills, Drilled};
use hermes_app::backup::list::{self, BackupState, BackupSummary, OfHome};
use hermes_app::backup::opening::Opening;
use hermes_app::backup::restore::{self, Source, Trusted};
use hermes_app::backup::status::{self, BackupStatus};
use hermes_app::backup::verify::{self, CheckedBackup, Which};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::backup::{prune, push};
use hermes_backup::drill::{self, Receipt};
use hermes_backup::status::Colour;
use serde::Serialize;

use super::long;
use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{bytes, counted};

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
            Colour::Green => "Healthy",
            Colour::Amber => "Needs attention",
            Colour::Red => "Action required",
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
    let said = match visit.deed() {
        "create" => long::run(seat, make_send_and_prune),
        "verify" | "verify-all" => {
            let id = (visit.deed() == "verify").then(|| visit.param("id").to_owned());
            let identity = identity(visit);
            long::run(seat, move |app| check(app, id.as_deref(), &identity))
        }
        "drill" => {
            let (id, identity) = (visit.param("id").to_owned(), identity(visit));
            long::run(seat, move |app| try_out(app, &id, &identity))
        }
        "restore" => {
            let to = PathBuf::from(visit.must_say("to")?);
            if !to.is_absolute() {
                return Err(Problem::usage("the folder must be an absolute path").into());
            }
            let (id, identity) = (visit.param("id").to_owned(), identity(visit));
            long::run(seat, move |app| unpack(app, &id, &to, &identity))
        }
        _ => return Err(unknown_deed(visit)),
    };
    let said =
        said?.unwrap_or_else(|| "Still running. The result will appear on this page.".to_owned());
    Ok(Answer::Done { back: visit.back(), notice: Notice::new(said) })
}

/// The file with a private key that somebody named.
fn identity(visit: &Visit) -> Opening<'static> {
    let identity = visit.said("identity").map(PathBuf::from).into_iter().collect();
    Opening { identity, ..Opening::default() }
}

/// Makes a backup of everything, as the settings say.
pub(super) fn make(app: &App, label: Option<&str>) -> anyhow::Result<(Wanted, BackupMade)> {
    let mut wanted = wanted::read(app, None)?;
    wanted.home.must_exist()?;
    create::begin_signing(app, &mut wanted);
    let new =
        NewBackup { label: label.map(str::to_owned), ..NewBackup::by_settings(app, &wanted)? };
    let made = create::make(app, &wanted, &new)?;
    Ok((wanted, made))
}

/// A backup of everything, sent to the places off this host; then what the rules let go is deleted.
fn make_send_and_prune(app: &App) -> anyhow::Result<String> {
    let (wanted, made) = make(app, None)?;
    let sent = push::send(app, &wanted, None)?;
    prune::by_settings(app, &wanted)?;
    let mut said = vec![match made.damaged.is_empty() {
        true => format!("Backup {} created and verified ({}).", made.id, bytes(made.size)),
        false => format!("Backup {} is of a damaged home: {}.", made.id, made.damaged.join(", ")),
    }];
    said.extend(
        made.links_left_out
            .iter()
            .map(|link| format!("{link} is a link to a folder. Its target is not in this backup.")),
    );
    said.extend(sent.iter().flat_map(|place| {
        let (name, [sent, there]) = (&place.place, [place.sent.len(), place.there.len()]);
        let result = match &place.error {
            Some(error) => format!("Nothing was sent to {name}: {error}."),
            None => format!("{name}: {sent} sent and verified, {there} already there."),
        };
        let not_sent = place.skipped.iter().map(|why| format!("Not sent to {name}: {why}."));
        let warnings = place.warnings.iter().map(|warning| format!("{warning}."));
        [result].into_iter().chain(not_sent).chain(warnings).collect::<Vec<_>>()
    }));
    Ok(said.join(" "))
}

fn check(app: &App, id: Option<&str>, opening: &Opening<'_>) -> anyhow::Result<String> {
    let wanted = wanted::read_anyway(app, None)?;
    let checked = verify::verify(app, &wanted, id.map_or(Which::All, Which::One), opening)?;
    let said = |one: &CheckedBackup| {
        let passed = if one.passed { "ok" } else { "FAILED" };
        format!("{}: {passed}, {}; {}", one.id, one.seen, one.signed)
    };
    Ok(checked.iter().map(said).collect::<Vec<_>>().join("\n"))
}

fn try_out(app: &App, id: &str, opening: &Opening<'_>) -> anyhow::Result<String> {
    let wanted = wanted::read_anyway(app, None)?;
    let Drilled { receipt, .. } = drills::drill(app, &wanted, Some(id), opening)?;
    let failed = receipt.checks.iter().filter(|check| !check.passed);
    let failed: Vec<String> =
        failed.map(|check| format!("{}: {}", check.name, check.seen)).collect();
    Ok(match receipt.passed {
        true => format!(
            "Restore test of backup {} passed: {} checks.",
            receipt.id,
            receipt.checks.len()
        ),
        false => {
            format!("Restore test of backup {} FAILED. {}", receipt.id, failed.join("; "))
        }
    })
}

fn unpack(app: &App, id: &str, to: &Path, opening: &Opening<'_>) -> anyhow::Result<String> {
    let wanted = wanted::read_anyway(app, None)?;
    let chosen = restore::choose(&wanted, id, None, false)?;
    let trusted = Trusted::Home;
    let source = Source { wanted: &wanted, chosen: &chosen, trusted: &trusted, opening };
    let done = restore::to_folder(app, &source, to)?;
    let files = counted(done.files, "file");
    let mut said = vec![format!("Restored {files} to {}.", done.home.display())];
    said.extend(done.remarks);
    Ok(said.join(" "))
}
