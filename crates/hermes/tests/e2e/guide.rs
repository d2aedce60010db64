//! The `console` blocks of the README and the guide: what stands there is run, and must print what it says.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// The pages whose commands run curl, or all the others.
pub(crate) fn pages(with_curl: bool) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let guide = fs::read_dir(root.join("docs/guide")).unwrap();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.push(root.join("README.md"));
    pages.retain(|page| fs::read_to_string(page).unwrap().contains("\n$ curl ") == with_curl);
    pages.sort();
    pages
}

/// A command of a page and the lines it should print.
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

/// Runs the commands of one page in order, in one sandbox; returns how many there were.
pub(crate) fn walk(page: &Path) -> usize {
    let steps = steps(&fs::read_to_string(page).unwrap());
    let sandbox = Sandbox::empty();
    let bin = sandbox.folder().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hermes"), bin.join("hermes")).unwrap();
    for step in &steps {
        let place = format!("{}:{}: {}", page.display(), step.line, step.command);
        let mut command = sandbox.command_of(&PathBuf::from("/bin/sh"), &["-c", &step.command]);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        let output = command.output().unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let should_fail = step.expected.iter().any(|line| line.starts_with("hermes: "));
        assert_eq!(output.status.success(), !should_fail, "{place}\n{text}");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let expected: Vec<&str> = step.expected.iter().map(|line| line.trim_end()).collect();
        assert!(
            expected.is_empty() || matches(&expected, &lines),
            "{place}\nexpected:\n{}\nprinted:\n{text}",
            step.expected.join("\n")
        );
    }
    steps.len()
}

fn steps(text: &str) -> Vec<Step> {
    let mut found: Vec<Step> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line.trim() == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            let command = command.to_owned();
            found.push(Step { line: number + 1, command, expected: Vec::new() });
        } else if let Some(step) = found.last_mut().filter(|_| inside) {
            step.expected.push(line.to_owned());
        }
    }
    found
}

/// `...` stands for any number of lines.
pub(crate) fn matches(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, more)| fits(first, line) && matches(rest, more))
        }
    }
}

/// `[..]` stands for any piece of a line.
pub(crate) fn fits(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == line,
        Some((head, tail)) => line.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits(tail, &rest[at..]))
        }),
    }
}
