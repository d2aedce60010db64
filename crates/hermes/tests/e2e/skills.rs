//! Skills: listed, locked, approved and taken away, and never lost.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::pty::Terminal;
use crate::sandbox::Sandbox;

const OF_HERMES_AGENT: &str = "---
name: deploy-nextjs-coolify
description: Deploy a Next.js app to Coolify.
version: 1.0.0
metadata:
  hermes:
    tags: [deploy, coolify]
---

# Deploy

1. docker compose build --pull
2. docker compose up -d
";

/// A SKILL.md as it is made from finished work.
fn learned(name: &str, description: &str, body: &str) -> String {
    let hash = Sha256::digest(format!("{description}\n\n{body}"));
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "---\nname: \"{name}\"\ndescription: \"{description}\"\nmetadata:\n  \
         hermes-origin: \"learned\"\n  hermes-sources: \"episode:12 episode:40\"\n  \
         hermes-made: \"2026-11-15T10:00:00Z\"\n  hermes-content: \"{hash}\"\n---\n\n{body}\n"
    )
}

fn with_pending(name: &str) -> Sandbox {
    let sandbox = Sandbox::ready();
    let text = learned(name, "Deploy the shop", "1. build");
    sandbox.write(&format!("hermesd/pending-skills/{name}/SKILL.md"), text);
    sandbox
}

fn names(listed: &Value) -> Vec<&str> {
    let results = listed["results"].as_array().unwrap();
    results.iter().map(|row| row["name"].as_str().unwrap()).collect()
}

/// A home as Hermes Agent leaves it, with a skill in a category.
fn home_of_hermes_agent() -> Sandbox {
    let sandbox = Sandbox::empty();
    let config = "_config_version: 13\nskills:\n  external_dirs: []\n  write_approval: true\n";
    sandbox.write("config.yaml", config);
    sandbox.write("skills/devops/deploy-nextjs-coolify/SKILL.md", OF_HERMES_AGENT);
    sandbox.write("skills/devops/deploy-nextjs-coolify/references/notes.md", "notes\n");
    sandbox.write("skills/.usage.json", "{}");
    sandbox.write("skills/.archive/old/SKILL.md", "---\nname: old\ndescription: o\n---\n");
    sandbox
}

#[test]
fn skills_of_hermes_agent_are_read_in_their_category_and_reading_changes_nothing() {
    let sandbox = home_of_hermes_agent();
    let before = sandbox.snapshot();
    let listed = sandbox.json(&["skills", "list", "--all"]);
    assert_eq!(names(&listed), ["deploy-nextjs-coolify"]);
    let row = &listed["results"][0];
    assert_eq!((&row["category"], &row["origin"]), (&"devops".into(), &"user".into()));
    let shown = sandbox.ok(&["skills", "show", "deploy-nextjs-coolify"]);
    assert!(shown.contains("docker compose up -d") && shown.contains("devops"), "{shown}");
    sandbox.ok(&["skills", "validate"]);
    sandbox.ok(&["config", "check"]);
    assert_eq!(sandbox.snapshot(), before);
}

#[test]
fn a_lock_changes_its_own_lines_only_and_unlocking_brings_every_byte_back() {
    let sandbox = home_of_hermes_agent();
    let file = "skills/devops/deploy-nextjs-coolify/SKILL.md";
    let locked = sandbox.json(&["skills", "lock", "deploy-nextjs-coolify"]);
    assert_eq!((&locked["locked"], &locked["changed"]), (&true.into(), &true.into()));
    let line = "metadata:\n  hermes-locked: \"true\"\n";
    assert_eq!(sandbox.read(file), OF_HERMES_AGENT.replace("metadata:\n", line));
    let again = sandbox.json(&["skills", "lock", "deploy-nextjs-coolify"]);
    assert_eq!(again["changed"], false);
    assert_eq!(sandbox.json(&["skills", "list"])["results"][0]["locked"], true);
    sandbox.ok(&["skills", "unlock", "deploy-nextjs-coolify"]);
    assert_eq!(sandbox.read(file), OF_HERMES_AGENT);
}

#[test]
fn a_skill_that_waits_is_not_used_until_it_is_approved() {
    let sandbox = with_pending("deploy-shop");
    let listed = sandbox.run(&["skills", "list"]);
    assert!(listed.stdout.contains("no skills"), "{}", listed.stdout);
    assert!(listed.stderr.contains("hermes skills list --pending"), "{}", listed.stderr);
    let waiting = sandbox.json(&["skills", "list", "--pending"]);
    assert_eq!(names(&waiting), ["deploy-shop"]);
    assert_eq!(waiting["results"][0]["state"], "pending");
    let shown = sandbox.json(&["skills", "show", "deploy-shop"]);
    assert_eq!(shown["learned"]["sources"], serde_json::json!(["episode:12", "episode:40"]));
    sandbox.ok(&["skills", "approve", "deploy-shop"]);
    let listed = sandbox.json(&["skills", "list", "--all"]);
    assert_eq!(names(&listed), ["deploy-shop"]);
    assert_eq!(listed["results"][0]["origin"], "learned");
    sandbox.fails(&["skills", "approve", "deploy-shop"], 4, &["already in use"]);
}

#[test]
fn approving_a_newer_one_replaces_the_generated_one_but_never_a_locked_or_edited_one() {
    let sandbox = with_pending("deploy-shop");
    sandbox.ok(&["skills", "approve", "deploy-shop"]);
    let newer = learned("deploy-shop", "Deploy the shop", "2. better");
    let wait = || sandbox.write("hermesd/pending-skills/deploy-shop/SKILL.md", &newer);
    wait();
    sandbox.ok(&["skills", "lock", "deploy-shop"]);
    sandbox.fails(&["skills", "approve", "deploy-shop"], 5, &["locked", "skills unlock"]);
    sandbox.ok(&["skills", "unlock", "deploy-shop"]);
    let approved = sandbox.ok(&["skills", "approve", "deploy-shop"]);
    assert!(approved.contains("kept as a version"), "{approved}");
    assert_eq!(sandbox.read("skills/deploy-shop/SKILL.md"), newer);
    let mine = newer.replace("2. better", "3. mine");
    sandbox.write("skills/deploy-shop/SKILL.md", &mine);
    wait();
    sandbox.fails(&["skills", "approve", "deploy-shop"], 5, &["edited", "skills delete"]);
    assert_eq!(sandbox.read("skills/deploy-shop/SKILL.md"), mine);
}

#[test]
fn a_rejected_skill_is_gone_from_the_list_and_remembered() {
    let sandbox = with_pending("deploy-shop");
    let rejected = sandbox.json(&["skills", "reject", "deploy-shop"]);
    assert!(rejected["kept_in"].as_str().unwrap().contains("deleted-skills"));
    assert!(names(&sandbox.json(&["skills", "list", "--all"])).is_empty());
    let remembered: Value =
        serde_json::from_str(&sandbox.read("hermesd/rejected-skills.json")).unwrap();
    assert_eq!(remembered["skills"][0]["name"], "deploy-shop");
    sandbox.fails(&["skills", "reject", "deploy-shop"], 4, &["is waiting for approval"]);
}

#[test]
fn a_skill_is_added_with_all_its_files_or_not_at_all() {
    let sandbox = Sandbox::ready();
    let folder = sandbox.folder().join("download");
    fs::create_dir_all(folder.join("scripts")).unwrap();
    sandbox
        .write("../download/SKILL.md", "---\nname: pdf\ndescription: Read PDF files\n---\n# A\n");
    sandbox.write("../download/scripts/run.py", "print()\n");
    symlink("/etc/passwd", folder.join("scripts/link")).unwrap();
    sandbox.fails(&["skills", "add", "download"], 5, &["scripts/link", "link"]);
    assert!(names(&sandbox.json(&["skills", "list"])).is_empty());
    fs::remove_file(folder.join("scripts/link")).unwrap();
    let added = sandbox.run(&["skills", "add", "download"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    assert!(added.stderr.contains("hermes skills show pdf"), "{}", added.stderr);
    assert_eq!(sandbox.read("skills/pdf/scripts/run.py"), "print()\n");
    sandbox.fails(&["skills", "add", "download/SKILL.md"], 5, &["already exists", "skills delete"]);
    sandbox.write("../alone.md", "---\nname: alone\ndescription: One file\n---\n");
    sandbox.ok(&["skills", "add", "alone.md"]);
    assert!(sandbox.path("skills/alone/SKILL.md").is_file());
    sandbox.fails(&["skills", "add", "nothing-here"], 4, &["nothing-here", "SKILL.md"]);
}

#[test]
fn validate_names_every_problem_with_its_line_and_ends_with_6() {
    let sandbox = Sandbox::ready();
    let bad =
        format!("---\nname: Bad Name\nlicense: [1]\ndescription: {}\n---\n", "x".repeat(1025));
    sandbox.write("skills/bad/SKILL.md", &bad);
    sandbox.write("skills/open/SKILL.md", "---\nname: open\n");
    sandbox.write("skills/yaml/SKILL.md", "---\nname: yaml\ndescription: a\nx: [\n---\n");
    sandbox.write("skills/good/SKILL.md", "---\nname: good\ndescription: g\nodd-key: 1\n---\n");
    let ran = sandbox.run(&["skills", "validate", "--json"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let checked: Value = serde_json::from_str(&ran.stdout).unwrap();
    let of = |name: &str| {
        let all = checked["results"].as_array().unwrap();
        all.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(of("good")["valid"], true);
    let lines: Vec<u64> = of("bad")["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 4, 3]);
    assert!(of("open")["problems"][0]["message"].as_str().unwrap().contains("not closed"));
    assert!(of("yaml")["problems"][0]["line"].as_u64().unwrap() >= 4);
    assert_eq!(sandbox.run(&["skills", "validate", "bad"]).code, 6);
    assert_eq!(sandbox.run(&["skills", "validate", ".hermes/skills/bad/SKILL.md"]).code, 6);
    sandbox.ok(&["skills", "validate", "good"]);
    sandbox.ok(&["skills", "validate", ".hermes/skills/good"]);
    sandbox.fails(&["skills", "validate", "./nowhere"], 4, &["nowhere"]);
    sandbox.fails(&["skills", "show", "bad"], 5, &["line 2", "skills validate"]);
    let listed = sandbox.run(&["skills", "list"]);
    assert!(listed.stdout.contains("broken"), "{}", listed.stdout);
    assert!(listed.stderr.contains("hermes skills validate"), "{}", listed.stderr);
}

#[test]
fn delete_asks_keeps_what_it_takes_and_respects_a_lock() {
    let sandbox = home_of_hermes_agent();
    let name = "deploy-nextjs-coolify";
    sandbox.fails(&["skills", "delete", name], 5, &["--yes"]);
    sandbox.ok(&["skills", "lock", name]);
    sandbox.fails(&["skills", "delete", name, "--yes"], 5, &["locked", "skills unlock"]);
    let gone = sandbox.json(&["skills", "delete", name, "--yes", "--even-locked"]);
    let kept = std::path::PathBuf::from(gone["kept_in"].as_str().unwrap());
    assert!(kept.join("references/notes.md").is_file());
    assert!(names(&sandbox.json(&["skills", "list"])).is_empty());
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest_and_nothing_changes() {
    let sandbox = with_pending("deploy-shop");
    sandbox.write("skills/review-code/SKILL.md", "---\nname: review-code\ndescription: r\n---\n");
    let before = sandbox.snapshot();
    for verb in ["show", "lock", "unlock", "validate"] {
        let hint = "did you mean `review-code`";
        sandbox.fails(&["skills", verb, "reveiw-code"], 4, &["reveiw-code", hint]);
    }
    sandbox.fails(&["skills", "delete", "reveiw-code", "--yes"], 4, &["review-code"]);
    sandbox.fails(&["skills", "approve", "deploy-shp"], 4, &["did you mean `deploy-shop`"]);
    sandbox.fails(
        &["skills", "delete", "deploy-shop", "--yes"],
        4,
        &["skills approve deploy-shop"],
    );
    assert_eq!(sandbox.snapshot(), before);
    let ran = sandbox.run(&["skills", "show", "reveiw-code", "--json"]);
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &error["error"]["kind"]), (4, &"not_found".into()));
}

#[test]
fn what_a_stranger_wrote_cannot_drive_the_terminal() {
    let sandbox = Sandbox::ready();
    let text = "---\nname: odd\ndescription: \"a\\e[31m b\"\n---\n\u{1b}[2Jbody\n";
    sandbox.write("skills/odd/SKILL.md", text);
    sandbox.write("skills/worse/SKILL.md", "---\nname: \"x\\e[5m\"\ndescription: d\n---\n");
    for arguments in ["skills list", "skills show odd", "skills validate"] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let mut terminal = Terminal::start(sandbox.command(&words));
        terminal.end();
        let text = String::from_utf8_lossy(&terminal.raw()).into_owned();
        for escape in ["\u{1b}[31m b", "\u{1b}[2J", "\u{1b}[5m"] {
            assert!(!text.contains(escape), "{arguments}: {text:?}");
        }
    }
}

#[test]
fn where_learned_skills_go_is_a_setting() {
    let sandbox = Sandbox::ready();
    let get = |key: &str| sandbox.json(&["config", "get", key])["value"].clone();
    assert_eq!(get("skills.learned"), "pending");
    sandbox.ok(&["config", "set", "skills.learned", "active"]);
    assert_eq!(get("skills.learned"), "active");
    sandbox.fails(&["config", "set", "skills.learned", "never"], 2, &["pending", "active"]);
}
