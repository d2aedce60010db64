//! Tests of the colour: one row for each thing that makes it worse.

use Happened::*;

use super::*;

const ID: &str = "20261115T033000Z-00000001";

/// A good backup, made at half past three on this day of November 2026.
fn backup(day: u8) -> Backup {
    let name: crate::name::ArchiveName =
        format!("hermes-all-202611{day:02}T033000Z-00000001.tar.zst.age").parse().unwrap();
    Backup {
        path: name.to_string().into(),
        verified: Some(name.made),
        name,
        size: 1,
        sidecar: None,
        failed: None,
        copies: vec!["nas".to_owned()],
        label: None,
        whose: crate::whose::Whose::Ours,
        signed: crate::sign::Signed::Ours,
    }
}

fn event(day: u8, what: Happened, id: &str) -> Event {
    let at = format!("2026-11-{day:02}T04:00:00Z").parse().unwrap();
    let id = (!id.is_empty()).then(|| id.to_owned());
    Event { at, what, id, place: None, detail: "a reason".to_owned() }
}

fn expected() -> Expected {
    Expected {
        interval: Some(SignedDuration::from_hours(24)),
        drill_within: SignedDuration::from_hours(24 * 90),
        places: vec!["nas".to_owned()],
    }
}

fn at(moment: &str) -> Timestamp {
    moment.parse().unwrap()
}

/// At noon of the 15th.
fn noon() -> Timestamp {
    at("2026-11-15T12:00:00Z")
}

fn colour(backups: &[Backup], history: &[Event]) -> Colour {
    judge(backups, history, &expected(), noon()).colour
}

#[test]
fn a_good_backup_of_last_night_is_green() {
    let history = [event(15, Created, ID), event(15, Drilled, ID)];
    let standing = judge(&[backup(15)], &history, &expected(), noon());
    assert_eq!((standing.colour, standing.reasons.len()), (Colour::Green, 0));
    assert_eq!(standing.newest, Some(at("2026-11-15T03:30:00Z")));
    assert_eq!((standing.drilled, standing.failures), (Some(history[1].at), 0));
}

#[test]
fn without_any_backup_it_is_amber_and_with_a_schedule_red() {
    let by_hand = Expected { interval: None, ..expected() };
    assert_eq!(judge(&[], &[], &by_hand, noon()).colour, Colour::Amber);
    assert_eq!(judge(&[], &[], &expected(), noon()).colour, Colour::Red);
    let damaged = Backup { failed: Some("cut short".to_owned()), ..backup(15) };
    assert_eq!(judge(&[damaged], &[], &by_hand, noon()).colour, Colour::Red);
}

#[test]
fn the_older_the_newest_good_backup_the_worse() {
    for (now, is) in [
        ("2026-11-15T03:30:00Z", Colour::Green),
        ("2026-11-16T15:30:00Z", Colour::Green),
        ("2026-11-16T15:31:00Z", Colour::Amber),
        ("2026-11-18T03:30:00Z", Colour::Amber),
        ("2026-11-18T03:31:00Z", Colour::Red),
        // The clock was set back: a little is nothing, a lot is said.
        ("2026-11-14T04:00:00Z", Colour::Green),
        ("2026-11-13T00:00:00Z", Colour::Amber),
    ] {
        let history = [event(15, Drilled, ID)];
        assert_eq!(judge(&[backup(15)], &history, &expected(), at(now)).colour, is, "{now}");
    }
    let by_hand = Expected { interval: None, ..expected() };
    for (now, is) in
        [("2026-11-22T03:30:00Z", Colour::Green), ("2026-11-22T03:31:00Z", Colour::Amber)]
    {
        assert_eq!(judge(&[backup(15)], &[], &by_hand, at(now)).colour, is, "{now}");
    }
}

#[test]
fn one_that_is_damaged_unverified_or_found_wrong_is_no_good_backup() {
    let damaged: crate::name::ArchiveName =
        "hermes-all-20261115T033000Z-00000002-DAMAGED.tar.zst.age".parse().unwrap();
    for bad in [
        Backup { name: damaged, ..backup(15) },
        Backup { verified: None, ..backup(15) },
        Backup { failed: Some("flipped".to_owned()), ..backup(15) },
    ] {
        let standing = judge(&[bad, backup(13)], &[], &expected(), noon());
        assert_eq!(standing.newest, Some(at("2026-11-13T03:30:00Z")));
        assert!(standing.colour >= Colour::Amber);
    }
}

#[test]
fn a_failed_check_outranks_everything_and_stands_first() {
    let bad = Backup { failed: Some("member 3 differs".to_owned()), ..backup(12) };
    let history = [event(15, Created, ID), event(15, Drilled, ID)];
    let standing = judge(&[backup(15), bad], &history, &expected(), noon());
    assert_eq!(standing.colour, Colour::Red);
    assert!(standing.reasons[0].what.contains("member 3 differs"), "{standing:?}");
    let old = Backup { failed: Some("flipped".to_owned()), ..backup(1) };
    let standing = judge(&[old], &[event(15, CreateFailed, "")], &expected(), noon());
    assert!(standing.reasons[0].what.contains("flipped"), "{standing:?}");
}

#[test]
fn a_failed_drill_is_red_until_one_goes_well() {
    let other = "20261114T033000Z-00000001";
    #[rustfmt::skip] // One case a row reads as a table.
    let cases = [
        (vec![event(14, Drilled, ID), event(15, DrillFailed, ID)], Colour::Red),
        (vec![event(14, DrillFailed, ID), event(15, Drilled, ID)], Colour::Green),
        // Another backup that restores does not mend this one.
        (vec![event(14, DrillFailed, ID), event(15, Drilled, other)], Colour::Red),
        // Its archive is gone, and another one restores.
        (vec![event(14, DrillFailed, "20261101T033000Z-00000001"), event(15, Drilled, ID)], Colour::Green),
        // Its archive is gone, and nothing was shown since.
        (vec![event(14, DrillFailed, "20261101T033000Z-00000001"), event(15, Created, ID)], Colour::Red),
    ];
    for (history, is) in cases {
        assert_eq!(colour(&[backup(15), backup(14)], &history), is, "{history:?}");
    }
}

#[test]
fn a_failed_check_of_an_archive_that_is_gone_counts_until_another_is_right() {
    let gone = "20261101T033000Z-00000001";
    let failed = event(14, VerifyFailed, gone);
    assert_eq!(colour(&[backup(15)], std::slice::from_ref(&failed)), Colour::Red);
    for right in [Created, Verified, HashVerified] {
        let history = [failed.clone(), event(15, right, ID)];
        assert_eq!(colour(&[backup(15)], &history), Colour::Green, "{right:?}");
    }
}

#[test]
fn failed_attempts_are_amber_and_many_are_red() {
    let mut history = vec![event(14, CreateFailed, ""), event(14, Created, ID)];
    for (failures, is) in [
        (0, Colour::Green),
        (1, Colour::Amber),
        (2, Colour::Amber),
        (3, Colour::Red),
        (4, Colour::Red),
    ] {
        let standing = judge(&[backup(15)], &history, &expected(), noon());
        assert_eq!((standing.failures, standing.colour), (failures, is), "{standing:?}");
        // A clock that went back does not hide a failure.
        history.push(event(1, CreateFailed, ""));
    }
    let damaged = [event(14, Created, ID), event(15, CreatedDamaged, "")];
    assert_eq!(colour(&[backup(15)], &damaged), Colour::Red);
}

#[test]
fn a_drill_that_is_long_ago_or_never_was_is_amber_then_red() {
    let nightly = |now: Timestamp| {
        let mut newest = backup(15);
        newest.name.made = now;
        vec![newest, backup(15)]
    };
    for (now, is) in [
        ("2027-02-13T04:00:00Z", Colour::Green),
        ("2027-02-13T04:01:00Z", Colour::Amber),
        ("2027-05-14T04:01:00Z", Colour::Red),
    ] {
        let now = at(now);
        let drilled = [event(15, Drilled, ID)];
        assert_eq!(judge(&nightly(now), &drilled, &expected(), now).colour, is, "{now}");
    }
    let later = at("2027-02-14T04:01:00Z");
    let standing = judge(&nightly(later), &[], &expected(), later);
    assert_eq!(standing.colour, Colour::Amber);
    assert!(standing.reasons[0].what.contains("restore test"), "{standing:?}");
}

#[test]
fn a_place_that_the_newest_good_backup_did_not_reach_is_amber() {
    let lonely = Backup { copies: Vec::new(), ..backup(15) };
    let standing = judge(&[lonely, backup(14)], &[], &expected(), noon());
    assert_eq!(standing.colour, Colour::Amber);
    assert!(standing.reasons[0].what.contains("nas") && standing.reasons.len() == 1);
}

#[test]
fn the_worst_reason_gives_the_colour_and_stands_before_the_others() {
    let lonely = Backup { copies: Vec::new(), ..backup(1) };
    let history = [event(15, CreateFailed, "")];
    let standing = judge(&[lonely], &history, &expected(), noon());
    let colours: Vec<Colour> = standing.reasons.iter().map(|reason| reason.colour).collect();
    assert_eq!(colours, [Colour::Red, Colour::Amber, Colour::Amber]);
    assert_eq!(standing.colour, Colour::Red);
    assert!(standing.reasons.iter().all(|reason| !reason.hint.is_empty()));
}

#[test]
fn a_place_that_cannot_be_reached_is_amber_after_one_and_a_half_intervals() {
    let at_nas = |day, what| Event { place: Some("nas".to_owned()), ..event(day, what, "") };
    let reasons = |history: &[Event], now: &str| {
        let standing = judge(&[backup(15)], history, &expected(), at(now));
        let of_places = |reason: &Reason| reason.place.is_some();
        standing.reasons.into_iter().find(of_places).map(|reason| (reason.about, reason.colour))
    };
    // The newest is there, and a push that failed since is no harm yet.
    let mut history = vec![event(15, Drilled, ID), at_nas(15, Pushed), at_nas(15, PushFailed)];
    assert_eq!(reasons(&history, "2026-11-16T16:00:00Z"), None);
    assert_eq!(reasons(&history, "2026-11-16T16:01:00Z"), Some((About::Push, Colour::Amber)));
    assert_eq!(push_failures(&history, "nas"), 1);
    history.push(at_nas(16, Reached));
    assert_eq!(reasons(&history, "2026-11-18T00:00:00Z"), None);
    assert_eq!(push_failures(&history, "nas"), 0);
    // The newest is not there: the failed push says more than that it is missing.
    let missing = Backup { copies: Vec::new(), ..backup(15) };
    history.extend([at_nas(16, PushFailed), at_nas(17, PushFailed)]);
    let standing = judge(&[missing], &history, &expected(), noon());
    let of_place: Vec<&Reason> =
        standing.reasons.iter().filter(|reason| reason.place.is_some()).collect();
    assert_eq!(of_place.len(), 1);
    assert_eq!(of_place[0].what, "the last 2 pushes to nas failed: a reason");
}

#[test]
fn the_hint_for_a_drill_names_what_opens_the_backups() {
    let standing = judge(&[backup(15)], &[], &expected(), at("2027-11-15T12:00:00Z"));
    let hint = |standing: &Standing| {
        let drill = standing.reasons.iter().find(|reason| reason.about == About::DrillAge);
        drill.unwrap().hint.clone()
    };
    assert!(hint(&standing).contains("--identity"));
    let text = r#"{"format":1,"id":"x","archive":"x","sha256":"","size":1,"made":"2026-11-15T03:30:00Z",
        "made_by":"x","compression":"zstd","encryption":"age","encrypted_to":["passphrase"],"files":1,
        "databases":0,"bytes":1,"damaged":false,"verified":null,"open_with":""}"#;
    let phrase = Backup { sidecar: Some(serde_json::from_str(text).unwrap()), ..backup(15) };
    let standing = judge(&[phrase], &[], &expected(), at("2027-11-15T12:00:00Z"));
    assert!(hint(&standing).contains("--passphrase-file"));
}
