//! Everyday conversations between those of the story: one pattern said in many ways, the same every time.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use jiff::civil::Time;

use super::story::{self, Deed, Step};
use hermes_app::numbers::Numbers;

/// The words that stand for a name in braces.
type Choices<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// So many conversations, spread over so many days, none with the title of another.
pub(super) fn talks(count: usize, days: i64, numbers: &mut Numbers) -> anyhow::Result<Vec<Step>> {
    let (choices, patterns) = read(include_str!("routine.txt"))?;
    let mut titles = BTreeSet::new();
    let mut steps = Vec::new();
    while steps.len() < count {
        let pattern = patterns[numbers.below(patterns.len())];
        let text = filled(pattern, &choices, numbers);
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let mut talk = story::headed(head.strip_prefix("@ ").unwrap_or(head))?;
        if !titles.insert(talk.title.clone()) {
            continue;
        }
        for line in lines {
            story::said(&mut talk, line)?;
        }
        let minute = numbers.below(13 * 60);
        let time = Time::new(8 + (minute / 60) as i8, (minute % 60) as i8, 0, 0)?;
        let days_ago = 1 + numbers.below(days as usize - 1) as i64;
        steps.push(Step { days_ago, time, deed: Deed::Talk(talk) });
    }
    Ok(steps)
}

fn read(text: &str) -> anyhow::Result<(Choices<'_>, Vec<&str>)> {
    let mut choices = Choices::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("= ")) {
        let (name, words) = line.split_once(": ").context("a choice without words")?;
        choices.insert(name, words.split(" | ").collect());
    }
    let patterns = text.split("\n\n").map(str::trim).filter(|block| block.starts_with("@ "));
    Ok((choices, patterns.collect()))
}

/// One name has one word in a conversation.
fn filled(pattern: &str, choices: &Choices<'_>, numbers: &mut Numbers) -> String {
    choices.iter().fold(pattern.to_owned(), |text, (name, words)| {
        text.replace(&format!("{{{name}}}"), words[numbers.below(words.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_give_the_same_conversations_and_no_brace_stays() {
        let once = talks(70, 178, &mut Numbers::new(7)).unwrap();
        assert_eq!(once, talks(70, 178, &mut Numbers::new(7)).unwrap());
        let shown = format!("{once:?}");
        assert!(!shown.contains("{service}") && !shown.contains("{number}"), "{shown}");
    }
}
