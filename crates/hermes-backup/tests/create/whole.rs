//! What a backup holds, what is written beside it, and who may read it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use hermes_backup::contents::Scope;
use hermes_backup::create::{Request, create, plan};
use hermes_backup::folder::Happened;
use hermes_backup::manifest::Kind;
use hermes_backup::seal::Sealing;
use sha2::{Digest, Sha256};

use crate::child;
use crate::support::{Place, check_database, put, run, tar, untar};

#[test]
fn manifest_and_sidecar_say_what_is_there() {
    let place = Place::new();
    let first = place.create(1).unwrap();
    assert!(first.manifest.previous.is_none());
    let second = place.create(2).unwrap();
    let sidecar = first.backup.sidecar.unwrap();
    let bytes = fs::read(&first.backup.path).unwrap();
    let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!((&sidecar.sha256, sidecar.size), (&hash, bytes.len() as u64));
    assert_eq!(second.manifest.previous.unwrap().sha256, hash);
    let files = first.manifest.files.iter().filter(|file| file.kind != Kind::Folder);
    assert_eq!((sidecar.files, sidecar.databases), (files.count() as u64, 3));
    assert!(sidecar.verified.is_some() && !sidecar.damaged);
    let state = first.manifest.databases.iter().find(|found| found.path == "state.db").unwrap();
    assert_eq!((state.rows["messages"], state.newest_message), (200, Some(200)));
    assert_eq!((state.integrity.as_str(), state.checked.as_str()), ("ok", "full"));
    assert_eq!(state.indexes["words"], "ok");
    let out: Vec<&str> = first.manifest.left_out.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(out, ["hermes-agent", "logs"]);
    let history = place.folder.history().unwrap();
    assert!(history.iter().all(|event| event.what == Happened::Created) && history.len() == 2);
}

#[test]
fn the_order_of_members_is_that_of_their_paths_and_the_list_is_last() {
    let place = Place::new();
    let created = place.create(1).unwrap();
    let listing = tar(&created.backup.path, &["--numeric-owner", "-tv"]);
    assert!(listing.lines().all(|line| line.contains(" 0/0 ")), "{listing}");
    let names: Vec<&str> =
        listing.lines().filter_map(|line| Some(line.rsplit_once(' ')?.1)).collect();
    let (last, members) = names.split_last().unwrap();
    assert_eq!(*last, ".hermes/hermesd/backup-manifest.json");
    let paths: Vec<String> =
        created.manifest.files.iter().map(|file| format!(".hermes/{}", file.path)).collect();
    let bare: Vec<&str> = members.iter().map(|name| name.trim_end_matches('/')).collect();
    assert_eq!(bare, paths);
    assert!(created.manifest.files.is_sorted_by_key(|file| &file.path));
}

#[test]
fn one_profile_is_packed_alone_below_the_same_folder() {
    let place = Place::new();
    let scope = Scope::Profile("coder".to_owned());
    let request = Request { scope, ..place.request(&Sealing::Plain, 1) };
    let created = create(&request, &mut |_| {}).unwrap();
    assert!(created.backup.name.to_string().starts_with("hermes-coder-"));
    let restored = untar(&created.backup.path);
    check_database(&restored.path().join(".hermes/profiles/coder/state.db"));
    assert!(!restored.path().join(".hermes/profiles/writer").exists());
    assert!(!restored.path().join(".hermes/state.db").exists());
}

#[test]
fn modes_times_and_long_names_are_kept() {
    let place = Place::new();
    let long = format!("workspace/{}/{}.md", "f".repeat(120), "ü ".repeat(60));
    put(&place.path(&long), b"deep");
    let script = place.path("skills/x/run.sh");
    put(&script, b"#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o4755)).unwrap();
    let restored = untar(&place.create(1).unwrap().backup.path);
    let home = restored.path().join(".hermes");
    assert_eq!(fs::read(home.join(&long)).unwrap(), b"deep");
    let mode = |path: &str| fs::metadata(home.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("skills/x/run.sh"), mode("SOUL.md")), (0o755, 0o600));
    let seconds = |path: &Path| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
    };
    assert_eq!(seconds(&home.join("SOUL.md")), seconds(&place.path("SOUL.md")));
}

#[test]
fn a_database_behind_a_link_is_copied_with_its_log() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let real = elsewhere.path().join("real.db");
    fs::rename(place.path("state.db"), &real).unwrap();
    symlink(&real, place.path("state.db")).unwrap();
    symlink(elsewhere.path(), place.path("shared")).unwrap();
    let created = place.create(1).unwrap();
    let listed = created.manifest.files.iter().find(|file| file.path == "state.db").unwrap();
    assert_eq!(listed.kind, Kind::Database);
    assert_eq!(listed.link.as_deref(), real.to_str());
    assert!(created.remarks[0].starts_with("shared: "), "{:?}", created.remarks);
    let restored = untar(&created.backup.path);
    check_database(&restored.path().join(".hermes/state.db"));
}

#[test]
fn a_plan_makes_nothing() {
    let place = Place::new();
    let planned = plan(&place.request(&Sealing::Plain, 1)).unwrap();
    assert!(planned.entries.iter().any(|entry| entry.path == "profiles/coder/state.db"));
    assert!(!place.folder.path().exists());
}

#[test]
fn everything_that_is_made_is_private_whatever_the_umask() {
    let place = Place::new();
    let command = child::command("makes_one_backup", place.home.root());
    run(Command::new("sh")
        .args(["-c", "umask 000; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(place.folder.path()), 0o700);
    let mut seen = 0;
    for entry in fs::read_dir(place.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 4, "archive, sidecar, history and lock");
}
