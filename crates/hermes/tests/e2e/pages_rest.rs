//! Files, sessions, skills, procedures, backups, people, jobs, integrations, settings and carrying, without a script.

use crate::listening::Listening;
use crate::pages::Visitor;
use crate::reflect;
use crate::sandbox::Sandbox;

/// Every page that needs no id.
const PAGES: [&str; 10] = [
    "files",
    "files/memory",
    "sessions",
    "skills",
    "procedures",
    "people",
    "jobs?doctor=1",
    "integrations",
    "settings",
    "carry",
];

/// A text that wants to be more than text.
const HOSTILE: &str = "</textarea></pre>\"'><script>alert(1)</script><img src=x onerror=alert(2)>";

fn filled() -> Listening {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "add", HOSTILE]);
    let asked = [
        ("user", HOSTILE),
        ("assistant", HOSTILE),
        ("user", "No, use tabs instead of <b>spaces</b>."),
    ];
    reflect::session(&sandbox, "s1", &asked);
    sandbox.ok(&["sessions", "rename", "s1", HOSTILE]);
    sandbox.ok(&["memory", "reflect"]);
    sandbox.ok(&["user", "add", "rosa"]);
    sandbox.write("skills/steep-tea/SKILL.md", "---\nname: steep-tea\ndescription: How tea is <i>made</i>.\n---\nBoil <script>alert(3)</script> water.\n");
    Listening::at(sandbox)
}

#[test]
fn the_other_pages_show_stored_text_as_text_and_give_the_same_as_json_and_csv() {
    let daemon = filled();
    let visitor = Visitor::new(&daemon);
    let more = [
        "sessions/s1",
        "skills/steep-tea",
        "files/soul",
        "files/user?user=rosa",
        "sessions?q=tabs",
    ];
    for rest in PAGES.into_iter().chain(more).chain(["backups"]) {
        let text = visitor.page(rest).text;
        assert!(text.contains("<h1>"), "{rest}: {text}");
        for piece in ["<script>alert", "<img src=x", "<i>made", "<b>spaces"] {
            assert!(!text.contains(piece), "{rest} holds {piece}: {text}");
        }
        assert!(visitor.json(rest).is_object(), "{rest}");
        let mark = if rest.contains('?') { '&' } else { '?' };
        let csv = visitor.page(&format!("{rest}{mark}format=csv"));
        assert!(csv.header("content-type").unwrap().starts_with("text/csv"), "{rest}");
    }
    assert!(
        visitor.page("files/memory").text.contains("&#60;script&#62;alert(1)")
            || visitor.page("files/memory").text.contains("&lt;script&gt;alert(1)")
    );
    for missing in ["sessions/none", "skills/none", "files/none", "backups/none"] {
        let answer = visitor.get(&format!("/p/default/{missing}"));
        assert_eq!(answer.status, 404, "{missing}: {}", answer.text);
        assert!(answer.text.contains("type=\"search\""), "{missing} offers a search");
    }
}

#[test]
fn a_file_is_saved_over_the_version_that_was_read_and_over_no_other() {
    let daemon = Listening::new();
    let visitor = Visitor::new(&daemon);
    let hash = visitor.json("files/memory")["hash"].as_str().unwrap().to_owned();
    let text = "# Memory\r\n\r\n- From a page\r\n";
    let page = visitor.does("files/memory", &[("deed", "save"), ("hash", &hash), ("text", text)]);
    assert!(page.text.contains("Saved MEMORY.md"), "{}", page.text);
    assert_eq!(daemon.sandbox.read("memories/MEMORY.md"), "# Memory\n\n- From a page\n");
    let stale =
        visitor.send("files/memory", &[("deed", "save"), ("hash", &hash), ("text", "- Mine")]);
    assert_eq!(stale.status, 409, "{}", stale.text);
    assert!(stale.text.contains("- Mine") && stale.text.contains("- From a page"));
    assert_eq!(daemon.sandbox.read("memories/MEMORY.md"), "# Memory\n\n- From a page\n");
    let undone = visitor.does("files/memory", &[("deed", "undo"), ("hash", &hash)]);
    assert!(undone.text.contains("Restored the previous version of MEMORY.md"), "{}", undone.text);
    assert!(!daemon.sandbox.read("memories/MEMORY.md").contains("From a page"));
}

#[test]
fn settings_are_changed_and_secrets_are_not() {
    let daemon = Listening::new();
    let visitor = Visitor::new(&daemon);
    let set = |key: &str, value: &str| {
        visitor.send("settings", &[("deed", "set"), ("key", key), ("value", value)])
    };
    assert_eq!(set("memory.stale_after_days", "90").status, 303);
    assert_eq!(daemon.sandbox.json(&["config", "get", "memory.stale_after_days"])["value"], "90");
    assert_eq!(set("memory.stale_after_days", "soon").status, 400);
    assert_eq!(set("OPENAI_API_KEY", "sk-very-secret").status, 403);
    // What runs programs, lets the agent do more, or says who may come in is typed into a terminal.
    let before = daemon.sandbox.read("config.yaml");
    let for_terminal = [
        ("backup.alert_command", "touch /tmp/x"),
        ("backup.alert_webhook", "http://evil.example/"),
        ("backup.targets", "evil"),
        ("agent.allow", "*"),
        ("agent.folders", "/"),
        ("server.bind", "0.0.0.0"),
        ("model.base_url", "http://evil.example/"),
    ];
    for (key, value) in for_terminal {
        let refused = set(key, value);
        assert_eq!(refused.status, 403, "{key}: {}", refused.text);
        assert!(refused.text.contains(&format!("hermes config set {key} ")), "{key}");
        let unset = visitor.send("settings", &[("deed", "unset"), ("key", key)]);
        assert_eq!(unset.status, 403, "{key}: {}", unset.text);
    }
    assert_eq!(daemon.sandbox.read("config.yaml"), before);
    assert_eq!(set("memory.stale_after_days", "").status, 303);
    assert_eq!(daemon.sandbox.json(&["config", "get", "memory.stale_after_days"])["value"], "180");
    daemon.sandbox.feed(&["config", "set", "OPENAI_API_KEY", "-"], b"sk-very-secret");
    let text = visitor.page("settings").text;
    assert!(text.contains("OPENAI_API_KEY") && !text.contains("sk-very-secret"));
}

#[test]
fn nothing_is_forgotten_without_its_name_and_a_backup() {
    let daemon = Listening::new();
    daemon.sandbox.ok(&["memory", "fact", "add", "Prefers tea"]);
    let visitor = Visitor::new(&daemon);
    let forget = |more: &[(&str, &str)]| {
        let fields = [("deed", "forget"), ("what", "type:facts")];
        visitor.send("carry", &[&fields, more].concat())
    };
    assert_eq!(forget(&[("sure", "fact")]).status, 400);
    // No encryption is set up, so no backup can be made.
    assert_eq!(forget(&[("sure", "facts")]).status, 403);
    assert_eq!(visitor.fact("1")["retired_at"], serde_json::Value::Null);
    assert_eq!(forget(&[("sure", "facts"), ("unsafe", "1")]).status, 303);
    assert!(!visitor.fact("1")["retired_at"].is_null());
    let whole = visitor.page("carry?download=all");
    assert!(whole.header("content-disposition").unwrap().contains("attachment"));
    assert!(whole.text.contains("Prefers tea"));
}
