//! Scheduled backups: by systemd, by cron or by the daemon, exactly one of them, once a night.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, until};
use crate::service::{pretend, run, words};

const RECORD: &str = "hermesd/backup-schedule.json";

/// A sandbox with a systemd and a crontab of its own.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::ready();
    let folder = sandbox.folder().display();
    pretend(
        &sandbox,
        "systemctl",
        &format!(
            "echo \"$*\" >> {folder}/calls\ncase \"$*\" in *is-system-running*) echo running;;\n\
             *enable*) touch {folder}/active;;\n*disable*) rm -f {folder}/active;;\n\
             *is-active*) test -e {folder}/active;; esac"
        ),
    );
    #[expect(clippy::disallowed_methods, reason = "a file of the test")]
    fs::write(sandbox.folder().join("table"), OTHERS).unwrap();
    let table = format!("{folder}/table");
    let script = format!("if [ \"$1\" = -l ]; then cat {table}; else cat > {table}; fi");
    pretend(&sandbox, "crontab", &script);
    sandbox
}

const OTHERS: &str = "# mine\n0 1 * * * backup\n";

fn unit(sandbox: &Sandbox, ending: &str) -> PathBuf {
    sandbox.folder().join(format!(".config/systemd/user/hermes-backup.{ending}"))
}

fn table(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.folder().join("table")).unwrap()
}

fn install(sandbox: &Sandbox, way: &str) -> String {
    let ran = run(sandbox, &["backup", "schedule", "install", way, "--yes"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn record(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(RECORD)).unwrap()
}

/// The schedule as if it had been set up long ago, so that a backup is due now.
fn make_due(sandbox: &Sandbox) {
    let mut record = record(sandbox);
    record["since"] = "2020-01-01T00:00:00Z".into();
    record["last"] = Value::Null;
    sandbox.write(RECORD, record.to_string());
}

#[test]
fn what_would_be_written_is_printed_for_every_way() {
    let sandbox = Sandbox::ready();
    for (flags, words) in [
        (&["--systemd"][..], "OnCalendar="),
        (&["--systemd", "--system"], "OnCalendar="),
        (&["--cron"], "backup create --scheduled cron"),
        (&["--daemon"], "\"by\": \"daemon\""),
    ] {
        let all = [&["backup", "schedule", "install", "--print"][..], flags].concat();
        assert!(sandbox.ok(&all).contains(words), "{flags:?}");
    }
    let both = ["backup", "schedule", "install", "--print", "--cron", "--daemon"];
    let refused = sandbox.run(&both);
    assert!(refused.code == 2 && refused.stderr.contains("cannot be used with"));
}

#[test]
fn both_units_are_installed_and_their_command_really_runs() {
    let sandbox = sandbox();
    sandbox.ok(&["config", "set", "timezone", "Europe/Berlin"]);
    run(&sandbox, &["backup", "schedule", "install", "--systemd"]).failed(5, &["--yes"]);
    assert!(!unit(&sandbox, "timer").exists());
    install(&sandbox, "--systemd");
    let calls = fs::read_to_string(sandbox.folder().join("calls")).unwrap();
    assert!(calls.contains("--user enable --now hermes-backup.timer"), "{calls}");
    let service = fs::read_to_string(unit(&sandbox, "service")).unwrap();
    let line = service.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words = words(line);
    let rest: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let start = || Ran::of(&sandbox.command_of(Path::new(&words[0]), &rest).output().unwrap());
    let early = start();
    assert_eq!(early.code, 0, "{}", early.stderr);
    assert!(early.stderr.contains("the next backup is due"), "{}", early.stderr);
    assert_eq!(record(&sandbox)["last"], Value::Null);
    make_due(&sandbox);
    let ran = start();
    assert_ne!(ran.code, 2, "its words are understood: {}", ran.stderr);
    assert!(record(&sandbox)["last"]["ended"].is_object(), "{}", record(&sandbox));
    assert!(start().stderr.contains("the next backup is due"), "once for a day");
}

#[test]
fn another_way_takes_the_place_of_the_first_and_nothing_else_is_touched() {
    let sandbox = sandbox();
    sandbox.ok(&["config", "set", "backup.random_delay_minutes", "0"]);
    install(&sandbox, "--systemd");
    let unchanged = run(&sandbox, &["backup", "schedule", "install", "--systemd"]);
    assert_eq!(unchanged.code, 0, "nothing is asked when nothing changes: {}", unchanged.stderr);
    let said = install(&sandbox, "--cron");
    assert!(said.contains("hermes-backup.timer and its service"), "{said}");
    assert!(!unit(&sandbox, "timer").exists() && !unit(&sandbox, "service").exists());
    assert!(table(&sandbox).starts_with(OTHERS), "{}", table(&sandbox));
    let line = table(&sandbox).lines().last().unwrap().to_owned();
    assert!(line.starts_with("30 3 * * * '"), "{line}");
    let once = table(&sandbox);
    install(&sandbox, "--cron");
    assert_eq!(table(&sandbox), once);
    // The line of the daemon's service is another one.
    run(&sandbox, &["service", "install", "--cron", "--yes"]);
    let said = install(&sandbox, "--daemon");
    assert!(said.contains("the line was removed from your crontab"), "{said}");
    assert!(table(&sandbox).contains("@reboot") && !table(&sandbox).contains("create"));
    assert_eq!(record(&sandbox)["by"], "daemon");
    let status = run(&sandbox, &["backup", "schedule", "status", "--json"]);
    assert_eq!(status.code, 6, "the daemon does not run: {}", status.stdout);
    assert!(status.stdout.contains("hermes start"), "{}", status.stdout);
    let removed = run(&sandbox, &["backup", "schedule", "remove", "--yes"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert!(!sandbox.path(RECORD).exists());
    assert!(run(&sandbox, &["backup", "schedule", "status"]).stdout.contains("no backups"));
}

#[test]
fn a_run_by_another_way_than_the_chosen_one_does_nothing() {
    let sandbox = sandbox();
    install(&sandbox, "--daemon");
    make_due(&sandbox);
    for by in ["systemd", "cron"] {
        let ran = run(&sandbox, &["backup", "create", "--scheduled", by]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("scheduled by daemon"), "{}", ran.stderr);
    }
    assert_eq!(record(&sandbox)["last"], Value::Null);
}

#[test]
fn status_says_what_keeps_the_schedule_from_working() {
    let sandbox = sandbox();
    install(&sandbox, "--cron");
    assert_eq!(run(&sandbox, &["backup", "schedule", "status"]).code, 0);
    sandbox.ok(&["config", "set", "backup.time", "05:15"]);
    let status = run(&sandbox, &["backup", "schedule", "status"]);
    assert!(status.code == 6 && status.stdout.contains("earlier settings"), "{}", status.stdout);
    install(&sandbox, "--cron");
    assert!(table(&sandbox).lines().count() == 3);
    #[expect(clippy::disallowed_methods, reason = "somebody edits the crontab")]
    fs::write(sandbox.folder().join("table"), OTHERS).unwrap();
    let status = run(&sandbox, &["backup", "schedule", "status"]);
    assert!(
        status.code == 6 && status.stdout.contains("crontab line is missing"),
        "{}",
        status.stdout
    );
    sandbox.write(RECORD, "{ nonsense");
    run(&sandbox, &["backup", "schedule", "status"]).failed(1, &["backup-schedule.json"]);
    install(&sandbox, "--cron");
    assert_eq!(run(&sandbox, &["backup", "schedule", "status"]).code, 0);
}

#[test]
fn the_daemon_catches_up_once_in_a_process_of_its_own() {
    let sandbox = sandbox();
    install(&sandbox, "--daemon");
    make_due(&sandbox);
    sandbox.ok(&["start"]);
    until("the backup is over", || record(&sandbox)["last"]["ended"].is_object());
    let began = record(&sandbox)["last"]["began"].clone();
    sandbox.ok(&["restart"]);
    let log = || sandbox.ok(&["logs"]);
    until("it runs again", || log().matches("started: pid").count() == 2);
    assert_eq!(log().matches("backup: started").count(), 1, "{}", log());
    assert_eq!(record(&sandbox)["last"]["began"], began);
    let status = sandbox.json(&["backup", "schedule", "status"]);
    assert_eq!(status["by"], "daemon");
    assert!(status["next"].is_string() && status["last"]["day"].is_string(), "{status}");
}
