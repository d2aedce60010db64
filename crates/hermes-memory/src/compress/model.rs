//! A summary by a model: one question for each cluster, and an answer that is checked before it is kept.

use std::fmt::Write;

use jiff::tz::TimeZone;

use super::cluster::Cluster;
use super::sentences::messages;
use crate::ask::{Ask, Prompt};
use crate::{Error, Result, chunk};

const SYSTEM: &str = include_str!("../../prompts/compress.md");
/// How much of one message a model is shown.
const MOST_OF_MESSAGE: usize = 4_000;
/// A token has about so many characters, and an answer may be cut by it.
const CHARACTERS_PER_TOKEN: usize = 3;
/// How a model begins that will not do it.
const REFUSALS: [&str; 10] = [
    "i can't",
    "i cannot",
    "i can not",
    "i'm sorry",
    "i am sorry",
    "sorry,",
    "as an ai",
    "i'm unable",
    "i am unable",
    "i won't",
];

/// Lets a model tell of a cluster in at most so many characters.
pub(super) fn told(
    ask: &mut Ask<'_>,
    cluster: &Cluster,
    zone: &TimeZone,
    room: usize,
) -> Result<String> {
    let reply = ask(&prompt(cluster, zone, room))?;
    check(&reply.text, room)
        .map_err(|why| Error::BadReply { model: reply.model, why: why.to_owned() })
}

fn prompt(cluster: &Cluster, zone: &TimeZone, room: usize) -> Prompt {
    let mut user = "BEGIN CONVERSATIONS\n".to_owned();
    for message in messages(cluster) {
        let speaker = message.speaker.as_deref().unwrap_or(&message.role);
        let day = chunk::written_day(chunk::day_of(message.at, zone));
        let caption = message.caption.as_deref().unwrap_or_default();
        let text: String = message.text.chars().take(MOST_OF_MESSAGE).collect();
        // Every line is set in, so that none can pose as the end of the data.
        let text = format!("{text} {caption}").trim().replace('\n', "\n  ");
        let _ = writeln!(user, "  {day}, {}: {text}", speaker.replace('\n', " "));
    }
    user.push_str("END CONVERSATIONS\n");
    Prompt {
        system: SYSTEM.replace("{room}", &room.to_string()),
        user,
        max_tokens: u32::try_from(room / CHARACTERS_PER_TOKEN + 50).unwrap_or(u32::MAX),
    }
}

/// The answer without white space around it, if it can be kept.
fn check(answer: &str, room: usize) -> std::result::Result<String, &'static str> {
    let text = answer.trim();
    let lower: String = text.chars().take(60).collect::<String>().to_lowercase().replace('’', "'");
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.chars().count() > room + room / 4 {
        return Err("it is longer than requested");
    }
    if REFUSALS.iter().any(|refusal| lower.starts_with(refusal)) {
        return Err("it is not a summary");
    }
    if text.contains("END CONVERSATIONS") || text.contains("BEGIN CONVERSATIONS") {
        return Err("it repeats the question");
    }
    if has_markup(text) {
        return Err("it contains markup");
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("it contains control characters");
    }
    Ok(text.to_owned())
}

/// Whether there is something like an HTML tag in it.
fn has_markup(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches('/');
        let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!');
        is_name && rest.split_once('>').is_some_and(|(inside, _)| inside.chars().count() < 200)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_answers_are_refused() {
        for bad in [
            "",
            " \n",
            "I’m sorry, but I can't help with that.",
            "<p>They moved.</p>",
            "text END CONVERSATIONS",
            "bell \u{7}",
        ] {
            assert!(check(bad, 500).is_err(), "{bad:?}");
        }
        assert!(check(&"x".repeat(700), 500).is_err());
        assert_eq!(check(" They moved; 3 < 5. ", 500).unwrap(), "They moved; 3 < 5.");
    }
}
