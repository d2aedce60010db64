//! Finding what is remembered: in memory.db, in state.db, in the memory files.

use std::borrow::Cow;

use hermes_home::Home;
use hermes_memory::search::{self, Item, Question};
use hermes_store::memory::{ItemKind, Lifecycle as _, SqliteMemory};
use hermes_store::sessions::{SearchFilter, SearchRequest};
use hermes_store::sqlite::Access;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entries;
use super::hit::{self, Hit};
use crate::app::App;
use crate::asker::{Asker, LONGEST_NAME};
use crate::problem::Problem;

pub use hermes_memory::search::Filter;

/// Where to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What is known.
    Facts,
    /// What was said.
    Episodes,
    /// How things are done well.
    Procedures,
    /// What happened when.
    Events,
    /// Whole conversations in state.db.
    Sessions,
    /// MEMORY.md and USER.md.
    Files,
    /// All but sessions.
    #[default]
    All,
}

/// Where something comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The user said so or typed it.
    User,
    /// An agent noted it.
    Agent,
    /// It was said in a conversation, or drawn from one.
    Conversation,
    /// It came with an import.
    Import,
    /// An external memory gave it.
    Provider,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 5] =
        [Source::User, Source::Agent, Source::Conversation, Source::Import, Source::Provider];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Source::User => "user",
            Source::Agent => "agent",
            Source::Conversation => "conversation",
            Source::Import => "import",
            Source::Provider => "provider",
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Wish<'a> {
    /// The words.
    pub text: &'a str,
    /// Where to look.
    pub kind: Kind,
    /// At most so many.
    pub limit: usize,
    /// What else narrows the answer.
    pub filter: Filter<'a>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// Best first.
    pub results: Vec<Hit>,
    /// What is to be said about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Looks for something; of a text that is too long, for a part of it.
pub fn find(
    app: &App,
    home: &Home,
    (store, asker): (&SqliteMemory, &Asker),
    wish: &Wish<'_>,
) -> anyhow::Result<Answer> {
    let text = search::bounded(wish.text);
    let note = search::bounded_note(wish.text);
    let wish = &Wish { text: &text, ..wish.clone() };
    let mut answer = match wish.kind {
        Kind::Sessions => in_sessions(app, home, (store, asker), wish)?,
        Kind::Files => {
            Answer { results: entries::find(app, home, asker, wish.text)?, notes: Vec::new() }
        }
        kind => {
            let mut answer = in_memory(app, home, (store, asker), wish)?;
            // Entries of files have no session, channel or hour, so what asks for these leaves them out.
            if kind == Kind::All && wish.filter.is_empty() {
                let entries = entries::find(app, home, asker, wish.text)?;
                answer.results = hit::join(answer.results, entries);
            }
            answer
        }
    };
    answer.results.truncate(wish.limit);
    answer.notes.extend(note);
    let secrets = app.config(home)?.config.recording.secrets;
    for text in answer.results.iter_mut().flat_map(|hit| [&mut hit.text, &mut hit.snippet]) {
        if let Cow::Owned(clean) = secrets.clean(text) {
            *text = clean;
        }
    }
    Ok(answer)
}

/// Searches memory.db.
fn in_memory(
    app: &App,
    home: &Home,
    (store, asker): (&SqliteMemory, &Asker),
    wish: &Wish<'_>,
) -> anyhow::Result<Answer> {
    let scope = asker.scope;
    let answering = app.answering(home, store)?;
    let _view = answering.view(store)?;
    let mut notes = answering.notes;
    let zone = app.zone_of(home, store, scope.user())?;
    let question = Question {
        text: wish.text,
        kinds: wish.kind.items(),
        filter: wish.filter.clone(),
        limit: wish.limit,
        now: app.now,
        zone: &zone,
    };
    let answer = search::search(store, answering.embedder.as_deref(), scope, &question)?;
    if answer.is_unsure() {
        notes.push("nothing here is sure to answer; these come nearest".to_owned());
    }
    notes.extend(answer.notes);
    let mut results = Vec::new();
    for found in &answer.results {
        let mut hit = Hit::of_memory(found, wish.text);
        if let Item::Summary(summary) = &found.item {
            hit.sessions = store.sessions_of_summary(scope, summary.id)?;
        }
        results.push(hit);
    }
    Ok(Answer { results, notes })
}

/// Searches state.db.
fn in_sessions(
    app: &App,
    home: &Home,
    (memory, asker): (&SqliteMemory, &Asker),
    wish: &Wish<'_>,
) -> anyhow::Result<Answer> {
    let store = app.sessions(home, Access::Read)?;
    let user = asker.sessions(memory)?;
    let find = |session| store.find_of(session, user.as_ref());
    let asked = &wish.filter;
    let session = asked.session.map(find).transpose()?;
    let filter = SearchFilter {
        user,
        session,
        source: asked.channel.map(str::to_owned),
        since: asked.since,
        until: asked.until,
        ..SearchFilter::default()
    };
    let request =
        SearchRequest { query: wish.text.to_owned(), filter, limit: wish.limit, neighbours: 0 };
    let answer = store.search(&request)?;
    let results = answer.results.into_iter().map(Hit::of_session).collect();
    let mut notes: Vec<String> = answer.note.into_iter().collect();
    if [asked.project, asked.source, asked.entity].iter().any(Option::is_some) {
        notes.push("whole conversations are not narrowed by project, source or name".to_owned());
    }
    Ok(Answer { results, notes })
}

impl Wish<'_> {
    /// Refuses what is longer than can be looked for: a program can be told, while of what a person types a part is
    /// looked for.
    pub fn must_be_short(&self) -> Result<(), Problem> {
        let (length, most) = (self.text.len(), search::LONGEST_TEXT);
        if length > most {
            let what = format!("a text of {length} bytes cannot be looked for: {most} is the most");
            return Err(Problem::usage(what).hint("look for a few words or one sentence of it"));
        }
        let Filter { session, channel, project, entity, .. } = self.filter;
        let names = [session, channel, project, entity];
        match names.iter().flatten().any(|name| name.len() > LONGEST_NAME) {
            false => Ok(()),
            true => Err(Problem::usage(format!(
                "a session, channel, project or name has at most {LONGEST_NAME} bytes"
            ))),
        }
    }
}

impl Kind {
    fn items(self) -> Vec<ItemKind> {
        match self {
            Kind::Facts => vec![ItemKind::Fact],
            Kind::Episodes => vec![ItemKind::Message, ItemKind::Summary],
            Kind::Procedures => vec![ItemKind::Procedure],
            Kind::Events => vec![ItemKind::Event],
            Kind::Sessions | Kind::Files | Kind::All => Vec::new(),
        }
    }
}
