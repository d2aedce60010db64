//! The comment `<!-- written 2026-11-15 -->` that dates an entry.

use jiff::civil::Date;

/// The comment for a date.
pub(super) fn mark(date: Date) -> String {
    format!("<!-- written {date} -->")
}

/// A line without the marks at its end, and the newest of their dates.
pub(super) fn split(line: &str) -> (&str, Option<Date>) {
    let (mut rest, mut newest) = (line, None);
    while let Some((before, date)) = split_one(rest) {
        rest = before;
        newest = newest.max(Some(date));
    }
    (rest, newest)
}

/// The same for a text of several lines; lines that hold nothing else become empty.
pub(super) fn split_lines(text: &str) -> (String, Option<Date>) {
    let mut newest = None;
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| {
            let (rest, date) = split(line);
            newest = newest.max(date);
            rest
        })
        .collect();
    (lines.join("\n"), newest)
}

fn split_one(line: &str) -> Option<(&str, Date)> {
    let head = line.trim_end().strip_suffix("-->")?;
    let open = head.rfind("<!--")?;
    let inside = head[open + "<!--".len()..].trim();
    let date = inside.strip_prefix("written")?;
    if !date.starts_with(char::is_whitespace) {
        return None;
    }
    Some((line[..open].trim_end(), parse(date.trim())?))
}

/// Only `YYYY-MM-DD`: the other ISO 8601 forms are more likely text than a mark.
fn parse(text: &str) -> Option<Date> {
    let plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_mark_is_read_at_the_end_of_a_line_only() {
        let check = |line: &str, rest: &str, found: Option<Date>| {
            assert_eq!(split(line), (rest, found), "{line:?}");
        };
        let day = date(2026, 11, 15);
        check("tea <!-- written 2026-11-15 -->", "tea", Some(day));
        check("tea<!--written  2026-11-15-->  ", "tea", Some(day));
        check("<!-- written 2026-11-15 -->", "", Some(day));
        check("tea <!-- written 2026-11-15 --> <!-- written 2026-01-01 -->", "tea", Some(day));
        for plain in [
            "tea ",
            "<!-- written 2026-11-15 --> tea",
            "tea <!-- written 2026-13-45 -->",
            "tea <!-- written 20261115 -->",
            "tea <!-- handwritten 2026-11-15 -->",
            "tea -->",
        ] {
            check(plain, plain, None);
        }
        assert_eq!(split(&mark(day)), ("", Some(day)));
    }
}
