//! What a session and a prompt are given: within the ten thousand characters that agents take in.

use std::path::Path;

use hermes_home::Home;
use hermes_memory::retrieval::{Context, Pass};
use hermes_store::memory::SqliteMemory;

use super::event::{Event, Moment};
use crate::app::App;
use crate::desk::Asker;
use crate::desk::context::{self, Wish};

/// Agents put what is longer into a file, and show its beginning.
const MOST_CHARACTERS: usize = 10_000;
/// How many tokens a session is given, and a prompt.
const START_TOKENS: usize = 2_200;
const PROMPT_TOKENS: usize = 1_500;
/// A longer prompt is a pasted file; its beginning says what it is about.
const LONGEST_TASK: usize = 8_000;

/// Words that ask for nothing.
const TRIVIAL: &[&str] = &[
    "ok",
    "okay",
    "yes",
    "no",
    "yep",
    "nope",
    "sure",
    "thanks",
    "thank you",
    "thx",
    "hi",
    "hello",
    "hey",
    "go",
    "go on",
    "go ahead",
    "continue",
    "stop",
    "done",
    "good",
    "great",
    "nice",
    "cool",
];

/// The text for a model, and what it is made of; none if there is nothing to say.
pub(crate) fn text(
    app: &App,
    home: &Home,
    store: &SqliteMemory,
    event: &Event,
) -> anyhow::Result<Option<(String, Context)>> {
    let project = event.folder.as_deref().map(project_of);
    let (task, budget) = match event.moment {
        Moment::Prompt => match event.prompt.as_deref().filter(|prompt| !is_trivial(prompt)) {
            Some(prompt) => (short(prompt).to_owned(), PROMPT_TOKENS),
            None => return Ok(None),
        },
        _ => (opening(project.as_deref()), START_TOKENS),
    };
    let is_prompt = event.moment == Moment::Prompt;
    let mut wish = Wish {
        task: &task,
        session: event.session.as_deref(),
        project: project.as_deref(),
        budget: Some(budget),
        // They come at the beginning of a session, and stay.
        no_files: is_prompt,
        ..Wish::default()
    };
    for _ in 0..3 {
        let given = context::give(app, home, (store, &Asker::owner()), &wish)?;
        if is_prompt && !belongs(&given.context) {
            return Ok(None);
        }
        if given.text.chars().count() <= MOST_CHARACTERS {
            let text = Some(given.text).filter(|text| !text.is_empty());
            return Ok(text.map(|text| (text, given.context)));
        }
        wish.budget = wish.budget.map(|budget| budget / 2);
    }
    Ok(None)
}

/// The repository around a folder, else the folder.
pub(crate) fn project_of(folder: &Path) -> String {
    context::project_of(folder).unwrap_or_else(|| folder.display().to_string())
}

/// What is asked when a session begins: it has no question yet.
fn opening(project: Option<&str>) -> String {
    let name = project.and_then(|project| Path::new(project).file_name());
    let about = name.map(|name| format!(" about {}", name.to_string_lossy())).unwrap_or_default();
    format!("What the user prefers, how they work, and what was decided{about}")
}

/// Whether something was found for what it says, and not only for being recent.
fn belongs(context: &Context) -> bool {
    let mut items = context.sections.iter().flat_map(|filled| &filled.items);
    items.any(|item| item.passes.iter().any(|pass| !matches!(pass, Pass::Recency | Pass::File)))
}

/// Whether nothing can belong to a prompt: a nod, a greeting, a command of the agent itself.
pub(crate) fn is_trivial(prompt: &str) -> bool {
    let plain = prompt.trim().trim_matches(|c: char| c.is_ascii_punctuation() && c != '/');
    let plain = plain.to_lowercase();
    plain.chars().count() < 4 && plain.is_ascii()
        || plain.starts_with('/')
        || TRIVIAL.contains(&plain.as_str())
}

fn short(prompt: &str) -> &str {
    match prompt.char_indices().nth(LONGEST_TASK) {
        Some((end, _)) => &prompt[..end],
        None => prompt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nods_and_greetings_ask_for_nothing() {
        for trivial in ["ok", "Yes!", " thank you. ", "/compact", "", "k", "Go ahead"] {
            assert!(is_trivial(trivial), "{trivial}");
        }
        for question in ["why does the test fail?", "東京は", "fix it"] {
            assert!(!is_trivial(question), "{question}");
        }
    }
}
