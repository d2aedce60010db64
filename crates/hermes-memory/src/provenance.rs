//! How far words can be trusted, by who said them and how they came in.

use hermes_home::pasted;
use hermes_store::memory::{Episode, ItemKind, Memory, Message, Scope, Trust};

use crate::Result;

/// How far the words of a message can be trusted: the user's own, unless they were pasted in or somebody else said them.
pub fn of_message(message: &Message) -> Trust {
    match message.role.as_str() {
        "user" if message.speaker.is_some() => Trust::Untrusted,
        "user" => of_words(&message.text),
        "assistant" => Trust::Agent,
        _ => Trust::Untrusted,
    }
}

/// How far what a user sent can be trusted: what was pasted or piped in may be another's words.
pub fn of_words(text: &str) -> Trust {
    if pasted::is_pasted(text) { Trust::Agent } else { Trust::User }
}

/// The least trust of messages that are shown together.
pub(crate) fn of_messages<'a>(messages: impl Iterator<Item = &'a Message>) -> Trust {
    messages.map(of_message).min().unwrap_or(Trust::User)
}

/// Whether anything that was handed out is not the user's own words, by kind and number as a receipt has them; what
/// is no longer there counts as such.
pub fn is_below_user(store: &Memory, scope: Scope, items: &[(ItemKind, i64)]) -> Result<bool> {
    for kind in ItemKind::ALL {
        let of_kind = items.iter().filter(|(one, _)| *one == kind);
        let ids: Vec<i64> = of_kind.map(|(_, id)| *id).collect();
        if !ids.is_empty() && is_kind_below_user(store, scope, kind, &ids)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_kind_below_user(store: &Memory, scope: Scope, kind: ItemKind, ids: &[i64]) -> Result<bool> {
    let trusts: Vec<Trust> = match kind {
        ItemKind::Fact => store.facts(scope, ids)?.iter().map(|fact| fact.trust).collect(),
        ItemKind::Procedure => store.procedures(scope, ids)?.iter().map(|one| one.trust).collect(),
        ItemKind::Event => store.events(scope, ids)?.iter().map(|one| one.trust).collect(),
        // A receipt names an episode as a summary.
        ItemKind::Summary => {
            let episodes = store.episodes(scope, ids)?;
            episodes.iter().map(|one| of_episode(store, scope, one)).collect::<Result<_>>()?
        }
        ItemKind::Message => return Ok(true),
    };
    Ok(trusts.len() < ids.len() || trusts.iter().any(|trust| *trust < Trust::User))
}

fn of_episode(store: &Memory, scope: Scope, episode: &Episode) -> Result<Trust> {
    if episode.body.is_some() {
        return Ok(Trust::Agent);
    }
    Ok(of_messages(store.messages_of(scope, episode)?.iter()))
}
