//! How a new fact stands to those that are held. Pure.

use std::collections::HashSet;

use hermes_store::memory::Standing;
use jiff::Timestamp;

use super::Found;

/// What is said of a subject, and whether it has only one value at a time.
pub const PREDICATES: &[(&str, bool)] = &[
    ("account", true),
    ("age", true),
    ("allergic_to", false),
    ("avoids", false),
    ("birthday", true),
    ("called", true),
    ("deadline", true),
    ("dislikes", false),
    ("email", true),
    ("favourite", true),
    ("from", true),
    ("habit", false),
    ("is", false),
    ("job", true),
    ("learns", false),
    ("likes", false),
    ("lives_in", true),
    ("name", true),
    ("native_language", true),
    ("number", true),
    ("phone", true),
    ("prefers", false),
    ("pronouns", true),
    ("reached_at", false),
    ("relation", true),
    ("speaks", false),
    ("studies", true),
    ("timezone", true),
    ("uses", false),
    ("version_of", true),
    ("wants", false),
    ("website", true),
    ("works_at", true),
];

/// Whether a subject has only one value of a predicate at a time.
pub fn is_single_valued(predicate: &str) -> bool {
    PREDICATES.iter().any(|(name, single)| *name == predicate && *single)
}

/// A fact that is held.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// Its number.
    pub id: i64,
    /// The sentence.
    pub statement: &'a str,
    /// Whom or what it is about.
    pub subject: Option<&'a str>,
    /// What it says of the subject.
    pub predicate: Option<&'a str>,
    /// The value.
    pub object: Option<&'a str>,
    /// When it was said.
    pub said_at: Timestamp,
}

/// How a fact that was said at a time stands to the held ones; certain answers win over doubtful ones.
pub fn standing(new: &Found, said_at: Timestamp, held: &[Held<'_>]) -> Standing {
    let mut doubt = None;
    let words = Words::of(&new.statement);
    for one in held {
        let is_later = said_at >= one.said_at;
        match compare(new, &words, one, is_later) {
            Verdict::Compatible => {}
            Verdict::Replaces if is_later => return Standing::Supersedes(one.id),
            Verdict::Replaces => return Standing::SupersededBy(one.id),
            Verdict::Doubtful => doubt = doubt.or(Some(Standing::MayContradict(one.id))),
        }
    }
    doubt.unwrap_or(Standing::New)
}

/// Whether a fact may change how a held one stands, whichever was said later.
pub fn touches(new: &Found, held: &Held<'_>) -> bool {
    let words = Words::of(&new.statement);
    [true, false]
        .into_iter()
        .any(|is_later| compare(new, &words, held, is_later) != Verdict::Compatible)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Compatible,
    Replaces,
    Doubtful,
}

fn compare(new: &Found, words: &Words, held: &Held<'_>, is_later: bool) -> Verdict {
    if new.statement.eq_ignore_ascii_case(held.statement) {
        return Verdict::Compatible;
    }
    let other = Words::of(held.statement);
    if denies(words, &other) {
        return Verdict::Doubtful;
    }
    if let Some(verdict) = by_value(new, held) {
        return verdict;
    }
    if let (Some(day), Some(before)) = (words.day(), other.day()) {
        // The names of what is due, not the words around them.
        let shared = words.content.intersection(&other.content).count();
        let least = words.content.len().min(other.content.len()).max(1);
        let replaces = day != before && shared as f64 / least as f64 >= 0.5;
        return if replaces { Verdict::Replaces } else { Verdict::Compatible };
    }
    let (newer, older) = if is_later { (words, &other) } else { (&other, words) };
    by_words(newer, older)
}

/// Same subject, same predicate with one value: another value replaces, the same one does not.
fn by_value(new: &Found, held: &Held<'_>) -> Option<Verdict> {
    let predicate = new.predicate.as_deref().filter(|name| is_single_valued(name))?;
    let same = |left: &Option<String>, right: Option<&str>| {
        left.as_deref().zip(right).is_some_and(|(left, right)| folded(left) == folded(right))
    };
    if held.predicate != Some(predicate) || !same(&new.subject, held.subject) {
        return None;
    }
    let (new_object, old_object) = (folded(new.object.as_deref()?), folded(held.object?));
    let says_the_same = new_object == old_object
        || new_object.contains(&old_object)
        || old_object.contains(&new_object);
    Some(if says_the_same { Verdict::Compatible } else { Verdict::Replaces })
}

fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain = lower.strip_prefix("the ").unwrap_or(&lower);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of two sentences: what they share, and whether the newer one says that something changed.
fn by_words(newer: &Words, older: &Words) -> Verdict {
    let shared: Vec<&str> =
        newer.content.intersection(&older.content).map(String::as_str).collect();
    let least = newer.content.len().min(older.content.len()).max(1);
    let share = shared.len() as f64 / least as f64;
    let is_opposed = are_opposed(newer, older, !shared.is_empty());
    if is_opposed {
        return Verdict::Doubtful;
    }
    if shared.is_empty() || newer.has(&["also", "as well", "in addition", "another"]) {
        return Verdict::Compatible;
    }
    if has_another_version(newer, older) || has_another_number(newer, older, shared.len(), share) {
        return Verdict::Replaces;
    }
    if newer.has(STRONG) {
        return if shared.len() >= 2 { Verdict::Replaces } else { Verdict::Doubtful };
    }
    let allows = older.has(&["never", "no", "not", "without", "hate", "hates"])
        && newer.has(&["fine", "okay", "ok", "allowed", "welcome", "love", "loves"])
        && !newer.has(&["not", "never", "no"]);
    let is_weakly_changed = newer.has(WEAK) && shared.len() >= 2 && share >= 0.6;
    if allows || is_weakly_changed { Verdict::Doubtful } else { Verdict::Compatible }
}

/// Words that say that what held no longer does.
#[rustfmt::skip]
const STRONG: &[&str] = &[
    "no longer", "any more", "anymore", "moved", "migrated", "switched", "switching", "moving", "changed", "renamed", "replaced", "replacing", "rewritten",
    "pushed", "postponed", "slipped", "extended", "after all", "instead", "no more", "dropped", "dropping", "from now on", "from here on", "from this week", "left",
    "quit", "goodbye", "converted", "these days", "old one", "is out", "used to", "on leave", "for good", "cancelled", "canceled", "delayed", "brought forward",
    "broke up", "passed away", "died", "sold", "stopped", "gave up", "given up", "gone", "retired", "ditched", "upgraded", "downgraded", "correction", "not true",
    "handed over", "took over", "taken over", "new number", "new address", "new email", "scrapped", "reversed", "swapped", "ported", "divorced",
    "gezogen", "gewechselt", "nicht mehr", "ne plus", "déménagé", "ya no", "mudei", "cambiado", "non più", "stattdessen", "umgezogen", "rebranded", "rescheduled", "bumped",
    "resigned", "deprecated", "forget what", "scratch that", "changed mind", "rather", "over to", "grown out", "outgrown",
];

/// Words that may say so.
const WEAK: &[&str] = &[
    "now",
    "new",
    "since",
    "final",
    "started",
    "again",
    "finally",
    "currently",
    "became",
    "turned",
    "actually",
    "jetzt",
    "maintenant",
    "ahora",
    "agora",
    "adesso",
];

/// Pairs of words of which only one can hold of the same thing; the last says whether they need no
/// other word in common.
#[rustfmt::skip]
const OPPOSITES: &[(&[&str], &[&str], bool)] = &[
    (&["vegetarian", "vegan"], &["meat", "steak", "chicken", "fish"], true),
    (&["single", "divorced"], &["husband", "wife", "married", "spouse", "fiancé", "fiancée", "engaged"], true),
    (&["dark"], &["light"], false),
    (&["short", "brief", "concise"], &["long", "detailed", "longer"], false),
    (&["british"], &["american"], false),
    (&["tab", "tabs"], &["space", "spaces"], false),
    (&["formal"], &["informal", "casual"], false),
    (&["black"], &["milk", "oat", "cream"], false),
    (&["morning", "mornings"], &["evening", "evenings", "afternoon", "afternoons"], false),
    (&["metric"], &["imperial"], false),
    (&["remote", "remotely"], &["office", "onsite"], false),
    (&["celsius"], &["fahrenheit"], false),
    (&["always"], &["never"], false),
    (&["keep"], &["split", "drop", "remove", "replace"], false),
    (&["smoke"], &["quit"], true),
    (&["weekly"], &["monthly"], false),
];

fn are_opposed(newer: &Words, older: &Words, share_something: bool) -> bool {
    let says = |words: &Words, list: &[&str]| words.has(list);
    OPPOSITES.iter().any(|(one, other, needs_nothing)| {
        let crossed = (says(older, one) && says(newer, other) && !says(newer, one))
            || (says(older, other) && says(newer, one) && !says(newer, other));
        let means_change =
            newer.has(STRONG) || newer.has(WEAK) || newer.has(&["everywhere", "all", "always"]);
        crossed && (*needs_nothing || (share_something && means_change))
    })
}

/// `never lived in Rome` and `lives in Rome now`: the same words, and one of the two says no.
fn denies(one: &Words, other: &Words) -> bool {
    const NO: &[&str] = &["never", "not"];
    let plain = |words: &Words| -> HashSet<String> {
        let said = words.all.iter().filter(|word| {
            !NO.contains(&word.as_str()) && !WEAK.contains(&word.as_str()) && *word != "ever"
        });
        said.map(|word| {
            let past = word.strip_suffix('d').filter(|rest| rest.ends_with('e'));
            stem(past.unwrap_or(word))
        })
        .collect()
    };
    one.has(NO) != other.has(NO) && plain(one) == plain(other)
}

/// `Node 18` and `node 22`.
fn has_another_version(newer: &Words, older: &Words) -> bool {
    let versions = |words: &Words| -> Vec<(String, String)> {
        words
            .all
            .windows(2)
            .filter(|pair| is_number(&pair[1]) && !is_number(&pair[0]) && pair[0].len() > 2)
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect()
    };
    let old = versions(older);
    versions(newer).iter().any(|(name, number)| {
        old.iter().any(|(other, before)| other == name && before != number)
            && newer.content.contains(name)
    })
}

fn has_another_number(newer: &Words, older: &Words, shared: usize, share: f64) -> bool {
    const MOST: usize = 4;
    let numbers = |words: &Words| -> Vec<String> {
        words
            .all
            .iter()
            .filter(|word| is_number(word) && !is_day(word))
            .take(MOST)
            .cloned()
            .collect()
    };
    let (new, old) = (numbers(newer), numbers(older));
    let differ = !new.is_empty() && !old.is_empty() && new.iter().all(|one| !old.contains(one));
    differ && shared >= 2 && share >= 0.5
}

fn is_day(word: &str) -> bool {
    word.len() == 10 && word.parse::<jiff::civil::Date>().is_ok()
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// A sentence as words.
struct Words {
    all: Vec<String>,
    content: HashSet<String>,
    joined: String,
}

impl Words {
    fn of(text: &str) -> Words {
        let lower = text.to_lowercase().replace('’', "'");
        let is_cut = |c: char| {
            !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '\'' | ':' | ','))
        };
        let trim = |c: char| matches!(c, '.' | ',' | ':' | '\'' | '-');
        let all: Vec<String> = lower
            .split(is_cut)
            .map(|word| word.trim_matches(trim).trim_end_matches("'s").to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        let content = all
            .iter()
            .filter(|word| word.chars().count() > 2 && !is_number(word) && !is_empty_word(word))
            .map(|word| stem(word))
            .collect();
        let joined = format!(" {} ", all.join(" "));
        Words { all, content, joined }
    }

    /// The day that a deadline names.
    fn day(&self) -> Option<&str> {
        self.all.iter().map(String::as_str).find(|word| is_day(word))
    }

    fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.joined.contains(&format!(" {phrase} ")))
    }
}

fn stem(word: &str) -> String {
    let short = word.strip_suffix("ies").map(|start| format!("{start}y"));
    short.unwrap_or_else(|| {
        let plain = word.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
        plain.unwrap_or(word).to_owned()
    })
}

fn is_empty_word(word: &str) -> bool {
    #[rustfmt::skip]
    const EMPTY: &[&str] = &[
        "about", "after", "again", "all", "also", "always", "and", "any", "are", "ask", "asks", "because", "been", "but", "can", "choose", "chose", "day", "days", "deadline", "decide", "decided", "decision",
        "did", "does", "doing", "due", "every", "for", "from", "get", "gets", "give", "goes", "going", "good", "got", "had", "has", "have", "her", "here", "him", "his", "how", "into", "is", "its", "just", "keep", "last", "like", "likes",
        "live", "lived", "lives", "made", "make", "may", "more", "most", "much", "must", "need", "needs", "never", "new", "next", "not", "now", "off", "old", "one", "only", "our", "out", "over", "pick", "picked", "please", "prefer", "prefers", "put", "really", "run", "runs",
        "she", "should", "since", "some", "start", "started", "still", "such", "take", "takes", "team", "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing", "things", "this", "those", "time", "today", "too", "two", "until", "use", "used", "user", "uses", "using",
        "very", "want", "wants", "was", "way", "week", "were", "what", "when", "where", "which", "who", "will", "with", "work", "works", "would", "year", "yes", "you", "your", "yesterday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
        "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "called", "name", "okay", "moved", "switched", "und", "der", "die", "das", "ich", "nicht", "que", "les", "des", "para", "con", "com", "una", "not", "till",
    ];
    EMPTY.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Spoken, rules};
    use jiff::tz::TimeZone;

    fn verdict(old: &str, new: &str) -> Standing {
        let at: Timestamp = "2026-03-04T09:00:00Z".parse().unwrap();
        let draw = |text: &str| {
            let spoken = Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC };
            let mut found = rules::draw(&spoken);
            if found.is_empty() {
                found = rules::statements(&spoken);
            }
            found.into_iter().next().unwrap()
        };
        let (old, new) = (draw(old), draw(new));
        let held = Held {
            id: 7,
            statement: &old.statement,
            subject: old.subject.as_deref(),
            predicate: old.predicate.as_deref(),
            object: old.object.as_deref(),
            said_at: at,
        };
        standing(&new, at, &[held])
    }

    #[test]
    fn another_value_of_what_has_one_replaces_and_others_stand_beside() {
        assert_eq!(verdict("I live in Lyon.", "I live in Porto."), Standing::Supersedes(7));
        assert_eq!(
            verdict("I live in Lyon.", "We moved to Porto last month."),
            Standing::Supersedes(7)
        );
        assert_eq!(verdict("I live in Lyon.", "I live in Lyon now."), Standing::New);
        assert_eq!(verdict("I like tea.", "I like coffee."), Standing::New);
        assert_eq!(
            verdict("Atlas uses Postgres.", "Atlas uses Redis for the queue."),
            Standing::New
        );
    }

    #[test]
    fn what_was_said_earlier_gives_way_to_what_is_held() {
        let earlier: Timestamp = "2026-01-01T09:00:00Z".parse().unwrap();
        let later: Timestamp = "2026-02-01T09:00:00Z".parse().unwrap();
        let spoken = Spoken {
            role: "user",
            text: "I live in Lyon.",
            before: &[],
            at: earlier,
            zone: &TimeZone::UTC,
        };
        let found = rules::draw(&spoken).remove(0);
        let held = Held {
            id: 3,
            statement: "User lives in Porto",
            subject: Some("user"),
            predicate: Some("lives_in"),
            object: Some("Porto"),
            said_at: later,
        };
        assert_eq!(standing(&found, earlier, &[held]), Standing::SupersededBy(3));
    }

    #[test]
    fn a_denial_of_the_same_words_is_noticed_and_of_others_is_not() {
        for (old, new) in [
            ("I live in Rome.", "I never lived in Rome."),
            ("I never lived in Rome.", "I live in Rome now."),
        ] {
            assert_eq!(verdict(old, new), Standing::MayContradict(7), "{old} {new}");
        }
        assert_eq!(verdict("I like Rome.", "I never lived in Rome."), Standing::New);
    }

    #[test]
    fn words_of_change_against_the_same_thing_are_noticed() {
        assert_ne!(verdict("Atlas runs on Node 18.", "Atlas is on Node 22 now."), Standing::New);
        assert_ne!(
            verdict("I always want bullet points.", "No more bullet points please."),
            Standing::New
        );
    }
}
