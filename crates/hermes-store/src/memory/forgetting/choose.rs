//! What a choice holds, without changing anything.

use std::collections::{BTreeSet, HashSet};

use rusqlite::params;

use super::super::covered::each_covered;
use super::super::episodes::{self, episode_of, episode_where};
use super::super::people;
use crate::memory::backend::{self, Connection, ToSql};
use crate::memory::{Choice, Episode, EpisodeState, Forgotten, ItemKind, UserNumber};

/// What is to be forgotten, each thing by its number; what was retired before is among it.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Sessions of which nothing remains, each with its user.
    pub(super) sessions: Vec<ChosenSession>,
    /// Raw episodes and summaries.
    pub(super) episodes: Vec<Episode>,
    /// Episodes of those sessions whose messages are gone.
    pub(super) covered: Vec<i64>,
    /// Messages of the raw episodes.
    pub(super) messages: Vec<i64>,
    pub(super) facts: Vec<i64>,
    pub(super) procedures: Vec<i64>,
    pub(super) events: Vec<i64>,
    pub(super) proposals: Vec<i64>,
    /// Users of whom nothing remains.
    pub(super) users: Vec<UserNumber>,
}

#[derive(Debug)]
pub(super) struct ChosenSession {
    pub(super) row: i64,
    pub(super) user: UserNumber,
    pub(super) session_id: String,
}

impl Chosen {
    /// How much it is.
    pub(super) fn count(&self) -> Forgotten {
        Forgotten {
            episodes: self.episodes.len() as u64,
            messages: self.messages.len() as u64,
            facts: self.facts.len() as u64,
            procedures: self.procedures.len() as u64,
            events: self.events.len() as u64,
            proposals: self.proposals.len() as u64,
        }
    }

    /// The numbers of all episodes, of those too whose messages are gone.
    pub(super) fn every_episode(&self) -> HashSet<i64> {
        self.episodes.iter().map(|episode| episode.id).chain(self.covered.iter().copied()).collect()
    }
}

/// Everything that a choice holds.
pub(super) fn chosen(connection: &Connection, choice: &Choice) -> backend::Result<Chosen> {
    match choice {
        Choice::All => {
            let users = list(connection, "select id from \"user\" order by id", [0_i64; 0])?;
            whole(connection, users.into_iter().map(UserNumber::new).collect())
        }
        Choice::User(user) => whole(connection, people::numbers_of(connection, *user)?),
        Choice::Session(user, session_id) => {
            let sessions = sessions(connection, NAMED, params![user.get(), session_id])?;
            with_drawn(connection, sessions)
        }
        Choice::Source(user, source) => {
            let sessions = sessions(connection, OF_SOURCE, params![user.get(), source])?;
            with_drawn(connection, sessions)
        }
        Choice::Kind(user, kind) => of_kind(connection, *user, *kind),
    }
}

/// Whether a choice names a session or a source that is there at all.
pub(super) fn is_known(connection: &Connection, choice: &Choice) -> backend::Result<bool> {
    let found = match choice {
        Choice::Session(user, id) => sessions(connection, NAMED, params![user.get(), id])?,
        Choice::Source(user, name) => sessions(connection, OF_SOURCE, params![user.get(), name])?,
        Choice::User(_) | Choice::Kind(..) | Choice::All => return Ok(true),
    };
    Ok(!found.is_empty())
}

/// What a user's sessions came from, by name.
pub(super) fn sources_of(
    connection: &Connection,
    user: UserNumber,
) -> backend::Result<Vec<String>> {
    connection.prepare_cached(SOURCES_OF_USER)?.query_map([user.get()], |row| row.get(0))?.collect()
}

/// Everything of some users.
fn whole(connection: &Connection, users: Vec<UserNumber>) -> backend::Result<Chosen> {
    let mut chosen = Chosen::default();
    for user in &users {
        let number = user.get();
        chosen.sessions.extend(sessions(connection, OF_USER, [number])?);
        chosen.facts.extend(facts(connection, FACTS_OF, [number])?);
        chosen.procedures.extend(list(connection, PROCEDURES_OF, [number])?);
        chosen.events.extend(list(connection, EVENTS_OF, [number])?);
        chosen.proposals.extend(list(connection, PROPOSALS_OF, [number])?);
    }
    chosen.users = users;
    add_episodes(connection, &mut chosen)?;
    Ok(chosen)
}

/// Everything of one kind that a user has.
fn of_kind(connection: &Connection, user: UserNumber, kind: ItemKind) -> backend::Result<Chosen> {
    let mut chosen = Chosen::default();
    let number = [user.get()];
    match kind {
        ItemKind::Message => {
            chosen.sessions = sessions(connection, OF_USER, number)?;
            add_episodes(connection, &mut chosen)?;
        }
        ItemKind::Summary => {
            let mut found = connection.prepare_cached(SUMMARIES_OF_USER)?;
            chosen.episodes = found.query_map(number, episode_of)?.collect::<Result<_, _>>()?;
        }
        ItemKind::Fact => chosen.facts = facts(connection, FACTS_OF, number)?,
        ItemKind::Procedure => chosen.procedures = list(connection, PROCEDURES_OF, number)?,
        ItemKind::Event => chosen.events = list(connection, EVENTS_OF, number)?,
    }
    Ok(chosen)
}

/// The episodes of some sessions and what was drawn from nothing else.
fn with_drawn(connection: &Connection, sessions: Vec<ChosenSession>) -> backend::Result<Chosen> {
    let mut chosen = Chosen { sessions, ..Chosen::default() };
    add_episodes(connection, &mut chosen)?;
    let going = chosen.every_episode();
    let mut drawn: BTreeSet<(i64, i64)> = BTreeSet::new();
    for episode in &going {
        let mut found = connection.prepare_cached(DRAWN_FROM)?;
        let items = found.query_map([episode], |row| Ok((row.get(0)?, row.get(1)?)))?;
        drawn.extend(items.collect::<backend::Result<Vec<_>>>()?);
        chosen.proposals.extend(list(connection, PROPOSALS_FROM, [episode])?);
    }
    for session in &chosen.sessions {
        let noted = list(connection, EVENTS_IN, [session.row])?;
        drawn.extend(noted.into_iter().map(|id| (ItemKind::Event.number(), id)));
    }
    for (kind, item) in drawn {
        let sources: Vec<Option<i64>> = connection
            .prepare_cached(SOURCES_OF)?
            .query_map([kind, item], |row| row.get(0))?
            .collect::<backend::Result<_>>()?;
        if !sources.iter().all(|episode| episode.is_some_and(|id| going.contains(&id))) {
            continue;
        }
        match ItemKind::from_number(kind) {
            Some(ItemKind::Fact) => chosen.facts.extend(facts(connection, FACT, [item])?),
            Some(ItemKind::Procedure) => chosen.procedures.push(item),
            Some(ItemKind::Event) => chosen.events.push(item),
            _ => {}
        }
    }
    chosen.proposals.sort_unstable();
    Ok(chosen)
}

/// The episodes of the chosen sessions. A summary that tells of one of them is among them, even if it
/// tells of other sessions too: nothing of what is to be forgotten may stay.
fn add_episodes(connection: &Connection, chosen: &mut Chosen) -> backend::Result<()> {
    let mut seen: HashSet<i64> = HashSet::new();
    for session in &chosen.sessions {
        for sql in [RAW_OF_SESSION, SUMMARIES_OF_SESSION] {
            let mut found = connection.prepare_cached(sql)?;
            let episodes = found.query_map([session.row], episode_of)?;
            for episode in episodes.collect::<backend::Result<Vec<_>>>()? {
                if seen.insert(episode.id) {
                    chosen.episodes.push(episode);
                }
            }
        }
        chosen.covered.extend(list(connection, COVERED_OF_SESSION, [session.row])?);
    }
    chosen.episodes.sort_by_key(|episode| episode.id);
    for episode in chosen.episodes.iter().filter(|one| one.state == EpisodeState::Raw) {
        chosen.messages.extend(episodes::message_keys(connection, episode)?);
    }
    Ok(())
}

/// Adds the sessions of which nothing remains when the chosen episodes go.
pub(super) fn add_emptied_sessions(
    connection: &Connection,
    chosen: &mut Chosen,
) -> backend::Result<()> {
    let going: HashSet<i64> = chosen.episodes.iter().map(|episode| episode.id).collect();
    let touched: BTreeSet<(UserNumber, String)> =
        chosen.episodes.iter().map(|one| (one.user, one.session_id.clone())).collect();
    for (user, session_id) in touched {
        for session in sessions(connection, NAMED, params![user.get(), session_id])? {
            let all = list(connection, EPISODES_IN, [session.row])?;
            if all.iter().all(|episode| going.contains(episode)) {
                chosen.covered.extend(list(connection, COVERED_OF_SESSION, [session.row])?);
                chosen.sessions.push(session);
            }
        }
    }
    Ok(())
}

fn list<const N: usize>(
    connection: &Connection,
    sql: &str,
    asked: [impl ToSql; N],
) -> backend::Result<Vec<i64>> {
    let asked = backend::params_from_iter(asked)?;
    connection.prepare_cached(sql)?.query_map(asked, |row| row.get(0))?.collect()
}

fn sessions(
    connection: &Connection,
    sql: &str,
    asked: impl backend::Params,
) -> backend::Result<Vec<ChosenSession>> {
    connection
        .prepare_cached(sql)?
        .query_map(asked, |row| {
            let user = UserNumber::new(row.get(1)?);
            Ok(ChosenSession { row: row.get(0)?, user, session_id: row.get(2)? })
        })?
        .collect()
}

fn facts(connection: &Connection, sql: &str, asked: [i64; 1]) -> backend::Result<Vec<i64>> {
    connection.prepare_cached(sql)?.query_map(asked, |row| row.get(0))?.collect()
}

const OF_USER: &str = "select id, user_id, session_id from session where user_id = ?1 order by id";
const NAMED: &str = "
    select id, user_id, session_id from session where user_id = ?1 and session_id = ?2 order by id";
const OF_SOURCE: &str = "
    select id, user_id, session_id from session
    where user_id = ?1
      and (select id from label where text = ?2) in (source, coalesce(channel, source)) order by id";
const SOURCES_OF_USER: &str = "
    select distinct l.text from session s join label l on l.id in (s.source, s.channel)
    where s.user_id = ?1 order by l.text";
const RAW_OF_SESSION: &str = episode_where!("e.session = ?1 and e.state = 'raw' order by e.id");
const SUMMARIES_OF_SESSION: &str =
    episode_where!("e.id in (select summary from summary_session where session = ?1)");
const SUMMARIES_OF_USER: &str =
    episode_where!("e.user_id = ?1 and e.state = 'compressed' order by e.id");
const COVERED_OF_SESSION: &str = each_covered!("session = ?1");
const FACTS_OF: &str = "select id from fact where user_id = ?1 order by id";
const FACT: &str = "select id from fact where id = ?1";
const PROCEDURES_OF: &str = "select id from procedure where user_id = ?1 order by id";
const EVENTS_OF: &str = "select id from event where user_id = ?1 order by id";
const EVENTS_IN: &str = "select id from event where session = ?1";
const PROPOSALS_OF: &str = "select id from proposal where user_id = ?1 order by id";
const PROPOSALS_FROM: &str = "select id from proposal where episode = ?1";
const EPISODES_IN: &str = "select id from episode where session = ?1";
const DRAWN_FROM: &str = "select kind, item from source where episode = ?1";
const SOURCES_OF: &str = "select episode from source where kind = ?1 and item = ?2";
