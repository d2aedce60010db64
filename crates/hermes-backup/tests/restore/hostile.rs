//! Tars that were made to do harm do none, whatever they are called.

use std::fs;
use std::path::Path;

use hermes_backup::restore::{self, From};
use hermes_backup::seal::Keys;
use hermes_backup::sign::{Signed, Trust};
use proptest::prelude::*;
use tar::{EntryType, Header};

use crate::sandbox::{Sandbox, is_full, now, tree};

/// One header as it pleases whoever wrote it.
fn add(tar: &mut Vec<u8>, (kind, path, link, mode): (u8, &str, &str, u32), content: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::new(kind));
    let (name, target) = (path.as_bytes(), link.as_bytes());
    header.as_mut_bytes()[..name.len().min(100)].copy_from_slice(&name[..name.len().min(100)]);
    header.as_mut_bytes()[157..157 + target.len()].copy_from_slice(target);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_size(content.len() as u64);
    header.set_cksum();
    tar.extend(header.as_bytes());
    tar.extend(content);
    tar.resize(tar.len().next_multiple_of(512), 0);
}

fn special_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let kind = path.symlink_metadata().unwrap().file_type();
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => special_files(&path),
                (_, is_file) => usize::from(!is_file),
            }
        })
        .sum()
}

fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(".."),
        Just("."),
        Just(""),
        Just("a"),
        Just("A"),
        Just("link"),
        Just(".hermes"),
        Just("SOUL.md"),
        Just("state.db"),
        Just("C:"),
        Just("..\\\\..\\\\evil"),
        Just("new\nline"),
        Just("hermes"),
    ];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"))
}

fn member() -> impl Strategy<Value = (u8, String, String, u32)> {
    let kind = prop::sample::select(b"0000055123467LKxgSVMN".to_vec());
    let link = prop_oneof![Just("/etc"), Just(".."), Just("../.."), Just("a"), Just("SOUL.md")];
    (
        kind,
        path(),
        link.prop_map(str::to_owned),
        prop_oneof![Just(0o644), Just(0o4755), Just(0o777)],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_full() { 10_000 } else { 128 }))]
    #[test]
    fn no_tar_writes_outside_of_the_folder_it_is_unpacked_into(
        members in prop::collection::vec(member(), 1..8), ended: bool,
    ) {
        let sandbox = Sandbox::empty();
        let outside = sandbox.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let mut bytes = Vec::new();
        add(&mut bytes, (b'0', ".hermes/config.yaml", "", 0o600), b"x");
        for (kind, path, link, mode) in &members {
            let content: &[u8] = if matches!(kind, b'0' | b'L' | b'x') { b"evil" } else { b"" };
            add(&mut bytes, (*kind, path, link, *mode), content);
        }
        if ended {
            bytes.extend([0; 1024]);
        }
        let archive = sandbox.path().join("evil.tar");
        hermes_home::atomic::write(&archive, &bytes).unwrap();
        let keys = Keys::default();
        let from = From { archive: &archive, sha256: None, keys: &keys, signed: Signed::No, trust: Trust::Anybody, now: now() };
        let folder = sandbox.path().join("folder");
        let done = restore::to_folder(&from, &folder, &mut |_| {});
        prop_assert!(ended || done.is_err(), "a tar without an end went in");
        let mut around: Vec<_> = fs::read_dir(sandbox.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "folder")
            .collect();
        around.sort();
        prop_assert_eq!(around, ["evil.tar", "outside"]);
        prop_assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        prop_assert_eq!(folder.exists(), done.is_ok(), "what was refused left something");
        if done.is_ok() {
            prop_assert_eq!(special_files(&folder), 0);
            prop_assert!(tree(&folder).values().all(|(mode, _)| mode & 0o7000 == 0));
        }
    }
}
