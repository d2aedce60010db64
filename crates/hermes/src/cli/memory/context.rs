//! hermes memory context

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hermes_home::Home;
use hermes_home::layout::MemoryTarget;
use hermes_home::{memory_file, places};
use hermes_memory::retrieval::{self, Context, FileText, Request};
use hermes_store::memory::{Lifecycle as _, NewReceipt, Scope, SqliteMemory, Upkeep as _, Wanted};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::rules;
use super::whose::Whose;
use crate::app::{App, Memory};
use crate::daemon;
use crate::failure::{Outcome, Problem};
use crate::input;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The task, as the user put it; `-` reads it from standard input
    task: String,
    /// The running session: it is left out of its own context
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The folder or repository [default: the git repository of the current folder]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Where the conversation takes place: cli, telegram, …
    #[arg(long)]
    channel: Option<String>,
    /// How many tokens it may have [default: memory.retrieval.context_budget_tokens]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Leave out MEMORY.md, USER.md and workspace/MEMORY.md
    #[arg(long)]
    no_files: bool,
    /// Say where every line comes from, what was left out, and why
    #[arg(long)]
    why: bool,
    #[command(flatten)]
    whose: Whose,
}

/// What is printed: the text for a model or for a person, and for programs all of it.
#[derive(Debug, Serialize)]
struct Shown {
    text: String,
    #[serde(flatten)]
    context: Context,
    #[serde(skip)]
    why: bool,
}

/// Noting what was handed out must not keep anybody waiting.
const PATIENCE: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let task = input::text(&arguments.task)?;
    if task.trim().is_empty() {
        return Err(Problem::usage("the task is empty").into());
    }
    let memory = app.memory(&home, Access::Read)?;
    let scope = arguments.whose.reader(&memory.store, app)?;
    let answering = app.answering(&home, &memory.store)?;
    let files = match arguments.no_files {
        true => Vec::new(),
        false => files(app, &home, &user_file(&arguments.whose, &memory.store)?)?,
    };
    let project = arguments.project.clone().or_else(current_project);
    let zone = app.zone_of(&home, &memory.store, scope.user())?;
    let settings = &app.config(&home)?.config.memory.retrieval;
    let remark = remark(arguments, app, &home, (scope, &memory))?;
    let cost = remark.as_deref().map_or(0, retrieval::remark_cost);
    let budget = arguments.budget.unwrap_or(settings.context_budget_tokens as usize);
    let request = Request {
        task: &task,
        session: arguments.session.as_deref(),
        project: project.as_deref(),
        channel: arguments.channel.as_deref(),
        budget_tokens: budget.saturating_sub(cost),
        recency_episodes: settings.recency_episodes as usize,
        semantic_top_k: settings.semantic_top_k as usize,
        min_relevance: settings.min_relevance_score,
        now: app.now,
        zone: &zone,
        files: &files,
    };
    let embedder = answering.embedder.as_deref();
    let mut context = retrieval::context(&memory.store, embedder, scope, &request)?;
    context.notes.splice(0..0, answering.notes.into_iter().chain(remark.clone()));
    for note in &context.notes {
        app.out.note(note);
    }
    if context.sections.is_empty() {
        app.out.note("nothing is remembered that belongs to this task");
    }
    let exists = memory.exists;
    drop(memory);
    let text = match &remark {
        Some(remark) => retrieval::text_with(&context, remark),
        None => retrieval::text(&context),
    };
    let shown = Shown { text, context, why: arguments.why };
    app.out.show(&shown)?;
    if exists {
        hand_out(app, &home, (scope, arguments.session.as_deref()), &shown.context);
    }
    Ok(Outcome::Done)
}

/// What a model should know about the memory itself when a session begins: that nobody keeps it up.
fn remark(
    arguments: &Arguments,
    app: &App,
    home: &Home,
    (scope, memory): (Scope, &Memory),
) -> anyhow::Result<Option<String>> {
    let is_beginning = match arguments.session.as_deref() {
        Some(id) => memory.store.sessions_named(scope, id)?.is_empty(),
        None => true,
    };
    match is_beginning {
        true => daemon::left_alone(app, home, &memory.store),
        false => Ok(None),
    }
}

/// Notes what was handed out, if it can be done at once: a context is worth more than its receipt.
fn hand_out(app: &App, home: &Home, (scope, session): (Scope, Option<&str>), context: &Context) {
    let items = context.receipt();
    let Ok(path) = app.memory_path(home) else { return };
    if items.is_empty() {
        return;
    }
    let wanted = Wanted { path: &path, profile: home.profile_name() };
    let Ok(mut store) = SqliteMemory::open(wanted, Access::Write, PATIENCE) else { return };
    let tokens = u32::try_from(context.tokens).unwrap_or(u32::MAX);
    let receipt = NewReceipt { session_id: session, turn: None, tokens, items: &items };
    let _ = store.hand_out(scope, &receipt, app.now);
}

/// Whose USER.md is loaded.
fn user_file(whose: &Whose, store: &SqliteMemory) -> anyhow::Result<MemoryTarget> {
    let own = if whose.is_owner(store)? { None } else { whose.id()? };
    Ok(MemoryTarget::User(own))
}

/// The files that are always loaded, each in every place it is in.
fn files(app: &App, home: &Home, user: &MemoryTarget) -> anyhow::Result<Vec<FileText>> {
    let mut found = Vec::new();
    for target in [&MemoryTarget::Memory, user] {
        let rules = rules(app, home, target)?;
        let main = memory_file::read(home, target, rules)?;
        let others = places::find(home, target, rules.owner)?;
        let texts = std::iter::once((main.path, main.document))
            .chain(others.into_iter().map(|place| (place.path, place.document)));
        for (path, document) in texts.filter(|(_, document)| !document.entries().is_empty()) {
            let name = path.strip_prefix(home.folder()).unwrap_or(&path).display().to_string();
            found.push(FileText { name, text: loaded(&document) });
        }
    }
    Ok(found)
}

/// What a model is given of a file: headings and entries, without comments.
fn loaded(document: &memory_file::Document) -> String {
    let headings = document.headings().iter().map(|heading| {
        let marks = "#".repeat(heading.level);
        (heading.range.start, format!("{marks} {}", heading.text))
    });
    let entries = document.entries().iter().map(|entry| {
        let text = entry.text.replace('\n', "\n  ");
        (entry.range.start, format!("- {text}"))
    });
    let mut lines: Vec<(usize, String)> = headings.chain(entries).collect();
    lines.sort_by_key(|(start, _)| *start);
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// The git repository around the current folder.
fn current_project() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    git_root(&folder).map(|root| root.display().to_string())
}

fn git_root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let text = match self.why {
            true => retrieval::why(&self.context),
            false => self.text.clone(),
        };
        page.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_the_repository_around_a_folder() {
        let outside = tempfile::tempdir().unwrap();
        let inside = outside.path().join("shop/src");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir(outside.path().join("shop/.git")).unwrap();
        assert_eq!(git_root(&inside), Some(outside.path().join("shop")));
    }
}
