//! Conversations that no longer hold are shown as such, with the fact that holds now.

use hermes_store::memory::{Fact, ItemKind};

use super::{Asking, Found, Section, entity};
use crate::Result;
use crate::search::{Part, heir_of_episode};

/// How much what no longer holds counts.
const OUTDATED: f64 = 0.1;
/// So many times the outdated words must make up what is shown of an episode.
const LEAST_SHARE: usize = 4;

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
        let heir = match heir_of_episode(asking.reading.store, asking.reading.scope, episode)? {
            Some(heir) => Some(heir),
            None => {
                let known = found.heirs.iter().find(|(stale, _)| *stale == episode);
                let ids: Vec<i64> = known.map(|(_, heir)| *heir).into_iter().collect();
                let heir =
                    asking.reading.store.facts(asking.reading.scope, &ids)?.into_iter().next();
                heir.map(|heir| (heir, 0))
            }
        };
        let Some((heir, quoted)) = heir else { continue };
        if !entity::holds(&heir, asking.reading.now) {
            continue;
        }
        // A long talk of which a few words are outdated is worth what it was.
        let is_all = quoted * LEAST_SHARE >= thing.text.len();
        let how = if is_all { "superseded" } else { "partly superseded" };
        thing.head = format!("{}, {how} by fact:{:03}", thing.head, heir.id);
        if is_all {
            thing.weight *= OUTDATED;
        }
        let relevance = candidate.relevance.unwrap_or(0.0);
        heirs.push((heir, relevance, thing.name.clone()));
    }
    for (heir, relevance, episode) in heirs {
        let reason = format!("holds in the place of what was said in {episode}");
        let evidence = vec![Part { name: "what it replaces", value: relevance }];
        found.candidates.push(entity::candidate(asking, &heir, relevance, evidence, reason));
    }
    Ok(())
}
