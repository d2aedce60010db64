//! What is an entry, and what is not.

use jiff::civil::date;

use super::{Document, Format};
use crate::init::{self, Owner};

fn texts(text: &str) -> Vec<String> {
    let document = Document::parse(text, Owner::Ours);
    document.entries().iter().map(|entry| entry.text.clone()).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(texts(text), expected, "{text}");
}

#[test]
fn bullets_under_headings_are_entries_with_their_section() {
    let text = "# Memory\n\n## Projects\n- Shop called BrightCart.\n- Code in ~/code.\n\n## Preferences\n- Short replies.\n";
    let document = Document::parse(text, Owner::Ours);
    assert_eq!(document.format(), Format::Markdown);
    let found: Vec<_> = document
        .entries()
        .iter()
        .map(|entry| (entry.number, entry.section.join(" > "), entry.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (1, "Memory > Projects".to_owned(), "Shop called BrightCart."),
            (2, "Memory > Projects".to_owned(), "Code in ~/code."),
            (3, "Memory > Preferences".to_owned(), "Short replies."),
        ]
    );
    assert_eq!(&text[document.entries()[1].range.clone()], "- Code in ~/code.\n");
}

#[test]
fn key_and_value_lines_are_entries_of_their_own() {
    check(
        "# User\n\nName: Alice Chen\nTimezone: Europe/London\nWork hours: Mon-Fri 09:00-18:00\nImportant: Has a child, so\nno calls at 8am: never.\n",
        &[
            "Name: Alice Chen",
            "Timezone: Europe/London",
            "Work hours: Mon-Fri 09:00-18:00",
            "Important: Has a child, so\nno calls at 8am: never.",
        ],
    );
    check("name: alice\ncity: rome\n", &["name: alice", "city: rome"]);
    check(
        "A plain paragraph with a link\nhttps://example.org: read it\n",
        &["A plain paragraph with a link\nhttps://example.org: read it"],
    );
    check("姓名：愛麗絲\n時區：倫敦\n", &["姓名：愛麗絲", "時區：倫敦"]);
}

#[test]
fn a_bullet_keeps_its_continuation_lines_and_nested_bullets() {
    check(
        "- a\n  more\n  - nested\n    deep\n\n  a second paragraph\n- b\n",
        &["a\nmore\n- nested\n  deep\n\na second paragraph", "b"],
    );
    check("- a\nlazy line\n\nparagraph\n", &["a\nlazy line", "paragraph"]);
    check("* a\n+ b\n1. c\n2) d\n10. e\n", &["a", "b", "c", "d", "e"]);
    check("- born on the\n14. November\n", &["born on the\n14. November"]);
    check("-\n  text below\n-\n", &["text below"]);
    check("\t- tabbed\n\t  on\n", &["tabbed\non"]);
    check(
        "- run\n  ```\n  # not a heading\n  ```\n- b\n",
        &["run\n```\n# not a heading\n```", "b"],
    );
}

#[test]
fn a_fenced_block_is_one_entry() {
    check("text\n```sh\n# a\n- b\n\n```\nafter\n", &["text", "```sh\n# a\n- b\n\n```", "after"]);
    check("~~~\n```\n~~~\n", &["~~~\n```\n~~~"]);
}

#[test]
fn comments_front_matter_rules_and_headings_are_no_entries() {
    check(init::MEMORY, &[]);
    check(init::USER, &[]);
    check("---\ntitle: x\ntags:\n- y\n---\n- a\n", &["a"]);
    check("---\n- a\n---\n- b\n", &["a", "b"]);
    check("Title\n=====\n\nSub\n---\ntext\n\n***\n- - -\n", &["text"]);
    check(
        "<!-- one --> <!-- two -->\n<!--\n- old <!-- written 2020-01-01 -->\n- gone\n-->\n- a\n",
        &["a"],
    );
    check("<!-- note --> Alice likes tea\n", &["<!-- note --> Alice likes tea"]);
}

#[test]
fn what_is_never_closed_hides_nothing() {
    check("<!-- open\n- a\n- b\n", &["<!-- open", "a", "b"]);
    check("```\n- a\n\nb\n", &["```", "a", "b"]);
    check("---\ntitle: x\n- a\n", &["title: x", "a"]);
}

#[test]
fn date_comments_are_read_beside_below_and_above() {
    let text = "- a <!-- written 2026-01-01 -->\n<!-- written 2026-01-02 -->\n- b\n\nc\n<!-- written 2026-01-03 -->\n\n<!-- written 2026-01-04 -->\n\n- d\n  - e <!-- written 2026-01-05 -->\n";
    let document = Document::parse(text, Owner::Ours);
    let found: Vec<_> =
        document.entries().iter().map(|entry| (entry.text.as_str(), entry.written)).collect();
    let day = |day| Some(date(2026, 1, day));
    assert_eq!(found, [("a", day(1)), ("b", day(2)), ("c", day(3)), ("d\n- e", day(5))]);
    assert!(text[document.entries()[1].range.clone()].starts_with("<!-- written 2026-01-02"));
}

#[test]
fn the_format_is_the_one_the_file_shows_else_that_of_its_owner() {
    let check = |text: &str, ours: Format, agents: Format| {
        assert_eq!(Document::parse(text, Owner::Ours).format(), ours, "{text:?}");
        assert_eq!(Document::parse(text, Owner::HermesAgent).format(), agents, "{text:?}");
    };
    use Format::{Markdown, Sections};
    check("a\n§\nb", Sections, Sections);
    check("# Memory\n- a\n§\n- b", Sections, Sections);
    check("\u{feff}a\r\n§\r\nb", Sections, Sections);
    check("a § b", Markdown, Sections);
    check("", Markdown, Sections);
    check("plain", Markdown, Sections);
    check("# Memory\n", Markdown, Markdown);
    check("- a\n- b\n", Markdown, Markdown);
    check("text\n<!-- written 2026-01-01 -->", Markdown, Markdown);
    check("Multi-line entry:\n- one\n- two", Markdown, Sections);
}

#[test]
fn sections_are_split_as_hermes_agent_does() {
    let check = |text: &str, expected: &[&str]| {
        let document = Document::parse_as(text, Format::Sections);
        let found: Vec<_> = document.entries().iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(found, expected, "{text:?}");
    };
    check("a\n§\nb\nb2\n§\nc § d", &["a", "b\nb2", "c § d"]);
    check("\n a \n§\n\n§\n b\n", &["a", "b"]);
    check("\u{feff}a\r\n§\r\nb\r\nb2\r\n", &["a", "b\nb2"]);
    check("§\na", &["a"]);
    check("a\n§\n§\nb", &["a", "b"]);
    check("a\n§", &["a"]);
    check("", &[]);
}

#[test]
fn a_long_hostile_file_is_read_in_linear_time() {
    for line in ["<!--\n", "```a\n", "-->\n", "- \n", "a: b\n", "§\n", "> \n\n", "<!---->\n"] {
        let text = line.repeat(200_000);
        let document = Document::parse(&text, Owner::Ours);
        assert!(document.entries().len() <= 200_000);
    }
}
