//! What is said when: the sessions of one conversation and the statements in them.

use std::ops::Range;

use jiff::civil::{DateTime, date};
use jiff::{Span, ToSpan};

use super::talk::{self, Filling, Voice};
use super::topics::{Fact, General, Person, Topic, pick};
use hermes_app::numbers::Numbers;

const SESSIONS: (usize, usize) = (48, 8);
/// Question and answer pairs of a session: from 2 to 8.
const PAIRS: (usize, usize) = (2, 7);
const DAYS: usize = 245;
/// How often a message that only shares words with a question is written.
const NEAR: f64 = 0.4;

/// A conversation as it is going to be written.
pub(super) struct Plan<'a> {
    pub(super) sessions: Vec<Session<'a>>,
    pub(super) instances: Vec<Instance<'a>>,
}

/// One sitting.
pub(super) struct Session<'a> {
    pub(super) begins: DateTime,
    topic: &'a Topic,
    room: usize,
    pub(super) pairs: Vec<Pair>,
}

/// A message of the user and the answer to it.
pub(super) struct Pair {
    pub(super) user: String,
    pub(super) assistant: String,
    /// Which statement this pair holds: the instance and the position among its statements.
    pub(super) holds: Option<(usize, usize)>,
    can_begin: bool,
}

/// A fact with its name: what it was at which time.
pub(super) struct Instance<'a> {
    pub(super) topic: &'a Topic,
    pub(super) fact: &'a Fact,
    pub(super) fact_index: usize,
    pub(super) name: &'static str,
    /// Whether it has the name that the facts of its topic have in common.
    pub(super) is_main: bool,
    pub(super) statements: Vec<Statement>,
}

/// One value, as told in one session.
pub(super) struct Statement {
    pub(super) session: usize,
    pub(super) value: &'static str,
}

/// Plans a conversation.
pub(super) fn plan<'a>(
    person: &Person,
    topics: &'a [Topic],
    general: &General,
    numbers: &mut Numbers,
) -> Plan<'a> {
    let own: Vec<&Topic> =
        topics.iter().filter(|topic| person.topics.contains(&topic.name)).collect();
    let mut planner =
        Planner { person, general, sessions: sessions(&own, numbers), own: &own, numbers };
    let mut instances = planner.instances();
    planner.place(&mut instances);
    planner.distract(&instances);
    planner.fill_up();
    let mut plan = Plan { sessions: planner.sessions, instances };
    for session in &mut plan.sessions {
        session.order(numbers);
    }
    plan
}

fn sessions<'a>(own: &[&'a Topic], numbers: &mut Numbers) -> Vec<Session<'a>> {
    let count = SESSIONS.0 + numbers.below(SESSIONS.1);
    let start = date(2025, 1, 6).at(0, 0, 0, 0) + days(numbers.below(90));
    let mut turns: Vec<&Topic> = Vec::new();
    while turns.len() < count {
        turns.extend(shuffled(own.to_vec(), numbers));
    }
    let session = |(number, topic): (usize, &&'a Topic)| {
        let day = number * DAYS / count + numbers.below(4);
        let minutes = 7 * 60 + numbers.below(15 * 60);
        let begins = start + days(day) + (minutes as i64).minutes();
        Session { begins, topic, room: PAIRS.0 + numbers.below(PAIRS.1), pairs: Vec::new() }
    };
    let mut sessions: Vec<Session<'a>> =
        turns.iter().take(count).enumerate().map(session).collect();
    sessions.sort_by_key(|session| session.begins);
    sessions
}

fn days(count: usize) -> Span {
    (count as i64).days()
}

/// The things in another order.
pub(super) fn shuffled<T>(mut things: Vec<T>, numbers: &mut Numbers) -> Vec<T> {
    for at in (1..things.len()).rev() {
        things.swap(at, numbers.below(at + 1));
    }
    things
}

impl Session<'_> {
    fn has_room(&self) -> bool {
        self.pairs.len() < self.room
    }

    /// Mixes the pairs; one that can stand at the beginning comes first.
    fn order(&mut self, numbers: &mut Numbers) {
        self.pairs = shuffled(std::mem::take(&mut self.pairs), numbers);
        if let Some(first) = self.pairs.iter().position(|pair| pair.can_begin) {
            self.pairs.swap(0, first);
        }
    }
}

struct Planner<'p, 'a> {
    person: &'p Person,
    general: &'p General,
    sessions: Vec<Session<'a>>,
    own: &'p [&'a Topic],
    numbers: &'p mut Numbers,
}

impl<'a> Planner<'_, 'a> {
    /// Every fact of every topic, with the main name and sometimes with others.
    fn instances(&mut self) -> Vec<Instance<'a>> {
        let mut instances = Vec::new();
        for topic in self.own {
            let names = shuffled(self.person.names(topic.kind).to_vec(), self.numbers);
            for (fact_index, fact) in topic.facts.iter().enumerate() {
                let values = shuffled(fact.values.clone(), self.numbers);
                let mut values = values.into_iter();
                for (number, name) in
                    names.iter().take(if fact.has_name() { 3 } else { 1 }).enumerate()
                {
                    if number > 0 && self.numbers.fraction() > 0.35 {
                        continue;
                    }
                    let count = self.count_of_values(fact);
                    let statements: Vec<Statement> = values
                        .by_ref()
                        .take(count)
                        .map(|value| Statement { session: 0, value })
                        .collect();
                    if !statements.is_empty() {
                        let is_main = number == 0;
                        instances.push(Instance {
                            topic,
                            fact,
                            fact_index,
                            name,
                            is_main,
                            statements,
                        });
                    }
                }
            }
        }
        shuffled(instances, self.numbers)
    }

    fn count_of_values(&mut self, fact: &Fact) -> usize {
        match fact.can_change && self.numbers.fraction() < 0.6 {
            true => 2 + self.numbers.below(2),
            false => 1,
        }
    }

    /// Gives every statement its session and writes it there.
    fn place(&mut self, instances: &mut [Instance<'a>]) {
        for (number, instance) in instances.iter_mut().enumerate() {
            let count = instance.statements.len();
            let length = self.sessions.len();
            let mut written = Vec::new();
            for at in 0..count {
                let part = at * length / count..(at + 1) * length / count;
                let Some(session) = self.room_within(part, instance.topic) else { continue };
                instance.statements[at].session = session;
                let old: Option<&Statement> =
                    written.last().map(|at: &usize| &instance.statements[*at]);
                let old = old.map(|statement| statement.value);
                let pair = self.state(instance, instance.statements[at].value, old);
                self.sessions[session]
                    .pairs
                    .push(Pair { holds: Some((number, written.len())), ..pair });
                written.push(at);
            }
            let mut at = 0..count;
            instance.statements.retain(|_| at.next().is_some_and(|at| written.contains(&at)));
        }
    }

    /// A session with room in a part of the time, one about the topic most of the time.
    fn room_within(&mut self, part: Range<usize>, topic: &Topic) -> Option<usize> {
        let free: Vec<usize> = part.filter(|at| self.sessions[*at].has_room()).collect();
        let fitting: Vec<usize> =
            free.iter().copied().filter(|at| self.sessions[*at].topic.name == topic.name).collect();
        let from = if fitting.is_empty() || self.numbers.below(4) == 0 { free } else { fitting };
        from.get(self.numbers.below(from.len())).copied()
    }

    fn state(&mut self, instance: &Instance<'a>, value: &str, old: Option<&str>) -> Pair {
        let Instance { topic, fact, name, .. } = *instance;
        let (old_value, person) = (old.unwrap_or_default(), self.person.name);
        let filling = Filling { name, value, old_value, person, gist: fact.gist };
        if fact.kind.is_said_by_assistant() {
            let said = pick(self.numbers, &fact.says);
            let said = talk::fill(said, filling, topic, self.numbers);
            let lead = pick(self.numbers, &fact.leads);
            return self.pair(topic, filling, lead, Some(&said));
        }
        let said = pick(self.numbers, if old.is_some() { &fact.changes } else { &fact.says });
        let mut voice = self.voice(topic);
        let user = talk::statement(said, filling, &mut voice);
        let assistant = talk::answer(None, filling, &mut voice);
        Pair { user, assistant, holds: None, can_begin: true }
    }

    /// Messages that share words with the questions and do not answer them.
    fn distract(&mut self, instances: &[Instance<'a>]) {
        for instance in instances {
            for near in &instance.fact.near {
                let all = 0..self.sessions.len();
                if self.numbers.fraction() < NEAR
                    && let Some(session) = self.room_within(all, instance.topic)
                {
                    let filling = self.filling(instance.name);
                    let pair = self.pair(instance.topic, filling, near, None);
                    self.sessions[session].pairs.push(pair);
                }
            }
        }
    }

    fn fill_up(&mut self) {
        for at in 0..self.sessions.len() {
            let topic = self.sessions[at].topic;
            let name = pick(self.numbers, self.person.names(topic.kind));
            while self.sessions[at].has_room() {
                let is_first = !self.sessions[at].pairs.iter().any(|pair| pair.can_begin);
                let opens = is_first || self.numbers.below(3) == 0;
                let phrase = match opens {
                    true => pick(self.numbers, &topic.openers),
                    false => pick(self.numbers, &self.general.follows),
                };
                let pair = self.pair(topic, self.filling(name), phrase, None);
                self.sessions[at].pairs.push(Pair { can_begin: opens, ..pair });
            }
        }
    }

    /// What is said to a phrase of the user, with something it must say.
    fn pair(
        &mut self,
        topic: &'a Topic,
        filling: Filling<'_>,
        remark: &str,
        answer: Option<&str>,
    ) -> Pair {
        let mut voice = self.voice(topic);
        let user = talk::remark(remark, filling, &mut voice);
        let assistant = talk::answer(answer, filling, &mut voice);
        Pair { user, assistant, holds: None, can_begin: true }
    }

    fn filling(&self, name: &'static str) -> Filling<'static> {
        Filling { name, person: self.person.name, ..Filling::default() }
    }

    fn voice(&mut self, topic: &'a Topic) -> Voice<'_, '_> {
        let other = self.own[self.numbers.below(self.own.len())];
        Voice { topic, other, general: self.general, numbers: self.numbers }
    }
}
