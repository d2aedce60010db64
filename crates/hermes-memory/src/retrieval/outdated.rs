//! Conversations that no longer hold are shown as such, with the fact that holds now.

use hermes_store::memory::{Fact, ItemKind};

use super::{Asking, Found, Section, entity};
use crate::Result;
use crate::search::heir_of_episode;

/// Marks every episode of which nothing that was drawn still holds, and proposes what holds instead.
pub(super) fn settle(asking: &Asking<'_>, found: &mut Found) -> Result<()> {
    let mut heirs: Vec<(Fact, f64, String)> = Vec::new();
    for candidate in &mut found.candidates {
        let thing = &mut candidate.thing;
        let Some((ItemKind::Summary, episode)) =
            thing.key.filter(|_| thing.section == Section::Episodes)
        else {
            continue;
        };
        let Some(heir) = heir_of_episode(asking.store, asking.scope, episode)? else { continue };
        if !entity::holds(&heir, asking.request.now) {
            continue;
        }
        thing.head = format!("{}, superseded by fact:{:03}", thing.head, heir.id);
        let relevance = candidate.relevance.unwrap_or(0.0);
        candidate.relevance = candidate.relevance.map(|relevance| relevance * OUTDATED);
        heirs.push((heir, relevance, thing.name.clone()));
    }
    for (heir, relevance, episode) in heirs {
        let reason = format!("holds in the place of what was said in {episode}");
        found.candidates.push(entity::candidate(asking.request, &heir, relevance, reason));
    }
    Ok(())
}

/// How much what no longer holds counts.
const OUTDATED: f64 = 0.5;
