//! Puts an unpacked home in the place of the present one, so that a crash at any moment can be undone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use hermes_home::{Home, atomic, lock};
use jiff::Timestamp;
use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

use crate::database_files::SIDECARS;
use crate::held::{self, Held, Way};
use crate::restore::names::Names;
use crate::restore::{holders, note};
use crate::{Error, Result};

/// Which part of a home is replaced, as the list in an archive says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// All of it.
    Whole,
    /// Everything but `profiles/`.
    Default,
    /// One folder below `profiles/`.
    Profile(String),
}

impl Replaced {
    /// What `all`, `default` or the name of a profile means.
    pub(crate) fn named(what: &str) -> Result<Replaced> {
        match what {
            "all" => Ok(Replaced::Whole),
            "default" => Ok(Replaced::Default),
            name => match name.parse::<hermes_home::ProfileName>() {
                Ok(name) => Ok(Replaced::Profile(name.as_str().to_owned())),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// The word for it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Replaced::Whole => "all",
            Replaced::Default => "default",
            Replaced::Profile(name) => name,
        }
    }
}

/// The form of a journal that this program writes and reads.
const FORMAT: u32 = 1;

/// What is being done, written beside the home before it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    format: u32,
    /// What was unpacked for it, to be removed if it is undone.
    unpacked: Option<PathBuf>,
    /// Where what was there goes.
    aside: Option<PathBuf>,
    moves: Vec<Move>,
}

/// One thing that is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Move {
    /// What comes.
    new: Option<PathBuf>,
    /// Its number on its file system: tells it from anything else that may be in the place.
    #[serde(default)]
    inode: Option<u64>,
    /// Where it comes to.
    place: PathBuf,
    /// Where what was there goes; none if nothing was.
    aside: Option<PathBuf>,
}

/// Replaces the home, or a part of it, by what is in `source`; returns where what was there is now.
///
/// `source` is deleted if this is undone later only where it is `unpacked`.
pub(crate) fn swap(
    home: &Home,
    alone: &Alone<'_>,
    source: &Path,
    replaced: &Replaced,
    now: Timestamp,
) -> Result<Option<PathBuf>> {
    let names = alone.names;
    let _daemon = keep_daemon_out(home)?;
    holders::databases_must_be_free(names.root())?;
    let is_unpacked = names.is_unpacked(source);
    let journal = plan(names, source, replaced, now)?;
    let journal = Journal { unpacked: is_unpacked.then(|| source.to_owned()), ..journal };
    journal.carry_out(names, now, || journal.prepare(replaced))?;
    Ok(journal.aside)
}

/// Moves single things of the home aside and brings others, all of them or none; cut off, it can be undone.
pub(super) fn exchange(alone: &Alone<'_>, moves: Vec<Move>, now: Timestamp) -> Result<()> {
    let journal = Journal { format: FORMAT, unpacked: None, aside: None, moves };
    journal.carry_out(alone.names, now, || Ok(()))
}

/// Fails if a swap of the home was cut off: what is there may be half of one home and half of another.
pub(crate) fn must_not_be_cut_off(names: &Names) -> Result<()> {
    if !is_there(&names.journal()) {
        return Ok(());
    }
    // Whoever swaps folders at this moment holds the folder around the home.
    let Some(_held) = held::hold(names.parent(), Way::Together)? else {
        return Err(held::is_swapped(names.root()));
    };
    // It may have come to its end meanwhile.
    if is_there(&names.journal()) && !Journal::read(names)?.is_done() {
        return Err(Error::CutOff { home: names.root().to_owned() });
    }
    Ok(())
}

/// Undoes a swap that was cut off, if there is one; returns whether there was.
pub(crate) fn recover(home: &Home, names: &Names, now: Timestamp) -> Result<bool> {
    let (path, unwritten) = (names.journal(), names.unwritten_journal());
    if !is_there(&path) && !is_there(&unwritten) {
        return Ok(false);
    }
    let _alone = Alone::below(names)?;
    if is_there(&unwritten) {
        fs::remove_file(&unwritten).map_err(|error| Error::file("remove", &unwritten, error))?;
    }
    if !is_there(&path) {
        return Ok(false);
    }
    let journal = Journal::read(names)?;
    let was_cut_off = !journal.is_done();
    if was_cut_off {
        holders::must_be_free(home, names.root())?;
        journal.undo(names, now)?;
    }
    note::remove(names.root())?;
    remove_journal(names)?;
    Ok(was_cut_off)
}

fn plan(names: &Names, source: &Path, replaced: &Replaced, now: Timestamp) -> Result<Journal> {
    let root = names.root();
    let aside = names.aside(now);
    let below = |name: &Path| {
        let (new, place) = (source.join(name), root.join(name));
        Move {
            inode: inode(&new),
            new: is_there(&new).then_some(new),
            aside: is_there(&place).then(|| aside.join(name)),
            place,
        }
    };
    let moves = match replaced {
        Replaced::Whole => vec![Move {
            inode: inode(source),
            new: Some(source.to_owned()),
            place: root.to_owned(),
            aside: is_there(root).then(|| aside.clone()),
        }],
        Replaced::Profile(name) => vec![below(&Path::new("profiles").join(name))],
        Replaced::Default => {
            let mut every = entries(root)?;
            every.extend(entries(source)?);
            every.remove(&OsString::from("profiles"));
            every.remove(&OsString::from(note::NAME));
            every.iter().map(|name| below(Path::new(name))).collect()
        }
    };
    let aside = moves.iter().any(|one| one.aside.is_some()).then_some(aside);
    Ok(Journal { format: FORMAT, unpacked: None, aside, moves })
}

impl Journal {
    /// Reads the journal beside the home, which must be our own and speak of this home alone.
    fn read(names: &Names) -> Result<Journal> {
        let path = names.journal();
        let failed = |error| Error::file("read", &path, error);
        let refused = |why: &str| Error::Tampered {
            what: path.display().to_string(),
            why: format!("{why}; check it, and remove it if no restore of yours was interrupted"),
        };
        let found = path.symlink_metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(refused("it is not a regular file"));
        }
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let mut file = File::options();
        let file = file.read(true).custom_flags(flags.bits()).open(&path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() || found.uid() != nix::unistd::geteuid().as_raw() {
            return Err(refused("it belongs to another user"));
        }
        let journal: Journal = serde_json::from_reader(io::BufReader::new(file))
            .map_err(|error| refused(&error.to_string()))?;
        match journal.stranger(names) {
            _ if journal.format != FORMAT => Err(refused("its format is unknown")),
            Some(path) => Err(refused(&format!("it mentions {}", path.display()))),
            None => Ok(journal),
        }
    }

    /// A path in it that no restore of this home would move or remove.
    fn stranger(&self, names: &Names) -> Option<&Path> {
        let is_source = |path: &Path| match &self.unpacked {
            Some(unpacked) => is_within(path, unpacked),
            None => path.ancestors().any(|top| names.is_source(top) && is_within(path, top)),
        };
        let is_aside =
            |path: &Path| self.aside.as_ref().is_some_and(|aside| is_within(path, aside));
        let tops = [
            self.unpacked.as_deref().filter(|path| !names.is_unpacked(path)),
            self.aside.as_deref().filter(|path| !names.is_aside(path)),
        ];
        let moved = self.moves.iter().flat_map(|one| {
            [
                Some(one.place.as_path()).filter(|path| !is_within(path, names.root())),
                one.new.as_deref().filter(|path| !is_source(path) && !one.comes_beside(path)),
                one.aside.as_deref().filter(|path| !is_aside(path) && !one.goes_beside(path)),
            ]
        });
        tops.into_iter().chain(moved).flatten().next()
    }

    /// Makes the folders that things are moved into.
    fn prepare(&self, replaced: &Replaced) -> Result<()> {
        if *replaced == Replaced::Whole {
            // The home takes its note along when it is moved aside.
            let places = self.moves.iter().filter(|one| one.aside.is_some());
            return places.map(|one| &one.place).try_for_each(|root| note::write(root, replaced));
        }
        if let Some(aside) = &self.aside {
            atomic::make_folder(aside)?;
            note::write(aside, replaced)?;
        }
        for one in &self.moves {
            for path in one.aside.iter().chain([&one.place]) {
                if let Some(parent) = path.parent() {
                    atomic::make_folder(parent)?;
                }
            }
        }
        Ok(())
    }

    /// Does all of it; what fails is undone.
    fn carry_out(
        &self,
        names: &Names,
        now: Timestamp,
        prepare: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        write_journal(names, self)?;
        if let Err(error) = prepare().and_then(|()| self.go_on(usize::MAX)) {
            self.undo(names, now)?;
            remove_journal(names)?;
            return Err(error);
        }
        note::remove(names.root())?;
        remove_journal(names)
    }

    /// Does so many of the steps.
    fn go_on(&self, most: usize) -> Result<()> {
        let mut steps = Vec::new();
        for one in &self.moves {
            steps.extend(one.aside.iter().map(|aside| (&one.place, aside)));
            steps.extend(one.new.iter().map(|new| (new, &one.place)));
        }
        steps.into_iter().take(most).try_for_each(|(from, to)| rename(from, to))
    }

    fn is_done(&self) -> bool {
        self.moves.iter().all(|one| {
            let has_come = |new: &PathBuf| !is_there(new) && is_there(&one.place);
            one.new.as_ref().is_none_or(has_come) && one.aside.as_deref().is_none_or(is_there)
        })
    }

    /// Puts back what was there before, however far the steps had come; doing it again changes nothing.
    fn undo(&self, names: &Names, now: Timestamp) -> Result<()> {
        for one in self.moves.iter().rev() {
            one.undo(names, now)?;
        }
        note::remove(names.root())?;
        if let Some(aside) = &self.aside {
            note::remove_emptied(aside)?;
        }
        for one in &self.moves {
            if let Some(new) = one.new.as_deref().filter(|new| one.comes_beside(new)) {
                remove(new)?;
            }
        }
        match self.unpacked.as_deref().filter(|folder| is_there(folder)) {
            Some(unpacked) if names.is_unpacked(unpacked) => remove_folder(unpacked),
            _ => Ok(()),
        }
    }
}

impl Move {
    /// One thing of the home that goes aside.
    pub(super) fn away(place: PathBuf, aside: PathBuf) -> Move {
        Move { new: None, inode: None, place, aside: Some(aside) }
    }

    /// One thing that comes to a place where nothing is.
    pub(super) fn coming(new: PathBuf, place: PathBuf) -> Move {
        Move { inode: inode(&new), new: Some(new), place, aside: None }
    }

    /// Whether a path is where a single thing waits that comes to this place.
    fn comes_beside(&self, path: &Path) -> bool {
        is_named(path, &self.place, ".restoring-")
    }

    /// Whether a path is where a single thing goes from this place; the log of a database goes with it.
    fn goes_beside(&self, path: &Path) -> bool {
        let logs = SIDECARS
            .iter()
            .filter_map(|ending| Some(PathBuf::from(self.place.to_str()?.strip_suffix(ending)?)));
        logs.chain([self.place.clone()]).any(|place| is_named(path, &place, ".before-restore-"))
    }

    fn undo(&self, names: &Names, now: Timestamp) -> Result<()> {
        let aside = self.aside.as_deref().filter(|aside| is_there(aside));
        if self.aside.is_some() && aside.is_none() {
            // It was not moved aside yet, or is back already: what is in the place is the original.
            return Ok(());
        }
        if let Some(new) = self.new.as_deref().filter(|new| !is_there(new) && self.has_come()) {
            if let Some(parent) = new.parent() {
                atomic::make_folder(parent)?;
            }
            rename(&self.place, new)?;
        }
        let Some(aside) = aside else {
            return Ok(());
        };
        if is_there(&self.place) {
            // A program found no home and made a new one.
            rename(&self.place, &names.in_the_way(now))?;
        }
        rename(aside, &self.place)
    }

    /// Whether what is in the place is for certain what was to come there.
    fn has_come(&self) -> bool {
        self.inode.is_some() && inode(&self.place) == self.inode
    }
}

/// Held while a home is replaced: nobody else swaps folders beside it, and no backup is made of what is there.
pub(crate) struct Alone<'a> {
    names: &'a Names,
    _held: Held,
}

impl<'a> Alone<'a> {
    /// The folder around the home is held: it stays where it is when the home is moved.
    pub(crate) fn below(names: &'a Names) -> Result<Alone<'a>> {
        let held = held::hold(names.parent(), Way::Alone)?;
        let held = held.ok_or_else(|| Error::Busy {
            holder: format!("a backup or a restore of a home in {}", names.parent().display()),
        })?;
        Ok(Alone { names, _held: held })
    }
}

/// Takes the lock of the daemon, if the home has a place for it: none starts while folders are swapped.
fn keep_daemon_out(home: &Home) -> Result<Option<lock::Held>> {
    let path = home.daemon_lock();
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    if let Some(mut held) = lock::try_hold(&path)? {
        held.sign(&format!("a restore, process {}", std::process::id()))
            .map_err(|error| Error::file("write to", &path, error))?;
        return Ok(Some(held));
    }
    // Somebody has it: this says who.
    holders::must_be_free(home, home.root())?;
    let holders = "the daemon of this home was just started".to_owned();
    Err(Error::InUse { home: home.root().to_owned(), holders })
}

/// Written whole under another name first, which the next restore takes away if this is cut off.
fn write_journal(names: &Names, journal: &Journal) -> Result<()> {
    let (path, unwritten) = (names.journal(), names.unwritten_journal());
    if is_there(&path) {
        return Err(Error::Busy { holder: path.display().to_string() });
    }
    let failed = |error| Error::file("write to", &path, error);
    let text = serde_json::to_vec_pretty(journal).map_err(|error| failed(error.into()))?;
    let _ = fs::remove_file(&unwritten);
    let mut options = File::options();
    let mut file =
        options.write(true).create_new(true).mode(0o600).open(&unwritten).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    rename(&unwritten, &path)
}

fn remove_journal(names: &Names) -> Result<()> {
    let path = names.journal();
    fs::remove_file(&path)
        .and_then(|()| atomic::sync_folder(names.parent()))
        .map_err(|error| Error::file("remove", &path, error))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    let failed = |error| Error::file("rename", from, error);
    fs::rename(from, to).map_err(failed)?;
    for folder in [from.parent(), to.parent()].into_iter().flatten() {
        atomic::sync_folder(folder).map_err(failed)?;
    }
    Ok(())
}

/// Whether a path lies beside a place, under its name with a mark behind it.
fn is_named(path: &Path, place: &Path, mark: &str) -> bool {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let has_mark =
        |own: String, of: String| own.strip_prefix(&of).is_some_and(|rest| rest.starts_with(mark));
    path.parent() == place.parent()
        && name(path).zip(name(place)).is_some_and(|(own, of)| has_mark(own, of))
}

/// Takes a file or folder away that need not be there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() => remove_folder(path),
        Ok(_) => fs::remove_file(path).map_err(|error| Error::file("remove", path, error)),
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(|error| Error::file("remove", path, error))
}

/// Whether a path is a folder or below it, without any way out of it.
fn is_within(path: &Path, folder: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_));
    path.strip_prefix(folder).is_ok_and(|rest| rest.components().all(is_plain))
}

fn inode(path: &Path) -> Option<u64> {
    path.symlink_metadata().ok().map(|found| found.ino())
}

pub(super) fn entries(folder: &Path) -> Result<BTreeSet<OsString>> {
    if !is_there(folder) {
        return Ok(BTreeSet::new());
    }
    let failed = |error| Error::file("read", folder, error);
    fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.file_name()).map_err(failed))
        .collect()
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
#[path = "swap_tests.rs"]
mod tests;
