//! How the program behaves on the command line: codes, JSON, pipes, colours.

use std::process::Stdio;

use serde_json::Value;

use crate::pty::Terminal;
use crate::sandbox::Sandbox;

#[test]
fn errors_with_json_are_one_object_on_standard_output_with_the_same_code() {
    let sandbox = Sandbox::empty();
    let ran = sandbox.run(&["sessions", "list", "--json"]);
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, 10);
    assert_eq!(error["error"]["kind"], "missing");
    assert!(error["error"]["hint"].as_str().unwrap().contains("hermes init"));
    assert_eq!(ran.stderr, "");
    let ran = sandbox.run(&["sessions", "lst", "--json"]);
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &error["error"]["kind"]), (2, &Value::from("usage")));
}

#[test]
fn a_typo_in_a_command_is_answered_with_the_right_one() {
    let ran = Sandbox::empty().run(&["sesions", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `hermes sessions`?"), "{}", ran.stderr);
}

#[test]
fn a_command_that_does_not_exist_is_answered_with_what_was_meant() {
    let sandbox = Sandbox::empty();
    for (typed, meant) in [
        (&["remember", "x"][..], "hermes add"),
        (&["find", "x"], "hermes search"),
        (&["facts"], "hermes memory fact list"),
        (&["ui"], "hermes dashboard"),
        (&["honcho", "mode"], "external memory service"),
        (&["memory", "serch"], "`hermes memory search`"),
        (&["help", "memori"], "`hermes memory`"),
        (&["xyzzy"], "hermes help --all"),
    ] {
        let ran = sandbox.run(typed);
        assert_eq!(ran.code, 2, "{typed:?}");
        assert!(ran.stderr.contains(meant), "{typed:?}: {}", ran.stderr);
    }
}

#[test]
fn help_is_one_screen_and_knows_every_command() {
    let sandbox = Sandbox::empty();
    let first = sandbox.ok(&["help"]);
    assert_eq!(first, sandbox.ok(&["--help"]));
    assert!(first.lines().count() <= 35, "{first}");
    assert!(first.contains("search") && !first.contains("hook"), "{first}");
    let all = sandbox.ok(&["help", "--all"]);
    assert!(all.contains("hook") && all.contains("--json"), "{all}");
    assert_eq!(
        sandbox.ok(&["help", "backup", "create"]),
        sandbox.ok(&["backup", "create", "--help"])
    );
}

#[test]
fn what_people_type_first_works() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["add", "Short answers unless I ask for detail"]);
    assert!(sandbox.ok(&["memory", "list"]).contains("Short answers"));
    sandbox.ok(&["memory", "fact", "add", "The Atlas report is due on the first Monday"]);
    let id = sandbox.ok(&["sessions", "create", "--title", "Harbour"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "The crane is called Bertha"]);
    assert!(sandbox.ok(&["search", "when is the Atlas report due"]).contains("first Monday"));
    assert!(sandbox.ok(&["search", "crane Bertha"]).contains("Bertha"));
    assert!(sandbox.ok(&["context", "write the Atlas report"]).contains("first Monday"));
    sandbox.fails(&["forget", "Atlas report"], 5, &["fact:001", "--yes"]);
    assert!(sandbox.ok(&["forget", "Atlas report", "--yes"]).contains("fact:001"));
    assert!(!sandbox.ok(&["memory", "fact", "list"]).contains("Atlas"));
    sandbox.ok(&["memory", "fact", "restore", "fact:001"]);
    assert!(sandbox.ok(&["forget", "fact:001"]).contains("forgotten"));
    sandbox.fails(&["forget", "nothing of the kind"], 4, &["no fact matches"]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create"]);
    let long = "many words to fill the pipe ".repeat(20_000);
    let ran =
        sandbox.feed(&["sessions", "append", id.trim(), "--role", "user", "-"], long.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let closing: &[&[&str]] = &[
        &["sessions", "export"],
        &["sessions", "show", "last"],
        &["sessions", "show", "last", "--json"],
        &["sessions", "list", "--json"],
        &["--help"],
    ];
    for arguments in closing {
        let mut command = sandbox.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn there_are_no_colours_in_a_pipe_and_everything_shown_has_a_json_form() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create", "--title", "colours"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "paint it blue"]);
    let shows: &[&[&str]] = &[
        &["paths"],
        &["doctor"],
        &["profile", "list"],
        &["profile", "show"],
        &["config", "list"],
        &["config", "get", "sessions.retention_days"],
        &["config", "check"],
        &["config", "path"],
        &["memory", "show"],
        &["memory", "versions"],
        &["soul", "show"],
        &["skills", "list"],
        &["skills", "validate"],
        &["sessions", "list"],
        &["sessions", "show", "last"],
        &["sessions", "search", "blue"],
        &["sessions", "stats"],
        &["sessions", "prune"],
        &["start", "--no-daemon"],
        &["status"],
        &["logs"],
        &["jobs", "list"],
        &["service", "status"],
        &["init"],
    ];
    for arguments in shows {
        let ran = sandbox.run(arguments);
        assert!([0, 6].contains(&ran.code), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stdout.contains('\u{1b}'), "{arguments:?} has colours");
        let with: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let ran = sandbox.run(&with);
        let parsed: Result<Value, _> = serde_json::from_str(&ran.stdout);
        assert!(parsed.is_ok(), "{arguments:?} --json: {}", ran.stdout);
        assert_eq!(ran.stderr, "", "{arguments:?} --json");
    }
}

#[test]
fn what_other_programs_wrote_cannot_drive_the_terminal() {
    let sandbox = Sandbox::ready();
    let line = "{\"id\":\"e\\u001b[31m\",\"source\":\"s\\u001b[2J\",\"title\":\"t\\u001b]0;x\\u0007\",\"started_at\":1,\"messages\":[{\"role\":\"r\\u001b[5m\",\"content\":\"blue \\u001b[1m\",\"timestamp\":2}]}\n";
    assert_eq!(sandbox.feed(&["sessions", "import", "-"], line.as_bytes()).code, 0);
    for arguments in
        ["sessions list", "sessions search blue", "sessions show last", "sessions prune"]
    {
        // On a terminal colours are on.
        let words: Vec<&str> = arguments.split(' ').collect();
        let mut terminal = Terminal::start(sandbox.command(&words));
        terminal.end();
        let text = String::from_utf8_lossy(&terminal.raw()).into_owned();
        for escape in ["\u{1b}[31m", "\u{1b}[2J", "\u{1b}]0;", "\u{1b}[5m"] {
            assert!(!text.contains(escape), "{arguments}: {text:?}");
        }
        assert!(text.contains("\u{fffd}") || text.contains("[5m"), "{arguments}: {text:?}");
    }
}

#[test]
fn an_argument_that_is_not_text_is_an_error_and_no_crash() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::ready();
    let mut command = sandbox.command(&["memory", "add"]);
    let output = command.arg(std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn completions_and_manual_pages_are_made() {
    let sandbox = Sandbox::empty();
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.ok(&["completions", shell]).contains("sessions"), "{shell}");
    }
    assert!(sandbox.ok(&["man"]).contains(".TH"));
    sandbox.ok(&["man", "--output", "pages"]);
    assert!(sandbox.folder().join("pages/hermes-sessions-search.1").is_file());
}

#[test]
fn every_command_explains_itself() {
    let sandbox = Sandbox::empty();
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["sessions", "--help"],
        &["sessions", "search", "--help"],
        &["memory", "add", "--help"],
        &["config", "set", "--help"],
        &["--version"],
    ] {
        assert!(!sandbox.ok(arguments).is_empty(), "{arguments:?}");
    }
    assert!(!sandbox.home().exists());
}

#[test]
fn what_is_recalled_drives_no_terminal() {
    let sandbox = Sandbox::ready();
    let said = "The launch word of the harbour project is \u{1b}]0;owned\u{7}tulip";
    crate::reflect::session(&sandbox, "s1", &[("user", said), ("assistant", "Noted.")]);
    let shown =
        sandbox.ok(&["memory", "context", "What is the launch word of the harbour project?"]);
    assert!(shown.contains("tulip") && !shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
}
