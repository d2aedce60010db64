//! Clauses of a sentence, and which of them state something that holds.

use super::clause_words::{
    ASKING, BEFORE, FOR_NOW, JOKES, LEADS, REQUESTS, SAYING, SPEAKING, SUBJECTS, UNSURE, VERBS,
};
use crate::reader::words::Word;

/// Some words of a sentence that say one thing.
#[derive(Debug, Clone)]
pub(super) struct Clause<'a> {
    /// Its words, with what people say before they come to the point.
    pub(super) words: &'a [Word],
    /// Where the point begins.
    pub(super) start: usize,
    /// Why nothing may be taken from it as a statement.
    pub(super) doubt: Option<Doubt>,
    /// Whether it is about the matter at hand alone.
    pub(super) is_for_now: bool,
}

/// Why a clause states nothing that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It asks.
    Question,
    /// It supposes.
    Hypothesis,
    /// It tells what another said.
    Reported,
    /// It asks for work to be done now.
    Request,
    /// It is not sure.
    Unsure,
    /// It is over.
    Past,
    /// It is not meant.
    Joke,
}

/// Cuts a sentence into clauses and judges each.
pub(super) fn clauses(words: &[Word]) -> Vec<Clause<'_>> {
    let mut found: Vec<Clause<'_>> = Vec::new();
    let mut start = 0;
    for at in 1..=words.len() {
        if at == words.len() || is_cut(words, start, at) {
            let piece = &words[start..at];
            let carried = found.last().and_then(|before| carries(before, piece));
            found.push(judge(piece, carried));
            start = at;
        }
    }
    if has_any(words, JOKES) {
        found.iter_mut().for_each(|clause| clause.doubt = Some(Doubt::Joke));
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

fn is_at(words: &[Word], phrase: &str) -> bool {
    phrase
        .split(' ')
        .enumerate()
        .all(|(at, part)| words.get(at).is_some_and(|word| word.lower == part && !word.is_quoted))
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

fn judge(words: &[Word], carried: Option<Doubt>) -> Clause<'_> {
    let start = point(words);
    let rest = &words[start..];
    let doubt = carried
        .or_else(|| is_question(words, rest).then_some(Doubt::Question))
        .or_else(|| is_hypothesis(rest).then_some(Doubt::Hypothesis))
        .or_else(|| is_reported(rest).then_some(Doubt::Reported))
        .or_else(|| is_request(rest).then_some(Doubt::Request))
        .or_else(|| has_any(rest, UNSURE).then_some(Doubt::Unsure))
        .or_else(|| is_past(rest).then_some(Doubt::Past));
    Clause { words, start, doubt, is_for_now: has_any(rest, FOR_NOW) }
}

/// The doubt that goes over from one clause to the next of the same sentence.
fn carries(before: &Clause<'_>, words: &[Word]) -> Option<Doubt> {
    let rest = &words[point(words)..];
    let is_order = starts_with_any(rest, &["always", "never", "from now on"]);
    match before.doubt? {
        Doubt::Hypothesis if is_order => None,
        Doubt::Hypothesis if before.words.last().is_some_and(|word| word.after.colon) => None,
        Doubt::Hypothesis => Some(Doubt::Hypothesis),
        Doubt::Request if has_any(before.words, SAYING) => Some(Doubt::Request),
        Doubt::Request if before.words.last().is_some_and(|word| word.after.colon) => {
            Some(Doubt::Request)
        }
        Doubt::Reported
            if !starts_with_any(rest, &["i", "my", "we", "our"])
                || has_any(before.words, &["quote"]) =>
        {
            Some(Doubt::Reported)
        }
        Doubt::Joke => Some(Doubt::Joke),
        _ => None,
    }
}

#[rustfmt::skip]
fn is_question(words: &[Word], rest: &[Word]) -> bool {
    let is_when = starts_with_any(
        rest,
        &[
            "when i", "when you", "when we", "whenever", "which is", "which means", "what i",
            "what we", "where i", "how i", "who is",
        ],
    );
    words.last().is_some_and(|word| word.after.question)
        || (!is_when && starts_with_any(rest, ASKING))
        || has_any(
            rest,
            &["i wonder", "wondering if", "wondering whether", "not sure if", "not sure whether"],
        )
}

#[rustfmt::skip]
fn is_hypothesis(rest: &[Word]) -> bool {
    let is_standing = starts_with_any(
        rest,
        &[
            "if you", "if i ask", "if i say", "if something", "if there", "if it", "if a", "if an",
            "if the", "if someone", "if any", "if anyone",
        ],
    );
    (starts_with_any(
        rest,
        &[
            "if", "unless", "suppose", "supposing", "imagine", "assume", "assuming", "pretend",
            "let us say", "let us pretend", "say", "what if", "in case", "had i", "were i",
        ],
    ) && !is_standing)
        || has_any(
            rest,
            &[
                "if i", "if we", "if only", "i wish", "would have", "hypothetically", "in theory",
                "pretend", "imagine", "as if", "could have", "role play", "roleplay", "if my",
                "if our", "were to", "in another life", "in my dream", "one day", "someday",
                "some day", "i would love to", "i would rather be", "dream of",
            ],
        )
}

#[rustfmt::skip]
fn is_reported(rest: &[Word]) -> bool {
        if has_any(
        rest,
        &[
            "according to", "i heard", "i read", "rumor has it", "rumour has it", "the article",
            "the docs say", "they say", "people say",
        ],
    ) {
        return true;
    }
    let speaks =
        rest.iter().position(|word| !word.is_quoted && SPEAKING.contains(&word.lower.as_str()));
    speaks.is_some_and(|at| {
        let by_me = at > 0
            && matches!(
                rest[at - 1].lower.as_str(),
                "i" | "i've" | "have" | "already" | "just" | "as"
            );
        !by_me
    })
}

#[rustfmt::skip]
fn is_request(rest: &[Word]) -> bool {
    let asks = starts_with_any(
        rest,
        &[
            "can you", "could you", "would you", "will you", "i need you to", "i want you to",
            "i would like you to", "i need", "i want", "let us", "i am looking for", "help me",
            "kannst du", "peux tu", "puedes", "pourrais tu", "könntest du",
        ],
    );
    let first = rest.first().map_or("", |word| word.lower.as_str());
    asks || REQUESTS.contains(&first)
}

#[rustfmt::skip]
fn is_past(rest: &[Word]) -> bool {
    let is_over = has_any(
        rest,
        &[
            "used to", "i once", "we once", "back when", "when i was", "when we were",
            "years ago i", "previously", "formerly", "back then", "in college", "in university",
            "at my old job", "my old", "my previous", "my former", "my last job", "i was",
            "we were", "back in", "in the past", "as a kid", "as a child", "growing up",
            "at my last", "had been", "my ex", "at my previous", "years ago we", "we had", "i had",
        ],
    );
    let is_new = has_any(
        rest,
        &["but now", "now i", "and now", "these days", "anymore", "any more", "no longer", "since"],
    );
    is_over && !is_new
}
