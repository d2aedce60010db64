//! What was really said in a session: the rows that a memory takes in, and which sessions have more of them.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row};
use serde_json::Value;

use super::chat::OUR_SUMMARY;
use super::content::{Content, integer_of, parse_json, seconds_of, text_of};
use super::read::Origin;
use super::transcript::MessageState;
use super::{SessionId, SessionKind, SessionStore, time};
use crate::{Error, Result};

/// How far a session goes.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionMark {
    /// The session.
    pub session_id: SessionId,
    /// The number of its last message.
    pub last_message: i64,
    /// How many of its messages count: those in use and those a summary stands for.
    pub live: i64,
    /// When it ended, if it did.
    pub ended_at: Option<Timestamp>,
}

/// A session as a memory takes it in: what it is, and who talks there.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSession {
    /// Its id.
    pub id: SessionId,
    /// What it is.
    pub kind: SessionKind,
    /// Where it takes place: the channel.
    pub source: String,
    /// Who talks, as the channel names them.
    pub user_id: Option<String>,
    /// The chat, as the channel names it.
    pub chat_id: Option<String>,
    /// What kind of chat, such as `dm` or `group`.
    pub chat_type: Option<String>,
    /// What the one who talks is called.
    pub display_name: Option<String>,
    /// The repository it was about, else the folder it ran in.
    pub project: Option<String>,
    /// The session it came from.
    pub parent: Option<SessionId>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it did.
    pub ended_at: Option<Timestamp>,
}

/// A message that was really said.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveMessage {
    /// Its number in the database.
    pub id: i64,
    /// Who speaks.
    pub role: String,
    /// The words.
    pub text: String,
    /// The tool whose answer this is.
    pub tool_name: Option<String>,
    /// The call this answers.
    pub tool_call_id: Option<String>,
    /// The tools called.
    pub tool_calls: Option<Value>,
    /// When.
    pub at: Timestamp,
}

const MARKS: &str = "
    select m.session_id, max(m.id), sum(m.active <> 0 or m.compacted <> 0),
        (select s.ended_at from session_view s where s.id = m.session_id)
    from message_view m group by m.session_id";

const SESSION: &str = "
    select s.source, s.user_id, s.chat_id, s.chat_type, s.display_name,
        coalesce(s.git_repo_root, s.cwd), s.parent_session_id, s.started_at, s.ended_at,
        s.model_config,
        (select p.end_reason from session_view p where p.id = s.parent_session_id)
    from session_view s where s.id = ?1";

const ROWS: &str = "
    select id, role, content, tool_name, tool_call_id, tool_calls, timestamp, active, compacted,
        _compressed_summary, display_kind
    from message_view where session_id = ?1 and id > ?2 order by id";

const HAS_COMPACTED: &str =
    "select exists (select 1 from message_view where session_id = ?1 and compacted <> 0)";

const OLD_SUMMARIES: &str = "
    select m.session_id, m.id from message_view m
    where substr(m.content, 1, length(?1)) = ?1 and m.role = 'user'
        and exists (
            select 1 from message_view c
            where c.session_id = m.session_id and c.compacted <> 0 and c.id < m.id)
    order by m.id";

const LIVE_UP_TO: &str = "
    select count(*) from message_view
    where session_id = ?1 and id <= ?2 and (active <> 0 or compacted <> 0)";

const TAKEN_BACK: &str = "
    select id from message_view
    where session_id = ?1 and id <= ?2 and active = 0 and compacted = 0 order by id";

/// How the summaries begin that Hermes Agent writes in the place of what it compacts.
const SUMMARY_BEGINNINGS: &[&str] = &["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]"];

impl SessionStore {
    /// How far every session with messages goes: one look at all of them.
    pub fn marks(&self) -> Result<Vec<SessionMark>> {
        let read = || -> rusqlite::Result<Vec<SessionMark>> {
            self.connection().prepare(MARKS)?.query_map([], mark_from_row)?.collect()
        };
        read().map_err(|source| self.fault(source))
    }

    /// One session, as a memory takes it in.
    pub fn live_session(&self, id: &SessionId) -> Result<LiveSession> {
        self.connection()
            .query_row(SESSION, [id.as_str()], |row| session_from_row(id, row))
            .optional()
            .map_err(|source| self.fault(source))?
            .ok_or_else(|| Error::NotFound { selector: id.to_string() })
    }

    /// What was really said after a message, in order: rows in use or compacted, without summaries, the copies
    /// a compaction makes, hidden rows and what was taken back; nothing in sessions no person talked in. `ours` are the
    /// numbers of the summaries that our own conversations wrote; those of other programs are known by their place.
    pub fn live_messages(
        &self,
        session: &LiveSession,
        after: i64,
        ours: &[i64],
    ) -> Result<Vec<LiveMessage>> {
        if !session.is_talk() {
            return Ok(Vec::new());
        }
        self.said(session, after, ours).map_err(|source| self.fault(source))
    }

    /// The rows that an earlier version wrote as summaries, which noted no numbers: by their beginning, in sessions of
    /// our own conversations that were compacted.
    pub fn old_summaries(&self) -> Result<Vec<(SessionId, i64)>> {
        let read = || -> rusqlite::Result<Vec<(SessionId, i64)>> {
            let row = |row: &Row<'_>| Ok((SessionId::from(row.get::<_, String>(0)?), row.get(1)?));
            self.connection().prepare(OLD_SUMMARIES)?.query_map([OUR_SUMMARY], row)?.collect()
        };
        let mut found = read().map_err(|source| self.fault(source))?;
        let mut others = Vec::new();
        for (id, _) in &found {
            // Only our own conversation keeps its prompt with the session.
            if self.prompt_of(id)?.is_none() {
                others.push(id.clone());
            }
        }
        found.retain(|(id, _)| !others.contains(id));
        Ok(found)
    }

    /// How many messages up to one count.
    pub fn live_up_to(&self, id: &SessionId, message: i64) -> Result<i64> {
        self.connection()
            .query_row(LIVE_UP_TO, (id.as_str(), message), |row| row.get(0))
            .map_err(|source| self.fault(source))
    }

    /// The messages up to one that the user took back.
    pub fn taken_back(&self, id: &SessionId, message: i64) -> Result<Vec<i64>> {
        let read = || -> rusqlite::Result<Vec<i64>> {
            self.connection()
                .prepare(TAKEN_BACK)?
                .query_map((id.as_str(), message), |row| row.get(0))?
                .collect()
        };
        read().map_err(|source| self.fault(source))
    }

    fn said(
        &self,
        session: &LiveSession,
        after: i64,
        ours: &[i64],
    ) -> rusqlite::Result<Vec<LiveMessage>> {
        let id = session.id.as_str();
        let has_compacted: bool =
            self.connection().query_row(HAS_COMPACTED, [id], |row| row.get(0))?;
        let continues = session.kind == SessionKind::Continuation;
        // What a compaction copied shows only beside what it copied from.
        let from = if has_compacted || continues { i64::MIN } else { after };
        let mut known = HashSet::new();
        if let Some(parent) = session.parent.as_ref().filter(|_| continues) {
            known.extend(self.rows_after(parent.as_str(), i64::MIN)?.iter().map(|row| row.print));
        }
        let mut rows = self.rows_after(id, from)?;
        for row in &mut rows {
            row.is_summary |= ours.contains(&row.message.id);
        }
        let kept = match from == after {
            true => rows.iter().map(Stored::counts).collect(),
            false => sift(&rows, known, Compaction { continues, is_ours: !ours.is_empty() }),
        };
        let said = rows.into_iter().zip(kept).filter(|(row, kept)| *kept && row.message.id > after);
        Ok(said.map(|(row, _)| row.message).collect())
    }

    fn rows_after(&self, id: &str, after: i64) -> rusqlite::Result<Vec<Stored>> {
        self.connection().prepare(ROWS)?.query_map((id, after), stored_from_row)?.collect()
    }
}

impl LiveSession {
    /// Whether a person talked in it; schedules and agents sent by another session did not.
    pub fn is_talk(&self) -> bool {
        !matches!(self.kind, SessionKind::Cron | SessionKind::Subagent)
    }
}

/// A row with what tells whether it was really said.
struct Stored {
    message: LiveMessage,
    state: MessageState,
    /// Whether it is known for a summary.
    is_summary: bool,
    /// Whether it begins like one; that alone says nothing.
    looks_like_summary: bool,
    is_hidden: bool,
    /// A hash of all that a copy has in common with what it copies.
    print: u64,
}

impl Stored {
    /// Whether it was said, as far as the row alone tells.
    fn counts(&self) -> bool {
        self.state != MessageState::Rewound && !self.is_summary && !self.is_hidden
    }
}

/// Rows that a compaction wrote at one time.
struct Written {
    at: Option<Timestamp>,
    /// Whether its summary is known for one; if not, all that was written with it is taken for it.
    has_known_summary: bool,
    /// Whether what comes first and is no copy is taken for the summary.
    begins_with_summary: bool,
}

/// How a session was compacted.
#[derive(Clone, Copy)]
struct Compaction {
    /// Whether the session goes on where another was compressed.
    continues: bool,
    /// Whether our own conversation did it: its summaries are known, and stand behind what was left.
    is_ours: bool,
}

/// Which rows were really said. `known` are the prints of what a session before this one said.
fn sift(rows: &[Stored], mut known: HashSet<u64>, compaction: Compaction) -> Vec<bool> {
    let Compaction { continues, is_ours } = compaction;
    let mut kept: Vec<bool> = Vec::with_capacity(rows.len());
    let mut copies: Vec<bool> = Vec::with_capacity(rows.len());
    let mut exact = HashSet::new();
    let mut before = None;
    let mut written = continues.then_some(Written {
        at: None,
        has_known_summary: false,
        begins_with_summary: false,
    });
    for row in rows {
        copies.push(known.contains(&row.print));
        if row.state == MessageState::Rewound {
            kept.push(false);
            continue;
        }
        if row.state == MessageState::Active && before == Some(MessageState::Compacted) && !is_ours
        {
            written =
                Some(Written { at: None, has_known_summary: false, begins_with_summary: true });
        }
        before = Some(row.state);
        // Only among what a compaction wrote: anybody can begin a message with such words.
        let is_in_place = written.is_some() || row.state == MessageState::Compacted;
        let is_summary = row.is_summary || (row.looks_like_summary && is_in_place && !is_ours);
        if is_summary {
            drop_copies_before(row, rows, &copies, &mut kept);
            written = Some(Written {
                at: Some(row.message.at),
                has_known_summary: true,
                begins_with_summary: false,
            });
        }
        let is_new = !is_summary
            // The same words at the same moment: a copy that kept its time.
            && exact.insert((row.print, row.message.at))
            && written.as_mut().is_none_or(|written| written.lets_pass(row, &known));
        if written.as_ref().is_some_and(|written| written.is_over(row, is_new)) {
            written = None;
        }
        known.insert(row.print);
        kept.push(is_new && row.counts());
    }
    kept
}

impl Written {
    fn lets_pass(&mut self, row: &Stored, known: &HashSet<u64>) -> bool {
        if known.contains(&row.print) {
            return false;
        }
        if self.begins_with_summary && self.at.is_none() {
            self.at = Some(row.message.at);
            return false;
        }
        self.has_known_summary || !self.begins_with_summary || self.at != Some(row.message.at)
    }

    /// Something new said at another time: what follows was not written by the compaction.
    fn is_over(&self, row: &Stored, is_new: bool) -> bool {
        is_new && self.at != Some(row.message.at)
    }
}

/// The copies that were written with a summary and stand before it.
fn drop_copies_before(summary: &Stored, rows: &[Stored], copies: &[bool], kept: &mut [bool]) {
    let place = kept.len();
    for number in (0..place).rev() {
        if rows[number].message.at != summary.message.at || !copies[number] {
            return;
        }
        kept[number] = false;
    }
}

fn mark_from_row(row: &Row<'_>) -> rusqlite::Result<SessionMark> {
    Ok(SessionMark {
        session_id: SessionId::from(text_of(row.get_ref(0)?).unwrap_or_default()),
        last_message: row.get(1)?,
        live: row.get(2)?,
        ended_at: seconds_of(row.get_ref(3)?).map(time::from_seconds),
    })
}

fn session_from_row(id: &SessionId, row: &Row<'_>) -> rusqlite::Result<LiveSession> {
    let text = |at| Ok::<_, rusqlite::Error>(text_of(row.get_ref(at)?).filter(|t| !t.is_empty()));
    let source = text(0)?.unwrap_or_default();
    let origin = Origin { source: &source, model_config: text(9)?, parent_end_reason: text(10)? };
    Ok(LiveSession {
        id: id.clone(),
        kind: origin.kind(),
        user_id: text(1)?,
        chat_id: text(2)?,
        chat_type: text(3)?,
        display_name: text(4)?,
        project: text(5)?,
        parent: text(6)?.map(SessionId::from),
        started_at: time::from_seconds(seconds_of(row.get_ref(7)?).unwrap_or(0.0)),
        ended_at: seconds_of(row.get_ref(8)?).map(time::from_seconds),
        source,
    })
}

fn stored_from_row(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let role = text_of(row.get_ref(1)?).unwrap_or_default();
    let text = text_of(row.get_ref(2)?).map(|stored| Content::decode(stored).text());
    let text = text.unwrap_or_default();
    let tool_call_id = text_of(row.get_ref(4)?);
    let tool_calls = text_of(row.get_ref(5)?).filter(|calls| !calls.is_empty());
    let mut print = DefaultHasher::new();
    (&role, &text, &tool_call_id, &tool_calls).hash(&mut print);
    let is_on = |at| Ok::<_, rusqlite::Error>(integer_of(row.get_ref(at)?).unwrap_or(0) != 0);
    let beginning = text.trim_start();
    let is_summary = is_on(9)?;
    let looks_like_summary = SUMMARY_BEGINNINGS.iter().any(|known| beginning.starts_with(known));
    Ok(Stored {
        state: match (integer_of(row.get_ref(7)?) != Some(0), is_on(8)?) {
            (true, _) => MessageState::Active,
            (false, true) => MessageState::Compacted,
            (false, false) => MessageState::Rewound,
        },
        is_summary,
        looks_like_summary,
        is_hidden: text_of(row.get_ref(10)?).as_deref() == Some("hidden"),
        print: print.finish(),
        message: LiveMessage {
            id: row.get(0)?,
            role,
            text,
            tool_name: text_of(row.get_ref(3)?),
            tool_call_id,
            tool_calls: tool_calls
                .map(|stored| parse_json(&stored).unwrap_or(Value::String(stored))),
            at: time::from_seconds(seconds_of(row.get_ref(6)?).unwrap_or(0.0)),
        },
    })
}
