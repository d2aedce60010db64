//! What a session and a prompt are given: within the ten thousand characters that agents take in.

use std::path::Path;

use hermes_home::Home;
use hermes_memory::retrieval::{Context, Pass};
use hermes_memory::task;
use hermes_store::memory::SqliteMemory;

use super::event::{Event, Moment};
use crate::app::App;
use crate::asker::Asker;
use crate::context::{self, Wish};

/// Agents put what is longer into a file, and show its beginning.
const MOST_CHARACTERS: usize = 10_000;
/// How many tokens a session is given, and a prompt.
const START_TOKENS: usize = 2_200;
const PROMPT_TOKENS: usize = 1_500;

/// The text for a model, and what it is made of; none if there is nothing to say.
pub fn text(
    app: &App,
    home: &Home,
    store: &SqliteMemory,
    event: &Event,
) -> anyhow::Result<Option<(String, Context)>> {
    let project = event.folder.as_deref().map(project_of);
    let (task, budget) = match event.moment {
        Moment::Prompt => match event.prompt.as_deref().filter(|prompt| !task::is_nod(prompt)) {
            Some(prompt) => (prompt.to_owned(), PROMPT_TOKENS),
            None => return Ok(None),
        },
        _ => (opening(project.as_deref()), START_TOKENS),
    };
    let is_prompt = event.moment == Moment::Prompt;
    let wish = Wish {
        task: &task,
        session: event.session.as_deref(),
        project: project.as_deref(),
        budget: Some(budget),
        most_characters: Some(MOST_CHARACTERS),
        // They come at the beginning of a session, and stay.
        no_files: is_prompt,
        ..Wish::default()
    };
    let given = context::give(app, home, (store, &Asker::owner()), &wish)?;
    if given.text.is_empty() || (is_prompt && !belongs(&given.context)) {
        return Ok(None);
    }
    Ok(Some((given.text, given.context)))
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
fn belongs(context: &Context) -> bool {
    let mut items = context.sections.iter().flat_map(|filled| &filled.items);
    items.any(|item| item.passes.iter().any(|pass| !matches!(pass, Pass::Recency | Pass::File)))
}

#[cfg(test)]
mod tests {
    use hermes_store::sqlite::Access;

    use super::*;
    use crate::testing::{Place, said};
    use crate::turn::Recorder;

    /// Long in characters, cheap in tokens: as tables are.
    fn table() -> String {
        let rows = format!("{}\n", "-".repeat(190)).repeat(60);
        format!("The staging server of the shop, in a table:\n{rows}")
    }

    #[test]
    fn what_is_too_long_is_left_out_and_the_rest_is_told_after_one_search() {
        let Place { app, home, .. } = &Place::new();
        let mut recorder = Recorder::without_transcripts();
        for (session, text) in
            [("a", "The staging server of the shop is called heron."), ("b", &table())]
        {
            recorder.record(app, home, &said(session, text)).unwrap();
        }
        let memory = app.memory(home, Access::Read).unwrap();
        let asked = "What is the staging server of the shop called?";
        // A quarter of the tokens is still too long, so that no smaller budget would have helped.
        let quarter = Wish {
            task: asked,
            budget: Some(PROMPT_TOKENS / 4),
            no_files: true,
            ..Wish::default()
        };
        let whose = (&memory.store, &Asker::owner());
        let given = context::give(app, home, whose, &quarter).unwrap();
        assert!(given.text.chars().count() > MOST_CHARACTERS);
        let event = Event {
            session: Some("now".to_owned()),
            prompt: Some(asked.to_owned()),
            ..Event::new("UserPromptSubmit", Moment::Prompt)
        };
        let (text, context) = super::text(app, home, &memory.store, &event).unwrap().unwrap();
        assert!(text.contains("heron") && !text.contains("-----"), "{text}");
        assert!(text.chars().count() <= MOST_CHARACTERS);
        let left_out = context.dropped.iter().find(|one| one.item.text.contains("-----"));
        assert!(left_out.unwrap().dropped.contains("characters"), "{left_out:?}");
    }
}
