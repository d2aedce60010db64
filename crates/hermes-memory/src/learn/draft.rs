//! The skill that several successes make: name, description, steps, what to mind. Pure but for the model's wording.

use std::fmt::Write;

use hermes_home::SkillName;
use hermes_home::skill::NewSkill;
use hermes_store::memory::Task;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::similar::stem;
use super::steps::CommonStep;
use crate::ask::{Ask, Prompt, unfenced};
use crate::chunk::day_of;
use crate::reflect::shorten;
use crate::remember::suspicion;
use crate::{Error, Result, task};

/// What successes have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Common<'a> {
    /// The tasks, newest first.
    pub(super) tasks: &'a [&'a Task],
    /// What all of them did, each with what it is for if a model said so.
    pub(super) steps: Vec<(CommonStep, Option<String>)>,
    /// What users said more than once.
    pub(super) mind: Vec<String>,
    /// What it does and when to use it.
    pub(super) description: String,
}

const PROMPT: &str = include_str!("../../prompts/skill.md");

impl<'a> Common<'a> {
    /// What the tasks share; none if they share neither steps nor lessons.
    pub(super) fn of(
        tasks: &'a [&'a Task],
        steps: Vec<CommonStep>,
        mind: Vec<String>,
    ) -> Option<Common<'a>> {
        const LEAST_STEPS: usize = 2;
        if steps.len() < LEAST_STEPS && mind.is_empty() {
            return None;
        }
        let steps = steps.into_iter().map(|step| (step, None)).collect();
        let description = description(tasks);
        Some(Common { tasks, steps, mind, description })
    }

    /// The skill as it is offered.
    pub(super) fn skill(&self, zone: &TimeZone, made_at: Timestamp) -> Option<NewSkill> {
        Some(NewSkill {
            name: name(self.tasks)?,
            description: self.description.clone(),
            body: self.body(zone),
            task_type: self.tasks.first()?.task_type.clone(),
            sources: self.tasks.iter().map(|task| format!("task:{}", task.id)).collect(),
            made_at,
        })
    }

    fn body(&self, zone: &TimeZone) -> String {
        let title = self.tasks.first().map(|task| plain(&task.title, 120)).unwrap_or_default();
        let mut body = format!("# {title}\n");
        if !self.steps.is_empty() {
            body.push_str("\n## Steps\n\n");
        }
        for (place, (step, purpose)) in self.steps.iter().enumerate() {
            let call = step.call.replace('`', "'");
            let purpose = purpose.as_ref().map(|text| format!("{text}: ")).unwrap_or_default();
            let _ = writeln!(body, "{}. {purpose}{} `{call}`", place + 1, step.tool);
        }
        if !self.mind.is_empty() {
            body.push_str("\n## Mind\n\n");
        }
        for one in &self.mind {
            let _ = writeln!(body, "- {}", plain(one, 240));
        }
        body.push_str("\n## Made from\n\n");
        for task in self.tasks {
            let day = day_of(task.started_at, zone);
            let _ = writeln!(body, "- {day}: {}", plain(&task.title, 120));
        }
        body
    }

    /// Lets a model word it; the steps stay those that were done, or fewer.
    pub(super) fn worded(mut self, ask: &mut Ask<'_>) -> Result<Common<'a>> {
        let mut user = String::new();
        for task in self.tasks {
            let _ = writeln!(user, "Task: {}", shorten(&task.title, 200));
        }
        for (place, (step, _)) in self.steps.iter().enumerate() {
            let _ = writeln!(user, "Step {}: {} {}", place + 1, step.tool, step.call);
        }
        for one in &self.mind {
            let _ = writeln!(user, "The user said: {}", shorten(one, 240));
        }
        let reply = ask(&Prompt { system: PROMPT.to_owned(), user, max_tokens: 800 })?;
        let bad = |why: String| Error::BadReply { model: reply.model.clone(), why };
        let answer: Answer =
            serde_json::from_str(unfenced(&reply.text)).map_err(|error| bad(error.to_string()))?;
        self.take(&answer).map_err(bad)?;
        Ok(self)
    }

    fn take(&mut self, answer: &Answer) -> std::result::Result<(), String> {
        let description = answer.description.trim();
        let is_long = description.chars().count() > 600;
        if description.is_empty() || is_long || suspicion(description).is_some() {
            return Err("its description cannot be used".to_owned());
        }
        let mut steps = Vec::new();
        let mut last = 0;
        for told in &answer.steps {
            let known = told.step.checked_sub(1).and_then(|at| self.steps.get(at));
            let Some((step, _)) = known.filter(|_| told.step > last) else {
                return Err(format!(
                    "step {} is not one of those given, in their order",
                    told.step
                ));
            };
            if told.text.chars().count() > 300 || suspicion(&told.text).is_some() {
                return Err(format!("the words for step {} cannot be used", told.step));
            }
            let purpose = plain(told.text.trim_end_matches(['.', ':']), 200);
            steps.push((step.clone(), Some(purpose).filter(|text| !text.is_empty())));
            last = told.step;
        }
        if steps.is_empty() && !self.steps.is_empty() {
            return Err("it leaves out every step".to_owned());
        }
        self.steps = steps;
        self.description = shorten(description, 600);
        Ok(())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    description: String,
    steps: Vec<Told>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    step: usize,
    text: String,
}

fn plain(text: &str, longest: usize) -> String {
    shorten(text, longest).replace("<!--", "<! --")
}

/// The words of the newest title that all titles have.
fn shared_words(tasks: &[&Task]) -> Vec<String> {
    let Some((newest, others)) = tasks.split_first() else { return Vec::new() };
    let stems: Vec<Vec<String>> = others
        .iter()
        .map(|task| task::content_words(&task.title).iter().map(|word| stem(word)).collect())
        .collect();
    let mut shared: Vec<String> = Vec::new();
    for word in task::content_words(&newest.title) {
        let is_shared = stems.iter().all(|words| words.contains(&stem(&word)));
        if is_shared && !shared.contains(&word) {
            shared.push(word);
        }
    }
    shared
}

fn name(tasks: &[&Task]) -> Option<SkillName> {
    const MOST_WORDS: usize = 4;
    let is_plain = |word: &&String| word.chars().all(|c| c.is_ascii_alphanumeric());
    let shared = shared_words(tasks);
    let words: Vec<&str> =
        shared.iter().filter(is_plain).take(MOST_WORDS).map(String::as_str).collect();
    let newest = tasks.first()?;
    let name = match words.as_slice() {
        [] => format!("{}-tasks-{}", newest.task_type, newest.id),
        [only] => format!("{}-{only}", newest.task_type),
        several => several.join("-"),
    };
    let name: String = name.chars().take(60).collect();
    name.trim_matches(['-', '.', '_']).parse().ok()
}

fn description(tasks: &[&Task]) -> String {
    let Some(newest) = tasks.first() else { return String::new() };
    let about = shared_words(tasks).join(", ");
    let about = if about.is_empty() { String::new() } else { format!(" about {about}") };
    let title = shorten(&newest.title, 120);
    format!(
        "How tasks like \"{title}\" are done. Use it for {} tasks{about}. Made from {} that went well.",
        newest.task_type,
        tasks.len()
    )
}
