//! Doctor finds what is wrong, names the command that repairs it, and repairs what is safe.

use std::fs;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn check(sandbox: &Sandbox, name: &str) -> Value {
    let ran = sandbox.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found = report["results"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in {report}")).clone()
}

#[test]
fn a_fresh_home_is_well() {
    let sandbox = Sandbox::ready();
    let report = sandbox.json(&["doctor"]);
    for check in report["results"].as_array().unwrap() {
        assert_ne!(check["status"], "fail", "{check}");
    }
    for name in
        ["home", "modes", "config", "memory", "user", "places", "profile", "sessions", "layout"]
    {
        assert_eq!(check(&sandbox, name)["status"], "ok", "{name}");
    }
}

#[test]
fn without_a_home_it_names_the_command_that_makes_one() {
    let sandbox = Sandbox::empty();
    assert_eq!(sandbox.run(&["doctor"]).code, 6);
    assert_eq!(check(&sandbox, "home")["repair"], "hermes init");
}

#[cfg(unix)]
#[test]
fn open_modes_are_found_and_fixed() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::ready();
    for (path, mode) in
        [("", 0o755), (".env", 0o644), ("memories/MEMORY.md", 0o664), ("state.db", 0o666)]
    {
        fs::set_permissions(sandbox.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    assert_eq!(check(&sandbox, "modes")["status"], "fail");
    assert_eq!(check(&sandbox, "modes")["repair"], "hermes doctor --fix");
    sandbox.ok(&["doctor", "--fix"]);
    assert_eq!(check(&sandbox, "modes")["status"], "ok");
    let mode = fs::metadata(sandbox.path(".env")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn a_sticky_profile_that_is_gone_does_not_stop_it() {
    let sandbox = Sandbox::ready();
    sandbox.write("active_profile", "gone\n");
    let found = check(&sandbox, "profile");
    assert_eq!(
        (&found["status"], &found["repair"]),
        (&"fail".into(), &"hermes profile use default".into())
    );
    sandbox.ok(&["profile", "use", "default"]);
    assert_eq!(check(&sandbox, "profile")["status"], "ok");
}

#[test]
fn another_hermes_on_the_path_is_named() {
    let sandbox = Sandbox::ready();
    let bin = sandbox.folder().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy("/bin/true", bin.join("hermes")).unwrap();
    let mut command = sandbox.command(&["doctor", "--json"]);
    let output = command.env("PATH", &bin).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let path =
        report["results"].as_array().unwrap().iter().find(|check| check["name"] == "path").unwrap();
    assert_eq!(path["status"], "warn");
    assert!(path["evidence"].as_str().unwrap().contains(bin.join("hermes").to_str().unwrap()));
}

#[test]
fn damaged_databases_and_files_are_failures_with_a_repair() {
    let sandbox = Sandbox::ready();
    sandbox.write("state.db", vec![0u8; 8192]);
    sandbox.write("memories/MEMORY.md", b"\xff\xfe binary \x00");
    let sessions = check(&sandbox, "sessions");
    assert_eq!(
        (&sessions["status"], &sessions["repair"]),
        (&"fail".into(), &"hermes sessions repair".into())
    );
    assert_eq!(check(&sandbox, "memory")["status"], "fail");
    assert_eq!(sandbox.run(&["doctor"]).code, 6);
}

#[test]
fn old_temporary_files_are_removed_and_young_ones_stay() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/.hermes_old.tmp", "half a wri");
    sandbox.write("memories/.hermes_new.tmp", "half a wri");
    let old =
        fs::File::options().write(true).open(sandbox.path("memories/.hermes_old.tmp")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(check(&sandbox, "temporary")["status"], "warn");
    sandbox.ok(&["doctor", "--fix"]);
    assert!(!sandbox.path("memories/.hermes_old.tmp").exists());
    assert!(sandbox.path("memories/.hermes_new.tmp").exists());
}
