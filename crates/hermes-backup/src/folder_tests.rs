//! Tests of the folder of backups: its lock, its list, its history, and whose the archives are.

use std::io::Write;

use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::at(&place.path().join("home-backups"));
    folder.make(&place.path().join("home")).unwrap();
    (place, folder)
}

fn put(folder: &Folder, name: &str) {
    atomic::write(&folder.path().join(name), b"x").unwrap();
}

fn event(second: i64, what: Happened, id: &str) -> Event {
    let at = Timestamp::from_second(second).unwrap();
    Event { at, what, id: Some(id.to_owned()), place: None, detail: format!("at {second}") }
}

const OLD: &str = "hermes-all-20261115T033000Z-00000001.tar.zst";
const NEW: &str = "hermes-all-20261116T033000Z-00000002.tar.zst";
const BAD: &str = "hermes-all-20261116T043000Z-00000003-DAMAGED.tar.zst";
const OLD_ID: &str = "20261115T033000Z-00000001";

#[test]
fn a_folder_inside_the_home_is_refused_even_through_a_link() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    for inside in ["home", "home/a/b", "home/../home/backups"] {
        let refused = Folder::at(&place.path().join(inside)).make(&home).unwrap_err();
        assert!(matches!(refused, Error::Setting { .. }), "{refused}");
    }
    std::os::unix::fs::symlink(&home, place.path().join("link")).unwrap();
    Folder::at(&place.path().join("link/backups")).make(&home).unwrap_err();
    Folder::at(&place.path().join("home-backups")).make(&home).unwrap();
}

#[test]
fn whoever_comes_second_learns_who_is_first() {
    let (_place, folder) = folder();
    let held = folder.lock("hermes 0.1.0, process 7").unwrap();
    let refused = folder.lock("another").unwrap_err();
    assert!(refused.to_string().contains("process 7"), "{refused}");
    assert!(matches!(refused, Error::Busy { .. }));
    drop(held);
    folder.lock("another").unwrap();
}

#[test]
fn what_a_killed_run_left_goes_and_everything_else_stays() {
    let (_place, folder) = folder();
    let kept = [OLD, &format!("{OLD}.json"), "notes.json", "photo.partial", "history.jsonl"];
    kept.iter().for_each(|name| put(&folder, name));
    let left = [&format!("{NEW}.partial"), &format!(".{BAD}.partial"), &format!("{NEW}.json")];
    left.iter().for_each(|name| put(&folder, name));
    fs::create_dir_all(folder.path().join(".staging-x/deep")).unwrap();
    put(&folder, ".staging-x/deep/state.db");
    let held = folder.lock("me").unwrap();
    assert_eq!(folder.sweep(&held).unwrap().len(), 4);
    let mut names = folder.names().unwrap();
    names.retain(|name| name != LOCK);
    let mut kept = kept.map(str::to_owned);
    kept.sort();
    assert_eq!(names, kept);
}

#[test]
fn backups_are_found_by_id_beginning_name_and_latest() {
    let (_place, folder) = folder();
    assert!(folder.find("latest").is_err());
    [OLD, NEW, BAD].iter().for_each(|name| put(&folder, name));
    put(&folder, "hermes-all.tar.gz");
    let names: Vec<String> =
        folder.list().unwrap().iter().map(|backup| backup.name.to_string()).collect();
    assert_eq!(names, [BAD, NEW, OLD]);
    let found = |id: &str| folder.find(id).map(|backup| backup.name.to_string()).ok();
    assert_eq!(found("latest").as_deref(), Some(NEW));
    assert_eq!(found(OLD_ID).as_deref(), Some(OLD));
    assert_eq!(found("20261115").as_deref(), Some(OLD));
    assert_eq!(found(BAD).as_deref(), Some(BAD));
    assert_eq!(found("20261116"), None);
    assert_eq!(found(""), None);
    let several = folder.find("20261116").unwrap_err().to_string();
    assert!(several.contains("20261116T033000Z-00000002"), "{several}");
}

#[test]
fn the_history_tells_of_checks_and_copies() {
    let (_place, folder) = folder();
    put(&folder, OLD);
    let one = || folder.find(OLD_ID).unwrap();
    folder.note(&event(10, Happened::Created, OLD_ID)).unwrap();
    folder.note(&event(20, Happened::VerifyFailed, OLD_ID)).unwrap();
    assert_eq!(one().verified, Some(Timestamp::from_second(10).unwrap()));
    assert_eq!(one().failed.as_deref(), Some("at 20"));
    folder.note(&event(30, Happened::HashVerified, OLD_ID)).unwrap();
    assert!(one().failed.is_some(), "a weaker check takes nothing back");
    folder.note(&event(40, Happened::Verified, OLD_ID)).unwrap();
    assert_eq!((one().failed, one().verified), (None, Timestamp::from_second(40).ok()));
    let at = |what| Event { place: Some("nas".into()), ..event(50, what, OLD_ID) };
    folder.note(&at(Happened::Pushed)).unwrap();
    folder.note(&at(Happened::Pushed)).unwrap();
    assert_eq!(one().copies, ["nas"]);
    folder.note(&at(Happened::PrunedAt)).unwrap();
    assert!(one().copies.is_empty());
}

#[test]
fn a_line_cut_short_is_passed_over_and_the_next_one_is_whole() {
    let (_place, folder) = folder();
    folder.note(&event(10, Happened::Created, "a")).unwrap();
    let mut file =
        fs::OpenOptions::new().append(true).open(folder.path().join("history.jsonl")).unwrap();
    file.write_all(b"{\"at\":\"2026-").unwrap();
    folder.note(&event(20, Happened::Created, "b")).unwrap();
    let ids: Vec<_> = folder.history().unwrap().into_iter().filter_map(|line| line.id).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn deleting_takes_the_sidecar_along() {
    let (_place, folder) = folder();
    put(&folder, OLD);
    put(&folder, &format!("{OLD}.json"));
    put(&folder, NEW);
    folder.delete(&folder.find(OLD_ID).unwrap()).unwrap();
    assert_eq!(folder.names().unwrap(), [NEW]);
}

/// A sidecar beside an archive that is there.
fn put_with_sidecar(folder: &Folder, name: &str, made: &str, home: Option<&str>) {
    use crate::name::{Compression, Format};
    put(folder, name);
    let parsed: ArchiveName = name.parse().unwrap();
    let sidecar = Sidecar {
        format: 1,
        id: parsed.id(),
        archive: name.to_owned(),
        sha256: String::new(),
        size: 1,
        made: made.parse().unwrap(),
        home: home.map(str::to_owned),
        made_by: "hermes 0.1.0".to_owned(),
        compression: Compression::Zstd,
        encryption: Format::Plain,
        encrypted_to: Vec::new(),
        files: 1,
        databases: 0,
        bytes: 1,
        links_left_out: 0,
        damaged: parsed.damaged,
        verified: Some(parsed.made),
        previous: None,
        signed: None,
        open_with: String::new(),
    };
    let text = serde_json::to_vec(&sidecar).unwrap();
    atomic::write(&folder.path().join(format!("{name}.json")), &text).unwrap();
}

#[test]
fn among_those_of_one_second_the_nanoseconds_decide() {
    let (_place, folder) = folder();
    let [first, second] =
        ["ffffffff", "00000001"].map(|tag| format!("hermes-all-20261116T033000Z-{tag}.tar.zst"));
    put_with_sidecar(&folder, &first, "2026-11-16T03:30:00.1Z", None);
    put_with_sidecar(&folder, &second, "2026-11-16T03:30:00.2Z", None);
    assert_eq!(folder.find("latest").unwrap().name.to_string(), second);
    // What is beside it does not make an archive newer than its name says.
    put_with_sidecar(&folder, &first, "2027-11-16T03:30:00Z", None);
    assert_eq!(folder.find("latest").unwrap().name.to_string(), second);
}

#[test]
fn a_label_names_a_backup_and_is_known_from_the_history_alone() {
    let (_place, folder) = folder();
    [OLD, NEW].iter().for_each(|name| put(&folder, name));
    let labelled =
        |id: &str| Event { detail: "before the move".into(), ..event(10, Happened::Created, id) };
    folder.note(&labelled(OLD_ID)).unwrap();
    let found = folder.find("before the move").unwrap();
    assert_eq!(
        (found.name.to_string(), found.label.as_deref()),
        (OLD.to_owned(), Some("before the move"))
    );
    assert!(folder.find("before").is_err(), "a label is given whole");
    folder.note(&labelled("20261116T033000Z-00000002")).unwrap();
    let several = folder.find("before the move").unwrap_err().to_string();
    assert!(several.contains(OLD_ID), "{several}");
}

#[test]
fn archives_of_other_homes_are_told_apart_and_never_latest() {
    let (_place, plain) = folder();
    let ours = plain.clone().of_home(Some("a".to_owned()));
    let theirs = plain.clone().of_home(Some("b".to_owned()));
    put_with_sidecar(&ours, OLD, "2026-11-15T03:30:00Z", Some("a"));
    put_with_sidecar(&ours, NEW, "2026-11-16T03:30:00Z", Some("b"));
    ours.note(&event(10, Happened::Created, OLD_ID)).unwrap();
    theirs.note(&event(20, Happened::CreateFailed, "")).unwrap();
    let whose = |folder: &Folder| -> Vec<Whose> {
        folder.list().unwrap().iter().map(|one| one.whose).collect()
    };
    assert_eq!(whose(&ours), [Whose::Other, Whose::Ours]);
    assert_eq!(whose(&theirs), [Whose::Ours, Whose::Other]);
    assert_eq!(ours.find("latest").unwrap().name.to_string(), OLD);
    assert_eq!(theirs.find("latest").unwrap().name.to_string(), NEW);
    assert!(!ours.find(NEW).unwrap().counts_in(&ours), "it can be named, and counts for nothing");
    // What happened to another home is none of this one's history.
    assert_eq!(ours.history().unwrap().len(), 1);
    assert_eq!(theirs.history().unwrap().len(), 1);
    // Who has none here may take what is there only if it is of one home.
    let third = plain.clone().of_home(Some("c".to_owned()));
    let refused = third.find("latest").unwrap_err().to_string();
    assert!(refused.contains("several other homes"), "{refused}");
    plain.delete(&plain.find(OLD_ID).unwrap()).unwrap();
    assert_eq!(third.find("latest").unwrap().name.to_string(), NEW);
}

#[test]
fn one_that_says_nothing_is_ours_if_the_history_says_so() {
    let (_place, folder) = folder();
    let ours = folder.of_home(Some("a".to_owned()));
    put_with_sidecar(&ours, OLD, "2026-11-15T03:30:00Z", None);
    put(&ours, NEW);
    ours.note(&event(10, Happened::Created, OLD_ID)).unwrap();
    let whose: Vec<Whose> = ours.list().unwrap().iter().map(|one| one.whose).collect();
    assert_eq!(whose, [Whose::Unknown, Whose::Ours]);
    assert!(!ours.list().unwrap()[0].counts_in(&ours));
}
