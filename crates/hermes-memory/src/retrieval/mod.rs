//! The context for a task: what is remembered that belongs to it, chosen, trimmed and explained.

mod budget;
mod entity;
mod events;
mod merge;
mod outdated;
mod procedural;
mod recency;
mod render;
mod semantic;

use hermes_home::config::Retrieval;
use hermes_home::tokens;
use hermes_store::memory::{ItemKind, Trust};
use jiff::Timestamp;
use serde::Serialize;

use crate::Result;
use crate::search::{self, Effort, Filter, Kind, Looks, Part, Question, Reading};
use crate::task::{self, TaskType};

pub use budget::{Size, fit};
pub use merge::merge;
pub use render::{remark_size, text, text_with, why};

/// What a context is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request<'a> {
    /// The task, as the user put it.
    pub task: &'a str,
    /// The running session; it is never part of its own context.
    pub session: Option<&'a str>,
    /// The folder or repository the task is about.
    pub project: Option<&'a str>,
    /// Where the conversation takes place.
    pub channel: Option<&'a str>,
    /// How many tokens the context may have; none: as the settings say.
    pub budget: Option<usize>,
    /// How many characters it may have; none: as many as the tokens make.
    pub most_characters: Option<usize>,
    /// Whether the files that are always loaded are left out.
    pub no_files: bool,
    /// How much is shown of what was found; none: as it is set, or as is usual.
    pub settings: Option<Retrieval>,
}

/// A file that is always loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Its name as it is shown.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// What found a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// It is a file that is always loaded.
    File,
    /// It is among the latest.
    Recency,
    /// It means something like the task.
    Semantic,
    /// It is about a name in the task.
    Entity,
    /// It tells how this kind of task is done well.
    Procedural,
    /// It happened in the time the task asks about.
    Time,
}

/// Where a thing is shown; the order is the order on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The files that are always loaded.
    Files,
    /// What is known.
    Facts,
    /// How such tasks are done well.
    Procedures,
    /// What happened and when.
    Events,
    /// What was said.
    Episodes,
}

impl Section {
    /// Every section in its order.
    pub const ALL: [Section; 5] =
        [Section::Files, Section::Facts, Section::Procedures, Section::Events, Section::Episodes];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Files => "Files",
            Section::Facts => "Facts",
            Section::Procedures => "How this kind of task went before",
            Section::Events => "What happened",
            Section::Episodes => "Earlier conversations",
        }
    }
}

/// What a pass proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The thing itself.
    pub thing: Thing,
    /// What found it.
    pub pass: Pass,
    /// How sure the pass is that it belongs to the task, from 0 to 1; none where it does not judge.
    pub relevance: Option<f64>,
    /// What that rests on: what a search measured, or the rule by which the pass judges.
    pub evidence: Vec<Part>,
    /// Why, for a person.
    pub reason: String,
}

/// A remembered thing in the words in which it would be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /// Kind and number: `fact:042`, `episode:17`; the name of a file.
    pub name: String,
    /// Where it is shown.
    pub section: Section,
    /// Kind and number for the receipt; none for files.
    pub key: Option<(ItemKind, i64)>,
    /// Date and place, in one line.
    pub head: String,
    /// What is shown.
    pub text: String,
    /// What is shown when there is no room for the text: the part that belongs to the task.
    pub short: Option<String>,
    /// When it was said or became known.
    pub at: Option<Timestamp>,
    /// How much its score counts, from 0 to 1: the confidence of a fact, the success of a procedure.
    pub weight: f64,
    /// How far what is shown can be trusted: the least of its words.
    pub trust: Trust,
}

/// A thing that is part of the context, or would have been.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// Kind and number: `fact:042`, `episode:17`; the name of a file.
    pub name: String,
    /// Where it is shown.
    pub section: Section,
    /// Date and place, in one line.
    pub head: String,
    /// What is shown.
    pub text: String,
    /// What it costs, with its line of date and place.
    pub tokens: usize,
    /// The score by which it was chosen.
    pub score: f64,
    /// What the score is made of; together they are the score.
    pub parts: Vec<Part>,
    /// How sure we are that it belongs to the task, where a pass judged it.
    pub relevance: Option<f64>,
    /// What that rests on: what a search measured, or the rule by which a pass judges.
    pub evidence: Vec<Part>,
    /// What found it.
    pub passes: Vec<Pass>,
    /// Why, for a person.
    pub reason: String,
    /// When it was said or became known.
    pub at: Option<Timestamp>,
    /// Kind and number for the receipt; none for files.
    #[serde(skip)]
    pub key: Option<(ItemKind, i64)>,
    /// The shorter form, if it has one and it was not used.
    #[serde(skip)]
    pub short: Option<String>,
    /// How far what is shown can be trusted.
    #[serde(skip)]
    pub trust: Trust,
}

/// A thing that was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dropped {
    /// The thing.
    #[serde(flatten)]
    pub item: Item,
    /// Why it was left out.
    pub dropped: String,
}

/// One section of a context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Filled {
    /// Which.
    pub section: Section,
    /// Its heading.
    pub title: &'static str,
    /// What it costs with its heading.
    pub tokens: usize,
    /// What is in it.
    pub items: Vec<Item>,
}

/// What is put in front of a model for one task, and how it came about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Context {
    /// The sections that have something in them, in their order.
    pub sections: Vec<Filled>,
    /// What was left out, best first.
    pub dropped: Vec<Dropped>,
    /// What all of it costs.
    pub tokens: usize,
    /// What it may cost.
    pub budget: usize,
    /// What kind of task we take it for.
    pub task_type: TaskType,
    /// The names we saw in the task.
    pub names: Vec<String>,
    /// What the asker should know: a model that is down, a pass that was skipped.
    pub notes: Vec<String>,
}

impl Context {
    /// Everything that is shown.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|section| &section.items)
    }

    /// Whether anything that is shown is not the user's own words.
    pub fn is_below_user(&self) -> bool {
        self.items().any(|item| item.trust < Trust::User)
    }

    /// Kind and number of everything that is shown, for the receipt; an episode counts as a summary.
    pub fn receipt(&self) -> Vec<(ItemKind, i64)> {
        self.items().filter_map(|item| item.key).collect()
    }
}

/// Finds what belongs to a task, with the files that are always loaded, and fits it into the budget.
pub fn context(
    reading: &Reading<'_>,
    request: &Request<'_>,
    files: &[FileText],
) -> Result<Context> {
    Ok(gather(&Looks::default(), reading, request, files)?.fit(request.room()))
}

impl Request<'_> {
    /// How much room the context has.
    pub fn room(&self) -> Size {
        let usual = || self.settings.clone().unwrap_or_default().context_budget_tokens as usize;
        Size {
            tokens: self.budget.unwrap_or_else(usual),
            characters: self.most_characters.unwrap_or(usize::MAX),
        }
    }
}

/// What was found for a task: all that is needed to fit it into a budget.
#[derive(Debug, Clone)]
pub struct Gathered {
    /// What may be shown, best first.
    ranked: Vec<Item>,
    /// What no budget would let in.
    dropped: Vec<Dropped>,
    task_type: TaskType,
    names: Vec<String>,
    notes: Vec<String>,
}

/// Finds what belongs to a task. `looks` serves requests that have the task, the asker and the session in common.
pub fn gather(
    looks: &Looks,
    reading: &Reading<'_>,
    request: &Request<'_>,
    files: &[FileText],
) -> Result<Gathered> {
    let note = search::bounded_note(request.task);
    let task = search::bounded(request.task);
    let request = &Request { task: &task, ..request.clone() };
    let task_type = task::infer(request.task);
    let settings = request.settings.clone().unwrap_or_default();
    let asking = Asking { looks, reading, request, settings, task_type };
    let mut found = Found { names: task::names(request.task), ..Found::default() };
    found.notes.extend(note);
    found.candidates.extend(candidates_of(files));
    if !task::says_little(request.task) {
        looks.vector(reading, request.task)?;
    }
    reading.held(|| asking.pass_all(&mut found))?;
    let Found { candidates, dropped, names, mut notes, .. } = found;
    notes.sort();
    notes.dedup();
    Ok(Gathered { ranked: merge(candidates, reading.now), dropped, task_type, names, notes })
}

impl Gathered {
    /// Puts other words in the place of some, before anything is measured.
    pub fn reword(&mut self, reword: &dyn Fn(&str) -> Option<String>) {
        let dropped = self.dropped.iter_mut().map(|dropped| &mut dropped.item);
        for item in self.ranked.iter_mut().chain(dropped) {
            let texts = [Some(&mut item.text), Some(&mut item.head), item.short.as_mut()];
            let mut is_other = false;
            for text in texts.into_iter().flatten() {
                if let Some(other) = reword(text) {
                    *text = other;
                    is_other = true;
                }
            }
            if is_other {
                item.tokens = tokens::estimate(&render::item(item));
            }
        }
    }

    /// What of it there is room for.
    pub fn fit(self, room: Size) -> Context {
        let mut context = fit(self.ranked, room);
        // What one pass left out may be there for another.
        let is_shown = |name: &str| context.items().any(|item| item.name == name);
        let (_, dropped): (Vec<_>, Vec<_>) =
            self.dropped.into_iter().partition(|one| is_shown(&one.item.name));
        context.dropped.extend(dropped);
        Context { task_type: self.task_type, names: self.names, notes: self.notes, ..context }
    }
}

/// How sure we must be that anything we found belongs to the task. The setting goes from 0,
/// everything, to 1, nothing; the default of 0.65 asks for 0.18: leaving out what was said costs more
/// than a few hundred tokens too many (docs/PERFORMANCE.md).
fn whole_threshold(min_relevance: f64) -> f64 {
    min_relevance.powi(4)
}

/// How sure we must be of a single thing: the first five of a good answer are rarely all sure by
/// themselves. The default of 0.65 asks for 0.05.
fn single_threshold(min_relevance: f64) -> f64 {
    min_relevance.powi(7)
}

/// Who asks for what.
struct Asking<'a> {
    looks: &'a Looks,
    reading: &'a Reading<'a>,
    request: &'a Request<'a>,
    settings: Retrieval,
    task_type: TaskType,
}

/// What the passes found so far.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    dropped: Vec<Dropped>,
    names: Vec<String>,
    notes: Vec<String>,
    /// Episodes of which what was found no longer holds, each with the fact that does.
    heirs: Vec<(i64, i64)>,
}

impl Found {
    /// Proposes what a search found, if it is sure enough; else leaves it out, unless a pass has it.
    fn propose(&mut self, candidate: Candidate, relevance: f64, asking: &Asking<'_>) {
        let least = single_threshold(asking.settings.min_relevance_score);
        if relevance >= least {
            self.candidates.push(candidate);
        } else if self.candidates.iter().all(|known| known.thing.name != candidate.thing.name) {
            let why = format!("relevance {relevance:.2} is below {least:.2}");
            self.drop(candidate, asking.reading.now, why);
        }
    }

    /// Leaves out what a pass found and does not propose.
    fn drop(&mut self, candidate: Candidate, now: Timestamp, why: String) {
        let item = merge::item_of(candidate, now);
        self.dropped.push(Dropped { item, dropped: why });
    }
}

impl Asking<'_> {
    fn pass_all(&self, found: &mut Found) -> Result<()> {
        found.candidates.extend(recency::pass(self)?);
        found.candidates.extend(events::pass(self)?);
        entity::pass(self, found)?;
        if task::says_little(self.request.task) {
            found.notes.push("the task is too short to search for".to_owned());
        } else {
            semantic::pass(self, found)?;
            procedural::pass(self, found)?;
        }
        self.reading.store.still_wanted()?;
        outdated::settle(self, found)
    }

    /// Searches for the task itself among one kind of things.
    fn search(&self, kind: Kind, limit: usize, notes: &mut Vec<String>) -> Result<search::Answer> {
        let Request { task: text, session: except_session, .. } = *self.request;
        let filter = Filter { except_session, ..Filter::default() };
        let question = Question { text, kind, filter, limit };
        let mut answer =
            search::search_among(self.looks, self.reading, &question, &Effort::default())?;
        notes.append(&mut answer.notes);
        Ok(answer)
    }
}

fn candidates_of(files: &[FileText]) -> impl Iterator<Item = Candidate> {
    files.iter().filter(|file| !file.text.trim().is_empty()).map(|file| Candidate {
        thing: Thing {
            name: file.name.clone(),
            section: Section::Files,
            key: None,
            head: String::new(),
            text: file.text.trim().to_owned(),
            short: None,
            at: None,
            weight: 1.0,
            trust: Trust::User,
        },
        pass: Pass::File,
        relevance: None,
        evidence: Vec::new(),
        reason: "always loaded".to_owned(),
    })
}
