//! What one line of Markdown is.

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Where it begins.
    pub(super) start: usize,
    /// Where the next one begins.
    pub(super) next: usize,
    /// What it says, without its line end.
    pub(super) content: &'a str,
}

/// The beginning of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bullet {
    /// Everything before its text.
    pub(super) prefix: String,
    /// The column of its mark.
    pub(super) indent: usize,
    /// The column of its text.
    pub(super) column: usize,
    /// Whether its mark is a number.
    pub(super) is_ordered: bool,
    /// Whether it begins a list in the middle of a paragraph: "14. November" does not.
    pub(super) may_interrupt: bool,
}

/// All lines of a text, without a byte order mark before the first.
pub(super) fn split(text: &str) -> Vec<Line<'_>> {
    let mut start = super::parse::text_start(text);
    text[start..]
        .split_inclusive('\n')
        .map(|whole| {
            let content = whole.strip_suffix('\n').unwrap_or(whole);
            let content = content.strip_suffix('\r').unwrap_or(content);
            let line = Line { start, next: start + whole.len(), content };
            start = line.next;
            line
        })
        .collect()
}

/// The column where the text begins; a tab goes on to the next multiple of four.
pub(super) fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.fold(0, after_blank)
}

/// The line without blanks up to a column; only blanks become nothing.
pub(super) fn dedent(line: &str, column: usize) -> &str {
    if line.trim().is_empty() {
        return "";
    }
    let mut at = 0;
    let blanks = line.char_indices().take_while(|(_, c)| matches!(c, ' ' | '\t'));
    for (offset, blank) in blanks {
        if at >= column {
            return &line[offset..];
        }
        at = after_blank(at, blank);
    }
    line.trim_start_matches([' ', '\t'])
}

/// Level and text of a heading with `#`.
pub(super) fn heading(line: &str) -> Option<(usize, String)> {
    let text = line.trim_start_matches(' ');
    let level = text.chars().take_while(|c| *c == '#').count();
    let rest = &text[level..];
    let is_heading = (1..=6).contains(&level)
        && line.len() - text.len() <= 3
        && (rest.trim().is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, without_closing_hashes(rest.trim()).to_owned()))
}

/// A list item begins with `-`, `*`, `+` or a number, and a blank.
pub(super) fn bullet(line: &str) -> Option<Bullet> {
    let text = line.trim_start_matches([' ', '\t']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark_length = match (digits, text[digits..].chars().next()) {
        (0, Some('-' | '*' | '+')) => 1,
        (1..=9, Some('.' | ')')) => digits + 1,
        _ => return None,
    };
    let after = &text[mark_length..];
    let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
    if blanks == 0 && !after.is_empty() {
        return None;
    }
    let prefix = line[..line.len() - after.len() + blanks].to_owned();
    let mark_column = indent(line);
    Some(Bullet {
        column: prefix
            .chars()
            .skip(line.len() - text.len() + mark_length)
            .fold(mark_column + mark_length, after_blank),
        prefix,
        indent: mark_column,
        is_ordered: digits > 0,
        may_interrupt: digits == 0 || &text[..digits] == "1",
    })
}

/// A line such as `---` or `* * *`.
pub(super) fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    let Some(first) = marks.next().filter(|c| matches!(c, '-' | '*' | '_')) else { return false };
    let mut count = 1;
    for mark in marks {
        if mark != first {
            return false;
        }
        count += 1;
    }
    count >= 3
}

/// A line of `=` alone, which makes a heading of the line above.
pub(super) fn is_double_underline(line: &str) -> bool {
    line.trim().len() >= 3 && line.trim().bytes().all(|b| b == b'=')
}

/// A line of `-` alone, which makes a heading of the line above.
pub(super) fn is_single_underline(line: &str) -> bool {
    line.trim().len() >= 3 && line.trim().bytes().all(|b| b == b'-')
}

/// A line such as `Work hours: Mon-Fri`: a short key, a colon, a value.
pub(super) fn is_key_value(line: &str) -> bool {
    const LONGEST_KEY: usize = 40;
    const MOST_WORDS: usize = 4;
    let line = line.trim();
    let Some((key, value)) = line.split_once(": ").or_else(|| line.split_once('：')) else {
        return false;
    };
    let allowed = |c: char| c.is_alphanumeric() || " -_/'’()&*".contains(c);
    key.starts_with(|c: char| c.is_alphabetic() || c == '*')
        && key.chars().all(allowed)
        && key.chars().count() <= LONGEST_KEY
        && key.split_whitespace().count() <= MOST_WORDS
        && !value.trim().is_empty()
}

/// Character and length of a fence that opens a block of code.
pub(super) fn opening_fence(line: &str) -> Option<(char, usize)> {
    let (mark, length, rest) = fence(line)?;
    (mark != '`' || !rest.contains('`')).then_some((mark, length))
}

/// Whether the line closes a block that was opened with such a fence.
pub(super) fn closes_fence(line: &str, mark: char, length: usize) -> bool {
    fence(line).is_some_and(|(found, long, rest)| {
        found == mark && long >= length && rest.trim().is_empty()
    })
}

fn fence(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    (length >= 3 && line.len() - text.len() <= 3).then_some((mark, length, rest))
}

fn without_closing_hashes(text: &str) -> &str {
    let bare = text.trim_end_matches('#');
    if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { text }
}

fn after_blank(column: usize, blank: char) -> usize {
    if blank == '\t' { (column / 4 + 1) * 4 } else { column + 1 }
}
