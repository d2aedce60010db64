//! How conversations went is noted: what was said about the work, tools that failed, answers that were not wanted.

use serde_json::json;

use crate::model_server::{ModelServer, Reply};
use crate::sandbox::Sandbox;
use crate::talks::{ask, talk};

/// How each task went, in the order of the tasks.
fn outcomes(sandbox: &Sandbox) -> Vec<(String, String)> {
    let memory = sandbox.database("memory.db");
    let mut tasks = memory.prepare("select title, outcome from task order by id").unwrap();
    let rows = tasks.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// One conversation that is over, with the answers of the model.
fn conversation(sandbox: &Sandbox, replies: Vec<Reply>, lines: &[&str]) -> ModelServer {
    let server = ModelServer::start(replies);
    let ran = talk(sandbox, &server, &[], lines);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    server
}

#[test]
fn a_correction_in_a_conversation_teaches_the_next_one() {
    let sandbox = Sandbox::ready();
    conversation(
        &sandbox,
        vec![Reply::text("I changed the indentation to spaces."), Reply::text("Done with tabs.")],
        &["Fix the failing test in parser.rs", "No, use tabs instead of spaces."],
    );
    let looked = sandbox.json(&["memory", "reflect"]);
    assert_eq!(looked["sessions"]["lessons"], json!(1), "{looked}");
    assert_eq!(outcomes(&sandbox)[0].1, "unclear");
    let server = ModelServer::start(vec![Reply::text("Fixed.")]);
    ask(&sandbox, &server, "Fix the failing test in lexer.rs");
    let told = server.requests()[0].prompt();
    assert!(told.contains("Use tabs instead of spaces"), "{told}");
}

#[test]
fn praise_and_complaints_say_how_it_went() {
    let sandbox = Sandbox::ready();
    let answer = || vec![Reply::text("The report is in report.md."), Reply::text("Noted.")];
    let request = "Summarise the sales figures of October";
    conversation(&sandbox, answer(), &[request, "Perfect, thank you!"]);
    conversation(&sandbox, answer(), &[request, "That doesn't work, the numbers are wrong."]);
    sandbox.ok(&["memory", "reflect"]);
    let went: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(went, ["success", "failure"]);
}

#[test]
fn a_tool_that_failed_and_nothing_after_it_is_a_failure() {
    let sandbox = Sandbox::ready();
    let missing = Reply::call("read_file", &json!({"path": "no-such-file.csv"}));
    conversation(
        &sandbox,
        vec![missing, Reply::text("I could not read the file.")],
        &["Count the rows of no-such-file.csv"],
    );
    sandbox.ok(&["memory", "reflect"]);
    assert_eq!(outcomes(&sandbox)[0].1, "failure");
    let log = sandbox.ok(&["memory", "search", "--type", "events", "no-such-file.csv"]);
    assert!(log.contains("Count the rows of no-such-file.csv"), "{log}");
}

#[test]
fn an_answer_that_was_asked_for_again_is_a_sign_though_it_is_taken_back() {
    let sandbox = Sandbox::ready();
    let replies = || vec![Reply::text("Roses are red."), Reply::text("Violets are blue.")];
    let request = "Write a short poem about the harbour in winter";
    conversation(&sandbox, replies(), &[request]);
    conversation(&sandbox, replies(), &[request, "/retry"]);
    sandbox.ok(&["memory", "reflect"]);
    let went: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(went, ["success", "unclear"]);
    let log = sandbox.ok(&["memory", "search", "--type", "events", "asked again poem harbour"]);
    assert!(log.contains("asked again: Write a short poem"), "{log}");
    let shown = sandbox.ok(&["sessions", "search", "Roses"]);
    assert_eq!(shown.matches("Roses are").count(), 1, "the one that was not taken back: {shown}");
}

#[test]
fn conversations_that_went_well_become_a_skill_that_is_offered_and_read_only_when_used() {
    let sandbox = Sandbox::ready();
    for what in ["shop", "wiki", "site"] {
        sandbox.write(&format!("../{what}/deploy.txt"), format!("deploy {what}\n"));
        let read = Reply::call("read_file", &json!({"path": format!("{what}/deploy.txt")}));
        let list = Reply::call("list_files", &json!({"path": what}));
        let replies = vec![list, read, Reply::text("It is ready to go to staging.")];
        conversation(&sandbox, replies, &[&format!("Prepare the {what} for staging")]);
    }
    let looked = sandbox.json(&["memory", "reflect"]);
    let name = looked["skills"]["drafted"][0]["name"].as_str().unwrap_or_default().to_owned();
    assert!(!name.is_empty(), "{looked}");
    let task = "Prepare the forum for staging";
    let before = ModelServer::start(vec![Reply::text("Ready.")]);
    ask(&sandbox, &before, task);
    assert!(!before.requests()[0].prompt().contains(&name), "it waits for its user");
    sandbox.ok(&["skills", "approve", &name]);
    let view = Reply::call("skill_view", &json!({"name": name}));
    let after = ModelServer::start(vec![view, Reply::text("Ready.")]);
    ask(&sandbox, &after, task);
    let requests = after.requests();
    assert!(requests[0].system().contains(&name), "{}", requests[0].system());
    let body = sandbox.read(&format!("skills/{name}/SKILL.md"));
    let line = body.lines().find(|line| line.starts_with("1. ")).unwrap();
    assert!(!requests[0].prompt().contains(line), "its words are not loaded: {line}");
    assert!(requests[1].last().contains(line), "{line}: {}", requests[1].last());
}
