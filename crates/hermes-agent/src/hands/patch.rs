//! Replacing a piece of text that must be found once, and help where it is not. Pure.

use super::output::{counted, short};

/// What is replaced by what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Wherever it stands, not just once.
    pub(super) all: bool,
}

/// How many places are shown to somebody who missed.
const SHOWN: usize = 3;
/// Lines that are looked through for likeness.
const MOST_LINES: usize = 20_000;

/// The text with the piece replaced, or what to do about it.
pub(super) fn replaced(name: &str, text: &str, piece: &Piece<'_>) -> Result<String, String> {
    if piece.old.is_empty() {
        return Err("patch: old is empty; to write a whole file use write_file".to_owned());
    }
    if piece.old == piece.new {
        return Err("patch: old and new are the same".to_owned());
    }
    // A file with the line ends of Windows keeps them.
    let with_returns = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let uses_returns = !text.contains(piece.old) && text.contains("\r\n");
    let (old, new) = match uses_returns {
        true => (with_returns(piece.old), with_returns(piece.new)),
        false => (piece.old.to_owned(), piece.new.to_owned()),
    };
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    match places.len() {
        0 => Err(format!("patch: old is not in {name}{}", near(text, piece.old))),
        1 => Ok(text.replacen(&old, &new, 1)),
        _ if piece.all => Ok(text.replace(&old, &new)),
        count => {
            let lines = places.iter().map(|at| text[..*at].matches('\n').count() + 1);
            let lines: Vec<String> = lines.take(10).map(|line| line.to_string()).collect();
            Err(format!(
                "patch: old stands in {name} in {}, at lines {}; give more of what is around it, or all: true",
                counted(count, "place"),
                lines.join(", ")
            ))
        }
    }
}

/// The places that look most like what was not found.
fn near(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let wanted: Vec<&str> = old.trim_matches('\n').lines().collect();
    let is_same = |from: usize| {
        lines.len() >= from + wanted.len()
            && wanted.iter().zip(&lines[from..]).all(|(left, right)| left.trim() == right.trim())
    };
    let spaced: Vec<usize> = (0..lines.len()).filter(|from| is_same(*from)).take(SHOWN).collect();
    if !spaced.is_empty() && !wanted.is_empty() {
        let shown = spaced.iter().map(|from| excerpt(&lines, *from, wanted.len()));
        return format!("; it differs in white space alone from:{}", shown.collect::<String>());
    }
    let Some((offset, key)) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())
    else {
        return String::new();
    };
    let candidates: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && line.len() < 400)
        .collect();
    let near = similar::get_close_matches(key.trim(), &candidates, SHOWN, 0.6);
    let mut shown = String::new();
    for line in near {
        if let Some(at) = lines.iter().position(|found| found.trim() == line) {
            shown.push_str(&excerpt(&lines, at.saturating_sub(offset), wanted.len()));
        }
    }
    match shown.is_empty() {
        true => "; read the file again".to_owned(),
        false => format!("; the nearest is:{shown}"),
    }
}

fn excerpt(lines: &[&str], from: usize, count: usize) -> String {
    const LONGEST: usize = 12;
    let rows = lines.iter().enumerate().skip(from).take(count.clamp(1, LONGEST));
    rows.map(|(at, line)| format!("\n{}\t{}", at + 1, short(line, 200))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(text: &str, old: &str, new: &str) -> Result<String, String> {
        replaced("x", text, &Piece { old, new, all: false })
    }

    #[test]
    fn what_stands_once_is_replaced() {
        assert_eq!(once("a\nb\nc\n", "b\n", "B\n").unwrap(), "a\nB\nc\n");
        assert_eq!(once("a\r\nb\r\nc\r\n", "a\nb", "1\n2").unwrap(), "1\r\n2\r\nc\r\n");
        let all = Piece { old: "a", new: "b", all: true };
        assert_eq!(replaced("x", "a a", &all).unwrap(), "b b");
    }

    #[test]
    fn what_stands_twice_or_not_at_all_is_told_with_its_places() {
        assert!(once("a\nb\na\n", "a", "x").unwrap_err().contains("2 places, at lines 1, 3"));
        let told =
            once("fn main() {\n    let x = 1;\n}\n", "fn main() {\n  let x = 1;", "").unwrap_err();
        assert!(
            told.contains("white space alone from:\n1\tfn main() {\n2\t    let x = 1;"),
            "{told}"
        );
        let told = once("one\nlet counter = 12;\nthree\n", "let counter = 13;", "").unwrap_err();
        assert!(told.contains("nearest is:\n2\tlet counter = 12;"), "{told}");
        assert!(once("a", "", "x").is_err() && once("a", "a", "a").is_err());
        assert!(once("a", "zzzzzzzz", "x").unwrap_err().contains("read the file again"));
    }
}
