//! The daemon: one for each home, ended in good order or not, and the jobs it does.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::embeddings::Endpoint;
use crate::recall::remembering;
use crate::sandbox::{Sandbox, until};

/// How long a test waits for a request of a job.
const PATIENCE: Duration = Duration::from_secs(120);

fn start(sandbox: &Sandbox) -> i32 {
    pid_of(&sandbox.json(&["start"])["daemon"])
}

fn pid_of(value: &Value) -> i32 {
    i32::try_from(value["pid"].as_i64().unwrap()).unwrap()
}

pub(crate) fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

fn status(sandbox: &Sandbox) -> Value {
    sandbox.json(&["status"])
}

fn is_running(sandbox: &Sandbox) -> bool {
    status(sandbox)["daemon"]["running"] == true
}

fn check(sandbox: &Sandbox, name: &str) -> Value {
    let report: Value = serde_json::from_str(&sandbox.run(&["doctor", "--json"]).stdout).unwrap();
    let found = report["results"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in {report}")).clone()
}

/// The newest job of a kind.
fn job(sandbox: &Sandbox, kind: &str) -> Value {
    let jobs = sandbox.json(&["jobs", "list"])["results"].clone();
    jobs.as_array().unwrap().iter().find(|job| job["kind"] == kind).cloned().unwrap_or_default()
}

fn schedule(sandbox: &Sandbox, profile: usize) -> Value {
    let all = status(sandbox)["profiles"][profile]["schedules"].clone();
    let found = all.as_array().unwrap().iter().find(|one| one["name"] == "vacuum");
    found.cloned().unwrap_or_default()
}

fn foreground(sandbox: &Sandbox) -> Child {
    let mut command = sandbox.command(&["start", "--foreground"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("the daemon runs", || is_running(sandbox));
    child
}

#[test]
fn start_leaves_one_daemon_behind_and_stop_ends_it() {
    let sandbox = Sandbox::empty();
    let first = sandbox.json(&["start"]);
    assert_eq!(first["daemon"]["is_new"], true, "{first}");
    let again = sandbox.run(&["start"]);
    assert_eq!(again.code, 0);
    let line = format!("already running, pid {}", first["daemon"]["pid"]);
    assert!(again.stdout.contains(&line), "{}", again.stdout);
    assert!(again.stderr.contains("`hermes service install`"), "{}", again.stderr);
    let running = status(&sandbox)["daemon"].clone();
    assert_eq!((&running["running"], &running["pid"]), (&true.into(), &first["daemon"]["pid"]));
    assert_eq!(check(&sandbox, "daemon")["status"], "ok");
    let stopped = sandbox.ok(&["stop"]);
    assert!(stopped.contains("stopped the daemon"), "{stopped}");
    let ended = status(&sandbox)["daemon"].clone();
    assert_eq!((&ended["running"], &ended["ended_well"]), (&false.into(), &true.into()));
    let shown = sandbox.run(&["status"]);
    assert!(shown.stdout.contains("no daemon since 20"), "{}", shown.stdout);
    assert!(shown.stderr.contains("`hermes start`"), "{}", shown.stderr);
    let found = check(&sandbox, "daemon");
    assert_eq!((&found["status"], &found["repair"]), (&"warn".into(), &"hermes start".into()));
    assert!(sandbox.ok(&["stop"]).contains("not running"));
    let log = sandbox.ok(&["logs", "-n", "1"]);
    assert!(log.ends_with(" stopped\n"), "{log}");
}

#[test]
fn what_the_daemon_keeps_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::empty();
    start(&sandbox);
    let mut paths = vec![sandbox.path("hermesd/daemon.lock"), sandbox.path("hermesd/daemon.json")];
    paths.extend(
        fs::read_dir(sandbox.path("hermesd/logs")).unwrap().map(|entry| entry.unwrap().path()),
    );
    assert!(paths.len() > 2);
    for path in paths {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
}

#[test]
fn the_foreground_refuses_a_second_and_ends_in_good_order() {
    let sandbox = Sandbox::empty();
    let mut child = {
        let mut command = sandbox.command(&["start", "--foreground"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    until("the home is made", || sandbox.home().join("hermesd/daemon.json").exists());
    until("the daemon runs", || is_running(&sandbox));
    let pid = i32::try_from(child.id()).unwrap();
    sandbox.fails(&["start", "--foreground"], 11, &["already running", &pid.to_string()]);
    send(pid, Signal::SIGHUP);
    let has_read = || sandbox.ok(&["logs"]).contains("settings reloaded");
    until("the settings are read again", has_read);
    send(pid, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(status(&sandbox)["daemon"]["ended_well"], true);
    let mut interrupted = foreground(&sandbox);
    send(i32::try_from(interrupted.id()).unwrap(), Signal::SIGINT);
    assert_eq!(interrupted.wait().unwrap().code(), Some(0));
}

#[test]
fn a_daemon_that_was_killed_is_missed_and_the_next_one_says_so() {
    let sandbox = Sandbox::empty();
    let pid = start(&sandbox);
    send(pid, Signal::SIGKILL);
    until("it is gone", || !is_running(&sandbox));
    let shown = sandbox.ok(&["status"]);
    assert!(shown.contains("ended unexpectedly"), "{shown}");
    assert!(check(&sandbox, "daemon")["evidence"].as_str().unwrap().contains("outdated"));
    let again = sandbox.run(&["start"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains(&format!("(pid {pid}) ended unexpectedly")), "{}", again.stderr);
    assert!(is_running(&sandbox));
}

#[test]
fn several_starts_at_once_give_one_daemon() {
    let sandbox = Sandbox::ready();
    let started: Vec<Value> = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..4).map(|_| scope.spawn(|| sandbox.json(&["start"])["daemon"].clone())).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let pids: Vec<i32> = started.iter().map(pid_of).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let new = started.iter().filter(|daemon| daemon["is_new"] == true).count();
    assert_eq!(new, 1, "{started:?}");
}

#[test]
fn restart_gives_another_process() {
    let sandbox = Sandbox::ready();
    let pid = start(&sandbox);
    let restarted = sandbox.json(&["restart"]);
    assert_eq!(restarted["stopped"], pid);
    assert_ne!(restarted["pid"], pid);
    assert!(is_running(&sandbox));
}

#[test]
fn a_job_that_was_killed_in_the_middle_runs_again() {
    let sandbox = remembering();
    let endpoint = Endpoint::start(0);
    endpoint.set(&sandbox);
    let pid = start(&sandbox);
    endpoint.silent.recv_timeout(PATIENCE).unwrap();
    assert_eq!(job(&sandbox, "reembed")["state"], "leased");
    sandbox.fails(&["jobs", "run", "reembed"], 11, &["job reembed is already running"]);
    send(pid, Signal::SIGKILL);
    until("it is gone", || !is_running(&sandbox));
    start(&sandbox);
    endpoint.silent.recv_timeout(PATIENCE).unwrap();
    let again = job(&sandbox, "reembed");
    assert_eq!((&again["state"], &again["attempts"]), (&"leased".into(), &2.into()), "{again}");
    // The model never answers, and the daemon ends all the same.
    sandbox.ok(&["stop"]);
    assert_eq!(status(&sandbox)["daemon"]["ended_well"], true);
    sandbox.ok(&["config", "set", "memory.embeddings.provider", "embedded"]);
    sandbox.ok(&["config", "unset", "memory.embeddings.base_url"]);
    start(&sandbox);
    until("the job is done", || job(&sandbox, "reembed")["state"] == "done");
    until("it is in the log", || sandbox.ok(&["logs"]).contains("reembed of default: done"));
}

#[test]
fn a_job_whose_daemon_dies_again_and_again_is_not_given_up_and_doctor_says_that_work_stands_still()
{
    let sandbox = remembering();
    let endpoint = Endpoint::start(0);
    endpoint.set(&sandbox);
    for _ in 0..3 {
        let pid = start(&sandbox);
        endpoint.silent.recv_timeout(PATIENCE).unwrap();
        assert_eq!(job(&sandbox, "reembed")["state"], "leased");
        assert_eq!(check(&sandbox, "jobs")["status"], "ok");
        send(pid, Signal::SIGKILL);
        until("it is gone", || !is_running(&sandbox));
    }
    start(&sandbox);
    until("the job waits", || job(&sandbox, "reembed")["state"] == "waiting");
    let jobs = check(&sandbox, "jobs");
    assert_eq!(jobs["status"], "warn", "{jobs}");
    let evidence = jobs["evidence"].as_str().unwrap();
    assert!(evidence.contains("work is stalled: reembed"), "{evidence}");
    assert!(evidence.contains("interrupted 3 times in a row"), "{evidence}");
    let said = &status(&sandbox)["profiles"][0];
    assert!(said["stands_still"].as_str().unwrap().contains("reembed"), "{said}");
    assert_eq!(said["failed"].as_array().unwrap().len(), 0, "{said}");
}

#[test]
fn a_job_that_always_fails_is_given_up_and_shown() {
    let sandbox = remembering();
    sandbox.ok(&["config", "set", "memory.embeddings.provider", "anthropic"]);
    start(&sandbox);
    until("the first try", || job(&sandbox, "reembed")["attempts"] == 1);
    until("it waits", || job(&sandbox, "reembed")["state"] == "waiting");
    sandbox.ok(&["stop"]);
    let log = sandbox.ok(&["logs"]);
    assert!(log.contains("failed (refused), retry at"), "{log}");
    assert!(!log.contains("VOYAGE_API_KEY"), "what went wrong is kept with the job alone: {log}");
    for _ in 0..4 {
        sandbox.fails(&["jobs", "run", "reembed"], 1, &["VOYAGE_API_KEY is not set"]);
    }
    let given_up = job(&sandbox, "reembed");
    assert_eq!(
        (&given_up["state"], &given_up["attempts"]),
        (&"failed".into(), &5.into()),
        "{given_up}"
    );
    let failed = status(&sandbox)["profiles"][0]["failed"][0].clone();
    assert_eq!(failed["retry"], format!("hermes jobs retry {}", given_up["id"]));
    let found = check(&sandbox, "jobs");
    assert_eq!(
        (&found["status"], &found["repair"]),
        (&"warn".into(), &"hermes jobs retry --all-failed".into())
    );
    sandbox.ok(&["config", "set", "memory.embeddings.provider", "embedded"]);
    assert!(sandbox.ok(&["jobs", "retry", "--all-failed"]).contains("1 job"));
    assert_eq!(job(&sandbox, "reembed")["attempts"], 0);
    start(&sandbox);
    until("the job is done", || job(&sandbox, "reembed")["state"] == "done");
    assert_eq!(check(&sandbox, "jobs")["status"], "ok");
    sandbox.fails(&["jobs", "retry", "999"], 4, &["999"]);
}

#[test]
fn every_profile_has_its_schedules_and_what_was_missed_comes_once() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "coder"]);
    for profile in ["default", "coder"] {
        sandbox.ok(&["-p", profile, "memory", "fact", "add", "The ladder is in the cellar"]);
    }
    let pid = start(&sandbox);
    for profile in [0, 1] {
        until("the schedule is kept", || schedule(&sandbox, profile)["name"] == "vacuum");
        assert_eq!(schedule(&sandbox, profile)["last_run"], Value::Null);
    }
    let overdue = "update schedule set next_run = 1000 where name = 'vacuum'";
    sandbox.sql("profiles/coder/memory.db", overdue);
    send(pid, Signal::SIGUSR1);
    until("it is made up for", || schedule(&sandbox, 1)["last_run"] != Value::Null);
    assert_eq!(schedule(&sandbox, 0)["last_run"], Value::Null);
    let jobs = sandbox.json(&["-p", "coder", "jobs", "list"])["results"].clone();
    let vacuums = jobs.as_array().unwrap().iter().filter(|job| job["kind"] == "vacuum");
    assert_eq!(vacuums.count(), 1, "{jobs}");
    sandbox.ok(&["config", "set", "memory.vacuum_schedule", "never"]);
    send(pid, Signal::SIGHUP);
    until("nothing is planned", || schedule(&sandbox, 0)["next_run"] == Value::Null);
}

#[test]
fn a_database_that_was_replaced_is_left_alone_until_a_restart() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The ladder is in the cellar"]);
    let pid = start(&sandbox);
    until("the schedule is kept", || schedule(&sandbox, 0)["name"] == "vacuum");
    let stranger = Sandbox::ready();
    stranger.ok(&["memory", "fact", "add", "The ladder is in the attic"]);
    let (memory, copy) = (sandbox.path("memory.db"), sandbox.path("copy.db"));
    fs::copy(stranger.path("memory.db"), &copy).unwrap();
    fs::rename(&copy, &memory).unwrap();
    send(pid, Signal::SIGUSR1);
    let trouble = || status(&sandbox)["profiles"][0]["trouble"].to_string();
    until("it is noticed", || trouble().contains("replaced or removed"));
    assert_eq!(check(&sandbox, "daemon")["repair"], "hermes restart");
    let log = sandbox.ok(&["logs"]);
    assert!(log.contains("memory.db was replaced or removed"), "{log}");
    sandbox.ok(&["restart"]);
    until("it works again", || trouble().contains("not the one that was written last"));
    sandbox.run(&["doctor", "--accept"]);
    sandbox.ok(&["restart"]);
    until("it is taken as it is", || trouble() == "null");
}

#[test]
fn the_same_memory_in_a_new_file_is_worked_with_at_once() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The ladder is in the cellar"]);
    let pid = start(&sandbox);
    until("the schedule is kept", || schedule(&sandbox, 0)["name"] == "vacuum");
    let (memory, copy) = (sandbox.path("memory.db"), sandbox.path("copy.db"));
    until("nobody writes", || {
        // The last one to close the file clears up, unless somebody else looks just then; so close it here once more.
        sandbox.database("memory.db").query_row("SELECT 1", [], |_| Ok(())).unwrap();
        send(pid, Signal::SIGSTOP);
        let is_quiet = !sandbox.path("memory.db-wal").exists();
        if !is_quiet {
            send(pid, Signal::SIGCONT);
        }
        is_quiet
    });
    fs::copy(&memory, &copy).unwrap();
    fs::rename(&copy, &memory).unwrap();
    send(pid, Signal::SIGCONT);
    sandbox.ok(&["config", "set", "memory.vacuum_schedule", "never"]);
    send(pid, Signal::SIGHUP);
    until("it is worked with", || schedule(&sandbox, 0)["next_run"] == Value::Null);
    assert_eq!(status(&sandbox)["profiles"][0]["trouble"], Value::Null);
}

#[test]
fn a_daemon_whose_home_is_gone_ends() {
    let sandbox = Sandbox::ready();
    let pid = start(&sandbox);
    fs::rename(sandbox.home(), sandbox.folder().join("elsewhere")).unwrap();
    send(pid, Signal::SIGUSR1);
    until("it has ended", || kill(Pid::from_raw(pid), None).is_err() || is_defunct(pid));
}

/// Whether only its exit code is left of a process, for a parent that does not ask.
fn is_defunct(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}
