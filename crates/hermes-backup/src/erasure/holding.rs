//! Which backups still hold what was erased, and when the rules that keep them let each go.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::folder::{Backup, Folder, Happened};
use crate::name::ArchiveName;
use crate::retention::{self, Candidate, Policy};
use crate::whose::Whose;

/// A backup that holds what was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBy {
    /// Its id.
    pub id: String,
    /// Where: the file, or the place off this host.
    pub place: String,
    /// When it was made.
    pub made: Timestamp,
    /// Its SHA-256, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The night in which the rules let it go, if everything goes on as it is; none: never by itself.
    pub ends_at: Option<Timestamp>,
    /// The same in words.
    pub ends: String,
}

/// When backups are made: the next one, and then every night.
#[derive(Debug, Clone, Copy)]
pub struct Nights {
    /// The next one.
    pub next: Timestamp,
}

/// What is known of how long backups stay.
#[derive(Debug)]
pub struct Rules<'a> {
    /// What keeps those in the folder.
    pub here: &'a Policy,
    /// What keeps those at places: the name of a place, and its rule if it has one.
    pub places: &'a [(String, Option<Policy>)],
    /// When the next ones come; none if nothing makes any by itself.
    pub nights: Option<Nights>,
    /// The zone in which days are counted.
    pub zone: &'a TimeZone,
    /// Now.
    pub now: Timestamp,
}

/// How far ahead is looked: what stays longer is told as staying.
const MOST_NIGHTS: u32 = 3660;

/// Every archive of this home that was made while the person was known, here and at places.
pub fn holding(
    folder: &Folder,
    profile: &str,
    since: Timestamp,
    rules: &Rules<'_>,
) -> Result<Vec<HeldBy>> {
    let is_held = |name: &ArchiveName, made: Timestamp| {
        (name.what == "all" || name.what == profile) && made >= since
    };
    let all = folder.list()?;
    let ours: Vec<&Backup> = all.iter().filter(|one| one.whose != Whose::Other).collect();
    let ends = ends_of(&ours, rules.here, rules);
    let mut held = Vec::new();
    for one in ours.iter().filter(|one| is_held(&one.name, one.made())) {
        let id = one.name.id();
        let what = if one.whose == Whose::Ours { ends.get(&id).copied().flatten() } else { None };
        held.push(HeldBy {
            place: one.path.display().to_string(),
            made: one.made(),
            sha256: one.sidecar.as_ref().map(|sidecar| sidecar.sha256.clone()),
            ends: in_words(what, rules.nights.is_some(), one.whose),
            ends_at: what,
            id,
        });
    }
    held.extend(at_places(folder, &ours, rules)?.into_iter().filter(|one| one.made >= since));
    Ok(held)
}

/// What was sent away and not deleted there, as the history tells it.
fn at_places(folder: &Folder, ours: &[&Backup], rules: &Rules<'_>) -> Result<Vec<HeldBy>> {
    let mut there: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut made: BTreeMap<String, Timestamp> = BTreeMap::new();
    for event in folder.history()? {
        let (Some(id), place) = (event.id, event.place) else { continue };
        match (event.what, place) {
            (Happened::Created | Happened::CreatedDamaged, _) => {
                made.insert(id, event.at);
            }
            (Happened::Pushed, Some(place)) => {
                there.entry(place).or_default().insert(id);
            }
            (Happened::PrunedAt, Some(place)) => {
                there.entry(place).or_default().remove(&id);
            }
            _ => {}
        }
    }
    let mut held = Vec::new();
    for (place, ids) in there {
        let policy = rules.places.iter().find(|(name, _)| *name == place);
        let policy = policy.and_then(|(_, policy)| policy.as_ref());
        let local = |id: &String| ours.iter().find(|one| one.name.id() == *id);
        let candidates: Vec<Candidate> = ids
            .iter()
            .filter_map(|id| {
                let made = local(id).map(|one| one.made()).or_else(|| made.get(id).copied())?;
                let what = local(id).map_or_else(|| "all".to_owned(), |one| one.name.what.clone());
                Some(Candidate { id: id.clone(), what, made, verified: true, damaged: false })
            })
            .collect();
        let ends = match policy {
            Some(policy) => simulate(&candidates, policy, rules),
            None => BTreeMap::new(),
        };
        for one in candidates {
            let ends_at = ends.get(&one.id).copied().flatten();
            held.push(HeldBy {
                sha256: local(&one.id).and_then(|one| Some(one.sidecar.as_ref()?.sha256.clone())),
                place: place.clone(),
                made: one.made,
                ends: match policy {
                    None => "never: this remote has no retention rules (`keep=`); delete it there"
                        .to_owned(),
                    Some(_) => in_words(ends_at, rules.nights.is_some(), Whose::Ours),
                },
                ends_at,
                id: one.id,
            });
        }
    }
    Ok(held)
}

fn ends_of(
    ours: &[&Backup],
    policy: &Policy,
    rules: &Rules<'_>,
) -> BTreeMap<String, Option<Timestamp>> {
    let candidates: Vec<Candidate> =
        ours.iter().filter(|one| one.whose == Whose::Ours).map(|one| Candidate::of(one)).collect();
    simulate(&candidates, policy, rules)
}

/// Lets the nights come one by one, with a good backup in each, until the rules keep none of these any more.
fn simulate(
    candidates: &[Candidate],
    policy: &Policy,
    rules: &Rules<'_>,
) -> BTreeMap<String, Option<Timestamp>> {
    let mut ends: BTreeMap<String, Option<Timestamp>> =
        candidates.iter().map(|one| (one.id.clone(), None)).collect();
    let Some(nights) = rules.nights else { return ends };
    let mut there: Vec<Candidate> = candidates.to_vec();
    let mut night = nights.next.max(rules.now);
    for number in 0..MOST_NIGHTS {
        if !there.iter().any(|one| ends.contains_key(&one.id)) {
            break;
        }
        let (id, what) = (format!("night {number}"), "all".to_owned());
        there.push(Candidate { id, what, made: night, verified: true, damaged: false });
        let Ok(decided) = retention::choose(&there, policy, night, rules.zone) else { break };
        let going: BTreeSet<String> =
            decided.into_iter().filter(|one| one.kept_by.is_empty()).map(|one| one.id).collect();
        there.retain(|one| !going.contains(&one.id));
        for id in going {
            if let Some(end) = ends.get_mut(&id) {
                *end = Some(night);
            }
        }
        night = night.checked_add(SignedDuration::from_hours(24)).unwrap_or(night);
    }
    ends
}

fn in_words(ends: Option<Timestamp>, has_nights: bool, whose: Whose) -> String {
    match ends {
        _ if whose != Whose::Ours => {
            "never: Hermes cannot tell whether this home made it; delete it by hand".to_owned()
        }
        Some(at) => format!("about {}, by the retention rules", at.strftime("%Y-%m-%d")),
        None if !has_nights => {
            "never automatically: no schedule makes newer backups; delete it with `hermes backup \
             delete`"
                .to_owned()
        }
        None => {
            "never: the retention rules keep it; delete it with `hermes backup delete`".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(day: i8) -> Candidate {
        let made = jiff::civil::date(2026, 11, day).at(3, 30, 0, 0).to_zoned(TimeZone::UTC);
        Candidate {
            id: format!("b{day}"),
            what: "all".to_owned(),
            made: made.unwrap().timestamp(),
            verified: true,
            damaged: false,
        }
    }

    fn ends(policy: &str, nights: bool) -> BTreeMap<String, Option<Timestamp>> {
        let all: Vec<Candidate> = (1..=4).map(candidate).collect();
        let now: Timestamp = "2026-11-04T12:00:00Z".parse().unwrap();
        let next = "2026-11-05T03:30:00Z".parse().unwrap();
        let policy: Policy = policy.parse().unwrap();
        let rules = Rules {
            here: &policy,
            places: &[],
            nights: nights.then_some(Nights { next }),
            zone: &TimeZone::UTC,
            now,
        };
        simulate(&all, &policy, &rules)
    }

    #[test]
    fn each_backup_goes_in_the_night_when_enough_newer_ones_are_there() {
        let ends = ends("last:4", true);
        let at = |day: &str| Some(format!("2026-11-{day}T03:30:00Z").parse().unwrap());
        assert_eq!(ends["b1"], at("05"));
        assert_eq!(ends["b4"], at("08"));
    }

    #[test]
    fn rules_of_months_keep_longer_and_without_nights_nothing_ends() {
        let longer = ends("last:2,monthly:3", true);
        assert_eq!(longer["b2"], Some("2026-11-05T03:30:00Z".parse().unwrap()));
        assert!(longer["b1"] > Some("2027-01-01T00:00:00Z".parse().unwrap()), "{longer:?}");
        assert!(ends("last:2", false).values().all(Option::is_none));
    }
}
