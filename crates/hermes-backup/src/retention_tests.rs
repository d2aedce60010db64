//! Tests of retention: what restic documents, and what must always hold.

use proptest::prelude::*;

use super::*;

fn good(id: &str, made: &str) -> Candidate {
    let made = made.parse().unwrap();
    Candidate { id: id.to_owned(), what: "all".to_owned(), made, verified: true, damaged: false }
}

fn unverified(id: &str, made: &str) -> Candidate {
    Candidate { verified: false, ..good(id, made) }
}

fn day(number: i64) -> Timestamp {
    let first: Timestamp = "2020-01-01T03:30:00Z".parse().unwrap();
    first + SignedDuration::from_hours(24 * number)
}

fn policy(text: &str) -> Policy {
    text.parse().unwrap()
}

fn kept(backups: &[Candidate], rules: &str) -> Vec<String> {
    let now = "2200-01-01T00:00:00Z".parse().unwrap();
    let decisions = choose(backups, &policy(rules), now, &TimeZone::UTC).unwrap();
    decisions.into_iter().filter(|one| !one.kept_by.is_empty()).map(|one| one.id).collect()
}

#[test]
fn days_without_a_backup_do_not_count() {
    let all = [
        good("a1", "2026-05-01T08:00:00Z"),
        good("a2", "2026-05-02T08:00:00Z"),
        good("a3", "2026-05-02T11:00:00Z"),
        good("a4", "2026-05-04T09:00:00Z"),
        good("a5", "2026-05-05T10:00:00Z"),
    ];
    for (rules, expected) in [
        ("daily:4", &["a5", "a4", "a3", "a1"][..]),
        ("daily:2", &["a5", "a4"]),
        ("last:1", &["a5"]),
        ("last:2,daily:3", &["a5", "a4", "a3"]),
        ("within:2d", &["a5", "a4"]),
        ("within:3d", &["a5", "a4", "a3"]),
        ("within:3d2h", &["a5", "a4", "a3"]),
        ("within:3d3h", &["a5", "a4", "a3", "a2"]),
        ("last:1,within:1d", &["a5"]),
    ] {
        assert_eq!(kept(&all, rules), expected, "{rules}");
    }
}

#[test]
fn the_oldest_stays_while_there_are_places_left() {
    let all = [
        good("first", "2024-01-02T13:42:44Z"),
        good("second", "2024-01-03T01:04:38Z"),
        good("third", "2024-01-04T20:09:54Z"),
        good("fourth", "2024-01-04T20:20:32Z"),
    ];
    assert_eq!(kept(&all, "monthly:4"), ["fourth", "first"]);
    assert_eq!(kept(&all, "monthly:1"), ["fourth"]);
}

#[test]
fn a_backup_on_each_sunday_is_one_of_a_day_and_of_a_week() {
    let all: Vec<Candidate> = (0..10)
        .map(|week| Candidate {
            made: day(4 + 7 * week),
            ..good(&week.to_string(), "2020-01-05T00:00:00Z")
        })
        .collect();
    for rules in ["daily:4", "weekly:4", "hourly:4", "last:4"] {
        assert_eq!(kept(&all, rules), ["9", "8", "7", "6"], "{rules}");
    }
}

#[test]
fn a_hundred_years_of_nightly_backups_shrink_to_about_a_hundred() {
    let all: Vec<Candidate> = (0..36_500)
        .map(|number| Candidate {
            made: day(number),
            ..good(&number.to_string(), "2020-01-01T00:00:00Z")
        })
        .collect();
    let count = kept(&all, "daily:7,weekly:5,monthly:12,yearly:75").len();
    // Seven days, four more weeks, eleven more months, seventy-four more years; one may serve twice.
    assert!((95..=96).contains(&count), "{count}");
    assert_eq!(kept(&all, "last:14").len(), 14);
}

#[test]
fn a_week_is_that_of_the_calendar_and_a_day_that_of_the_zone() {
    let sunday_and_monday =
        [good("sun", "2026-01-04T12:00:00Z"), good("mon", "2026-01-05T12:00:00Z")];
    assert_eq!(kept(&sunday_and_monday, "weekly:2"), ["mon", "sun"]);
    // The last days of 2025 are in the first week of 2026.
    let turn = [
        good("old", "2025-12-29T12:00:00Z"),
        good("mid", "2025-12-31T12:00:00Z"),
        good("new", "2026-01-02T12:00:00Z"),
    ];
    assert_eq!(kept(&turn, "weekly:1"), ["new"]);
    let late = [
        good("a", "2026-06-01T21:00:00Z"),
        good("b", "2026-06-01T23:30:00Z"),
        good("c", "2026-06-02T08:00:00Z"),
    ];
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let now = "2026-06-03T00:00:00Z".parse().unwrap();
    let decisions = choose(&late, &policy("daily:1"), now, &zone).unwrap();
    assert_eq!(decisions[0].kept_by, ["daily", "newest verified"]);
    assert!(decisions[1].kept_by.is_empty(), "{decisions:?}");
}

#[test]
fn a_damaged_or_unverified_backup_takes_no_place() {
    let mut all = vec![
        good("g1", "2026-01-01T03:30:00Z"),
        good("g2", "2026-01-02T03:30:00Z"),
        unverified("u3", "2026-01-03T03:30:00Z"),
        Candidate { damaged: true, ..good("d4", "2026-01-04T03:30:00Z") },
        unverified("u5", "2026-01-05T03:30:00Z"),
    ];
    assert_eq!(kept(&all, "last:2"), ["u5", "d4", "u3", "g2", "g1"]);
    all.extend((6..=9).map(|day| good(&format!("g{day}"), &format!("2026-01-0{day}T03:30:00Z"))));
    assert_eq!(kept(&all, "last:2"), ["g9", "g8", "d4"]);
    assert_eq!(kept(&all, "last:5"), ["g9", "g8", "g7", "g6", "u5", "d4", "g2"]);
}

#[test]
fn without_a_verified_one_nothing_goes() {
    let all: Vec<Candidate> = (1..=9)
        .map(|day| unverified(&day.to_string(), &format!("2026-01-0{day}T03:30:00Z")))
        .collect();
    assert_eq!(kept(&all, "last:1").len(), 9);
}

#[test]
fn the_rules_hold_for_each_profile_by_itself() {
    let mut all: Vec<Candidate> = (1..=5)
        .map(|day| good(&format!("all{day}"), &format!("2026-01-0{day}T03:30:00Z")))
        .collect();
    all.push(Candidate { what: "coder".to_owned(), ..good("coder", "2025-01-01T00:00:00Z") });
    assert_eq!(kept(&all, "last:2"), ["all5", "all4", "coder"]);
}

#[test]
fn a_clock_that_jumped_deletes_nothing() {
    let all: Vec<Candidate> =
        (1..=9).map(|day| good(&day.to_string(), &format!("2026-01-0{day}T03:30:00Z"))).collect();
    let choose_at =
        |now: &str| choose(&all, &policy("last:2"), now.parse().unwrap(), &TimeZone::UTC);
    for now in ["1970-01-01T00:00:00Z", "2026-01-08T03:00:00Z"] {
        let refused = choose_at(now).unwrap_err();
        assert!(refused.to_string().contains("the clock says"), "{refused}");
    }
    assert!(choose_at("2026-01-08T03:31:00Z").is_ok());
    // A backup made while the clock was far ahead must not push the others out of a span.
    let mut jumped = all.clone();
    jumped.push(good("ahead", "2099-01-01T00:00:00Z"));
    let now = "2099-01-01T00:00:01Z".parse().unwrap();
    let refused = choose(&jumped, &policy("within:30d"), now, &TimeZone::UTC).unwrap_err();
    assert!(refused.to_string().contains("all 10 verified backups except the newest"), "{refused}");
    assert!(choose(&jumped, &policy("last:1,within:30d"), now, &TimeZone::UTC).is_ok());
}

#[test]
fn a_policy_that_keeps_nothing_is_refused() {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let refused = choose(&[], &Policy::default(), now, &TimeZone::UTC).unwrap_err();
    assert!(matches!(refused, Error::UnsafePrune { .. }), "{refused}");
    assert_eq!(choose(&[], &policy("last:1"), now, &TimeZone::UTC).unwrap(), []);
}

#[test]
fn spans_and_policies_are_read_and_nonsense_is_refused() {
    let length = Length { years: 1, months: 6, days: 14, hours: 3 };
    assert_eq!("1y6m14d3h".parse::<Within>().unwrap(), Within(length));
    assert_eq!("30d".parse::<Within>().unwrap().0, Length { days: 30, ..Length::default() });
    for bad in ["", "0d", "30", "d", "3h1d", "1d1d", "-1d", "1w", "1d ago", "99999999y"] {
        assert!(bad.parse::<Within>().is_err(), "{bad}");
    }
    let read = policy("last:30,monthly:12,within:2m");
    assert_eq!((read.last, read.monthly, read.daily), (30, 12, 0));
    assert_eq!(read.within.unwrap().0.months, 2);
    for bad in ["", "30", "last", "last:", "last:-1", "dayly:3", "last:3;daily:2", "within:x"] {
        assert!(bad.parse::<Policy>().is_err(), "{bad}");
    }
}

fn any_backups() -> impl Strategy<Value = Vec<Candidate>> {
    let one = (0i64..6000, 0u8..8, 0u8..3).prop_map(|(hours, luck, what)| {
        let made =
            day(0) + SignedDuration::from_hours(hours) + SignedDuration::from_mins(i64::from(luck));
        let what = ["all", "coder", "default"][usize::from(what)].to_owned();
        let id = format!("{hours}-{luck}");
        Candidate { id, what, made, verified: luck > 1, damaged: luck == 7 }
    });
    proptest::collection::vec(one, 0..60).prop_map(|mut all| {
        all.sort_by(|a, b| (&a.what, &a.id).cmp(&(&b.what, &b.id)));
        all.dedup_by(|a, b| a.what == b.what && a.id == b.id);
        all
    })
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let counts = proptest::array::uniform6(prop_oneof![Just(0u32), 1u32..6]);
    let within = proptest::option::of((0u16..2, 0u16..3, 0u16..20, 1u16..30));
    (counts, within).prop_map(|([last, hourly, daily, weekly, monthly, yearly], within)| {
        let within = within
            .map(|(years, months, days, hours)| Within(Length { years, months, days, hours }));
        Policy { last, hourly, daily, weekly, monthly, yearly, within }
    })
}

fn zone(number: u8) -> TimeZone {
    let names = ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York"];
    TimeZone::get(names[usize::from(number) % names.len()]).unwrap()
}

fn stays(backups: &[Candidate], policy: &Policy, zone: &TimeZone) -> Option<Vec<(String, String)>> {
    let now = day(400);
    let decisions = choose(backups, policy, now, zone).ok()?;
    let mut names: Vec<(String, String)> = Vec::new();
    for what in ["all", "coder", "default"] {
        let alone: Vec<Candidate> =
            backups.iter().filter(|one| one.what == what).cloned().collect();
        let decided = choose(&alone, policy, now, zone).unwrap();
        names.extend(
            decided
                .into_iter()
                .filter(|one| !one.kept_by.is_empty())
                .map(|one| (what.to_owned(), one.id)),
        );
    }
    // What is decided for one profile does not hang on the others.
    assert_eq!(names.len(), decisions.iter().filter(|one| !one.kept_by.is_empty()).count());
    names.sort();
    Some(names)
}

fn only(backups: &[Candidate], names: &[(String, String)]) -> Vec<Candidate> {
    let is_in = |one: &&Candidate| names.contains(&(one.what.clone(), one.id.clone()));
    backups.iter().filter(is_in).cloned().collect()
}

proptest! {
    #[test]
    fn the_order_does_not_matter(backups in any_backups(), policy in any_policy(), place in 0u8..4) {
        let mut turned = backups.clone();
        turned.reverse();
        let zone = zone(place);
        let now = day(400);
        let (one, other) = (choose(&backups, &policy, now, &zone), choose(&turned, &policy, now, &zone));
        prop_assert_eq!(one.ok(), other.ok());
    }

    #[test]
    fn a_second_time_deletes_nothing_more(backups in any_backups(), policy in any_policy(), place in 0u8..4) {
        let zone = zone(place);
        if let Some(first) = stays(&backups, &policy, &zone) {
            let again = stays(&only(&backups, &first), &policy, &zone);
            prop_assert_eq!(Some(first), again);
        }
    }

    #[test]
    fn another_rule_never_deletes_more(
        backups in any_backups(), policy in any_policy(), more in any_policy(), place in 0u8..4,
    ) {
        let zone = zone(place);
        let wider = Policy {
            last: policy.last.max(more.last),
            hourly: policy.hourly.max(more.hourly),
            daily: policy.daily.max(more.daily),
            weekly: policy.weekly.max(more.weekly),
            monthly: policy.monthly.max(more.monthly),
            yearly: policy.yearly.max(more.yearly),
            within: policy.within.or(more.within),
        };
        if let (Some(few), Some(many)) = (stays(&backups, &policy, &zone), stays(&backups, &wider, &zone)) {
            prop_assert!(few.iter().all(|one| many.contains(one)));
        }
    }

    #[test]
    fn the_newest_verified_one_and_everything_after_it_stays(
        backups in any_backups(), policy in any_policy(), place in 0u8..4,
    ) {
        let Some(names) = stays(&backups, &policy, &zone(place)) else { return Ok(()) };
        for what in ["all", "coder", "default"] {
            let group: Vec<_> = backups.iter().filter(|one| one.what == what).collect();
            let verified = group.iter().filter(|one| one.verified && !one.damaged);
            let newest = verified.map(|one| one.made).max();
            for one in group.iter().filter(|one| newest.is_none_or(|newest| one.made >= newest)) {
                prop_assert!(names.contains(&(what.to_owned(), one.id.clone())));
            }
            for one in group.iter().filter(|one| one.damaged) {
                prop_assert!(names.contains(&(what.to_owned(), one.id.clone())));
            }
        }
    }

    #[test]
    fn a_clock_set_back_never_deletes_more(
        backups in any_backups(), policy in any_policy(), back in 0i64..20_000,
    ) {
        let right = choose(&backups, &policy, day(400), &TimeZone::UTC);
        let wrong = day(400) - SignedDuration::from_hours(back);
        if let Ok(decided) = choose(&backups, &policy, wrong, &TimeZone::UTC) {
            prop_assert_eq!(Some(decided), right.ok());
        }
    }
}
