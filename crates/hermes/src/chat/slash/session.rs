//! Commands about the conversation itself: another one, a copy, another model, the last question again.

use hermes_store::sessions::SessionSummary;
use hermes_store::sqlite::Access;

use super::Told;
use super::parse::first;
use crate::chat::{Which, opening};
use crate::editor;
use crate::output::{BOLD, DIM};
use hermes_app::clock;
use hermes_app::problem::Problem;
use hermes_app::text::one_line;

/// So many conversations are listed.
const LISTED: usize = 10;

pub(super) fn resume(told: &mut Told<'_>) -> anyhow::Result<()> {
    match told.rest {
        "" => list(told),
        name => {
            let which = Which::Named(name.to_owned());
            told.conversation.change_to(which, told.front)
        }
    }
}

/// The last conversations of whoever talks, this one left out.
fn list(told: &mut Told<'_>) -> anyhow::Result<()> {
    let asker = told.conversation.asker.clone();
    let whose = asker.own_sessions(&told.conversation.seat.reader()?.2.store)?;
    let place = told.place();
    let store = place.app.sessions(place.home, Access::Read)?;
    let found = store.list(&opening::sessions_of(whose, LISTED + 1))?;
    let zone = place.app.zone(place.home)?;
    let is_other = |one: &&SessionSummary| one.id.as_str() != place.session;
    let lines: Vec<String> = found
        .iter()
        .filter(is_other)
        .take(LISTED)
        .map(|one| {
            let at = clock::minute(one.last_active, &zone);
            let about = one.title.as_deref().or(one.preview.as_deref()).unwrap_or_default();
            let about = one_line(about, 60);
            format!("{BOLD}{}{BOLD:#}  {DIM}{at}{DIM:#}  {about}\n", one.id)
        })
        .collect();
    match lines.is_empty() {
        true => told.notice("there is no other conversation yet"),
        false => {
            told.print(&lines.concat())?;
            told.notice(
                "continue one with /resume and its id, the beginning of its id, or its title",
            )
        }
    }
}

pub(super) fn save(told: &mut Told<'_>) -> anyhow::Result<()> {
    if !told.conversation.is_begun {
        return Err(Problem::usage("there is nothing to save yet").into());
    }
    let (word, rest) = first(told.rest);
    let (format, ending, file) = match word {
        "" => ("md", "md", ""),
        "md" | "markdown" => ("md", "md", rest),
        "json" | "jsonl" => ("jsonl", "jsonl", rest),
        "html" => ("html", "html", rest),
        _ => by_ending(told.rest),
    };
    let session = told.conversation.session.to_string();
    let file = match file {
        "" => format!("hermes-{session}.{ending}"),
        file => file.to_owned(),
    };
    told.run(&["sessions", "export", "--format", format, "--output", &file, "--", &session])
}

/// The form that the name of a file asks for.
fn by_ending(file: &str) -> (&'static str, &'static str, &str) {
    match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("json" | "jsonl") => ("jsonl", "jsonl", file),
        Some("html" | "htm") => ("html", "html", file),
        _ => ("md", "md", file),
    }
}

pub(super) fn model(told: &mut Told<'_>) -> anyhow::Result<()> {
    match told.rest {
        "" => {
            let name = told.conversation.model.name.clone();
            told.notice(&format!(
                "the model is {name}; change it with /model PROVIDER/NAME, list providers with /model list"
            ))
        }
        "list" => told.run(&["model", "list"]),
        name => {
            told.conversation.set_model(name)?;
            let name = told.conversation.model.name.clone();
            told.notice(&format!("now using {name}"))
        }
    }
}

pub(super) fn compact(told: &mut Told<'_>) -> anyhow::Result<()> {
    let before = told.conversation.window.filled().used;
    let said = match told.conversation.compact()? {
        None => "there is nothing to summarise yet".to_owned(),
        Some(compressed) => {
            let after = told.conversation.window.filled().used;
            let by = if compressed.by_rule {
                "; the model did not answer, so rules wrote the summary"
            } else {
                ""
            };
            format!(
                "older turns were replaced with a summary: {before} tokens became {after}{by}; /search still finds the originals"
            )
        }
    };
    told.notice(&said)
}

pub(super) fn retry(told: &mut Told<'_>) -> anyhow::Result<()> {
    match told.conversation.retry(told.front)? {
        Some(_) => Ok(()),
        None => told.notice("there is no question to retry yet"),
    }
}

pub(super) fn edit(told: &mut Told<'_>) -> anyhow::Result<()> {
    told.must_be_seen()?;
    let place = told.place();
    let edited = editor::change(&place.app.env, "message.md", told.rest)?;
    let text = edited.map(|edited| edited.text.trim().to_owned()).unwrap_or_default();
    match text.is_empty() {
        true => told.notice("the text is empty; nothing was sent"),
        false => told.conversation.say(&text, told.front).map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_its_form() {
        assert_eq!(by_ending("talk.html"), ("html", "html", "talk.html"));
        assert_eq!(by_ending("talk.json"), ("jsonl", "jsonl", "talk.json"));
        assert_eq!(by_ending("talk"), ("md", "md", "talk"));
    }
}
