//! What changes in a file, as a unified diff. Pure.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// How a diff is written.
pub struct Look<'a> {
    /// How many lines are shown around a change.
    pub around: usize,
    /// What is shown of a line.
    pub line: &'a dyn Fn(&str) -> String,
}

/// Beyond this time the diff is longer than it has to be, but as true.
const PATIENCE: Duration = Duration::from_secs(2);
/// Where a byte of zero is looked for.
const HEAD: usize = 8_192;

/// Whether some bytes are no text that can be shown.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(HEAD)].contains(&0)
}

/// The diff of a whole file, none where there is no file; empty where nothing changes.
pub fn of_file(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    if before == after {
        return String::new();
    }
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let head = match (before, after) {
        (None, _) => format!("--- /dev/null\n+++ {path}\n"),
        (_, None) => format!("--- {path}\n+++ /dev/null\n"),
        _ => format!("--- {path}\n+++ {path}\n"),
    };
    if is_binary(old) || is_binary(new) {
        return format!("{head}@@ not text: {} bytes become {} @@\n", old.len(), new.len());
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let look = Look { around: 3, line: &str::to_owned };
    let changes = hunks(&old, &new, &look);
    match changes.is_empty() && before.is_some() && after.is_some() {
        true => format!("{head}@@ bytes change that are no text @@\n"),
        false => head + &changes,
    }
}

/// The hunks alone.
pub fn hunks(before: &str, after: &str, look: &Look<'_>) -> String {
    let mut text = String::new();
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    for group in diff.grouped_ops(look.around) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let begin = |range: &std::ops::Range<usize>| range.start + usize::from(!range.is_empty());
        let _ =
            writeln!(text, "@@ -{},{} +{},{} @@", begin(&old), old.len(), begin(&new), new.len());
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            text.push_str(&row(sign, change.value(), look));
        }
    }
    text
}

fn row(sign: char, line: &str, look: &Look<'_>) -> String {
    let (body, end) = match line.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (line, "\n\\ no newline at the end of the file\n"),
    };
    // Somebody who reads the diff must see what a terminal would not show.
    let body = match body.strip_suffix('\r') {
        Some(body) => Cow::Owned(format!("{body}␍")),
        None => Cow::Borrowed(body),
    };
    format!("{sign}{}{end}", (look.line)(&body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changes_and_where() {
        let told = of_file("x", Some(b"a\nb\nc\n"), Some(b"a\nB\nc\n"));
        assert_eq!(told, "--- x\n+++ x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        let told = of_file("x", None, Some(b"a\nb"));
        assert_eq!(
            told,
            "--- /dev/null\n+++ x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ no newline at the end of the file\n"
        );
        assert_eq!(of_file("x", Some(b"a"), Some(b"a")), "");
        assert_eq!(of_file("x", None, Some(b"")), "--- /dev/null\n+++ x\n");
    }

    #[test]
    fn line_ends_and_bytes_that_are_no_text_are_told() {
        let told = of_file("x", Some(b"a\n"), Some(b"a\r\n"));
        assert!(told.contains("-a\n+a␍\n"), "{told}");
        let told = of_file("x", Some(b"\0a"), Some(b"text\n"));
        assert!(told.contains("not text: 2 bytes become 5"), "{told}");
        let told = of_file("x", Some(b"\xff"), Some(b"\xfe"));
        assert!(told.contains("no text"), "{told}");
    }
}
