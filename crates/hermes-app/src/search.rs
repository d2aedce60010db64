//! Finding what is remembered: in memory.db, in state.db, in the memory files.

use std::borrow::Cow;

use hermes_memory::search::{self, Item, Reading};
use hermes_store::sessions::{SearchFilter, SearchRequest};
use hermes_store::sqlite::Access;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entries;
use super::hit::{self, Hit};
use crate::asker::LONGEST_NAME;
use crate::problem::Problem;
use crate::recall::Recall;

pub use hermes_memory::search::{Filter, Kind, Question};

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

/// What was found.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// Best first.
    pub results: Vec<Hit>,
    /// What is to be said about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Recall<'_> {
    /// Looks for something; of a text that is too long, for a part of it.
    pub fn find(&self, question: &Question<'_>) -> anyhow::Result<Answer> {
        let text = search::bounded(question.text);
        let note = search::bounded_note(question.text);
        let question = &Question { text: &text, ..question.clone() };
        let mut answer = match question.kind {
            Kind::Sessions => self.in_sessions(question)?,
            Kind::Files => {
                Answer { results: entries::find(self, question.text)?, notes: Vec::new() }
            }
            kind => {
                let mut answer = self.in_memory(question)?;
                // Entries of files have no session, channel or hour, so what asks for these leaves them out.
                if kind == Kind::All && question.filter.is_empty() {
                    let entries = entries::find(self, question.text)?;
                    answer.results = hit::join(answer.results, entries);
                }
                answer
            }
        };
        answer.results.truncate(question.limit);
        answer.notes.extend(note);
        let secrets = self.app.config(self.home)?.config.recording.secrets;
        for text in answer.results.iter_mut().flat_map(|hit| [&mut hit.text, &mut hit.snippet]) {
            if let Cow::Owned(clean) = secrets.clean(text) {
                *text = clean;
            }
        }
        Ok(answer)
    }

    /// Searches memory.db.
    fn in_memory(&self, question: &Question<'_>) -> anyhow::Result<Answer> {
        let Recall { app, home, store, asker } = *self;
        let scope = asker.scope;
        let answering = app.answering(home, store)?;
        let zone = &app.zone_of(home, store, scope.user())?;
        let embedder = answering.embedder.as_deref();
        let reading = Reading { store, embedder, scope, now: app.now, zone };
        let answer = search::search(&reading, question)?;
        let mut notes = answering.notes;
        if answer.is_unsure() {
            notes.push("No confident match. Closest results:".to_owned());
        }
        notes.extend(answer.notes);
        let mut results = Vec::new();
        for found in &answer.results {
            let mut hit = Hit::of_memory(found, question.text);
            if let Item::Summary(summary) = &found.item {
                hit.sessions = store.sessions_of_summary(scope, summary.id)?;
            }
            results.push(hit);
        }
        Ok(Answer { results, notes })
    }

    /// Searches state.db.
    fn in_sessions(&self, question: &Question<'_>) -> anyhow::Result<Answer> {
        let store = self.app.sessions(self.home, Access::Read)?;
        let user = self.asker.sessions(self.store)?;
        let find = |session| store.find_of(session, user.as_ref());
        let asked = &question.filter;
        let session = asked.session.map(find).transpose()?;
        let filter = SearchFilter {
            user,
            session,
            source: asked.channel.map(str::to_owned),
            since: asked.since,
            until: asked.until,
            ..SearchFilter::default()
        };
        let (query, limit) = (question.text.to_owned(), question.limit);
        let request = SearchRequest { query, filter, limit, neighbours: 0 };
        let answer = store.search(&request)?;
        let results = answer.results.into_iter().map(Hit::of_session).collect();
        let mut notes: Vec<String> = answer.note.into_iter().collect();
        if [asked.project, asked.source, asked.entity].iter().any(Option::is_some) {
            notes.push(
                "whole conversations cannot be filtered by project, source or name".to_owned(),
            );
        }
        Ok(Answer { results, notes })
    }
}

/// Refuses what is longer than can be looked for: a program can be told, while of what a person types a part is
/// looked for.
pub fn must_be_short(question: &Question<'_>) -> Result<(), Problem> {
    let (length, most) = (question.text.len(), search::LONGEST_TEXT);
    if length > most {
        let what = format!(
            "could not search for a text of {length} bytes: at most {most} are \
             allowed"
        );
        return Err(Problem::usage(what).hint("search for a few words or one sentence of it"));
    }
    let Filter { session, channel, project, entity, .. } = question.filter;
    let names = [session, channel, project, entity];
    match names.iter().flatten().any(|name| name.len() > LONGEST_NAME) {
        false => Ok(()),
        true => Err(Problem::usage(format!(
            "a session, channel, project or name can have at most {LONGEST_NAME} bytes"
        ))),
    }
}
