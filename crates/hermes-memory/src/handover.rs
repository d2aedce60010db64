//! A handover: what one profile passes to another on purpose, as a structured summary.

use hermes_home::tokens;
use hermes_store::memory::{
    Added, EpisodeState, EventKind, FactFilter, Memory, NewFact, NewMessage, NewSource, Origin,
    Scope, Trust,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::Result;
use crate::chunk::{self, Vectors, Words};

/// What is passed on.
#[derive(Debug, Clone, Default)]
pub struct Choice<'a> {
    /// These facts.
    pub facts: &'a [i64],
    /// These conversations.
    pub sessions: &'a [String],
    /// What happened and was learned since then.
    pub since: Option<Timestamp>,
    /// What the person adds in their own words.
    pub note: Option<&'a str>,
}

/// A fact that is passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// Its id where it comes from.
    pub id: String,
    /// What it says.
    pub text: String,
    /// What kind of fact.
    pub kind: String,
    /// Whether it is nothing that the user said themselves.
    pub by_agent: bool,
}

/// A structured summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// What the person adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was to be done.
    pub goals: Vec<String>,
    /// What was decided, with the reason.
    pub decisions: Vec<String>,
    /// What failed or waits.
    pub open_points: Vec<String>,
    /// What is known.
    pub key_facts: Vec<Passed>,
    /// Where to look further.
    pub pointers: Vec<String>,
}

/// How it is kept by the one who takes over.
#[derive(Debug, Clone, Copy)]
pub struct Keeping<'a> {
    /// The profile it comes from.
    pub from: &'a str,
    /// The conversation that it becomes.
    pub session_id: &'a str,
    /// The zone in which days are indexed.
    pub zone: &'a TimeZone,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// Who does it, and when.
    pub change: hermes_store::memory::Change<'a>,
}

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// The conversation it was kept as.
    pub session: String,
    /// Facts that are new there, by their ids there.
    pub facts: Vec<String>,
    /// Facts that were known there.
    pub known: u64,
}

const MOST_OF_A_KIND: usize = 20;
const LONGEST_LINE: usize = 240;

/// Gathers what is chosen, from what is stored; nothing is asked of a model.
pub fn gather(
    store: &Memory,
    scope: Scope,
    choice: &Choice<'_>,
    now: Timestamp,
) -> Result<Summary> {
    let mut summary = Summary { note: choice.note.map(str::to_owned), ..Summary::default() };
    let mut facts = store.facts(scope, choice.facts)?;
    if choice.since.is_some() {
        let filter = FactFilter {
            since: choice.since,
            limit: Some(MOST_OF_A_KIND),
            ..FactFilter::default()
        };
        facts.extend(store.list_facts(scope, &filter, now)?);
        happened(store, scope, choice.since, &mut summary)?;
    }
    for session in choice.sessions {
        look_at(store, scope, session, &mut summary)?;
        for part in store.sessions_named(scope, session)? {
            for episode in store.episodes_of(scope, part.key)? {
                let drawn = store.facts_drawn_from(scope, episode.id)?;
                let ids: Vec<i64> = drawn.into_iter().map(|(id, _)| id).collect();
                facts.extend(store.facts(scope, &ids)?);
            }
        }
    }
    facts.retain(|fact| fact.retired_at.is_none());
    for fact in facts {
        let passed = Passed {
            id: format!("fact:{:03}", fact.id),
            text: fact.statement,
            kind: fact.kind,
            by_agent: fact.trust != Trust::User,
        };
        if !summary.key_facts.iter().any(|known| known.id == passed.id) {
            summary.key_facts.push(passed);
        }
    }
    Ok(summary)
}

fn happened(
    store: &Memory,
    scope: Scope,
    since: Option<Timestamp>,
    summary: &mut Summary,
) -> Result<()> {
    for event in store.list_events(scope, since, None, 4 * MOST_OF_A_KIND)? {
        let day = event.at.strftime("%Y-%m-%d");
        let why = event.why.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        let line = one_line(&format!("{day}: {}{why}", event.text));
        let list = match event.kind {
            EventKind::Task => &mut summary.goals,
            EventKind::Decision | EventKind::Result => &mut summary.decisions,
            EventKind::Failure => &mut summary.open_points,
        };
        if list.len() < MOST_OF_A_KIND && !list.contains(&line) {
            list.push(line);
        }
    }
    Ok(())
}

/// What was asked in a conversation, or the summary that stands for it, and where it is.
fn look_at(store: &Memory, scope: Scope, session: &str, summary: &mut Summary) -> Result<()> {
    for part in store.sessions_named(scope, session)? {
        let day = part.started_at.strftime("%Y-%m-%d");
        let channel = part.channel.as_deref().unwrap_or("no channel");
        summary.pointers.push(format!("session {session} of {day} ({channel})"));
        for event in store.events_of_session(scope, part.key, None)? {
            let line = one_line(&event.text);
            match event.kind {
                EventKind::Task => summary.goals.push(line),
                EventKind::Decision | EventKind::Result => summary.decisions.push(line),
                EventKind::Failure => summary.open_points.push(line),
            }
        }
        for episode in store.episodes_of(scope, part.key)?.iter().take(MOST_OF_A_KIND) {
            if episode.state == EpisodeState::Compressed {
                summary.goals.extend(episode.body.as_deref().map(one_line));
                continue;
            }
            let messages = store.messages_of(scope, episode)?;
            let asked = messages.iter().find(|message| message.role == "user");
            summary.goals.extend(asked.map(|message| one_line(&message.text)));
        }
    }
    Ok(())
}

impl Summary {
    /// Whether there is nothing to pass on.
    pub fn is_empty(&self) -> bool {
        let Summary { note, goals, decisions, open_points, key_facts, pointers } = self;
        note.is_none()
            && goals.is_empty()
            && decisions.is_empty()
            && open_points.is_empty()
            && key_facts.is_empty()
            && pointers.is_empty()
    }

    /// The same as text, for people and for the memory that takes it over.
    pub fn text(&self, from: &str, to: &str) -> String {
        let mut text = format!("Handover from profile {from} to profile {to}\n");
        if let Some(note) = &self.note {
            text.push_str(&format!("\n{note}\n"));
        }
        let facts: Vec<String> =
            self.key_facts.iter().map(|fact| format!("{} {}", fact.id, fact.text)).collect();
        for (heading, lines) in [
            ("Goals", &self.goals),
            ("Decisions", &self.decisions),
            ("Open points", &self.open_points),
            ("Key facts", &facts),
            ("Pointers", &self.pointers),
        ] {
            if lines.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{heading}:\n"));
            lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
        }
        text
    }
}

/// Keeps a summary: as a conversation of its own, and the facts as facts that quote it.
///
/// It is what another profile knew, not what the user said here: it is trusted like the words of an agent.
pub fn take_over(
    store: &mut Memory,
    scope: Scope,
    summary: &Summary,
    text: &str,
    keeping: &Keeping<'_>,
) -> Result<Kept> {
    let source = format!("handover from profile {}", keeping.from);
    let words = Words {
        text,
        caption: None,
        speaker: None,
        day: Some(chunk::day_of(keeping.change.at, keeping.zone)),
    };
    let message = NewMessage {
        session_id: keeping.session_id,
        role: "assistant",
        speaker: None,
        text,
        said: None,
        caption: None,
        at: keeping.change.at,
        channel: Some("handover"),
        agent: None,
        project: None,
        source: &source,
        external_id: keeping.session_id,
        former_id: None,
        trust: Trust::Agent,
        tokens: u32::try_from(tokens::estimate(text)).unwrap_or(u32::MAX),
        chunks: chunk::prepare(&words, keeping.vectors),
        steps: Vec::new(),
        imported: true,
    };
    store.record(scope, &[message], keeping.change)?;
    store.end_session(scope, keeping.session_id, keeping.change.at)?;
    let episode = match store.sessions_named(scope, keeping.session_id)?.first() {
        Some(session) => store.episodes_of(scope, session.key)?.first().map(|one| one.id),
        None => None,
    };
    let mut kept = Kept { session: keeping.session_id.to_owned(), ..Kept::default() };
    for fact in &summary.key_facts {
        let quote = format!("{} of profile {}: {}", fact.id, keeping.from, fact.text);
        let sources = [NewSource { episode, quote: Some(&quote), ..NewSource::default() }];
        let words = Words { text: &fact.text, caption: None, speaker: None, day: None };
        let new = NewFact {
            statement: &fact.text,
            kind: &fact.kind,
            subject: None,
            predicate: None,
            object: None,
            confidence: 0.8,
            origin: Origin::Import,
            trust: Trust::Agent,
            valid_from: None,
            valid_to: None,
            shared: false,
            entities: &[],
            sources: &sources,
            chunks: chunk::prepare(&words, keeping.vectors),
        };
        match store.add_fact(scope, &new, keeping.change)? {
            Added::New(id) => kept.facts.push(format!("fact:{id:03}")),
            Added::Known(_) => kept.known += 1,
        }
    }
    Ok(kept)
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
