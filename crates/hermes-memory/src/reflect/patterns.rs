//! What is often the same over many sessions: corrections, forms of answers, hours, tools. Pure.

use std::collections::{BTreeMap, BTreeSet};

use hermes_llm::EmbeddedModel;
use hermes_store::memory::Trust;
use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use super::lessons::Cited;
use super::pattern_words::{FORMS, PLAIN_TOOLS};
use super::sentences::{first, sentences, shorten, words};
use super::signs::{self, Sign};
use super::work::{Talk, likeness};
use crate::call::command_head;
use crate::remember::{Target, suspicion};
use crate::task;

/// A pattern needs this many sessions, each with a quote.
pub const LEAST_SESSIONS: usize = 3;
/// Hours are a habit when they were seen this often, on this many days.
const LEAST_FOR_HOURS: (usize, usize) = (6, 5);

/// Something that was the same in several sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// What it says of the user, in one word: `usual_hours`, `form_table`.
    pub predicate: String,
    /// What kind of fact it is.
    pub kind: &'static str,
    /// The entry.
    pub text: String,
    /// The file it belongs to.
    pub target: Target,
    /// Whose words show it.
    pub trust: Trust,
    /// One quote of each session, oldest first.
    pub cited: Vec<Cited>,
    /// When it was last shown.
    pub last_at: Timestamp,
}

/// The patterns in sessions of one user.
pub fn patterns(talks: &[Talk], zone: &TimeZone) -> Vec<Pattern> {
    let mut talks: Vec<&Talk> = talks.iter().collect();
    talks.sort_by_key(|talk| (talk.session.started_at, talk.session.key));
    let mut found = corrections(&talks);
    found.extend(forms(&talks));
    found.extend(hours(&talks, zone));
    found.extend(tools(&talks));
    found
}

/// Something that one session shows.
#[derive(Clone)]
struct Seen {
    session: String,
    cited: Cited,
    at: Timestamp,
}

/// The sessions, each once, if they are enough.
fn enough(seen: &[Seen], least: usize) -> Option<(Vec<Cited>, Timestamp)> {
    let mut sessions = BTreeSet::new();
    let firsts: Vec<&Seen> =
        seen.iter().filter(|one| sessions.insert(one.session.as_str())).collect();
    let last_at = seen.iter().map(|one| one.at).max()?;
    (firsts.len() >= least.max(LEAST_SESSIONS))
        .then(|| (firsts.iter().map(|one| one.cited.clone()).collect(), last_at))
}

/// Corrections of the same kind: the wish as it was first put.
fn corrections(talks: &[&Talk]) -> Vec<Pattern> {
    struct Group {
        wish: String,
        meaning: Meaning,
        seen: Vec<Seen>,
    }
    let mut groups: Vec<Group> = Vec::new();
    for (wish, seen) in talks.iter().flat_map(|talk| corrected(talk)) {
        let meaning = Meaning::of(&wish);
        if meaning.words.is_empty() || suspicion(&wish).is_some() {
            continue;
        }
        match groups.iter_mut().find(|group| group.meaning.is_like(&meaning)) {
            Some(group) => group.seen.push(seen),
            None => groups.push(Group { wish, meaning, seen: vec![seen] }),
        }
    }
    groups
        .into_iter()
        .filter_map(|group| {
            let (cited, last_at) = enough(&group.seen, LEAST_SESSIONS)?;
            Some(Pattern {
                predicate: format!("wish_{}", group.meaning.words.join("_")),
                kind: "preference",
                text: format!("{}.", group.wish.trim_end_matches('.')),
                target: Target::User,
                trust: Trust::User,
                cited,
                last_at,
            })
        })
        .collect()
}

/// A wish by its words and by what it means.
pub(crate) struct Meaning {
    words: Vec<String>,
    vector: Vec<f32>,
}

impl Meaning {
    pub(crate) fn of(text: &str) -> Meaning {
        Meaning { words: task::content_words(text), vector: EmbeddedModel::get().embed(text) }
    }

    /// Whether two wishes say the same: most words in common, or the same meaning and some words.
    pub(crate) fn is_like(&self, other: &Meaning) -> bool {
        let common = likeness(&self.words, &other.words);
        let cosine: f32 = self.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
        common >= 0.6 || (common >= 0.3 && cosine >= 0.7)
    }
}

fn corrected(talk: &Talk) -> Vec<(String, Seen)> {
    let mut answer: Option<&str> = None;
    let mut found = Vec::new();
    for message in &talk.messages {
        match message.role.as_str() {
            "assistant" => answer = Some(&message.text),
            "user" => {
                let shown = signs::read(&message.text, signs::before(answer));
                let quotes = shown.iter().filter(|one| one.sign == Sign::Correction);
                for quote in quotes.map(|one| &message.text[one.quote.clone()]) {
                    found.push((signs::wish(quote), seen(talk, message, quote)));
                }
            }
            _ => {}
        }
    }
    found
}

fn seen(talk: &Talk, message: &hermes_store::memory::Message, quote: &str) -> Seen {
    Seen {
        session: talk.session.session_id.clone(),
        cited: Cited {
            episode: message.episode,
            message: message.key.get(),
            quote: quote.to_owned(),
        },
        at: message.at,
    }
}

/// Forms and tones that were asked for again and again.
fn forms(talks: &[&Talk]) -> Vec<Pattern> {
    let least = talks.len().div_ceil(10);
    let mut by_form: BTreeMap<&str, Vec<Seen>> = BTreeMap::new();
    for talk in talks {
        for message in talk.messages.iter().filter(|message| message.role == "user") {
            for range in sentences(&message.text).into_iter().take(6) {
                let sentence = &message.text[range];
                let said = format!(" {} ", words(sentence).join(" "));
                let asked = FORMS.iter().filter(|(_, phrases, _)| {
                    phrases.iter().any(|phrase| said.contains(&format!(" {phrase} ")))
                });
                for (key, _, _) in asked {
                    let quote: String = sentence.chars().take(240).collect();
                    by_form.entry(key).or_default().push(seen(talk, message, &quote));
                }
            }
        }
    }
    FORMS
        .iter()
        .filter_map(|(key, _, text)| {
            let (cited, last_at) = enough(by_form.get(key)?, least)?;
            Some(Pattern {
                predicate: format!("form_{key}"),
                kind: "preference",
                text: (*text).to_owned(),
                target: Target::User,
                trust: Trust::User,
                cited,
                last_at,
            })
        })
        .collect()
}

/// The hours, and the days of the week, in which the user is usually there.
fn hours(talks: &[&Talk], zone: &TimeZone) -> Option<Pattern> {
    let mut begun = Vec::new();
    for talk in talks {
        let Some(message) = talk.messages.iter().find(|message| message.role == "user") else {
            continue;
        };
        let quote = first(&message.text, 120);
        if !quote.is_empty() && message.text.contains(&quote) {
            begun.push((message.at.to_zoned(zone.clone()), seen(talk, message, &quote)));
        }
    }
    let days: BTreeSet<_> = begun.iter().map(|(at, _)| at.date()).collect();
    if begun.len() < LEAST_FOR_HOURS.0 || days.len() < LEAST_FOR_HOURS.1 {
        return None;
    }
    let counts = begun.iter().fold([0usize; 24], |mut counts, (at, _)| {
        counts[usize::from(at.hour().unsigned_abs()) % 24] += 1;
        counts
    });
    let (from, length) = shortest_window(&counts, begun.len())?;
    let weekend = |at: &jiff::Zoned| matches!(at.weekday(), Weekday::Saturday | Weekday::Sunday);
    let is_work = days.len() >= 7 && !begun.iter().any(|(at, _)| weekend(at));
    let to = (from + length) % 24;
    let when = if is_work { ", Monday to Friday" } else { "" };
    let seen: Vec<Seen> = begun.into_iter().map(|(_, seen)| seen).collect();
    let (mut cited, last_at) = enough(&seen, LEAST_SESSIONS)?;
    cited.truncate(5);
    Some(Pattern {
        predicate: "usual_hours".to_owned(),
        kind: "habit",
        text: format!("Is usually active between {from:02}:00 and {to:02}:00{when}."),
        target: Target::User,
        trust: Trust::User,
        cited,
        last_at,
    })
}

/// The shortest span of hours with 85 of 100 beginnings; none if it is most of the day.
fn shortest_window(counts: &[usize; 24], all: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 10;
    for length in 1..=LONGEST {
        let inside =
            |from: usize| (from..from + length).map(|hour| counts[hour % 24]).sum::<usize>();
        let best = (0..24).max_by_key(|from| (inside(*from), std::cmp::Reverse(*from)))?;
        if inside(best) * 100 >= all * 85 {
            return Some((best, length));
        }
    }
    None
}

/// Tools that are used again and again.
fn tools(talks: &[&Talk]) -> Vec<Pattern> {
    const MOST: usize = 3;
    let with_steps = talks.iter().filter(|talk| !talk.steps.is_empty()).count();
    let least = with_steps.div_ceil(3);
    let mut by_tool: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    for talk in talks {
        for step in talk.steps.iter().filter(|step| !step.failed) {
            let head = command_head(step);
            let is_plain = PLAIN_TOOLS.contains(&head.split(' ').next().unwrap_or_default());
            let call = talk.messages.iter().find(|message| message.key.get() == step.message);
            if let Some(message) = call.filter(|_| !is_plain && suspicion(&head).is_none()) {
                let quote = shorten(&step.arguments, 160);
                by_tool.entry(head).or_default().push(seen(talk, message, &quote));
            }
        }
    }
    let mut found: Vec<(usize, Pattern)> = by_tool
        .into_iter()
        .filter_map(|(head, seen)| {
            let (cited, last_at) = enough(&seen, least)?;
            let pattern = Pattern {
                predicate: format!("tool_{}", head.replace(' ', "_")),
                kind: "tool",
                text: format!("Work here often uses `{head}`."),
                target: Target::Memory,
                trust: Trust::Agent,
                cited,
                last_at,
            };
            Some((pattern.cited.len(), pattern))
        })
        .collect();
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().take(MOST).map(|(_, pattern)| pattern).collect()
}
