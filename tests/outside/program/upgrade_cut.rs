//! Upgrades that are killed at any system call, or find a full disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;

use crate::moments::is_full;
use crate::old_homes::{
    OldHome, WITH_FILES, connect, new_memory, newest, nothing_is_lost, number_of, schema_of, with,
};
use crate::sandbox::{Ran, Sandbox};

/// The system calls by which a file becomes another one.
const CALLS: &str =
    "pwrite64,write,fsync,fdatasync,ftruncate,rename,renameat2,link,linkat,unlink,unlinkat";

/// A command that only reads, and brings the memory up to date for that.
const LOOK: [&str; 3] = ["memory", "fact", "list"];

/// One database of the oldest home, which has the longest way to go.
struct Upgrade {
    file: &'static str,
    of: &'static str,
    /// What brings it up to date, and changes no row.
    command: [&'static str; 3],
    home: &'static OldHome,
    before: Sandbox,
    /// What its schema looked like, and what it must look like.
    schemas: [BTreeSet<String>; 2],
}

/// The upgrades that the oldest home needs.
fn upgrades() -> Vec<Upgrade> {
    let databases =
        [("memory.db", "memory", LOOK), ("state.db", "state", ["memory", "catch-up", "--quiet"])];
    let (home, new) = (&WITH_FILES[0], new_memory());
    let upgrade = |(file, of, command)| {
        let before = home.unpacked();
        let schemas = [&before, &new].map(|home| schema_of(&connect(&home.path(file))));
        Upgrade { file, of, command, home, before, schemas }
    };
    let all = databases.map(upgrade).into_iter();
    all.filter(|upgrade| {
        number_of(&connect(&upgrade.before.path(upgrade.file))) < newest(upgrade.of)
    })
    .collect()
}

impl Upgrade {
    /// Whatever happened: it is the old schema or the new one, no row is lost, and the next run ends well. Whether it is
    /// the new one.
    fn is_old_or_new_and_can_go_on(&self, sandbox: &Sandbox) -> bool {
        let (old, path) = (self.before.path(self.file), sandbox.path(self.file));
        // A copy is looked at: opening the file itself would fold in the log that was left.
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(self.file);
        for suffix in ["", "-wal", "-journal"] {
            drop(fs::copy(with(&path, suffix), with(&copy, suffix)));
        }
        let database = connect(&copy);
        let is_new = number_of(&database) == newest(self.of);
        assert!(
            is_new || number_of(&database) == number_of(&connect(&old)),
            "between two versions"
        );
        assert_eq!(schema_of(&database), self.schemas[usize::from(is_new)], "half a schema");
        drop(database);
        nothing_is_lost(&old, &copy);
        sandbox.ok(&self.command);
        assert_eq!(number_of(&connect(&path)), newest(self.of));
        assert_eq!(schema_of(&connect(&path)), self.schemas[1]);
        nothing_is_lost(&old, &path);
        is_new
    }

    /// The program below strace with these further options.
    fn traced(&self, sandbox: &Sandbox, options: &[&str]) -> Output {
        let mut all = vec!["-f", "-qq", "-e", "signal=none"];
        all.extend(options);
        all.push(env!("CARGO_BIN_EXE_hermes"));
        all.extend(self.command);
        sandbox.command_of(Path::new("/usr/bin/strace"), &all).output().unwrap()
    }

    /// How often a whole upgrade makes each of the calls.
    fn calls(&self) -> BTreeMap<String, usize> {
        let sandbox = self.home.unpacked();
        let log = sandbox.folder().join("calls");
        let trace = format!("trace={CALLS}");
        let output = self.traced(&sandbox, &["-o", log.to_str().unwrap(), "-e", &trace]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut counts = BTreeMap::new();
        for line in fs::read_to_string(log).unwrap().lines() {
            // `1234  pwrite64(5, …) = 8192`, or the end of a call that another thread came between.
            let name = line.split_whitespace().nth(1).and_then(|call| call.split('(').next());
            if let Some(name) = name.filter(|name| CALLS.split(',').any(|call| call == *name)) {
                *counts.entry(name.to_owned()).or_default() += 1;
            }
        }
        counts
    }
}

/// Of so many calls, those at which the program is killed.
fn chosen(count: usize) -> Vec<usize> {
    let wanted = if is_full() { count } else { count.min(12) };
    (0..wanted).map(|place| 1 + place * count / wanted).collect()
}

#[test]
fn an_upgrade_killed_at_any_system_call_was_made_or_was_not() {
    for upgrade in upgrades() {
        let mut ends = BTreeSet::new();
        for (call, count) in &upgrade.calls() {
            for place in chosen(*count) {
                let sandbox = upgrade.home.unpacked();
                let inject = format!("inject={call}:signal=KILL:when={place}");
                let trace = format!("trace={call}");
                let options = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
                let status = upgrade.traced(&sandbox, &options).status;
                // Another run may make fewer calls, and comes to its end then.
                assert!(status.success() || status.signal() == Some(9), "{call} {place}: {status}");
                ends.insert(upgrade.is_old_or_new_and_can_go_on(&sandbox));
            }
        }
        assert_eq!(ends.len(), 2, "{}: every kill fell on the same side", upgrade.file);
    }
}

/// Copies the home to a small disk, leaves it so many kilobytes, looks, and copies the home back.
const ON_SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=64m,mode=700 tmpfs "$1" || exit 90
    cp -a "$2/.hermes" "$1/" || exit 90
    free=$(df --output=avail -k "$1" | tail -n 1)
    head -c "$(((free - $3) * 1024))" /dev/zero >"$1/filler" || exit 90
    (disk=$1 && shift 3 && HOME=$disk exec "$@")
    code=$?
    rm -r "$2/.hermes" && rm "$1/filler" && cp -a "$1/.hermes" "$2/" || exit 90
    exit $code"#;

#[test]
fn an_upgrade_on_a_full_disk_is_refused_in_one_sentence_and_can_be_made_later() {
    for upgrade in upgrades() {
        let step = if is_full() { 8 } else { 96 };
        let (mut refused, mut room) = (0, 0);
        while let Some(ran) = refused_with(&upgrade, room) {
            // What does not fit is a database, or the copy that is kept of it before.
            ran.failed(1, &["disk"]);
            (refused, room) = (refused + 1, room + step);
            assert!(room < 32 * 1024, "it never ended well: {}", ran.stderr);
        }
        assert!(refused > 0, "no disk was too small");
    }
}

/// The refusal of an upgrade on a disk with so many kilobytes left; none if it was made.
fn refused_with(upgrade: &Upgrade, room: u32) -> Option<Ran> {
    let sandbox = upgrade.home.unpacked();
    let (disk, room) = (tempfile::tempdir().unwrap(), room.to_string());
    let (disk, folder) = (disk.path().to_str().unwrap(), sandbox.folder().to_str().unwrap());
    let mut all = vec!["--user", "--map-root-user", "--mount", "sh", "-c", ON_SMALL_DISK, "sh"];
    all.extend([disk, folder, &room, env!("CARGO_BIN_EXE_hermes")]);
    all.extend(upgrade.command);
    let output = sandbox.command_of(Path::new("/usr/bin/unshare"), &all).output().unwrap();
    let ran = Ran::of(&output);
    let is_new = upgrade.is_old_or_new_and_can_go_on(&sandbox);
    if ran.code == 0 {
        assert!(is_new, "{}", ran.stderr);
        return None;
    }
    assert!(
        !is_new || !ran.stderr.contains("nothing of this change was written"),
        "{}",
        ran.stderr
    );
    Some(ran)
}
