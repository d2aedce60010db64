//! Summaries: kept beside the raw episodes they tell of, and found through them.

use std::collections::BTreeSet;

use rusqlite::params;

use super::super::index::Indexer;
use super::super::{Outcome, audit, covered, new_uid};
use crate::Error;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{Change, ChunkKey, ItemKind, NewSummary, Scope};

/// What a summary takes over from the episodes it tells of.
#[derive(Default)]
struct Told {
    /// The row of the earliest one's session.
    session: i64,
    sessions: BTreeSet<i64>,
    started_at: i64,
    ended_at: i64,
    /// What all of them have in common; none if they differ.
    channel: Option<i64>,
    agent: Option<i64>,
    project: Option<i64>,
    trust: i64,
    imported: bool,
}

/// An episode that a summary may tell of.
struct Raw {
    session: i64,
    channel: Option<i64>,
    agent: Option<i64>,
    project: Option<i64>,
    started_at: i64,
    ended_at: i64,
    trust: i64,
    imported: bool,
}

/// Keeps a summary beside its episodes; returns its number.
pub(super) fn keep(
    transaction: &Connection,
    scope: Scope,
    summary: &NewSummary<'_>,
    change: Change<'_>,
) -> Outcome<i64> {
    let episodes: BTreeSet<i64> = summary.episodes.iter().copied().collect();
    let mut told: Option<Told> = None;
    for id in &episodes {
        let raw = raw(transaction, scope, *id)?;
        told = Some(join(told, &raw));
    }
    let refused = |why: &str| Error::ItemRefused {
        doing: "keep",
        item: "the summary".to_owned(),
        why: why.to_owned(),
    };
    let told = told.ok_or_else(|| refused("it covers no episode"))?;
    if summary.body.trim().is_empty() {
        return Err(refused("it is empty").into());
    }
    let id = insert(transaction, scope, (summary, &told), change)?;
    for episode in &episodes {
        transaction.prepare_cached(TELL)?.execute([*episode, id])?;
    }
    for session in &told.sessions {
        transaction.prepare_cached(ADD_SESSION)?.execute([id, *session])?;
    }
    let mut indexer = Indexer::new(transaction)?;
    let at = jiff::Timestamp::from_millisecond(told.started_at).unwrap_or(change.at);
    for (part, chunk) in summary.chunks.iter().enumerate() {
        let key = ChunkKey::of_item(scope.user(), ItemKind::Summary, id, part);
        indexer.add(key, chunk, at)?;
    }
    indexer.finish()?;
    let after = audit::hash_of(summary.body);
    let item = audit::item_name(ItemKind::Summary, id);
    audit::append(transaction, change, "episode.summarize", &item, None, Some(&after))?;
    Ok(id)
}

/// The episode, if it is the scope's own, raw, held, and nothing tells of it yet.
fn raw(transaction: &Connection, scope: Scope, id: i64) -> Outcome<Raw> {
    let found = transaction
        .prepare_cached(RAW)?
        .query_row([id, scope.user().get()], |row| {
            let is_free: bool = row.get(8)?;
            let raw = Raw {
                session: row.get(0)?,
                channel: row.get(1)?,
                agent: row.get(2)?,
                project: row.get(3)?,
                started_at: row.get(4)?,
                ended_at: row.get(5)?,
                trust: row.get(6)?,
                imported: row.get(7)?,
            };
            Ok((raw, is_free))
        })
        .optional()?;
    let item = audit::item_name(ItemKind::Summary, id);
    match found {
        None => Err(Error::NoSuchItem { item }.into()),
        Some((raw, true)) => Ok(raw),
        Some((_, false)) => {
            let why = "it was already summarised, retired or held back".to_owned();
            Err(Error::ItemRefused { doing: "summarize", item, why }.into())
        }
    }
}

fn join(told: Option<Told>, raw: &Raw) -> Told {
    let Some(mut told) = told else {
        return Told {
            session: raw.session,
            sessions: BTreeSet::from([raw.session]),
            started_at: raw.started_at,
            ended_at: raw.ended_at,
            channel: raw.channel,
            agent: raw.agent,
            project: raw.project,
            trust: raw.trust,
            imported: raw.imported,
        };
    };
    if raw.started_at < told.started_at {
        told.session = raw.session;
    }
    told.sessions.insert(raw.session);
    told.started_at = told.started_at.min(raw.started_at);
    told.ended_at = told.ended_at.max(raw.ended_at);
    told.channel = told.channel.filter(|channel| raw.channel == Some(*channel));
    told.agent = told.agent.filter(|agent| raw.agent == Some(*agent));
    told.project = told.project.filter(|project| raw.project == Some(*project));
    told.trust = told.trust.min(raw.trust);
    told.imported |= raw.imported;
    told
}

fn insert(
    transaction: &Connection,
    scope: Scope,
    (summary, told): (&NewSummary<'_>, &Told),
    change: Change<'_>,
) -> Outcome<i64> {
    Ok(transaction.insert(
        INSERT,
        params![
            new_uid(change.at).as_bytes(),
            scope.user().get(),
            told.session,
            told.channel,
            told.agent,
            told.project,
            summary.task_type,
            told.started_at,
            told.ended_at,
            summary.tokens,
            summary.body,
            told.trust,
            change.at.as_millisecond(),
            told.imported
        ],
    )?)
}

/// The summaries that tell of episodes whose messages are gone: (episode, summary).
pub(super) fn covering(
    connection: &Connection,
    scope: Scope,
    episodes: &[i64],
) -> backend::Result<Vec<(i64, i64)>> {
    let mut statement = connection.prepare_cached(MAY_READ)?;
    let mut found = Vec::new();
    for id in episodes {
        let Some(summary) = covered::summary_of(connection, *id)? else { continue };
        if statement.exists([summary, scope.user().get()])? {
            found.push((*id, summary));
        }
    }
    Ok(found)
}

/// The ids of the sessions that a summary tells of, oldest first.
pub(super) fn sessions(
    connection: &Connection,
    scope: Scope,
    summary: i64,
) -> backend::Result<Vec<String>> {
    let mut ids: Vec<String> = connection
        .prepare_cached(SESSIONS)?
        .query_map([summary, scope.user().get()], |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    Ok(ids)
}

const RAW: &str = "
    select session, channel, agent, project, started_at, ended_at, trust, imported,
      state = 'raw' and compressed_into is null and retired_at is null and quarantined_at is null
    from episode where id = ?1 and user_id = ?2";
// No message has a place below 0, so a summary has no messages wherever it is asked for them.
const INSERT: &str = "
    insert into episode (uid, user_id, session, first_place, last_place, channel, agent, project,
      task_type, state, started_at, ended_at, tokens, body, trust, extracted_at, imported)
    values (?1, ?2, ?3, -1, -1, ?4, ?5, ?6, ?7, 'compressed', ?8, ?9, ?10, ?11, ?12, ?13, ?14) returning id";
const TELL: &str = "update episode set compressed_into = ?2 where id = ?1";
const ADD_SESSION: &str = "insert into summary_session (summary, session) values (?1, ?2)";
const MAY_READ: &str = "
    select 1 from episode
    where id = ?1 and user_id in (?2, 0) and retired_at is null and quarantined_at is null";
const SESSIONS: &str = "
    select s.session_id from summary_session t join session s on s.id = t.session
    join episode e on e.id = t.summary
    where t.summary = ?1 and e.user_id in (?2, 0)
      and e.retired_at is null and e.quarantined_at is null
    order by s.started_at, s.id";
