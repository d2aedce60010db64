//! What always holds for skills: no bytes break the reading, a lock touches its lines only.

use jiff::Timestamp;
use proptest::prelude::*;

use crate::skill::frontmatter::{self, trimmed};
use crate::skill::mark::{Wanted, with_lock};
use crate::skill::{LARGEST_FILE, NewSkill, Origin, parse, text_of};

const LINES: &[&str] = &[
    "license: MIT # really\n",
    "# a comment of mine\n",
    "version: 1.0.0\n",
    "platforms: [linux, macos]\n",
    "\n",
    "allowed-tools: Bash(git:*) Read\n",
    "x-note: |\n  two lines\n  --- not the end\n",
    "prerequisites:\n    env_vars: [A_KEY]\n    commands:\n        - git # needed\n",
];

const METADATA: &[&str] = &[
    "",
    "metadata: {}\n",
    "metadata: {author: me, hermes: {tags: [a]}} # mine\n",
    "metadata:\n  author: me\n",
    "metadata: # mine\n  # about it\n  hermes:\n    tags: [deploy, coolify]\n  last: 1\n",
    "metadata:\n\n    author: \"me\"\n\n",
];

fn head() -> impl Strategy<Value = String> {
    let lines = || prop::collection::vec(prop::sample::select(LINES), 0..4);
    let parts = (lines(), prop::sample::select(METADATA), lines(), any::<[bool; 2]>());
    parts.prop_map(|(before, metadata, after, [is_crlf, has_mark])| {
        let mut seen: Vec<&str> = Vec::new();
        let mut text = String::from("---\nname: a\ndescription: does a\n");
        for line in before.into_iter().chain([metadata]).chain(after) {
            // A key may stand only once; comments and blank lines as often as they like.
            if !seen.contains(&line) || !line.contains(": ") {
                seen.push(line);
                text.push_str(line);
            }
        }
        text.push_str("---\n\n# Body\n\n---\nmetadata: not the head\n");
        let text = if is_crlf { text.replace('\n', "\r\n") } else { text };
        if has_mark { format!("\u{feff}{text}") } else { text }
    })
}

/// The lines that are in one text and not in the other, by their order.
fn added<'a>(shorter: &'a str, longer: &'a str) -> Vec<&'a str> {
    let mut rest = shorter.split_inclusive('\n').peekable();
    let mut extra = Vec::new();
    for line in longer.split_inclusive('\n') {
        if rest.peek() == Some(&line) {
            rest.next();
        } else {
            extra.push(line);
        }
    }
    assert!(rest.next().is_none(), "lines are gone\n{shorter}\n{longer}");
    extra
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn locking_adds_only_its_lines_and_unlocking_takes_them_away(text in head()) {
        let before = parse(&text).unwrap();
        prop_assert!(!before.is_locked);
        let locked = with_lock(&text, Wanted::Locked).unwrap();
        let read = parse(&locked).unwrap();
        prop_assert!(read.is_locked);
        prop_assert_eq!(&read.body, &before.body);
        prop_assert_eq!(&read.description, &before.description);
        if !text.contains("metadata: {") {
            for line in added(&text, &locked) {
                prop_assert!(["metadata:", "hermes-locked: \"true\""].contains(&line.trim()), "{line}");
            }
        }
        prop_assert_eq!(locked.contains("\r\n"), text.contains("\r\n"));
        prop_assert_eq!(locked.matches("\r\n").count() == locked.matches('\n').count(),
            text.matches("\r\n").count() == text.matches('\n').count());
        prop_assert_eq!(with_lock(&locked, Wanted::Unlocked).unwrap(), text);
    }

    #[test]
    fn any_bytes_are_read_or_refused_with_a_line(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let reading = frontmatter::read(&bytes, Some("a"));
        prop_assert_eq!(reading.content.is_none(), !reading.problems.is_empty());
        let text = [b"---\nname: a\n".as_slice(), &bytes, b"\n---\nbody"].concat();
        let reading = frontmatter::read(&text, None);
        let lines = text.iter().filter(|byte| **byte == b'\n').count() + 2;
        prop_assert!(reading.problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
        if let Ok(text) = std::str::from_utf8(&text) {
            let _ = with_lock(text, Wanted::Locked).map(|text| with_lock(&text, Wanted::Unlocked));
        }
    }

    #[test]
    fn yaml_like_text_is_read_or_refused(head in "[a-z:{}\\[\\]&*!|>'\"#,?\\-\n \t%@`]{0,120}") {
        let text = format!("---\nname: a\ndescription: b\n{head}\n---\n");
        let reading = frontmatter::read(text.as_bytes(), None);
        prop_assert_eq!(reading.content.is_none(), !reading.problems.is_empty());
        if let Ok(locked) = with_lock(&text, Wanted::Locked) {
            prop_assert!(frontmatter::read(locked.as_bytes(), None).is_locked, "{}", locked);
        }
    }

    #[test]
    fn a_draft_reads_as_what_it_was_made_from(
        name in "[a-z0-9][a-z0-9._-]{0,63}",
        description in "[^\0]{1,200}",
        body in "[^\0]{0,300}",
        task_type in "[^\0]{0,20}",
        sources in prop::collection::vec("[a-z]{1,8}:[0-9]{1,4}", 0..4),
        second in 0i64..4_000_000_000,
    ) {
        prop_assume!(!description.trim().is_empty());
        let made_at = Timestamp::from_second(second).unwrap();
        let new = NewSkill {
            name: name.parse().unwrap(), description, body, task_type, sources, made_at,
        };
        let read = parse(&text_of(&new)).unwrap();
        prop_assert_eq!(&read.name, &new.name);
        prop_assert_eq!(&read.description, &new.description);
        prop_assert_eq!(read.body.as_str(), trimmed(&new.body));
        prop_assert_eq!(read.hash(), new.hash());
        prop_assert_eq!(read.origin(), Origin::Learned);
        let learned = read.learned.unwrap();
        prop_assert_eq!((learned.sources, learned.made_at), (new.sources, Some(made_at)));
        prop_assert_eq!(learned.task_type, Some(new.task_type));
    }
}

#[test]
fn bombs_and_towers_are_refused() {
    let mut bomb = String::from("---\nname: a\ndescription: b\na0: &a0 [x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", "));
    }
    bomb.push_str("---\n");
    let deep = |open: &str| format!("---\nname: a\nx: {}\n---\n", open.repeat(10_000));
    let long = format!("---\nname: a\nx: {}\n---\n", "y".repeat(LARGEST_FILE as usize / 2));
    for text in [bomb, deep("["), deep("{a: "), deep("- "), long] {
        let problems = parse(&text).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(with_lock(&text, Wanted::Locked).is_err());
    }
}
