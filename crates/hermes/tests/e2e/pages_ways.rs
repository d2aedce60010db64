//! What is behind an answer, and ways back: parts of scores, facets, reasons, what was deleted, skills, agents.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::listening::Listening;
use crate::pages::Visitor;
use crate::pty::Terminal;
use crate::sandbox::{Sandbox, until};

fn turn(sandbox: &Sandbox, turn: &Value) {
    let ran = sandbox.feed(&["memory", "turn", "-"], turn.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn ids(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

/// A memory with two projects, a fact that somebody typed and one that an agent noted.
fn of_two_projects() -> Sandbox {
    let sandbox = Sandbox::ready();
    for (session, project, place) in
        [("s1", "/srv/shop", "the blue cluster"), ("s2", "/srv/blog", "the green cluster")]
    {
        turn(
            &sandbox,
            &json!({"session_id": session, "project": project, "channel": "cli", "messages": [
                {"role": "user", "text": format!("Where is the checkout deployed? On {place}.")},
                {"role": "assistant", "text": "Noted."}]}),
        );
    }
    sandbox.ok(&["memory", "fact", "add", "The checkout is deployed by Rosa", "--entity", "Rosa"]);
    sandbox
}

#[test]
fn every_score_of_a_context_is_the_sum_of_its_parts_on_the_page_and_in_the_terminal() {
    let sandbox = of_two_projects();
    let task = "where is the checkout deployed?";
    let told = sandbox.json(&["memory", "context", task]);
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let page = visitor.json("inspector?task=where+is+the+checkout+deployed%3F");
    let candidates = page["results"].as_array().unwrap();
    assert!(candidates.len() >= 2, "{page}");
    for one in candidates {
        let sum: f64 =
            one["parts"].as_array().unwrap().iter().map(|p| p["value"].as_f64().unwrap()).sum();
        assert!((sum - one["score"].as_f64().unwrap()).abs() < 0.001, "{one}");
    }
    let fact = candidates.iter().find(|one| one["name"] == "fact:001").unwrap();
    let evidence: Vec<&str> =
        fact["evidence"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    for part in ["words", "tokens", "topic", "meaning", "meaning nearby"] {
        assert!(evidence.contains(&part), "{evidence:?}");
    }
    let items: Vec<&Value> = told["sections"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|section| section["items"].as_array().unwrap())
        .collect();
    let same = items.iter().find(|item| item["name"] == "fact:001").unwrap();
    assert_eq!(same["evidence"], fact["evidence"]);
    let text = visitor.page("inspector?task=where+is+the+checkout+deployed%3F").text;
    assert!(text.contains("<li>words ") && text.contains("<li>recency "), "{text}");
    let why = daemon.sandbox.ok(&["memory", "context", task, "--why"]);
    assert!(why.contains("score: relevance ") && why.contains("rests on: words "), "{why}");
}

#[test]
fn a_search_is_narrowed_by_project_source_and_name_in_the_address_and_in_the_terminal() {
    let daemon = Listening::at(of_two_projects());
    let visitor = Visitor::new(&daemon);
    let all = visitor.json("search?q=checkout+deployed");
    assert!(ids(&all).len() >= 3, "{all}");
    let names: Vec<&str> =
        all["facets"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"source") && names.contains(&"project"), "{all}");
    for (rest, flags) in [
        ("project=shop", ["--project", "shop"]),
        ("project=%2Fsrv%2Fshop", ["--project", "/srv/shop"]),
        ("source=user", ["--source", "user"]),
        ("entity=Rosa", ["--entity", "Rosa"]),
    ] {
        let page = visitor.json(&format!("search?q=checkout+deployed&{rest}"));
        let found = ids(&page);
        assert!(!found.is_empty() && found.len() < ids(&all).len(), "{rest}: {page}");
        let words = ["memory", "search", "checkout deployed", flags[0], flags[1]];
        assert_eq!(ids(&daemon.sandbox.json(&words)), found, "{rest}");
    }
    for (name, value) in [("project", "/srv/shop"), ("source", "user")] {
        let page = visitor.json(&format!("search?q=checkout+deployed&{name}={value}"));
        let results = page["results"].as_array().unwrap();
        assert!(results.iter().all(|hit| hit[name] == value), "{page}");
    }
    let shop = visitor.json("search?q=checkout+deployed&project=shop");
    assert!(shop["results"][0]["text"].as_str().unwrap().contains("blue cluster"));
    let api = daemon.get("/api/v1/search?q=checkout+deployed&source=user").json();
    assert_eq!(ids(&api), ["fact:001"]);
    let text = visitor.page("search?q=checkout+deployed").text;
    assert!(text.contains("Filter by source:") && text.contains("user (1)"), "{text}");
    let narrowed = visitor.page("search?q=checkout+deployed&project=shop").text;
    assert!(narrowed.contains("--project shop"), "the same command: {narrowed}");
}

#[test]
fn a_label_says_whether_the_words_stand_there_or_the_meaning_is_near() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The physician prescribed antibiotics for the child"]);
    sandbox.ok(&["memory", "fact", "add", "The quarterly invoice 4711 was paid in March"]);
    let found = |words: &str, text: &str| {
        let answer = sandbox.json(&["memory", "search", words, "--type", "facts"]);
        let hits = answer["results"].as_array().unwrap().clone();
        let hit = hits.into_iter().find(|hit| hit["text"].as_str().unwrap().contains(text));
        hit.map(|hit| (hit["found"].as_str().unwrap().to_owned(), hit["words"].clone()))
    };
    assert_eq!(
        found("medicine from the doctor", "physician").unwrap(),
        ("semantic".to_owned(), Value::Null)
    );
    let (label, words) = found("antibiotics for the child", "physician").unwrap();
    assert_eq!((label.as_str(), &words), ("both", &json!(["antibiotics", "child"])));
    let (label, _) = found("what happened to my yellow bicycle 4711", "4711").unwrap();
    assert_eq!(label, "keyword");
    let explained = sandbox.ok(&["memory", "search", "antibiotics", "--explain"]);
    assert!(explained.contains("both (antibiotics), score "), "{explained}");
}

#[test]
fn a_reason_may_be_said_in_ones_own_words_and_goes_with_what_is_erased() {
    let sandbox = Sandbox::ready();
    for fact in ["The office is in Porto", "The desk is green", "The lamp is blue"] {
        sandbox.ok(&["memory", "fact", "add", fact]);
    }
    sandbox.ok(&["memory", "fact", "delete", "2", "--because", "painted it over the weekend"]);
    let history = sandbox.ok(&["memory", "fact", "history", "2"]);
    assert!(history.contains("by user (painted it over the weekend)"), "{history}");
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let page =
        visitor.does("facts/1", &[("deed", "forget"), ("reason", "we moved <b>to</b> Lisbon")]);
    assert!(page.text.contains("Forgotten"), "{}", page.text);
    let shown = visitor.page("facts/1").text;
    assert!(shown.contains("we moved") && !shown.contains("<b>to</b>"), "{shown}");
    let steps = visitor.json("facts/1")["history"].as_array().unwrap().clone();
    assert_eq!(steps[0]["by"], "user (we moved <b>to</b> Lisbon)");
    visitor.does("facts/3", &[("deed", "forget"), ("reason", "wrong")]);
    assert!(visitor.page("facts/3").text.contains("user (wrong)"));
    let restored = visitor.does("facts/3", &[("deed", "restore")]);
    assert!(restored.text.contains("Restored"), "{}", restored.text);
    let gone = daemon.ask(
        "DELETE",
        "/api/v1/facts/3?reason=the+lamp+broke",
        &[&format!("Authorization: Bearer {}", daemon.token)],
        "",
    );
    assert_eq!(gone.status, 200, "{}", gone.text);
    let history = daemon.sandbox.ok(&["memory", "fact", "history", "3"]);
    assert!(history.contains("(the lamp broke)"), "{history}");
    daemon.sandbox.ok(&["memory", "fact", "delete", "2", "--erase", "--yes"]);
    let file = fs::read(daemon.sandbox.path("memory.db")).unwrap();
    assert!(!String::from_utf8_lossy(&file).contains("painted it over"), "the reason is gone too");
}

#[test]
fn what_was_deleted_comes_back_from_the_notice_and_by_its_command() {
    let sandbox = of_two_projects();
    let text = "---\nname: steep-tea\ndescription: How tea is made\n---\nBoil water.\n";
    sandbox.write("hermesd/pending-skills/steep-tea/SKILL.md", text);
    sandbox.write("skills/kitchen/bake-bread/SKILL.md", text.replace("steep-tea", "bake-bread"));
    sandbox.ok(&["profile", "create", "work"]);
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let page = visitor.does("skills", &[("reject", "steep-tea")]);
    assert!(
        page.text.contains("data-undo") && page.text.contains("name=\"restore\""),
        "{}",
        page.text
    );
    assert!(!daemon.sandbox.path("hermesd/pending-skills/steep-tea").exists());
    visitor.does("skills", &[("restore", "steep-tea")]);
    assert_eq!(daemon.sandbox.read("hermesd/pending-skills/steep-tea/SKILL.md"), text);
    visitor.does("skills", &[("delete", "bake-bread")]);
    assert!(
        daemon.sandbox.ok(&["skills", "restore", "bake-bread"]).contains("is restored and in use")
    );
    assert!(daemon.sandbox.path("skills/kitchen/bake-bread/SKILL.md").exists());
    daemon.sandbox.fails(&["skills", "restore", "bake-bread"], 4, &["deleted or rejected"]);

    let before = daemon.sandbox.ok(&["sessions", "export", "s1"]);
    let page = visitor.does("sessions/s1", &[("deed", "delete")]);
    assert!(page.text.contains("data-undo") && page.text.contains("value=\"s1\""), "{}", page.text);
    assert_eq!(visitor.get("/p/default/sessions/s1").status, 404);
    let back = visitor.does("sessions", &[("deed", "restore"), ("session", "s1")]);
    assert!(back.text.contains("Session restored"), "{}", back.text);
    assert!(daemon.sandbox.ok(&["sessions", "export", "s1"]).contains("blue cluster"), "{before}");
    // What was remembered of it is not remembered twice.
    daemon.sandbox.ok(&["memory", "catch-up"]);
    let found = daemon.sandbox.json(&["memory", "search", "blue cluster", "--type", "episodes"]);
    let hits = found["results"].as_array().unwrap();
    let same = hits.iter().filter(|hit| hit["text"].as_str().unwrap().contains("blue cluster"));
    assert_eq!(same.count(), 1, "{found}");
    daemon.sandbox.ok(&["sessions", "delete", "s1", "--yes"]);
    assert!(daemon.sandbox.ok(&["sessions", "restore"]).contains("s1"));
    daemon.sandbox.ok(&["sessions", "restore", "s1"]);
    assert!(daemon.sandbox.ok(&["sessions", "restore"]).contains("no deleted session"));
    daemon.sandbox.ok(&["sessions", "delete", "s1", "--erase", "--yes"]);
    daemon.sandbox.fails(&["sessions", "restore", "s1"], 4, &["no deleted session s1"]);

    let page = visitor.does("people", &[("deed", "delete"), ("name", "work"), ("sure", "work")]);
    assert!(page.text.contains("data-undo"), "{}", page.text);
    assert!(!daemon.sandbox.path("profiles/work").exists());
    visitor.does("people", &[("deed", "restore"), ("name", "work")]);
    assert!(daemon.sandbox.path("profiles/work/SOUL.md").exists());
    daemon.sandbox.ok(&["profile", "delete", "work", "--yes"]);
    assert!(daemon.sandbox.ok(&["profile", "restore", "work"]).contains("work was restored"));
    daemon.sandbox.fails(&["profile", "restore", "work"], 5, &["work"]);
}

#[test]
fn an_agent_is_connected_as_it_was_shown_and_taken_out_to_the_byte() {
    let sandbox = Sandbox::ready();
    let settings = "{\n  // mine\n  \"mcpServers\": {}\n}\n";
    fs::create_dir_all(sandbox.folder().join(".cursor")).unwrap();
    let file = sandbox.folder().join(".cursor/mcp.json");
    sandbox.write("../.cursor/mcp.json", settings);
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let seen = |rest: &str| {
        let text = visitor.page(rest).text;
        let (_, rest) =
            text.split_once("name=\"seen\" value=\"").unwrap_or_else(|| panic!("{text}"));
        rest.split('"').next().unwrap().to_owned()
    };
    let shown = visitor.page("integrations?agent=cursor").text;
    assert!(shown.contains(".cursor/mcp.json") && shown.contains(">Connect</button>"), "{shown}");
    let old = seen("integrations?agent=cursor");
    daemon.sandbox.write("../.cursor/mcp.json", settings.replace("mine", "theirs"));
    let fields = |seen: &str| -> Vec<(&'static str, String)> {
        vec![
            ("deed", "connect".to_owned()),
            ("agent", "cursor".to_owned()),
            ("seen", seen.to_owned()),
        ]
    };
    let send = |fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        visitor.send("integrations", &fields)
    };
    let stale = send(&fields(&old));
    assert_eq!(stale.status, 409, "{}", stale.text);
    assert_eq!(fs::read_to_string(&file).unwrap(), settings.replace("mine", "theirs"));
    assert_eq!(send(&fields(&seen("integrations?agent=cursor"))).status, 303);
    assert!(fs::read_to_string(&file).unwrap().contains("hermes"));
    assert!(visitor.page("integrations").text.contains("Disconnect …"));
    let removal = seen("integrations?agent=cursor&remove=1");
    let fields =
        [("deed", "disconnect".to_owned()), ("agent", "cursor".to_owned()), ("seen", removal)];
    assert_eq!(send(&fields).status, 303);
    assert_eq!(fs::read_to_string(&file).unwrap(), settings.replace("mine", "theirs"));
    let forged =
        [("deed", "connect".to_owned()), ("agent", "--all-detected".to_owned()), ("seen", old)];
    assert_eq!(send(&forged).status, 404);
}

#[test]
fn a_skill_is_edited_when_it_is_valid_and_over_no_newer_text() {
    let sandbox = Sandbox::ready();
    let text = "---\nname: steep-tea\ndescription: How tea is made\n---\nBoil water.\n";
    sandbox.write("skills/steep-tea/SKILL.md", text);
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let hash = |_: ()| visitor.json("skills/steep-tea/edit")["hash"].as_str().unwrap().to_owned();
    let save = |hash: &str, text: &str, deed: &str| {
        visitor.send("skills/steep-tea/edit", &[("deed", deed), ("hash", hash), ("text", text)])
    };
    let first = hash(());
    let bad = save(&first, "---\nname: other\n---\nno <script>alert(1)</script>", "save");
    assert_eq!(bad.status, 422, "{}", bad.text);
    assert!(
        bad.text.contains("description") && !bad.text.contains("<script>alert"),
        "{}",
        bad.text
    );
    let better = text.replace("Boil", "Heat");
    assert!(save(&first, &better, "check").text.contains("The skill is valid"));
    assert_eq!(daemon.sandbox.read("skills/steep-tea/SKILL.md"), text);
    assert_eq!(save(&first, &better.replace('\n', "\r\n"), "save").status, 303);
    assert_eq!(daemon.sandbox.read("skills/steep-tea/SKILL.md"), better);
    let stale = save(&first, &text.replace("Boil", "Cook"), "save");
    assert_eq!(stale.status, 409, "{}", stale.text);
    assert!(stale.text.contains("Cook") && stale.text.contains("Heat"), "{}", stale.text);
    let undone = visitor.does("skills/steep-tea/edit", &[("deed", "undo"), ("version", &first)]);
    assert!(undone.text.contains("Saved steep-tea"), "{}", undone.text);
    assert_eq!(daemon.sandbox.read("skills/steep-tea/SKILL.md"), text);
    let ran = daemon.sandbox.feed(&["skills", "edit", "steep-tea", "-"], better.as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(daemon.sandbox.read("skills/steep-tea/SKILL.md"), better);
    let ran = daemon.sandbox.feed(&["skills", "edit", "steep-tea", "-"], b"no skill");
    ran.failed(5, &["the first line must be"]);
}

#[test]
fn a_browser_is_led_to_the_dashboard_by_a_private_page_and_not_by_a_code_that_others_see() {
    let sandbox = Sandbox::ready();
    let programs = sandbox.folder().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let told = sandbox.folder().join("told");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" > {0}.part\nstat -c %a \"$1\" >> {0}.part\ncat \"$1\" >> {0}.part\nmv {0}.part {0}\n",
        told.display()
    );
    for name in ["xdg-open", "open"] {
        let program = programs.join(name);
        sandbox.write(&format!("../programs/{name}"), &script);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let daemon = Listening::at(sandbox);
    let open = || {
        let mut command = daemon.sandbox.command(&["dashboard"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        let mut terminal = Terminal::start(command);
        terminal.expect("/login?code=");
        assert_eq!(terminal.end(), 0);
        until("the browser was opened", || told.exists());
        let said = fs::read_to_string(&told).unwrap();
        fs::remove_file(&told).unwrap();
        said
    };
    let said = open();
    let mut lines = said.lines();
    let page = lines.next().unwrap().to_owned();
    assert!(page.contains("/hermesd/open/") && !page.contains("code"), "{said}");
    assert_eq!(lines.next().unwrap(), "600");
    let (_, rest) = said.split_once("url=").unwrap();
    let url = rest.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    let (_, code) = url.split_once("/login?").unwrap();
    assert!(!page.contains(code.trim_start_matches("code=")));
    assert!(fs::exists(&page).unwrap());
    // The next one takes the page away that nobody used.
    let second = open();
    assert!(!fs::exists(&page).unwrap());
    let page = second.lines().next().unwrap().to_owned();
    let (_, code) = second.split_once("/login?").unwrap();
    let code = code.split('"').next().unwrap();
    let entered = daemon.ask_at(&daemon.own_host(), ("GET", &format!("/login?{code}")), &[], "");
    assert_eq!(entered.status, 200);
    assert!(!fs::exists(&page).unwrap(), "the page goes with its code");
}

#[test]
fn a_lesson_becomes_a_skill_that_waits() {
    let sandbox = Sandbox::ready();
    crate::reflect::session(
        &sandbox,
        "s1",
        &[
            ("user", "Fix the failing test in parser.rs"),
            ("assistant", "I changed the indentation to spaces."),
            ("user", "No, use tabs instead of spaces."),
        ],
    );
    sandbox.ok(&["memory", "reflect"]);
    let lessons = sandbox.json(&["memory", "reflections", "list"]);
    let id = lessons["results"][0]["id"].as_str().unwrap().to_owned();
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let number = id.trim_start_matches("procedure:");
    let page = visitor.does("procedures", &[("promote", number)]);
    assert!(page.text.contains("needs your approval in Skills"), "{}", page.text);
    let waiting = daemon.sandbox.json(&["skills", "list", "--pending"]);
    let name = waiting["results"][0]["name"].as_str().unwrap().to_owned();
    let again = daemon.sandbox.ok(&["memory", "reflections", "promote", &id]);
    assert!(again.contains("already says this"), "{again}");
    visitor.does("skills", &[("reject", &name)]);
    daemon.sandbox.fails(&["memory", "reflections", "promote", &id], 5, &["rejected"]);
}

#[test]
fn old_sessions_go_after_a_look_at_which() {
    let sandbox = of_two_projects();
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let plan = visitor.json("sessions?older=30d");
    assert_eq!(plan["prune"]["results"], json!([]), "{plan}");
    let text = visitor.page("sessions?older=30d").text;
    assert!(
        text.contains("0 sessions with 0 messages") && !text.contains("Delete these sessions"),
        "{text}"
    );
    let fields = [("deed", "prune"), ("older", "30d"), ("count", "3")];
    let refused = visitor.send("sessions", &fields);
    assert_eq!(refused.status, 403, "{}", refused.text);
    let done = visitor.does("sessions", &[("deed", "prune"), ("older", "30d"), ("count", "0")]);
    assert!(done.text.contains("0 sessions"), "{}", done.text);
}
