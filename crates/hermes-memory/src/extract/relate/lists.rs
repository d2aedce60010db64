//! Lists of words that tell how two facts stand to each other.

/// Words that say that what held no longer does.
#[rustfmt::skip]
pub(super) const CHANGES: &[&str] = &[
    "no longer", "any more", "anymore", "moved", "migrated", "switched", "switching", "moving", "changed", "renamed", "replaced", "replacing", "rewritten",
    "pushed", "postponed", "slipped", "extended", "after all", "instead", "no more", "dropped", "dropping", "from now on", "from here on", "from this week", "left",
    "quit", "goodbye", "converted", "these days", "old one", "is out", "used to", "on leave", "for good", "cancelled", "canceled", "delayed", "brought forward",
    "broke up", "passed away", "died", "sold", "stopped", "gave up", "given up", "gone", "retired", "ditched", "upgraded", "downgraded", "correction", "not true",
    "handed over", "took over", "taken over", "new number", "new address", "new email", "scrapped", "reversed", "swapped", "ported", "divorced",
    "gezogen", "gewechselt", "nicht mehr", "ne plus", "déménagé", "ya no", "mudei", "cambiado", "non più", "stattdessen", "umgezogen", "rebranded", "rescheduled", "bumped",
    "resigned", "deprecated", "forget what", "scratch that", "changed mind", "rather", "over to", "grown out", "outgrown",
];

/// Words that may say so.
#[rustfmt::skip]
pub(super) const MAY_CHANGE: &[&str] = &[
    "now", "new", "since", "final", "started", "again", "finally", "currently", "became", "turned", "actually", "jetzt", "maintenant", "ahora", "agora", "adesso",
];

/// Words that say that something stands beside what was said.
#[rustfmt::skip]
pub(super) const ALSO: &[&str] = &[
    "also", "as well", "in addition", "another", "too", "auch", "aussi", "também", "anche", "both", "other",
];

/// Words that say that it was said before.
#[rustfmt::skip]
pub(super) const KNOWN: &[&str] = &[
    "as i said", "you know", "as you know", "remember", "as always", "already", "still", "again", "as ever", "like i said", "told you", "as before", "as the user said",
];

/// Words that deny a whole statement.
pub(super) const NO: &[&str] = &["never", "not"];

/// Words that deny a part of one.
#[rustfmt::skip]
pub(super) const OTHER_NO: &[&str] = &[
    "no", "without", "none", "nothing", "cannot", "nicht", "kein", "keine", "nie", "ne", "pas", "jamais", "não", "nao", "nunca", "non",
];

/// Words after which stands what the user has left or no longer uses.
#[rustfmt::skip]
pub(super) const ENDINGS: &[&str] = &[
    "quit", "left", "resigned", "no longer", "stopped", "gave up", "given up", "ditched", "dropped", "does not", "do not",
];

/// Pairs of words of which only one can hold of the same thing.
#[rustfmt::skip]
pub(super) const OPPOSITES: &[(&[&str], &[&str])] = &[
    (&["vegetarian", "vegan"], &["meat", "steak", "chicken", "fish"]),
    (&["single", "divorced"], &["husband", "wife", "married", "spouse", "fiancé", "fiancée", "engaged"]),
    (&["dark"], &["light"]),
    (&["short", "brief", "concise"], &["long", "detailed", "longer"]),
    (&["british"], &["american"]),
    (&["tab", "tabs"], &["space", "spaces"]),
    (&["formal"], &["informal", "casual"]),
    (&["black"], &["milk", "oat", "cream"]),
    (&["morning", "mornings"], &["evening", "evenings", "afternoon", "afternoons"]),
    (&["metric"], &["imperial"]),
    (&["remote", "remotely"], &["office", "onsite"]),
    (&["celsius"], &["fahrenheit"]),
    (&["always"], &["never"]),
    (&["keep"], &["split", "drop", "remove", "replace"]),
    (&["smoke"], &["quit"]),
    (&["weekly"], &["monthly"]),
];

/// Whether a word says too little to tell what a fact is about.
pub(super) fn is_empty_word(word: &str) -> bool {
    #[rustfmt::skip]
    const EMPTY: &[&str] = &[
        "about", "after", "again", "all", "also", "always", "and", "any", "are", "ask", "asks", "because", "been", "but", "can", "choose", "chose", "day", "days", "deadline", "decide", "decided", "decision",
        "did", "does", "doing", "due", "every", "for", "from", "get", "gets", "give", "goes", "going", "good", "got", "had", "has", "have", "her", "here", "him", "his", "how", "into", "is", "its", "just", "keep", "last", "like", "likes",
        "live", "lived", "lives", "made", "make", "may", "more", "most", "much", "must", "need", "needs", "never", "new", "next", "not", "now", "off", "old", "one", "only", "our", "out", "over", "pick", "picked", "please", "prefer", "prefers", "put", "really", "run", "runs",
        "she", "should", "since", "some", "start", "started", "still", "such", "take", "takes", "team", "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing", "things", "this", "those", "time", "today", "too", "two", "until", "use", "used", "user", "uses", "using",
        "very", "want", "wants", "was", "way", "week", "were", "what", "when", "where", "which", "who", "will", "with", "work", "works", "would", "year", "yes", "you", "your", "yesterday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
        "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "called", "name", "okay", "moved", "switched", "und", "der", "die", "das", "ich", "nicht", "que", "les", "des", "para", "con", "com", "una", "not", "till",
        "assistant", "everything", "anything", "something", "nothing", "went", "could", "let", "note", "number", "version", "other", "another", "each", "both", "while", "back", "done", "month", "months", "weeks", "years", "hour", "hours", "morning", "tonight", "first", "second", "people", "person", "answer", "answers", "own", "same", "sure", "come", "comes", "came", "keeps", "kept", "gave", "set", "though", "either", "without", "longer", "instead", "already", "stay", "stays", "team's", "ones", "lot", "part", "main", "final", "finally", "rule", "reminder", "remember", "said", "say", "says",
        ];
    EMPTY.contains(&word)
}
