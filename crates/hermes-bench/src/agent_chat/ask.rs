//! The questions about a planned conversation, with the statements that answer them.

use hermes_memory::chunk::MONTHS;
use jiff::civil::DateTime;
use jiff::{ToSpan, Unit};

use super::plan::{Instance, Plan, shuffled};
use super::topics::{Kind, pick};
use hermes_app::numbers::Numbers;

/// A statement, by its instance and its position there.
pub(super) type Holder = (usize, usize);

/// A question before it has its number.
pub(super) struct Asked {
    pub(super) question: String,
    pub(super) category: &'static str,
    pub(super) evidence: Vec<Holder>,
    pub(super) answer: String,
}

const PLAIN: &[(Kind, usize)] = &[
    (Kind::UserFact, 6),
    (Kind::Preference, 3),
    (Kind::Decision, 4),
    (Kind::Advice, 7),
    (Kind::Number, 6),
];
const CHANGED: usize = 5;
const TEMPORAL: usize = 5;
const HISTORIES: usize = 2;
const PAIRS: usize = 3;

/// All questions about a conversation, asked at one time after it.
pub(super) fn questions(plan: &Plan<'_>, now: DateTime, numbers: &mut Numbers) -> Vec<Asked> {
    let mut asked = Vec::new();
    for (kind, count) in PLAIN {
        let wanted =
            |instance: &Instance<'_>| instance.fact.kind == *kind && instance.statements.len() == 1;
        let found = choose(plan, *count, wanted, numbers);
        asked.extend(found.into_iter().map(|at| latest(plan, at, kind.category(), numbers)));
    }
    let has_changed = |instance: &Instance<'_>| instance.statements.len() > 1;
    for at in choose(plan, CHANGED, has_changed, numbers) {
        asked.push(latest(plan, at, "changed", numbers));
    }
    let all = plan.instances.len();
    let past = choose(plan, all, has_changed, numbers);
    let past = past.into_iter().filter_map(|at| temporal(plan, at, now, numbers));
    asked.extend(past.take(TEMPORAL).collect::<Vec<_>>());
    for at in choose(plan, HISTORIES, has_changed, numbers) {
        asked.push(history(plan, at, numbers));
    }
    let pairs = pairs(plan);
    asked.extend(shuffled(pairs, numbers).into_iter().take(PAIRS));
    asked
}

/// The numbers of some of the instances that are wanted.
fn choose(
    plan: &Plan<'_>,
    count: usize,
    wanted: impl Fn(&Instance<'_>) -> bool,
    numbers: &mut Numbers,
) -> Vec<usize> {
    let found = (0..plan.instances.len()).filter(|at| wanted(&plan.instances[*at])).collect();
    let mut found: Vec<usize> = shuffled(found, numbers);
    found.truncate(count);
    found
}

fn latest(plan: &Plan<'_>, at: usize, category: &'static str, numbers: &mut Numbers) -> Asked {
    let instance = &plan.instances[at];
    let last = instance.statements.len() - 1;
    Asked {
        question: pick(numbers, &instance.fact.asks).replace("{x}", instance.name),
        category,
        evidence: vec![(at, last)],
        answer: instance.statements[last].value.to_owned(),
    }
}

/// A question about a month in which the fact was told exactly once.
fn temporal(plan: &Plan<'_>, at: usize, now: DateTime, numbers: &mut Numbers) -> Option<Asked> {
    let instance = &plan.instances[at];
    let begins = |number: usize| plan.sessions[instance.statements[number].session].begins;
    let month = |number: usize| (begins(number).year(), begins(number).month());
    let count = instance.statements.len();
    let is_alone = |number: usize| (0..count).all(|o| o == number || month(o) != month(number));
    let alone: Vec<usize> = (0..count).filter(|number| is_alone(*number)).collect();
    let number = *alone.get(numbers.below(alone.len()))?;
    let when = when(begins(number), now, numbers);
    let question = pick(numbers, &instance.fact.past).replace("{x}", instance.name);
    Some(Asked {
        question: question.replace("{w}", &when),
        category: "temporal",
        evidence: vec![(at, number)],
        answer: instance.statements[number].value.to_owned(),
    })
}

fn when(then: DateTime, now: DateTime, numbers: &mut Numbers) -> String {
    let month = MONTHS[then.month() as usize - 1];
    let weeks = then.until((Unit::Day, now)).map_or(0, |span| span.get_days() / 7);
    match (numbers.below(4), then.day()) {
        (0, _) if weeks > 2 => format!("about {weeks} weeks ago"),
        (1, ..10) => format!("in early {month}"),
        (1, 21..) => format!("towards the end of {month}"),
        (1, _) => format!("in the middle of {month}"),
        (2, _) => format!("back in {month}"),
        _ => format!("in {month}"),
    }
}

fn history(plan: &Plan<'_>, at: usize, numbers: &mut Numbers) -> Asked {
    let instance = &plan.instances[at];
    let values: Vec<&str> = instance.statements.iter().map(|statement| statement.value).collect();
    Asked {
        question: pick(numbers, &instance.fact.history).replace("{x}", instance.name),
        category: "multi",
        evidence: (0..values.len()).map(|number| (at, number)).collect(),
        answer: values.join(", then "),
    }
}

/// Every question that needs several facts of a topic about the same name.
fn pairs(plan: &Plan<'_>) -> Vec<Asked> {
    let mut asked = Vec::new();
    for main in plan.instances.iter().filter(|instance| instance.is_main) {
        for (facts, question) in &main.topic.pairs {
            let holders: Vec<Holder> =
                facts.iter().filter_map(|fact| holder(plan, main, *fact)).collect();
            if facts.first() == Some(&main.fact_index) && holders.len() == facts.len() {
                let value = |(at, number): &Holder| plan.instances[*at].statements[*number].value;
                asked.push(Asked {
                    question: question.replace("{x}", main.name),
                    category: "multi",
                    answer: holders.iter().map(value).collect::<Vec<_>>().join(" and "),
                    evidence: holders,
                });
            }
        }
    }
    asked
}

/// The latest statement of another fact of the same topic and name.
fn holder(plan: &Plan<'_>, main: &Instance<'_>, fact: usize) -> Option<Holder> {
    let is_it = |instance: &Instance<'_>| {
        instance.topic.name == main.topic.name
            && instance.fact_index == fact
            && instance.name == main.name
    };
    let at = plan.instances.iter().position(is_it)?;
    Some((at, plan.instances[at].statements.len().checked_sub(1)?))
}

/// Some days after the last session.
pub(super) fn asking_time(plan: &Plan<'_>, numbers: &mut Numbers) -> DateTime {
    let last = plan.sessions.iter().map(|session| session.begins).max().unwrap_or_default();
    last + (2 + numbers.below(12) as i64).days()
}
