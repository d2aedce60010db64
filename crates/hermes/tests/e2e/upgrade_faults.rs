//! Upgrades that go wrong: killed at any system call, on a full disk, by several at once; and schemas of the future.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;

use crate::moments::is_full;
use crate::old_homes::{
    OldHome, WITH_FILES, connect, is_whole, newest, nothing_is_lost, number_of, schema_of,
    wanted_schema,
};
use crate::sandbox::{Ran, Sandbox};

/// What the program is told to do in an old home: it only reads, and brings the memory up to date for that.
const LOOK: [&str; 3] = ["memory", "fact", "list"];

/// The system calls by which a file becomes another one.
const CALLS: &str = "pwrite64,write,fsync,fdatasync,ftruncate,rename,renameat2,link,linkat,unlink,unlinkat";

/// The home that has the longest way to go, as it was before anything went wrong.
struct Oldest {
    home: &'static OldHome,
    before: Sandbox,
    /// What each schema on the way looks like when it is whole.
    schemas: BTreeMap<i64, BTreeSet<String>>,
}

impl Oldest {
    fn new() -> Oldest {
        let home = &WITH_FILES[0];
        let numbers = home.schema..=newest("memory");
        let schemas = numbers.filter_map(|number| Some((number, wanted_schema(number)?))).collect();
        Oldest { home, before: home.unpacked(), schemas }
    }

    /// Whatever happened: the schema is exactly that of some version, no row is lost, and the next run ends well.
    fn is_some_version_and_can_go_on(&self, sandbox: &Sandbox) -> i64 {
        let (old, path) = (self.before.path("memory.db"), sandbox.path("memory.db"));
        // A copy is looked at: opening the file itself would fold in the log that was left.
        let folder = tempfile::tempdir().unwrap();
        for name in ["memory.db", "memory.db-wal", "memory.db-journal"] {
            drop(fs::copy(sandbox.path(name), folder.path().join(name)));
        }
        let copy = folder.path().join("memory.db");
        let memory = connect(&copy);
        let number = number_of(&memory);
        assert!((self.home.schema..=newest("memory")).contains(&number), "{number}");
        if let Some(wanted) = self.schemas.get(&number) {
            assert_eq!(&schema_of(&memory), wanted, "half of schema {number}");
        }
        drop(memory);
        nothing_is_lost(&old, &copy);
        sandbox.ok(&LOOK);
        assert_eq!(number_of(&connect(&path)), newest("memory"));
        assert_eq!(Some(&schema_of(&connect(&path))), self.schemas.get(&newest("memory")));
        nothing_is_lost(&old, &path);
        number
    }
}

/// The program below strace with these further options.
fn traced(sandbox: &Sandbox, options: &[&str]) -> Output {
    let mut all = vec!["-f", "-qq", "-e", "signal=none"];
    all.extend(options);
    all.push(env!("CARGO_BIN_EXE_hermes"));
    all.extend(LOOK);
    sandbox.command_of(Path::new("/usr/bin/strace"), &all).output().unwrap()
}

/// How often a whole upgrade makes each of the calls.
fn calls_of_an_upgrade(home: &OldHome) -> BTreeMap<String, usize> {
    let sandbox = home.unpacked();
    let log = sandbox.folder().join("calls");
    let trace = format!("trace={CALLS}");
    let output = traced(&sandbox, &["-o", log.to_str().unwrap(), "-e", &trace]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        // `1234  pwrite64(5, …) = 8192`
        let name = line.split_whitespace().nth(1).and_then(|call| call.split('(').next());
        *counts.entry(name.unwrap().to_owned()).or_default() += 1;
    }
    counts
}

/// Of so many calls, those at which the program is killed.
fn chosen(count: usize) -> Vec<usize> {
    let wanted = if is_full() { count } else { count.min(10) };
    (0..wanted).map(|place| 1 + place * count / wanted).collect()
}

#[test]
fn an_upgrade_killed_at_any_system_call_is_at_some_version_and_never_half_way() {
    let oldest = Oldest::new();
    let counts = calls_of_an_upgrade(oldest.home);
    assert!(counts.get("fdatasync").or(counts.get("fsync")).is_some(), "{counts:?}");
    let mut numbers = Vec::new();
    for (call, count) in &counts {
        for place in chosen(*count) {
            let sandbox = oldest.home.unpacked();
            let inject = format!("inject={call}:signal=KILL:when={place}");
            let trace = format!("trace={call}");
            let output = traced(&sandbox, &["-o", "/dev/null", "-e", &trace, "-e", &inject]);
            let was_killed = output.status.signal() == Some(9) || output.status.code() == Some(137);
            assert!(was_killed, "{call} {place} of {count}: {:?}", output.status);
            numbers.push(oldest.is_some_version_and_can_go_on(&sandbox));
        }
    }
    let between = (oldest.home.schema + 1)..newest("memory");
    assert!(numbers.iter().any(|number| between.contains(number)), "none fell between: {numbers:?}");
}

#[test]
fn several_who_come_at_once_to_an_old_home_upgrade_it_once() {
    let wanted = wanted_schema(newest("memory")).unwrap();
    for home in WITH_FILES {
        let sandbox = home.unpacked();
        let commands: [&[&str]; 6] = [
            &LOOK,
            &["memory", "status"],
            &["memory", "search", "harbour"],
            &["memory", "context", "the staging database"],
            &["memory", "fact", "add", "The new crane lifts nine tons"],
            &["memory", "fact", "add", "Der neue Kran hebt neun Tonnen"],
        ];
        std::thread::scope(|scope| {
            for arguments in commands {
                scope.spawn(|| sandbox.ok(arguments));
            }
        });
        let memory = connect(&sandbox.path("memory.db"));
        assert_eq!(schema_of(&memory), wanted, "{}", home.name);
        let facts: usize = memory.query_row("select count(*) from fact", [], |row| row.get(0)).unwrap();
        assert_eq!(facts, home.rows[1] + 2, "{}", home.name);
        drop(memory);
        is_whole(&sandbox);
    }
}

/// Copies the home to a small disk, leaves it so many kilobytes, looks, and copies the home back.
const ON_SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=64m,mode=700 tmpfs "$1" || exit 90
    cp -a "$2/.hermes" "$1/" || exit 90
    free=$(df --output=avail -k "$1" | tail -n 1)
    head -c "$(((free - $3) * 1024))" /dev/zero >"$1/filler" || exit 90
    HOME="$1" "$4" memory fact list
    code=$?
    rm -r "$2/.hermes" && rm "$1/filler" && cp -a "$1/.hermes" "$2/" || exit 90
    exit $code"#;

#[test]
fn an_upgrade_on_a_full_disk_is_refused_in_one_sentence_and_can_be_made_later() {
    let oldest = Oldest::new();
    let step = if is_full() { 8 } else { 128 };
    let (mut refused, mut room) = (0, 0);
    loop {
        let sandbox = oldest.home.unpacked();
        let (disk, room_text) = (tempfile::tempdir().unwrap(), room.to_string());
        let (disk, folder) = (disk.path().to_str().unwrap(), sandbox.folder().to_str().unwrap());
        let program = env!("CARGO_BIN_EXE_hermes");
        let mut all = vec!["--user", "--map-root-user", "--mount", "sh", "-c", ON_SMALL_DISK, "sh"];
        all.extend([disk, folder, &room_text, program]);
        let output = sandbox.command_of(Path::new("/usr/bin/unshare"), &all).output().unwrap();
        let ran = Ran::of(&output);
        let number = oldest.is_some_version_and_can_go_on(&sandbox);
        if ran.code == 0 {
            assert_eq!(number, newest("memory"), "{}", ran.stderr);
            break;
        }
        ran.failed(1, &["memory.db", "disk is full"]);
        assert!(!ran.stderr.contains("nothing of this change was written") || number < newest("memory"));
        (refused, room) = (refused + 1, room + step);
        assert!(room < 32 * 1024, "it never ended well: {}", ran.stderr);
    }
    assert!(refused > 1, "no disk was too small");
}

/// Every file of the home but the databases that are newer, which must keep every byte.
fn bytes(sandbox: &Sandbox, file: &str) -> Vec<u8> {
    fs::read(sandbox.path(file)).unwrap()
}

#[test]
fn a_memory_of_a_later_version_is_refused_and_keeps_every_byte() {
    let sandbox = WITH_FILES.last().unwrap().unpacked();
    sandbox.ok(&LOOK);
    let later = newest("memory") + 1;
    let memory = connect(&sandbox.path("memory.db"));
    memory.pragma_update(None, "user_version", later).unwrap();
    drop(memory);
    let before = bytes(&sandbox, "memory.db");
    let words = format!("its schema is {later}, this build knows {}", newest("memory"));
    for arguments in [
        &LOOK[..],
        &["memory", "fact", "add", "Nobody keeps this"],
        &["memory", "search", "harbour"],
        &["memory", "context", "harbour"],
        &["memory", "extract"],
        &["memory", "compact"],
        &["memory", "vacuum"],
        &["--yes", "memory", "forget", "--all"],
    ] {
        let ran = sandbox.fails(arguments, 5, &["memory.db", &words, "upgrade hermes"]);
        let sentences = ran.stderr.lines().filter(|line| line.starts_with("hermes: "));
        assert_eq!(sentences.count(), 1, "{arguments:?}: {}", ran.stderr);
        assert!(bytes(&sandbox, "memory.db") == before, "{arguments:?} wrote");
    }
    for arguments in [&["doctor"][..], &["status"], &["start", "--no-daemon"]] {
        let ran = sandbox.run(arguments);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains(&words), "{arguments:?}: {all}");
        assert!(bytes(&sandbox, "memory.db") == before, "{arguments:?} wrote");
    }
}

#[test]
fn a_turn_waits_while_the_memory_is_of_a_later_version() {
    let sandbox = WITH_FILES.last().unwrap().unpacked();
    sandbox.ok(&LOOK);
    let renumber = |number: i64| {
        connect(&sandbox.path("memory.db")).pragma_update(None, "user_version", number).unwrap();
    };
    renumber(newest("memory") + 1);
    let said = ["memory", "turn", "--user-text", "The mast is of larch.", "--assistant-text", "Good."];
    let told = sandbox.json(&said);
    assert_eq!(told["results"][0]["kept_in"], "state_db", "{told}");
    renumber(newest("memory"));
    sandbox.ok(&["memory", "catch-up"]);
    let found = sandbox.json(&["memory", "search", "What is the mast made of?"]).to_string();
    assert!(found.contains("of larch"), "{found}");
}

#[test]
fn transcripts_of_a_later_version_are_refused_and_keep_every_byte() {
    let sandbox = WITH_FILES.last().unwrap().unpacked();
    let later = newest("state") + 1;
    connect(&sandbox.path("state.db")).pragma_update(None, "user_version", later).unwrap();
    let before = bytes(&sandbox, "state.db");
    let words = format!("its schema is {later}, this build knows {}", newest("state"));
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "search", "ovens"],
        &["sessions", "create"],
        &["sessions", "append", "last", "--role", "user", "Nobody keeps this"],
        &["--yes", "sessions", "prune"],
        &["sessions", "repair", "--check"],
        &["--yes", "sessions", "repair"],
    ] {
        let ran = sandbox.fails(arguments, 5, &["state.db", &words, "upgrade hermes"]);
        let sentences = ran.stderr.lines().filter(|line| line.starts_with("hermes: "));
        assert_eq!(sentences.count(), 1, "{arguments:?}: {}", ran.stderr);
        assert!(bytes(&sandbox, "state.db") == before, "{arguments:?} wrote");
    }
    let ran = sandbox.run(&["doctor"]);
    assert!(ran.code == 6 && ran.stdout.contains(&words), "{}", ran.stdout);
    let said = ["memory", "turn", "--user-text", "The keel is of oak.", "--assistant-text", "Good."];
    assert_eq!(sandbox.json(&said)["results"][0]["kept_in"], "spool");
    assert!(bytes(&sandbox, "state.db") == before, "a turn was written");
}
