//! What the results of a search could be narrowed to: where they come from and when, counted among them.

use hermes_store::memory::{Memory, Scope};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::Visit;
use hermes_app::hit::Hit;

/// One thing that could be chosen.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    pub(super) name: String,
    #[serde(skip)]
    pub(super) address: String,
    pub(super) is_here: bool,
}

/// One way to narrow the results.
#[derive(Debug, Serialize)]
pub(super) struct Facet {
    /// As the address says it.
    name: &'static str,
    /// As the page says it.
    #[serde(skip)]
    pub(super) title: &'static str,
    pub(super) values: Vec<Choice>,
}

/// How many values of each are offered.
const MOST: usize = 6;
/// How many letters of the results are looked through for names.
const READ: usize = 4_000;
/// How far back one may look at once.
const TIMES: [(&str, i64); 3] = [("1w", 7), ("1mo", 30), ("1y", 365)];

/// The names in each of the results: those that a fact is about, and known ones in its words.
pub(super) fn names(
    store: &Memory,
    scope: Scope,
    hits: &[Hit],
) -> anyhow::Result<Vec<Vec<String>>> {
    let mut words = String::new();
    for hit in hits.iter().take_while({
        let mut letters = 0;
        move |hit| {
            letters += hit.snippet.len();
            letters < READ
        }
    }) {
        words += &hit.snippet;
        words.push('\n');
    }
    let known = match words.is_empty() {
        true => Vec::new(),
        false => store.entities_in(scope, &words)?,
    };
    let names_of = |hit: &Hit| {
        let mut names = hit.entities.clone();
        let said = hit.snippet.to_lowercase();
        for entity in &known {
            if said.contains(&entity.name.to_lowercase()) && !names.contains(&entity.name) {
                names.push(entity.name.clone());
            }
        }
        names
    };
    Ok(hits.iter().map(names_of).collect())
}

/// What the results could be narrowed to; what would not narrow them is left out.
pub(super) fn of(visit: &Visit, hits: &[Hit], names: &[Vec<String>], now: Timestamp) -> Vec<Facet> {
    let each = |value: fn(&Hit) -> Option<&str>| hits.iter().filter_map(value).collect();
    let facets = [
        counted(visit, "entity", "name", names.iter().flatten().map(String::as_str).collect()),
        counted(visit, "source", "source", each(|hit| hit.source)),
        counted(visit, "project", "project", each(|hit| hit.project.as_deref())),
        counted(visit, "channel", "channel", each(|hit| hit.channel.as_deref())),
        counted(visit, "session", "conversation", each(|hit| hit.session_id.as_deref())),
        times(visit, hits, now),
    ];
    let narrows = |facet: &Facet| {
        let is_chosen = facet.values.iter().any(|value| value.is_here);
        facet.values.len() > 1 || is_chosen
    };
    facets.into_iter().filter(narrows).collect()
}

/// The values, the most frequent first; a click on the chosen one lets go of it.
fn counted(visit: &Visit, name: &'static str, title: &'static str, found: Vec<&str>) -> Facet {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for value in found {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let choice = |(value, count): (&str, usize)| {
        let is_here = visit.asked(name) == Some(value);
        Choice {
            name: format!("{value} ({count})"),
            address: visit.here_with(&[(name, if is_here { "" } else { value })]),
            is_here,
        }
    };
    Facet { name, title, values: counts.into_iter().take(MOST).map(choice).collect() }
}

fn times(visit: &Visit, hits: &[Hit], now: Timestamp) -> Facet {
    let choice = |(value, days): (&str, i64)| {
        let since = now - SignedDuration::from_hours(24 * days);
        let count = hits.iter().filter(|hit| hit.at.is_some_and(|at| at >= since)).count();
        let is_here = visit.asked("since") == Some(value);
        let choice = Choice {
            name: format!("last {} ({count})", told(days)),
            address: visit.here_with(&[("since", if is_here { "" } else { value })]),
            is_here,
        };
        (count > 0 && (count < hits.len() || is_here)).then_some(choice)
    };
    Facet { name: "since", title: "time", values: TIMES.into_iter().filter_map(choice).collect() }
}

fn told(days: i64) -> &'static str {
    match days {
        7 => "week",
        30 => "month",
        _ => "year",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(source: &'static str, days_ago: i64, now: Timestamp) -> Hit {
        let at = now - SignedDuration::from_hours(24 * days_ago);
        Hit { source: Some(source), at: Some(at), ..Hit::default() }
    }

    #[test]
    fn facets_count_what_was_found_and_leave_out_what_narrows_nothing() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let hits = [hit("user", 1, now), hit("user", 10, now), hit("import", 400, now)];
        let visit = Visit { path: "/p/default/search".to_owned(), ..Visit::default() };
        let names = vec![vec!["Rosa".to_owned()], vec![], vec![]];
        let facets = of(&visit, &hits, &names, now);
        let told: Vec<(&str, Vec<&str>)> = facets
            .iter()
            .map(|facet| (facet.name, facet.values.iter().map(|v| v.name.as_str()).collect()))
            .collect();
        let times = vec!["last week (1)", "last month (2)", "last year (2)"];
        assert_eq!(told, [("source", vec!["user (2)", "import (1)"]), ("since", times)]);
        assert_eq!(facets[0].values[0].address, "/p/default/search?source=user");
    }

    #[test]
    fn what_was_chosen_is_shown_and_can_be_let_go() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let query = vec![("source".to_owned(), "user".to_owned())];
        let visit = Visit { path: "/p/default/search".to_owned(), query, ..Visit::default() };
        let facets = of(&visit, &[hit("user", 1, now)], &[], now);
        assert!(facets[0].values[0].is_here);
        assert_eq!(facets[0].values[0].address, "/p/default/search");
    }
}
