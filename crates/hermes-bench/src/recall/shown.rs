//! Build the context for every question, and name the messages that are really in it.

use std::collections::HashSet;

use hermes_memory::retrieval::{self, Context, Request};
use hermes_store::memory::{ItemKind, Message};
use jiff::Timestamp;

use super::ask::{Answered, Asking, Names, Place};
use super::corpus::Conversation;
use super::fill::Filled;
use super::prompts;
use crate::cpu;

/// How much of a message must be in a block for the message to count as shown in part.
const ENOUGH: usize = 40;

/// What came of building contexts.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) answers: Vec<Answered>,
    /// Messages shown with every word, and those shown in part.
    pub(super) whole: usize,
    pub(super) part: usize,
    /// What the contexts of prompts cost that need none, sorted.
    pub(super) idle_tokens: Vec<usize>,
}

/// Builds a context of at most `budget` tokens for every question, and for prompts that need none.
pub(super) fn contexts(
    conversations: &[Conversation],
    filled: &Filled,
    asking: Asking<'_>,
    budget: usize,
) -> anyhow::Result<Shown> {
    let store = filled.open()?;
    let mut shown = Shown::default();
    for (conversation, scope) in conversations.iter().zip(&filled.scopes) {
        let names = Names::of(conversation);
        let place = Place { store: &store, scope: *scope };
        for asked in &conversation.questions {
            let now = asking.time_of(asked, conversation);
            let (context, spent) =
                cpu::timed(|| build(place, asking, now, &request(&asked.question, budget)))?;
            let retrieved = shown.name(place, &context, &names)?;
            let tokens = Some(context.tokens);
            shown.answers.push(Answered { tokens, ..Answered::new(asked, retrieved, spent) });
        }
    }
    for (number, prompt) in prompts::prompts().iter().enumerate() {
        let at = number % conversations.len();
        let now = conversations[at].span.map_or(asking.now, |(_, end)| end);
        let place = Place { store: &store, scope: filled.scopes[at] };
        let context = build(place, asking, now, &request(prompt, budget))?;
        shown.idle_tokens.push(context.tokens);
    }
    shown.idle_tokens.sort_unstable();
    Ok(shown)
}

/// The request that the program itself makes with its own settings, without files.
pub(crate) fn request(task: &str, budget: usize) -> Request<'_> {
    Request { task, budget: Some(budget), ..Request::default() }
}

fn build(
    place: Place<'_>,
    asking: Asking<'_>,
    now: Timestamp,
    request: &Request<'_>,
) -> anyhow::Result<Context> {
    Ok(retrieval::context(&asking.reading(place.store, place.scope, now), request, &[])?)
}

impl Shown {
    /// The messages whose words are in the rendered context, in its order.
    fn name(
        &mut self,
        place: Place<'_>,
        context: &Context,
        names: &Names<'_>,
    ) -> anyhow::Result<Vec<String>> {
        let block = Block::of(&retrieval::text(context));
        let mut found = Vec::new();
        for (kind, id) in context.receipt() {
            if kind != ItemKind::Summary {
                continue;
            }
            for episode in place.store.episodes(place.scope, &[id])? {
                for message in place.store.messages_of(place.scope, &episode)? {
                    if block.has_whole(&message) {
                        self.whole += 1;
                    } else if block.has_part(&message) {
                        self.part += 1;
                    } else {
                        continue;
                    }
                    found.push(names.name(&episode.session_id, &message)?);
                }
            }
        }
        let mut known = HashSet::new();
        found.retain(|name| known.insert(name.clone()));
        Ok(found)
    }
}

/// A rendered context without its quote marks.
struct Block {
    text: String,
    lines: Vec<String>,
}

impl Block {
    fn of(rendered: &str) -> Block {
        let quoted = rendered.lines().filter_map(|line| line.strip_prefix('>'));
        let lines: Vec<String> = quoted.map(flat).collect();
        Block { text: lines.join(" "), lines }
    }

    /// Who said it and every word of it.
    fn has_whole(&self, message: &Message) -> bool {
        let speaker = message.speaker.as_deref().unwrap_or(&message.role);
        let words = flat(&message.text);
        !words.is_empty() && self.text.contains(&format!("{}: {words}", flat(speaker)))
    }

    /// A line that is cut from it.
    fn has_part(&self, message: &Message) -> bool {
        let words = flat(&message.text);
        self.lines.iter().any(|line| {
            let said = line.split_once(": ").map_or(line.as_str(), |(_, said)| said);
            [line.as_str(), said].into_iter().any(|line| {
                let line = line.trim_matches(['…', ' ']);
                line.chars().count() >= ENOUGH && words.contains(line)
            })
        })
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::{MessageKey, SessionKey, UserNumber};

    use super::*;

    fn said(text: &str) -> Message {
        let session = SessionKey::new(UserNumber::OWNER, 0).unwrap();
        Message {
            key: MessageKey::new(session, 0).unwrap(),
            episode: 1,
            at: Timestamp::UNIX_EPOCH,
            role: "user".to_owned(),
            speaker: Some("Jo".to_owned()),
            text: text.to_owned(),
            caption: None,
        }
    }

    #[test]
    fn a_message_is_shown_if_all_or_a_good_part_of_its_words_are() {
        let long =
            "the kettle boils over every single morning at seven, rain or shine, no way around it";
        let block = Block::of(&format!(
            "# R\n[episode:1] May\n> Jo: Yes,\n> indeed.\n> Jo: …{}…\n",
            &long[4..60]
        ));
        assert!(block.has_whole(&said("Yes,\n indeed.")));
        assert!(!block.has_whole(&said(long)) && block.has_part(&said(long)));
        assert!(!block.has_whole(&said("indeed.")) && !block.has_part(&said("indeed.")));
    }
}
