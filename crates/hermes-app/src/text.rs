//! Words and numbers as people read them.

use std::borrow::Cow;

pub use hermes_home::text::thousands;

/// The text with the flags that name the home put into every command it shows.
pub fn in_place(text: &str, place: &str) -> String {
    const COMMAND: &str = "`hermes ";
    // Commands about profiles work on all of them.
    let home_alone = place.split("--profile").next().unwrap_or_default();
    let mut pieces = text.split(COMMAND);
    let mut placed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let place = if piece.starts_with("profile ") { home_alone } else { place };
        placed = placed + COMMAND + place + piece;
    }
    placed
}

/// A number of bytes as people read it.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A count with its noun: "1 session", "2 sessions".
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// A count of entries of a memory file.
pub fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{} entries", thousands(count as u64)) }
}

/// The text on one line and at most `width` characters long.
pub fn one_line(text: &str, width: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat: String = flat.chars().filter(|c| !c.is_control()).collect();
    if flat.chars().count() <= width {
        return flat;
    }
    let mut short: String = flat.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The text without control characters that could drive the terminal; line breaks and tabs stay.
pub fn printable(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// Characters that turn the direction of others, the ends of lines that nobody sees, and tags that no font shows: text that
/// holds them may look like another.
pub fn is_turning(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// The sign for a character that cannot be shown: `<U+202E>`.
pub fn mark(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Text as a person sees it: what turns its direction is a mark. Every line, remark and error goes through here; data for
/// programs does not.
pub fn with_marks(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_turning) {
        return Cow::Borrowed(text);
    }
    let mut marked = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_turning(c) { marked.push_str(&mark(c)) } else { marked.push(c) }
    }
    Cow::Owned(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(18_400_000), "18.4 MB");
        assert_eq!(bytes(999_999), "1.0 MB");
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(counted(0, "session"), "0 sessions");
    }

    #[test]
    fn what_turns_a_text_round_is_a_mark() {
        assert_eq!(with_marks("abc\u{202e}fed\u{2066}\u{200f}"), "abc<U+202E>fed<U+2066><U+200F>");
        assert_eq!(with_marks("שלום naïve 界 👩‍👧"), "שלום naïve 界 👩‍👧");
    }

    #[test]
    fn one_line_is_short_and_harmless() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("\u{1b}[31mred", 20), "[31mred");
        assert_eq!(printable("a\u{1b}b\nc"), "a\u{fffd}b\nc");
    }
}
