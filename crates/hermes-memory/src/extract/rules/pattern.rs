//! A small language of patterns over words: `i really|truly? prefer {x}`.
//!
//! A pattern is made of elements between spaces. `a|b` is one of these words, `pref*` a word that
//! begins so, a question mark after it makes it optional, `..3` skips up to three words. `{x}` takes
//! one or more words up to what follows, `{x:name}` up to five that begin with a capital or a digit,
//! `{x:one}` exactly one, `{x:code}` one with a sign of a handle or number in it, `{x:date}` a day. A
//! `^` at the start ties it to the start of the clause, a `$` at the end to its end.

use std::ops::Range;

use crate::reader::words::Word;

/// A pattern, ready to be tried.
#[derive(Debug)]
pub(super) struct Pattern {
    elements: Vec<Element>,
    is_tied_to_start: bool,
}

#[derive(Debug)]
enum Element {
    Word { choices: Vec<Choice>, is_optional: bool },
    Skip(usize),
    Take { name: char, what: What, is_optional: bool },
    End,
}

#[derive(Debug)]
struct Choice {
    text: &'static str,
    is_beginning: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Any,
    Name,
    One,
    Code,
    Date,
    Phone,
    Zone,
    Thing,
    Modifier,
    Relation,
    Count,
}

/// What a pattern found: the words it covers, and those it took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) words: Range<usize>,
    taken: Vec<(char, Range<usize>)>,
}

impl Match {
    /// The words taken under a name.
    pub(super) fn taken(&self, name: char) -> Option<Range<usize>> {
        self.taken.iter().find(|(known, _)| *known == name).map(|(_, words)| words.clone())
    }
}

/// How many words at the start of some words are a day.
pub(super) type DateLength<'a> = &'a dyn Fn(&[Word]) -> usize;

impl Pattern {
    /// Reads a pattern; what cannot be read matches as a plain word.
    pub(super) fn parse(text: &'static str) -> Pattern {
        let is_tied_to_start = text.starts_with('^');
        let elements = text.trim_start_matches('^').split_whitespace().map(element).collect();
        Pattern { elements, is_tied_to_start }
    }

    /// The first word every match begins with, if it is a plain one.
    pub(super) fn first_words(&self) -> Option<impl Iterator<Item = &'static str> + '_> {
        match self.elements.first()? {
            Element::Word { choices, is_optional: false }
                if choices.iter().all(|choice| !choice.is_beginning) =>
            {
                Some(choices.iter().map(|choice| choice.text))
            }
            _ => None,
        }
    }

    /// The match that begins earliest in the words from `start` on.
    #[cfg(test)]
    fn find(&self, words: &[Word], start: usize, dates: DateLength<'_>) -> Option<Match> {
        let last = if self.is_tied_to_start { start + 1 } else { words.len() };
        (start..last.min(words.len())).find_map(|at| self.find_at(words, at, dates))
    }

    /// The match that begins exactly here.
    pub(super) fn find_at(
        &self,
        words: &[Word],
        at: usize,
        dates: DateLength<'_>,
    ) -> Option<Match> {
        let mut found = Match::default();
        let end = go(&self.elements, words, at, &mut found.taken, dates)?;
        found.words = at..end;
        (end > at).then_some(found)
    }

    /// Whether it is tied to the start of the clause.
    pub(super) fn is_tied_to_start(&self) -> bool {
        self.is_tied_to_start
    }
}

fn element(text: &'static str) -> Element {
    if text == "$" {
        return Element::End;
    }
    if let Some(most) = text.strip_prefix("..").and_then(|most| most.parse().ok()) {
        return Element::Skip(most);
    }
    let is_optional = text.ends_with('?');
    let text = text.trim_end_matches('?');
    if let Some(inside) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let what = match inside.split_once(':').map(|(_, what)| what) {
            Some("name") => What::Name,
            Some("one") => What::One,
            Some("code") => What::Code,
            Some("date") => What::Date,
            Some("phone") => What::Phone,
            Some("zone") => What::Zone,
            Some("thing") => What::Thing,
            Some("mod") => What::Modifier,
            Some("relation") => What::Relation,
            Some("count") => What::Count,
            _ => What::Any,
        };
        return Element::Take { name: inside.chars().next().unwrap_or('x'), what, is_optional };
    }
    let choice = |text: &'static str| Choice {
        text: text.trim_end_matches('*'),
        is_beginning: text.ends_with('*'),
    };
    Element::Word { choices: text.split('|').map(choice).collect(), is_optional }
}

fn go(
    elements: &[Element],
    words: &[Word],
    at: usize,
    taken: &mut Vec<(char, Range<usize>)>,
    dates: DateLength<'_>,
) -> Option<usize> {
    let Some((first, rest)) = elements.split_first() else { return Some(at) };
    match first {
        Element::End => (at == words.len()).then_some(at),
        Element::Word { choices, is_optional } => {
            let fits = words.get(at).is_some_and(|word| fits(word, choices));
            let with = || go(rest, words, at + 1, taken, dates);
            match fits.then(with).flatten() {
                Some(end) => Some(end),
                None if *is_optional => go(rest, words, at, taken, dates),
                None => None,
            }
        }
        Element::Skip(most) => (0..=*most)
            .take_while(|skipped| at + skipped <= words.len())
            .find_map(|skipped| go(rest, words, at + skipped, taken, dates)),
        Element::Take { name, what, is_optional } => {
            for length in lengths(*what, words, at, dates, rest.is_empty()) {
                taken.push((*name, at..at + length));
                if let Some(end) = go(rest, words, at + length, taken, dates) {
                    return Some(end);
                }
                taken.pop();
            }
            if *is_optional { go(rest, words, at, taken, dates) } else { None }
        }
    }
}

fn fits(word: &Word, choices: &[Choice]) -> bool {
    !word.is_quoted
        && choices.iter().any(|choice| {
            if choice.is_beginning {
                word.lower.starts_with(choice.text)
            } else {
                word.lower == choice.text
            }
        })
}

/// How many words may be taken here, in the order in which they are tried.
fn lengths(
    what: What,
    words: &[Word],
    at: usize,
    dates: DateLength<'_>,
    is_last: bool,
) -> Vec<usize> {
    let left = words.len().saturating_sub(at);
    match what {
        What::Any if is_last => {
            if left > 0 {
                vec![left]
            } else {
                Vec::new()
            }
        }
        What::Any => (1..=left.min(14)).collect(),
        What::Name => (1..=name_length(&words[at.min(words.len())..])).rev().collect(),
        What::One => {
            if left > 0 {
                vec![1]
            } else {
                Vec::new()
            }
        }
        What::Code => {
            if words.get(at).is_some_and(is_code) {
                vec![1]
            } else {
                Vec::new()
            }
        }
        What::Phone => phone_length(&words[at.min(words.len())..]).into_iter().collect(),
        What::Zone => {
            if words.get(at).is_some_and(|word| is_zone(&word.lower)) {
                vec![1]
            } else {
                Vec::new()
            }
        }
        What::Relation => {
            if words
                .get(at)
                .is_some_and(|word| RELATIONS.binary_search(&word.lower.as_str()).is_ok())
            {
                vec![1]
            } else {
                Vec::new()
            }
        }
        What::Count => {
            if words.get(at).is_some_and(|word| is_count(&word.lower)) {
                vec![1]
            } else {
                Vec::new()
            }
        }
        What::Thing => thing_lengths(&words[at.min(words.len())..]),
        What::Modifier => (1..=left.min(2)).collect(),
        What::Date => match dates(&words[at.min(words.len())..]) {
            0 => Vec::new(),
            length => vec![length],
        },
    }
}

/// How many words at the start make a name.
fn name_length(words: &[Word]) -> usize {
    const LONGEST: usize = 5;
    let mut length = 0;
    for word in words.iter().take(LONGEST) {
        let joins = length > 0
            && matches!(
                word.lower.as_str(),
                "de" | "da"
                    | "do"
                    | "dos"
                    | "van"
                    | "von"
                    | "der"
                    | "la"
                    | "le"
                    | "del"
                    | "&"
                    | "of"
            )
            && words.get(length + 1).is_some_and(|next| next.is_capital);
        if !(word.is_capital || joins) || (length > 0 && (word.before.bracket || word.before.dash))
        {
            break;
        }
        length += 1;
        if word.after != crate::reader::words::Marks::default() {
            break;
        }
    }
    length
}

/// Who somebody can be to the user; sorted, as they are searched by halving.
#[rustfmt::skip]
const RELATIONS: &[&str] = &[
    "accountant", "adviser", "advisor", "agent", "assistant", "aunt", "baby", "babysitter",
    "bookkeeper", "boss", "boyfriend", "brother", "brother-in-law", "buddy", "cat", "ceo",
    "client", "co-founder", "co-worker", "coach", "cofounder", "colleague", "contact",
    "contractor", "counterpart", "cousin", "coworker", "cto", "customer", "dad", "daughter",
    "dentist", "deputy", "designer", "developer", "director", "doctor", "dog", "editor", "father",
    "father-in-law", "fiance", "fiancee", "fiancé", "fiancée", "flatmate", "friend", "gecko",
    "girlfriend", "goddaughter", "godfather", "godmother", "godson", "gp", "grandfather",
    "grandma", "grandmother", "grandpa", "half-brother", "half-sister", "hamster", "horse",
    "husband", "intern", "kid", "kitten", "landlady", "landlord", "lawyer", "lead", "manager",
    "mentor", "mom", "mother", "mother-in-law", "mum", "nanny", "neighbor", "neighbour", "nephew",
    "niece", "parrot", "partner", "pet", "physio", "physiotherapist", "pm", "professor",
    "publisher", "puppy", "rabbit", "roommate", "sister", "sister-in-law", "skip-level", "son",
    "spouse", "stepbrother", "stepdaughter", "stepfather", "stepmother", "stepsister", "stepson",
    "supervisor", "supplier", "teacher", "teammate", "therapist", "tortoise", "trainer", "tutor",
    "twin", "uncle", "vet", "wife",
];

/// Words with digits in a row: a telephone number, an id.
fn phone_length(words: &[Word]) -> Option<usize> {
    let has_digit = |word: &&Word| word.lower.chars().any(|c| c.is_ascii_digit());
    let length = words.iter().take_while(has_digit).count();
    (length > 0).then_some(length)
}

fn is_count(word: &str) -> bool {
    let tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    word.parse::<u8>().is_ok() || tens.iter().any(|ten| word.starts_with(ten))
}

fn is_zone(word: &str) -> bool {
    matches!(
        word,
        "cet"
            | "cest"
            | "gmt"
            | "utc"
            | "bst"
            | "est"
            | "edt"
            | "pst"
            | "pdt"
            | "cst"
            | "cdt"
            | "mst"
            | "ist"
            | "jst"
            | "sgt"
            | "aest"
            | "aedt"
            | "wet"
            | "west"
            | "eet"
            | "eest"
            | "hkt"
            | "brt"
            | "msk"
            | "nzst"
    ) || word.starts_with("utc+")
        || word.starts_with("gmt+")
        || word.starts_with("utc-")
        || word.starts_with("gmt-")
        || (word.contains('/') && word.starts_with("europe")
            || word.starts_with("america/")
            || word.starts_with("asia/"))
}

/// How many words can be the thing a sentence is about: a name, or `the`, `our`, `my` and up to four more.
fn thing_lengths(words: &[Word]) -> Vec<usize> {
    let Some(first) = words.first() else { return Vec::new() };
    let is_led = matches!(first.lower.as_str(), "the" | "our" | "my" | "all" | "both" | "every");
    let can_be = is_led || first.is_capital || first.lower.len() > 2;
    let is_pronoun = matches!(
        first.lower.as_str(),
        "i" | "we"
            | "you"
            | "he"
            | "she"
            | "they"
            | "it"
            | "this"
            | "that"
            | "there"
            | "what"
            | "who"
            | "which"
            | "how"
            | "everything"
            | "here"
            | "and"
            | "but"
    );
    if !can_be || is_pronoun {
        return Vec::new();
    }
    let least = if is_led { 2 } else { 1 };
    let is_inner = |word: &&Word| {
        !word.is_quoted
            && !matches!(
                word.lower.as_str(),
                "i" | "we"
                    | "you"
                    | "to"
                    | "not"
                    | "is"
                    | "are"
                    | "was"
                    | "writes"
                    | "and"
                    | "or"
                    | "says"
                    | "who"
                    | "that"
                    | "which"
                    | "gets"
                    | "if"
                    | "where"
                    | "meant"
                    | "can"
                    | "would"
                    | "should"
                    | "does"
                    | "do"
                    | "please"
            )
    };
    let unbroken = words.iter().take_while(is_inner).take_while(|word| !word.after.comma).count();
    (least..=unbroken.min(6)).collect()
}

/// Whether a word can be a handle, an address, a number or an id.
fn is_code(word: &Word) -> bool {
    let text = word.lower.as_str();
    text.starts_with('@')
        || text.contains('@')
        || text.chars().any(|c| c.is_ascii_digit())
        || text.contains(['_', '-', '.', '/', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::words::words;

    fn taken<'a>(pattern: &'static str, text: &'a str) -> Option<&'a str> {
        let words = words(text, 0);
        let found = Pattern::parse(pattern).find(&words, 0, &|_| 0)?;
        let place = found.taken('x').unwrap_or(found.words);
        Some(&text[words[place.start].place.start..words[place.end - 1].place.end])
    }

    #[test]
    fn patterns_find_words_and_take_what_follows() {
        assert_eq!(taken("i really? prefer {x}", "So I prefer green tea."), Some("green tea"));
        assert_eq!(taken("i really? prefer {x}", "So I really prefer tea"), Some("tea"));
        assert_eq!(taken("^i prefer {x}", "So I prefer tea"), None);
        assert_eq!(taken("from {x} to", "switched from Vim to Helix"), Some("Vim"));
        assert_eq!(taken("at {x:name}", "I work at Bright Cart in Porto"), Some("Bright Cart"));
        assert_eq!(taken("name is {x:name}", "my name is nobody"), None);
        assert_eq!(
            taken("pref* ..2 tea $", "I preferred some hot tea"),
            Some("preferred some hot tea")
        );
        assert_eq!(taken("handle is {x:code}", "my handle is @nadia-dev"), Some("@nadia-dev"));
    }
}
