//! Files and facts stay in step, and what replaced something is what is shown.

use serde_json::{Value, json};

use crate::reflect::session;
use crate::sandbox::Sandbox;

fn said(sandbox: &Sandbox, id: &str, text: &str) -> Value {
    session(sandbox, id, &[("user", text), ("assistant", "I see.")]);
    sandbox.json(&["memory", "extract"])
}

fn files(sandbox: &Sandbox) -> String {
    sandbox.read("memories/MEMORY.md") + &sandbox.read("memories/USER.md")
}

/// Lyon is in USER.md with fact:001.
fn in_lyon() -> Sandbox {
    let sandbox = Sandbox::ready();
    said(&sandbox, "s1", "Remember that I live in Lyon.");
    assert!(files(&sandbox).contains("User lives in Lyon"));
    sandbox
}

/// Whether a word is in any file that the program keeps for itself.
fn is_kept(sandbox: &Sandbox, word: &str) -> bool {
    let holds = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains(word);
    let own = |path: &std::path::Path| path.iter().any(|part| part == "versions");
    sandbox.snapshot().iter().any(|(path, bytes)| own(path) && holds(bytes))
}

#[test]
fn an_edited_fact_takes_its_entry_along_and_undo_gives_both_their_earlier_text() {
    let sandbox = in_lyon();
    let before = files(&sandbox);
    let ran = sandbox.run(&["memory", "fact", "edit", "1", "User lives in Lyon, France"]);
    assert!(ran.stderr.contains(": User lives in Lyon, France"), "{}", ran.stderr);
    assert_eq!(files(&sandbox).matches("Lyon").count(), 1);
    assert!(files(&sandbox).contains("- User lives in Lyon, France"));
    let undone = sandbox.ok(&["memory", "undo"]);
    assert!(undone.contains("User lives in Lyon\n"), "{undone}");
    assert!(undone.contains("fact:001 was reverted to its earlier text"), "{undone}");
    assert_eq!(files(&sandbox), before);
    let list = sandbox.ok(&["memory", "fact", "list"]);
    assert!(list.starts_with("[fact:001] User lives in Lyon ("), "{list}");
    let taken = sandbox.ok(&["memory", "undo"]);
    assert!(taken.contains("fact:001, which said the same, was deleted"), "{taken}");
    assert!(!files(&sandbox).contains("Lyon"));
}

#[test]
fn a_deleted_fact_takes_its_entry_along_and_brings_it_back() {
    for back in [&["memory", "fact", "restore", "1"][..], &["memory", "fact", "undo", "1"]] {
        let sandbox = in_lyon();
        let ran = sandbox.run(&["memory", "fact", "delete", "1"]);
        assert!(ran.stderr.contains("removed from "), "{}", ran.stderr);
        assert!(!files(&sandbox).contains("Lyon"));
        let ran = sandbox.run(back);
        assert!(ran.stderr.contains("restored in "), "{}", ran.stderr);
        assert!(files(&sandbox).contains("- User lives in Lyon"));
    }
    let sandbox = in_lyon();
    let before = files(&sandbox);
    sandbox.ok(&["memory", "fact", "delete", "1"]);
    let undone = sandbox.ok(&["memory", "undo"]);
    assert!(undone.contains("fact:001 was restored"), "{undone}");
    assert_eq!(files(&sandbox), before);
}

#[test]
fn what_supersedes_a_fact_takes_the_place_of_its_entry_and_undo_makes_the_old_one_current() {
    let sandbox = in_lyon();
    let before = files(&sandbox);
    let report = said(&sandbox, "s2", "I moved to Porto last week.");
    assert_eq!((&report["superseded"], &report["followed"]), (&json!(1), &json!(1)), "{report}");
    let after = files(&sandbox);
    assert!(after.contains("Porto") && !after.contains("Lyon"), "{after}");
    let undone = sandbox.ok(&["memory", "undo"]);
    assert!(undone.contains("fact:001 is current again"), "{undone}");
    assert_eq!(files(&sandbox), before);
    sandbox.ok(&["memory", "fact", "undo", "1"]);
    assert_eq!(files(&sandbox).matches("- User").count(), 1);
    assert!(files(&sandbox).contains("Porto"));
    sandbox.ok(&["memory", "fact", "supersede", "2", "User lives in Faro"]);
    assert!(files(&sandbox).contains("- User lives in Faro"));
    assert!(!files(&sandbox).contains("Porto"));
}

#[test]
fn an_entry_that_was_changed_by_hand_is_left_and_it_is_said() {
    let sandbox = in_lyon();
    let own = files(&sandbox).replace("User lives in Lyon", "Only here on weekends");
    sandbox.write(
        "memories/USER.md",
        sandbox.read("memories/USER.md").replace("User lives in Lyon", "Only here on weekends"),
    );
    let ran = sandbox.run(&["memory", "fact", "delete", "1"]);
    assert!(ran.stderr.contains("was left unchanged"), "{}", ran.stderr);
    assert_eq!(files(&sandbox), own);
    let sandbox = in_lyon();
    sandbox.write(
        "memories/USER.md",
        sandbox.read("memories/USER.md").replace("User lives in Lyon", "User lives in lyon!"),
    );
    sandbox.ok(&["memory", "fact", "delete", "1"]);
    assert!(!files(&sandbox).contains("lyon"), "the same words are the same entry");
}

#[test]
fn without_auto_write_the_entry_waits_for_a_word() {
    let sandbox = in_lyon();
    sandbox.ok(&["config", "set", "memory.auto_write", "false"]);
    let before = files(&sandbox);
    sandbox.ok(&["memory", "fact", "edit", "1", "User lives in Nice"]);
    assert_eq!(files(&sandbox), before);
    let waiting = sandbox.ok(&["memory", "pending"]);
    assert!(
        waiting.contains("replace in USER.md: User lives in Lyon → User lives in Nice"),
        "{waiting}"
    );
    let done = sandbox.ok(&["memory", "approve", "--all"]);
    assert!(done.contains(": User lives in Nice"), "{done}");
    assert!(files(&sandbox).contains("- User lives in Nice") && !files(&sandbox).contains("Lyon"));
    sandbox.ok(&["memory", "fact", "delete", "1"]);
    assert!(files(&sandbox).contains("Nice"));
    sandbox.ok(&["memory", "approve", "--all"]);
    assert!(!files(&sandbox).contains("Nice"));
}

#[test]
fn forgetting_takes_the_entry_along_and_erasing_the_kept_versions_too() {
    let sandbox = in_lyon();
    let ran = sandbox.run(&["memory", "forget", "--session", "s1", "--yes"]);
    assert!(ran.stderr.contains("removed from "), "{}", ran.stderr);
    assert!(!files(&sandbox).contains("Lyon") && is_kept(&sandbox, "Lyon"));
    let sandbox = in_lyon();
    let ran = sandbox.run(&["memory", "forget", "--session", "s1", "--erase", "--yes"]);
    assert!(ran.stderr.contains("1 entry, with 1 stored version"), "{}", ran.stderr);
    assert!(!files(&sandbox).contains("Lyon") && !is_kept(&sandbox, "Lyon"));
    let sandbox = in_lyon();
    sandbox.ok(&["memory", "fact", "edit", "1", "User lives in Nice"]);
    sandbox.ok(&["memory", "fact", "delete", "1", "--erase", "--yes"]);
    for word in ["Lyon", "Nice"] {
        assert!(!files(&sandbox).contains(word) && !is_kept(&sandbox, word), "{word}");
    }
}

#[test]
fn what_holds_now_is_shown_before_what_it_replaced() {
    let sandbox = in_lyon();
    said(&sandbox, "s2", "I moved to Porto last week.");
    let found = sandbox.json(&["memory", "search", "where do I live?"]);
    let results = found["results"].as_array().unwrap();
    let place = |text: &str| results.iter().rposition(|hit| hit["text"] == text).unwrap();
    assert_eq!(results[0]["id"], "fact:002", "{found}");
    let old = place("Remember that I live in Lyon.");
    assert!(old > place("I moved to Porto last week."), "{found}");
    assert_eq!(results[old]["superseded_by"], "fact:002");
    let context = sandbox.ok(&["memory", "context", "--no-files", "where do I live?"]);
    let at = |word: &str| context.find(word).unwrap_or_else(|| panic!("{word} in {context}"));
    assert!(at("[fact:002]") < at("[episode:2]") && at("[episode:2]") < at("[episode:1]"));
    assert!(context.contains("superseded by fact:002"), "{context}");
    let then = sandbox.json(&["memory", "search", "--type", "episodes", "where do I live?"]);
    assert!(then["results"].as_array().unwrap().iter().all(|hit| hit["kind"] != "fact"));
}

#[test]
fn what_extract_counts_is_what_conflicts_lists_and_a_pin_is_seen() {
    let sandbox = in_lyon();
    sandbox.ok(&["memory", "fact", "pin", "1"]);
    let report = said(&sandbox, "s2", "I live in Rome.");
    assert_eq!((&report["superseded"], &report["doubtful"]), (&json!(0), &json!(1)), "{report}");
    let conflicts = sandbox.json(&["memory", "fact", "conflicts"]);
    assert_eq!(conflicts["results"].as_array().unwrap().len(), 1, "{conflicts}");
    let report = said(&sandbox, "s3", "I never lived in Rome.");
    let conflicts = sandbox.json(&["memory", "fact", "conflicts"]);
    let listed = conflicts["results"].as_array().unwrap().len() as u64;
    assert_eq!(report["doubtful"].as_u64().unwrap(), listed - 1, "{report} {conflicts}");
    assert!(files(&sandbox).contains("- User lives in Lyon"), "what is pinned stays");
    assert!(sandbox.ok(&["memory", "fact", "list"]).contains("[fact:001] [pinned] "));
    assert!(sandbox.ok(&["memory", "fact", "show", "1"]).contains("pinned       yes"));
}

#[test]
fn what_was_rejected_does_not_wait_any_more() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "memory.auto_write", "false"]);
    let report = said(&sandbox, "s1", "Remember that I live in Lyon.");
    assert_eq!(report["proposed"], json!(1));
    sandbox.ok(&["memory", "reject", "1"]);
    let again = sandbox.ok(&["memory", "extract", "--again"]);
    assert!(!again.contains("waiting for your approval"), "{again}");
}

#[test]
fn forgetting_by_a_name_that_nobody_knows_says_which_are_known() {
    let sandbox = in_lyon();
    let plan = sandbox.ok(&["memory", "forget", "--source", "cli", "--dry-run"]);
    assert!(plan.starts_with("would forget 1 episode"), "{plan}");
    let ran = sandbox.fails(&["memory", "forget", "--source", "slack", "--yes"], 4, &["slack"]);
    assert!(ran.stderr.contains("known sources: cli, "), "{}", ran.stderr);
    sandbox.fails(&["memory", "forget", "--session", "nosuch", "--yes"], 4, &["nosuch", "hint"]);
}

/// The facts of a context, and what stands below them.
fn context_of(sandbox: &Sandbox, question: &str) -> (String, String) {
    let context = sandbox.ok(&["memory", "context", question, "--no-files"]);
    let (facts, said) = context.split_once("## Earlier conversations").unwrap_or((&context, ""));
    (facts.to_owned(), said.to_owned())
}

#[test]
fn what_the_user_quit_or_dropped_is_superseded_and_no_longer_told_as_a_fact() {
    for (old, statement, new, question) in [
        (
            "I work at Northwind as a nurse.",
            "User works at Northwind as a nurse",
            "I quit my job at Northwind.",
            "Where does the user work?",
        ),
        ("I use Vim.", "User uses Vim", "I no longer use Vim.", "Which editor does the user use?"),
        (
            "Atlas uses Redis for the queue.",
            "Atlas uses Redis for the queue",
            "We dropped Redis from Atlas.",
            "What does Atlas use?",
        ),
    ] {
        let sandbox = Sandbox::ready();
        said(&sandbox, "s1", old);
        assert!(context_of(&sandbox, question).0.contains(statement), "{old}");
        assert_eq!(said(&sandbox, "s2", new)["superseded"], 1, "{new}");
        let list = sandbox.ok(&["memory", "fact", "list", "--all"]);
        assert!(list.contains(&format!("[fact:001] [superseded] {statement} (")), "{list}");
        assert!(!sandbox.ok(&["memory", "fact", "list"]).contains("[fact:001]"), "{list}");
        let (facts, below) = context_of(&sandbox, question);
        assert!(facts.contains("[fact:002]") && !facts.contains(statement), "{facts}");
        let told = below.find(old).map(|at| below[..at].lines().rev().nth(1).unwrap_or_default());
        assert!(told.is_none_or(|line| line.ends_with("superseded by fact:002")), "{below}");
        let subject = sandbox.json(&["memory", "fact", "show", "2"])["subject"].clone();
        assert_ne!(subject, "longer", "{new}");
    }
}

#[test]
fn a_job_that_was_quit_leaves_the_files_and_a_new_one_stands() {
    let sandbox = Sandbox::ready();
    said(&sandbox, "s1", "Remember that I work at Northwind as a nurse.");
    assert!(files(&sandbox).contains("- User works at Northwind as a nurse"));
    said(&sandbox, "s2", "I quit my job at Northwind.");
    assert!(!files(&sandbox).contains("works at Northwind"), "{}", files(&sandbox));
    said(&sandbox, "s3", "I work at Contoso as a baker.");
    let list = sandbox.ok(&["memory", "fact", "list"]);
    assert!(list.contains("User works at Contoso as a baker"), "{list}");
    assert!(!list.contains("User works at Northwind"), "{list}");
}

#[test]
fn what_somebody_else_left_changes_nothing_about_the_user() {
    for (old, new) in [
        ("I work at Northwind as a nurse.", "My sister quit her job at Northwind."),
        ("I use Vim.", "My brother no longer uses Vim."),
        ("Atlas uses Redis for the queue.", "We dropped Redis from Borealis."),
    ] {
        let sandbox = Sandbox::ready();
        said(&sandbox, "s1", old);
        assert_eq!(said(&sandbox, "s2", new)["superseded"], 0, "{new}");
        let list = sandbox.ok(&["memory", "fact", "list"]);
        assert!(list.contains("[fact:001] "), "{list}");
    }
}
