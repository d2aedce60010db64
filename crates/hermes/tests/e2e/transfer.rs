//! A memory carried elsewhere with the program: files, refusals, kills.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::sandbox::Sandbox;

/// A home with some hundred messages and a few facts, and its export.
pub(crate) fn filled() -> (Sandbox, String) {
    let sandbox = Sandbox::ready();
    let lines: String = (0..1500)
        .map(|number| {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let session = number / 40;
            format!(
                "{{\"session_id\":\"s{session}\",\"role\":\"{role}\",\"timestamp\":{},\"text\":\"harbor {number} is closed\"}}\n",
                1_750_000_000 + number * 60
            )
        })
        .collect();
    assert_eq!(sandbox.feed(&["memory", "record", "-"], lines.as_bytes()).code, 0);
    for number in 0..5 {
        sandbox.ok(&["memory", "fact", "add", &format!("Harbor {number} is closed")]);
    }
    let document = sandbox.ok(&["memory", "export"]);
    (sandbox, document)
}

pub(crate) fn without_time(document: &str) -> String {
    let lines = document.lines().filter(|line| !line.starts_with("\"exported_at\""));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_export_is_private_whole_and_never_written_over() {
    let (sandbox, document) = filled();
    sandbox.ok(&["memory", "export", "--output", "memory.json"]);
    let file = sandbox.folder().join("memory.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(without_time(&fs::read_to_string(&file).unwrap()), without_time(&document));
    sandbox.fails(&["memory", "export", "--output", "memory.json"], 5, &["already exists"]);
    sandbox.ok(&["memory", "export", "--output", "memory.json", "--force"]);
    let inside = sandbox.path("memory.db");
    let inside = inside.to_str().unwrap();
    sandbox.fails(
        &["memory", "export", "--output", inside, "--force"],
        5,
        &["belongs to the home"],
    );
}

#[test]
fn an_import_that_is_killed_goes_on_and_ends_like_one_that_is_not() {
    let (_from, document) = filled();
    let clean = Sandbox::ready();
    assert_eq!(clean.feed(&["memory", "import", "-"], document.as_bytes()).code, 0);
    let wanted = without_time(&clean.ok(&["memory", "export"]));
    assert_eq!(wanted, without_time(&document));
    let broken = Sandbox::ready();
    for round in 1..=15 {
        let mut command = broken.command(&["memory", "import", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&document.as_bytes()[..document.len() * round / 16]).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(broken.feed(&["memory", "import", "-"], document.as_bytes()).code, 0);
    assert_eq!(without_time(&broken.ok(&["memory", "export"])), wanted);
}

#[test]
fn what_is_no_export_is_named_with_the_command_that_takes_it() {
    let sandbox = Sandbox::ready();
    let said = b"{\"session_id\":\"a\",\"role\":\"user\",\"text\":\"x\"}\n";
    for (input, words) in [
        (&said[..], "hermes memory record"),
        (b"{\"id\":\"a\",\"messages\":[]}\n", "hermes sessions import"),
        (b"# Memory\n- likes tea\n", "hermes memory add"),
        (b"SQLite format 3\0....", "database"),
        (b"nonsense", "could not import"),
        (b"{\"hermes_memory\": 9, \"facts\": []}", "its format version is 9"),
    ] {
        sandbox.feed(&["memory", "import", "-"], input).failed(5, &[words]);
    }
}

#[test]
fn a_cut_file_is_kept_as_far_as_it_goes_and_says_so() {
    let (_from, document) = filled();
    let sandbox = Sandbox::ready();
    let half = &document.as_bytes()[..document.len() / 2];
    let ran = sandbox.feed(&["memory", "import", "-"], half);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("truncated"), "{}", ran.stdout);
}
