//! The units that the program writes are taken by systemd as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
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
    // The units are for a systemd that runs for this user.
    sandbox.write(
        "../bin/systemctl",
        "#!/bin/sh\ncase \"$*\" in *is-system-running*) echo running;; esac\n",
    );
    let bin = sandbox.folder().join("bin");
    fs::set_permissions(bin.join("systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut install = sandbox.command(&["backup", "schedule", "install", "--systemd", "--yes"]);
    install.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let installed = Ran::of(&install.output().unwrap());
    assert_eq!(installed.code, 0, "{}{}", installed.stdout, installed.stderr);
    let units = ["hermes-backup.service", "hermes-backup.timer"]
        .map(|name| (name, sandbox.read(&format!("../.config/systemd/user/{name}"))));
    systemd_takes(&sandbox, &units.each_ref().map(|(name, text)| (*name, text.as_str())));
}
