//! hermes memory fact add, list, show, delete, restore, edit, supersede

use clap::{Args, Subcommand};
use hermes_home::Home;
use hermes_memory::chunk::{self, Words};
use hermes_memory::remember::Erased;
use hermes_memory::task;
use hermes_store::memory::{
    Added, Entities as _, Fact, FactFilter, Facts as _, ItemKind, Lifecycle as _, NewChunk,
    NewFact, Origin, Scope, Trust, Vectors as _,
};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fact_view::{self, Change, Changed, Deleted, Detail, From, Listed, Shown, name_of};
use super::whose::Whose;
use super::{fact_life, in_step, later};
use crate::app::{App, Memory};
use crate::failure::{Outcome, Problem};
use crate::output::{counted, one_line};
use crate::{clock, confirm, embedding, input};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keep a fact; the same sentence twice is kept once
    Add(Add),
    /// List facts, newest first
    List(List),
    /// Show everything about a fact: where it comes from, its earlier texts
    Show(One),
    /// Take facts out of every answer; they can be brought back
    Delete(Delete),
    /// Bring a deleted fact back
    Restore(One),
    /// Give a fact another text; the earlier one is kept
    Edit(Text),
    /// Put a new fact in the place of one that is no longer true
    Supersede(Text),
    /// What happened to a fact, and who did it
    History(One),
    /// Take back the last change of a fact
    Undo(One),
    /// Keep a fact as it is: nothing drawn from a conversation takes its place
    Pin(One),
    /// Let a pinned fact be superseded again
    Unpin(One),
    /// Facts that may not both be true
    Conflicts(fact_life::Conflicts),
    /// Say that two facts may both be true
    Settle(fact_life::Settle),
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The sentence; `-` reads it from standard input
    text: String,
    /// What kind of fact: fact, preference, decision, identity, deadline, tool, …
    #[arg(long, default_value = "fact")]
    kind: String,
    /// Let every user of this memory read it
    #[arg(long)]
    shared: bool,
    /// A name it is about (may be given several times); names in the sentence are found
    #[arg(long, value_name = "NAME")]
    entity: Vec<String>,
    /// Since when it is true (2d, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// Until when it is true
    #[arg(long, value_name = "TIME")]
    valid_to: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// At most this many; 0 lists all
    #[arg(long, visible_alias = "recent", default_value_t = USUAL_LIMIT, value_name = "COUNT")]
    limit: usize,
    /// Only of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only what mentions this name
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,
    /// Only what was recorded since this time (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// What held and was known at this time
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Also those that were deleted or superseded
    #[arg(long)]
    all: bool,
    /// As a table, with the day it was recorded and its kind
    #[arg(long, short = 'l')]
    long: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The fact: 42, fact:042, or the beginning of its uid
    pub(super) id: String,
    #[command(flatten)]
    pub(super) whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The facts: 42, fact:042, or the beginning of a uid
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Remove every word of them, for good
    #[arg(long)]
    erase: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Text {
    /// The fact: 42, fact:042, or the beginning of its uid
    id: String,
    /// The new sentence; `-` reads it from standard input
    text: String,
    #[command(flatten)]
    whose: Whose,
}

/// How many facts are listed when nothing is said.
const USUAL_LIMIT: usize = 100;
/// Longer texts are no sentence.
const LONGEST: usize = 4_000;

pub(crate) fn run(command: &Command, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    match command {
        Command::Add(arguments) => add(arguments, &home, app),
        Command::List(arguments) => list(arguments, &home, app),
        Command::Show(arguments) => show(arguments, &home, app),
        Command::Delete(arguments) => delete(arguments, &home, app),
        Command::Restore(arguments) => restore(arguments, &home, app),
        Command::Edit(arguments) => edit(arguments, &home, app),
        Command::Supersede(arguments) => supersede(arguments, &home, app),
        Command::History(arguments) => fact_life::history(arguments, &home, app),
        Command::Undo(arguments) => fact_life::undo(arguments, &home, app),
        Command::Pin(arguments) => fact_life::pin(arguments, true, &home, app),
        Command::Unpin(arguments) => fact_life::pin(arguments, false, &home, app),
        Command::Conflicts(arguments) => fact_life::conflicts(arguments, &home, app),
        Command::Settle(arguments) => fact_life::settle(arguments, &home, app),
    }
}

fn add(arguments: &Add, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let text = sentence(&arguments.text)?;
    let kind = arguments.kind.trim();
    if kind.is_empty() {
        return Err(Problem::usage("--kind is empty").into());
    }
    let zone = app.zone(home)?;
    let valid_from = moment(arguments.valid_from.as_deref(), app, &zone)?;
    let valid_to = moment(arguments.valid_to.as_deref(), app, &zone)?;
    if valid_from.zip(valid_to).is_some_and(|(from, to)| from > to) {
        return Err(Problem::usage("it would end before it begins")
            .hint("`--valid-from` must not be after `--valid-to`")
            .into());
    }
    arguments.whose.id()?;
    let mut memory = app.memory(home, Access::Write)?;
    let scope = arguments.whose.writer(&mut memory.store, app.change())?;
    let entities = entities(&text, &arguments.entity);
    let fact = NewFact {
        kind,
        valid_from,
        valid_to,
        shared: arguments.shared,
        ..plain(&text, &entities, chunks(&text, &memory)?)
    };
    let added = memory.store.add_fact(scope, &fact, app.change())?;
    let (id, change) = match added {
        Added::New(id) => (id, Change::Added),
        Added::Known(id) => (id, Change::Known),
    };
    let kept = memory.store.facts(scope, &[id])?;
    let text = kept.first().map_or(text, |fact| fact.statement.clone());
    let entities = kept.first().map_or(entities, |fact| fact.entities.clone());
    app.out.show(&Changed { id: name_of(id), text, change, replaced: None, entities })?;
    later::fill_in(home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

fn list(arguments: &List, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let zone = app.zone(home)?;
    let limit = Some(arguments.limit).filter(|limit| *limit > 0);
    let filter = FactFilter {
        kind: arguments.kind.as_deref(),
        entity: arguments.entity.as_deref(),
        since: moment(arguments.since.as_deref(), app, &zone)?,
        as_of: moment(arguments.as_of.as_deref(), app, &zone)?,
        with_retired: arguments.all,
        limit,
    };
    let memory = app.memory(home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let facts = memory.store.list_facts(scope, &filter, app.now)?;
    let is_cut = Some(facts.len()) == limit && arguments.limit == USUAL_LIMIT;
    let results = facts.iter().map(Shown::of).collect();
    app.out.show(&Listed { results, zone, long: arguments.long })?;
    if is_cut {
        app.out.hint("there may be more: `--limit 0` lists all");
    }
    Ok(Outcome::Done)
}

fn show(arguments: &One, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let memory = app.memory(home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let fact = memory.store.find_fact(scope, &arguments.id)?;
    let mut sources = Vec::new();
    for source in memory.store.sources_of_fact(scope, fact.id)? {
        let covering = memory.store.covering(scope, source.episode.as_slice())?;
        let summary = covering.first().map(|(_, summary)| *summary);
        sources.push(From { source, summary });
    }
    let revisions = memory.store.revisions_of_fact(scope, fact.id)?;
    app.out.show(&Detail { fact: Shown::of(&fact), sources, revisions, zone: app.zone(home)? })?;
    Ok(Outcome::Done)
}

fn delete(arguments: &Delete, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.ids[0])?;
    let scope = arguments.whose.existing(&memory.store)?;
    let mut facts: Vec<Fact> = Vec::new();
    for id in &arguments.ids {
        let fact = memory.store.find_fact(scope, id)?;
        if facts.iter().all(|known| known.id != fact.id) {
            facts.push(fact);
        }
    }
    if arguments.erase {
        let count = counted(facts.len() as u64, "fact");
        let first = one_line(&facts[0].statement, 60);
        let question = format!("erase {count} for good, beginning with \"{first}\"?");
        confirm::consent(app.asking, &question)?;
    }
    let ids: Vec<i64> = facts.iter().map(|fact| fact.id).collect();
    let erased = match arguments.erase {
        true => in_step::erase(app, home, &memory, (&[scope], &ids))?,
        false => Erased::default(),
    };
    for fact in &facts {
        match arguments.erase {
            true => memory.store.erase_fact(scope, fact.id, app.change())?,
            false => memory.store.retire_fact(scope, fact.id, app.change())?,
        }
    }
    let results = facts.iter().map(|fact| fact_view::deleted(fact, arguments.erase)).collect();
    app.out.show(&Deleted { results, erased: arguments.erase })?;
    in_step::tell(app, erased);
    if !arguments.erase {
        in_step::follow(app, home, &mut memory, (scope, &ids))?;
        for fact in &facts {
            let id = name_of(fact.id);
            app.out.hint(format_args!("undo it with `hermes memory fact restore {id}`"));
        }
    }
    Ok(Outcome::Done)
}

fn restore(arguments: &One, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let fact = memory.store.find_fact(scope, &arguments.id)?;
    memory.store.restore_fact(scope, fact.id, app.change())?;
    app.out.show(&Changed {
        id: name_of(fact.id),
        text: fact.statement,
        change: Change::Restored,
        replaced: None,
        entities: fact.entities,
    })?;
    in_step::follow(app, home, &mut memory, (scope, &[fact.id]))?;
    later::fill_in(home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

fn edit(arguments: &Text, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let text = sentence(&arguments.text)?;
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let fact = memory.store.find_fact(scope, &arguments.id)?;
    let chunks = chunks(&text, &memory)?;
    let names = entities(&text, &fact.entities);
    memory.store.edit_fact(scope, fact.id, &text, chunks, app.change())?;
    memory.store.mention(scope, ItemKind::Fact, fact.id, &names, app.change())?;
    app.out.show(&Changed {
        id: name_of(fact.id),
        text,
        change: Change::Edited,
        replaced: None,
        entities: names,
    })?;
    in_step::follow(app, home, &mut memory, (scope, &[fact.id]))?;
    later::fill_in(home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

fn supersede(arguments: &Text, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let text = sentence(&arguments.text)?;
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let fact = memory.store.find_fact(scope, &arguments.id)?;
    let new = successor(&mut memory, scope, &fact, (&text, app))?;
    app.out.show(&Changed {
        id: name_of(new),
        text,
        change: Change::Superseded,
        replaced: Some(name_of(fact.id)),
        entities: Vec::new(),
    })?;
    in_step::follow(app, home, &mut memory, (scope, &[fact.id]))?;
    later::fill_in(home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

/// The new fact has what the old one had, but for its sentence and the time it is true.
fn successor(
    memory: &mut Memory,
    scope: Scope,
    old: &Fact,
    (text, app): (&str, &App),
) -> anyhow::Result<i64> {
    let entities = entities(text, &[]);
    let new = NewFact {
        kind: &old.kind,
        subject: old.subject.as_deref(),
        predicate: old.predicate.as_deref(),
        shared: old.user != scope.user(),
        ..plain(text, &entities, chunks(text, memory)?)
    };
    Ok(memory.store.supersede_fact(scope, old.id, &new, app.change())?)
}

/// The memory that must hold the fact; a missing one is not made only to find nothing in it.
pub(super) fn existing(home: &Home, app: &App, id: &str) -> anyhow::Result<Memory> {
    let memory = app.memory(home, Access::Read)?;
    if memory.exists {
        return app.memory(home, Access::Write);
    }
    let scope = Scope::of(hermes_store::memory::UserNumber::OWNER);
    memory.store.find_fact(scope, id)?;
    Ok(memory)
}

/// A fact that the user typed, with nothing but its sentence.
fn plain<'a>(text: &'a str, entities: &'a [String], chunks: Vec<NewChunk>) -> NewFact<'a> {
    NewFact {
        statement: text,
        kind: "fact",
        subject: None,
        predicate: None,
        object: None,
        confidence: 1.0,
        origin: Origin::User,
        trust: Trust::User,
        valid_from: None,
        valid_to: None,
        shared: false,
        entities,
        sources: &[],
        chunks,
    }
}

fn chunks(text: &str, memory: &Memory) -> anyhow::Result<Vec<NewChunk>> {
    let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    Ok(chunk::prepare(&Words { text, ..Words::default() }, vectors))
}

/// The names that were given, then those in the sentence; each once.
fn entities(text: &str, given: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let given = given.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    for name in given.chain(task::names(text)) {
        if names.iter().all(|known| known.to_lowercase() != name.to_lowercase()) {
            names.push(name);
        }
    }
    names
}

fn sentence(argument: &str) -> anyhow::Result<String> {
    let text = input::text(argument)?.trim().to_owned();
    let length = text.chars().count();
    if text.is_empty() {
        return Err(Problem::usage("there is nothing to keep: the text is empty").into());
    }
    if text.contains('\0') {
        return Err(Problem::usage("the text has a NUL character in it").into());
    }
    if length > LONGEST {
        return Err(Problem::usage(format!(
            "a fact of {length} characters: {LONGEST} is the most"
        ))
        .hint("keep one sentence, and record long texts with `hermes memory record`")
        .into());
    }
    Ok(text)
}

fn moment(text: Option<&str>, app: &App, zone: &TimeZone) -> Result<Option<Timestamp>, Problem> {
    text.map(|text| clock::parse_moment(text, app.now, zone)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_given_and_those_found_each_once() {
        let found = entities("We moved to Lisbon with Rosa", &["rosa".into(), " ".into()]);
        assert_eq!(found, ["rosa", "Lisbon"]);
    }

    #[test]
    fn a_sentence_is_neither_blank_nor_endless() {
        assert!(sentence("  ").is_err() && sentence(&"x".repeat(4_001)).is_err());
        assert_eq!(sentence(" tea ").unwrap(), "tea");
    }
}
