//! The end of a session: what it taught is offered, one thing after the other, and only what is accepted is kept.

use std::collections::BTreeSet;

use hermes_home::memory_file;
use hermes_memory::extract::{self, Kind, Spoken, rules as drawing};
use hermes_memory::remember::{self, Approved, Pending, Remembered, Target, Wish};
use hermes_store::memory::{Memory, Message, NewSource, Trust};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;

use super::front::{Event, Front};
use super::slash::Place;
use hermes_app::fact_view::name_of;
use hermes_app::memory::OpenMemory;
use hermes_app::text::one_line;
use hermes_app::{later, rules};

/// More than this is not gone through at the end of a day.
const MOST: usize = 8;
/// What is less sure than this is not worth a question.
const SURE: f64 = 0.6;
const WIDTH: usize = 160;

/// Something that could be kept.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    statement: String,
    kind: Kind,
    target: Target,
    /// The user's own words.
    quote: String,
    /// The numbers of its episode and message.
    source: (i64, i64),
    said_at: jiff::Timestamp,
}

/// Why it is gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Somebody leaves: nothing is said where there is nothing.
    Leaving,
    /// Somebody asked for it.
    Asked,
}

/// Offers what a conversation taught; says how much was kept.
pub(crate) fn offer(
    place: &Place<'_>,
    front: &mut dyn Front,
    occasion: Occasion,
) -> anyhow::Result<usize> {
    if !front.is_interactive() {
        if occasion == Occasion::Asked {
            front.show(&Event::Notice(
                "nothing was stored: there is no terminal to ask for confirmation",
            ))?;
        }
        return Ok(0);
    }
    let memory = place.app.memory(place.home, Access::Read)?;
    let (candidates, pending) = match memory.exists {
        true => (candidates(place, &memory.store)?, waiting(place, &memory.store)?),
        false => (Vec::new(), Vec::new()),
    };
    drop(memory);
    let count = candidates.len() + pending.len();
    if count == 0 {
        if occasion == Occasion::Asked {
            front
                .show(&Event::Notice("there is nothing new to remember from this conversation"))?;
        }
        return Ok(0);
    }
    let question = match count {
        1 => "there is one thing to remember for next time; review it?".to_owned(),
        many => format!("there are {many} things to remember for next time; review them?"),
    };
    if occasion == Occasion::Leaving && !front.confirm(&question, "") {
        return Ok(0);
    }
    let mut memory = place.app.memory(place.home, Access::Write)?;
    let mut kept = 0;
    for candidate in &candidates {
        kept += usize::from(offer_one(place, front, &mut memory, candidate)?);
    }
    for one in &pending {
        kept += usize::from(offer_pending(place, front, &mut memory, one)?);
    }
    later::fill_in(place.home, place.app, &mut memory.store)?;
    Ok(kept)
}

/// Writes something to a memory file, with a fact that says the same; for what a person agreed to.
pub(crate) fn keep(
    place: &Place<'_>,
    memory: &mut OpenMemory,
    wish: &Wish<'_>,
) -> anyhow::Result<Remembered> {
    let mut rules = rules::of_learning(place.app, place.home, &memory.store)?;
    // The person said yes to these very words.
    rules.auto_write = true;
    let scope = place.asker.scope;
    Ok(remember::remember(&mut memory.store, scope, wish, &rules, place.app.change())?)
}

/// Says what became of something that was to be kept.
pub(crate) fn tell(front: &mut dyn Front, became: &Remembered) -> anyhow::Result<bool> {
    match became {
        Remembered::Written(written) => {
            let id = name_of(written.fact);
            front.show(&Event::Remembered {
                id: &id,
                text: &written.entry,
                undo: written.is_new,
            })?;
            for moved in &written.moved {
                let moved = one_line(moved, WIDTH);
                front.show(&Event::Notice(&format!(
                    "to make room, this entry was moved from the file to a fact: {moved}"
                )))?;
            }
            Ok(true)
        }
        Remembered::Proposed { proposal, why, .. } => {
            let text = format!("not written: {why}; it waits for approval as proposal:{proposal}");
            front.show(&Event::Notice(&text))?;
            Ok(false)
        }
        Remembered::Buried => {
            front.show(&Event::Notice("not written, because you deleted it before"))?;
            Ok(false)
        }
    }
}

fn offer_one(
    place: &Place<'_>,
    front: &mut dyn Front,
    memory: &mut OpenMemory,
    candidate: &Candidate,
) -> anyhow::Result<bool> {
    let detail = format!(
        "  {}\n  you said: “{}”",
        one_line(&candidate.statement, WIDTH),
        one_line(&candidate.quote, WIDTH)
    );
    if !front.confirm(&format!("store it in {}?", file(candidate.target)), &detail) {
        return Ok(false);
    }
    let source = NewSource {
        episode: Some(candidate.source.0),
        message: Some(candidate.source.1),
        quote: Some(&candidate.quote),
        extractor: Some(drawing::EXTRACTOR),
    };
    let wish = Wish {
        text: &candidate.statement,
        target: candidate.target,
        fact: None,
        kind: candidate.kind.as_str(),
        predicate: None,
        sources: &[source],
        said_at: candidate.said_at,
        trust: Trust::User,
        is_explicit: true,
        origin: "wrap_up",
    };
    tell(front, &keep(place, memory, &wish)?)
}

fn offer_pending(
    place: &Place<'_>,
    front: &mut dyn Front,
    memory: &mut OpenMemory,
    one: &Pending,
) -> anyhow::Result<bool> {
    let with = one.with.as_deref().map(|with| format!(" → {with}")).unwrap_or_default();
    let detail = format!("  {}{with}\n  {}", one_line(&one.text, WIDTH), one.why);
    let way = match one.does {
        "add" => "add it to",
        "replace" => "change it in",
        _ => "remove it from",
    };
    if !front.confirm(&format!("{way} {}?", file(one.file)), &detail) {
        return Ok(false);
    }
    let rules = rules::of_learning(place.app, place.home, &memory.store)?;
    let (scope, change) = (place.asker.scope, place.app.change());
    match remember::approve(&mut memory.store, scope, one.id, &rules, change)? {
        Approved::Written(written) => tell(front, &Remembered::Written(written)),
        Approved::Removed { path, .. } | Approved::Replaced { path, .. } => {
            front.show(&Event::Notice(&format!("{} was changed", path.display())))?;
            Ok(true)
        }
        Approved::Outdated { .. } => {
            front.show(&Event::Notice(
                "the entry has changed in the meantime; nothing was changed",
            ))?;
            Ok(false)
        }
    }
}

fn file(target: Target) -> &'static str {
    match target {
        Target::Memory => "MEMORY.md",
        Target::User => "USER.md",
    }
}

/// What the rules find in the user's own words, and the memory files do not say yet.
fn candidates(place: &Place<'_>, store: &Memory) -> anyhow::Result<Vec<Candidate>> {
    let scope = place.asker.scope;
    let zone = place.app.zone_of(place.home, store, scope.user())?;
    let mut said = Vec::new();
    for session in store.sessions_named(scope, place.session)? {
        for episode in store.episodes_of(scope, session.key)? {
            said.extend(store.messages_of(scope, &episode)?);
        }
    }
    let known = known_entries(place)?;
    let mut found = drawn(&said, &zone);
    found.retain(|one| !known.contains(&flat(&one.statement)));
    found.truncate(MOST);
    Ok(found)
}

/// What could be kept of messages, each thing once; what was asked for in so many words is kept already.
fn drawn(said: &[Message], zone: &TimeZone) -> Vec<Candidate> {
    let words: Vec<(&str, &str)> =
        said.iter().map(|one| (one.role.as_str(), one.text.as_str())).collect();
    let mut found: Vec<Candidate> = Vec::new();
    for (place, message) in said.iter().enumerate() {
        let spoken = Spoken {
            role: &message.role,
            text: &message.text,
            before: &words[place.saturating_sub(2)..place],
            at: message.at,
            zone,
        };
        for one in drawing::draw(&spoken) {
            let is_new = found.iter().all(|known| flat(&known.statement) != flat(&one.statement));
            if one.is_explicit || one.confidence < SURE || !is_new {
                continue;
            }
            found.push(Candidate {
                target: extract::target_of(one.kind),
                kind: one.kind,
                quote: message.text.get(one.quote.clone()).unwrap_or_default().to_owned(),
                source: (message.episode, message.key.get()),
                said_at: message.at,
                statement: one.statement,
            });
        }
    }
    found
}

/// The entries of the memory files of whoever asks.
fn known_entries(place: &Place<'_>) -> anyhow::Result<BTreeSet<String>> {
    use hermes_home::layout::MemoryTarget;
    let mut known = BTreeSet::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(place.asker.user.clone())] {
        let rules = rules::of_file(place.app, place.home, &target)?;
        let file = memory_file::read(place.home, &target, rules)?;
        known.extend(file.document.entries().iter().map(|entry| flat(&entry.text)));
    }
    Ok(known)
}

/// Proposals that came of this very session.
fn waiting(place: &Place<'_>, store: &Memory) -> anyhow::Result<Vec<Pending>> {
    let scope = place.asker.scope;
    let mut episodes = BTreeSet::new();
    for session in store.sessions_named(scope, place.session)? {
        episodes.extend(store.episodes_of(scope, session.key)?.iter().map(|episode| episode.id));
    }
    let pending = remember::pending(store, scope)?;
    let ours =
        pending.into_iter().filter(|one| one.episode.is_some_and(|id| episodes.contains(&id)));
    Ok(ours.take(MOST).collect())
}

fn flat(text: &str) -> String {
    text.trim().trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::MessageKey;

    use super::*;

    fn said(role: &str, text: &str) -> Message {
        Message {
            key: MessageKey::from_row(7),
            episode: 3,
            at: "2026-06-01T10:00:00Z".parse().unwrap(),
            role: role.to_owned(),
            speaker: None,
            text: text.to_owned(),
            caption: None,
        }
    }

    fn statements(messages: &[Message]) -> Vec<String> {
        drawn(messages, &TimeZone::UTC).into_iter().map(|one| one.statement).collect()
    }

    #[test]
    fn only_the_users_own_words_are_offered_and_each_thing_once() {
        let talk = [
            said("user", "I prefer short answers."),
            said("assistant", "I prefer long answers."),
            said("user", "As I said: I prefer short answers."),
        ];
        assert_eq!(statements(&talk), ["User prefers short answers"]);
    }

    #[test]
    fn what_was_asked_to_be_remembered_is_not_offered_again() {
        assert!(statements(&[said("user", "Remember that I prefer tea.")]).is_empty());
        assert!(statements(&[said("user", "What time is it?")]).is_empty());
    }

    #[test]
    fn what_is_about_the_user_goes_to_their_file() {
        let found = drawn(&[said("user", "I prefer short answers.")], &TimeZone::UTC);
        assert_eq!(found[0].target, Target::User);
        assert_eq!((found[0].quote.as_str(), found[0].source), ("I prefer short answers", (3, 7)));
        assert_eq!(extract::target_of(Kind::Tool), Target::Memory);
    }
}
