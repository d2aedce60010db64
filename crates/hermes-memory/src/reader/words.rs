//! The words of a text, with contractions taken apart, each with its place.

use std::ops::Range;

/// One word: `I'm` is two of them with the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where it stands, without the punctuation around it.
    pub(crate) place: Range<usize>,
    /// In lower case, with a straight apostrophe.
    pub(crate) lower: String,
    /// What stands before it: brackets and quotes.
    pub(crate) before: Marks,
    /// What stands after it: commas, dashes, colons.
    pub(crate) after: Marks,
    /// Whether it stands inside a quotation of more than a few words.
    pub(crate) is_quoted: bool,
    /// Whether it begins with a capital letter or a digit.
    pub(crate) is_capital: bool,
}

/// The punctuation on one side of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) comma: bool,
    pub(crate) colon: bool,
    pub(crate) semicolon: bool,
    pub(crate) dash: bool,
    pub(crate) bracket: bool,
    pub(crate) question: bool,
}

impl Marks {
    pub(crate) fn of(text: &str) -> Marks {
        let mut marks = Marks::default();
        for c in text.chars() {
            match c {
                ',' => marks.comma = true,
                ':' => marks.colon = true,
                ';' => marks.semicolon = true,
                '—' | '–' => marks.dash = true,
                '(' | ')' | '[' | ']' => marks.bracket = true,
                '?' => marks.question = true,
                _ => {}
            }
        }
        marks
    }
}

/// The words of one sentence; `start` is where it stands in the message.
pub(crate) fn words(sentence: &str, start: usize) -> Vec<Word> {
    let mut found = Vec::new();
    let mut dash = false;
    // `im` is a word of German, and a careless `I'm`.
    let is_german = pieces(sentence).any(|(_, word)| {
        matches!(
            word,
            "der"
                | "die"
                | "das"
                | "und"
                | "ich"
                | "nicht"
                | "bitte"
                | "Bitte"
                | "ist"
                | "ein"
                | "eine"
                | "immer"
                | "wir"
                | "Wir"
                | "Ich"
                | "sind"
        )
    });
    for (at, raw) in pieces(sentence) {
        let core = trimmed(raw);
        if core.is_empty() {
            dash |= raw.chars().all(|c| matches!(c, '-' | '—' | '–' | '→'));
            mark_last(&mut found, raw);
            continue;
        }
        let lead = core.as_ptr() as usize - raw.as_ptr() as usize;
        let mut before = Marks::of(&raw[..lead]);
        before.dash |= std::mem::take(&mut dash);
        let after = Marks::of(&raw[lead + core.len()..]);
        let place = start + at + lead..start + at + lead + core.len();
        if is_german && core.eq_ignore_ascii_case("im") {
            found.push(Word {
                place,
                lower: "im".to_owned(),
                before,
                after,
                is_quoted: false,
                is_capital: false,
            });
            continue;
        }
        push(&mut found, core, &place, before, after);
    }
    found
}

/// The pieces between white space and long dashes, each with its place.
fn pieces(sentence: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let text = &sentence[rest..];
        let start = rest + text.len() - text.trim_start().len();
        let text = &sentence[start..];
        let first = text.chars().next()?;
        let is_cut = |c: char| c.is_whitespace() || matches!(c, '—' | '–');
        let length =
            if is_cut(first) { first.len_utf8() } else { text.find(is_cut).unwrap_or(text.len()) };
        rest = start + length;
        Some((start, &text[..length]))
    })
}

fn mark_last(found: &mut [Word], raw: &str) {
    if let Some(last) = found.last_mut() {
        let marks = Marks::of(raw);
        last.after.dash |= marks.dash || raw.chars().all(|c| c == '-');
        last.after.colon |= marks.colon;
        last.after.question |= marks.question;
        last.after.comma |= marks.comma;
    }
}

fn trimmed(raw: &str) -> &str {
    let opening = |c: char| "([{\"'“‘„«*_`<¿¡>".contains(c);
    let closing = |c: char| ".,;:!?)]}\"'”’“»*_`>…。，".contains(c);
    let core = raw.trim_start_matches(opening).trim_end_matches(closing);
    let is_word = core.chars().any(|c| c.is_alphanumeric()) || core == "&";
    if is_word { core } else { "" }
}

fn push(found: &mut Vec<Word>, core: &str, place: &Range<usize>, before: Marks, after: Marks) {
    let lower = core.to_lowercase().replace('’', "'");
    let is_capital = core.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    let word = |lower: &str, before: Marks, after: Marks| Word {
        place: place.clone(),
        lower: lower.to_owned(),
        before,
        after,
        is_quoted: false,
        is_capital,
    };
    match apart(&lower) {
        Some((first, second)) => {
            found.push(word(first, before, Marks::default()));
            let mut second = word(second, Marks::default(), after);
            second.is_capital = false;
            found.push(second);
        }
        None => found.push(word(&lower, before, after)),
    }
}

/// `i'm` as `i am`, `don't` as `do not`; `sister's` as `sister 's`.
fn apart(word: &str) -> Option<(&str, &'static str)> {
    match word {
        "im" | "i'm" => return Some(("i", "am")),
        "ive" => return Some(("i", "have")),
        "can't" | "cant" => return Some(("can", "not")),
        "cannot" => return Some(("can", "not")),
        "won't" | "wont" => return Some(("will", "not")),
        "don't" | "dont" => return Some(("do", "not")),
        "doesn't" | "doesnt" => return Some(("does", "not")),
        "it's" => return Some(("it", "is")),
        "that's" => return Some(("that", "is")),
        "here's" => return Some(("here", "is")),
        "what's" => return Some(("what", "is")),
        "there's" => return Some(("there", "is")),
        "he's" => return Some(("he", "is")),
        "she's" => return Some(("she", "is")),
        "who's" => return Some(("who", "is")),
        "let's" => return Some(("let", "us")),
        _ => {}
    }
    let endings = [
        ("n't", "not"),
        ("'re", "are"),
        ("'ve", "have"),
        ("'ll", "will"),
        ("'d", "would"),
        ("'s", "'s"),
    ];
    endings.into_iter().find_map(|(ending, whole)| {
        word.strip_suffix(ending).filter(|first| !first.is_empty()).map(|first| (first, whole))
    })
}

/// The quotations of more than a few words in a text: they are somebody's words.
pub(crate) fn quotations(text: &str) -> Vec<Range<usize>> {
    const FEW: usize = 2;
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')] {
        let mut from = 0;
        while let Some(at) = text[from..].find(open).map(|at| from + at) {
            let inside = at + open.len_utf8();
            let Some(end) = text[inside..].find(close).map(|end| inside + end) else { break };
            if text[inside..end].split_whitespace().count() > FEW {
                found.push(inside..end);
            }
            from = end + close.len_utf8();
        }
    }
    found
}

/// Marks the words that stand inside quotations.
pub(crate) fn mark(words: &mut [Word], quotations: &[Range<usize>]) {
    for word in words {
        word.is_quoted = quotations.iter().any(|span| span.contains(&word.place.start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_are_taken_apart_and_keep_their_place() {
        let text = "I’m Nadia, don't ask (really) — ok?";
        let words = words(text, 0);
        let lower: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
        assert_eq!(lower, ["i", "am", "nadia", "do", "not", "ask", "really", "ok"]);
        assert_eq!(&text[words[1].place.clone()], "I’m");
        assert!(words[2].after.comma && words[6].after.dash && words[7].after.question);
    }
}
