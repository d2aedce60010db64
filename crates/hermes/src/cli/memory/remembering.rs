//! What holds in this home for writing what was learned.

use hermes_home::Home;
use hermes_home::layout::MemoryTarget;
use hermes_memory::remember::Rules;
use hermes_store::memory::{SqliteMemory, Vectors as _};

use super::rules;
use crate::app::App;
use crate::embedding;

/// The rules that the settings and the memory give.
pub(crate) fn rules_for<'a>(
    app: &App,
    home: &'a Home,
    store: &SqliteMemory,
) -> anyhow::Result<Rules<'a>> {
    let memory = rules(app, home, &MemoryTarget::Memory)?;
    Ok(Rules {
        home,
        owner: memory.owner,
        auto_write: app.config(home)?.config.auto_writes(),
        memory_limit: memory.limit,
        user_limit: rules(app, home, &MemoryTarget::User(None))?.limit,
        today: app.today(home)?,
        vectors: embedding::vectors(store.active_model()?.as_ref()),
    })
}
