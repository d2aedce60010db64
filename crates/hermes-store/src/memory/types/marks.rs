//! What a message's text shows at a glance: whether it asks, whether it speaks of a time.

/// The words that say when.
const TIME_WORDS: [&str; 40] = [
    "yesterday",
    "today",
    "tomorrow",
    "tonight",
    "ago",
    "last",
    "next",
    "week",
    "weeks",
    "weekend",
    "month",
    "months",
    "year",
    "years",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "day",
    "days",
    "morning",
    "evening",
    "recently",
    "since",
    "soon",
];

const QUESTION: i64 = 1;
const TIME: i64 = 2;

/// What a text shows, as the number that is kept with the message.
pub(in crate::memory) fn marks(text: &str) -> i64 {
    let mut marks = 0;
    if text.trim_end().ends_with(['?', '？']) {
        marks |= QUESTION;
    }
    if has_time_word(text) {
        marks |= TIME;
    }
    marks
}

/// Whether a text ends as a question.
pub(in crate::memory) fn is_question(marks: i64) -> bool {
    marks & QUESTION != 0
}

/// Whether a text speaks of a time.
pub(in crate::memory) fn has_time(marks: i64) -> bool {
    marks & TIME != 0
}

fn has_time_word(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| (3..=9).contains(&word.len()))
        .any(|word| TIME_WORDS.iter().any(|time| time.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_times_are_seen() {
        assert!(is_question(marks("How are you? ")));
        assert!(!is_question(marks("? I asked.")));
        assert!(has_time(marks("We met last Tuesday.")));
        assert!(!has_time(marks("Lasting dayless maybe")));
    }
}
