//! What a session and a prompt are given: within the ten thousand characters that agents take in.

use std::path::Path;

use hermes_home::Home;
use hermes_memory::retrieval::{Context, Pass};
use hermes_memory::task;
use hermes_store::memory::Memory;

use super::event::{Event, Moment};
use crate::app::App;
use crate::asker::Asker;
use crate::context::{self, Given, Request};
use crate::recall::Recall;

/// Agents put what is longer into a file, and show its beginning.
const MOST_CHARACTERS: usize = 10_000;
/// How many tokens a session is given, and a prompt.
const START_TOKENS: usize = 2_200;
const PROMPT_TOKENS: usize = 1_500;

/// What a model is given; none if there is nothing to say.
pub fn text(
    app: &App,
    home: &Home,
    store: &Memory,
    event: &Event,
) -> anyhow::Result<Option<Given>> {
    let project = event.folder.as_deref().map(project_of);
    let (task, budget) = match event.moment {
        Moment::Prompt => match event.prompt.as_deref().filter(|prompt| !task::is_nod(prompt)) {
            Some(prompt) => (prompt.to_owned(), PROMPT_TOKENS),
            None => return Ok(None),
        },
        _ => (opening(project.as_deref()), START_TOKENS),
    };
    let is_prompt = event.moment == Moment::Prompt;
    let request = Request {
        task: &task,
        session: event.session.as_deref(),
        project: project.as_deref(),
        budget: Some(budget),
        most_characters: Some(MOST_CHARACTERS),
        // They come at the beginning of a session, and stay.
        no_files: is_prompt,
        ..Request::default()
    };
    let given = Recall { app, home, store, asker: &Asker::owner() }.give(&request)?;
    let is_worth_it = !given.text.is_empty() && (!is_prompt || belongs(&given.context));
    Ok(is_worth_it.then_some(given))
}

/// The repository around a folder, else the folder.
pub fn project_of(folder: &Path) -> String {
    context::project_of(folder).unwrap_or_else(|| folder.display().to_string())
}

/// What is asked when a session begins: it has no question yet.
pub fn opening(project: Option<&str>) -> String {
    let name = project.and_then(|project| Path::new(project).file_name());
    let about = name.map(|name| format!(" about {}", name.to_string_lossy())).unwrap_or_default();
    format!("What the user prefers, how they work, and what was decided{about}")
}

/// Whether something was found for what it says, and not only for being recent.
pub fn belongs(context: &Context) -> bool {
    context
        .items()
        .any(|item| item.passes.iter().any(|pass| !matches!(pass, Pass::Recency | Pass::File)))
}

#[cfg(test)]
mod tests {
    use hermes_store::sqlite::Access;

    use super::*;
    use crate::testing::{Place, said};
    use crate::turn::Recorder;

    #[test]
    fn what_is_too_long_is_left_out_alone_after_one_search() {
        let Place { app, home, .. } = &Place::new();
        let said = said("a", "The staging server of the shop is called heron.");
        Recorder::without_transcripts().record(app, home, &said).unwrap();
        // Long in characters, cheap in tokens: as tables are.
        let row = |number| format!("- row {number} {}\n", "=".repeat(190));
        let table: String = (0..60).map(row).collect();
        let file = home.folder().join("memories/MEMORY.md");
        hermes_home::atomic::write(&file, format!("# Memory\n\n{table}").as_bytes()).unwrap();
        let memory = app.memory(home, Access::Read).unwrap();
        let task = opening(None);
        // A quarter of the tokens is too long as well: no smaller budget would have helped.
        let quarter = Request { task: &task, budget: Some(START_TOKENS / 4), ..Request::default() };
        let recall = Recall { app, home, store: &memory.store, asker: &Asker::owner() };
        let given = recall.give(&quarter).unwrap();
        assert!(given.text.chars().count() > MOST_CHARACTERS, "{}", given.text);
        let event =
            Event { session: Some("now".to_owned()), ..Event::new("SessionStart", Moment::Start) };
        let given = text(app, home, &memory.store, &event).unwrap().unwrap();
        let Given { text: told, context } = given;
        assert!(told.contains("heron") && !told.contains("====="), "{told}");
        assert!(told.chars().count() <= MOST_CHARACTERS);
        let left_out = context.dropped.iter().find(|one| one.item.text.contains("====="));
        assert!(left_out.is_some_and(|one| one.dropped.contains("characters")), "{context:?}");
    }
}
