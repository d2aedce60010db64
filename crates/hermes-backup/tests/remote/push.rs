//! Sending backups away, bringing them back, and pruning there.

use std::fs;
use std::path::Path;

use hermes_backup::folder::{Folder, Happened};
use hermes_backup::push::{self, placed};
use hermes_backup::remote::{self, Remote, Stored};
use hermes_backup::retention::Policy;
use hermes_backup::{Error, Result, Tell};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::support::{Numbers, archive, archive_of, names, quiet, said};

const OLD: &str = "hermes-all-20261114T033000Z-00000001.tar.zst.age";
const NEW: &str = "hermes-all-20261115T033000Z-00000002.tar.zst.age";
const DAMAGED: &str = "hermes-all-20261116T033000Z-00000003-DAMAGED.tar.zst.age";

struct Site {
    _work: tempfile::TempDir,
    here: Folder,
    there: std::path::PathBuf,
    remote: Box<dyn Remote>,
}

fn site() -> Site {
    let work = tempfile::tempdir().unwrap();
    let here = Folder::at(&work.path().join("home-backups"));
    here.make(&work.path().join("home")).unwrap();
    let there = work.path().join("nas");
    fs::create_dir(&there).unwrap();
    let target = remote::parse(there.to_str().unwrap()).unwrap();
    let remote = remote::open(&target, None).unwrap();
    for (name, seed) in [(OLD, 1), (NEW, 2), (DAMAGED, 3)] {
        archive(here.path(), name, &Numbers::new(seed).bytes(50_000));
    }
    Site { _work: work, here, there, remote }
}

fn now() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn send_all(site: &Site) -> push::Pushed {
    let backups = site.here.list().unwrap();
    push::push(&site.here, &backups, site.remote.as_ref(), now(), &mut quiet()).unwrap()
}

fn happened(folder: &Folder) -> Vec<Happened> {
    folder.history().unwrap().into_iter().map(|event| event.what).collect()
}

#[test]
fn every_backup_is_sent_once_with_its_sidecar_and_noted() {
    let site = site();
    let pushed = send_all(&site);
    assert_eq!((pushed.sent.len(), pushed.there.len(), pushed.skipped.len()), (3, 0, 0));
    for name in [OLD, NEW, DAMAGED] {
        for file in [name.to_owned(), format!("{name}.json")] {
            let read = |folder: &Path| fs::read(folder.join(&file)).unwrap();
            assert_eq!(read(site.here.path()), read(&site.there));
        }
    }
    assert!(site.here.list().unwrap().iter().all(|one| one.copies == [site.remote.place()]));
    let pushed = send_all(&site);
    assert_eq!((pushed.sent.len(), pushed.there.len()), (0, 3));
    use Happened::{Pushed, Reached};
    assert_eq!(happened(&site.here), [Pushed, Pushed, Pushed, Reached]);
}

#[test]
fn one_that_is_there_is_known_without_the_history_and_told_from_another_of_its_name() {
    let site = site();
    send_all(&site);
    fs::remove_file(site.here.path().join("history.jsonl")).unwrap();
    archive(site.here.path(), NEW, &Numbers::new(9).bytes(50_000));
    let pushed = send_all(&site);
    assert_eq!((pushed.sent.len(), pushed.there.len()), (1, 2));
    let read = |folder: &Path| fs::read(folder.join(NEW)).unwrap();
    assert_eq!(read(site.here.path()), read(&site.there));
}

#[test]
fn what_lies_there_under_the_name_and_is_something_else_is_not_taken_for_it() {
    for tamper in [flip, shorten, old_as_new, other_sidecar] {
        let site = site();
        send_all(&site);
        tamper(&site.there);
        let pushed = send_all(&site);
        assert_eq!((pushed.sent.len(), pushed.there.len()), (1, 2));
        let is_told = |warning: &String| warning.contains("a different file");
        assert!(pushed.warnings.iter().any(is_told), "{:?}", pushed.warnings);
        for file in [NEW.to_owned(), format!("{NEW}.json")] {
            let read = |folder: &Path| fs::read(folder.join(&file)).unwrap();
            assert_eq!(read(site.here.path()), read(&site.there));
        }
        assert_eq!(send_all(&site).there.len(), 3);
    }
}

#[test]
fn one_without_its_sidecar_there_was_cut_and_is_sent_again() {
    let site = site();
    send_all(&site);
    fs::remove_file(site.there.join(format!("{NEW}.json"))).unwrap();
    let whole: Vec<bool> =
        placed(site.remote.as_ref()).unwrap().iter().map(|one| one.whole).collect();
    assert_eq!(whole, [true, false, true]);
    let pushed = send_all(&site);
    assert_eq!((pushed.sent.len(), pushed.there.len()), (1, 2));
}

#[test]
fn one_that_is_broken_here_does_not_stop_the_others() {
    let site = site();
    fs::remove_file(site.here.path().join(format!("{DAMAGED}.json"))).unwrap();
    archive(site.here.path(), NEW, &Numbers::new(2).bytes(50_000));
    let mut rotten = fs::read(site.here.path().join(NEW)).unwrap();
    rotten[100] ^= 1;
    hermes_home::atomic::write(&site.here.path().join(NEW), &rotten).unwrap();
    let pushed = send_all(&site);
    assert_eq!((pushed.sent.len(), pushed.skipped.len()), (1, 2));
    assert!(
        pushed.warnings.iter().any(|text| text.contains(".json file beside it is missing")),
        "{pushed:?}"
    );
    assert_eq!(names(&site.there), [OLD.to_owned(), format!("{OLD}.json")]);
    use Happened::{PushFailed, Pushed};
    assert_eq!(happened(&site.here), [PushFailed, PushFailed, Pushed]);
}

#[test]
fn a_place_that_fails_is_told_and_noted() {
    let site = site();
    fs::remove_dir(&site.there).unwrap();
    let backups = site.here.list().unwrap();
    let told = said(push::push(&site.here, &backups, site.remote.as_ref(), now(), &mut quiet()));
    assert!(told.contains("no such folder"), "{told}");
    assert_eq!(happened(&site.here), [Happened::PushFailed]);
}

#[test]
fn a_backup_comes_back_whole_on_another_host() {
    let site = site();
    send_all(&site);
    let other = tempfile::tempdir().unwrap();
    let fresh = Folder::at(&other.path().join("home-backups"));
    let pull = |id: &str| push::pull(&fresh, id, site.remote.as_ref(), &mut quiet());
    let backup = pull("latest").unwrap();
    assert_eq!(backup.name.to_string(), NEW, "the newest that is not damaged");
    assert_eq!(names(fresh.path())[..3], ["backup.lock", NEW, &format!("{NEW}.json")]);
    let read = |folder: &Path| fs::read(folder.join(NEW)).unwrap();
    assert_eq!(read(fresh.path()), read(site.here.path()));
    assert!(backup.sidecar.is_some());
    // It is here: nothing is fetched.
    fs::remove_file(site.there.join(NEW)).unwrap();
    fs::copy(site.there.join(OLD), site.there.join(NEW)).unwrap();
    assert_eq!(pull(&backup.name.id()).unwrap().path, backup.path);
    assert_eq!(pull("20261114").unwrap().name.to_string(), OLD);
    for (id, why) in [("2026111", "several backups match"), ("2025", "no complete backup")] {
        let told = said(pull(id));
        assert!(told.contains(why), "{id}: {told}");
    }
}

#[test]
fn what_was_tampered_with_there_does_not_come_back() {
    for tamper in [flip as fn(&Path), shorten, old_as_new, other_sidecar] {
        let site = site();
        send_all(&site);
        tamper(&site.there);
        let other = tempfile::tempdir().unwrap();
        let fresh = Folder::at(&other.path().join("home-backups"));
        let error = push::pull(&fresh, "20261115", site.remote.as_ref(), &mut quiet()).unwrap_err();
        assert!(matches!(error, Error::Tampered { .. }), "{error}");
        assert_eq!(names(fresh.path()), ["backup.lock"]);
    }
}

fn flip(there: &Path) {
    let mut bytes = fs::read(there.join(NEW)).unwrap();
    bytes[40_000] ^= 1;
    hermes_home::atomic::write(&there.join(NEW), &bytes).unwrap();
}

fn shorten(there: &Path) {
    let bytes = fs::read(there.join(NEW)).unwrap();
    hermes_home::atomic::write(&there.join(NEW), &bytes[..49_999]).unwrap();
}

fn old_as_new(there: &Path) {
    fs::copy(there.join(OLD), there.join(NEW)).unwrap();
    fs::copy(there.join(format!("{OLD}.json")), there.join(format!("{NEW}.json"))).unwrap();
}

fn other_sidecar(there: &Path) {
    hermes_home::atomic::write(&there.join(format!("{NEW}.json")), b"{}").unwrap();
}

#[test]
fn what_an_earlier_fetch_left_is_gone_on_with_or_thrown_away() {
    let site = site();
    send_all(&site);
    let whole = fs::read(site.there.join(NEW)).unwrap();
    let mut other = whole.clone();
    other[3] ^= 1;
    for left in [
        &whole[..20_000],
        &other[..20_000],
        &other[..],
        &[whole.clone(), other.clone()].concat()[..],
    ] {
        let elsewhere = tempfile::tempdir().unwrap();
        let fresh = Folder::at(elsewhere.path());
        hermes_home::atomic::write(&elsewhere.path().join(format!("{NEW}.partial")), left).unwrap();
        let backup = push::pull(&fresh, "latest", site.remote.as_ref(), &mut quiet()).unwrap();
        assert_eq!(fs::read(&backup.path).unwrap(), whole);
        assert!(!names(elsewhere.path()).iter().any(|name| name.ends_with(".partial")));
    }
}

#[test]
fn the_rules_of_a_place_hold_there_and_nowhere_else() {
    let site = site();
    send_all(&site);
    let policy = Policy { last: 1, ..Policy::default() };
    let remote = site.remote.as_ref();
    let plan = push::plan_prune(&site.here, remote, &policy, now(), &TimeZone::UTC).unwrap();
    assert_eq!(names(&site.there).len(), 6, "a plan deletes nothing");
    let deleted = push::prune(&site.here, remote, &plan, now()).unwrap();
    assert_eq!(deleted, ["20261114T033000Z-00000001"]);
    assert_eq!(
        names(&site.there),
        [NEW.to_owned(), format!("{NEW}.json"), DAMAGED.to_owned(), format!("{DAMAGED}.json")]
    );
    let here = site.here.list().unwrap();
    assert_eq!(here.len(), 3);
    assert_eq!(here.iter().map(|one| one.copies.len()).collect::<Vec<_>>(), [1, 1, 0]);
    assert!(push::prune(&site.here, remote, &plan, now()).unwrap().is_empty());
}

/// Archives of another home, and one that says nothing, lie at the same place; all are newer than ours.
fn add_others(site: &Site) -> Vec<String> {
    let mut added = Vec::new();
    for (day, home) in [(17, Some("theirs")), (18, Some("theirs")), (19, Some("third")), (20, None)]
    {
        let name = format!("hermes-all-202611{day}T033000Z-{:08x}.tar.zst.age", day - 10);
        archive_of(&site.there, &name, &Numbers::new(day).bytes(1_000), home);
        added.extend([name.clone(), format!("{name}.json")]);
    }
    added
}

#[test]
fn what_other_homes_have_at_a_place_is_neither_counted_nor_deleted() {
    let site = site();
    let here = site.here.clone().of_home(Some("ours".to_owned()));
    let added = add_others(&site);
    // One of ours that the history knows nothing of, as after a restore on a new machine.
    let older = "hermes-all-20261101T033000Z-0000000f.tar.zst.age";
    archive_of(&site.there, older, b"x", Some("ours"));
    send_all(&site);
    let policy = Policy { last: 2, ..Policy::default() };
    let remote = site.remote.as_ref();
    let later = "2026-11-21T12:00:00Z".parse().unwrap();
    let plan = push::plan_prune(&here, remote, &policy, later, &TimeZone::UTC).unwrap();
    assert_eq!((plan.left.others, plan.left.unknown), (3, 1));
    let deleted = push::prune(&here, remote, &plan, later).unwrap();
    assert_eq!(deleted, ["20261101T033000Z-0000000f"], "two of ours that are newer stay");
    let left = names(&site.there);
    assert!(added.iter().all(|name| left.contains(name)), "{left:?}");
}

#[test]
fn the_latest_at_a_place_is_the_latest_of_this_home() {
    let site = site();
    archive_of(site.here.path(), NEW, &Numbers::new(2).bytes(50_000), Some("ours"));
    send_all(&site);
    add_others(&site);
    let fetch = |home: &str| {
        let elsewhere = tempfile::tempdir().unwrap();
        let fresh = Folder::at(&elsewhere.path().join("b")).of_home(Some(home.to_owned()));
        push::pull(&fresh, "latest", site.remote.as_ref(), &mut quiet()).map(|one| one.name.id())
    };
    assert_eq!(fetch("ours").unwrap(), "20261115T033000Z-00000002");
    assert_eq!(fetch("theirs").unwrap(), "20261118T033000Z-00000008");
    let told = said(fetch("nobody"));
    assert!(told.contains("several other homes") && told.contains("backup list"), "{told}");
}

#[test]
fn what_has_rotted_here_never_takes_the_place_of_what_is_whole_there() {
    for sidecar_is_there in [true, false] {
        let site = site();
        send_all(&site);
        let whole = fs::read(site.there.join(NEW)).unwrap();
        // Nothing says that it was sent.
        fs::remove_file(site.here.path().join("history.jsonl")).unwrap();
        let mut rotten = whole.clone();
        rotten[100] ^= 1;
        hermes_home::atomic::write(&site.here.path().join(NEW), &rotten).unwrap();
        match sidecar_is_there {
            true => other_sidecar(&site.there),
            false => fs::remove_file(site.there.join(format!("{NEW}.json"))).unwrap(),
        }
        let pushed = send_all(&site);
        assert_eq!(pushed.skipped, ["20261115T033000Z-00000002"]);
        assert!(fs::read(site.there.join(NEW)).unwrap() == whole);
    }
}

#[test]
fn a_place_is_tried_without_leaving_anything() {
    let site = site();
    assert_eq!(push::try_place(site.remote.as_ref(), 7).unwrap(), None);
    assert!(names(&site.there).is_empty());
    fs::remove_dir(&site.there).unwrap();
    let told = said(push::try_place(site.remote.as_ref(), 7));
    assert!(told.contains("mkdir -p"), "{told}");
}

/// A place that lists names which lead elsewhere.
struct Hostile;

impl Remote for Hostile {
    fn place(&self) -> String {
        "hostile".to_owned()
    }

    fn list(&self) -> Result<Vec<Stored>> {
        let names = [
            "hermes-../../../evil-20261116T033000Z-00000001.tar.zst",
            "hermes-a\nb-20261116T033000Z-00000001.tar.zst",
            "/etc/passwd",
        ];
        let with_sidecars =
            names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}.json")]);
        Ok(with_sidecars.map(|name| Stored { name, size: 1 }).collect())
    }

    fn put(&self, _: &Path, _: &str, _: &str, _: Tell<'_>) -> Result<()> {
        unreachable!()
    }

    fn get(&self, _: &str, _: &Path, _: Tell<'_>) -> Result<()> {
        unreachable!()
    }

    fn delete(&self, _: &str) -> Result<()> {
        unreachable!()
    }

    fn warnings(&self) -> Result<Vec<String>> {
        unreachable!()
    }
}

#[test]
fn names_that_lead_elsewhere_are_not_among_what_is_there() {
    assert!(placed(&Hostile).unwrap().is_empty());
    let here = tempfile::tempdir().unwrap();
    let told = said(push::pull(&Folder::at(here.path()), "latest", &Hostile, &mut quiet()));
    assert!(told.contains("there is no backup at hostile"), "{told}");
}
