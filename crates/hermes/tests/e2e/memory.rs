//! Memory files from the command line: both formats, versions, limits, other places.

use std::fs;

use crate::sandbox::{Ran, Sandbox};

const MARKDOWN: &str = "# Memory\n\n## Projects\n- Working on BrightCart, a web shop. <!-- written 2026-05-05 -->\n  It is deployed with Coolify.\n* Stripe is the payment provider.\n\n## Preferences\n- Prefer Postgres over MySQL.\n\nA closing line, by hand.\n";
const SECTIONS: &str = "First entry.\n§\nSecond entry with a § inside.\n§\nThird entry.";

#[test]
fn an_edit_touches_only_its_own_lines() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", MARKDOWN);
    sandbox.ok(&["memory", "replace", "Stripe", "Adyen is the payment provider."]);
    let text = sandbox.read("memories/MEMORY.md");
    let changed: Vec<(&str, &str)> =
        MARKDOWN.lines().zip(text.lines()).filter(|(old, new)| old != new).collect();
    assert_eq!(changed.len(), 1, "{text}");
    assert!(changed[0].1.starts_with("* Adyen is the payment provider. <!-- written 20"), "{text}");
    sandbox.ok(&["memory", "remove", "Adyen"]);
    assert_eq!(
        sandbox.read("memories/MEMORY.md"),
        MARKDOWN.replace("* Stripe is the payment provider.\n", "")
    );
}

#[test]
fn add_puts_a_dated_bullet_under_the_asked_heading() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", MARKDOWN);
    sandbox.ok(&["memory", "add", "Use ripgrep.", "--section", "preferences"]);
    let text = sandbox.read("memories/MEMORY.md");
    assert!(text.starts_with(MARKDOWN), "{text}");
    assert!(text[MARKDOWN.len()..].starts_with("- Use ripgrep. <!-- written 20"), "{text}");
    sandbox.ok(&["memory", "add", "The shop is in Berlin.", "--section", "Projects"]);
    let text = sandbox.read("memories/MEMORY.md");
    assert!(text.contains("provider.\n- The shop is in Berlin. <!-- written 20"), "{text}");
    let before = text;
    let again = sandbox.json(&["memory", "add", "Use ripgrep."]);
    assert_eq!(again["changed"], false);
    assert_eq!(sandbox.read("memories/MEMORY.md"), before);
}

#[test]
fn section_sign_files_stay_as_hermes_agent_writes_them() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", SECTIONS);
    sandbox.ok(&["memory", "add", "Fourth entry."]);
    assert_eq!(sandbox.read("memories/MEMORY.md"), format!("{SECTIONS}\n§\nFourth entry."));
    sandbox.ok(&["memory", "replace", "Second", "Changed entry."]);
    sandbox.ok(&["memory", "remove", "1"]);
    assert_eq!(
        sandbox.read("memories/MEMORY.md"),
        "Changed entry.\n§\nThird entry.\n§\nFourth entry."
    );
    let shown = sandbox.json(&["memory", "show", "--file", "memory"]);
    assert_eq!(shown["results"][0]["format"], "sections");
    assert_eq!(shown["results"][0]["entries"].as_array().unwrap().len(), 3);
}

#[test]
fn every_write_can_be_undone_and_the_undo_too() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", MARKDOWN);
    sandbox.ok(&["memory", "remove", "Stripe"]);
    let after = sandbox.read("memories/MEMORY.md");
    let versions = sandbox.json(&["memory", "versions"]);
    let versions = versions["results"].as_array().unwrap();
    let old = versions.iter().find(|version| version["current"] == false).unwrap();
    sandbox.ok(&["memory", "restore", &old["number"].to_string()]);
    assert_eq!(sandbox.read("memories/MEMORY.md"), MARKDOWN);
    let removed = versions.iter().find(|version| version["current"] == true).unwrap();
    sandbox.ok(&["memory", "restore", &removed["hash"].as_str().unwrap()[..10]]);
    assert_eq!(sandbox.read("memories/MEMORY.md"), after);
    sandbox.fails(&["memory", "restore", "99"], 4, &["99"]);
}

#[test]
fn each_user_has_a_file_of_their_own() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "add", "Likes tea.", "--user", "alice"]);
    sandbox.ok(&["memory", "add", "Likes coffee.", "--user", "bob", "--file", "user"]);
    assert!(sandbox.read("memories/users/alice/USER.md").contains("Likes tea."));
    let bob = sandbox.ok(&["memory", "show", "--user", "bob"]);
    assert!(bob.contains("Likes coffee.") && !bob.contains("tea"), "{bob}");
    assert!(!sandbox.read("memories/USER.md").contains("Likes"));
    sandbox.fails(
        &["memory", "add", "x", "--file", "memory", "--user", "bob"],
        2,
        &["same for all"],
    );
}

#[test]
fn the_editor_gets_the_file_and_its_text_comes_back() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/USER.md", "Name: Alice\n");
    let edit = |editor: &str| {
        let mut command = sandbox.command(&["memory", "edit", "--file", "user"]);
        Ran::of(&command.env("EDITOR", editor).output().unwrap())
    };
    assert_eq!(edit("sed -i s/Alice/Alicia/").code, 0);
    assert_eq!(sandbox.read("memories/USER.md"), "Name: Alicia\n");
    edit("false").failed(1, &["could not edit with false", "kept in"]);
    sandbox.write("../fails.sh", "echo typed >> \"$1\"\nexit 3\n");
    let failing = edit(&format!("sh {}", sandbox.folder().join("fails.sh").display()));
    failing.failed(1, &["kept in"]);
    let kept = failing.stderr.split("kept in ").nth(1).unwrap().split(": ").next().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "Name: Alicia\ntyped\n");
    fs::remove_dir_all(std::path::Path::new(kept).parent().unwrap()).unwrap();
    edit("/no/such/editor").failed(1, &["EDITOR"]);
    assert_eq!(sandbox.read("memories/USER.md"), "Name: Alicia\n");
}

#[test]
fn a_file_changed_while_it_was_edited_is_not_overwritten() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/USER.md", "Name: Alice\n");
    let target = sandbox.path("memories/USER.md");
    let script = sandbox.folder().join("editor.sh");
    let text = format!(
        "#!/bin/sh\necho 'Name: Other' > {}\necho 'Name: Mine' > \"$1\"\n",
        target.display()
    );
    sandbox.write("../editor.sh", text);
    let mut command = sandbox.command(&["memory", "edit", "--file", "user"]);
    let ran = Ran::of(&command.env("EDITOR", format!("sh {}", script.display())).output().unwrap());
    ran.failed(5, &["changed", "kept in"]);
    assert_eq!(sandbox.read("memories/USER.md"), "Name: Other\n");
    let kept = ran.stderr.split("kept in ").nth(1).unwrap().split([':', '\n']).next().unwrap();
    assert_eq!(fs::read_to_string(format!("{}/USER.md", kept.trim())).unwrap(), "Name: Mine\n");
    fs::remove_dir_all(kept.trim()).unwrap();
}

#[test]
fn prune_shows_first_and_takes_out_only_dated_entries() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", MARKDOWN);
    let plan = sandbox.json(&["memory", "prune", "--older-than", "2026-06-01"]);
    assert_eq!(plan["results"].as_array().unwrap().len(), 1);
    assert_eq!(sandbox.read("memories/MEMORY.md"), MARKDOWN);
    sandbox.ok(&["memory", "prune", "--older-than", "2026-06-01", "--yes"]);
    let text = sandbox.read("memories/MEMORY.md");
    assert!(!text.contains("BrightCart") && text.contains("Stripe"), "{text}");
    sandbox.fails(&["memory", "prune", "--older-than", "soon"], 2, &["soon"]);
}

#[test]
fn files_in_other_places_are_shown_and_merged_with_a_copy_kept() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", "# Memory\n- Known already.\n");
    sandbox.write("MEMORY.md", "# Memory\n- Known already.\n- From the root.\n");
    sandbox.write("workspace/MEMORY.md", "## Always Remember\n- From the workspace.\n");
    let doctor = sandbox.ok(&["doctor"]);
    assert!(doctor.contains("hermes memory merge"), "{doctor}");
    assert!(sandbox.ok(&["memory", "show"]).contains("From the workspace."));
    sandbox.fails(&["memory", "merge"], 5, &["--yes"]);
    let plan = sandbox.json(&["memory", "merge"]);
    assert_eq!(plan["results"].as_array().unwrap().len(), 2, "{plan}");
    assert!(sandbox.path("MEMORY.md").exists());
    let done = sandbox.json(&["memory", "merge", "--yes"]);
    assert!(done["results"][0]["kept_as"].as_str().unwrap().contains(".merged-"), "{done}");
    let text = sandbox.read("memories/MEMORY.md");
    for part in ["Known already.", "From the root.", "From the workspace."] {
        assert_eq!(text.matches(part).count(), 1, "{text}");
    }
    assert!(!sandbox.path("MEMORY.md").exists());
    let copies = fs::read_dir(sandbox.home()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("MEMORY.md.merged-")
    });
    assert_eq!(copies.count(), 1);
    assert!(!sandbox.ok(&["doctor"]).contains("hermes memory merge"));
}

#[test]
fn limits_are_off_here_and_on_in_a_home_of_hermes_agent() {
    let ours = Sandbox::ready();
    let long = "word ".repeat(600);
    ours.ok(&["memory", "add", &long]);
    let theirs = Sandbox::empty();
    theirs.write("config.yaml", "_config_version: 1\n");
    theirs.ok(&["memory", "add", "short"]);
    assert_eq!(theirs.read("memories/MEMORY.md"), "short");
    theirs.fails(&["memory", "add", &long], 5, &["2,200"]);
    assert_eq!(theirs.read("memories/MEMORY.md"), "short");
    theirs.ok(&["--set", "memory.memory_char_limit=5000", "memory", "add", &long]);
}

#[test]
fn a_drifted_section_file_is_not_rewritten_and_a_copy_is_kept() {
    let sandbox = Sandbox::ready();
    let drifted = "one\n§\n\n\none\n§\ntwo\n\n";
    sandbox.write("memories/MEMORY.md", drifted);
    sandbox.fails(&["memory", "remove", "two"], 5, &[".bak."]);
    assert_eq!(sandbox.read("memories/MEMORY.md"), drifted);
    let copies = fs::read_dir(sandbox.path("memories")).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("MEMORY.md.bak.")
    });
    assert_eq!(copies.count(), 1);
}

#[test]
fn bad_selectors_and_texts_change_nothing() {
    let sandbox = Sandbox::ready();
    sandbox.write("memories/MEMORY.md", MARKDOWN);
    sandbox.fails(&["memory", "remove", "no such thing"], 4, &["no such thing"]);
    sandbox.fails(&["memory", "remove", "42"], 4, &["42"]);
    let ran = sandbox.run(&["memory", "remove", "p"]);
    assert_ne!(ran.code, 0, "an ambiguous piece of text was taken");
    assert_ne!(sandbox.run(&["memory", "add", "   "]).code, 0);
    assert_ne!(sandbox.run(&["memory", "add", "a\n§\nb"]).code, 0);
    assert_ne!(sandbox.run(&["memory", "add", "<!-- never closed"]).code, 0);
    assert_ne!(sandbox.feed(&["memory", "add", "-"], b"with \0 inside").code, 0);
    assert_ne!(sandbox.feed(&["memory", "add", "-"], b"\xff\xfe").code, 0);
    assert_eq!(sandbox.read("memories/MEMORY.md"), MARKDOWN);
}

#[test]
fn the_persona_is_shown_and_a_missing_one_is_replaced_by_the_built_in() {
    let sandbox = Sandbox::ready();
    sandbox.write("SOUL.md", "# Me\nI am terse.\n");
    assert_eq!(sandbox.ok(&["soul", "show"]), "# Me\nI am terse.\n");
    let mut command = sandbox.command(&["soul", "edit"]);
    let ran =
        Ran::of(&command.env("EDITOR", "sed -i 's/terse/chatty and kind/'").output().unwrap());
    assert!(ran.stderr.contains("hermes soul versions"), "{}", ran.stderr);
    assert_eq!(sandbox.read("SOUL.md"), "# Me\nI am chatty and kind.\n");
    sandbox.ok(&["soul", "restore", "1"]);
    assert_eq!(sandbox.read("SOUL.md"), "# Me\nI am terse.\n");
    fs::remove_file(sandbox.path("SOUL.md")).unwrap();
    let built_in = sandbox.json(&["soul", "show"]);
    assert_eq!(built_in["built_in"], true);
    assert!(!built_in["text"].as_str().unwrap().is_empty());
}
