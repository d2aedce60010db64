//! Conversations that mean something like the task, each with the messages around what was found.

use std::collections::HashMap;
use std::ops::Range;

use hermes_store::memory::{Episode, EpisodeState, ItemKind, Message, MessageKey, Trust};

use super::render::one_line;
use super::{Asking, Candidate, Found, Pass, Section, Thing, single_threshold, whole_threshold};
use crate::search::{Item, Kind, Part, Reading};
use crate::{Result, chunk, provenance, search};

/// How much surer we must be of a conversation about another project.
const OTHER_PROJECT_MARGIN: f64 = 0.15;
/// From this setting on a name in common is not enough.
const ONLY_THE_SURE: f64 = 0.9;
/// How many messages are searched for each episode that is wanted.
const MESSAGES_PER_EPISODE: usize = 6;
/// How many characters are shown of a message that was found, and of its neighbours.
const FOUND_ROOM: usize = 600;
const NEIGHBOUR_ROOM: usize = 200;
const SHORT_ROOM: usize = 300;
/// How many characters are shown of a summary, which is dense.
const SUMMARY_ROOM: usize = 2_000;

/// One episode with the messages that were found in it, best first.
struct Hit {
    episode: Episode,
    messages: Vec<(MessageKey, Range<usize>)>,
    best: Best,
    relevance: f64,
    /// The parts of the best one's score.
    parts: Vec<Part>,
}

/// What was found first.
enum Best {
    Message(Message),
    /// A part of the summary.
    Summary(Range<usize>),
}

/// The episodes that mean something like the task, best first.
pub(super) fn pass(asking: &Asking<'_>, found: &mut Found) -> Result<()> {
    let Reading { store, scope, now, .. } = *asking.reading;
    let (top_k, min) =
        (asking.settings.semantic_top_k as usize, asking.settings.min_relevance_score);
    if top_k == 0 {
        return Ok(());
    }
    let answer = asking.search(Kind::Episodes, top_k * MESSAGES_PER_EPISODE, &mut found.notes)?;
    let confidence = answer.confidence;
    let mut kept = 0;
    for one in &answer.results {
        if let (Item::Message { episode, .. }, Some(heir)) = (&one.item, one.superseded_by) {
            found.heirs.push((episode.id, heir));
        }
    }
    for hit in by_episode(answer.results, asking.request.session) {
        store.still_wanted()?;
        let (least, least_single) = least_relevance(&hit.episode, asking);
        let messages = store.messages_of(scope, &hit.episode)?;
        let candidate = candidate(asking, &hit, &messages);
        let has_room = kept < top_k && min < ONLY_THE_SURE;
        if let Some(name) = name_in(&hit, &found.names).filter(|_| has_room) {
            kept += 1;
            let reason = format!("{}; it mentions {name}", candidate.reason);
            found.candidates.push(Candidate { reason, ..candidate });
        } else if confidence < least {
            let why =
                format!("only {confidence:.2} sure that this is talked about, {least:.2} wanted");
            found.drop(candidate, now, why);
        } else if hit.relevance < least_single {
            let why = format!("relevance {:.2} is below {least_single:.2}", hit.relevance);
            found.drop(candidate, now, why);
        } else if kept == top_k {
            let why = format!("only {top_k} episodes are wanted");
            found.drop(candidate, now, why);
        } else {
            kept += 1;
            found.candidates.push(candidate);
        }
    }
    Ok(())
}

/// Kind and number of an episode for the receipt.
pub(super) fn receipt_key(episode: &Episode) -> (ItemKind, i64) {
    (ItemKind::Summary, episode.id)
}

/// The line above an episode: its day, and its channel and project where they say something.
pub(super) fn head(episode: &Episode, asking: &Asking<'_>) -> String {
    let day = |at| chunk::written_day(chunk::day_of(at, asking.reading.zone));
    let mut head = day(episode.started_at);
    if episode.state == EpisodeState::Compressed {
        let until = Some(day(episode.ended_at)).filter(|until| *until != head);
        let until = until.map(|until| format!(" to {until}")).unwrap_or_default();
        head = format!("{head}{until}, summary");
    }
    let is_other = |project: &&str| Some(*project) != asking.request.project;
    let project = episode.project.as_deref().filter(is_other);
    for place in [episode.channel.as_deref(), project].into_iter().flatten() {
        head.push_str(", ");
        let is_plain = |c: &char| c.is_alphanumeric() || "/._-:~@ ".contains(*c);
        head.extend(place.chars().filter(is_plain).take(60));
    }
    one_line(&head)
}

/// Who said a message: their name, else their role.
pub(super) fn speaker(message: &Message) -> String {
    one_line(message.speaker.as_deref().unwrap_or(&message.role)).chars().take(40).collect()
}

/// What a message says: its text, else what describes the attachment.
pub(super) fn words(message: &Message) -> &str {
    match &message.caption {
        Some(caption) if message.text.trim().is_empty() => caption,
        _ => &message.text,
    }
}

/// The results as episodes, the one with the best message first; never the running session.
fn by_episode(results: Vec<search::Found>, running: Option<&str>) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut places: HashMap<i64, usize> = HashMap::new();
    for found in results {
        let (message, episode) = match found.item {
            Item::Message { message, episode } => (message, episode),
            Item::Summary(episode) => {
                let best = Best::Summary(found.best);
                let (relevance, parts) = (found.relevance, found.parts);
                hits.push(Hit { episode, messages: Vec::new(), best, relevance, parts });
                continue;
            }
            _ => continue,
        };
        if Some(episode.session_id.as_str()) == running {
            continue;
        }
        let here = (message.key, found.best);
        match places.get(&episode.id) {
            Some(place) => {
                let hit = &mut hits[*place];
                hit.relevance = hit.relevance.max(found.relevance);
                hit.messages.push(here);
            }
            None => {
                places.insert(episode.id, hits.len());
                let (relevance, parts) = (found.relevance, found.parts);
                let best = Best::Message(message);
                hits.push(Hit { episode, messages: vec![here], best, relevance, parts });
            }
        }
    }
    hits
}

/// A name of the task that a message of the hit speaks of, however little else of the task it has.
fn name_in<'a>(hit: &Hit, names: &'a [String]) -> Option<&'a String> {
    let said = match &hit.best {
        Best::Message(message) => words(message).to_lowercase(),
        Best::Summary(_) => hit.episode.body.as_deref().unwrap_or_default().to_lowercase(),
    };
    names.iter().filter(|name| name.chars().count() > 2).find(|name| {
        let name = name.to_lowercase();
        said.match_indices(&name).any(|(at, _)| {
            let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !is_letter(said[..at].chars().next_back())
                && !is_letter(said[at + name.len()..].chars().next())
        })
    })
}

/// How sure we must be of the whole answer, and of a single episode.
fn least_relevance(episode: &Episode, asking: &Asking<'_>) -> (f64, f64) {
    let is_other = match (episode.project.as_deref(), asking.request.project) {
        (Some(theirs), Some(ours)) => theirs != ours,
        _ => false,
    };
    let margin = if is_other { OTHER_PROJECT_MARGIN } else { 0.0 };
    let least = asking.settings.min_relevance_score;
    (whole_threshold(least) + margin, single_threshold(least) + margin)
}

fn candidate(asking: &Asking<'_>, hit: &Hit, messages: &[Message]) -> Candidate {
    let (text, short, reason) = match &hit.best {
        Best::Summary(range) => {
            let body = hit.episode.body.as_deref().unwrap_or_default();
            let reason = "the summary of earlier conversations answers the task".to_owned();
            (excerpt(body, range, SUMMARY_ROOM), excerpt(body, range, SHORT_ROOM), reason)
        }
        Best::Message(best) => {
            let range = hit.messages.first().map_or(0..0, |(_, range)| range.clone());
            let text = match messages.is_empty() {
                true => line_of(best, &range, FOUND_ROOM),
                false => relevant_part(messages, &hit.messages),
            };
            let reason = format!("{} of its messages answer the task", hit.messages.len());
            (text, line_of(best, &range, SHORT_ROOM), reason)
        }
    };
    Candidate {
        thing: Thing {
            name: format!("episode:{}", hit.episode.id),
            section: Section::Episodes,
            key: Some(receipt_key(&hit.episode)),
            head: head(&hit.episode, asking),
            text,
            short: Some(short),
            at: Some(hit.episode.ended_at),
            weight: 1.0,
            trust: trust_of(hit, messages),
        },
        pass: Pass::Semantic,
        relevance: Some(hit.relevance),
        evidence: hit.parts.clone(),
        reason,
    }
}

/// How far the words that are shown of a hit can be trusted.
fn trust_of(hit: &Hit, messages: &[Message]) -> Trust {
    match &hit.best {
        Best::Summary(_) => Trust::Agent,
        Best::Message(best) if messages.is_empty() => provenance::of_message(best),
        Best::Message(_) => {
            let hits = places(messages, &hit.messages);
            let shown = messages.iter().enumerate();
            let shown =
                shown.filter(|(place, _)| hits.contains_key(place) || is_near(&hits, *place));
            provenance::of_messages(shown.map(|(_, message)| message))
        }
    }
}

/// Where the messages that were found stand among all of the episode.
fn places<'a>(
    messages: &[Message],
    found: &'a [(MessageKey, Range<usize>)],
) -> HashMap<usize, &'a Range<usize>> {
    let place_of = |key: MessageKey| messages.iter().position(|message| message.key == key);
    found.iter().filter_map(|(key, range)| Some((place_of(*key)?, range))).collect()
}

/// Whether a message stands right before or after one that was found.
fn is_near(hits: &HashMap<usize, &Range<usize>>, place: usize) -> bool {
    hits.contains_key(&(place + 1)) || place.checked_sub(1).is_some_and(|p| hits.contains_key(&p))
}

/// The messages that were found, with the one before and after each; `…` where others were left out.
fn relevant_part(messages: &[Message], found: &[(MessageKey, Range<usize>)]) -> String {
    let hits = places(messages, found);
    let mut lines: Vec<String> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        match hits.get(&place) {
            Some(range) => lines.push(line_of(message, range, FOUND_ROOM)),
            None if is_near(&hits, place) => lines.push(line_of(message, &(0..0), NEIGHBOUR_ROOM)),
            None if lines.last().is_none_or(|line| line != "…") => lines.push("…".to_owned()),
            None => {}
        }
    }
    lines.join("\n")
}

fn line_of(message: &Message, range: &Range<usize>, room: usize) -> String {
    // Further lines are set in, so that none of them can pose as another speaker.
    let said = excerpt(words(message), range, room).replace('\n', "\n  ");
    format!("{}: {said}", speaker(message))
}

/// The part of a text around a range, of about `room` characters, with `…` where it was cut.
fn excerpt(text: &str, around: &Range<usize>, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.trim().to_owned();
    }
    let before_range = text.get(..around.start).unwrap_or("").chars().count();
    let range_length = text.get(around.clone()).unwrap_or("").chars().count();
    let slack = room.saturating_sub(range_length) / 2;
    let start = before_range.saturating_sub(slack).min(length - room);
    let kept: String = text.chars().skip(start).take(room).collect();
    let front = if start > 0 { "…" } else { "" };
    let back = if start + room < length { "…" } else { "" };
    format!("{front}{}{back}", kept.trim())
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::{SessionKey, UserNumber};
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn messages(count: i64) -> Vec<Message> {
        let session = SessionKey::new(UserNumber::OWNER, 0).unwrap();
        (0..count)
            .map(|place| Message {
                key: MessageKey::new(session, place).unwrap(),
                episode: 1,
                at: Timestamp::UNIX_EPOCH,
                role: "user".to_owned(),
                speaker: None,
                text: format!("m{place}"),
                caption: None,
            })
            .collect()
    }

    #[test]
    fn a_find_is_shown_with_its_neighbours_and_dots_for_the_rest() {
        let all = messages(8);
        let part = relevant_part(&all, &[(all[4].key, 0..2)]);
        assert_eq!(part, "…\nuser: m3\nuser: m4\nuser: m5\n…");
    }

    #[test]
    fn an_excerpt_is_cut_around_what_was_found() {
        let text = format!("{}needle{}", "a".repeat(500), "b".repeat(500));
        let cut = excerpt(&text, &(500..506), 100);
        assert!(cut.contains("needle") && cut.starts_with('…') && cut.ends_with('…'));
        assert_eq!(excerpt("short", &(0..0), 100), "short");
    }

    proptest! {
        #[test]
        fn an_excerpt_never_fails_and_stays_in_its_room(
            text in any::<String>(), start in 0..300_usize, length in 0..300_usize, room in 1..100_usize,
        ) {
            let cut = excerpt(&text, &(start..start + length), room);
            prop_assert!(cut.chars().count() <= room + 2);
        }
    }
}
