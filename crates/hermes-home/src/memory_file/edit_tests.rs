//! Edits on small files, with every byte of the result.

use jiff::civil::{Date, date};

use super::edit::{self, Change, NewEntry};
use super::{Document, Format, Selector};
use crate::error::Error;
use crate::init::{self, Owner};

const TODAY: Date = date(2026, 11, 15);
const OLD_BLOCK: &str = "```\nold\n```\n<!-- written 2020-01-01 -->\n";

fn ours(text: &str) -> Document {
    Document::parse(text, Owner::Ours)
}

fn section_file(text: &str) -> Document {
    Document::parse_as(text, Format::Sections)
}

fn number(number: usize) -> Selector {
    Selector::Number(number)
}

fn piece(text: &str) -> Selector {
    Selector::Text(text.to_owned())
}

fn added(text: &str, new: &str, section: Option<&str>) -> String {
    edit::add(&ours(text), new, section, TODAY).unwrap().document.text().to_owned()
}

#[test]
fn a_new_entry_is_a_dated_bullet_at_the_end_of_the_file() {
    let line = "- Likes tea. <!-- written 2026-11-15 -->\n";
    assert_eq!(added("", "Likes tea.", None), line);
    assert_eq!(added("# User\n", " Likes tea.\n", None), format!("# User\n{line}"));
    assert_eq!(added("- a", "Likes tea.", None), format!("- a\n{line}"));
    assert_eq!(added("- a\n\n\n", "Likes tea.", None), format!("- a\n\n\n{line}"));
    assert_eq!(added(init::MEMORY, "Likes tea.", None), format!("{}{line}", init::MEMORY));
    let windows = added("\u{feff}- a\r\n", "Likes\ntea.", None);
    assert_eq!(windows, "\u{feff}- a\r\n- Likes\r\n  tea. <!-- written 2026-11-15 -->\r\n");
}

#[test]
fn a_new_entry_goes_to_the_end_of_its_section_or_makes_it() {
    let text = "# Memory\n\n## Projects\n- a\n\n## Preferences\n\n- b";
    assert_eq!(
        added(text, "x", Some("projects")),
        "# Memory\n\n## Projects\n- a\n- x <!-- written 2026-11-15 -->\n\n## Preferences\n\n- b"
    );
    assert_eq!(
        added(text, "x", Some("PREFERENCES")),
        format!("{text}\n- x <!-- written 2026-11-15 -->\n")
    );
    assert_eq!(
        added(text, "x", Some("Memory")),
        text.replacen("# Memory\n", "# Memory\n- x <!-- written 2026-11-15 -->\n", 1)
    );
    assert_eq!(
        added("- a\n", "x", Some("New")),
        "- a\n\n## New\n- x <!-- written 2026-11-15 -->\n"
    );
    assert_eq!(added("", "x", Some("New")), "## New\n- x <!-- written 2026-11-15 -->\n");
}

#[test]
fn several_lines_are_indented_and_a_fence_is_not_broken_by_the_date() {
    assert_eq!(
        added("", "a\n\n- b\n  c", None),
        "- a\n\n  - b\n    c <!-- written 2026-11-15 -->\n"
    );
    assert_eq!(
        added("", "run\n```\nls\n```", None),
        "- run\n  ```\n  ls\n  ```\n  <!-- written 2026-11-15 -->\n"
    );
}

#[test]
fn a_text_that_is_there_changes_nothing_and_says_so() {
    let document = ours("- Likes tea. <!-- written 2020-01-01 -->\n");
    let edited = edit::add(&document, "  Likes tea.\n", None, TODAY).unwrap();
    assert_eq!(edited.change, Change::AlreadyThere);
    assert_eq!(edited.change.message(), "Entry already exists (no duplicate added).");
    assert_eq!(edited.document, document);
    assert_eq!(edited.entry.unwrap().number, 1);
}

#[test]
fn a_replacement_keeps_bullet_and_indentation_and_renews_the_date() {
    let check = |text: &str, selector: Selector, new: &str, expected: &str| {
        let edited = edit::replace(&ours(text), &selector, new, TODAY).unwrap();
        assert_eq!(edited.document.text(), expected);
    };
    check(
        "# M\n  * a <!-- written 2020-01-01 -->\n    more\n\n  * b\n",
        number(1),
        "x\ny",
        "# M\n  * x\n    y <!-- written 2026-11-15 -->\n\n  * b\n",
    );
    check("1. a\n2. b", piece("b"), "c", "1. a\n2. c <!-- written 2026-11-15 -->");
    check(
        "Name: Alice\nCity: Rome\n",
        piece("City"),
        "City: Oslo",
        "Name: Alice\nCity: Oslo <!-- written 2026-11-15 -->\n",
    );
    check("one\n\ntwo\n", number(1), "a\n\nb", "- a\n\n  b <!-- written 2026-11-15 -->\n\ntwo\n");
    check(
        "```\nold\n```\n",
        number(1),
        "```\nnew\n```",
        "```\nnew\n```\n<!-- written 2026-11-15 -->\n",
    );
}

#[test]
fn a_removal_takes_the_lines_and_the_date_and_leaves_the_heading() {
    let check = |text: &str, selector: Selector, expected: &str| {
        assert_eq!(edit::remove(&ours(text), &selector).unwrap().document.text(), expected);
    };
    check(
        "## P\n- a\n  more <!-- written 2020-01-01 -->\n\n## Q\n- b\n",
        number(1),
        "## P\n\n## Q\n- b\n",
    );
    check("- a\n<!-- written 2020-01-01 -->\n- b", piece("a"), "- b");
    check("- a\n- b", piece("b"), "- a\n");
    check("one\n```\ncode\n```\ntwo\n", piece("code"), "one\n\ntwo\n");
}

#[test]
fn a_selector_must_mean_one_entry() {
    let document =
        ours("- Prefers tea\n- Prefers Postgres\n- Prefers tea in the morning\n- other\n");
    let found = |text: &str| super::select::find(&document, &piece(text)).map(|entry| entry.number);
    assert_eq!(found("Postgres").unwrap(), 2);
    assert_eq!(found("Prefers tea").unwrap(), 1);
    assert!(matches!(found("coffee"), Err(Error::NoEntry { entries: 4, .. })));
    assert!(matches!(found(" "), Err(Error::EmptySelector)));
    let Err(Error::AmbiguousEntry { count, matches, .. }) = found("Prefers") else { panic!() };
    assert_eq!((count, matches[1].as_str()), (3, "2: Prefers Postgres"));
    assert!(super::select::find(&document, &number(0)).is_err());
    assert!(super::select::find(&document, &number(5)).is_err());
    assert_eq!(Selector::typed("#3"), number(3));
    assert_eq!(Selector::typed("12"), number(12));
    assert_eq!(Selector::typed("20261115"), piece("20261115"));
    let twice = ours("- same\n- same\n");
    assert_eq!(super::select::find(&twice, &piece("sam")).unwrap().number, 1);
}

#[test]
fn an_ambiguous_selector_lists_five_short_previews() {
    let long = "x".repeat(200);
    let document =
        ours(&format!("- {long}1\n- {long}2\n- {long}3\n- {long}4\n- {long}5\n- {long}6\n"));
    let Err(Error::AmbiguousEntry { count: 6, matches, .. }) =
        edit::remove(&document, &piece("xx"))
    else {
        panic!()
    };
    assert_eq!(matches.len(), 5);
    assert!(matches.iter().all(|one| one.chars().count() == "1: ".len() + 80 + 1));
}

/// The files that Hermes Agent 0.19.0 wrote for the same calls of its memory tool.
#[test]
fn section_files_have_the_bytes_that_hermes_agent_writes() {
    let first = "BrightCart is a Next.js SaaS deployed on Coolify; codebase at ~/code/brightcart.";
    let second = "Multi-line entry:\n- Prefer Postgres over MySQL\n- Use ripgrep over grep";
    let shorter = "Prefers Postgres over MySQL; ripgrep over grep. Contains a § inline.";
    let add =
        |document: &Document, text: &str| edit::add(document, text, None, TODAY).unwrap().document;
    let one = add(&Document::parse("", Owner::HermesAgent), &format!("  {first}\n"));
    assert_eq!((one.text(), one.chars()), (first, 80));
    let two = add(&Document::parse(one.text(), Owner::HermesAgent), second);
    assert_eq!(two.text(), format!("{first}\n§\n{second}"));
    assert_eq!(two.chars(), 153);
    let replaced =
        edit::replace(&two, &piece("Multi-line entry"), shorter, TODAY).unwrap().document;
    assert_eq!(replaced.chars(), 151);
    let four = add(&add(&replaced, "Stripe is the payment provider."), "Main branch is main.");
    assert_eq!(
        four.text(),
        format!(
            "{first}\n§\n{shorter}\n§\nStripe is the payment provider.\n§\nMain branch is main."
        )
    );
    assert_eq!((four.chars(), four.entries().len()), (208, 4));
    let three = edit::remove(&four, &piece("BrightCart")).unwrap().document;
    assert_eq!(three.text(), four.text().replacen(&format!("{first}\n§\n"), "", 1));
    let gone = edit::remove(&one, &number(1)).unwrap().document;
    assert_eq!(gone.text(), "");
}

#[test]
fn section_files_of_other_hands_keep_what_is_not_meant() {
    let check = |text: &str, expected: &str| {
        let edited = edit::add(&section_file(text), "x\ny", None, TODAY).unwrap();
        assert_eq!(edited.document.text(), expected);
    };
    check("a \n§\n b\n\n", "a \n§\n b\n§\nx\ny");
    check("a\r\n§\r\nb\r\n", "a\r\n§\r\nb\r\n§\r\nx\r\ny");
    check("\u{feff}", "\u{feff}x\ny");
    check("a\n§\n", "a\n§\nx\ny");
}

#[test]
fn an_entry_that_only_its_space_keeps_from_being_a_separator_stays_one() {
    let before = section_file("§  \n§\n");
    let added = edit::add(&before, "x", None, TODAY).unwrap();
    let number = added.entry.unwrap().number;
    let after = edit::remove(&added.document, &Selector::Number(number)).unwrap().document;
    assert_eq!(after.text(), "§  \n§\n");
}

#[test]
fn many_entries_are_added_at_once_each_to_its_section() {
    let new = |text, section, written| NewEntry { text, section, written };
    let entries = [
        new("x", Some("projects"), None),
        new("one", Some("New"), Some(TODAY)),
        new("y\nz", Some("Projects"), Some(TODAY)),
        new("x", Some("Other"), None),
        new("a", None, None),
        new("end", None, None),
        new("two", Some("NEW"), None),
        new("title", Some("M"), None),
    ];
    let edited = edit::insert_all(&ours("# M\n\n## Projects\n- a\n\n## Last"), &entries).unwrap();
    assert_eq!(
        edited.document.text(),
        "# M\n- title\n\n## Projects\n- a\n- x\n- y\n  z <!-- written 2026-11-15 -->\n\n## Last\n- end\n\n## New\n- one <!-- written 2026-11-15 -->\n- two\n"
    );
    assert_eq!(edited.change, Change::Merged { entries: 6 });
    let again = edit::insert_all(&edited.document, &entries).unwrap();
    assert_eq!((again.change, &again.document), (Change::Nothing, &edited.document));
    let sections = edit::insert_all(&section_file("a\n§\n"), &entries).unwrap();
    assert_eq!(sections.document.text(), "a\n§\nx\n§\none\n§\ny\nz\n§\nend\n§\ntwo\n§\ntitle");
    let disturbing = [new("b", None, None), new("c --> d", None, None)];
    let refused = edit::insert_all(&ours("<!-- open\n- a\n"), &disturbing);
    assert!(matches!(refused, Err(Error::WouldDisturb)));
}

#[test]
fn thousands_of_entries_are_added_and_pruned_in_a_moment() {
    const ENTRIES: usize = 4000;
    let part = |n| format!("above {n}\n{OLD_BLOCK}below {n}\n\n## S {n}\n");
    let file: String = (0..ENTRIES).map(part).collect();
    let texts: Vec<(String, String)> =
        (0..ENTRIES).map(|n| (format!("new {n}"), format!("s {}", n * 2))).collect();
    let new: Vec<NewEntry<'_>> = texts
        .iter()
        .map(|(text, section)| NewEntry { text, section: Some(section), written: None })
        .collect();
    let begun = std::time::Instant::now();
    let added = edit::insert_all(&ours(&file), &new).unwrap().document;
    let plan = edit::prune_plan(&added, TODAY);
    let pruned = edit::prune(&added, &plan).unwrap();
    assert!(begun.elapsed().as_secs() < 3, "{:?}", begun.elapsed());
    assert_eq!(pruned.change, Change::Pruned { entries: ENTRIES });
    assert_eq!(pruned.document.entries().len(), 3 * ENTRIES);
}

#[test]
fn pruning_takes_only_entries_dated_before_the_cutoff() {
    let document = ours(
        "# M\n- old <!-- written 2026-01-01 -->\n- undated\n- new <!-- written 2026-11-01 -->\n- older <!-- written 2025-01-01 -->\n",
    );
    let plan = edit::prune_plan(&document, date(2026, 11, 1));
    let numbers: Vec<usize> = plan.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [1, 4]);
    let pruned = edit::prune(&document, &plan).unwrap();
    assert_eq!(pruned.document.text(), "# M\n- undated\n- new <!-- written 2026-11-01 -->\n");
    assert_eq!(pruned.change, Change::Pruned { entries: 2 });
    let outdated = edit::prune(&pruned.document, &plan);
    assert!(matches!(outdated, Err(Error::PlanOutdated { .. })));
    assert_eq!(edit::prune(&document, &[]).unwrap().change, Change::Nothing);
}

#[test]
fn a_plan_is_carried_out_where_its_entries_stand_now() {
    let old = "- old <!-- written 2020-01-01 -->\n";
    let plan = edit::prune_plan(&ours(&format!("- ü\n{old}- z\n{old}")), TODAY);
    let moved = ours(&format!("<!-- a new comment -->\n\n- ü\n{old}\n- z\n{old}"));
    let reversed: Vec<_> = plan.iter().rev().cloned().collect();
    for plan in [&plan, &reversed] {
        let pruned = edit::prune(&moved, plan).unwrap();
        assert_eq!(pruned.document.text(), "<!-- a new comment -->\n\n- ü\n\n- z\n");
    }
}

#[test]
fn pruning_between_paragraphs_keeps_them_apart_and_lists_together() {
    let old = "- old <!-- written 2020-01-01 -->\n";
    let document = ours(&format!(
        "one\n{OLD_BLOCK}two\n\n- a\n{old}- b\n{old}{OLD_BLOCK}three\n\n{OLD_BLOCK}four\n"
    ));
    let pruned = edit::prune(&document, &edit::prune_plan(&document, TODAY)).unwrap();
    assert_eq!(pruned.document.text(), "one\n\ntwo\n\n- a\n- b\n\nthree\n\nfour\n");
}

#[test]
fn an_edit_that_would_hide_other_entries_is_refused() {
    let add = |text: &str, new: &str| edit::add(&ours(text), new, None, TODAY);
    assert!(matches!(add("```\n- a\n\ntext\n", "x\n```"), Err(Error::WouldDisturb)));
    assert!(add("<!-- open\n- a\n", "b").is_ok());
    assert!(matches!(add("<!-- open\n- a\n", "b --> c"), Err(Error::WouldDisturb)));
}
