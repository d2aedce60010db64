//! Bad luck: full disks, read-only homes, locks, kills, damaged databases. Nothing is lost or half-written.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Instant;

use crate::moments::{Moments, is_full};
use crate::sandbox::{Holder, Ran, Sandbox};

#[test]
fn a_damaged_state_db_is_refused_and_never_replaced() {
    let whole = Sandbox::ready();
    let id = whole.ok(&["sessions", "create"]);
    whole.ok(&["sessions", "append", id.trim(), "--role", "user", "precious"]);
    let good = fs::read(whole.path("state.db")).unwrap();
    let damages: [(&str, Vec<u8>); 4] = [
        ("empty", Vec::new()),
        ("zeroed", vec![0; good.len()]),
        ("truncated", good[..good.len() / 2].to_vec()),
        ("garbage", b"this is not a database at all, not even close to one".repeat(100)),
    ];
    for (name, bytes) in damages {
        let sandbox = Sandbox::ready();
        sandbox.write("state.db", &bytes);
        for arguments in [
            &["sessions", "list"][..],
            &["sessions", "search", "precious"],
            &["sessions", "create"],
            &["init"],
            &["start"],
            &["sessions", "prune", "--yes"],
        ] {
            let ran = sandbox.run(arguments);
            let quiet = arguments == ["init"];
            assert!(quiet || ran.code != 0, "{name}: {arguments:?} went on: {}", ran.stdout);
            assert_eq!(fs::read(sandbox.path("state.db")).unwrap(), bytes, "{name}: {arguments:?}");
        }
        let next = if bytes.is_empty() { "move it away" } else { "hermes sessions repair" };
        sandbox.fails(&["sessions", "list"], 1, &["state.db", next]);
    }
}

#[test]
fn a_new_database_is_not_made_beside_the_log_of_a_lost_one() {
    let sandbox = Sandbox::ready();
    let log = b"what another program wrote and had not folded in yet";
    fs::remove_file(sandbox.path("state.db")).unwrap();
    sandbox.write("state.db-wal", log);
    for arguments in [&["start"][..], &["init"]] {
        sandbox.fails(arguments, 10, &["state.db", "missing"]);
    }
    sandbox.fails(&["init", "--new-state"], 5, &["state.db-wal", "move it away"]);
    assert_eq!(fs::read(sandbox.path("state.db-wal")).unwrap(), log);
    assert!(!sandbox.path("state.db").exists());
}

#[test]
fn repair_keeps_the_damaged_file_and_saves_what_can_be_read() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create"]);
    for number in 0..50 {
        let text = format!("message {number} {}", "filler ".repeat(100));
        sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", &text]);
    }
    let mut bytes = fs::read(sandbox.path("state.db")).unwrap();
    let middle = bytes.len() * 2 / 3 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xaa);
    sandbox.write("state.db", &bytes);
    assert_eq!(sandbox.run(&["sessions", "repair", "--check"]).code, 6);
    sandbox.fails(&["sessions", "repair"], 5, &["--yes"]);
    let ran = sandbox.run(&["sessions", "repair", "--yes"]);
    assert!([0, 3].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(sandbox.run(&["sessions", "repair", "--check"]).code, 0);
    let kept = fs::read_dir(sandbox.home())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("state.db.damaged-"));
    assert_eq!(fs::read(kept.unwrap()).unwrap(), bytes);
    let messages = sandbox.json(&["sessions", "stats"])["messages"].as_i64().unwrap();
    assert!(messages >= 25, "only {messages} of 50 were saved");
}

/// The copies that were kept before an upgrade, each with the number of its schema.
fn kept_copies(sandbox: &Sandbox) -> Vec<(String, i64)> {
    let folder = fs::read_dir(sandbox.path("hermesd/before-upgrade"));
    let mut copies: Vec<(String, i64)> = folder
        .into_iter()
        .flatten()
        .map(|entry| {
            let path = entry.unwrap().path();
            let copy = sandbox.database(path.to_str().unwrap());
            let schema = copy.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name.rsplit_once('-').unwrap().0.to_owned(), schema)
        })
        .collect();
    copies.sort();
    copies
}

#[test]
fn a_copy_is_kept_before_an_upgrade_until_somebody_in_it_is_erased() {
    let sandbox = Sandbox::ready();
    let older = sandbox.database("memory.db");
    older
        .execute_batch(include_str!(
            "../../../hermes-store/migrations/memory/0001_first_schema.sql"
        ))
        .unwrap();
    older
        .execute_batch(
            "pragma user_version = 1; pragma journal_mode = wal;
             insert into meta (key, value) values ('profile', 'default'),
               ('home_id', '018f0000-0000-7000-8000-000000000001');
             insert into user (id, uid, name, created_at) values
               (0, x'00000000000000000000000000000000', '', 0), (1, x'00000000000000000000000000000001', 'owner', 0);
             insert into fact (uid, user_id, statement, kind, confidence, origin, trust, recorded_at,
               norm_hash) values (x'00000000000000000000000000000002', 1, 'tea is hot', 'fact', 1,
               'user', 2, 0, x'00000000000000000000000000000003')",
        )
        .unwrap();
    drop(older);
    assert!(sandbox.ok(&["memory", "fact", "list"]).contains("tea is hot"));
    assert_eq!(kept_copies(&sandbox), [("memory-schema-1".to_owned(), 1)]);
    sandbox.ok(&["memory", "fact", "list"]);
    sandbox.ok(&["memory", "fact", "add", "ice is cold"]);
    assert_eq!(kept_copies(&sandbox).len(), 1);
    // As a dump gives it back: with all its tables and no number.
    let restored = sandbox.database("state.db");
    restored.pragma_update(None, "user_version", 0).unwrap();
    drop(restored);
    sandbox.ok(&["sessions", "create"]);
    let both = [("memory-schema-1".to_owned(), 1), ("state-schema-0".to_owned(), 0)];
    assert_eq!(kept_copies(&sandbox), both);
    let doctor = sandbox.ok(&["doctor"]);
    assert!(doctor.contains("2 databases from before an upgrade"), "{doctor}");
    assert!(doctor.contains("hermesd/before-upgrade/state-schema-0"), "{doctor}");
    let listed = sandbox.ok(&["backup", "create", "--plaintext", "--dry-run", "--json"]);
    assert!(!listed.contains("state-schema-0"), "{listed}");
    sandbox.ok(&["memory", "forget", "--all", "--erase", "--yes"]);
    assert!(!sandbox.path("hermesd/before-upgrade").exists());
}

#[test]
fn binary_and_huge_memory_files_are_refused_and_kept() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", b"\x89PNG\r\n\x1a\n\x00\x00");
    sandbox.fails(&["memory", "show"], 5, &["MEMORY.md", "UTF-8"]);
    sandbox.fails(&["memory", "add", "x"], 5, &["MEMORY.md", "UTF-8"]);
    let path = sandbox.path("memories/MEMORY.md");
    fs::File::create(&path).unwrap().set_len(100 * 1024 * 1024).unwrap();
    sandbox.fails(&["memory", "add", "x"], 5, &["MEMORY.md"]);
    assert_eq!(fs::metadata(&path).unwrap().len(), 100 * 1024 * 1024);
}

#[test]
fn a_read_only_home_can_be_read_and_says_why_it_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "add", "a fact"]);
    let id = sandbox.ok(&["sessions", "create"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "readable words"]);
    let before = sandbox.snapshot();
    let mode = |mode: u32, file: u32| {
        for folder in ["hermesd/versions", "hermesd", "memories", ""] {
            let path = sandbox.path(folder);
            for entry in fs::read_dir(&path).unwrap() {
                let entry = entry.unwrap().path();
                if entry.is_file() {
                    fs::set_permissions(&entry, fs::Permissions::from_mode(file)).unwrap();
                }
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    mode(0o500, 0o400);
    let found = sandbox.run_as_nobody(&["sessions", "search", "readable"]);
    assert!(found.stdout.contains("readable words"), "{}{}", found.stdout, found.stderr);
    assert!(sandbox.run_as_nobody(&["memory", "show"]).stdout.contains("a fact"));
    for arguments in [
        &["memory", "add", "more"][..],
        &["sessions", "append", "last", "--role", "user", "more"],
        &["config", "set", "timezone", "UTC"],
        &["sessions", "pin", "last"],
        &["profile", "create", "other"],
    ] {
        sandbox.run_as_nobody(arguments).failed(1, &["could not"]);
    }
    mode(0o700, 0o600);
    assert_eq!(sandbox.snapshot(), before);
}

#[test]
fn a_full_disk_during_a_write_leaves_the_old_file_whole() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "add", "the old fact"]);
    let before = sandbox.read("memories/MEMORY.md");
    let long = "x".repeat(60_000);
    sandbox.write("../long.txt", &long);
    // Files may not grow beyond 16 blocks of 512 bytes: every larger write fails as on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 16; {} memory add - < long.txt",
        env!("CARGO_BIN_EXE_hermes")
    );
    let output = sandbox.command_of("/bin/sh".as_ref(), &["-c", &script]).output().unwrap();
    Ran::of(&output).failed(1, &["could not write"]);
    assert_eq!(sandbox.read("memories/MEMORY.md"), before);
    let left: Vec<_> = fs::read_dir(sandbox.path("memories"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let script = format!(
        "trap '' XFSZ; ulimit -f 16; {0} sessions append $({0} sessions create) --role user - < long.txt",
        env!("CARGO_BIN_EXE_hermes")
    );
    let output = sandbox.command_of("/bin/sh".as_ref(), &["-c", &script]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(sandbox.run(&["sessions", "repair", "--check"]).code, 0);
    sandbox.ok(&["memory", "add", "a new fact"]);
}

#[test]
fn a_locked_database_is_named_after_the_wait_and_reading_goes_on() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "before the lock"]);
    let holder = Holder::of(&sandbox, "state.db");
    let quick = ["--set", "sessions.lock_wait_ms=100"];
    let append = ["sessions", "append", id.trim(), "--role", "user", "x"];
    let all: Vec<&str> = quick.iter().chain(append.iter()).copied().collect();
    sandbox.fails(&all, 11, &["state.db"]);
    assert!(sandbox.ok(&["sessions", "search", "lock"]).contains("before the lock"));
    drop(holder);
    sandbox.ok(&append);
}

#[test]
fn a_home_whose_database_cannot_be_looked_at_is_not_added_to() {
    let sandbox = Sandbox::empty();
    let schema = "create table state_meta (key text, value text); create table sessions (id text primary key, \
                  source text, started_at real); create table messages (id integer primary key, session_id \
                  text, role text, content text, timestamp real);";
    fs::create_dir_all(sandbox.home()).unwrap();
    sandbox.sql("state.db", schema);
    let mut bytes = fs::read(sandbox.path("state.db")).unwrap();
    bytes[100..200].fill(0xee);
    sandbox.write("state.db", &bytes);
    let before = sandbox.snapshot();
    sandbox.run(&["init"]);
    sandbox.run(&["start"]);
    sandbox.run(&["doctor"]);
    assert_eq!(sandbox.snapshot(), before);
}

#[test]
fn two_processes_at_once_lose_nothing() {
    const EACH: usize = 25;
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create"]).trim().to_owned();
    let writer = |name: &'static str| {
        let (sandbox, id) = (&sandbox, &id);
        move || {
            for number in 0..EACH {
                let text = format!("{name} number {number}");
                sandbox.ok(&["sessions", "append", id, "--role", "user", &text]);
                sandbox.ok(&["memory", "add", &text]);
                sandbox.ok(&["sessions", "pin", id]);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(writer("left"));
        scope.spawn(writer("right"));
    });
    assert_eq!(sandbox.json(&["sessions", "stats"])["messages"], 2 * EACH);
    assert_eq!(sandbox.json(&["sessions", "stats"])["full_text_rows"], 2 * EACH);
    let shown = sandbox.json(&["memory", "show", "--file", "memory"]);
    assert_eq!(shown["results"][0]["entries"].as_array().unwrap().len(), 2 * EACH);
    let versions = sandbox.json(&["memory", "versions"]);
    assert!(versions["results"].as_array().unwrap().len() > 2 * EACH - 1);
}

/// How many kills a run makes: a few in every run, many with `./test --full`.
fn kills() -> u64 {
    if is_full() { 1000 } else { 30 }
}

#[test]
fn a_kill_at_any_moment_loses_no_acknowledged_write_and_leaves_nothing_half_done() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create"]).trim().to_owned();
    let script = format!(
        "n=0; while :; do n=$((n+1)); {0} sessions append {id} --role user \"said $1-$n\" >/dev/null \
         && echo \"message $1-$n\"; {0} memory add \"fact $1-$n\" >/dev/null && echo \"fact $1-$n\"; done",
        env!("CARGO_BIN_EXE_hermes")
    );
    let begun = Instant::now();
    sandbox.ok(&["sessions", "append", &id, "--role", "user", "said before"]);
    let moments = Moments::of(begun.elapsed() * 4);
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..kills() {
        let mut command =
            sandbox.command_of("/bin/sh".as_ref(), &["-c", &script, "sh", &round.to_string()]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (send, received) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| send.send(line).unwrap_or_default());
        });
        // The first write is awaited; the kill falls somewhere into those that follow.
        acknowledged.push(received.recv().unwrap());
        let until = Instant::now() + moments.next();
        while let Ok(line) = received.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            acknowledged.push(line);
        }
        let group = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        acknowledged.extend(received.try_iter());
    }
    let messages = sandbox.ok(&["sessions", "show", &id]);
    let facts = sandbox.ok(&["memory", "show", "--raw"]);
    for line in &acknowledged {
        let (kind, name) = line.split_once(' ').unwrap();
        match kind {
            "message" => assert!(messages.contains(&format!("said {name}\n")), "{line} is lost"),
            _ => assert!(facts.contains(&format!("- fact {name} ")), "{line} is lost"),
        }
    }
    assert!(acknowledged.len() as u64 >= kills(), "only {} writes were seen", acknowledged.len());
    assert_eq!(sandbox.run(&["sessions", "repair", "--check"]).code, 0);
    let stats = sandbox.json(&["sessions", "stats"]);
    assert_eq!(stats["messages"], stats["full_text_rows"]);
}
