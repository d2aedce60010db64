//! Archives to send, and the programs that take them.

pub(crate) mod answers;
pub(crate) mod bucket;
pub(crate) mod proxy;
pub(crate) mod sshd;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use hermes_backup::manifest::Sidecar;
use hermes_backup::name::ArchiveName;
use hermes_backup::{Progress, Result};
use sha2::{Digest, Sha256};

/// The name of the archive that most tests send.
pub(crate) const NAME: &str = "hermes-all-20261116T033000Z-0000002a.tar.zst.age";

/// Whether the long-running counts are wanted.
pub(crate) fn full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

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

/// A program at the other end, which ends with this value, or with the test if that is killed.
pub(crate) struct Server {
    child: Child,
}

impl Server {
    /// Starts it and waits for a line on its standard error that `ready` finds something in.
    pub(crate) fn start<T: Send + 'static>(
        program: &[&str],
        ready: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> (Server, T) {
        let mut child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut all = String::new();
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                all.push_str(&line);
                if let Some(found) = ready(&line) {
                    tell.send(Ok(found)).unwrap();
                    // What else it writes has to go somewhere.
                    let _ = std::io::copy(&mut lines.by_ref(), &mut std::io::sink());
                    return;
                }
                line.clear();
            }
            let _ = tell.send(Err(all));
        });
        let server = Server { child };
        let found = told.recv_timeout(Duration::from_secs(120)).expect("it did not begin in time");
        (server, found.unwrap_or_else(|wrote| panic!("{program:?} wrote: {wrote}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
