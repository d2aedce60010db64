//! What a user's message says about the work before it: a correction, praise, a complaint, another try.

use std::ops::Range;

use super::sentences::{sentences, shorten, words};
use super::sign_words::{
    COMPLAINING_QUESTIONS, COMPLAINTS, CORRECTIONS, DONT, DOUBTS, FILLERS, HARMLESS_AFTER_DONT,
    HARMLESS_AFTER_NO, NO, PRAISE, Patterns, RETRIES,
};

/// What a sentence says about the work before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// It puts right what was done.
    Correction,
    /// It says that what was done is of no use.
    Complaint,
    /// It asks for another try.
    Retry,
    /// It says that it was done well.
    Praise,
}

/// A sign and the words that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What is shown.
    pub sign: Sign,
    /// The words, in bytes of the message.
    pub quote: Range<usize>,
}

/// What the assistant said just before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing: this is the request itself.
    Nothing,
    /// A question: a `no` answers it.
    Question,
    /// Anything else.
    Statement,
}

/// The longest quote, in characters.
pub(super) const LONGEST_QUOTE: usize = 240;
/// Who pastes a long text speaks in its first sentences.
const LONG_MESSAGE: usize = 1500;

/// The signs in a user's message, each kind once, in the order of the text.
pub fn read(text: &str, before: Before) -> Vec<Shown> {
    if before == Before::Nothing {
        return Vec::new();
    }
    let all = sentences(text);
    let mut found: Vec<Shown> = Vec::new();
    for (place, sentence) in all.iter().enumerate() {
        let is_near = place < 3 || (place + 1 == all.len() && text.len() <= LONG_MESSAGE);
        let Some(sign) = is_near.then(|| sign_of(&text[sentence.clone()], before)).flatten() else {
            continue;
        };
        if found.iter().all(|known| known.sign != sign) {
            found.push(Shown { sign, quote: quote(text, &all, place) });
        }
    }
    found
}

/// What the assistant's last words were.
pub fn before(answer: Option<&str>) -> Before {
    match answer.map(str::trim) {
        None => Before::Nothing,
        Some(text) if text.ends_with('?') => Before::Question,
        Some(_) => Before::Statement,
    }
}

/// What is wished for, out of a quoted correction: without the no and the reproach before it.
pub fn wish(quote: &str) -> String {
    const OPENINGS: &[&str] = &[
        "no",
        "nope",
        "nein",
        "non",
        "actually",
        "sorry",
        "wait",
        "well",
        "ok",
        "okay",
        "please",
        "but",
        "oh",
        "hmm",
        "again",
        "i said",
        "i told you to",
        "i told you",
        "i meant",
        "i asked for",
        "i asked you to",
        "i mean",
        "as i said",
        "like i said",
        "that's wrong",
        "that is wrong",
        "wrong",
        "bitte",
        "ich sagte",
        "ich meinte",
    ];
    let mut rest = quote.trim();
    while let Some(shorter) = OPENINGS.iter().find_map(|opening| without(rest, opening)) {
        rest = shorter;
    }
    let plain = shorten(rest.trim_end_matches(['.', '!', ' ', ',']), 120);
    let mut letters = plain.chars();
    match letters.next() {
        None => shorten(quote, 120),
        Some(first) => first.to_uppercase().chain(letters).collect(),
    }
}

/// The text behind an opening, if something is left of it.
fn without<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let head = text.get(..opening.len())?;
    let rest =
        text[opening.len()..].trim_start_matches([',', '.', '!', ':', ';', ' ', '-', '—', '–']);
    let is_cut = head.replace('’', "'").to_lowercase() == *opening
        && !text[opening.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '\'');
    (is_cut && rest.chars().any(char::is_alphanumeric)).then_some(rest)
}

fn sign_of(sentence: &str, before: Before) -> Option<Sign> {
    let all = words(sentence);
    let opening = all.iter().take_while(|word| FILLERS.contains(&word.as_str())).count();
    let said = &all[opening.min(all.len().saturating_sub(1))..];
    if sentence.trim_end().ends_with('?') {
        return fits_any(said, COMPLAINING_QUESTIONS).then_some(Sign::Complaint);
    }
    if fits_any(said, COMPLAINTS) {
        return Some(Sign::Complaint);
    }
    if fits_any(said, CORRECTIONS) || forbids(said) || says_no(said, before) {
        return Some(Sign::Correction);
    }
    if fits_any(said, RETRIES) {
        return Some(Sign::Retry);
    }
    let is_doubted = all.iter().any(|word| DOUBTS.contains(&word.as_str()));
    let is_short = all.len() <= 14;
    (fits_any(said, PRAISE) && !is_doubted && is_short).then_some(Sign::Praise)
}

fn says_no(said: &[String], before: Before) -> bool {
    let is_no = said.first().is_some_and(|word| NO.contains(&word.as_str()));
    let is_harmless = said.get(1).is_some_and(|word| HARMLESS_AFTER_NO.contains(&word.as_str()));
    is_no && !is_harmless && before == Before::Statement
}

fn forbids(said: &[String]) -> bool {
    let next = match said.first().map(String::as_str) {
        Some(word) if DONT.contains(&word) => said.get(1),
        Some("do") if said.get(1).is_some_and(|word| word == "not") => said.get(2),
        _ => return false,
    };
    next.is_some_and(|word| !HARMLESS_AFTER_DONT.contains(&word.as_str()))
}

fn fits_any(said: &[String], patterns: Patterns) -> bool {
    patterns.iter().any(|pattern| fits(said, pattern))
}

/// `$` at the end asks that the sentence ends there.
fn fits(said: &[String], pattern: &str) -> bool {
    let (is_anchored, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (is_whole, pattern) = match pattern.strip_suffix('$') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let parts: Vec<&str> = pattern.split(' ').collect();
    let starts = if is_anchored { 0..1 } else { 0..said.len() };
    starts.into_iter().any(|start| {
        let is_end = start + parts.len() == said.len();
        (!is_whole || is_end)
            && parts.iter().enumerate().all(|(place, part)| {
                let word = said.get(start + place);
                word.is_some_and(|word| *part == "_" || part.split('|').any(|one| one == word))
            })
    })
}

/// The sentence; with the next one if it is as short as `No.`
fn quote(text: &str, all: &[Range<usize>], place: usize) -> Range<usize> {
    let sentence = all[place].clone();
    let is_bare = words(&text[sentence.clone()]).len() <= 3;
    let next = all.get(place + 1).filter(|next| {
        is_bare
            && !text[sentence.end..next.start].contains("\n\n")
            && !text[sentence.end..next.start].contains("```")
    });
    let end = next.map_or(sentence.end, |next| next.end);
    let longest = text[sentence.start..end].char_indices().nth(LONGEST_QUOTE);
    sentence.start..longest.map_or(end, |(at, _)| sentence.start + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signs(text: &str) -> Vec<Sign> {
        read(text, Before::Statement).into_iter().map(|shown| shown.sign).collect()
    }

    #[test]
    fn corrections_are_known_by_their_words() {
        for text in [
            "No, use tabs.",
            "no. Use the staging database",
            "Nope, the other branch",
            "That's wrong, the port is 8080.",
            "that is not what I asked for",
            "I said three bullet points",
            "I told you to run the linter first",
            "again, but shorter",
            "Don't add comments to the code.",
            "do not touch the lock file",
            "Stop using emojis please",
            "Use pnpm instead.",
            "Please use metric units, not imperial",
            "You forgot the tests",
            "It should be UTC, not local time",
            "Too long. Give me two sentences.",
            "make it shorter",
            "Actually, use Postgres",
            "Ok but you missed the second file",
            "Nein, das ist falsch.",
            "C'est faux, il faut utiliser tabs",
            "Eso no es lo que pedí",
        ] {
            assert_eq!(signs(text), [Sign::Correction], "{text}");
        }
    }

    #[test]
    fn complaints_retries_and_praise_are_told_apart() {
        for (text, sign) in [
            ("That didn't work.", Sign::Complaint),
            ("It still fails with the same error", Sign::Complaint),
            ("why did you delete the file?", Sign::Complaint),
            ("Das funktioniert nicht", Sign::Complaint),
            ("Try again", Sign::Retry),
            ("Perfect, thank you!", Sign::Praise),
            ("Great, that's exactly what I needed", Sign::Praise),
            ("works now", Sign::Praise),
            ("LGTM", Sign::Praise),
            ("Looks good to me", Sign::Praise),
            ("Super, danke", Sign::Praise),
        ] {
            assert_eq!(signs(text), [sign], "{text}");
        }
    }

    #[test]
    fn ordinary_messages_show_nothing() {
        for text in [
            "No problem, take your time",
            "no thanks",
            "Don't worry about the tests",
            "Could you also add a changelog entry?",
            "Now write the second chapter",
            "It would be great if you added a table",
            "Is that wrong?",
            "The customer said the parcel was lost",
            "What does the function return?",
            "thanks",
            "I don't know the port, look it up",
            "Translate: \"it is not urgent\"",
            "> That's wrong\nWhat did he mean by this?",
        ] {
            assert_eq!(signs(text), [], "{text}");
        }
    }

    #[test]
    fn a_first_message_corrects_nothing_and_no_may_answer_a_question() {
        assert_eq!(read("Don't use tabs. That's wrong.", Before::Nothing), []);
        assert_eq!(read("No, leave it", Before::Question), []);
        let shown = read("No. That's wrong.", Before::Question);
        assert_eq!(shown[0].sign, Sign::Correction);
        assert_eq!(before(Some("Shall I go on? ")), Before::Question);
        assert_eq!(before(None), Before::Nothing);
    }

    #[test]
    fn a_bare_no_is_quoted_with_what_follows() {
        let text = "No. Use the staging database. Then go on.";
        let shown = read(text, Before::Statement);
        assert_eq!(&text[shown[0].quote.clone()], "No. Use the staging database.");
    }

    #[test]
    fn the_wish_is_what_is_left_without_the_reproach() {
        for (quote, wanted) in [
            ("No, use tabs instead of spaces.", "Use tabs instead of spaces"),
            ("no. I said three bullet points!", "Three bullet points"),
            ("Don't add comments", "Don't add comments"),
            ("I told you to run the linter first", "Run the linter first"),
            ("No.", "No"),
            ("Nothing changed", "Nothing changed"),
        ] {
            assert_eq!(wish(quote), wanted);
        }
    }

    proptest! {
        #[test]
        fn quotes_are_words_of_the_message(text in any::<String>()) {
            for shown in read(&text, Before::Statement) {
                prop_assert!(text.get(shown.quote.clone()).is_some_and(|quote| !quote.trim().is_empty()));
                prop_assert!(text[shown.quote].chars().count() <= LONGEST_QUOTE);
            }
        }

        #[test]
        fn a_wish_is_never_empty_for_words(text in "[a-zA-Z,.! ’']{1,80}") {
            prop_assume!(text.chars().any(char::is_alphanumeric));
            prop_assert!(!wish(&text).is_empty());
        }
    }
}
