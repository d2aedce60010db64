//! Sending backups away, bringing them back, and what is where.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hermes_home::atomic;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::folder::{Backup, Event, Folder, Happened, of_several, sidecar_path};
use crate::manifest::Sidecar;
use crate::name::{ArchiveName, PARTIAL};
use crate::remote::{Remote, ours};
use crate::retention::{self, Candidate, Decision, Policy};
use crate::whose::{LeftAlone, Owner, Whose, are_of_several};
use crate::{Error, Result, Tell, hash};

/// What a push did.
#[derive(Debug, Default)]
pub struct Pushed {
    /// Ids that were sent.
    pub sent: Vec<String>,
    /// Ids that were there already.
    pub there: Vec<String>,
    /// Ids that could not be sent because of what is here, such as one whose sidecar is gone.
    pub skipped: Vec<String>,
    /// Ids that were deleted there, by the rules of the place.
    pub pruned: Vec<String>,
    /// What the user should know of the place, and why something was skipped.
    pub warnings: Vec<String>,
}

/// An archive at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its name, taken apart.
    pub name: ArchiveName,
    /// Its size.
    pub size: u64,
    /// Whether its sidecar is there too, which is sent last: without it, it was cut short.
    pub whole: bool,
}

/// What the rules of a place would do there.
#[derive(Debug)]
pub struct Plan {
    /// What becomes of each archive of this home.
    pub decisions: Vec<Decision>,
    /// How many others are there, which no rule of this home is about.
    pub left: LeftAlone,
}

/// The archives at a place, newest first.
pub fn placed(remote: &dyn Remote) -> Result<Vec<Placed>> {
    let mut archives = BTreeMap::new();
    let mut sidecars = Vec::new();
    for file in remote.list()? {
        match ours(&file.name) {
            Some((name, true)) => sidecars.push(name.to_string()),
            Some((name, false)) => {
                archives.insert(file.name, (name, file.size));
            }
            None => {}
        }
    }
    let placed = |(file, (name, size))| Placed { whole: sidecars.contains(&file), name, size };
    let mut found: Vec<Placed> = archives.into_iter().map(placed).collect();
    found.sort_by_key(|one| std::cmp::Reverse((one.name.made, one.name.tag)));
    Ok(found)
}

/// Sends the archives that are not there yet, each followed by its sidecar; damaged ones are sent too. One that lies
/// there under the same name and is something else is sent again, which is said.
///
/// Stops at the first that the place does not take.
pub fn push(
    folder: &Folder,
    backups: &[Backup],
    remote: &dyn Remote,
    now: Timestamp,
    tell: Tell<'_>,
) -> Result<Pushed> {
    let place = remote.place();
    let noting = Noting { folder, place: &place, now };
    let mut pushed = Pushed::default();
    let there = placed(remote).inspect_err(|error| {
        // The failure itself is what the caller has to hear of.
        let _ = noting.note(Happened::PushFailed, None, error.to_string());
    })?;
    pushed.warnings = remote.warnings().unwrap_or_else(|error| vec![error.to_string()]);
    let mut comparing = Comparing { remote, left: MOST_READ };
    for backup in backups {
        let id = backup.name.id();
        match send(backup, &there, &mut comparing, tell) {
            Ok(Sent::Already) => {
                if !backup.copies.contains(&place) {
                    noting.note(Happened::Pushed, Some(&id), String::new())?;
                }
                pushed.there.push(id);
            }
            Ok(Sent::Now { instead_of_another }) => {
                if instead_of_another {
                    let what = "the remote had a different file of the same name";
                    pushed.warnings.push(format!("{id} was sent again: {what}"));
                }
                noting.note(Happened::Pushed, Some(&id), String::new())?;
                pushed.sent.push(id);
            }
            Err(error) => {
                noting.note(Happened::PushFailed, Some(&id), error.to_string())?;
                if !matches!(error, Error::Tampered { .. }) {
                    return Err(error);
                }
                pushed.warnings.push(format!("{id} was not sent: {error}"));
                pushed.skipped.push(id);
            }
        }
    }
    if pushed.sent.is_empty() {
        noting.note(Happened::Reached, None, String::new())?;
    }
    Ok(pushed)
}

/// Lists a place, writes something small to it and takes that away again; the name is one that no archive has.
///
/// A place that takes things and lets nothing be deleted is a good one; what that means is said.
pub fn try_place(remote: &dyn Remote, tag: u32) -> Result<Option<String>> {
    remote.list()?;
    let folder = tempfile::tempdir()
        .map_err(|source| Error::file("write to", Path::new("the temporary folder"), source))?;
    let file = folder.path().join("try");
    atomic::write_private(&file, b"{}\n")?;
    // A sidecar without its archive counts as nothing, should it be left behind.
    let name = format!("hermes-setup-20000101T000000Z-{tag:08x}.tar.zst.age.json");
    remote.put(&file, &name, &hash::of_file(&file)?, &mut |_| {})?;
    let left = remote.delete(&name).err();
    Ok(left.map(|error| format!(
        "{name} stays there, because files cannot be deleted there; retention rules cannot delete \
         there either: {error}")))
}

/// What the rules of a place would do there with the archives of this home; nothing is deleted.
///
/// An archive counts as verified if its sidecar is there: that is sent only after it was read back.
pub fn plan_prune(
    folder: &Folder,
    remote: &dyn Remote,
    policy: &Policy,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Plan> {
    let (owner, mut left) = (folder.owner()?, LeftAlone::default());
    let mut candidates = Vec::new();
    for one in placed(remote)? {
        let whose = match owner.has_made(&one.name.id()) {
            true => Whose::Ours,
            false => About::of(&one, &owner, remote)?.whose,
        };
        left.add(whose);
        if whose == Whose::Ours {
            candidates.push(Candidate {
                id: one.name.id(),
                what: one.name.what,
                made: one.name.made,
                verified: one.whole,
                damaged: one.name.damaged,
            });
        }
    }
    let decisions = match candidates.is_empty() {
        true => Vec::new(),
        false => retention::choose(&candidates, policy, now, zone)?,
    };
    Ok(Plan { decisions, left })
}

/// What the sidecar of an archive at a place says.
struct About {
    whose: Whose,
    home: Option<String>,
    made: Timestamp,
}

impl About {
    /// Fetches the sidecar; one that is none says nothing.
    fn of(one: &Placed, owner: &Owner, remote: &dyn Remote) -> Result<About> {
        let sidecar = match one.whole.then(|| fetch_sidecar(remote, &one.name.to_string())) {
            None | Some(Err(Error::Tampered { .. })) => None,
            Some(fetched) => Some(fetched?.0),
        };
        let whose = owner.whose(&one.name.id(), sidecar.as_ref());
        let said = sidecar.as_ref().map(|sidecar| sidecar.made);
        let is_fitting = |said: &Timestamp| said.as_second() == one.name.made.as_second();
        let made = said.filter(is_fitting).unwrap_or(one.name.made);
        Ok(About { whose, home: sidecar.and_then(|sidecar| sidecar.home), made })
    }
}

/// Deletes what a plan lets go, at the place; gives back the ids.
pub fn prune(
    folder: &Folder,
    remote: &dyn Remote,
    plan: &Plan,
    now: Timestamp,
) -> Result<Vec<String>> {
    let place = remote.place();
    let noting = Noting { folder, place: &place, now };
    let mut deleted = Vec::new();
    for one in placed(remote)? {
        let id = one.name.id();
        let decisions: Vec<&Decision> =
            plan.decisions.iter().filter(|decision| decision.id == id).collect();
        let goes = |decision: &&Decision| decision.kept_by.is_empty();
        // Two of one second and tag are told apart by nothing that a plan has: then both stay.
        if decisions.is_empty() || !decisions.iter().all(goes) {
            continue;
        }
        let name = one.name.to_string();
        // The sidecar first: while it is there, the archive is whole.
        remote.delete(&format!("{name}.json"))?;
        remote.delete(&name)?;
        noting.note(Happened::PrunedAt, Some(&id), String::new())?;
        deleted.push(id);
    }
    Ok(deleted)
}

/// Fetches a backup (an id, a unique beginning, `latest`) into the folder; its hash must fit its sidecar.
///
/// Holds the lock of the folder. A fetch that was cut is gone on with.
pub fn pull(folder: &Folder, id: &str, remote: &dyn Remote, tell: Tell<'_>) -> Result<Backup> {
    atomic::make_folder(folder.path())?;
    let _held = folder.lock(&format!("pull from {}", remote.place()))?;
    let there = placed(remote)?;
    let one = match id {
        "latest" => latest(folder, &there, remote)?,
        id => choose(&there, id, &remote.place())?,
    };
    let name = one.name.to_string();
    if let Ok(here) = folder.find(&one.name.id())
        && is_whole(&here)?
    {
        return Ok(here);
    }
    let (sidecar, text) = fetch_sidecar(remote, &name)?;
    if sidecar.size != one.size {
        let why = format!("it has {} bytes; {} were expected", one.size, sidecar.size);
        return Err(Error::Tampered { what: format!("{name} at {}", remote.place()), why });
    }
    let partial = folder.path().join(format!("{name}{PARTIAL}"));
    fetch_archive(remote, &name, &partial, &sidecar, tell)?;
    let path = folder.path().join(&name);
    atomic::write_private(&sidecar_path(&path), text.as_bytes())?;
    fs::rename(&partial, &path).map_err(|source| Error::file("rename", &partial, source))?;
    atomic::sync_folder(folder.path())
        .map_err(|source| Error::file("write to", folder.path(), source))?;
    folder.find(&name)
}

enum Sent {
    Now { instead_of_another: bool },
    Already,
}

/// A place and how much of what lies there may still be read to compare it.
struct Comparing<'a> {
    remote: &'a dyn Remote,
    left: u64,
}

/// So much is read at a place in one push; the newest come first, of the others sizes and sidecars are compared.
const MOST_READ: u64 = 8 << 30;

fn send(
    backup: &Backup,
    there: &[Placed],
    comparing: &mut Comparing<'_>,
    tell: Tell<'_>,
) -> Result<Sent> {
    let name = backup.name.to_string();
    let bad = |why: &str| Error::Tampered { what: name.clone(), why: why.to_owned() };
    let sidecar =
        backup.sidecar.as_ref().ok_or_else(|| bad("the .json file beside it is missing"))?;
    if sidecar.size != backup.size {
        return Err(bad("its size differs from the size in its .json file"));
    }
    // One without its sidecar was cut short, and is no other.
    let found = there.iter().find(|one| one.name == backup.name && one.whole);
    if let Some(found) = found
        && found.size == backup.size
        && comparing.is_same(backup, sidecar)?
    {
        return Ok(Sent::Already);
    }
    let remote = comparing.remote;
    remote.put(&backup.path, &name, &sidecar.sha256, tell)?;
    let beside = sidecar_path(&backup.path);
    remote.put(&beside, &format!("{name}.json"), &hash::of_file(&beside)?, tell)?;
    Ok(Sent::Now { instead_of_another: found.is_some() })
}

impl Comparing<'_> {
    /// Whether the archive at the place is the one that is here: by its sidecar, which is sent only after the archive
    /// was read back, and by its content where the place can tell.
    fn is_same(&mut self, backup: &Backup, sidecar: &Sidecar) -> Result<bool> {
        match fetch_sidecar(self.remote, &sidecar.archive) {
            Ok((there, _)) if there.sha256 != sidecar.sha256 => return Ok(false),
            Err(Error::Tampered { .. }) => return Ok(false),
            // One that was sent before this home had a key gets its signature.
            Ok((there, _)) if there.signed != sidecar.signed => {
                let beside = sidecar_path(&backup.path);
                let name = format!("{}.json", sidecar.archive);
                self.remote.put(&beside, &name, &hash::of_file(&beside)?, &mut |_| {})?;
            }
            fetched => fetched.map(drop)?,
        }
        if self.left < backup.size {
            return Ok(true);
        }
        let sha256 = self.remote.sha256_there(&sidecar.archive)?;
        self.left -= sha256.as_ref().map_or(0, |_| backup.size);
        Ok(sha256.is_none_or(|sha256| sha256 == sidecar.sha256))
    }
}

/// The sidecar of an archive at a place, read and as it is written there.
fn fetch_sidecar(remote: &dyn Remote, archive: &str) -> Result<(Sidecar, String)> {
    let folder = tempfile::tempdir()
        .map_err(|source| Error::file("write to", Path::new("the temporary folder"), source))?;
    let file = folder.path().join("sidecar");
    remote.get(&format!("{archive}.json"), &file, &mut |_| {})?;
    let text = fs::read(&file).map_err(|source| Error::file("read", &file, source))?;
    let bad = |why: &str| Error::Tampered {
        what: format!("{archive}.json at {}", remote.place()),
        why: why.to_owned(),
    };
    let text = String::from_utf8(text).map_err(|_| bad("it is not text"))?;
    let sidecar: Sidecar =
        serde_json::from_str(&text).map_err(|_| bad("it is not the .json file of a backup"))?;
    if sidecar.archive != archive {
        return Err(bad("it belongs to another archive"));
    }
    Ok((sidecar, text))
}

/// Fetches an archive and compares its hash. If it went on with an earlier try and does not fit, it is fetched once
/// more from the start.
fn fetch_archive(
    remote: &dyn Remote,
    name: &str,
    partial: &Path,
    sidecar: &Sidecar,
    tell: Tell<'_>,
) -> Result<()> {
    let mut fresh = fs::metadata(partial).map_or(0, |found| found.len()) == 0;
    loop {
        let fetched = remote.get(name, partial, tell);
        if fetched.is_ok() && hash::of_file(partial)? == sidecar.sha256 {
            return Ok(());
        }
        match fetched {
            // What an earlier try had left may be what does not fit.
            Ok(()) => {}
            Err(Error::Remote { again: false, .. }) if !fresh => {}
            // Cut: what came is kept for the next try.
            Err(error) => return Err(error),
        }
        fs::remove_file(partial).map_err(|source| Error::file("remove", partial, source))?;
        if fresh {
            return Err(Error::Tampered {
                what: format!("{name} at {}", remote.place()),
                why: "its SHA-256 differs from the one in its .json file".to_owned(),
            });
        }
        fresh = true;
    }
}

/// The newest at a place that is of this home and without a damaged database; where none is of this home, the newest
/// of the only other one.
fn latest(folder: &Folder, there: &[Placed], remote: &dyn Remote) -> Result<Placed> {
    let place = remote.place();
    let whole: Vec<&Placed> = there.iter().filter(|one| one.whole).collect();
    let good: Vec<&Placed> = whole.iter().copied().filter(|one| !one.name.damaged).collect();
    let owner = folder.owner()?;
    let mut others: Vec<(&Placed, About)> = Vec::new();
    for of_one_second in
        if good.is_empty() { whole } else { good }.chunk_by(|a, b| a.name.made == b.name.made)
    {
        let mut found: Vec<(&Placed, About)> = Vec::new();
        for one in of_one_second {
            found.push((one, About::of(one, &owner, remote)?));
        }
        found.sort_by_key(|(one, about)| std::cmp::Reverse((about.made, one.name.tag)));
        if let Some((ours, _)) = found.iter().find(|(_, about)| about.whose == Whose::Ours) {
            return Ok((*ours).clone());
        }
        others.extend(found);
    }
    if are_of_several(others.iter().map(|(_, about)| about.home.as_deref())) {
        return Err(of_several("latest", &place));
    }
    match others.first() {
        Some((newest, _)) => Ok((*newest).clone()),
        None => choose(there, "latest", &place),
    }
}

/// The one that is meant among those at a place.
fn choose(placed: &[Placed], id: &str, place: &str) -> Result<Placed> {
    let not_found = |why: String| Error::NotFound { id: id.to_owned(), why };
    let whole: Vec<&Placed> = placed.iter().filter(|one| one.whole).collect();
    let is_meant = |one: &&&Placed| one.name.to_string() == id || one.name.id() == id;
    if let Some(exact) = whole.iter().find(is_meant) {
        return Ok((**exact).clone());
    }
    let fitting: Vec<&Placed> =
        whole.into_iter().filter(|one| one.name.id().starts_with(id)).collect();
    match fitting.as_slice() {
        [one] => Ok((*one).clone()),
        [] if placed.is_empty() => Err(not_found(format!("there is no backup at {place}"))),
        [] => Err(not_found(format!("no complete backup at {place} has that name"))),
        several => {
            let ids: Vec<String> = several.iter().map(|one| one.name.id()).collect();
            Err(not_found(format!("several backups match: {}", ids.join(", "))))
        }
    }
}

/// Whether an archive that is here is what its sidecar says.
fn is_whole(backup: &Backup) -> Result<bool> {
    match &backup.sidecar {
        Some(sidecar) if sidecar.size == backup.size => {
            Ok(hash::of_file(&backup.path)? == sidecar.sha256)
        }
        _ => Ok(false),
    }
}

/// What happens at one place.
struct Noting<'a> {
    folder: &'a Folder,
    place: &'a str,
    now: Timestamp,
}

impl Noting<'_> {
    fn note(&self, what: Happened, id: Option<&str>, detail: String) -> Result<()> {
        let (id, place) = (id.map(str::to_owned), Some(self.place.to_owned()));
        self.folder.note(&Event { at: self.now, what, id, place, detail })
    }
}
