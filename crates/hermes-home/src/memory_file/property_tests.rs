//! What holds for every memory file and every edit.

use jiff::civil::{Date, date};
use proptest::prelude::*;

use super::edit;
use super::{Document, Entry, Format, Selector};
use crate::init::Owner;

const TODAY: Date = date(2026, 11, 15);

/// Texts made of the pieces that mean something in a memory file.
fn file_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "# Memory",
        "## Projects",
        "- ",
        "* ",
        "1. ",
        "  ",
        "\t",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "§",
        "\n§\n",
        "Name: Alice",
        "tea",
        "ü",
        "日本",
        "<!--",
        "-->",
        " <!-- written 2026-01-02 -->",
        "```",
        "~~~",
        "---",
        "===",
        "\u{feff}",
        "`",
        ":",
        " x",
    ]);
    let made = prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat());
    prop_oneof![4 => made, 1 => any::<String>()]
}

fn document() -> impl Strategy<Value = Document> {
    let owner = prop_oneof![Just(Owner::Ours), Just(Owner::HermesAgent)];
    (file_text(), owner).prop_map(|(text, owner)| Document::parse(&text, owner))
}

/// Entries as they are stored by Hermes Agent: trimmed, not empty, without a line `§`.
fn stored_entries() -> impl Strategy<Value = Vec<String>> {
    let entry = "[a-zü§ \n-]{1,30}".prop_map(|text| text.trim().to_owned());
    let is_storable = |text: &String| !text.is_empty() && text.lines().all(|line| line != "§");
    prop::collection::vec(entry.prop_filter("storable", is_storable), 1..6)
}

fn texts(document: &Document) -> Vec<&str> {
    document.entries().iter().map(|entry| entry.text.as_str()).collect()
}

fn number(entry: &Entry) -> Selector {
    Selector::Number(entry.number)
}

proptest! {
    #[test]
    fn ranges_are_ordered_disjoint_and_hold_their_entries(document in document()) {
        let mut end = 0;
        for (index, entry) in document.entries().iter().enumerate() {
            prop_assert_eq!(entry.number, index + 1);
            prop_assert!(entry.range.start >= end && entry.range.end <= document.text().len());
            let lines = &document.text()[entry.range.clone()];
            for word in entry.text.split_whitespace() {
                prop_assert!(lines.contains(word));
            }
            prop_assert!(!entry.text.is_empty());
            if document.format() == Format::Markdown {
                let begin = &document.text()[..entry.range.start];
                let is_start = begin.len() == super::parse::text_start(begin);
                prop_assert!(is_start || begin.ends_with('\n'));
                prop_assert!(lines.ends_with('\n') || entry.range.end == document.text().len());
            }
            end = entry.range.end;
        }
    }

    #[test]
    fn an_added_entry_comes_last_and_what_was_there_stays(document in document(), new in file_text()) {
        let Ok(edited) = edit::add(&document, &new, None, TODAY) else { return Ok(()) };
        if edited.change == edit::Change::AlreadyThere {
            prop_assert_eq!(&edited.document, &document);
            return Ok(());
        }
        let kept = match document.format() {
            Format::Markdown => document.text(),
            Format::Sections => document.text().trim_end(),
        };
        prop_assert!(edited.document.text().starts_with(kept));
        let found = texts(&edited.document);
        let (last, before) = found.split_last().unwrap();
        prop_assert_eq!(before, texts(&document));
        prop_assert_eq!(*last, &edited.entry.unwrap().text);
    }

    #[test]
    fn many_entries_at_once_are_the_same_as_one_by_one(
        document in document(),
        new in prop::collection::vec(file_text(), 0..5),
    ) {
        let new: Vec<edit::NewEntry<'_>> = new
            .iter()
            .map(|text| edit::NewEntry { text, section: None, written: Some(TODAY) })
            .collect();
        let one_by_one = new.iter().try_fold(document.clone(), |document, new| {
            edit::insert(&document, new).map(|edited| edited.document)
        });
        let Ok(one_by_one) = one_by_one else { return Ok(()) };
        prop_assert_eq!(edit::insert_all(&document, &new).unwrap().document, one_by_one);
    }

    /// But for the line end that a Markdown file lacked, and the space at the end of a § file.
    #[test]
    fn removing_what_was_added_gives_the_file_back(document in document(), new in file_text()) {
        let Ok(edited) = edit::add(&document, &new, None, TODAY) else { return Ok(()) };
        if edited.change == edit::Change::AlreadyThere {
            return Ok(());
        }
        let after = edit::remove(&edited.document, &number(&edited.entry.unwrap())).unwrap().document;
        let (found, text) = (after.text(), document.text());
        let is_whole_line = text.is_empty() || text == "\u{feff}" || text.ends_with('\n');
        match document.format() {
            Format::Markdown if is_whole_line => prop_assert_eq!(found, text),
            Format::Markdown => prop_assert_eq!(found, format!("{text}{}", document.newline())),
            Format::Sections if document.entries().is_empty() => prop_assert!(texts(&after).is_empty()),
            Format::Sections => {
                let last = document.entries().last().unwrap().range.end;
                // A line `§` with space behind it is an entry; without the space it would be a separator.
                let is_like_separator = text[..last].lines().last() == Some("§");
                prop_assert!(found == &text[..last] || is_like_separator);
                prop_assert_eq!(texts(&after), texts(&document));
            }
        }
    }

    #[test]
    fn an_entry_added_to_a_section_moves_nothing_else(document in document(), new in "[a-z\n -]{1,20}") {
        let Ok(edited) = edit::add(&document, &new, Some("projects"), TODAY) else { return Ok(()) };
        let Some(entry) = edited.entry else { return Ok(()) };
        if edited.change == edit::Change::Added && document.format() == Format::Markdown {
            let section = entry.section.last().unwrap();
            prop_assert_eq!(section.to_lowercase(), "projects");
            let text = edited.document.text();
            let (before, after) = (&text[..entry.range.start], &text[entry.range.end..]);
            prop_assert!(document.text().ends_with(after));
            prop_assert!(before.starts_with(&document.text()[..document.text().len() - after.len()]));
        }
    }

    #[test]
    fn a_replacement_touches_only_its_range(
        document in document(),
        new in file_text(),
        which in any::<prop::sample::Index>(),
    ) {
        if document.entries().is_empty() {
            return Ok(());
        }
        let old = which.get(document.entries());
        let Ok(edited) = edit::replace(&document, &number(old), &new, TODAY) else { return Ok(()) };
        let (text, after) = (document.text(), edited.document.text());
        prop_assert!(after.starts_with(&text[..old.range.start]));
        prop_assert!(after.ends_with(&text[old.range.end..]));
        let mut expected = texts(&document);
        let replaced = edited.entry.unwrap();
        expected[old.number - 1] = &replaced.text;
        prop_assert_eq!(texts(&edited.document), expected);
    }

    #[test]
    fn a_removal_touches_only_its_range(document in document(), which in any::<prop::sample::Index>()) {
        if document.entries().is_empty() {
            return Ok(());
        }
        let old = which.get(document.entries());
        let Ok(edited) = edit::remove(&document, &number(old)) else { return Ok(()) };
        let mut expected = texts(&document);
        expected.remove(old.number - 1);
        prop_assert_eq!(texts(&edited.document), expected);
        if document.format() == Format::Markdown {
            let text = document.text();
            let cut = format!("{}{}", &text[..old.range.start], &text[old.range.end..]);
            let gap = format!("{}{}{}", &text[..old.range.start], document.newline(), &text[old.range.end..]);
            prop_assert!([cut, gap].contains(&edited.document.text().to_owned()));
        }
    }

    #[test]
    fn joined_entries_are_split_again_as_hermes_agent_does(entries in stored_entries()) {
        let joined = entries.join("\n§\n");
        let document = Document::parse_as(&joined, Format::Sections);
        prop_assert_eq!(texts(&document), entries.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(document.chars(), joined.chars().count());
        prop_assert!(!super::sections::is_drifted(&document, None));
    }

    #[test]
    fn edits_of_section_files_equal_edits_of_the_list(
        entries in stored_entries(),
        new in "[a-z]{1,8}(\n[a-z]{1,8})?",
        which in any::<prop::sample::Index>(),
    ) {
        let document = Document::parse_as(&entries.join("\n§\n"), Format::Sections);
        let index = which.index(entries.len());
        let selector = Selector::Number(index + 1);
        let check = |found: crate::Result<edit::Edited>, list: Vec<String>| {
            let edited = found.unwrap();
            prop_assert_eq!(edited.document.text(), list.join("\n§\n"));
            Ok(())
        };
        let mut list = entries.clone();
        if !list.contains(&new) {
            list.push(new.clone());
        }
        check(edit::add(&document, &new, None, TODAY), list)?;
        let mut list = entries.clone();
        list[index].clone_from(&new);
        check(edit::replace(&document, &selector, &new, TODAY), list)?;
        let mut list = entries.clone();
        list.remove(index);
        check(edit::remove(&document, &selector), list)?;
    }

    #[test]
    fn pruning_everything_dated_leaves_the_undated(document in document()) {
        let plan = edit::prune_plan(&document, date(9999, 1, 1));
        let Ok(pruned) = edit::prune(&document, &plan) else { return Ok(()) };
        let undated = document.entries().iter().filter(|entry| entry.written.is_none());
        let expected: Vec<&str> = undated.map(|entry| entry.text.as_str()).collect();
        prop_assert_eq!(texts(&pruned.document), expected);
    }
}
