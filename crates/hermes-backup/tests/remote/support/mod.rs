//! Archives to send, and a service that answers as it is told.

pub(crate) mod answers;
pub(crate) mod bucket;

use std::fs;
use std::path::{Path, PathBuf};

use hermes_backup::manifest::Sidecar;
use hermes_backup::name::ArchiveName;
use hermes_backup::{Progress, Result};
use sha2::{Digest, Sha256};

/// The name of the archive that most tests send.
pub(crate) const NAME: &str = "hermes-all-20261116T033000Z-0000002a.tar.zst.age";

/// Numbers that are the same in each run.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend(self.next().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

/// A file with its content and hash.
pub(crate) struct Sample {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha256: String,
}

/// A file of random bytes.
pub(crate) fn sample(folder: &Path, size: usize, seed: u64) -> Sample {
    let bytes = Numbers::new(seed).bytes(size);
    let path = folder.join(format!("sample {seed}"));
    hermes_home::atomic::write(&path, &bytes).unwrap();
    Sample { path, sha256: sha256(&bytes), bytes }
}

/// An archive in a folder of backups, with its sidecar.
pub(crate) fn archive(folder: &Path, name: &str, bytes: &[u8]) {
    archive_of(folder, name, bytes, None);
}

/// The same for one that says of which home it is.
pub(crate) fn archive_of(folder: &Path, name: &str, bytes: &[u8], home: Option<&str>) {
    let parsed: ArchiveName = name.parse().unwrap();
    let sidecar = Sidecar {
        format: 1,
        id: parsed.id(),
        archive: name.to_owned(),
        sha256: sha256(bytes),
        size: bytes.len() as u64,
        made: parsed.made,
        home: home.map(str::to_owned),
        made_by: "hermes 0.1.0".to_owned(),
        compression: parsed.compression,
        encryption: parsed.format,
        encrypted_to: vec!["age1x".to_owned()],
        files: 1,
        databases: 0,
        bytes: 1,
        damaged: parsed.damaged,
        verified: Some(parsed.made),
        links_left_out: 0,
        previous: None,
        signed: None,
        open_with: String::new(),
    };
    hermes_home::atomic::write_private(&folder.join(name), bytes).unwrap();
    let text = serde_json::to_vec(&sidecar).unwrap();
    hermes_home::atomic::write_private(&folder.join(format!("{name}.json")), &text).unwrap();
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nobody wants to know how far it is.
pub(crate) fn quiet() -> impl FnMut(Progress<'_>) {
    |_| {}
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What was said when something did not go well, with its hint.
pub(crate) fn said<T>(result: Result<T>) -> String {
    let error = result.err().unwrap();
    format!("{error} | {}", error.hint().unwrap_or_default())
}
