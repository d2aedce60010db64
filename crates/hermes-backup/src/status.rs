//! How it stands with the backups: green, amber or red. A pure function.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::folder::{Backup, Event, Folder, Happened};
use crate::whose::Whose;

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// All is well.
    Green,
    /// Something wants doing soon.
    Amber,
    /// A loss would hurt now.
    Red,
}

/// What is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// How far apart scheduled backups are; none: no schedule is set up.
    pub interval: Option<SignedDuration>,
    /// How old the newest drill may be.
    pub drill_within: SignedDuration,
    /// The places that every backup should reach.
    pub places: Vec<String>,
}

/// How it stands, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The worst of the reasons.
    pub colour: Colour,
    /// Each reason with its colour and the command that mends it; empty when green.
    pub reasons: Vec<Reason>,
    /// The newest good backup.
    pub newest: Option<Timestamp>,
    /// The newest drill that went well.
    pub drilled: Option<Timestamp>,
    /// How many attempts failed since the newest good one.
    pub failures: u32,
}

/// Why it is not green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What it is about.
    pub about: About,
    /// How bad it is.
    pub colour: Colour,
    /// What is the matter.
    pub what: String,
    /// The command that mends it.
    pub hint: String,
    /// The place off this host it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// What a reason is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A check found something wrong.
    Check,
    /// A drill found something wrong.
    Drill,
    /// How old the newest good backup is.
    Age,
    /// Attempts failed.
    Attempts,
    /// A database of the home is damaged.
    Damage,
    /// How long ago the last drill was.
    DrillAge,
    /// A place that has not got the newest backup.
    Place,
    /// Links to folders, which no backup follows.
    Links,
    /// Sending to a place failed.
    Push,
    /// The folder of backups could not be read.
    Folder,
    /// Who signed what is there.
    Signature,
}

/// That what links to folders lead to is in no backup; none where there are no such links.
pub fn links(left_out: &[String]) -> Option<Reason> {
    let what = match left_out {
        [] => return None,
        [one] => format!("{one} is a link to a folder, and no backup contains that folder"),
        many => {
            format!("no backup contains the folders that these links point to: {}", many.join(", "))
        }
    };
    Some(amber(About::Links, what, "`hermes config set backup.follow_links true`"))
}

/// Archives that nobody or another key signed though they say that they are this home's, and the newest one of this
/// home where it is no longer there: an older state of the folder may have been put in its place.
pub fn strangers(backups: &[Backup], folder: &Folder) -> Vec<Reason> {
    let signers = folder.signers();
    let mut reasons = Vec::new();
    if !signers.is_any() {
        return reasons;
    }
    let unsigned: Vec<String> =
        backups.iter().filter(|one| one.whose == Whose::Unknown).map(|one| one.name.id()).collect();
    if let Some(first) = unsigned.first() {
        let what = match unsigned.len() {
            1 => format!("backup {first} is not signed by this home and does not count"),
            many => format!(
                "{many} backups, such as {first}, are not signed by this home and do not count"
            ),
        };
        let hint = "`hermes backup show ID`; delete archives that you did not put there";
        reasons.push(amber(About::Signature, what, hint));
    }
    if let Some(last) = signers.last_in(folder.path())
        && !backups.iter().any(|one| one.name.id() == last.id)
    {
        let what =
            format!("the newest backup of this home, {}, is missing from its folder", last.id);
        reasons.push(red(
            About::Signature,
            what,
            "`hermes backup pull`, or create a new one with `hermes backup create`",
        ));
    }
    reasons
}

/// Judges the backups by what is expected; a failed check outranks a good backup.
pub fn judge(
    backups: &[Backup],
    history: &[Event],
    expected: &Expected,
    now: Timestamp,
) -> Standing {
    let newest = backups.iter().filter(|backup| is_good(backup)).max_by_key(|one| one.name.made);
    let drilled = newest_of(history, &[Happened::Drilled]);
    let failures = failures(history);
    let mut reasons = failed_checks(backups, history);
    // What was found wrong stands before everything else that is as bad.
    let found = reasons.len();
    reasons.extend(age(backups, newest, expected, now));
    reasons.extend(attempts(history, failures));
    reasons.extend(drills(backups, drilled, expected, now));
    let of_place = |place: &String| at_place(place, newest, history, expected, now);
    reasons.extend(expected.places.iter().filter_map(of_place));
    reasons[found..].sort_by_key(|reason| std::cmp::Reverse(reason.colour));
    Standing {
        colour: reasons.iter().map(|reason| reason.colour).max().unwrap_or(Colour::Green),
        newest: newest.map(|newest| newest.name.made),
        drilled,
        failures,
        reasons,
    }
}

/// How old the newest backup may be where nothing makes them by itself.
const BY_HAND: SignedDuration = SignedDuration::from_hours(24 * 7);
/// How far apart backups are taken to be where no schedule says so.
const NIGHTLY: SignedDuration = SignedDuration::from_hours(24);
/// From so many failed attempts on it is red.
const MANY_FAILURES: u32 = 3;
/// How far ahead of the clock a backup may be.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Whether it can be relied on: whole, read back, and never found wrong since.
fn is_good(backup: &Backup) -> bool {
    !backup.name.damaged && backup.failed.is_none() && backup.verified.is_some()
}

fn failed_checks(backups: &[Backup], history: &[Event]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for backup in backups {
        let id = backup.name.id();
        if let Some(why) = &backup.failed {
            let hint = "`hermes backup create` creates a new one, `hermes backup delete ID` deletes this \
                 one";
            reasons.push(red(About::Check, format!("backup {id} failed its check: {why}"), hint));
        }
        let of_it = history.iter().filter(|event| event.id.as_deref() == Some(id.as_str()));
        reasons.extend(failed_drill(of_it));
    }
    // The newest of all counts even when its archive is gone.
    let newest_drill = failed_drill(history.iter());
    reasons.extend(newest_drill.filter(|reason| !reasons.contains(reason)));
    if reasons.is_empty() && is_newest(history, Happened::VerifyFailed, &SEEN_RIGHT) {
        reasons.push(red(
            About::Check,
            "the newest check found something wrong".to_owned(),
            "`hermes backup verify --all`",
        ));
    }
    reasons
}

/// What says of an archive that it was right.
const SEEN_RIGHT: [Happened; 3] = [Happened::Created, Happened::Verified, Happened::HashVerified];

fn failed_drill<'a>(events: impl Iterator<Item = &'a Event>) -> Option<Reason> {
    let drills = [Happened::Drilled, Happened::DrillFailed];
    let newest = events.filter(|event| drills.contains(&event.what)).last()?;
    let id = newest.id.as_deref().unwrap_or("a backup");
    (newest.what == Happened::DrillFailed).then(|| {
        red(
            About::Drill,
            format!("the drill of {id} failed: {}", newest.detail),
            "`hermes backup drill`",
        )
    })
}

fn age(
    backups: &[Backup],
    newest: Option<&Backup>,
    expected: &Expected,
    now: Timestamp,
) -> Option<Reason> {
    const CREATE: &str = "`hermes backup create`";
    let Some(newest) = newest else {
        let what = "there is no verified backup".to_owned();
        let is_new = expected.interval.is_none() && backups.is_empty();
        return Some(if is_new {
            amber(About::Age, what, CREATE)
        } else {
            red(About::Age, what, CREATE)
        });
    };
    let (made, age) = (newest.name.made, newest.name.made.duration_until(now));
    let day = made.strftime("%Y-%m-%d");
    if age < -AHEAD {
        let what = format!("the newest verified backup is dated {day}, which is in the future");
        return Some(amber(About::Age, what, "check the clock of this machine"));
    }
    let what = format!("the newest verified backup is {} old", length(age));
    match expected.interval {
        None if age > BY_HAND => Some(amber(About::Age, what, "`hermes backup schedule install`")),
        Some(interval) if age > interval * 3 => {
            Some(red(About::Age, what, "`hermes backup schedule status`"))
        }
        Some(interval) if age > interval * 3 / 2 => Some(amber(About::Age, what, CREATE)),
        _ => None,
    }
}

fn attempts(history: &[Event], failures: u32) -> Option<Reason> {
    let failed = [Happened::CreateFailed, Happened::CreatedDamaged];
    let last = history.iter().rfind(|event| failed.contains(&event.what))?;
    if failures == 0 {
        return None;
    }
    if last.what == Happened::CreatedDamaged {
        return Some(red(
            About::Damage,
            "a database in the home is damaged".to_owned(),
            "`hermes doctor`",
        ));
    }
    let what = match failures {
        1 => format!("the last backup failed: {}", last.detail),
        many => format!("the last {many} backups failed: {}", last.detail),
    };
    let colour = if failures >= MANY_FAILURES { Colour::Red } else { Colour::Amber };
    Some(Reason { colour, ..amber(About::Attempts, what, "`hermes backup create`") })
}

/// Attempts that gave no good backup since the last one that did, by their order and not by the clock.
fn failures(history: &[Event]) -> u32 {
    let since = history.iter().rev().take_while(|event| event.what != Happened::Created);
    let failed = [Happened::CreateFailed, Happened::CreatedDamaged];
    since.filter(|event| failed.contains(&event.what)).count() as u32
}

fn drills(
    backups: &[Backup],
    drilled: Option<Timestamp>,
    expected: &Expected,
    now: Timestamp,
) -> Option<Reason> {
    let by_passphrase = |backup: &Backup| {
        let sidecar = backup.sidecar.as_ref();
        sidecar.is_some_and(|sidecar| sidecar.encrypted_to.iter().any(|to| to == "passphrase"))
    };
    let newest = backups.iter().max_by_key(|backup| backup.name.made)?;
    let hint = match by_passphrase(newest) {
        true => "`hermes backup drill --passphrase-file FILE`",
        false => "`hermes backup drill --identity FILE`",
    };
    let first = backups.iter().map(|backup| backup.name.made).min()?;
    let age = drilled.unwrap_or(first).duration_until(now);
    let what = match drilled {
        Some(_) => format!("the last successful restore test was {} ago", length(age)),
        None => "no backup has passed a restore test yet".to_owned(),
    };
    match age {
        age if age > expected.drill_within * 2 => Some(red(About::DrillAge, what, hint)),
        age if age > expected.drill_within => Some(amber(About::DrillAge, what, hint)),
        _ => None,
    }
}

/// What is wrong with one place: it lacks the newest backup, or was not reached for too long.
fn at_place(
    place: &String,
    newest: Option<&Backup>,
    history: &[Event],
    expected: &Expected,
    now: Timestamp,
) -> Option<Reason> {
    const PUSH: &str = "`hermes backup push`";
    let is_missing = newest.is_some_and(|newest| !newest.copies.contains(place));
    let about =
        |about, what| Some(Reason { place: Some(place.clone()), ..amber(about, what, PUSH) });
    let failures = push_failures(history, place);
    let last =
        history.iter().rfind(|event| event.what == Happened::PushFailed && is_at(event, place));
    let since = reached(history, place).map(|event| event.at).next_back();
    let most = expected.interval.unwrap_or(NIGHTLY) * 3 / 2;
    let is_long = since.is_none_or(|since| since.duration_until(now) > most);
    match last.filter(|_| failures > 0 && (is_missing || is_long)) {
        Some(last) if failures == 1 => {
            about(About::Push, format!("the last push to {place} failed: {}", last.detail))
        }
        Some(last) => {
            let what = format!("the last {failures} pushes to {place} failed: {}", last.detail);
            about(About::Push, what)
        }
        None if is_missing => {
            about(About::Place, format!("{place} does not have the newest verified backup"))
        }
        None => None,
    }
}

/// How often sending to a place failed since it went well, by the order of what happened and not by the clock.
pub fn push_failures(history: &[Event], place: &str) -> u32 {
    let at_place = history.iter().rev().filter(|event| is_at(event, place));
    let since = at_place.take_while(|event| !REACHED.contains(&event.what));
    since.filter(|event| event.what == Happened::PushFailed).count() as u32
}

/// What says of a place that it was reached.
const REACHED: [Happened; 2] = [Happened::Pushed, Happened::Reached];

fn reached<'a>(
    history: &'a [Event],
    place: &'a str,
) -> impl DoubleEndedIterator<Item = &'a Event> + 'a {
    history.iter().filter(move |event| is_at(event, place) && REACHED.contains(&event.what))
}

fn is_at(event: &Event, place: &str) -> bool {
    event.place.as_deref() == Some(place)
}

fn newest_of(history: &[Event], what: &[Happened]) -> Option<Timestamp> {
    history.iter().filter(|event| what.contains(&event.what)).map(|event| event.at).max()
}

/// Whether `what` happened, and none of the others after it.
fn is_newest(history: &[Event], what: Happened, others: &[Happened]) -> bool {
    let last = history.iter().rfind(|event| event.what == what || others.contains(&event.what));
    last.is_some_and(|event| event.what == what)
}

/// In whole days from two days on, else in hours.
fn length(age: SignedDuration) -> String {
    match age.as_hours() {
        hours @ 0..48 => format!("{hours} h"),
        hours => format!("{} days", hours / 24),
    }
}

fn red(about: About, what: String, hint: &str) -> Reason {
    Reason { about, colour: Colour::Red, what, hint: hint.to_owned(), place: None }
}

fn amber(about: About, what: String, hint: &str) -> Reason {
    Reason { about, colour: Colour::Amber, what, hint: hint.to_owned(), place: None }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
