//! Which entries leave a full file: the least used and oldest first, never pinned or hand-written ones. Pure.

use hermes_home::memory_file::edit::{self, NewEntry};
use hermes_home::memory_file::{Change, Document, Edited, Entry};

/// How often an entry was of use, as far as it may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It stays.
    Stays,
    /// It may leave; so often was its fact handed out.
    Uses(u32),
}

/// The entries to take out so that the new one fits; none if it cannot be made to fit.
pub(super) fn plan(
    document: &Document,
    new: &NewEntry<'_>,
    limit: Option<usize>,
    of: &dyn Fn(&Entry) -> Use,
) -> hermes_home::Result<Option<Vec<Entry>>> {
    let mut leaving: Vec<(u32, &Entry)> = document
        .entries()
        .iter()
        .filter_map(|entry| match of(entry) {
            Use::Stays => None,
            Use::Uses(uses) => Some((uses, entry)),
        })
        .collect();
    leaving.sort_by_key(|(uses, entry)| (*uses, entry.written, entry.number));
    let leaving: Vec<Entry> = leaving.into_iter().map(|(_, entry)| entry.clone()).collect();
    for count in 0..=leaving.len() {
        let fits = |edited: &Edited| limit.is_none_or(|limit| edited.document.chars() <= limit);
        if fits(&edited(document, new, &leaving[..count])?) {
            return Ok(Some(leaving[..count].to_vec()));
        }
    }
    Ok(None)
}

/// The document without the planned entries and with the new one.
pub(super) fn edited(
    document: &Document,
    new: &NewEntry<'_>,
    leaving: &[Entry],
) -> hermes_home::Result<Edited> {
    if leaving.is_empty() {
        return edit::insert(document, new);
    }
    let pruned = edit::prune(document, leaving)?;
    let inserted = edit::insert(&pruned.document, new)?;
    Ok(Edited { change: Change::Pruned { entries: leaving.len() }, ..inserted })
}

#[cfg(test)]
mod tests {
    use hermes_home::init::Owner;
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    fn document(entries: usize) -> Document {
        let lines: String = (0..entries)
            .map(|n| format!("- entry {n} <!-- written 2026-01-{:02} -->\n", 28 - n % 28))
            .collect();
        Document::parse(&format!("# Memory\n\n{lines}"), Owner::Ours)
    }

    fn new(text: &str) -> NewEntry<'_> {
        NewEntry { text, section: None, written: Some(date(2026, 11, 16)) }
    }

    #[test]
    fn the_least_used_leaves_first_then_the_oldest() {
        let file = document(4);
        let limit = Some(file.chars() + 10);
        let of = |entry: &Entry| match entry.number {
            4 => Use::Stays,
            1 => Use::Uses(0),
            _ => Use::Uses(1),
        };
        let left =
            plan(&file, &new("something that needs some room to stand"), limit, &of).unwrap();
        let left: Vec<usize> = left.unwrap().iter().map(|entry| entry.number).collect();
        assert_eq!(left[..2], [1, 3]);
        assert!(!left.contains(&4));
    }

    #[test]
    fn nothing_leaves_when_it_fits_and_nothing_helps_a_text_that_is_too_long() {
        let file = document(3);
        let of = |_: &Entry| Use::Uses(0);
        assert_eq!(plan(&file, &new("short"), None, &of).unwrap(), Some(Vec::new()));
        let long = "x".repeat(5000);
        assert_eq!(plan(&file, &new(&long), Some(500), &of).unwrap(), None);
    }

    proptest! {
        #[test]
        fn what_is_planned_fits_and_no_pinned_entry_leaves(
            entries in 0usize..12, limit in 60usize..900, stays in prop::collection::vec(any::<bool>(), 12),
        ) {
            let file = document(entries);
            let of = |entry: &Entry| if stays[entry.number - 1] { Use::Stays } else { Use::Uses(0) };
            let new = new("a new entry with some words");
            if let Some(left) = plan(&file, &new, Some(limit), &of).unwrap() {
                let after = edited(&file, &new, &left).unwrap().document;
                prop_assert!(after.chars() <= limit);
                prop_assert_eq!(after.entries().len(), entries - left.len() + 1);
                prop_assert!(left.iter().all(|entry| !stays[entry.number - 1]));
            }
        }
    }
}
