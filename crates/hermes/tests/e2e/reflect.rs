//! Looking back from the command line: lessons, the log, habits, skills; twice is once.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Records a whole session that is over.
pub(crate) fn session(sandbox: &Sandbox, id: &str, messages: &[(&str, &str)]) {
    let messages: Vec<Value> =
        messages.iter().map(|(role, text)| json!({"role": role, "text": text})).collect();
    over(sandbox, id, &json!(messages));
}

fn over(sandbox: &Sandbox, id: &str, messages: &Value) {
    let turn = json!({"session_id": id, "ended": true, "messages": messages});
    let ran = sandbox.feed(&["memory", "turn", "-"], turn.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn corrected(sandbox: &Sandbox, id: &str) {
    session(
        sandbox,
        id,
        &[
            ("user", "Fix the failing test in parser.rs"),
            ("assistant", "I changed the indentation to spaces."),
        ],
    );
    session(
        sandbox,
        id,
        &[("user", "No, use tabs instead of spaces."), ("assistant", "Done with tabs.")],
    );
}

pub(crate) fn lessons(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.json(&["memory", "reflections", "list"]);
    let text = |one: &Value| one["id"].as_str().unwrap().to_owned();
    listed["results"].as_array().unwrap().iter().map(text).collect()
}

pub(crate) fn marks(sandbox: &Sandbox) -> Vec<String> {
    let log = std::fs::read_to_string(sandbox.path("workspace/REFLECTIONS.md")).unwrap_or_default();
    log.lines()
        .filter_map(|line| line.strip_prefix("<!-- ")?.strip_suffix(" -->").map(str::to_owned))
        .collect()
}

#[test]
fn a_correction_is_kept_as_a_lesson_and_in_the_log_and_twice_is_once() {
    let sandbox = Sandbox::ready();
    corrected(&sandbox, "s1");
    let first = sandbox.json(&["memory", "reflect"]);
    assert_eq!(
        (&first["sessions"]["lessons"], &first["sessions"]["written"]),
        (&json!(1), &json!(1))
    );
    let log = sandbox.read("workspace/REFLECTIONS.md");
    assert!(log.contains("Use tabs instead of spaces") && log.contains("\"No, use tabs"), "{log}");
    assert_eq!(sandbox.json(&["memory", "reflect"])["sessions"]["sessions"], json!(0));
    assert_eq!(sandbox.read("workspace/REFLECTIONS.md"), log);
    let listed = sandbox.ok(&["memory", "reflections", "list", "--task-type", "coding"]);
    assert!(listed.contains("Use tabs instead of spaces"), "{listed}");
    assert!(
        sandbox.ok(&["memory", "reflections", "list", "--task-type", "data"]).contains("no refl")
    );
    let timeline = sandbox.ok(&["memory", "timeline"]);
    assert!(timeline.contains("Fix the failing test in parser.rs"), "{timeline}");
    let context = sandbox.ok(&["memory", "context", "Fix the bug in lexer.rs"]);
    assert!(context.contains("Use tabs instead of spaces"), "{context}");
    sandbox.write("workspace/REFLECTIONS.md", "mine\n");
    corrected(&sandbox, "s2");
    sandbox.ok(&["memory", "reflect"]);
    let log = sandbox.read("workspace/REFLECTIONS.md");
    assert!(log.starts_with("mine\n") && marks(&sandbox).len() == 1, "{log}");
}

#[test]
fn reflection_can_be_turned_off() {
    let sandbox = Sandbox::ready();
    corrected(&sandbox, "s1");
    sandbox.ok(&["config", "set", "memory.reflection_enabled", "false"]);
    let ran = sandbox.run(&["memory", "reflect"]);
    assert!(ran.stderr.contains("reflection_enabled"), "{}", ran.stderr);
    assert_eq!(lessons(&sandbox), Vec::<String>::new());
}

#[test]
fn what_is_corrected_in_three_sessions_becomes_an_entry_about_the_user() {
    let sandbox = Sandbox::ready();
    for id in ["a", "b", "c"] {
        corrected(&sandbox, id);
    }
    sandbox.ok(&["memory", "reflect"]);
    assert!(
        sandbox.read("memories/USER.md").contains("- Use tabs instead of spaces. <!-- written")
    );
    let shown = sandbox.ok(&["memory", "show", "--since", "yesterday"]);
    assert!(shown.contains("Use tabs instead of spaces"), "{shown}");
    let undone = sandbox.ok(&["memory", "undo"]);
    assert!(
        undone.contains("Use tabs instead of spaces") && undone.contains("deleted"),
        "{undone}"
    );
    assert!(!sandbox.read("memories/USER.md").contains("tabs instead"));
    sandbox.ok(&["memory", "reflect"]);
    assert!(!sandbox.read("memories/USER.md").contains("tabs instead"), "it was taken back");
    sandbox.fails(&["memory", "undo"], 4, &["nothing"]);
}

fn deploy(sandbox: &Sandbox, id: &str, what: &str) {
    let call = |id: &str, command: String| json!({"id": id, "name": "bash", "input": {"command": command}});
    over(
        sandbox,
        id,
        &json!([
            {"role": "user", "text": format!("Deploy the {what} to staging")},
            {"role": "assistant", "text": "On it.", "tool_calls": [
                call("1", "git pull".to_owned()), call("2", format!("cargo build -p {what}"))]},
            {"role": "tool", "text": "ok", "tool_call_id": "1"},
            {"role": "tool", "text": "ok", "tool_call_id": "2"},
            {"role": "assistant", "text": "It runs on staging."}
        ]),
    );
}

#[test]
fn three_successes_draft_a_skill_that_the_fourth_task_is_given_once_approved() {
    let sandbox = Sandbox::ready();
    for (id, what) in [("a", "shop"), ("b", "wiki"), ("c", "site")] {
        deploy(&sandbox, id, what);
    }
    let looked = sandbox.json(&["memory", "reflect"]);
    let name = looked["skills"]["drafted"][0]["name"].as_str().unwrap_or_default().to_owned();
    assert!(!name.is_empty(), "{looked}");
    let shown = sandbox.ok(&["skills", "show", &name, "--pending"]);
    assert!(shown.contains("git pull") && shown.contains("cargo build -p <command>"), "{shown}");
    let task = ["memory", "context", "Deploy the forum to staging"];
    assert!(!sandbox.ok(&task).contains("SKILL.md"));
    sandbox.ok(&["skills", "approve", &name]);
    let context = sandbox.ok(&task);
    assert!(context.contains(&format!("skills/{name}/SKILL.md")), "{context}");
    sandbox.ok(&["skills", "delete", &name, "--yes"]);
    assert!(!sandbox.ok(&task).contains("SKILL.md"));
}
