//! Names in a text by rules: what the reader is told before it judges.

use super::words::{CODE_ENDINGS, NOT_NAMES, ORDINARY_STARTS};
use super::{
    Names, Sort, is_address, is_around_a_name, is_dotted_name, lower_words, sort_of,
    without_possessive,
};

/// What rules take for the names in a text.
pub fn guessed_names(text: &str) -> Vec<String> {
    let mut found = Names::default();
    let mut phrase: Vec<&str> = Vec::new();
    let mut starts_sentence = true;
    let is_german = is_german(text);
    let mut before = "";
    let mut raws = text.split_whitespace().peekable();
    while let Some(raw) = raws.next() {
        let word = raw.trim_matches(is_around_a_name).trim_end_matches(['—', '–', '-']);
        let next = raws.peek().copied().unwrap_or_default();
        let opens = raw.starts_with(['(', '"', '“', '«']);
        if opens {
            found.take_whole(&mut phrase);
        }
        // German writes every noun with a capital, and so do sentences their first word.
        let is_doubtful = (is_german && !matches!(before, "Frau" | "Herr" | "Herrn" | "Dr."))
            || (starts_sentence
                && phrase.is_empty()
                && !is_possessive(word)
                && !speaks_of_a_name(next));
        before = raw;
        match entity_sort(word, starts_sentence) {
            Sort::Capital if is_doubtful => found.take_whole(&mut phrase),
            Sort::Alone => {
                found.take_whole(&mut phrase);
                found.add(word);
            }
            Sort::Capital => phrase.push(without_possessive(word)),
            Sort::Plain | Sort::Version => found.take_whole(&mut phrase),
        }
        let is_title = matches!(raw, "Dr." | "Mr." | "Mrs." | "Ms." | "Prof." | "St.");
        let ends = raw.ends_with(['.', '!', '?', ':', ';', ',', ')', '"', '”', '»', '…'])
            || word.len() < raw.trim_end_matches(is_around_a_name).len()
            || is_possessive(word);
        if ends && !is_title {
            found.take_whole(&mut phrase);
        }
        starts_sentence = !is_title && raw.ends_with(['.', '!', '?', ':', '…'])
            || matches!(raw, "-" | "*" | "•" | "—");
    }
    found.take_whole(&mut phrase);
    found.names
}

/// A name without the title before it.
pub(super) fn without_title(name: &str) -> &str {
    const TITLES: &[&str] = &[
        "dr", "mr", "mrs", "ms", "mme", "prof", "herr", "herrn", "frau", "sr", "sra", "señor",
        "señora", "dott", "monsieur", "madame", "sir",
    ];
    match name.split_once(' ') {
        Some((first, rest))
            if TITLES.contains(&first.trim_end_matches('.').to_lowercase().as_str()) =>
        {
            without_title(rest.trim_start())
        }
        _ => name,
    }
}

/// Whether a word is never a name: weekdays, months, languages.
pub(super) fn is_no_name(name: &str) -> bool {
    NOT_NAMES.contains(&name.to_lowercase().as_str())
}

/// Whether a text is in German, by its small words.
fn is_german(text: &str) -> bool {
    #[rustfmt::skip]
    const SMALL: &[&str] = &[
        "ich", "und", "der", "die", "das", "bitte", "immer", "nicht", "für", "mit", "den", "dass", "ist",
        "wir", "im", "auf",
    ];
    lower_words(text).iter().filter(|word| SMALL.contains(&word.as_str())).count() >= 2
}

/// Whether the word before can only be a name: what follows a name that begins a sentence.
fn speaks_of_a_name(next: &str) -> bool {
    let word = next.trim_matches(is_around_a_name);
    matches!(
        word,
        "is" | "was"
            | "has"
            | "says"
            | "said"
            | "uses"
            | "runs"
            | "wants"
            | "thinks"
            | "stays"
            | "takes"
            | "leads"
            | "does"
            | "told"
            | "sent"
            | "handles"
            | "left"
            | "lives"
            | "works"
            | "and"
    ) || (word.starts_with(char::is_uppercase)
        && !NOT_NAMES.contains(&word.to_lowercase().as_str()))
}

fn is_possessive(word: &str) -> bool {
    word.ends_with("'s") || word.ends_with("’s")
}

/// What a word can be in a name that is worth tagging.
fn entity_sort(word: &str, starts_sentence: bool) -> Sort {
    let lower = word.to_lowercase();
    let core = without_possessive(&lower);
    let first = core.split(['\'', '’']).next().unwrap_or_default();
    if NOT_NAMES.contains(&core)
        || NOT_NAMES.contains(&first)
        || is_address(word)
        || word.starts_with(['@', '#'])
    {
        return Sort::Plain;
    }
    if is_dotted_name(word) {
        let is_file = word.rsplit_once('.').is_some_and(|(_, end)| {
            CODE_ENDINGS.contains(&end)
                || matches!(
                    end,
                    "csv"
                        | "xlsx"
                        | "md"
                        | "txt"
                        | "pdf"
                        | "docx"
                        | "gd"
                        | "log"
                        | "ini"
                        | "cfg"
                        | "env"
                        | "tsv"
                        | "png"
                        | "ipynb"
                        | "tex"
                        | "xml"
                        | "pptx"
                )
        });
        return if is_file { Sort::Alone } else { Sort::Plain };
    }
    if word.contains(|c: char| {
        !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '&' | '+' | '#' | '.'))
    }) || word.chars().filter(|c| c.is_alphabetic()).count() < 2
    {
        return Sort::Plain;
    }
    let is_shouted =
        word.chars().count() > 3 && word.chars().all(|c| c.is_uppercase() || !c.is_alphabetic());
    if is_shouted && starts_sentence {
        return Sort::Plain;
    }
    match sort_of(word, starts_sentence) {
        Sort::Capital if starts_sentence && !is_possessive(word) && !is_unlikely_start(core) => {
            Sort::Capital
        }
        Sort::Capital if starts_sentence && !is_possessive(word) => Sort::Plain,
        other => other,
    }
}

/// Whether a word at the start of a sentence is more likely an ordinary word than a name.
fn is_unlikely_start(lower: &str) -> bool {
    const ENDINGS: &[&str] =
        &["ing", "ly", "ed", "tion", "ment", "ness", "less", "ful", "able", "ous", "ings", "ers"];
    lower.chars().count() < 3
        || ENDINGS.iter().any(|ending| lower.ends_with(ending))
        || ORDINARY_STARTS.contains(&lower)
}
