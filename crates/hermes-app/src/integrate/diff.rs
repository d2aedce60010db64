//! What would change in a file of another program, as a unified diff without its secrets. Pure.

use hermes_agent::diff::{Look, hunks};
use hermes_home::secret::{is_secret_key, is_secret_name};

/// The diff with its head; empty where nothing changes. Secrets in the lines around are not shown.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let look = Look { around: 2, line: &veiled };
    format!("--- {path}\n+++ {path}\n{}", hunks(before, after, &look))
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
