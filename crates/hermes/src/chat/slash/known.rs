//! Commands about what is known: they say the same as the commands of the program.

use hermes_memory::remember::{Target, Wish};
use hermes_store::memory::{Trust, UserNumber};
use hermes_store::sqlite::Access;

use super::parse::first;
use super::{Told, inside};
use crate::chat::front::terminal::clean::clean;
use crate::chat::wrap_up;
use crate::output::DIM;
use hermes_app::facts;

/// How many facts are listed beside the files.
const FACTS: &str = "20";
/// How many results a search shows.
const RESULTS: &str = "8";

pub(super) fn search(told: &mut Told<'_>) -> anyhow::Result<()> {
    match told.rest {
        "" => Err(told.wanted(&told.command.usage())),
        words => told.run_for(&["memory", "search", "--limit", RESULTS], &[words]),
    }
}

pub(super) fn recall(told: &mut Told<'_>) -> anyhow::Result<()> {
    let session = told.conversation.session.to_string();
    match told.rest {
        "" => Err(told.wanted(&told.command.usage())),
        task => {
            let words = ["memory", "context", "--no-files", "--session", &session];
            let text = inside::run_for(&told.place(), &words, &[task])?;
            // These are words of others: only remarks among them have a style of ours.
            let text = text.replace(&DIM.render().to_string(), "");
            told.print(&clean(&text.replace(&DIM.render_reset().to_string(), "")))
        }
    }
}

pub(super) fn memory(told: &mut Told<'_>) -> anyhow::Result<()> {
    let (part, rest) = first(told.rest);
    let (id, text) = first(rest);
    match (part, id, text) {
        ("" | "list", _, _) => list(told),
        ("add", id, _) if !id.is_empty() => add(told, rest),
        ("edit", id, text) if !text.is_empty() => {
            told.run_for(&["memory", "fact", "edit"], &[id, text])
        }
        ("forget", id, "") if !id.is_empty() => told.run_for(&["memory", "fact", "delete"], &[id]),
        ("restore", id, "") if !id.is_empty() => {
            told.run_for(&["memory", "fact", "restore"], &[id])
        }
        ("pending", "", _) => told.run_for(&["memory", "pending"], &[]),
        ("approve" | "reject", id, "") if !id.is_empty() => told.run_for(&["memory", part], &[id]),
        _ => {
            let usage = told.command.part(part).map(|part| part.usage(told.command));
            Err(told.wanted(&usage.unwrap_or_else(|| told.command.usage())))
        }
    }
}

/// The files that a user's words go to, then the newest facts.
fn list(told: &mut Told<'_>) -> anyhow::Result<()> {
    told.run_for(&["memory", "show"], &[])?;
    told.print("\n")?;
    told.run_for(&["memory", "fact", "list", "--limit", FACTS], &[])
}

/// An entry and a fact that says the same, with one undo for both.
fn add(told: &mut Told<'_>, text: &str) -> anyhow::Result<()> {
    let text = facts::sentence(text)?;
    let place = told.place();
    let is_owner = place.asker.scope.user() == UserNumber::OWNER;
    let wish = Wish {
        text: &text,
        target: if is_owner { Target::Memory } else { Target::User },
        fact: None,
        kind: "fact",
        predicate: None,
        sources: &[],
        said_at: place.app.now,
        trust: Trust::User,
        is_explicit: true,
        origin: "chat",
    };
    let mut memory = place.app.memory(place.home, Access::Write)?;
    let became = wrap_up::keep(&place, &mut memory, &wish)?;
    wrap_up::tell(told.front, &became)?;
    Ok(())
}

pub(super) fn undo(told: &mut Told<'_>) -> anyhow::Result<()> {
    told.run_for(&["memory", "undo"], &[])?;
    told.conversation.written.pop();
    Ok(())
}

pub(super) fn skills(told: &mut Told<'_>) -> anyhow::Result<()> {
    match first(told.rest) {
        ("", _) => told.run(&["skills", "list"]),
        ("pending", "") => told.run(&["skills", "list", "--pending"]),
        (part @ ("approve" | "reject"), name) if !name.is_empty() => {
            told.run(&["skills", part, "--", name])
        }
        ("approve" | "reject", _) => Err(told.wanted("/skills approve NAME")),
        (name, _) => told.run(&["skills", "show", "--", name]),
    }
}

pub(super) fn soul(told: &mut Told<'_>) -> anyhow::Result<()> {
    match told.rest {
        "" => told.run(&["soul", "show"]),
        "edit" => {
            told.must_be_seen()?;
            told.run(&["soul", "edit"])?;
            told.notice("it takes effect in the next conversation; start one with /new")
        }
        _ => Err(told.wanted("/soul or /soul edit")),
    }
}

pub(super) fn user(told: &mut Told<'_>) -> anyhow::Result<()> {
    match told.rest {
        "" => told.run_for(&["memory", "show", "--file", "user"], &[]),
        "edit" => {
            told.must_be_seen()?;
            told.run_for(&["memory", "edit", "--file", "user"], &[])?;
            told.notice("it takes effect in the next conversation; start one with /new")
        }
        _ => Err(told.wanted("/user or /user edit")),
    }
}

pub(super) fn export(told: &mut Told<'_>) -> anyhow::Result<()> {
    let file = match told.rest {
        "" => "hermes-memory.json".to_owned(),
        file => file.to_owned(),
    };
    let owner = told.conversation.asker.user.is_none();
    // The owner's own things alone: another user's are not theirs to carry away from here.
    match owner {
        true => told.run(&["memory", "export", "--output", &file, "--user", OWNER]),
        false => told.run_for(&["memory", "export", "--output", &file], &[]),
    }
}

/// What the owner is called in a memory.
const OWNER: &str = "owner";
