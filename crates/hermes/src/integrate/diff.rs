//! What would change in a file, as a unified diff. Pure.

use hermes_home::secret::{is_secret_key, is_secret_name};

/// Lines shown around a change.
const AROUND: usize = 2;
/// Beyond so many pairs of lines the two middles are shown whole.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The diff with its head; empty where nothing changes. Secrets in the lines around are not shown.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let lines = compare(&rows(before), &rows(after));
    let mut text = format!("--- {path}\n+++ {path}\n");
    let (mut old, mut new, mut from) = (1, 1, 0);
    while let Some(hunk) = next_hunk(&lines, from) {
        for line in &lines[from..hunk.start] {
            count(*line, &mut old, &mut new);
        }
        let (old_start, new_start) = (old, new);
        let mut body = String::new();
        for line in &lines[hunk.clone()] {
            count(*line, &mut old, &mut new);
            body.push_str(&shown(*line));
        }
        let (old_count, new_count) = (old - old_start, new - new_start);
        text.push_str(&format!(
            "@@ -{},{old_count} +{},{new_count} @@\n{body}",
            if old_count == 0 { old_start - 1 } else { old_start },
            if new_count == 0 { new_start - 1 } else { new_start },
        ));
        from = hunk.end;
    }
    text
}

fn rows(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let mut lines: Vec<Line<'a>> = before[..head].iter().map(|line| Line::Same(line)).collect();
    let (before, after) = (&before[head..], &after[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[..before.len() - tail], &after[..after.len() - tail]);
    if old.len() * new.len() <= MOST_PAIRS {
        walk(old, new, &mut lines);
    } else {
        lines.extend(old.iter().map(|line| Line::Gone(line)));
        lines.extend(new.iter().map(|line| Line::New(line)));
    }
    lines.extend(before[before.len() - tail..].iter().map(|line| Line::Same(line)));
    lines
}

/// The longest common lines, by the table of lengths.
fn walk<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<Line<'a>>) {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
        {
            lines.push(Line::Gone(old[i]));
            i += 1;
        } else {
            lines.push(Line::New(new[j]));
            j += 1;
        }
    }
}

/// The next stretch with changes and the lines around it.
fn next_hunk(lines: &[Line<'_>], from: usize) -> Option<std::ops::Range<usize>> {
    let changed = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let first = from + lines[from..].iter().position(changed)?;
    let mut last = first;
    for (place, line) in lines.iter().enumerate().skip(first) {
        if changed(line) {
            last = place;
        } else if place > last + 2 * AROUND {
            break;
        }
    }
    Some(first.saturating_sub(AROUND).max(from)..(last + 1 + AROUND).min(lines.len()))
}

fn count(line: Line<'_>, old: &mut usize, new: &mut usize) {
    *old += usize::from(!matches!(line, Line::New(_)));
    *new += usize::from(!matches!(line, Line::Gone(_)));
}

fn shown(line: Line<'_>) -> String {
    let (sign, text) = match line {
        Line::Same(text) => (' ', veiled(text)),
        Line::Gone(text) => ('-', veiled(text)),
        Line::New(text) => ('+', veiled(text)),
    };
    let text = text.trim_end_matches(['\r', '\n']);
    format!("{sign}{text}\n")
}

/// A line without the secrets it may hold: what follows a name that says so, and what follows `Bearer`.
fn veiled(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find([':', '=']) {
        let (head, tail) = (&rest[..at], &rest[at + 1..]);
        shown.push_str(&rest[..=at]);
        rest = tail;
        let name = head.trim_end().trim_end_matches(['"', '\'']);
        let from = name.rfind(|c: char| !c.is_alphanumeric() && !"_-.".contains(c));
        let name =
            from.map_or(name, |from| &name[from..]).trim_matches(|c: char| !c.is_alphanumeric());
        let value = rest.trim_start();
        if is_secret(name) && !value.is_empty() && !value.starts_with(['{', '[']) {
            shown.push_str(&rest[..rest.len() - value.len()]);
            shown.push_str(VEIL);
            rest = &value[length(value)..];
        }
    }
    shown.push_str(rest);
    match shown.split_once("Bearer ") {
        Some((head, tail)) => format!("{head}Bearer {VEIL}{}", &tail[length(tail)..]),
        None => shown,
    }
}

const VEIL: &str = "‹not shown›";

fn is_secret(name: &str) -> bool {
    is_secret_name(name) || is_secret_key(name) || name.eq_ignore_ascii_case("authorization")
}

/// How long a value is: to its closing quote, else to what ends a plain one.
fn length(value: &str) -> usize {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let end = |c: char| c.is_whitespace() || ",}]\"'".contains(c);
        return value.find(end).unwrap_or(value.len());
    };
    let mut escaped = false;
    for (at, letter) in value.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return at + 1,
            _ => {}
        }
    }
    value.trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changes_and_where() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let after = "a\nb\nc\nd\nnew\ne\nf\nh\n";
        assert_eq!(
            unified("x", before, after),
            "--- x\n+++ x\n@@ -3,6 +3,6 @@\n c\n d\n+new\n e\n f\n-g\n h\n"
        );
        assert_eq!(unified("x", "a", "a"), "");
        assert_eq!(unified("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1,1 @@\n+a\n");
    }

    #[test]
    fn changes_far_apart_are_told_apart() {
        let before: String = (0..30).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n3\n", "\n").replace("\n20\n", "\n20\nx\n");
        let told = unified("x", &before, &after);
        assert_eq!(told.matches("@@ -").count(), 2, "{told}");
        assert!(told.contains("@@ -20,4 +19,5 @@"), "{told}");
    }

    #[test]
    fn secrets_of_others_are_not_shown() {
        let before = "{\n  \"API_KEY\": \"sk-123\"\n}\n";
        let told = unified("x", before, "{\n  \"API_KEY\": \"sk-123\",\n  \"a\": 1\n}\n");
        assert!(told.contains("-  \"API_KEY\": ‹not shown›"), "{told}");
        for line in [
            r#"{"a":1,"env":{"API_KEY":"sk-\"1","B":"b"},"token":"sk-2"}"#,
            "api_key = 'sk-3' # mine",
            "  password: sk-4",
            r#""headers": {"Authorization": "Bearer sk-5", "x": "y"}"#,
            r#""url": "https://x", "note": "Bearer sk-6""#,
        ] {
            let shown = veiled(line);
            assert!(!shown.contains("sk-"), "{shown}");
        }
        assert_eq!(veiled("\"a\": \"b\", \"c\": [1]"), "\"a\": \"b\", \"c\": [1]");
    }
}
