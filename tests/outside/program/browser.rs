//! The dashboard in a real browser: Debian's chromium, driven by the programs in tests/browser.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::pg_server::free_port;
use crate::sandbox::{Ran, Sandbox};

/// The driver that `./test` installs.
fn driver() -> PathBuf {
    let named = std::env::vars().find(|(name, _)| name == "HERMES_TEST_BROWSER");
    let folder = PathBuf::from(named.map(|(_, value)| value).unwrap_or_default());
    assert!(folder.exists(), "HERMES_TEST_BROWSER is not set: run `./test`, which installs it");
    folder
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The demo, made once for each build and day, and copied for each test.
fn demo_in(sandbox: &Sandbox) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_hermes"));
    let made = program.metadata().unwrap().modified().unwrap();
    let age = made.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let day = String::from_utf8(Command::new("date").arg("+%F").output().unwrap().stdout).unwrap();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo");
    fs::create_dir_all(&kept).unwrap();
    let lock = File::create(kept.join("lock")).unwrap();
    lock.lock().unwrap();
    let whole = kept.join(format!("{age}-{}", day.trim()));
    if !whole.join("complete").exists() {
        for old in fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path()) {
            if old.is_dir() {
                fs::remove_dir_all(old).unwrap();
            }
        }
        let folder = whole.join("demo");
        sandbox.ok(&["demo", "--at", folder.to_str().unwrap()]);
        File::create(whole.join("complete")).unwrap();
    }
    let copied =
        Command::new("cp").arg("-a").arg(whole.join("demo")).arg(sandbox.folder()).status();
    assert!(copied.unwrap().success());
    drop(lock);
    sandbox.folder().join("demo")
}

/// Runs a suite on a demo of its own, with a daemon of its own.
fn suite(name: &str) {
    suite_with(name, |_, _| ());
}

/// The same, with something prepared before the daemon starts.
fn suite_with(name: &str, prepare: impl Fn(&Sandbox, &str)) {
    let sandbox = Sandbox::empty();
    let home = demo_in(&sandbox).join("home");
    let home_text = home.to_str().unwrap();
    prepare(&sandbox, home_text);
    sandbox.ok(&["--home", home_text, "start"]);
    let ran = browse(&sandbox, &home, name);
    let _ = sandbox.command(&["--home", home_text, "stop"]).output();
    assert_eq!(ran.code, 0, "{name}\n{}{}", ran.stdout, ran.stderr);
}

fn browse(sandbox: &Sandbox, home: &Path, name: &str) -> Ran {
    let state = fs::read_to_string(home.join("hermesd/daemon.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    let origin = state["dashboard"].as_str().unwrap();
    let api = format!("http://{}", state["address"].as_str().unwrap());
    let mut command = sandbox.command_of(Path::new("node"), &[]);
    command.arg(root().join("tests/browser/run.mjs")).arg(name);
    command.env("HERMES_TEST_BROWSER", driver()).env("HERMES_TEST_HOME", home);
    command.env("HERMES_TEST_PROGRAM", env!("CARGO_BIN_EXE_hermes"));
    command.env("HERMES_TEST_ORIGIN", origin).env("HERMES_TEST_API", api);
    command.env("HERMES_TEST_IMAGES", root().join("docs/images"));
    if std::env::vars().any(|(name, value)| name == "HERMES_UPDATE_DOCS" && value == "1") {
        command.env("HERMES_UPDATE_DOCS", "1");
    }
    Ran::of(&command.output().unwrap())
}

#[test]
fn every_page_is_there_in_both_colours_and_on_a_phone() {
    suite("looks");
}

#[test]
fn no_page_shuts_anybody_out() {
    suite("axe");
}

#[test]
fn the_documents_have_a_picture_of_every_page() {
    suite("pictures");
}

#[test]
fn something_is_found_and_marked() {
    suite("search");
}

#[test]
fn a_fact_is_edited_and_the_edit_undone() {
    suite("edit");
}

#[test]
fn an_edit_of_what_was_changed_meanwhile_shows_both() {
    suite("conflict");
}

#[test]
fn a_fact_is_forgotten_and_brought_back() {
    suite("forget");
}

#[test]
fn a_file_is_edited_compared_and_restored() {
    suite("files");
}

#[test]
fn a_session_is_found_at_the_message() {
    suite("sessions");
}

#[test]
fn the_inspector_shows_what_a_model_would_be_given() {
    suite("inspector");
}

#[test]
fn a_backup_is_made_verified_and_restored_beside() {
    suite("backup");
}

#[test]
fn skills_settings_people_and_jobs_do_what_their_buttons_say() {
    suite("skills");
}

#[test]
fn what_was_taken_away_comes_back_and_agents_are_connected_after_a_look() {
    suite("ways");
}

#[test]
fn a_memory_is_carried_away_and_forgotten_by_its_name() {
    suite("carry");
}

#[test]
fn everything_can_be_done_with_the_keyboard() {
    suite("keyboard");
}

#[test]
fn pages_work_without_scripts() {
    suite("scriptless");
}

#[test]
fn three_hundred_hostile_texts_stay_text() {
    suite("hostile");
}

#[test]
fn strangers_and_forged_forms_are_refused() {
    suite("refused");
}

#[test]
fn no_other_port_of_this_machine_sees_the_cookie() {
    suite("ports");
}

#[test]
fn what_was_typed_outlives_the_daemon() {
    // The daemon comes back at the address that the page knows.
    suite_with("lost", |sandbox, home| {
        let port = free_port().to_string();
        sandbox.ok(&["--home", home, "config", "set", "server.port", &port]);
    });
}
