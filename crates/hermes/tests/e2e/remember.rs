//! "Remember that…" from the command line: written, proposed, approved, undone.

use serde_json::json;

use crate::reflect::session;
use crate::sandbox::Sandbox;

fn asked(sandbox: &Sandbox, id: &str, text: &str) {
    session(sandbox, id, &[("user", text), ("assistant", "I will.")]);
    sandbox.ok(&["memory", "extract"]);
}

fn files(sandbox: &Sandbox) -> String {
    sandbox.read("memories/MEMORY.md") + &sandbox.read("memories/USER.md")
}

#[test]
fn what_the_user_asks_to_remember_is_written_with_its_date_and_one_undo_takes_it_back() {
    let sandbox = Sandbox::ready();
    let before = files(&sandbox);
    asked(&sandbox, "s1", "Please remember that the staging server is called Rosalind.");
    let after = files(&sandbox);
    assert!(after.contains("Rosalind") && after.contains("<!-- written 20"), "{after}");
    let facts = sandbox.json(&["memory", "fact", "list"]);
    assert_eq!(facts["results"].as_array().unwrap().len(), 1, "{facts}");
    let undone = sandbox.json(&["memory", "undo"]);
    assert_eq!(undone["is_fact_retired"], json!(true));
    assert_eq!(files(&sandbox), before);
    assert_eq!(sandbox.json(&["memory", "fact", "list"])["results"], json!([]));
    sandbox.ok(&["memory", "extract", "--again"]);
    assert_eq!(files(&sandbox), before, "what was taken back is not written again");
    sandbox.fails(&["memory", "undo"], 4, &["nothing"]);
}

#[test]
fn without_auto_write_it_waits_until_it_is_approved_or_rejected() {
    for (setting, value) in [("memory.auto_write", "false"), ("memory.write_approval", "true")] {
        let sandbox = Sandbox::ready();
        sandbox.ok(&["config", "set", setting, value]);
        let before = files(&sandbox);
        assert_eq!(sandbox.ok(&["memory", "pending"]), "nothing is waiting for your approval\n");
        asked(&sandbox, "s1", "Please remember that the staging server is called Rosalind.");
        asked(&sandbox, "s2", "Please remember that the release day is Thursday.");
        assert_eq!(files(&sandbox), before);
        let waiting = sandbox.json(&["memory", "pending"]);
        let results = waiting["results"].as_array().unwrap();
        assert_eq!(results.len(), 2, "{waiting}");
        let first = results[0]["id"].to_string();
        let second = results[1]["id"].to_string();
        let approved = sandbox.ok(&["memory", "approve", &first]);
        assert!(approved.starts_with("written to "), "{approved}");
        assert!(files(&sandbox).contains("Rosalind"));
        sandbox.fails(&["memory", "approve", &first], 5, &["already approved"]);
        sandbox.ok(&["memory", "reject", &second]);
        assert!(!files(&sandbox).contains("Thursday"));
        assert_eq!(sandbox.ok(&["memory", "pending"]), "nothing is waiting for your approval\n");
        sandbox.ok(&["memory", "undo"]);
        assert_eq!(files(&sandbox), before);
        sandbox.fails(&["memory", "approve", "abc"], 2, &["proposal"]);
    }
}

#[test]
fn entries_are_shown_since_a_time_in_words() {
    let sandbox = Sandbox::ready();
    let text = "# Memory\n\n- old one <!-- written 2020-01-01 -->\n- undated\n";
    sandbox.write("memories/MEMORY.md", text);
    sandbox.ok(&["memory", "add", "new one"]);
    let shown = sandbox.ok(&["memory", "show", "--since", "last week"]);
    assert!(shown.contains("new one"), "{shown}");
    assert!(!shown.contains("old one") && !shown.contains("undated"), "{shown}");
}
