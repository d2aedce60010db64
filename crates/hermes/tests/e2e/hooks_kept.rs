//! What an agent told a hook is kept, whatever stands in the way: settings, schemas, slow and full disks, limits.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::edges::sqlite3;
use crate::hooks_claude::patient_sqlite3;
use crate::sandbox::{Ran, Sandbox, until};

fn turn(number: usize) -> Value {
    json!({"hook_event_name": "Stop", "session_id": format!("kept-{number}"), "cwd": "/srv/shop",
        "prompt": format!("Where is box {number}?"),
        "last_assistant_message": format!("Box {number} is in the cellar.")})
}

/// Sends an event to a program that runs the hook in its own way.
fn sent(mut command: Command, event: &Value) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    Ran::of(&child.wait_with_output().unwrap())
}

fn stop(sandbox: &Sandbox, number: usize) {
    let ran = sent(sandbox.command(&["hook", "claude-code"]), &turn(number));
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

fn times_kept(sandbox: &Sandbox, number: usize) -> usize {
    if !sandbox.path("memory.db").exists() {
        return 0;
    }
    let sql = format!("select count(*) from message where text = 'Box {number} is in the cellar.'");
    patient_sqlite3(sandbox, &sql).parse().unwrap()
}

/// Taken in once, however often that is done.
fn is_taken_in_once(sandbox: &Sandbox, number: usize) {
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
        assert_eq!(times_kept(sandbox, number), 1);
    }
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    listed.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
}

#[test]
fn a_setting_of_another_program_stops_no_command_and_no_hook() {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", "model:\n  context_length: 65536\ndisplay:\n  skin: mono\n");
    sandbox.ok(&["sessions", "list"]);
    stop(&sandbox, 1);
    assert_eq!(times_kept(&sandbox, 1), 1);
    let checked = sandbox.ok(&["config", "check"]);
    assert!(checked.contains("model.context_length") && checked.contains("warning"), "{checked}");
}

#[test]
fn a_slip_in_the_settings_stops_commands_and_no_hook() {
    let sandbox = Sandbox::ready();
    sandbox.write("config.yaml", "backup:\n  encypt_to: alice\n");
    sandbox.fails(&["sessions", "list"], 1, &["backup"]);
    stop(&sandbox, 1);
    assert_eq!(times_kept(&sandbox, 1), 1);
    // Where the memory is meant to be is not known: the turn waits until it is.
    sandbox.write("config.yaml", "memory:\n  pth: /srv/memory.db\n");
    stop(&sandbox, 2);
    assert_eq!((times_kept(&sandbox, 2), names(&sandbox.path("hermesd/spool")).len()), (0, 1));
    sandbox.write("config.yaml", "");
    is_taken_in_once(&sandbox, 2);
}

#[test]
fn with_a_broken_config_a_newer_schema_or_a_damaged_memory_a_turn_waits_in_a_file() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    sandbox.write("config.yaml", "a: [");
    stop(&sandbox, 1);
    assert_eq!(names(&sandbox.path("hermesd/spool")).len(), 1);
    sandbox.write("config.yaml", "");
    is_taken_in_once(&sandbox, 1);
    let version: u32 = sqlite3(&sandbox, "memory.db", "pragma user_version").parse().unwrap();
    let becomes = |version: u32| {
        sqlite3(&sandbox, "memory.db", &format!("pragma user_version = {version}"));
    };
    becomes(version + 7);
    sandbox.fails(&["memory", "search", "box"], 5, &["memory.db", "upgrade"]);
    stop(&sandbox, 2);
    assert_eq!(names(&sandbox.path("hermesd/spool")).len(), 1);
    becomes(version);
    is_taken_in_once(&sandbox, 2);
    let whole = fs::read(sandbox.path("memory.db")).unwrap();
    sandbox.write("memory.db", "not a database");
    stop(&sandbox, 3);
    sandbox.write("memory.db", whole);
    is_taken_in_once(&sandbox, 3);
}

#[test]
fn a_limit_of_file_sizes_ends_no_hook_and_loses_no_turn() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let script = format!("ulimit -f 4; exec {} hook claude-code", env!("CARGO_BIN_EXE_hermes"));
    let ran = sent(sandbox.command_of("/bin/bash".as_ref(), &["-c", &script]), &turn(1));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    is_taken_in_once(&sandbox, 1);
}

/// A home on a full disk of its own; what the user has elsewhere is not full.
#[test]
fn with_a_full_disk_a_turn_waits_outside_of_the_home() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let script = "cp -a \"$1\" \"$1.copy\" && mount -t tmpfs -o size=4m,mode=700 tmpfs \"$1\" &&
        cp -a \"$1.copy/.\" \"$1\" && { cat /dev/zero > \"$1/filling\" 2>/dev/null; true; } &&
        exec \"$2\" hook \"$3\"";
    let on_full_disk = |more: &[(&str, &Path)], agent: &str, event: &Value| {
        let mut command = sandbox.command_of(
            "unshare".as_ref(),
            &["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"],
        );
        command.arg(sandbox.home()).arg(env!("CARGO_BIN_EXE_hermes")).arg(agent);
        command.envs(more.iter().copied());
        let ran = sent(command, event);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        fs::remove_dir_all(sandbox.folder().join(".hermes.copy")).unwrap();
    };
    on_full_disk(&[], "claude-code", &turn(1));
    let state = sandbox.folder().join(".local/state/hermes/spool");
    assert_eq!(names(&state).len(), 1);
    let doctor = sandbox.run(&["doctor"]).stdout;
    assert!(doctor.contains("turn file not recorded yet"), "{doctor}");
    is_taken_in_once(&sandbox, 1);
    assert!(names(&state).is_empty());
    // The folder of state cannot be used either.
    let (temporary, blocked) = (sandbox.folder().join("tmp"), sandbox.folder().join("blocked"));
    fs::create_dir_all(&temporary).unwrap();
    sandbox.write("../blocked", "a file");
    on_full_disk(&[("XDG_STATE_HOME", &blocked), ("TMPDIR", &temporary)], "claude-code", &turn(2));
    let private = fs::read_dir(&temporary).unwrap().next().unwrap().unwrap().path();
    assert_eq!(names(&private).len(), 1);
    let mut command = sandbox.command(&["memory", "catch-up"]);
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    assert!(output.status.success());
    assert_eq!((times_kept(&sandbox, 2), names(&private).len()), (1, 0));
    // Cursor tells prompt and answer apart, and has no transcript.
    let said = |name: &str, key: &str, text: &str| json!({"hook_event_name": name, "conversation_id": "c-1", key: text});
    on_full_disk(&[], "cursor", &said("beforeSubmitPrompt", "prompt", "Where is box 3?"));
    let answered = said("afterAgentResponse", "text", "Box 3 is in the cellar.");
    on_full_disk(&[], "cursor", &answered);
    on_full_disk(&[], "cursor", &said("stop", "status", "completed"));
    assert_eq!(names(&state).len(), 2);
    is_taken_in_once(&sandbox, 3);
}

/// A library that makes every sync take longer, as on a disk that has much to do.
fn slow_syncs(sandbox: &Sandbox) -> PathBuf {
    let source = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\n\
        static void wait(void) { struct timespec t = {0, 450000000}; nanosleep(&t, 0); }\n\
        int fsync(int f) { wait(); return ((int (*)(int))dlsym(RTLD_NEXT, \"fsync\"))(f); }\n\
        int fdatasync(int f) { wait(); return ((int (*)(int))dlsym(RTLD_NEXT, \"fdatasync\"))(f); }\n";
    sandbox.write("../slow.c", source);
    let library = sandbox.folder().join("slow.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(sandbox.folder().join("slow.c"))
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(built.success());
    library
}

#[test]
fn a_disk_that_syncs_slowly_keeps_the_agent_waiting_no_longer_and_the_turn_comes() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The shop is in Porto."]);
    let library = slow_syncs(&sandbox);
    let mut command = sandbox.command(&["hook", "claude-code"]);
    command.env("LD_PRELOAD", &library);
    let begun = Instant::now();
    let ran = sent(command, &turn(1));
    let took = begun.elapsed();
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    assert!(took < Duration::from_secs(5), "{took:?}");
    until("a process of its own has recorded the turn", || times_kept(&sandbox, 1) == 1);
    until("its file is gone", || {
        fs::read_dir(sandbox.path("hermesd/hook-sessions"))
            .unwrap()
            .flatten()
            .all(|entry| entry.path().extension().is_none_or(|ending| ending != "json"))
    });
    is_taken_in_once(&sandbox, 1);
}
