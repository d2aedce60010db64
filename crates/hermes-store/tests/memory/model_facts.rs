//! The simple memory: facts.

use hermes_store::memory::{
    Added, Admin, Change, ChunkKey, Conflict, Fact, FactFilter, FactOnly, FactOrder, FileEntry,
    ItemKind, NewChunk, NewFact, Revision, Scope, Source, Uid, UserNumber,
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
            (Some(by), _) => Err(refused(doing, id, format!("{} replaced it", name(by)))),
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

impl ModelMemory {
    pub(crate) fn add_fact(
        &mut self,
        scope: Scope,
        fact: &NewFact<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
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

    #[expect(clippy::too_many_arguments, reason = "as of the memory it stands for")]
    pub(crate) fn edit_fact(
        &mut self,
        scope: Scope,
        id: i64,
        statement: &str,
        chunks: &[NewChunk],
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
        self.keep(fact.user, (ItemKind::Fact, id), &[], chunks);
        fact.revision += 1;
        self.facts.insert(id, fact);
        self.note("fact.edit", name(id), change);
        Ok(())
    }

    pub(crate) fn supersede_fact(
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

    pub(crate) fn retire_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let fact = self.held(scope, id, "retire")?;
        self.facts.insert(id, Fact { retired_at: Some(change.at), ..fact });
        self.note("fact.retire", name(id), change);
        Ok(())
    }

    pub(crate) fn restore_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        let mut fact = self.fact_in(scope, id)?;
        let why = match (fact.retired_at, fact.superseded_by) {
            (None, _) => Some("it was not retired".to_owned()),
            (Some(_), Some(by)) => Some(format!("{} replaced it", name(by))),
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

    pub(crate) fn erase_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
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

    pub(crate) fn find_fact(&self, scope: Scope, selector: &str) -> Result<Fact> {
        let number = selector.trim_start_matches("fact:");
        let missing = || Error::NoSuchItem { item: format!("fact:{number}") };
        let found = self.fact_in(scope, number.parse().map_err(|_| missing())?);
        found.map(|fact| self.shown(scope, &fact)).map_err(|_| missing())
    }

    pub(crate) fn facts(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Fact>> {
        let found = ids.iter().filter_map(|id| self.fact_in(scope, *id).ok());
        Ok(found.map(|fact| self.shown(scope, &fact)).collect())
    }

    pub(crate) fn list_facts(
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
                && match filter.only {
                    FactOnly::Any => true,
                    FactOnly::Pinned => fact.pinned,
                    FactOnly::Retired => fact.retired_at.is_some(),
                }
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
        found.sort_by_key(|fact| (fact.recorded_at, fact.id));
        if filter.order != FactOrder::Oldest {
            found.reverse();
        }
        if filter.order == FactOrder::MostUsed {
            found.sort_by_key(|fact| std::cmp::Reverse(fact.uses));
        }
        let part = found.iter().skip(filter.offset).take(filter.limit.unwrap_or(usize::MAX));
        Ok(part.map(|fact| self.shown(scope, fact)).collect())
    }

    pub(crate) fn sources_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        let may = self.fact_in(scope, id).is_ok();
        Ok(self.sources.get(&id).filter(|_| may).cloned().unwrap_or_default())
    }

    pub(crate) fn revisions_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Revision>> {
        let may = self.fact_in(scope, id).is_ok();
        Ok(self.revisions.get(&id).filter(|_| may).cloned().unwrap_or_default())
    }

    pub(crate) fn facts_about(
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

    pub(crate) fn pin_fact(
        &mut self,
        scope: Scope,
        id: i64,
        pinned: bool,
        change: Change<'_>,
    ) -> Result<()> {
        let fact = self.fact_in(scope, id)?;
        if fact.pinned != pinned {
            self.facts.insert(id, Fact { pinned, ..fact });
            self.note(if pinned { "fact.pin" } else { "fact.unpin" }, name(id), change);
        }
        Ok(())
    }

    pub(crate) fn held_facts(&self, _: Admin) -> Result<Vec<(UserNumber, u64)>> {
        let mut held = std::collections::BTreeMap::new();
        for fact in self.facts.values().filter(|fact| is_held(fact) && !fact.quarantined) {
            *held.entry(fact.user).or_insert(0) += 1;
        }
        Ok(held.into_iter().collect())
    }

    pub(crate) fn conflicts(&self, _: Scope) -> Result<Vec<Conflict>> {
        Ok(Vec::new())
    }

    pub(crate) fn link_file_entry(
        &mut self,
        scope: Scope,
        link: &FileEntry,
        _: Timestamp,
    ) -> Result<()> {
        self.fact_in(scope, link.fact)?;
        self.file_entries.insert((link.fact, link.file.clone()), link.clone());
        Ok(())
    }

    pub(crate) fn file_entries(&self, scope: Scope) -> Result<Vec<FileEntry>> {
        let may = |link: &&FileEntry| self.fact_in(scope, link.fact).is_ok();
        Ok(self.file_entries.values().filter(may).cloned().collect())
    }

    pub(crate) fn unlink_file_entry(&mut self, scope: Scope, fact: i64, file: &str) -> Result<()> {
        self.fact_in(scope, fact)?;
        self.file_entries.remove(&(fact, file.to_owned()));
        Ok(())
    }
}

fn name(id: i64) -> String {
    format!("fact:{id:03}")
}

fn refused(doing: &'static str, id: i64, why: String) -> Error {
    Error::ItemRefused { doing, item: name(id), why }
}

fn is_held(fact: &Fact) -> bool {
    fact.retired_at.is_none()
}

fn norm(statement: &str) -> String {
    fold(statement).trim_end_matches(['.', ' ']).to_owned()
}
