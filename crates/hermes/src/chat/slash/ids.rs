//! What there is to be completed: facts, sessions, skills, proposals, checkpoints.

use hermes_agent::checkpoint::Checkpoint;
use hermes_home::Home;
use hermes_home::skill::Catalog;
use hermes_memory::remember;
use hermes_store::memory::FactFilter;
use hermes_store::sessions::SessionFilter;
use hermes_store::sqlite::Access;

use super::complete::Choice;
use super::rollback;
use super::table::Takes;
use crate::chat::front::terminal::Ids;
use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::fact_view::name_of;

/// No more than can be looked through.
const MOST: usize = 200;

/// Asks the home of a conversation each time; what cannot be read has no ids.
pub(crate) fn of_home(app: &App, home: &Home, asker: &Asker) -> Ids {
    let (app, home, asker) = (app.for_profile(home), home.clone(), asker.clone());
    Box::new(move |takes| of_kind(&app, &home, &asker, takes).unwrap_or_default())
}

fn of_kind(app: &App, home: &Home, asker: &Asker, takes: Takes) -> anyhow::Result<Vec<Choice>> {
    match takes {
        Takes::Facts => facts(app, home, asker),
        Takes::Sessions => sessions(app, home, asker),
        Takes::Skills => skills(home),
        Takes::Proposals => proposals(app, home, asker),
        Takes::Checkpoints => checkpoints(app, home),
        Takes::Nothing | Takes::Text | Takes::Commands => Ok(Vec::new()),
    }
}

fn facts(app: &App, home: &Home, asker: &Asker) -> anyhow::Result<Vec<Choice>> {
    let store = app.memory(home, Access::Read)?.store;
    let filter = FactFilter { limit: Some(MOST), ..FactFilter::default() };
    let facts = store.list_facts(asker.scope, &filter, app.now)?;
    Ok(facts.into_iter().map(|fact| Choice::new(name_of(fact.id), fact.statement)).collect())
}

fn sessions(app: &App, home: &Home, asker: &Asker) -> anyhow::Result<Vec<Choice>> {
    let whose = asker.own_sessions(&app.memory(home, Access::Read)?.store)?;
    let filter = SessionFilter { user: Some(whose), limit: Some(MOST), ..SessionFilter::default() };
    let found = app.sessions(home, Access::Read)?.list(&filter)?;
    let about =
        |title: Option<String>, preview: Option<String>| title.or(preview).unwrap_or_default();
    Ok(found
        .into_iter()
        .map(|one| Choice::new(one.id.to_string(), about(one.title, one.preview)))
        .collect())
}

fn skills(home: &Home) -> anyhow::Result<Vec<Choice>> {
    let (active, pending) = (Catalog::read(home)?, Catalog::pending(home)?);
    let all = active.skills.iter().chain(&pending.skills);
    Ok(all.map(|one| Choice::new(one.name(), one.content.description.clone())).collect())
}

fn proposals(app: &App, home: &Home, asker: &Asker) -> anyhow::Result<Vec<Choice>> {
    let store = app.memory(home, Access::Read)?.store;
    let pending = remember::pending(&store, asker.scope)?;
    Ok(pending.into_iter().map(|one| Choice::new(one.id.to_string(), one.text)).collect())
}

fn checkpoints(app: &App, home: &Home) -> anyhow::Result<Vec<Choice>> {
    let all = rollback::store(app, home)?.list(None)?;
    let choice = |one: &Checkpoint| Choice::new(rollback::name_of(one), one.what.clone());
    Ok(all.iter().take(MOST).map(choice).collect())
}
