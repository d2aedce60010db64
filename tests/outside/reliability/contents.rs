//! What a home says, in lines that can be compared, and whether the program finds it sound.

use std::collections::BTreeMap;
use std::process::Command;

use crate::sandbox::Sandbox;

/// Lines of each thing that a home keeps, sorted.
pub(crate) type Contents = BTreeMap<&'static str, Vec<String>>;

/// The rows of a database that the stock program reads; none if there is no database.
pub(crate) fn rows(sandbox: &Sandbox, file: &str, sql: &str) -> Vec<String> {
    if !sandbox.path(file).exists() {
        return Vec::new();
    }
    let output = Command::new("sqlite3").arg(sandbox.path(file)).arg(sql).output().unwrap();
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    let mut rows: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

/// Fails unless every check of the program itself is content.
pub(crate) fn is_sound(sandbox: &Sandbox, what: &str) {
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{what}\n{}{}", ran.stdout, ran.stderr);
    for file in ["state.db", "memory.db"] {
        let checked = rows(sandbox, file, "pragma integrity_check");
        assert!(checked.is_empty() || checked == ["ok"], "{what}: {file}: {checked:?}");
    }
}

/// The messages of the transcripts, with their sessions.
pub(crate) fn transcript(sandbox: &Sandbox) -> Vec<String> {
    rows(sandbox, "state.db", "select session_id || ' ' || role || ': ' || content from messages")
}

/// The messages that the memory holds.
pub(crate) fn remembered(sandbox: &Sandbox) -> Vec<String> {
    rows(sandbox, "memory.db", "select role || ': ' || text from message")
}

pub(crate) fn facts(sandbox: &Sandbox) -> Vec<String> {
    rows(
        sandbox,
        "memory.db",
        "select statement || iif(retired_at is null, '', ' (retired)') from fact",
    )
}

/// The lines of a text file, without the dates beside them.
fn lines(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path(file)).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "{file} is half written: {text}");
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.split(" <!--").next().unwrap_or_default().to_owned())
        .collect();
    lines.sort();
    lines
}

const EPISODES: &str =
    "select 'episode ' || id || iif(retired_at is null, '', ' is retired') from episode";

/// What the index of the transcripts finds.
const WORDS: &str = "select 'message ' || rowid from messages_fts where messages_fts match 'asked'";

/// Everything, after what waits was taken in.
pub(crate) fn contents(sandbox: &Sandbox) -> Contents {
    let ran = sandbox.run(&["memory", "catch-up"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let summaries = "select 'summary ' || body from episode where body is not null";
    let mut all = Contents::from([
        ("transcript", transcript(sandbox)),
        ("memory", remembered(sandbox)),
        ("facts", facts(sandbox)),
        ("summaries", rows(sandbox, "memory.db", summaries)),
        ("episodes", rows(sandbox, "memory.db", EPISODES)),
        ("words", rows(sandbox, "state.db", WORDS)),
        ("archives", archives(sandbox)),
        ("profiles", names(sandbox, "profiles")),
    ]);
    for file in ["memories/MEMORY.md", "memories/USER.md", "SOUL.md", "config.yaml"] {
        all.insert(file, lines(sandbox, file));
    }
    all
}

fn names(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path(folder)).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

/// Backups that have their name; each must be whole.
fn archives(sandbox: &Sandbox) -> Vec<String> {
    let mut found = names(sandbox, "../.hermes-backups");
    found.retain(|name| name.ends_with(".tar.zst"));
    if !found.is_empty() {
        let ran = sandbox.run(&["backup", "verify", "--all"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    found.iter().map(|_| "an archive".to_owned()).collect()
}

/// Fails unless what is found lies between two states: what is in both is there, and nothing that is in neither.
pub(crate) fn lies_between(found: &Contents, before: &Contents, after: &Contents, what: &str) {
    for (aspect, lines) in found {
        let (old, new) = (&before[aspect], &after[aspect]);
        let all: std::collections::BTreeSet<&String> = lines.iter().chain(old).chain(new).collect();
        for line in all {
            let count = |lines: &Vec<String>| lines.iter().filter(|one| *one == line).count();
            let (least, most) = (count(old).min(count(new)), count(old).max(count(new)));
            let is_there = count(lines);
            assert!(
                (least..=most).contains(&is_there),
                "{what}: {aspect} has this {is_there} times, not {least} to {most}: {line}"
            );
        }
    }
}
