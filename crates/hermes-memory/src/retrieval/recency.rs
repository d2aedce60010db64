//! The latest conversations: of the same project, else of the same channel, else of all.

use hermes_home::tokens;
use hermes_store::memory::{Episode, Message, RecentFilter, Trust};

use super::render::one_line;
use super::{Asking, Candidate, Pass, Section, Thing, semantic};
use crate::{Result, provenance};

/// What one of them may cost, so that a prompt that has nothing to do with them stays cheap.
const MOST_TOKENS: usize = 30;

/// The latest episodes, each in its first words.
pub(super) fn pass(asking: &Asking<'_>) -> Result<Vec<Candidate>> {
    let (episodes, place) = latest(asking)?;
    episodes
        .iter()
        .map(|episode| {
            let messages = asking.reading.store.messages_of(asking.reading.scope, episode)?;
            Ok(candidate(asking, episode, &messages, &place))
        })
        .collect()
}

/// The latest episodes of the nearest place that has any, and how that place is called.
fn latest(asking: &Asking<'_>) -> Result<(Vec<Episode>, String)> {
    let request = asking.request;
    let limit = asking.settings.recency_episodes as usize;
    if limit == 0 {
        return Ok((Vec::new(), String::new()));
    }
    let all = RecentFilter { except_session: request.session, limit, ..RecentFilter::default() };
    let mut filters = Vec::new();
    if let Some(project) = request.project {
        filters.push((RecentFilter { project: Some(project), ..all.clone() }, "of this project"));
    }
    if let Some(channel) = request.channel {
        filters.push((RecentFilter { channel: Some(channel), ..all.clone() }, "of this channel"));
    }
    filters.push((all, "of all"));
    for (filter, place) in filters {
        let found = asking.reading.store.recent_episodes(asking.reading.scope, &filter)?;
        if !found.is_empty() {
            return Ok((found, place.to_owned()));
        }
    }
    Ok((Vec::new(), String::new()))
}

fn candidate(
    asking: &Asking<'_>,
    episode: &Episode,
    messages: &[Message],
    place: &str,
) -> Candidate {
    Candidate {
        thing: Thing {
            name: format!("episode:{}", episode.id),
            section: Section::Episodes,
            key: Some(semantic::receipt_key(episode)),
            head: semantic::head(episode, asking),
            text: first_words(episode, messages),
            trust: match &episode.body {
                Some(_) => Trust::Agent,
                None => provenance::of_messages(first_messages(messages).iter().copied()),
            },
            short: None,
            at: Some(episode.ended_at),
            weight: 1.0,
        },
        pass: Pass::Recency,
        relevance: None,
        evidence: Vec::new(),
        reason: format!("among the latest {place}"),
    }
}

/// The beginning of the summary, or of the user's message and of the answer to it.
fn first_words(episode: &Episode, messages: &[Message]) -> String {
    if let Some(body) = &episode.body {
        return first_of(body, MOST_TOKENS);
    }
    let said = first_messages(messages);
    let room = MOST_TOKENS / said.len().max(1);
    let lines = said.iter().map(|message| {
        let speaker = semantic::speaker(message);
        let room = room.saturating_sub(tokens::estimate(&speaker) + 2);
        format!("{speaker}: {}", first_of(semantic::words(message), room))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What was asked, and what was answered to it.
fn first_messages(messages: &[Message]) -> Vec<&Message> {
    let answered = messages.iter().skip(1).rfind(|message| message.role == "assistant");
    messages.first().into_iter().chain(answered).collect()
}

/// As many first words as fit into so many tokens.
fn first_of(text: &str, room: usize) -> String {
    let line = one_line(text);
    if tokens::estimate(&line) <= room {
        return line;
    }
    let mut kept = String::new();
    for word in line.split(' ') {
        if tokens::estimate(&kept) + tokens::estimate(word) >= room {
            break;
        }
        kept.push_str(word);
        kept.push(' ');
    }
    if kept.is_empty() {
        kept = line.chars().take(room).collect();
        while tokens::estimate(&kept) >= room && kept.pop().is_some() {}
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn first_words_stay_within_their_room(text in "[a-zA-Z0-9 .,é]{0,300}", room in 3..60_usize) {
            prop_assert!(tokens::estimate(&first_of(&text, room)) <= room + 2);
        }
    }

    #[test]
    fn a_script_without_spaces_is_cut_too() {
        assert!(tokens::estimate(&first_of(&"你".repeat(200), 20)) <= 20);
    }
}
