//! What a model should be given for a task, with the files that are always loaded.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_home::layout::MemoryTarget;
use hermes_home::{Home, memory_file, places};
use hermes_memory::remember::suspicion;
use hermes_memory::retrieval::{self, Context, FileText};
use hermes_memory::search::{Looks, Reading};
use hermes_store::memory::{ItemKind, Memory, NewReceipt, Scope};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Asker, rules};
use crate::app::App;
use crate::recall::Recall;
use crate::running;

pub use hermes_memory::retrieval::Request;

/// A context as it is handed out: the text for a model, and all that is known about it.
#[derive(Debug, Serialize)]
pub struct Given {
    /// The text for a model.
    pub text: String,
    /// What it is made of.
    #[serde(flatten)]
    pub context: Context,
}

/// Noting what was handed out must not keep anybody waiting.
const PATIENCE: Duration = Duration::from_millis(200);

impl Recall<'_> {
    /// Builds the context for a task.
    pub fn give(&self, request: &Request<'_>) -> anyhow::Result<Given> {
        self.give_among(&Looks::default(), request)
    }

    /// The same for one of several requests for one task.
    pub fn give_among(&self, looks: &Looks, request: &Request<'_>) -> anyhow::Result<Given> {
        let Recall { app, home, store, asker } = *self;
        let scope = asker.scope;
        let answering = app.answering(home, store)?;
        let files = match request.no_files {
            true => Vec::new(),
            false => files(app, home, &MemoryTarget::User(asker.user.clone()))?,
        };
        let zone = &app.zone_of(home, store, scope.user())?;
        let config = &app.config(home)?.config;
        let remark = self.remark(request.session)?;
        let mut request = request.clone();
        request.settings.get_or_insert_with(|| config.memory.retrieval.clone());
        let embedder = answering.embedder.as_deref();
        let reading = Reading { store, embedder, scope, now: app.now, zone };
        let mut gathered = retrieval::gather(looks, &reading, &request, &files)?;
        // Names in place of secrets that lie in files, or were recorded before that was done.
        gathered.reword(&|text| match config.recording.secrets.clean(text) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        });
        let room = request.room();
        let room =
            remark.as_deref().map_or(room, |text| room.without(retrieval::remark_size(text)));
        let mut context = gathered.fit(room);
        context.notes.splice(0..0, answering.notes.into_iter().chain(remark.clone()));
        let text = match &remark {
            Some(remark) => retrieval::text_with(&context, remark),
            None => retrieval::text(&context),
        };
        Ok(Given { text, context })
    }

    /// What a model should know about the memory itself when a session begins: that nobody keeps it up.
    fn remark(&self, session: Option<&str>) -> anyhow::Result<Option<String>> {
        let is_beginning = match session {
            Some(id) => self.store.sessions_named(self.asker.scope, id)?.is_empty(),
            None => true,
        };
        match is_beginning {
            true => running::left_alone(self.app, self.home, self.store),
            false => Ok(None),
        }
    }
}

/// What was handed out, as its receipt will say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Only hooks keep it in a file, and they speak for the owner.
    #[serde(skip, default = "owner")]
    scope: Scope,
    session: Option<String>,
    tokens: u32,
    items: Vec<(ItemKind, i64)>,
    at: Timestamp,
}

fn owner() -> Scope {
    Asker::owner().scope
}

impl Handed {
    /// None if there was nothing in the context that is counted.
    pub fn of(
        scope: Scope,
        session: Option<&str>,
        context: &Context,
        at: Timestamp,
    ) -> Option<Handed> {
        let items = context.receipt();
        let tokens = u32::try_from(context.tokens).unwrap_or(u32::MAX);
        let session = session.map(str::to_owned);
        (!items.is_empty()).then_some(Handed { scope, session, tokens, items, at })
    }

    fn receipt(&self) -> (Scope, NewReceipt<'_>, Timestamp) {
        let session_id = self.session.as_deref();
        let receipt =
            NewReceipt { session_id, turn: None, tokens: self.tokens, items: &self.items };
        (self.scope, receipt, self.at)
    }
}

/// Notes what was handed out, if it can be done at once: a context is worth more than its receipt.
pub fn hand_out(app: &App, home: &Home, handed: &[Handed]) {
    if handed.is_empty() {
        return;
    }
    if !app.has_memory(home) {
        return;
    }
    let Ok(mut memory) = app.memory_within(home, Access::Write, PATIENCE) else { return };
    note(&mut memory.store, handed);
}

/// The same with a memory that is open already.
pub fn note(store: &mut Memory, handed: &[Handed]) {
    let receipts: Vec<_> = handed.iter().map(Handed::receipt).collect();
    if store.hand_out_all(&receipts).is_err() {
        // One of somebody who is gone by now must not take the others with it.
        for (scope, receipt, at) in receipts {
            let _ = store.hand_out(scope, &receipt, at);
        }
    }
}

/// The files that are always loaded, each in every place it is in.
fn files(app: &App, home: &Home, user: &MemoryTarget) -> anyhow::Result<Vec<FileText>> {
    let mut found = Vec::new();
    for target in [&MemoryTarget::Memory, user] {
        found.extend(files_of(app, home, target)?);
    }
    Ok(found)
}

/// One of them, in every place it is in.
fn files_of(app: &App, home: &Home, target: &MemoryTarget) -> anyhow::Result<Vec<FileText>> {
    let rules = rules::of_file(app, home, target)?;
    let main = memory_file::read(home, target, rules)?;
    let others = places::find(home, target, rules.owner)?;
    let texts = std::iter::once((main.path, main.document))
        .chain(others.into_iter().map(|place| (place.path, place.document)));
    let spoken = texts.filter(|(_, document)| !document.entries().is_empty());
    let text = |(path, document): (PathBuf, memory_file::Document)| {
        let name = path.strip_prefix(home.folder()).unwrap_or(&path).display().to_string();
        FileText { name, text: loaded(&document) }
    };
    Ok(spoken.map(text).collect())
}

/// What a system prompt has of a memory file: its text, and of other places with their names.
pub fn loaded_files(app: &App, home: &Home, target: &MemoryTarget) -> anyhow::Result<String> {
    let found = files_of(app, home, target)?;
    let named = |(place, file): (usize, &FileText)| match place {
        0 => file.text.clone(),
        _ => format!("## {}\n{}", file.name, file.text),
    };
    let texts: Vec<String> = found.iter().enumerate().map(named).collect();
    let secrets = app.config(home)?.config.recording.secrets;
    Ok(secrets.clean(&texts.join("\n\n")).into_owned())
}

/// What a model is given of a file: headings and entries, without comments.
fn loaded(document: &memory_file::Document) -> String {
    let headings = document.headings().iter().map(|heading| {
        let marks = "#".repeat(heading.level);
        (heading.range.start, format!("{marks} {}", heading.text))
    });
    let entries = document.entries().iter().map(|entry| {
        // What reads like an order to the model stays in the file, and is not handed on.
        let text = match suspicion(&entry.text) {
            Some(why) => format!("[an entry is left out here: {why}]"),
            None => entry.text.replace('\n', "\n  "),
        };
        (entry.range.start, format!("- {text}"))
    });
    let mut lines: Vec<(usize, String)> = headings.chain(entries).collect();
    lines.sort_by_key(|(start, _)| *start);
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// What a folder is called as a project: the git repository around it, else nothing.
pub fn project_of(folder: &Path) -> Option<String> {
    git_root(folder).map(|root| root.display().to_string())
}

fn git_root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
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
