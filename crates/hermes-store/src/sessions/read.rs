//! Find and list sessions.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, named_params};
use serde::Serialize;
use serde_json::Value;

use super::content::{Content, integer_of, seconds_of, text_of};
use super::whose::{is_whose, shown_user};
use super::{SessionId, SessionStore, Whose, time};
use crate::{Error, Result};

/// What a session is, as far as its place among the others tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A conversation of its own.
    Conversation,
    /// Split off from another at some message.
    Branch,
    /// Goes on where another was compressed.
    Continuation,
    /// The work of an agent that another session sent.
    Subagent,
    /// Begun by a schedule, not by a person.
    Cron,
}

/// One session, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The first words of the user.
    pub preview: Option<String>,
    /// What it is.
    pub kind: SessionKind,
    /// Where it came from, such as `cli`.
    pub source: String,
    /// Whose it is, where users are told apart: see [`super::name_in`].
    #[serde(serialize_with = "shown_user_of")]
    pub user_id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The session it came from.
    pub parent: Option<SessionId>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it did.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// When something was last said in it.
    pub last_active: Timestamp,
    /// From its beginning to its end, or to the last message.
    pub duration_seconds: f64,
    /// How many messages are live.
    pub message_count: i64,
    /// Tokens read by the model.
    pub input_tokens: i64,
    /// Tokens written by the model.
    pub output_tokens: i64,
    /// Whether it was put away.
    pub archived: bool,
    /// Whether it is kept from pruning.
    pub pinned: bool,
    /// Whether lists leave it out.
    pub hidden: bool,
    /// The folder it ran in.
    pub cwd: Option<String>,
}

/// A user as people read it.
fn shown_user_of<S: serde::Serializer>(
    user_id: &Option<String>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    user_id.as_deref().map(shown_user).serialize(serializer)
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only from this source.
    pub source: Option<String>,
    /// Only of this person.
    pub user: Option<Whose>,
    /// Only with activity at this time or later.
    pub since: Option<Timestamp>,
    /// Only with the last activity before this time.
    pub until: Option<Timestamp>,
    /// Only of these kinds; empty for all.
    pub kinds: Vec<SessionKind>,
    /// Also those put away.
    pub include_archived: bool,
    /// Also those that lists leave out.
    pub include_hidden: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// With `:ids is null or` in one statement, the last message of every session would be looked for.
macro_rules! summary_where {
    ($which:literal) => {
        concat!(
            "with shown as (
        select s.id, s.title, s.source, s.user_id, s.model, s.model_config, s.parent_session_id,
            s.started_at, s.ended_at, s.end_reason, s.message_count, s.input_tokens,
            s.output_tokens, s.archived, s.pinned, s.hidden, s.cwd,
            (select p.end_reason from session_view p where p.id = s.parent_session_id)
                as parent_end_reason,
            s.last_active
        from session_view s where ",
            $which,
            ")
    select id, title, source, user_id, model, model_config, parent_session_id, started_at,
        ended_at, end_reason, message_count, input_tokens, output_tokens, archived, pinned, hidden,
        cwd, parent_end_reason, last_active
    from shown s
    where (:source is null or source = :source)
        and ",
    is_whose!(":user"),
    "
        and (:since is null or last_active >= :since)
        and (:until is null or last_active < :until)
        and (:archived or not archived)
        and (:hidden or not hidden)
    order by last_active desc, id desc"
        )
    };
}

const SUMMARY: &str = summary_where!(":ids is null");
const SUMMARY_OF: &str = summary_where!("s.id in (select value from json_each(:ids))");

/// The sessions of the messages that were written last.
const WRITTEN_LAST: &str = "
    select distinct session_id from (select session_id from message_view order by id desc limit 2000)";

const FIRST_USER_MESSAGES: &str = "
    select content from message_view
    where session_id = ?1 and role = 'user' and (active = 1 or compacted = 1)
    order by timestamp, id limit 3";

const BY_ID: &str =
    concat!("select s.id from session_view s where s.id = ?1 and ", is_whose!("?2"));

const BY_TITLE: &str =
    concat!("select s.id from session_view s where s.title = ?1 and ", is_whose!("?2"), " limit 1");

const BY_PREFIX: &str = concat!(
    "select s.id from session_view s where substr(s.id, 1, length(?1)) = ?1 and ",
    is_whose!("?2"),
    " order by s.started_at desc limit 10"
);

const PREVIEW_CHARACTERS: usize = 80;

impl SessionStore {
    /// The session a person means by a full id, `last`, an exact title or the beginning of an id.
    pub fn find(&self, selector: &str) -> Result<SessionId> {
        self.find_of(selector, None)
    }

    /// The same among the sessions of somebody: those of others are not there, not even to choose from.
    pub fn find_of(&self, selector: &str, whose: Option<&Whose>) -> Result<SessionId> {
        let selector = selector.trim();
        if let Some(id) = self.one_id(BY_ID, selector, whose)? {
            return Ok(id);
        }
        if selector == "last" {
            return self.last_conversation(whose);
        }
        if let Some(id) = self.one_id(BY_TITLE, selector, whose)? {
            return Ok(id);
        }
        let mut candidates = self.ids_with_prefix(selector, whose)?;
        match (candidates.pop(), candidates.is_empty()) {
            (Some(only), true) => Ok(SessionId::from(only)),
            (Some(oldest), false) => {
                candidates.push(oldest);
                Err(Error::Ambiguous { selector: selector.to_owned(), candidates })
            }
            (None, _) => Err(Error::NotFound { selector: selector.to_owned() }),
        }
    }

    /// The sessions that pass the filter, the one with the newest activity first.
    pub fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>> {
        self.summaries(None, filter).map_err(|source| self.fault(source))
    }

    /// The same for a few, without a look at every session: those that were written to last, if they are enough.
    pub fn latest(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>> {
        let written = || -> rusqlite::Result<Vec<SessionSummary>> {
            self.summaries(Some(&self.written_last()?), filter)
        };
        let found = written().map_err(|source| self.fault(source))?;
        match filter.limit.is_some_and(|limit| found.len() >= limit) {
            true => Ok(found),
            false => self.list(filter),
        }
    }

    /// Some sessions, the one with the newest activity first; those that are no longer shown are left out.
    pub fn sessions(&self, ids: &[SessionId]) -> Result<Vec<SessionSummary>> {
        let ids: Vec<String> = ids.iter().map(SessionId::to_string).collect();
        let shown = SessionFilter::default();
        self.summaries(Some(&ids), &shown).map_err(|source| self.fault(source))
    }

    /// One session.
    pub fn session(&self, id: &SessionId) -> Result<SessionSummary> {
        let everything = SessionFilter {
            include_archived: true,
            include_hidden: true,
            ..SessionFilter::default()
        };
        self.summaries(Some(&[id.to_string()]), &everything)
            .map_err(|source| self.fault(source))?
            .pop()
            .ok_or_else(|| Error::NotFound { selector: id.to_string() })
    }

    /// Fails unless there is such a session.
    pub(crate) fn require_session(&self, id: &SessionId) -> Result<()> {
        match self.one_id(BY_ID, id.as_str(), None)? {
            Some(_) => Ok(()),
            None => Err(Error::NotFound { selector: id.to_string() }),
        }
    }

    fn one_id(
        &self,
        sql: &str,
        parameter: &str,
        whose: Option<&Whose>,
    ) -> Result<Option<SessionId>> {
        let parameters = (parameter, whose.map(Whose::listed));
        self.connection()
            .query_row(sql, parameters, |row| row.get::<_, String>(0).map(SessionId::from))
            .optional()
            .map_err(|source| self.fault(source))
    }

    fn ids_with_prefix(&self, prefix: &str, whose: Option<&Whose>) -> Result<Vec<String>> {
        if prefix.is_empty() {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<String>> {
            let parameters = (prefix, whose.map(Whose::listed));
            self.connection().prepare(BY_PREFIX)?.query_map(parameters, |row| row.get(0))?.collect()
        };
        read().map_err(|source| self.fault(source))
    }

    fn last_conversation(&self, whose: Option<&Whose>) -> Result<SessionId> {
        use SessionKind::{Branch, Continuation, Conversation};
        let filter = SessionFilter {
            user: whose.cloned(),
            kinds: vec![Conversation, Branch, Continuation],
            limit: Some(1),
            ..SessionFilter::default()
        };
        match self.list(&filter)?.pop() {
            Some(newest) => Ok(newest.id),
            None => Err(Error::NotFound { selector: "last".to_owned() }),
        }
    }

    fn summaries(
        &self,
        ids: Option<&[String]>,
        filter: &SessionFilter,
    ) -> rusqlite::Result<Vec<SessionSummary>> {
        let mut preview = self.connection().prepare(FIRST_USER_MESSAGES)?;
        self.each_summary(ids, filter, |mut summary| {
            let texts = preview.query_map([summary.id.as_str()], |row| {
                Ok(text_of(row.get_ref(0)?).map(|stored| Content::decode(stored).text()))
            })?;
            let texts = texts.collect::<rusqlite::Result<Vec<_>>>()?;
            summary.preview = texts.into_iter().flatten().find_map(|text| first_words(&text));
            Ok(summary)
        })
    }

    /// What is made of each session that passes, in order; its preview is not there yet.
    pub(super) fn each_summary<T>(
        &self,
        ids: Option<&[String]>,
        filter: &SessionFilter,
        mut make: impl FnMut(SessionSummary) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let summary = if ids.is_some() { SUMMARY_OF } else { SUMMARY };
        let mut statement = self.connection().prepare(summary)?;
        let rows = statement.query_map(
            named_params! {
                ":ids": ids.map(|ids| serde_json::json!(ids).to_string()),
                ":source": filter.source,
                ":user": filter.user.as_ref().map(Whose::listed),
                ":since": filter.since.map(time::to_seconds),
                ":until": filter.until.map(time::to_seconds),
                ":archived": filter.include_archived,
                ":hidden": filter.include_hidden,
            },
            summary_from_row,
        )?;
        let is_wanted = |summary: &SessionSummary| {
            filter.kinds.is_empty() || filter.kinds.contains(&summary.kind)
        };
        rows.filter(|row| row.as_ref().map_or(true, is_wanted))
            .take(filter.limit.unwrap_or(usize::MAX))
            .map(|row| make(row?))
            .collect()
    }

    /// The ids of the sessions that were written to last.
    pub(super) fn written_last(&self) -> rusqlite::Result<Vec<String>> {
        let mut ids = self.connection().prepare(WRITTEN_LAST)?;
        ids.query_map([], |row| row.get(0))?.collect()
    }
}

fn summary_from_row(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    let text = |at| Ok::<_, rusqlite::Error>(text_of(row.get_ref(at)?));
    let seconds = |at| Ok::<_, rusqlite::Error>(seconds_of(row.get_ref(at)?));
    let count = |at| Ok::<_, rusqlite::Error>(integer_of(row.get_ref(at)?).unwrap_or(0));
    let started_at = seconds(7)?.unwrap_or(0.0);
    let ended_at = seconds(8)?;
    let last_active = seconds(18)?.unwrap_or(started_at);
    let source = text(2)?.unwrap_or_default();
    let origin = Origin { source: &source, model_config: text(5)?, parent_end_reason: text(17)? };
    Ok(SessionSummary {
        id: SessionId::from(row.get::<_, String>(0)?),
        title: text(1)?,
        preview: None,
        kind: origin.kind(),
        user_id: text(3)?,
        model: text(4)?,
        parent: text(6)?.map(SessionId::from),
        started_at: time::from_seconds(started_at),
        ended_at: ended_at.map(time::from_seconds),
        end_reason: text(9)?,
        last_active: time::from_seconds(last_active),
        duration_seconds: (ended_at.unwrap_or(last_active) - started_at).max(0.0),
        message_count: count(10)?,
        input_tokens: count(11)?,
        output_tokens: count(12)?,
        archived: count(13)? != 0,
        pinned: count(14)? != 0,
        hidden: count(15)? != 0,
        cwd: text(16)?,
        source,
    })
}

/// What tells the kind of a session.
pub(super) struct Origin<'a> {
    pub(super) source: &'a str,
    pub(super) model_config: Option<String>,
    pub(super) parent_end_reason: Option<String>,
}

impl Origin<'_> {
    pub(super) fn kind(&self) -> SessionKind {
        let marks: Value = self
            .model_config
            .as_deref()
            .and_then(|config| serde_json::from_str(config).ok())
            .unwrap_or_default();
        let is_marked = |name: &str| marks.get(name).is_some_and(|mark| !mark.is_null());
        if self.source == "subagent" || is_marked("_delegate_from") {
            SessionKind::Subagent
        } else if self.source == "cron" {
            SessionKind::Cron
        } else if is_marked("_branched_from") {
            SessionKind::Branch
        } else if self.parent_end_reason.as_deref() == Some("compression") {
            SessionKind::Continuation
        } else {
            SessionKind::Conversation
        }
    }
}

/// The beginning of a text on one line, cut between words; `None` if there are no words.
fn first_words(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let mut shown = words.next()?.to_owned();
    let mut is_cut = false;
    for word in words {
        is_cut = shown.chars().count() + 1 + word.chars().count() >= PREVIEW_CHARACTERS;
        if is_cut {
            break;
        }
        shown.push(' ');
        shown.push_str(word);
    }
    if is_cut || shown.chars().count() > PREVIEW_CHARACTERS {
        shown = shown.chars().take(PREVIEW_CHARACTERS - 1).chain(['…']).collect();
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_words_are_cut_between_words() {
        assert_eq!(first_words("  hello \n world "), Some("hello world".to_owned()));
        assert_eq!(first_words(" \n "), None);
        let long = "word ".repeat(40);
        assert!(first_words(&long).unwrap().ends_with("word…"));
    }

    proptest! {
        #[test]
        fn first_words_are_never_long(text in any::<String>()) {
            let shown = first_words(&text).unwrap_or_default();
            prop_assert!(shown.chars().count() <= PREVIEW_CHARACTERS);
        }
    }
}
