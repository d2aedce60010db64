//! Archives that nobody should trust.

use std::io::{self, Read, Write};

use jiff::Timestamp;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tar::{EntryType, Header};

use super::{Limits, Member, read_opened, unsealed};
use crate::hash::hex;
use crate::manifest::{Database, FORMAT, File, Kind, MEMBER, Manifest};
use crate::{Error, Result};

const ROOMY: Limits = Limits { bytes: 1 << 30, members: 10_000 };

/// A tar that is written header by header, so that it can say what no program would.
struct Tar(Vec<u8>);

impl Tar {
    fn raw(&mut self, kind: EntryType, path: &[u8], mode: u32, content: &[u8]) -> &mut Tar {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.as_mut_bytes()[..path.len()].copy_from_slice(path);
        header.set_mode(mode);
        header.set_mtime(1_700_000_000);
        header.set_size(content.len() as u64);
        header.set_cksum();
        self.header(&header, content)
    }

    fn header(&mut self, header: &Header, content: &[u8]) -> &mut Tar {
        self.0.extend(header.as_bytes());
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(&mut self, path: &str, content: &[u8]) -> &mut Tar {
        self.raw(EntryType::Regular, path.as_bytes(), 0o600, content)
    }

    fn manifest(&mut self, files: Vec<File>) -> &mut Tar {
        let text = serde_json::to_vec(&manifest_of(files)).unwrap();
        self.file(MEMBER, &text)
    }

    fn end(&mut self) -> Vec<u8> {
        self.0.extend([0; 1024]);
        std::mem::take(&mut self.0)
    }
}

fn tar() -> Tar {
    Tar(Vec::new())
}

fn listed(path: &str, content: &[u8]) -> File {
    File {
        path: path.to_owned(),
        kind: Kind::File,
        size: content.len() as u64,
        mode: 0o600,
        modified: 1_700_000_000,
        sha256: hex(&Sha256::digest(content)),
        link: None,
    }
}

fn manifest_of(files: Vec<File>) -> Manifest {
    Manifest {
        format: FORMAT,
        made_by: "hermes 0.1.0".to_owned(),
        id: "20261116T033000Z-1a2b3c4d".to_owned(),
        what: "all".to_owned(),
        host: "host".to_owned(),
        label: None,
        started: Timestamp::UNIX_EPOCH,
        finished: Timestamp::UNIX_EPOCH,
        files,
        databases: Vec::new(),
        left_out: Vec::new(),
        previous: None,
        signed: None,
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// The list of an archive, and every member's path and content.
type Taken = (Manifest, Vec<(String, Vec<u8>)>);

/// What is read from a tar that is made smaller with zstd.
fn try_read(tar: &[u8]) -> Result<Taken> {
    try_sealed(&zstd::encode_all(tar, 1).unwrap(), ROOMY)
}

fn try_sealed(sealed: &[u8], limits: Limits) -> Result<Taken> {
    let mut taken = Vec::new();
    let manifest = read_opened(sealed, "an archive", limits, &mut |member| {
        let mut content = Vec::new();
        member.content.read_to_end(&mut content).unwrap_or_default();
        taken.push((member.path.clone(), content));
        Ok(())
    })?;
    Ok((manifest, taken))
}

fn refused(tar: &[u8]) -> String {
    match try_read(tar) {
        Err(error @ Error::Tampered { .. }) => error.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

/// Two members and the list of them.
fn good() -> Vec<u8> {
    tar()
        .file(".hermes/SOUL.md", b"I am")
        .file(".hermes/memories/MEMORY.md", b"known")
        .manifest(vec![listed("SOUL.md", b"I am"), listed("memories/MEMORY.md", b"known")])
        .end()
}

#[test]
fn every_member_is_handed_out_once_it_is_known_to_be_listed() {
    for sealed in [zstd::encode_all(&*good(), 1).unwrap(), gzip(&good())] {
        let (manifest, taken) = try_sealed(&sealed, ROOMY).unwrap();
        assert_eq!(manifest.files.len(), 2);
        assert_eq!(taken[0], ("SOUL.md".to_owned(), b"I am".to_vec()));
        assert_eq!(taken[1], ("memories/MEMORY.md".to_owned(), b"known".to_vec()));
    }
}

#[test]
fn a_path_too_long_for_a_header_is_read_from_the_one_before() {
    let long = format!("skills/{}/SKILL.md", "x".repeat(200));
    let mut name = format!(".hermes/{long}").into_bytes();
    name.push(0);
    let bytes = tar()
        .raw(EntryType::GNULongName, b"././@LongLink", 0o644, &name)
        .file(".hermes/skills/cut", b"a skill")
        .manifest(vec![listed(&long, b"a skill")])
        .end();
    assert_eq!(try_read(&bytes).unwrap().1[0].0, long);
    name.extend(vec![b'y'; 5000]);
    let bytes = tar().raw(EntryType::GNULongName, b"././@LongLink", 0o644, &name).end();
    assert!(refused(&bytes).contains("name of 5"), "{}", refused(&bytes));
}

#[test]
fn paths_that_lead_out_of_the_home_are_refused() {
    let paths: [&[u8]; 14] = [
        b"../evil",
        b".hermes/../../evil",
        b".hermes/a/../../../evil",
        b"/etc/passwd",
        b".hermes//etc/passwd",
        b"C:/evil",
        b"C:evil",
        b"\\\\host\\evil",
        b"evil",
        b".hermes-other/evil",
        b".hermes",
        b".hermes/./a",
        b".hermes/\xff\xfe",
        b".",
    ];
    for path in paths {
        refused(&tar().raw(EntryType::Regular, path, 0o600, b"x").manifest(Vec::new()).end());
    }
    let nul = tar()
        .raw(EntryType::GNULongName, b"././@LongLink", 0o644, b".hermes/a\0b\0")
        .file(".hermes/a", b"x")
        .end();
    assert!(refused(&nul).contains("NUL character"));
}

#[test]
fn attributes_cannot_give_a_member_another_path() {
    let attributes = |record: &str| {
        let length = record.len() + 4;
        format!("{length} {record}\n").into_bytes()
    };
    for record in ["path=../../evil1", "path=/etc/evil12", "GNU.sparse.major=1"] {
        let text = attributes(record);
        let bytes = tar()
            .raw(EntryType::XHeader, b"PaxHeaders/x", 0o644, &text)
            .file(".hermes/fine", b"x")
            .manifest(vec![listed("fine", b"x")])
            .end();
        refused(&bytes);
    }
    let all = tar()
        .raw(EntryType::XGlobalHeader, b"pax_global_header", 0o644, &attributes("path=.hermes/e"))
        .end();
    assert!(refused(&all).contains("for all members"));
}

#[test]
fn only_files_and_folders_are_read() {
    let kinds = [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::Continuous,
        EntryType::new(b'V'),
        EntryType::new(b'M'),
    ];
    for kind in kinds {
        let listed = File { sha256: hex(&Sha256::digest(b"")), ..listed("thing", b"") };
        let bytes = tar().raw(kind, b".hermes/thing", 0o600, b"").manifest(vec![listed]).end();
        refused(&bytes);
    }
}

#[test]
fn a_member_must_come_once_and_be_in_the_list() {
    let one = || listed("a", b"x");
    let twice =
        tar().file(".hermes/a", b"x").file(".hermes/a", b"x").manifest(vec![one(), one()]).end();
    assert!(refused(&twice).contains("is in it twice"));
    let extra = tar().file(".hermes/a", b"x").file(".hermes/b", b"x").manifest(vec![one()]).end();
    assert!(refused(&extra).contains("b is not in its list"));
    let missing = tar().file(".hermes/a", b"x").manifest(vec![one(), listed("b", b"x")]).end();
    assert!(refused(&missing).contains("b is missing"));
    let inside = tar().file(".hermes/a", b"x").file(".hermes/a/b", b"x").manifest(Vec::new()).end();
    assert!(refused(&inside).contains("inside a file"));
    let over = tar().file(".hermes/a/b", b"x").file(".hermes/a", b"x").manifest(Vec::new()).end();
    assert!(refused(&over).contains("is in it twice"));
}

#[test]
fn the_list_must_come_once_and_last() {
    let none = tar().file(".hermes/a", b"x").end();
    assert!(refused(&none).contains("missing"));
    let early = tar().manifest(vec![listed("a", b"x")]).file(".hermes/a", b"x").end();
    assert!(refused(&early).contains("comes after the list"));
    let two = tar().manifest(Vec::new()).manifest(Vec::new()).end();
    assert!(refused(&two).contains("twice"));
    assert!(refused(&tar().file(MEMBER, b"{}").end()).contains("cannot be read"));
    let newer = tar().file(MEMBER, b"{\"format\": 99}").end();
    assert!(matches!(try_read(&newer), Err(Error::NotArchive { .. })));
}

#[test]
fn what_differs_from_the_list_is_named() {
    let with = |file: File| refused(&tar().file(".hermes/a", b"x").manifest(vec![file]).end());
    let right = || listed("a", b"x");
    assert!(with(File { size: 2, ..right() }).contains("the size of a"));
    assert!(with(File { mode: 0o644, ..right() }).contains("the mode of a"));
    assert!(with(File { modified: 5, ..right() }).contains("the time of a"));
    assert!(with(File { sha256: "00".to_owned(), ..right() }).contains("the content of a"));
    assert!(with(File { kind: Kind::Folder, ..right() }).contains("the kind of a"));
    assert!(with(File { path: "b".to_owned(), ..right() }).contains("where its list has"));
    let set_uid = tar()
        .raw(EntryType::Regular, b".hermes/a", 0o4755, b"x")
        .manifest(vec![File { mode: 0o4755, ..right() }])
        .end();
    assert!(refused(&set_uid).contains("the mode of a"));
}

#[test]
fn a_list_cannot_speak_of_databases_that_are_not_there() {
    let mut manifest = manifest_of(vec![listed("a", b"x")]);
    manifest.databases.push(Database {
        path: "a".to_owned(),
        schema_version: None,
        pages: 1,
        page_size: 4096,
        integrity: "ok".to_owned(),
        checked: "full".to_owned(),
        indexes: Default::default(),
        rows: Default::default(),
        newest_message: None,
        differing: Vec::new(),
    });
    let text = serde_json::to_vec(&manifest).unwrap();
    let bytes = tar().file(".hermes/a", b"x").file(MEMBER, &text).end();
    assert!(refused(&bytes).contains("listed as a database"));
}

#[test]
fn nothing_may_follow_the_end() {
    let mut bytes = good();
    bytes.extend(tar().file(".hermes/late", b"x").end());
    assert!(refused(&bytes).contains("there is data after its end"));
    let mut sealed = zstd::encode_all(&*good(), 1).unwrap();
    sealed.extend(b"more");
    assert!(matches!(try_sealed(&sealed, ROOMY), Err(Error::Tampered { .. })));
    let mut sealed = gzip(&good());
    sealed.extend(b"more");
    assert!(matches!(try_sealed(&sealed, ROOMY), Err(Error::Tampered { .. })));
    let mut padded = good();
    padded.resize(padded.len().next_multiple_of(10240), 0);
    assert!(try_read(&padded).is_ok(), "programs fill the last record with empty blocks");
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused_before_it_does() {
    let files: Vec<File> = (0..30).map(|n| listed(&format!("{n:02}"), b"x")).collect();
    let mut many = tar();
    for file in &files {
        many.file(&format!(".hermes/{}", file.path), b"x");
    }
    let sealed = zstd::encode_all(&*many.manifest(files).end(), 1).unwrap();
    assert!(try_sealed(&sealed, ROOMY).is_ok());
    let few = Limits { bytes: 1 << 30, members: 20 };
    assert!(matches!(try_sealed(&sealed, few), Err(Error::Tampered { .. })));
    let mut header = Header::new_gnu();
    header.set_path(".hermes/bomb").unwrap();
    header.set_size(u64::MAX / 2);
    header.set_mode(0o600);
    header.set_cksum();
    assert!(refused(&tar().header(&header, b"").end()).contains("unpacks to more"));
    // A gigabyte of nothing behind the end is no end.
    let zeros = std::io::repeat(0).take(1 << 30);
    let bytes = zstd::encode_all(std::io::Cursor::new(good()).chain(zeros), 1).unwrap();
    assert!(matches!(try_sealed(&bytes, ROOMY), Err(Error::Tampered { .. })));
}

#[test]
fn a_stream_that_fails_at_its_very_end_is_not_trusted() {
    struct Forged<'a>(&'a [u8]);
    impl Read for Forged<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the seal does not fit")),
                count => Ok(count),
            }
        }
    }
    let sealed = zstd::encode_all(&*good(), 1).unwrap();
    let mut take = |_: &mut Member<'_>| Ok(());
    let error = read_opened(Forged(&sealed), "an archive", ROOMY, &mut take).unwrap_err();
    assert!(error.to_string().contains("changed or truncated"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn an_archive_that_is_cut_short_is_refused(keep in 0.0..1.0f64, zipped: bool) {
        let whole = if zipped { gzip(&good()) } else { zstd::encode_all(&*good(), 1).unwrap() };
        let cut = (whole.len() as f64 * keep) as usize;
        prop_assert!(try_sealed(&whole[..cut], ROOMY).is_err());
    }

    #[test]
    fn a_changed_tar_is_refused_or_says_the_same(place: prop::sample::Index, bit in 0..8u8) {
        let mut bytes = good();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        if let Ok((_, taken)) = try_read(&bytes) {
            prop_assert_eq!(taken, try_read(&good()).unwrap().1);
        }
    }

    #[test]
    fn any_bytes_at_all_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(try_sealed(&bytes, ROOMY).is_err());
        prop_assert!(try_read(&bytes).is_err());
    }

    #[test]
    fn no_path_of_a_member_leads_elsewhere(path in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(safe) = unsealed::safe_path(&path) {
            prop_assert!(!safe.starts_with('/'));
            prop_assert!(safe == "." || safe.split('/').all(|name| !["", ".", ".."].contains(&name)));
        }
    }
}
