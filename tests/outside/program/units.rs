//! The units that the program writes are taken by systemd as they are.

use std::fs;
use std::process::Command;

use crate::sandbox::{Ran, Sandbox};

/// Fails unless systemd finds nothing to say about the units in a folder.
fn systemd_takes(sandbox: &Sandbox, units: &[(&str, &str)]) {
    for (name, text) in units {
        sandbox.write(&format!("../units/{name}"), text);
    }
    for (name, text) in units {
        let file = sandbox.folder().join("units").join(name);
        let verified = Command::new("systemd-analyze").arg("verify").arg(&file).output();
        let verified = Ran::of(&verified.expect("systemd-analyze must be installed"));
        assert_eq!(verified.code, 0, "{}\n{text}", verified.stderr);
        assert!(!verified.stderr.contains("hermes"), "{}\n{text}", verified.stderr);
    }
    fs::remove_dir_all(sandbox.folder().join("units")).unwrap();
}

#[test]
fn systemd_takes_the_unit_of_the_daemon() {
    let sandbox = Sandbox::ready();
    for flags in
        [&["service", "install", "--print"][..], &["service", "install", "--print", "--system"]]
    {
        systemd_takes(&sandbox, &[("hermes.service", &sandbox.ok(flags))]);
    }
}

#[test]
fn systemd_takes_both_units_of_scheduled_backups() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "timezone", "Europe/Berlin"]);
    let install = ["backup", "schedule", "install", "--systemd", "--print"];
    for flags in [&install[..], &[&install[..], &["--system"]].concat()] {
        let printed = sandbox.ok(flags);
        let (service, timer) = printed.split_once("\n# hermes-backup.timer\n").unwrap();
        systemd_takes(
            &sandbox,
            &[("hermes-backup.service", service), ("hermes-backup.timer", timer)],
        );
    }
}
