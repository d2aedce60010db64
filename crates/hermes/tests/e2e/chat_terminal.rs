//! A conversation in a pseudo-terminal: what a person types, sees and is asked.

use std::process::Command;

use serde_json::json;

use crate::model_server::{ModelServer, Reply};
use crate::pty::Terminal;
use crate::sandbox::Sandbox;

const MODEL: &str = "anthropic/loopback-1";
/// What the line after a turn begins with.
const STATUS: &str = "anthropic/loopback-1 ·";

fn chat(sandbox: &Sandbox, server: &ModelServer, more: &[&str]) -> Command {
    let mut arguments = vec!["chat", "--model", MODEL];
    arguments.extend(more);
    let mut command = sandbox.command(&arguments);
    server.point(&mut command);
    command
}

/// A conversation that waits for its first line.
fn begin(sandbox: &Sandbox, server: &ModelServer, more: &[&str]) -> Terminal {
    let mut terminal = Terminal::start(chat(sandbox, server, more));
    terminal.expect("/help lists the commands");
    terminal.prompt();
    terminal
}

/// Says something and waits until its turn is over.
fn say(terminal: &mut Terminal, text: &str) -> String {
    terminal.line(text);
    terminal.prompt_after(STATUS)
}

fn leave(terminal: &mut Terminal) {
    terminal.keys("\u{4}");
    assert_eq!(terminal.end(), 0, "{}", terminal.text());
}

#[test]
fn an_answer_is_streamed_as_markdown_with_a_line_of_figures() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::Slow(
        "# Tea\n\nUse **fresh** water:\n\n- boil it\n- wait\n\n```sh\nkettle --on\n```\n"
            .to_owned(),
    )]);
    let mut terminal = begin(&sandbox, &server, &[]);
    let shown = say(&mut terminal, "how do I make tea?");
    for part in ["Tea", "Use fresh water:", "• boil it", "• wait", "  kettle --on"] {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
    assert!(!shown.contains("**"), "{shown}");
    assert!(terminal.text().contains("· memory "), "{}", terminal.text());
    leave(&mut terminal);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn without_colours_nothing_is_styled() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Use **fresh** water.\n\n")]);
    let mut command = chat(&sandbox, &server, &[]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    terminal.prompt();
    let shown = say(&mut terminal, "tea?");
    assert!(shown.contains("**fresh**"), "{shown}");
    leave(&mut terminal);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for sequence in raw.split('\u{1b}').skip(1) {
        let is_style = sequence.starts_with('[')
            && sequence[1..]
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
                .starts_with('m');
        let is_reset = sequence.starts_with("[0m") || sequence.starts_with("[m");
        assert!(!is_style || is_reset, "a style came out: {sequence:?}");
    }
}

#[test]
fn ctrl_c_stops_an_answer_and_keeps_the_part() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![
        Reply::Stall("The first words stand.\n\nAnd then".to_owned()),
        Reply::text("Here I am again.\n"),
    ]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("tell me a long story");
    terminal.expect("The first words stand.");
    terminal.keys("\u{3}");
    terminal.expect("stopped; the partial answer is kept");
    terminal.prompt();
    let shown = say(&mut terminal, "go on");
    assert!(shown.contains("Here I am again."), "{shown}");
    leave(&mut terminal);
    let asked = server.requests();
    assert!(asked[1].prompt().contains("The first words stand."), "{}", asked[1].prompt());
    let kept = sandbox.ok(&["sessions", "search", "first words stand"]);
    assert!(kept.contains("first"), "{kept}");
}

#[test]
fn an_unknown_command_gets_a_suggestion_and_is_not_sent() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("unused")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("/contxt");
    terminal.expect("did you mean /context?");
    terminal.prompt();
    terminal.line("/help memory");
    terminal.expect("/memory edit ID TEXT");
    terminal.prompt();
    leave(&mut terminal);
    assert!(server.requests().is_empty());
}

#[test]
fn context_shows_the_window_as_a_table_that_adds_up() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Yes.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    say(&mut terminal, "are you there, friend of mine?");
    terminal.line("/context --why");
    for row in [
        "SOUL",
        "core",
        "MEMORY",
        "USER",
        "recent",
        "retrieved",
        "skills",
        "tools",
        "conversation",
        "free",
    ] {
        terminal.expect(&format!("\n{row}"));
    }
    terminal.expect(" tokens, ");
    terminal.prompt();
    terminal.line("/usage");
    terminal.expect("requests      1");
    terminal.prompt();
    leave(&mut terminal);
}

#[test]
fn what_is_remembered_is_announced_and_can_be_undone() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Noted.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("remember that our wifi is called Heron");
    terminal.expect("+ remembered fact:");
    terminal.expect("Heron");
    terminal.expect("(/undo)");
    terminal.prompt();
    assert!(sandbox.ok(&["memory", "show"]).contains("Heron"));
    terminal.line("/undo");
    terminal.expect("removed from");
    terminal.prompt();
    assert!(!sandbox.ok(&["memory", "show"]).contains("Heron"));
    terminal.line("/memory add The kettle is a Bosch");
    terminal.expect("+ remembered fact:");
    terminal.prompt();
    assert!(sandbox.ok(&["memory", "show"]).contains("The kettle is a Bosch"));
    assert!(sandbox.ok(&["memory", "fact", "list"]).contains("The kettle is a Bosch"));
    leave(&mut terminal);
}

#[test]
fn several_lines_are_one_message() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Fine.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.keys("first line\\\r");
    terminal.expect("… ");
    terminal.keys("second\u{1b}\rthird");
    terminal.expect("third");
    terminal.keys("\u{1b}[200~ and pasted\rlines\u{1b}[201~");
    terminal.expect("lines");
    say(&mut terminal, "");
    leave(&mut terminal);
    let prompt = server.requests()[0].prompt();
    assert!(prompt.contains(r"first line\nsecond\nthird and pasted\nlines"), "{prompt}");
}

#[test]
fn control_sequences_of_a_model_do_not_reach_the_terminal() {
    let sandbox = Sandbox::ready();
    let evil =
        "a\u{1b}]0;owned\u{7}b \u{1b}[2Jc \u{9b}31md \u{202e}e &#27;[41mf\n\n```\n\u{1b}[3J\n```\n";
    let server = ModelServer::start(vec![Reply::Slow(evil.to_owned())]);
    let mut terminal = begin(&sandbox, &server, &[]);
    let shown = say(&mut terminal, "say something odd");
    assert!(shown.contains("a␛]0;owned␇b ␛[2Jc"), "{shown}");
    leave(&mut terminal);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for bad in ["\u{1b}]0;", "\u{1b}[2Jc", "\u{9b}", "\u{202e}", "\u{1b}[41m", "\u{1b}[3J"] {
        assert!(!raw.contains(bad), "{bad:?} came out");
    }
}

#[test]
fn what_was_typed_is_found_again_in_the_next_conversation() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Yes.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    say(&mut terminal, "the purple elephant question");
    leave(&mut terminal);
    let history = sandbox.path("hermesd/chat-history");
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.keys("\u{12}");
    terminal.expect("search history:");
    terminal.keys("purple");
    terminal.expect("the purple elephant question");
    terminal.keys("\r");
    terminal.keys("\r");
    terminal.expect(STATUS);
    terminal.prompt();
    leave(&mut terminal);
    assert!(server.requests()[1].prompt().contains("the purple elephant question"));
}

#[test]
fn a_conversation_is_taken_up_again() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("The code word is Nightjar.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    say(&mut terminal, "what is the code word?");
    terminal.line("/quit");
    terminal.expect("continue with `hermes chat --resume ");
    assert_eq!(terminal.end(), 0);
    let mut terminal = begin(&sandbox, &server, &["-c"]);
    assert!(terminal.text().contains("continuing session"), "{}", terminal.text());
    say(&mut terminal, "and once more?");
    terminal.line("/new");
    terminal.expect("/help lists the commands");
    terminal.prompt();
    terminal.line("/resume");
    terminal.expect("what is the code word?");
    terminal.expect("continue one with /resume");
    terminal.prompt();
    leave(&mut terminal);
    assert!(server.requests()[1].prompt().contains("The code word is Nightjar."));
}

#[test]
fn ctrl_c_gives_up_a_line_and_leaves_only_when_pressed_twice() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("unused")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.keys("half a line");
    terminal.expect("half a line");
    terminal.keys("\u{3}");
    terminal.prompt();
    terminal.keys("\u{3}");
    terminal.expect("press Ctrl-C again");
    terminal.prompt();
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 0);
    assert!(server.requests().is_empty());
}

#[test]
fn tab_completes_commands_and_ids() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "The boat is called Petrel"]);
    let server = ModelServer::start(vec![Reply::text("unused")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.keys("/mem\t");
    terminal.expect("/memory ");
    terminal.keys("forget \t");
    terminal.expect("fact:001");
    terminal.keys("\r");
    terminal.expect("was deleted");
    terminal.expect("/memory restore");
    terminal.prompt();
    leave(&mut terminal);
}

#[test]
fn leaving_offers_what_the_conversation_taught_one_by_one() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Good to know.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    say(&mut terminal, "I prefer short answers. My sister lives in Porto.");
    terminal.line("/quit");
    terminal.expect("to remember for next time");
    terminal.line("y");
    terminal.expect("you said:");
    terminal.expect("[y/N]");
    terminal.line("y");
    terminal.expect("+ remembered fact:");
    terminal.expect("hermes chat --resume");
    assert_eq!(terminal.end(), 0);
    assert!(sandbox.ok(&["memory", "show"]).to_lowercase().contains("short answers"));
}

#[test]
fn a_command_is_shown_whole_and_not_run_unless_somebody_says_yes() {
    let sandbox = Sandbox::ready();
    let run = || Reply::call("terminal", &json!({"command": "touch made\u{200b}"}));
    // A no ends the turn: the person speaks next.
    let server = ModelServer::start(vec![run(), run(), Reply::text("Done.\n")]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("please make a file");
    terminal.expect("touch made<U+200B>");
    terminal.expect("confined: it can change only the agent's folders");
    terminal.expect("it has no network");
    terminal.expect("do it? [y once");
    terminal.line("");
    terminal.prompt_after(STATUS);
    assert!(!sandbox.folder().join("made\u{200b}").exists());
    assert!(!terminal.text().contains('\u{200b}'), "{}", terminal.text());
    terminal.line("please try again");
    terminal.expect("do it?");
    terminal.line("?");
    terminal.expect("Ctrl-C and Ctrl-D mean no");
    terminal.expect("do it?");
    terminal.line("e");
    terminal.expect("edit:");
    // Away with what stands there, then another command.
    terminal.keys("\u{15}touch agreed\r");
    terminal.prompt_after(STATUS);
    assert!(sandbox.folder().join("agreed").exists(), "{}", terminal.text());
    leave(&mut terminal);
}

#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let sandbox = Sandbox::ready();
    let (asked, heard) = std::sync::mpsc::channel::<()>();
    let server = ModelServer::answering(move |number, _| match number {
        0 => {
            // The model answers only after the keys were pressed.
            let _ = heard.recv();
            Reply::call("terminal", &json!({"command": "touch made"}))
        }
        _ => Reply::text("I did not.\n"),
    });
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("make a file");
    terminal.expect("…");
    terminal.keys("y\ry\r");
    asked.send(()).unwrap();
    terminal.expect("do it?");
    terminal.line("");
    terminal.prompt_after(STATUS);
    assert!(!sandbox.folder().join("made").exists(), "{}", terminal.text());
    leave(&mut terminal);
}

#[test]
fn always_is_asked_once_and_a_reason_reaches_the_model() {
    let sandbox = Sandbox::ready();
    let run = |line: &str| Reply::call("terminal", &json!({ "command": line }));
    let server = ModelServer::start(vec![
        run("touch one"),
        run("touch one"),
        Reply::text("Twice.\n"),
        run("rm one"),
        Reply::text("As you like.\n"),
    ]);
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("make a file, twice");
    terminal.expect("a always");
    terminal.line("a");
    terminal.prompt_after(STATUS);
    assert!(sandbox.folder().join("one").exists());
    terminal.line("remove it");
    terminal.expect("do it?");
    terminal.line("n keep it where it is");
    terminal.prompt_after(STATUS);
    assert!(sandbox.folder().join("one").exists());
    say(&mut terminal, "and now?");
    leave(&mut terminal);
    let asked = server.requests();
    let told = asked.iter().any(|one| one.prompt().contains("keep it where it is"));
    assert!(told, "{}", asked[asked.len() - 1].prompt());
}

#[test]
fn a_change_of_a_file_is_rolled_back_and_forward_again() {
    let sandbox = Sandbox::ready();
    let file = sandbox.folder().join("notes.txt");
    std::io::Write::write_all(&mut std::fs::File::create(&file).unwrap(), b"first\n").unwrap();
    let write = json!({"path": "notes.txt", "content": "second\n"});
    let server =
        ModelServer::start(vec![Reply::call("write_file", &write), Reply::text("Written.\n")]);
    let read = || std::fs::read_to_string(&file).unwrap();
    let mut terminal = begin(&sandbox, &server, &[]);
    terminal.line("change my notes");
    terminal.expect("-first");
    terminal.expect("+second");
    terminal.expect("do it?");
    terminal.line("y");
    terminal.prompt_after(STATUS);
    assert_eq!(read(), "second\n");
    terminal.line("/rollback");
    terminal.expect("-second");
    terminal.expect("+first");
    terminal.expect("[y/N]");
    terminal.line("");
    terminal.expect("nothing was changed");
    terminal.prompt();
    assert_eq!(read(), "second\n");
    terminal.line("/rollback");
    terminal.expect("[y/N]");
    terminal.line("y");
    terminal.expect("1 file reverted");
    terminal.prompt();
    assert_eq!(read(), "first\n");
    terminal.line("/rollback undo");
    terminal.expect("[y/N]");
    terminal.line("y");
    terminal.expect("1 file reverted");
    terminal.prompt();
    assert_eq!(read(), "second\n");
    leave(&mut terminal);
}

#[test]
fn slash_commands_work_in_a_pipe_too() {
    let sandbox = Sandbox::ready();
    let server = ModelServer::start(vec![Reply::text("Hello.\n")]);
    let mut command = chat(&sandbox, &server, &[]);
    let input = b"/help\nhello there\n/memory add Tea at four\n/memory list\n/nonsense\n/quit\n";
    let file = sandbox.folder().join("input");
    std::io::Write::write_all(&mut std::fs::File::create(&file).unwrap(), input).unwrap();
    command.stdin(std::fs::File::open(&file).unwrap());
    let ran = crate::sandbox::Ran::of(&command.output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["/rollback [N", "Hello.", "Tea at four"] {
        assert!(ran.stdout.contains(part), "no {part:?} in:\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    assert!(ran.stderr.contains("there is no command /nonsense"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), 1);
}
