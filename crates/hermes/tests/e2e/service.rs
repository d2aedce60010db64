//! The daemon starts with the machine: units of systemd, lines of cron, nothing else touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::daemon::send;
use crate::sandbox::{Ran, Sandbox, until};

/// A program of the system that writes down how it was called.
#[expect(clippy::disallowed_methods, reason = "a script of the test, not a file of the user")]
pub(crate) fn pretend(sandbox: &Sandbox, name: &str, script: &str) {
    let bin = sandbox.folder().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(arguments);
    let path = format!("{}:/usr/bin:/bin", sandbox.folder().join("bin").display());
    Ran::of(&command.env("PATH", path).output().unwrap())
}

/// The words of a command line in a unit, as systemd reads the quotes we write.
pub(crate) fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate().flat_map(|(place, part)| match place % 2 {
        1 => vec![part.replace("%%", "%").replace("$$", "$")],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    parts.collect()
}

#[test]
fn the_command_of_the_unit_really_runs() {
    let sandbox = Sandbox::ready();
    let unit = sandbox.ok(&["service", "install", "--print"]);
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words = words(line);
    let rest: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let mut child = sandbox.command_of(Path::new(&words[0]), &rest).spawn().unwrap();
    until("the daemon runs", || sandbox.json(&["status"])["daemon"]["pid"] == child.id());
    send(i32::try_from(child.id()).unwrap(), Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_unit_is_installed_once_and_removed_whole() {
    let sandbox = Sandbox::ready();
    let calls = sandbox.folder().join("calls");
    let active = sandbox.folder().join("active");
    pretend(
        &sandbox,
        "systemctl",
        &format!(
            "echo \"$*\" >> {calls}\ncase \"$*\" in *is-system-running*) echo running;;\n\
             *enable*) touch {active};;\n*is-active*) test -e {active};; esac",
            calls = calls.display(),
            active = active.display()
        ),
    );
    let unit = sandbox.folder().join(".config/systemd/user/hermes.service");
    run(&sandbox, &["service", "install"]).failed(5, &["not confirmed", "--yes"]);
    assert!(!unit.exists());
    let ran = run(&sandbox, &["service", "install", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("loginctl enable-linger"), "{}", ran.stderr);
    let asked = fs::read_to_string(&calls).unwrap();
    for call in ["--user daemon-reload", "--user enable --now hermes.service"] {
        assert!(asked.lines().any(|line| line == call), "{call} in {asked}");
    }
    let before = fs::read(&unit).unwrap();
    let again = run(&sandbox, &["service", "install", "--json"]);
    assert_eq!(again.code, 0, "nothing is asked when nothing changes: {}", again.stderr);
    assert_eq!(fs::read(&unit).unwrap(), before);
    let shown = run(&sandbox, &["service", "status"]);
    assert!(shown.stdout.contains("hermes.service"), "{}", shown.stdout);
    let ran = run(&sandbox, &["service", "uninstall", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!unit.exists());
    assert!(fs::read_to_string(&calls).unwrap().contains("--user disable --now hermes.service"));
    assert!(run(&sandbox, &["service", "status"]).stdout.contains("does not start"));
    let other = "[Service]\nExecStart=/bin/true\n";
    #[expect(clippy::disallowed_methods, reason = "a file of another program")]
    fs::write(&unit, other).unwrap();
    fs::remove_file(&active).unwrap();
    run(&sandbox, &["service", "install", "--yes"]).failed(5, &["not created by Hermes"]);
    assert_eq!(fs::read_to_string(&unit).unwrap(), other);
}

#[test]
fn without_systemd_a_line_of_cron_does_it_and_other_lines_stay() {
    let sandbox = Sandbox::ready();
    let table = sandbox.folder().join("table");
    let others = "# mine\n0 1 * * * backup\n";
    #[expect(clippy::disallowed_methods, reason = "a file of the test")]
    fs::write(&table, others).unwrap();
    pretend(&sandbox, "systemctl", "echo offline; exit 1");
    let script = format!("if [ \"$1\" = -l ]; then cat {0}; else cat > {0}; fi", table.display());
    pretend(&sandbox, "crontab", &script);
    run(&sandbox, &["service", "install", "--yes"])
        .failed(5, &["systemd is not running", "--cron", "@reboot"]);
    for _ in 0..2 {
        let ran = run(&sandbox, &["service", "install", "--cron", "--yes"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let installed = fs::read_to_string(&table).unwrap();
    assert!(installed.starts_with(others) && installed.lines().count() == 3, "{installed}");
    let command = installed.lines().last().unwrap().strip_prefix("@reboot ").unwrap().to_owned();
    let output = sandbox.command_of(Path::new("/bin/sh"), &["-c", &command]).output().unwrap();
    assert!(output.status.success(), "{}", Ran::of(&output).stderr);
    assert_eq!(sandbox.json(&["status"])["daemon"]["running"], true);
    assert!(run(&sandbox, &["service", "status"]).stdout.contains("by cron"));
    let started = run(&sandbox, &["start"]);
    assert!(!started.stderr.contains("service install"), "{}", started.stderr);
    run(&sandbox, &["service", "uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(&table).unwrap(), others);
}
