//! What words ask for beyond what they state: to be remembered, to be a rule, to change something.

use super::clause::{has_any, starts_with_any};
use crate::reader::words::Word;

/// A wish that something be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// Where what is to be remembered begins.
    pub(super) content: usize,
    /// Whether it is something to do: `remember to …`.
    pub(super) is_order: bool,
}

/// Words that ask to remember what follows.
#[rustfmt::skip]
const REMEMBER: &[&str] = &[
    "remember", "please remember", "note", "please note", "keep in mind", "bear in mind", "do not forget", "make a note", "take note", "note to self",
    "for future reference", "for the record", "write down", "write this down", "jot down", "for later", "store this", "save this", "save that", "memorize", "memorise",
    "do make a note", "remind yourself", "mental note", "quick note", "keep note", "keep a note", "put on record", "log this", "record this", "fyi", "just so you know", "so you know", "for context", "quick context", "good to know", "postmortem line to keep", "house rule", "for your notes", "for your information", "to remember", "worth remembering", "add to your notes", "add to memory", "commit to memory", "heads up",
    // German, French, Spanish, Portuguese, Italian
    "merk dir", "merke dir", "denk daran", "denk dran", "vergiss nicht", "notiere", "notier dir", "bitte merken", "zur info",
    "retiens", "souviens-toi", "rappelle-toi", "n'oublie pas", "note bien", "à retenir", "pour info", "garde en tête",
    "recuerda", "acuérdate", "toma nota", "ten en cuenta", "no olvides", "apunta", "anota", "no te olvides",
    "lembra-te", "lembre-se", "lembra", "nota aí", "anota aí", "não te esqueças", "não esqueças", "toma nota", "tem em conta", "guarda aí", "não esquece",
    "ricorda", "ricordati", "tieni presente", "prendi nota", "non dimenticare", "tieni a mente", "annota", "segnati", "appunta",
];

/// The wish to remember that a sentence begins with.
pub(super) fn asked(words: &[Word]) -> Option<Asked> {
    let start = super::clause::point_of_wish(words);
    for from in [start, 0] {
        let rest = &words[from..];
        let length = REMEMBER
            .iter()
            .filter(|phrase| starts_with_any(rest, &[phrase]))
            .map(|phrase| phrase.split(' ').count())
            .max();
        if let Some(length) = length {
            return content(words, from + length);
        }
    }
    None
}

#[rustfmt::skip]
fn content(words: &[Word], from: usize) -> Option<Asked> {
    let mut at = from;
    if starts_with_any(
        &words[at..],
        &["when", "how", "what", "the time", "last", "me", "us", "this feeling", "us"],
    ) {
        return None;
    }
    if starts_with_any(&words[at..], &["to"]) {
        return Some(Asked { content: at + 1, is_order: true });
    }
    let fillers = [
        "that", "this", "please", "for me", "of the fact", "dass", "que", "de que", "che", "di",
        "about me", "the following", "por favor", "bitte", "going forward", "so you stop asking",
        "somewhere", "of this", "of that", "down", "for next time", "here", "s'il te plaît",
        "per favore",
    ];
    while let Some(filler) = fillers.iter().find(|filler| starts_with_any(&words[at..], &[filler]))
    {
        // `this` and `that` point at something when a noun follows that says what.
        at += filler.split(' ').count();
    }
    (at < words.len()).then_some(Asked { content: at, is_order: false })
}

/// Whether a whole sentence points back: `Remember that.`, `Make a note of that one.`
#[rustfmt::skip]
pub(super) fn points_back(words: &[Word]) -> bool {
    const MOST: usize = 8;
    if words.len() > MOST || words.last().is_some_and(|word| word.after.question) {
        return false;
    }
    let words = &words[super::clause::point(words)..];
    let remembers = has_any(
        words,
        &[
            "remember", "note", "keep in mind", "bear in mind", "save", "write", "do not forget",
            "keep", "store", "jot", "memorize", "need",
        ],
    );
    let points = has_any(words, &["that", "this", "it", "that one", "this one"]);
    let ends = words.last().is_some_and(|word| {
        matches!(
            word.lower.as_str(),
            "that"
                | "this"
                | "it"
                | "one"
                | "mind"
                | "down"
                | "please"
                | "time"
                | "me"
                | "future"
                | "somewhere"
                | "later"
                | "reference"
                | "on"
        )
    });
    remembers
        && points
        && ends
        && !has_any(words, &["feeling", "do you", "did you", "not save", "not remember"])
}

/// Whether what follows `I am a` tells who somebody is, not how they feel.
pub(super) fn is_trait(words: &[Word]) -> bool {
    let comma = words.iter().position(|word| word.after.comma || word.after.bracket);
    let words = &words[..comma.map_or(words.len(), |at| at + 1)];
    let Some(first) = words.first() else { return false };
    const NOT: &[&str] = &[
        "bit", "little", "fan", "big", "huge", "beginner", "newbie", "couple", "few", "lot",
        "mess", "wreck", "person", "night", "morning", "genius", "idiot", "fool", "lucky", "total",
        "complete", "tad", "great", "terrible", "bad", "good",
    ];
    let has_person = words.iter().any(|word| word.lower == "person" || word.lower == "fan");
    !NOT.contains(&first.lower.as_str()) && !has_person && words.len() <= 16
}

/// Whether words can be the name of somebody: no day, month, nationality or ordinary word.
#[rustfmt::skip]
pub(super) fn is_person(words: &[Word]) -> bool {
    const NOT: &[&str] = &[
        "ok", "okay", "back", "sorry", "sure", "german", "french", "spanish", "portuguese",
        "italian", "dutch", "swedish", "american", "british", "canadian", "brazilian", "indian",
        "chinese", "japanese", "polish", "irish", "danish", "finnish", "norwegian", "swiss",
        "austrian", "belgian", "mexican", "australian", "english", "scottish", "greek", "turkish",
        "russian", "ukrainian", "korean", "european", "muslim", "jewish", "christian", "catholic",
        "hindu", "buddhist", "api", "ui", "it", "this", "that", "there", "here", "what", "who",
        "which", "everything", "nothing", "everyone", "he", "she", "they", "i", "you", "we", "the",
        "a", "an", "my", "our", "today", "tomorrow", "done", "he's",
    ];
    let Some(first) = words.first() else { return false };
    !NOT.contains(&first.lower.as_str())
        && super::dates::weekday(&first.lower).is_none()
        && super::dates::month(&first.lower).is_none()
        && !first.lower.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether words are a standing wish in so many words.
pub(super) fn is_standing(words: &[Word]) -> bool {
    const SIGNS: &[&str] = &[
        "always",
        "never",
        "from now on",
        "going forward",
        "remember",
        "next time",
        "every time",
        "whenever",
        "in future",
        "in the future",
        "from here on",
        "ever",
    ];
    has_any(words, SIGNS)
}

/// Whether words say that something changed.
#[rustfmt::skip]
pub(super) fn is_change(words: &[Word]) -> bool {
    has_any(
        words,
        &[
            "no longer", "moved", "switched", "switching", "changed", "instead", "anymore",
            "any more", "migrated", "replaced", "used to", "relocated", "now", "after all",
            "rewritten", "renamed", "pushed", "extended", "slipped", "these days", "not any more",
            "no more", "dropped", "dropping", "quit", "left", "stopped", "since", "converted",
            "postponed", "rather", "got moved", "is out", "new", "from here on", "from now on",
            "started", "turned", "again", "final", "finally",
        ],
    )
}

/// Whether a line ending in a colon announces rules.
pub(super) fn is_heading_of_rules(words: &[Word]) -> bool {
    has_any(
        words,
        &[
            "rules",
            "rule",
            "preferences",
            "from now on",
            "always",
            "house rules",
            "conventions",
            "style",
            "remember",
            "guidelines",
            "my setup",
            "keep in mind",
            "going forward",
        ],
    ) && !has_any(words, &["fix", "this", "check"])
}

/// What a short yes agrees to: a standing offer of the assistant.
#[rustfmt::skip]
pub(super) fn agreed(words: &[Word], question: &str) -> Option<String> {
    const MOST: usize = 6;
    let says_yes = starts_with_any(
        words,
        &[
            "yes", "yep", "yeah", "sure", "please do", "correct", "exactly", "ja", "oui", "sí",
            "sim", "sì", "absolutely", "definitely", "always", "ok", "okay",
        ],
    );
    if !says_yes || words.len() > MOST || words.last().is_some_and(|word| word.after.question) {
        return None;
    }
    let asked = question
        .rsplit_terminator(['.', '!', '\n'])
        .find(|part| part.trim_end().ends_with('?') || question.trim_end().ends_with('?'))?;
    let offer = asked.rsplit("? ").next().unwrap_or(asked).trim().trim_end_matches('?');
    let lower = offer.to_lowercase();
    let is_standing = [
        "always", "from now on", "every", "in future", "going forward", "by default", "each time",
        "remember", "all your", "all my",
    ]
    .iter()
    .any(|sign| lower.contains(sign))
        || has_any(words, &["always", "from now on", "every time"]);
    let rest =
        ["shall i ", "should i ", "do you want me to ", "would you like me to ", "want me to "]
            .iter()
            .find_map(|start| {
                lower.strip_prefix(start).map(|_| &offer[start.len().min(offer.len())..])
            })?;
    is_standing.then(|| format!("User wants: {}", rest.trim()))
}
