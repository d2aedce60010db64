//! Homes on real small file systems: full, without inodes, read-only. Reading goes on, and nothing is changed by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sandbox::{Holder, Sandbox};

/// Set where the test runs again inside a mount namespace of its own.
const INSIDE: &str = "HERMES_TEST_MOUNTS";

/// Runs a test again where it may mount: as root of a user namespace, so that nothing has to be taken away later.
fn where_mounting_is_allowed(name: &str, test: impl FnOnce()) {
    if std::env::vars().any(|(key, _)| key == INSIDE) {
        return test();
    }
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("small_disk::{name}"), "--nocapture"])
        .env(INSIDE, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn mount(arguments: &[&str], at: &Path) {
    let status = Command::new("mount").args(arguments).arg(at).status().unwrap();
    assert!(status.success(), "mount {arguments:?} {}", at.display());
}

/// Takes every block that is left.
fn fill(folder: &Path) {
    use std::io::Write as _;
    let mut filler = fs::File::create(folder.join("filler")).unwrap();
    for size in [1 << 16, 1 << 12, 1] {
        while filler.write_all(&vec![7; size]).is_ok() {}
    }
}

/// Takes every inode that is left.
fn take_inodes(folder: &Path) {
    fs::create_dir(folder.join("taken")).unwrap();
    let mut count = 0;
    while fs::File::create(folder.join(format!("taken/{count}"))).is_ok() {
        count += 1;
    }
}

/// What keeps files from being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Room,
    Inodes,
    Permission,
}

/// Whether a log was left beside the databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    Folded,
    Left,
    /// With the index that SQLite keeps beside it.
    LeftWithIndex,
}

/// A home with one conversation and one fact, on a file system that takes nothing more.
fn home_on(sandbox: &Sandbox, want: Want, log: Log) -> String {
    let made = Sandbox::ready();
    let id = made.ok(&["sessions", "create"]).trim().to_owned();
    made.ok(&["sessions", "append", &id, "--role", "user", "the early words"]);
    made.ok(&["memory", "fact", "add", "The tortoise is called Agathe."]);
    // What is said while somebody holds the databases open stays in their logs.
    let holders = (log != Log::Folded)
        .then(|| ["state.db", "memory.db"].map(|file| Holder::reading(&made, file)));
    made.ok(&["sessions", "append", &id, "--role", "user", "the late words"]);
    made.ok(&["memory", "fact", "add", "The heron is called Bertram."]);
    let home = sandbox.home();
    fs::create_dir(&home).unwrap();
    mount(&["-t", "tmpfs", "-o", "size=8m,nr_inodes=200,mode=700", "none"], &home);
    let copied = Command::new("cp").arg("-a").arg(made.home().join(".")).arg(&home).status();
    assert!(copied.unwrap().success());
    drop(holders);
    let has_log = |file: &str| home.join(file).metadata().is_ok_and(|found| found.len() > 0);
    for file in ["state.db", "memory.db"] {
        assert_eq!(has_log(&format!("{file}-wal")), log != Log::Folded, "{file}: {log:?}");
        if log == Log::Left {
            fs::remove_file(home.join(format!("{file}-shm"))).unwrap();
        }
    }
    match want {
        Want::Room => fill(&home),
        Want::Inodes => take_inodes(&home),
        Want::Permission => mount(&["-o", "remount,ro"], &home),
    }
    id
}

/// The content of the files that matter.
fn content(home: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    ["state.db", "state.db-wal", "memory.db", "memory.db-wal", "memories/MEMORY.md"]
        .map(|file| home.join(file))
        .into_iter()
        .map(|path| (path.clone(), fs::read(&path).unwrap_or_default()))
        .collect()
}

fn reading_goes_on(want: Want) {
    for log in [Log::Folded, Log::Left, Log::LeftWithIndex] {
        let sandbox = Sandbox::empty();
        let id = home_on(&sandbox, want, log);
        let before = content(&sandbox.home());
        let doctor = sandbox.run(&["doctor"]);
        assert!(doctor.stdout.contains("2 messages, database intact"), "{}", doctor.stdout);
        let why = match want {
            Want::Room => "free some space on this disk",
            Want::Inodes => "no inodes left",
            Want::Permission => "mounted read-only",
        };
        assert!(doctor.stdout.contains(why), "{why}: {}", doctor.stdout);
        let out = sandbox.folder().join("out");
        fs::create_dir(&out).unwrap();
        let [sessions, memory, backups] =
            ["sessions.jsonl", "memory.jsonl", "backups"].map(|name| out.join(name));
        for (arguments, words) in [
            (&["sessions", "list"][..], &[id.as_str()][..]),
            (&["sessions", "show", &id], &["the early words", "the late words"]),
            (&["sessions", "search", "late"], &["the late words"]),
            (&["memory", "search", "what is the heron called"], &["Bertram"]),
            (&["memory", "context", "what is the tortoise called"], &["Agathe"]),
            (&["memory", "fact", "list"], &["Agathe", "Bertram"]),
            (&["memory", "show"], &[]),
            (&["memory", "status"], &[]),
            (&["status"], &[]),
            (&["sessions", "export", "--output", sessions.to_str().unwrap()], &[]),
            (&["memory", "export", "--output", memory.to_str().unwrap()], &[]),
            (&["backup", "create", "--plaintext", "--to", backups.to_str().unwrap()], &[]),
        ] {
            let ran = sandbox.run(arguments);
            let said = format!("{want:?} {log:?} {arguments:?}\n{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, 0, "{said}");
            words.iter().for_each(|word| assert!(ran.stdout.contains(word), "{word}: {said}"));
        }
        assert!(fs::read_to_string(&sessions).unwrap().contains("the late words"), "{log:?}");
        assert!(fs::read_to_string(&memory).unwrap().contains("Bertram"), "{log:?}");
        // Where there is a little room, what was handed out may be noted and a log taken in; nowhere else.
        if want == Want::Permission {
            assert_eq!(content(&sandbox.home()), before, "{log:?}");
        }
        // A log that was taken in gives its inode to the next one.
        if (want, log) != (Want::Inodes, Log::LeftWithIndex) {
            writing_is_refused(&sandbox, &id);
        }
        let left = Command::new("umount").arg(sandbox.home()).status().unwrap();
        assert!(left.success());
    }
}

/// And says why.
fn writing_is_refused(sandbox: &Sandbox, id: &str) {
    let words = "words ".repeat(1 << 19);
    let ran = sandbox.feed(&["sessions", "append", id, "--role", "user", "-"], words.as_bytes());
    ran.failed(1, &["state.db"]);
}

#[test]
fn a_home_on_a_full_disk_can_be_read() {
    where_mounting_is_allowed("a_home_on_a_full_disk_can_be_read", || {
        reading_goes_on(Want::Room);
    });
}

#[test]
fn a_home_on_a_disk_without_inodes_can_be_read() {
    where_mounting_is_allowed("a_home_on_a_disk_without_inodes_can_be_read", || {
        reading_goes_on(Want::Inodes);
    });
}

#[test]
fn a_home_on_a_read_only_disk_can_be_read() {
    where_mounting_is_allowed("a_home_on_a_read_only_disk_can_be_read", || {
        reading_goes_on(Want::Permission);
    });
}
