//! hermes checkpoint: what the agent changed is listed, shown and taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_agent::approval::Verdict;
use hermes_agent::hands::{Hands, Setup};
use hermes_agent::toolbox::Call;
use hermes_home::Home;
use hermes_home::config::{Agent, Checkpoints};
use hermes_home::env::Env;
use hermes_home::layout::Wanted;
use serde_json::{Value, json};

use crate::moments::{Fell, Work};
use crate::sandbox::Sandbox;

/// An agent that works in a folder, and a person who approves all it does.
struct Worker {
    hands: Hands,
}

fn agent(sandbox: &Sandbox, working: &Path) -> Worker {
    let wanted = Wanted { home: Some(sandbox.home()), profile: None };
    let home = Home::locate(&wanted, &Env::default()).unwrap();
    fs::create_dir_all(working).unwrap();
    let setup = Setup {
        home: &home,
        working,
        agent: &Agent::default(),
        checkpoints: &Checkpoints::default(),
        env: &Env::of([("PATH", "/usr/bin:/bin")]),
        session: "20260304_050607_abcdef",
        launcher: None,
        cancel: Arc::default(),
        now: jiff_now(),
    };
    let mut hands = Hands::new(&setup).unwrap();
    hands.begin(1, jiff_now());
    Worker { hands }
}

#[expect(clippy::disallowed_methods, reason = "checkpoints must not be too old for the program")]
fn jiff_now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

impl Worker {
    fn does(&mut self, name: &str, input: Value) {
        let call = Call { id: "1".into(), name: name.into(), input };
        let outcome = self.hands.call(&call, &mut |_| Verdict::Once);
        assert!(!outcome.is_error, "{}", outcome.text);
    }

    fn writes(&mut self, path: &str, content: &str) {
        self.does("write_file", json!({"path": path, "content": content}));
    }
}

fn project(sandbox: &Sandbox) -> PathBuf {
    sandbox.folder().join("project")
}

#[expect(clippy::disallowed_methods, reason = "tests write files as an editor would")]
fn edit(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn what_the_agent_did_is_listed_shown_taken_back_and_done_again() {
    let sandbox = Sandbox::ready();
    let folder = project(&sandbox);
    let mut agent = agent(&sandbox, &folder);
    edit(&folder.join("plan.md"), "buy milk\n");
    agent.writes("plan.md", "buy bread\n");
    agent.does(
        "terminal",
        json!({"command": "mkdir src && echo hello > src/new.txt && rm plan.md"}),
    );
    let listed = sandbox.ok(&["checkpoint", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[1].starts_with('2') && lines[1].contains("run mkdir src"), "{listed}");
    assert!(lines[2].starts_with('1') && lines[2].contains("write plan.md"), "{listed}");
    assert_eq!(sandbox.ok(&["checkpoints", "list"]), listed);
    let shown = sandbox.ok(&["checkpoint", "show", "1"]);
    assert!(shown.contains("checkpoint 1, before: write plan.md"), "{shown}");
    assert!(shown.contains("--- /dev/null\n+++ plan.md\n@@ -0,0 +1,1 @@\n+buy milk\n"), "{shown}");
    assert!(shown.contains("--- src/new.txt\n+++ /dev/null\n"), "{shown}");
    // Without a word from the person nothing is touched.
    let ran = sandbox.fails(&["checkpoint", "restore", "1"], 5, &["not confirmed", "--yes"]);
    assert!(ran.stderr.contains("+buy milk"), "{}", ran.stderr);
    assert!(folder.join("src/new.txt").exists() && !folder.join("plan.md").exists());
    let told = sandbox.ok(&["checkpoint", "restore", "1", "--yes"]);
    assert!(told.contains("restored") && told.contains("removed"), "{told}");
    assert_eq!(fs::read_to_string(folder.join("plan.md")).unwrap(), "buy milk\n");
    assert!(!folder.join("src").exists());
    sandbox.ok(&["checkpoint", "restore", "3", "--yes"]);
    assert!(folder.join("src/new.txt").exists() && !folder.join("plan.md").exists());
    sandbox.ok(&["checkpoint", "restore", "2", "--yes"]);
    assert_eq!(fs::read_to_string(folder.join("plan.md")).unwrap(), "buy bread\n");
    let told = sandbox.ok(&["checkpoint", "restore", "2", "--yes"]);
    assert!(told.contains("nothing was changed"), "{told}");
}

#[test]
fn programs_get_the_same_as_json() {
    let sandbox = Sandbox::ready();
    assert_eq!(sandbox.json(&["checkpoint", "list"])["results"], json!([]));
    let folder = project(&sandbox);
    agent(&sandbox, &folder).writes("a.txt", "a\n");
    let listed = sandbox.json(&["checkpoint", "list", "--session", "20260304_050607_abcdef"]);
    let first = &listed["results"][0];
    assert_eq!((&first["number"], &first["turn"]), (&json!(1), &json!(1)));
    assert_eq!(first["changes"][0]["before"]["is"], "missing");
    assert_eq!(sandbox.json(&["checkpoint", "list", "--session", "x"])["results"], json!([]));
    let shown = sandbox.json(&["checkpoint", "show", "1"]);
    assert_eq!(shown["changes"][0]["then"]["is"], "missing");
    assert!(shown["diff"].as_str().unwrap().contains("-a\n"));
    let restored = sandbox.json(&["checkpoint", "restore", "1", "--yes"]);
    assert_eq!(restored["undo"], 2);
    assert_eq!(
        restored["removed"][0],
        folder.canonicalize().unwrap().join("a.txt").to_str().unwrap()
    );
    let ran = sandbox.run(&["checkpoint", "show", "9", "--json"]);
    assert_eq!(ran.code, 4);
    assert!(ran.stdout.contains("not_found") || ran.stderr.contains("not_found"));
}

#[test]
fn what_somebody_else_changed_is_named_and_left_alone() {
    let sandbox = Sandbox::ready();
    let folder = project(&sandbox);
    let mut agent = agent(&sandbox, &folder);
    edit(&folder.join("a.txt"), "one\n");
    agent.writes("a.txt", "two\n");
    edit(&folder.join("a.txt"), "mine\n");
    let words = ["changed by someone else", "a.txt", "--force"];
    sandbox.fails(&["checkpoint", "restore", "1", "--yes"], 5, &words);
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "mine\n");
    assert!(sandbox.ok(&["checkpoint", "show", "1"]).contains("someone else since: a.txt"));
    sandbox.ok(&["checkpoint", "restore", "1", "--yes", "--force"]);
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
}

#[test]
fn checkpoints_go_with_their_age() {
    let sandbox = Sandbox::ready();
    let mut agent = agent(&sandbox, &project(&sandbox));
    agent.writes("a.txt", "a\n");
    agent.writes("a.txt", "b\n");
    let limit = ["--set", "checkpoints.max_mb=1"];
    let told = sandbox.ok(&[&["checkpoint", "prune", "--dry-run"], limit.as_slice()].concat());
    assert!(told.starts_with("0 checkpoints would be deleted"), "{told}");
    let mut old = sandbox.json(&["checkpoint", "list"])["results"][1].clone();
    old["at"] = json!("2020-01-01T00:00:00Z");
    sandbox.write("hermesd/checkpoints/log/00000001.json", old.to_string());
    let told = sandbox.ok(&["checkpoint", "prune", "--dry-run"]);
    assert!(told.starts_with("1 checkpoint would be deleted"), "{told}");
    assert_eq!(sandbox.json(&["checkpoint", "list"])["total"], 2);
    assert_eq!(sandbox.json(&["checkpoint", "prune"])["results"], json!([1]));
    assert_eq!(sandbox.json(&["checkpoint", "list"])["total"], 1);
}

#[test]
fn a_restore_that_is_killed_at_any_moment_leaves_whole_files_and_can_be_done_again() {
    const FILES: usize = 120;
    let sandbox = Sandbox::ready();
    // Inside the home, so that every run begins with the same files.
    let folder = sandbox.path("workspace/project");
    let mut agent = agent(&sandbox, &folder);
    let name = |number: usize| format!("file-{number}.txt");
    let old = |number: usize| format!("old {number}\n").repeat(50);
    for number in 0..FILES {
        edit(&folder.join(name(number)), &old(number));
    }
    let line = "for f in file-*.txt; do echo new > $f; done; touch made.txt";
    agent.does("terminal", json!({"command": line}));
    let states = || {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for number in 0..FILES {
            let text = fs::read_to_string(folder.join(name(number))).unwrap();
            let is_old = text == old(number);
            assert!(is_old || text == "new\n", "file {number} is neither old nor new: {text:?}");
            *counts.entry(if is_old { "old" } else { "new" }).or_default() += 1;
        }
        counts
    };
    let work = Work {
        sandbox: &sandbox,
        command: &|| sandbox.command(&["checkpoint", "restore", "1", "--yes"]),
        killed: &|| {
            sandbox.ok(&["checkpoint", "list"]);
            Fell::between(states().get("old").copied().unwrap_or_default(), FILES)
        },
        done: &|| {
            assert_eq!(states().get("old"), Some(&FILES));
            assert!(!folder.join("made.txt").exists());
        },
    };
    work.is_killed_often(8);
}
