//! Entries of memory files whose time is over. Pure.

use hermes_home::memory_file::Entry;
use hermes_store::memory::{Conflict, Fact};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};

use crate::when::month_of;

/// What is known when entries are looked at.
#[derive(Debug, Clone)]
pub(crate) struct Now<'a> {
    pub(crate) at: Timestamp,
    pub(crate) today: Date,
    /// After how many days without use an entry is old.
    pub(crate) stale_after_days: i32,
    pub(crate) conflicts: &'a [Conflict],
}

/// Why an entry should go, as far as it shows by itself.
pub(crate) fn outdated(entry: &Entry, fact: Option<&Fact>, now: &Now<'_>) -> Option<String> {
    if fact.is_some_and(|fact| fact.pinned) {
        return None;
    }
    if let Some(fact) = fact {
        if let Some(by) = fact.superseded_by {
            return Some(format!("fact:{by:03} replaced it"));
        }
        if fact.retired_at.is_some() {
            return Some(format!("fact:{:03}, which said the same, no longer holds", fact.id));
        }
        if fact.valid_to.is_some_and(|end| end < now.at) {
            return Some("its time has passed".to_owned());
        }
        let newer = now.conflicts.iter().find(|one| one.other == fact.id);
        if let Some(newer) = newer {
            return Some(format!("fact:{:03}, which is newer, may contradict it", newer.fact));
        }
    }
    let due = deadline(&entry.text).filter(|due| *due < now.today)?;
    Some(format!("its date, {due}, has passed"))
}

/// Whether an entry is so old, and its fact so little used, that somebody should look at it.
pub(crate) fn is_old(entry: &Entry, fact: Option<&Fact>, now: &Now<'_>) -> bool {
    let before = now.today.checked_sub(now.stale_after_days.days());
    let is_unused = fact.is_none_or(|fact| fact.uses == 0 && !fact.pinned);
    match (entry.written, before) {
        (Some(written), Ok(before)) => is_unused && written < before,
        _ => false,
    }
}

/// The date until which a text says that it holds: `until 2026-05-01`, `due 3 May 2026`.
fn deadline(text: &str) -> Option<Date> {
    const SIGNS: [&str; 12] = [
        "due", "deadline", "until", "till", "by", "before", "ends", "expires", "valid", "through",
        "bis", "hasta",
    ];
    const NEAR: usize = 4;
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let is_sign = |word: &String| SIGNS.contains(&word.as_str());
    (0..words.len()).find_map(|at| {
        let date = date_at(&words[at..])?;
        words[at.saturating_sub(NEAR)..at].iter().any(is_sign).then_some(date)
    })
}

/// The date that the words begin with.
fn date_at(words: &[String]) -> Option<Date> {
    let first = words.first()?;
    if first.len() == 10 && first.contains('-') {
        return first.parse().ok();
    }
    let day_of =
        |word: &String| word.trim_end_matches(|c: char| c.is_alphabetic()).parse::<i8>().ok();
    let (second, year) = (words.get(1)?, words.get(2)?.parse::<i16>().ok()?);
    let (day, month) = match month_of(first) {
        Some(month) => (day_of(second)?, month),
        None => (day_of(first)?, month_of(second)?),
    };
    Date::new(year, month, day).ok()
}

#[cfg(test)]
mod tests {
    use hermes_home::init::Owner;
    use hermes_home::memory_file::Document;
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_deadline_is_a_date_after_a_word_that_says_so() {
        for (text, found) in [
            ("The contract is valid until 2026-05-01.", Some(date(2026, 5, 1))),
            ("Tax return due 3 May 2026", Some(date(2026, 5, 3))),
            ("Finish the draft by June 3rd, 2026", Some(date(2026, 6, 3))),
            ("Born on 3 May 1980", None),
            ("Moved to Lisbon 2026-05-01", None),
            ("Be there by noon", None),
        ] {
            assert_eq!(deadline(text), found, "{text}");
        }
    }

    #[test]
    fn only_dated_entries_grow_old() {
        let text =
            "- new <!-- written 2026-10-01 -->\n- old <!-- written 2026-01-01 -->\n- undated\n";
        let file = Document::parse(text, Owner::Ours);
        let now = Now {
            at: "2026-11-16T00:00:00Z".parse().unwrap(),
            today: date(2026, 11, 16),
            stale_after_days: 180,
            conflicts: &[],
        };
        let old: Vec<bool> = file.entries().iter().map(|entry| is_old(entry, None, &now)).collect();
        assert_eq!(old, [false, true, false]);
        assert!(file.entries().iter().all(|entry| outdated(entry, None, &now).is_none()));
    }
}
