//! The sentences that a person wrote themselves: without code blocks and quoted lines.

use std::ops::Range;

/// Where the sentences of a text are, in bytes, without blanks around them.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let opens = |line: &str| line.trim_start().starts_with("```");
    let mut fences_left = text.split_inclusive('\n').filter(|line| opens(line)).count();
    let mut is_code = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_start();
        let is_fence = opens(line);
        if is_fence {
            is_code = !is_code;
            fences_left -= 1;
        } else if is_code && fences_left == 0 && plain.is_empty() {
            // A block that is never closed ends with its paragraph.
            is_code = false;
        }
        if !is_code && !is_fence && !plain.starts_with('>') {
            cut(line, start, &mut found);
        }
        start += line.len();
    }
    found
}

/// The words of a sentence in lower case; `don’t` is one word.
pub(crate) fn words(sentence: &str) -> Vec<String> {
    sentence
        .to_lowercase()
        .replace(['’', '‘', '`'], "'")
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .map(|word| word.trim_matches('\'').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The first sentence, on one line and not too long.
pub(crate) fn first(text: &str, longest: usize) -> String {
    let range = sentences(text).into_iter().next().unwrap_or(0..0);
    shorten(&text[range], longest)
}

/// The text on one line and at most so many characters long.
pub(crate) fn shorten(text: &str, longest: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let mut short: String = line.chars().take(longest.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Cuts one line behind `.`, `!`, `?` and `…` that end a word.
fn cut(line: &str, start: usize, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = matches!(c, '.' | '!' | '?' | '…')
            && next.is_none_or(|next| next.is_whitespace() || matches!(next, '"' | ')'));
        if ends || matches!(c, '。' | '！' | '？') {
            push(line, from..at + c.len_utf8(), start, found);
            from = at + c.len_utf8();
        }
    }
    push(line, from..line.len(), start, found);
}

fn push(line: &str, part: Range<usize>, start: usize, found: &mut Vec<Range<usize>>) {
    let text = &line[part.clone()];
    let begin = part.start + (text.len() - text.trim_start().len());
    let end = begin + text.trim().len();
    if line[begin..end].chars().any(char::is_alphanumeric) {
        found.push(start + begin..start + end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_and_quotes_are_not_sentences() {
        let text = "No. Use v1.2 here!\n> No, that is wrong.\n```\nNo. Never.\n```\nThanks";
        let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["No.", "Use v1.2 here!", "Thanks"]);
    }

    #[test]
    fn a_block_that_is_never_closed_hides_its_paragraph_alone() {
        let text = "Before.\n```\nlet x = 1;\n\nThat is wrong.\n";
        let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["Before.", "That is wrong."]);
    }

    #[test]
    fn words_keep_their_apostrophes() {
        assert_eq!(words("Don’t — that's 'wrong'!"), ["don't", "that's", "wrong"]);
    }

    proptest! {
        #[test]
        fn sentences_lie_inside_the_text_in_their_order(text in any::<String>()) {
            let mut end = 0;
            for range in sentences(&text) {
                prop_assert!(range.start >= end && range.end > range.start);
                prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
                end = range.end;
            }
        }

        #[test]
        fn what_is_shortened_is_one_line(text in any::<String>(), longest in 1usize..50) {
            let short = shorten(&text, longest);
            prop_assert!(short.chars().count() <= longest && !short.contains('\n'));
        }
    }
}
