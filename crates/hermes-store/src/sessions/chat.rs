//! What a conversation of ours keeps of itself: its prompt, what it cost, what left its window, what was taken back.

use rusqlite::{OptionalExtension, params};

use super::content::{Content, integer_of, text_of};
use super::identity::print_in;
use super::record::exists;
use super::{NewMessage, RowPrint, SessionId, SessionStore};
use crate::{Error, Result};

/// How a summary begins that stands for messages which left the window of a conversation of ours: for people who read
/// it. Whether a row is one is known by its number alone.
pub const OUR_SUMMARY: &str = "[CONTEXT SUMMARY] Of what was said before:";

/// What the requests of a turn cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Spending {
    /// Tokens read, and neither taken from nor put into a cache.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens taken from a cache.
    pub cache_read_tokens: u64,
    /// Tokens put into a cache.
    pub cache_write_tokens: u64,
    /// Requests made.
    pub calls: u64,
    /// US dollars, where the price is known.
    pub cost: Option<f64>,
}

/// With what a conversation began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beginning<'a> {
    /// The model that answers.
    pub model: Option<&'a str>,
    /// The prompt, which stays for the whole session.
    pub system_prompt: Option<&'a str>,
    /// Who is paid.
    pub provider: Option<&'a str>,
    /// The folder it runs in.
    pub cwd: Option<&'a str>,
}

impl SessionStore {
    /// Writes down with what a session began; what is none stays as it is.
    pub fn note_beginning(&mut self, id: &SessionId, beginning: &Beginning<'_>) -> Result<()> {
        let Beginning { model, system_prompt, provider, cwd } = beginning;
        let step = self.begin()?;
        let names = ["model", "system_prompt", "billing_provider", "cwd"];
        if let Some(statement) = step.layout.set_session(&names) {
            let all = [model, system_prompt, provider, cwd];
            let mut prepared =
                step.transaction.prepare(&statement).map_err(|source| step.fault(source))?;
            let bind = |prepared: &mut rusqlite::Statement<'_>| -> rusqlite::Result<usize> {
                prepared.raw_bind_parameter(1, id.as_str())?;
                for (place, value) in all.iter().enumerate() {
                    if place + 2 <= prepared.parameter_count() {
                        prepared.raw_bind_parameter(place + 2, value)?;
                    }
                }
                prepared.raw_execute()
            };
            let changed = bind(&mut prepared).map_err(|source| step.fault(source))?;
            drop(prepared);
            if changed == 0 {
                return Err(Error::NotFound { selector: id.to_string() });
            }
        }
        step.commit()
    }

    /// The prompt that a session began with, if it is known.
    pub fn prompt_of(&self, id: &SessionId) -> Result<Option<String>> {
        let Some(statement) = self.layout().prompt() else { return Ok(None) };
        let read = self
            .connection()
            .query_row(statement, [id.as_str()], |row| Ok(text_of(row.get_ref(0)?)))
            .optional();
        let found = read.map_err(|source| self.fault(source))?.flatten();
        Ok(found.filter(|prompt| !prompt.is_empty()))
    }

    /// Adds to what a session cost.
    pub fn add_spending(&mut self, id: &SessionId, added: &Spending) -> Result<()> {
        let step = self.begin()?;
        if let Some(statement) = step.layout.add_usage() {
            let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            let values: [&dyn rusqlite::ToSql; 7] = [
                &id.as_str(),
                &whole(added.input_tokens),
                &whole(added.output_tokens),
                &whole(added.cache_read_tokens),
                &whole(added.cache_write_tokens),
                &whole(added.calls),
                &added.cost,
            ];
            let mut prepared =
                step.transaction.prepare(&statement).map_err(|source| step.fault(source))?;
            let run = |prepared: &mut rusqlite::Statement<'_>| -> rusqlite::Result<usize> {
                for (place, value) in values.iter().enumerate() {
                    if place < prepared.parameter_count() {
                        prepared.raw_bind_parameter(place + 1, *value)?;
                    }
                }
                prepared.raw_execute()
            };
            run(&mut prepared).map_err(|source| step.fault(source))?;
        }
        step.commit()
    }

    /// What a session cost so far; nothing where the layout has no place for it.
    pub fn spent(&self, id: &SessionId) -> Result<Spending> {
        let Some(statement) = self.layout().spent() else { return Ok(Spending::default()) };
        let count = |row: &rusqlite::Row<'_>, at| -> rusqlite::Result<u64> {
            let found = integer_of(row.get_ref(at)?).unwrap_or(0);
            Ok(u64::try_from(found).unwrap_or(0))
        };
        let read = self.connection().query_row(&statement, [id.as_str()], |row| {
            Ok(Spending {
                input_tokens: count(row, 0)?,
                output_tokens: count(row, 1)?,
                cache_read_tokens: count(row, 2)?,
                cache_write_tokens: count(row, 3)?,
                calls: count(row, 4)?,
                cost: row.get(5)?,
            })
        });
        let found = read.optional().map_err(|source| self.fault(source))?;
        Ok(found.unwrap_or_default())
    }

    /// Lets a summary stand for the messages up to one: they stay and are found, and are no longer live. `note` keeps
    /// which row it is, before anything is done. Returns its number; fails, with nothing changed, where that is not
    /// kept or the layout cannot tell such messages apart.
    pub fn compact(
        &mut self,
        (id, up_to): (&SessionId, i64),
        summary: &NewMessage,
        note: &mut dyn FnMut(RowPrint) -> Result<()>,
    ) -> Result<i64> {
        let path = self.path().to_owned();
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        let Some(statement) = step.layout.compact() else {
            let why = "its format cannot mark messages as compacted".to_owned();
            return Err(Error::ReadOnlyLayout { path, why });
        };
        if !exists(&step.transaction, id.as_str()).map_err(failed)? {
            return Err(Error::NotFound { selector: id.to_string() });
        }
        step.transaction.execute(statement, params![id.as_str(), up_to]).map_err(failed)?;
        let number = step.add_messages(id, std::slice::from_ref(summary))?;
        let number = number.first().copied().unwrap_or_default();
        note(print_in(&step.transaction, number).map_err(failed)?)?;
        if let Some(statement) = step.layout.count_again() {
            step.transaction.execute(&statement, params![id.as_str(), 0]).map_err(failed)?;
        }
        step.commit()?;
        Ok(number)
    }

    /// Takes back the live messages of a session from one on, and returns how many those were.
    pub fn rewind(&mut self, id: &SessionId, from: i64) -> Result<u64> {
        let path = self.path().to_owned();
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        let Some(statement) = step.layout.rewind() else {
            let why = "its format cannot mark messages as undone".to_owned();
            return Err(Error::ReadOnlyLayout { path, why });
        };
        let taken = step.transaction.execute(statement, params![id.as_str(), from]);
        let taken = taken.map_err(failed)?;
        if let Some(statement) = step.layout.count_again() {
            step.transaction.execute(&statement, params![id.as_str(), 1]).map_err(failed)?;
        }
        step.commit()?;
        Ok(taken as u64)
    }
}

impl NewMessage {
    /// The row that stands for messages which left the window.
    pub fn summary(text: &str, at: jiff::Timestamp) -> NewMessage {
        let content = Some(Content::Text(format!("{OUR_SUMMARY}\n{text}")));
        NewMessage { content, ..NewMessage::text("user", "", at) }
    }
}
