//! Draw facts from every episode that waits for it; killed at any point, the next run ends the same.

use std::collections::HashMap;

use hermes_home::tokens;
use hermes_store::memory::{
    Added, Admin, Change, Drawn, DrawnFact, Episode, EventKind, Fact, FactFilter, Memory, Message,
    MessageKey, NewEvent, NewFact, NewSource, Origin, OriginId, Scope, Standing, Trust, UserNumber,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use super::batch::Batch;
use super::model::{self, Source};
use super::wishes::Wish;
use super::{Found, Kind, Spoken, relate, rules};
use crate::Result;
use crate::ask::Ask;
use crate::chunk::{self, Vectors, Words};
use crate::remember::Rules;

/// How facts are drawn.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// The time of the change.
    pub now: Timestamp,
    /// Where a user lives.
    pub zone_of: &'a dyn Fn(UserNumber) -> TimeZone,
    /// Sessions in which nothing was said since count as over.
    pub idle_since: Timestamp,
    /// How many episodes at most.
    pub limit: usize,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// Whether a model also reads history that was brought in.
    pub imported_with_model: bool,
    /// How the memory files are written; none: what the user asked to remember becomes a fact alone.
    pub remember: Option<&'a Rules<'a>>,
}

/// What was drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Episodes that were read.
    pub episodes: u64,
    /// Facts that are new.
    pub facts: u64,
    /// Facts that were known.
    pub known: u64,
    /// Facts that a person had taken back.
    pub buried: u64,
    /// Facts that took the place of another.
    pub superseded: u64,
    /// Facts that may contradict another.
    pub doubtful: u64,
    /// Decisions noted.
    pub events: u64,
    /// Items of a model's answer that were not believed.
    pub dropped: u64,
    /// How often a model was asked.
    pub calls: u64,
    /// Entries written to memory files, because the user asked to remember in so many words.
    pub remembered: u64,
    /// Entries that wait for a person to agree.
    pub proposed: u64,
    /// Entries of memory files that were changed or taken out, because what they said no longer holds.
    pub followed: u64,
    /// Entries that no longer hold and that a person had changed by hand: they stay.
    pub left_alone: u64,
}

impl Report {
    /// Counts what another run drew.
    pub fn add(&mut self, other: &Report) {
        self.episodes += other.episodes;
        self.facts += other.facts;
        self.known += other.known;
        self.buried += other.buried;
        self.superseded += other.superseded;
        self.doubtful += other.doubtful;
        self.events += other.events;
        self.dropped += other.dropped;
        self.calls += other.calls;
        self.remembered += other.remembered;
        self.proposed += other.proposed;
        self.followed += other.followed;
        self.left_alone += other.left_alone;
    }
}

/// A message with more facts than this is a list that was pasted: the rest of it stays an episode.
const MOST_A_MESSAGE: usize = 40;
/// How many held facts of a user a new one is compared with, newest first.
const MOST_COMPARED: usize = 2_000;
pub(super) const ACTOR: &str = "extract";

/// Draws from the episodes that wait: by rules, or by a model where one is given. What a model
/// answered is checked; an answer that cannot be used is an error, and leaves its episodes waiting.
pub fn run(
    store: &mut Memory,
    settings: &Settings<'_>,
    mut ask: Option<&mut Ask<'_>>,
) -> Result<Report> {
    let waiting = store.waiting_episodes(Admin, settings.idle_since, settings.limit)?;
    let mut run = Run::new(store, settings);
    let mut batches: Vec<Batch> = Vec::new();
    for episode in waiting {
        let read = run.read(episode)?;
        let by_model = ask.is_some() && (!read.episode.imported || settings.imported_with_model);
        if !by_model {
            run.by_rules(&read)?;
            continue;
        }
        let user = read.episode.user;
        let place = batches.iter().position(|batch| batch.user == user).unwrap_or_else(|| {
            batches.push(Batch::of(user));
            batches.len() - 1
        });
        let full = batches[place].add(read);
        run.by_model(&full, ask.as_deref_mut())?;
    }
    for batch in batches {
        run.by_model(&batch.reads, ask.as_deref_mut())?;
    }
    Ok(run.report)
}

/// An episode with its messages and the ones just before it.
pub(super) struct Read {
    pub(super) episode: Episode,
    messages: Vec<Message>,
    before: Vec<Message>,
    zone: TimeZone,
}

impl Read {
    pub(super) fn cost(&self) -> usize {
        self.messages.iter().map(|message| tokens::estimate(&message.text) + 20).sum()
    }

    /// What the rules find in each message of the user.
    pub(super) fn found(&self) -> Vec<(&Message, Vec<Found>)> {
        let all: Vec<(&str, &str)> = self
            .before
            .iter()
            .chain(&self.messages)
            .map(|message| (message.role.as_str(), message.text.as_str()))
            .collect();
        let spoken = |place: usize, message: &'_ Message| {
            let end = self.before.len() + place;
            rules::draw(&Spoken {
                role: &message.role,
                text: &message.text,
                before: &all[end.saturating_sub(2)..end],
                at: message.at,
                zone: &self.zone,
            })
        };
        self.messages
            .iter()
            .enumerate()
            .map(|(place, message)| (message, spoken(place, message)))
            .collect()
    }
}

/// A fact on its way into the store.
pub(super) struct Item<'a> {
    pub(super) read: &'a Read,
    pub(super) message: &'a Message,
    pub(super) found: &'a Found,
    pub(super) extractor: &'a str,
    pub(super) trust: Trust,
}

pub(super) struct Run<'a> {
    pub(super) store: &'a mut Memory,
    pub(super) settings: &'a Settings<'a>,
    held: HashMap<UserNumber, Vec<(Fact, relate::Words)>>,
    /// What is to be written before the episodes it comes from count as drawn from.
    pub(super) wishes: Vec<Wish>,
    pub(super) report: Report,
}

impl<'a> Run<'a> {
    pub(super) fn new(store: &'a mut Memory, settings: &'a Settings<'a>) -> Run<'a> {
        let (held, wishes, report) = (HashMap::new(), Vec::new(), Report::default());
        Run { store, settings, held, wishes, report }
    }

    pub(super) fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }

    pub(super) fn read(&self, episode: Episode) -> Result<Read> {
        let scope = Scope::of(episode.user);
        let messages = self.store.messages_of(scope, &episode)?;
        let places = (episode.first_place - 2).max(0)..episode.first_place;
        let keys: Vec<MessageKey> =
            places.filter_map(|place| MessageKey::new(episode.session, place)).collect();
        let before =
            if keys.is_empty() { Vec::new() } else { self.store.messages(scope, &keys)? };
        let zone = (self.settings.zone_of)(episode.user);
        Ok(Read { episode, messages, before, zone })
    }

    fn by_rules(&mut self, read: &Read) -> Result<()> {
        for (message, facts) in read.found() {
            for found in facts.iter().take(MOST_A_MESSAGE) {
                let item = Item::by_rules(read, message, found);
                let fact = if item.is_kept() { self.keep(&item)? } else { None };
                if found.kind == Kind::Decision && fact.is_some() {
                    self.note_decision(&item, &found.statement, None)?;
                }
                self.wish(&item, fact);
            }
        }
        self.done(read)
    }

    fn by_model(&mut self, batch: &[Read], ask: Option<&mut Ask<'_>>) -> Result<()> {
        let Some(ask) = ask.filter(|_| !batch.is_empty()) else { return Ok(()) };
        let places: Vec<(&Read, &Message)> = batch
            .iter()
            .flat_map(|read| read.messages.iter().map(move |message| (read, message)))
            .filter(|(_, message)| matches!(message.role.as_str(), "user" | "assistant"))
            .collect();
        let sources: Vec<Source<'_>> =
            places.iter().map(|(read, message)| Source { message, zone: &read.zone }).collect();
        let has_words = places.iter().any(|(_, message)| message.role == "user");
        if has_words {
            self.report.calls += 1;
            let reply = ask(&model::prompt(&sources))?;
            let answer = model::read(&reply, &sources)?;
            self.believe(&answer, &places, &reply.model)?;
        }
        batch.iter().try_for_each(|read| self.done(read))
    }

    /// Keeps what a model found; wishes are taken from the user's words alone, by the rules.
    fn believe(
        &mut self,
        answer: &model::Answer,
        places: &[(&Read, &Message)],
        model: &str,
    ) -> Result<()> {
        self.report.dropped += answer.dropped;
        let mut kept: Vec<(i64, std::ops::Range<usize>, i64)> = Vec::new();
        for (place, found) in &answer.facts {
            let (read, message) = places[*place];
            let item = Item { read, message, found, extractor: model, trust: Trust::Agent };
            if let Some(fact) = self.keep(&item)? {
                kept.push((message.key.get(), found.quote.clone(), fact));
            }
        }
        for (place, event) in &answer.events {
            let (read, message) = places[*place];
            let found = decision(event);
            let item = Item { read, message, found: &found, extractor: model, trust: Trust::Agent };
            self.note_decision(&item, &event.text, event.why.as_deref())?;
        }
        let mut seen = None;
        for (read, _) in places {
            if seen.replace(read.episode.id) == Some(read.episode.id) {
                continue;
            }
            for (message, facts) in read.found() {
                for found in &facts {
                    let overlaps = |(key, quote, _): &&(i64, std::ops::Range<usize>, i64)| {
                        *key == message.key.get()
                            && quote.start < found.quote.end
                            && found.quote.start < quote.end
                    };
                    let fact = kept.iter().find(overlaps).map(|(_, _, fact)| *fact);
                    self.wish(&Item::by_rules(read, message, found), fact);
                }
            }
        }
        Ok(())
    }

    /// Writes what was wished for, then notes that nothing more is to be drawn from the episode: killed
    /// in between, the next run finds the entry in its file.
    fn done(&mut self, read: &Read) -> Result<()> {
        let (own, rest) = self.wishes.drain(..).partition(|wish| wish.episode == read.episode.id);
        self.wishes = rest;
        self.follow(Scope::of(read.episode.user))?;
        self.write(read, own)?;
        self.store.mark_extracted(Admin, &[read.episode.id], self.settings.now)?;
        self.report.episodes += 1;
        Ok(())
    }

    /// Keeps a fact; none if a person had taken it back.
    pub(super) fn keep(&mut self, item: &Item<'_>) -> Result<Option<i64>> {
        let scope = Scope::of(item.read.episode.user);
        let standing = self.standing(scope, item)?;
        let found = item.found;
        let sources = [source(item)];
        let words = Words { text: &found.statement, ..Words::default() };
        let fact = NewFact {
            statement: &found.statement,
            kind: found.kind.as_str(),
            subject: found.subject.as_deref(),
            predicate: found.predicate.as_deref(),
            object: found.object.as_deref(),
            confidence: found.confidence,
            origin: Origin::Extract,
            trust: item.trust,
            valid_from: found.valid_from,
            valid_to: found.valid_to,
            shared: false,
            entities: &found.entities,
            sources: &sources,
            chunks: chunk::prepare(&words, self.settings.vectors),
        };
        let drawn =
            DrawnFact { fact, standing, said_at: item.message.at, is_explicit: found.is_explicit };
        let change = self.change();
        let kept = self.store.draw_fact(scope, &drawn, change)?;
        let standing = self.settled(scope, kept, standing)?;
        self.count(kept, standing);
        match kept {
            Drawn::New(id) => {
                self.remember(scope, id, standing)?;
                Ok(Some(id))
            }
            Drawn::Known(id) => Ok(Some(id)),
            Drawn::Buried => Ok(None),
        }
    }

    /// How a fact stands now that it is kept: what is pinned or everybody's does not give way.
    fn settled(&self, scope: Scope, kept: Drawn, standing: Standing) -> Result<Standing> {
        let Drawn::New(id) = kept else { return Ok(standing) };
        let fact = |id: i64| -> Result<Option<Fact>> {
            Ok(self.store.facts(scope, &[id])?.into_iter().next())
        };
        let is_disputed = |other: i64| -> Result<bool> {
            let open = self.store.conflicts(scope)?;
            Ok(open.iter().any(|one| one.fact == id && one.other == other))
        };
        Ok(match standing {
            Standing::Supersedes(old)
                if fact(old)?.is_some_and(|old| old.superseded_by == Some(id)) =>
            {
                standing
            }
            Standing::SupersededBy(_) if fact(id)?.is_some_and(|one| one.retired_at.is_some()) => {
                standing
            }
            Standing::Supersedes(other) | Standing::MayContradict(other) if is_disputed(other)? => {
                Standing::MayContradict(other)
            }
            _ => Standing::New,
        })
    }

    fn count(&mut self, kept: Drawn, standing: Standing) {
        match kept {
            Drawn::New(_) => {
                self.report.facts += 1;
                match standing {
                    Standing::Supersedes(_) | Standing::SupersededBy(_) => {
                        self.report.superseded += 1
                    }
                    Standing::MayContradict(_) => self.report.doubtful += 1,
                    Standing::New => {}
                }
            }
            Drawn::Known(_) => self.report.known += 1,
            Drawn::Buried => self.report.buried += 1,
        }
    }

    /// Keeps the list of held facts true after one was added.
    fn remember(&mut self, scope: Scope, id: i64, standing: Standing) -> Result<()> {
        let added = self.store.facts(scope, &[id])?;
        let held = self.held.entry(scope.user()).or_default();
        if let Standing::Supersedes(old) = standing {
            held.retain(|(fact, _)| fact.id != old);
        }
        held.extend(added.into_iter().filter(|fact| fact.superseded_by.is_none()).map(with_words));
        Ok(())
    }

    /// How a fact stands to those held that touch the same thing.
    fn standing(&mut self, scope: Scope, item: &Item<'_>) -> Result<Standing> {
        if !self.held.contains_key(&scope.user()) {
            let filter = FactFilter { limit: Some(MOST_COMPARED), ..FactFilter::default() };
            let held = self.store.list_facts(scope, &filter, self.settings.now)?;
            self.held.insert(scope.user(), held.into_iter().map(with_words).collect());
        }
        let held = self.held.get(&scope.user()).map_or(&[][..], Vec::as_slice);
        let mut touching = relate::touched(item.found, held.iter().map(as_held));
        for one in &mut touching {
            one.said_at = self.said_at(scope, one)?;
        }
        Ok(relate::standing(item.found, item.message.at, &touching))
    }

    /// When the words behind a held fact were said.
    fn said_at(&self, scope: Scope, fact: &relate::Held<'_>) -> Result<Timestamp> {
        let sources = self.store.sources_of_fact(scope, fact.id)?;
        let keys: Vec<MessageKey> =
            sources.iter().filter_map(|source| source.message).map(MessageKey::from_row).collect();
        if keys.is_empty() {
            return Ok(fact.said_at);
        }
        let messages = self.store.messages(scope, &keys)?;
        Ok(messages.iter().map(|message| message.at).max().unwrap_or(fact.said_at))
    }

    fn note_decision(&mut self, item: &Item<'_>, text: &str, why: Option<&str>) -> Result<()> {
        let scope = Scope::of(item.read.episode.user);
        let hash = Sha256::digest(text.to_lowercase().as_bytes());
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let external_id = format!("{}/{hash}", item.read.episode.id);
        let whole = why.map_or_else(|| text.to_owned(), |why| format!("{text}\n{why}"));
        let words = Words { text: &whole, ..Words::default() };
        let sources = [source(item)];
        let event = NewEvent {
            at: item.message.at,
            kind: EventKind::Decision,
            text,
            why,
            trust: item.trust,
            shared: false,
            entities: &item.found.entities,
            chunks: chunk::prepare(&words, self.settings.vectors),
            session: Some(item.read.episode.session),
            sources: &sources,
            origin: Some(OriginId { source: ACTOR, external_id: &external_id }),
        };
        let change = self.change();
        if let Added::New(_) = self.store.add_event(scope, &event, change)? {
            self.report.events += 1;
        }
        Ok(())
    }
}

fn source<'a>(item: &Item<'a>) -> NewSource<'a> {
    NewSource {
        episode: Some(item.read.episode.id),
        message: Some(item.message.key.get()),
        quote: item.message.text.get(item.found.quote.clone()),
        extractor: Some(item.extractor),
    }
}

fn with_words(fact: Fact) -> (Fact, relate::Words) {
    let words = relate::Words::of(&fact.statement);
    (fact, words)
}

fn as_held((fact, words): &(Fact, relate::Words)) -> relate::Held<'_> {
    relate::Held {
        id: fact.id,
        statement: &fact.statement,
        subject: fact.subject.as_deref(),
        predicate: fact.predicate.as_deref(),
        object: fact.object.as_deref(),
        said_at: fact.recorded_at,
        words: Some(words),
    }
}

/// A decision as a fact, for what is noted beside it.
fn decision(event: &model::FoundEvent) -> Found {
    Found {
        kind: Kind::Decision,
        statement: event.text.clone(),
        subject: None,
        predicate: None,
        object: None,
        confidence: 0.7,
        valid_from: None,
        valid_to: None,
        due: None,
        entities: crate::task::entities(&event.text),
        quote: event.quote.clone(),
        is_explicit: false,
        is_change: false,
    }
}
