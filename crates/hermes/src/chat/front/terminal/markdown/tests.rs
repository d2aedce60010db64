//! Tests of Markdown on a terminal.

use proptest::prelude::*;

use super::*;

const PLAIN: Look = Look { columns: 40, is_styled: false };
const STYLED: Look = Look { columns: 40, is_styled: true };

fn whole(text: &str, look: Look) -> String {
    let mut markdown = Markdown::new(look);
    markdown.push(text) + &markdown.finish()
}

#[test]
fn blocks_come_out_as_they_are_complete() {
    let mut markdown = Markdown::new(PLAIN);
    assert_eq!(markdown.push("# Title\nSome wor"), "# Title\n");
    assert_eq!(markdown.push("ds\nmore\n"), "");
    assert_eq!(markdown.preview(), "Some words more");
    assert_eq!(markdown.push("\n"), "\nSome words more\n");
    assert_eq!(markdown.push("- one\n- two\n"), "\n• one\n");
    assert_eq!(markdown.push("```rust\nlet a = 1;\n"), "• two\n\n  [rust]\n  let a = 1;\n");
    assert_eq!(markdown.push("```\nend"), "");
    assert_eq!(markdown.finish(), "\nend\n");
}

#[test]
fn lists_are_numbered_nested_and_ticked() {
    let text = "1. one\n2. two\n   - inner words\n3. three\n\n- [x] done\n- [ ] open\n";
    let shown = "1. one\n2. two\n   • inner words\n3. three\n\n• [x] done\n• [ ] open\n";
    assert_eq!(whole(text, PLAIN), shown);
    assert_eq!(whole("- a\n\n- b\n", PLAIN), "• a\n\n• b\n");
    assert_eq!(whole("- a\n\n  more of a\n", PLAIN), "• a\n\n  more of a\n");
}

#[test]
fn lines_end_where_the_screen_ends() {
    let text = "- a long item that has more words than one line of forty columns can hold";
    let shown = whole(text, PLAIN);
    assert!(shown.lines().all(|line| wrap::width(line) <= 40), "{shown}");
    assert!(shown.lines().skip(1).all(|line| line.starts_with("  ")), "{shown}");
}

#[test]
fn styles_say_what_marks_say_without_them() {
    assert_eq!(whole("a **b** `c` *d*", PLAIN), "a **b** `c` *d*\n");
    let styled = whole("a **b** `c`", STYLED);
    assert!(styled.contains("\u{1b}[1mb\u{1b}[0m"), "{styled:?}");
    assert!(!styled.contains('*') && !styled.contains('`'), "{styled:?}");
    assert!(whole("# Head", STYLED).contains("\u{1b}[1m"));
}

#[test]
fn a_link_says_where_it_leads() {
    assert_eq!(
        whole("see [the page](https://example.org/a)", PLAIN),
        "see the page (https://example.org/a)\n"
    );
    assert_eq!(whole("<https://example.org>", PLAIN), "https://example.org\n");
}

#[test]
fn a_table_fits_the_screen() {
    let text = "| name | what it is |\n|---|--:|\n| tea | hot |\n| coffee | black |\n";
    let shown = whole(text, PLAIN);
    let expected =
        "name    what it is\n──────  ──────────\ntea            hot\ncoffee       black\n";
    assert_eq!(shown, expected);
    let wide = "| a | b |\n|---|---|\n| some words that go on | and others that go on and on |\n";
    let shown = whole(wide, PLAIN);
    assert!(shown.lines().all(|line| wrap::width(line) <= 40), "{shown}");
    let narrow = whole(wide, Look { columns: 12, is_styled: false });
    assert!(narrow.starts_with("a: some\n"), "{narrow}");
}

#[test]
fn quotes_rules_and_html_are_shown() {
    assert_eq!(whole("> said\n> so\n\n---\n", PLAIN).lines().next(), Some("│ said so"));
    assert!(whole("a\n\n---\n", PLAIN).contains("────"));
    assert_eq!(whole("<b>x</b>\n", PLAIN), "<b>x</b>\n");
}

#[test]
fn control_sequences_come_out_as_marks() {
    let shown = whole("a \u{1b}[2J b\n\n```\n\u{1b}]0;title\u{7}\n```\n", PLAIN);
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
    assert!(shown.contains("␛[2J") && shown.contains("␛]0;title␇"), "{shown:?}");
}

#[test]
fn an_entity_is_no_way_around() {
    let shown = whole("&#27;[31m and &#x9b;2J `x`\n", PLAIN);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn pieces_make_the_same_as_the_whole(
        lines in proptest::collection::vec("[-#>|`*0-9a-c. \\[\\]()~]{0,12}", 0..12),
        cut in 1usize..7,
    ) {
        let text = lines.join("\n");
        let mut markdown = Markdown::new(PLAIN);
        let mut shown = String::new();
        for piece in text.as_bytes().chunks(cut) {
            shown.push_str(&markdown.push(std::str::from_utf8(piece).unwrap()));
        }
        shown.push_str(&markdown.finish());
        prop_assert_eq!(shown, whole(&text, PLAIN));
    }

    #[test]
    fn nothing_that_drives_a_terminal_comes_out(text in any::<String>(), mark in "[#>`|*&\\[ -]{0,4}") {
        let shown = whole(&format!("{mark}{text}\n\n{mark}\u{1b}[31m{text}&#27;&#155;"), PLAIN);
        prop_assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "{:?}", shown);
        let styled = whole(&format!("{mark}{text}\u{9b}2J"), STYLED);
        // Styles alone are left: ESC, `[`, numbers, `m`.
        for sequence in styled.split('\u{1b}').skip(1) {
            let rest = sequence.strip_prefix('[').unwrap_or("!");
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
            prop_assert_eq!(end.map(|end| &rest[end..=end]), Some("m"), "{:?}", styled);
        }
    }
}
