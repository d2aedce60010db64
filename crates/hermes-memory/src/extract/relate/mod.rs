//! How a new fact stands to those that are held. Pure.

pub mod judge;
mod lists;
mod words;

use std::collections::HashSet;

use hermes_store::memory::Standing;
use jiff::Timestamp;

use super::Found;
use judge::Side;
use lists::{ENDINGS, MAY_CHANGE, NO};
pub use words::Words;
use words::{shared, split, stem};

/// What is said of a subject, and whether it has only one value at a time.
pub const PREDICATES: &[(&str, bool)] = &[
    ("account", true),
    ("age", true),
    ("allergic_to", false),
    ("avoids", false),
    ("birthday", true),
    ("called", true),
    ("deadline", true),
    ("dislikes", false),
    ("email", true),
    ("favourite", true),
    ("from", true),
    ("habit", false),
    ("is", false),
    ("job", true),
    ("learns", false),
    ("likes", false),
    ("lives_in", true),
    ("name", true),
    ("native_language", true),
    ("number", true),
    ("phone", true),
    ("prefers", false),
    ("pronouns", true),
    ("reached_at", false),
    ("relation", true),
    ("speaks", false),
    ("studies", true),
    ("timezone", true),
    ("uses", false),
    ("version_of", true),
    ("wants", false),
    ("website", true),
    ("works_at", true),
];

/// Whether a subject has only one value of a predicate at a time.
pub fn is_single_valued(predicate: &str) -> bool {
    PREDICATES.iter().any(|(name, single)| *name == predicate && *single)
}

/// A fact that is held.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// Its number.
    pub id: i64,
    /// The sentence.
    pub statement: &'a str,
    /// Whom or what it is about.
    pub subject: Option<&'a str>,
    /// What it says of the subject.
    pub predicate: Option<&'a str>,
    /// The value.
    pub object: Option<&'a str>,
    /// When it was said.
    pub said_at: Timestamp,
    /// What is seen of the sentence, if that was worked out before.
    pub words: Option<&'a Words>,
}

/// How sure the judge must be that a fact takes the place of another.
const REPLACES: f32 = 0.8;
/// How sure it must be that two may contradict each other.
const DOUBTFUL: f32 = 0.5;

/// How a fact that was said at a time stands to the held ones: certain answers win over doubtful ones,
/// and among those the likeliest does.
pub fn standing(new: &Found, said_at: Timestamp, held: &[Held<'_>]) -> Standing {
    let words = Words::of(&new.statement);
    let new = Side::of(new, &words);
    let mut best = (Verdict::Compatible, Standing::New);
    for one in held {
        let is_later = said_at >= one.said_at;
        let verdict = against(&new, one, is_later);
        if verdict > best.0 {
            let standing = match verdict {
                Verdict::Replaces(_) if is_later => Standing::Supersedes(one.id),
                Verdict::Replaces(_) => Standing::SupersededBy(one.id),
                _ => Standing::MayContradict(one.id),
            };
            best = (verdict, standing);
        }
    }
    best.1
}

/// Which of the held facts a new one may change, whichever was said later.
pub fn touched<'a>(new: &Found, held: impl Iterator<Item = Held<'a>>) -> Vec<Held<'a>> {
    let words = Words::of(&new.statement);
    let new = Side::of(new, &words);
    let is_touched = |one: &Held<'_>| {
        [true, false].into_iter().any(|later| against(&new, one, later) != Verdict::Compatible)
    };
    held.filter(is_touched).collect()
}

/// What two facts are to each other; surer ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Verdict {
    Compatible,
    Doubtful(f32),
    Replaces(f32),
}

fn against(new: &Side<'_>, held: &Held<'_>, is_later: bool) -> Verdict {
    let own;
    let words = match held.words {
        Some(words) => words,
        None => {
            own = Words::of(held.statement);
            &own
        }
    };
    let (subject, predicate, object) = (held.subject, held.predicate, held.object);
    let held = Side { words, subject, predicate, object };
    if is_later { compare(&held, new) } else { compare(new, &held) }
}

fn compare(older: &Side<'_>, newer: &Side<'_>) -> Verdict {
    if newer.words.joined == older.words.joined {
        return Verdict::Compatible;
    }
    if ends(older, newer) {
        return Verdict::Replaces(1.0);
    }
    if denies(newer.words, older.words) {
        return Verdict::Doubtful(1.0);
    }
    if let Some(verdict) = by_value(older, newer) {
        return verdict;
    }
    if let (Some(day), Some(before)) = (newer.words.day(), older.words.day()) {
        // The names of what is due, not the words around them.
        let (new, old) = (&newer.words.content, &older.words.content);
        let share = shared(new, old) as f64 / new.len().min(old.len()).max(1) as f64;
        let replaces = day != before && share >= 0.5;
        return if replaces { Verdict::Replaces(1.0) } else { Verdict::Compatible };
    }
    match judge::judge(older, newer) {
        Some(sure) if sure >= REPLACES && judge::is_same_thing(older.words, newer.words) => {
            Verdict::Replaces(sure)
        }
        Some(sure) if sure >= DOUBTFUL => Verdict::Doubtful(sure),
        _ => Verdict::Compatible,
    }
}

/// Same subject, same predicate with one value: another value replaces, the same one does not.
fn by_value(older: &Side<'_>, newer: &Side<'_>) -> Option<Verdict> {
    let predicate = newer.predicate.filter(|name| is_single_valued(name))?;
    if older.predicate != Some(predicate) || folded(older.subject?) != folded(newer.subject?) {
        return None;
    }
    let (new, old) = (folded(newer.object?), folded(older.object?));
    let says_the_same = new == old || new.contains(&old) || old.contains(&new);
    Some(if says_the_same { Verdict::Compatible } else { Verdict::Replaces(1.0) })
}

fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain = lower.strip_prefix("the ").unwrap_or(&lower);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `quit the job at Initech` ends `works at Initech`, `no longer uses Vim` ends `uses Vim`: what was left
/// has no new value.
fn ends(older: &Side<'_>, newer: &Side<'_>) -> bool {
    const ENDED: &[&str] = &["works_at", "uses"];
    #[rustfmt::skip]
    const BETWEEN: &[&str] = &[
        "the", "user", "team", "job", "position", "role", "at", "from", "work", "works", "working", "for", "using", "use", "uses", "on", "with",
    ];
    // Other words after it say where or for what it ended.
    #[rustfmt::skip]
    const AFTER: &[&str] = &[
        "after", "and", "any", "anymore", "because", "last", "now", "since", "this", "today", "yesterday",
    ];
    let (Some(object), Some("user")) = (older.object, older.subject) else { return false };
    let is_own =
        newer.words.joined.starts_with(" user ") || newer.words.joined.starts_with(" the team ");
    if !newer.words.notes.ends
        || !is_own
        || !older.predicate.is_some_and(|one| ENDED.contains(&one))
    {
        return false;
    }
    let object = object.to_lowercase();
    let object: Vec<&str> = split(&object).collect();
    ENDINGS.iter().any(|ending| {
        let Some((_, rest)) = newer.words.joined.split_once(&format!(" {ending} ")) else {
            return false;
        };
        let rest: Vec<&str> =
            rest.split_whitespace().skip_while(|word| BETWEEN.contains(word)).collect();
        rest.strip_prefix(object.as_slice())
            .is_some_and(|rest| rest.first().is_none_or(|next| AFTER.contains(next)))
    })
}

/// `never lived in Rome` and `lives in Rome now`: the same words, and one of the two says no.
fn denies(one: &Words, other: &Words) -> bool {
    let plain = |words: &Words| -> HashSet<String> {
        let said = words.all.iter().map(String::as_str).filter(|word| {
            !NO.contains(word) && !MAY_CHANGE.contains(word) && *word != "ever" && *word != "does"
        });
        said.map(|word| {
            let past = word.strip_suffix('d').filter(|rest| rest.ends_with('e'));
            stem(past.unwrap_or(word))
        })
        .collect()
    };
    one.notes.says_no != other.notes.says_no
        && shared(&one.content, &other.content) > 0
        && plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Spoken, rules};
    use jiff::tz::TimeZone;

    fn verdict(old: &str, new: &str) -> Standing {
        let at: Timestamp = "2026-03-04T09:00:00Z".parse().unwrap();
        let draw = |text: &str| {
            let spoken = Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC };
            let mut found = rules::draw(&spoken);
            if found.is_empty() {
                found = rules::statements(&spoken);
            }
            found.into_iter().next().unwrap()
        };
        let (old, new) = (draw(old), draw(new));
        let held = Held {
            id: 7,
            statement: &old.statement,
            subject: old.subject.as_deref(),
            predicate: old.predicate.as_deref(),
            object: old.object.as_deref(),
            said_at: at,
            words: None,
        };
        standing(&new, at, &[held])
    }

    #[test]
    fn another_value_of_what_has_one_replaces_and_others_stand_beside() {
        assert_eq!(verdict("I live in Lyon.", "I live in Porto."), Standing::Supersedes(7));
        assert_eq!(
            verdict("I live in Lyon.", "We moved to Porto last month."),
            Standing::Supersedes(7)
        );
        assert_eq!(verdict("I live in Lyon.", "I live in Lyon now."), Standing::New);
        assert_eq!(verdict("I like tea.", "I like coffee."), Standing::New);
        assert_eq!(
            verdict("Atlas uses Postgres.", "Atlas uses Redis for the queue."),
            Standing::New
        );
    }

    #[test]
    fn what_was_said_earlier_gives_way_to_what_is_held() {
        let earlier: Timestamp = "2026-01-01T09:00:00Z".parse().unwrap();
        let later: Timestamp = "2026-02-01T09:00:00Z".parse().unwrap();
        let spoken = Spoken {
            role: "user",
            text: "I live in Lyon.",
            before: &[],
            at: earlier,
            zone: &TimeZone::UTC,
        };
        let found = rules::draw(&spoken).remove(0);
        let held = Held {
            id: 3,
            statement: "User lives in Porto",
            subject: Some("user"),
            predicate: Some("lives_in"),
            object: Some("Porto"),
            said_at: later,
            words: None,
        };
        assert_eq!(standing(&found, earlier, &[held]), Standing::SupersededBy(3));
    }

    #[test]
    fn a_denial_of_the_same_words_is_noticed_and_of_others_is_not() {
        for (old, new) in [
            ("I live in Rome.", "I never lived in Rome."),
            ("I never lived in Rome.", "I live in Rome now."),
        ] {
            assert_eq!(verdict(old, new), Standing::MayContradict(7), "{old} {new}");
        }
        assert_eq!(verdict("I like Rome.", "I never lived in Rome."), Standing::New);
    }

    #[test]
    fn what_was_left_ends_without_a_new_value() {
        for (old, new) in [
            ("I work at Initech.", "I quit my job at Initech."),
            ("I work at Initech.", "I left Initech."),
            ("I work at Initech.", "I don't work at Initech anymore."),
            ("I use Vim.", "I no longer use Vim."),
        ] {
            assert_eq!(verdict(old, new), Standing::Supersedes(7), "{old} {new}");
        }
        for (old, new) in [
            ("I work at Initech.", "I left Globex in 2019."),
            ("I work at Initech.", "I left my umbrella at Initech."),
        ] {
            assert!(!matches!(verdict(old, new), Standing::Supersedes(_)), "{old} {new}");
        }
    }

    #[test]
    fn facts_of_one_person_hardly_ever_contradict_each_other() {
        let at: Timestamp = "2026-03-04T09:00:00Z".parse().unwrap();
        let facts: Vec<Found> = PERSON
            .lines()
            .filter(|line| !line.is_empty())
            .flat_map(|text| {
                let spoken = Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC };
                let found = rules::draw(&spoken);
                if found.is_empty() { rules::statements(&spoken) } else { found }
            })
            .collect();
        assert!(facts.len() >= 50, "{}", facts.len());
        let words: Vec<Words> = facts.iter().map(|fact| Words::of(&fact.statement)).collect();
        let mut against = Vec::new();
        for newer in 0..facts.len() {
            for older in 0..newer {
                let verdict = compare(
                    &Side::of(&facts[older], &words[older]),
                    &Side::of(&facts[newer], &words[newer]),
                );
                if verdict != Verdict::Compatible {
                    against.push((verdict, &facts[older].statement, &facts[newer].statement));
                }
            }
        }
        let compared = facts.len() * (facts.len() - 1) / 2;
        assert!(against.len() * 200 <= compared, "{against:#?}");
        assert!(!against.iter().any(|one| matches!(one.0, Verdict::Replaces(_))), "{against:#?}");
    }

    #[test]
    fn words_of_change_against_the_same_thing_are_noticed() {
        assert_ne!(verdict("Atlas runs on Node 18.", "Atlas is on Node 22 now."), Standing::New);
        assert_ne!(
            verdict("I always want bullet points.", "No more bullet points please."),
            Standing::New
        );
    }

    /// What one person said over time, all of it true together.
    const PERSON: &str = "
I'm Tomás and I live in Valparaíso.
I work at Puerto Digital as a data engineer.
My wife is called Renata.
My daughter Emilia is seven.
We have a dog, Chimuelo.
My birthday is 14 August.
I'm allergic to walnuts.
I don't eat pork.
I prefer metric units.
Please keep answers short.
I like bullet points in summaries.
Never use emojis in mails to clients.
Always answer me in English, even when I write Spanish.
My work email is tomas@puertodigital.example.
My GitHub handle is @tomvalpo.
My phone number is +56 9 5550 1234.
My manager is Ingrid Solberg.
Pablo is our product owner.
Kenji does the frontend.
Our team uses Linear for tickets.
The warehouse runs on Snowflake.
Dashboards are built in Metabase.
Atlas is written in Rust.
Atlas uses Postgres 16.
Atlas uses Redis for the queue.
Bruma is our mobile app, it is written in Kotlin.
Bruma stores its data in SQLite.
CI runs on GitHub Actions.
The staging server is at staging.puertodigital.example.
Production is hosted in São Paulo on AWS.
We deploy Atlas on Tuesdays.
We deploy Bruma on Thursdays.
Never deploy on Fridays.
The Atlas release is due on 20 May 2026.
The Bruma beta is due on 3 June 2026.
The tax report is due on 30 April 2026.
From now on cc Ingrid on every incident report.
Every Monday send me the open tickets of Atlas.
Check the error rate of Bruma every hour and tell me above two percent.
We decided to go with Kafka for events.
The team agreed to drop support for Android 9.
We voted to keep the monorepo.
I moved my desk to the second floor.
I switched to a standing desk in March.
I use Helix as my editor.
I use Firefox at home.
My laptop is a Framework 13.
I started learning Norwegian.
I play the charango on weekends.
I run ten kilometres every Sunday.
My sister Paula lives in Bergen.
Paula works at the aquarium there.
My parents live in Concepción.
My mother no longer drives.
Emilia changed schools in March.
Renata quit smoking last year.
I drink mate in the mornings.
I never drink coffee after lunch.
I prefer window seats.
Call me Tom.
My time zone is America/Santiago.
I keep my notes in Obsidian.
Invoices go to Marta in accounting.
The new client is called Fjordline.
Fjordline pays in euros.
For Fjordline write dates in ISO format.
";
}
