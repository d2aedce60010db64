//! What made-up people talk about, read from `corpora/agent-chat`.

use hermes_app::numbers::Numbers;

const TOPICS: &[&str] = &[
    include_str!("../../corpora/agent-chat/code.txt"),
    include_str!("../../corpora/agent-chat/ops.txt"),
    include_str!("../../corpora/agent-chat/words.txt"),
];
const GENERAL: &str = include_str!("../../corpora/agent-chat/general.txt");
const PEOPLE: &str = include_str!("../../corpora/agent-chat/people.txt");

/// Lines of text to choose from.
pub(super) type Lines = Vec<&'static str>;

/// A field with its own words, its own typical sentences and the facts that come up in it.
#[derive(Debug, Default)]
pub(super) struct Topic {
    pub(super) name: &'static str,
    /// Which of a person's names a `{x}` stands for.
    pub(super) kind: &'static str,
    pub(super) nouns: Lines,
    pub(super) openers: Lines,
    pub(super) points: Lines,
    pub(super) code: Lines,
    pub(super) facts: Vec<Fact>,
    /// Questions that need several facts, which are named by their position.
    pub(super) pairs: Vec<(Vec<usize>, &'static str)>,
}

/// What a fact is about, which is also the category of the plain question about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    UserFact,
    Preference,
    Decision,
    Advice,
    Number,
}

impl Kind {
    pub(super) fn category(self) -> &'static str {
        match self {
            Kind::UserFact => "user-fact",
            Kind::Preference => "user-preference",
            Kind::Decision => "decision",
            Kind::Advice => "assistant-advice",
            Kind::Number => "assistant-number",
        }
    }

    pub(super) fn is_said_by_assistant(self) -> bool {
        matches!(self, Kind::Advice | Kind::Number)
    }

    fn parse(word: &str) -> Option<Kind> {
        Some(match word {
            "fact" => Kind::UserFact,
            "pref" => Kind::Preference,
            "dec" => Kind::Decision,
            "adv" => Kind::Advice,
            "num" => Kind::Number,
            _ => return None,
        })
    }
}

/// One thing that can be said and asked about, in several wordings.
#[derive(Debug, Default)]
pub(super) struct Fact {
    pub(super) kind: Kind,
    pub(super) can_change: bool,
    pub(super) values: Lines,
    /// What it is about, in a word or two.
    pub(super) gist: &'static str,
    /// What the user asks before the assistant says it.
    pub(super) leads: Lines,
    pub(super) says: Lines,
    /// How a change is told, with the old value as `{o}`.
    pub(super) changes: Lines,
    pub(super) asks: Lines,
    /// Questions about a time, which is `{w}`.
    pub(super) past: Lines,
    /// Questions about all values there have been.
    pub(super) history: Lines,
    /// Messages with the words of the question and without its answer.
    pub(super) near: Lines,
}

impl Fact {
    pub(super) fn has_name(&self) -> bool {
        self.says.iter().all(|line| line.contains("{x}"))
    }
}

/// Phrases that fit every topic.
#[derive(Debug, Default)]
pub(super) struct General {
    pub(super) intros: Lines,
    pub(super) heads: Lines,
    pub(super) steps: Lines,
    pub(super) bodies: Lines,
    pub(super) caveats: Lines,
    pub(super) closes: Lines,
    pub(super) follows: Lines,
    pub(super) gists: Lines,
    pub(super) befores: Lines,
    pub(super) afters: Lines,
}

/// Someone who talks to the assistant, with the topics they have and the names they use.
#[derive(Debug, Default)]
pub(super) struct Person {
    pub(super) name: &'static str,
    pub(super) topics: Lines,
    names: Vec<(&'static str, Lines)>,
}

impl Person {
    /// The names this person uses for a kind of thing.
    pub(super) fn names(&self, kind: &str) -> &[&'static str] {
        self.names.iter().find(|(found, _)| *found == kind).map_or(&[], |(_, names)| names)
    }
}

/// All topics.
pub(super) fn topics() -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    for (key, rest) in TOPICS.iter().flat_map(|text| lines(text)) {
        if key == "#" {
            topics.push(topic(rest));
        } else if let Some(last) = topics.last_mut() {
            topic_line(last, key, rest);
        }
    }
    topics
}

/// The phrases for every topic.
pub(super) fn general() -> General {
    let mut general = General::default();
    for (key, rest) in lines(GENERAL) {
        match key {
            "intro" => general.intros.push(rest),
            "head" => general.heads.push(rest),
            "step" => general.steps.push(rest),
            "body" => general.bodies.push(rest),
            "caveat" => general.caveats.push(rest),
            "close" => general.closes.push(rest),
            "follow" => general.follows.push(rest),
            "gist" => general.gists.push(rest),
            "before" => general.befores.push(rest),
            "after" => general.afters.push(rest),
            _ => {}
        }
    }
    general
}

/// Everyone who talks.
pub(super) fn people() -> Vec<Person> {
    let mut people: Vec<Person> = Vec::new();
    for (key, rest) in lines(PEOPLE) {
        if key == "#" {
            people.push(Person { name: rest, ..Person::default() });
        } else if let Some(last) = people.last_mut() {
            match key {
                "topics" => last.topics = rest.split_whitespace().collect(),
                kind => last.names.push((kind, parts(rest, ','))),
            }
        }
    }
    people
}

/// One of the lines, or nothing of none.
pub(super) fn pick(numbers: &mut Numbers, lines: &[&'static str]) -> &'static str {
    lines.get(numbers.below(lines.len())).copied().unwrap_or_default()
}

fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines().filter_map(|line| line.split_once(' '))
}

fn parts(text: &'static str, separator: char) -> Lines {
    text.split(separator).map(str::trim).collect()
}

fn topic(head: &'static str) -> Topic {
    let head = parts(head, '|');
    let at = |number: usize| head.get(number).copied().unwrap_or_default();
    Topic { name: at(0), kind: at(1), nouns: parts(at(2), ','), ..Topic::default() }
}

fn topic_line(topic: &mut Topic, key: &str, rest: &'static str) {
    match key {
        "o" => topic.openers.push(rest),
        "p" => topic.points.push(rest),
        "c" => topic.code.push(rest),
        "f" => topic.facts.extend(fact(rest)),
        "m" => topic.pairs.extend(pair(rest)),
        _ => {
            if let Some(last) = topic.facts.last_mut() {
                fact_line(last, key, rest);
            }
        }
    }
}

fn fact(rest: &'static str) -> Option<Fact> {
    let (kind, values) = rest.split_once(" : ")?;
    let can_change = kind.ends_with('*');
    let kind = Kind::parse(kind.trim_end_matches('*'))?;
    Some(Fact { kind, can_change, values: parts(values, ';'), ..Fact::default() })
}

fn pair(rest: &'static str) -> Option<(Vec<usize>, &'static str)> {
    let (numbers, question) = rest.split_once(' ')?;
    Some((numbers.split('+').filter_map(|number| number.parse().ok()).collect(), question))
}

fn fact_line(fact: &mut Fact, key: &str, rest: &'static str) {
    match key {
        "g" => fact.gist = rest,
        "u" => fact.leads.push(rest),
        "s" => fact.says.push(rest),
        "t" => fact.changes.push(rest),
        "q" => fact.asks.push(rest),
        "r" => fact.past.push(rest),
        "l" => fact.history.push(rest),
        "d" => fact.near.push(rest),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_what_a_conversation_needs() {
        let topics = topics();
        assert!(topics.len() >= 25, "{}", topics.len());
        for topic in &topics {
            assert!(topic.nouns.len() >= 6 && topic.points.len() >= 6, "{}", topic.name);
            assert!(!topic.openers.is_empty() && !topic.code.is_empty(), "{}", topic.name);
            assert!(topic.pairs.iter().flat_map(|pair| &pair.0).all(|at| *at < topic.facts.len()));
            for fact in &topic.facts {
                let spoken = fact.kind.is_said_by_assistant();
                assert!(fact.says.len() + usize::from(spoken) >= 2, "{}", topic.name);
                assert!(fact.asks.len() >= 2 && fact.values.len() >= 4, "{}", topic.name);
                assert_eq!(fact.gist.is_empty(), spoken, "{}", topic.name);
                assert_eq!(fact.leads.is_empty(), !spoken, "{}", topic.name);
                assert!(fact.says.iter().all(|line| line.contains("{v}")), "{}", topic.name);
                assert!(!fact.can_change || fact.past.iter().all(|line| line.contains("{w}")));
                assert_eq!(fact.can_change, !fact.changes.is_empty(), "{}", topic.name);
            }
        }
    }

    #[test]
    fn every_person_has_known_topics_and_names_for_them() {
        let topics = topics();
        for person in people() {
            for name in &person.topics {
                let topic = topics.iter().find(|topic| topic.name == *name);
                let kind = topic.map(|topic| topic.kind).unwrap_or_default();
                assert!(person.names(kind).len() >= 3, "{} {name}", person.name);
            }
        }
    }
}
