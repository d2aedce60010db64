//! Restores that were cut off between their renames: never an empty home, and wholly the old one or the new.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The time in the names of what a restore moves.
const STAMP: &str = "20260102T030405Z";

/// A home that was changed since its backup, and that backup unpacked beside it.
struct Scene {
    sandbox: Sandbox,
    /// The folder as it was before anything was moved.
    copy: tempfile::TempDir,
    kind: Kind,
}

/// What the restore that is cut off brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Sessions,
}

impl Scene {
    fn new(kind: Kind) -> Scene {
        let sandbox = Sandbox::ready();
        said(&sandbox, "the capstan is old");
        sandbox.ok(&["backup", "create", "--plaintext"]);
        said(&sandbox, "the windlass is new");
        let scene = Scene { sandbox, copy: tempfile::tempdir().unwrap(), kind };
        let unpacked = scene.unpacked();
        scene.sandbox.ok(&["backup", "restore", "latest", "--to", unpacked.to_str().unwrap()]);
        if kind == Kind::Sessions {
            fs::rename(unpacked.join("state.db"), scene.coming()).unwrap();
            fs::remove_dir_all(unpacked).unwrap();
        }
        copy(scene.sandbox.folder(), &scene.copy.path().join("folder"));
        scene
    }

    fn folder(&self) -> PathBuf {
        self.sandbox.folder().canonicalize().unwrap()
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.folder().join(format!(".hermes{ending}"))
    }

    fn unpacked(&self) -> PathBuf {
        self.beside(&format!(".restoring-{STAMP}-1"))
    }

    /// Where the sessions wait that come to their place.
    fn coming(&self) -> PathBuf {
        self.folder().join(format!(".hermes/state.db.restoring-{STAMP}"))
    }

    /// The journal and the renames that the program makes.
    fn plan(&self) -> (Value, Vec<(PathBuf, PathBuf)>) {
        let number = |path: &Path| path.metadata().unwrap().ino();
        let (home, aside) = (self.beside(""), self.beside(&format!(".before-restore-{STAMP}")));
        match self.kind {
            Kind::Whole => {
                let new = self.unpacked();
                let one = json!({"new": new, "inode": number(&new), "place": home, "aside": aside});
                let journal = json!({"format": 1, "unpacked": new, "aside": aside, "moves": [one]});
                (journal, vec![(home.clone(), aside), (new, home)])
            }
            Kind::Sessions => {
                let (new, place) = (self.coming(), home.join("state.db"));
                let aside = home.join(format!("state.db.before-restore-{STAMP}"));
                let away = json!({"new": null, "inode": null, "place": place, "aside": aside});
                let come =
                    json!({"new": new, "inode": number(&new), "place": place, "aside": null});
                let journal =
                    json!({"format": 1, "unpacked": null, "aside": null, "moves": [away, come]});
                (journal, vec![(place.clone(), aside), (new, place)])
            }
        }
    }

    /// The folder as a kill after so many renames leaves it.
    fn cut_after(&self, renames: usize) {
        for entry in fs::read_dir(self.folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        copy(&self.copy.path().join("folder/."), &self.folder());
        let (journal, steps) = self.plan();
        self.sandbox.write("../.hermes.restore.json", journal.to_string());
        for (from, to) in steps.iter().take(renames) {
            fs::rename(from, to).unwrap();
        }
    }

    /// Whether all is as before the restore; false if all is as in the backup. Anything else fails.
    fn is_old(&self) -> bool {
        let found = |words| {
            !self.sandbox.json(&["sessions", "search", words])["results"]
                .as_array()
                .unwrap()
                .is_empty()
        };
        assert!(found("capstan"), "what both have is gone");
        found("windlass")
    }
}

fn said(sandbox: &Sandbox, text: &str) {
    let id = sandbox.ok(&["sessions", "create"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", text]);
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// Commands that must not take half of a home for one.
const LOOKING: [&[&str]; 6] = [
    &["status"],
    &["sessions", "search", "capstan"],
    &["memory", "fact", "add", "A fact"],
    &["doctor"],
    &["mcp"],
    &["profile", "create", "coder"],
];

#[test]
fn a_command_after_a_restore_that_was_cut_off_never_makes_an_empty_home() {
    for kind in [Kind::Whole, Kind::Sessions] {
        let scene = Scene::new(kind);
        for renames in 0..2 {
            scene.cut_after(renames);
            let files = scene.sandbox.home().exists().then(|| scene.sandbox.snapshot());
            for arguments in LOOKING {
                scene.sandbox.fails(arguments, 5, &["interrupted", "backup restore --rollback"]);
            }
            let event = json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/"});
            let ran = scene.sandbox.feed(&["hook", "claude-code"], event.to_string().as_bytes());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
            let now = scene.sandbox.home().exists().then(|| scene.sandbox.snapshot());
            assert_eq!(
                files, now,
                "{kind:?} after {renames} renames: something was made or changed"
            );
        }
    }
}

#[test]
fn what_makes_homes_undoes_a_restore_that_was_cut_off() {
    for kind in [Kind::Whole, Kind::Sessions] {
        let scene = Scene::new(kind);
        for (renames, arguments) in [
            (0, &["start", "--no-daemon"][..]),
            (1, &["start", "--no-daemon"]),
            (0, &["init"]),
            (1, &["init"]),
        ] {
            scene.cut_after(renames);
            let ran = scene.sandbox.run(arguments);
            assert_eq!(ran.code, 0, "{kind:?} {renames} {arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("was undone"), "{}", ran.stderr);
            assert!(scene.is_old(), "{kind:?} after {renames} renames");
            let left =
                fs::read_dir(scene.folder()).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> =
                left.filter(|name| name.to_string_lossy().contains("restor")).collect();
            assert!(left.is_empty(), "{left:?}");
            assert!(!scene.coming().exists());
        }
    }
}

#[test]
fn a_restore_that_had_come_to_its_end_is_the_new_home() {
    for kind in [Kind::Whole, Kind::Sessions] {
        let scene = Scene::new(kind);
        scene.cut_after(2);
        assert!(!scene.is_old(), "{kind:?}");
        let ran = scene.sandbox.run(&["start", "--no-daemon"]);
        assert_eq!((ran.code, ran.stderr.contains("undone")), (0, false), "{}", ran.stderr);
        assert!(!scene.is_old() && !scene.beside(".restore.json").exists(), "{kind:?}");
    }
}

#[test]
fn a_home_behind_a_link_is_found_while_it_is_moved_aside() {
    let scene = Scene::new(Kind::Whole);
    scene.cut_after(1);
    let link = scene.folder().join("link");
    std::os::unix::fs::symlink(scene.beside(""), &link).unwrap();
    let link = link.to_str().unwrap();
    scene.sandbox.fails(&["--home", link, "status"], 5, &["interrupted"]);
    scene.sandbox.ok(&["--home", link, "start", "--no-daemon"]);
    assert!(scene.is_old());
}

#[test]
fn a_real_restore_leaves_no_journal_and_moves_the_log_along() {
    let scene = Scene::new(Kind::Sessions);
    scene.sandbox.ok(&["backup", "restore", "latest", "--path", "state.db", "--replace"]);
    assert!(!scene.is_old() && !scene.beside(".restore.json").exists());
}
