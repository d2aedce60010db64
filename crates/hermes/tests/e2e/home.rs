//! The home and its profiles: made once, private, never by accident.

use std::fs;

use crate::sandbox::{Ran, Sandbox};

#[test]
fn start_makes_a_home_on_a_fresh_machine_and_changes_nothing_the_second_time() {
    let sandbox = Sandbox::empty();
    let first = sandbox.ok(&["start", "--no-daemon"]);
    assert!(first.contains(".hermes"), "{first}");
    for file in
        ["SOUL.md", "memories/MEMORY.md", "memories/USER.md", "config.yaml", ".env", "state.db"]
    {
        assert!(sandbox.path(file).is_file(), "{file}");
    }
    let before = sandbox.snapshot();
    sandbox.ok(&["start", "--no-daemon"]);
    sandbox.ok(&["init"]);
    assert_eq!(sandbox.snapshot(), before);
}

#[test]
fn init_keeps_every_file_that_is_there() {
    let sandbox = Sandbox::empty();
    sandbox.write("SOUL.md", "# Mine\n");
    sandbox.write("memories/USER.md", "Name: Alice\n");
    sandbox.ok(&["init"]);
    assert_eq!(sandbox.read("SOUL.md"), "# Mine\n");
    assert_eq!(sandbox.read("memories/USER.md"), "Name: Alice\n");
    assert!(sandbox.path("state.db").is_file());
}

#[test]
fn scaffolds_hold_no_entries_of_their_own() {
    let sandbox = Sandbox::ready();
    let shown = sandbox.json(&["memory", "show"]);
    for file in shown["results"].as_array().unwrap() {
        assert_eq!(file["entries"].as_array().unwrap().len(), 0, "{file}");
    }
}

#[cfg(unix)]
#[test]
fn every_file_is_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::empty();
    let hermes = env!("CARGO_BIN_EXE_hermes");
    let script = format!(
        "umask 000; {hermes} init && {hermes} memory add 'a fact' && {hermes} profile create coder \
         && {hermes} memory add 'about a person' --user alice \
         && id=$({hermes} sessions create) && {hermes} sessions append $id --role user hello \
         && {hermes} sessions pin $id && printf x | {hermes} config set SOME_API_KEY - \
         && {hermes} config set sessions.retention_days 30"
    );
    let output = sandbox.command_of("/bin/sh".as_ref(), &["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", Ran::of(&output).stderr);
    let mut stack = vec![sandbox.home()];
    let mut count = 0;
    while let Some(path) = stack.pop() {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        count += 1;
        if path.is_dir() {
            stack.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(count > 20, "only {count} files were looked at");
}

#[test]
fn a_profile_is_a_whole_home_of_its_own() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "coder"]);
    sandbox.ok(&["memory", "add", "root fact"]);
    sandbox.ok(&["-p", "coder", "memory", "add", "coder fact"]);
    let id = sandbox.ok(&["-p", "coder", "sessions", "create", "--title", "only here"]);
    assert!(!sandbox.read("memories/MEMORY.md").contains("coder fact"));
    assert!(sandbox.read("profiles/coder/memories/MEMORY.md").contains("coder fact"));
    assert_eq!(sandbox.json(&["sessions", "list"])["results"].as_array().unwrap().len(), 0);
    let listed = sandbox.json(&["-p", "coder", "sessions", "list"]);
    assert_eq!(listed["results"][0]["id"], id.trim());
}

#[test]
fn profile_use_sticks_and_flag_and_environment_win_over_it() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "coder"]);
    sandbox.ok(&["profile", "create", "writer"]);
    sandbox.ok(&["profile", "use", "coder"]);
    let used = |arguments: &[&str], variable: &str| {
        let mut command = sandbox.command(arguments);
        let output = command.env("HERMES_PROFILE", variable).output().unwrap();
        let paths: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        paths["profile"].as_str().unwrap().to_owned()
    };
    assert_eq!(used(&["paths", "--json"], ""), "coder");
    assert_eq!(used(&["paths", "--json"], "writer"), "writer");
    assert_eq!(used(&["paths", "--json", "-p", "default"], "writer"), "default");
    sandbox.ok(&["profile", "use", "default"]);
    assert_eq!(used(&["paths", "--json"], ""), "default");
}

#[test]
fn a_mistyped_profile_is_never_made() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "coder"]);
    let before = sandbox.snapshot();
    sandbox.fails(&["-p", "codr", "memory", "add", "x"], 4, &["codr", "did you mean `coder`"]);
    sandbox.fails(&["-p", "codr", "init"], 4, &["codr"]);
    sandbox.fails(&["profile", "use", "codr"], 4, &["codr"]);
    sandbox.fails(&["profile", "delete", "codr", "--yes"], 4, &["codr"]);
    assert_eq!(sandbox.snapshot(), before);
}

#[test]
fn names_that_are_paths_or_reserved_are_refused() {
    let sandbox = Sandbox::ready();
    let before = sandbox.snapshot();
    for name in
        ["../x", "/tmp/x", "..", ".", "", "a/b", "Default", "default", "root", "con", "a b", "ü"]
    {
        let ran = sandbox.run(&["profile", "create", name]);
        assert_eq!(ran.code, 2, "{name:?}: {}", ran.stderr);
        let ran = sandbox.run(&["memory", "add", "x", "--user", name]);
        let taken = ["default", "Default", "root", "ü"].contains(&name);
        assert_eq!(ran.code, if taken { 0 } else { 2 }, "{name:?}: {}", ran.stderr);
    }
    let after = sandbox.snapshot();
    let users = sandbox.path("memories/users");
    let own = sandbox.path("hermesd");
    let new: Vec<_> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .filter(|path| !path.starts_with(&users) && !path.starts_with(&own))
        .collect();
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn a_deleted_profile_is_kept_aside_and_an_erased_one_is_gone() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "old"]);
    sandbox.ok(&["-p", "old", "memory", "add", "precious"]);
    sandbox.fails(&["profile", "delete", "old"], 5, &["--yes"]);
    let deleted = sandbox.json(&["profile", "delete", "old", "--yes"]);
    let kept = std::path::PathBuf::from(deleted["kept_in"].as_str().unwrap());
    assert!(fs::read_to_string(kept.join("memories/MEMORY.md")).unwrap().contains("precious"));
    assert!(!sandbox.path("profiles/old").exists());
    sandbox.ok(&["profile", "create", "old"]);
    sandbox.ok(&["profile", "delete", "old", "--erase", "--yes"]);
    assert!(!sandbox.path("profiles/old").exists());
    sandbox.fails(&["profile", "delete", "default", "--yes"], 5, &["default"]);
}

#[test]
fn renaming_takes_the_sticky_choice_along() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["profile", "create", "a"]);
    sandbox.ok(&["profile", "create", "b"]);
    sandbox.ok(&["profile", "use", "a"]);
    sandbox.fails(&["profile", "rename", "a", "b"], 5, &["already"]);
    sandbox.ok(&["profile", "rename", "a", "c"]);
    assert_eq!(sandbox.json(&["paths"])["profile"], "c");
    let names: Vec<String> = sandbox.json(&["profile", "list"])["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|profile| profile["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["default", "b", "c"]);
}

#[test]
fn several_first_starts_at_once_make_one_home() {
    let sandbox = Sandbox::empty();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| sandbox.ok(&["start", "--no-daemon"]));
        }
    });
    assert_eq!(sandbox.json(&["sessions", "stats"])["sessions"], 0);
    let left: Vec<_> = fs::read_dir(sandbox.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".new-") || name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_hint_names_the_home_that_was_meant() {
    let sandbox = Sandbox::ready();
    let other = sandbox.folder().join("other");
    let ran = sandbox.run(&["--home", other.to_str().unwrap(), "sessions", "list"]);
    ran.failed(10, &[&format!("`hermes --home {} init`", other.display())]);
    sandbox.ok(&["profile", "create", "coder"]);
    sandbox.ok(&["-p", "coder", "memory", "add", "x"]);
    let ran = sandbox.run(&["-p", "coder", "memory", "remove", "1"]);
    assert!(ran.stderr.contains("`hermes --profile coder memory versions`"), "{}", ran.stderr);
}

#[test]
fn a_bad_sticky_choice_is_named_with_the_way_back() {
    let sandbox = Sandbox::ready();
    for choice in ["gone", "../x"] {
        sandbox.write("active_profile", choice);
        sandbox.fails(
            &["memory", "show"],
            4,
            &[choice, "active_profile", "hermes profile use default"],
        );
    }
    sandbox.ok(&["profile", "use", "default"]);
    sandbox.ok(&["memory", "show"]);
}

#[test]
fn without_a_home_commands_say_so_and_make_none() {
    let sandbox = Sandbox::empty();
    for arguments in [
        &["sessions", "list"][..],
        &["memory", "show"],
        &["memory", "add", "x"],
        &["soul", "show"],
        &["profile", "list"],
        &["sessions", "search", "x"],
    ] {
        sandbox.fails(arguments, 10, &["no home", "hermes init"]);
    }
    assert!(!sandbox.home().exists());
}
