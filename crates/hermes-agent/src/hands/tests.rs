//! The hands do what was approved and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::approval::{Kind, Request, Verdict};
use crate::testing::{Place, now};

fn hands_with(place: &Place, agent: &Agent) -> Hands {
    let env = Env::of([
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/nowhere"),
        ("OPENAI_API_KEY", "sk-secret"),
        ("MY_TOKEN", "sk-secret"),
        ("PROXY", "http://me:sk-secret@host/"),
        ("HARMLESS", "seen"),
    ]);
    Hands::new(&Setup {
        home: &place.home,
        working: &place.working,
        agent,
        checkpoints: &Checkpoints::default(),
        env: &env,
        session: "session",
        launcher: None,
        cancel: Arc::default(),
        now: now(),
    })
    .unwrap()
}

fn hands(place: &Place) -> Hands {
    hands_with(place, &Agent::default())
}

fn call(name: &str, input: Value) -> Call {
    Call { id: "1".into(), name: name.into(), input }
}

fn never(request: &Request) -> Verdict {
    panic!("nobody should be asked: {request:?}")
}

fn run(hands: &mut Hands, name: &str, input: Value) -> Outcome {
    hands.call(&call(name, input), &mut |_| Verdict::Once)
}

fn text(hands: &mut Hands, name: &str, input: Value) -> String {
    let outcome = hands.call(&call(name, input), &mut never);
    assert!(!outcome.is_error, "{}", outcome.text);
    outcome.text
}

#[test]
fn a_file_is_read_in_parts() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write("a.txt", (1..=50).map(|line| format!("line {line}\n")).collect::<String>());
    let told = text(&mut hands, "read_file", json!({"path": "a.txt", "first": 3, "lines": 2}));
    assert_eq!(told, "3\tline 3\n4\tline 4\n(lines 3 to 4; it goes on, next is first 5)");
    let told = text(&mut hands, "read_file", json!({"path": "a.txt", "first": "49"}));
    assert_eq!(told, "49\tline 49\n50\tline 50\n");
    let told = text(&mut hands, "read_file", json!({"path": "a.txt", "first": 60}));
    assert_eq!(told, "(a.txt has fewer than 60 lines)");
    place.write("empty", "");
    assert_eq!(text(&mut hands, "read_file", json!({"path": "empty"})), "(empty is empty)");
}

#[test]
fn a_huge_file_is_read_without_loading_it() {
    let place = Place::new();
    let mut hands = hands(&place);
    let file = fs::File::create(place.path("huge.log")).unwrap();
    use std::io::Write;
    (&file).write_all(b"first line\nsecond line\n").unwrap();
    (&file).write_all(&[b'.'; 10_000]).unwrap();
    file.set_len(5_000_000_000).unwrap();
    use std::os::unix::fs::FileExt;
    file.write_all_at(b"\nnear the end\n", 4_999_999_986).unwrap();
    let begun = Instant::now();
    let told = text(&mut hands, "read_file", json!({"path": "huge.log", "lines": 2}));
    assert!(told.starts_with("1\tfirst line\n2\tsecond line\n"), "{told}");
    let told =
        text(&mut hands, "read_file", json!({"path": "huge.log", "from_byte": 4_999_999_987_u64}));
    assert_eq!(told, "near the end\n(bytes 4999999987 to 5000000000 of 5000000000)");
    assert!(begun.elapsed() < Duration::from_secs(30));
    let outcome = run(&mut hands, "write_file", json!({"path": "huge.log", "content": "x"}));
    assert!(outcome.is_error && outcome.text.contains("too large"), "{}", outcome.text);
}

#[test]
fn a_long_output_is_capped_and_says_so() {
    let place = Place::new();
    let agent = Agent { output_cap: 1_000, ..Agent::default() };
    let mut hands = hands_with(&place, &agent);
    place.write("a.txt", "x".repeat(100_000) + "\nnext\n");
    let told = text(&mut hands, "read_file", json!({"path": "a.txt"}));
    assert!(told.len() < 3_000 && told.contains("the line has 100,001 bytes"), "{told}");
    let outcome = run(&mut hands, "terminal", json!({"command": "seq 1 100000"}));
    assert!(outcome.text.len() < 1_200, "{}", outcome.text.len());
    assert!(
        outcome.text.starts_with("1\n2\n") && outcome.text.contains("99999\n100000\n(exit code 0)")
    );
}

#[test]
fn what_cannot_be_read_is_told() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write("image.png", b"\x89PNG\0\0");
    place.write("main.rs", "x");
    fs::create_dir(place.path("folder")).unwrap();
    for (input, wanted) in [
        (json!({"path": "image.png"}), "binary file of 6 bytes"),
        (json!({"path": "mian.rs"}), "there is no file mian.rs; there is main.rs"),
        (json!({"path": "folder"}), "list_files"),
        (json!({"path": "../x"}), "outside of the working folder"),
        (json!({"path": "/dev/zero"}), "outside"),
        (json!({"path": ".env"}), "keys and passwords"),
        (json!({}), "path is missing; it takes path, first, lines, from_byte"),
        (json!({"path": 7}), "path must be a text, not a number"),
        (json!({"path": "main.rs", "first": "x"}), "first must be a whole number"),
        (json!({"path": "main.rs", "limit": 3}), "no argument \"limit\""),
        (json!("main.rs"), "must be an object"),
        (Value::Null, "must be an object"),
    ] {
        let outcome = hands.call(&call("read_file", input.clone()), &mut never);
        assert!(outcome.is_error && outcome.text.contains(wanted), "{input}: {}", outcome.text);
    }
    let outcome = hands.call(&call("rm_file", json!({})), &mut never);
    assert!(outcome.is_error && outcome.text.contains("there is read_file"), "{}", outcome.text);
}

#[test]
fn what_is_written_is_what_was_shown() {
    let place = Place::new();
    let mut hands = hands(&place);
    hands.begin(4, now());
    place.write("run.sh", "one\n");
    fs::set_permissions(place.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut seen = Vec::new();
    let outcome = hands.call(
        &call("write_file", json!({"path": "run.sh", "content": "two\n"})),
        &mut |request| {
            seen.push(request.clone());
            Verdict::Once
        },
    );
    assert_eq!(outcome.shown.as_deref(), Some("wrote run.sh, 1 line (checkpoint 1)"));
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].kind, seen[0].title.as_str()), (Kind::Write, "write run.sh"));
    assert_eq!(seen[0].detail, "--- run.sh\n+++ run.sh\n@@ -1,1 +1,1 @@\n-one\n+two\n");
    assert_eq!(place.read("run.sh"), "two\n");
    let mode = fs::metadata(place.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let kept = hands.keeper().unwrap().store().list(None).unwrap();
    assert_eq!((kept.len(), kept[0].turn), (1, 4));
    let outcome =
        hands.call(&call("write_file", json!({"path": "run.sh", "content": "two\n"})), &mut never);
    assert!(!outcome.is_error && outcome.text.contains("already"));
}

#[test]
fn a_patch_changes_its_piece_alone() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write("a.rs", "fn a() {}\nfn b() {}\n");
    let outcome =
        run(&mut hands, "patch", json!({"path": "a.rs", "old": "fn b() {}", "new": "fn c() {}"}));
    assert!(!outcome.is_error, "{}", outcome.text);
    assert_eq!(place.read("a.rs"), "fn a() {}\nfn c() {}\n");
    for (input, wanted) in [
        (json!({"path": "a.rs", "old": "fn", "new": "x"}), "2 places"),
        (json!({"path": "a.rs", "old": "fn d() {}", "new": "x"}), "the nearest is"),
        (json!({"path": "b.rs", "old": "x", "new": "y"}), "there is no file b.rs"),
    ] {
        let outcome = hands.call(&call("patch", input), &mut never);
        assert!(outcome.is_error && outcome.text.contains(wanted), "{}", outcome.text);
    }
}

#[test]
fn without_approval_nothing_happens() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write("a.txt", "one");
    for (name, input) in [
        ("write_file", json!({"path": "a.txt", "content": "two"})),
        ("write_file", json!({"path": "new/b.txt", "content": "two"})),
        ("patch", json!({"path": "a.txt", "old": "one", "new": "two"})),
        ("terminal", json!({"command": "touch made"})),
    ] {
        let why = || Verdict::No { reason: Some("not today".into()) };
        let outcome = hands.call(&call(name, input.clone()), &mut |_| why());
        assert!(outcome.is_error && outcome.text.contains("not today") && !outcome.ends_turn);
        let outcome = hands.call(&call(name, input), &mut |_| Verdict::No { reason: None });
        assert!(outcome.is_error && outcome.ends_turn);
    }
    assert_eq!(place.read("a.txt"), "one");
    assert_eq!(fs::read_dir(&place.working).unwrap().count(), 1);
    assert!(hands.keeper().unwrap().store().list(None).unwrap().is_empty());
}

#[test]
fn a_file_that_changes_while_the_person_reads_is_not_overwritten() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write("a.txt", "one");
    let write = call("write_file", json!({"path": "a.txt", "content": "two"}));
    let outcome = hands.call(&write, &mut |_| {
        place.write("a.txt", "somebody else's");
        Verdict::Once
    });
    assert!(outcome.is_error && outcome.text.contains("changed meanwhile"), "{}", outcome.text);
    assert_eq!(place.read("a.txt"), "somebody else's");
    let outside = place.working.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    let write = call("write_file", json!({"path": "folder/a.txt", "content": "two"}));
    let outcome = hands.call(&write, &mut |_| {
        fs::remove_dir(place.path("folder")).unwrap();
        symlink(&outside, place.path("folder")).unwrap();
        Verdict::Once
    });
    assert!(outcome.is_error, "{}", outcome.text);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn always_and_the_settings_spare_the_question() {
    let place = Place::new();
    let mut hands = hands(&place);
    let write = |text: &str| call("write_file", json!({"path": "a.txt", "content": text}));
    hands.call(&write("one"), &mut |request| {
        assert!(request.always.as_deref().unwrap().starts_with("writes below "));
        Verdict::Always
    });
    assert!(!hands.call(&write("two"), &mut never).is_error);
    hands.call(&call("terminal", json!({"command": "echo a"})), &mut |_| Verdict::Always);
    assert!(!hands.call(&call("terminal", json!({"command": "echo b"})), &mut never).is_error);
    let agent = Agent {
        allow: vec!["touch".into()],
        deny: vec!["git push".into()],
        write_below: vec![".".into()],
        ..Agent::default()
    };
    let mut hands = hands_with(&place, &agent);
    assert!(!hands.call(&write("three"), &mut never).is_error);
    assert!(!hands.call(&call("terminal", json!({"command": "touch x"})), &mut never).is_error);
    let outcome = hands.call(&call("terminal", json!({"command": "git push"})), &mut never);
    assert!(outcome.is_error && outcome.text.contains("agent.deny"), "{}", outcome.text);
    let rest = call("terminal", json!({"command": "touch y && rm -rf ~"}));
    let outcome = hands.call(&rest, &mut |request| {
        assert!(request.title.contains("warning") && request.always.is_none());
        Verdict::No { reason: None }
    });
    assert!(outcome.is_error && !place.path("y").exists());
}

#[test]
fn a_command_sees_the_folder_and_no_secrets() {
    let place = Place::new();
    let mut hands = hands(&place);
    let told =
        run(&mut hands, "terminal", json!({"command": "pwd; env; cat; echo wrong >&2; exit 3"}));
    assert!(told.is_error && told.text.contains("(exit code 3)"), "{}", told.text);
    assert!(told.text.contains(&*place.working.to_string_lossy()) && told.text.contains("wrong\n"));
    assert!(told.text.contains("HARMLESS=seen") && !told.text.contains("sk-secret"));
    let told = run(&mut hands, "terminal", json!({"command": "true"}));
    assert_eq!(told.text, "(it printed nothing)\n(exit code 0)");
}

#[test]
fn an_edited_command_is_run_as_it_was_edited() {
    let place = Place::new();
    let mut hands = hands(&place);
    let outcome = hands.call(&call("terminal", json!({"command": "touch one"})), &mut |request| {
        assert_eq!(request.editable.as_deref(), Some("touch one"));
        Verdict::Edited("touch two".into())
    });
    assert!(outcome.shown.unwrap().starts_with("ran touch two: exit code 0 (checkpoint"));
    assert!(place.path("two").exists() && !place.path("one").exists());
}

#[test]
fn a_command_that_never_ends_is_ended_with_all_it_started() {
    let place = Place::new();
    let mut hands = hands(&place);
    let begun = Instant::now();
    let line = "trap '' TERM; (sleep 1000; touch late) & echo $! > child; echo begun; sleep 1000";
    let outcome = run(&mut hands, "terminal", json!({"command": line, "timeout_s": 1}));
    assert!(begun.elapsed() < Duration::from_secs(120));
    assert!(outcome.is_error && outcome.text.contains("begun\n"), "{}", outcome.text);
    assert!(outcome.text.contains("ended after 1 seconds"), "{}", outcome.text);
    assert!(is_gone(place.read("child").trim()), "the child of the command still runs");
}

#[test]
fn what_a_command_leaves_running_is_ended_with_it() {
    let place = Place::new();
    let mut hands = hands(&place);
    let begun = Instant::now();
    let outcome = run(&mut hands, "terminal", json!({"command": "sleep 1000 & echo $! > child"}));
    assert!(!outcome.is_error && begun.elapsed() < Duration::from_secs(120));
    assert!(is_gone(place.read("child").trim()));
}

#[test]
fn a_command_ends_when_the_person_cancels() {
    let place = Place::new();
    let mut hands = hands(&place);
    let cancel = Arc::clone(&hands.cancel);
    let begun = Instant::now();
    let marker = place.path("begun");
    let watcher = std::thread::spawn(move || {
        while !marker.exists() && begun.elapsed() < Duration::from_secs(120) {
            std::thread::yield_now();
        }
        cancel.store(true, Ordering::Relaxed);
    });
    let outcome = run(&mut hands, "terminal", json!({"command": "touch begun; sleep 1000"}));
    watcher.join().unwrap();
    assert!(outcome.ends_turn && outcome.text.contains("cancelled"), "{}", outcome.text);
    assert!(begun.elapsed() < Duration::from_secs(300));
}

fn is_gone(process: &str) -> bool {
    let number = nix::unistd::Pid::from_raw(process.parse().unwrap());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        if nix::sys::signal::kill(number, None).is_err() || state.contains(") Z ") {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn files_are_listed_and_searched_without_what_is_ignored_or_secret() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write(".gitignore", "target\n");
    place.write("target/out.txt", "needle");
    place.write("src/main.rs", "fn main() {\n    // Needle\n}\n");
    place.write("src/lib.rs", "// nothing\n");
    place.write(".env", "needle=1");
    place.write("image.bin", b"needle\0");
    place.write(".git/config", "needle");
    let outside = place.working.parent().unwrap().join("outside");
    crate::testing::write(&outside.join("x.txt"), b"needle");
    symlink(&outside, place.path("away")).unwrap();
    let told = text(&mut hands, "list_files", json!({}));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], ".gitignore");
    assert!(lines[1].starts_with("away -> "), "{told}");
    assert_eq!(&lines[2..], ["image.bin", "src/", "src/lib.rs", "src/main.rs"]);
    let told = text(&mut hands, "list_files", json!({"pattern": "*.rs", "path": "src"}));
    assert_eq!(told, "src/lib.rs\nsrc/main.rs\n");
    assert_eq!(text(&mut hands, "list_files", json!({"depth": 1, "pattern": "x*"})), "(nothing)");
    let told = text(&mut hands, "grep", json!({"pattern": "needle", "ignore_case": true}));
    assert_eq!(told, "src/main.rs:2:    // Needle\n");
    let told = text(&mut hands, "grep", json!({"pattern": "Needle", "around": 1, "files": "*.rs"}));
    assert_eq!(told, "src/main.rs-1-fn main() {\nsrc/main.rs:2:    // Needle\nsrc/main.rs-3-}\n");
    assert_eq!(text(&mut hands, "grep", json!({"pattern": "nowhere"})), "(nothing found)\n");
    let outcome = hands.call(&call("grep", json!({"pattern": "("})), &mut never);
    assert!(outcome.is_error && outcome.text.contains("no regular expression"));
    let outcome = hands.call(&call("list_files", json!({"path": "away"})), &mut never);
    assert!(outcome.is_error && outcome.text.contains("outside"), "{}", outcome.text);
}

#[test]
fn read_only_files_folders_and_broken_links_are_not_written() {
    let place = Place::new();
    let mut hands = hands(&place);
    place.write("fixed.txt", "fixed");
    fs::set_permissions(place.path("fixed.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    symlink("/nowhere/at/all", place.path("broken")).unwrap();
    for (path, wanted) in [
        ("fixed.txt", "read-only"),
        ("folder", "a folder"),
        ("folder/", "names a folder"),
        ("broken", "leads nowhere"),
        (".git/hooks/x", "only git writes there"),
        ("fixed.txt/below", "could not read"),
    ] {
        let input = json!({"path": path, "content": "x"});
        let outcome = hands.call(&call("write_file", input), &mut never);
        assert!(outcome.is_error && outcome.text.contains(wanted), "{path}: {}", outcome.text);
    }
}

#[test]
fn a_call_is_described_in_one_line() {
    let hands = hands(&Place::new());
    let told = |name: &str, input: Value| hands.describe(&call(name, input));
    assert_eq!(told("terminal", json!({"command": "a\nb"})), "run a…");
    assert_eq!(told("grep", json!({"pattern": "x"})), "search for x in .");
    assert_eq!(told("read_file", json!(7)), "read ?");
    let names: Vec<String> = hands.tools().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, NAMES);
}
