//! Clauses of a sentence.

use super::clause_words::{BEFORE, LEADS, SUBJECTS, VERBS};
use crate::reader::words::Word;

/// Some words of a sentence that say one thing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clause<'a> {
    /// Its words, with what people say before they come to the point.
    pub(super) words: &'a [Word],
    /// Where the point begins.
    pub(super) start: usize,
}

/// Cuts a sentence into clauses.
pub(super) fn clauses(words: &[Word]) -> Vec<Clause<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 1..=words.len() {
        if at == words.len() || is_cut(words, start, at) {
            let words = &words[start..at];
            found.push(Clause { words, start: point(words) });
            start = at;
        }
    }
    found
}

/// Whether any of the phrases stands in the words.
pub(super) fn has_any(words: &[Word], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| has(words, phrase))
}

/// Whether the words begin with one of the phrases.
pub(super) fn starts_with_any(words: &[Word], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| is_at(words, phrase))
}

fn has(words: &[Word], phrase: &str) -> bool {
    (0..words.len()).any(|at| is_at(&words[at..], phrase))
}

/// Whether the words begin with a phrase. Most do not even begin with its first letter.
fn is_at(words: &[Word], phrase: &str) -> bool {
    let Some((word, words)) = words.split_first() else { return false };
    if word.lower.as_bytes().first() != phrase.as_bytes().first() || word.is_quoted {
        return false;
    }
    match phrase.strip_prefix(word.lower.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(' ').is_some_and(|rest| is_at(words, rest)),
        None => false,
    }
}

/// Whether a new clause begins at a word.
fn is_cut(words: &[Word], start: usize, at: usize) -> bool {
    let (before, word) = (&words[at - 1], &words[at]);
    if word.is_quoted || before.place == word.place {
        return false;
    }
    if before.after.semicolon || before.after.dash || word.before.dash {
        return true;
    }
    let next = words.get(at + 1).map_or("", |word| word.lower.as_str());
    let lower = word.lower.as_str();
    let is_joint = matches!(
        lower,
        "and"
            | "but"
            | "so"
            | "though"
            | "although"
            | "while"
            | "whereas"
            | "because"
            | "since"
            | "as"
            | "plus"
            | "then"
    );
    let is_lead = at - start < 2;
    if before.after.comma || before.after.bracket || word.before.bracket {
        if is_joint {
            return SUBJECTS.contains(&next)
                || (lower == "and" && begins_a_clause(&words[at + 1..]))
                || matches!(next, "the" | "for")
                || lower == "but"
                || lower == "because"
                || lower == "since";
        }
        if before.after.comma
            && begins_a_clause(&words[at..])
            && (has_verb(&words[start..at]) || at - start >= 3)
        {
            return true;
        }
        return !is_lead
            && SUBJECTS.contains(&lower)
            && !matches!(
                lower,
                "from" | "use" | "that" | "make" | "also" | "which" | "where" | "when" | "no"
            )
            && (lower != "do" || next == "not")
            && (!matches!(lower, "my" | "our" | "his" | "her") || has_verb(&words[at..]))
            || (!is_lead && lower == "the" && matches!(next, "deadline" | "repo" | "project"));
    }
    if before.after.colon && at - start >= 2 {
        return matches!(lower, "i" | "we" | "my" | "always" | "never" | "please" | "do");
    }
    joins(words, start, at)
}

/// Whether a word joins two clauses without a comma.
fn joins(words: &[Word], start: usize, at: usize) -> bool {
    let lower = words[at].lower.as_str();
    let next = words.get(at + 1).map_or("", |word| word.lower.as_str());
    match lower {
        "so" if next == "do" || next == "when" || next == "no" => true,
        "no" if at - start >= 2 && matches!(words[start].lower.as_str(), "no") => true,
        "and" | "but" | "so" | "because" | "since" => {
            matches!(
                next,
                "i" | "my" | "we" | "our" | "please" | "always" | "never" | "can" | "could"
            ) || (lower == "and" && matches!(next, "call" | "do"))
                || (lower == "and" && names_a_doer(&words[at + 1..]))
        }
        _ => false,
    }
}

/// Whether the words before a comma already have a verb.
fn has_verb(words: &[Word]) -> bool {
    words.iter().any(|word| VERBS.contains(&word.lower.as_str()))
        || words.iter().any(|word| word.after.colon)
}

/// Whether the words up to the next comma are a clause: a subject and soon a verb.
fn begins_a_clause(words: &[Word]) -> bool {
    const FAR: usize = 7;
    let Some(first) = words.first().map(|word| word.lower.as_str()) else { return false };
    if matches!(
        first,
        "which"
            | "it"
            | "who"
            | "that"
            | "where"
            | "whose"
            | "when"
            | "not"
            | "or"
            | "and"
            | "if"
            | "as"
            | "because"
    ) {
        return false;
    }
    for (at, word) in words.iter().enumerate().take(FAR) {
        if at > 0
            && VERBS.contains(&word.lower.as_str())
            && !matches!(
                word.lower.as_str(),
                "use"
                    | "run"
                    | "work"
                    | "need"
                    | "like"
                    | "love"
                    | "hate"
                    | "want"
                    | "go"
                    | "do"
                    | "can"
                    | "live"
                    | "find"
                    | "cut"
                    | "left"
            )
        {
            return true;
        }
        if word.after.comma {
            return false;
        }
    }
    false
}

/// `Aylin is`, `Jonas leads`: somebody who does something.
fn names_a_doer(words: &[Word]) -> bool {
    let [first, second, ..] = words else { return false };
    first.is_capital
        && matches!(
            second.lower.as_str(),
            "is" | "'s"
                | "leads"
                | "handles"
                | "does"
                | "owns"
                | "runs"
                | "uses"
                | "was"
                | "manages"
                | "has"
        )
}

/// Where the point of a clause begins.
pub(super) fn point(words: &[Word]) -> usize {
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        let lead =
            LEADS.iter().filter(|lead| is_at(rest, lead)).map(|lead| lead.split(' ').count()).max();
        let is_answer =
            matches!(words[at].lower.as_str(), "no" | "right" | "as") && !words[at].after.comma;
        match lead {
            Some(length) if at + length < words.len() && !is_answer => {
                at += length;
                // `note that`, `fyi that`, `since that`
                if words.get(at).is_some_and(|word| word.lower == "that")
                    && words.get(at + 1).is_some_and(|word| {
                        matches!(word.lower.as_str(), "i" | "my" | "we" | "our" | "the")
                    })
                {
                    at += 1;
                }
            }
            _ => break,
        }
    }
    at
}

/// Where a wish to remember can begin: after greetings and courtesies.
pub(super) fn point_of_wish(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(lead) =
        BEFORE.iter().filter(|lead| is_at(&words[at..], lead)).max_by_key(|lead| lead.len())
    {
        let length = lead.split(' ').count();
        if at + length >= words.len() || is_at(&words[at..], "do not") {
            break;
        }
        at += length;
    }
    at
}
