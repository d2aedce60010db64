//! What an agent told a hook is kept, whatever stands in the way: settings, schemas, slow disks, limits.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::hook_turns::{is_taken_in_once, names, sent, times_kept, turn};
use crate::sandbox::{Sandbox, until};

fn stop(sandbox: &Sandbox, number: usize) {
    let ran = sent(sandbox.command(&["hook", "claude-code"]), &turn(number));
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
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
    let version: u32 = sandbox.sql("memory.db", "pragma user_version").parse().unwrap();
    let becomes = |version: u32| {
        sandbox.sql("memory.db", &format!("pragma user_version = {version}"));
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
    let script = format!("ulimit -f 8; exec {} hook claude-code", env!("CARGO_BIN_EXE_hermes"));
    let ran = sent(sandbox.command_of("/bin/sh".as_ref(), &["-c", &script]), &turn(1));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    is_taken_in_once(&sandbox, 1);
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
    assert!(took < Duration::from_secs(60), "{took:?}");
    until("a process of its own has recorded the turn", || times_kept(&sandbox, 1) == 1);
    until("its file is gone", || {
        fs::read_dir(sandbox.path("hermesd/hook-sessions"))
            .unwrap()
            .flatten()
            .all(|entry| entry.path().extension().is_none_or(|ending| ending != "json"))
    });
    is_taken_in_once(&sandbox, 1);
}
