//! Brings back all of a home, or one thing of it. Nothing is overwritten: what was there is moved aside.

pub(crate) mod check;
mod foreign;
mod holders;
mod marks;
mod names;
mod note;
mod owner;
mod parts;
mod profile;
mod swap;
pub(crate) mod unpack;

use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::Home;
use jiff::Timestamp;

use crate::manifest::Manifest;
use crate::seal::Keys;
use crate::sign::{self, Signed, Trust};
use crate::{Error, Progress, Result, Tell, erasure, whose};
use names::Names;
use swap::{Alone, Replaced};
use unpack::Unpacked;

pub use marks::carry_marks_between;
pub use parts::parts;
pub use profile::{Import, Imported, profile};

/// Where a restore reads from and how.
#[derive(Debug)]
pub struct From<'a> {
    /// The archive: one of ours, a zip of Hermes Agent, or a plain tar of a home, encrypted or not.
    pub archive: &'a Path,
    /// What its sidecar says its SHA-256 is, if there is one: compared before anything else.
    pub sha256: Option<&'a str>,
    /// What may open it.
    pub keys: &'a Keys,
    /// Who signed what stands beside it.
    pub signed: Signed,
    /// Whose archives are taken.
    pub trust: Trust<'a>,
    /// Now.
    pub now: Timestamp,
}

/// What was restored.
#[derive(Debug)]
pub struct Restored {
    /// Where it is now.
    pub at: PathBuf,
    /// Where what was there before is now.
    pub aside: Option<PathBuf>,
    /// How many files were brought back.
    pub files: u64,
    /// The list in the archive; none for one of another program.
    pub manifest: Option<Manifest>,
    /// What the user should know: files of another machine left out, a database that is damaged, settings.
    pub remarks: Vec<String>,
}

/// Brings back a whole home: unpacks beside it, checks all of it, then swaps the folders.
///
/// Refuses while a program holds a database of the home, and while a backup is made of it. An archive of one profile replaces that profile alone.
pub fn whole(from: &From<'_>, home: &Home, tell: Tell<'_>) -> Result<Restored> {
    let names = Names::of(home)?;
    let was_cut_off = swap::recover(home, &names, from.now)?;
    let alone = Alone::below(&names)?;
    names.sweep()?;
    holders::must_be_free(home, names.root())?;
    let unpacking = names.unpack_into(from.now)?;
    let unpacked = unpack_and_check(from, unpacking.path(), tell)?;
    let Unpacked { manifest, files, mut remarks } = unpacked;
    let replaced = Replaced::named(manifest.as_ref().map_or("all", |list| list.what.as_str()))?;
    let places = notes_of(from.archive, home, &names);
    let name = from.archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    remarks.extend(erasure::again(unpacking.path(), &places, &name, from.now));
    remarks.extend(marks::carry_marks(names.root(), unpacking.path(), from.now));
    whose::keep_id(home, unpacking.path())?;
    sign::carry(home, unpacking.path(), !matches!(from.trust, Trust::Anybody))?;
    let like = if names.root().exists() { names.root() } else { names.parent() };
    owner::give_to_owner_of(unpacking.path(), like)?;
    tell(Progress { doing: "writing to the disk", done: 0, of: 0 });
    owner::sync(unpacking.path())?;
    let aside = swap::swap(home, &alone, unpacking.path(), &replaced, from.now)?;
    if was_cut_off {
        remarks.push("an earlier restore was interrupted; it was undone first".to_owned());
    }
    remarks.extend(aside.as_deref().and_then(|aside| left_behind(aside, names.root())));
    let at = match &replaced {
        Replaced::Profile(name) => names.root().join("profiles").join(name),
        Replaced::Whole | Replaced::Default => names.root().to_owned(),
    };
    Ok(Restored { at, aside, files, manifest, remarks })
}

/// Where it may be noted that people were forgotten: the home that is there, the folder of its backups, the folder of
/// the archive.
fn notes_of(archive: &Path, home: &Home, names: &Names) -> Vec<PathBuf> {
    let mut places = vec![names.root().to_owned(), home.backups()];
    places.extend(archive.parent().map(Path::to_owned).filter(|folder| *folder != home.backups()));
    places
}

/// Unpacks and checks everything into a new or empty folder.
pub fn to_folder(from: &From<'_>, folder: &Path, tell: Tell<'_>) -> Result<Restored> {
    let failed = |error| Error::file("read", folder, error);
    let is_new = !folder.exists();
    if !is_new && fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(Error::Setting {
            what: folder.display().to_string(),
            why: "it is not empty, and Hermes never restores over existing files".to_owned(),
        });
    }
    unpack::make_folder(folder)?;
    let done = unpack_and_check(from, folder, tell).and_then(|unpacked| {
        owner::give_to_owner_of(folder, folder.parent().unwrap_or(folder))?;
        owner::sync(folder)?;
        Ok(unpacked)
    });
    match done {
        Ok(Unpacked { manifest, files, remarks }) => {
            Ok(Restored { at: folder.to_owned(), aside: None, files, manifest, remarks })
        }
        Err(error) => {
            empty(folder, is_new);
            Err(error)
        }
    }
}

/// Unpacks and checks everything beside the home, for as long as somebody looks at it there.
pub fn look_into<T>(
    from: &From<'_>,
    home: &Home,
    tell: Tell<'_>,
    look: impl FnOnce(&Path) -> T,
) -> Result<T> {
    let names = Names::of(home)?;
    names.sweep()?;
    let unpacking = names.unpack_into(from.now)?;
    unpack_and_check(from, unpacking.path(), tell)?;
    Ok(look(unpacking.path()))
}

/// What a rollback would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollback {
    /// What would be put back: `the whole home`, `the home without its profiles`, `profile NAME`; none if no
    /// restore moved any of these aside.
    pub what: Option<String>,
    /// Where that is now.
    pub from: Option<PathBuf>,
    /// Files and folders inside the home that restores of single things moved aside: a rollback leaves them.
    pub parts: Vec<PathBuf>,
}

/// Looks what a rollback would do.
pub fn rollback_plan(home: &Home) -> Result<Rollback> {
    let names = Names::of(home)?;
    let mut parts = Vec::new();
    moved_aside_in(names.root(), &mut parts);
    parts.sort();
    let from = names.last_aside()?;
    let what = match &from {
        None => None,
        Some(from) => Some(match note::part_of(from)? {
            Replaced::Whole => "the whole home".to_owned(),
            Replaced::Default => "the home without its profiles".to_owned(),
            Replaced::Profile(name) => format!("profile {name}"),
        }),
    };
    Ok(Rollback { what, from, parts })
}

/// Everything below a folder that a restore of a single thing moved aside there.
fn moved_aside_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_aside = name.to_str().is_some_and(|name| name.contains(".before-restore-2"));
        if is_aside {
            found.push(path);
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            moved_aside_in(&path, found);
        }
    }
}

/// Puts back what the last restore moved aside; what is there now is moved aside in turn.
pub fn rollback(home: &Home, now: Timestamp) -> Result<Restored> {
    let names = Names::of(home)?;
    let done = |aside, remark: &str| Restored {
        at: names.root().to_owned(),
        aside,
        files: 0,
        manifest: None,
        remarks: vec![remark.to_owned()],
    };
    if swap::recover(home, &names, now)? {
        names.sweep()?;
        return Ok(done(None, "an interrupted restore was undone"));
    }
    let alone = Alone::below(&names)?;
    names.sweep()?;
    let Some(earlier) = names.last_aside()? else {
        return Err(Error::NothingAside { home: names.root().to_owned() });
    };
    let replaced = note::part_of(&earlier)?;
    let aside = swap::swap(home, &alone, &earlier, &replaced, now)?;
    // Only the note about which part it was is left in it.
    note::remove_emptied(&earlier)?;
    let mut back = done(aside, &format!("{} was put back", earlier.display()));
    let mut places = notes_of(&earlier, home, &names);
    places.extend(back.aside.clone());
    back.remarks.extend(erasure::again(
        names.root(),
        &places,
        "the folder that was moved aside",
        now,
    ));
    Ok(back)
}

/// Fails if a restore of the home was cut off, or is at work: what is there may be half of two homes, or nothing.
pub fn must_not_be_cut_off(home: &Home) -> Result<()> {
    Names::found(home)?.map_or(Ok(()), |names| swap::must_not_be_cut_off(&names))
}

/// Undoes a restore of the home that was cut off; returns whether there was one.
pub fn undo_cut_off(home: &Home, now: Timestamp) -> Result<bool> {
    let Some(names) = Names::found(home)? else { return Ok(false) };
    let was_cut_off = swap::recover(home, &names, now)?;
    if was_cut_off {
        names.sweep()?;
    }
    Ok(was_cut_off)
}

fn unpack_and_check(from: &From<'_>, folder: &Path, tell: Tell<'_>) -> Result<Unpacked> {
    let unpacked = unpack::unpack(from, folder, tell)?;
    if let Some(manifest) = &unpacked.manifest {
        tell(Progress { doing: "checking databases", done: 0, of: 0 });
        check::must_be_right(from.archive, &check::databases(folder, manifest)?)?;
    }
    Ok(unpacked)
}

/// The program of Hermes Agent is in no backup: it is still where the home was moved to.
fn left_behind(aside: &Path, root: &Path) -> Option<String> {
    let program = aside.join("hermes-agent");
    if !program.is_dir() || root.join("hermes-agent").exists() {
        return None;
    }
    let (from, to) = (program.display(), root.display());
    Some(format!(
        "no backup contains the program of Hermes Agent: put it back with `mv {from} \
         {to}/`"
    ))
}

/// Takes away what was unpacked before it failed.
fn empty(folder: &Path, is_new: bool) {
    // What went wrong first is what the user has to know.
    if is_new {
        let _ = fs::remove_dir_all(folder);
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
}

/// One thing to bring back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A file or folder by its path below the home.
    Path(String),
    /// A skill by its name.
    Skill(String),
    /// A session by its id.
    Session(String),
}

/// What bringing back parts did, one line for each.
#[derive(Debug, Clone)]
pub struct Piece {
    /// What it is: the path, or `session <id>`.
    pub what: String,
    /// Where it is now.
    pub at: PathBuf,
    /// Where what was there before is now; only with `replace`.
    pub aside: Option<PathBuf>,
}
