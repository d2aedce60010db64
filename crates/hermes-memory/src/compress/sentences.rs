//! What was said, sentence by sentence, each with what it is worth.

use hermes_llm::EmbeddedModel;
use hermes_store::memory::Message;

use super::cluster::{Cluster, dot};

/// A longer sentence is cut: one sentence must not be the whole summary.
const LONGEST: usize = 220;
/// Shorter ones say nothing by themselves.
const SHORTEST: usize = 12;
/// So many sentences of one message are looked at.
const MOST_OF_MESSAGE: usize = 60;

/// What tells that something was decided, wanted, or is to be remembered.
const DECIDING: [&str; 26] = [
    "decided", "decide", "agreed", "chose", "choose", "will", "must", "never", "always", "prefer",
    "remember", "deadline", "because", "instead", "plan", "planning", "going", "bought", "moved",
    "started", "finished", "fixed", "failed", "changed", "won", "allergic",
];

/// One sentence of a message.
#[derive(Debug, Clone)]
pub(super) struct Sentence<'a> {
    /// Its words, without white space around them.
    pub(super) text: &'a str,
    /// Whether the end was left out.
    pub(super) is_cut: bool,
    /// The message, by its place in the cluster.
    pub(super) message: usize,
    /// The place in its message.
    pub(super) place: usize,
    /// How much it counts compared with others that say as much.
    pub(super) worth: f32,
}

/// The messages of a cluster in their order.
pub(super) fn messages(cluster: &Cluster) -> Vec<&Message> {
    cluster.episodes().iter().flat_map(|told| &told.messages).collect()
}

/// Every sentence that could stand in a summary.
pub(super) fn sentences<'a>(cluster: &Cluster, messages: &[&'a Message]) -> Vec<Sentence<'a>> {
    let subject = cluster.subject();
    let mut all = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let role = role_worth(&message.role);
        let caption = message.caption.as_deref().unwrap_or_default();
        let texts = split(&message.text).into_iter().chain(split(caption));
        for (place, part) in texts.take(MOST_OF_MESSAGE).enumerate() {
            let (text, is_cut) = bounded(part);
            let worth = role * worth(text, &subject);
            all.push(Sentence { text, is_cut, message: number, place, worth });
        }
    }
    all
}

/// How much the words of a role count: the user's own more than the answers, these more than what tools say.
pub(super) fn role_worth(role: &str) -> f32 {
    match role {
        "user" => 1.3,
        "assistant" => 1.0,
        _ => 0.3,
    }
}

/// How much a sentence is worth beside its words: near the subject, deciding, with names and numbers.
fn worth(text: &str, subject: &[f32]) -> f32 {
    let mut worth = 0.75 + 0.5 * dot(&EmbeddedModel::get().embed(text), subject).max(0.0);
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let starts_upper = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    if words.clone().any(|word| DECIDING.iter().any(|known| word.eq_ignore_ascii_case(known))) {
        worth *= 1.15;
    }
    words.next();
    if words.clone().any(|word| word.len() > 1 && starts_upper(word)) {
        worth *= 1.1;
    }
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        worth *= 1.1;
    }
    if text.ends_with('?') {
        worth *= 0.7;
    }
    let all = text.chars().count().max(1);
    let plain = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    if plain * 10 < all * 8 {
        worth *= 0.4;
    }
    worth
}

/// The sentences of a text: they end with a full stop, or with their line.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let ends = c == '\n'
            || matches!(before, '。' | '！' | '？')
            || (c.is_whitespace() && matches!(before, '.' | '!' | '?' | '…'));
        if ends {
            parts.push(&text[start..at]);
            start = at;
        }
        before = c;
    }
    parts.push(&text[start..]);
    let parts =
        parts.into_iter().map(|part| part.trim().trim_start_matches(['-', '*', '#', '>', ' ']));
    parts.filter(|part| part.chars().count() >= SHORTEST).collect()
}

fn bounded(part: &str) -> (&str, bool) {
    let Some((room, _)) = part.char_indices().nth(LONGEST) else { return (part, false) };
    let end = part[..room].rfind(char::is_whitespace).unwrap_or(room);
    (part[..end].trim_end(), true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_end_with_a_stop_or_a_line() {
        let text = "We moved to Lisbon. It cost 3.50 a day!\n- the second line here\nok";
        assert_eq!(
            split(text),
            ["We moved to Lisbon.", "It cost 3.50 a day!", "the second line here"]
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_cut(text in any::<String>()) {
            for part in split(&text) {
                let (kept, _) = bounded(part);
                prop_assert!(kept.chars().count() <= LONGEST);
            }
        }
    }
}
