//! The simple memory: facts, procedures and events.

use hermes_store::memory::{
    Added, Change, ChunkKey, Conflict, Drawn, DrawnFact, Event, Events, Fact, FactChange,
    FactFilter, Facts, FileEntry, ItemKind, NewChunk, NewEvent, NewFact, NewProcedure, OriginId,
    Procedure, Procedures, Revision, Scope, Source, Uid, Undone, UserNumber,
};
use hermes_store::{Error, Result};
use jiff::Timestamp;

use crate::model::{ModelMemory, NO_UID, fold, kept_sources, owner_of};

impl ModelMemory {
    fn said_by(&self, owner: UserNumber, statement: &str) -> Option<i64> {
        let held = self.facts.values().filter(|fact| fact.user == owner && is_held(fact));
        held.filter(|fact| norm(&fact.statement) == norm(statement)).map(|fact| fact.id).next()
    }

    fn fact_in(&self, scope: Scope, id: i64) -> Result<Fact> {
        let found = self.facts.get(&id).filter(|fact| scope.may_read(fact.user));
        found.cloned().ok_or_else(|| Error::NoSuchItem { item: name(id) })
    }

    fn held(&self, scope: Scope, id: i64, doing: &'static str) -> Result<Fact> {
        let fact = self.fact_in(scope, id)?;
        match (fact.superseded_by, fact.retired_at) {
            (Some(by), _) => Err(refused(doing, id, format!("{} took its place", name(by)))),
            (None, Some(_)) => Err(refused(doing, id, "it was retired".to_owned())),
            (None, None) => Ok(fact),
        }
    }

    fn insert(&mut self, owner: UserNumber, new: &NewFact<'_>, change: Change<'_>) -> i64 {
        self.facts_made += 1;
        let id = self.facts_made;
        let words = |text: Option<&str>| text.map(str::to_owned);
        let fact = Fact {
            id,
            uid: Uid::from_bytes(NO_UID),
            user: owner,
            statement: new.statement.to_owned(),
            kind: new.kind.to_owned(),
            subject: words(new.subject),
            predicate: words(new.predicate),
            object: words(new.object),
            confidence: new.confidence,
            origin: new.origin,
            trust: new.trust,
            valid_from: new.valid_from,
            valid_to: new.valid_to,
            recorded_at: change.at,
            retired_at: None,
            superseded_by: None,
            pinned: false,
            quarantined: false,
            revision: 1,
            uses: 0,
            entities: Vec::new(),
        };
        self.facts.insert(id, fact);
        self.sources.insert(id, kept_sources(new.sources));
        self.keep(owner, (ItemKind::Fact, id), new.entities, &new.chunks);
        id
    }

    fn shown(&self, scope: Scope, fact: &Fact) -> Fact {
        let entities = self.names_of(scope, ItemKind::Fact, fact.id);
        Fact { entities, ..fact.clone() }
    }
}

impl Facts for ModelMemory {
    fn add_fact(&mut self, scope: Scope, fact: &NewFact<'_>, change: Change<'_>) -> Result<Added> {
        let owner = owner_of(scope, fact.shared);
        if let Some(known) = self.said_by(owner, fact.statement) {
            let old = self.facts.get_mut(&known).unwrap();
            if old.valid_to.is_none_or(|to| to > change.at) {
                return Ok(Added::Known(known));
            }
            old.retired_at = Some(change.at);
            self.note("fact.expire", name(known), change);
        }
        let id = self.insert(owner, fact, change);
        self.note("fact.add", name(id), change);
        Ok(Added::New(id))
    }

    fn edit_fact(
        &mut self,
        scope: Scope,
        id: i64,
        statement: &str,
        chunks: Vec<NewChunk>,
        change: Change<'_>,
    ) -> Result<()> {
        let mut fact = self.held(scope, id, "edit")?;
        if let Some(other) = self.said_by(fact.user, statement).filter(|other| *other != id) {
            return Err(refused("edit", id, format!("{} says the same", name(other))));
        }
        let text = std::mem::replace(&mut fact.statement, statement.to_owned());
        let (number, actor) = (fact.revision, change.actor.to_owned());
        let earlier = Revision { number, at: change.at, actor, text };
        self.revisions.entry(id).or_default().push(earlier);
        self.remove_text(ChunkKey::of_item(fact.user, ItemKind::Fact, id, 0).text());
        self.keep(fact.user, (ItemKind::Fact, id), &[], &chunks);
        fact.revision += 1;
        self.facts.insert(id, fact);
        self.note("fact.edit", name(id), change);
        Ok(())
    }

    fn supersede_fact(
        &mut self,
        scope: Scope,
        id: i64,
        by: &NewFact<'_>,
        change: Change<'_>,
    ) -> Result<i64> {
        let mut old = self.held(scope, id, "supersede")?;
        let owner = if by.shared { UserNumber::SHARED } else { old.user };
        let new = match self.said_by(owner, by.statement) {
            Some(same) if same == id => {
                return Err(refused("supersede", id, "the new one says the same".to_owned()));
            }
            Some(known) => known,
            None => {
                let new = self.insert(owner, by, change);
                self.note("fact.succeed", name(new), change);
                new
            }
        };
        self.ends_before.insert(id, old.valid_to);
        old.retired_at = Some(change.at);
        old.valid_to = Some(old.valid_to.map_or(change.at, |end| end.min(change.at)));
        old.superseded_by = Some(new);
        self.facts.insert(id, old);
        self.note("fact.supersede", name(id), change);
        Ok(new)
    }

    fn retire_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let fact = self.held(scope, id, "retire")?;
        self.facts.insert(id, Fact { retired_at: Some(change.at), ..fact });
        self.note("fact.retire", name(id), change);
        Ok(())
    }

    fn restore_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let mut fact = self.fact_in(scope, id)?;
        let why = match (fact.retired_at, fact.superseded_by) {
            (None, _) => Some("it was not retired".to_owned()),
            (Some(_), Some(by)) => Some(format!("{} took its place", name(by))),
            (Some(_), None) => self
                .said_by(fact.user, &fact.statement)
                .map(|other| format!("{} says the same", name(other))),
        };
        if let Some(why) = why {
            return Err(refused("restore", id, why));
        }
        if fact.valid_to == fact.retired_at {
            fact.valid_to = None;
        }
        self.facts.insert(id, Fact { retired_at: None, ..fact });
        self.note("fact.restore", name(id), change);
        Ok(())
    }

    fn erase_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let fact = self.fact_in(scope, id)?;
        self.facts.remove(&id);
        self.sources.remove(&id);
        self.revisions.remove(&id);
        let mentioned: Vec<i64> = self
            .mentions
            .iter()
            .filter(|(_, kind, item)| (*kind, *item) == (ItemKind::Fact, id))
            .map(|(entity, _, _)| *entity)
            .collect();
        self.mentions.retain(|(_, kind, item)| (*kind, *item) != (ItemKind::Fact, id));
        let used: Vec<i64> = self.mentions.iter().map(|(entity, _, _)| *entity).collect();
        self.entities.retain(|id, _| !mentioned.contains(id) || used.contains(id));
        self.aliases.retain(|_, id| self.entities.contains_key(id));
        self.remove_text(ChunkKey::of_item(fact.user, ItemKind::Fact, id, 0).text());
        for other in self.facts.values_mut().filter(|other| other.superseded_by == Some(id)) {
            other.superseded_by = None;
            other.valid_to = self.ends_before.get(&other.id).copied().flatten();
        }
        self.file_entries.retain(|(fact, _), _| *fact != id);
        self.note("fact.erase", name(id), change);
        Ok(())
    }

    fn find_fact(&self, scope: Scope, selector: &str) -> Result<Fact> {
        let number = selector.trim_start_matches("fact:");
        let missing = || Error::NoSuchItem { item: format!("fact:{number}") };
        let found = self.fact_in(scope, number.parse().map_err(|_| missing())?);
        found.map(|fact| self.shown(scope, &fact)).map_err(|_| missing())
    }

    fn facts(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Fact>> {
        let found = ids.iter().filter_map(|id| self.fact_in(scope, *id).ok());
        Ok(found.map(|fact| self.shown(scope, &fact)).collect())
    }

    fn list_facts(
        &self,
        scope: Scope,
        filter: &FactFilter<'_>,
        now: Timestamp,
    ) -> Result<Vec<Fact>> {
        let then = filter.as_of.unwrap_or(now);
        let ids = filter.entity.map(|name| self.ids_of(scope.user(), name));
        let mentioned = |id: i64| {
            ids.iter().flatten().any(|e| self.mentions.contains(&(*e, ItemKind::Fact, id)))
        };
        let fits = |fact: &&Fact| {
            scope.may_read(fact.user)
                && filter.kind.is_none_or(|kind| fact.kind == kind)
                && (ids.is_none() || mentioned(fact.id))
                && filter.since.is_none_or(|since| fact.recorded_at >= since)
                && filter.as_of.is_none_or(|then| fact.recorded_at <= then)
        };
        let counts = |fact: &&Fact| {
            let is_known = match filter.as_of {
                Some(_) => fact.retired_at.is_none_or(|end| end > then),
                None => is_held(fact),
            };
            let has_begun =
                filter.as_of.is_none() || fact.valid_from.is_none_or(|begin| begin <= then);
            filter.with_retired
                || (is_known && has_begun && fact.valid_to.is_none_or(|end| end > then))
        };
        let mut found: Vec<Fact> =
            self.facts.values().filter(fits).filter(counts).cloned().collect();
        found.sort_by_key(|fact| std::cmp::Reverse((fact.recorded_at, fact.id)));
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found.iter().map(|fact| self.shown(scope, fact)).collect())
    }

    fn sources_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        let may = self.fact_in(scope, id).is_ok();
        Ok(self.sources.get(&id).filter(|_| may).cloned().unwrap_or_default())
    }

    fn revisions_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Revision>> {
        let may = self.fact_in(scope, id).is_ok();
        Ok(self.revisions.get(&id).filter(|_| may).cloned().unwrap_or_default())
    }

    fn draw_fact(&mut self, _: Scope, _: &DrawnFact<'_>, _: Change<'_>) -> Result<Drawn> {
        Err(not_here("draw"))
    }

    fn facts_about(
        &self,
        scope: Scope,
        subject: &str,
        predicate: Option<&str>,
    ) -> Result<Vec<Fact>> {
        let same = |kept: &Option<String>, asked: &str| {
            kept.as_deref().is_some_and(|kept| kept.eq_ignore_ascii_case(asked))
        };
        let fits = |fact: &&Fact| {
            scope.may_read(fact.user)
                && is_held(fact)
                && same(&fact.subject, subject)
                && predicate.is_none_or(|asked| same(&fact.predicate, asked))
        };
        let mut found: Vec<Fact> = self.facts.values().filter(fits).cloned().collect();
        found.sort_by_key(|fact| std::cmp::Reverse((fact.recorded_at, fact.id)));
        Ok(found.iter().map(|fact| self.shown(scope, fact)).collect())
    }

    fn pin_fact(&mut self, scope: Scope, id: i64, pinned: bool, change: Change<'_>) -> Result<()> {
        let fact = self.fact_in(scope, id)?;
        if fact.pinned != pinned {
            self.facts.insert(id, Fact { pinned, ..fact });
            self.note(if pinned { "fact.pin" } else { "fact.unpin" }, name(id), change);
        }
        Ok(())
    }

    fn history_of_fact(&self, _: Scope, _: i64) -> Result<Vec<FactChange>> {
        Err(not_here("tell of"))
    }

    fn undo_fact(
        &mut self,
        _: Scope,
        _: i64,
        _: &dyn Fn(&str) -> Vec<NewChunk>,
        _: Change<'_>,
    ) -> Result<Undone> {
        Err(not_here("undo"))
    }

    fn conflicts(&self, _: Scope) -> Result<Vec<Conflict>> {
        Ok(Vec::new())
    }

    fn settle_conflict(&mut self, _: Scope, _: i64, _: i64, _: Change<'_>) -> Result<()> {
        Err(not_here("settle"))
    }

    fn link_file_entry(&mut self, scope: Scope, link: &FileEntry, _: Timestamp) -> Result<()> {
        self.fact_in(scope, link.fact)?;
        self.file_entries.insert((link.fact, link.file.clone()), link.clone());
        Ok(())
    }

    fn file_entries(&self, scope: Scope) -> Result<Vec<FileEntry>> {
        let may = |link: &&FileEntry| self.fact_in(scope, link.fact).is_ok();
        Ok(self.file_entries.values().filter(may).cloned().collect())
    }

    fn unlink_file_entry(&mut self, scope: Scope, fact: i64, file: &str) -> Result<()> {
        self.fact_in(scope, fact)?;
        self.file_entries.remove(&(fact, file.to_owned()));
        Ok(())
    }
}

impl ModelMemory {
    /// The thing with this origin, else the origin is noted for the number it will have.
    fn known_or_noted(
        &mut self,
        (kind, owner): (ItemKind, UserNumber),
        origin: Option<OriginId<'_>>,
        next: i64,
    ) -> Option<i64> {
        let origin = origin?;
        let key = (kind, owner, origin.source.to_owned(), origin.external_id.to_owned());
        let known = *self.origins.entry(key).or_insert(next);
        (known != next).then_some(known)
    }
}

impl Procedures for ModelMemory {
    fn add_procedure(
        &mut self,
        scope: Scope,
        new: &NewProcedure<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        let (id, owner) = (self.procedures.len() as i64 + 1, owner_of(scope, new.shared));
        if let Some(known) = self.known_or_noted((ItemKind::Procedure, owner), new.origin, id) {
            return Ok(Added::Known(known));
        }
        self.other_sources.insert((ItemKind::Procedure, id), kept_sources(new.sources));
        self.procedures.push(Procedure {
            id,
            uid: Uid::from_bytes(NO_UID),
            user: owner,
            kind: new.kind,
            task_type: new.task_type.map(str::to_owned),
            title: new.title.to_owned(),
            body: new.body.to_owned(),
            outcome: new.outcome.map(str::to_owned),
            trust: new.trust,
            recorded_at: change.at,
            retired_at: None,
            quarantined: false,
            uses: 0,
            wins: 0,
            losses: 0,
            skill_path: new.skill_path.map(str::to_owned),
        });
        self.keep(owner, (ItemKind::Procedure, id), new.entities, &new.chunks);
        self.note("procedure.add", format!("procedure:{id}"), change);
        Ok(Added::New(id))
    }

    fn list_procedures(
        &self,
        scope: Scope,
        task_type: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Procedure>> {
        let held = self.procedures.iter().rev().filter(|one| one.retired_at.is_none());
        let fits = |one: &&Procedure| {
            scope.may_read(one.user)
                && task_type.is_none_or(|wanted| one.task_type.as_deref() == Some(wanted))
        };
        Ok(held.filter(fits).take(limit).cloned().collect())
    }

    fn procedures(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Procedure>> {
        let by_id = |id: &i64| self.procedures.iter().find(|one| one.id == *id);
        Ok(ids.iter().filter_map(by_id).filter(|one| scope.may_read(one.user)).cloned().collect())
    }

    fn retire_procedure(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let item = format!("procedure:{id}");
        let mut held = self.procedures.iter_mut().filter(|one| one.retired_at.is_none());
        match held.find(|one| one.id == id && scope.may_read(one.user)) {
            Some(one) => one.retired_at = Some(change.at),
            None => return Err(Error::NoSuchItem { item }),
        }
        self.note("procedure.retire", item, change);
        Ok(())
    }

    fn restore_procedure(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let item = format!("procedure:{id}");
        let found = self.procedures.iter_mut().find(|one| one.id == id && scope.may_read(one.user));
        let Some(one) = found else { return Err(Error::NoSuchItem { item }) };
        if one.retired_at.take().is_none() {
            let why = "it was not retired".to_owned();
            return Err(Error::ItemRefused { doing: "restore", item, why });
        }
        self.note("procedure.restore", item, change);
        Ok(())
    }

    fn sources_of_procedure(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        let may = !self.procedures(scope, &[id])?.is_empty();
        let kept = self.other_sources.get(&(ItemKind::Procedure, id));
        Ok(kept.filter(|_| may).cloned().unwrap_or_default())
    }
}

impl Events for ModelMemory {
    fn add_event(&mut self, scope: Scope, new: &NewEvent<'_>, change: Change<'_>) -> Result<Added> {
        let (id, owner) = (self.events.len() as i64 + 1, owner_of(scope, new.shared));
        if let Some(known) = self.known_or_noted((ItemKind::Event, owner), new.origin, id) {
            return Ok(Added::Known(known));
        }
        self.other_sources.insert((ItemKind::Event, id), kept_sources(new.sources));
        self.events.push(Event {
            id,
            uid: Uid::from_bytes(NO_UID),
            user: owner,
            at: new.at,
            kind: new.kind,
            text: new.text.to_owned(),
            why: new.why.map(str::to_owned),
            trust: new.trust,
            quarantined: false,
            retired_at: None,
        });
        self.keep(owner, (ItemKind::Event, id), new.entities, &new.chunks);
        self.note("event.add", format!("event:{id}"), change);
        Ok(Added::New(id))
    }

    fn list_events(
        &self,
        scope: Scope,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let fits = |one: &&Event| {
            scope.may_read(one.user)
                && one.retired_at.is_none()
                && since.is_none_or(|since| one.at >= since)
                && until.is_none_or(|until| one.at < until)
        };
        let mut found: Vec<Event> = self.events.iter().filter(fits).cloned().collect();
        found.sort_by_key(|one| std::cmp::Reverse((one.at, one.id)));
        found.truncate(limit);
        Ok(found)
    }

    fn events(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Event>> {
        let by_id = |id: &i64| self.events.iter().find(|one| one.id == *id);
        Ok(ids.iter().filter_map(by_id).filter(|one| scope.may_read(one.user)).cloned().collect())
    }

    fn retire_event(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let item = format!("event:{id}");
        let mut held = self.events.iter_mut().filter(|one| one.retired_at.is_none());
        match held.find(|one| one.id == id && scope.may_read(one.user)) {
            Some(one) => one.retired_at = Some(change.at),
            None => return Err(Error::NoSuchItem { item }),
        }
        self.note("event.retire", item, change);
        Ok(())
    }

    fn restore_event(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let item = format!("event:{id}");
        let found = self.events.iter_mut().find(|one| one.id == id && scope.may_read(one.user));
        let Some(one) = found else { return Err(Error::NoSuchItem { item }) };
        if one.retired_at.take().is_none() {
            let why = "it was not retired".to_owned();
            return Err(Error::ItemRefused { doing: "restore", item, why });
        }
        self.note("event.restore", item, change);
        Ok(())
    }

    fn sources_of_event(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        let may = !self.events(scope, &[id])?.is_empty();
        let kept = self.other_sources.get(&(ItemKind::Event, id));
        Ok(kept.filter(|_| may).cloned().unwrap_or_default())
    }
}

fn name(id: i64) -> String {
    format!("fact:{id:03}")
}

fn refused(doing: &'static str, id: i64, why: String) -> Error {
    Error::ItemRefused { doing, item: name(id), why }
}

fn not_here(doing: &'static str) -> Error {
    let (item, why) = ("a fact".to_owned(), "plain lists cannot".to_owned());
    Error::ItemRefused { doing, item, why }
}

fn is_held(fact: &Fact) -> bool {
    fact.retired_at.is_none()
}

fn norm(statement: &str) -> String {
    fold(statement).trim_end_matches(['.', ' ']).to_owned()
}
