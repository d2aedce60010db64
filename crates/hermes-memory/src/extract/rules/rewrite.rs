//! The user's words in the third person: `I'm allergic to nuts` becomes `User is allergic to nuts`.

use crate::reader::words::Word;

/// The words in the third person, with the punctuation between them.
pub(super) fn third_person(text: &str, words: &[Word]) -> String {
    let mut said = String::new();
    let mut end: Option<usize> = None;
    let mut expects_verb = false;
    for (at, word) in words.iter().enumerate() {
        let is_second_half = at > 0 && words[at - 1].place == word.place;
        let gap = end.map_or("", |end| text.get(end..word.place.start).unwrap_or(" "));
        said.push_str(if is_second_half { " " } else { gap });
        end = Some(word.place.end);
        let original = original(text, words, at);
        let next = words.get(at + 1).map_or("", |next| next.lower.as_str());
        let shown = if word.is_quoted {
            original.to_owned()
        } else if expects_verb && !is_adverb(&word.lower) {
            expects_verb = false;
            third_form(&word.lower, original)
        } else {
            expects_verb |= matches!(word.lower.as_str(), "i" | "we");
            pronoun(&word.lower, next).map_or_else(|| original.to_owned(), str::to_owned)
        };
        match shown.strip_prefix('\'') {
            Some(_) if said.ends_with(' ') && shown == "'s" => {
                said.pop();
                said.push_str("'s");
            }
            _ => said.push_str(&shown),
        }
    }
    tidy(&said)
}

/// The word as it was written; the halves of a contraction in full.
fn original<'a>(text: &'a str, words: &'a [Word], at: usize) -> &'a str {
    let word = &words[at];
    let is_half = |other: Option<&Word>| other.is_some_and(|other| other.place == word.place);
    let is_split = is_half(at.checked_sub(1).and_then(|before| words.get(before)))
        || is_half(words.get(at + 1));
    if !is_split {
        return text.get(word.place.clone()).unwrap_or(&word.lower);
    }
    let whole = text.get(word.place.clone()).unwrap_or_default();
    match whole.get(..word.lower.len()) {
        Some(start) if start.to_lowercase() == word.lower => start,
        _ => &word.lower,
    }
}

fn pronoun(word: &str, next: &str) -> Option<&'static str> {
    Some(match word {
        "i" => "the user",
        "me" | "myself" => "the user",
        "my" => "the user's",
        "mine" => "the user's",
        "we" | "us" => "the team",
        "our" | "ours" => "the team's",
        "you" if matches!(next, "to" | "should" | "can" | "always" | "never" | "must") => {
            "the assistant"
        }
        _ => return None,
    })
}

fn is_adverb(word: &str) -> bool {
    matches!(
        word,
        "really"
            | "always"
            | "usually"
            | "never"
            | "also"
            | "just"
            | "still"
            | "now"
            | "currently"
            | "mostly"
            | "generally"
            | "actually"
            | "strongly"
            | "much"
            | "only"
            | "absolutely"
            | "personally"
            | "typically"
            | "often"
            | "definitely"
            | "already"
            | "recently"
            | "finally"
            | "normally"
            | "primarily"
            | "mainly"
            | "both"
            | "all"
            | "truly"
            | "kind"
            | "sort"
            | "of"
            | "genuinely"
            | "simply"
            | "strictly"
            | "officially"
            | "basically"
            | "greatly"
            | "vastly"
            | "no"
            | "longer"
    )
}

/// The verb that follows `the user`.
fn third_form(verb: &str, original: &str) -> String {
    const UNCHANGED: &[&str] = &[
        "will", "would", "can", "could", "should", "must", "may", "might", "did", "had", "was",
        "went", "got", "chose", "left", "quit", "became", "lost", "bought", "found", "told",
        "said", "made", "took", "came", "began", "gave", "built", "met", "won", "ran", "wrote",
        "sold", "cut", "put", "set", "split", "is", "has", "does", "'s", "spent", "kept", "paid",
        "sent", "held", "'d", "grew", "thought", "broke", "picked",
    ];
    match verb {
        "am" | "are" => "is".to_owned(),
        "were" => "was".to_owned(),
        "have" => "has".to_owned(),
        "do" => "does".to_owned(),
        "go" => "goes".to_owned(),
        _ if UNCHANGED.contains(&verb) || verb.ends_with("ed") || !verb.is_ascii() => {
            original.to_owned()
        }
        _ if verb.ends_with("ss")
            || verb.ends_with("sh")
            || verb.ends_with("ch")
            || verb.ends_with('x') =>
        {
            format!("{original}es")
        }
        _ if verb.ends_with('y')
            && !verb.ends_with("ay")
            && !verb.ends_with("oy")
            && !verb.ends_with("ey") =>
        {
            format!("{}ies", &original[..original.len() - 1])
        }
        _ if verb.ends_with('s') => original.to_owned(),
        _ => format!("{original}s"),
    }
}

/// One line, with a capital at the start and no full stop.
pub(super) fn tidy(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line
        .trim_end_matches(['.', ',', ';', ':', '!', ' ', '-', '—'])
        .trim_start_matches([',', ' ', ':', '-', '—']);
    let mut said =
        line.strip_prefix("the user").map_or_else(|| line.to_owned(), |rest| format!("User{rest}"));
    if let Some(rest) = line.strip_prefix("the team") {
        said = format!("The team{rest}");
    }
    said
}

/// The same with a capital letter at the start.
pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + characters.as_str(),
        None => String::new(),
    }
}

/// A value without what is said around it.
pub(super) fn short(value: &str) -> String {
    const ENDS: &[&str] = &[
        " because ",
        " since ",
        " so ",
        " when ",
        " but ",
        ", ",
        " (",
        " for ",
        " now",
        " instead",
        " these days",
        " with ",
        " from now",
        " if ",
        " as ",
        " and ",
        " over ",
        " these",
    ];
    let lower = value.to_lowercase();
    let end = ENDS.iter().filter_map(|sign| lower.find(sign)).filter(|at| *at > 0).min();
    let end = end.filter(|end| value.is_char_boundary(*end)).unwrap_or(value.len());
    value[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::words::words;

    #[test]
    fn the_first_person_becomes_the_third() {
        for (said, third) in [
            ("I'm allergic to nuts.", "User is allergic to nuts"),
            ("I really prefer tea", "User really prefers tea"),
            ("I don't eat meat", "User does not eat meat"),
            ("my sister's name is Ana", "User's sister's name is Ana"),
            ("We use Postgres for our queue", "The team uses Postgres for the team's queue"),
            ("I moved to Porto", "User moved to Porto"),
            ("I no longer use Vim", "User no longer uses Vim"),
            ("I've switched to Helix", "User has switched to Helix"),
            ("For reports I carry a list", "For reports the user carries a list"),
        ] {
            assert_eq!(third_person(said, &words(said, 0)), third);
        }
    }
}
