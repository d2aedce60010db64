//! One copy of each thing, ranked by relevance and recency. A pure function.

use std::collections::HashMap;

use hermes_home::tokens;
use jiff::Timestamp;

use super::{Candidate, Item, Pass, Section, render};
use crate::search::Part;

/// How much relevance counts; the rest is recency.
const RELEVANCE_SHARE: f64 = 0.7;
/// What each further pass that found the same thing adds.
const AGREEMENT: f64 = 0.05;

/// Joins what the passes found: one item of each name, best first.
///
/// `score = weight · (0.7 · relevance + 0.3 · 2^(−age / half-life)) + 0.05 for each further pass`.
/// `relevance` is the highest that a pass gave, 0 if none judged it; the half-life is 30 days for
/// conversations and events, 180 for procedures, 365 for facts; `weight` is (1 + confidence) / 2 for
/// facts and the share of successes for procedures. Files score 1.
pub fn merge(candidates: Vec<Candidate>, now: Timestamp) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut places: HashMap<(Section, String), usize> = HashMap::new();
    for candidate in candidates {
        let key = (candidate.thing.section, candidate.thing.name.clone());
        match places.get(&key) {
            Some(place) => join(&mut items[*place], item_of(candidate, now)),
            None => {
                places.insert(key, items.len());
                items.push(item_of(candidate, now));
            }
        }
    }
    // Newest first among equals, then by name, so that the same memory gives the same context.
    items.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)).then_with(|| a.name.cmp(&b.name))
    });
    items
}

/// A candidate with its score and cost.
pub(super) fn item_of(candidate: Candidate, now: Timestamp) -> Item {
    let Candidate { thing, pass, relevance, evidence, reason } = candidate;
    let recency = thing.at.map_or(0.0, |at| freshness(at, now, half_life(thing.section)));
    let relevant = relevance.unwrap_or(0.0).clamp(0.0, 1.0);
    let part = |name, value| Part { name, value };
    let parts = match thing.section {
        Section::Files => vec![part("always loaded", 1.0)],
        _ => vec![
            part("relevance", thing.weight * RELEVANCE_SHARE * relevant),
            part("recency", thing.weight * (1.0 - RELEVANCE_SHARE) * recency),
        ],
    };
    let mut item = Item {
        name: thing.name,
        section: thing.section,
        head: thing.head,
        text: thing.text,
        tokens: 0,
        score: parts.iter().map(|part| part.value).sum(),
        parts,
        relevance,
        evidence,
        passes: vec![pass],
        reason,
        at: thing.at,
        key: thing.key,
        short: thing.short,
        trust: thing.trust,
    };
    item.tokens = tokens::estimate(&render::item(&item));
    item
}

/// The same thing found again: the words of the pass that judged it, and the better score.
fn join(kept: &mut Item, again: Item) {
    let is_new_pass = again.passes.iter().any(|pass| !kept.passes.contains(pass));
    let (mut passes, agreement) = (kept.passes.clone(), if is_new_pass { AGREEMENT } else { 0.0 });
    passes.extend(again.passes.iter().filter(|pass| !kept.passes.contains(pass)));
    let reason = if is_new_pass {
        format!("{}; {}", kept.reason, again.reason)
    } else {
        kept.reason.clone()
    };
    let better = if again.score > kept.score { &again } else { &*kept };
    let (score, mut parts) = (better.score + agreement, better.parts.clone());
    if is_new_pass {
        parts.push(Part { name: "another pass", value: agreement });
    }
    let mut evidence = kept.evidence.clone();
    evidence.extend(again.evidence.iter().filter(|part| !kept.evidence.contains(part)).cloned());
    if again.relevance > kept.relevance {
        *kept = again;
    }
    kept.parts = parts;
    kept.evidence = evidence;
    kept.passes = passes;
    kept.reason = reason;
    kept.score = score;
}

/// Whether an item is shown whatever its score: the latest conversations, and files.
pub(super) fn is_always_shown(item: &Item) -> bool {
    item.passes.iter().any(|pass| matches!(pass, Pass::Recency | Pass::File))
}

fn half_life(section: Section) -> f64 {
    match section {
        Section::Files | Section::Facts => 365.0,
        Section::Procedures => 180.0,
        Section::Events | Section::Episodes => 30.0,
    }
}

/// 1 for now, a half after the half-life; what is dated in the future counts as now.
fn freshness(at: Timestamp, now: Timestamp, half_life_days: f64) -> f64 {
    let days = (now.as_second().saturating_sub(at.as_second())).max(0) as f64 / 86_400.0;
    0.5_f64.powf(days / half_life_days)
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::{ItemKind, Trust};

    use super::*;
    use crate::retrieval::Thing;

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    fn episode(id: i64, pass: Pass, relevance: Option<f64>, days_ago: i64) -> Candidate {
        let at = Timestamp::from_second(now().as_second() - days_ago * 86_400).unwrap();
        Candidate {
            thing: Thing {
                name: format!("episode:{id}"),
                section: Section::Episodes,
                key: Some((ItemKind::Summary, id)),
                head: "8 May 2023".to_owned(),
                text: format!("text by {pass:?}"),
                short: None,
                at: Some(at),
                weight: 1.0,
                trust: Trust::User,
            },
            pass,
            relevance,
            evidence: relevance.map(|value| Part { name: "words", value }).into_iter().collect(),
            reason: format!("{pass:?}"),
        }
    }

    #[test]
    fn a_thing_found_twice_is_there_once_with_the_words_of_the_pass_that_judged_it() {
        let twice =
            vec![episode(1, Pass::Recency, None, 1), episode(1, Pass::Semantic, Some(0.9), 1)];
        let merged = merge(twice, now());
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].text, "text by Semantic");
        assert_eq!(merged[0].passes, [Pass::Recency, Pass::Semantic]);
        assert_eq!(merged[0].reason, "Recency; Semantic");
        let once = merge(vec![episode(1, Pass::Semantic, Some(0.9), 1)], now());
        assert!(merged[0].score > once[0].score);
        let named = |item: &Item| item.parts.iter().map(|part| part.name).collect::<Vec<_>>();
        assert_eq!(named(&merged[0]), ["relevance", "recency", "another pass"]);
        let sum: f64 = merged[0].parts.iter().map(|part| part.value).sum();
        assert!((sum - merged[0].score).abs() < 1e-9);
        assert_eq!(merged[0].evidence, [Part { name: "words", value: 0.9 }]);
    }

    #[test]
    fn what_is_relevant_beats_what_is_only_new_and_the_newer_wins_among_equals() {
        let all = vec![
            episode(1, Pass::Recency, None, 0),
            episode(2, Pass::Semantic, Some(0.8), 400),
            episode(3, Pass::Semantic, Some(0.8), 10),
        ];
        let order: Vec<_> = merge(all, now()).into_iter().map(|item| item.name).collect();
        assert_eq!(order, ["episode:3", "episode:2", "episode:1"]);
    }

    #[test]
    fn a_date_in_the_future_does_not_count_more_than_now() {
        assert_eq!(freshness(now(), now(), 30.0), 1.0);
        let later = Timestamp::from_second(now().as_second() + 9_000_000).unwrap();
        assert_eq!(freshness(later, now(), 30.0), 1.0);
        let earlier = Timestamp::from_second(now().as_second() - 30 * 86_400).unwrap();
        assert!((freshness(earlier, now(), 30.0) - 0.5).abs() < 1e-9);
    }
}
