//! hermes memory fact add, list, show, delete, restore, edit, supersede

use crate::terminal::Terminal;
use clap::{Args, Subcommand};
use hermes_home::Home;
use hermes_memory::remember::Erased;
use hermes_store::memory::{Fact, FactFilter, Scope};
use hermes_store::sqlite::Access;

use super::fact_life;
use super::whose::Whose;
use crate::failure::Outcome;
use crate::{confirm, input};
use hermes_app::app::App;
use hermes_app::fact_view::{self, Deleted, Listed, Shown, name_of};
use hermes_app::facts::{self, Facts, New};
use hermes_app::in_step;
use hermes_app::memory::OpenMemory;
use hermes_app::reason::{self, Why};
use hermes_app::text::{counted, one_line};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a fact; adding the same sentence again changes nothing
    Add(Add),
    /// List facts, newest first
    List(List),
    /// Show everything about a fact, including its sources and earlier texts
    Show(One),
    /// Delete facts, so that no answer uses them; `restore` undoes it
    Delete(Delete),
    /// Restore a deleted fact
    Restore(One),
    /// Change the text of a fact; the earlier text is kept
    Edit(Text),
    /// Replace a fact that is no longer true with a new one
    Supersede(Text),
    /// Show the changes of a fact, and who made them
    History(One),
    /// Undo the last change of a fact
    Undo(One),
    /// Pin a fact: facts extracted from conversations never supersede it
    Pin(One),
    /// Unpin a fact, so that it can be superseded again
    Unpin(One),
    /// Merge facts that say the same into one, which supersedes the others
    Merge(fact_life::Merge),
    /// List pairs of facts that may contradict each other
    Conflicts(fact_life::Conflicts),
    /// Mark two facts as not contradicting each other
    Settle(fact_life::Settle),
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The fact as a sentence; `-` reads it from standard input
    text: String,
    /// Kind of fact: fact, preference, decision, identity, deadline, tool, …
    #[arg(long, default_value = "fact")]
    kind: String,
    /// Share the fact with every user of this memory
    #[arg(long)]
    shared: bool,
    /// Name that the fact is about, besides those in the sentence; can be given several times
    #[arg(long, value_name = "NAME")]
    entity: Vec<String>,
    /// Time since when it is true (2d, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// Time until when it is true
    #[arg(long, value_name = "TIME")]
    valid_to: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Maximum number of facts; 0 lists all
    #[arg(long, visible_alias = "recent", default_value_t = USUAL_LIMIT, value_name = "COUNT")]
    limit: usize,
    /// List only facts of this kind
    #[arg(long)]
    kind: Option<String>,
    /// List only facts that mention this name
    #[arg(long, value_name = "NAME")]
    entity: Option<String>,
    /// List only facts recorded since then (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// List the facts that were true and known at this time
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Also list deleted and superseded facts
    #[arg(long)]
    all: bool,
    /// Print a table with the kind and the day of recording
    #[arg(long, short = 'l')]
    long: bool,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// Id of the fact: 42, fact:042, or the beginning of its uid
    pub(super) id: String,
    #[command(flatten)]
    pub(super) whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Ids of the facts: 42, fact:042, or the beginning of a uid
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Erase their texts permanently
    #[arg(long)]
    erase: bool,
    /// Reason, which the history shows: wrong, outdated, private, duplicate, useless, or your own words
    #[arg(long, value_name = "REASON")]
    because: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Args)]
pub(crate) struct Text {
    /// Id of the fact: 42, fact:042, or the beginning of its uid
    id: String,
    /// New sentence; `-` reads it from standard input
    text: String,
    #[command(flatten)]
    whose: Whose,
}

/// How many facts are listed when nothing is said.
const USUAL_LIMIT: usize = 100;

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
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
        Command::Merge(arguments) => fact_life::merge(arguments, &home, app),
        Command::Conflicts(arguments) => fact_life::conflicts(arguments, &home, app),
        Command::Settle(arguments) => fact_life::settle(arguments, &home, app),
    }
}

fn add(arguments: &Add, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let text = facts::sentence(&input::text(&arguments.text)?)?;
    let new = New {
        text: &text,
        kind: Some(&arguments.kind),
        entities: &arguments.entity,
        valid_from: app.moment(home, arguments.valid_from.as_deref())?,
        valid_to: app.moment(home, arguments.valid_to.as_deref())?,
        shared: arguments.shared,
        by_agent: false,
    };
    new.check()?;
    arguments.whose.id()?;
    let mut memory = app.memory(home, Access::Write)?;
    let scope = arguments.whose.writer(&mut memory.store, app.change())?;
    let added = Facts { app, home, memory: &mut memory, scope }.add(&new)?;
    app.out.show(&added)?;
    Ok(Outcome::Done)
}

fn list(arguments: &List, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let zone = app.zone(home)?;
    let limit = Some(arguments.limit).filter(|limit| *limit > 0);
    let filter = FactFilter {
        kind: arguments.kind.as_deref(),
        entity: arguments.entity.as_deref(),
        since: app.moment(home, arguments.since.as_deref())?,
        as_of: app.moment(home, arguments.as_of.as_deref())?,
        with_retired: arguments.all,
        limit,
        ..FactFilter::default()
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

fn show(arguments: &One, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let memory = app.memory(home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let detail = facts::show(app, home, &memory.store, scope, &arguments.id)?;
    app.out.show(&detail)?;
    Ok(Outcome::Done)
}

fn delete(arguments: &Delete, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let why = Why::parse(arguments.because.as_deref().unwrap_or_default())?;
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
        let question = format!("permanently erase {count}, beginning with \"{first}\"?");
        confirm::consent(app.asking, &question)?;
    }
    let ids: Vec<i64> = facts.iter().map(|fact| fact.id).collect();
    let erased = match arguments.erase {
        true => {
            hermes_home::before_upgrade::remove_all(home)?;
            in_step::erase(app, home, &memory, &[scope], &ids)?
        }
        false => Erased::default(),
    };
    for fact in &facts {
        match arguments.erase {
            true => memory.store.erase_fact(scope, fact.id, reason::change(app, why.as_ref()))?,
            false => reason::retire(app, &mut memory.store, scope, fact.id, why.as_ref())?,
        }
    }
    let results = facts.iter().map(|fact| fact_view::deleted(fact, arguments.erase)).collect();
    app.out.show(&Deleted { results, erased: arguments.erase })?;
    in_step::tell(app, erased);
    if arguments.erase {
        app.out.note("the conversations it came from are kept; `hermes memory forget --session ID --erase` erases one");
    } else {
        in_step::follow(app, home, &mut memory, scope, &ids)?;
        for fact in &facts {
            let id = name_of(fact.id);
            app.out.hint(format_args!("undo it with `hermes memory fact restore {id}`"));
        }
    }
    Ok(Outcome::Done)
}

fn restore(arguments: &One, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let restored = Facts { app, home, memory: &mut memory, scope }.restore(&arguments.id)?;
    app.out.show(&restored)?;
    Ok(Outcome::Done)
}

fn edit(arguments: &Text, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let text = facts::sentence(&input::text(&arguments.text)?)?;
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let edited = Facts { app, home, memory: &mut memory, scope }.edit(&arguments.id, &text)?;
    app.out.show(&edited)?;
    Ok(Outcome::Done)
}

fn supersede(arguments: &Text, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let text = facts::sentence(&input::text(&arguments.text)?)?;
    let mut memory = existing(home, app, &arguments.id)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let superseded =
        Facts { app, home, memory: &mut memory, scope }.supersede(&arguments.id, &text)?;
    app.out.show(&superseded)?;
    Ok(Outcome::Done)
}

/// The memory that must hold the fact; a missing one is not made only to find nothing in it.
pub(super) fn existing(home: &Home, app: &App, id: &str) -> anyhow::Result<OpenMemory> {
    let memory = app.memory(home, Access::Read)?;
    if memory.exists {
        return app.memory(home, Access::Write);
    }
    let scope = Scope::of(hermes_store::memory::UserNumber::OWNER);
    memory.store.find_fact(scope, id)?;
    Ok(memory)
}
