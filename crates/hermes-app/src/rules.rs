//! What holds in this home for its memory files: whose they are, how long they may get, what may be written.

use hermes_home::Home;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file;
use hermes_memory::remember::Rules;
use hermes_store::memory::Memory;
use jiff::SignedDuration;

use crate::app::App;
use crate::embedding;

/// A session in which nothing was said for so long is over.
pub const IDLE: SignedDuration = SignedDuration::from_mins(30);

/// The rules that the settings and the memory give.
pub fn of_learning<'a>(app: &App, home: &'a Home, store: &Memory) -> anyhow::Result<Rules<'a>> {
    let memory = of_file(app, home, &MemoryTarget::Memory)?;
    Ok(Rules {
        home,
        owner: memory.owner,
        auto_write: app.config(home)?.config.auto_writes(),
        memory_limit: memory.limit,
        user_limit: of_file(app, home, &MemoryTarget::User(None))?.limit,
        today: app.today(home)?,
        vectors: embedding::vectors(store.active_model()?.as_ref()),
        secrets: app.config(home)?.config.recording.secrets,
    })
}

/// Whose home it is and how long the file may get.
pub fn of_file(
    app: &App,
    home: &Home,
    target: &MemoryTarget,
) -> anyhow::Result<memory_file::Rules> {
    let owner = app.owner(home)?;
    let memory = &app.config(home)?.config.memory;
    let limit = match target {
        MemoryTarget::Memory => memory.memory_char_limit,
        MemoryTarget::User(_) => memory.user_char_limit,
        MemoryTarget::Soul => None,
    };
    Ok(memory_file::Rules { owner, limit: limit.map(|limit| limit as usize) })
}

/// The rules of a file with the time and the reason of a change.
pub fn of_change<'a>(
    app: &App,
    home: &Home,
    target: &MemoryTarget,
    reason: &'a str,
) -> anyhow::Result<memory_file::Context<'a>> {
    Ok(memory_file::Context { rules: of_file(app, home, target)?, now: app.now, reason })
}
