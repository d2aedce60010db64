//! A profile is carried from one home to another.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_backup::contents::Scope;
use hermes_backup::create::Request;
use hermes_backup::export::{self, Exported};
use hermes_backup::folder::Folder;
use hermes_backup::name::Compression;
use hermes_backup::restore::{self, From, Import, Imported};
use hermes_backup::seal::{Keys, Passphrase, Sealing};
use hermes_backup::sign::{Signed, Trust};
use hermes_backup::{Error, Result};
use hermes_store::memory::{Change, Memory, Wanted};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::sandbox::{Sandbox, now, said_in};

fn exported(
    sandbox: &Sandbox,
    (profile, secrets): (&str, bool),
    sealing: &Sealing,
    file: Option<&Path>,
) -> Result<Exported> {
    let (home, folder) = (sandbox.home(), Folder::at(sandbox.path()));
    let request = Request {
        home: &home,
        scope: Scope::Profile(profile.to_owned()),
        folder: &folder,
        compression: Compression::Zstd,
        sealing,
        label: None,
        exclude: &[],
        outside: &[],
        follow_links: false,
        secrets,
        made_by: "hermes 0.1.0",
        host: "host",
        now: now(),
        tag: 5,
    };
    export::export(&request, file, &mut |_| {})
}

fn imported(
    sandbox: &Sandbox,
    archive: &Path,
    keys: &Keys,
    import: Import<'_>,
) -> Result<Imported> {
    let from =
        From { archive, sha256: None, keys, signed: Signed::No, trust: Trust::Anybody, now: now() };
    restore::profile(&from, import, &sandbox.home(), &mut |_| {})
}

fn named(name: &str) -> Import<'_> {
    Import { name: Some(name), ..Import::default() }
}

/// A home whose profile `coder` has secrets and a memory.
fn with_memory() -> Sandbox {
    let sandbox = Sandbox::filled();
    sandbox.write("profiles/coder/.env", "TOKEN=secret\n");
    for (path, profile) in [("profiles/coder/memory.db", "coder"), ("memory.db", "default")] {
        let path = sandbox.root().join(path);
        let change = Change { actor: "user", at: now() };
        Memory::create(Wanted { path: &path, profile }, "mira", change).unwrap();
    }
    sandbox
}

fn opens_as(folder: &Path, profile: &str) -> bool {
    let path = folder.join("memory.db");
    Memory::open(Wanted { path: &path, profile }, Access::Read, DEFAULT_WAIT).is_ok()
}

fn sealed() -> (Sealing, Keys) {
    let phrase = || Passphrase::new("correct horse".to_owned());
    (Sealing::AgePassphrase(phrase()), Keys::read(&[], Some(phrase())).unwrap())
}

#[test]
fn an_encrypted_export_has_everything_and_comes_in_under_another_name() {
    let (here, there) = (with_memory(), Sandbox::filled());
    let (sealing, keys) = sealed();
    let file = here.path().join("coder.age");
    let done = exported(&here, ("coder", true), &sealing, Some(&file)).unwrap();
    assert_eq!((&done.path, &done.secrets_left_out), (&file, &Vec::new()));
    assert_eq!(here.beside(), ["coder.age"], "a single file and nothing else");
    let refused = imported(&there, &file, &keys, Import::default()).unwrap_err();
    assert!(matches!(refused, Error::NotImported { .. }), "{refused}");
    assert!(refused.hint().unwrap().contains("--name"), "{refused}");
    assert!(imported(&there, &file, &Keys::default(), named("new")).is_err(), "no key, no profile");
    let tried = imported(&there, &file, &keys, Import { dry_run: true, ..named("new") }).unwrap();
    assert!(!tried.at.exists() && tried.files > 0);
    let done = imported(&there, &file, &keys, named("new")).unwrap();
    assert_eq!((done.was.as_str(), done.profile.as_str()), ("coder", "new"));
    assert_eq!(there.read("profiles/new/SOUL.md"), "I code.\n");
    assert_eq!(there.read("profiles/new/.env"), "TOKEN=secret\n");
    assert_eq!(said_in(&done.at.join("state.db")), ["borrow checker lifetimes"]);
    assert!(opens_as(&done.at, "new") && !opens_as(&done.at, "coder"));
    assert_eq!(there.read("profiles/coder/SOUL.md"), "I code.\n", "what was there stays");
    let staging = fs::read_dir(there.root().join("hermesd")).unwrap().flatten();
    let left: Vec<PathBuf> = staging.map(|entry| entry.path()).collect();
    assert!(!left.iter().any(|path| path.to_str().unwrap().contains("staging")), "{left:?}");
}

#[test]
fn without_secrets_the_export_says_which_it_leaves_out() {
    let here = with_memory();
    let done = exported(&here, ("coder", false), &Sealing::Plain, None).unwrap();
    assert_eq!(done.secrets_left_out, ["profiles/coder/.env"]);
    let name = done.path.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(here.beside(), [name.clone(), format!("{name}.json")]);
    assert!(!fs::read(&done.path).unwrap().is_empty());
    let taken = imported(&here, &done.path, &Keys::default(), named("copy")).unwrap();
    assert!(!taken.at.join(".env").exists());
    assert!(taken.remarks.iter().any(|said| said.contains(".env")), "{:?}", taken.remarks);
    assert!(opens_as(&taken.at, "copy"), "beside the one it was made from");
    assert!(opens_as(&here.root().join("profiles/coder"), "coder"));
}

#[test]
fn the_home_itself_becomes_a_profile_without_what_only_a_home_has() {
    let here = with_memory();
    here.write("active_profile", "coder\n");
    let done = exported(&here, ("default", true), &Sealing::Plain, None).unwrap();
    let refused = imported(&here, &done.path, &Keys::default(), Import::default()).unwrap_err();
    assert!(refused.hint().unwrap().contains("--name"), "{refused}");
    let taken = imported(&here, &done.path, &Keys::default(), named("main")).unwrap();
    assert!(opens_as(&taken.at, "main"));
    assert_eq!(here.read("profiles/main/SOUL.md"), "I am calm.\n");
    assert!(!taken.at.join("profiles").exists() && !taken.at.join("active_profile").exists());
}

#[test]
fn of_a_whole_home_one_profile_is_taken_if_it_is_named() {
    let here = with_memory();
    let archive = here.backup().backup.path;
    let keys = Keys::default();
    let refused = imported(&here, &archive, &keys, named("new")).unwrap_err();
    assert!(refused.to_string().contains("default, coder"), "{refused}");
    let hint = refused.hint().unwrap();
    assert!(hint.contains("backup restore") && hint.contains("--profile"), "{hint}");
    let one = |profile| Import { profile: Some(profile), ..named("new") };
    assert!(imported(&here, &archive, &keys, one("writer")).is_err());
    let taken = imported(&here, &archive, &keys, one("coder")).unwrap();
    assert!(opens_as(&taken.at, "new"));
    assert!(!here.root().join("profiles/new/profiles").exists());
}

#[test]
fn a_changed_export_leaves_nothing() {
    let here = with_memory();
    let done = exported(&here, ("coder", true), &Sealing::Plain, None).unwrap();
    let mut bytes = fs::read(&done.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    hermes_home::atomic::write(&done.path, &bytes).unwrap();
    imported(&here, &done.path, &Keys::default(), named("new")).unwrap_err();
    assert!(!here.root().join("profiles/new").exists());
}
