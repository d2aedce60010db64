//! Vectors that are made after the text is kept, because their model is behind an endpoint.

use hermes_home::Home;
use hermes_memory::chunk::Vectors;
use hermes_memory::reembed;
use hermes_store::memory::Memory;

use crate::app::App;
use crate::embedding::{self, Haste};

/// Makes the vectors of what was just kept, and of all else that lacks one, if the model that answers is elsewhere and can be had.
/// The text is kept in any case, so this never fails the command.
pub fn fill_in(home: &Home, app: &App, store: &mut Memory) -> anyhow::Result<()> {
    let Some(active) = store.active_model()? else { return Ok(()) };
    if embedding::vectors(Some(&active)) == Vectors::Now {
        return Ok(());
    }
    let made = match app.embedder(home, Haste::Question) {
        Ok(embedder) if reembed::is_model(&active, embedder.id()) => {
            app.reembed(home, store, embedder.as_ref(), &mut |_| {}).map(|_| ())
        }
        Ok(_) => Err(anyhow::anyhow!("the settings name another model")),
        Err(error) => Err(error),
    };
    if let Err(error) = made {
        let model = embedding::name(&active);
        app.note(format_args!("stored without a vector of {model}: {error}"));
        app.hint("`hermes memory reembed` computes it; until then keyword search finds the text");
    }
    Ok(())
}
